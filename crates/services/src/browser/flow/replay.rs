//! Replays a flow, step by step, and returns the result of each step: [`replay`].

use std::path::Path;

use assay_base::clock::Stopwatch;
use serde::Serialize;
use serde_json::{Value, json};

use super::base_url::BaseUrl;
use super::expect::error_chain;
use super::file::{Flow, Start, Step, Wait};
use crate::browser::element::Selector;
use crate::browser::untrusted::truncate_line;
use crate::browser::{ConsoleEntry, Page, PageCommand, PageError};

/// The environment of a flow, besides the page.
#[derive(Debug, Clone, Copy)]
pub struct ReplayContext<'a> {
    /// The base address of the app's pages, for flows that start with one; `None` if it is not
    /// known.
    pub base: Option<&'a BaseUrl>,
    /// The folder for screenshots.
    pub evidence: &'a Path,
}

/// The result of a flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowOutcome {
    /// The name of the flow.
    pub flow: String,
    /// The results of the steps; the first one is the start, if the flow has one.
    pub steps: Vec<StepOutcome>,
    /// The console entries of the page during the flow.
    pub console: Vec<ConsoleEntry>,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepOutcome {
    /// The description of the step.
    pub step: String,
    /// The status of the step.
    #[serde(flatten)]
    pub status: StepStatus,
    /// The answer of the page; null if the step has none.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub answer: Value,
    /// The name of the screenshot in the folder for evidence; `None` if none was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// The duration of the step, in milliseconds.
    pub milliseconds: u64,
}

/// The status of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum StepStatus {
    /// The action succeeded, or the expectation is met.
    Passed,
    /// The action failed, or the expectation is not met.
    Failed {
        /// The reason of the failure.
        why: String,
    },
    /// The step could not be tried, and the app is not the cause.
    Blocked {
        /// The reason.
        why: String,
    },
    /// An earlier step did not pass.
    NotRun,
}

impl FlowOutcome {
    /// Returns true if the flow has steps and every step passed.
    pub fn has_passed(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|it| it.status == StepStatus::Passed)
    }

    /// Returns the step that failed, or `None` if no step failed.
    pub fn failed_step(&self) -> Option<&StepOutcome> {
        self.steps.iter().find(|step| matches!(step.status, StepStatus::Failed { .. }))
    }
}

impl FlowOutcome {
    /// Returns the reason why the flow could not be tried, or `None` if it passed or failed.
    pub fn blocked_reason(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match &step.status {
            StepStatus::Blocked { why } => Some(why.as_str()),
            StepStatus::Passed | StepStatus::Failed { .. } | StepStatus::NotRun => None,
        })
    }
}

/// The reason why a step did not pass.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Disk(#[from] assay_store::durable_fs::DiskError),
    #[error(transparent)]
    BaseUrl(#[from] super::base_url::BaseUrlError),
    #[error("{0}")]
    Unmet(String),
    #[error("{0}")]
    Blocked(String),
}

impl StepError {
    /// Returns the status of the step that ended with this error.
    fn status(&self) -> StepStatus {
        let why = error_chain(self);
        let is_blocked = match self {
            StepError::Page(error) => error.is_environment_error(),
            StepError::Disk(_) | StepError::BaseUrl(_) | StepError::Blocked(_) => true,
            StepError::Unmet(_) => false,
        };
        if is_blocked { StepStatus::Blocked { why } } else { StepStatus::Failed { why } }
    }
}

/// The output of a step.
#[derive(Default)]
struct StepOutput {
    answer: Value,
    screenshot: Option<String>,
}

/// Replays a flow in a page. The first step that does not pass ends the flow, with a screenshot of
/// the page at that moment.
pub fn replay(flow: &Flow, page: &Page, context: &ReplayContext<'_>) -> FlowOutcome {
    let run = Replay { flow, page, context, first_entry: page.next_entry() };
    let mut steps = Vec::new();
    let mut is_over = false;
    let start = flow.start.iter().map(FlowPart::Start);
    for part in start.chain(flow.steps.iter().map(FlowPart::Step)) {
        let outcome = if is_over { skipped_outcome(part) } else { run.outcome(part) };
        is_over |= outcome.status != StepStatus::Passed;
        steps.push(outcome);
    }
    let console = page.console_since(run.first_entry);
    FlowOutcome { flow: truncate_line(&flow.name), steps, console }
}

/// A part of a flow.
#[derive(Clone, Copy)]
enum FlowPart<'a> {
    Start(&'a Start),
    Step(&'a Step),
}

struct Replay<'a> {
    flow: &'a Flow,
    page: &'a Page,
    context: &'a ReplayContext<'a>,
    first_entry: u64,
}

impl Replay<'_> {
    fn outcome(&self, part: FlowPart<'_>) -> StepOutcome {
        let began = Stopwatch::start();
        let done = match part {
            FlowPart::Start(start) => self.start(start),
            FlowPart::Step(step) => self.step(step),
        };
        let (status, output) = match done {
            Ok(output) => (StepStatus::Passed, output),
            Err(error) => {
                let screenshot = self.take_screenshot("failed").ok();
                (error.status(), StepOutput { screenshot, ..StepOutput::default() })
            }
        };
        StepOutcome {
            step: describe(part),
            status,
            answer: output.answer,
            screenshot: output.screenshot,
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn start(&self, start: &Start) -> Result<StepOutput, StepError> {
        match start {
            Start::Hash(hash) => {
                self.page.perform(&PageCommand::NavigateToHash(hash.clone()))?;
            }
            Start::Page(path) => {
                let no_base = || {
                    let why = "the flow starts with a page, and the address of the app is missing: \
                         set `qa.app_url`, such as `http://localhost:3000`";
                    StepError::Blocked(why.to_owned())
                };
                let url = self.context.base.ok_or_else(no_base)?.page(path)?;
                let opened = self.page.open(&url)?;
                if let Some(status) = opened.status.filter(|status| *status >= 400) {
                    let why = format!("the server answers with status {status}");
                    return Err(StepError::Unmet(why));
                }
            }
        }
        Ok(StepOutput::default())
    }

    fn step(&self, step: &Step) -> Result<StepOutput, StepError> {
        let page = self.page;
        match step {
            Step::Do(command) => return self.command(command),
            Step::ExpectText(text) => page.expect_text(text, page.timeouts.element)?,
            Step::ExpectNoText(text) => page.expect_no_text(text)?,
            Step::ExpectSelector(selector) => {
                page.expect_element(&Selector::Css(selector.clone()), page.timeouts.element)?;
            }
            Step::ExpectNoErrors => self.expect_no_errors()?,
            Step::WaitFor(Wait::Text(text, time)) => page.expect_text(text, *time)?,
            Step::WaitFor(Wait::Selector(selector, time)) => {
                page.expect_element(&Selector::Css(selector.clone()), *time)?;
            }
            Step::Screenshot(name) => {
                let screenshot = Some(self.take_screenshot(name)?);
                return Ok(StepOutput { screenshot, ..StepOutput::default() });
            }
        }
        Ok(StepOutput::default())
    }

    /// Runs a command as a step. A command that checks something fails the step if the check does
    /// not hold.
    fn command(&self, command: &PageCommand) -> Result<StepOutput, StepError> {
        let answer = self.page.perform(command)?;
        match command {
            PageCommand::VerifyFormState(_) if answer["valid"] == false => {
                Err(StepError::Unmet(format!("fields are not valid: {}", answer["invalid"])))
            }
            PageCommand::Eval(_) if answer["value"] == false => {
                Err(StepError::Unmet("the code returned false".to_owned()))
            }
            PageCommand::ClickByText(_)
            | PageCommand::ClickBySelector(_)
            | PageCommand::FillInput(_)
            | PageCommand::SelectOption(_)
            | PageCommand::NavigateToHash(_)
            | PageCommand::SendKeyboardShortcut(..)
            | PageCommand::GetPageStructure
            | PageCommand::DebugElements(_)
            | PageCommand::VerifyFormState(_)
            | PageCommand::Eval(_) => Ok(StepOutput { answer, screenshot: None }),
        }
    }

    fn expect_no_errors(&self) -> Result<(), StepError> {
        self.page.settle()?;
        let said = self.page.console_since(self.first_entry);
        let errors: Vec<&ConsoleEntry> = said.iter().filter(|entry| entry.is_error()).collect();
        match errors.as_slice() {
            [] => Ok(()),
            [one] => Err(StepError::Unmet(one.to_string())),
            [first, more @ ..] => {
                Err(StepError::Unmet(format!("{first}; and {} more", more.len())))
            }
        }
    }

    fn take_screenshot(&self, name: &str) -> Result<String, StepError> {
        let name = format!("{} {name}", self.flow.name);
        Ok(self.page.screenshot()?.save(self.context.evidence, &name)?)
    }
}

fn skipped_outcome(part: FlowPart<'_>) -> StepOutcome {
    StepOutcome {
        step: describe(part),
        status: StepStatus::NotRun,
        answer: Value::Null,
        screenshot: None,
        milliseconds: 0,
    }
}

/// Formats a part of a flow as text.
fn describe(part: FlowPart<'_>) -> String {
    let words = match part {
        FlowPart::Start(Start::Hash(hash)) => format!("start at #{hash}"),
        FlowPart::Start(Start::Page(path)) => format!("start at {path}"),
        FlowPart::Step(step) => match step {
            Step::Do(command) => command.to_string(),
            Step::ExpectText(text) => format!("expect_text {}", json!(text)),
            Step::ExpectNoText(text) => format!("expect_no_text {}", json!(text)),
            Step::ExpectSelector(text) => format!("expect_selector {}", json!(text)),
            Step::ExpectNoErrors => "expect_no_errors".to_owned(),
            Step::WaitFor(Wait::Text(text, _)) => format!("wait_for the text {}", json!(text)),
            Step::WaitFor(Wait::Selector(text, _)) => {
                format!("wait_for the selector {}", json!(text))
            }
            Step::Screenshot(name) => format!("screenshot {}", json!(name)),
        },
    };
    truncate_line(&words)
}
