//! `cargo xtask measure secrets --data DIR`: how often the detector for credentials is wrong about real
//! code.
//!
//! The folder holds packages, one below the other. Each line that redaction changes is listed: most
//! people's packages hold no credential, so a line is a false alarm unless it proves to be one.

use std::fs;
use std::path::{Path, PathBuf};

use assay_rules::redacted_lines;

/// A larger file is data.
const MAX_BYTES: u64 = 3_000_000;

/// Reads all texts below a folder, and prints the lines that hold a credential and their share.
pub(super) fn run(data: &Path) -> anyhow::Result<bool> {
    let (mut lines, mut alarms) = (0_usize, 0_usize);
    let mut waiting: Vec<PathBuf> = vec![data.to_owned()];
    while let Some(path) = waiting.pop() {
        let about = fs::symlink_metadata(&path)?;
        if about.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
            continue;
        }
        let Some(text) = text_of(&path, &about) else { continue };
        lines += text.lines().count();
        let shown = redacted_lines(&text);
        for (number, (before, after)) in (1..).zip(text.lines().zip(&shown)) {
            if before != after {
                alarms += 1;
                let start: String = after.trim().chars().take(120).collect();
                println!("{}:{number}: {start}", path.display());
            }
        }
    }
    let share = alarms as f64 * 100_000.0 / lines.max(1) as f64;
    println!("{alarms} lines of {lines} are taken for credentials: {share:.2} of 100,000");
    Ok(true)
}

/// Returns the text of a file, and `None` for a link, for data and for what is no text.
fn text_of(path: &Path, about: &fs::Metadata) -> Option<String> {
    let is_read = about.is_file() && about.len() <= MAX_BYTES;
    let text = is_read.then(|| fs::read_to_string(path).ok())??;
    (!text.contains('\0')).then_some(text)
}
