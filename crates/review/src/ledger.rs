//! Reviews in the ledger: the file `.assay/ledger.db`, or the database that the state of the work
//! tree names.
//!
//! [`StoredReview::record`] adds a review to the ledger, [`dismissals`] returns the dismissals of
//! users for the gate, and [`memory()`] the history for models. [`LedgerReader`] is for servers. The
//! module `code_origins` finds the author and the checkout of the code of findings, and the module
//! `resolution` decides which findings a review may resolve; the storage of a ledger belongs to `store`.

mod code_origins;
mod memory;
mod reader;
mod resolution;

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::str::FromStr;

use assay_change::diff::Renames;
use assay_change::state::{State, StateError, UnitLock};
use assay_change::{Change, GitError, Lineage};
use assay_findings::finding::{Finding, VoteRef};
use assay_findings::identity::{Day, Dismissal, ResolvedFinding};
use assay_findings::path::RepoPath;
use assay_findings::post::{Resolution, TrackedFinding};
use assay_findings::report::Report;
use assay_findings::synthesis::Synthesis;
use assay_findings::usage::{ModelUsage, ReviewUsage};
use assay_findings::verdict;
use assay_rules::redact;
use assay_store::ledger::branch_history::BranchFinding;
use assay_store::ledger::record::{
    Absence, CodeOrigin, ExternalDismissal, ModelCost, Observation, ReportCost, RunCost, RunRecord,
    VoteRecord,
};
use assay_store::ledger::{FindingOutcome, FindingState, Ledger, LedgerError};
use assay_store::task::Moment;
use globset::{Glob, GlobMatcher};

use crate::Review;
use crate::reviewer::version_hash;
use crate::runs::RunError;

use self::code_origins::CodeOrigins;
pub use self::memory::memory;
pub use self::reader::{LedgerReader, LedgerStamp};

/// The kind of state of the ledger.
const STATE_KIND: &str = "ledger.db";

/// The reason why the ledger of a repository could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerUseError {
    /// The ledger has no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A run in the ledger has no authority.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The ledger itself reports an error.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The ledger is in a database, and a database has no seal.
    #[error("the ledger is in a database, so there is no file to adopt")]
    NoFile,
    /// Git could not determine the position of the change in the history.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A ledger. A ledger in a file is locked against other processes, and sealed when it is dropped.
#[derive(Debug)]
pub struct OpenLedger {
    // The order of the fields matters: the database is closed, and so complete, before it is
    // sealed.
    ledger: Ledger,
    _held: Option<UnitLock>,
}

impl Deref for OpenLedger {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        &self.ledger
    }
}

impl DerefMut for OpenLedger {
    fn deref_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// Opens the ledger of a repository for writing, and creates it if there is none.
pub fn open(state: &State) -> Result<OpenLedger, LedgerUseError> {
    if let Some(url) = state.ledger_url() {
        return Ok(OpenLedger { ledger: Ledger::open_database(url)?, _held: None });
    }
    let mut held = state.open(STATE_KIND)?.lock_unit("")?;
    state.create()?;
    held.mark_changing()?;
    let ledger = Ledger::open(held.path())?;
    Ok(OpenLedger { ledger, _held: Some(held) })
}

/// Opens the ledger of a repository for reading; `None` if there is none.
pub fn open_read_only(state: &State) -> Result<Option<OpenLedger>, LedgerUseError> {
    if let Some(url) = state.ledger_url() {
        let ledger = Ledger::open_database_to_read(url)?;
        return Ok(ledger.map(|ledger| OpenLedger { ledger, _held: None }));
    }
    let mut held = state.open(STATE_KIND)?.lock_unit("")?;
    if !held.has_existed() {
        return Ok(None);
    }
    // Reading may move the write-ahead log of another process into the database. If seals cannot be
    // written, neither can the database.
    let _ = held.mark_changing();
    let ledger = Ledger::open_to_read(held.path())?;
    Ok(ledger.map(|ledger| OpenLedger { ledger, _held: Some(held) }))
}

/// Returns the path of the ledger of a repository, if the ledger is a file.
pub fn file_path(state: &State) -> PathBuf {
    state.path(STATE_KIND)
}

/// Adopts a ledger that assay did not write on this machine, for a user who vouches for it. Returns
/// false if there is none.
pub fn adopt(state: &State) -> Result<bool, LedgerUseError> {
    if state.ledger_url().is_some() {
        return Err(LedgerUseError::NoFile);
    }
    Ok(state.open(STATE_KIND)?.adopt("")?)
}

/// Returns the dismissals of a repository that are in force.
pub fn dismissals(state: &State) -> Result<Vec<Dismissal>, LedgerUseError> {
    let Some(ledger) = open_read_only(state)? else { return Ok(Vec::new()) };
    let in_force = ledger.active_dismissals()?.into_iter();
    let dismissals = in_force.filter_map(|dismissal| {
        // A dismissal whose end cannot be parsed has ended.
        let until = dismissal.until.map(Day::try_from).transpose().ok()?;
        let file = match dismissal.file.as_str() {
            "" => None,
            path => Some(RepoPath::exact(path).ok()?),
        };
        let (by, reason) = (dismissal.by, dismissal.reason);
        Some(Dismissal { fingerprint: dismissal.fingerprint, file, by, reason, until })
    });
    Ok(dismissals.collect())
}

/// The maximum number of findings of a branch.
const MAX_TRACKED: usize = 500;

/// Returns the findings of all reviews of a branch or pull request, with their outcomes; `today` is
/// a day such as `2026-12-31`.
pub fn tracked_findings(
    state: &State,
    branch: &str,
    today: &str,
) -> Result<Vec<TrackedFinding>, LedgerUseError> {
    let Some(ledger) = open_read_only(state)? else { return Ok(Vec::new()) };
    let findings = ledger.branch_findings(branch, today, MAX_TRACKED)?;
    Ok(findings.into_iter().map(tracked).collect())
}

fn tracked(found: BranchFinding) -> TrackedFinding {
    let BranchFinding { entry, outcomes, reason } = found;
    let was_absent = outcomes.contains(&FindingOutcome::Absent);
    let resolution = match outcomes.last() {
        Some(FindingOutcome::Absent) => Resolution::Resolved,
        _ if entry.state == FindingState::Dismissed => Resolution::Dismissed,
        _ if was_absent => Resolution::Regressed,
        _ => Resolution::Open,
    };
    let line = entry.line.filter(|_| resolution != Resolution::Resolved);
    TrackedFinding {
        resolution,
        place: entry.file.map(|file| match line {
            Some(line) => format!("{file}:{line}"),
            None => file,
        }),
        reason: reason.filter(|_| resolution == Resolution::Dismissed),
        severity: entry.severity,
        impact: entry.impact,
        title: entry.title,
    }
}

/// Records that a user accepted findings of a run into the baseline, each with a reason. The
/// baseline decides about them; the ledger is only the history.
pub fn record_accepted(
    state: &State,
    run: &str,
    accepted: &[(&Finding, &str)],
    by: &str,
) -> Result<(), LedgerUseError> {
    let left = accepted.iter().map(|(finding, reason)| ExternalDismissal {
        fingerprint: finding.fingerprint.clone(),
        file: finding.file.as_ref().map(ToString::to_string).unwrap_or_default(),
        why: redact(&format!("{reason} (accepted by {by})")).into_owned(),
    });
    let left: Vec<ExternalDismissal> = left.collect();
    Ok(open(state)?.dismiss_externally(run, &left)?)
}

/// A pattern of files, as a glob such as `src/*.rs`.
#[derive(Debug, Clone)]
pub struct FileGlob(GlobMatcher);

impl FromStr for FileGlob {
    type Err = String;

    fn from_str(text: &str) -> Result<FileGlob, String> {
        let glob = Glob::new(text).map_err(|error| error.kind().to_string())?;
        Ok(FileGlob(glob.compile_matcher()))
    }
}

impl FileGlob {
    /// Returns true if a file matches.
    pub fn matches(&self, file: &str) -> bool {
        self.0.is_match(file)
    }
}

/// A review that was stored as a run.
pub struct StoredReview<'a> {
    /// The state of the repository.
    pub state: &'a State,
    /// The id of the run.
    pub run: &'a str,
    /// The time of the review.
    pub at: Moment,
    /// The change that was reviewed.
    pub change: &'a Change,
    /// The answers of all reviewers.
    pub review: &'a Review,
    /// The synthesis of the answers.
    pub synthesis: &'a Synthesis,
    /// The dismissals of the ledger itself.
    pub dismissals: &'a [Dismissal],
}

impl StoredReview<'_> {
    /// Adds the review to the ledger of its repository. Returns the findings that the review
    /// resolved.
    pub fn record(&self) -> Result<Vec<ResolvedFinding>, LedgerUseError> {
        let mut ledger = open(self.state)?;
        let lineage = self.change.lineage()?;
        let sightings = self.observations(&ledger, &lineage)?;
        let absent = resolution::find_resolved(self, &ledger, &lineage, &sightings)?;
        let absences: Vec<Absence> = absent.iter().map(|(_, absence)| *absence).collect();
        ledger.record(&self.run(&lineage), &sightings, &absences)?;
        Ok(absent.iter().filter_map(|(seen, _)| resolution::to_resolved(seen)).collect())
    }

    /// Returns true if the change was read by every reviewer that had to read it. A change without
    /// content was read by none.
    fn is_complete(&self) -> bool {
        let verdict = &self.synthesis.verdict;
        let was_read = match verdict.state {
            verdict::VerdictState::Ready
            | verdict::VerdictState::ReadyWithFixes
            | verdict::VerdictState::NotReady => true,
            verdict::VerdictState::NothingToReview | verdict::VerdictState::Incomplete => false,
        };
        was_read && !verdict.incomplete
    }

    fn run(&self, lineage: &Lineage) -> RunRecord {
        let spent = self.synthesis.spent.clone().unwrap_or_default();
        RunRecord {
            id: self.run.to_owned(),
            at: self.at,
            change: redact(&self.change.title).into_owned(),
            branch: lineage.branch.clone(),
            head: lineage.head.clone(),
            verdict: self.synthesis.verdict.state.in_words().to_owned(),
            complete: self.is_complete(),
            cost: to_run_cost(&spent),
            reports: self.review.reports.iter().filter_map(report_cost).collect(),
            models: spent.models.iter().map(model_cost).collect(),
        }
    }

    fn observations(
        &self,
        ledger: &Ledger,
        lineage: &Lineage,
    ) -> Result<Vec<Observation>, LedgerUseError> {
        let Synthesis { findings, dismissed, held_back, pre_existing, .. } = self.synthesis;
        let raised = findings.iter().map(|finding| (finding, FindingOutcome::Raised));
        let left = dismissed.iter().map(|finding| match self.is_dismissed_here(finding) {
            true => (finding, FindingOutcome::Raised),
            false => (finding, FindingOutcome::LeftAlone),
        });
        let held = held_back.iter().map(|finding| (finding, FindingOutcome::HeldBack));
        let old = pre_existing.iter().map(|finding| (finding, FindingOutcome::PreExisting));
        let mut before = BaseHashes { change: self.change, lineage, known: HashMap::new() };
        let mut origins = CodeOrigins::new(self, ledger, lineage)?;
        let all = raised.chain(left).chain(held).chain(old);
        let renames = self.change.renames()?;
        all.map(|(finding, outcome)| {
            let moved_from = self.moved_from(ledger, &renames, finding)?;
            let before = before.of(finding.file.as_ref());
            let origin = origins.of(finding)?;
            let observed = self.observation(finding, outcome, moved_from, before);
            Ok(Observation { origin, ..observed })
        })
        .collect()
    }

    /// Returns true if a dismissal of the ledger covers a finding.
    fn is_dismissed_here(&self, finding: &Finding) -> bool {
        self.dismissals.iter().any(|dismissal| dismissal.covers(finding))
    }

    /// Returns the former name of the finding's file, if the ledger has the same code under that
    /// name.
    fn moved_from(
        &self,
        ledger: &Ledger,
        renames: &Renames,
        finding: &Finding,
    ) -> Result<Option<String>, LedgerUseError> {
        let Some(here) = &finding.file else { return Ok(None) };
        let files = ledger.files_with(&finding.fingerprint)?;
        let is_renamed = |file: &&String| {
            let path = RepoPath::exact(file).ok();
            path.is_some_and(|path| {
                let is_gone = || self.change.tree().exists(&path).is_ok_and(|exists| !exists);
                renames.get(&path) == Some(here) && is_gone()
            })
        };
        Ok(files.iter().find(is_renamed).cloned())
    }

    fn observation(
        &self,
        finding: &Finding,
        outcome: FindingOutcome,
        moved_from: Option<String>,
        before: Option<String>,
    ) -> Observation {
        let safe = |text: &str| redact(text).into_owned();
        Observation {
            id: finding.id.clone(),
            fingerprint: finding.fingerprint.clone(),
            file: finding.file.as_ref().map(ToString::to_string).unwrap_or_default(),
            moved_from,
            line: finding.line,
            title: safe(&finding.title),
            severity: safe(&finding.severity),
            impact: finding.grade.impact().level(),
            category: safe(&finding.category),
            rule: finding.rule.as_deref().map(safe),
            outcome,
            why: finding.dismissal.as_deref().map(safe),
            before,
            finding: as_json(finding),
            votes: finding.votes.iter().filter_map(|cast| self.vote_record(cast)).collect(),
            origin: CodeOrigin::default(),
        }
    }

    fn vote_record(&self, cast: &VoteRef) -> Option<VoteRecord> {
        let by = |report: &&Report| report.reviewer.name == cast.reviewer;
        let vote = self.review.reports.iter().find(by)?.votes.get(cast.vote)?;
        Some(VoteRecord {
            reviewer: cast.reviewer.clone(),
            number: cast.vote,
            severity: redact(vote.grade.word()).into_owned(),
            confidence: vote.confidence.map(|sure| sure.percent()),
            vote: as_json(vote),
        })
    }
}

fn to_run_cost(spent: &ReviewUsage) -> RunCost {
    RunCost {
        calls: spent.calls,
        kept_answers: spent.kept_answers,
        tokens: spent.tokens,
        usd: spent.usd,
        at_most: spent.at_most,
    }
}

/// Returns the cost of a report; `None` if its reviewer called no model.
fn report_cost(report: &Report) -> Option<ReportCost> {
    let spent = report.spent.as_ref()?;
    let model = spent.models.first().map(|usage| redact(&usage.model).into_owned());
    let reviewer = report.reviewer.name.clone();
    Some(ReportCost { reviewer, model, cost: to_run_cost(spent) })
}

fn model_cost(usage: &ModelUsage) -> ModelCost {
    let ModelUsage { model, calls, kept_answers, tokens, usd, at_most } = usage;
    let (calls, kept_answers, tokens, usd) = (*calls, *kept_answers, *tokens, *usd);
    let cost = RunCost { calls, kept_answers, tokens, usd, at_most: *at_most };
    ModelCost { model: redact(model).into_owned(), cost }
}

/// Formats a value as JSON, with secrets redacted.
fn as_json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).expect("findings and votes have nothing but text keys");
    redact(&text).into_owned()
}

/// Hashes of the files before the change: two changes that start from the same text show the same.
struct BaseHashes<'a> {
    change: &'a Change,
    lineage: &'a Lineage,
    known: HashMap<RepoPath, Option<String>>,
}

impl BaseHashes<'_> {
    fn of(&mut self, file: Option<&RepoPath>) -> Option<String> {
        let Some(file) = file else { return self.lineage.base.clone() };
        if !self.known.contains_key(file) {
            self.known.insert(file.clone(), self.read(file));
        }
        self.known.get(file).cloned().flatten()
    }

    fn read(&self, file: &RepoPath) -> Option<String> {
        let diff =
            self.change.files.iter().find(|diff| diff.new_path.as_deref() == Some(file.as_str()));
        let old = match diff {
            Some(diff) => diff.old_path.as_deref().and_then(|path| RepoPath::exact(path).ok()),
            None => Some(file.clone()),
        };
        let base = self.change.base();
        let Some(old) = old else { return Some("nothing".to_owned()) };
        // A file that cannot be read has no known version.
        match base.exists(&old).ok()? {
            true => base.read(&old).ok()?.map(|text| version_hash(text.as_bytes())),
            false => Some("nothing".to_owned()),
        }
    }
}
