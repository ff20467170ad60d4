//! Agents that are described in the configuration by their command line and the format of their
//! output: [`Custom`].

use assay_sandbox::Command;
use serde_json::Value;

use super::{AgentRequest, AgentRun, SchemaPlacement, class_of};
use crate::{Failure, FailureClass, Reply, Usage};

/// The placeholder for the file with the prompt in a command line.
const PROMPT_FILE: &str = "{prompt_file}";

/// The placeholder for the name of the model in a command line.
const MODEL: &str = "{model}";

/// An agent that is described in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Custom {
    /// The program and its arguments. `{prompt_file}` is replaced by a file with the prompt;
    /// without it, the prompt goes to stdin. `{model}` is replaced by the name of the model.
    pub command: Vec<String>,
    /// The format of the output.
    pub form: AgentOutputFormat,
    /// A JSON pointer that marks a failed run: the run failed if the value exists and is neither
    /// `false`, `0` nor empty. `None` if the output has no such value.
    pub failed: Option<String>,
}

/// The format of an agent's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentOutputFormat {
    /// The whole output is the answer.
    Text,
    /// A JSON value, with a JSON pointer to the answer in it.
    Json(String),
    /// JSON values, one on each line, with a JSON pointer to the answer. The last line that has a
    /// value there counts.
    JsonLines(String),
}

impl Custom {
    pub(super) fn command(&self, request: &AgentRequest<'_>) -> Result<Command, Failure> {
        let [program, args @ ..] = self.command.as_slice() else {
            return Err(request
                .agent
                .failure(FailureClass::Program, "the agent's command is empty; set `run`"));
        };
        let prompt = request.full_prompt(SchemaPlacement::InPrompt);
        let model = request.model().unwrap_or_default();
        let is_file = args.iter().any(|arg| arg.contains(PROMPT_FILE));
        let file = match is_file {
            true => request.write_file("prompt.txt", &prompt)?,
            false => String::new(),
        };
        let args = args.iter().map(|arg| arg.replace(PROMPT_FILE, &file).replace(MODEL, model));
        let command = request.program(program).args(args).args(request.extra_args());
        Ok(match is_file {
            true => command,
            false => command.input(prompt.into_bytes()),
        })
    }

    pub(super) fn reply(&self, run: &AgentRun<'_>) -> Result<Reply, Failure> {
        let printed = run.stdout();
        let values: Vec<Value> = match self.form {
            AgentOutputFormat::Text => Vec::new(),
            AgentOutputFormat::Json(_) => serde_json::from_str(&printed).into_iter().collect(),
            AgentOutputFormat::JsonLines(_) => {
                printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
            }
        };
        let find = |pointer: &str| values.iter().rev().find_map(|value| value.pointer(pointer));
        if let Some(why) = self.failed.as_deref().and_then(find).filter(|why| is_truthy(why)) {
            let why = value_text(why);
            return Err(
                run.failure(class_of(&why), &format!("the agent reported a failure: {why}"))
            );
        }
        if !run.finished.status.success() {
            return Err(run.exit_failure());
        }
        let text = match &self.form {
            AgentOutputFormat::Text => printed,
            AgentOutputFormat::Json(_) | AgentOutputFormat::JsonLines(_) if values.is_empty() => {
                return Err(run.garbage_failure());
            }
            AgentOutputFormat::Json(pointer) | AgentOutputFormat::JsonLines(pointer) => {
                find(pointer).map(value_text).ok_or_else(|| run.empty_failure())?
            }
        };
        Ok(Reply::new(text, Usage::default()))
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_truthy) => *is_truthy,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Returns a string without quotes, and any other value as JSON.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
