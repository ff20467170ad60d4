//! JIRA: every call through Prism, by Atlassian's description, and every document by its schema.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use assay_base::clock::Clock;
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::http::{Api, Authorization, Call, HttpTransport, SystemClock};
use assay_services::jira::{EpicChild, FieldValue, Flavour, Jira, NewTicket, TicketDraft};
use assay_testenv::workspace::{command, target_folder};
use assay_testkit::jira::{FakeJira, PROJECT, TOKEN, USER};
use serde_json::{Value, json};

use super::prism::Prism;
use super::{Check, Outcome, description};
use crate::peers;
use crate::workspace::output;

/// The file name of Atlassian's description of the cloud API.
const DESCRIPTION: &str = "jira-cloud-v3-trimmed.json";

/// The path of the document schema in its package.
const SCHEMA: &str = "node_modules/@atlaskit/adf-schema/json-schema/v1/full.json";

/// A text with all elements of documents.
const TEXT: &str = "# Review\n\nTwo *issues*, **both** in `a.rs`:\n- see [the run](https://ci.example/1)\n- \
    or https://a.example/x.\n\n```rust\nfn a() {}\n```\n```\n```\nlast\nline";

const SCRIPT: &str = r#"
import json
import sys

import jsonschema

documents, schema = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
validator = jsonschema.Draft4Validator(schema)
for number, document in enumerate(documents):
    for error in validator.iter_errors(document):
        print(number, "/" + "/".join(map(str, error.absolute_path)), error.message[:200])
"#;

pub(super) fn run(folder: Option<&Path>) -> Vec<Check> {
    let fake = FakeJira::cloud();
    let calls = match description(folder, DESCRIPTION) {
        Err(outcome) => outcome,
        Ok(description) => through_prism(&fake, &description),
    };
    let documents = judge_documents(&fake);
    vec![
        ("JIRA, every call by its description".to_owned(), calls),
        ("JIRA, every document by its schema".to_owned(), documents),
    ]
}

fn keys() -> Arc<Keys> {
    let value = Some(Key::new(TOKEN));
    Arc::new(Keys::new(KeySource::Variable { name: "TOKEN".to_owned(), value }))
}

fn wire(url: &str) -> anyhow::Result<(Arc<HttpTransport>, Arc<SystemClock>)> {
    let wire = HttpTransport::new(url.parse()?, Duration::from_secs(30));
    Ok((Arc::new(wire), Arc::new(SystemClock::new(&Clock::system(), Duration::ZERO, |_| ()))))
}

fn through_prism(fake: &FakeJira, description: &Path) -> Outcome {
    let served = fake.serve();
    let prism = match Prism::start(description, &served.url()) {
        Ok(prism) => prism,
        Err(error) => return Outcome::unavailable(&error),
    };
    Outcome::of(every_call(fake, &prism.url()).and_then(|()| wrong_calls(fake, &prism.url())))
}

/// Makes every call of the product.
fn every_call(fake: &FakeJira, url: &str) -> anyhow::Result<()> {
    let (wire, clock) = wire(url)?;
    let jira = Jira::new(wire, Flavour::Cloud { user: USER.to_owned() }, keys(), clock);
    let draft = |summary: &str| TicketDraft {
        summary: summary.to_owned(),
        description: TEXT.to_owned(),
        labels: vec!["assay".to_owned()],
    };
    let child = |summary: &str| EpicChild { kind: "Task".to_owned(), draft: draft(summary) };
    let children = ["One", "Two", "Three", "Four"].map(child);
    let (_, made) = jira.create_epic_with(PROJECT, &draft("Epic"), &children).context("epic")?;
    let first = made.first().context("there is no ticket")?;
    let part = NewTicket::Subtask { parent: first.clone() };
    jira.create(PROJECT, &part, &draft("Part")).context("subtask")?;
    jira.comment(first, TEXT).context("comment")?;
    jira.comment_once(first, &"abc".parse()?, TEXT).context("comment once")?;
    jira.transition(first, "Code Review").context("transition")?;
    jira.update_field(first, "Story Points", &FieldValue::Number(3.into())).context("number")?;
    jira.update_field(first, "Notes", &FieldValue::Text(TEXT.to_owned())).context("text")?;
    let found = jira.search("project = PROJ ORDER BY created ASC", 100).context("search")?;
    let issue = jira.issue(first, 10).context("issue")?;
    if found.issues.len() != 6 || issue.comments.len() != 2 || !fake.problems().is_empty() {
        bail!(
            "{} tickets, {} comments: {:?}",
            found.issues.len(),
            issue.comments.len(),
            fake.problems()
        );
    }
    println!("{} calls were taken", fake.asked().len());
    Ok(())
}

/// Makes invalid calls, and checks that they are refused.
fn wrong_calls(fake: &FakeJira, url: &str) -> anyhow::Result<()> {
    let (wire, clock) = wire(url)?;
    let user = Authorization::Basic { user: USER.to_owned() };
    let api = Api::new("JIRA", wire, keys(), user, clock);
    let api = api.with_header("accept", "application/json");
    let before = fake.asked().len();
    for (path, body) in [
        ("/rest/api/3/issue", json!({ "fields": "x" })),
        ("/rest/api/3/search/jql", json!({ "jql": "project = PROJ", "maxResults": "many" })),
    ] {
        match api.json::<Value>(&Call::post(path, body.clone())) {
            Err(error) if matches!(error.status(), Some(400..=499)) => {}
            other => bail!("`{path}` with {body} was not refused: {other:?}"),
        }
    }
    match fake.asked().len() == before {
        true => Ok(()),
        false => bail!("what was refused got through"),
    }
}

/// Validates all documents that the product wrote, and an invalid one.
fn judge_documents(fake: &FakeJira) -> Outcome {
    let of_ticket = |key: String| {
        let fields = ["description", "customfield_10003"].map(|field| fake.field(&key, field));
        fields.into_iter().chain(fake.comments(&key))
    };
    let documents: Vec<Value> = fake
        .keys()
        .into_iter()
        .flat_map(of_ticket)
        .filter(|document| !document.is_null())
        .collect();
    if documents.len() < 8 {
        return Outcome::Failed("not run: the calls before wrote no documents".to_owned());
    }
    let judge = || -> anyhow::Result<PathBuf> {
        let package = "@atlaskit/adf-schema";
        Ok(peers::npm("adf-schema", package, peers::ADF_SCHEMA)?.join(SCHEMA))
    };
    let tools =
        judge().and_then(|schema| Ok((schema, peers::pip("jsonschema", peers::JSONSCHEMA)?)));
    let (schema, python) = match tools {
        Ok(tools) => tools,
        Err(error) => return Outcome::unavailable(&error),
    };
    let wrong =
        json!([{ "type": "doc", "version": 1, "content": [{ "type": "text", "text": "x" }] }]);
    let said = |documents: &Value| judged(&python, &schema, documents);
    match (said(&json!(documents)), said(&wrong)) {
        (Ok(said), Ok(wrong)) if said.is_empty() && !wrong.is_empty() => {
            println!("{} documents were taken", documents.len());
            Outcome::Passed
        }
        (Ok(said), Ok(_)) if said.is_empty() => Outcome::Failed("a wrong one was taken".to_owned()),
        (Ok(said), Ok(_)) => Outcome::Failed(said),
        (Err(error), _) | (_, Err(error)) => Outcome::Failed(format!("{error:#}")),
    }
}

fn judged(python: &Path, schema: &Path, documents: &Value) -> anyhow::Result<String> {
    let folder = target_folder("conformance")?;
    let (script, file) = (folder.join("adf.py"), folder.join("adf.json"));
    std::fs::write(&script, SCRIPT)?;
    std::fs::write(&file, documents.to_string())?;
    let mut command = command(&python.to_string_lossy(), &[]);
    command.args([&script, &file, schema]);
    Ok(output(command)?.trim().to_owned())
}
