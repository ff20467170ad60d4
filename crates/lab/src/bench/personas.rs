//! Ten personas that read a change concurrently, each answered after two seconds.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use assay_testenv::workspace::target_folder;
use assay_testkit::model::{Answer, FakeModel};
use serde_json::json;

use super::meter::{MEBIBYTE, ProcessCost, measure};
use super::{Row, Target};
use crate::repository::Repository;
use crate::workspace::assay;

const PERSONAS: [&str; 10] = [
    "correctness", "intent", "security", "testing", "maintainability", "performance",
    "reliability", "concurrency", "contract", "adversarial",
];

/// The delay of each answer.
const DELAY: Duration = Duration::from_secs(2);

const REVIEWS: usize = 5;

/// The size of the change.
const FILES: usize = 20;
const LINES_PER_FILE: usize = 50;

/// Times reviews by all personas. They find nothing, so there is no second look.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let folder = target_folder("bench/personas")?;
    let report = json!({
        "reviewer": "fake", "findings": [], "residual_risks": [], "testing_gaps": [],
    });
    let server = FakeModel::start(move |_: &_| Answer { delay: DELAY, ..Answer::json(&report) });
    let repository = repository(folder.join("repository"), &server.url())?;
    let binary = assay()?;
    let mut readings = Vec::new();
    for _ in 0..REVIEWS {
        let mut review = Command::new(&binary);
        review
            .args(["review", "--commit", "HEAD", "--format", "json", "--mode", "report-only"])
            .args(["--persona", &PERSONAS.join(",")])
            .current_dir(repository.folder());
        readings.push(measure(review, &folder.join("assay.json"))?);
    }
    let (asked, expected) = (server.requests().len(), REVIEWS * PERSONAS.len());
    ensure!(asked == expected, "the model was asked {asked} times and not {expected}");
    let reading = ProcessCost::median_of(readings).context("nothing was reviewed")?;
    let what = format!(
        "{} personas at {} s each, {FILES} files, {} lines",
        PERSONAS.len(),
        DELAY.as_secs(),
        FILES * LINES_PER_FILE
    );
    let memory = reading.peak as f64 / MEBIBYTE;
    Ok(vec![
        Row::number(what, reading.seconds, " s", Target::AtMost(2.3)),
        Row::count("  processor time", reading.processor * 1e3, " ms"),
        Row::number("  peak memory", memory, " MiB", Target::AtMost(60.0)),
    ])
}

/// Creates a repository whose last commit is the change.
fn repository(folder: std::path::PathBuf, url: &str) -> anyhow::Result<Repository> {
    let repository = Repository::new(folder)?;
    let configuration = format!(
        "models:\n  cache: false\n  use:\n    fake:\n      api: anthropic\n      \
         model: claude-sonnet-4-5\n      url: {url}\n"
    );
    repository.write("config/agent-framework.yaml", configuration.as_bytes())?;
    repository.commit("before")?;
    for file in 0..FILES {
        let mut text = format!("def fold_{file}(items, total):\n");
        for line in 0..LINES_PER_FILE - 2 {
            let factor = file * LINES_PER_FILE + line;
            writeln!(text, "    total += weigh(items[{line}], total, {factor})")?;
        }
        text.push_str("    return total\n");
        repository.write(&format!("src/fold_{file}.py"), text.as_bytes())?;
    }
    repository.commit("the change")?;
    Ok(repository)
}
