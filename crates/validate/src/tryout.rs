//! Trying an app out as its users would: [`App`] goes through flows and pages that a spec names.

use std::path::{Path, PathBuf};

use assay_base::clock::Stopwatch;
use assay_checks::check::{CheckKind, CheckOutcome, State};
use assay_checks::results::{Outcome, TestResult, Tests, Totals};
use assay_findings::write::plain::one_line;
use assay_services::browser::flow::{
    self, Base, Flow, Outcome as FlowOutcome, Setting, Standing, Visit,
};
use assay_services::browser::{Endpoint, Entry, Page, Timeouts};
use assay_store::disk::{self, Sure};

/// Where the steps of flows are written down, in a spec's folder.
pub const FLOWS: &str = "flows.yaml";

/// Where they are written down for all specs of a repository.
pub const SHARED_FLOWS: &str = ".assay/flows.yaml";

/// How many letters of a name are in that of its file.
const LONGEST: usize = 60;

/// An app that is running, and how it is reached.
#[derive(Debug, Clone)]
pub struct App {
    /// Where its DevTools listen.
    pub endpoint: Endpoint,
    /// Where its pages are, where that is known.
    pub base: Option<Base>,
    /// The times that its pages are given.
    pub timeouts: Timeouts,
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
        let start = Stopwatch::start();
        let tried = match self.app {
            None => {
                Err("no app was named: start the app with `--remote-debugging-port=9222`, and \
                         set ELECTRON_MCP_ENABLED=true and ELECTRON_DEBUG_PORT=9222"
                    .to_owned())
            }
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

    fn replay(&self, app: &App, name: &str) -> Result<ToldOf, String> {
        let flow = self.flow(name)?;
        let page =
            Page::attach(app.endpoint, None, app.timeouts).map_err(|error| error.to_string())?;
        let setting = Setting { base: app.base.as_ref(), evidence: &self.evidence };
        let outcome = flow::replay(&flow, &page, &setting);
        self.keep(name, &outcome)?;
        Ok(self.of_flow(name, &outcome))
    }

    fn visit(&self, app: &App, name: &str) -> Result<ToldOf, String> {
        let base = app.base.as_ref().ok_or_else(|| {
            "the address of the app's pages is not known: set `qa.app_url`, such as \
             `http://localhost:3000`"
                .to_owned()
        })?;
        let page =
            Page::attach(app.endpoint, None, app.timeouts).map_err(|error| error.to_string())?;
        let visit = flow::visit(name, &page, base, &self.evidence);
        self.keep(name, &visit)?;
        Ok(self.of_visit(&visit))
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
        let bytes = serde_json::to_vec_pretty(seen).map_err(|error| error.to_string())?;
        disk::make_folder(&self.evidence).map_err(|error| error.to_string())?;
        let path = self.evidence.join(file_name(name));
        disk::write(&path, &bytes, Sure::OnDisk).map_err(|error| error.to_string())
    }

    /// Tells of a flow as of one test. Steps are none of their own: those behind one that fails are
    /// not gone, and two flows may well have the same.
    fn of_flow(&self, name: &str, outcome: &FlowOutcome) -> ToldOf {
        if let Some(why) = outcome.blocked() {
            return self.not_run(why, &outcome.console);
        }
        let failed = outcome.failed().map(|step| match &step.standing {
            Standing::Failed { why } => format!("{}: {why}", step.step),
            Standing::Passed | Standing::Blocked { .. } | Standing::NotRun => step.step.clone(),
        });
        let nothing = || (!outcome.passed()).then(|| "not every step was done".to_owned());
        let why = failed.or_else(nothing);
        let tail = console(&outcome.console);
        let pictures = outcome.steps.iter().filter_map(|step| step.screenshot.as_deref());
        let notes: Vec<String> = pictures.map(|file| self.picture(file)).collect();
        let (outcome, totals) = match &why {
            Some(why) => {
                let said = (!tail.is_empty()).then(|| format!("the page said:\n{tail}"));
                let seen = notes.last().cloned();
                let parts = [Some(why.clone()), seen, said].into_iter().flatten();
                let message = parts.collect::<Vec<_>>().join("\n");
                (Outcome::Failed { message }, Totals { failed: 1, ..Totals::default() })
            }
            None => (Outcome::Passed, Totals { passed: 1, ..Totals::default() }),
        };
        let test = TestResult {
            name: one_line(name),
            file: None,
            outcome,
            duration_ms: None,
            skipped_in: None,
        };
        ToldOf {
            state: why.map_or(State::Passed, |why| State::Failed { why }),
            tests: Some(Tests { totals, results: vec![test], ..Tests::default() }),
            tail,
            notes,
        }
    }

    /// Tells of a page. It is no test by its name: that it opens shows nothing of what it is for.
    fn of_visit(&self, visit: &Visit) -> ToldOf {
        let mut notes: Vec<String> =
            visit.screenshot.iter().map(|file| self.picture(file)).collect();
        if let Some(why) = visit.blocked.as_deref().filter(|_| visit.faults.is_empty()) {
            return self.not_run(why, &visit.console);
        }
        let faults = visit.faults.iter().chain(&notes).cloned().collect::<Vec<_>>();
        let pending =
            visit.pending.iter().map(|url| format!("was still loading: {}", one_line(url)));
        notes.extend(pending);
        ToldOf {
            state: match visit.passed() {
                true => State::Passed,
                false => State::Failed { why: faults.join("; ") },
            },
            tests: None,
            tail: console(&visit.console),
            notes,
        }
    }

    /// Tells of a flow or a page that could not be tried, for which the app is not to blame.
    fn not_run(&self, why: &str, said: &[Entry]) -> ToldOf {
        let state = State::NotRun { why: one_line(why) };
        ToldOf { state, tests: None, tail: console(said), notes: Vec::new() }
    }

    /// Says where a picture is, from the root.
    fn picture(&self, file: &str) -> String {
        let path = self.evidence.join(file);
        format!("screenshot: {}", path.strip_prefix(self.root).unwrap_or(&path).display())
    }
}

/// Names the file that has what came of a flow or a page. What two names look like in plain letters
/// may be the same, so each has a piece of its digest, too.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let letters: String = name.chars().take(LONGEST).map(plain).collect();
    let words: Vec<&str> = letters.split_whitespace().collect();
    let digest = &blake3::hash(name.as_bytes()).to_hex()[..8];
    match words.is_empty() {
        true => format!("page-{digest}.json"),
        false => format!("{}-{digest}.json", words.join("-")),
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

fn console(entries: &[Entry]) -> String {
    let lines = entries.iter().rev().take(50).map(|entry| one_line(&entry.to_string()));
    let mut lines: Vec<String> = lines.collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_each_has_a_file_of_its_own_with_a_plain_name() {
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
