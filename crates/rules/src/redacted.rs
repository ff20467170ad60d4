//! A tree without credentials: [`Redacted`].

use assay_findings::ground::{Symbol, Tree};
use assay_findings::path::RepoPath;

use crate::text::secret::redacted_lines;

/// A tree whose files show no credential. What is sent away, kept or held against an answer is
/// read through it, so that all of them see the same text.
pub struct Redacted<'t>(pub &'t (dyn Tree + Sync));

impl Tree for Redacted<'_> {
    fn read(&self, path: &RepoPath) -> Option<String> {
        self.0.read(path).map(|text| redacted_text(&text))
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.0.exists(path)
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Option<Symbol> {
        self.0.symbol_at(path, line)
    }

    fn paths(&self) -> Vec<RepoPath> {
        self.0.paths()
    }
}

/// Takes credentials out of a text, the bodies of private keys among them. It keeps its lines.
pub fn redacted_text(text: &str) -> String {
    let mut out = redacted_lines(text).join("\n");
    if text.ends_with('\n') {
        out.push('\n');
    }
    out
}
