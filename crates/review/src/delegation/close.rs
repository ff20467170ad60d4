//! The end of a delegated review: [`Delegated::close`] has what was handed in decided on.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use assay_change::Change;
use assay_change::state::Held;
use assay_findings::synthesis::Synthesis;
use assay_models::{Class, Failure};

use super::folder::{About, Folder, Local, Stage};
use super::seats::{Seats, TreeMoved};
use super::{Became, Brief, Delegated, DelegationError, Taken, Unwatched, is_open, unknown_part};
use crate::persona::reading::OpenQuestion;
use crate::persona::validator::{Answers, SecondLooks, second_looks};
use crate::persona::{Persona, VALIDATOR};
use crate::recording::{REPLIES, RecordedModels, RecordedTerms, Recording, recalled};
use crate::reviewer::Reviewer;
use crate::run::{AtATime, Order, Review, Terms, run};
use crate::runs::{self, Record};

/// What came of closing a review.
pub enum Closing {
    /// What was found is to be looked at again first; whatever of it is not handed in until the
    /// review is closed the next time is left.
    SecondLooks(Vec<Brief>),
    /// It is decided.
    Done(Box<Closed>),
}

/// What decides on a change when its review ends. Whoever the review is delegated to can write what
/// lies on disk, so nothing is taken from there but what was handed in.
pub struct Present<'a> {
    /// The change as it is now.
    pub change: &'a Change,
    /// Those who need no model; they read it once more.
    pub reviewers: Vec<Box<dyn Reviewer>>,
    /// How many of them read at a time.
    pub at_a_time: usize,
    /// The personas, and how they are asked.
    pub models: RecordedModels,
    /// What decides besides the reviewers.
    pub terms: RecordedTerms,
}

/// A review that is decided and still to be kept.
pub struct Closed {
    /// What everybody made of the change.
    pub review: Review,
    /// What it comes to.
    pub synthesis: Synthesis,
    /// Whether the tree is still the one that was read.
    pub tree: TreeSince,
    recorded: Change,
    recording: Recording,
    made_of: BTreeMap<String, BTreeMap<String, String>>,
    log: Vec<String>,
    replies: PathBuf,
    folder: Folder,
    about: About,
    /// Nobody else goes on with the review until it is kept.
    _held: Held,
}

/// Whether a tree is still the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeSince {
    /// It is.
    Same,
    /// It is not, so the review says nothing of it.
    Changed,
}

impl Delegated {
    /// Ends the review of a change as it stands now; `None` where there is no such change any more.
    /// Whoever has not reported until now has not read it.
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

    /// Takes what decides as it is now, and has those read again who need no model.
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

    fn decide(self, now: Option<&Change>, held: Held) -> Result<Closing, DelegationError> {
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

    /// Has everybody read the change: those who have as they did, the personas as far as somebody
    /// reported for them.
    fn review(&self, change: &Change) -> Review {
        let at_a_time = AtATime { local: 1, models: 1, order: Order::AllAtOnce };
        run(change, &self.seats.everybody, at_a_time, &Unwatched)
    }

    fn synthesis(&self, change: &Change, review: &Review) -> Synthesis {
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

    fn second_looks(&self, change: &Change, synthesis: &Synthesis) -> SecondLooks {
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

    /// Says for everybody who did not report that nothing came, as a model that did not answer.
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

    fn nothing(&self) -> Failure {
        let host = Some(self.about.host.as_str()).filter(|host| !host.is_empty());
        let host = host.map_or_else(|| "the agent".to_owned(), |host| format!("`{host}`"));
        Failure::free(Class::Empty, format!("{host} handed in no report"))
    }

    /// Goes on to second looks, and gives those that are wanted. From here on the review holds what
    /// they need, so that they are the same for everybody who opens it.
    fn begin_second_looks(&mut self, now: &Change) -> Result<Vec<Brief>, DelegationError> {
        let review = self.review(now);
        let looks = self.second_looks(now, &self.synthesis(now, &review));
        let briefs: Vec<Brief> =
            looks.open.iter().map(|open| self.brief(VALIDATOR, open)).collect();
        if !briefs.is_empty() {
            let saved = self.recording(now, &review).save(self.folder.path());
            saved.map_err(|source| self.folder.fail(source))?;
            self.about.stage = Stage::SecondLooks;
            self.folder.set_about(&self.about)?;
        }
        Ok(briefs)
    }

    /// Gives the second looks that are wanted now, and how many there are in all.
    fn wanted_looks(&self, change: &Change) -> (Vec<OpenQuestion>, Vec<Answers>) {
        let review = self.review(change);
        let looks = self.second_looks(change, &self.synthesis(change, &review));
        (looks.open, looks.answered)
    }

    pub(super) fn second_briefs(&self) -> Vec<Brief> {
        self.wanted_looks(&self.change).0.iter().map(|open| self.brief(VALIDATOR, open)).collect()
    }

    fn give_up_waiting_for_second_looks(&self, change: &Change) -> Result<(), DelegationError> {
        let Some(validator) = &self.seats.validator else { return Ok(()) };
        for question in self.wanted_looks(change).0 {
            let kept = self.seats.desk.hand_in(validator, &question.prompt, Err(&self.nothing()));
            kept.map_err(|source| self.folder.fail(source))?;
        }
        Ok(())
    }

    /// Gives who is asked to look at a finding again, and what, if it is still asked.
    pub(super) fn open_look(
        &self,
        persona: &str,
        part: usize,
    ) -> Result<(&Persona, OpenQuestion), DelegationError> {
        let validator = self.seats.validator.as_ref().filter(|validator| validator.name == persona);
        let validator = validator.ok_or_else(|| self.nobody(persona))?;
        let (wanted, all) = self.wanted_looks(&self.change);
        let question = wanted.into_iter().find(|open| open.place.0 == part);
        let question = question.ok_or_else(|| match (1..=all.len()).contains(&part) {
            true => DelegationError::Repeated { persona: persona.to_owned(), part },
            false => unknown_part(persona, part, all.len()),
        })?;
        Ok((validator, question))
    }

    /// Takes in what a second look came to.
    pub(super) fn report_second_look(
        &self,
        persona: &str,
        part: usize,
        text: &str,
    ) -> Result<Taken, DelegationError> {
        let (validator, question) = self.open_look(persona, part)?;
        self.hand_in(validator, &question, text)?;
        let (_, all) = self.wanted_looks(&self.change);
        let answers = all.get(part - 1);
        let why = answers.and_then(|answers| answers.why_missing.clone());
        let opinions = answers.map_or(0, |answers| answers.opinions);
        let (became, not_read) = match why {
            Some(why) if opinions == 0 => (Became::Refused { why }, Vec::new()),
            why => (Became::Taken, why.into_iter().collect()),
        };
        let persona = persona.to_owned();
        Ok(Taken { persona, part, became, findings: opinions, not_read })
    }
}

impl Closed {
    /// Gives what is kept of it as a run; `now` is the change as it was opened to close it.
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

    /// Notes as which run it is kept. What was needed to go on with it lies there from now on.
    pub fn kept_as(mut self, run: &str) -> Result<Synthesis, DelegationError> {
        self.about.stage = Stage::Done { run: run.to_owned() };
        self.folder.set_about(&self.about)?;
        // What cannot be taken away goes with the folder.
        let _ = fs::remove_dir_all(&self.replies);
        let _ = fs::remove_file(self.folder.path().join(crate::recording::FILE));
        Ok(self.synthesis)
    }
}
