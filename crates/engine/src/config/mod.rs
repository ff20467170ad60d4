//! Configuration: the file `config/agent-framework.yaml`, or another one of
//! [`configuration_file::PATHS`], of which every key is optional.
//!
//! A change does not configure its own review. If the change touches the configuration, the
//! repository's rules, personas or prompts, or the baseline, their version before the change is
//! used.
//!
//! Each section of the configuration is one file of this module. A section that reads variables
//! holds the environment in which it was read.

pub mod agents;
pub mod automatic_analysers;
pub mod configuration_file;
mod effective_files;
pub mod effective_values;
pub mod fixer;
pub mod gates;
pub mod github;
pub mod gitlab;
pub mod jira;
mod key;
pub mod linear;
mod located_value;
mod model;
pub mod models;
mod name_or_definition;
pub mod qa;
mod rule_settings;
pub mod schema;
pub mod service;
pub mod severity;
#[cfg(test)]
mod tests;
mod value_schemas;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_agents::config::framework::{QueueSettings, Safeguards, TaskSettings, Workflow};
use assay_base::nearest::{did_you_mean, nearest};
use assay_change::{Change, ExclusionRules};
use assay_findings::coverage::CoverageRequirement;
use assay_findings::grade::Grade;
use assay_findings::severity_schema::severity_schema;
use assay_findings::shown_limit::ShownLimit;
use assay_findings::template::TemplateSet;
use assay_findings::verdict::NoContentPolicy;
use assay_review::baseline::{self, Baseline};
use assay_review::command::format::AnalyserFormat;
use assay_review::command::{CommandReviewer, DEFAULT_TIMEOUT, known_analysers};
use assay_review::globs::Globs;
use assay_review::recording::Grouping;
use assay_review::templates;
use assay_rules::{RuleSelection, Rulebook};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use self::automatic_analysers::{AnalyserSelection, AutomaticAnalysers};
use self::configuration_file::{ConfigurationFile, ConfigurationLayers};
use self::effective_files::{
    PERSONA_FILES, RULE_FILES, TEMPLATE_FILES, read_effective, read_effective_files,
};
pub(crate) use self::effective_files::{
    is_rule_file, personas_on_disk, read_optional, rules_on_disk, templates_on_disk,
};
use self::gates::GateConfig;
use self::github::GithubConfig;
use self::gitlab::GitlabConfig;
use self::jira::JiraConfig;
use self::linear::LinearConfig;
use self::models::ModelsConfig;
use self::name_or_definition::NameOrDefinition;
use self::qa::QaConfig;
use self::rule_settings::{RulePathConfig, RuleSettings};
use self::severity::parse_severity;
use crate::environment::Environment;

/// The path of the configuration in a repository that `assay init` writes.
pub const PATH: &str = "config/agent-framework.yaml";

/// The folder of the rules that a repository defines.
pub(crate) const RULES_FOLDER: &str = ".assay/rules";

/// The folder of the personas that a repository defines.
pub(crate) const PERSONAS_FOLDER: &str = ".assay/personas";

/// The folder of the templates of a repository.
pub(crate) const TEMPLATES_FOLDER: &str = ".assay/templates";

/// The folder of a repository's prompts for the reviewer and the fixer of the validation loop.
pub(crate) const PROMPTS_FOLDER: &str = ".assay/prompts";

/// The configuration of assay. Every key is optional.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Reviews of changes.
    review: ReviewConfig,
    /// The part of a change that must be read.
    coverage: CoverageConfig,
    /// Models, their tiers and their limits.
    models: ModelsConfig,
    /// Quality gates, `assay gate`.
    pub gates: GateConfig,
    /// The validation loop on a spec, `assay qa`.
    pub qa: QaConfig,
    /// Pull requests on GitHub.
    pub github: GithubConfig,
    /// Merge requests on GitLab.
    pub gitlab: GitlabConfig,
    /// Tickets in JIRA.
    pub jira: JiraConfig,
    /// Issues in Linear, which the validation loop updates.
    pub linear: LinearConfig,
    /// The limits of tasks.
    pub task: TaskSettings,
    /// The limits of queues and agents.
    pub safeguards: Safeguards,
    /// The location of the queue.
    pub queue: QueueSettings,
    /// The workflow of agents: the follow-up of a review.
    pub workflow: Workflow,
    /// The ledger of findings.
    pub(crate) ledger: LedgerConfig,
}

/// The `ledger` section as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LedgerConfig {
    /// The age in days from which `assay ledger prune` removes findings that are gone and runs,
    /// unless `--older-than` is given.
    ///
    /// Default: none; `--older-than` is required.
    pub(crate) retention_days: Option<NonZeroU32>,
    /// The teams by which `assay findings stats --by author-team` groups the authors of lines: for
    /// each team the email addresses of its members, as git names them. `*` stands for any text.
    ///
    /// Default: none; the owners in CODEOWNERS are the teams.
    pub(crate) teams: BTreeMap<String, Vec<String>>,
}

/// The `review` section as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ReviewConfig {
    /// Globs of files that no reviewer reads. Each review names the files.
    ignore: Vec<String>,
    /// The maximum size of a file, in KiB. Larger files are left out.
    max_file_kib: NonZeroU64,
    /// The maximum number of local reviewers (rules, analysers) that run concurrently.
    at_a_time: NonZeroUsize,
    /// The lowest severity that blocks: findings of this severity or worse block, and no others.
    ///
    /// Default: findings that must be fixed, and MAJOR and P1, block.
    #[schemars(schema_with = "severity_schema")]
    fail_on: Option<String>,
    /// The verdict on a change without reviewable content, such as a picture or a lock file: `pass`
    /// neither blocks nor approves the change, `incomplete` makes the review incomplete.
    nothing_to_review: NoContentPolicy,
    /// The maximum number of findings that are shown, blocking ones included; `all` is no limit.
    /// The others are folded. Blocking findings are shown even beyond the number.
    shown: ShownLimit,
    /// The settings of rules, by an id or a glob such as `secret/*`: `off`, or `severity`. An id has
    /// precedence over a glob, and a longer glob over a shorter one.
    rules: RuleSettings,
    /// The rules that are not applied in some files, by a glob of the files.
    rule_paths: BTreeMap<String, RulePathConfig>,
    /// Analysers that read changes as well: a well-known name, or a definition.
    #[schemars(schema_with = "analysers")]
    commands: Vec<NameOrDefinition<CustomAnalyser>>,
    /// The analysers that run besides those of `commands`. With `auto`, every well-known analyser
    /// runs that the repository configures and that is installed, unless it runs code of the
    /// repository.
    analysers: AnalyserSelection,
    /// True if personas read every change, as with `--models`.
    models: bool,
    /// True if a model takes a second look at findings before they are reported.
    second_looks: bool,
    /// True if each persona reads a change on its own, as with `--each-persona`, instead of a few
    /// readings for all concerns.
    each_persona: bool,
    /// True if models may look things up in the repository before they answer.
    lookups: bool,
}

/// The `coverage` section as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CoverageConfig {
    /// The way in which each hunk must be read: `none` is patterns on text; `structural` is rules
    /// that know the language, or another reviewer; `model` is a model. With less, the review is
    /// incomplete.
    require: CoverageRequirement,
}

/// The definition of an analyser.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependentRequired" = { "run": ["form"], "form": ["run"] }))]
struct CustomAnalyser {
    /// The name of the analyser, unique. A well-known name needs neither `run` nor `form`.
    name: String,
    /// The program and its arguments; `{files}` becomes the changed files.
    ///
    /// Default: that of a well-known name.
    #[serde(default)]
    #[schemars(schema_with = "value_schemas::command")]
    run: Option<Vec<String>>,
    /// The format of the output.
    ///
    /// Default: that of a well-known name.
    #[serde(default)]
    #[schemars(schema_with = "output_formats")]
    form: Option<String>,
    /// Globs of the files that the analyser reads.
    ///
    /// Default: all files, or those of a well-known name.
    files: Option<Vec<String>>,
    /// Further environment variables of the program.
    #[serde(default)]
    #[schemars(schema_with = "value_schemas::variables")]
    env: BTreeMap<String, String>,
    /// True if the review is incomplete without an answer of the analyser.
    #[serde(default)]
    required: bool,
    /// The timeout for all changed files together, in seconds.
    #[serde(default = "default_analyser_seconds")]
    seconds: NonZeroU64,
}

fn default_analyser_seconds() -> NonZeroU64 {
    NonZeroU64::new(DEFAULT_TIMEOUT.as_secs()).expect("the default timeout is not zero")
}

fn analysers(generator: &mut SchemaGenerator) -> Schema {
    let known = known_analysers::KNOWN_ANALYSERS.iter().map(|known| known.name);
    let definition = generator.subschema_for::<CustomAnalyser>();
    json_schema!({
        "type": "array",
        "items": { "anyOf": [value_schemas::words(known), definition] },
    })
}

fn output_formats(_: &mut SchemaGenerator) -> Schema {
    value_schemas::words(AnalyserFormat::ALL.map(AnalyserFormat::as_str))
}

impl Default for ReviewConfig {
    fn default() -> ReviewConfig {
        ReviewConfig {
            ignore: Vec::new(),
            max_file_kib: NonZeroU64::new(1024).expect("1024 is not zero"),
            at_a_time: NonZeroUsize::new(4).expect("4 is not zero"),
            fail_on: None,
            nothing_to_review: NoContentPolicy::default(),
            shown: ShownLimit::default(),
            rules: RuleSettings::default(),
            rule_paths: BTreeMap::new(),
            commands: Vec::new(),
            analysers: AnalyserSelection::default(),
            models: false,
            second_looks: true,
            each_persona: false,
            lookups: true,
        }
    }
}

impl Configuration {
    /// Reads the configuration of a work tree, over that of the user; `None` if there is no file.
    pub fn on_disk(
        environment: &Environment,
        root: &Path,
    ) -> anyhow::Result<Option<Configuration>> {
        let own = ConfigurationFile::on_disk(root)?;
        let layers = ConfigurationLayers::above_user(environment, root, own)?;
        match layers.files().next() {
            None => Ok(None),
            Some(_) => Configuration::of(environment, &layers).map(Some),
        }
    }

    /// Parses and checks the files of the configuration.
    fn of(
        environment: &Environment,
        layers: &ConfigurationLayers,
    ) -> anyhow::Result<Configuration> {
        let configuration = layers.parse(environment)?.in_environment(environment);
        configuration.check().map_err(|error| layers.explain(environment, error))?;
        Ok(configuration)
    }

    /// Fails if a value is invalid by a rule that its type does not express.
    fn check(&self) -> anyhow::Result<()> {
        self.exclusions()?;
        self.rule_selection()?;
        self.fail_on()?;
        self.commands()?;
        self.models.check()?;
        self.gates.check()?;
        self.qa.check()?;
        self.github.check()?;
        self.gitlab.check()?;
        self.jira.check()?;
        self.linear.check()
    }

    /// Reads the configuration in a work tree; without a file, every key has its default.
    pub(crate) fn on_disk_or_default(
        environment: &Environment,
        root: &Path,
    ) -> anyhow::Result<Configuration> {
        let configuration = Configuration::on_disk(environment, root)?;
        Ok(configuration.unwrap_or_else(|| Configuration::without_file(environment)))
    }

    /// Returns the configuration in which every key has its default.
    pub(crate) fn without_file(environment: &Environment) -> Configuration {
        Configuration::default().in_environment(environment)
    }

    fn in_environment(mut self, environment: &Environment) -> Configuration {
        self.models.in_environment(environment);
        self.qa.in_environment(environment);
        self.github.in_environment(environment);
        self.gitlab.in_environment(environment);
        self.jira.in_environment(environment);
        self.linear.in_environment(environment);
        self
    }

    /// Returns the services that are configured.
    pub fn services(&self) -> Services {
        Services {
            github: self.github.clone(),
            gitlab: self.gitlab.clone(),
            jira: self.jira.clone(),
        }
    }

    /// Returns the environment that the configuration was read in.
    pub fn environment(&self) -> &Environment {
        self.models.environment()
    }

    /// Returns the configured models.
    pub(crate) fn models(&self) -> &ModelsConfig {
        &self.models
    }

    fn exclusions(&self) -> anyhow::Result<ExclusionRules> {
        let max_bytes = self.review.max_file_kib.get().saturating_mul(1024);
        ExclusionRules::new(&self.review.ignore, max_bytes)
            .context("invalid `review.ignore` in the configuration")
    }

    /// Returns the rules that reviews apply. Whether the rules exist is not checked here.
    pub(crate) fn rule_selection(&self) -> anyhow::Result<RuleSelection> {
        let mut selection = RuleSelection::default();
        self.review.rules.add_to(&mut selection)?;
        for (files, paths) in &self.review.rule_paths {
            let place = "`review.rule_paths` in the configuration";
            selection.ignore_in(place, files, paths.ignore.iter().map(String::as_str))?;
        }
        Ok(selection)
    }

    fn fail_on(&self) -> anyhow::Result<Option<Grade>> {
        let Some(word) = self.review.fail_on.as_deref() else { return Ok(None) };
        let grade = parse_severity(word).map_err(|why| {
            anyhow!("invalid value of `review.fail_on` in the configuration: `{word}`: {why}")
        })?;
        Ok(Some(grade))
    }

    /// Returns the analysers that run besides the configured ones.
    pub(crate) fn analysers(&self) -> AnalyserSelection {
        self.review.analysers
    }

    /// Returns the configured analysers. Fails if two reviewers have the same name.
    pub(crate) fn commands(&self) -> anyhow::Result<Vec<CommandReviewer>> {
        let mut names = vec![assay_rules::REVIEWER.to_owned()];
        let mut commands = Vec::new();
        for stored in &self.review.commands {
            let command = match stored {
                NameOrDefinition::Name(name) => find_known(name)?.reviewer(),
                NameOrDefinition::Definition(own) => own.reviewer()?,
            };
            if names.contains(&command.name) {
                bail!("`review.commands`: duplicate reviewer `{}`", command.name);
            }
            names.push(command.name.clone());
            commands.push(command);
        }
        Ok(commands)
    }
}

impl CustomAnalyser {
    fn reviewer(&self) -> anyhow::Result<CommandReviewer> {
        let context = || format!("`review.commands`: invalid analyser `{}`", self.name);
        let mut reviewer = match (&self.run, &self.form) {
            (None, None) => find_known(&self.name)?.reviewer(),
            (Some(run), Some(form)) => {
                let Some((program, args)) = run.split_first() else {
                    bail!("{}: `run` is empty", context());
                };
                let form: AnalyserFormat = form.parse().with_context(context)?;
                let mut reviewer = CommandReviewer::new(&self.name, program, form);
                reviewer.args = args.to_vec();
                reviewer
            }
            (Some(_), None) => bail!("{}: missing `form`, the format of its output", context()),
            (None, Some(_)) => bail!("{}: missing `run`, its command line", context()),
        };
        if let Some(files) = &self.files {
            reviewer.files = Globs::new(files).with_context(context)?;
        }
        reviewer.env = self.env.clone().into_iter().collect();
        reviewer.required = self.required;
        reviewer.time = Duration::from_secs(self.seconds.get());
        Ok(reviewer)
    }
}

fn find_known(name: &str) -> anyhow::Result<&'static known_analysers::KnownAnalyser> {
    known_analysers::find(name).ok_or_else(|| {
        let names: Vec<&str> =
            known_analysers::KNOWN_ANALYSERS.iter().map(|known| known.name).collect();
        let question = did_you_mean(&nearest(name, names.iter().copied()));
        anyhow!(
            "`review.commands`: unknown analyser `{name}`; set `run` and `form`, or use one of \
             {}{question}",
            names.join(", ")
        )
    })
}

/// Replaces `${NAME}` by the value of the variable, except in comments.
pub(crate) fn expand_variables(
    environment: &Environment,
    path: &str,
    text: &str,
) -> anyhow::Result<String> {
    let lines = text.split_inclusive('\n').map(|line| match line.trim_start().starts_with('#') {
        true => Ok(line.to_owned()),
        false => expand_line(environment, path, line),
    });
    lines.collect()
}

fn expand_line(environment: &Environment, path: &str, line: &str) -> anyhow::Result<String> {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + length];
        let value = environment.variable(name).ok_or_else(|| {
            anyhow!("`{path}` uses `${{{name}}}`, but the variable `{name}` is not set")
        })?;
        out.push_str(&rest[..start]);
        out.push_str(&value);
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The services that a review reads from and posts to. A change cannot set their addresses, because
/// the token would be sent there.
#[derive(Debug, Clone, Default)]
pub struct Services {
    /// The settings of GitHub.
    pub github: GithubConfig,
    /// The settings of GitLab.
    pub gitlab: GitlabConfig,
    /// The settings of JIRA.
    pub jira: JiraConfig,
}

/// The settings of a review.
#[derive(Debug)]
pub struct Settings {
    /// The environment that the settings were read in.
    pub environment: Environment,
    /// The files that reviews leave out.
    pub exclusions: ExclusionRules,
    /// The maximum number of local reviewers that run concurrently.
    pub at_a_time: usize,
    /// The lowest severity that blocks; `None` if the configuration sets none.
    pub fail_on: Option<Grade>,
    /// The coverage that is required.
    pub require: CoverageRequirement,
    /// The verdict on a change without reviewable content.
    pub without_content: NoContentPolicy,
    /// The number of findings that are shown.
    pub shown: ShownLimit,
    /// The rules: the built-in ones, and those of the repository.
    pub rules: Rulebook,
    /// The configured analysers.
    pub commands: Vec<CommandReviewer>,
    /// The analysers that run besides the configured ones.
    pub analysers: AnalyserSelection,
    /// The settings of models.
    pub models: ModelsConfig,
    /// The settings of gates.
    pub gates: GateConfig,
    /// The settings of the validation loop.
    pub qa: QaConfig,
    /// The services that a review reads from and posts to.
    pub services: Services,
    /// The settings of Linear.
    pub linear: LinearConfig,
    /// True if personas read every change.
    pub uses_models: bool,
    /// True if a model takes a second look at findings.
    pub second_looks: bool,
    /// True if models may look things up in the repository before they answer.
    pub lookups: bool,
    /// The way in which personas share the reading of a change.
    pub grouping: Grouping,
    /// The personas that the repository defines: path and content of each file.
    pub personas: Vec<(String, String)>,
    /// The templates of findings: the built-in ones, and those of the repository.
    pub templates: TemplateSet,
    /// The accepted findings.
    pub baseline: Baseline,
    /// Notes for the user on the versions of settings that are used.
    pub notes: Vec<String>,
}

impl Settings {
    /// Reads the settings that apply to a change.
    pub(crate) fn of(environment: &Environment, change: &Change) -> anyhow::Result<Settings> {
        Settings::with_given(environment, change, None)
    }

    /// Reads the settings that apply to a change, with the configuration that the user names; `None`
    /// for that of the repository.
    pub(crate) fn with_given(
        environment: &Environment,
        change: &Change,
        given: Option<&Path>,
    ) -> anyhow::Result<Settings> {
        let mut notes = Vec::new();
        let own = match given {
            Some(path) => Some(ConfigurationFile::given(path)?),
            None => ConfigurationFile::of(change, &mut notes)?,
        };
        let layers = ConfigurationLayers::above_user(environment, &change.root, own)?;
        let baseline = read_effective(change, baseline::PATH, "the baseline", &mut notes)?;
        let rules = read_effective_files(change, &RULE_FILES, &mut notes)?;
        let personas = read_effective_files(change, &PERSONA_FILES, &mut notes)?;
        let templates = read_effective_files(change, &TEMPLATE_FILES, &mut notes)?;
        let mut settings = Settings::new(environment, &layers, baseline, rules, personas)?;
        settings.templates = templates::with_own(templates::read_all(&templates)?);
        let touched =
            settings.commands.iter().filter_map(|command| touched_settings(change, command));
        notes.extend(touched);
        if settings.analysers == AnalyserSelection::Auto {
            let found = AutomaticAnalysers::of(environment, change, &settings.commands)?;
            let touched = found.reviewers.iter().filter_map(|it| touched_settings(change, it));
            notes.extend(touched);
            notes.extend(found.notes);
            settings.commands.extend(found.reviewers);
        }
        settings.notes = notes;
        Ok(settings)
    }

    /// Reads the settings of a folder without a change, such as a folder outside of any repository.
    pub fn on_disk(environment: &Environment, root: &Path) -> anyhow::Result<Settings> {
        let own = ConfigurationFile::on_disk(root)?;
        let layers = ConfigurationLayers::above_user(environment, root, own)?;
        Settings::new(environment, &layers, None, Vec::new(), Vec::new())
    }

    fn new(
        environment: &Environment,
        layers: &ConfigurationLayers,
        baseline: Option<String>,
        rules: Vec<(String, String)>,
        personas: Vec<(String, String)>,
    ) -> anyhow::Result<Settings> {
        let configuration = Configuration::of(environment, layers)?;
        let own_rules = Rulebook::with_repository_rules(rules)?;
        Ok(Settings {
            environment: environment.clone(),
            exclusions: configuration.exclusions()?,
            at_a_time: configuration.review.at_a_time.get(),
            fail_on: configuration.fail_on()?,
            require: configuration.coverage.require,
            without_content: configuration.review.nothing_to_review,
            shown: configuration.review.shown,
            rules: configuration
                .rule_selection()
                .and_then(|selection| Ok(own_rules.with_selection(selection)?))
                .map_err(|error| layers.explain(environment, error))?,
            commands: configuration.commands()?,
            analysers: configuration.review.analysers,
            models: configuration.models,
            gates: configuration.gates,
            qa: configuration.qa,
            services: Services {
                github: configuration.github,
                gitlab: configuration.gitlab,
                jira: configuration.jira,
            },
            linear: configuration.linear,
            uses_models: configuration.review.models,
            second_looks: configuration.review.second_looks,
            lookups: configuration.review.lookups,
            grouping: match configuration.review.each_persona {
                true => Grouping::EachPersona,
                false => Grouping::Readings,
            },
            personas,
            templates: templates::builtin().clone(),
            baseline: Baseline::read(baseline.as_deref().unwrap_or(""))?,
            notes: Vec::new(),
        })
    }
}

/// A repository's prompts for the validation loop.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// The prompt of the reviewer; `None` if the repository has none.
    pub reviewer: Option<String>,
    /// The prompt of the fixer; `None` if the repository has none.
    pub fixer: Option<String>,
}

impl Prompts {
    /// Reads the prompts that apply to a change, by the same rule as its configuration.
    pub(crate) fn of(change: &Change, notes: &mut Vec<String>) -> anyhow::Result<Prompts> {
        let reviewer = format!("{PROMPTS_FOLDER}/qa_reviewer.md");
        let fixer = format!("{PROMPTS_FOLDER}/qa_fixer.md");
        Ok(Prompts {
            reviewer: read_effective(change, &reviewer, "the reviewer's prompt", notes)?,
            fixer: read_effective(change, &fixer, "the fixer's prompt", notes)?,
        })
    }
}

fn is_below_or_named(path: &str, start: &str) -> bool {
    path.starts_with(start) || path.contains(&format!("/{start}"))
}

/// Returns a note if a change touches the settings of an analyser.
fn touched_settings(change: &Change, command: &CommandReviewer) -> Option<String> {
    let known = known_analysers::find(&command.name)?;
    // Settings files may be in any folder.
    let names = |path: &&&str| change.files.iter().any(|file| is_below_or_named(file.path(), path));
    let path = known.settings.iter().find(names)?;
    Some(format!("the change modifies `{path}`, which configures {}", known.name))
}

/// Reads the files of a work tree that decide on reviews: configuration, rules, personas and
/// templates.
/// Returns path and content of each.
pub fn review_files_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let configuration = ConfigurationFile::on_disk(root)?.map(|file| (file.path, file.text));
    let mut files: Vec<(String, String)> = configuration.into_iter().collect();
    files.extend(rules_on_disk(root)?);
    files.extend(personas_on_disk(root)?);
    files.extend(templates_on_disk(root)?);
    Ok(files)
}
