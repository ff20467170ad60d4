//! Configuration: the file `config/agent-framework.yaml`, of which every key is optional.
//!
//! The change does not decide how it is reviewed: where it touches the configuration, the
//! repository's own rules, personas, prompts or its baseline, they are taken as they were before
//! it.
//!
//! Each part of the configuration is one file here. A part that reads variables holds the
//! environment in which it was read.

pub mod agents;
pub mod fixer;
pub mod gates;
pub mod github;
pub mod jira;
mod key;
pub mod linear;
mod model;
pub mod models;
pub mod qa;
pub mod service;
pub mod severity;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_agents::config::ConfigError;
use assay_agents::config::framework::{QueueSettings, Safeguards, TaskSettings, Workflow};
use assay_change::state::is_at_or_below;
use assay_change::tree::DirTree;
use assay_change::{Change, LeaveOut};
use assay_findings::coverage::Requirement;
use assay_findings::grade::Grade;
use assay_findings::ground::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_findings::shown::ShownLimit;
use assay_findings::verdict::WithoutContent;
use assay_review::baseline::{self, Baseline};
use assay_review::command::form::Form;
use assay_review::command::{CommandReviewer, known};
use assay_review::globs::Globs;
use assay_review::recording::Grouping;
use assay_rules::Rulebook;
use serde::Deserialize;

use self::gates::StoredGates;
use self::github::StoredGithub;
use self::jira::StoredJira;
use self::linear::StoredLinear;
use self::models::StoredModels;
use self::qa::StoredQa;
use self::severity::parse_severity;
use crate::environment::Environment;

/// Where the configuration lies in a repository.
pub const PATH: &str = "config/agent-framework.yaml";

/// Where a repository's own rules lie.
pub(crate) const RULES: &str = ".assay/rules";

/// Where its own personas lie.
pub(crate) const PERSONAS: &str = ".assay/personas";

/// Where lies what it tells those who review and fix in the validation loop.
pub(crate) const PROMPTS: &str = ".assay/prompts";

/// The configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    review: Review,
    coverage: Coverage,
    models: StoredModels,
    /// What is configured for gates.
    pub gates: StoredGates,
    /// What is configured for the validation loop.
    pub qa: StoredQa,
    /// What is configured for GitHub.
    pub github: StoredGithub,
    /// What is configured for JIRA.
    pub jira: StoredJira,
    /// What is configured for Linear.
    pub linear: StoredLinear,
    /// The limits of tasks.
    pub task: TaskSettings,
    /// The limits of agents.
    pub safeguards: Safeguards,
    /// The queue.
    pub queue: QueueSettings,
    /// The workflow of agents.
    pub workflow: Workflow,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Review {
    ignore: Vec<String>,
    max_file_kib: u64,
    at_a_time: usize,
    fail_on: Option<String>,
    /// What a change without reviewable content comes to.
    nothing_to_review: WithoutContent,
    /// How many findings are shown; the others are folded.
    shown: ShownLimit,
    commands: Vec<StoredCommand>,
    /// Whether personas read every change, also where nobody asks for it.
    models: bool,
    /// Whether findings are looked at again by a model before they are told.
    second_looks: bool,
    /// True if each persona reads a change on its own, instead of a few readings for all concerns.
    each_persona: bool,
    /// True if models may look things up in the repository before they answer.
    lookups: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Coverage {
    require: Requirement,
}

/// An analyser, as it is configured: by a well-known name, or in full.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum StoredCommand {
    Known(String),
    Own(OwnCommand),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnCommand {
    name: String,
    run: Option<Vec<String>>,
    form: Option<String>,
    files: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    required: bool,
    seconds: Option<u64>,
}

impl Default for Review {
    fn default() -> Review {
        Review {
            ignore: Vec::new(),
            max_file_kib: 1024,
            at_a_time: 4,
            fail_on: None,
            nothing_to_review: WithoutContent::default(),
            shown: ShownLimit::default(),
            commands: Vec::new(),
            models: false,
            second_looks: true,
            each_persona: false,
            lookups: true,
        }
    }
}

impl Configuration {
    /// Reads the configuration in a work tree, if there is one.
    pub fn on_disk(
        environment: &Environment,
        root: &Path,
    ) -> anyhow::Result<Option<Configuration>> {
        let Some(text) = read_optional(root, PATH)? else { return Ok(None) };
        let configuration = Configuration::parse(environment, &text)?;
        configuration.leave_out()?;
        configuration.fail_on()?;
        configuration.commands()?;
        configuration.models.check()?;
        configuration.gates.check()?;
        configuration.qa.check()?;
        configuration.github.check()?;
        configuration.jira.check()?;
        configuration.linear.check()?;
        Ok(Some(configuration))
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
        self.jira.in_environment(environment);
        self.linear.in_environment(environment);
        self
    }

    fn parse(environment: &Environment, text: &str) -> anyhow::Result<Configuration> {
        Ok(Configuration::parse_yaml(environment, text)?.in_environment(environment))
    }

    fn parse_yaml(environment: &Environment, text: &str) -> anyhow::Result<Configuration> {
        // Comments alone are no document.
        if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
            return Ok(Configuration::default());
        }
        let text = expanded(environment, PATH, text)?;
        // A configuration is mostly comments, which the parser would otherwise count and refuse; and
        // a line that it quotes may hold the value of a variable.
        let options = serde_saphyr::options! { emit_comments: false, with_snippet: false };
        let read = serde_saphyr::from_str_with_options(&text, options);
        Ok(read.map_err(|error| ConfigError::in_yaml(PATH, &text, &error))?)
    }

    /// Returns the services that are configured.
    pub(crate) fn services(&self) -> Services {
        Services { github: self.github.clone(), jira: self.jira.clone() }
    }

    /// Returns the environment that the configuration was read in.
    pub fn environment(&self) -> &Environment {
        self.models.environment()
    }

    /// Gives the models that are configured.
    pub(crate) fn models(&self) -> &StoredModels {
        &self.models
    }

    fn leave_out(&self) -> anyhow::Result<LeaveOut> {
        LeaveOut::new(&self.review.ignore, self.review.max_file_kib << 10)
            .with_context(|| format!("`review.ignore` in `{PATH}` cannot be used"))
    }

    fn fail_on(&self) -> anyhow::Result<Option<Grade>> {
        let grade = self.review.fail_on.as_deref().map(parse_severity).transpose();
        grade.map_err(|why| anyhow!("`review.fail_on` in `{PATH}`: {why}"))
    }

    /// Gives the analysers that are configured, each with a name of its own.
    pub(crate) fn commands(&self) -> anyhow::Result<Vec<CommandReviewer>> {
        let mut names = vec![assay_rules::REVIEWER.to_owned()];
        let mut commands = Vec::new();
        for stored in &self.review.commands {
            let command = stored.reviewer()?;
            if names.contains(&command.name) {
                bail!("`review.commands`: there is more than one reviewer `{}`", command.name);
            }
            names.push(command.name.clone());
            commands.push(command);
        }
        Ok(commands)
    }
}

impl StoredCommand {
    fn reviewer(&self) -> anyhow::Result<CommandReviewer> {
        match self {
            StoredCommand::Known(name) => Ok(well_known(name)?.reviewer()),
            StoredCommand::Own(own) => own.reviewer(),
        }
    }
}

impl OwnCommand {
    fn reviewer(&self) -> anyhow::Result<CommandReviewer> {
        let context = || format!("`review.commands`: `{}` cannot be used", self.name);
        let mut reviewer = match (&self.run, &self.form) {
            (None, None) => well_known(&self.name)?.reviewer(),
            (Some(run), Some(form)) => {
                let Some((program, args)) = run.split_first() else {
                    bail!("{}: `run` is empty", context());
                };
                let form: Form = form.parse().with_context(context)?;
                let mut reviewer = CommandReviewer::new(&self.name, program, form);
                reviewer.args = args.to_vec();
                reviewer
            }
            (Some(_), None) => bail!("{}: `form` says what it prints, and is missing", context()),
            (None, Some(_)) => bail!("{}: `run` says how it is run, and is missing", context()),
        };
        if let Some(files) = &self.files {
            reviewer.files = Globs::new(files).with_context(context)?;
        }
        reviewer.env = self.env.clone().into_iter().collect();
        reviewer.required = self.required;
        reviewer.time = self.seconds.map_or(reviewer.time, Duration::from_secs);
        Ok(reviewer)
    }
}

fn well_known(name: &str) -> anyhow::Result<&'static known::Known> {
    known::named(name).ok_or_else(|| {
        let names: Vec<&str> = known::KNOWN.iter().map(|known| known.name).collect();
        let names = names.join(", ");
        anyhow!("`review.commands`: `{name}` is not well known ({names} are); say `run` and `form`")
    })
}

/// Puts the environment's values in the place of `${NAME}`, comments apart.
pub(crate) fn expanded(
    environment: &Environment,
    path: &str,
    text: &str,
) -> anyhow::Result<String> {
    let lines = text.split_inclusive('\n').map(|line| match line.trim_start().starts_with('#') {
        true => Ok(line.to_owned()),
        false => expanded_line(environment, path, line),
    });
    lines.collect()
}

fn expanded_line(environment: &Environment, path: &str, line: &str) -> anyhow::Result<String> {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + length];
        let value = environment
            .variable(name)
            .ok_or_else(|| anyhow!("`{path}` has `${{{name}}}`, and `{name}` is not set"))?;
        out.push_str(&rest[..start]);
        out.push_str(&value);
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The services that a review reads from and posts to. A change has no say in their addresses: a token
/// would follow.
#[derive(Debug, Clone, Default)]
pub struct Services {
    /// What is configured for GitHub.
    pub github: StoredGithub,
    /// What is configured for JIRA.
    pub jira: StoredJira,
}

/// What is configured for reviews.
#[derive(Debug)]
pub struct Settings {
    /// The environment that they were read in.
    pub environment: Environment,
    /// The files that reviews leave out.
    pub leave_out: LeaveOut,
    /// The number of local reviewers that run at a time.
    pub at_a_time: usize,
    /// The severity from which findings block.
    pub fail_on: Option<Grade>,
    /// The coverage that is required.
    pub require: Requirement,
    /// The verdict on a change without reviewable content.
    pub without_content: WithoutContent,
    /// The number of findings that are shown.
    pub shown: ShownLimit,
    /// The rules.
    pub rules: Rulebook,
    /// The analysers.
    pub commands: Vec<CommandReviewer>,
    /// The models.
    pub models: StoredModels,
    /// What is configured for gates.
    pub gates: StoredGates,
    /// What is configured for the validation loop.
    pub qa: StoredQa,
    /// The services that a review reads from and posts to.
    pub services: Services,
    /// What is configured for Linear.
    pub linear: StoredLinear,
    /// Whether personas read every change.
    pub uses_models: bool,
    /// Whether findings are looked at again by a model.
    pub second_looks: bool,
    /// True if models may look things up in the repository before they answer.
    pub lookups: bool,
    /// The way in which personas share the reading of a change.
    pub grouping: Grouping,
    /// The repository's own personas, by their files.
    pub personas: Vec<(String, String)>,
    /// The findings that are accepted.
    pub baseline: Baseline,
    /// What is to be told about what decides on the change.
    pub notes: Vec<String>,
}

impl Settings {
    /// Reads the settings that hold for a change.
    pub(crate) fn of(environment: &Environment, change: &Change) -> anyhow::Result<Settings> {
        let mut notes = Vec::new();
        let text = decisive(change, PATH, "the configuration", &mut notes)?;
        let baseline = decisive(change, baseline::PATH, "the baseline", &mut notes)?;
        let rules = own_files(change, &RULE_FILES, &mut notes)?;
        let personas = own_files(change, &PERSONA_FILES, &mut notes)?;
        let mut settings = Settings::new(environment, text, baseline, rules, personas)?;
        let touched =
            settings.commands.iter().filter_map(|command| touched_settings(change, command));
        notes.extend(touched);
        settings.notes = notes;
        Ok(settings)
    }

    /// Reads the settings that hold where there is no change, as in a folder that is in no
    /// repository.
    pub fn on_disk(environment: &Environment, root: &Path) -> anyhow::Result<Settings> {
        Settings::new(environment, read_optional(root, PATH)?, None, Vec::new(), Vec::new())
    }

    fn new(
        environment: &Environment,
        text: Option<String>,
        baseline: Option<String>,
        rules: Vec<(String, String)>,
        personas: Vec<(String, String)>,
    ) -> anyhow::Result<Settings> {
        let configuration = Configuration::parse(environment, text.as_deref().unwrap_or(""))?;
        configuration.models.check()?;
        configuration.gates.check()?;
        configuration.qa.check()?;
        configuration.github.check()?;
        configuration.jira.check()?;
        configuration.linear.check()?;
        Ok(Settings {
            environment: environment.clone(),
            leave_out: configuration.leave_out()?,
            at_a_time: configuration.review.at_a_time,
            fail_on: configuration.fail_on()?,
            require: configuration.coverage.require,
            without_content: configuration.review.nothing_to_review,
            shown: configuration.review.shown,
            rules: Rulebook::with_repository_rules(rules)?,
            commands: configuration.commands()?,
            models: configuration.models,
            gates: configuration.gates,
            qa: configuration.qa,
            services: Services { github: configuration.github, jira: configuration.jira },
            linear: configuration.linear,
            uses_models: configuration.review.models,
            second_looks: configuration.review.second_looks,
            lookups: configuration.review.lookups,
            grouping: match configuration.review.each_persona {
                true => Grouping::EachPersona,
                false => Grouping::Readings,
            },
            personas,
            baseline: Baseline::read(baseline.as_deref().unwrap_or(""))?,
            notes: Vec::new(),
        })
    }
}

/// What a repository tells those who review and fix in the validation loop.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// The prompt of the reviewer.
    pub reviewer: Option<String>,
    /// The prompt of the fixer.
    pub fixer: Option<String>,
}

impl Prompts {
    /// Reads those that hold for a change, by the same terms as its configuration.
    pub(crate) fn of(change: &Change, notes: &mut Vec<String>) -> anyhow::Result<Prompts> {
        let reviewer = format!("{PROMPTS}/qa_reviewer.md");
        let fixer = format!("{PROMPTS}/qa_fixer.md");
        Ok(Prompts {
            reviewer: decisive(change, &reviewer, "the reviewer's prompt", notes)?,
            fixer: decisive(change, &fixer, "the fixer's prompt", notes)?,
        })
    }
}

/// Returns true if a change touches a file or folder, something below it, or what it lies in, which may
/// have become a link.
fn touches(change: &Change, place: &str) -> bool {
    change.files.iter().any(|file| {
        let paths = [file.old_path.as_deref(), file.new_path.as_deref()];
        let mut paths = paths.into_iter().flatten();
        paths.any(|path| is_at_or_below(path, place) || is_at_or_below(place, path))
    })
}

/// Says whether something may belong to a change of which only a part was asked for: git knows it.
fn may_belong(change: &Change, path: &str) -> bool {
    change.is_limited && assay_change::is_tracked(&change.root, path)
}

/// Reads a file that decides on a change: as it was before, where the change touches it, and else
/// as it lies in the work tree. What is not told by the repository's history is told here.
fn decisive(
    change: &Change,
    path: &str,
    what: &str,
    notes: &mut Vec<String>,
) -> anyhow::Result<Option<String>> {
    let before = read_before(change, path)?;
    if touches(change, path) {
        notes.push(format!("the change touches {what}; the version before it is used"));
        return Ok(before);
    }
    let now = read_optional(&change.root, path)?;
    if now != before && may_belong(change, path) {
        notes.push(format!("{what} may belong to the change; the version before it is used"));
        return Ok(before);
    }
    if now != before && now.is_some() {
        notes.push(format!("{what} is not committed as it is used here"));
    }
    Ok(now)
}

/// Reads a file as it was before a change, if there was one. A file that git cannot give, or that is
/// no text, is an error: what it says is not known, so nothing else may take its place.
fn read_before(change: &Change, path: &str) -> anyhow::Result<Option<String>> {
    let before = RepoPath::exact(path)?;
    match change.base().read(&before)? {
        None if change.base().exists(&before)? => {
            bail!("`{path}` before the change is no text, or is too large")
        }
        text => Ok(text),
    }
}

fn is_below_or_named(path: &str, start: &str) -> bool {
    path.starts_with(start) || path.contains(&format!("/{start}"))
}

/// Says that a change touches what an analyser goes by.
fn touched_settings(change: &Change, command: &CommandReviewer) -> Option<String> {
    let known = known::named(&command.name)?;
    // They may lie in any folder.
    let names = |path: &&&str| change.files.iter().any(|file| is_below_or_named(file.path(), path));
    let path = known.settings.iter().find(names)?;
    Some(format!("the change touches `{path}`, which tells {} what to look for", known.name))
}

/// Reads a file of a work tree, if there is one: no link out of it, no device, nothing endless.
pub(crate) fn read_optional(root: &Path, path: &str) -> anyhow::Result<Option<String>> {
    match fs::symlink_metadata(root.join(path)) {
        Ok(_) => {}
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
        Err(error) => {
            return Err(TreeError::read(&RepoPath::exact(path)?, error).into());
        }
    }
    match DirTree::new(root.to_owned()).read(&RepoPath::exact(path)?)? {
        Some(text) => Ok(Some(text)),
        None => bail!("`{path}` is no text file of this repository, or is too large"),
    }
}

fn is_rule_file(name: &str) -> bool {
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    is_yaml && !name.ends_with(".test.yml") && !name.ends_with(".test.yaml")
}

/// Files of a repository's own that decide on reviews.
struct OwnFiles {
    folder: &'static str,
    /// What they are, for people.
    what: &'static str,
    is_one: fn(&str) -> bool,
}

const RULE_FILES: OwnFiles = OwnFiles { folder: RULES, what: "rules", is_one: is_rule_file };

const PERSONA_FILES: OwnFiles =
    OwnFiles { folder: PERSONAS, what: "personas", is_one: |name| name.ends_with(".md") };

/// Gives the repository's files that hold for a change, by the same terms as its configuration.
fn own_files(
    change: &Change,
    files: &OwnFiles,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(String, String)>> {
    let what = files.what;
    if touches(change, files.folder) {
        notes.push(format!("the change touches the repository's {what}; those before it are used"));
        return files.before(change);
    }
    let (now, before) = (files.on_disk(&change.root)?, files.before(change)?);
    if now != before && may_belong(change, files.folder) {
        notes.push(format!(
            "the repository's {what} may belong to the change; those before it are used"
        ));
        return Ok(before);
    }
    if !now.is_empty() && now != before {
        notes.push(format!("the repository's {what} are not committed as they are used here"));
    }
    Ok(now)
}

impl OwnFiles {
    fn before(&self, change: &Change) -> anyhow::Result<Vec<(String, String)>> {
        let paths = change.base().paths()?;
        let files = paths.iter().filter(|path| is_at_or_below(path.as_str(), self.folder));
        let files = files.filter(|path| (self.is_one)(path.as_str()));
        files
            .map(|path| {
                let text = read_before(change, path.as_str())?;
                Ok((path.to_string(), text.unwrap_or_default()))
            })
            .collect()
    }

    /// Reads them in a work tree, by their paths.
    fn on_disk(&self, root: &Path) -> anyhow::Result<Vec<(String, String)>> {
        let parent = root.join(self.folder);
        match fs::symlink_metadata(&parent) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok(Vec::new()),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(TreeError::list(error).into()),
        }
        let paths = DirTree::new(parent).paths()?;
        let files = paths.into_iter().filter(|path| (self.is_one)(path.as_str()));
        let files = files.map(|path| {
            let path = format!("{}/{path}", self.folder);
            let text = read_optional(root, &path)?.unwrap_or_default();
            Ok((path, text))
        });
        files.collect()
    }
}

/// Reads the files of a work tree that decide on reviews, by their paths: configuration, rules and
/// personas.
pub fn review_files_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let configuration = read_optional(root, PATH)?.map(|text| (PATH.to_owned(), text));
    let mut files: Vec<(String, String)> = configuration.into_iter().collect();
    files.extend(rules_on_disk(root)?);
    files.extend(personas_on_disk(root)?);
    Ok(files)
}

/// Reads the rules in a work tree, by their paths.
pub(crate) fn rules_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    RULE_FILES.on_disk(root)
}

/// Reads the personas in a work tree, by their paths.
pub(crate) fn personas_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    PERSONA_FILES.on_disk(root)
}
