//! The part of an answer that has been received so far: [`PartialAnswer`].

use std::fmt;

use serde_json::Value;

use super::REPORT;
use crate::api_error::ApiError;
use crate::{ToolCall, Usage};

/// The part of an answer that has been received so far.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct PartialAnswer {
    /// The text outside of calls.
    pub(crate) text: String,
    /// The calls in order: of the tool that takes the answer, and of the tools of the prompt.
    pub(crate) calls: Vec<PartialCall>,
    /// The thoughts in the provider's own format, for providers that want them back.
    pub(crate) thoughts: Vec<Value>,
    /// The words with which the model refused; empty if it did not.
    pub(crate) refusal: String,
    /// The number of characters received, thoughts included.
    pub(crate) received_chars: usize,
    /// The tokens used, as far as the provider has reported them.
    pub(crate) usage: Usage,
    /// The reason why the answer ended; `None` if the provider has given none.
    pub(crate) stop: Option<StopReason>,
    /// The error that the provider reported.
    pub(crate) api_error: Option<ApiError>,
    /// True if the provider marked the end of the stream, or sent one body.
    pub(crate) ended: bool,
}

/// A call of a tool, as far as it was received.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// A piece of a call. Later pieces of a call may leave out its name and id.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallPart<'a> {
    /// The position of the call in the answer; `None` if the provider does not number the calls.
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
}

impl PartialCall {
    /// Returns true if the arguments of the call are the answer.
    fn is_report(&self, offers_tools: bool) -> bool {
        !offers_tools || self.name.is_empty() || self.name == REPORT
    }

    /// Returns true if a piece belongs to this call.
    fn owns(&self, part: &CallPart<'_>) -> bool {
        let same_id = self.id.is_empty() || part.id.is_empty() || self.id == part.id;
        match part.index {
            Some(_) => self.index == part.index && same_id,
            None => part.name.is_empty() && same_id,
        }
    }
}

/// A complete answer, split into its parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerParts {
    /// The answer itself.
    pub(crate) text: String,
    /// The text other than the answer.
    pub(crate) aside: String,
    /// The calls of other tools, also of those that the prompt does not offer.
    pub(crate) calls: Vec<ToolCall>,
}

/// The reason why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The answer is complete.
    Finished,
    /// The maximum length was reached.
    CutOff,
    /// The model or its provider refused to go on.
    Refused,
    /// An unknown reason. The answer may be incomplete.
    Unknown(String),
}

impl StopReason {
    /// Parses a reason; `None` if it is empty. Servers that are only roughly compatible use the
    /// words of other APIs.
    pub(crate) fn parse(reason: &str) -> Option<StopReason> {
        Some(match reason.to_ascii_lowercase().as_str() {
            "" => return None,
            "stop" | "tool_calls" | "function_call" => StopReason::Finished,
            "end_turn" | "stop_sequence" | "tool_use" => StopReason::Finished,
            "eos" | "eos_token" | "completed" => StopReason::Finished,
            "length" | "model_length" | "max_tokens" => StopReason::CutOff,
            "model_context_window_exceeded" | "incomplete" => StopReason::CutOff,
            "content_filter" | "refusal" | "safety" => StopReason::Refused,
            _ => StopReason::Unknown(reason.to_owned()),
        })
    }
}

impl PartialAnswer {
    /// Appends text to the answer.
    pub(super) fn push_text(&mut self, text: &str) {
        self.count_chars(text);
        self.text.push_str(text);
    }

    /// Adds a piece of a call: to the call that it belongs to, or else as a new call.
    pub(super) fn push_call(&mut self, part: CallPart<'_>) {
        self.count_chars(part.arguments);
        let known = self.calls.iter().rposition(|call| call.owns(&part));
        let at = known.unwrap_or_else(|| {
            self.calls.push(PartialCall { index: part.index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        for (own, new) in [(&mut call.id, part.id), (&mut call.name, part.name)] {
            if own.is_empty() {
                new.clone_into(own);
            }
        }
        call.arguments.push_str(part.arguments);
    }

    /// Returns true if the call at an index has no arguments yet.
    pub(super) fn lacks_arguments(&self, index: Option<u64>) -> bool {
        let call = self.calls.iter().rev().find(|call| call.index == index);
        call.is_none_or(|call| call.arguments.is_empty())
    }

    /// Appends text to the refusal.
    pub(super) fn push_refusal(&mut self, text: &str) {
        self.count_chars(text);
        self.refusal.push_str(text);
        self.stop = Some(StopReason::Refused);
    }

    /// Counts the characters of a text, without storing it.
    pub(super) fn count_chars(&mut self, text: &str) {
        self.received_chars += text.chars().count();
    }

    /// Sets the reason why the answer ended, if one is given. A refusal is never overwritten.
    pub(super) fn set_stop_reason(&mut self, reason: &str) {
        if self.stop != Some(StopReason::Refused) {
            self.stop = StopReason::parse(reason).or(self.stop.take());
        }
    }

    /// Returns the size of the answer in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len() + self.arguments().map(str::len).sum::<usize>() + self.refusal.len()
    }

    /// Returns the thoughts that the provider takes back: those that it signed or encrypted.
    pub(crate) fn signed_thoughts(&self) -> impl Iterator<Item = &Value> {
        let has = |thought: &Value, field: &str| {
            thought[field].as_str().is_some_and(|text| !text.is_empty())
        };
        self.thoughts.iter().filter(move |it| has(it, "signature") || has(it, "data"))
    }

    /// Returns the arguments of all calls.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.arguments.as_str())
    }

    /// Splits the answer into its parts. The arguments of the call that takes the answer come
    /// before text. If no tools were offered, every call is such a call.
    pub(crate) fn into_parts(self, offers_tools: bool) -> AnswerParts {
        let (reports, calls): (Vec<PartialCall>, Vec<PartialCall>) =
            self.calls.into_iter().partition(|call| call.is_report(offers_tools));
        let report: String = reports.into_iter().map(|call| call.arguments).collect();
        let (text, aside) = match report.trim().is_empty() {
            true => (self.text, String::new()),
            false => (report, self.text),
        };
        let call = |PartialCall { name, arguments, .. }| ToolCall { name, arguments };
        AnswerParts { text, aside, calls: calls.into_iter().map(call).collect() }
    }
}

impl fmt::Debug for PartialAnswer {
    /// Formats the parts that are not empty, for tests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.text.is_empty() {
            writeln!(f, "text {:?}", self.text)?;
        }
        for PartialCall { name, arguments, .. } in &self.calls {
            match name.as_str() {
                "" | REPORT => writeln!(f, "tool {arguments:?}")?,
                name => writeln!(f, "call {name} {arguments:?}")?,
            }
        }
        if !self.refusal.is_empty() {
            writeln!(f, "refusal {:?}", self.refusal)?;
        }
        for thought in self.signed_thoughts() {
            writeln!(f, "thought {thought}")?;
        }
        let Usage { input, cache_read, cache_write, output } = self.usage;
        writeln!(f, "tokens {input} read {cache_read} written {cache_write} out {output}")?;
        if let Some(api_error) = &self.api_error {
            writeln!(f, "complaint {} {:?}", api_error.kind, api_error.message)?;
        }
        writeln!(f, "stop {:?} ended {} heard {}", self.stop, self.ended, self.received_chars)
    }
}
