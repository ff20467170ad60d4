//! Code inside of files of another format: [`code_of`] blanks out everything else, so that each
//! piece of code keeps its line and its bytes.
//!
//! - Components of Vue and Svelte: their scripts, as TypeScript.
//! - Notebooks: their code cells, as Python.
//! - Dockerfiles: the commands of `RUN`, as shell code.

mod component;
mod dockerfile;
mod notebook;

use std::borrow::Cow;

use crate::language::CodeContainer;

/// Returns the code of a file, at its own lines and bytes; `None` if the code cannot be told from
/// the rest of the file.
pub(crate) fn code_of<'t>(path: &str, text: &'t str) -> Option<Cow<'t, str>> {
    match CodeContainer::of(path) {
        None => Some(Cow::Borrowed(text)),
        Some(CodeContainer::Component) => Some(Cow::Owned(component::code(text))),
        Some(CodeContainer::Dockerfile) => Some(Cow::Owned(dockerfile::code(text))),
        Some(CodeContainer::Notebook) => notebook::code(text).map(Cow::Owned),
    }
}

/// The bytes of a text, all blank except for the pieces that are copied.
struct BlankCopy<'t> {
    text: &'t str,
    bytes: Vec<u8>,
}

impl<'t> BlankCopy<'t> {
    /// Creates a copy without any content but its line ends.
    fn new(text: &'t str) -> BlankCopy<'t> {
        let blank = |byte: u8| if matches!(byte, b'\n' | b'\r') { byte } else { b' ' };
        BlankCopy { text, bytes: text.bytes().map(blank).collect() }
    }

    /// Copies a range of the text.
    fn keep(&mut self, start: usize, end: usize) {
        if let (Some(to), Some(from)) =
            (self.bytes.get_mut(start..end), self.text.as_bytes().get(start..end))
        {
            to.copy_from_slice(from);
        }
    }

    /// Writes other bytes at a place. Nothing is written behind the end of the text.
    fn write(&mut self, start: usize, bytes: &[u8]) {
        if let Some(to) = self.bytes.get_mut(start..start + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    fn into_text(self) -> String {
        String::from_utf8(self.bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
