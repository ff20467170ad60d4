//! Trying an app out as its users would: [`App`] goes through flows and pages that a spec names.

use std::path::{Path, PathBuf};

use assay_checks::check::{CheckKind, CheckOutcome, State};
use assay_checks::results::{Outcome, TestResult, Tests, Totals};
use assay_findings::write::plain::one_line;
use assay_services::browser::flow::{
    self, Base, Flow, Outcome as FlowOutcome, Setting, Standing, Visit,
};
use assay_services::browser::{Endpoint, Entry, Page, Patience};
use assay_store::disk::{self, Sure};

/// Where the steps of flows are written down, in a spec's folder.
pub const FLOWS: &str = "flows.yaml";

/// Where they are written down for all specs of a repository.
pub const SHARED_FLOWS: &str = ".assay/flows.yaml";

/// An app that is running, and how it is reached.
#[derive(Debug, Clone)]
pub struct App {
    /// Where its DevTools listen.
    pub endpoint: Endpoint,
    /// Where its pages are, where that is known.
    pub base: Option<Base>,
}

/// What there is to try, and where what is seen is kept.
pub(crate) struct TryOut<'a> {
    pub(crate) app: Option<&'a App>,
    /// The repository's root.
    pub(crate) root: &'a Path,
    /// The spec's folder, from the root.
    pub(crate) spec: &'a Path,
    /// Where pictures and logs are kept.
    pub(crate) evidence: PathBuf,
}

impl TryOut<'_> {
    /// Tries a flow, or a page where it is named by its path, and tells what came of it.
    pub(crate) fn try_out(&self, name: &str) -> CheckOutcome {
        let tried = match self.app {
            None => Err("nobody tried it: start the app with its debugging port open, and set \
                         ELECTRON_MCP_ENABLED=true and ELECTRON_DEBUG_PORT"
                .to_owned()),
            Some(app) if is_page(name) => self.visit(app, name),
            Some(app) => self.replay(app, name),
        };
        let told = tried.unwrap_or_else(|why| ToldOf {
            state: State::NotRun { why },
            tests: None,
            tail: String::new(),
            notes: Vec::new(),
        });
        let ToldOf { state, tests, tail, notes } = told;
        CheckOutcome {
            name: self::name(name),
            kind: CheckKind::E2e,
            also: Vec::new(),
            command: String::new(),
            folder: String::new(),
            state,
            exit_code: None,
            duration_ms: 0,
            output_digest: String::new(),
            output_bytes: 0,
            tail,
            tests,
            coverage: None,
            notes,
        }
    }

    fn replay(&self, app: &App, name: &str) -> Result<ToldOf, String> {
        let flow = self.flow(name)?;
        let page = Page::attach(app.endpoint, None, Patience::default())
            .map_err(|error| error.to_string())?;
        let setting = Setting { base: app.base.as_ref(), evidence: &self.evidence };
        let outcome = flow::replay(&flow, &page, &setting);
        self.keep(name, &outcome)?;
        Ok(of_flow(&outcome))
    }

    fn visit(&self, app: &App, name: &str) -> Result<ToldOf, String> {
        let base = app.base.as_ref().ok_or_else(|| {
            "nobody knows where the app's pages are: say so with `qa.app_url`, such as \
             `http://localhost:3000`"
                .to_owned()
        })?;
        let page = Page::attach(app.endpoint, None, Patience::default())
            .map_err(|error| error.to_string())?;
        let visit = flow::visit(name, &page, base, &self.evidence);
        self.keep(name, &visit)?;
        Ok(of_visit(&visit))
    }

    /// Finds the steps of a flow.
    fn flow(&self, name: &str) -> Result<Flow, String> {
        let own = self.spec.join(FLOWS);
        let files = [own.as_path(), Path::new(SHARED_FLOWS)];
        for file in files {
            let Some(bytes) = disk::read(&self.root.join(file)).map_err(|it| it.to_string())?
            else {
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let flows = flow::read(&file.display().to_string(), &text);
            let flows = flows.map_err(|error| error.to_string())?;
            if let Some(flow) = flows.into_iter().find(|flow| flow.name == name) {
                return Ok(flow);
            }
        }
        Err(format!(
            "there are no steps for it: write them down in `{}` or `{SHARED_FLOWS}`",
            own.display()
        ))
    }

    /// Keeps all that was seen, beside the pictures.
    fn keep(&self, name: &str, seen: &impl serde::Serialize) -> Result<(), String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let file: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let bytes = serde_json::to_vec_pretty(seen).map_err(|error| error.to_string())?;
        disk::make_folder(&self.evidence).map_err(|error| error.to_string())?;
        let path = self.evidence.join(format!("{}.json", file.trim_matches('-')));
        disk::write(&path, &bytes, Sure::OnDisk).map_err(|error| error.to_string())
    }
}

/// Names what comes of a flow or a page.
pub(crate) fn name(flow: &str) -> String {
    format!("e2e: {}", one_line(flow))
}

/// Says whether a name is that of a page.
fn is_page(name: &str) -> bool {
    name.starts_with(['/', '#'])
}

/// What is told of a flow or a page.
struct ToldOf {
    state: State,
    tests: Option<Tests>,
    tail: String,
    notes: Vec<String>,
}

fn of_flow(outcome: &FlowOutcome) -> ToldOf {
    let state = match outcome.failed() {
        Some(step) => {
            let why = match &step.standing {
                Standing::Failed { why } => why.as_str(),
                Standing::Passed | Standing::NotRun => "",
            };
            State::Failed { why: format!("{}: {why}", step.step) }
        }
        None if outcome.passed() => State::Passed,
        None => State::NotRun { why: "no step was done".to_owned() },
    };
    let results: Vec<TestResult> = outcome.steps.iter().map(of_step).collect();
    let is = |outcome: &Outcome, test: &&TestResult| test.outcome == *outcome;
    let totals = Totals {
        passed: results.iter().filter(|test| is(&Outcome::Passed, test)).count(),
        skipped: results.iter().filter(|test| is(&Outcome::Skipped, test)).count(),
        failed: results.iter().filter(|it| matches!(it.outcome, Outcome::Failed { .. })).count(),
    };
    let pictures = outcome.steps.iter().filter_map(|step| step.screenshot.as_ref());
    ToldOf {
        state,
        tests: Some(Tests { totals, results, is_cut: false }),
        tail: console(&outcome.console),
        notes: pictures.map(|file| format!("screenshot: {file}")).collect(),
    }
}

fn of_step(step: &flow::StepOutcome) -> TestResult {
    TestResult {
        name: step.step.clone(),
        file: None,
        outcome: match &step.standing {
            Standing::Passed => Outcome::Passed,
            Standing::Failed { why } => Outcome::Failed { message: why.clone() },
            Standing::NotRun => Outcome::Skipped,
        },
        duration_ms: Some(step.milliseconds),
    }
}

fn of_visit(visit: &Visit) -> ToldOf {
    ToldOf {
        state: match visit.passed() {
            true => State::Passed,
            false => State::Failed { why: visit.faults.join("; ") },
        },
        tests: None,
        tail: console(&visit.console),
        notes: visit.screenshot.iter().map(|file| format!("screenshot: {file}")).collect(),
    }
}

fn console(entries: &[Entry]) -> String {
    let lines = entries.iter().rev().take(50).map(|entry| one_line(&entry.to_string()));
    let mut lines: Vec<String> = lines.collect();
    lines.reverse();
    lines.join("\n")
}
