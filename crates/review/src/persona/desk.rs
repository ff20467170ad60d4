//! The context that all personas of a run share: [`Desk`].

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use assay_change::Change;
use assay_findings::path::RepoPath;
use assay_findings::report::{self, ReviewerKind};
use assay_findings::usage::{ModelUsage, ReviewUsage};
use assay_models::{Answered, Ask, Caller, Failure, Mark, Model, Nonce, Prompt, Reply, says};
use assay_rules::redact_text;

use super::{Persona, Signals, Tier};
use crate::leads::Leads;
use crate::lookup::{self, Lookups};
use crate::memory::Memory;
use crate::prompt::briefing::Briefing;
use crate::prompt::parts::{self, Part, Parts};
use crate::prompt::{self, Known, Room, Task};
use crate::reviewer::Estimate;

/// The persona that gets the findings of an earlier review.
pub(super) const PRIOR: &str = "prior-findings";

/// The assumed number of bytes of a token of code: fewer would waste context, and more would not
/// fit.
pub(super) const BYTES_PER_TOKEN: u64 = 3;

/// The maximum number of bytes of a part of a change, whatever the context of a model: its
/// attention is limited too.
const LARGEST_PART: u64 = 240_000;

/// The minimum size of a part in bytes, whatever the context of a model.
const SMALLEST_PART: u64 = 2_000;

/// The models of a run, by tier.
#[derive(Clone)]
pub struct Models {
    /// A cheap model.
    pub cheap: Arc<dyn Model>,
    /// The usual model.
    pub default: Arc<dyn Model>,
    /// The best model.
    pub premium: Arc<dyn Model>,
}

impl Models {
    /// Returns the model of a tier.
    pub fn of(&self, tier: Tier) -> &Arc<dyn Model> {
        match tier {
            Tier::Cheap => &self.cheap,
            Tier::Default => &self.default,
            Tier::Premium => &self.premium,
        }
    }
}

/// Returns the number of bytes of a prompt and its answer.
pub(super) fn exchanged(prompt: &Prompt, outcome: &Result<Reply, Failure>) -> u64 {
    let answered = outcome.as_ref().map_or(0, |reply| reply.text.len());
    (prompt.bytes() + answered) as u64
}

/// Converts spending to the form of reports.
pub(super) fn in_report(spent: assay_models::Spent) -> ReviewUsage {
    ReviewUsage {
        calls: spent.calls,
        kept_answers: spent.cached,
        tokens: spent.tokens.total(),
        usd: spent.micro_usd.map(|micro| micro as f64 / 1_000_000.0),
        at_most: spent.is_bound,
        bytes: 0,
        models: Vec::new(),
    }
}

/// Converts the spending on a model to the form of reports.
fn of_model(model: String, spent: assay_models::Spent) -> ModelUsage {
    let ReviewUsage { calls, kept_answers, tokens, usd, at_most, .. } = in_report(spent);
    ModelUsage { model, calls, kept_answers, tokens, usd, at_most }
}

/// The context that all personas of a run share: the client, the models, and the change as prompts
/// show it. The change is read once for all of them.
pub struct Desk {
    caller: Arc<Caller>,
    models: Models,
    nonce: Nonce,
    /// The timeout of an answer.
    time: Duration,
    /// The maximum number of tokens for thinking.
    thinking: u32,
    /// The findings of an earlier review; `None` if there is none.
    prior: Option<String>,
    /// The knowledge of earlier runs; `None` if there is none.
    memory: Option<Memory>,
    /// The maximum number of bytes of a part of the change.
    largest_part: u64,
    /// The look-ups that models are offered; `None` if they are offered none.
    pub(super) lookups: Option<Lookups>,
    signals: OnceLock<Signals>,
    briefing: OnceLock<Briefing>,
    /// The findings of the rules; empty until the rules have read the change.
    leads: OnceLock<Leads>,
}

impl Desk {
    /// Creates the context of a run.
    pub fn new(caller: Arc<Caller>, models: Models, nonce: Nonce, time: Duration) -> Desk {
        Desk {
            caller,
            models,
            nonce,
            time,
            thinking: 0,
            prior: None,
            memory: None,
            largest_part: LARGEST_PART,
            lookups: None,
            signals: OnceLock::new(),
            briefing: OnceLock::new(),
            leads: OnceLock::new(),
        }
    }

    /// Sets the maximum number of tokens for thinking.
    pub fn thinking(mut self, tokens: u32) -> Desk {
        self.thinking = tokens;
        self
    }

    /// Sets the findings of an earlier review.
    pub fn prior(mut self, prior: Option<String>) -> Desk {
        self.prior = prior;
        self
    }

    /// Sets the knowledge of earlier runs, which every persona gets.
    pub fn memory(mut self, memory: Option<Memory>) -> Desk {
        self.memory = memory;
        self
    }

    /// Offers look-ups to the models that support tools.
    pub fn offering_lookups(mut self, are_offered: bool) -> Desk {
        self.lookups = are_offered.then(Lookups::default);
        self
    }

    /// Answers look-ups from the results of a recording; `None` offers none.
    pub(crate) fn replaying_lookups(mut self, results: Option<BTreeMap<String, String>>) -> Desk {
        self.lookups = results.map(Lookups::replayed);
        self
    }

    /// Returns the results of the look-ups so far, by their calls; `None` if none are offered.
    pub fn lookup_results(&self) -> Option<BTreeMap<String, String>> {
        self.lookups.as_ref().map(Lookups::results)
    }

    /// Limits the size of the parts of the change, for readers that take less at a time than
    /// models.
    pub(crate) fn largest_part(mut self, bytes: Option<u64>) -> Desk {
        self.largest_part = bytes.unwrap_or(LARGEST_PART).clamp(SMALLEST_PART, LARGEST_PART);
        self
    }

    /// Returns true if the budget of the run still covers the estimates.
    pub fn has_room_for(&self, estimates: &[Estimate]) -> bool {
        let calls: usize = estimates.iter().map(|estimate| estimate.most_calls).sum();
        let tokens = estimates.iter().map(|estimate| estimate.most_tokens).sum();
        let micro_usd = estimates.iter().map(|e| e.most_micro_usd).sum::<Option<u64>>();
        self.caller.budget().has_room_for(calls as u64, tokens, micro_usd.unwrap_or(0))
    }

    /// Returns the spending of the run so far.
    pub fn spent(&self) -> ReviewUsage {
        let budget = self.caller.budget();
        let models = budget.spent_by_model();
        let models = models.into_iter().map(|(model, spent)| of_model(model, spent)).collect();
        ReviewUsage { models, ..in_report(budget.spent()) }
    }

    pub(super) fn model(&self, persona: &Persona) -> &dyn Model {
        &**self.models.of(persona.tier)
    }

    /// Returns the reviewer in a persona's reports: its name, the family of its model, and its cap.
    pub(super) fn who(&self, persona: &Persona) -> report::Reviewer {
        let mut who = report::Reviewer::new(&persona.name, ReviewerKind::Persona);
        who.family = Some(self.model(persona).about().family.clone());
        who.cap = Some(persona.cap.clone());
        who
    }

    pub(super) fn signals(&self, change: &Change) -> &Signals {
        self.signals.get_or_init(|| Signals::of(change, self.prior.is_some()))
    }

    pub(crate) fn briefing(&self, change: &Change) -> &Briefing {
        self.briefing.get_or_init(|| Briefing::new(change))
    }

    /// Returns the findings of an earlier review, if the reviewer reads for them.
    pub(super) fn prior_findings(&self, knows_prior: bool) -> Option<&str> {
        self.prior.as_deref().filter(|_| knows_prior)
    }

    /// Sets the findings of the rules. The rules read a change once in a run, so later calls would
    /// set the same.
    pub(crate) fn note_leads(&self, leads: &Leads) {
        self.leads.get_or_init(|| leads.clone());
    }

    /// Returns the knowledge that all reviewers get in addition to the change.
    fn known(&self) -> Known<'_> {
        Known { memory: self.memory.as_ref(), leads: self.leads.get() }
    }

    /// Builds the prompt of a persona for a part of a change; `part` has its number and the number
    /// of parts.
    pub(super) fn prompt(
        &self,
        persona: &Persona,
        task: &Task,
        briefing: &Briefing,
        part: (&Part, usize, usize),
    ) -> Prompt {
        let prompt = prompt::review(task, briefing, part, self.known(), self.room(persona));
        self.with_lookups(persona, prompt)
    }

    /// Splits the change into parts that fit a persona's model.
    pub(super) fn parts(&self, persona: &Persona, task: &Task, change: &Change) -> Parts {
        let briefing = self.briefing(change);
        let about = self.model(persona).about();
        let room = self.room(persona);
        let answer = prompt::ANSWER_TOKENS.saturating_add(room.thinking).min(room.answer);
        let answer = u64::from(answer);
        let tokens = about.context_tokens.saturating_sub(answer + about.overhead_tokens);
        let overhead = prompt::overhead(task, briefing, self.memory.as_ref()) as u64;
        let lookups = match self.offers_lookups(persona) {
            true => lookup::MAX_RESULT_BYTES as u64,
            false => 0,
        };
        let overhead = overhead + lookups;
        let most = (tokens * BYTES_PER_TOKEN).saturating_sub(overhead);
        parts::parts(briefing, most.clamp(SMALLEST_PART, self.largest_part) as usize)
    }

    pub(super) fn room(&self, persona: &Persona) -> Room {
        let answer = self.model(persona).about().max_output_tokens;
        Room { answer, thinking: self.thinking }
    }

    /// Returns the files outside of the change that were read for it.
    pub fn others(&self, change: &Change) -> BTreeSet<RepoPath> {
        self.briefing(change).others.clone()
    }

    /// Returns the text of an answer for transcripts: without secrets and without the marks of the
    /// run.
    pub(super) fn kept_text(&self, reply: &Reply) -> String {
        redact_text(&self.nonce.forget(&reply.text))
    }

    /// Asks a persona's model once. Only an answer that can be parsed, or that calls tools, is
    /// cached.
    pub(super) fn ask(
        &self,
        persona: &Persona,
        prompt: &Prompt,
        can_be_read: fn(&str) -> bool,
        heard: &dyn Fn(usize),
    ) -> Answered {
        let ask = Ask {
            label: &persona.name,
            prompt,
            nonce: &self.nonce,
            time: self.time,
            is_worth_keeping: &|reply| {
                let is_whole = can_be_read(&reply.text) || !reply.calls.is_empty();
                is_whole && !self.took_orders(reply)
            },
        };
        self.caller.ask(self.model(persona), &ask, heard)
    }

    /// Stores the outcome that an agent got for a prompt of a persona's model.
    pub(crate) fn hand_in(
        &self,
        persona: &Persona,
        prompt: &Prompt,
        outcome: Result<&Reply, &Failure>,
    ) -> io::Result<()> {
        let (label, nonce, time) = (persona.name.as_str(), &self.nonce, self.time);
        let ask = Ask { label, prompt, nonce, time, is_worth_keeping: &|_| true };
        self.caller.hand_in(self.model(persona), &ask, outcome)
    }

    /// Returns the marks of the run.
    pub(crate) fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// Returns true if an answer obeyed the text under review.
    pub(super) fn took_orders(&self, reply: &Reply) -> bool {
        reply.says(self.canary())
    }

    /// Returns the canary, a word that occurs only in answers that obeyed the text under review.
    pub(super) fn canary(&self) -> &str {
        self.nonce.of(Mark::Canary)
    }

    /// Returns true if a part of an answer obeyed the text under review.
    pub(super) fn part_took_orders(&self, part: &str) -> bool {
        says(part, self.nonce.of(Mark::Canary))
    }
}
