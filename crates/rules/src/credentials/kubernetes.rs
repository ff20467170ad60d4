//! The values of Kubernetes secrets, under any name: [`scan`].

use super::value::{Quality, decoded};
use super::{Certainty, Credential};

/// The kind of every value of a secret.
const KIND: &str = "a value of a Kubernetes secret";

/// Finds the values under `data` and `stringData` of the documents that are secrets.
pub(super) fn scan(text: &str) -> Vec<Credential> {
    if !text.contains("Secret") || !text.contains("ata:") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut document = Document::default();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        document.read(line.trim_end(), from, &mut found);
        from += line.len();
    }
    found.extend(document.end());
    found
}

/// The state of a YAML document during the scan.
#[derive(Default)]
struct Document {
    is_secret: bool,
    section: Option<Section>,
    /// The values that are credentials if the document is a secret, which its end may state.
    values: Vec<Credential>,
}

/// The section of a document that holds values.
#[derive(Clone, Copy)]
struct Section {
    indent: usize,
    is_base64: bool,
}

impl Document {
    fn read(&mut self, line: &str, at: usize, found: &mut Vec<Credential>) {
        if line == "---" {
            found.extend(std::mem::take(self).end());
            return;
        }
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if content.is_empty() || content.starts_with('#') {
            return;
        }
        if content == "kind: Secret" || content == "kind: \"Secret\"" {
            self.is_secret = true;
        }
        if self.section.is_some_and(|section| indent <= section.indent) {
            self.section = None;
        }
        match (content, self.section) {
            ("data:" | "stringData:", None) => {
                self.section = Some(Section { indent, is_base64: content == "data:" });
            }
            (_, Some(section)) => {
                self.values.extend(value(content, at + indent, section.is_base64))
            }
            (_, None) => {}
        }
    }

    fn end(self) -> Vec<Credential> {
        if self.is_secret { self.values } else { Vec::new() }
    }
}

/// Parses a value of a secret. Returns `None` if it is not a credential.
fn value(content: &str, at: usize, is_base64: bool) -> Option<Credential> {
    let start = content.find(": ").map_or(0, |colon| colon + 2);
    let raw = content[start..].trim();
    let start = start + content[start..].find(raw)?;
    let inner = raw.trim_matches(['"', '\'']);
    let start = start + raw.find(inner)?;
    // A value that does not decode to text is a key.
    let plain = decoded(inner).filter(|_| is_base64).unwrap_or_else(|| inner.to_owned());
    let certainty = match Quality::of(plain.trim())? {
        Quality::Random => Certainty::Likely,
        Quality::Chosen | Quality::Word => Certainty::Possible,
    };
    (inner.len() >= 6)
        .then(|| Credential::new(KIND, certainty, at + start..at + start + inner.len()))
}
