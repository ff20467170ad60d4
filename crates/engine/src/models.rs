//! Models of a run: the requested models (`ModelOptions`), the session with budget and cache
//! (`ModelSession`), and the personas of a review (`Panel`).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use assay_base::shutdown::Shutdown;
use assay_change::Change;
use assay_change::state::{State, StateError};
use assay_findings::synthesis::Synthesis;
use assay_findings::usage::ReviewUsage;
use assay_gates::model::ModelJudge;
use assay_models::{ModelClient, Nonce, ReplySeals, ReplyStore, ReplyStores};
use assay_review::command::CommandReviewer;
use assay_review::fixer::Fixer;
use assay_review::memory::Memory;
use assay_review::persona::validator::second_looks;
use assay_review::persona::{PersonaContext, Personas, Tier, VALIDATOR};
use assay_review::recording::{Grouping, REPLIES_DIR, RecordedModels};
use assay_review::resume::resumable_replies;
use assay_review::{
    Estimate, ReadDecision, Review, Reviewer, StartOrder, interrupted_report, runs,
};
use assay_rules::redact_text;
use assay_sandbox::ScratchFolder;

use crate::config::Settings;
use crate::config::models::{ModelsConfig, Phase, SpendingCaps};
use crate::dates::today;
use crate::effort::Effort;
use crate::memory::{self, RecallResult};

/// The options for models of a run.
#[derive(Debug, Clone, Default)]
pub struct ModelOptions {
    /// The model that personas read the change with; empty for the configured models, `None` if the
    /// configuration decides whether personas read the change.
    pub model: Option<String>,
    /// True if no model is asked, even if the configuration says so.
    pub no_models: bool,
    /// The only personas that read the change; empty if the triggers of personas decide.
    pub personas: Vec<String>,
    /// True if each persona reads the change on its own.
    pub each_persona: bool,
    /// The purpose of the change; `None` if the caller states none.
    pub purpose: Option<String>,
    /// The spending limits of the run.
    pub caps: SpendingCaps,
    /// True if personas read the change whenever a model is configured.
    pub if_configured: bool,
    /// Token limit for thinking; `None` for the one of reviews.
    pub thinking: Option<u32>,
    /// The effort of the personas.
    pub effort: Effort,
    /// True if the answers of the last review are reused, which was interrupted.
    pub resume: bool,
}

impl ModelOptions {
    /// Returns the requested grouping, or else the configured one.
    fn grouping(&self, configured: Grouping) -> Grouping {
        if self.each_persona { Grouping::EachPersona } else { self.effort.grouping(configured) }
    }

    /// Returns a request by which personas read whenever a model is configured, as agents do.
    pub(crate) fn if_configured() -> ModelOptions {
        ModelOptions::default().or_if_configured()
    }

    /// Makes personas read also if a model is configured and the request does not decide.
    pub(crate) fn or_if_configured(self) -> ModelOptions {
        ModelOptions { if_configured: true, ..self }
    }

    /// Sets the model, if `name` is given and the request neither names a model nor excludes
    /// models.
    pub fn or_model(self, name: Option<&str>) -> ModelOptions {
        let asked = self.model.clone().filter(|asked| !asked.is_empty());
        match (asked, name) {
            (None, Some(name)) if !self.no_models => {
                ModelOptions { model: Some(name.to_owned()), ..self }
            }
            _ => self,
        }
    }

    /// Sets the token limit for thinking.
    pub(crate) fn with_thinking(self, thinking: Option<u32>) -> ModelOptions {
        ModelOptions { thinking, ..self }
    }

    /// Sets the limits that the request does not set.
    pub(crate) fn with_default_caps(self, caps: SpendingCaps) -> ModelOptions {
        let SpendingCaps { usd, tokens, calls, seconds } = self.caps;
        let caps = SpendingCaps {
            usd: usd.or(caps.usd),
            tokens: tokens.or(caps.tokens),
            calls,
            seconds: seconds.or(caps.seconds),
        };
        ModelOptions { caps, ..self }
    }

    /// Limits the time in seconds, whatever else was requested.
    pub(crate) fn with_max_seconds(self, seconds: Option<u64>) -> ModelOptions {
        let seconds = self.caps.seconds.into_iter().chain(seconds).min();
        ModelOptions { caps: SpendingCaps { seconds, ..self.caps }, ..self }
    }

    /// Returns the time limit of the run in seconds; `None` if there is none.
    pub(crate) fn max_seconds(&self) -> Option<u64> {
        self.caps.seconds
    }

    /// Returns the requested model; `None` if no model is named.
    pub(crate) fn requested_model(&self) -> Option<&str> {
        self.model.as_deref().filter(|name| !name.is_empty())
    }

    /// Returns a request by which personas read, with the named model or with the configured ones.
    pub fn with_model(name: Option<&str>) -> ModelOptions {
        let model = Some(name.unwrap_or_default().to_owned());
        ModelOptions { model, ..ModelOptions::default() }
    }

    /// Returns a request without models: only the rules and the analysers read.
    pub(crate) fn without_models() -> ModelOptions {
        ModelOptions { no_models: true, ..ModelOptions::default() }
    }

    /// Returns true if personas read the change.
    pub(crate) fn is_enabled(&self, settings: &Settings) -> bool {
        let asked = self.model.is_some() || !self.personas.is_empty();
        let configured = self.if_configured && settings.models.is_configured();
        asked || ((settings.uses_models || configured) && !self.no_models)
    }
}

/// The caching of answers for later runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePolicy {
    /// Answers are cached.
    On,
    /// Answers are not cached.
    Off,
    /// No model is asked, so there are no answers.
    NoModels,
}

/// The stored answers that a run may use.
#[derive(Debug)]
pub struct ReplyCaches {
    /// The caching of answers.
    pub policy: CachePolicy,
    /// The folder with the answers of an interrupted run; `None` if none is resumed.
    pub earlier: Option<PathBuf>,
}

impl From<CachePolicy> for ReplyCaches {
    fn from(policy: CachePolicy) -> ReplyCaches {
        ReplyCaches { policy, earlier: None }
    }
}

/// The model session of one run: one budget and one cache for all of its calls.
#[derive(Clone)]
pub struct ModelSession {
    client: Arc<ModelClient>,
    replies: Arc<ScratchFolder>,
    /// The reason why answers of earlier runs are not used; `None` if they are.
    refused: Option<String>,
}

impl ModelSession {
    /// Returns the client of the session.
    pub(crate) fn client(&self) -> Arc<ModelClient> {
        Arc::clone(&self.client)
    }

    /// Opens a session for questions outside of a review, with cached answers.
    pub(crate) fn open(
        request: &ModelOptions,
        models: &ModelsConfig,
        root: &Path,
    ) -> anyhow::Result<ModelSession> {
        let today = today(models.environment().clock()).map(String::from).unwrap_or_default();
        ModelSession::new(request, models, root, CachePolicy::On, &today)
    }

    /// Returns true if the budget or the time of the run is used up.
    pub(crate) fn is_exhausted(&self) -> bool {
        let budget = self.client.budget();
        !budget.has_room_for(1, 1, 0) || budget.time_left().is_some_and(|left| left.is_zero())
    }

    /// Returns the expenses so far as text.
    pub(crate) fn spending_text(&self) -> String {
        let spent = self.client.budget().spent();
        let tokens = format!("{} tokens in {} calls", spent.tokens.total(), spent.calls);
        match spent.micro_usd {
            Some(micro) => format!("{tokens}, {:.2} USD", micro as f64 / 1e6),
            None => tokens,
        }
    }

    /// Opens a session, with or without a cache.
    pub fn new(
        request: &ModelOptions,
        models: &ModelsConfig,
        root: &Path,
        caches: impl Into<ReplyCaches>,
        today: &str,
    ) -> anyhow::Result<ModelSession> {
        let caches: ReplyCaches = caches.into();
        let state = models.environment().state_of(root);
        let replies = ScratchFolder::new("assay-replies-")?;
        let is_cached = caches.policy == CachePolicy::On && models.caches_answers();
        // A review runs without the cache if the cache is unusable.
        let (cache, refused) = match is_cached.then(|| open_cache(&state)).transpose() {
            Ok(cache) => (cache, None),
            Err(error) => (None, Some(format!("cannot use the answers of earlier runs: {error}"))),
        };
        let stores = ReplyStores {
            cache,
            earlier: caches.earlier.map(|folder| ReplyStore::new(&folder, redact_text)),
            record: Some(ReplyStore::new(&replies.path().join(REPLIES_DIR), redact_text)),
            replay: None,
        };
        let budget = models.budget(request.effort.caps(request.caps), &state, today)?;
        let client = ModelClient::new(stores, budget, models.retry_policy());
        Ok(ModelSession { client: Arc::new(client), replies: Arc::new(replies), refused })
    }
}

/// Opens the cache of answers. Fails if it came from elsewhere.
fn open_cache(state: &State) -> Result<ReplyStore, StateError> {
    let kind = state.open("cache")?;
    kind.create()?;
    let (to_check, to_seal) = (kind.clone(), kind.clone());
    let seals = ReplySeals::new(
        move |name| to_check.check(name).map(drop).map_err(io::Error::other),
        move |name, bytes| to_seal.seal_bytes(name, bytes).map_err(io::Error::other),
    );
    Ok(ReplyStore::new(kind.path(), redact_text).with_seals(seals))
}

/// Returns the findings of the latest review of another change, and the reason if that run is not
/// trusted.
pub(crate) fn prior_findings(state: &State, change: &Change) -> (Option<String>, Option<String>) {
    match runs::prior_findings(state, change) {
        Ok(prior) => (prior, None),
        Err(error) => (None, Some(format!("cannot use the findings of earlier reviews: {error}"))),
    }
}

/// Sets up a fixer with the model of a tier.
pub(crate) fn open_fixer(
    models: &ModelsConfig,
    tier: Tier,
    model_session: &ModelSession,
) -> anyhow::Result<Fixer> {
    let nonce = Nonce::draw().context("cannot generate a random number")?;
    let model = models.for_review(models.model_of(Phase::Coder))?.of(tier).clone();
    let thinking = models.thinking_of(Phase::Coder).unwrap_or_default();
    Ok(Fixer {
        client: model_session.client.clone(),
        model,
        nonce,
        time: models.answer_timeout(),
        thinking,
    })
}

/// Sets up a model that verifies items of gates and criteria of specs.
pub(crate) fn open_judge(
    models: &ModelsConfig,
    only: Option<&str>,
    phase: Phase,
    model_session: &ModelSession,
) -> anyhow::Result<ModelJudge> {
    let nonce = Nonce::draw().context("cannot generate a random number")?;
    let only = only.or_else(|| models.model_of(phase));
    let model = models.for_review(only)?.of(Tier::Default).clone();
    let thinking = models.thinking_of(phase).unwrap_or_else(|| models.thinking());
    let (client, time) = (model_session.client.clone(), models.answer_timeout());
    Ok(ModelJudge { client, model, nonce, time, thinking })
}

/// The options for models of a review.
pub struct ReviewOptions<'a> {
    /// The requested models.
    pub models: &'a ModelOptions,
    /// The caching of answers.
    pub cache_policy: CachePolicy,
    /// The session of an earlier review of the same run; `None` to open one.
    pub model_session: Option<ModelSession>,
    /// A persona in addition to those of the repository: name and content of its file.
    pub also: Option<(String, String)>,
}

/// The personas of a review, and their shared context.
pub struct Panel {
    context: Arc<PersonaContext>,
    personas: Personas,
    /// The number of concurrent calls.
    pub at_a_time: usize,
    /// The data by which the review can be replayed.
    recorded: RecordedModels,
    /// The failure that made the memories of earlier runs incomplete; `None` if they are complete.
    memory_warning: Option<String>,
    /// State that is not used, each with the reason.
    pub refused: Vec<String>,
    /// The model session; `None` for a recorded review.
    model_session: Option<ModelSession>,
}

impl Panel {
    /// Sets up the personas of a review; `None` if none are wanted.
    pub(crate) fn new(
        options: ReviewOptions<'_>,
        settings: &Settings,
        change: &Change,
        today: &str,
    ) -> anyhow::Result<Option<Panel>> {
        let ReviewOptions { models: request, cache_policy, model_session, also } = options;
        if !request.is_enabled(settings) {
            if request.resume {
                bail!("`--resume` reuses answers of models, and no model reads this change");
            }
            return Ok(None);
        }
        let files: Vec<(String, String)> =
            also.into_iter().chain(settings.personas.iter().cloned()).collect();
        let personas = Personas::with_repository_personas(files.clone())?;
        let named = resolve_personas(&request.personas, &personas)?;
        check_distinct_names(&personas, &settings.commands)?;
        let models = settings.models.for_review(request.requested_model())?;
        let model_session = match model_session {
            Some(model_session) => model_session,
            None => {
                let state = settings.environment.state_of(&change.root);
                let earlier = request.resume.then(|| resumable_replies(&state, change));
                let earlier = earlier.transpose()?;
                let root = &change.root;
                let caches = ReplyCaches { policy: cache_policy, earlier };
                ModelSession::new(request, &settings.models, root, caches, today)?
            }
        };
        let nonce = Nonce::draw().context("cannot generate a random number")?;
        let thinking = request.thinking.unwrap_or_else(|| settings.models.thinking());
        let time = settings.models.answer_timeout();
        let state = settings.environment.state_of(&change.root);
        let (prior, unknown) = prior_findings(&state, change);
        let source = settings.qa.memory()?;
        let RecallResult { memory, warning } = match cache_policy {
            CachePolicy::On | CachePolicy::Off => memory::recall(&source, &state, change, today),
            CachePolicy::NoModels => memory::recall_locally(&source, &state, change, today),
        };
        let lookups = request.effort.allows(settings.lookups);
        let tiers = [Tier::Cheap, Tier::Default, Tier::Premium];
        let recorded = RecordedModels {
            personas: files,
            named,
            added: Vec::new(),
            grouping: request.grouping(settings.grouping),
            tiers: tiers.map(|tier| models.of(tier).about().clone()),
            thinking,
            prior: prior.clone(),
            memory: memory.clone(),
            second_looks: request.effort.allows(settings.second_looks),
            largest_part: None,
            lookups: lookups.then(BTreeMap::new),
        };
        let context = PersonaContext::new(model_session.client.clone(), models, nonce, time);
        let context = context.offer_lookups(lookups);
        Ok(Some(Panel {
            context: Arc::new(context.thinking(thinking).prior(prior).memory(memory)),
            personas,
            at_a_time: settings.models.at_a_time(),
            recorded,
            memory_warning: warning,
            refused: model_session.refused.iter().cloned().chain(unknown).collect(),
            model_session: Some(model_session),
        }))
    }

    /// Sets up the personas of a recorded review, with answers from the recording.
    pub(crate) fn recorded(recorded: RecordedModels, folder: &Path) -> anyhow::Result<Panel> {
        Ok(Panel {
            context: Arc::new(recorded.persona_context(folder)?),
            personas: Personas::with_repository_personas(recorded.personas.clone())?,
            at_a_time: 1,
            recorded,
            memory_warning: None,
            refused: Vec::new(),
            model_session: None,
        })
    }

    /// Returns the model session of the run, for its next review.
    pub fn model_session(&self) -> Option<ModelSession> {
        self.model_session.clone()
    }

    /// Returns the memories of earlier runs that personas are given.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.recorded.memory.as_ref()
    }

    /// Returns the failure that made the memories of earlier runs incomplete.
    pub(crate) fn memory_warning(&self) -> Option<&str> {
        self.memory_warning.as_deref()
    }

    /// Returns the reviewers: the personas that were named, or else all, whose triggers decide.
    pub(crate) fn reviewers(&self) -> Vec<Box<dyn Reviewer>> {
        let all = self.recorded.reviewers(&self.personas, &self.context).into_iter();
        all.map(|reviewer| Box::new(reviewer) as Box<dyn Reviewer>).collect()
    }

    /// Returns the order in which the personas are asked: all at once, unless the budget may be too
    /// small for all.
    pub(crate) fn order(&self, change: &Change, reviewers: &[Box<dyn Reviewer>]) -> StartOrder {
        let reads = |by: &&dyn Reviewer| matches!(by.interest(change), ReadDecision::Reads(_));
        let readers = reviewers.iter().map(|by| &**by).filter(reads);
        let estimates: Vec<Estimate> = readers.filter_map(|by| by.estimate(change)).collect();
        match self.context.has_room_for(&estimates) {
            true => StartOrder::AllAtOnce,
            false => StartOrder::RequiredFirst,
        }
    }

    /// Asks for a second look at the findings of a review, if that is configured.
    pub(crate) fn take_second_looks(
        &self,
        change: &Arc<Change>,
        synthesis: &Synthesis,
        review: &mut Review,
        shutdown: &Shutdown,
    ) {
        let validator = self.personas.get(VALIDATOR).filter(|_| self.recorded.second_looks);
        let Some(validator) = validator.cloned() else { return };
        let (findings, at_a_time) = (synthesis.findings.clone(), self.at_a_time);
        let (change, context) = (Arc::clone(change), Arc::clone(&self.context));
        // The id does not keep the span of the review open if the looks are interrupted.
        let review_span = tracing::Span::current().id();
        let looks = shutdown.run_until_requested(move || {
            let span = tracing::info_span!(parent: review_span, "second looks");
            span.in_scope(|| second_looks(&change, &findings, &validator, &context, at_a_time))
        });
        match looks {
            Some(looks) => {
                review.opinions = looks.opinions;
                review.exchanges.extend(looks.exchanges);
            }
            None => {
                review.reports.push(interrupted_report(VALIDATOR));
                review.interrupted.push(VALIDATOR.to_owned());
            }
        }
    }

    /// Counts calls in progress as spent: the review was interrupted, and does not wait for them.
    pub(crate) fn abandon(&self) {
        if let Some(model_session) = &self.model_session {
            model_session.client.budget().abandon();
        }
    }

    /// Returns the expenses so far.
    pub(crate) fn spent(&self) -> ReviewUsage {
        self.context.spent()
    }

    /// Returns the data by which the review can be replayed.
    pub(crate) fn record(&self) -> RecordedModels {
        RecordedModels { lookups: self.context.lookup_results(), ..self.recorded.clone() }
    }

    /// Returns the folder with the answers of this run; `None` for a recorded review.
    pub(crate) fn replies(&self) -> Option<PathBuf> {
        self.model_session
            .as_ref()
            .map(|model_session| model_session.replies.path().join(REPLIES_DIR))
    }

    /// Returns the files outside of the change that were read for the review.
    pub(crate) fn other_files(&self, change: &Change) -> BTreeSet<assay_findings::path::RepoPath> {
        self.context.other_files(change)
    }
}

/// Validates the names of personas, and returns each once. Fails if a persona is unknown.
pub(crate) fn resolve_personas(
    names: &[String],
    personas: &Personas,
) -> anyhow::Result<Vec<String>> {
    let is_known = |name: &String| personas.get(name).is_some() && name != VALIDATOR;
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let mut known: Vec<&str> =
            personas.on_roster().iter().map(|persona| persona.name.as_str()).collect();
        known.sort_unstable();
        bail!("unknown persona `{unknown}`; known personas: {}", known.join(", "));
    }
    let mut once: Vec<String> = Vec::new();
    for name in names {
        if !once.contains(name) {
            once.push(name.clone());
        }
    }
    Ok(once)
}

/// Fails if another reviewer has the name of a persona.
pub(crate) fn check_distinct_names(
    personas: &Personas,
    commands: &[CommandReviewer],
) -> anyhow::Result<()> {
    let others = commands.iter().map(|command| command.name.as_str());
    let taken = others.chain([assay_rules::REVIEWER]).find(|name| personas.get(name).is_some());
    match taken {
        Some(name) => bail!("duplicate reviewer `{name}`: a persona has the same name"),
        None => Ok(()),
    }
}
