//! Reviews with models, against a server that imitates a provider and answers from a script.

mod answer_cache;
mod budget;
mod complete_review;
mod damaged;
mod diagnostics;
mod failures;
mod gaps;
mod keys;
mod lookups;
mod memory;
mod prompt_preview;
mod readings;
mod replay;
mod repository_personas;
mod shown;
mod statistics;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use assay_testkit::Repository;
use assay_testkit::model::{Answer, FakeModel, Fault, Options, PromptRequest, Usage};
use serde_json::{Value, json};

use crate::{AssayRun, assay_with};

/// The key that the server requires.
pub(crate) const KEY: &str = "sk-test-5d0f8a7c61e94b23";

/// The text of `shop.py` after the change; each persona has its own line to report.
const AFTER: &str = "\
def total(prices):
    return sum(prices)


def mean(prices):
    return sum(prices) / len(prices)


def cheapest(prices):
    return sorted(prices)[0]


def label(price):
    return str(price) + \" EUR\"
";

/// The personas that the change triggers, and the lines of `shop.py` that each reports. Only the
/// first is required.
const PERSONAS: [(&str, [u32; 2]); 3] =
    [("correctness", [6, 10]), ("intent", [13, 14]), ("testing", [9, 5])];

/// A dialect, and its path below the server's address.
const ANTHROPIC: (&str, &str) = ("anthropic", "");

/// A repository with a change that triggers three personas, each of which reads on its own, and the
/// model that they use.
pub(crate) struct Case {
    pub(crate) repository: Repository,
    server: FakeModel,
    /// The current failures; the first that matches applies.
    trouble: Arc<ModelFaults>,
}

type ModelFaults = Mutex<Vec<ModelFault>>;

/// A failure of the questions that contain all words.
struct ModelFault {
    at: Vec<String>,
    what: ModelFaultKind,
    /// True if the failure happens only once.
    once: bool,
}

#[derive(Clone)]
enum ModelFaultKind {
    Fault(Fault),
    /// The answer is this text.
    Says(String),
    /// The answer is right, with this usage.
    Takes(Usage),
    /// The answer depends on the question.
    Answers(Arc<dyn Fn(&str) -> String + Send + Sync>),
}

impl Case {
    /// Sets up a review in Anthropic's dialect. `more` is the rest of the `models` section of the
    /// configuration, from within its only model on; `{url}` in it is the server's address.
    pub(crate) fn new(more: &str) -> Case {
        Case::speaking(ANTHROPIC, more)
    }

    /// Sets up a review in one of the dialects.
    fn speaking(dialect: (&str, &str), more: &str) -> Case {
        Case::of(&[("shop.py".to_owned(), AFTER.to_owned())], dialect, more)
    }

    /// Sets up a review of files that are new or changed.
    fn of(files: &[(String, String)], (api, path): (&str, &str), more: &str) -> Case {
        let trouble: Arc<ModelFaults> = Arc::default();
        let options = Options { key: Some(KEY.to_owned()), ..Options::default() };
        let script = {
            let trouble = Arc::clone(&trouble);
            move |asked: &PromptRequest| answer_in(&trouble, &asked.text())
        };
        let server = FakeModel::start_with(options, script).unwrap();
        let url = format!("{}{path}", server.url());
        // Each persona reads on its own, in addition to the test's settings for reviews.
        let each = "review:\n  each_persona: true\n";
        let review = if more.contains("review:\n") { "" } else { each };
        let more = more.replace("review:\n", each);
        let configuration = format!(
            "{review}models:\n  use:\n    fake:\n      api: {api}\n      model: fake-1\n      \
             url: {url}\n      key_env: FAKE_KEY\n      \
             usd_per_million: {{ input: 1, output: 5 }}\n{more}"
        );
        let repository = changed(&configuration.replace("{url}", &url), files);
        Case { repository, server, trouble }
    }

    /// Runs assay in the repository, with the key in a variable.
    fn run(&self, args: &[&str]) -> AssayRun {
        assay_with(self.repository.path(), args, b"", &[("FAKE_KEY", KEY)])
    }

    /// Runs assay with further variables.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> AssayRun {
        let variables = [&[("FAKE_KEY", KEY)], variables].concat();
        assay_with(self.repository.path(), args, b"", &variables)
    }

    /// Reviews the change with models.
    pub(crate) fn review(&self, args: &[&str]) -> AssayRun {
        self.run(&[&["review", "--models"], args].concat())
    }

    /// Adds a failure.
    fn trouble(&self, at: &[&str], what: ModelFaultKind) {
        let at = at.iter().map(|word| (*word).to_owned()).collect();
        self.trouble.lock().unwrap().push(ModelFault { at, what, once: false });
    }

    /// Adds a failure that happens only once.
    fn once(&self, at: &[&str], what: ModelFaultKind) {
        self.trouble(at, what);
        self.trouble.lock().unwrap().last_mut().unwrap().once = true;
    }

    /// Sets the only failure.
    fn only_trouble(&self, at: &[&str], what: ModelFaultKind) {
        self.no_trouble();
        self.trouble(at, what);
    }

    /// Removes all failures.
    fn no_trouble(&self) {
        self.trouble.lock().unwrap().clear();
    }

    /// Commits a file to the main branch, below the change.
    fn commit_before(&self, path: &str, text: &str) {
        let repository = &self.repository;
        repository.git(&["switch", "--quiet", "main"]);
        repository.write(path, text);
        repository.commit("what decides on changes");
        repository.git(&["rebase", "--quiet", "main", "topic"]);
    }

    /// Returns the number of requests that the model received.
    pub(crate) fn asked(&self) -> usize {
        self.server.requests().len()
    }

    /// Returns the folders of the runs, the oldest first.
    fn runs(&self) -> Vec<PathBuf> {
        let folder = self.repository.path().join(".assay/runs");
        let mut runs: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        runs.sort();
        runs
    }
}

/// Reads the synthesis of a run.
fn synthesis(run: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(run.join("synthesis.json")).unwrap()).unwrap()
}

/// Returns a repository with a configuration, and a change on a branch.
fn changed(configuration: &str, files: &[(String, String)]) -> Repository {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", configuration);
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("a shop");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    for (path, text) in files {
        repository.write(path, text);
    }
    repository.commit("prices can be told apart");
    repository
}

/// Answers a question, or fails as configured.
fn answer_in(trouble: &ModelFaults, text: &str) -> Answer {
    let mut trouble = trouble.lock().unwrap();
    let hit = trouble.iter().position(|it| it.at.iter().all(|word| text.contains(word)));
    let what = hit.map(|at| match trouble[at].once {
        true => trouble.remove(at).what,
        false => trouble[at].what.clone(),
    });
    match what {
        None => answer(text),
        Some(ModelFaultKind::Fault(fault)) => Answer { fault: Some(fault), ..answer(text) },
        Some(ModelFaultKind::Takes(usage)) => Answer { usage: Some(usage), ..answer(text) },
        Some(ModelFaultKind::Says(words)) => Answer::text(words),
        Some(ModelFaultKind::Answers(words)) => Answer::text(words(text)),
    }
}

/// Answers as each persona does; a second look confirms.
pub(crate) fn answer(text: &str) -> Answer {
    if text.contains("You are the `validator`") {
        return Answer::json(&looks(text, |_| json!({ "answer": "confirm", "why": "it is so" })));
    }
    let (_, rest) = text.split_once("You are the `").unwrap();
    let (reviewer, _) = rest.split_once("` reviewer").unwrap();
    let own = PERSONAS.iter().find(|(name, _)| *name == reviewer);
    let lines = own.map_or([6, 10], |(_, lines)| *lines);
    Answer::json(&report(reviewer, &lines))
}

/// Returns the answer to a second look, with the result of `look` for the text of each finding.
fn looks(asked: &str, look: impl Fn(&str) -> Value) -> Value {
    let findings = asked.split("### FINDING ").skip(1).zip(1u32..);
    let looks = findings.map(|(finding, number)| {
        let mut look = look(finding);
        look["finding"] = json!(number);
        look
    });
    json!({ "looks": looks.collect::<Vec<Value>>() })
}

/// Returns the report of a persona on lines of `shop.py`.
fn report(reviewer: &str, lines: &[u32]) -> Value {
    let finding = |line: &u32| {
        let quote = AFTER.lines().nth(*line as usize - 1).unwrap();
        finding(&format!("{reviewer} doubts line {line}"), "P2", ("shop.py", *line), quote)
    };
    with_findings(reviewer, lines.iter().map(finding).collect())
}

fn with_findings(reviewer: &str, findings: Vec<Value>) -> Value {
    json!({
        "reviewer": reviewer,
        "findings": findings,
        "residual_risks": [],
        // Long enough that the first half of the report contains the whole first finding.
        "testing_gaps": ["no test has a list without prices. ".repeat(10)],
    })
}

fn finding(title: &str, severity: &str, (file, line): (&str, u32), quote: &str) -> Value {
    let quote = quote.trim();
    json!({
        "title": title,
        "severity": severity,
        "file": file,
        "line": line,
        "why_it_matters": format!("What `{quote}` does with an empty list is not what is meant."),
        "autofix_class": "manual",
        "owner": "downstream-resolver",
        "requires_verification": true,
        "confidence": 75,
        "evidence": [quote],
        "pre_existing": false,
    })
}

/// Returns the file of a persona that reads every change.
fn persona(name: &str, more: &str) -> String {
    format!(
        "---\nname: {name}\nabout: Is the change as {name} wants it?\n{more}\ntrigger: always\n---\n\n\
         You are somebody who looks at prices.\n"
    )
}

/// Returns the titles of the findings in alphabetical order.
fn titles(synthesis: &Value) -> Vec<String> {
    let findings = synthesis["findings"].as_array().unwrap().iter();
    let mut titles: Vec<String> =
        findings.map(|finding| finding["title"].as_str().unwrap().to_owned()).collect();
    titles.sort();
    titles
}

/// Returns the titles of the findings of all personas except those that do not answer.
fn found_without(silent: &[&str]) -> Vec<String> {
    let answering = PERSONAS.iter().filter(|(name, _)| !silent.contains(name));
    let mut titles: Vec<String> = answering
        .flat_map(|(name, lines)| lines.map(|line| format!("{name} doubts line {line}")))
        .collect();
    titles.sort();
    titles
}
