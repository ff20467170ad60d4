//! The version of settings and state by the times of their files: [`SettingsStamp`].

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use assay_review::baseline;

use crate::config::configuration_file::PATHS;
use crate::config::{PERSONAS_FOLDER, RULES_FOLDER, TEMPLATES_FOLDER};

/// The stored reviews and the ledger.
const STATE: [&str; 2] = [".assay/runs", ".assay/ledger.db"];

/// The sizes and times of the files that decide on a review. A file that is edited inside of a
/// folder of rules is noticed by the editor, which watches it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SettingsStamp(Vec<Option<(u64, SystemTime)>>);

impl SettingsStamp {
    pub(super) fn of(root: &Path) -> SettingsStamp {
        let places = PATHS.into_iter().chain([
            baseline::PATH,
            RULES_FOLDER,
            PERSONAS_FOLDER,
            TEMPLATES_FOLDER,
        ]);
        let places = places.chain(STATE);
        SettingsStamp(places.map(|place| stamp(&root.join(place))).collect())
    }
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
