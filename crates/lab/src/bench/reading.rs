//! Parsing of a typical review, compared with a strict parser and two peers that repair JSON.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use assay_findings::read;
use assay_testenv::workspace::{command, target_folder};
use serde_json::{Value, json};

use super::{Row, Target, median, medians, scripts};
use crate::peers;
use crate::workspace::output;

const RUNS: usize = 5_000;

/// Times all parsers on a valid review and on a broken one.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let json = review();
    let text = in_a_fence(&json);
    let mut rows = readers("review", &text)?;
    let (own, strict) =
        medians(RUNS, || read::read(&text, None), || serde_json::from_str::<Value>(&json));
    rows.push(Row::time("  serde_json on its bare JSON", strict));
    let what = "  times as long as serde_json";
    rows.push(Row::number(what, ratio(own, strict), "x", Target::AtMost(4.0)));
    rows.extend(readers("broken review", &in_a_fence(&broken(&json)))?);
    Ok(rows)
}

/// Times assay and the peers on one text.
fn readers(what: &str, text: &str) -> anyhow::Result<Vec<Row>> {
    let path = target_folder("bench")?.join("review.md");
    std::fs::write(&path, text)?;
    // The first runs warm the machine up.
    median(RUNS, || read::read(text, None));
    let own = median(RUNS, || read::read(text, None));
    let mut rows = vec![Row::time(format!("reading a {what} of {} bytes", text.len()), own)];
    for (name, time, least) in
        [("json_repair", json_repair(&path), 50.0), ("jsonrepair", jsonrepair(&path), 5.0)]
    {
        match time {
            Ok(time) => {
                rows.push(Row::time(format!("  {name}"), time));
                let what = format!("  times as fast as {name}");
                rows.push(Row::number(what, ratio(time, own), "x", Target::AtLeast(least)));
            }
            Err(error) => rows.push(Row::missing(format!("  {name}"), format!("{error:#}"))),
        }
    }
    Ok(rows)
}

fn in_a_fence(json: &str) -> String {
    format!("I read the change. This is what I found:\n\n```json\n{json}\n```\n\nDone.\n")
}

/// Removes a comma and a closing bracket, and adds a comma: errors that every peer repairs.
fn broken(json: &str) -> String {
    let json = json.replacen("10,", "10", 1);
    json.replacen("\n    }\n  ],", ",\n    }\n  ,", 1)
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Returns six findings as a model writes them.
fn review() -> String {
    const FOUND: [(&str, &str); 6] = [
        ("src/api/users.rs", "`unwrap()` on the parsed header panics when a client sends none."),
        ("src/api/orders.rs", "The query is built with `format!(\"… id = {}\", id)`; bind it."),
        ("src/db/pool.rs", "The lock is held across `.await`, so two requests can wait forever."),
        ("src/api/upload.rs", "The file name is joined unchecked; `../` leaves the folder."),
        ("tests/upload.rs", "The test asserts the status alone and passes on an empty body."),
        ("src/mail.rs", "A failed send is logged and dropped,\nso the caller believes it went."),
    ];
    let findings: Vec<Value> = (10..)
        .step_by(31)
        .zip(FOUND)
        .map(|(line, (file, description))| {
            json!({
                "file": file,
                "line_number": line,
                "severity": "HIGH",
                "category": "correctness",
                "description": description,
                "suggested_fix": "Return a 400 with `ApiError::invalid(\"header\")` instead, and add a test for it.",
            })
        })
        .collect();
    let summary = "Six problems; the first two have to be fixed before this goes out.";
    format!("{:#}", json!({ "findings": findings, "summary": summary }))
}

fn json_repair(text: &Path) -> anyhow::Result<Duration> {
    let python = peers::json_repair()?;
    let script = target_folder("bench")?.join("reading.py");
    std::fs::write(&script, scripts::JSON_REPAIR)?;
    run_timed(&python.to_string_lossy(), script, text)
}

fn jsonrepair(text: &Path) -> anyhow::Result<Duration> {
    let script = peers::jsonrepair()?.join("reading.mjs");
    std::fs::write(&script, scripts::JSONREPAIR)?;
    run_timed("node", script, text)
}

/// Runs a script on a file and returns the seconds that it prints.
pub(super) fn run_timed(program: &str, script: PathBuf, file: &Path) -> anyhow::Result<Duration> {
    let mut command = command(program, &[]);
    command.arg(script).arg(file);
    let seconds: f64 = output(command)?.trim().parse().context("the script printed no time")?;
    Ok(Duration::from_secs_f64(seconds))
}
