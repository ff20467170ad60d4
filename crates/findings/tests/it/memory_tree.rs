//! A tree in memory, stricter than a real one: it has only the files and symbols that a test adds.

use std::collections::BTreeMap;

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;

/// A tree of files and symbols.
pub(crate) struct MemoryTree {
    files: BTreeMap<RepoPath, String>,
    symbols: Vec<(RepoPath, Symbol)>,
}

impl MemoryTree {
    pub(crate) fn new(files: &[(&str, &str)]) -> MemoryTree {
        let files = files.iter().map(|(path, text)| (path_of(path), (*text).to_owned()));
        MemoryTree { files: files.collect(), symbols: Vec::new() }
    }

    pub(crate) fn with_symbol(mut self, path: &str, name: &str, lines: (u32, u32)) -> MemoryTree {
        let lines = LineRange::range(lines.0, lines.1).unwrap();
        self.symbols.push((path_of(path), Symbol { name: name.to_owned(), lines }));
        self
    }
}

fn path_of(path: &str) -> RepoPath {
    RepoPath::parse(path, None).unwrap()
}

impl Tree for MemoryTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.files.get(path).cloned())
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.files.contains_key(path))
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        let inside = |lines: LineRange| lines.start() <= line && line <= lines.end();
        let symbol = self.symbols.iter().find(|(p, s)| p == path && inside(s.lines));
        Ok(symbol.map(|(_, symbol)| symbol.clone()))
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Ok(self.files.keys().cloned().collect())
    }
}
