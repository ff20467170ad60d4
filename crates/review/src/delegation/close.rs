//! The end of a delegated review: [`Delegated::close`] decides on the submitted reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_change::Change;
use assay_change::state::UnitLock;
use assay_findings::synthesis::Synthesis;
use assay_models::{Class, Failure};

use super::folder::{About, Folder, Local, Stage};
use super::seats::{Seats, TreeMoved};
use super::transcript::ReviewTranscript;
use super::{Brief, Delegated, DelegationError, ReviewId, Unwatched, is_open};
use crate::persona::validator::{SecondLooks, second_looks};
use crate::recording::{REPLIES, RecordedModels, RecordedTerms, Recording, recalled};
use crate::reviewer::Reviewer;
use crate::run::{AtATime, Order, Review, Terms, run};
use crate::runs::{self, Record};

/// The result of closing a review.
pub enum Closing {
    /// The findings need second looks first. A second look that is not submitted before the review
    /// is closed the next time is left out.
    SecondLooks(Vec<Brief>),
    /// The review is decided.
    Done(Box<Closed>),
}

/// The current evidence on which a review is decided when it ends. The agent can write the files of
/// the open review, so nothing but the reports is taken from there.
pub struct Present<'a> {
    /// The change as it is now, with its purpose.
    pub change: &'a Change,
    /// The reviewers that need no model; they read the change once more.
    pub reviewers: Vec<Box<dyn Reviewer>>,
    /// The number of reviewers without a model that read at a time.
    pub at_a_time: usize,
    /// The personas, and the settings of their models.
    pub models: RecordedModels,
    /// The decisions and limits that count in addition to the reviewers.
    pub terms: RecordedTerms,
}

/// A review that is decided and not stored yet.
pub struct Closed {
    /// The answers of all reviewers.
    pub review: Review,
    /// The synthesis of these answers.
    pub synthesis: Synthesis,
    /// The state of the tree since it was read.
    pub tree: TreeSince,
    recorded: Change,
    recording: Recording,
    made_of: BTreeMap<String, BTreeMap<String, String>>,
    log: Vec<String>,
    replies: PathBuf,
    folder: Folder,
    about: About,
    /// The lock that keeps other processes from the review until it is stored.
    _held: UnitLock,
}

/// The state of a tree since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeSince {
    /// The tree is the one that was read.
    Same,
    /// The tree has changed, so the review does not apply to it.
    Changed,
}

impl Delegated {
    /// Ends the review of a change as it is now; `now` is `None` if the change no longer exists. A
    /// persona that has not reported by now has not read the change.
    pub fn close(mut self, now: Option<Present<'_>>) -> Result<Closing, DelegationError> {
        let held = self.folder.hold_to_change()?;
        self.about = self.folder.about()?;
        is_open(&self.about, &self.folder.id)?;
        let now = now.filter(|now| runs::change_hash(now.change) == self.about.change);
        let now = now.map(|now| self.renew(now)).transpose()?;
        if self.about.stage == Stage::Reading {
            self.give_up_waiting_for_personas(now.unwrap_or(&self.change))?;
            let Some(now) = now else { return self.decide(None, held) };
            let briefs = self.begin_second_looks(now)?;
            if !briefs.is_empty() {
                return Ok(Closing::SecondLooks(briefs));
            }
        }
        self.give_up_waiting_for_second_looks(now.unwrap_or(&self.change))?;
        self.decide(now, held)
    }

    /// Replaces the stored evidence by the current one: the reviewers that need no model read
    /// again.
    fn renew<'a>(&mut self, now: Present<'a>) -> Result<&'a Change, DelegationError> {
        let Present { change, reviewers, at_a_time, models, terms } = now;
        let at_a_time = AtATime { local: at_a_time, models: 1, order: Order::AllAtOnce };
        let local = recalled(run(change, &reviewers, at_a_time, &Unwatched).local_answers());
        self.about.local = reviewers.iter().map(|by| Local::of(&**by, change)).collect();
        self.about.title = change.title.clone();
        self.seats = Seats::new(&models, local, change, &self.folder, &self.about)?;
        (self.models, self.terms) = (models, terms);
        Ok(change)
    }

    fn decide(self, now: Option<&Change>, held: UnitLock) -> Result<Closing, DelegationError> {
        let change = now.unwrap_or(&self.change);
        let mut review = self.review(change);
        if now.is_none() {
            let moved = TreeMoved.review(change, &|_| {});
            review.reports.push(moved.report);
            review.looks.push(moved.looks);
        }
        let synthesis = self.synthesis(change, &review);
        let looks = self.second_looks(change, &synthesis);
        review.opinions = looks.opinions;
        review.exchanges.extend(looks.exchanges);
        let synthesis = self.synthesis(change, &review);
        let recording = self.recording(change, &review);
        let made_of = self.seats.personas.iter().map(|by| (by.name().to_owned(), by.made_of()));
        let local = self.about.local.iter().filter(|local| local.reader.reads);
        let local = local.map(|local| (local.reader.name.clone(), local.made_of.clone()));
        let made_of = made_of.chain(local).collect();
        Ok(Closing::Done(Box::new(Closed {
            tree: if now.is_some() { TreeSince::Same } else { TreeSince::Changed },
            log: self.log(&review),
            replies: self.folder.path().join(REPLIES),
            recorded: self.change,
            folder: self.folder,
            about: self.about,
            _held: held,
            review,
            synthesis,
            recording,
            made_of,
        })))
    }

    /// Replays all reviewers: those that have read return the same answers, and the personas those
    /// of their reports.
    pub(super) fn review(&self, change: &Change) -> Review {
        let at_a_time = AtATime { local: 1, models: 1, order: Order::AllAtOnce };
        run(change, &self.seats.everybody, at_a_time, &Unwatched)
    }

    pub(super) fn synthesis(&self, change: &Change, review: &Review) -> Synthesis {
        let terms = Terms {
            fail_on: self.terms.fail_on.clone(),
            require: self.terms.require,
            without_content: self.terms.without_content,
            shown: self.terms.shown,
            dismissals: &self.terms.dismissals,
            today: self.terms.today.clone(),
            ..Terms::default()
        };
        review.synthesis(change, &terms)
    }

    pub(super) fn second_looks(&self, change: &Change, synthesis: &Synthesis) -> SecondLooks {
        let validator = self.seats.validator.as_ref();
        let look =
            |validator| second_looks(change, &synthesis.findings, validator, &self.seats.desk, 1);
        validator.map(look).unwrap_or_default()
    }

    fn recording(&self, change: &Change, review: &Review) -> Recording {
        let mut others = self.seats.desk.others(change);
        others.extend(review.named_files());
        Recording::new(change, &others, self.terms.clone(), Some(self.models.clone()), review)
    }

    fn log(&self, review: &Review) -> Vec<String> {
        let host = &self.about.host;
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
        for by in &self.seats.personas {
            let reading = by.reading(change, &|_| {});
            for question in reading.open_questions() {
                let kept =
                    self.seats.desk.hand_in(&by.persona, &question.prompt, Err(&self.nothing()));
                kept.map_err(|source| self.folder.fail(source))?;
            }
        }
        Ok(())
    }

    pub(super) fn nothing(&self) -> Failure {
        let host = Some(self.about.host.as_str()).filter(|host| !host.is_empty());
        let host = host.map_or_else(|| "the agent".to_owned(), |host| format!("`{host}`"));
        Failure::free(Class::Empty, format!("{host} handed in no report"))
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
            self.about.stage = Stage::SecondLooks;
            self.folder.set_about(&self.about)?;
        }
        Ok(briefs)
    }
}

impl Closed {
    /// Returns the id of the review, under which it is stored as a run.
    pub fn id(&self) -> &ReviewId {
        &self.folder.id
    }

    /// Returns the answers of the agent, so that the review can be replayed.
    pub fn transcript(&self) -> ReviewTranscript {
        let models = self.recording.models.as_ref();
        let answers = self.review.exchanges.iter().map(|exchange| exchange.transcript.clone());
        ReviewTranscript {
            model: self.about.host.clone(),
            purpose: self.recorded.stated_purpose().map(str::to_owned),
            personas: models.map(|models| models.added.clone()).unwrap_or_default(),
            grouping: models.map(|models| models.grouping).unwrap_or_default(),
            answers: answers.collect(),
        }
    }

    /// Returns true if a run was created from this review: its log begins with the same line.
    pub fn is_kept_in(&self, run: &Path) -> bool {
        let log = fs::read_to_string(run.join("log")).unwrap_or_default();
        log.lines().next() == self.log.first().map(String::as_str)
    }

    /// Returns the record of the review as a run; `now` is the change as opened for closing the
    /// review.
    pub fn record<'a>(&'a self, now: Option<&'a Change>, version: &'a str) -> Record<'a> {
        let now = now.filter(|_| self.tree == TreeSince::Same);
        Record {
            change: now.unwrap_or(&self.recorded),
            reports: &self.review.reports,
            synthesis: &self.synthesis,
            log: &self.log,
            version,
            made_of: self.made_of.clone(),
            exchanges: &self.review.exchanges,
            recording: Some(&self.recording),
            replies: Some(&self.replies),
        }
    }

    /// Records the run that the review is stored as. The recording and the reports are in the run
    /// from now on.
    pub fn kept_as(mut self, run: &str) -> Result<Synthesis, DelegationError> {
        self.about.stage = Stage::Done { run: run.to_owned() };
        self.folder.set_about(&self.about)?;
        // A file that cannot be removed now is removed with the folder later.
        let _ = fs::remove_dir_all(&self.replies);
        let _ = fs::remove_file(self.folder.path().join(crate::recording::FILE));
        Ok(self.synthesis)
    }
}
