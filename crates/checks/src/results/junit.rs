//! JUnit's XML, which nearly every test runner can write.

use assay_base::text::first_bytes;

use super::results_builder::{MAX_MESSAGE_BYTES, ResultsBuilder, failed, in_suite};
use super::{TestOutcome, TestReport, Totals};
use crate::xml::{self, Element, Step};

/// A test that is being parsed.
#[derive(Default)]
struct Case {
    name: String,
    file: Option<String>,
    seconds: Option<f64>,
    /// The fault that the report names; `None` for a test that passed.
    fault: Option<Fault>,
}

enum Fault {
    Failed(String),
    Skipped,
}

pub(super) fn read(text: &str) -> Option<TestReport> {
    let start = text.find('<')?;
    let text = &text[start..];
    let root = xml::root(text)?;
    if !matches!(root.as_str(), "testsuites" | "testsuite") {
        return None;
    }
    let mut reading = JunitParser::default();
    reading.builder.mark_recognized();
    let is_whole = xml::walk(text, |step| reading.step(step));
    let JunitParser { mut builder, case, most_failed, .. } = reading;
    if let Some(case) = case {
        take(&mut builder, case);
    }
    if !is_whole {
        builder.mark_truncated();
    }
    builder.add_totals(Totals { failed: most_failed, ..Totals::default() });
    builder.finish()
}

#[derive(Default)]
struct JunitParser {
    builder: ResultsBuilder,
    case: Option<Case>,
    /// True if the current text is the message of a failure.
    is_said: bool,
    /// The largest count of failures of any suite: a suite also counts those of the suites inside
    /// of it.
    most_failed: usize,
}

impl JunitParser {
    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Open(element) => self.open(element),
            Step::Text(words) => {
                if let Some(Case { fault: Some(Fault::Failed(said)), .. }) = &mut self.case
                    && self.is_said
                {
                    let room = MAX_MESSAGE_BYTES.saturating_sub(said.len());
                    said.push_str(first_bytes(words, room));
                }
            }
            Step::Close("testcase") => {
                if let Some(case) = self.case.take() {
                    take(&mut self.builder, case);
                }
            }
            Step::Close("failure" | "error") => self.is_said = false,
            Step::Close(_) => {}
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name().as_str() {
            "testsuite" | "testsuites" => {
                let count = |name| element.number::<usize>(name).unwrap_or(0);
                let failed = count("failures").saturating_add(count("errors"));
                self.most_failed = self.most_failed.max(failed);
            }
            "testcase" => {
                if let Some(case) = self.case.replace(opened(element)) {
                    take(&mut self.builder, case);
                }
            }
            "failure" | "error" => {
                if let Some(case) = &mut self.case {
                    let mut said = element.attribute("message").unwrap_or_default();
                    said.push('\n');
                    case.fault = Some(Fault::Failed(said));
                    self.is_said = true;
                }
            }
            "skipped" => {
                if let Some(case @ Case { fault: None, .. }) = &mut self.case {
                    case.fault = Some(Fault::Skipped);
                }
            }
            _ => {}
        }
    }
}

fn opened(element: &Element<'_>) -> Case {
    let name = element.attribute("name").unwrap_or_default();
    let class = element.attribute("classname").filter(|class| !class.is_empty() && *class != name);
    let name = match class {
        Some(class) => in_suite(&class, &name),
        None => name,
    };
    // Some runners write a comma between thousands.
    let time = element.attribute("time").map(|time| time.replace(',', ""));
    let seconds = time.and_then(|time| time.trim().parse().ok());
    let is_off = element.attribute("status").is_some_and(|status| status == "notrun");
    let fault = is_off.then_some(Fault::Skipped);
    Case { name, file: element.attribute("file"), seconds, fault }
}

fn take(builder: &mut ResultsBuilder, case: Case) {
    let outcome = match case.fault {
        None => TestOutcome::Passed,
        Some(Fault::Skipped) => TestOutcome::Skipped,
        Some(Fault::Failed(said)) => failed(&said),
    };
    builder.add_test(&case.name, case.file.as_deref(), outcome, case.seconds);
}
