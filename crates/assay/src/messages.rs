//! Messages to the user on stderr.

use std::io::{self, Write};

use assay_engine::reporter::Reporter;
use assay_findings::write::escape;

/// A reporter that writes messages to stderr.
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

/// Writes a warning about a fault that does not stop the work to stderr.
pub(crate) fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// Writes a redacted line about progress to stderr, with control characters visible.
pub(crate) fn note(text: &str) {
    let text = assay_rules::redact(text);
    // A closed stderr is ignored.
    let _ = writeln!(io::stderr(), "{}", escape::escape_hidden(&text));
}
