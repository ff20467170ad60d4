//! What is configured for the validation loop: `qa` in the configuration.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_checks::command::CommandLine;
use assay_checks::discovery::{Framework, Reading, TestKind};
use assay_checks::results::Form;
use assay_services::browser::{Endpoint, Timeouts};
use assay_services::http::ServerUrl;
use assay_validate::ending::Limits;
use assay_validate::tryout::App;
use serde::Deserialize;

use super::PATH;
use super::fixer::{ChosenFixer, StoredFixer};
use super::models::StoredCaps;
use crate::environment::Environment;

/// How long a fixer may take unless told otherwise, in seconds.
const FIXER_SECONDS: u64 = 1800;

/// How long a check may take unless told otherwise, in seconds.
const CHECK_SECONDS: u64 = 1200;

/// The longest that a page may be configured to go on loading.
const MAX_SETTLE_LIMIT: Duration = Duration::from_secs(300);

/// Where an app listens for whoever tries it out, unless told otherwise.
const DEBUG_PORT: u16 = 9222;

/// What is configured for the loop, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoredQa {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    max_iterations: Option<u32>,
    recurring_issue_threshold: Option<usize>,
    issue_similarity_threshold: Option<f64>,
    max_consecutive_errors: Option<u32>,
    max_errors: Option<u32>,
    max_rounds_without_progress: Option<u32>,
    /// What a loop may spend.
    pub budget: StoredCaps,
    check_seconds: Option<u64>,
    /// Where the app's pages are while it runs.
    app_url: Option<String>,
    /// How long a page is observed for after its last request, in milliseconds.
    page_settle_ms: Option<u64>,
    /// How long a page may go on loading until it is taken as it is, in milliseconds.
    page_settle_limit_ms: Option<u64>,
    memory: StoredMemory,
    /// Whether JIRA and Linear are told how a loop goes on, where they are configured.
    pub tracking: Option<bool>,
    fixer: Option<StoredFixer>,
    frameworks: Vec<StoredFramework>,
    /// Kinds of issues besides those that are known.
    pub issue_types: Vec<String>,
}

/// Where what earlier runs learned is kept, besides the ledger.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StoredMemory {
    /// A Graphiti server.
    url: Option<String>,
}

/// From where reviewers are told what earlier runs learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MemorySource {
    /// They are not told.
    Off,
    /// From the ledger.
    Ledger,
    /// From a Graphiti server, which is also told what a loop learned.
    Graphiti(ServerUrl),
}

/// A way to run tests that is not known otherwise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFramework {
    name: String,
    run: String,
    results: String,
    /// The files that the results are in; else they are printed.
    files: Option<String>,
    #[serde(default)]
    folder: String,
    #[serde(default = "all")]
    kind: TestKind,
}

fn all() -> TestKind {
    TestKind::All
}

/// Who fixes what the loop finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoopFixer {
    /// A model where one is configured, after the safe fixes.
    Usual,
    /// Nobody, but for the safe fixes.
    SafeOnly,
    /// Somebody in particular, after the safe fixes.
    Chosen(ChosenFixer),
}

impl StoredQa {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Says what cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.fixer()?;
        self.frameworks()?;
        self.app(&|name| self.environment.variable(name))?;
        self.memory()?;
        self.limits().map(|_| ())
    }

    /// Gives after how much of what a loop ends: as the environment says, or else as configured.
    pub(crate) fn limits(&self) -> anyhow::Result<Limits> {
        let usual = Limits::default();
        let variable = &|name: &str| self.environment.variable(name);
        let limits = Limits {
            rounds: said(variable, "MAX_QA_ITERATIONS", self.max_iterations, usual.rounds)?,
            recurring: said(
                variable, "RECURRING_ISSUE_THRESHOLD", self.recurring_issue_threshold,
                usual.recurring,
            )?,
            similarity: said(
                variable,
                "ISSUE_SIMILARITY_THRESHOLD",
                self.issue_similarity_threshold,
                usual.similarity,
            )?,
            errors_in_a_row: said(
                variable, "MAX_CONSECUTIVE_ERRORS", self.max_consecutive_errors,
                usual.errors_in_a_row,
            )?,
            errors: self.max_errors.unwrap_or(usual.errors),
            stalled: self.max_rounds_without_progress.unwrap_or(usual.stalled),
        };
        let least = [limits.rounds, limits.errors_in_a_row, limits.errors, limits.stalled]
            .into_iter()
            .min();
        if least == Some(0) || limits.recurring < 2 {
            bail!(
                "the limits under `qa` in `{PATH}` are 1 at the least, and \
                 `recurring_issue_threshold` is 2"
            );
        }
        if !(0.5..=1.0).contains(&limits.similarity) {
            bail!(
                "`qa.issue_similarity_threshold` in `{PATH}` is {}; it is from 0.5 to 1",
                limits.similarity
            );
        }
        Ok(limits)
    }

    /// Returns the app that is tried out, where the variables say that one is running.
    pub(crate) fn app(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<App>> {
        let base = self.app_url.as_deref().map(str::parse).transpose();
        let base = base.with_context(|| format!("`qa.app_url` in `{PATH}` cannot be used"))?;
        let is_on = variable("ELECTRON_MCP_ENABLED").is_some_and(|it| is_true(&it));
        let port = said(variable, "ELECTRON_DEBUG_PORT", None, DEBUG_PORT)?;
        let timeouts = self.page_timeouts()?;
        Ok(is_on.then(|| App { endpoint: Endpoint::local(port), base, timeouts }))
    }

    /// Returns the times that pages of the app are given.
    fn page_timeouts(&self) -> anyhow::Result<Timeouts> {
        let or = |configured: Option<u64>, usual| configured.map_or(usual, Duration::from_millis);
        let settle = or(self.page_settle_ms, Timeouts::DEFAULT_SETTLE);
        let settle_limit =
            or(self.page_settle_limit_ms, Timeouts::DEFAULT_SETTLE_LIMIT.max(settle));
        if settle > settle_limit || settle_limit > MAX_SETTLE_LIMIT {
            bail!(
                "`qa.page_settle_ms` in `{PATH}` is {}, and `qa.page_settle_limit_ms` is {}; the \
                 limit has to be at least the settle time, and {} at the most",
                settle.as_millis(),
                settle_limit.as_millis(),
                MAX_SETTLE_LIMIT.as_millis()
            );
        }
        Ok(Timeouts { settle, settle_limit, ..Timeouts::default() })
    }

    /// Gives from where reviewers are told what earlier runs learned, where the environment says
    /// that they are.
    pub(crate) fn memory(&self) -> anyhow::Result<MemorySource> {
        let configured = self.memory.url.as_deref().map(str::parse).transpose();
        let configured =
            configured.with_context(|| format!("`qa.memory.url` in `{PATH}` cannot be used"))?;
        if !self.environment.variable("GRAPHITI_ENABLED").is_some_and(|it| is_true(&it)) {
            return Ok(MemorySource::Off);
        }
        let said = self.environment.variable("GRAPHITI_MCP_URL").map(|url| url.parse()).transpose();
        let said = said.context("`GRAPHITI_MCP_URL` cannot be used")?;
        Ok(said.or(configured).map_or(MemorySource::Ledger, MemorySource::Graphiti))
    }

    /// Gives how long a check may take.
    pub(crate) fn check_time(&self) -> Duration {
        Duration::from_secs(self.check_seconds.unwrap_or(CHECK_SECONDS))
    }

    /// Gives who fixes.
    pub(crate) fn fixer(&self) -> anyhow::Result<LoopFixer> {
        Ok(match &self.fixer {
            None => LoopFixer::Usual,
            Some(StoredFixer::Named(name)) if name == "safe" => LoopFixer::SafeOnly,
            Some(fixer) => LoopFixer::Chosen(fixer.chosen("qa.fixer", FIXER_SECONDS)?),
        })
    }

    /// Gives the ways to run tests that are not known otherwise.
    pub(crate) fn frameworks(&self) -> anyhow::Result<Vec<Framework>> {
        self.frameworks.iter().map(StoredFramework::framework).collect()
    }
}

impl StoredFramework {
    fn framework(&self) -> anyhow::Result<Framework> {
        let name = &self.name;
        let command = CommandLine::parse(&self.run).map_err(|error| {
            anyhow!("`qa.frameworks` in `{PATH}`: `{name}` cannot be run: {error}")
        })?;
        let form = Form::named(&self.results).with_context(|| {
            let known = Form::ALL.map(Form::name).join(", ");
            format!(
                "`qa.frameworks` in `{PATH}`: `{name}` has results in `{}`; known are: {known}",
                self.results
            )
        })?;
        let reading = match &self.files {
            Some(glob) => Reading::Files { form, glob: glob.clone() },
            None => Reading::Printed(form),
        };
        Ok(Framework {
            name: name.clone(),
            kind: self.kind,
            folder: self.folder.trim_matches('/').to_owned(),
            run: command.clone(),
            command,
            reading,
            coverage: None,
            is_set_up: true,
            has_tests: true,
            has_integration: self.kind != TestKind::Unit,
        })
    }
}

/// Reads a switch as people set it.
fn is_true(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "true" | "1" | "yes" | "on")
}

/// Returns a limit: of a variable, or else as configured, or else the usual one.
fn said<T: FromStr>(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &str,
    configured: Option<T>,
    usual: T,
) -> anyhow::Result<T>
where
    T::Err: Display,
{
    let Some(text) = variable(name).filter(|text| !text.trim().is_empty()) else {
        return Ok(configured.unwrap_or(usual));
    };
    text.trim()
        .parse()
        .map_err(|error| anyhow!("`{name}` is `{text}`, which cannot be used: {error}"))
}
