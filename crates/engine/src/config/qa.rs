//! The `qa` section of the configuration: `QaConfig` has the settings of the validation loop.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_checks::command::CommandLine;
use assay_checks::discovery::{Framework, ResultSource, TestKind};
use assay_checks::results::ResultFormat;
use assay_services::browser::{Endpoint, Timeouts};
use assay_services::http::ServerUrl;
use assay_validate::e2e::App;
use assay_validate::ending::Limits;
use serde::Deserialize;

use super::PATH;
use super::fixer::{ChosenFixer, FixerConfig};
use super::models::SpendingCaps;
use crate::environment::Environment;

/// The default time limit of a fixer, in seconds.
const DEFAULT_FIXER_SECONDS: u64 = 1800;

/// The default time limit of a check, in seconds.
const DEFAULT_CHECK_SECONDS: u64 = 1200;

/// The upper bound of the configured time that a page may go on loading.
const MAX_SETTLE_LIMIT: Duration = Duration::from_secs(300);

/// The default debugging port of the app under test.
const DEFAULT_DEBUG_PORT: u16 = 9222;

/// The `qa` section as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QaConfig {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    max_iterations: Option<u32>,
    recurring_issue_threshold: Option<usize>,
    issue_similarity_threshold: Option<f64>,
    max_consecutive_errors: Option<u32>,
    max_errors: Option<u32>,
    max_rounds_without_progress: Option<u32>,
    /// The spending limits of a loop.
    pub budget: SpendingCaps,
    check_seconds: Option<u64>,
    /// The address of the app's pages while the app runs.
    app_url: Option<String>,
    /// Milliseconds for which a page is observed after its last request.
    page_settle_ms: Option<u64>,
    /// Milliseconds after which a page that is still loading is used as it is.
    page_settle_limit_ms: Option<u64>,
    memory: MemoryConfig,
    /// False if JIRA and Linear are not updated; `None` if they are updated where configured.
    pub tracking: Option<bool>,
    fixer: Option<FixerConfig>,
    frameworks: Vec<FrameworkConfig>,
    /// Additional kinds of issues.
    pub issue_types: Vec<String>,
}

/// The store of memories of earlier runs, other than the ledger.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MemoryConfig {
    /// The address of a Graphiti server.
    url: Option<String>,
}

/// The source from which reviewers get memories of earlier runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MemorySource {
    /// Reviewers get no memories.
    Off,
    /// The ledger of the repository.
    Ledger,
    /// A Graphiti server, which also stores the memories of a loop.
    Graphiti(ServerUrl),
}

/// A test framework that assay does not know.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameworkConfig {
    name: String,
    run: String,
    results: String,
    /// The glob of the result files; `None` if the results are on stdout.
    files: Option<String>,
    #[serde(default)]
    folder: String,
    #[serde(default = "all_tests")]
    kind: TestKind,
}

fn all_tests() -> TestKind {
    TestKind::All
}

/// The fixer of the validation loop. Safe fixes are applied before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoopFixerChoice {
    /// The default: a model, if one is configured.
    Default,
    /// Safe fixes only.
    SafeOnly,
    /// The fixer that the configuration names.
    Chosen(ChosenFixer),
}

impl QaConfig {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.fixer()?;
        self.frameworks()?;
        self.app(&|name| self.environment.variable(name))?;
        self.memory()?;
        self.limits().map(|_| ())
    }

    /// Returns the limits of a loop: from the environment, or else as configured.
    pub(crate) fn limits(&self) -> anyhow::Result<Limits> {
        let usual = Limits::default();
        let variable = &|name: &str| self.environment.variable(name);
        let limits = Limits {
            rounds: read_limit(variable, "MAX_QA_ITERATIONS", self.max_iterations, usual.rounds)?,
            recurring: read_limit(
                variable, "RECURRING_ISSUE_THRESHOLD", self.recurring_issue_threshold,
                usual.recurring,
            )?,
            similarity: read_limit(
                variable,
                "ISSUE_SIMILARITY_THRESHOLD",
                self.issue_similarity_threshold,
                usual.similarity,
            )?,
            errors_in_a_row: read_limit(
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
                "the limits under `qa` in `{PATH}` must be at least 1, and \
                 `recurring_issue_threshold` at least 2"
            );
        }
        if !(0.5..=1.0).contains(&limits.similarity) {
            bail!(
                "invalid `qa.issue_similarity_threshold` in `{PATH}`, {}: expected 0.5 to 1",
                limits.similarity
            );
        }
        Ok(limits)
    }

    /// Returns the app under test; `None` unless the variables say that one is running.
    pub(crate) fn app(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<App>> {
        let base = self.app_url.as_deref().map(str::parse).transpose();
        let base = base.with_context(|| format!("invalid `qa.app_url` in `{PATH}`"))?;
        let is_on = variable("ELECTRON_MCP_ENABLED").is_some_and(|it| is_true(&it));
        let port = read_limit(variable, "ELECTRON_DEBUG_PORT", None, DEFAULT_DEBUG_PORT)?;
        let timeouts = self.page_timeouts()?;
        Ok(is_on.then(|| App { endpoint: Endpoint::local(port), base, timeouts }))
    }

    /// Returns the timeouts for pages of the app.
    fn page_timeouts(&self) -> anyhow::Result<Timeouts> {
        let or = |configured: Option<u64>, usual| configured.map_or(usual, Duration::from_millis);
        let settle = or(self.page_settle_ms, Timeouts::DEFAULT_SETTLE);
        let settle_limit =
            or(self.page_settle_limit_ms, Timeouts::DEFAULT_SETTLE_LIMIT.max(settle));
        if settle > settle_limit || settle_limit > MAX_SETTLE_LIMIT {
            bail!(
                "`qa.page_settle_ms` in `{PATH}` is {}, and `qa.page_settle_limit_ms` is {}; the \
                 limit must be at least the settle time, and at most {}",
                settle.as_millis(),
                settle_limit.as_millis(),
                MAX_SETTLE_LIMIT.as_millis()
            );
        }
        Ok(Timeouts { settle, settle_limit, ..Timeouts::default() })
    }

    /// Returns the source of memories; `Off` unless `GRAPHITI_ENABLED` is set to true.
    pub(crate) fn memory(&self) -> anyhow::Result<MemorySource> {
        let configured = self.memory.url.as_deref().map(str::parse).transpose();
        let configured =
            configured.with_context(|| format!("invalid `qa.memory.url` in `{PATH}`"))?;
        if !self.environment.variable("GRAPHITI_ENABLED").is_some_and(|it| is_true(&it)) {
            return Ok(MemorySource::Off);
        }
        let said = self.environment.variable("GRAPHITI_MCP_URL").map(|url| url.parse()).transpose();
        let said = said.context("invalid `GRAPHITI_MCP_URL`")?;
        Ok(said.or(configured).map_or(MemorySource::Ledger, MemorySource::Graphiti))
    }

    /// Returns the time limit of a check.
    pub(crate) fn check_timeout(&self) -> Duration {
        Duration::from_secs(self.check_seconds.unwrap_or(DEFAULT_CHECK_SECONDS))
    }

    /// Returns the configured fixer.
    pub(crate) fn fixer(&self) -> anyhow::Result<LoopFixerChoice> {
        Ok(match &self.fixer {
            None => LoopFixerChoice::Default,
            Some(FixerConfig::Named(name)) if name == "safe" => LoopFixerChoice::SafeOnly,
            Some(fixer) => {
                LoopFixerChoice::Chosen(fixer.validate("qa.fixer", DEFAULT_FIXER_SECONDS)?)
            }
        })
    }

    /// Returns the configured test frameworks.
    pub(crate) fn frameworks(&self) -> anyhow::Result<Vec<Framework>> {
        self.frameworks.iter().map(FrameworkConfig::framework).collect()
    }
}

impl FrameworkConfig {
    fn framework(&self) -> anyhow::Result<Framework> {
        let name = &self.name;
        let command = CommandLine::parse(&self.run).map_err(|error| {
            anyhow!("`qa.frameworks` in `{PATH}`: cannot run `{name}`: {error}")
        })?;
        let form = ResultFormat::parse_name(&self.results).with_context(|| {
            let known = ResultFormat::ALL.map(ResultFormat::name).join(", ");
            format!(
                "`qa.frameworks` in `{PATH}`: `{name}` has results in the unknown format `{}`; \
                 known formats: {known}",
                self.results
            )
        })?;
        let reading = match &self.files {
            Some(glob) => ResultSource::Files { form, glob: glob.clone() },
            None => ResultSource::Printed(form),
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

/// Returns true if a text is `true`, `1`, `yes` or `on`, in any case.
fn is_true(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "true" | "1" | "yes" | "on")
}

/// Returns a limit: from the variable `name`, or else as configured, or else the default.
fn read_limit<T: FromStr>(
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
    text.trim().parse().map_err(|error| anyhow!("invalid value `{text}` for `{name}`: {error}"))
}
