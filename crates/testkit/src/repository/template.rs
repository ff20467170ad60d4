//! Folders that are created once per run of nextest and copied for each test: [`copy`].
//!
//! A repository takes up to five processes of git, and several hundred tests need one. Nextest runs
//! each test in its own process, so a template is stored in the target folder, by the id of the
//! run: it is never older than the run, and never of another version or configuration of git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use assay_testenv::workspace::target_folder;

/// The age at which templates of other runs are removed.
const MAX_AGE: Duration = Duration::from_secs(24 * 3_600);

/// Copies a template into a folder, and creates the template if it is missing. Returns false if
/// there are no templates because the test was not started by nextest.
pub(super) fn copy(name: &str, make: fn(&Path), to: &Path) -> bool {
    let Ok(run) = std::env::var("NEXTEST_RUN_ID") else { return false };
    let templates = target_folder("template-repositories").unwrap();
    let template = templates.join(&run).join(name);
    if !template.exists() {
        remove_old(&templates);
        make_template(&template, make);
    }
    copy_folder(&template, to).unwrap();
    true
}

/// Creates a template in a temporary folder and then renames it, so that no test sees an incomplete
/// one. If another test was faster, its template stays.
fn make_template(template: &Path, make: fn(&Path)) {
    let run = template.parent().unwrap();
    fs::create_dir_all(run).unwrap();
    let draft = tempfile::tempdir_in(run).unwrap();
    make(draft.path());
    if fs::rename(draft.path(), template).is_err() {
        assert!(template.exists(), "`{}` could not be made", template.display());
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&copied)?;
            copy_folder(&entry.path(), &copied)?;
        } else {
            fs::copy(entry.path(), &copied)?;
        }
    }
    Ok(())
}

/// Removes the templates of runs that ended long ago.
fn remove_old(templates: &Path) {
    let age = |folder: &PathBuf| {
        let made = fs::metadata(folder).and_then(|metadata| metadata.modified());
        SystemTime::now().duration_since(made.ok()?).ok()
    };
    let runs = fs::read_dir(templates).into_iter().flatten().flatten().map(|entry| entry.path());
    for old in runs.filter(|run| age(run).is_some_and(|age| age > MAX_AGE)) {
        let _ = fs::remove_dir_all(old);
    }
}
