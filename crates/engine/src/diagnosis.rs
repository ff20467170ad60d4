//! Diagnosis of an installation: [`diagnose`] lists the programs, settings and services that work,
//! those that are missing, and the way to get them.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::bail;
use assay_review::baseline::Baseline;
use assay_review::command::CommandReviewer;
use assay_review::command::known_analysers::{self, KNOWN_ANALYSERS, KnownAnalyser};
use assay_review::persona::Personas;
use assay_rules::{Rulebook, examples};
use assay_sandbox::{Command, Enforcement, KeySource};
use assay_store::postgres::PgQueue;
use assay_store::pulls::RepositoryName;

use crate::config::agents::AgentSettings;
use crate::config::automatic_analysers::{AnalyserSelection, UsableAnalyser, find_usable_on_disk};
use crate::config::github::GithubConfig;
use crate::config::{self, Configuration};
use crate::environment::Environment;
use crate::queues;
use crate::rule_catalogue::examples_beside;
use crate::wording::count;

/// The time limit for an answer of the database.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(3);

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The state of the subject.
    pub health: Health,
    /// A line of text about the subject.
    pub what: String,
}

/// The state of a checked subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// The subject works.
    Good,
    /// The subject is missing, and is optional.
    Missing,
    /// The subject is present or required, and does not work.
    Bad,
}

/// Checks the programs, the repository around a folder, its configuration and the services. Calls
/// no service and no model.
pub fn diagnose(environment: &Environment, folder: &Path) -> Vec<Diagnosis> {
    let mut lines = vec![git()];
    let root = assay_change::root(folder);
    match &root {
        Ok(root) => lines.extend(repository(environment, root)),
        Err(error) => lines.push(bad(format!("no repository: {error}"))),
    }
    let root = root.as_deref().ok();
    lines.extend(limits());
    let configured = root.map(|root| configured_analysers(environment, root)).unwrap_or_default();
    lines.extend(known_analysers_lines(environment, root, &configured));
    let own = configured.iter().filter(|command| known_analysers::find(&command.name).is_none());
    lines.extend(own.map(|command| check_custom_analyser(environment, root, command)));
    lines.extend(models(environment, root));
    lines.extend(services(environment, root));
    lines
}

fn good(what: String) -> Diagnosis {
    Diagnosis { health: Health::Good, what }
}

fn missing(what: String) -> Diagnosis {
    Diagnosis { health: Health::Missing, what }
}

fn bad(what: String) -> Diagnosis {
    Diagnosis { health: Health::Bad, what }
}

/// Returns the first line of the version text of a program; `None` if the program fails.
fn version(program: &str, args: &[&str]) -> Option<String> {
    let command = Command::new(program).args(args).time(Duration::from_secs(10));
    let finished = command.run().ok().filter(|finished| finished.status.success())?;
    String::from_utf8_lossy(&finished.stdout).lines().next().map(str::to_owned)
}

fn git() -> Diagnosis {
    match version("git", &["--version"]) {
        Some(version) => good(version),
        None => bad("git is not installed or not on PATH; assay requires git".into()),
    }
}

fn repository(environment: &Environment, root: &Path) -> Vec<Diagnosis> {
    let mut lines = vec![good(format!("repository {}", root.display()))];
    lines.push(match Configuration::on_disk(environment, root) {
        Ok(Some(_)) => good(valid_files(environment, root)),
        Ok(None) => missing(format!("no {}; `assay init` writes one", config::PATH)),
        Err(error) => bad(first_line(&format!("{error:#}"))),
    });
    lines.extend(agents(environment, root));
    lines.push(rules(root));
    lines.push(personas(root));
    let baseline = config::read_optional(root, assay_review::baseline::PATH);
    let baseline = baseline.map(|text| text.unwrap_or_default());
    lines.push(match baseline.and_then(|text| Ok(Baseline::read(&text)?)) {
        Ok(baseline) if baseline.accepted.is_empty() => missing("the baseline is empty".into()),
        Ok(baseline) => good(format!("the baseline has {} findings", baseline.accepted.len())),
        Err(error) => bad(error.to_string()),
    });
    lines
}

/// Returns a message with the files of a valid configuration.
fn valid_files(environment: &Environment, root: &Path) -> String {
    let paths = config::configuration_file::paths_on_disk(environment, root).unwrap_or_default();
    let verb = if paths.len() == 1 { "is" } else { "are" };
    format!("{} {verb} valid", paths.join(" and "))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Checks the agents. Returns no lines if the configuration is invalid, which is reported
/// elsewhere.
fn agents(environment: &Environment, root: &Path) -> Vec<Diagnosis> {
    if Configuration::on_disk(environment, root).is_err() {
        return Vec::new();
    }
    let settings = match AgentSettings::on_disk(environment, root) {
        Ok(settings) => settings,
        Err(error) => return vec![bad(first_line(&format!("{error:#}")))],
    };
    let agents = settings.roster.agents().iter().filter(|agent| agent.enabled);
    let names: Vec<&str> = agents.map(|agent| agent.id.as_str()).collect();
    let queue = match settings.configuration.queue.url {
        Some(_) => "in a database",
        None => "in files",
    };
    let servers = count(settings.mcp.servers.len(), "MCP server");
    let team = good(format!("agents: {}; their queue is {queue}; {servers}", names.join(", ")));
    std::iter::once(team).chain(database(&settings)).collect()
}

/// Connects to the queue's database; `None` if the queue is not in a database.
fn database(settings: &AgentSettings) -> Option<Diagnosis> {
    let url = match queues::database_url(settings) {
        Ok(url) => url?.to_owned(),
        Err(error) => return Some(bad(error.to_string())),
    };
    let clock = settings.configuration.environment().clock().clone();
    let (sender, answer) = mpsc::channel();
    // If the database never answers, the thread ends with the process.
    thread::spawn(move || sender.send(PgQueue::version(&url, &clock)));
    Some(match answer.recv_timeout(DATABASE_TIMEOUT) {
        Ok(Ok(version)) => {
            good(format!("the queue's database answers; its schema version is {version}"))
        }
        Ok(Err(error)) => {
            bad(assay_rules::redact(&format!("{:#}", anyhow::Error::from(error))).into_owned())
        }
        Err(_) => bad(format!(
            "the queue's database did not answer within {} s",
            DATABASE_TIMEOUT.as_secs()
        )),
    })
}

/// Parses the rules of the repository and runs their examples.
fn rules(root: &Path) -> Diagnosis {
    let rules = match config::rules_on_disk(root) {
        Ok(rules) => rules,
        Err(error) => return bad(format!("{error:#}")),
    };
    if rules.is_empty() {
        return missing(format!("no repository rules in {}", config::RULES_FOLDER));
    }
    let number = rules.len();
    if let Err(error) = Rulebook::with_repository_rules(rules.clone()) {
        return bad(error.to_string());
    }
    let mut held = 0;
    for (name, rule) in &rules {
        let beside = match examples_beside(root, name) {
            Ok(Some(beside)) => beside,
            Ok(None) => continue,
            Err(error) => return bad(format!("{error:#}")),
        };
        match examples::check_examples(name, rule, &beside) {
            Ok(_) => held += 1,
            Err(error) => return bad(error.to_string()),
        }
    }
    good(format!("{} ({held} with passing examples)", count(number, "repository rule")))
}

fn personas(root: &Path) -> Diagnosis {
    let own = match config::personas_on_disk(root) {
        Ok(own) => own,
        Err(error) => return bad(format!("{error:#}")),
    };
    let number = own.len();
    match Personas::with_repository_personas(own) {
        Err(error) => bad(error.to_string()),
        Ok(_) if number == 0 => {
            missing(format!("no repository personas in {}", config::PERSONAS_FOLDER))
        }
        Ok(_) => good(count(number, "repository persona")),
    }
}

/// Checks the models that are configured or available by the environment.
fn models(environment: &Environment, root: Option<&Path>) -> Vec<Diagnosis> {
    let configuration =
        root.and_then(|root| Configuration::on_disk(environment, root).ok().flatten());
    let configured = configuration.map(|configuration| configuration.models().list());
    let mut lines: Vec<Diagnosis> = Vec::new();
    for (name, about) in configured.unwrap_or_default() {
        lines.push(match about {
            Ok(model) => good(format!("model {name}: {model}")),
            Err(error) => bad(first_line(&format!("{error:#}"))),
        });
    }
    let has = |name: &str| environment.variable(name).is_some_and(|value| !value.is_empty());
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];
    lines.extend(keys.iter().filter(|name| has(name)).map(|name| good(format!("{name} is set"))));
    for program in ["claude", "codex"] {
        if let Some(version) = version(program, &["--version"]) {
            lines.push(missing(format!(
                "{program} is installed: {version}; configure it as a model in `models.use`"
            )));
        }
    }
    if lines.iter().all(|line| line.health != Health::Good) {
        lines.push(missing(
            "no model is configured: only rules and analysers review changes".into(),
        ));
    }
    lines
}

/// Checks the configured services.
fn services(environment: &Environment, root: Option<&Path>) -> Vec<Diagnosis> {
    let configuration = match root.map(|root| Configuration::on_disk_or_default(environment, root))
    {
        Some(Ok(configuration)) => configuration,
        // The check of the repository reports the error.
        Some(Err(_)) => return Vec::new(),
        None => Configuration::without_file(environment),
    };
    let Configuration { github, jira, linear, .. } = &configuration;
    let mut lines = self::github(github);
    let key = |source: anyhow::Result<KeySource>| match source? {
        KeySource::Variable { name, value: None } => bail!("the variable `{name}` is not set"),
        source => Ok(format!("key from {source}")),
    };
    let jira = match jira.is_configured() {
        false => missing(format!("JIRA is not configured; set `jira` in {}", config::PATH)),
        true => match jira.flavour().and_then(|_| key(jira.key())) {
            Ok(key) => good(format!("JIRA is configured; {key}")),
            Err(error) => bad(first_line(&format!("JIRA is not usable: {error:#}"))),
        },
    };
    let linear = match linear.is_configured() {
        false => missing("Linear is not configured: LINEAR_API_KEY is not set".to_owned()),
        true => match linear.team().and_then(|_| key(linear.key())) {
            Ok(key) => good(format!("Linear is configured; {key}")),
            Err(error) => bad(first_line(&format!("Linear is not usable: {error:#}"))),
        },
    };
    lines.extend([jira, linear]);
    lines
}

/// Checks the settings of GitHub. No key command is run.
fn github(settings: &GithubConfig) -> Vec<Diagnosis> {
    if !settings.is_configured() {
        return vec![missing("GitHub is not configured: `github.repositories` is empty".into())];
    }
    let (url, key) = match settings.url().and_then(|url| Ok((url, settings.key()?))) {
        Ok(both) => both,
        Err(error) => return vec![bad(first_line(&format!("{error:#}")))],
    };
    let names: Vec<&str> = settings.repositories.iter().map(RepositoryName::as_str).collect();
    let repositories = match names.is_empty() {
        true => missing(
            "`github.repositories` is empty; `assay watch-prs` requires `--repo`".to_owned(),
        ),
        false => good(format!("repositories on GitHub: {}", names.join(", "))),
    };
    let token = match &key {
        KeySource::None => missing(format!("GitHub at {url} is used without a token")),
        KeySource::Variable { value: None, name } => {
            bad(format!("missing token for GitHub at {url}: set the variable `{name}`"))
        }
        KeySource::Variable { .. } | KeySource::Command(_) => {
            good(format!("the token for GitHub at {url} is from {key}"))
        }
    };
    vec![repositories, token]
}

/// Checks which limits of the sandbox this system can enforce.
fn limits() -> Vec<Diagnosis> {
    let limits = assay_sandbox::limits();
    let line = |what: &str, held: Enforcement| match held {
        Enforcement::Full => good(format!("analysers can be kept from {what}")),
        Enforcement::Partial => good(format!("analysers can mostly be kept from {what}")),
        Enforcement::None => missing(format!("this system cannot keep analysers from {what}")),
    };
    let mut lines = vec![line("writing files", limits.files), line("the network", limits.network)];
    lines.push(match limits.reading {
        Enforcement::Full => {
            good("secrets in the home folder can be hidden from checks".to_owned())
        }
        Enforcement::Partial => good(
            "secrets in the home folder can mostly be hidden from checks: root can read disks"
                .to_owned(),
        ),
        Enforcement::None => missing(
            "secrets in the home folder CANNOT BE HIDDEN from checks on this system".to_owned(),
        ),
    });
    lines.push(match limits.processes {
        Enforcement::Full => {
            good("the number of processes of a check is limited".to_owned())
        }
        Enforcement::Partial => {
            good("the number of processes of a check is mostly limited".into())
        }
        Enforcement::None => missing(
            "the number of processes of a check is NOT LIMITED: no control group is available, and \
             root has no limit"
                .to_owned(),
        ),
    });
    lines.push(match limits.memory {
        Enforcement::Full => good("the memory of a check is limited".to_owned()),
        Enforcement::Partial => good("the memory of each process of a check is limited".into()),
        Enforcement::None => missing("the memory of a check is NOT LIMITED".to_owned()),
    });
    lines
}

fn configured_analysers(environment: &Environment, root: &Path) -> Vec<CommandReviewer> {
    let configuration = Configuration::on_disk(environment, root).ok().flatten();
    configuration.and_then(|configuration| configuration.commands().ok()).unwrap_or_default()
}

/// Checks the well-known analysers: the program, and the configuration in the repository.
fn known_analysers_lines(
    environment: &Environment,
    root: Option<&Path>,
    configured: &[CommandReviewer],
) -> Vec<Diagnosis> {
    let usable = root.and_then(|root| find_usable_on_disk(environment, root).ok());
    let usable = usable.unwrap_or_default();
    let runs_automatically = root.is_some_and(|root| is_automatic(environment, root));
    let lines = KNOWN_ANALYSERS.iter().map(|known| {
        if configured.iter().any(|command| command.name == known.name) {
            return check_analyser(known, root, true);
        }
        let Some(found) = usable.iter().find(|found| found.known == known) else {
            return check_analyser(known, root, false);
        };
        let UsableAnalyser { known, configured_by } = found;
        match runs_automatically && known.runs_code.is_none() {
            true => good(format!(
                "{} runs by `review.analysers: auto`: `{configured_by}` configures it",
                known.name
            )),
            false => missing(format!(
                "{} is installed, and `{configured_by}` configures it: {}",
                known.name,
                found.how_to_run()
            )),
        }
    });
    lines.collect()
}

/// Returns true if the configuration of a work tree has `review.analysers: auto`.
fn is_automatic(environment: &Environment, root: &Path) -> bool {
    let configuration = Configuration::on_disk(environment, root).ok().flatten();
    configuration.is_some_and(|it| it.analysers() == AnalyserSelection::Auto)
}

/// Looks for the program of an analyser that the repository defines, without running it.
fn check_custom_analyser(
    environment: &Environment,
    root: Option<&Path>,
    command: &CommandReviewer,
) -> Diagnosis {
    let CommandReviewer { name, program, .. } = command;
    let path = environment.variable("PATH").unwrap_or_default();
    let folders = path.split(':').map(|path| Path::new(path).join(program));
    let there = match program.contains('/') {
        true => root.is_some_and(|root| root.join(program).is_file()),
        false => folders.into_iter().any(|file| file.is_file()),
    };
    match there {
        true => good(format!("{name} is configured")),
        false => bad(format!("{name} is configured, but its program was not found")),
    }
}

fn check_analyser(known: &KnownAnalyser, root: Option<&Path>, asked_for: bool) -> Diagnosis {
    let KnownAnalyser { name, how_to_get, .. } = known;
    let version = in_repository(known, root).or_else(|| version(known.program, known.version));
    match (version, asked_for) {
        (Some(version), true) => {
            good(format!("{name} is configured: {version}{}", notes_on(known)))
        }
        (Some(version), false) => missing(format!(
            "{name} is installed, but not configured: {version}{}",
            notes_on(known)
        )),
        (None, true) => {
            bad(format!("{name} is configured, but not installed; install it: {how_to_get}"))
        }
        (None, false) => missing(format!("{name} is not installed; install it: {how_to_get}")),
    }
}

/// Returns the path of an analyser inside of the repository. The version is not queried, because
/// that would run code of the repository without the user's request.
fn in_repository(known: &KnownAnalyser, root: Option<&Path>) -> Option<String> {
    let path = format!("{}/{}", known.own_folder?, known.program);
    root?.join(&path).is_file().then_some(path)
}

/// Returns the needs and risks of an analyser, for a user who wants to configure it.
fn notes_on(known: &KnownAnalyser) -> String {
    let needs = known.needs.map(|needs| format!("; requires {needs}"));
    let runs = known.runs_code.map(|how| format!("; runs code of the repository: {how}"));
    [needs, runs].into_iter().flatten().collect()
}
