//! Reviews on disk: the folder `.assay/runs/<id>/`, written atomically.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_change::Change;
use assay_change::state::{State, StateError, StateKind};
use assay_findings::finding::Finding;
use assay_findings::grounding::Grounder;
use assay_findings::merge;
use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::{AutofixClass, Owner, Replacement};
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use assay_rules::{RedactedTree, redact, without_injections};
use assay_sandbox::ScratchFolder;
use serde::{Deserialize, Serialize};

use crate::exchange::Exchange;
use crate::recording::{self, Recording};
use crate::run_context::RunContext;

/// The kind of state of runs.
const STATE_KIND: &str = "runs";

/// The number of runs that are stored; the oldest are removed first.
const MAX_RUNS: usize = 100;

/// The age from which on a draft counts as abandoned.
const STALE_DRAFT_AGE: Duration = Duration::from_secs(3600);

/// The file of a run with the context of its findings.
const CONTEXT_FILE: &str = "context.json";

/// The folder of a run with its recording.
pub(crate) const RECORDING_DIR: &str = "recording";

/// The maximum number of findings of an earlier review in a prompt.
const MAX_PRIOR_FINDINGS: usize = 30;

/// The prefix of the name of a folder that is not a complete run yet.
const DRAFT_PREFIX: &str = ".draft-";

/// The reason why a run could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be read or written.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// There is no run with that id.
    #[error("unknown run `{id}`; `.assay/runs/` has: {known}")]
    Unknown {
        /// The given id.
        id: String,
        /// The latest runs.
        known: String,
    },
    /// There is no run at all.
    #[error("no review has been run yet; run `assay review`")]
    NoneYet,
    /// The runs have no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file of the run is invalid.
    #[error("`{path}` is damaged: {message}; review again")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
}

/// A fix that a run can apply, and the file that it was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFix {
    /// The id of the finding.
    pub finding: String,
    /// The title of the finding.
    pub title: String,
    /// The path of the file.
    pub file: RepoPath,
    /// The hash of the file's bytes: with any other content the fix is void.
    pub content: String,
    /// The class of the fix, which decides how it may be applied.
    pub class: AutofixClass,
    /// The lines to replace, and their new text.
    pub replacement: Replacement,
}

/// The content of a run.
pub struct RunContent<'a> {
    /// The change that was reviewed.
    pub change: &'a Change,
    /// The report of each reviewer.
    pub reports: &'a [Report],
    /// The synthesis.
    pub synthesis: &'a Synthesis,
    /// The log of the review, one entry for each line.
    pub log: &'a [String],
    /// The version of assay.
    pub version: &'a str,
    /// The inputs of each reviewer, such as versions, by the name of the reviewer.
    pub provenance: BTreeMap<String, BTreeMap<String, String>>,
    /// The requests to models.
    pub exchanges: &'a [Exchange],
    /// The recording of the review; `None` if it would be too large.
    pub recording: Option<&'a Recording>,
    /// The folder with the replies of models, which were paid for; `None` if no model was called.
    pub replies: Option<&'a Path>,
}

/// The inputs of a run, for comparisons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProvenance {
    /// The version of assay.
    pub assay: String,
    /// The hash of the change.
    pub change: String,
    /// The inputs of each reviewer, such as versions, by the name of the reviewer.
    pub reviewers: BTreeMap<String, BTreeMap<String, String>>,
    /// The requests to models.
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
}

impl RunContent<'_> {
    /// Stores the review under an id, sealed before it gets its final name.
    pub fn save(&self, state: &State, id: &str) -> Result<PathBuf, RunError> {
        let kind = state.open(STATE_KIND)?;
        kind.create()?;
        let parent = kind.path();
        let folder = parent.join(id);
        let fail = |source| RunError::File { path: folder.clone(), source };
        if folder.symlink_metadata().is_ok() {
            // The seal of the existing run stays.
            return Err(fail(io::ErrorKind::AlreadyExists.into()));
        }
        // Until the folder is renamed, its name is not that of a run, and it is removed if anything
        // fails.
        let draft = ScratchFolder::new_in(DRAFT_PREFIX, parent).map_err(fail)?;
        self.write_files(draft.path()).map_err(fail)?;
        sync_folder(draft.path()).map_err(fail)?;
        kind.seal_draft(id, draft.path())?;
        fs::rename(draft.path(), &folder).map_err(fail)?;
        // The folder has its final name now, so the draft must not be removed.
        let _ = draft.keep();
        sync_folder(parent).map_err(fail)?;
        keep_newest(parent, &folder, MAX_RUNS);
        kind.prune();
        Ok(folder)
    }

    fn write_files(&self, folder: &Path) -> io::Result<()> {
        let put =
            |name: &str, text: &str| write_synced(&folder.join(name), redact(text).as_bytes());
        for report in self.reports {
            let name: String = report.reviewer.name.chars().map(file_char).collect();
            put(&format!("reviewer-{name}.json"), &self.report(report, OutputFormat::Persona))?;
            put(
                &format!("reviewer-{name}.compact.json"),
                &self.report(report, OutputFormat::PersonaCompact),
            )?;
        }
        put("synthesis.json", &write::pretty(self.synthesis))?;
        put("verdict.json", &write::pretty(&self.synthesis.verdict))?;
        put("fixes.json", &write::pretty(&fixes_of(self.change, self.synthesis)))?;
        put("made-with.json", &write::pretty(&self.provenance()))?;
        let context = RunContext::of(self.change, self.reports, self.synthesis);
        put(CONTEXT_FILE, &write::pretty(&context))?;
        put("log", &(self.log.join("\n") + "\n"))?;
        let recorded = folder.join(RECORDING_DIR);
        if let Some(replies) = self.replies {
            recording::copy_replies(replies, &recorded)?;
        }
        match self.recording {
            Some(recording) => recording.save(&recorded),
            None => Ok(()),
        }
    }

    fn provenance(&self) -> RunProvenance {
        RunProvenance {
            assay: self.version.to_owned(),
            change: change_hash(self.change),
            reviewers: self.provenance.clone(),
            exchanges: self.exchanges.to_vec(),
        }
    }

    /// Formats the report of one reviewer, in full or as far as merging needs it.
    fn report(&self, report: &Report, form: OutputFormat) -> String {
        let changed = self.change.changed_lines();
        let redacted = RedactedTree(self.change.tree());
        let ground = Grounder::new(Some(&redacted), Some(&changed));
        let votes = report.votes.iter().enumerate();
        let votes: Vec<_> =
            votes.map(|(at, vote)| ground.check(vote, &report.reviewer, (0, at))).collect();
        let findings = merge::one_finding_per_vote(&votes);
        let document = FindingsDocument {
            findings: Some(&findings),
            report: Some(report),
            version: self.version,
            ..FindingsDocument::default()
        };
        write::write(form, &document)
    }
}

/// Returns the exact fixes of the findings of a review.
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
        class: fix_class(finding),
        replacement,
    })
}

/// Returns the class of a finding's fix. A fix that a person owns or that must be verified is not
/// applied without approval.
fn fix_class(finding: &Finding) -> AutofixClass {
    let is_owned_by_person = matches!(finding.owner, Owner::Human | Owner::Release);
    match is_owned_by_person || finding.requires_verification {
        true => finding.autofix_class.max(AutofixClass::GatedAuto),
        false => finding.autofix_class,
    }
}

/// Removes all but the newest runs, and drafts that a killed process left behind. A folder that
/// cannot be removed is tried again with the next run.
pub(crate) fn keep_newest(parent: &Path, newest: &Path, kept: usize) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let (mut runs, drafts): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.flatten().map(|entry| entry.path()).partition(|path| is_run(path));
    runs.sort();
    let too_many = runs.len().saturating_sub(kept);
    let is_stale = |draft: &PathBuf| {
        // Another process may be filling the draft at this moment.
        let age = changed(newest).zip(changed(draft)).map(|(now, then)| now.duration_since(then));
        matches!(age, Some(Ok(age)) if age > STALE_DRAFT_AGE)
    };
    for old in runs.into_iter().take(too_many).chain(drafts.into_iter().filter(is_stale)) {
        let _ = fs::remove_dir_all(old);
    }
}

fn is_run(path: &Path) -> bool {
    path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
}

/// Returns the hash that identifies a change: its diff, and the content of its files after it.
pub fn change_hash(change: &Change) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in &change.files {
        let after = file.new_path.as_deref().and_then(|path| RepoPath::exact(path).ok());
        let after = after.filter(|_| file.left_out.is_none());
        let text = after.map_or(Ok(None), |path| change.tree().read(&path));
        // A file that could not be read is distinguished from an empty one.
        let text = text.map_or_else(|error| error.to_string(), Option::unwrap_or_default);
        hasher.update(format!("{file:?} {}\n", text.len()).as_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Reads the synthesis of a run.
pub fn synthesis(run: &Path) -> Result<Synthesis, RunError> {
    read_json(&run.join("synthesis.json"))
}

/// Reads the inputs of a run.
pub fn provenance(run: &Path) -> Result<RunProvenance, RunError> {
    read_json(&run.join("made-with.json"))
}

/// Reads the context of the findings of a run; `None` if an earlier version of assay stored the
/// run, which kept none.
pub fn context(run: &Path) -> Result<Option<RunContext>, RunError> {
    match read_json(&run.join(CONTEXT_FILE)) {
        Err(RunError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Returns the folder of the recording of a run.
pub fn recording(run: &Path) -> PathBuf {
    run.join(RECORDING_DIR)
}

/// Returns the findings of the latest review of another change, for the persona that checks them;
/// `None` if there is no such review or it has no findings. Fails if a run on the way has no
/// authority.
pub fn prior_findings(state: &State, change: &Change) -> Result<Option<String>, RunError> {
    let this = change_hash(change);
    let kind = state.open(STATE_KIND)?;
    for id in ids(&kind)?.into_iter().rev() {
        let Some(run) = kind.check(&id)? else { continue };
        // A run that an older version left incomplete is not a review.
        if !provenance(&run).is_ok_and(|with| with.change != this) {
            continue;
        }
        let Ok(synthesis) = synthesis(&run) else { return Ok(None) };
        return Ok(format_findings(&synthesis));
    }
    Ok(None)
}

fn format_findings(synthesis: &Synthesis) -> Option<String> {
    let format_findings = synthesis.findings.iter().take(MAX_PRIOR_FINDINGS).map(|finding| {
        let place = finding.place().unwrap_or_else(|| "the change".to_owned());
        format!("- {} {place}: {}. {}\n", finding.severity, finding.title, finding.description)
    });
    let format_findings: String = format_findings.collect();
    (!format_findings.is_empty())
        .then(|| without_injections(&redact(&format_findings)).into_owned())
}

/// Returns the ids of the runs that reviewed the same change. Fails if a run has no authority.
pub(crate) fn runs_of_change(state: &State, change: &Change) -> Result<BTreeSet<String>, RunError> {
    let this = change_hash(change);
    let mut same = BTreeSet::new();
    let kind = state.open(STATE_KIND)?;
    for id in ids(&kind)? {
        let Some(run) = kind.check(&id)? else { continue };
        if provenance(&run).is_ok_and(|with| with.change == this) {
            same.insert(id);
        }
    }
    Ok(same)
}

/// Returns the hash that identifies the content of a file.
pub(crate) fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Returns the folder of the run with an id, or of the newest run. Fails if it has no authority.
pub fn find(state: &State, id: Option<&str>) -> Result<PathBuf, RunError> {
    let kind = state.open(STATE_KIND)?;
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
fn ids(kind: &StateKind) -> Result<Vec<String>, RunError> {
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
