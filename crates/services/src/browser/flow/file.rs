//! The file format of flows: [`Flow`] and its [`Step`]s.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, EnumAccess, Error, VariantAccess, Visitor};

use crate::browser::command::{PageCommand, TextSeed};

/// The maximum size of a file, in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The maximum number of flows in a file.
const MAX_FLOWS: usize = 200;

/// The maximum number of steps in a flow.
const MAX_STEPS: usize = 500;

/// The maximum timeout of a `wait_for` step, in seconds.
const MAX_WAIT_SECONDS: u64 = 120;

/// A sequence of actions of a user on an app.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The name of the flow.
    pub name: String,
    /// The page on which the flow starts; `None` for the page that is open.
    #[serde(default)]
    pub start: Option<Start>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// The start of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A fragment of the page that is open.
    Hash(String),
    /// A page of the app.
    Page(String),
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Start, D::Error> {
        let text = String::deserialize(from)?;
        match text.strip_prefix('#') {
            Some(hash) => Ok(Start::Hash(hash.to_owned())),
            None => Ok(Start::Page(text)),
        }
    }
}

/// An action or an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An action.
    Do(PageCommand),
    /// A text must be visible within the timeout.
    ExpectText(String),
    /// A text must be no longer visible within the timeout.
    ExpectNoText(String),
    /// An element must be visible within the timeout.
    ExpectSelector(String),
    /// No error may have occurred since the flow began: none in the console, and no uncaught
    /// exception.
    ExpectNoErrors,
    /// A wait with its own timeout, for something that takes longer.
    WaitFor(Wait),
    /// A screenshot, under a name.
    Screenshot(String),
}

/// The condition of a wait, with its timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// A text must be visible.
    Text(String, Duration),
    /// An element must be visible.
    Selector(String, Duration),
}

/// The names of all steps.
const NAMES: [&str; 16] = [
    "click_by_text", "click_by_selector", "fill_input", "select_option", "navigate_to_hash",
    "send_keyboard_shortcut", "get_page_structure", "debug_elements", "verify_form_state", "eval",
    "expect_text", "expect_no_text", "expect_selector", "expect_no_errors", "wait_for",
    "screenshot",
];

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Step, D::Error> {
        struct StepVisitor;
        impl<'de> Visitor<'de> for StepVisitor {
            type Value = Step;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a step, such as `click_by_text: Save`")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Step, A::Error> {
                let (name, of) = data.variant::<String>()?;
                let text = |of: A::Variant, keys| of.newtype_variant_seed(TextSeed(keys));
                Ok(match name.as_str() {
                    "expect_text" => Step::ExpectText(text(of, &["text"])?),
                    "expect_no_text" => Step::ExpectNoText(text(of, &["text"])?),
                    "expect_selector" => Step::ExpectSelector(text(of, &["selector"])?),
                    "expect_no_errors" => {
                        of.unit_variant()?;
                        Step::ExpectNoErrors
                    }
                    "wait_for" => Step::WaitFor(of.newtype_variant()?),
                    "screenshot" => Step::Screenshot(text(of, &["name"])?),
                    name if PageCommand::NAMES.contains(&name) => {
                        Step::Do(PageCommand::parse_arguments(name, of)?)
                    }
                    name => return Err(A::Error::unknown_variant(name, &NAMES)),
                })
            }
        }
        from.deserialize_enum("Step", &NAMES, StepVisitor)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Wait, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct WaitArguments {
            text: Option<String>,
            selector: Option<String>,
            #[serde(default = "default_wait_seconds")]
            seconds: u64,
        }
        let WaitArguments { text, selector, seconds } = WaitArguments::deserialize(from)?;
        if !(1..=MAX_WAIT_SECONDS).contains(&seconds) {
            let message = format!("`seconds` must be from 1 to {MAX_WAIT_SECONDS}");
            return Err(D::Error::custom(message));
        }
        let time = Duration::from_secs(seconds);
        match (text, selector) {
            (Some(text), None) => Ok(Wait::Text(text, time)),
            (None, Some(selector)) => Ok(Wait::Selector(selector, time)),
            _ => Err(D::Error::custom("expected one of `text` and `selector`")),
        }
    }
}

fn default_wait_seconds() -> u64 {
    30
}

/// The reason why a file of flows cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{file}`{place}: {message}")]
pub struct FlowError {
    file: String,
    place: String,
    message: String,
}

/// Parses the flows of a file; the name of the file is used in errors.
pub fn parse_flows(file: &str, text: &str) -> Result<Vec<Flow>, FlowError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Flows {
        flows: Vec<Flow>,
    }
    let whole =
        |message: String| FlowError { file: file.to_owned(), place: String::new(), message };
    if text.len() > MAX_FILE_BYTES {
        return Err(whole(format!("the file has more than {} kB", MAX_FILE_BYTES >> 10)));
    }
    let options = serde_saphyr::options! { emit_comments: false, with_snippet: false };
    let read: Result<Flows, _> = serde_saphyr::from_str_with_options(text, options);
    let Flows { flows } = read.map_err(|error| {
        let told = error.to_string();
        let message = told.split(" at line ").next().unwrap_or(&told).trim_end_matches(':');
        let line = error.location().map(|at| format!(", line {}", at.line()));
        FlowError { place: line.unwrap_or_default(), ..whole(message.to_owned()) }
    })?;
    check_flows(&flows).map_err(whole)?;
    Ok(flows)
}

fn check_flows(flows: &[Flow]) -> Result<(), String> {
    if flows.len() > MAX_FLOWS {
        return Err(format!("the file has more than {MAX_FLOWS} flows"));
    }
    let mut names = BTreeSet::new();
    for Flow { name, steps, .. } in flows {
        let told = crate::browser::untrusted::truncate_line(name);
        match () {
            () if told.is_empty() => return Err("a flow has no name".to_owned()),
            () if !names.insert(name) => return Err(format!("duplicate flow name `{told}`")),
            () if steps.is_empty() => return Err(format!("the flow `{told}` has no steps")),
            () if steps.len() > MAX_STEPS => {
                return Err(format!("the flow `{told}` has more than {MAX_STEPS} steps"));
            }
            () => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let told = match parse_flows("flows.yaml", text) {
            Ok(flows) => format!("{flows:#?}"),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&told);
    }

    #[test]
    fn flows_are_read() {
        let text = "flows:\n  - name: one\n    start: \"#create\"\n    steps:\n      - click_by_text: Create\n      - fill_input: { label: Name, value: \"\" }\n      - expect_no_errors\n      - wait_for: { selector: .done, seconds: 60 }\n      - screenshot: done\n      - get_page_structure: {}\n      - expect_text: \"42\"\n";
        check(
            text,
            expect![[r#"
            [
                Flow {
                    name: "one",
                    start: Some(
                        Hash(
                            "create",
                        ),
                    ),
                    steps: [
                        Do(
                            ClickByText(
                                "Create",
                            ),
                        ),
                        Do(
                            FillInput(
                                Fill {
                                    field: Label(
                                        "Name",
                                    ),
                                    value: "",
                                },
                            ),
                        ),
                        ExpectNoErrors,
                        WaitFor(
                            Selector(
                                ".done",
                                60s,
                            ),
                        ),
                        Screenshot(
                            "done",
                        ),
                        Do(
                            GetPageStructure,
                        ),
                        ExpectText(
                            "42",
                        ),
                    ],
                },
            ]"#]],
        );
    }

    #[test]
    fn an_invalid_flow_file_is_reported_with_the_line() {
        check("", expect!["cannot read `flows.yaml`, line 1: unexpected end of input"]);
        check(
            "flows:\n  - name: a\n    stepz: []\n",
            expect![
                "cannot read `flows.yaml`, line 3: unknown field `stepz`, expected one of name, \
                 start, steps"
            ],
        );
        let step = |step: &str| format!("flows:\n  - name: a\n    steps:\n      - {step}\n");
        check(
            &step("click: Save"),
            expect![
                "cannot read `flows.yaml`, line 4: unknown variant `click`, expected one of \
                 click_by_text, click_by_selector, fill_input, select_option, navigate_to_hash, \
                 send_keyboard_shortcut, get_page_structure, debug_elements, verify_form_state, \
                 eval, expect_text, expect_no_text, expect_selector, expect_no_errors, wait_for, \
                 screenshot"
            ],
        );
        check(
            &step("click_by_text: { txt: Save }"),
            expect!["cannot read `flows.yaml`, line 4: unknown field `txt`, expected one of text"],
        );
        check(
            &step("fill_input: { value: x }"),
            expect![
                "cannot read `flows.yaml`, line 4: expected one of `selector`, `placeholder` and \
                 `label`"
            ],
        );
        check(
            &step("wait_for: { text: x, seconds: 1000000 }"),
            expect!["cannot read `flows.yaml`, line 4: `seconds` must be from 1 to 120"],
        );
        check(
            &step("send_keyboard_shortcut: Hyper+X"),
            expect![
                "cannot read `flows.yaml`, line 4: invalid shortcut `Hyper+X`, expected one \
                 such as `Enter`, `Ctrl+N` or `Shift+ArrowDown`: only Ctrl, Shift, Alt and Cmd can \
                 be held down"
            ],
        );
        check(
            &step("{ click_by_text: a, expect_text: b }"),
            expect![
                "cannot read `flows.yaml`, line 4: expected end of mapping after enum variant value"
            ],
        );
        check(
            "flows:\n  - { name: a, steps: [] }\n",
            expect!["cannot read `flows.yaml`: the flow `a` has no steps"],
        );
        check(
            "flows:\n  - { name: a, steps: [expect_no_errors] }\n  - { name: a, steps: [expect_no_errors] }\n",
            expect!["cannot read `flows.yaml`: duplicate flow name `a`"],
        );
        check(
            &"[".repeat(100_000),
            expect!["cannot read `flows.yaml`, line 1: recursion limit exceeded"],
        );
        check(
            &"x".repeat(MAX_FILE_BYTES + 1),
            expect!["cannot read `flows.yaml`: the file has more than 1024 kB"],
        );
    }
}
