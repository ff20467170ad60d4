//! The symbol around a line: [`SymbolTree`] adds symbols to any tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;

use crate::syntax::Syntax;

/// A tree with the symbols of its files; each file is parsed once.
pub struct SymbolTree<'t> {
    tree: &'t dyn Tree,
    outlines: Mutex<HashMap<RepoPath, Arc<Vec<Symbol>>>>,
}

impl<'t> SymbolTree<'t> {
    /// Wraps a tree.
    pub fn new(tree: &'t dyn Tree) -> SymbolTree<'t> {
        SymbolTree { tree, outlines: Mutex::default() }
    }

    fn outline(&self, path: &RepoPath) -> Result<Arc<Vec<Symbol>>, TreeError> {
        let mut outlines = self.outlines.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(known) = outlines.get(path) {
            return Ok(known.clone());
        }
        let text = self.tree.read(path)?;
        let syntax = text.and_then(|text| Syntax::of(path.as_str(), &text));
        let outline = Arc::new(syntax.map(|syntax| syntax.outline()).unwrap_or_default());
        outlines.insert(path.clone(), outline.clone());
        Ok(outline)
    }
}

impl Tree for SymbolTree<'_> {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        self.tree.read(path)
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        self.tree.exists(path)
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        let outline = self.outline(path)?;
        // Inner symbols follow those that contain them.
        let around = |symbol: &&Symbol| symbol.lines.start() <= line && line <= symbol.lines.end();
        Ok(outline.iter().rfind(around).cloned())
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        self.tree.paths()
    }
}
