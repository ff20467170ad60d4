//! The end of a delegated review: [`DelegatedReview::close`] decides on the submitted reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_change::Change;
use assay_change::state::UnitLock;
use assay_findings::synthesis::Synthesis;
use assay_models::{Failure, FailureClass};

use super::folder::{Folder, LocalReviewer, ReviewMeta, ReviewStage};
use super::participants::{Participants, StaleTreeReviewer};
use super::transcript::ReviewTranscript;
use super::{Brief, DelegatedReview, DelegationError, NullReviewObserver, ReviewId, require_open};
use crate::persona::validator::{SecondLooks, second_looks};
use crate::recording::{REPLIES_DIR, RecordedModels, RecordedPolicy, Recording, replay_answers};
use crate::reviewer::Reviewer;
use crate::run::{Concurrency, Review, ReviewPolicy, StartOrder, run};
use crate::runs::{self, RunContent};
use crate::templates;

/// The result of closing a review.
pub enum CloseResult {
    /// The findings need second looks first. A second look that is not submitted before the review
    /// is closed the next time is left out.
    SecondLooks(Vec<Brief>),
    /// The review is decided.
    Done(Box<DecidedReview>),
}

/// The current evidence on which a review is decided when it ends. The agent can write the files of
/// the open review, so nothing but the reports is taken from there.
pub struct CurrentEvidence<'a> {
    /// The change as it is now, with its purpose.
    pub change: &'a Change,
    /// The reviewers that need no model; they read the change once more.
    pub reviewers: Vec<Box<dyn Reviewer>>,
    /// The number of reviewers without a model that read at a time.
    pub at_a_time: usize,
    /// The personas, and the settings of their models.
    pub models: RecordedModels,
    /// The decisions and limits that count in addition to the reviewers.
    pub terms: RecordedPolicy,
}

/// A review that is decided and not stored yet.
pub struct DecidedReview {
    /// The answers of all reviewers.
    pub review: Review,
    /// The synthesis of these answers.
    pub synthesis: Synthesis,
    /// The state of the tree since it was read.
    pub tree: TreeState,
    recorded: Change,
    recording: Recording,
    provenance: BTreeMap<String, BTreeMap<String, String>>,
    log: Vec<String>,
    replies: PathBuf,
    folder: Folder,
    meta: ReviewMeta,
    /// The lock that keeps other processes from the review until it is stored.
    _held: UnitLock,
}

/// The state of a tree since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeState {
    /// The tree is the one that was read.
    Same,
    /// The tree has changed, so the review does not apply to it.
    Changed,
}

impl DelegatedReview {
    /// Ends the review of a change as it is now; `now` is `None` if the change no longer exists. A
    /// persona that has not reported by now has not read the change.
    pub fn close(
        mut self,
        now: Option<CurrentEvidence<'_>>,
    ) -> Result<CloseResult, DelegationError> {
        let held = self.folder.lock_for_change()?;
        self.meta = self.folder.read_meta()?;
        require_open(&self.meta, &self.folder.id)?;
        let now = now.filter(|now| runs::change_hash(now.change) == self.meta.change);
        let now = now.map(|now| self.renew(now)).transpose()?;
        if self.meta.stage == ReviewStage::Reading {
            self.give_up_waiting_for_personas(now.unwrap_or(&self.change))?;
            let Some(now) = now else { return self.decide(None, held) };
            let briefs = self.begin_second_looks(now)?;
            if !briefs.is_empty() {
                return Ok(CloseResult::SecondLooks(briefs));
            }
        }
        self.give_up_waiting_for_second_looks(now.unwrap_or(&self.change))?;
        self.decide(now, held)
    }

    /// Replaces the stored evidence by the current one: the reviewers that need no model read
    /// again.
    fn renew<'a>(&mut self, now: CurrentEvidence<'a>) -> Result<&'a Change, DelegationError> {
        let CurrentEvidence { change, reviewers, at_a_time, models, terms } = now;
        let at_a_time = Concurrency { local: at_a_time, models: 1, order: StartOrder::AllAtOnce };
        let local =
            replay_answers(run(change, &reviewers, at_a_time, &NullReviewObserver).local_answers());
        self.meta.local = reviewers.iter().map(|by| LocalReviewer::of(&**by, change)).collect();
        self.meta.title = change.title.clone();
        self.participants = Participants::new(&models, local, change, &self.folder, &self.meta)?;
        (self.models, self.terms) = (models, terms);
        Ok(change)
    }

    fn decide(self, now: Option<&Change>, held: UnitLock) -> Result<CloseResult, DelegationError> {
        let change = now.unwrap_or(&self.change);
        let mut review = self.review(change);
        if now.is_none() {
            let moved = StaleTreeReviewer.review(change, &|_| {});
            review.reports.push(moved.report);
            review.looks.push(moved.looks);
        }
        let synthesis = self.synthesis(change, &review);
        let looks = self.second_looks(change, &synthesis);
        review.opinions = looks.opinions;
        review.exchanges.extend(looks.exchanges);
        let synthesis = self.synthesis(change, &review);
        let recording = self.recording(change, &review);
        let provenance =
            self.participants.personas.iter().map(|by| (by.name().to_owned(), by.provenance()));
        let local = self.meta.local.iter().filter(|local| local.reader.reads);
        let local = local.map(|local| (local.reader.name.clone(), local.provenance.clone()));
        let provenance = provenance.chain(local).collect();
        Ok(CloseResult::Done(Box::new(DecidedReview {
            tree: if now.is_some() { TreeState::Same } else { TreeState::Changed },
            log: self.log(&review),
            replies: self.folder.path().join(REPLIES_DIR),
            recorded: self.change,
            folder: self.folder,
            meta: self.meta,
            _held: held,
            review,
            synthesis,
            recording,
            provenance,
        })))
    }

    /// Replays all reviewers: those that have read return the same answers, and the personas those
    /// of their reports.
    pub(super) fn review(&self, change: &Change) -> Review {
        let at_a_time = Concurrency { local: 1, models: 1, order: StartOrder::AllAtOnce };
        run(change, &self.participants.reviewers, at_a_time, &NullReviewObserver)
    }

    pub(super) fn synthesis(&self, change: &Change, review: &Review) -> Synthesis {
        let templates = templates::with_own(self.terms.templates.clone());
        let terms = ReviewPolicy {
            templates: Some(&templates),
            fail_on: self.terms.fail_on.clone(),
            require: self.terms.require,
            without_content: self.terms.without_content,
            shown: self.terms.shown,
            dismissals: &self.terms.dismissals,
            today: self.terms.today.clone(),
            ..ReviewPolicy::default()
        };
        review.synthesis(change, &terms)
    }

    pub(super) fn second_looks(&self, change: &Change, synthesis: &Synthesis) -> SecondLooks {
        let validator = self.participants.validator.as_ref();
        let look = |validator| {
            second_looks(change, &synthesis.findings, validator, &self.participants.context, 1)
        };
        validator.map(look).unwrap_or_default()
    }

    fn recording(&self, change: &Change, review: &Review) -> Recording {
        let mut others = self.participants.context.other_files(change);
        others.extend(review.named_files());
        Recording::new(change, &others, self.terms.clone(), Some(self.models.clone()), review)
    }

    fn log(&self, review: &Review) -> Vec<String> {
        let host = &self.meta.host;
        let mut log = vec![format!("delegated to `{host}` as {}", self.folder.id)];
        log.extend(review.reports.iter().map(|report| {
            let name = &report.reviewer.name;
            match &report.unusable {
                None => format!("{name}: {} findings", report.votes.len()),
                Some(why) => format!("{name}: failed: {why}"),
            }
        }));
        log
    }

    /// Records a model failure for each persona that did not report.
    fn give_up_waiting_for_personas(&self, change: &Change) -> Result<(), DelegationError> {
        for by in &self.participants.personas {
            let reading = by.reading(change, &|_| {});
            for question in reading.open_questions() {
                let kept = self.participants.context.store_outcome(
                    &by.persona,
                    &question.prompt,
                    Err(&self.no_report_failure()),
                );
                kept.map_err(|source| self.folder.fail(source))?;
            }
        }
        Ok(())
    }

    pub(super) fn no_report_failure(&self) -> Failure {
        let host = Some(self.meta.host.as_str()).filter(|host| !host.is_empty());
        let host = host.map_or_else(|| "the agent".to_owned(), |host| format!("`{host}`"));
        Failure::free(FailureClass::Empty, format!("{host} submitted no report"))
    }

    /// Enters the stage of second looks, and returns their briefs. From here on the stored review
    /// has all of their input, so that they are the same for every process that opens the review.
    fn begin_second_looks(&mut self, now: &Change) -> Result<Vec<Brief>, DelegationError> {
        let review = self.review(now);
        let looks = self.second_looks(now, &self.synthesis(now, &review));
        let briefs = self.look_briefs(&looks);
        if !briefs.is_empty() {
            let saved = self.recording(now, &review).save(self.folder.path());
            saved.map_err(|source| self.folder.fail(source))?;
            self.meta.stage = ReviewStage::SecondLooks;
            self.folder.write_meta(&self.meta)?;
        }
        Ok(briefs)
    }
}

impl DecidedReview {
    /// Returns the id of the review, under which it is stored as a run.
    pub fn id(&self) -> &ReviewId {
        &self.folder.id
    }

    /// Returns the answers of the agent, so that the review can be replayed.
    pub fn transcript(&self) -> ReviewTranscript {
        let models = self.recording.models.as_ref();
        let answers = self.review.exchanges.iter().map(|exchange| exchange.transcript.clone());
        ReviewTranscript {
            model: self.meta.host.clone(),
            purpose: self.recorded.stated_purpose().map(str::to_owned),
            personas: models.map(|models| models.added.clone()).unwrap_or_default(),
            grouping: models.map(|models| models.grouping).unwrap_or_default(),
            answers: answers.collect(),
        }
    }

    /// Returns true if a run was created from this review: its log begins with the same line.
    pub fn is_stored_in(&self, run: &Path) -> bool {
        let log = fs::read_to_string(run.join("log")).unwrap_or_default();
        log.lines().next() == self.log.first().map(String::as_str)
    }

    /// Returns the record of the review as a run; `now` is the change as opened for closing the
    /// review.
    pub fn record<'a>(&'a self, now: Option<&'a Change>, version: &'a str) -> RunContent<'a> {
        let now = now.filter(|_| self.tree == TreeState::Same);
        RunContent {
            change: now.unwrap_or(&self.recorded),
            reports: &self.review.reports,
            synthesis: &self.synthesis,
            log: &self.log,
            version,
            provenance: self.provenance.clone(),
            exchanges: &self.review.exchanges,
            recording: Some(&self.recording),
            replies: Some(&self.replies),
        }
    }

    /// Records the run that the review is stored as. The recording and the reports are in the run
    /// from now on.
    pub fn record_run(mut self, run: &str) -> Result<Synthesis, DelegationError> {
        self.meta.stage = ReviewStage::Done { run: run.to_owned() };
        self.folder.write_meta(&self.meta)?;
        // A file that cannot be removed now is removed with the folder later.
        let _ = fs::remove_dir_all(&self.replies);
        let _ = fs::remove_file(self.folder.path().join(crate::recording::RECORDING_FILE));
        Ok(self.synthesis)
    }
}
