//! Second looks in a delegated review: their briefs, and their reports.
//!
//! All findings are in one brief of the persona `validator`. If there are too many for one, further
//! briefs belong to `validator-2` and so on, since a part is always a part of the change.

use assay_change::Change;
use assay_findings::finding::{Consequence, Finding, Validation, ValidationState};
use assay_findings::grounding::Grounder;
use assay_findings::second_look::{Opinion, SecondLookAnswer};
use assay_findings::synthesis::Synthesis;
use assay_rules::RedactedTree;

use super::receipt::{QuoteCheck, Receipt, ReportState, SecondLookReceipt};
use super::{Brief, DelegatedReview, DelegationError, unknown_part};
use crate::persona::Persona;
use crate::persona::reading::OpenQuestion;
use crate::persona::validator::{SecondLooks, numbers, second_look_name};

/// The second looks of a review, and the synthesis with them.
struct SecondLookState {
    looks: SecondLooks,
    synthesis: Synthesis,
}

impl DelegatedReview {
    /// Returns the second looks that were submitted so far.
    fn second_look_state(&self, change: &Change) -> SecondLookState {
        let mut review = self.review(change);
        let looks = self.second_looks(change, &self.synthesis(change, &review));
        review.opinions.clone_from(&looks.opinions);
        SecondLookState { synthesis: self.synthesis(change, &review), looks }
    }

    pub(super) fn look_briefs(&self, looks: &SecondLooks) -> Vec<Brief> {
        looks.open.iter().map(|open| self.look_brief(open)).collect()
    }

    pub(super) fn second_briefs(&self) -> Vec<Brief> {
        self.look_briefs(&self.second_look_state(&self.change).looks)
    }

    fn look_brief(&self, open: &OpenQuestion) -> Brief {
        // Each brief shows the whole of a change with one part.
        let parts =
            self.participants.personas.first().map(|by| by.reading(&self.change, &|_| {}).parts());
        let brief = self.brief(&second_look_name(open.place.0), open);
        Brief { part: 1, of: 1, repeats_change: parts == Some(1), ..brief }
    }

    pub(super) fn look_brief_for(
        &self,
        persona: &str,
        part: usize,
    ) -> Result<Brief, DelegationError> {
        Ok(self.look_brief(&self.open_look(persona, part)?.2))
    }

    /// Records a model failure for each second look that was not submitted.
    pub(super) fn give_up_waiting_for_second_looks(
        &self,
        change: &Change,
    ) -> Result<(), DelegationError> {
        let Some(validator) = &self.participants.validator else { return Ok(()) };
        for question in self.second_look_state(change).looks.open {
            let kept = self.participants.context.store_outcome(
                validator,
                &question.prompt,
                Err(&self.no_report_failure()),
            );
            kept.map_err(|source| self.folder.fail(source))?;
        }
        Ok(())
    }

    /// Returns the number of a second look that is still open, its persona and its question.
    fn open_look(
        &self,
        persona: &str,
        part: usize,
    ) -> Result<(usize, &Persona, OpenQuestion), DelegationError> {
        let looks = self.second_look_state(&self.change).looks;
        let number = (1..=looks.answered.len()).find(|number| second_look_name(*number) == persona);
        let found = number.zip(self.participants.validator.as_ref());
        let (number, validator) = found.ok_or_else(|| self.unknown_persona(persona))?;
        if part != 1 {
            return Err(unknown_part(persona, part, 1));
        }
        let question = looks.open.into_iter().find(|open| open.place.0 == number);
        let repeated = || DelegationError::Repeated { persona: persona.to_owned(), part };
        Ok((number, validator, question.ok_or_else(repeated)?))
    }

    /// Stores the report of a second look, and returns its receipt.
    pub(super) fn report_second_look(
        &self,
        persona: &str,
        part: usize,
        text: &str,
    ) -> Result<Receipt, DelegationError> {
        let (number, validator, question) = self.open_look(persona, part)?;
        self.hand_in(validator, &question, text)?;
        let SecondLookState { looks, synthesis } = self.second_look_state(&self.change);
        let opinions = looks.answered.get(number - 1).map(Vec::as_slice).unwrap_or_default();
        let missing = opinions.iter().find(|opinion| opinion.answer == SecondLookAnswer::Missing);
        let is_empty = opinions.iter().all(|opinion| opinion.answer == SecondLookAnswer::Missing);
        let unknown = numbers(text).into_iter().filter(|number| *number > opinions.len());
        let unknown = unknown.map(|number| format!("there is no finding {number}"));
        Ok(Receipt {
            persona: persona.to_owned(),
            part,
            state: match missing {
                Some(missing) if is_empty => ReportState::Refused { why: missing.why.clone() },
                _ => ReportState::Accepted,
            },
            findings: Vec::new(),
            looks: match is_empty {
                true => Vec::new(),
                false => self.look_receipts(opinions, &synthesis),
            },
            not_read: unknown.collect(),
        })
    }

    fn look_receipts(&self, opinions: &[Opinion], synthesis: &Synthesis) -> Vec<SecondLookReceipt> {
        let redacted = RedactedTree(self.change.tree());
        let ground = Grounder::new(Some(&redacted), None);
        let receipt = |(opinion, number): (&Opinion, usize)| {
            let finding = finding_of(opinion, synthesis);
            let quote = quote_check(opinion, &ground);
            SecondLookReceipt {
                finding: number,
                title: finding.map(|finding| finding.title.clone()).unwrap_or_default(),
                answer: match opinion.answer {
                    SecondLookAnswer::Confirm => "confirm",
                    SecondLookAnswer::Refute => "refute",
                    SecondLookAnswer::Unsure => "unsure",
                    SecondLookAnswer::Missing => "missing",
                },
                effect: effect(opinion, &quote, finding),
                quote,
                consequence: opinion.consequence.map(Consequence::as_str),
            }
        };
        opinions.iter().zip(1..).map(receipt).collect()
    }
}

/// Returns the finding of an opinion, in any list of the synthesis.
fn finding_of<'s>(opinion: &Opinion, synthesis: &'s Synthesis) -> Option<&'s Finding> {
    let open = synthesis.findings.iter().chain(&synthesis.held_back);
    let mut all = open.chain(&synthesis.pre_existing).chain(&synthesis.dismissed);
    all.find(|f| f.fingerprint == opinion.fingerprint && f.file == opinion.file)
}

fn quote_check(opinion: &Opinion, ground: &Grounder<'_>) -> QuoteCheck {
    let file = opinion.quoted_file.as_ref().or(opinion.file.as_ref());
    match opinion.quote.as_ref().zip(file) {
        None => QuoteCheck::None,
        Some((quote, file)) if ground.contains_quote(file, quote) => QuoteCheck::Found,
        Some(_) => QuoteCheck::NotFound,
    }
}

/// Returns the effect of an opinion on its finding in words.
fn effect(opinion: &Opinion, quote: &QuoteCheck, finding: Option<&Finding>) -> String {
    let look = finding.and_then(|finding| Some((finding, finding.validation.as_ref()?)));
    let Some((finding, Validation { state, lowered_from, .. })) = look else {
        return "none".to_owned();
    };
    let mut effect = match state {
        ValidationState::Confirmed => "the finding is confirmed".to_owned(),
        ValidationState::Refuted => "the finding is held back".to_owned(),
        ValidationState::Disputed => "the finding stays and is marked as disputed".to_owned(),
        ValidationState::Unsure
            if opinion.answer == SecondLookAnswer::Refute && *quote == QuoteCheck::None =>
        {
            "counts as unsure: a refutation needs a quote".to_owned()
        }
        ValidationState::Unsure if opinion.answer == SecondLookAnswer::Refute => {
            "counts as unsure: the quote was not found".to_owned()
        }
        ValidationState::Unsure => "the finding is marked as unsure".to_owned(),
        ValidationState::Unvalidated => format!("the finding is unchanged: {}", opinion.why),
    };
    if let Some(before) = lowered_from {
        let (before, after) = (before.percent(), finding.confidence.percent());
        effect.push_str(&format!(", confidence {before} becomes {after}"));
    }
    if finding.is_to_be_checked() {
        effect.push_str(", and is to be checked by a person");
    } else if finding.is_put_off() {
        effect.push_str(", and is deferred");
    }
    effect
}
