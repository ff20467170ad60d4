//! What the personas of a run share: [`Desk`].

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use assay_change::Change;
use assay_findings::path::RepoPath;
use assay_findings::report::{self, ReviewerKind};
use assay_findings::spent::{ModelSpent, Spent};
use assay_models::{Answered, Ask, Caller, Failure, Mark, Model, Nonce, Prompt, Reply, says};
use assay_rules::redacted_text;

use super::{Persona, Signals, Tier};
use crate::leads::Leads;
use crate::lookup::{self, Lookups};
use crate::memory::Memory;
use crate::prompt::briefing::Briefing;
use crate::prompt::parts::{self, Part, Parts};
use crate::prompt::{self, Known, Room, Task};
use crate::reviewer::Estimate;

/// The persona that is told what an earlier review found.
pub(super) const PRIOR: &str = "prior-findings";

/// A token of code has about so many bytes; fewer would be a waste, and more would not fit.
pub(super) const BYTES_PER_TOKEN: u64 = 3;

/// No part of a change is larger than this, however much a model takes: attention is limited too.
const LARGEST_PART: u64 = 240_000;

/// No part is smaller than this, however little a model takes.
const SMALLEST_PART: u64 = 2_000;

/// The models of a run, by what they are for.
#[derive(Clone)]
pub struct Models {
    /// A cheap one.
    pub cheap: Arc<dyn Model>,
    /// The usual one.
    pub default: Arc<dyn Model>,
    /// The best there is.
    pub premium: Arc<dyn Model>,
}

impl Models {
    /// Gives the model of a tier.
    pub fn of(&self, tier: Tier) -> &Arc<dyn Model> {
        match tier {
            Tier::Cheap => &self.cheap,
            Tier::Default => &self.default,
            Tier::Premium => &self.premium,
        }
    }
}

/// Returns the bytes of a question and of its answer.
pub(super) fn exchanged(prompt: &Prompt, outcome: &Result<Reply, Failure>) -> u64 {
    let answered = outcome.as_ref().map_or(0, |reply| reply.text.len());
    (prompt.bytes() + answered) as u64
}

/// Gives what was spent as reports tell it.
pub(super) fn in_report(spent: assay_models::Spent) -> Spent {
    Spent {
        calls: spent.calls,
        kept_answers: spent.cached,
        tokens: spent.tokens.total(),
        usd: spent.micro_usd.map(|micro| micro as f64 / 1_000_000.0),
        at_most: spent.is_bound,
        bytes: 0,
        models: Vec::new(),
    }
}

/// Returns what a model took as reports tell it.
fn of_model(model: String, spent: assay_models::Spent) -> ModelSpent {
    let Spent { calls, kept_answers, tokens, usd, at_most, .. } = in_report(spent);
    ModelSpent { model, calls, kept_answers, tokens, usd, at_most }
}

/// What the personas of a run share: whom they ask, and the change as it is told. The change is
/// read once for all of them.
pub struct Desk {
    caller: Arc<Caller>,
    models: Models,
    nonce: Nonce,
    /// How long one answer may take.
    time: Duration,
    /// The tokens that may be spent on thinking.
    thinking: u32,
    /// What an earlier review found.
    prior: Option<String>,
    /// What earlier runs learned.
    memory: Option<Memory>,
    /// No part of a change is larger than this.
    largest_part: u64,
    /// The look-ups that models are offered; `None` if they are offered none.
    pub(super) lookups: Option<Lookups>,
    signals: OnceLock<Signals>,
    briefing: OnceLock<Briefing>,
    /// The findings of the rules; empty until they have read the change.
    leads: OnceLock<Leads>,
}

impl Desk {
    /// Sets up a run.
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

    /// Lets models think for so many tokens.
    pub fn thinking(mut self, tokens: u32) -> Desk {
        self.thinking = tokens;
        self
    }

    /// Tells what an earlier review found.
    pub fn prior(mut self, prior: Option<String>) -> Desk {
        self.prior = prior;
        self
    }

    /// Tells every persona what earlier runs learned.
    pub fn memory(mut self, memory: Option<Memory>) -> Desk {
        self.memory = memory;
        self
    }

    /// Offers look-ups to the models that take tools.
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

    /// Cuts the change into parts that are no larger than this, where whoever reads it takes less
    /// at a time than models do.
    pub(crate) fn largest_part(mut self, bytes: Option<u64>) -> Desk {
        self.largest_part = bytes.unwrap_or(LARGEST_PART).clamp(SMALLEST_PART, LARGEST_PART);
        self
    }

    /// Says whether so much is left to spend in the run, whatever it is spent on.
    pub fn has_room_for(&self, estimates: &[Estimate]) -> bool {
        let calls: usize = estimates.iter().map(|estimate| estimate.most_calls).sum();
        let tokens = estimates.iter().map(|estimate| estimate.most_tokens).sum();
        let micro_usd = estimates.iter().map(|e| e.most_micro_usd).sum::<Option<u64>>();
        self.caller.budget().has_room_for(calls as u64, tokens, micro_usd.unwrap_or(0))
    }

    /// Gives what the run has spent so far.
    pub fn spent(&self) -> Spent {
        let budget = self.caller.budget();
        let models = budget.spent_by_model();
        let models = models.into_iter().map(|(model, spent)| of_model(model, spent)).collect();
        Spent { models, ..in_report(budget.spent()) }
    }

    pub(super) fn model(&self, persona: &Persona) -> &dyn Model {
        &**self.models.of(persona.tier)
    }

    /// Returns the name and standing under which a persona reports.
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

    /// Returns the findings of an earlier review, for a reviewer that reads for them.
    pub(super) fn prior_findings(&self, knows_prior: bool) -> Option<&str> {
        self.prior.as_deref().filter(|_| knows_prior)
    }

    /// Takes note of the findings of the rules. The rules read a change once in a run, so later notes
    /// say the same.
    pub(crate) fn note_leads(&self, leads: &Leads) {
        self.leads.get_or_init(|| leads.clone());
    }

    /// Returns what all reviewers are told besides the change.
    fn known(&self) -> Known<'_> {
        Known { memory: self.memory.as_ref(), leads: self.leads.get() }
    }

    /// Returns the question of a persona about a part of a change, the so-manieth of so many.
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

    /// Cuts the change for a persona's model.
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

    /// Gives the files outside the change that were read for it.
    pub fn others(&self, change: &Change) -> BTreeSet<RepoPath> {
        self.briefing(change).others.clone()
    }

    /// Returns the text of an answer as transcripts keep it: without secrets and without the marks of
    /// the run.
    pub(super) fn kept_text(&self, reply: &Reply) -> String {
        redacted_text(&self.nonce.forget(&reply.text))
    }

    /// Asks a persona's model once. Only an answer that can be read, and one that calls tools, is kept for
    /// the next time.
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

    /// Takes in what somebody else got for a question to a persona's model.
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

    /// Gives the marks of the run.
    pub(crate) fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// Says whether an answer took orders from the text under review.
    pub(super) fn took_orders(&self, reply: &Reply) -> bool {
        reply.says(self.canary())
    }

    /// Returns the word that only an answer has that took orders.
    pub(super) fn canary(&self) -> &str {
        self.nonce.of(Mark::Canary)
    }

    /// Says whether a part of an answer took orders from the text under review.
    pub(super) fn part_took_orders(&self, part: &str) -> bool {
        says(part, self.nonce.of(Mark::Canary))
    }
}
