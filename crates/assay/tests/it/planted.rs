//! Credentials in files of many types: each is reported, and none is shown, sent or stored.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assay_testkit::Repository;
use assay_testkit::credentials::{PlantedFile, Random, planted};
use assay_testkit::model::{Answer, FakeModel, PromptRequest};
use serde_json::{Value, json};

use crate::injection::files_below;
use crate::{AssayRun, assay_with};

const FORMATS: [&str; 8] =
    ["terminal", "json", "sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"];

const CONFIGURATION: &str = "models:\n  use:\n    fake:\n      api: anthropic\n      model: fake-1\n      url: ${FAKE_MODEL_URL}\n  budget:\n    day:\n      calls: 10000\n";

/// An address on which no server listens.
const NO_SERVER: &str = "http://127.0.0.1:9";

/// A change that adds the files, and the values that must not be seen.
struct PlantedChange {
    repository: Repository,
    files: Vec<PlantedFile>,
    values: Vec<String>,
}

impl PlantedChange {
    fn new() -> PlantedChange {
        let files = planted(3);
        let mut values: Vec<String> = files
            .iter()
            .flat_map(|file| &file.secrets)
            .flat_map(|secret| secret.values.iter().cloned())
            .collect();
        let repository = Repository::new();
        repository.write("config/agent-framework.yaml", CONFIGURATION);
        repository.write("run.py", "def run(name):\n    return name\n");
        repository.commit("before");
        let mut random = Random(99);
        let mut password = || {
            let value = random.make("A24").0;
            values.push(value.clone());
            value
        };
        repository.git(&["switch", "--quiet", "--create", &format!("token={}", password())]);
        for file in &files {
            repository.write(file.path, &file.text);
        }
        repository.write("run.py", "def run(name):\n    return eval(name)\n");
        repository.commit(&format!(
            "shop: log in\n\npassword: {}\nDB_PASSWORD={}",
            password(),
            password()
        ));
        PlantedChange { repository, files, values }
    }

    fn run(&self, url: &str, args: &[&str]) -> AssayRun {
        assay_with(self.repository.path(), args, b"", &[("FAKE_MODEL_URL", url)])
    }

    fn check(&self, place: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        for value in &self.values {
            let at = text.find(value.as_str());
            let around = at.map(|at| {
                let before = text[..at].chars().rev().take(120).collect::<Vec<_>>();
                before.into_iter().rev().collect::<String>()
            });
            assert!(at.is_none(), "{place}: `{value}` behind …{}", around.unwrap_or_default());
        }
    }

    fn check_ran(&self, place: &str, ran: &AssayRun) {
        self.check(&format!("stdout of {place}"), ran.stdout.as_bytes());
        self.check(&format!("stderr of {place}"), ran.stderr.as_bytes());
    }

    fn check_folder(&self, folder: &Path) {
        let files = files_below(folder);
        assert!(!files.is_empty(), "{} is empty", folder.display());
        for file in files {
            self.check(&file.display().to_string(), &fs::read(&file).unwrap());
        }
    }
}

/// Quotes a line of the change, and repeats the question.
fn echo(asked: &PromptRequest) -> Answer {
    if asked.system.starts_with("You take a second look") {
        return Answer::json(&json!({ "answer": "confirm", "why": "It is so.", "quote": null }));
    }
    Answer::json(&json!({
        "reviewer": "fake",
        "findings": [{
            "title": "Unsafe evaluation of what comes in", "severity": "P1", "file": "run.py", "line": 2,
            "why_it_matters": "Anything runs.", "evidence": ["`return eval(name)`"],
            "confidence": 100, "autofix_class": "manual", "owner": "human",
            "requires_verification": false, "suggested_fix": null, "pre_existing": false,
        }],
        "residual_risks": [], "testing_gaps": [],
    }))
}

fn call(folder: &Path, tool: &str, arguments: &Value) -> (Value, AssayRun) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let variables = [("FAKE_MODEL_URL", NO_SERVER)];
    let ran = assay_with(folder, &["mcp", "review"], format!("{line}\n").as_bytes(), &variables);
    (ran.json()["result"]["structuredContent"].clone(), ran)
}

#[test]
fn every_planted_credential_is_a_finding() {
    let planted = PlantedChange::new();
    let ran = planted.run(NO_SERVER, &["review", "--commit", "HEAD", "--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let synthesis = ran.json();
    let findings = synthesis["findings"].as_array().unwrap().iter();
    let found: BTreeSet<(&str, u64)> = findings
        .filter(|finding| finding["rule"].as_str().is_some_and(|rule| rule.starts_with("secret/")))
        .filter_map(|finding| Some((finding["file"].as_str()?, finding["line"].as_u64()?)))
        .collect();
    let mut missed = Vec::new();
    for file in &planted.files {
        for secret in &file.secrets {
            let at = (file.path, u64::from(secret.line));
            if !found.contains(&at) {
                missed.push(at);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn no_planted_credential_is_shown_sent_or_kept() {
    let planted = PlantedChange::new();
    for format in FORMATS {
        let ran = planted.run(NO_SERVER, &["review", "--commit", "HEAD", "--format", format]);
        assert_eq!(ran.code, 1, "{format}: {}", ran.stderr);
        planted.check_ran(format, &ran);
    }
    let server = FakeModel::start(echo);
    let record = tempfile::tempdir().unwrap();
    let folder = record.path().join("record");
    let args = ["review", "--commit", "HEAD", "--models", "--record", folder.to_str().unwrap()];
    let ran = planted.run(&server.url(), &args);
    planted.check_ran("the review by models", &ran);
    let received = server.requests();
    assert!(!received.is_empty(), "{}{}", ran.stdout, ran.stderr);
    for request in received {
        planted.check("sent to the model", &request.body);
    }
    planted.check_folder(record.path());
    planted.check_folder(&planted.repository.path().join(".assay"));
    for format in FORMATS {
        planted.check_ran(format, &planted.run(NO_SERVER, &["replay", "--format", format]));
    }
    let page = record.path().join("page.html");
    let args = ["report", "--html", page.to_str().unwrap()];
    planted.check_ran("the report", &planted.run(NO_SERVER, &args));
    planted.check("the page", &fs::read(&page).unwrap());
    for args in [&["findings", "list"][..], &["findings", "list", "--format", "json"]] {
        planted.check_ran("the ledger", &planted.run(NO_SERVER, args));
    }
}

#[test]
fn no_planted_credential_is_in_a_brief() {
    let planted = PlantedChange::new();
    let folder = planted.repository.path();
    let (started, ran) =
        call(folder, "start_review", &json!({ "model": "fake-1", "commit": "HEAD" }));
    planted.check_ran("start_review", &ran);
    let review = started["review"].as_str().unwrap_or_else(|| panic!("{}", ran.stdout));
    let mut whole = String::new();
    for task in started["tasks"].as_array().unwrap() {
        let mut asked = json!({
            "review": review, "persona": task["persona"], "part": task["part"], "offset": 0,
        });
        while asked["offset"].is_u64() {
            let (brief, ran) = call(folder, "read_brief", &asked);
            planted.check_ran("read_brief", &ran);
            whole.push_str(brief["text"].as_str().unwrap_or_else(|| panic!("{}", ran.stdout)));
            asked["offset"] = brief["next_offset"].clone();
        }
    }
    planted.check("the pieces of all briefs", whole.as_bytes());
    assert!(whole.contains("[redacted]"), "{whole}");
    planted.check_folder(&folder.join(".assay"));
}

/// An analyser quotes the bare value, without the name that identifies it as a credential.
#[test]
fn credentials_quoted_by_an_analyser_are_redacted() {
    let repository = Repository::new();
    let value = Random(5).make("P").0;
    let commands = "review:\n  commands:\n    - name: house-lint\n      run: [\"sh\", \"lint\"]\n      form: rdjsonl\n";
    repository.write("config/agent-framework.yaml", commands);
    let location = json!({ "path": "app.py", "range": { "start": { "line": 2 } } });
    let message = json!({ "message": format!("The word {value} is odd"), "severity": "WARNING", "location": location });
    repository.write("lint", format!("cat <<'END'\n{message}\nEND\n"));
    repository.commit("before");
    repository
        .write("app.py", format!("def f():\n    password = \"{value}\"\n    return password\n"));
    repository.commit("after");
    let args = ["review", "--commit", "HEAD", "--format", "json"];
    let ran = assay_with(repository.path(), &args, b"", &[]);
    assert!(ran.stdout.contains("The word [redacted] is odd"), "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains(&value), "{}", ran.stdout);
}
