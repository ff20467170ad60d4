//! The reviewers that `assay eval` measures: [`EvalReviewer`], [`review_set`].

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use assay_base::clock::Stopwatch;
use assay_change::{Scope, Selection};
use assay_eval::score::Effort;
use assay_eval::set::Case;
use assay_findings::gate::ReviewMode;

use super::case_output::{CaseOutput, ReplayedAnswers};
use super::case_repository::CaseRepository;
use super::plain_question::PlainQuestion;
use super::questions::replay;
use super::transcripts::Transcripts;
use crate::config::models::SpendingCaps;
use crate::config::{Settings, review_files_on_disk};
use crate::dates::today;
use crate::environment::Environment;
use crate::models::{CachePolicy, ModelOptions, ModelSession, ReviewOptions};
use crate::review_session::ReviewSession;

/// The folder of a set that holds recordings. It has a folder for each reviewer, with a recording
/// or an output for each case.
pub(crate) const RECORDINGS: &str = "recordings";

/// A way to review the cases of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvalReviewer {
    /// Rules and analysers; no model is asked.
    Rules,
    /// The whole review, with one model or with the configured models.
    Models(Option<String>),
    /// A single plain question about the diff.
    Question(Option<String>),
    /// The recordings of the set, of one reviewer or of all.
    Recorded(Option<String>),
    /// A recording in any folder.
    Replayed(PathBuf),
}

impl FromStr for EvalReviewer {
    type Err = String;

    fn from_str(text: &str) -> Result<EvalReviewer, String> {
        let (kind, name) = match text.split_once('=') {
            Some((kind, name)) => (kind, Some(name.to_owned()).filter(|name| !name.is_empty())),
            None => (text, None),
        };
        match (kind, &name) {
            ("rules", None) => Ok(EvalReviewer::Rules),
            ("models", _) => Ok(EvalReviewer::Models(name)),
            ("question", _) => Ok(EvalReviewer::Question(name)),
            ("recorded", _) => Ok(EvalReviewer::Recorded(name)),
            _ => Err(format!(
                "unknown reviewer `{text}`: expected `rules`, `models`, `models=MODEL`, \
                 `question`, `question=MODEL`, `recorded` or `recorded=NAME`"
            )),
        }
    }
}

impl fmt::Display for EvalReviewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self {
            EvalReviewer::Rules => ("rules", &None),
            EvalReviewer::Models(name) => ("models", name),
            EvalReviewer::Question(name) => ("question", name),
            EvalReviewer::Recorded(name) => ("recorded", name),
            EvalReviewer::Replayed(folder) => {
                let name = folder.file_name().unwrap_or(folder.as_os_str());
                return write!(f, "replayed={}", name.to_string_lossy());
            }
        };
        match name {
            Some(name) => write!(f, "{kind}={name}"),
            None => f.write_str(kind),
        }
    }
}

/// Returns the reviewers to measure: the requested ones, each recording separately, and a plain
/// question for each model.
pub fn with_baselines(requested: &[EvalReviewer], set: &Path) -> anyhow::Result<Vec<EvalReviewer>> {
    let recorded = recorded_names(set)?;
    let mut all: Vec<EvalReviewer> = Vec::new();
    for reviewer in requested {
        let meant = match reviewer {
            EvalReviewer::Rules | EvalReviewer::Question(_) | EvalReviewer::Replayed(_) => {
                vec![reviewer.clone()]
            }
            EvalReviewer::Models(name) => {
                vec![reviewer.clone(), EvalReviewer::Question(name.clone())]
            }
            EvalReviewer::Recorded(None) if recorded.is_empty() => {
                bail!("the set has no folder `{RECORDINGS}/` with recordings")
            }
            EvalReviewer::Recorded(None) => {
                recorded.iter().map(|name| EvalReviewer::Recorded(Some(name.clone()))).collect()
            }
            EvalReviewer::Recorded(Some(name)) if recorded.contains(name) => {
                let baseline = recorded.iter().find(|name| *name == "question").cloned();
                let baseline = baseline.map(|name| EvalReviewer::Recorded(Some(name)));
                [reviewer.clone()].into_iter().chain(baseline).collect()
            }
            EvalReviewer::Recorded(Some(name)) => {
                bail!("the set has no recordings `{name}`; it has {}", recorded.join(", "))
            }
        };
        for reviewer in meant {
            if !all.contains(&reviewer) {
                all.push(reviewer);
            }
        }
    }
    Ok(all)
}

/// Returns the names of the reviewers with recordings in a set.
pub fn recorded_names(set: &Path) -> anyhow::Result<Vec<String>> {
    let folder = set.join(RECORDINGS);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in
        fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))?
    {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A set, and the settings of the user for reviews of its cases.
pub struct EvalRun<'a> {
    /// The environment in which cases are reviewed.
    pub environment: &'a Environment,
    /// The folder of the set.
    pub set: &'a Path,
    /// The cases of the set.
    pub cases: &'a [Case],
    /// The folder whose configuration, rules and personas apply.
    pub root: &'a Path,
    /// The spending limits for all cases of a reviewer together.
    pub caps: SpendingCaps,
    /// The folder for recordings of reviews with models; `None` if they are not recorded.
    pub record: Option<PathBuf>,
}

/// The expenses of a reviewer so far.
#[derive(Default, Clone, Copy)]
struct Expenses {
    usd: f64,
    tokens: u64,
    seconds: f64,
}

/// Runs a reviewer on all cases of a set, and returns the outputs by the ids of the cases.
pub fn review_set(
    run: &EvalRun<'_>,
    reviewer: &EvalReviewer,
) -> anyhow::Result<BTreeMap<String, CaseOutput>> {
    let settings = review_files_on_disk(run.root)?;
    let transcripts = match reviewer.recording(run.set) {
        Some(folder) => Transcripts::read(&folder)?.unwrap_or_default(),
        None => Transcripts::default(),
    };
    let expenses = Mutex::new(Expenses::default());
    let review = |case: &Case| {
        let started = Stopwatch::start();
        let so_far = *expenses.lock().unwrap_or_else(|broken| broken.into_inner());
        let reviewed = review_case(run, reviewer, case, (&settings, &transcripts), so_far);
        let seconds = started.elapsed().as_secs_f64();
        let mut output = reviewed.unwrap_or_else(|error| CaseOutput {
            result: Err(assay_rules::redact(&format!("{error:#}")).into_owned()),
            stored: None,
            replayed: ReplayedAnswers::default(),
        });
        if let Ok(result) = &mut output.result {
            result.effort.seconds = seconds;
            let mut expenses = expenses.lock().unwrap_or_else(|broken| broken.into_inner());
            expenses.usd += result.effort.dollars;
            expenses.tokens += result.effort.tokens;
            expenses.seconds += seconds;
        }
        (case.id.clone(), output)
    };
    // A reviewer that asks a model must know the expenses of the earlier cases.
    let threads = match reviewer {
        EvalReviewer::Rules | EvalReviewer::Recorded(_) | EvalReviewer::Replayed(_) => {
            std::thread::available_parallelism().map_or(1, usize::from)
        }
        EvalReviewer::Models(_) | EvalReviewer::Question(_) => 1,
    };
    let next = AtomicUsize::new(0);
    let outputs = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = run.cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (id, output) = review(case);
                    let mut outputs = outputs.lock().unwrap_or_else(|broken| broken.into_inner());
                    outputs.insert(id, output);
                }
            });
        }
    });
    Ok(outputs.into_inner().unwrap_or_else(|broken| broken.into_inner()))
}

fn review_case(
    run: &EvalRun<'_>,
    reviewer: &EvalReviewer,
    case: &Case,
    (settings, transcripts): (&[(String, String)], &Transcripts),
    expenses: Expenses,
) -> anyhow::Result<CaseOutput> {
    let lay_out = || CaseRepository::new(run.environment, run.set, case, settings);
    match reviewer {
        EvalReviewer::Rules => {
            let repository = lay_out()?;
            session_output(&open(&repository, &ModelOptions::without_models(), None)?)
        }
        EvalReviewer::Models(model) => {
            let (request, model_session) = run.model_session(model.as_deref(), expenses)?;
            let repository = lay_out()?;
            let prepared = open(&repository, &request, Some(model_session))?;
            let reviewed = prepared.review_without_progress(ReviewMode::ReportOnly);
            if let Some(folder) = &run.record {
                reviewed.record(&prepared, &folder.join(&case.id))?;
            }
            Ok(CaseOutput::from_synthesis(&reviewed.synthesis))
        }
        EvalReviewer::Question(model) => {
            let (_, model_session) = run.model_session(model.as_deref(), expenses)?;
            let models = Settings::on_disk(run.environment, run.root)?.models;
            let question = PlainQuestion::open(&models, model.as_deref(), &model_session)?;
            let title = case.message.as_deref().unwrap_or(&case.title);
            let answer = question.ask(title, &lay_out()?.diff()?)?;
            let mut output = CaseOutput::from_text(answer.text, "txt");
            if let Ok(result) = &mut output.result {
                let (bytes, tokens, dollars) = (answer.bytes, answer.tokens, answer.dollars);
                result.effort = Effort { calls: 1, bytes, tokens, dollars, seconds: 0.0 };
            }
            Ok(output)
        }
        EvalReviewer::Recorded(_) | EvalReviewer::Replayed(_) => {
            if let Some(transcript) = transcripts.cases.get(&case.id) {
                let output = replay(case, &lay_out()?, transcript)?;
                return Ok(CaseOutput { replayed: ReplayedAnswers::of(transcript), ..output });
            }
            let folder = reviewer.recording(run.set).context("a recording has a name")?;
            recording_output(run.environment, &folder, &case.id)
        }
    }
}

impl EvalReviewer {
    /// Returns the folder of the recording to replay; `None` if the reviewer is not a recording.
    fn recording(&self, set: &Path) -> Option<PathBuf> {
        match self {
            EvalReviewer::Rules | EvalReviewer::Models(_) | EvalReviewer::Question(_) => None,
            EvalReviewer::Recorded(name) => Some(set.join(RECORDINGS).join(name.as_deref()?)),
            EvalReviewer::Replayed(folder) => Some(folder.clone()),
        }
    }
}

impl EvalRun<'_> {
    /// Opens the model session for one case, within the remaining limits.
    fn model_session(
        &self,
        model: Option<&str>,
        expenses: Expenses,
    ) -> anyhow::Result<(ModelOptions, ModelSession)> {
        let SpendingCaps { usd, tokens, seconds, .. } = self.caps;
        let left = SpendingCaps {
            usd: usd.map(|most| most - expenses.usd),
            tokens: tokens.map(|most| most.saturating_sub(expenses.tokens)),
            seconds: seconds.map(|most| most.saturating_sub(expenses.seconds as u64)),
            calls: None,
        };
        if left.usd.is_some_and(|usd| usd <= 0.0)
            || left.tokens == Some(0)
            || left.seconds == Some(0)
        {
            bail!("not reviewed: the limits of the run are reached");
        }
        let request = ModelOptions::with_model(model).with_default_caps(left);
        let models = Settings::on_disk(self.environment, self.root)?.models;
        let today = today(self.environment.clock()).map(String::from).unwrap_or_default();
        let model_session =
            ModelSession::new(&request, &models, self.root, CachePolicy::Off, &today)?;
        Ok((request, model_session))
    }
}

/// Opens the change of a case as `assay review` opens a commit.
fn open(
    repository: &CaseRepository,
    models: &ModelOptions,
    model_session: Option<ModelSession>,
) -> anyhow::Result<ReviewSession> {
    let scope = Scope::Commits("HEAD".to_owned());
    let options =
        ReviewOptions { models, cache_policy: CachePolicy::Off, model_session, also: None };
    ReviewSession::open(
        repository.environment(),
        repository.path(),
        &scope,
        &Selection::default(),
        options,
    )
}

fn session_output(prepared: &ReviewSession) -> anyhow::Result<CaseOutput> {
    Ok(CaseOutput::from_synthesis(
        &prepared.review_without_progress(ReviewMode::ReportOnly).synthesis,
    ))
}

/// Replays the recording of a case, or reads the output that is stored instead.
fn recording_output(
    environment: &Environment,
    folder: &Path,
    id: &str,
) -> anyhow::Result<CaseOutput> {
    let recording = folder.join(id);
    if recording.is_dir() {
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        return session_output(&ReviewSession::recorded(environment, &recording, root)?);
    }
    let Some(path) = find_output(folder, id)? else { bail!("there is no recording") };
    let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let (text, _) = assay_findings::read::decode(&bytes);
    Ok(CaseOutput::from_text(text.to_string(), "txt"))
}

/// Returns the only file of a folder whose name is the id of a case with any extension; `None` if
/// there is none.
pub fn find_output(folder: &Path, id: &str) -> anyhow::Result<Option<PathBuf>> {
    let (below, stem) = id.rsplit_once('/').unwrap_or(("", id));
    let Ok(entries) = fs::read_dir(folder.join(below)) else { return Ok(None) };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.file_stem().is_some_and(|name| name == stem))
        .collect();
    found.sort();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        [one, other, ..] => {
            bail!("two outputs for the case `{id}`: `{}` and `{}`", one.display(), other.display())
        }
    }
}
