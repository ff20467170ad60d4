//! Reviews with models, against a server that speaks like a provider and says what it is told.

mod again;
mod budget;
mod damaged;
mod diagnostics;
mod failures;
mod gaps;
mod keys;
mod lookups;
mod memory;
mod own;
mod readings;
mod replay;
mod shown;
mod whole;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use assay_testkit::Repository;
use assay_testkit::model::{Answer, Asked, FakeModel, Fault, Options, Usage};
use serde_json::{Value, json};

use crate::{Ran, assay_with};

/// The key that the server wants.
const KEY: &str = "sk-test-5d0f8a7c61e94b23";

/// What the change makes of `shop.py`; each persona has a line of its own to find fault with.
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

/// The personas that the change wakes, and the lines of `shop.py` that each finds fault with. The
/// first alone has to answer.
const PERSONAS: [(&str, [u32; 2]); 3] =
    [("correctness", [6, 10]), ("intent", [13, 14]), ("testing", [9, 5])];

/// How a model is spoken to, and where below the server's address.
const ANTHROPIC: (&str, &str) = ("anthropic", "");

/// A repository with a change that wakes three personas, each of which reads on its own, and the model
/// that they ask.
pub(crate) struct Case {
    pub(crate) repository: Repository,
    server: FakeModel,
    /// What goes wrong now; the first that applies does.
    trouble: Arc<Troubles>,
}

type Troubles = Mutex<Vec<Trouble>>;

/// What goes wrong with questions that have all of some words.
struct Trouble {
    at: Vec<String>,
    what: Mishap,
    /// Whether it passes.
    once: bool,
}

#[derive(Clone)]
enum Mishap {
    Fault(Fault),
    /// Something else is said.
    Says(String),
    /// All is well, and dear.
    Takes(Usage),
    /// Something else is said, depending on what is asked.
    Answers(Arc<dyn Fn(&str) -> String + Send + Sync>),
}

impl Case {
    /// Sets up a review in Anthropic's dialect. `more` is the rest of the `models` part of the
    /// configuration, from within the one model on; `{url}` in it is the server's address.
    pub(crate) fn new(more: &str) -> Case {
        Case::speaking(ANTHROPIC, more)
    }

    /// Sets up a review in one of the dialects.
    fn speaking(dialect: (&str, &str), more: &str) -> Case {
        Case::of(&[("shop.py".to_owned(), AFTER.to_owned())], dialect, more)
    }

    /// Sets up a review of files that are new or changed.
    fn of(files: &[(String, String)], (api, path): (&str, &str), more: &str) -> Case {
        let trouble: Arc<Troubles> = Arc::default();
        let options = Options { key: Some(KEY.to_owned()), ..Options::default() };
        let script = {
            let trouble = Arc::clone(&trouble);
            move |asked: &Asked| answer_in(&trouble, &asked.text())
        };
        let server = FakeModel::start_with(options, script).unwrap();
        let url = format!("{}{path}", server.url());
        // Each persona reads on its own, beside what the test configures for reviews.
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

    /// Runs assay in the repository, with the key in its variable.
    fn run(&self, args: &[&str]) -> Ran {
        assay_with(self.repository.path(), args, b"", &[("FAKE_KEY", KEY)])
    }

    /// Runs assay with further variables.
    fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let variables = [&[("FAKE_KEY", KEY)], variables].concat();
        assay_with(self.repository.path(), args, b"", &variables)
    }

    /// Reviews the change with models.
    pub(crate) fn review(&self, args: &[&str]) -> Ran {
        self.run(&[&["review", "--models"], args].concat())
    }

    /// Lets something go wrong from now on, beside what goes wrong already.
    fn trouble(&self, at: &[&str], what: Mishap) {
        let at = at.iter().map(|word| (*word).to_owned()).collect();
        self.trouble.lock().unwrap().push(Trouble { at, what, once: false });
    }

    /// Lets something go wrong once.
    fn once(&self, at: &[&str], what: Mishap) {
        self.trouble(at, what);
        self.trouble.lock().unwrap().last_mut().unwrap().once = true;
    }

    /// Lets something go wrong from now on, and nothing else.
    fn only_trouble(&self, at: &[&str], what: Mishap) {
        self.no_trouble();
        self.trouble(at, what);
    }

    /// Lets all go well again.
    fn no_trouble(&self) {
        self.trouble.lock().unwrap().clear();
    }

    /// Puts a file into the main branch, below the change.
    fn commit_before(&self, path: &str, text: &str) {
        let repository = &self.repository;
        repository.git(&["switch", "--quiet", "main"]);
        repository.write(path, text);
        repository.commit("what decides on changes");
        repository.git(&["rebase", "--quiet", "main", "topic"]);
    }

    /// Gives how often the model was asked.
    pub(crate) fn asked(&self) -> usize {
        self.server.requests().len()
    }

    /// Gives the folders of the runs, the oldest first.
    fn runs(&self) -> Vec<PathBuf> {
        let folder = self.repository.path().join(".assay/runs");
        let mut runs: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        runs.sort();
        runs
    }
}

/// Reads what a run came to.
fn synthesis(run: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(run.join("synthesis.json")).unwrap()).unwrap()
}

/// Makes a repository with a configuration, and a change on a branch.
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

/// Answers, unless something goes wrong.
fn answer_in(trouble: &Troubles, text: &str) -> Answer {
    let mut trouble = trouble.lock().unwrap();
    let hit = trouble.iter().position(|it| it.at.iter().all(|word| text.contains(word)));
    let what = hit.map(|at| match trouble[at].once {
        true => trouble.remove(at).what,
        false => trouble[at].what.clone(),
    });
    match what {
        None => answer(text),
        Some(Mishap::Fault(fault)) => Answer { fault: Some(fault), ..answer(text) },
        Some(Mishap::Takes(usage)) => Answer { usage: Some(usage), ..answer(text) },
        Some(Mishap::Says(words)) => Answer::text(words),
        Some(Mishap::Answers(words)) => Answer::text(words(text)),
    }
}

/// Answers as each persona would; a second look confirms.
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

/// Returns the answer to a second look that says of each finding what `look` says of its text.
fn looks(asked: &str, look: impl Fn(&str) -> Value) -> Value {
    let findings = asked.split("### FINDING ").skip(1).zip(1u32..);
    let looks = findings.map(|(finding, number)| {
        let mut look = look(finding);
        look["finding"] = json!(number);
        look
    });
    json!({ "looks": looks.collect::<Vec<Value>>() })
}

/// What a persona reports that finds fault with lines of `shop.py`.
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
        // Long enough that the first half of the report has the first finding whole.
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

/// A persona that reads every change.
fn persona(name: &str, more: &str) -> String {
    format!(
        "---\nname: {name}\nabout: Is the change as {name} wants it?\n{more}\ntrigger: always\n---\n\n\
         You are somebody who looks at prices.\n"
    )
}

/// The titles of the findings, in order of the alphabet.
fn titles(synthesis: &Value) -> Vec<String> {
    let findings = synthesis["findings"].as_array().unwrap().iter();
    let mut titles: Vec<String> =
        findings.map(|finding| finding["title"].as_str().unwrap().to_owned()).collect();
    titles.sort();
    titles
}

/// What every persona finds, but for those who do not answer.
fn found_without(silent: &[&str]) -> Vec<String> {
    let heard = PERSONAS.iter().filter(|(name, _)| !silent.contains(name));
    let mut titles: Vec<String> = heard
        .flat_map(|(name, lines)| lines.map(|line| format!("{name} doubts line {line}")))
        .collect();
    titles.sort();
    titles
}
