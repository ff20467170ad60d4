//! `assay eval delegate`: an agent reads the changes of a set over MCP, and is scored.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout};

use serde_json::{Value, json};

use super::run::SET;
use super::write;
use crate::command_in;
use crate::mcp;

/// A server that is talked to in turns.
struct Server {
    child: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let args = ["eval", "delegate", "set", "--out", "out"];
        let mut child = command_in(folder, &args).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Server { child, answers }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let line = mcp::call(1, tool, arguments);
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        let answer: Value = serde_json::from_str(&self.answers.next().unwrap().unwrap()).unwrap();
        let result = &answer["result"];
        match result["isError"] == true {
            true => Err(result["content"][0]["text"].as_str().unwrap().to_owned()),
            false => Ok(result["structuredContent"].clone()),
        }
    }

    /// Ends the server and returns its exit code.
    fn end(mut self) -> i32 {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code().unwrap()
    }

    /// Reviews the next change: each reader finds the same, or nothing.
    fn review(&mut self, finding: Option<&Value>) -> Value {
        let started = self.call("start_review", &json!({ "model": "fake-1" })).unwrap();
        let findings: Vec<&Value> = finding.into_iter().collect();
        self.hand_in(&started, &json!({ "findings": findings }).to_string());
        let review = json!({ "review": started["review"] });
        let mut ended = self.call("finish_review", &review).unwrap();
        if ended["state"] != "finished" {
            let confirm = json!({ "answer": "confirm", "why": "it is so" }).to_string();
            let looks =
                json!({ "review": started["review"], "tasks": ended["second_looks"]["tasks"] });
            self.hand_in(&looks, &confirm);
            ended = self.call("finish_review", &review).unwrap();
        }
        assert_eq!(ended["state"], "finished", "{ended}");
        started
    }

    fn hand_in(&mut self, started: &Value, report: &str) {
        for task in started["tasks"].as_array().unwrap() {
            let report = json!({
                "review": started["review"], "persona": task["persona"], "part": task["part"],
                "report": report,
            });
            self.call("report_findings", &report).unwrap();
        }
    }
}

fn score(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("out/score.json")).unwrap()).unwrap()
}

#[test]
fn an_agent_reads_every_change_blind_to_its_labels_and_is_scored() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SET);
    let mut server = Server::start(folder.path());
    let started = server.review(None);
    let told = started.to_string();
    assert!(told.contains("change 1 of 3"), "{told}");
    assert!(!told.contains("Conflict markers are left"), "a label is told: {told}");
    assert!(
        server
            .call(
                "read_brief",
                &json!({ "review": "20260101-000000-000", "persona": "correctness" })
            )
            .is_err()
    );
    assert_eq!(server.end(), 3, "two changes are left");
    let first = score(folder.path());
    assert_eq!(first["reviewers"][0]["cases"].as_array().unwrap().len(), 1);

    // A server that is started again goes on with the others.
    let mut server = Server::start(folder.path());
    let finding = json!({
        "title": "The discount is added instead of subtracted", "severity": "P1", "file": "cart.py",
        "line": 2, "why_it_matters": "The total grows by the discount.", "autofix_class": "manual",
        "owner": "downstream-resolver", "requires_verification": true, "confidence": 75,
        "evidence": ["return sum(prices) + discount"], "pre_existing": false,
    });
    server.review(Some(&finding));
    server.review(None);
    let refused = server.call("start_review", &json!({ "model": "fake-1" })).unwrap_err();
    assert!(refused.contains("all cases of the set are reviewed"), "{refused}");
    assert_eq!(server.end(), 0);
    let all = score(folder.path());
    let cases = all["reviewers"][0]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    let sign = cases.iter().find(|case| case["case"] == "sign").unwrap();
    assert_eq!(sign["counts"]["hits"], 1, "{sign}");
    assert!(folder.path().join("out/report.html").is_file());
}
