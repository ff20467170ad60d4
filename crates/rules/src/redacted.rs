//! A tree without credentials: [`Redacted`].

use assay_findings::ground::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;

use crate::text::password;
use crate::text::secret::{self, redacted_lines};

/// A tree whose files show no credential. What is sent away, kept or held against an answer is
/// read through it, so that all of them see the same text.
pub struct Redacted<'t>(pub &'t (dyn Tree + Sync));

impl Tree for Redacted<'_> {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.0.read(path)?.map(|text| redacted_text(&text)))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        self.0.exists(path)
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        self.0.symbol_at(path, line)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        self.0.paths()
    }
}

/// A shorter value may stand anywhere without meaning anything.
const MIN_VALUE: usize = 8;

/// Takes credentials and passwords out of a text, the bodies of private keys among them. What is one
/// in one place is taken out everywhere. It keeps its lines.
pub fn redacted_text(text: &str) -> String {
    let mut out = redacted_lines(text).join("\n");
    if text.ends_with('\n') {
        out.push('\n');
    }
    let values = secret::values(text).into_iter().chain(password::values(text));
    let mut values: Vec<&str> = values.filter(|value| value.len() >= MIN_VALUE).collect();
    // A value may hold another one.
    values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
    values.dedup();
    values.into_iter().fold(out, |out, value| match out.contains(value) {
        true => out.replace(value, "[redacted]"),
        false => out,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_taken_out_wherever_it_stands() {
        let text =
            "password = \"kT9vQ2mX7pLw\"\nlogin(\"admin\", \"kT9vQ2mX7pLw\")\nname = \"kT9\"\n";
        let redacted = redacted_text(text);
        assert_eq!(
            redacted,
            "password = \"[redacted]\"\nlogin(\"admin\", \"[redacted]\")\nname = \"kT9\"\n"
        );
        assert_eq!(redacted_text(&redacted), redacted);
    }
}
