//! End-to-end tests of a running app: [`App`], and the flows and pages that a spec names.

use std::path::{Path, PathBuf};

use assay_base::clock::Stopwatch;
use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_checks::results::{TestOutcome, TestReport, TestResult, Totals};
use assay_findings::write::escape::one_line;
use assay_services::browser::flow::{
    self, BaseUrl, Flow, FlowOutcome, PageVisit, ReplayContext, StepStatus,
};
use assay_services::browser::{ConsoleEntry, Endpoint, Page, Timeouts};
use assay_store::durable_fs::{self, Durability};

/// The file with the steps of flows, in the folder of a spec.
pub const FLOWS: &str = "flows.yaml";

/// The file with the steps of flows for all specs of a repository.
pub const SHARED_FLOWS: &str = ".assay/flows.yaml";

/// The beginning of a check's note that names a screenshot.
const SCREENSHOT_NOTE: &str = "screenshot: ";

/// Maximum number of characters of a flow's name in a file name.
const MAX_NAME_CHARS: usize = 60;

/// A running app and its connection.
#[derive(Debug, Clone)]
pub struct App {
    /// The DevTools endpoint of the app.
    pub endpoint: Endpoint,
    /// The base address of its pages; `None` if it is unknown.
    pub base: Option<BaseUrl>,
    /// The timeouts for its pages.
    pub timeouts: Timeouts,
}

/// The runner of flows and pages, which stores the evidence.
pub(crate) struct E2eRunner<'a> {
    pub(crate) app: Option<&'a App>,
    /// The root of the repository.
    pub(crate) root: &'a Path,
    /// The path of the spec's folder, from the root.
    pub(crate) spec: &'a Path,
    /// The folder for screenshots and logs.
    pub(crate) evidence: PathBuf,
}

impl E2eRunner<'_> {
    /// Runs a flow, or opens a page if the name is a path, and returns the outcome.
    pub(crate) fn run(&self, name: &str) -> CheckOutcome {
        let start = Stopwatch::start();
        let report = match self.app {
            None => {
                Err("no app is configured: start the app with `--remote-debugging-port=9222`, and \
                     set ELECTRON_MCP_ENABLED=true and ELECTRON_DEBUG_PORT=9222"
                    .to_owned())
            }
            Some(app) if is_page(name) => self.visit(app, name),
            Some(app) => self.replay(app, name),
        };
        let report = report.unwrap_or_else(|why| E2eReport {
            state: CheckState::NotRun { why },
            tests: None,
            tail: String::new(),
            notes: Vec::new(),
        });
        let E2eReport { state, tests, tail, notes } = report;
        CheckOutcome {
            name: self::check_name(name),
            kind: CheckKind::E2e,
            also: Vec::new(),
            command: one_line(name),
            folder: String::new(),
            state,
            exit_code: None,
            duration_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            output_digest: String::new(),
            output_bytes: 0,
            tail,
            tests,
            coverage: None,
            notes,
        }
    }

    fn replay(&self, app: &App, name: &str) -> Result<E2eReport, String> {
        let flow = self.flow(name)?;
        let page =
            Page::attach(app.endpoint, None, app.timeouts).map_err(|error| error.to_string())?;
        let setting = ReplayContext { base: app.base.as_ref(), evidence: &self.evidence };
        let outcome = flow::replay(&flow, &page, &setting);
        self.write_evidence(name, &outcome)?;
        Ok(self.report_flow(name, &outcome))
    }

    fn visit(&self, app: &App, name: &str) -> Result<E2eReport, String> {
        let base = app.base.as_ref().ok_or_else(|| {
            "missing base URL of the app: set `qa.app_url`, such as `http://localhost:3000`"
                .to_owned()
        })?;
        let page =
            Page::attach(app.endpoint, None, app.timeouts).map_err(|error| error.to_string())?;
        let visit = flow::visit(name, &page, base, &self.evidence);
        self.write_evidence(name, &visit)?;
        Ok(self.report_visit(&visit))
    }

    /// Returns the steps of a flow. Fails if no file has them.
    fn flow(&self, name: &str) -> Result<Flow, String> {
        let own = self.spec.join(FLOWS);
        let files = [own.as_path(), Path::new(SHARED_FLOWS)];
        for file in files {
            let Some(bytes) =
                durable_fs::read(&self.root.join(file)).map_err(|it| it.to_string())?
            else {
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let flows = flow::parse_flows(&file.display().to_string(), &text);
            let flows = flows.map_err(|error| error.to_string())?;
            if let Some(flow) = flows.into_iter().find(|flow| flow.name == name) {
                return Ok(flow);
            }
        }
        Err(format!(
            "missing steps of the flow: add them to `{}` or `{SHARED_FLOWS}`",
            own.display()
        ))
    }

    /// Writes all results as JSON, into the folder of the screenshots.
    fn write_evidence(&self, name: &str, seen: &impl serde::Serialize) -> Result<(), String> {
        let bytes = serde_json::to_vec_pretty(seen).map_err(|error| error.to_string())?;
        durable_fs::make_folder(&self.evidence).map_err(|error| error.to_string())?;
        let path = self.evidence.join(file_name(name));
        durable_fs::write(&path, &bytes, Durability::Fsync).map_err(|error| error.to_string())
    }

    /// Returns the outcome of a flow, as a single test. Its steps are no tests of their own: steps
    /// after a failed one are not missing, and two flows may have equal steps.
    fn report_flow(&self, name: &str, outcome: &FlowOutcome) -> E2eReport {
        if let Some(why) = outcome.blocked_reason() {
            return self.report_blocked(why, &outcome.console);
        }
        let failed = outcome.failed_step().map(|step| match &step.status {
            StepStatus::Failed { why } => format!("{}: {why}", step.step),
            StepStatus::Passed | StepStatus::Blocked { .. } | StepStatus::NotRun => {
                step.step.clone()
            }
        });
        let nothing = || (!outcome.has_passed()).then(|| "some steps did not run".to_owned());
        let why = failed.or_else(nothing);
        let tail = format_console(&outcome.console);
        let pictures = outcome.steps.iter().filter_map(|step| step.screenshot.as_deref());
        let notes: Vec<String> = pictures.map(|file| self.screenshot_note(file)).collect();
        let (outcome, totals) = match &why {
            Some(why) => {
                let said = (!tail.is_empty()).then(|| format!("console of the page:\n{tail}"));
                let seen = notes.last().cloned();
                let parts = [Some(why.clone()), seen, said].into_iter().flatten();
                let message = parts.collect::<Vec<_>>().join("\n");
                (TestOutcome::Failed { message }, Totals { failed: 1, ..Totals::default() })
            }
            None => (TestOutcome::Passed, Totals { passed: 1, ..Totals::default() }),
        };
        let test = TestResult {
            name: one_line(name),
            file: None,
            outcome,
            duration_ms: None,
            skipped_in: None,
        };
        E2eReport {
            state: why.map_or(CheckState::Passed, |why| CheckState::Failed { why }),
            tests: Some(TestReport { totals, results: vec![test], ..TestReport::default() }),
            tail,
            notes,
        }
    }

    /// Returns the outcome of a page visit. A visit is no named test: a page that opens proves
    /// nothing about its purpose.
    fn report_visit(&self, visit: &PageVisit) -> E2eReport {
        let mut notes: Vec<String> =
            visit.screenshot.iter().map(|file| self.screenshot_note(file)).collect();
        if let Some(why) = visit.blocked.as_deref().filter(|_| visit.faults.is_empty()) {
            return self.report_blocked(why, &visit.console);
        }
        let faults = visit.faults.iter().chain(&notes).cloned().collect::<Vec<_>>();
        let pending =
            visit.pending.iter().map(|url| format!("was still loading: {}", one_line(url)));
        notes.extend(pending);
        E2eReport {
            state: match visit.has_passed() {
                true => CheckState::Passed,
                false => CheckState::Failed { why: faults.join("; ") },
            },
            tests: None,
            tail: format_console(&visit.console),
            notes,
        }
    }

    /// Returns the outcome of a flow or a page that could not run, for reasons other than the app.
    fn report_blocked(&self, why: &str, said: &[ConsoleEntry]) -> E2eReport {
        let state = CheckState::NotRun { why: one_line(why) };
        E2eReport { state, tests: None, tail: format_console(said), notes: Vec::new() }
    }

    /// Returns a note with the path of a screenshot, from the root.
    fn screenshot_note(&self, file: &str) -> String {
        let path = self.evidence.join(file);
        format!("{SCREENSHOT_NOTE}{}", path.strip_prefix(self.root).unwrap_or(&path).display())
    }
}

/// Returns the file name for the results of a flow or a page. Two names may be equal in plain
/// letters, so the file name contains a part of the name's digest.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let letters: String = name.chars().take(MAX_NAME_CHARS).map(plain).collect();
    let words: Vec<&str> = letters.split_whitespace().collect();
    let digest = &blake3::hash(name.as_bytes()).to_hex()[..8];
    match words.is_empty() {
        true => format!("page-{digest}.json"),
        false => format!("{}-{digest}.json", words.join("-")),
    }
}

/// Returns the folder of the evidence of a round, in the folder of the loop's private files.
pub fn evidence_folder(state: &Path, round: u32) -> PathBuf {
    state.join(format!("e2e/round-{round}"))
}

/// Returns the path of the screenshot that a note of a check names, from the root; `None` if the
/// note names none.
pub fn screenshot_of_note(note: &str) -> Option<&str> {
    note.strip_prefix(SCREENSHOT_NOTE)
}

/// Returns the name of the check of a flow or a page.
pub(crate) fn check_name(flow: &str) -> String {
    format!("e2e: {}", one_line(flow))
}

/// Returns true if a name is that of a page.
fn is_page(name: &str) -> bool {
    name.starts_with(['/', '#'])
}

/// The result of a flow or a page.
struct E2eReport {
    state: CheckState,
    tests: Option<TestReport>,
    tail: String,
    notes: Vec<String>,
}

fn format_console(entries: &[ConsoleEntry]) -> String {
    let lines = entries.iter().rev().take(50).map(|entry| one_line(&entry.to_string()));
    let mut lines: Vec<String> = lines.collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_its_own_result_file_with_a_plain_name() {
        let names =
            ["/", "#", "/a/b", "/a-b", "Order tea", "../../x", "\u{1f375}", &"long ".repeat(999)];
        let files: Vec<String> = names.iter().map(|name| file_name(name)).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        for (at, file) in files.iter().enumerate() {
            let stem = file.strip_suffix(".json").unwrap();
            assert!(stem.chars().all(is_plain) && !stem.starts_with('-'), "{file}");
            assert!(file.len() < 100 && !files[..at].contains(file), "{file}");
        }
        assert!(files[4].starts_with("order-tea-"), "{}", files[4]);
    }
}
