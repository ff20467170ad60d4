//! The context that all personas of a run share: [`PersonaContext`].

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use assay_change::Change;
use assay_findings::path::RepoPath;
use assay_findings::report::{self, ReviewerKind};
use assay_findings::usage::{ModelUsage, ReviewUsage};
use assay_models::{
    Failure, Mark, Model, ModelClient, ModelRequest, ModelResponse, Nonce, Prompt, Reply,
    contains_word,
};
use assay_rules::redact_text;

use super::{Persona, Signals, Tier};
use crate::leads::Leads;
use crate::lookup::{self, Lookups};
use crate::memory::Memory;
use crate::prompt::briefing::Briefing;
use crate::prompt::parts::{self, Part, Parts};
use crate::prompt::{self, AnswerLimits, Knowledge, Task};
use crate::reviewer::Estimate;

/// The persona that gets the findings of an earlier review.
pub(super) const PRIOR_FINDINGS: &str = "prior-findings";

/// The assumed number of bytes of a token of code: fewer would waste context, and more would not
/// fit.
pub(super) const BYTES_PER_TOKEN: u64 = 3;

/// The maximum number of bytes of a part of a change, whatever the context of a model: its
/// attention is limited too.
const MAX_PART_BYTES: u64 = 240_000;

/// The minimum size of a part in bytes, whatever the context of a model.
const MIN_PART_BYTES: u64 = 2_000;

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
pub(super) fn exchange_bytes(prompt: &Prompt, outcome: &Result<Reply, Failure>) -> u64 {
    let answered = outcome.as_ref().map_or(0, |reply| reply.text.len());
    (prompt.bytes() + answered) as u64
}

/// Converts spending to the form of reports.
fn to_report_spending(spent: assay_models::Spending) -> ReviewUsage {
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
fn to_model_spending(model: String, spent: assay_models::Spending) -> ModelUsage {
    let ReviewUsage { calls, kept_answers, tokens, usd, at_most, .. } = to_report_spending(spent);
    ModelUsage { model, calls, kept_answers, tokens, usd, at_most }
}

/// The context that all personas of a run share: the client, the models, and the change as prompts
/// show it. The change is read once for all of them.
pub struct PersonaContext {
    client: Arc<ModelClient>,
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

impl PersonaContext {
    /// Creates the context of a run.
    pub fn new(
        client: Arc<ModelClient>,
        models: Models,
        nonce: Nonce,
        time: Duration,
    ) -> PersonaContext {
        PersonaContext {
            client,
            models,
            nonce,
            time,
            thinking: 0,
            prior: None,
            memory: None,
            largest_part: MAX_PART_BYTES,
            lookups: None,
            signals: OnceLock::new(),
            briefing: OnceLock::new(),
            leads: OnceLock::new(),
        }
    }

    /// Sets the maximum number of tokens for thinking.
    pub fn thinking(mut self, tokens: u32) -> PersonaContext {
        self.thinking = tokens;
        self
    }

    /// Sets the findings of an earlier review.
    pub fn prior(mut self, prior: Option<String>) -> PersonaContext {
        self.prior = prior;
        self
    }

    /// Sets the knowledge of earlier runs, which every persona gets.
    pub fn memory(mut self, memory: Option<Memory>) -> PersonaContext {
        self.memory = memory;
        self
    }

    /// Offers look-ups to the models that support tools.
    pub fn offer_lookups(mut self, are_offered: bool) -> PersonaContext {
        self.lookups = are_offered.then(Lookups::default);
        self
    }

    /// Answers look-ups from the results of a recording; `None` offers none.
    pub(crate) fn replay_lookups(
        mut self,
        results: Option<BTreeMap<String, String>>,
    ) -> PersonaContext {
        self.lookups = results.map(Lookups::from_recording);
        self
    }

    /// Returns the results of the look-ups so far, by their calls; `None` if none are offered.
    pub fn lookup_results(&self) -> Option<BTreeMap<String, String>> {
        self.lookups.as_ref().map(Lookups::results)
    }

    /// Limits the size of the parts of the change, for readers that take less at a time than
    /// models.
    pub(crate) fn max_part_bytes(mut self, bytes: Option<u64>) -> PersonaContext {
        self.largest_part = bytes.unwrap_or(MAX_PART_BYTES).clamp(MIN_PART_BYTES, MAX_PART_BYTES);
        self
    }

    /// Returns true if the budget of the run still covers the estimates.
    pub fn has_room_for(&self, estimates: &[Estimate]) -> bool {
        let calls: usize = estimates.iter().map(|estimate| estimate.most_calls).sum();
        let tokens = estimates.iter().map(|estimate| estimate.most_tokens).sum();
        let micro_usd = estimates.iter().map(|e| e.most_micro_usd).sum::<Option<u64>>();
        self.client.budget().has_room_for(calls as u64, tokens, micro_usd.unwrap_or(0))
    }

    /// Returns the spending of the run so far.
    pub fn spent(&self) -> ReviewUsage {
        let budget = self.client.budget();
        let models = budget.spent_by_model();
        let models =
            models.into_iter().map(|(model, spent)| to_model_spending(model, spent)).collect();
        ReviewUsage { models, ..to_report_spending(budget.spent()) }
    }

    pub(super) fn model(&self, persona: &Persona) -> &dyn Model {
        &**self.models.of(persona.tier)
    }

    /// Returns the spending of a persona's report, with the model of the persona.
    pub(super) fn report_usage(
        &self,
        persona: &Persona,
        spent: assay_models::Spending,
    ) -> ReviewUsage {
        let model = self.model(persona).id().to_string();
        ReviewUsage { models: vec![to_model_spending(model, spent)], ..to_report_spending(spent) }
    }

    /// Returns the reviewer in a persona's reports: its name, the family of its model, and its cap.
    pub(super) fn report_reviewer(&self, persona: &Persona) -> report::Reviewer {
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
    pub(crate) fn set_leads(&self, leads: &Leads) {
        self.leads.get_or_init(|| leads.clone());
    }

    /// Returns the knowledge that all reviewers get in addition to the change.
    fn knowledge(&self) -> Knowledge<'_> {
        Knowledge { memory: self.memory.as_ref(), leads: self.leads.get() }
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
        let prompt =
            prompt::review(task, briefing, part, self.knowledge(), self.answer_limits(persona));
        self.with_lookups(persona, prompt)
    }

    /// Splits the change into parts that fit a persona's model.
    pub(super) fn parts(&self, persona: &Persona, task: &Task, change: &Change) -> Parts {
        let briefing = self.briefing(change);
        let about = self.model(persona).about();
        let room = self.answer_limits(persona);
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
        parts::parts(briefing, most.clamp(MIN_PART_BYTES, self.largest_part) as usize)
    }

    pub(super) fn answer_limits(&self, persona: &Persona) -> AnswerLimits {
        let answer = self.model(persona).about().max_output_tokens;
        AnswerLimits { answer, thinking: self.thinking }
    }

    /// Returns the files outside of the change that were read for it.
    pub fn other_files(&self, change: &Change) -> BTreeSet<RepoPath> {
        self.briefing(change).others.clone()
    }

    /// Returns the text of an answer for transcripts: without secrets and without the marks of the
    /// run.
    pub(super) fn transcript_text(&self, reply: &Reply) -> String {
        redact_text(&self.nonce.replace_marks(&reply.text))
    }

    /// Asks a persona's model once. Only an answer that can be parsed, or that calls tools, is
    /// cached.
    pub(super) fn ask(
        &self,
        persona: &Persona,
        prompt: &Prompt,
        can_be_read: fn(&str) -> bool,
        heard: &dyn Fn(usize),
    ) -> ModelResponse {
        let ask = ModelRequest {
            label: &persona.name,
            prompt,
            nonce: &self.nonce,
            time: self.time,
            is_cacheable: &|reply| {
                let is_whole = can_be_read(&reply.text) || !reply.calls.is_empty();
                is_whole && !self.contains_canary(reply)
            },
        };
        self.client.ask(self.model(persona), &ask, heard)
    }

    /// Stores the outcome that an agent got for a prompt of a persona's model.
    pub(crate) fn store_outcome(
        &self,
        persona: &Persona,
        prompt: &Prompt,
        outcome: Result<&Reply, &Failure>,
    ) -> io::Result<()> {
        let (label, nonce, time) = (persona.name.as_str(), &self.nonce, self.time);
        let ask = ModelRequest { label, prompt, nonce, time, is_cacheable: &|_| true };
        self.client.store_outcome(self.model(persona), &ask, outcome)
    }

    /// Returns the marks of the run.
    pub(crate) fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// Returns true if an answer obeyed the text under review.
    pub(super) fn contains_canary(&self, reply: &Reply) -> bool {
        reply.contains_word(self.canary())
    }

    /// Returns the canary, a word that occurs only in answers that obeyed the text under review.
    pub(super) fn canary(&self) -> &str {
        self.nonce.value_of(Mark::Canary)
    }

    /// Returns true if a part of an answer obeyed the text under review.
    pub(super) fn part_contains_canary(&self, part: &str) -> bool {
        contains_word(part, self.nonce.value_of(Mark::Canary))
    }
}
