//! Replays a flow, step by step, and returns the result of each step: [`replay`].

use std::path::Path;

use assay_base::clock::Stopwatch;
use serde::Serialize;
use serde_json::{Value, json};

use super::base::Base;
use super::expect::in_words;
use super::file::{Flow, Start, Step, Wait};
use crate::browser::element::Wanted;
use crate::browser::untrusted::short;
use crate::browser::{Command, Entry, Page, PageError};

/// The environment of a flow, besides the page.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The base address of the app's pages, for flows that start with one; `None` if it is not
    /// known.
    pub base: Option<&'a Base>,
    /// The folder for screenshots.
    pub evidence: &'a Path,
}

/// The result of a flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The name of the flow.
    pub flow: String,
    /// The results of the steps; the first one is the start, if the flow has one.
    pub steps: Vec<StepOutcome>,
    /// The console entries of the page during the flow.
    pub console: Vec<Entry>,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepOutcome {
    /// The description of the step.
    pub step: String,
    /// The status of the step.
    #[serde(flatten)]
    pub standing: Standing,
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
pub enum Standing {
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

impl Outcome {
    /// Returns true if the flow has steps and every step passed.
    pub fn passed(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|it| it.standing == Standing::Passed)
    }

    /// Returns the step that failed, or `None` if no step failed.
    pub fn failed(&self) -> Option<&StepOutcome> {
        self.steps.iter().find(|step| matches!(step.standing, Standing::Failed { .. }))
    }
}

impl Outcome {
    /// Returns the reason why the flow could not be tried, or `None` if it passed or failed.
    pub fn blocked(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match &step.standing {
            Standing::Blocked { why } => Some(why.as_str()),
            Standing::Passed | Standing::Failed { .. } | Standing::NotRun => None,
        })
    }
}

/// The reason why a step did not pass.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Disk(#[from] assay_store::disk::DiskError),
    #[error(transparent)]
    Base(#[from] super::base::BadBase),
    #[error("{0}")]
    Unmet(String),
    #[error("{0}")]
    Blocked(String),
}

impl StepError {
    /// Returns the status of the step that ended with this error.
    fn standing(&self) -> Standing {
        let why = in_words(self);
        let is_blocked = match self {
            StepError::Page(error) => error.is_not_of_the_app(),
            StepError::Disk(_) | StepError::Base(_) | StepError::Blocked(_) => true,
            StepError::Unmet(_) => false,
        };
        if is_blocked { Standing::Blocked { why } } else { Standing::Failed { why } }
    }
}

/// The output of a step.
#[derive(Default)]
struct Given {
    answer: Value,
    screenshot: Option<String>,
}

/// Replays a flow in a page. The first step that does not pass ends the flow, with a screenshot of
/// the page at that moment.
pub fn replay(flow: &Flow, page: &Page, setting: &Setting<'_>) -> Outcome {
    let run = Run { flow, page, setting, first_entry: page.next_entry() };
    let mut steps = Vec::new();
    let mut is_over = false;
    let start = flow.start.iter().map(Part::Start);
    for part in start.chain(flow.steps.iter().map(Part::Step)) {
        let outcome = if is_over { not_run(part) } else { run.outcome(part) };
        is_over |= outcome.standing != Standing::Passed;
        steps.push(outcome);
    }
    let console = page.console_since(run.first_entry);
    Outcome { flow: short(&flow.name), steps, console }
}

/// A part of a flow.
#[derive(Clone, Copy)]
enum Part<'a> {
    Start(&'a Start),
    Step(&'a Step),
}

struct Run<'a> {
    flow: &'a Flow,
    page: &'a Page,
    setting: &'a Setting<'a>,
    first_entry: u64,
}

impl Run<'_> {
    fn outcome(&self, part: Part<'_>) -> StepOutcome {
        let began = Stopwatch::start();
        let done = match part {
            Part::Start(start) => self.start(start),
            Part::Step(step) => self.step(step),
        };
        let (standing, given) = match done {
            Ok(given) => (Standing::Passed, given),
            Err(error) => {
                let screenshot = self.picture("failed").ok();
                (error.standing(), Given { screenshot, ..Given::default() })
            }
        };
        StepOutcome {
            step: told(part),
            standing,
            answer: given.answer,
            screenshot: given.screenshot,
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn start(&self, start: &Start) -> Result<Given, StepError> {
        match start {
            Start::Hash(hash) => {
                self.page.perform(&Command::NavigateToHash(hash.clone()))?;
            }
            Start::Page(path) => {
                let no_base = || {
                    let why = "the flow starts with a page, and the address of the app is not known: \
                               set `qa.app_url`, such as `http://localhost:3000`";
                    StepError::Blocked(why.to_owned())
                };
                let url = self.setting.base.ok_or_else(no_base)?.page(path)?;
                let opened = self.page.open(&url)?;
                if let Some(status) = opened.status.filter(|status| *status >= 400) {
                    let why = format!("the server answers with status {status}");
                    return Err(StepError::Unmet(why));
                }
            }
        }
        Ok(Given::default())
    }

    fn step(&self, step: &Step) -> Result<Given, StepError> {
        let page = self.page;
        match step {
            Step::Do(command) => return self.command(command),
            Step::ExpectText(text) => page.expect_text(text, page.timeouts.element)?,
            Step::ExpectNoText(text) => page.expect_no_text(text)?,
            Step::ExpectSelector(selector) => {
                page.expect_element(&Wanted::Selector(selector.clone()), page.timeouts.element)?;
            }
            Step::ExpectNoErrors => self.expect_no_errors()?,
            Step::WaitFor(Wait::Text(text, time)) => page.expect_text(text, *time)?,
            Step::WaitFor(Wait::Selector(selector, time)) => {
                page.expect_element(&Wanted::Selector(selector.clone()), *time)?;
            }
            Step::Screenshot(name) => {
                let screenshot = Some(self.picture(name)?);
                return Ok(Given { screenshot, ..Given::default() });
            }
        }
        Ok(Given::default())
    }

    /// Runs a command as a step. A command that checks something fails the step if the check does
    /// not hold.
    fn command(&self, command: &Command) -> Result<Given, StepError> {
        let answer = self.page.perform(command)?;
        match command {
            Command::VerifyFormState(_) if answer["valid"] == false => {
                Err(StepError::Unmet(format!("fields are not valid: {}", answer["invalid"])))
            }
            Command::Eval(_) if answer["value"] == false => {
                Err(StepError::Unmet("the code gives false".to_owned()))
            }
            Command::ClickByText(_)
            | Command::ClickBySelector(_)
            | Command::FillInput(_)
            | Command::SelectOption(_)
            | Command::NavigateToHash(_)
            | Command::SendKeyboardShortcut(..)
            | Command::GetPageStructure
            | Command::DebugElements(_)
            | Command::VerifyFormState(_)
            | Command::Eval(_) => Ok(Given { answer, screenshot: None }),
        }
    }

    fn expect_no_errors(&self) -> Result<(), StepError> {
        self.page.settle()?;
        let said = self.page.console_since(self.first_entry);
        let errors: Vec<&Entry> = said.iter().filter(|entry| entry.is_error()).collect();
        match errors.as_slice() {
            [] => Ok(()),
            [one] => Err(StepError::Unmet(one.to_string())),
            [first, more @ ..] => {
                Err(StepError::Unmet(format!("{first}; and {} more", more.len())))
            }
        }
    }

    fn picture(&self, name: &str) -> Result<String, StepError> {
        let name = format!("{} {name}", self.flow.name);
        Ok(self.page.screenshot()?.keep(self.setting.evidence, &name)?)
    }
}

fn not_run(part: Part<'_>) -> StepOutcome {
    StepOutcome {
        step: told(part),
        standing: Standing::NotRun,
        answer: Value::Null,
        screenshot: None,
        milliseconds: 0,
    }
}

/// Formats a part of a flow as text.
fn told(part: Part<'_>) -> String {
    let words = match part {
        Part::Start(Start::Hash(hash)) => format!("start at #{hash}"),
        Part::Start(Start::Page(path)) => format!("start at {path}"),
        Part::Step(step) => match step {
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
    short(&words)
}
