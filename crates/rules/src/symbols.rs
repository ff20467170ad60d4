//! What thing a line is in: [`WithSymbols`] answers for any tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use assay_findings::ground::{Symbol, Tree};
use assay_findings::path::RepoPath;

use crate::syntax::Syntax;

/// A tree that knows its files' symbols, each file parsed once.
pub struct WithSymbols<'t> {
    tree: &'t dyn Tree,
    outlines: Mutex<HashMap<RepoPath, Arc<Vec<Symbol>>>>,
}

impl<'t> WithSymbols<'t> {
    /// Lets a tree answer for symbols.
    pub fn new(tree: &'t dyn Tree) -> WithSymbols<'t> {
        WithSymbols { tree, outlines: Mutex::default() }
    }

    fn outline(&self, path: &RepoPath) -> Arc<Vec<Symbol>> {
        let mut outlines = self.outlines.lock().unwrap_or_else(|broken| broken.into_inner());
        outlines
            .entry(path.clone())
            .or_insert_with(|| {
                let text = self.tree.read(path);
                let syntax = text.and_then(|text| Syntax::of(path.as_str(), &text));
                let outline = syntax.map(|syntax| syntax.outline());
                Arc::new(outline.unwrap_or_default())
            })
            .clone()
    }
}

impl Tree for WithSymbols<'_> {
    fn read(&self, path: &RepoPath) -> Option<String> {
        self.tree.read(path)
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.tree.exists(path)
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Option<Symbol> {
        let outline = self.outline(path);
        // Inner things come after those they are in.
        let around = |symbol: &&Symbol| symbol.lines.start() <= line && line <= symbol.lines.end();
        outline.iter().rfind(around).cloned()
    }

    fn paths(&self) -> Vec<RepoPath> {
        self.tree.paths()
    }
}
