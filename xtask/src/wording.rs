//! The words of comments, names and documents: [`check`] finds those that readers stumble over, and
//! names of code in documents that do not exist.
//!
//! The rules are in `CONTRIBUTING.md`. They are read off single lines, so that a finding names a
//! line, and no build is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_testenv::workspace::root;

use crate::code_names::{self, Code};

/// Words that begin no summary of a doc comment: the summary of an item names the item or its
/// effect.
const SUMMARY_STARTS: [&str; 46] = [
    "what", "which", "who", "whose", "whom", "whoever", "whatever", "when", "whenever", "where",
    "wherever", "why", "how", "whether", "it", "its", "they", "their", "them", "he", "she", "we",
    "our", "you", "your", "this", "that", "these", "those", "one", "ones", "somebody", "someone",
    "something", "nobody", "nothing", "anybody", "anything", "everybody", "everyone", "everything",
    "none", "such", "gives", "says", "tells",
];

/// Words that hide who acts.
const PEOPLE: [&str; 8] =
    ["whoever", "somebody", "nobody", "everybody", "anybody", "someone", "whichever", "whomever"];

/// Names that no type has: metaphors, bare participles, adverbs and pronouns.
const TYPE_NAMES: [&str; 51] = [
    "Again", "Asked", "Begun", "Bell", "Beside", "Book", "By", "Crier", "Desk", "Door", "Ear",
    "Earlier", "Errand", "Eyes", "Followed", "Gone", "Hands", "Heard", "Held", "Hungry", "Hurried",
    "Kept", "Left", "Letter", "Look", "Looked", "Looking", "Lost", "Mishap", "Moved", "News",
    "Paced", "Patience", "Put", "Ran", "Room", "Said", "Says", "Seat", "Seats", "Seen", "Shop",
    "Sight", "Since", "Stage", "Standing", "Taken", "Told", "Which", "Who", "Yard",
];

/// Public type names that any number of crates may have.
const COMMON_TYPES: [&str; 2] = ["Config", "Error"];

/// The number of crates that may have a public type of the same name.
const MAX_CRATES: usize = 2;

/// The result of a check.
pub(crate) struct Checked {
    pub(crate) files: usize,
    /// The number of doc comments that begin with a summary.
    pub(crate) summaries: usize,
    /// A line for each word or name to be replaced, with its file and line.
    pub(crate) faults: Vec<String>,
}

/// Checks the comments and type names of all Rust files, and the documents of the workspace.
pub(crate) fn check() -> anyhow::Result<Checked> {
    let root = root();
    let mut checked = Checked { files: 0, summaries: 0, faults: Vec::new() };
    let mut crates_by_type: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut code = Code::default();
    for file in crate::links::documents()? {
        checked.files += 1;
        let shown = shown(&root, &file);
        checked.faults.extend(faults_in_document(&read(&file)?).map(|f| format!("{shown}:{f}")));
    }
    for file in rust_files(&root)? {
        checked.files += 1;
        let text = read(&file)?;
        let shown = shown(&root, &file);
        code.add(&shown, &text);
        checked.summaries += summaries(&text).count();
        checked.faults.extend(faults_in_code(&text).into_iter().map(|f| format!("{shown}:{f}")));
        let Some((name, _)) = shown.strip_prefix("crates/").and_then(|p| p.split_once("/src/"))
        else {
            continue;
        };
        for (_, visibility, type_name) in types(&text) {
            if visibility == Visibility::Public {
                let crates = crates_by_type.entry(type_name.to_owned()).or_default();
                crates.insert(name.to_owned());
            }
        }
    }
    for name in code_names::DOCUMENTS {
        let faults = code.faults_in(&read(&root.join(name))?);
        checked.faults.extend(faults.into_iter().map(|f| format!("{name}:{f}")));
    }
    for (name, crates) in crates_by_type {
        if crates.len() > MAX_CRATES && !COMMON_TYPES.contains(&name.as_str()) {
            let crates = Vec::from_iter(crates).join(", ");
            checked.faults.push(format!("the public type `{name}` is in {crates}: qualify it"));
        }
    }
    Ok(checked)
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("could not read `{}`", file.display()))
}

fn shown(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

/// Returns the Rust files of the workspace, without those that tests read as data.
fn rust_files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask"), root.join("fuzz")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !["target", "fixtures", "corpus"].contains(&name) {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the first line of each doc comment, with its number.
fn summaries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let is_first = doc.is_some() && !is_inside;
        is_inside = doc.is_some();
        doc.filter(|_| is_first).map(|doc| (number, doc.trim()))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Public,
    Private,
}

/// Returns the name of each type that is defined on a line, with the line's number.
fn types(text: &str) -> impl Iterator<Item = (usize, Visibility, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.trim_start();
        let is_public = line.starts_with("pub ");
        let (keyword, rest) = match line.strip_prefix("pub") {
            Some(rest) => {
                let rest = rest.strip_prefix("(crate)").or(rest.strip_prefix("(super)"));
                rest.unwrap_or(&line[3..]).trim_start().split_once(' ')?
            }
            None => line.split_once(' ')?,
        };
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let name = &rest[..end];
        let is_type = ["struct", "enum", "trait", "type"].contains(&keyword)
            && name.starts_with(char::is_uppercase);
        let visibility = if is_public { Visibility::Public } else { Visibility::Private };
        is_type.then_some((number, visibility, name))
    })
}

fn faults_in_code(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, summary) in summaries(text) {
        let first = summary.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        if SUMMARY_STARTS.contains(&first.to_lowercase().as_str()) {
            faults.push(format!("{number}: a summary begins with `{first}`: {summary}"));
        }
    }
    for (number, line) in (1..).zip(text.lines()) {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        faults.extend(people(comment).map(|word| format!("{number}: `{word}` in a comment")));
    }
    for (number, _, name) in types(text) {
        if TYPE_NAMES.contains(&name) {
            faults.push(format!("{number}: no type is named `{name}`"));
        }
    }
    faults
}

/// Finds faults in the prose of a document. Fenced blocks quote programs and are not checked.
fn faults_in_document(text: &str) -> impl Iterator<Item = String> {
    let mut is_fenced = false;
    let prose = (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    });
    prose.flat_map(|(number, line)| people(line).map(move |word| format!("{number}: `{word}`")))
}

/// Returns the words of a line that hide who acts.
fn people(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_alphabetic());
    words.filter(|word| PEOPLE.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_begins_with_a_pronoun_is_a_fault() {
        let text = "/// What a reviewer said.\n/// It is long.\nstruct Vote;\n";
        let expected = "1: a summary begins with `What`: What a reviewer said.";
        assert_eq!(faults_in_code(text), [expected]);
        assert!(faults_in_code("/// The vote of a reviewer.\nstruct Vote;\n").is_empty());
    }

    #[test]
    fn an_indefinite_pronoun_in_a_comment_or_document_is_a_fault() {
        let text = "// Nobody reads this.\nlet nobody = \"somebody\";\n";
        assert_eq!(faults_in_code(text), ["1: `Nobody` in a comment"]);
        let document = "```console\n$ greet nobody\n```\nFor whoever reads.\n";
        assert_eq!(Vec::from_iter(faults_in_document(document)), ["4: `whoever`"]);
    }

    #[test]
    fn a_type_with_a_forbidden_name_is_a_fault() {
        let text = "pub(crate) struct Told;\npub enum Reply<T> { Told(T) }\ntype Seen = u8;\n";
        assert_eq!(
            faults_in_code(text),
            ["1: no type is named `Told`", "3: no type is named `Seen`"]
        );
    }

    #[test]
    fn types_are_listed_with_their_visibility() {
        let text = "pub struct A<'a>;\npub(crate) enum B {}\n    trait C: D {}\nstruct_of d;\n";
        let expected = [
            (1, Visibility::Public, "A"),
            (2, Visibility::Private, "B"),
            (3, Visibility::Private, "C"),
        ];
        assert_eq!(Vec::from_iter(types(text)), expected);
    }
}
