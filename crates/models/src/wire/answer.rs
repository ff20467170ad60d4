//! What has come of an answer so far: [`Answer`].

use std::fmt;

use serde_json::Value;

use super::text;
use crate::Usage;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was at its end.
    Finished,
    /// It was at its longest.
    CutOff,
    /// The model or its provider would not go on.
    Refused,
}

/// What a provider says went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Its own name for it.
    pub(crate) kind: String,
    /// Its words.
    pub(crate) message: String,
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

    /// Notes why it ended. What was refused stays so.
    pub(super) fn stopped(&mut self, stop: Stop) {
        if self.stop != Some(Stop::Refused) {
            self.stop = Some(stop);
        }
    }

    /// Gives its size in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len() + self.tool.len() + self.refusal.len()
    }

    /// Gives what there is of it: what was handed to the tool before what was said.
    pub(crate) fn into_text(self) -> String {
        match self.tool.trim().is_empty() {
            true => self.text,
            false => self.tool,
        }
    }
}

impl Complaint {
    /// Reads the body or the event of an error, in any of the forms that providers have for it.
    pub(crate) fn read(body: &Value) -> Option<Complaint> {
        let error = body.get("error").filter(|error| !error.is_null());
        let said = error.or_else(|| body.get("message")).or_else(|| body.get("detail"))?;
        let Value::Object(_) = said else {
            let message = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
            return Some(Complaint { kind: String::new(), message });
        };
        let kind = match (text(said, "/code"), text(said, "/type")) {
            ("", "") => said.get("code").map(Value::to_string).unwrap_or_default(),
            ("", kind) => kind.to_owned(),
            (code, _) => code.to_owned(),
        };
        Some(Complaint { kind, message: text(said, "/message").to_owned() })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_read_in_many_forms() {
        let cases = [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"full"}}"#,
                "overloaded_error: full",
            ),
            (
                r#"{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}"#,
                "rate_limit_exceeded: slow down",
            ),
            (r#"{"error":{"message":"upstream","code":502}}"#, "502: upstream"),
            (r#"{"error":"model not found"}"#, ": model not found"),
            (r#"{"detail":"no"}"#, ": no"),
        ];
        for (body, expected) in cases {
            let Complaint { kind, message } =
                Complaint::read(&serde_json::from_str(body).unwrap()).unwrap();
            assert_eq!(format!("{kind}: {message}"), expected);
        }
        assert_eq!(Complaint::read(&serde_json::json!({ "error": null, "id": 1 })), None);
    }
}
