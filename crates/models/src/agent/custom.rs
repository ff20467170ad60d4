//! Agents that are described in the configuration by their command line and the format of their
//! output: [`Custom`].

use assay_sandbox::Command;
use serde_json::Value;

use super::{Asked, Run, Schema, class_of};
use crate::{Class, Failure, Reply, Usage};

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
    pub form: Form,
    /// A JSON pointer that marks a failed run: the run failed if the value exists and is neither
    /// `false`, `0` nor empty. `None` if the output has no such value.
    pub failed: Option<String>,
}

/// The format of an agent's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// The whole output is the answer.
    Text,
    /// A JSON value, with a JSON pointer to the answer in it.
    Json(String),
    /// JSON values, one on each line, with a JSON pointer to the answer. The last line that has a
    /// value there counts.
    JsonLines(String),
}

impl Custom {
    pub(super) fn command(&self, asked: &Asked<'_>) -> Result<Command, Failure> {
        let [program, args @ ..] = self.command.as_slice() else {
            return Err(asked.agent.failed(Class::Program, "its command is empty; configure one"));
        };
        let prompt = asked.whole(Schema::InWords);
        let model = asked.model().unwrap_or_default();
        let is_file = args.iter().any(|arg| arg.contains(PROMPT_FILE));
        let file = match is_file {
            true => asked.write("prompt.txt", &prompt)?,
            false => String::new(),
        };
        let args = args.iter().map(|arg| arg.replace(PROMPT_FILE, &file).replace(MODEL, model));
        let command = asked.program(program).args(args).args(asked.extra());
        Ok(match is_file {
            true => command,
            false => command.input(prompt.into_bytes()),
        })
    }

    pub(super) fn reply(&self, run: &Run<'_>) -> Result<Reply, Failure> {
        let printed = run.printed();
        let values: Vec<Value> = match self.form {
            Form::Text => Vec::new(),
            Form::Json(_) => serde_json::from_str(&printed).into_iter().collect(),
            Form::JsonLines(_) => {
                printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
            }
        };
        let find = |pointer: &str| values.iter().rev().find_map(|value| value.pointer(pointer));
        if let Some(why) = self.failed.as_deref().and_then(find).filter(|why| is_so(why)) {
            let why = words(why);
            return Err(run.failed(class_of(&why), &format!("it says that it failed: {why}")));
        }
        if !run.finished.status.success() {
            return Err(run.ended_badly());
        }
        let text = match &self.form {
            Form::Text => printed,
            Form::Json(_) | Form::JsonLines(_) if values.is_empty() => return Err(run.garbage()),
            Form::Json(pointer) | Form::JsonLines(pointer) => {
                find(pointer).map(words).ok_or_else(|| run.empty())?
            }
        };
        Ok(Reply::new(text, Usage::default()))
    }
}

fn is_so(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_so) => *is_so,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Returns a string without quotes, and any other value as JSON.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
