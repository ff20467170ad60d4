//! The names of code in the documents for contributors: [`Code::faults_in`] finds those that do not
//! exist.
//!
//! A name is checked if it is in code quotes and is the path of a Rust file, a type, a constant, or
//! a function with a long name, such as a test. A path with a part in capitals, such as `X.rs`, is
//! a pattern. Files and documents are read by the caller.

use std::collections::{BTreeSet, HashSet};

/// The documents whose names of code are checked.
pub(crate) const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Names that a document has as examples of bad names.
const BAD_EXAMPLES: [&str; 2] = ["Beside", "Told"];

/// The folder whose words do not count: it has lists of names that no code should have.
const FOLDER_OF_LISTS: &str = "xtask/";

/// The files of the workspace, and the words in them.
#[derive(Default)]
pub(crate) struct Code {
    /// The paths from the root.
    paths: BTreeSet<String>,
    /// The words outside of comments.
    words: HashSet<String>,
}

impl Code {
    /// Adds a Rust file by its path from the root.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        self.paths.insert(path.to_owned());
        if path.starts_with(FOLDER_OF_LISTS) {
            return;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for word in words(line) {
                if !self.words.contains(word) {
                    self.words.insert(word.to_owned());
                }
            }
        }
    }

    /// Returns a line for each name in a document that does not exist, with the line's number.
    pub(crate) fn faults_in(&self, document: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for (number, line) in (1..).zip(document.lines()) {
            for span in code_spans(line) {
                if is_file(span) && !self.has_file(span) {
                    faults.push(format!("{number}: there is no file `{span}`"));
                }
                let unknown = names(span).filter(|name| !self.words.contains(*name));
                faults.extend(unknown.map(|name| format!("{number}: no code has `{name}`")));
            }
        }
        faults
    }

    fn has_file(&self, path: &str) -> bool {
        self.paths.iter().any(|known| {
            known
                .strip_suffix(path)
                .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        })
    }
}

/// Returns the parts of a line in code quotes.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Returns true for the path of a Rust file, and false for a pattern of paths.
fn is_file(span: &str) -> bool {
    let is_capitals = |part: &str| part.chars().all(|c| c.is_ascii_uppercase());
    span.strip_suffix(".rs")
        .is_some_and(|stem| !stem.contains(' ') && !stem.split('/').any(is_capitals))
}

/// Returns the names to check in a span like `Lease::fence`, `impl Queue` or `clock::{A, B}`; none
/// for other text.
fn names(span: &str) -> impl Iterator<Item = &str> {
    let path = span.strip_prefix("impl ").unwrap_or(span);
    let is_path = path.chars().all(|c| c.is_ascii_alphanumeric() || "_:{}, ".contains(c))
        && (path.contains('{') || !path.contains(' '));
    words(path).filter(move |word| is_path && is_checked(word))
}

/// Returns true for a type, a constant, and a function with a name of three words or more.
fn is_checked(word: &str) -> bool {
    let is_type_or_constant = word.len() > 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
    (is_type_or_constant || word.matches('_').count() > 1) && !BAD_EXAMPLES.contains(&word)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> Code {
        let mut code = Code::default();
        let text =
            "// A Bell.\npub struct Lease;\nconst MAX_SIZE: u8 = 1;\nfn one_is_claimed() {}\n";
        code.add("crates/store/src/queue.rs", text);
        code.add("xtask/src/lists.rs", "const NAMES: [&str; 1] = [\"Desk\"];\n");
        code
    }

    #[test]
    fn an_identifier_missing_from_the_code_is_a_fault() {
        let known = "`Lease::fence`, `MAX_SIZE`, `impl Lease`, `one_is_claimed`\n";
        assert!(code().faults_in(known).is_empty());
        let unknown = "`store::{Lease, Bell}`\n`Desk` and `MIN_SIZE`, `two_are_claimed`\n";
        let expected = [
            "1: no code has `Bell`",
            "2: no code has `Desk`",
            "2: no code has `MIN_SIZE`",
            "2: no code has `two_are_claimed`",
        ];
        assert_eq!(code().faults_in(unknown), expected);
    }

    #[test]
    fn a_path_without_a_file_is_a_fault_and_a_placeholder_path_is_not() {
        let text = "`store/src/queue.rs`, `queue.rs`, `xtask/src/lists.rs`, `write/X.rs`, \
                    `SERVER/mod.rs`, `ue.rs`, `store/queue.rs`";
        let expected = ["1: there is no file `ue.rs`", "1: there is no file `store/queue.rs`"];
        assert_eq!(code().faults_in(text), expected);
    }

    #[test]
    fn other_text_in_code_quotes_is_left_alone() {
        let text =
            "`UPDATE_EXPECT=1` `NOT RUN` `MAX_…` `Ok(None)` `Told` `cargo xtask` `Retry-After` X";
        assert_eq!(code().faults_in(text), Vec::<String>::new());
    }
}
