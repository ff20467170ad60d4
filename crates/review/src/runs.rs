//! A review on disk: the folder `.assay/runs/<id>/`, written whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_change::Change;
use assay_change::state::{Kind, State, StateError};
use assay_findings::finding::Finding;
use assay_findings::ground::Ground;
use assay_findings::merge;
use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::{AutofixClass, Replacement};
use assay_findings::write::{self, Document, Form};
use assay_rules::{Redacted, redact, without_injections};
use assay_sandbox::ScratchFolder;
use serde::{Deserialize, Serialize};

use crate::exchange::Exchange;
use crate::recording::{self, Recording};

/// The kind of state that runs are.
const KIND: &str = "runs";

/// So many runs are kept; the oldest go first.
const KEPT: usize = 100;

/// A draft that was not touched for so long is nobody's.
const STALE: Duration = Duration::from_secs(3600);

/// The folder of a run with what is needed to have it again.
const RECORDING: &str = "recording";

/// So many findings of an earlier review are told.
const PRIOR: usize = 30;

/// The beginning of the name of a folder that is not a run yet.
const DRAFT: &str = ".draft-";

/// Why a run could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be read or written.
    #[error("could not use `{path}`")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no such run.
    #[error("there is no run `{id}`; `.assay/runs/` has: {known}")]
    Unknown {
        /// What was asked for.
        id: String,
        /// The runs that there are.
        known: String,
    },
    /// There is no run at all.
    #[error("there is no run yet; `assay review` makes one")]
    NoneYet,
    /// The runs have no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file of it is not what it should be.
    #[error("`{path}` is damaged: {message}; review again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// A fix that a run can apply, and the file that it was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFix {
    /// The finding that it is for.
    pub finding: String,
    /// What the finding is called.
    pub title: String,
    /// The file.
    pub file: RepoPath,
    /// The hash of the file's bytes: with any other content the fix is void.
    pub content: String,
    /// What may be done with it.
    pub class: AutofixClass,
    /// Which lines become what.
    pub replacement: Replacement,
}

/// What is kept of a review.
pub struct Record<'a> {
    /// The change that was reviewed.
    pub change: &'a Change,
    /// What each reviewer reported.
    pub reports: &'a [Report],
    /// What came of it.
    pub synthesis: &'a Synthesis,
    /// What happened, a line each.
    pub log: &'a [String],
    /// The version of assay.
    pub version: &'a str,
    /// What each reviewer is made of.
    pub made_of: BTreeMap<String, BTreeMap<String, String>>,
    /// What was asked of models.
    pub exchanges: &'a [Exchange],
    /// All that is needed to have the review again, where that is not too much.
    pub recording: Option<&'a Recording>,
    /// The folder with what models answered, which was paid for.
    pub replies: Option<&'a Path>,
}

/// What a run was made with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeWith {
    /// The version of assay.
    pub assay: String,
    /// The hash of the change.
    pub change: String,
    /// What each reviewer was made of, by name.
    pub reviewers: BTreeMap<String, BTreeMap<String, String>>,
    /// What was asked of models.
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
}

impl Record<'_> {
    /// Keeps the review under an id, sealed before it takes its place.
    pub fn save(&self, state: &State, id: &str) -> Result<PathBuf, RunError> {
        let kind = state.open(KIND)?;
        kind.make()?;
        let parent = kind.path();
        let folder = parent.join(id);
        let fail = |source| RunError::File { path: folder.clone(), source };
        if folder.symlink_metadata().is_ok() {
            // Its seal stays what it is.
            return Err(fail(io::ErrorKind::AlreadyExists.into()));
        }
        // Until it is renamed, the folder has a name that no run has, and goes if anything fails.
        let draft = ScratchFolder::new_in(DRAFT, parent).map_err(fail)?;
        self.fill(draft.path()).map_err(fail)?;
        sync_folder(draft.path()).map_err(fail)?;
        kind.seal_draft(id, draft.path())?;
        fs::rename(draft.path(), &folder).map_err(fail)?;
        // It has its name now; nothing is left to clean up.
        let _ = draft.keep();
        sync_folder(parent).map_err(fail)?;
        keep_newest(parent, &folder, KEPT);
        kind.prune();
        Ok(folder)
    }

    fn fill(&self, folder: &Path) -> io::Result<()> {
        let put =
            |name: &str, text: &str| write_synced(&folder.join(name), redact(text).as_bytes());
        for report in self.reports {
            let name: String = report.reviewer.name.chars().map(file_char).collect();
            put(&format!("reviewer-{name}.json"), &self.report(report, Form::Persona))?;
            put(
                &format!("reviewer-{name}.compact.json"),
                &self.report(report, Form::PersonaCompact),
            )?;
        }
        put("synthesis.json", &write::pretty(self.synthesis))?;
        put("verdict.json", &write::pretty(&self.synthesis.verdict))?;
        put("fixes.json", &write::pretty(&fixes_of(self.change, self.synthesis)))?;
        put("made-with.json", &write::pretty(&self.made_with()))?;
        put("log", &(self.log.join("\n") + "\n"))?;
        let recorded = folder.join(RECORDING);
        if let Some(replies) = self.replies {
            recording::keep_replies(replies, &recorded)?;
        }
        match self.recording {
            Some(recording) => recording.save(&recorded),
            None => Ok(()),
        }
    }

    fn made_with(&self) -> MadeWith {
        MadeWith {
            assay: self.version.to_owned(),
            change: change_hash(self.change),
            reviewers: self.made_of.clone(),
            exchanges: self.exchanges.to_vec(),
        }
    }

    /// Writes one reviewer's report, in full or as far as merging needs it.
    fn report(&self, report: &Report, form: Form) -> String {
        let changed = self.change.changed_lines();
        let redacted = Redacted(self.change.tree());
        let ground = Ground::new(Some(&redacted), Some(&changed));
        let votes = report.votes.iter().enumerate();
        let votes: Vec<_> =
            votes.map(|(at, vote)| ground.check(vote, &report.reviewer, (0, at))).collect();
        let findings = merge::each_alone(&votes);
        let document = Document {
            findings: Some(&findings),
            report: Some(report),
            version: self.version,
            ..Document::default()
        };
        write::write(form, &document)
    }
}

/// Gives the exact fixes of a review's findings.
pub fn fixes_of(change: &Change, synthesis: &Synthesis) -> Vec<StoredFix> {
    synthesis.findings.iter().filter_map(|finding| fix_of(change, finding)).collect()
}

fn fix_of(change: &Change, finding: &Finding) -> Option<StoredFix> {
    let (file, replacement) = (finding.file.clone()?, finding.replacement.clone()?);
    let content = content_hash(change.tree().read(&file).ok()??.as_bytes());
    Some(StoredFix {
        finding: finding.id.clone(),
        title: finding.title.clone(),
        file,
        content,
        class: finding.autofix_class,
        replacement,
    })
}

/// Takes away the oldest runs but for so many, and drafts that were left behind by whoever was
/// killed. What cannot be taken away now is tried again with the next run.
pub(crate) fn keep_newest(parent: &Path, newest: &Path, kept: usize) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let (mut runs, drafts): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.flatten().map(|entry| entry.path()).partition(|path| is_run(path));
    runs.sort();
    let too_many = runs.len().saturating_sub(kept);
    let is_stale = |draft: &PathBuf| {
        // Somebody may be filling it just now.
        let age = changed(newest).zip(changed(draft)).map(|(now, then)| now.duration_since(then));
        matches!(age, Some(Ok(age)) if age > STALE)
    };
    for old in runs.into_iter().take(too_many).chain(drafts.into_iter().filter(is_stale)) {
        let _ = fs::remove_dir_all(old);
    }
}

fn is_run(path: &Path) -> bool {
    path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
}

/// Gives the hash by which a change is told: what it does, and what its files hold after it.
pub fn change_hash(change: &Change) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in &change.files {
        let after = file.new_path.as_deref().and_then(|path| RepoPath::exact(path).ok());
        let after = after.filter(|_| file.left_out.is_none());
        let text = after.map_or(Ok(None), |path| change.tree().read(&path));
        // A file that could not be read is told apart from an empty one.
        let text = text.map_or_else(|error| error.to_string(), Option::unwrap_or_default);
        hasher.update(format!("{file:?} {}\n", text.len()).as_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Reads what a run came to.
pub fn synthesis(run: &Path) -> Result<Synthesis, RunError> {
    read_json(&run.join("synthesis.json"))
}

/// Reads what a run was made with.
pub fn made_with(run: &Path) -> Result<MadeWith, RunError> {
    read_json(&run.join("made-with.json"))
}

/// Gives the folder with what is needed to have a run again.
pub fn recording(run: &Path) -> PathBuf {
    run.join(RECORDING)
}

/// Returns what the latest review of another change found, for a persona that is to say what became of
/// it; `None` where there is no such review. Fails if a run that is looked at has no authority.
pub fn prior_findings(state: &State, change: &Change) -> Result<Option<String>, RunError> {
    let this = change_hash(change);
    let kind = state.open(KIND)?;
    for id in ids(&kind)?.into_iter().rev() {
        let Some(run) = kind.check(&id)? else { continue };
        // A run that an older version left half done is no review.
        if !made_with(&run).is_ok_and(|with| with.change != this) {
            continue;
        }
        let Ok(synthesis) = synthesis(&run) else { return Ok(None) };
        return Ok(told(&synthesis));
    }
    Ok(None)
}

fn told(synthesis: &Synthesis) -> Option<String> {
    let told = synthesis.findings.iter().take(PRIOR).map(|finding| {
        let place = finding.place().unwrap_or_else(|| "the change".to_owned());
        format!("- {} {place}: {}. {}\n", finding.severity, finding.title, finding.description)
    });
    let told: String = told.collect();
    (!told.is_empty()).then(|| without_injections(&redact(&told)).into_owned())
}

/// Returns the ids of the runs that reviewed this very change. Fails if a run has no authority.
pub(crate) fn of_the_same(state: &State, change: &Change) -> Result<BTreeSet<String>, RunError> {
    let this = change_hash(change);
    let mut same = BTreeSet::new();
    let kind = state.open(KIND)?;
    for id in ids(&kind)? {
        let Some(run) = kind.check(&id)? else { continue };
        if made_with(&run).is_ok_and(|with| with.change == this) {
            same.insert(id);
        }
    }
    Ok(same)
}

/// Gives the hash by which a file's content is told.
pub(crate) fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Returns the folder of a run: the one that is asked for, or the newest. Fails if it has no authority.
pub fn find(state: &State, id: Option<&str>) -> Result<PathBuf, RunError> {
    let kind = state.open(KIND)?;
    let known = ids(&kind)?;
    let newest = known.last().ok_or(RunError::NoneYet)?;
    let wanted = id.unwrap_or(newest);
    let found = match known.iter().any(|name| name == wanted) {
        true => kind.check(wanted)?,
        false => None,
    };
    found.ok_or_else(|| {
        let last: Vec<&str> = known.iter().rev().take(3).map(String::as_str).collect();
        RunError::Unknown { id: wanted.to_owned(), known: last.join(", ") }
    })
}

/// Returns the ids of all runs, the oldest first.
fn ids(kind: &Kind) -> Result<Vec<String>, RunError> {
    let mut ids = kind.names()?;
    ids.retain(|name| !name.starts_with('.'));
    Ok(ids)
}

/// Reads the fixes of a run.
pub fn fixes(run: &Path) -> Result<Vec<StoredFix>, RunError> {
    read_json(&run.join("fixes.json"))
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let path = path.to_owned();
    let text = fs::read_to_string(&path)
        .map_err(|source| RunError::File { path: path.clone(), source })?;
    serde_json::from_str(&text)
        .map_err(|error| RunError::Damaged { path, message: error.to_string() })
}

fn file_char(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
