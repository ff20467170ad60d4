//! The change of a case as a repository with two commits: [`CaseRepository`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use assay_change::diff::reconstruct::reconstruct;
use assay_change::state::is_at_or_below;
use assay_eval::set::Case;
use assay_findings::path::RepoPath;

use crate::config::configuration_file;
use crate::environment::Environment;
use crate::throwaway_repository::ThrowawayRepository;

/// The folders and files in the folder of a change.
const BEFORE: &str = "before";
const AFTER: &str = "after";
const DELETED: &str = "deleted.txt";
const DIFF: &str = "change.diff";

/// The folder for purpose documents that are not part of the repository.
const DOCUMENTS: &str = "docs";

/// The maximum size of one file of a case, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Files by their paths in a repository.
type Files = BTreeMap<String, Vec<u8>>;

/// A repository whose last commit is the change of a case.
///
/// Configuration, rules and personas are those of the user. A case cannot bring its own: they would
/// decide how the change is reviewed and which programs run.
pub struct CaseRepository {
    environment: Environment,
    repository: ThrowawayRepository,
}

impl CaseRepository {
    /// Writes a case of the set into a temporary repository, with the files that decide on reviews.
    pub fn new(
        environment: &Environment,
        set: &Path,
        case: &Case,
        settings: &[(String, String)],
    ) -> anyhow::Result<CaseRepository> {
        let change = set.join(&case.change);
        let change = ChangeFiles::read(&change).with_context(|| {
            format!("cannot read the change of case `{}`: `{}`", case.id, change.display())
        })?;
        let repository = ThrowawayRepository::with_own_state(environment, "assay-eval-")?;
        for (path, bytes) in &change.before {
            repository.write(path, bytes)?;
        }
        for (path, text) in settings {
            repository.write(path, text.as_bytes())?;
        }
        let documents = write_purpose(&repository, set, case)?;
        repository.commit("The repository before the change")?;
        for path in &change.deleted {
            let path = repository.path().join(path);
            fs::remove_file(&path)
                .with_context(|| format!("cannot delete `{}`", path.display()))?;
        }
        for (path, bytes) in &change.after {
            repository.write(path, bytes)?;
        }
        repository.commit(&message(case, &documents))?;
        let laid_out = CaseRepository { environment: environment.clone(), repository };
        if laid_out.diff()?.is_empty() {
            bail!("case `{}` changes no file", case.id);
        }
        Ok(laid_out)
    }

    /// Returns the environment in which the repository is reviewed.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the root of the repository.
    pub(crate) fn path(&self) -> &Path {
        self.repository.path()
    }

    /// Returns the change as a unified diff.
    pub(crate) fn diff(&self) -> anyhow::Result<String> {
        let args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD~1", "HEAD"];
        Ok(String::from_utf8_lossy(&self.repository.git(&args)?).into_owned())
    }
}

/// The files on both sides of a change.
#[derive(Default)]
struct ChangeFiles {
    before: Files,
    /// Files that are new or whose content differs.
    after: Files,
    deleted: Vec<String>,
}

impl ChangeFiles {
    fn read(change: &Path) -> anyhow::Result<ChangeFiles> {
        if change.is_file() {
            return ChangeFiles::from_diff(change);
        }
        let (before, after) = (change.join(BEFORE), change.join(AFTER));
        let before = if before.is_dir() { read_tree(&before)? } else { Files::new() };
        let diff = change.join(DIFF);
        match (after.is_dir(), diff.is_file()) {
            (true, false) => {
                let deleted = read_deleted(&change.join(DELETED), &before)?;
                Ok(ChangeFiles { before, after: read_tree(&after)?, deleted })
            }
            (false, true) => ChangeFiles::from_patch(before, &diff),
            (true, true) => bail!("both `{AFTER}/` and `{DIFF}` exist; remove one of them"),
            (false, false) => bail!("missing `{AFTER}/` or `{DIFF}`"),
        }
    }

    /// Builds the files of a change of which only the diff is known.
    fn from_diff(diff: &Path) -> anyhow::Result<ChangeFiles> {
        let sketch = reconstruct(&read_text(diff)?)?;
        let files = |files: BTreeMap<String, String>| -> anyhow::Result<Files> {
            let files = files.into_iter().filter(|(path, _)| !decides_on_reviews(path));
            files.map(|(path, text)| Ok((check_path(&path)?, text.into_bytes()))).collect()
        };
        let (before, after) = (files(sketch.before)?, files(sketch.after)?);
        let deleted = before.keys().filter(|path| !after.contains_key(*path)).cloned().collect();
        Ok(ChangeFiles { before, after, deleted })
    }

    /// Applies a diff to the files before a change.
    fn from_patch(before: Files, diff: &Path) -> anyhow::Result<ChangeFiles> {
        let text = read_text(diff)?;
        let work = ThrowawayRepository::new("assay-eval-patch-")?;
        for (path, bytes) in &before {
            work.write(path, bytes)?;
        }
        // A diff cannot name a path in `.git`.
        fs::write(work.path().join(".git/change.diff"), text)?;
        work.git(&["apply", "--whitespace=nowarn", "--unidiff-zero", ".git/change.diff"])
            .context("the diff does not apply to the files before the change")?;
        let after = read_tree(work.path())?;
        let deleted = before.keys().filter(|path| !after.contains_key(*path)).cloned().collect();
        Ok(ChangeFiles { before, after, deleted })
    }
}

/// Reads all files below a folder, except those that decide on reviews.
fn read_tree(folder: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    let mut open = vec![String::new()];
    while let Some(parent) = open.pop() {
        let entries = fs::read_dir(folder.join(&parent))
            .with_context(|| format!("cannot read `{}`", folder.join(&parent).display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| {
                anyhow::anyhow!("the file name `{}` is not UTF-8", name.to_string_lossy())
            })?;
            let path = if parent.is_empty() { name } else { format!("{parent}/{name}") };
            let kind = entry.file_type()?;
            if path == ".git" || decides_on_reviews(&path) {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                let bytes = read_bytes(&entry.path())?;
                files.insert(check_path(&path)?, bytes);
            } else {
                bail!("`{path}` is a link or a device; a case may contain only regular files");
            }
        }
    }
    Ok(files)
}

fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let size = fs::metadata(path)?.len();
    if size > MAX_FILE_BYTES {
        bail!(
            "`{}` has {size} bytes; a file of a case has at most {MAX_FILE_BYTES}",
            path.display()
        );
    }
    fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&read_bytes(path)?).into_owned())
}

fn read_deleted(list: &Path, before: &Files) -> anyhow::Result<Vec<String>> {
    if !list.is_file() {
        return Ok(Vec::new());
    }
    let text = read_text(list)?;
    let paths = text.lines().map(str::trim).filter(|path| !path.is_empty());
    paths
        .map(|path| match before.contains_key(path) {
            true => Ok(path.to_owned()),
            false => bail!("`{DELETED}` names `{path}`, which is not in `{BEFORE}/`"),
        })
        .collect()
}

/// Returns true for configuration, rules, personas and state of assay.
fn decides_on_reviews(path: &str) -> bool {
    configuration_file::PATHS.contains(&path) || is_at_or_below(path, ".assay")
}

/// Validates a path. Fails if the path leaves the repository.
fn check_path(path: &str) -> anyhow::Result<String> {
    let checked = RepoPath::exact(path)
        .with_context(|| format!("`{path}` is not a path inside the repository"))?;
    if checked.as_str().split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        bail!("`{path}` is inside the `.git` folder");
    }
    Ok(checked.to_string())
}

/// Writes the purpose documents of a case, and returns their paths in the repository.
fn write_purpose(
    repository: &ThrowawayRepository,
    set: &Path,
    case: &Case,
) -> anyhow::Result<Vec<String>> {
    let before = format!("{}/{BEFORE}/", case.change);
    let mut documents = Vec::new();
    for document in &case.purpose {
        let bytes = read_bytes(&set.join(document)).with_context(|| {
            format!("cannot read the purpose document `{document}` of `{}`", case.id)
        })?;
        let path = match document.strip_prefix(&before) {
            Some(inside) => check_path(inside)?,
            None => {
                let name = document.rsplit('/').next().unwrap_or(document);
                let path = format!("{DOCUMENTS}/{name}");
                repository.write(&path, &bytes)?;
                path
            }
        };
        documents.push(path);
    }
    Ok(documents)
}

/// Returns the message of the commit, which names the documents that state the purpose.
fn message(case: &Case, documents: &[String]) -> String {
    let message = case.message.as_deref().unwrap_or(&case.title).trim();
    let message = if message.is_empty() { case.id.as_str() } else { message };
    let unnamed: Vec<&str> =
        documents.iter().map(String::as_str).filter(|path| !message.contains(path)).collect();
    match unnamed.is_empty() {
        true => format!("{message}\n"),
        false => format!("{message}\n\nSee {}.\n", unnamed.join(", ")),
    }
}
