//! A change of typical size: [`Change`].

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::ensure;

use super::corpus::Corpus;
use crate::repository::Repository;

const FILES: usize = 20;
const LINES_PER_FILE: usize = 50;

/// Files and the text that is appended to each.
pub(super) struct Change {
    files: Vec<(String, String, String)>,
}

impl Change {
    /// Selects files of three languages, none of them small, and adds a function to each.
    pub(super) fn new(corpus: &Corpus) -> anyhow::Result<Change> {
        let mut files = Vec::new();
        for (ending, count) in [(".py", 8), (".js", 6), (".rs", 6)] {
            let alike = corpus.files.iter().filter(|(name, text)| {
                name.ends_with(ending) && (1 << 13..1 << 15).contains(&text.len())
            });
            for (name, text) in alike.take(count) {
                files.push((
                    format!("changed/{name}"),
                    text.clone(),
                    function(ending, files.len()),
                ));
            }
        }
        ensure!(files.len() == FILES, "the packages have only {} files to change", files.len());
        Ok(Change { files })
    }

    pub(super) fn files(&self) -> usize {
        self.files.len()
    }

    pub(super) fn lines(&self) -> usize {
        self.files.iter().map(|(_, _, added)| added.lines().count()).sum()
    }

    /// Commits the files among others, and the change on top.
    pub(super) fn commit(
        &self,
        folder: PathBuf,
        others: Vec<(String, &str)>,
    ) -> anyhow::Result<Repository> {
        let repository = Repository::new(folder)?;
        for (name, text) in others {
            repository.write(&name, text.as_bytes())?;
        }
        for (name, text, _) in &self.files {
            repository.write(name, text.as_bytes())?;
        }
        repository.commit("before")?;
        for (name, text, added) in &self.files {
            repository.write(name, format!("{text}{added}").as_bytes())?;
        }
        repository.commit("the change")?;
        Ok(repository)
    }
}

/// Returns a function of fifty lines, including an empty line before it.
fn function(ending: &str, number: usize) -> String {
    let (start, step, end): (String, fn(usize) -> String, &str) = match ending {
        ".py" => (
            format!("def fold_{number}(items, total):"),
            |at| format!("    total += weigh(items[{at}], total, name=\"part-{at}\")"),
            "    return total",
        ),
        ".js" => (
            format!("function fold{number}(items, total) {{"),
            |at| format!("  total += weigh(items[{at}], total, {{ name: \"part-{at}\" }});"),
            "  return total; }",
        ),
        _ => (
            format!("fn fold_{number}(items: &[u64], mut total: u64) -> u64 {{"),
            |at| format!("    total += weigh(items[{at}], total, \"part-{at}\");"),
            "    total }",
        ),
    };
    let mut text = format!("\n{start}\n");
    for at in 0..LINES_PER_FILE - 3 {
        let _ = writeln!(text, "{}", step(at));
    }
    let _ = writeln!(text, "{end}");
    text
}
