//! Screenshots of a page: [`Screenshot`].

use std::fs;
use std::path::{Path, PathBuf};

use assay_store::durable_fs::{self, DiskError, Durability};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::error::PageError;
use super::page::Page;

/// The signature of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 60;

/// A screenshot of the visible part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    png: Vec<u8>,
}

impl Page {
    /// Takes a screenshot of the visible part of the page.
    pub fn screenshot(&self) -> Result<Screenshot, PageError> {
        let request = self.request("taking a screenshot");
        let answer = self.call("Page.captureScreenshot", &json!({ "format": "png" }), request)?;
        let png = BASE64_STANDARD.decode(answer["data"].as_str().unwrap_or_default());
        match png {
            Ok(png) if png.starts_with(PNG) => Ok(Screenshot { png }),
            _ => Err(PageError::Refused {
                method: "Page.captureScreenshot".to_owned(),
                message: "the answer is not a PNG image".to_owned(),
            }),
        }
    }
}

impl Screenshot {
    /// Returns the screenshot as a PNG.
    pub fn png(&self) -> &[u8] {
        &self.png
    }

    /// Returns the width and height in pixels, as the PNG states them.
    pub fn size(&self) -> (u32, u32) {
        let number = |at: usize| {
            let bytes = self.png.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes)
        };
        (number(16), number(20))
    }

    /// Writes the screenshot to a folder, which is created if it is missing, under the next number
    /// and a name. Returns the file name.
    pub fn save(&self, folder: &Path, name: &str) -> Result<String, DiskError> {
        durable_fs::make_folder(folder)?;
        let number = next_number(folder);
        let file = format!("{number:03}-{}.png", file_name(name));
        durable_fs::write(&folder.join(&file), &self.png, Durability::PageCache)?;
        Ok(file)
    }
}

/// Returns the number after the highest one of the screenshots in a folder.
fn next_number(folder: &Path) -> u32 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".png")?;
        name.split('-').next()?.parse::<u32>().ok()
    };
    files.filter_map(|file| number(file.path())).max().map_or(1, |last| last.saturating_add(1))
}

/// Converts a user-supplied name to a file name: letters, digits and dashes, without path
/// separators.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let letters: String = name.chars().take(MAX_NAME_CHARS).map(plain).collect();
    let words: Vec<&str> = letters.split_whitespace().collect();
    if words.is_empty() { "page".to_owned() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screenshots_are_numbered_and_their_names_cannot_leave_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let picture = Screenshot { png: PNG.to_vec() };
        let below = folder.path().join("e2e");
        let keep = |name: &str| picture.save(&below, name).unwrap();
        assert_eq!(keep("After Saving!"), "001-after-saving.png");
        assert_eq!(keep("../../etc/pässword\0"), "002-etc-p-ssword.png");
        assert_eq!(keep(""), "003-page.png");
        fs::write(below.join("4294967295-x.png"), "").unwrap();
        assert_eq!(keep("last"), "4294967295-last.png");
        assert_eq!(picture.size(), (0, 0));
    }
}
