//! Messages to the user on stderr.

use std::io::{self, Write};

use assay_engine::reporter::Reporter;
use assay_findings::write::plain;

/// Writes messages to stderr.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stderr;

impl Reporter for Stderr {
    fn note(&self, text: &str) {
        note(text);
    }

    fn warn(&self, text: &str) {
        warn(text);
    }
}

/// Warns on stderr of a fault that does not stop the work.
pub(crate) fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// Writes a line about progress to stderr, without credentials and with control characters visible.
pub(crate) fn note(text: &str) {
    let text = assay_rules::redact(text);
    // A reader that closed stderr wants no messages.
    let _ = writeln!(io::stderr(), "{}", plain::visible(&text));
}
