//! A persona as a reviewer: [`PersonaReviewer`].

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_change::Change;
use assay_findings::report::{self, ReviewerKind};
use assay_models::{Prompt, Usage};
use assay_rules::Behaviour;

use super::context::{PRIOR_FINDINGS, PersonaContext};
use super::handover::brief_for;
use super::reading::{PersonaReading, ReadingPersona};
use super::{Persona, Signals};
use crate::leads::Leads;
use crate::lookup;
use crate::prompt::{Concerns, Role, Task};
use crate::reviewer::{Estimate, OnProgress, ReadDecision, Reviewer, ReviewerAnswer, version_hash};

/// The assumed bytes of a token, and tokens of an answer, for estimates, which need not be exact.
const BYTES_PER_TOKEN: u64 = 4;
const TYPICAL_ANSWER_TOKENS: u64 = 1_000;

/// A persona that reviews changes.
pub struct PersonaReviewer {
    pub(crate) persona: Persona,
    /// The personas whose concerns the reviewer carries.
    carried: Vec<Persona>,
    pub(super) context: Arc<PersonaContext>,
    /// True if a user named the persona, so that it reads whatever its trigger, and is required.
    named: bool,
    /// All reviewers of the run.
    panel: Arc<[PanelMember]>,
}

/// A reviewer of a run, with the data that decides whether it reads.
#[derive(Debug)]
pub(super) struct PanelMember {
    persona: Persona,
    carried: Vec<Persona>,
    named: bool,
}

impl PanelMember {
    /// Returns true if the reviewer reads as the persona with a name, or for the concern of that
    /// persona.
    fn reads_for(&self, name: &str, signals: &Signals) -> bool {
        let is_awake =
            |persona: &Persona| signals.is_cut || persona.trigger.match_reason(signals).is_some();
        let carries = || self.carried.iter().any(|by| by.name == name && is_awake(by));
        (self.named || is_awake(&self.persona)) && (self.persona.name == name || carries())
    }
}

impl PersonaReviewer {
    /// Creates a reviewer whose trigger decides whether it reads the change.
    pub fn new(
        persona: Persona,
        carried: Vec<Persona>,
        context: Arc<PersonaContext>,
    ) -> PersonaReviewer {
        PersonaReviewer { persona, carried, context, named: false, panel: Arc::new([]) }
    }

    /// Creates a reviewer that reads the change whatever its trigger.
    pub fn always_reading(persona: Persona, context: Arc<PersonaContext>) -> PersonaReviewer {
        PersonaReviewer { persona, carried: Vec::new(), context, named: true, panel: Arc::new([]) }
    }

    /// Adds the personas whose concerns the reviewer carries.
    pub(super) fn with_carried(mut self, carried: Vec<Persona>) -> PersonaReviewer {
        self.carried = carried;
        self
    }

    /// Adds the list of all reviewers of a run to each: a persona leaves concerns only to one that
    /// reads.
    pub(super) fn form_panel(reviewers: Vec<PersonaReviewer>) -> Vec<PersonaReviewer> {
        let member = |by: &PersonaReviewer| PanelMember {
            persona: by.persona.clone(),
            carried: by.carried.clone(),
            named: by.named,
        };
        let panel: Arc<[PanelMember]> = reviewers.iter().map(member).collect();
        let together = |by: PersonaReviewer| PersonaReviewer { panel: panel.clone(), ..by };
        reviewers.into_iter().map(together).collect()
    }

    /// Returns the personas whose concerns the reviewer carries and whose triggers match the
    /// change.
    fn concerns(&self, change: &Change) -> Vec<&Persona> {
        if self.carried.is_empty() {
            return Vec::new();
        }
        let signals = self.context.signals(change);
        let is_awake =
            |persona: &&Persona| signals.is_cut || persona.trigger.match_reason(signals).is_some();
        self.carried.iter().filter(is_awake).collect()
    }

    /// Returns the persona in the form that `PersonaReading` takes.
    fn reader(&self) -> ReadingPersona<'_> {
        let (persona, context) = (&self.persona, &*self.context);
        ReadingPersona { persona, context, is_required: self.is_required() }
    }

    /// Returns the reviewer in the persona's reports.
    pub(crate) fn report_reviewer(&self) -> report::Reviewer {
        self.context.report_reviewer(&self.persona)
    }

    /// Reads a change, part by part.
    pub(crate) fn reading<'a>(
        &'a self,
        change: &'a Change,
        on_progress: OnProgress<'a>,
    ) -> PersonaReading<'a> {
        let task = self.task(change);
        let parts = self.context.parts(&self.persona, &task, change);
        let mut reading = PersonaReading::new(self.reader(), change, &parts, on_progress);
        let of = parts.parts.len();
        for (part, number) in parts.parts.into_iter().zip(1..) {
            reading.read(&task, part, (number, of));
        }
        reading
    }

    /// Returns the task of this reviewer for a change.
    fn task(&self, change: &Change) -> Task {
        let personas = self.concerns(change);
        let knows_prior = personas.iter().any(|carried| carried.name == PRIOR_FINDINGS)
            || self.persona.name == PRIOR_FINDINGS;
        let signals = self.context.signals(change);
        // A query alone is not a risk.
        let steps = signals.behaviours.iter().copied().filter(|step| *step != Behaviour::Query);
        let steps = if personas.is_empty() { Vec::new() } else { steps.collect() };
        let brief = brief_for(&self.persona.brief, |name| {
            self.panel.iter().any(|member| member.reads_for(name, signals))
        });
        let personas = personas.iter().map(|by| (by.name.as_str(), by.concern.as_str())).collect();
        let concerns = Concerns { personas, steps };
        let role = Role { brief: &brief, ..self.persona.role() };
        Task::new(role, &concerns, self.context.prior_findings(knows_prior))
    }
}

impl Reviewer for PersonaReviewer {
    fn name(&self) -> &str {
        &self.persona.name
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Persona
    }

    fn is_required(&self) -> bool {
        self.persona.required || self.named
    }

    fn interest(&self, change: &Change) -> ReadDecision {
        if change.is_without_content() {
            return ReadDecision::Skips("the change has no content to review".to_owned());
        }
        if self.named {
            return ReadDecision::Reads("selected by name".to_owned());
        }
        let signals = self.context.signals(change);
        match self.persona.trigger.match_reason(signals) {
            Some(why) if self.carried.is_empty() => ReadDecision::Reads(why),
            Some(why) => match self.concerns(change).as_slice() {
                [] => ReadDecision::Skips(
                    "the change touches none of the persona's concerns".to_owned(),
                ),
                concerns => {
                    let names: Vec<&str> = concerns.iter().map(|by| by.name.as_str()).collect();
                    ReadDecision::Reads(format!("{why}; for {}", names.join(", ")))
                }
            },
            None if signals.is_cut => {
                ReadDecision::Reads("the change is too large to decide".into())
            }
            None => {
                ReadDecision::Skips(format!("not concerned by this change: {}", self.persona.about))
            }
        }
    }

    fn prompts(&self, change: &Change) -> Vec<Prompt> {
        let briefing = self.context.briefing(change);
        let task = self.task(change);
        let parts = self.context.parts(&self.persona, &task, change).parts;
        let of = parts.len();
        let prompt =
            |(part, at)| self.context.prompt(&self.persona, &task, briefing, (part, at, of));
        parts.iter().zip(1..).map(prompt).collect()
    }

    fn estimate(&self, change: &Change) -> Option<Estimate> {
        let about = self.context.model(&self.persona).about();
        let mut estimate = Estimate { model: about.id.to_string(), ..Estimate::default() };
        let plus = |sum: Option<u64>, more: Option<u64>| sum.zip(more).map(|(a, b)| a + b);
        for prompt in self.prompts(change) {
            let usual = Usage {
                input: prompt.bytes() as u64 / BYTES_PER_TOKEN,
                output: TYPICAL_ANSWER_TOKENS,
                ..Usage::default()
            };
            // Each look-up is a turn of its own, which carries the results so far.
            let (turns, results) = match prompt.tools.is_empty() {
                true => (0, 0),
                false => (lookup::MAX_TURNS as u64, lookup::MAX_RESULT_BYTES as u64),
            };
            let results = Usage { input: results, ..Usage::default() };
            estimate.calls += 1;
            estimate.most_calls += 1 + turns as usize;
            estimate.tokens += usual.input;
            let price = about.price.map(|price| price.cost(usual));
            estimate.usual_micro_usd = plus(estimate.usual_micro_usd, price);
            let (first, later) = (about.max_usage(&prompt), about.max_usage(&prompt).plus(results));
            estimate.most_tokens += first.total() + turns * later.total();
            let most =
                about.price.map(|price| price.max_cost(first) + turns * price.max_cost(later));
            estimate.most_micro_usd = plus(estimate.most_micro_usd, most);
        }
        Some(estimate)
    }

    fn provenance(&self) -> BTreeMap<String, String> {
        let model = self.context.model(&self.persona).id().to_string();
        let concerns = self.carried.iter().map(|carried| carried.concern.as_str());
        let brief: Vec<&str> = [self.persona.brief.as_str()].into_iter().chain(concerns).collect();
        let brief = version_hash(brief.join("\n").as_bytes());
        BTreeMap::from([("model".to_owned(), model), ("persona".to_owned(), brief)])
    }

    fn set_leads(&self, leads: &Leads) {
        self.context.set_leads(leads);
    }

    fn review(&self, change: &Change, on_progress: OnProgress<'_>) -> ReviewerAnswer {
        self.reading(change, on_progress).finish(change)
    }
}
