//! The XML of Checkstyle, which many analysers print.
//!
//! Only the entities of XML itself and numbered characters are resolved; nothing is fetched or
//! expanded.

use assay_findings::vote::LineRange;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::FormatError;
use crate::command::draft::Draft;
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

/// Returns true if the first element of an XML text is that of Checkstyle.
pub(super) fn is_checkstyle(text: &str) -> bool {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                return element.name().as_ref() == "checkstyle";
            }
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let text = text.find('<').map_or("", |start| &text[start..]);
    if !is_checkstyle(text) {
        return Err(FormatError::NotThisForm);
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut file: Option<String> = None;
    let mut is_closed = false;
    loop {
        let before = reader.buffer_position();
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                let raw = raw(text, before, reader.buffer_position());
                match element.name().as_ref() {
                    "file" => file = attribute(&element, "name").ok().flatten(),
                    "error" => take_or_reject(&element, file.as_deref(), raw, builder),
                    "exception" => {
                        builder.not_covered(file.as_deref(), "the analyser could not read it");
                    }
                    "checkstyle" => is_closed = raw.ends_with("/>"),
                    _ => {}
                }
            }
            Ok(Event::End(element)) if element.name().as_ref() == "checkstyle" => {
                is_closed = true;
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                let rest = raw(text, before, text.len() as u64);
                builder.reject(format!("the XML is invalid: {error}"), rest);
                return Ok(());
            }
        }
    }
    if !is_closed {
        builder.reject("the XML is truncated", "");
    }
    Ok(())
}

fn raw(text: &str, from: u64, to: u64) -> &str {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
    text.get(place(from)..place(to)).unwrap_or_default()
}

fn take_or_reject(
    element: &BytesStart<'_>,
    file: Option<&str>,
    raw: &str,
    builder: &mut ReportBuilder<'_>,
) {
    if let Err(reason) = take(element, file, builder) {
        builder.reject(reason, raw);
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let found = element.try_get_attribute(name).map_err(|error| error.to_string())?;
    let Some(found) = found else { return Ok(None) };
    let value = quick_xml::escape::unescape(&found.value).map_err(|error| error.to_string())?;
    Ok(Some(value.into_owned()))
}

fn take(
    element: &BytesStart<'_>,
    file: Option<&str>,
    builder: &mut ReportBuilder<'_>,
) -> Result<(), String> {
    let file = file.ok_or("the finding is outside of a `file` element")?;
    let message = attribute(element, "message")?.ok_or("the finding has no message")?;
    let word = attribute(element, "severity")?.unwrap_or_default();
    if word == "ignore" {
        return Ok(());
    }
    let source = attribute(element, "source")?.unwrap_or_default();
    let line = attribute(element, "line")?.filter(|line| !line.is_empty());
    let line = line.map(|line| line.parse::<u32>()).transpose();
    let line = line.map_err(|error| format!("the line is not a number: {error}"))?;
    if source.eq_ignore_ascii_case("shellcheck") {
        // ShellCheck has a code for every message except for a file that it cannot open.
        builder.not_covered(Some(file), &message);
        return Ok(());
    }
    if source == "ShellCheck.SC1073" {
        builder.partly_covered(Some(file), &message);
    }
    let code = code(&source, builder.reviewer());
    let category = if word == "error" { "correctness" } else { "style" };
    let mut draft = Draft::new(message, severity::grade(&word), category);
    draft.code = Some(code).filter(|code| !code.is_empty());
    draft.file = Some(builder.checkout.path(file)?);
    draft.lines = line.and_then(LineRange::at);
    builder.take(draft);
    Ok(())
}

/// Returns the rule of a `source`, without the name of the tool or a Java package.
fn code(source: &str, tool: &str) -> String {
    if source.starts_with("com.puppycrawl.") {
        let name = source.rsplit('.').next().unwrap_or(source);
        return name.strip_suffix("Check").unwrap_or(name).to_owned();
    }
    let source = source.strip_prefix("eslint.rules.").unwrap_or(source);
    match source.split_once(['.', '/']) {
        Some((name, rest)) if name.eq_ignore_ascii_case(tool) => rest.to_owned(),
        _ => source.to_owned(),
    }
}
