//! `cargo xtask measure secrets --data DIR`: the false alarms of the credential detector on real
//! code.
//!
//! The folder holds packages. Each value that redaction removes is listed with its line: published
//! packages hold few credentials, so a value is a false alarm unless the line shows a credential,
//! including a made-up one of a test. Private keys are counted separately.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assay_rules::redact_lines;

/// The maximum size of a file in bytes; larger files are data.
const MAX_BYTES: u64 = 3_000_000;

/// The results of the detector on some texts.
#[derive(Default)]
struct Count {
    lines: usize,
    private_keys: usize,
    /// The number of values other than private keys; a value counts once per file.
    values: usize,
}

/// Reads all texts below a folder, and prints the lines with a credential and their share.
pub(super) fn run(data: &Path) -> anyhow::Result<bool> {
    let mut count = Count::default();
    let mut waiting: Vec<PathBuf> = vec![data.to_owned()];
    while let Some(path) = waiting.pop() {
        let about = fs::symlink_metadata(&path)?;
        if about.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
            continue;
        }
        if let Some(text) = text_of(&path, &about) {
            count.add(&path, &text);
        }
    }
    let Count { lines, private_keys, values } = count;
    let share = values as f64 * 100_000.0 / lines.max(1) as f64;
    println!("{private_keys} private keys in {lines} lines");
    println!("{values} other values are taken for credentials: {share:.2} in 100,000 lines");
    Ok(true)
}

impl Count {
    fn add(&mut self, path: &Path, text: &str) {
        self.lines += text.lines().count();
        let shown = redact_lines(text);
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut is_in_key = false;
        for (number, (before, after)) in (1..).zip(text.lines().zip(&shown)) {
            let begins_key = before.contains("-----BEGIN") && before.contains("PRIVATE KEY");
            is_in_key = begins_key || is_in_key && !before.contains("-----END");
            self.private_keys += usize::from(begins_key);
            if before == after || is_in_key || !known.insert(removed(before, after)) {
                continue;
            }
            self.values += 1;
            let start: String = after.trim().chars().take(120).collect();
            println!("{}:{number}: {start}", path.display());
        }
    }
}

/// Returns the part of a line that is missing in its redacted copy.
fn removed<'l>(before: &'l str, after: &str) -> &'l str {
    let same = |(a, b): &(char, char)| a == b;
    let start: usize =
        before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let rest = &before[start..];
    let end: usize = rest
        .chars()
        .rev()
        .zip(after[start..].chars().rev())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    &rest[..rest.len() - end]
}

/// Returns the text of a file; `None` for a symbolic link, for data and for binary files.
fn text_of(path: &Path, about: &fs::Metadata) -> Option<String> {
    let is_read = about.is_file() && about.len() <= MAX_BYTES;
    let text = is_read.then(|| fs::read_to_string(path).ok())??;
    (!text.contains('\0')).then_some(text)
}
