//! Real agents: command-line programs between assay and a fake model. The answers of the model must
//! come back as findings, and a failure must not look like a clean change. A real model, the
//! smallest available, covers the unforeseen cases.

mod fixture;
mod local_model;
mod programs;

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use assay_testkit::model::{
    Answer, Cut, DAMAGED_REPORTS, DamagedReport, FakeModel, Fault, Pause, PromptRequest,
    ReceivedRequest, Script, SmallReview,
};
use serde_json::Value;

use self::fixture::{AgentFixture, AgentSetup, FILE, ReviewRun};
use self::programs::{PROGRAMS, Program};
use super::{Check, Outcome};
use crate::workspace;

/// The time limit of one answer in a good case.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);

/// The time that a review may take beyond the limit of one answer.
const MAX_OVERTIME: Duration = Duration::from_secs(12);

/// The personas that read the change with each agent.
const PERSONAS: [&str; 4] = ["correctness", "security", "performance", "reliability"];

/// A fault, and the advice that the report must contain.
struct FaultCase {
    name: &'static str,
    fault: Fault,
    advice: &'static str,
}

/// Advice that is also accepted for an agent that assay knows only by its configuration.
const ANY_ADVICE: [&str; 2] = ["run the agent by hand to see the reason", "raise `models.seconds`"];

/// The faults for such agents, which retry by themselves for minutes.
const FAULTS_FOR_ALL: [&str; 4] = ["401", "empty answer", "refusal", "hang in the answer"];

fn fault_cases() -> Vec<FaultCase> {
    let fault_case = |name, fault, advice| FaultCase { name, fault, advice };
    vec![
        fault_case("401", Fault::status(401), "log in to the agent, or check its API key"),
        fault_case("429", Fault::status(429), "try again later"),
        fault_case("500", Fault::status(500), "try again later"),
        fault_case(
            "empty answer",
            Fault::Empty,
            "the answer is empty; try again later, or choose another",
        ),
        fault_case("refusal", Fault::Refusal, "choose another model"),
        fault_case(
            "hang before the answer",
            Fault::Hang(Pause::BeforeHead),
            "raise `models.seconds`",
        ),
        fault_case("hang in the answer", Fault::Hang(Pause::MidStream), "raise `models.seconds`"),
        fault_case("cut stream", Fault::Cut { after: 300, by: Cut::Close }, "try again later"),
    ]
}

/// Runs reviews with each agent, in good cases and with faults, and then with a real model.
pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    workspace::assay()?;
    let mut checks = Vec::new();
    for program in &PROGRAMS {
        checks.extend(check(program));
    }
    checks.extend(local_model::run());
    Ok(checks)
}

/// Installs `claude` and returns the folders of it and of its runtime.
pub(super) fn claude() -> anyhow::Result<String> {
    let claude = PROGRAMS.iter().find(|program| program.name == "claude");
    claude.context("it is one of the agents")?.install()
}

fn check(program: &Program) -> Vec<Check> {
    let name = |what: &str| format!("{}: {what}", program.name);
    let path = match program.install() {
        Ok(path) => path,
        Err(error) => return vec![(name("a review"), Outcome::unavailable(&error))],
    };
    println!("{} {}", program.name, program.version);
    let mut checks = vec![
        (name("a review"), Outcome::of(good_review(program, &path))),
        (name("a secret"), Outcome::of(secret(program, &path))),
    ];
    let is_tried =
        |fault_case: &FaultCase| program.is_known || FAULTS_FOR_ALL.contains(&fault_case.name);
    for fault_case in fault_cases().into_iter().filter(is_tried) {
        let outcome = Outcome::of(bad_review(program, &path, &fault_case));
        checks.push((name(fault_case.name), outcome));
    }
    for report in DAMAGED_REPORTS.iter().filter(|_| program.is_known) {
        let outcome = Outcome::of(damaged_review(program, &path, *report));
        checks.push((name(report.name), outcome));
    }
    checks
}

// ---- good cases

fn good_review(program: &Program, path: &str) -> anyhow::Result<()> {
    let server = FakeModel::start(SmallReview);
    let fixture =
        AgentFixture::new(program.name, &program.setting(&server.url(), path, ANSWER_TIMEOUT))?;
    let ran = fixture.review(&["--models"])?;
    println!("  a review: {}", ran.line());
    let result = ran.json()?;
    ensure!(ran.code == 0, "it ended with {}: {}", ran.code, ran.output_text());
    ensure!(result["verdict"]["state"] == "ready_with_fixes", "the verdict: {}", ran.output_text());
    let calls = PERSONAS.len() as u64 + 1;
    let spent = &result["spent"];
    ensure!(spent["calls"] == calls && spent["tokens"].as_u64() > Some(0), "spent: {spent}");
    all_personas_answered(&result)?;
    is_grounded(&result)?;
    let run = fixture.only_run()?;
    for persona in PERSONAS {
        for name in [format!("reviewer-{persona}.json"), format!("reviewer-{persona}.compact.json")]
        {
            let report = std::fs::read_to_string(run.join(&name)).context(name.clone())?;
            ensure!(report.contains(FILE), "`{name}` has no finding: {report}");
        }
    }
    let was_shown = |body: &[u8]| {
        let body = String::from_utf8_lossy(body);
        body.contains(FILE) && body.contains("token.parse().unwrap()")
    };
    let shown = server.requests().iter().filter(|request| was_shown(&request.body)).count();
    ensure!(shown > PERSONAS.len(), "the change was shown {shown} times only");
    fixture.check_left_clean()
}

fn all_personas_answered(result: &Value) -> anyhow::Result<()> {
    let reports = result["reports"].as_array().map(Vec::as_slice).unwrap_or_default();
    for persona in PERSONAS {
        let report = reports.iter().find(|report| report["reviewer"] == persona);
        let report = report.with_context(|| format!("{persona} did not read the change"))?;
        ensure!(report["votes"] == 1 && report["unusable"].is_null(), "{persona}: {report}");
    }
    Ok(())
}

/// Checks the finding against the change: its place, its quote, its reviewer, and the second look.
fn is_grounded(result: &Value) -> anyhow::Result<()> {
    let [finding] = result["findings"].as_array().map(Vec::as_slice).unwrap_or_default() else {
        bail!("not one finding, but {}", result["findings"]);
    };
    let is_in_place = finding["file"] == FILE
        && finding["line"] == 2
        && finding["symbol"] == "level"
        && finding["evidence"][0] == "token.parse().unwrap()";
    let by = finding["reviewers"].as_array().map_or(0, Vec::len);
    let is_validated = finding["validation"]["state"] == "confirmed";
    match is_in_place && by == PERSONAS.len() && is_validated {
        true => Ok(()),
        false => bail!("the finding is not what was said: {finding}"),
    }
}

/// Plants a secret that must not leave the machine, and a file name in the form that makes some
/// agents read and send the file.
fn secret(program: &Program, path: &str) -> anyhow::Result<()> {
    let server = FakeModel::start(SmallReview);
    let fixture =
        AgentFixture::new(program.name, &program.setting(&server.url(), path, ANSWER_TIMEOUT))?;
    // Assembled at run time, so that no scanner takes it for a leaked token.
    let token: String = "k3Vq8ZtR1xWm5LpB7nYc2HdJ9sFa4GuE6oTi".chars().rev().collect();
    fixture.append(&format!("// old: {}{token}\n", ["gh", "p_"].concat()))?;
    let word = "of-nobodys-business";
    let file = fixture.write_private(&format!("{word}\n"))?;
    // The configuration of an agent that assay does not know decides how such a name is treated.
    if program.is_known {
        fixture.append(&format!("// as in @{}\n", file.display()))?;
    }
    let ran = fixture.review(&["--persona", "correctness"])?;
    println!("  a secret: {}", ran.line());
    ensure!(ran.code == 1, "it ended with {}: {}", ran.code, ran.output_text());
    let requests = server.requests();
    let sent = |request: &ReceivedRequest| String::from_utf8_lossy(&request.body).into_owned();
    let shown = requests.iter().filter(|request| sent(request).contains("// old: ")).count();
    ensure!(shown > 0, "the change was not sent: {}", ran.output_text());
    for request in &requests {
        let sent = sent(request);
        ensure!(!sent.contains(word), "a file was sent along that the change only names");
        let head = String::from_utf8_lossy(&request.head).into_owned();
        let pieces =
            token.as_bytes().windows(8).filter_map(|piece| std::str::from_utf8(piece).ok());
        for piece in pieces {
            ensure!(!sent.contains(piece) && !head.contains(piece), "`{piece}` of it was sent");
        }
    }
    ensure!(!ran.output_text().contains(&token), "it was printed");
    ensure!(!fixture.stores_text(&token)?, "it was kept in .assay");
    fixture.check_left_clean()
}

// ---- faults

/// Reviews with a fault in every answer.
fn bad_review(program: &Program, path: &str, fault_case: &FaultCase) -> anyhow::Result<()> {
    let server = FakeModel::start(SmallReview.with_fault(.., fault_case.fault.clone()));
    let setting = program.setting(&server.url(), path, program.patience);
    let fixture = AgentFixture::new(program.name, &setting)?;
    let ran = fixture.review(&["--persona", "correctness"])?;
    println!("  {}: {}", fault_case.name, ran.line());
    must_be_incomplete(&ran)?;
    let why = ran.why()?;
    ensure!(why.contains(&format!("`{}", program.name)), "the agent is not named: {why}");
    let is_advised = !program.is_known && ANY_ADVICE.iter().any(|advice| why.contains(advice));
    ensure!(is_advised || why.contains(fault_case.advice), "it is not said what to do: {why}");
    let most = program.patience + MAX_OVERTIME;
    ensure!(ran.time < most, "it took {:?}, for all that it has {most:?}", ran.time);
    ensure!(!server.requests().is_empty(), "nothing was asked");
    fixture.only_run()?;
    fixture.check_left_clean()
}

/// Reviews with answers that lost, hide or contradict a finding.
fn damaged_review(program: &Program, path: &str, report: DamagedReport) -> anyhow::Result<()> {
    // The reports name a file of another change.
    let text = report.text.replace("shop.py", FILE);
    let server = FakeModel::start(move |_: &PromptRequest| Answer::text(text.clone()));
    let fixture =
        AgentFixture::new(program.name, &program.setting(&server.url(), path, ANSWER_TIMEOUT))?;
    let ran = fixture.review(&["--persona", "correctness"])?;
    println!("  {}: {}", report.name, ran.line());
    let state = ran.json()?["verdict"]["state"].clone();
    let is_stopped =
        state == "incomplete" && ran.code == 3 || state == "not_ready" && ran.code == 1;
    ensure!(is_stopped, "it is {state}, {}: {}", ran.code, ran.output_text());
    ensure!(!server.requests().is_empty(), "nothing was asked");
    fixture.check_left_clean()
}

fn must_be_incomplete(ran: &ReviewRun) -> anyhow::Result<()> {
    let state = ran.json()?["verdict"]["state"].clone();
    ensure!(
        ran.code == 3 && state == "incomplete",
        "it is {state}, {}: {}",
        ran.code,
        ran.output_text()
    );
    Ok(())
}
