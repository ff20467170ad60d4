//! Statistics of a large ledger, compared with a small one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use assay_store::ledger::record::{
    Absence, CodeOrigin, Observation, ReportCost, RunCost, RunRecord, VoteRecord,
};
use assay_store::ledger::{AbsenceEvidence, FindingOutcome, Ledger};
use assay_store::task::Moment;

use super::{Row, Target, median};

const FEW: usize = 1_000;
pub(super) const MANY: usize = 100_000;

/// The number of findings that a run reports.
const PER_RUN: usize = 100;

/// The size of a finding's JSON in bytes, as in real ledgers.
const JSON_BYTES: usize = 2_000;

const TODAY: &str = "2026-06-15";

/// The first minute of the runs.
const START: &str = "2026-01-01T00:00:00Z";

/// Times reading the facts of statistics from a small and a large ledger.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let folder = empty_folder()?;
    let [few, many] = [FEW, MANY].map(|size| ledger(&folder.join(format!("{size}.db")), size));
    let (few, many) = (few?, many?);
    let time =
        |ledger: &Ledger| median(5, || ledger.facts(None, TODAY).map(|facts| facts.findings));
    let (short, long) = (time(&few), time(&many));
    let found = many.facts(None, TODAY)?.findings.len();
    let ratio = long.as_secs_f64() / short.as_secs_f64();
    std::fs::remove_dir_all(&folder)?;
    Ok(vec![
        Row::time(format!("facts of {found} findings for statistics"), long),
        Row::time(format!("  {FEW} findings"), short),
        Row::number(format!("  {MANY} findings against {FEW}"), ratio, "x", Target::AtMost(150.0)),
    ])
}

/// Returns an empty folder below `target/`.
fn empty_folder() -> anyhow::Result<PathBuf> {
    let folder = assay_testenv::workspace::root().join("target/bench/ledger");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn ledger(path: &Path, findings: usize) -> anyhow::Result<Ledger> {
    let mut ledger = Ledger::open(path)?;
    fill(&mut ledger, findings)?;
    Ok(ledger)
}

/// Adds findings to a ledger, half of which are resolved.
pub(super) fn fill(ledger: &mut Ledger, findings: usize) -> anyhow::Result<()> {
    for number in 0..findings / PER_RUN {
        let observations: Vec<Observation> =
            (0..PER_RUN).map(|at| observation(number * PER_RUN + at)).collect();
        ledger.record(&run(number * 2)?, &observations, &[])?;
        let files: Vec<&str> = observations.iter().map(|seen| seen.file.as_str()).collect();
        let open = ledger.open_findings(files.into_iter().step_by(2))?;
        let absences = open
            .iter()
            .map(|seen| Absence { finding: seen.key, evidence: AbsenceEvidence::CodeRemoved });
        ledger.record(&run(number * 2 + 1)?, &[], &absences.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn run(number: usize) -> anyhow::Result<RunRecord> {
    let start: Moment = START.parse().ok().context("the start is a time")?;
    let cost = RunCost { calls: 2, tokens: 9_000, usd: Some(0.05), ..RunCost::default() };
    let reviewer = "general".to_owned();
    Ok(RunRecord {
        id: format!("run-{number:06}"),
        at: Moment(start.0.checked_add(Duration::from_secs(60 * number as u64))?),
        change: "staged changes".to_owned(),
        branch: Some("topic".to_owned()),
        head: None,
        verdict: "ready".to_owned(),
        complete: true,
        cost,
        reports: vec![ReportCost { reviewer, model: Some("a/b".to_owned()), cost }],
        models: Vec::new(),
    })
}

fn observation(number: usize) -> Observation {
    let vote = |reviewer: &str| VoteRecord {
        reviewer: reviewer.to_owned(),
        number: 0,
        severity: "HIGH".to_owned(),
        confidence: Some(75),
        vote: "{}".to_owned(),
    };
    Observation {
        id: format!("{number:012x}"),
        fingerprint: format!("{number:032x}"),
        file: format!("src/part_{}/file_{number}.rs", number % 50),
        origin: CodeOrigin::default(),
        moved_from: None,
        line: Some(7),
        title: "Shell command built from a value".to_owned(),
        severity: "HIGH".to_owned(),
        impact: (number % 7) as u8,
        category: ["security", "correctness", "style"][number % 3].to_owned(),
        rule: number.is_multiple_of(2).then(|| format!("rust/rule-{}", number % 40)),
        outcome: FindingOutcome::Raised,
        why: None,
        before: None,
        finding: format!("{{\"text\":\"{}\"}}", "x".repeat(JSON_BYTES)),
        votes: vec![vote("rules"), vote("general")],
    }
}
