//! `claude` reviews a change itself: it reads the briefs of the server, a fake model answers, and
//! the server decides.

use std::fs;

use anyhow::{Context, ensure};
use assay_testkit::model::{Answer, FakeModel, PromptRequest};
use serde_json::{Value, json};

use super::claude::ClaudeOptions;
use super::fixture::{McpFixture, assay};
use crate::conformance::{Check, Outcome, agents};

/// The prefix of the server's tools in `claude`.
const SERVER: &str = "mcp__review";

/// The change: the model finds that it fails without prices.
const CHANGED: &[u8] =
    b"fn mean(prices: &[u32]) -> u32 {\n    prices.iter().sum::<u32>() / prices.len() as u32\n}\n";

/// The wrong line.
const QUOTE: &str = "prices.iter().sum::<u32>() / prices.len() as u32";

pub(super) fn run() -> Vec<Check> {
    let outcome = match agents::claude() {
        Ok(path) => Outcome::of(check(&path)),
        Err(error) => Outcome::unavailable(&error),
    };
    vec![("claude: a whole delegated review".to_owned(), outcome)]
}

/// Answers with the next step of a review, given the results of tools so far.
fn answer(asked: &PromptRequest) -> Answer {
    if !asked.body["tools"].to_string().contains(SERVER) {
        return Answer::text("There is no such tool.");
    }
    let results = results(&asked.body);
    let Some(started) = results.first() else { return call("start_review", json!({})) };
    let review = &started["review"];
    let report = |task: &Value, report: Value| {
        let (persona, part) = (&task["persona"], &task["part"]);
        let report =
            json!({ "review": review, "persona": persona, "part": part, "report": report });
        call("report_findings", report)
    };
    let tasks = list(&started["tasks"]);
    let finish = || call("finish_review", json!({ "review": review }));
    // The start has the first result, and each task one more.
    let done = results.len() - 1;
    if let Some(task) = tasks.get(done) {
        return report(task, found(task));
    }
    let Some(ended) = results.get(tasks.len() + 1) else { return finish() };
    let looks = list(&ended["second_looks"]["tasks"]);
    if let Some(look) = looks.get(done - tasks.len() - 1) {
        return report(look, json!({ "answer": "confirm", "why": "it is so" }));
    }
    match results.get(tasks.len() + looks.len() + 2) {
        Some(last) => Answer::text(format!("The change is {}.", word(&last["outcome"]["verdict"]))),
        None if looks.is_empty() => {
            Answer::text(format!("The change is {}.", word(&ended["outcome"]["verdict"])))
        }
        None => finish(),
    }
}

fn call(tool: &str, arguments: Value) -> Answer {
    Answer::call(format!("{SERVER}__{tool}"), &arguments)
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}

/// Returns the results of tools in a conversation, in order.
fn results(body: &Value) -> Vec<Value> {
    let messages = list(&body["messages"]);
    let parts = messages.iter().flat_map(|message| list(&message["content"]));
    let results = parts.filter(|part| part["type"] == "tool_result");
    results.map(|result| read(&result["content"])).collect()
}

/// Parses the JSON in a tool's result, which is a text or a list of texts.
fn read(content: &Value) -> Value {
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns the report of a persona: one finds the defect, the others nothing.
fn found(task: &Value) -> Value {
    let finding = json!({
        "title": "the mean of no prices divides by zero", "severity": "P1", "file": "src/a.rs",
        "line": 2, "why_it_matters": "Whoever has bought nothing yet ends the program.",
        "evidence": [format!("`{QUOTE}`")], "confidence": 100, "autofix_class": "manual",
        "owner": "downstream-resolver", "requires_verification": true,
        "suggested_fix": "say zero for no prices", "pre_existing": false,
    });
    let findings = if task["persona"] == "general" { json!([finding]) } else { json!([]) };
    json!({
        "reviewer": task["persona"], "findings": findings, "residual_risks": [],
        "testing_gaps": [],
    })
}

fn check(path: &str) -> anyhow::Result<()> {
    let model = FakeModel::start(answer);
    let fixture = McpFixture::new("delegated")?;
    fs::write(fixture.folder().join("src/a.rs"), CHANGED)?;
    let server = json!({ "command": assay(), "args": ["mcp", "review"] });
    let servers = json!({ "mcpServers": { "review": server } });
    let asks = ClaudeOptions { path, model: &model, servers, tools: SERVER };
    let said = asks.ask(&fixture, "Review my change with the review server.")?;
    ensure!(said == "The change is not ready.", "it said: {said}");
    let kept = fixture.stored_files()?;
    let synthesis = kept.iter().find(|(name, _)| name.ends_with("/synthesis.json"));
    let (_, synthesis) = synthesis.context("no run was kept")?;
    let synthesis: Value = serde_json::from_str(synthesis)?;
    let finding = &synthesis["findings"][0];
    ensure!(finding["reviewers"] == json!(["general"]), "{finding}");
    ensure!(finding["validation"]["state"] == "confirmed", "{finding}");
    ensure!(synthesis["verdict"]["incomplete"] == false, "{}", synthesis["verdict"]);
    Ok(())
}
