//! Merging of the votes of many reviewers, compared with a comparison of all pairs.

use std::time::Duration;

use anyhow::Context;
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::title_similarity::{ComparedTitle, compare};
use assay_findings::vote::{LineRange, Vote};

use super::{Row, Target, median};
use crate::random::Random;

const REVIEWERS: usize = 20;
const FILES: usize = 200;
const FEW: usize = 100;
const MANY: usize = 10_000;

/// The number of titles whose pairs can be compared in seconds, not minutes.
const SAMPLE: usize = 2_000;

const VERBS: [&str; 8] =
    ["drops", "swallows", "leaks", "ignores", "overwrites", "blocks on", "retries", "trusts"];
const OBJECTS: [&str; 10] = [
    "the error of", "the lock in", "a connection in", "the timeout of", "user input in",
    "the return value of", "a partial write in", "the cancelled request in", "an empty list in",
    "the second header of",
];

/// Times merging few and many votes.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let (few, many) = (reports(FEW)?, reports(MANY)?);
    let circumstances = SynthesisInputs::default();
    let short = median(51, || synthesize(&few, &circumstances));
    let long = median(5, || synthesize(&many, &circumstances));
    let merged = synthesize(&many, &circumstances);
    let found = merged.findings.len() + merged.held_back.len();
    let ratio = long.as_secs_f64() / short.as_secs_f64();
    let what = format!("merging {MANY} votes of {REVIEWERS} reviewers into {found} findings");
    Ok(vec![
        Row::number(what, long.as_secs_f64(), " s", Target::AtMost(1.0)),
        Row::time(format!("  {FEW} votes"), short),
        Row::number(format!("  {MANY} votes against {FEW}"), ratio, "x", Target::AtMost(150.0)),
        Row::time(
            format!("  all pairs of {MANY} titles (extrapolated from {SAMPLE})"),
            all_pairs(&many),
        ),
    ])
}

/// Returns reports in which reviewers often mean the same in slightly different words.
fn reports(votes: usize) -> anyhow::Result<Vec<Report>> {
    let mut random = Random::new(1);
    let mut reports = Vec::new();
    for number in 0..REVIEWERS {
        let reviewer = Reviewer::new(format!("reviewer-{number}"), ReviewerKind::Persona);
        let mut report = Report::new(reviewer);
        for _ in 0..votes / REVIEWERS {
            report.votes.push(vote(&mut random, votes)?);
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Returns a vote on a random defect; there are fewer defects than votes.
fn vote(random: &mut Random, votes: usize) -> anyhow::Result<Vote> {
    let defect = random.below(votes * 2 / 5);
    let mut chosen = Random::new(defect as u64 + 1);
    let file = chosen.below(FILES);
    let line = 1 + chosen.below(2_000) as u32;
    let (verb, object) = (chosen.pick(&VERBS), chosen.pick(&OBJECTS));
    let name = format!("handle_{}", chosen.below(500));
    let title = match random.below(3) {
        0 => format!("`{name}` {verb} {object} the caller"),
        1 => format!("{verb} {object} `{name}`, the caller"),
        _ => format!("`{name}` {verb} {object} its caller"),
    };
    let grade = Grade::from_word(random.pick(&["P0", "P1", "P2", "P3"]));
    let mut vote = Vote::new(title, grade);
    vote.file = Some(RepoPath::parse(&format!("src/part_{file}.rs"), None)?);
    vote.lines = Some(LineRange::at(line + random.below(3) as u32).context("lines start at 1")?);
    vote.description = format!("{} It shows under load.", vote.title);
    Ok(vote)
}

/// Compares all pairs of a sample of the titles, and extrapolates the time for all titles.
fn all_pairs(reports: &[Report]) -> Duration {
    let subjects: Vec<ComparedTitle<'_>> = reports
        .iter()
        .flat_map(|report| &report.votes)
        .take(SAMPLE)
        .map(|vote| ComparedTitle { title: &vote.title, file: None, line: vote.line() })
        .collect();
    let time = median(1, || {
        let pairs = (0..subjects.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.filter(|(a, b)| compare(subjects[*a], subjects[*b]).is_same()).count()
    });
    time.mul_f64((MANY as f64 / SAMPLE as f64).powi(2))
}
