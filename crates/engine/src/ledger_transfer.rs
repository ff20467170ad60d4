//! Copies, exports and pruning of ledgers: [`copy_ledger`], [`export`], [`prune`].

use std::fs::{self, File};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use assay_base::csv;
use assay_change::state::State;
use assay_review::ledger::{self, OpenLedger};
use assay_store::interval::Interval;
use assay_store::ledger::Ledger;
use assay_store::ledger::copy::CopyCounts;
use assay_store::ledger::prune::{PruneCounts, PruneMode};
use assay_store::ledger::query::{FindingEntry, FindingFilter};
use assay_store::task::Moment;
use serde_json::json;

use crate::config::{self, Configuration};
use crate::dates::today;
use crate::environment::Environment;
use crate::queues::{is_database_url, place_value};

/// The version of an export in JSON.
const EXPORT_VERSION: u32 = 1;

/// The number of runs that are read at once.
const RUN_PAGE: usize = 500;

/// The columns of an export as CSV.
const COLUMNS: [&str; 13] = [
    "id", "state", "severity", "category", "rule", "file", "line", "title", "reviewers",
    "first_seen", "last_seen", "last_look", "fingerprint",
];

/// An open ledger: that of the work tree, which is sealed, or another one that the user named.
enum NamedLedger {
    OfWorkTree(OpenLedger),
    Other(Ledger),
}

impl Deref for NamedLedger {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        match self {
            NamedLedger::OfWorkTree(ledger) => ledger,
            NamedLedger::Other(ledger) => ledger,
        }
    }
}

impl NamedLedger {
    fn get_mut(&mut self) -> &mut Ledger {
        match self {
            NamedLedger::OfWorkTree(ledger) => ledger,
            NamedLedger::Other(ledger) => ledger,
        }
    }
}

/// Copies the ledger at `from` to `to`, with its whole history. A place is the path of a file, the
/// URL of a database, or a variable with either, as `${NAME}`. The target is created if it does not
/// exist.
pub fn copy_ledger(
    environment: &Environment,
    root: &Path,
    from: &str,
    to: &str,
) -> anyhow::Result<CopyCounts> {
    let (from, to) = (place_value(environment, from)?, place_value(environment, to)?);
    let is_same_file =
        || matches!((fs::canonicalize(&from), fs::canonicalize(&to)), (Ok(a), Ok(b)) if a == b);
    if from == to || is_same_file() {
        bail!("the source and the target are the same ledger");
    }
    let state = environment.state_of(root).with_ledger_url(None);
    let source = open_source(&state, &from)?;
    let mut target = open_target(&state, &to)?;
    Ok(source.copy_to(target.get_mut())?)
}

/// Opens the ledger to copy from. Fails if there is none.
fn open_source(state: &State, place: &str) -> anyhow::Result<NamedLedger> {
    if is_database_url(place) {
        let ledger = Ledger::open_database_to_read(place)?;
        return ledger.map(NamedLedger::Other).context("there is no ledger in the source database");
    }
    let path = file_path(place)?;
    let ledger = match is_of_work_tree(state, path) {
        true => ledger::open_read_only(state)?.map(NamedLedger::OfWorkTree),
        false => Ledger::open_to_read(path)?.map(NamedLedger::Other),
    };
    ledger.with_context(|| format!("there is no ledger `{place}`"))
}

fn open_target(state: &State, place: &str) -> anyhow::Result<NamedLedger> {
    if is_database_url(place) {
        return Ok(NamedLedger::Other(Ledger::open_database(place)?));
    }
    let path = file_path(place)?;
    match is_of_work_tree(state, path) {
        true => Ok(NamedLedger::OfWorkTree(ledger::open(state)?)),
        false => Ok(NamedLedger::Other(Ledger::open(path)?)),
    }
}

fn file_path(place: &str) -> anyhow::Result<&Path> {
    if place.contains("://") {
        bail!(
            "invalid address of a ledger: expected an address such as \
             `postgres://user@host/database`, or the path of a file"
        );
    }
    Ok(Path::new(place))
}

/// Returns true if a path is that of the work tree's ledger, which may not exist yet.
fn is_of_work_tree(state: &State, path: &Path) -> bool {
    let own = ledger::file_path(state);
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    path == own
        || (path.file_name() == own.file_name()
            && folder(path).is_some()
            && folder(path) == folder(&own))
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// An object with the runs, and the findings with their whole history.
    Json,
    /// A line for each finding, without its history.
    Csv,
}

/// Writes the ledger of a work tree. Returns the number of findings; fails if there is no ledger.
pub fn export(
    environment: &Environment,
    root: &Path,
    format: ExportFormat,
    out: &mut dyn Write,
) -> anyhow::Result<usize> {
    let ledger = ledger::open_read_only(&environment.state_of(root))?
        .context("the ledger is empty; `assay review` fills it")?;
    let day = today(environment.clock()).map(String::from);
    let day = day.context("cannot determine the current date")?;
    let entries = ledger.list(&FindingFilter::default(), &day)?;
    match format {
        ExportFormat::Json => write_json(&ledger, &entries, &day, out)?,
        ExportFormat::Csv => write_csv(&entries, out)?,
    }
    Ok(entries.len())
}

/// Writes the ledger of a work tree to a file, as [`export`] does. An earlier file is replaced only
/// by a complete export; a path that is no plain file, such as a pipe, is written to directly.
pub fn export_to_file(
    environment: &Environment,
    root: &Path,
    format: ExportFormat,
    path: &Path,
) -> anyhow::Result<usize> {
    let context = || format!("cannot write `{}`", path.display());
    let is_special = fs::metadata(path).is_ok_and(|about| !about.is_file());
    if is_special {
        let mut file = BufWriter::new(File::create(path).with_context(context)?);
        let findings = export(environment, root, format, &mut file)?;
        file.flush().with_context(context)?;
        return Ok(findings);
    }
    // The target of a symbolic link is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let draft = tempfile::Builder::new().prefix(".assay-export-").tempfile_in(folder);
    let mut draft = BufWriter::new(draft.with_context(context)?);
    let findings = export(environment, root, format, &mut draft)?;
    let draft = draft.into_inner().map_err(IntoInnerError::into_error).with_context(context)?;
    set_permissions(draft.as_file(), &target).with_context(context)?;
    draft.persist(&target).map_err(|error| error.error).with_context(context)?;
    Ok(findings)
}

/// Sets the permissions of a new file: those of the file that it replaces, or those of any new file.
fn set_permissions(draft: &File, replaced: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    /// The permissions of new files with the usual mask.
    const NEW_FILE: u32 = 0o644;
    let permissions = match fs::metadata(replaced) {
        Ok(about) => about.permissions(),
        Err(_) => fs::Permissions::from_mode(NEW_FILE),
    };
    draft.set_permissions(permissions)
}

/// Writes the ledger as JSON, one run or finding per line, so that no export has to fit in memory.
fn write_json(
    ledger: &Ledger,
    entries: &[FindingEntry],
    day: &str,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    write!(out, "{{\"version\":{EXPORT_VERSION},\"runs\":[")?;
    let (mut cursor, mut separator) = (None, "\n");
    loop {
        let page = ledger.run_page(cursor.as_ref(), RUN_PAGE)?;
        for run in &page.entries {
            let run = json!({
                "run": run.id, "at": run.at, "change": run.change, "branch": run.branch,
                "head": run.head, "verdict": run.verdict, "complete": run.is_complete,
                "cost": run.cost, "raised": run.raised,
            });
            write!(out, "{separator}{}", assay_rules::redact(&run.to_string()))?;
            separator = ",\n";
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    write!(out, "\n],\"findings\":[")?;
    separator = "\n";
    for entry in entries {
        let history = serde_json::to_string(&ledger.history(entry.key, day)?)?;
        write!(out, "{separator}{}", assay_rules::redact(&history))?;
        separator = ",\n";
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}

fn write_csv(entries: &[FindingEntry], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(csv::row(COLUMNS).as_bytes())?;
    for entry in entries {
        let line = entry.line.map(|line| line.to_string()).unwrap_or_default();
        let times = [entry.first_seen, entry.last_seen, entry.last_look].map(|at| at.to_string());
        let reviewers = entry.reviewers.join(" ");
        let row = csv::row([
            entry.id.as_str(),
            entry.state.as_str(),
            &entry.severity,
            &entry.category,
            entry.rule.as_deref().unwrap_or_default(),
            entry.file.as_deref().unwrap_or_default(),
            &line,
            &entry.title,
            &reviewers,
            &times[0],
            &times[1],
            &times[2],
            &entry.fingerprint,
        ]);
        out.write_all(assay_rules::redact(&row).as_bytes())?;
    }
    Ok(())
}

/// Removes findings and runs of a work tree's ledger that are older than `age`, or counts them.
/// Without an age, the configured one is used. Open findings and dismissed ones stay. Fails if there
/// is no ledger.
pub fn prune(
    environment: &Environment,
    root: &Path,
    age: Option<Interval>,
    mode: PruneMode,
) -> anyhow::Result<PruneCounts> {
    let age = match age {
        Some(age) => age.duration(),
        None => configured_age(environment, root)?,
    };
    let state = environment.state_of(root);
    let existing = ledger::open_read_only(&state)?;
    drop(existing.context("the ledger is empty; `assay review` fills it")?);
    let now = environment.clock().now();
    let before = now.checked_sub(age).context("the time is too far in the past")?;
    Ok(ledger::open(&state)?.prune(Moment(before), mode)?)
}

fn configured_age(environment: &Environment, root: &Path) -> anyhow::Result<Duration> {
    let configuration = Configuration::on_disk_or_default(environment, root)?;
    let days = configuration.ledger.retention_days.with_context(|| {
        format!(
            "missing `--older-than`: name a time such as `180d`, or set `ledger.retention_days` in \
             `{}`",
            config::PATH
        )
    })?;
    Ok(Duration::from_secs(u64::from(days.get()) * 24 * 3600))
}

#[cfg(test)]
mod tests {
    use assay_testkit::Repository;

    use super::*;

    #[test]
    fn a_ledger_cannot_be_copied_to_itself_or_from_an_absent_place() {
        let repository = Repository::new();
        let environment = Environment::default();
        let copy = |from: &str, to: &str| {
            let copied = copy_ledger(&environment, repository.path(), from, to);
            copied.unwrap_err().to_string()
        };
        assert_eq!(copy("a.db", "a.db"), "the source and the target are the same ledger");
        assert_eq!(copy("nowhere.db", "b.db"), "there is no ledger `nowhere.db`");
        assert_eq!(copy("${NO_SUCH}", "b.db"), "the variable `NO_SUCH` is not set");
        assert!(copy("mysql://x", "b.db").starts_with("invalid address of a ledger"));
    }
}
