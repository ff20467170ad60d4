//! What has come of an answer so far: [`Answer`].

use std::fmt;

use crate::Usage;
use crate::complaint::Complaint;

/// What has come of an answer so far.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What it says.
    pub(crate) text: String,
    /// What it hands to the tool that it was asked to call, as JSON.
    pub(crate) tool: String,
    /// Why it will not answer.
    pub(crate) refusal: String,
    /// How many characters came, thoughts included.
    pub(crate) heard: usize,
    /// What it took, as far as the provider said.
    pub(crate) usage: Usage,
    /// Why it ended.
    pub(crate) stop: Option<Stop>,
    /// What went wrong at the provider.
    pub(crate) complaint: Option<Complaint>,
    /// Whether the provider said that nothing follows.
    pub(crate) ended: bool,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was at its end.
    Finished,
    /// It was at its longest.
    CutOff,
    /// The model or its provider would not go on.
    Refused,
    /// For a reason that nobody here knows. What it says may be half of what was to be said.
    Unknown(String),
}

impl Stop {
    /// Reads a reason, if one is given. Servers that speak a dialect almost have words of others
    /// for it.
    pub(crate) fn of(reason: &str) -> Option<Stop> {
        Some(match reason.to_ascii_lowercase().as_str() {
            "" => return None,
            "stop" | "tool_calls" | "function_call" => Stop::Finished,
            "end_turn" | "stop_sequence" | "tool_use" => Stop::Finished,
            "eos" | "eos_token" | "completed" => Stop::Finished,
            "length" | "model_length" | "max_tokens" => Stop::CutOff,
            "model_context_window_exceeded" | "incomplete" => Stop::CutOff,
            "content_filter" | "refusal" | "safety" => Stop::Refused,
            _ => Stop::Unknown(reason.to_owned()),
        })
    }
}

impl Answer {
    /// Adds to what it says.
    pub(super) fn say(&mut self, text: &str) {
        self.hear(text);
        self.text.push_str(text);
    }

    /// Adds to what it hands to the tool.
    pub(super) fn call(&mut self, json: &str) {
        self.hear(json);
        self.tool.push_str(json);
    }

    /// Adds to why it will not answer.
    pub(super) fn refuse(&mut self, text: &str) {
        self.hear(text);
        self.refusal.push_str(text);
        self.stop = Some(Stop::Refused);
    }

    /// Counts what is not kept.
    pub(super) fn hear(&mut self, text: &str) {
        self.heard += text.chars().count();
    }

    /// Notes why it ended, where that is said. What was refused stays so.
    pub(super) fn stopped(&mut self, reason: &str) {
        if self.stop != Some(Stop::Refused) {
            self.stop = Stop::of(reason).or(self.stop.take());
        }
    }

    /// Gives its size in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len() + self.tool.len() + self.refusal.len()
    }

    /// Gives what there is of it: what was handed to the tool before what was said.
    pub(crate) fn into_text(self) -> String {
        self.into_text_and_aside().0
    }

    /// Gives what there is of it, and what was said beside that.
    pub(crate) fn into_text_and_aside(self) -> (String, String) {
        match self.tool.trim().is_empty() {
            true => (self.text, String::new()),
            false => (self.tool, self.text),
        }
    }
}

impl fmt::Debug for Answer {
    /// Writes what is there, in few lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, text) in [("text", &self.text), ("tool", &self.tool), ("refusal", &self.refusal)]
        {
            if !text.is_empty() {
                writeln!(f, "{name} {text:?}")?;
            }
        }
        let Usage { input, cache_read, cache_write, output } = self.usage;
        writeln!(f, "tokens {input} read {cache_read} written {cache_write} out {output}")?;
        if let Some(complaint) = &self.complaint {
            writeln!(f, "complaint {} {:?}", complaint.kind, complaint.message)?;
        }
        writeln!(f, "stop {:?} ended {} heard {}", self.stop, self.ended, self.heard)
    }
}
