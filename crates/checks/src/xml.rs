//! XML of test runners and coverage tools: [`walk`].
//!
//! A document type is skipped, and its declarations are neither looked up nor expanded: only the
//! entities of XML itself and numbered characters have a meaning.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// A step through a document.
pub(crate) enum Step<'a> {
    /// The start of an element.
    Open(&'a Element<'a>),
    /// Text, or a piece of it.
    Text(&'a str),
    /// The end of an element.
    Close(&'a str),
}

/// The start tag of an element.
pub(crate) struct Element<'a>(&'a BytesStart<'a>);

impl Element<'_> {
    /// Returns the name of the element, without a namespace.
    pub(crate) fn name(&self) -> String {
        local(self.0.name().as_ref()).to_owned()
    }

    /// Returns an attribute; `None` if the element lacks it.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let found = self.0.try_get_attribute(name).ok().flatten()?;
        let value = unescape(&found.value).map_or_else(|_| found.value.to_string(), Into::into);
        Some(value)
    }

    /// Returns an attribute as a number; `None` if it is missing or not a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }
}

/// Returns the name of the first element.
pub(crate) fn root(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                return Some(local(element.name().as_ref()).to_owned());
            }
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Visits a document step by step. Returns true if the document is complete: valid, and closed at
/// its end.
pub(crate) fn walk(text: &str, mut visit: impl FnMut(Step<'_>)) -> bool {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let (mut open, mut seen) = (0_usize, false);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                (open, seen) = (open + 1, true);
                visit(Step::Open(&Element(&element)));
            }
            Ok(Event::Empty(element)) => {
                seen = true;
                visit(Step::Open(&Element(&element)));
                visit(Step::Close(local(element.name().as_ref())));
            }
            Ok(Event::End(element)) => {
                open = open.saturating_sub(1);
                visit(Step::Close(local(element.name().as_ref())));
            }
            Ok(Event::Text(words)) => visit(Step::Text(&words)),
            Ok(Event::CData(words)) => visit(Step::Text(&words)),
            Ok(Event::GeneralRef(name)) => {
                let whole = format!("&{};", &*name);
                visit(Step::Text(unescape(&whole).as_deref().unwrap_or(&whole)));
            }
            Ok(Event::Eof) => return seen && open == 0,
            Ok(Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_)) => {}
            Err(_) => return false,
        }
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
