//! Detection of recurring issues, compared with Python's `difflib`.

use std::time::Duration;

use assay_findings::recurring::{IssueRound, RoundIssue, find_recurrences};
use assay_testenv::workspace::target_folder;
use serde_json::json;

use super::reading::run_timed;
use super::{Row, Target, median, scripts};
use crate::random::Random;

const ROUNDS: usize = 50;
const ISSUES: usize = 200;

/// The size of the sample for `difflib`, which compares a few thousand pairs per second.
const SAMPLE_ROUNDS: usize = 2;
const SAMPLE_ISSUES: usize = 50;

/// Times the detection over a long history.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let mut random = Random::new(1);
    let mut rounds: Vec<IssueRound> = (0..ROUNDS).map(|_| round(&mut random)).collect();
    let current = round(&mut random).issues;
    let time = median(11, || find_recurrences(&current, &rounds, 3));
    let back = find_recurrences(&current, &rounds, 3).len();
    let what = format!("{back} of {ISSUES} issues recur in {ROUNDS} rounds of {ISSUES}");
    let mut rows = vec![Row::number(what, time.as_secs_f64() * 1e3, " ms", Target::AtMost(50.0))];
    rounds.truncate(SAMPLE_ROUNDS);
    let what =
        format!("  difflib (extrapolated from {SAMPLE_ROUNDS} rounds of {SAMPLE_ISSUES} issues)");
    rows.push(match difflib(&current, &rounds) {
        Ok(time) => Row::time(what, time),
        Err(error) => Row::missing(what, format!("{error:#}")),
    });
    Ok(rows)
}

/// Returns a round of issues, most of which other rounds have in different words.
fn round(random: &mut Random) -> IssueRound {
    let issue = |random: &mut Random| {
        let defect = random.below(ISSUES * 3);
        let wording = random.pick(&["is not checked in", "is unchecked in", "isn't checked in"]);
        RoundIssue {
            title: Some(format!("Value {} {wording} `load_{defect}`", ["a", "b", "c"][defect % 3])),
            file: Some(format!("src/part_{}.rs", defect % 40)),
            line: Some(1 + defect as u32 + random.below(5) as u32),
            ..RoundIssue::default()
        }
    };
    IssueRound { status: None, issues: (0..ISSUES).map(|_| issue(random)).collect() }
}

fn difflib(current: &[RoundIssue], past: &[IssueRound]) -> anyhow::Result<Duration> {
    let key = |issue: &RoundIssue| {
        let (title, file) = (issue.title.as_deref(), issue.file.as_deref());
        format!("{}|{}|{}", title.unwrap_or(""), file.unwrap_or(""), issue.line.unwrap_or(0))
    };
    let current: Vec<String> = current.iter().take(SAMPLE_ISSUES).map(key).collect();
    let past: Vec<String> =
        past.iter().flat_map(|round| round.issues.iter().take(SAMPLE_ISSUES)).map(key).collect();
    let folder = target_folder("bench")?;
    let (input, script) = (folder.join("issues.json"), folder.join("recurring.py"));
    std::fs::write(&input, json!([current, past]).to_string())?;
    std::fs::write(&script, scripts::DIFFLIB)?;
    let pairs = |rounds: usize, issues: usize| (rounds * issues * issues) as f64;
    let factor = pairs(ROUNDS, ISSUES) / pairs(SAMPLE_ROUNDS, SAMPLE_ISSUES);
    Ok(run_timed("python3", script, &input)?.mul_f64(factor))
}
