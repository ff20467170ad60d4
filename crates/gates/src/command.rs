//! Runs commands that verify items: [`CommandVerifier`].

use std::path::PathBuf;
use std::time::Duration;

use assay_sandbox::Command;

use crate::gate::NewItem;
use crate::item::{Item, Scope, Severity};
use crate::phase::Phase;
use crate::result::CheckResult;
use crate::sidecar::VerifiedBy;
use crate::text::read::{Answer, read};

/// Maximum output of a command, in bytes.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// Maximum number of characters of the output in a finding.
const MAX_MESSAGE_CHARS: usize = 600;

/// A command that verifies an item.
#[derive(Debug, Clone)]
pub struct CommandVerifier {
    /// The name of the command.
    pub name: String,
    /// The phases in which the command runs.
    pub phases: Vec<Phase>,
    /// The text of the check.
    pub check: String,
    /// The severity of a failure.
    pub severity: Severity,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The form of the command's answer.
    pub answer: AnswerForm,
    /// The timeout of the command.
    pub time: Duration,
    /// The working directory of the command.
    pub folder: PathBuf,
}

/// The form of a command's answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// The exit code: 0 is a pass.
    #[default]
    Exit,
    /// Text on stdout, such as `PASS` or a complete answer; the exit code must not contradict it.
    Text,
}

impl CommandVerifier {
    /// Returns the item that the command verifies.
    pub fn item(&self) -> NewItem {
        let by = Some(VerifiedBy::Command(self.name.clone()));
        NewItem::new(Scope::All, self.check.clone(), self.severity, by)
    }

    /// Runs the command for an item.
    pub fn run(&self, phase: Phase, item: &Item, plan: Option<&str>) -> CheckResult {
        let Some((program, args)) = self.command.split_first() else {
            return CheckResult::NotChecked(format!("`{}` has no command", self.name));
        };
        let run = Command::new(program)
            .args(args)
            .folder(&self.folder)
            .env("ASSAY_GATE_PHASE", phase.name())
            .env("ASSAY_GATE_PLAN", plan.unwrap_or_default())
            .env("ASSAY_ITEM_ID", item.id.as_str())
            .env("ASSAY_ITEM_SCOPE", item.scope.to_string())
            .env("ASSAY_ITEM_CHECK", &item.check)
            .time(self.time)
            .output(MAX_OUTPUT_BYTES)
            .run();
        let finished = match run {
            Ok(finished) => finished,
            Err(error) => {
                return CheckResult::NotChecked(format!("`{}` did not answer: {error}", self.name));
            }
        };
        let printed = String::from_utf8_lossy(&finished.stdout);
        let complained = String::from_utf8_lossy(&finished.stderr);
        match (self.answer, finished.status.code()) {
            (_, None) => CheckResult::NotChecked(format!("`{}` was killed by a signal", self.name)),
            (AnswerForm::Exit, Some(0)) => CheckResult::Pass,
            (AnswerForm::Exit, Some(code)) => self.failed(code, &printed, &complained),
            (AnswerForm::Text, Some(code)) => self.said(code, &printed, &complained),
        }
    }

    fn failed(&self, code: i32, printed: &str, complained: &str) -> CheckResult {
        let told = [printed, complained].map(str::trim).into_iter().find(|text| !text.is_empty());
        let told = told.map_or_else(|| "no output".to_owned(), end_of);
        CheckResult::Fail(format!("`{}` exited with code {code}: {told}", self.name))
    }

    /// Evaluates the text of an answer. Text that cannot be parsed is no pass.
    fn said(&self, code: i32, printed: &str, complained: &str) -> CheckResult {
        match read(printed) {
            Ok(Answer::Verified(answer)) if answer.is_pass && code == 0 => CheckResult::Pass,
            Ok(Answer::Verified(answer)) if answer.is_pass => CheckResult::Fail(format!(
                "`{}` reports PASS, but exited with code {code}",
                self.name
            )),
            Ok(Answer::Verified(answer)) => {
                let failed = answer.failed.iter().map(|(id, check)| format!("{id}: {check}"));
                let mut told: Vec<String> = failed.chain(answer.report).collect();
                if told.is_empty() {
                    told.push(end_of(if complained.trim().is_empty() {
                        printed
                    } else {
                        complained
                    }));
                }
                CheckResult::Fail(format!("`{}` reports FAIL: {}", self.name, told.join("; ")))
            }
            Ok(Answer::Decomposed { .. }) => CheckResult::Fail(format!(
                "`{}` returned a list of items instead of a result",
                self.name
            )),
            Err(error) => CheckResult::Fail(format!("the answer of `{}` is {error}", self.name)),
        }
    }
}

/// Returns the end of a text, where programs print the reason of a failure.
fn end_of(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(MAX_MESSAGE_CHARS);
    text.chars().skip(skipped).collect()
}
