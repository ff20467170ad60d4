//! `assay eval delegate`: an agent reads the changes of a set over MCP, and is scored.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout};

use serde_json::{Value, json};

use super::run::SET;
use super::write;
use crate::mcp;
use crate::{assay_in, command_in};

/// A server with a dialogue of requests and responses.
struct Server {
    child: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(folder: &Path) -> Server {
        Server::start_with(folder, &[])
    }

    fn start_with(folder: &Path, args: &[&str]) -> Server {
        let args = [&["eval", "delegate", "set", "--out", "out"], args].concat();
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

    /// Reviews the next change; each reader reports the same finding, or none.
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
    report(&folder.join("out/score.json"))
}

fn report(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns a finding on the change `sign`, as personas report it.
fn wrong_sign() -> Value {
    json!({
        "title": "The discount is added instead of subtracted", "severity": "P1", "file": "cart.py",
        "line": 2, "why_it_matters": "The total grows by the discount.", "autofix_class": "manual",
        "owner": "downstream-resolver", "requires_verification": true, "confidence": 75,
        "evidence": ["return sum(prices) + discount"], "pre_existing": false,
    })
}

/// Returns the figures of the only reviewer of a report that replays must reproduce, and the
/// findings of each case.
fn figures(report: &Value, outputs: &Path) -> (Value, Vec<Value>) {
    let reviewer = &report["reviewers"][0];
    let findings = ["clean", "markers", "sign"].map(|case| {
        let text = fs::read_to_string(outputs.join(format!("{case}.json"))).unwrap();
        let output: Value = serde_json::from_str(&text).unwrap();
        json!([output["findings"], output["verdict"], output["held_back"]])
    });
    let cases = reviewer["cases"].as_array().unwrap().iter().map(|case| {
        json!([case["case"], case["counts"], case["blocked"], case["effort"]["calls"]])
    });
    (cases.collect(), findings.to_vec())
}

#[test]
fn an_agent_reads_every_change_blind_to_its_labels_and_is_scored() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SET);
    let mut server = Server::start(folder.path());
    let started = server.review(None);
    let shown = started.to_string();
    assert!(shown.contains("change 1 of 3"), "{shown}");
    assert!(!shown.contains("Conflict markers are left"), "a label is told: {shown}");
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

    // A restarted server continues with the other cases.
    let mut server = Server::start(folder.path());
    server.review(Some(&wrong_sign()));
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

#[test]
fn recorded_answers_of_an_agent_give_the_same_findings_verdicts_and_scores_offline() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, SET);
    let mut server = Server::start_with(folder, &["--record", "answers"]);
    server.review(None);
    server.review(Some(&wrong_sign()));
    assert_eq!(server.end(), 3);
    // A second server adds to the recording of the first.
    let mut server = Server::start_with(folder, &["--record", "answers"]);
    server.review(None);
    assert_eq!(server.end(), 0);
    let kept = fs::read_to_string(folder.join("answers/answers.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 3, "{kept}");
    assert!(!kept.contains("return sum(prices)\\n"), "a question is kept: {kept}");

    let args = ["eval", "set", "--reviewers", "rules", "--replay", "answers", "--out", "again"];
    let ran = assay_in(folder, &args, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("replayed=answers"), "{}", ran.stdout);
    assert!(ran.stdout.contains("answers replayed from a recording"), "{}", ran.stdout);
    let mut again = report(&folder.join("again/score.json"));
    again["reviewers"].as_array_mut().unwrap().remove(0);
    let first = figures(&score(folder), &folder.join("out/delegated"));
    assert_eq!(first, figures(&again, &folder.join("again/replayed=answers")));

    // A recording of the set is replayed by default.
    fs::create_dir_all(folder.join("set/recordings")).unwrap();
    fs::rename(folder.join("answers"), folder.join("set/recordings/agent")).unwrap();
    let ran = assay_in(folder, &["eval", "set"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("recorded=agent  1.000"), "{}", ran.stdout);
}

#[test]
fn a_question_that_the_recording_does_not_answer_is_named_and_no_result_is_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, SET);
    let mut server = Server::start_with(folder, &["--record", "answers"]);
    server.review(None);
    server.review(Some(&wrong_sign()));
    server.review(None);
    assert_eq!(server.end(), 0);
    let file = folder.join("answers/answers.jsonl");
    let kept = fs::read_to_string(&file).unwrap();
    let replay = || {
        let args = ["eval", "set", "--reviewers", "rules", "--replay", "answers"];
        assay_in(folder, &args, b"")
    };

    // A changed wording of one question has another hash.
    let mut lines: Vec<Value> =
        kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sign = lines.iter().position(|line| line["case"] == "sign").unwrap();
    lines[sign]["review"]["answers"][0]["question"] = "0".repeat(32).into();
    let write_lines = |lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, text).unwrap();
    };
    write_lines(&lines);
    let ran = replay();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("NOT READ: sign: the recording answers another wording"));
    assert!(ran.stdout.contains("assay eval rekey"), "{}", ran.stdout);

    // The answers are transferred, and marked.
    let ran = assay_in(folder, &["eval", "rekey", "set", "answers"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("1 of them given to an earlier wording"), "{}", ran.stdout);
    let ran = replay();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let shown = "1 of them given to an earlier wording of the question";
    assert!(ran.stdout.contains(shown), "{}", ran.stdout);
    let rekeyed = fs::read_to_string(&file).unwrap().replace(r#","earlier_wording":true"#, "");
    assert_eq!(rekeyed, kept, "nothing but the mark is different");

    // An answer is missing.
    lines[sign]["review"]["answers"].as_array_mut().unwrap().remove(0);
    write_lines(&lines);
    let ran = replay();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the recording has no answer to the question"), "{}", ran.stdout);
    let ran = assay_in(folder, &["eval", "rekey", "set", "answers"], b"");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("questions without an answer in the recording: sign/"));
    assert_eq!(replay().code, 3, "the question stays without an answer");
}

/// Answers all briefs of a folder that have no answer yet, and returns their number.
fn answer_briefs(folder: &Path, answer: impl Fn(&str, &str) -> String) -> usize {
    let mut answered = 0;
    for case in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if !case.is_dir() {
            continue;
        }
        let briefs = fs::read_dir(&case).unwrap().map(|entry| entry.unwrap().path());
        for brief in briefs.collect::<Vec<_>>() {
            let Some(name) = brief.to_str().unwrap().strip_suffix(".brief.txt") else { continue };
            let file = format!("{name}.answer.json");
            if !Path::new(&file).exists() {
                fs::write(&file, answer(name, &fs::read_to_string(&brief).unwrap())).unwrap();
                answered += 1;
            }
        }
    }
    answered
}

/// Answers as a reader that sees the wrong sign, and confirms all findings.
fn read_brief(name: &str, brief: &str) -> String {
    assert!(!brief.contains("Conflict markers are left"), "a label is told: {brief}");
    if name.contains("/validator-") {
        return json!({ "looks": [{ "finding": 1, "answer": "confirm", "why": "it is so" }] })
            .to_string();
    }
    let findings: Vec<Value> = brief.contains("+ discount").then(wrong_sign).into_iter().collect();
    json!({ "findings": findings }).to_string()
}

#[test]
fn briefs_are_answered_as_files_in_rounds_until_no_question_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, SET);
    let args = ["eval", "delegate", "set", "--out", "out", "--briefs", "briefs"];
    let args = [&args[..], &["--model", "fake-1", "--record", "set/recordings/agent"]].concat();
    let briefs = folder.join("briefs");
    let first = assay_in(folder, &args, b"");
    assert_eq!(first.code, 3, "{}{}", first.stdout, first.stderr);
    assert!(first.stderr.contains("without an answer: read each brief"), "{}", first.stderr);
    assert!(answer_briefs(&briefs, read_brief) >= 3);
    let second = assay_in(folder, &args, b"");
    assert_eq!(second.code, 3, "second looks are open: {}{}", second.stdout, second.stderr);
    assert!(answer_briefs(&briefs, read_brief) >= 1);
    let third = assay_in(folder, &args, b"");
    assert_eq!(third.code, 0, "{}{}", third.stdout, third.stderr);
    assert_eq!(answer_briefs(&briefs, read_brief), 0);
    assert!(third.stdout.contains("delegated  1.000"), "{}", third.stdout);

    let ran = assay_in(folder, &["eval", "set", "--reviewers", "recorded", "--out", "again"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let again = report(&folder.join("again/score.json"));
    let decided = figures(&score(folder), &folder.join("out/delegated"));
    assert_eq!(decided, figures(&again, &folder.join("again/recorded=agent")));
}

#[test]
fn an_answer_whose_question_has_changed_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, SET);
    let args = ["eval", "delegate", "set", "--out", "out", "--briefs", "briefs", "--case", "sign"];
    assert_eq!(assay_in(folder, &args, b"").code, 3);
    let briefs = folder.join("briefs");
    answer_briefs(&briefs, read_brief);
    write(folder, &[("set/changes/sign/before/docs/discount.md", "No discount is negative.\n")]);
    let ran = assay_in(folder, &args, b"");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let names: Vec<String> = fs::read_dir(briefs.join("sign"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.ends_with(".outdated")), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".answer.json")), "{names:?}");
    let asked = names.iter().find(|name| name.ends_with(".brief.txt")).unwrap();
    let brief = fs::read_to_string(briefs.join("sign").join(asked)).unwrap();
    assert!(brief.contains("No discount is negative"), "{brief}");
}

#[test]
fn a_plain_question_is_answered_as_files_and_replayed_beside_a_review() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, SET);
    let args = ["eval", "delegate", "set", "--out", "out", "--briefs", "briefs", "--question"];
    let args = [&args[..], &["--record", "set/recordings/question"]].concat();
    assert_eq!(assay_in(folder, &args, b"").code, 3);
    let answer = |_: &str, brief: &str| {
        let findings = match brief.contains("+ discount") {
            true => json!([{ "file": "cart.py", "line": 2, "severity": "HIGH",
                "title": "The discount is added instead of subtracted", "description": "" }]),
            false => json!([]),
        };
        json!({ "findings": findings }).to_string()
    };
    assert_eq!(answer_briefs(&folder.join("briefs"), answer), 3);
    let ran = assay_in(folder, &args, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = assay_in(folder, &["eval", "set", "--reviewers", "recorded", "--out", "again"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let again = report(&folder.join("again/score.json"));
    let counts = |report: &Value| report["reviewers"][0]["summary"]["counts"].clone();
    assert_eq!(counts(&again), counts(&score(folder)));
    assert_eq!(counts(&again)["hits"], 1);
}
