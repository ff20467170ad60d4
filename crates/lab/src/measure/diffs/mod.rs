//! Diffs of real changes: the result of assay's parser, compared with git's.
//!
//! `git apply --numstat` counts the lines and prints a file's new name. It does not print the old
//! name, so that comes from a second, plain parser ([`plain`]), which also replaces git if git
//! refuses a diff.

mod plain;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use assay_change::diff::{Content, FileDiff, parse};
use assay_testenv::workspace::command;
use serde_json::json;

use crate::workspace::{files_below, write_json};

/// A file of a diff, as a parser read it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ParsedFile {
    old: Option<String>,
    new: Option<String>,
    content: ChangedLines,
}

/// The changed lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangedLines {
    Lines {
        added: usize,
        removed: usize,
    },
    Binary,
    /// Assay could not parse the file, and reports that.
    Unread,
}

impl ParsedFile {
    fn shown(&self) -> String {
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("{} -> {}: {:?}", name(&self.old), name(&self.new), self.content)
    }
}

/// A diff on which assay and the other parsers disagree.
struct Disagreement {
    diff: String,
    /// The results of assay and of the others; `None` if the file is missing.
    assay: Option<ParsedFile>,
    others: Option<ParsedFile>,
}

/// The totals of all diffs.
#[derive(Default)]
struct Tally {
    diffs: usize,
    agreeing: usize,
    files: usize,
    agreeing_files: usize,
    refused: Vec<String>,
    disagreements: Vec<Disagreement>,
}

/// Compares every diff below a folder. Returns true if all agree.
pub(super) fn run(data: &Path) -> anyhow::Result<bool> {
    let mut tally = Tally::default();
    for path in files_below(data, "diff")? {
        let bytes =
            std::fs::read(&path).with_context(|| format!("could not read `{}`", path.display()))?;
        let name = path.strip_prefix(data).unwrap_or(&path).display().to_string();
        tally.add(name, &bytes, git(&path)?);
    }
    tally.print();
    write_json("measure", "diffs.json", &tally.json())?;
    anyhow::ensure!(tally.diffs > 0, "there is no `*.diff` below `{}`", data.display());
    Ok(tally.disagreements.is_empty())
}

impl Tally {
    fn add(&mut self, diff: String, bytes: &[u8], git: Result<Vec<GitCount>, String>) {
        let assay: Vec<ParsedFile> = parse(bytes).iter().map(parsed_by_assay).collect();
        let plain = plain::read(bytes);
        let others = match git {
            Ok(counts) => joined(&plain, counts),
            Err(why) => {
                self.refused.push(format!("{diff}: {why}"));
                plain
            }
        };
        let files = assay.len().max(others.len());
        let before = self.disagreements.len();
        for at in 0..files {
            let (assay, others) = (assay.get(at).cloned(), others.get(at).cloned());
            if assay != others {
                self.disagreements.push(Disagreement { diff: diff.clone(), assay, others });
            }
        }
        let wrong = self.disagreements.len() - before;
        self.diffs += 1;
        self.agreeing += usize::from(wrong == 0);
        self.files += files;
        self.agreeing_files += files - wrong;
    }

    fn print(&self) {
        let shown = |seen: &Option<ParsedFile>| {
            seen.as_ref().map_or("no such file".to_owned(), ParsedFile::shown)
        };
        for found in &self.disagreements {
            println!("{}", found.diff);
            println!("  assay:  {}", shown(&found.assay));
            println!("  others: {}", shown(&found.others));
        }
        for refused in &self.refused {
            println!("refused by git, counted by hand: {refused}");
        }
        println!("{} of {} diffs agree", self.agreeing, self.diffs);
        println!("{} of {} files agree", self.agreeing_files, self.files);
        println!("{} diffs were refused by git and counted by hand", self.refused.len());
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "diffs": self.diffs,
            "agreeing": self.agreeing,
            "files": self.files,
            "agreeing_files": self.agreeing_files,
            "refused": self.refused,
        })
    }
}

fn parsed_by_assay(file: &FileDiff) -> ParsedFile {
    let count = |lines: &mut dyn Iterator<Item = assay_findings::vote::LineRange>| -> usize {
        lines.map(|lines| (lines.end() - lines.start() + 1) as usize).sum()
    };
    let content = match file.content {
        Content::Binary => ChangedLines::Binary,
        Content::Unread(_) => ChangedLines::Unread,
        Content::Text | Content::Submodule | Content::Link => ChangedLines::Lines {
            added: count(&mut file.added()),
            removed: count(&mut file.removed()),
        },
    };
    ParsedFile { old: file.old_path.clone(), new: file.new_path.clone(), content }
}

// ---- git

/// The result of git for one file: its name after the change, or before the change if it is
/// deleted.
struct GitCount {
    name: String,
    content: ChangedLines,
}

/// Counts a diff with git. The inner error is git's message.
fn git(diff: &PathBuf) -> anyhow::Result<Result<Vec<GitCount>, String>> {
    // Runs at the top of the work tree, since git skips files that are not below its folder.
    let output = command("git", &["apply", "--numstat", "-z"])
        .arg(std::path::absolute(diff)?)
        .stdin(Stdio::null())
        .output()
        .context("could not start `git`")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Ok(Err(said.lines().next().unwrap_or("nothing").to_owned()));
    }
    let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    entries
        .map(git_count)
        .collect::<Option<Vec<GitCount>>>()
        .context("git printed no counts")
        .map(Ok)
}

fn git_count(entry: &[u8]) -> Option<GitCount> {
    let entry = String::from_utf8_lossy(entry);
    let mut fields = entry.splitn(3, '\t');
    let content = match (fields.next()?, fields.next()?) {
        ("-", "-") => ChangedLines::Binary,
        (added, removed) => {
            ChangedLines::Lines { added: added.parse().ok()?, removed: removed.parse().ok()? }
        }
    };
    Some(GitCount { name: fields.next()?.to_owned(), content })
}

/// Returns git's results, with the old names of the plain parser.
fn joined(plain: &[ParsedFile], counts: Vec<GitCount>) -> Vec<ParsedFile> {
    let join = |(at, count): (usize, GitCount)| {
        let (old, has_new) = match plain.get(at) {
            Some(plain) => (plain.old.clone(), plain.new.is_some()),
            None => (Some(count.name.clone()), true),
        };
        let (old, new) = match has_new {
            true => (old, Some(count.name)),
            false => (Some(count.name), None),
        };
        ParsedFile { old, new, content: count.content }
    };
    counts.into_iter().enumerate().map(join).collect()
}
