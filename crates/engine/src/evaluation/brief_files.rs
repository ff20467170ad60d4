//! Questions and answers as files: [`BriefFolder`].
//!
//! A brief is the file `CASE/READER-PART.brief.txt`. Its answer is `CASE/READER-PART.answer.json`,
//! or has any other extension. `briefs.json` maps each brief to its question.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, bail};
use assay_findings::read::decode;
use assay_findings::write::pretty;
use assay_models::Nonce;
use assay_review::delegation::Brief;
use serde::{Deserialize, Serialize};

use super::questions::OpenBrief;
use super::reviewers::find_output;

/// The file that maps each brief to its question.
const INDEX: &str = "briefs.json";

/// The format version of the index file.
const VERSION: u32 = 1;

/// The extension of an answer whose question has changed since.
const OUTDATED: &str = "outdated";

/// A folder of briefs and answers.
pub struct BriefFolder {
    path: PathBuf,
    index: Mutex<Index>,
}

#[derive(Serialize, Deserialize)]
struct Index {
    version: u32,
    /// The briefs by their file names without extension.
    briefs: BTreeMap<String, WrittenBrief>,
}

/// A brief as it was written.
#[derive(Serialize, Deserialize)]
struct WrittenBrief {
    /// The hash of the question.
    question: String,
    /// The values of the marks in the text.
    marks: Nonce,
}

impl BriefFolder {
    /// Opens a folder of briefs. The folder is new, empty, or was written by an earlier call.
    pub fn open(path: &Path) -> anyhow::Result<BriefFolder> {
        let file = path.join(INDEX);
        let index = match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("`{}` is not a list of briefs", file.display()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_empty = fs::read_dir(path).map_or(true, |mut all| all.next().is_none());
                if !is_empty {
                    bail!(
                        "`{}` contains other files; name a new or an empty folder",
                        path.display()
                    );
                }
                Index { version: VERSION, briefs: BTreeMap::new() }
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", file.display()));
            }
        };
        if index.version != VERSION {
            bail!("`{}`: unsupported format version {}", file.display(), index.version);
        }
        Ok(BriefFolder { path: path.to_owned(), index: Mutex::new(index) })
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Returns the answer to a brief of a case without marks; `None` if there is no answer. An
    /// answer whose question has changed is renamed and ignored.
    pub fn answer(&self, case: &str, brief: &Brief) -> anyhow::Result<Option<String>> {
        let name = file_name(case, brief);
        let Some(path) = find_output(&self.path, &format!("{name}.answer"))? else {
            return Ok(None);
        };
        let shown = path.display();
        let index = self.index();
        let Some(written) = index.briefs.get(&name) else {
            bail!("`{shown}` answers an unknown brief; move the file away");
        };
        if written.question != brief.question {
            fs::rename(&path, self.path.join(format!("{name}.{OUTDATED}")))
                .with_context(|| format!("cannot rename `{shown}`"))?;
            return Ok(None);
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{shown}`"))?;
        let (text, _) = decode(&bytes);
        let is_blank = text.trim().is_empty();
        Ok((!is_blank).then(|| written.marks.replace_marks(&text)))
    }

    /// Writes the brief of an open question, unless the file exists.
    pub fn write(&self, case: &str, open: &OpenBrief) -> anyhow::Result<()> {
        let OpenBrief { brief, marks } = open;
        let name = file_name(case, brief);
        let path = self.path.join(format!("{name}.brief.txt"));
        let mut index = self.index();
        let is_there = index.briefs.get(&name).is_some_and(|it| it.question == brief.question);
        if is_there && path.is_file() {
            return Ok(());
        }
        let written = match path.parent() {
            Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(&path, text(brief))),
            None => fs::write(&path, text(brief)),
        };
        written.with_context(|| format!("cannot write `{}`", path.display()))?;
        let (question, marks) = (brief.question.clone(), marks.clone());
        index.briefs.insert(name, WrittenBrief { question, marks });
        let file = self.path.join(INDEX);
        let draft = file.with_extension("part");
        fs::write(&draft, pretty(&*index))
            .and_then(|()| fs::rename(&draft, &file))
            .with_context(|| format!("cannot write `{}`", file.display()))
    }
}

/// Returns the file name of a brief and its answer, without extension.
pub fn file_name(case: &str, brief: &Brief) -> String {
    let again = if brief.again.is_some() { "-again" } else { "" };
    format!("{case}/{}-{}{again}", brief.persona, brief.part)
}

fn text(brief: &Brief) -> String {
    let fault = brief.again.as_ref().map(|why| {
        format!("An earlier answer to this brief could not be used: {why}. Answer once more.\n\n")
    });
    format!("{}{}\n", fault.unwrap_or_default(), brief.full_text())
}
