//! Screenshots of end-to-end checks: [`ScreenshotView`] names one, [`read_screenshot`] reads it.
//!
//! A picture is a file in the work tree, where tests and fixers can write. So only files that the
//! journal names are read, no link is followed, and the content must be a PNG of limited size. A
//! picture is shown, and decides nothing.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, bail};
use assay_validate::e2e::screenshot_of_note;
use schemars::JsonSchema;
use serde::Serialize;

use crate::loop_session::SpecLocation;

/// The maximum size of a screenshot, in bytes.
pub const MAX_SCREENSHOT_BYTES: u64 = 8 << 20;

/// The signature of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A screenshot of an end-to-end check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScreenshotView {
    /// The number of the round.
    pub round: u32,
    /// The file name.
    pub file: String,
}

/// Returns the screenshots that the notes of a check name.
pub(super) fn screenshots(round: u32, notes: &[String]) -> Vec<ScreenshotView> {
    let files = notes.iter().filter_map(|note| screenshot_of_note(note));
    let files = files.filter_map(|path| Path::new(path).file_name()?.to_str());
    let files = files.filter(|file| is_plain(file));
    files.map(|file| ScreenshotView { round, file: file.to_owned() }).collect()
}

/// Reads a screenshot of a loop. Fails if the file is missing, is reached through a link, is too
/// large, or is no PNG.
pub fn read_screenshot(place: &SpecLocation, shown: &ScreenshotView) -> anyhow::Result<Vec<u8>> {
    let file = &shown.file;
    if !is_plain(file) {
        bail!("invalid name of a screenshot {file:?}");
    }
    let folder = place.evidence_folder(shown.round)?;
    let path = folder.join(file);
    let is_linked = path.canonicalize().with_context(|| format!("cannot read `{file}`"))?
        != folder.canonicalize()?.join(file)
        || !is_inside(&folder, &place.root);
    if is_linked {
        bail!("`{file}` is a symbolic link, or is reached through one");
    }
    let mut bytes = Vec::new();
    let opened = File::open(&path).with_context(|| format!("cannot read `{file}`"))?;
    opened.take(MAX_SCREENSHOT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SCREENSHOT_BYTES {
        bail!("`{file}` has more than {MAX_SCREENSHOT_BYTES} bytes");
    }
    if !bytes.starts_with(PNG) {
        bail!("`{file}` is not a PNG image");
    }
    Ok(bytes)
}

/// Returns true if no link leads from the root to a folder.
fn is_inside(folder: &Path, root: &Path) -> bool {
    let below = folder.strip_prefix(root).ok();
    let (Ok(real), Ok(root)) = (folder.canonicalize(), root.canonicalize()) else { return false };
    below.is_some_and(|below| real == root.join(below))
}

/// Returns true if a name is that of a PNG file, without a folder.
fn is_plain(file: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    file.ends_with(".png") && !file.starts_with('.') && file.chars().all(is_letter)
}
