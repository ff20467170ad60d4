//! The answers of an agent on the cases of a set, in one file: [`Transcripts`].

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_review::delegation::transcript::ReviewTranscript;
use serde::{Deserialize, Serialize};

/// The file of a recording that holds the answers, with one case per line.
pub const ANSWERS: &str = "answers.jsonl";

/// The format version of a line.
const VERSION: u32 = 1;

/// The answers on the cases of a set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcripts {
    /// The transcripts by the ids of their cases.
    pub cases: BTreeMap<String, ReviewTranscript>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    version: u32,
    case: String,
    review: ReviewTranscript,
}

impl Transcripts {
    /// Reads the answers of a recording; `None` if its folder has no answers.
    pub fn read(folder: &Path) -> anyhow::Result<Option<Transcripts>> {
        let path = folder.join(ANSWERS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
            }
        };
        let mut cases = BTreeMap::new();
        for (line, number) in text.lines().zip(1..) {
            let place = || format!("`{}`, line {number}", path.display());
            let Line { version, case, review } = serde_json::from_str(line)
                .with_context(|| format!("{}: expected the answers on a case", place()))?;
            if version != VERSION {
                bail!("{}: unsupported format version {version}", place());
            }
            if cases.contains_key(&case) {
                bail!("{}: duplicate answers on case `{case}`", place());
            }
            cases.insert(case, review);
        }
        Ok(Some(Transcripts { cases }))
    }

    /// Writes the answers into the folder of a recording.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(ANSWERS);
        let written = || -> anyhow::Result<()> {
            let mut text = String::new();
            for (case, review) in &self.cases {
                let (case, review) = (case.clone(), review.clone());
                text += &serde_json::to_string(&Line { version: VERSION, case, review })?;
                text.push('\n');
            }
            fs::create_dir_all(folder)?;
            let draft = path.with_extension("jsonl.part");
            fs::write(&draft, text)?;
            Ok(fs::rename(&draft, &path)?)
        };
        written().with_context(|| format!("cannot write `{}`", path.display()))
    }
}

/// The folder to which a recording is written.
#[derive(Debug, Clone)]
pub struct RecordingFolder(PathBuf);

impl RecordingFolder {
    /// Checks that a recording can be written into a folder. The folder must be new or empty, or
    /// have answers already, which are retained.
    pub fn open(folder: &Path) -> anyhow::Result<RecordingFolder> {
        let is_empty = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot use `{}`", folder.display()));
            }
        };
        if !is_empty && Transcripts::read(folder)?.is_none() {
            bail!("`{}` contains other files; name a new or an empty folder", folder.display());
        }
        Ok(RecordingFolder(folder.to_owned()))
    }

    /// Adds the answers on cases, and replaces earlier answers on the same cases.
    pub fn add(
        &self,
        new: impl IntoIterator<Item = (String, ReviewTranscript)>,
    ) -> anyhow::Result<()> {
        let mut all = Transcripts::read(&self.0)?.unwrap_or_default();
        all.cases.extend(new);
        all.write(&self.0)
    }
}
