//! A persona's pass over a change, part by part: [`PersonaReading`].
//!
//! A part that was not shown to a required persona counts as not read, even if the rules read it: a
//! line that is too long, a file name that cannot be shown, or a part beyond the twelfth makes the
//! review incomplete.

use std::collections::BTreeSet;

use assay_change::Change;
use assay_findings::coverage::{HunkOutcome, ReviewerCoverage};
use assay_findings::incomplete::IncompleteKind;
use assay_findings::report::{Report, ReviewerKind};
use assay_models::{Failure, FailureClass, Prompt, Spending};
use assay_rules::redact;

use super::Persona;
use super::context::PersonaContext;
use super::conversation::{Conversation, PlacedQuestion};
use crate::exchange::{Exchange, TranscriptAnswer};
use crate::prompt::briefing::Briefing;
use crate::prompt::parts::{Part, Parts};
use crate::prompt::{self, Task};
use crate::reviewer::{OnProgress, ReviewerAnswer};
use crate::sanitize::UnreadReason;
use crate::secrets::redact_report;

/// The reason for hunks that did not fit into any part.
const LEFT_OVER: &str = "the change is larger than models are given";

/// The reason for hunks that were in no part.
const NOT_SHOWN: &str = "not shown to a model";

/// The maximum number of times that a part that is too long is split in two.
const MAX_SPLITS: usize = 4;

/// The minimum size of a part that is split, in bytes: a smaller one is not the reason for a prompt
/// that is too long.
const MIN_SPLIT_BYTES: usize = 4_000;

/// The persona that reads a change.
#[derive(Clone, Copy)]
pub(super) struct ReadingPersona<'a> {
    pub(super) persona: &'a Persona,
    pub(super) context: &'a PersonaContext,
    /// True if the change cannot be ready without an answer of the persona.
    pub(super) is_required: bool,
}

/// The state of reading a change, part by part.
pub(crate) struct PersonaReading<'a> {
    by: ReadingPersona<'a>,
    change: &'a Change,
    briefing: &'a Briefing,
    on_progress: OnProgress<'a>,
    report: Report,
    exchanges: Vec<Exchange>,
    spent: Spending,
    /// The parts that failed.
    failed: Vec<FailedPart>,
    /// The questions that have no recorded answer.
    open: Vec<OpenQuestion>,
    read: BTreeSet<usize>,
    left_over: BTreeSet<usize>,
    /// The number of parts.
    parts: usize,
}

/// An answer, and the report that was parsed from it.
struct ParsedAnswer {
    report: Report,
    text: String,
    /// The prompt of the last turn, with the results of all look-ups.
    prompt: Prompt,
}

/// Returns the reason to ask a model again: its report is unusable or incomplete, and has no
/// blocking finding anyway. The model's own words are not repeated to it.
fn retry_reason(report: &Report) -> Option<&'static str> {
    if report.unusable.is_some() {
        return Some("no findings could be read from it");
    }
    let reason = report.incomplete.iter().min_by_key(|reason| reason.kind)?;
    let blocks = report.votes.iter().any(|vote| vote.grade.blocks());
    (!blocks).then_some(match reason.kind {
        IncompleteKind::OpenList => "its list of findings is not closed",
        IncompleteKind::Damaged => "its JSON is damaged",
        IncompleteKind::Rejected => "it has parts that are no findings",
        IncompleteKind::Contradiction => {
            "its words reject the change, and its list holds no finding that blocks; every finding \
             belongs into the list"
        }
        IncompleteKind::NotReviewed => "it says that the change was not reviewed",
    })
}

/// Parses the answer of a persona. Secrets are redacted first: half of a secret that is truncated
/// later would not be detected. The prompt asks for evidence, so an answer in the compact form
/// lacks it.
pub(crate) fn read_report(persona: &str, text: &str) -> Report {
    let mut report = Report::from_text(&redact(text), persona, None);
    report.votes.iter_mut().for_each(|vote| vote.is_compact = false);
    report
}

/// A part that failed.
struct FailedPart {
    part: usize,
    why: String,
    hunks: BTreeSet<usize>,
}

/// A question without a recorded answer.
#[derive(Debug, Clone)]
pub(crate) struct OpenQuestion {
    /// The number of the part that the question is about, and the number of parts.
    pub(crate) place: (usize, usize),
    pub(crate) prompt: Prompt,
    /// The fault of an earlier answer; `None` for the first question.
    pub(crate) again: Option<String>,
    /// The titles of the findings in a second look, in the order of their numbers.
    pub(crate) findings: Vec<String>,
}

/// The state of a part of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartState {
    /// The part was read.
    Read,
    /// The part failed, for this reason.
    Failed(String),
    /// The question about the part is asked again, for this reason.
    AskedAgain(String),
    /// The question about the part has no answer yet.
    Asked,
}

impl<'a> PersonaReading<'a> {
    /// Creates the reading of a change, with an empty report.
    pub(super) fn new(
        by: ReadingPersona<'a>,
        change: &'a Change,
        parts: &Parts,
        on_progress: OnProgress<'a>,
    ) -> PersonaReading<'a> {
        let mut report = Report::new(by.context.report_reviewer(by.persona));
        report.required = by.is_required;
        PersonaReading {
            by,
            change,
            briefing: by.context.briefing(change),
            on_progress,
            report,
            exchanges: Vec::new(),
            spent: Spending::default(),
            failed: Vec::new(),
            open: Vec::new(),
            read: BTreeSet::new(),
            left_over: parts.left_over.clone(),
            parts: parts.parts.len(),
        }
    }

    /// Reads a part; `place` has its number and the number of parts.
    pub(super) fn read(&mut self, task: &Task, part: Part, place: (usize, usize)) {
        self.read_splitting(task, part, place, MAX_SPLITS);
    }

    /// Reads a part; a part that is too long is split in two.
    fn read_splitting(
        &mut self,
        task: &Task,
        part: Part,
        (number, of): (usize, usize),
        cuts: usize,
    ) {
        let hunks = part.hunks();
        let prompt =
            self.by.context.prompt(self.by.persona, task, self.briefing, (&part, number, of));
        match self.ask(&prompt, (number, of)) {
            Ok(report) => {
                self.take(report);
                self.read.extend(hunks);
            }
            Err(failure) if failure.class == FailureClass::TooLong && cuts > 0 => {
                match self.halves(part) {
                    Some(halves) => {
                        for half in halves {
                            self.read_splitting(task, half, (number, of), cuts - 1);
                        }
                    }
                    None => self.fail(failure, number, hunks),
                }
            }
            Err(failure) => self.fail(failure, number, hunks),
        }
    }

    /// Splits a part in two, unless it is small compared with the rest of the prompt.
    fn halves(&self, part: Part) -> Option<[Part; 2]> {
        (part.text().len() > MIN_SPLIT_BYTES).then(|| part.halves()).flatten()
    }

    /// Asks the model, and once more if the answer is not a complete report. The findings of both
    /// answers count.
    fn ask(&mut self, prompt: &Prompt, place: (usize, usize)) -> Result<Report, Failure> {
        let first = self.ask_once(prompt, place.0, false);
        let ParsedAnswer { report, text, prompt: asked } =
            first.inspect_err(|failure| self.record_open_question(failure, prompt, place, None))?;
        let Some(why) = retry_reason(&report) else { return Ok(report) };
        let again = prompt::retry(asked, why);
        let second = self.ask_once(&again, place.0, true);
        match second
            .inspect_err(|failure| self.record_open_question(failure, &again, place, Some(why)))
        {
            Ok(ParsedAnswer { report: mut second, .. }) if second.unusable.is_none() => {
                second.include_votes_of(report);
                Ok(second)
            }
            Ok(_) if report.unusable.is_none() => Ok(report),
            Ok(_) => {
                let model = self.by.context.model(self.by.persona).id();
                let message = format!(
                    "`{model}`: the answer is not a report, also after a retry ({why}); try again \
                     later, or choose another model"
                );
                Err(Failure { partial: Some(text), ..Failure::new(FailureClass::Garbage, message) })
            }
            Err(failure) => Err(Failure {
                message: match report.unusable {
                    Some(_) => format!("the answer is not a report ({why}); retry: {failure}"),
                    None => format!("the answer is incomplete ({why}); retry: {failure}"),
                },
                // The findings of the first answer are used: it was paid for, and may name a
                // finding.
                partial: Some(match failure.partial {
                    Some(partial) => format!("{text}\n{partial}"),
                    None => text,
                }),
                ..failure
            }),
        }
    }

    /// Records a question that has no recorded answer.
    fn record_open_question(
        &mut self,
        failure: &Failure,
        prompt: &Prompt,
        place: (usize, usize),
        again: Option<&str>,
    ) {
        if failure.class == FailureClass::NotRecorded {
            let (prompt, again) = (prompt.clone(), again.map(str::to_owned));
            self.open.push(OpenQuestion { place, prompt, again, findings: Vec::new() });
        }
    }

    /// Returns the questions that have no recorded answer so far.
    pub(crate) fn open_questions(&self) -> &[OpenQuestion] {
        &self.open
    }

    /// Returns the number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the state of a part; `None` if there is no such part.
    pub(crate) fn state_of(&self, part: usize) -> Option<PartState> {
        let asked = self.open.iter().find(|open| open.place.0 == part);
        let failed = self.failed.iter().find(|failed| failed.part == part);
        match (asked, failed) {
            (Some(OpenQuestion { again: Some(why), .. }), _) => {
                Some(PartState::AskedAgain(why.clone()))
            }
            (Some(_), _) => Some(PartState::Asked),
            (None, Some(failed)) => Some(PartState::Failed(failed.why.clone())),
            (None, None) => (1..=self.parts).contains(&part).then_some(PartState::Read),
        }
    }

    fn ask_once(
        &mut self,
        prompt: &Prompt,
        part: usize,
        again: bool,
    ) -> Result<ParsedAnswer, Failure> {
        let PersonaReading { by, on_progress, change, .. } = *self;
        let can_be_read = |text: &str| Report::from_text(text, "", None).is_whole();
        let reader = by.persona.name.clone();
        let asked = TranscriptAnswer { reader, part, again, ..TranscriptAnswer::default() };
        let question = PlacedQuestion { asked, prompt: prompt.clone() };
        let talk = by.context.converse(by.persona, change, question, can_be_read, &|chars| {
            on_progress(chars);
        });
        let Conversation { outcome, prompt, exchanges, spent, notes, earlier_texts } = talk;
        self.spent = self.spent.plus(spent);
        let is_new = |note: &String| !self.report.remarks.notes.contains(note);
        let notes: Vec<String> = notes.into_iter().filter(is_new).collect();
        self.report.remarks.notes.extend(notes);
        self.exchanges.extend(exchanges);
        let reply = outcome?;
        if by.context.contains_canary(&reply) {
            let message = "the answer obeyed instructions in the text under review and was \
                           discarded; choose another model";
            return Err(Failure::new(FailureClass::Garbage, message));
        }
        let mut report = self.report_from(&reply.text);
        // A report that came with calls counts, even if the last answer leaves out its findings.
        let earlier = earlier_texts.iter().filter(|text| can_be_read(text));
        for earlier in earlier.map(|text| self.report_from(text)) {
            report.include_votes_of(earlier);
        }
        Ok(ParsedAnswer { report, text: reply.text, prompt })
    }

    fn report_from(&self, text: &str) -> Report {
        read_report(&self.by.persona.name, text)
    }

    fn take(&mut self, report: Report) {
        self.report.votes.extend(report.votes);
        self.report.rejected.extend(report.rejected);
        self.report.lost += report.lost;
        self.report.incomplete.extend(report.incomplete);
        self.report.rejection = self.report.rejection.take().or(report.rejection);
        let (all, more) = (&mut self.report.remarks, report.remarks);
        all.residual_risks.extend(more.residual_risks);
        all.testing_gaps.extend(more.testing_gaps);
        all.unmet_requirements.extend(more.unmet_requirements);
        all.notes.extend(more.notes);
    }

    /// Uses the part of an answer that arrived before a failure, which was paid for; the hunks do
    /// not count as read.
    fn fail(&mut self, failure: Failure, part: usize, hunks: BTreeSet<usize>) {
        if let Some(partial) =
            failure.partial.filter(|text| !self.by.context.part_contains_canary(text))
        {
            self.take(self.report_from(&partial));
        }
        self.failed.push(FailedPart { part, why: failure.message, hunks });
    }

    /// Builds the answer of the persona.
    pub(super) fn finish(mut self, change: &Change) -> ReviewerAnswer {
        let looks = (0..change.hunks()).map(|hunk| self.look(hunk)).collect();
        if let Some(FailedPart { why, .. }) = self.failed.first() {
            let (failed, all) = (self.failed.len(), self.exchanges.len());
            self.report.unusable = Some(match failed < all && !self.read.is_empty() {
                true => format!("{failed} parts of the change got no answer: {why}"),
                false => why.clone(),
            });
        }
        self.report.remarks.not_covered = self.not_covered(change);
        self.report.spent = Some(self.by.context.report_usage(self.by.persona, self.spent));
        redact_report(&mut self.report, change);
        ReviewerAnswer {
            looks: ReviewerCoverage {
                reviewer: self.by.persona.name.clone(),
                kind: ReviewerKind::Persona,
                required: self.by.is_required,
                hunks: looks,
            },
            report: self.report,
            suppressions: Vec::new(),
            exchanges: self.exchanges,
        }
    }

    /// Returns the files that this persona did not read, or not completely.
    fn not_covered(&self, change: &Change) -> Vec<String> {
        let mut first = 0;
        let mut named = self.briefing.withheld.clone();
        for file in &change.files {
            let hunks = first..first + file.hunks.len().max(1);
            first = hunks.end;
            if hunks.into_iter().any(|hunk| self.left_over.contains(&hunk)) {
                named.push(format!("{} ({LEFT_OVER})", file.path()));
            }
        }
        named.iter().map(|file| format!("{file}, by no model")).collect()
    }

    /// Returns the outcome of a hunk. A hunk with lines in several parts is read if all of them
    /// are.
    fn look(&self, hunk: usize) -> HunkOutcome {
        let failed = self.failed.iter().find(|failed| failed.hunks.contains(&hunk));
        if let Some(FailedPart { why, .. }) = failed {
            return HunkOutcome::Failed(format!("{}: {why}", self.by.persona.name));
        }
        match self.briefing.not_read.get(hunk) {
            // The reviewer that left the file out, and the rules that found the instructions,
            // report that themselves.
            Some(Some(UnreadReason::LeftOut(_) | UnreadReason::Addresses)) => {
                HunkOutcome::NotConcerned
            }
            Some(Some(UnreadReason::NotShown(why))) => self.not_shown(why),
            Some(None) if self.left_over.contains(&hunk) => self.not_shown(LEFT_OVER),
            Some(None) if self.read.contains(&hunk) => HunkOutcome::Reviewed,
            Some(None) | None => self.not_shown(NOT_SHOWN),
        }
    }

    /// Returns the outcome of a hunk that the persona should have read and was not shown. For a
    /// required persona, that is a failure.
    fn not_shown(&self, why: &str) -> HunkOutcome {
        match self.by.is_required {
            true => HunkOutcome::Failed(format!("{}: {why}", self.by.persona.name)),
            false => HunkOutcome::Unread(why.to_owned()),
        }
    }
}
