//! The `qa` section of the configuration: `QaConfig` has the settings of the validation loop.

use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroU64};
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
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::fixer::{ChosenFixer, FixerConfig, loop_fixer};
use super::models::SpendingCaps;
use super::value_schemas;
use crate::environment::Environment;

/// The default time limit of a fixer, in seconds.
const DEFAULT_FIXER_SECONDS: u64 = 1800;

/// The default time limit of a check, in seconds.
const DEFAULT_CHECK_SECONDS: NonZeroU64 = NonZeroU64::new(1200).expect("1200 is not zero");

/// The upper bound of the configured time that a page may go on loading, in milliseconds.
const MAX_SETTLE_LIMIT_MS: u64 = 300_000;
const MAX_SETTLE_LIMIT: Duration = Duration::from_millis(MAX_SETTLE_LIMIT_MS);

/// The default debugging port of the app under test.
const DEFAULT_DEBUG_PORT: u16 = 9222;

/// The `qa` section as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QaConfig {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    /// The maximum number of rounds. `MAX_QA_ITERATIONS` has precedence.
    max_iterations: NonZeroU32,
    /// The number of rounds with the same issue after which a person decides.
    /// `RECURRING_ISSUE_THRESHOLD` has precedence.
    #[schemars(range(min = 2))]
    recurring_issue_threshold: usize,
    /// The similarity from which two issues are the same. `ISSUE_SIMILARITY_THRESHOLD` has
    /// precedence.
    #[schemars(range(min = 0.5, max = 1))]
    issue_similarity_threshold: f64,
    /// The number of consecutive failed rounds after which the loop ends. `MAX_CONSECUTIVE_ERRORS`
    /// has precedence.
    max_consecutive_errors: NonZeroU32,
    /// The number of failed rounds in all after which the loop ends.
    max_errors: NonZeroU32,
    /// The number of consecutive rounds without progress after which the loop ends.
    max_rounds_without_progress: NonZeroU32,
    /// The spending limits of a loop.
    ///
    /// Default: `models.budget.run`.
    pub budget: SpendingCaps,
    /// The timeout of each check, in seconds.
    check_seconds: NonZeroU64,
    /// The address of the app's pages while the app runs, for flows and pages.
    app_url: Option<String>,
    /// Milliseconds for which a page is observed after its last request; at most
    /// `page_settle_limit_ms`.
    ///
    /// Default: 1000.
    #[schemars(range(max = MAX_SETTLE_LIMIT_MS))]
    page_settle_ms: Option<u64>,
    /// Milliseconds after which a page that is still loading is used as it is.
    ///
    /// Default: 10000, or `page_settle_ms` if that is more.
    #[schemars(range(max = MAX_SETTLE_LIMIT_MS))]
    page_settle_limit_ms: Option<u64>,
    /// The store of memories of earlier runs.
    memory: MemoryConfig,
    /// False if JIRA and Linear are not updated.
    ///
    /// Default: `true` where JIRA or Linear is configured.
    pub tracking: Option<bool>,
    /// The fixer after the safe fixes: `model`, `safe` for none, or a command.
    ///
    /// Default: a model, if one is configured.
    #[schemars(schema_with = "loop_fixer")]
    fixer: Option<FixerConfig>,
    /// Test frameworks that assay does not know.
    frameworks: Vec<FrameworkConfig>,
    /// Categories of findings that are types of issues as well.
    pub issue_types: Vec<String>,
}

impl Default for QaConfig {
    fn default() -> QaConfig {
        let limits = Limits::default();
        let not_zero = |limit| NonZeroU32::new(limit).expect("a default limit is not zero");
        QaConfig {
            environment: Environment::default(),
            max_iterations: not_zero(limits.rounds),
            recurring_issue_threshold: limits.recurring,
            issue_similarity_threshold: limits.similarity,
            max_consecutive_errors: not_zero(limits.errors_in_a_row),
            max_errors: not_zero(limits.errors),
            max_rounds_without_progress: not_zero(limits.stalled),
            budget: SpendingCaps::default(),
            check_seconds: DEFAULT_CHECK_SECONDS,
            app_url: None,
            page_settle_ms: None,
            page_settle_limit_ms: None,
            memory: MemoryConfig::default(),
            tracking: None,
            fixer: None,
            frameworks: Vec::new(),
            issue_types: Vec::new(),
        }
    }
}

/// The store of memories of earlier runs, other than the ledger.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct MemoryConfig {
    /// The address of a Graphiti server, used if `GRAPHITI_ENABLED` is true. `GRAPHITI_MCP_URL` has
    /// precedence.
    ///
    /// Default: memories are in the ledger.
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
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FrameworkConfig {
    /// The name of the test framework.
    name: String,
    /// The command line.
    #[schemars(length(min = 1))]
    run: String,
    /// The format of the results.
    #[schemars(schema_with = "result_formats")]
    results: String,
    /// The glob of the result files.
    ///
    /// Default: the results are on stdout.
    files: Option<String>,
    /// The folder in which the command runs.
    ///
    /// Default: the root of the repository.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    folder: String,
    /// The kind of tests.
    #[serde(default = "all_tests")]
    kind: TestKind,
}

fn result_formats(_: &mut SchemaGenerator) -> Schema {
    // `vitest` is another name for `jest`.
    value_schemas::words(ResultFormat::ALL.map(ResultFormat::name).into_iter().chain(["vitest"]))
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
        let variable = &|name: &str| self.environment.variable(name);
        let limits = Limits {
            rounds: read_limit(variable, "MAX_QA_ITERATIONS", self.max_iterations)?.get(),
            recurring: read_limit(
                variable, "RECURRING_ISSUE_THRESHOLD", self.recurring_issue_threshold,
            )?,
            similarity: read_limit(
                variable,
                "ISSUE_SIMILARITY_THRESHOLD",
                self.issue_similarity_threshold,
            )?,
            errors_in_a_row: read_limit(
                variable, "MAX_CONSECUTIVE_ERRORS", self.max_consecutive_errors,
            )?
            .get(),
            errors: self.max_errors.get(),
            stalled: self.max_rounds_without_progress.get(),
        };
        if limits.recurring < 2 {
            bail!(
                "the limits under `qa` in the configuration must be at least 1, and \
                 `recurring_issue_threshold` at least 2"
            );
        }
        if !(0.5..=1.0).contains(&limits.similarity) {
            bail!(
                "invalid `qa.issue_similarity_threshold` in the configuration, {}: expected 0.5 to 1",
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
        let base = base.context("invalid `qa.app_url` in the configuration")?;
        let is_on = variable("ELECTRON_MCP_ENABLED").is_some_and(|it| is_true(&it));
        let port = read_limit(variable, "ELECTRON_DEBUG_PORT", DEFAULT_DEBUG_PORT)?;
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
                "`qa.page_settle_ms` in the configuration is {}, and `qa.page_settle_limit_ms` is {}; the \
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
        let configured = configured.context("invalid `qa.memory.url` in the configuration")?;
        if !self.environment.variable("GRAPHITI_ENABLED").is_some_and(|it| is_true(&it)) {
            return Ok(MemorySource::Off);
        }
        let said = self.environment.variable("GRAPHITI_MCP_URL").map(|url| url.parse()).transpose();
        let said = said.context("invalid `GRAPHITI_MCP_URL`")?;
        Ok(said.or(configured).map_or(MemorySource::Ledger, MemorySource::Graphiti))
    }

    /// Returns the time limit of a check.
    pub(crate) fn check_timeout(&self) -> Duration {
        Duration::from_secs(self.check_seconds.get())
    }

    /// Returns the configured fixer.
    pub(crate) fn fixer(&self) -> anyhow::Result<LoopFixerChoice> {
        Ok(match &self.fixer {
            None => LoopFixerChoice::Default,
            Some(FixerConfig::Name(name)) if name == "safe" => LoopFixerChoice::SafeOnly,
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
            anyhow!("`qa.frameworks` in the configuration: cannot run `{name}`: {error}")
        })?;
        let form = ResultFormat::parse_name(&self.results).with_context(|| {
            let known = ResultFormat::ALL.map(ResultFormat::name).join(", ");
            format!(
                "`qa.frameworks` in the configuration: `{name}` has results in the unknown format `{}`; \
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

/// Returns a limit: from the variable `name`, or else as configured.
fn read_limit<T: FromStr>(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &str,
    configured: T,
) -> anyhow::Result<T>
where
    T::Err: Display,
{
    let Some(text) = variable(name).filter(|text| !text.trim().is_empty()) else {
        return Ok(configured);
    };
    text.trim().parse().map_err(|error| anyhow!("invalid value `{text}` for `{name}`: {error}"))
}
