//! Runs checks with kept tests in place: tests as they were before the work under test changed
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use assay_change::{GitError, StoredFile, StoredFiles};
use assay_checks::check::{CheckKind, CheckOutcome, RequiredCheck};
use assay_checks::check_plan::PlannedCheck;
use assay_checks::kept::{
    KeptPart, files_of_test_packages, holds_tests, is_test_folder, kept_version, named_files,
    needs_later_file, part_of,
};
use assay_findings::write::escape::chain;

use super::LocalEnvironment;
use super::git_guard::GitGuard;
use super::kept_files::{KeptFiles, TestVersion, is_loop_file};
use super::required_checks::without_secrets;
use crate::kept_tests::compare::compare;
use crate::kept_tests::excuse::excusing_criterion;
use crate::kept_tests::removal::excusing_removal;
use crate::kept_tests::swap::{self, FileContent, Replacement, Swap, SwapError};
use crate::kept_tests::test_sources::TestSources;
use crate::kept_tests::{KeptTestRun, TestFate, WeakenedTest};
use crate::loop_state::LoopState;
use crate::run::{LoopEnvironment, StepError};

/// Maximum size, in bytes, of a stored file whose name does not relate it to tests.
const MAX_KEPT_BYTES: u64 = 1 << 20;

/// The name of the version with the tests of the first tree that the loop judged.
const FIRST_ROUND: &str = "the first round";

/// Options of pytest in runs with kept tests: a file that cannot be loaded must not prevent the
/// others from running.
const PYTEST_OPTIONS: (&str, &str) = ("PYTEST_ADDOPTS", "--continue-on-collection-errors");

/// Restores files that a killed run had moved out of a work tree. Returns the new paths of files
/// that were in their place.
pub fn recover_work_tree(root: &Path) -> Result<Vec<String>, String> {
    let stored = StoredFiles::open(root).map_err(|error| chain(&error))?;
    let folder = stored.git_folder().map_err(|error| chain(&error))?;
    let displaced = swap::recover(&folder).map_err(|error| chain(&error))?;
    Ok(displaced.iter().map(|path| path.display().to_string()).collect())
}

/// Files of the work tree, with the ids of the git objects that they would be; `None` for a link.
pub(super) type WorkFiles = BTreeMap<String, Option<String>>;

/// A file whose kept version differs from the one in the work tree.
#[derive(Clone)]
struct TouchedFile {
    replacement: Replacement,
    /// True if the version has tests or settings in the file that the change could weaken.
    existed: bool,
    kept: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
}

impl LocalEnvironment<'_> {
    /// Stores the current tree for later rounds, without large files that are unrelated to tests,
    /// and returns the id of the stored tree.
    pub(super) fn keep_first_tests(&self) -> Result<Option<String>, StepError> {
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let paths: BTreeSet<String> =
            stored.work_tree_files().map_err(broken)?.into_iter().collect();
        let named = self.named(&paths);
        let is_small = |path: &str| {
            fs::symlink_metadata(self.root.join(path)).is_ok_and(|it| it.len() <= MAX_KEPT_BYTES)
        };
        let is_wanted =
            |path: &&String| is_kept(path, &named) || (!is_loop_file(path) && is_small(path));
        let kept = paths.iter().filter(is_wanted).filter(|path| self.is_plain_file(path));
        let kept: Vec<String> = kept.cloned().collect();
        let folder = tempfile::tempdir().map_err(|error| StepError::Round(error.to_string()))?;
        let index = folder.path().join("index");
        let name = format!("kept/{}", ref_name(&self.spec.name));
        stored.store(&name, &kept, &index).map(Some).map_err(broken)
    }

    /// Runs the checks with each version of the tests that the work under test did not write,
    /// provided that the work changed files of that version.
    pub(super) fn run_all_kept_tests(
        &self,
        loop_state: &LoopState,
    ) -> Result<Vec<KeptTestRun>, StepError> {
        let Some(round) = &loop_state.open else { return Ok(Vec::new()) };
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let paths: BTreeSet<String> =
            stored.work_tree_files().map_err(broken)?.into_iter().collect();
        let (base, first) = (self.base_version(&stored)?, first_version(&stored, loop_state)?);
        let versions = [&base, &first].into_iter().flatten();
        let known = versions.flat_map(|it| it.tree.files.keys().chain(it.tree.links.keys()));
        let all: BTreeSet<String> = paths.iter().chain(known).cloned().collect();
        let mut named = self.named(&all);
        named.extend(self.tracked_programs(&paths).into_iter().filter(|path| all.contains(path)));
        let work = self.work_files(&stored, &paths)?;
        let mut runs = Vec::new();
        let mut as_in_base = BTreeSet::new();
        for version in [&base, &first].into_iter().flatten() {
            let is_same =
                |path: &str, id: &str| matches!(work.get(path), Some(Some(now)) if now == id);
            let files = KeptFiles::of(&stored, version, &all, &named, &is_same).map_err(broken)?;
            let mut touched = self.touched(&stored, &work, version, &files.named, &as_in_base)?;
            let probable = self.touched_probable(&stored, version, &files, &as_in_base)?;
            // A file that is gone is not under test now, and kept tests may import it.
            let (gone, probable): (Vec<TouchedFile>, Vec<TouchedFile>) =
                probable.into_iter().partition(|it| it.now.is_none());
            if !touched.is_empty() {
                touched.extend(gone);
            }
            runs.extend(self.run_with(&stored, loop_state, version, &touched, &files)?);
            if !probable.is_empty() {
                // The files may be under test themselves, so the checks run with and without them.
                let both: Vec<TouchedFile> = touched.iter().cloned().chain(probable).collect();
                runs.extend(self.run_with(&stored, loop_state, version, &both, &files)?);
            }
            runs.extend(submodule_run(&stored, version, &files).map_err(broken)?);
            runs.extend(self.lost_tests(&stored, loop_state, version, &work, &runs)?);
            // A file that is as in the base is no fixer's work: other authors may have changed it
            // there.
            let changed: BTreeSet<&String> =
                touched.iter().map(|it| &it.replacement.path).collect();
            let is_base = |path: &&String| {
                let is_equal =
                    version.tree.files.get(*path).is_some_and(|it| is_same(path, &it.id));
                // A file that neither the tree nor the version has came with the work, and a fixer
                // may have deleted it.
                let is_there = paths.contains(*path) || version.has(path);
                is_there && !changed.contains(path) && (is_equal || part_of(path, &named).is_some())
            };
            as_in_base = all.iter().filter(is_base).cloned().collect();
        }
        match self.tree()? == round.tree {
            true => Ok(runs),
            false => Err(StepError::Round(
                "the tree changed while the checks ran with kept tests; files that tests write \
                 must be committed, or ignored by git"
                    .to_owned(),
            )),
        }
    }

    fn base_version(&self, stored: &StoredFiles) -> Result<Option<TestVersion>, StepError> {
        let change = self.change()?;
        let Some(revision) = change.base_revision() else { return Ok(None) };
        let tree = stored.files_of_revision(revision).map_err(broken)?;
        let main = assay_change::main_branch(&self.root).map_err(broken)?;
        let main = main.map(|name| name.strip_prefix("origin/").unwrap_or(&name).to_owned());
        let name = main.unwrap_or_else(|| "the base".to_owned());
        Ok(Some(TestVersion { name, revision: revision.to_owned(), tree }))
    }

    /// Returns the files of the work tree, without those that the loop writes.
    fn work_files(
        &self,
        stored: &StoredFiles,
        paths: &BTreeSet<String>,
    ) -> Result<WorkFiles, StepError> {
        let own = paths.iter().filter(|path| !is_loop_file(path)).cloned();
        let (plain, links): (Vec<String>, Vec<String>) =
            own.partition(|path| self.is_plain_file(path));
        let ids = stored.object_ids(&plain).map_err(broken)?;
        let plain = plain.into_iter().zip(ids.into_iter().map(Some));
        Ok(plain.chain(links.into_iter().map(|path| (path, None))).collect())
    }

    pub(super) fn is_plain_file(&self, path: &str) -> bool {
        !path.contains('\n')
            && fs::symlink_metadata(self.root.join(path)).is_ok_and(|about| about.is_file())
    }

    /// Returns the files that the commands of required checks name, and those of test packages.
    pub(super) fn named(&self, paths: &BTreeSet<String>) -> BTreeSet<String> {
        let required = self.required().0;
        let named = named_files(required.iter().filter_map(check_of), paths);
        named.into_iter().chain(files_of_test_packages(paths)).collect()
    }

    fn touched(
        &self,
        stored: &StoredFiles,
        work: &WorkFiles,
        version: &TestVersion,
        named: &BTreeSet<String>,
        left_out: &BTreeSet<String>,
    ) -> Result<Vec<TouchedFile>, StepError> {
        let there = version.tree.files.keys().chain(version.tree.links.keys());
        let paths: BTreeSet<&String> = work.keys().chain(there).collect();
        let mut touched = Vec::new();
        for path in paths {
            let is_linked = version.tree.links.contains_key(path) && is_test_folder(path);
            let part = if is_linked { Some(KeptPart::Whole) } else { part_of(path, named) };
            let Some(part) = part else { continue };
            let is_same = match (work.get(path), version.tree.files.get(path)) {
                (Some(Some(id)), Some(file)) => *id == file.id,
                // A link in place of a file of which only a part is kept cannot be split.
                (Some(None), None) => part != KeptPart::Whole,
                (None, None) => !version.tree.links.contains_key(path),
                _ => false,
            };
            if is_same || left_out.contains(path) || is_loop_file(path) {
                continue;
            }
            touched.extend(self.touch(stored, path, part, version)?);
        }
        Ok(touched)
    }

    /// Returns the touched files that probably belong to tests.
    fn touched_probable(
        &self,
        stored: &StoredFiles,
        version: &TestVersion,
        files: &KeptFiles,
        left_out: &BTreeSet<String>,
    ) -> Result<Vec<TouchedFile>, StepError> {
        let mut touched = Vec::new();
        for path in files.probable.iter().filter(|path| !left_out.contains(*path)) {
            touched.extend(self.touch(stored, path, KeptPart::Whole, version)?);
        }
        Ok(touched)
    }

    fn touch(
        &self,
        stored: &StoredFiles,
        path: &str,
        part: KeptPart,
        version: &TestVersion,
    ) -> Result<Option<TouchedFile>, StepError> {
        let file = version.tree.files.get(path);
        let now = match self.is_plain_file(path) {
            true => Some(fs::read(self.root.join(path)).map_err(|it| unreadable(path, &it))?),
            false => None,
        };
        let kept = file.map(|file| stored.read(file)).transpose().map_err(broken)?;
        let link = version.tree.links.get(path);
        let link = link.map(|file| stored.read(file)).transpose().map_err(broken)?;
        let link_now = fs::read_link(self.root.join(path)).ok();
        let link_now = link_now.map(|target| target.as_os_str().as_bytes().to_vec());
        let content = kept_version(part, now.as_deref(), kept.as_deref());
        let is_same = match (&content, &now) {
            (Some(content), Some(now)) => without_returns(content) == without_returns(now),
            (None, None) => true,
            _ => false,
        };
        if is_same && link == link_now {
            return Ok(None);
        }
        let existed = match (&kept, part) {
            (None, _) => link.is_some(),
            (Some(kept), KeptPart::RustTests) => holds_tests(path, part, kept),
            (Some(_), _) => true,
        };
        let is_executable = file.is_some_and(|file| file.is_executable);
        let content = content.map(|bytes| FileContent::File { bytes, is_executable });
        let content = link.map(FileContent::Link).or(content);
        let replacement = Replacement { path: path.to_owned(), content };
        Ok(Some(TouchedFile { replacement, existed, kept, now }))
    }

    /// Runs the checks with a version of the tests. Returns `None` if the version has no tests, or
    /// the work touched no file of the version.
    fn run_with(
        &self,
        stored: &StoredFiles,
        loop_state: &LoopState,
        version: &TestVersion,
        touched: &[TouchedFile],
        files: &KeptFiles,
    ) -> Result<Option<KeptTestRun>, StepError> {
        let Some(round) = loop_state.open.as_ref().filter(|_| !touched.is_empty()) else {
            return Ok(None);
        };
        if !has_tests(stored, version, files)? {
            return Ok(None);
        }
        let (kept, altered) = self.run_swapped(stored, version, touched)?;
        let sources = sources(touched);
        let changes_a_check = touched.iter().any(|it| it.existed);
        let compared = compare(&round.checks, &kept, &sources, changes_a_check);
        let mut run = KeptTestRun {
            version: version.name.clone(),
            files: touched.iter().map(|it| it.replacement.path.clone()).collect(),
            ran: compared.ran,
            weakened: altered
                .into_iter()
                .map(|path| weakened_file(path, TestFate::Overwritten))
                .collect(),
            renamed: compared.renamed,
            excused: Vec::new(),
            unresolved: files.unresolved.iter().cloned().collect(),
        };
        let criteria = self.first_criteria(loop_state);
        for weakened in compared.weakened {
            let named = excusing_criterion(&weakened.test, &criteria, &sources)
                .filter(|_| weakened.now != TestFate::CheckPasses);
            match named.or_else(|| excusing_removal(&weakened, &criteria, &sources)) {
                Some(criterion) => run.excused.push((weakened.test, criterion.to_owned())),
                None => run.weakened.push(weakened),
            }
        }
        Ok(Some(run))
    }

    /// Swaps kept files in, runs the checks, and swaps the files out again. Returns the outcomes,
    /// and the kept files that the running code overwrote.
    fn run_swapped(
        &self,
        stored: &StoredFiles,
        version: &TestVersion,
        touched: &[TouchedFile],
    ) -> Result<(Vec<CheckOutcome>, Vec<String>), StepError> {
        let git_folder = stored.git_folder().map_err(broken)?;
        let now: BTreeSet<String> = stored.work_tree_files().map_err(broken)?.into_iter().collect();
        let mut files: Vec<Replacement> = touched.iter().map(|it| it.replacement.clone()).collect();
        files.extend(self.lock_files(&files));
        let runner = self.runner(&self.change()?)?;
        let guard = GitGuard::of(&self.root, stored)?;
        let swap = Swap::swap_in(&self.root, &git_folder, &files).map_err(swap_broken)?;
        let mut outcomes = Vec::new();
        // With the kept files in place, other commands may be the ones that test.
        for check in self.required().0.iter().filter_map(check_of) {
            if check.kind == CheckKind::Coverage
                || needs_later_file(check, &now, |path| version.has(path))
            {
                continue;
            }
            let name = format!("{} with the tests of {}", check.name, version.name);
            self.observer.on_check_started(&name);
            let outcome = without_secrets(guard.hold(runner.run(&tolerant(check)))?);
            self.observer.on_check_finished(&CheckOutcome { name, ..outcome.clone() });
            outcomes.push(outcome);
        }
        let own: Vec<&String> = touched.iter().map(|it| &it.replacement.path).collect();
        let mut altered = swap.altered_files();
        altered.retain(|path| own.contains(&path));
        for path in swap.swap_out().map_err(swap_broken)? {
            self.observer.on_error(&format!(
                "a check wrote a file, which was moved to `{}`",
                path.display()
            ));
        }
        Ok((outcomes, altered))
    }

    /// Returns the lock files next to manifests that are swapped in: tools rewrite them to fit.
    fn lock_files(&self, files: &[Replacement]) -> Vec<Replacement> {
        let locks = files.iter().filter_map(|file| {
            let folder = file.path.strip_suffix("Cargo.toml")?;
            let path = format!("{folder}Cargo.lock");
            let bytes =
                fs::read(self.root.join(&path)).ok().filter(|_| self.is_plain_file(&path))?;
            Some(Replacement {
                path,
                content: Some(FileContent::File { bytes, is_executable: false }),
            })
        });
        locks.collect()
    }

    /// Returns the criteria as they were in the first round.
    pub(super) fn first_criteria(&self, loop_state: &LoopState) -> Vec<String> {
        match loop_state.history.iter().find_map(|round| round.review()) {
            Some(review) => review.criteria.iter().map(|line| line.text.clone()).collect(),
            None => self.spec.criteria.iter().map(|it| it.text.clone()).collect(),
        }
    }
}

fn first_version(
    stored: &StoredFiles,
    loop_state: &LoopState,
) -> Result<Option<TestVersion>, StepError> {
    let Some(revision) = loop_state.kept_tests.as_ref().filter(|tree| stored.has(tree)) else {
        return Ok(None);
    };
    let tree = stored.files_of_revision(revision).map_err(broken)?;
    Ok(Some(TestVersion { name: FIRST_ROUND.to_owned(), revision: revision.clone(), tree }))
}

/// Returns a result for submodules with tests if the work tree has another commit of them; `None`
/// if there is none.
fn submodule_run(
    stored: &StoredFiles,
    version: &TestVersion,
    files: &KeptFiles,
) -> Result<Option<KeptTestRun>, GitError> {
    let mut weakened = Vec::new();
    for (path, commit) in &version.tree.submodules {
        let now = stored.submodule(path)?;
        let is_same = now.is_none_or(|(head, is_changed)| head == *commit && !is_changed);
        if !is_same && files.has_tests_in(stored, version, path)? {
            weakened.push(weakened_file(path.clone(), TestFate::Submodule));
        }
    }
    let paths = weakened.iter().map(|it| it.test.clone()).collect();
    Ok((!weakened.is_empty()).then(|| KeptTestRun {
        version: version.name.clone(),
        files: paths,
        ran: 0,
        weakened,
        renamed: Vec::new(),
        excused: Vec::new(),
        unresolved: Vec::new(),
    }))
}

fn is_kept(path: &str, named: &BTreeSet<String>) -> bool {
    part_of(path, named).is_some() && !is_loop_file(path)
}

pub(super) fn check_of(required: &PlannedCheck) -> Option<&RequiredCheck> {
    match required {
        PlannedCheck::Run(check) => Some(check),
        PlannedCheck::ByHand { .. }
        | PlannedCheck::TryOut { .. }
        | PlannedCheck::Unavailable { .. } => None,
    }
}

/// Returns true if a version has test files, or sources with tests.
fn has_tests(
    stored: &StoredFiles,
    version: &TestVersion,
    files: &KeptFiles,
) -> Result<bool, StepError> {
    let mut sources = Vec::new();
    for (path, file) in &version.tree.files {
        match part_of(path, &files.named) {
            _ if files.named.contains(path) || files.probable.contains(path) => return Ok(true),
            Some(KeptPart::Whole) if holds_tests(path, KeptPart::Whole, b"") => return Ok(true),
            Some(KeptPart::RustTests) => sources.push((path, file)),
            Some(_) | None => {}
        }
    }
    let (paths, sources): (Vec<&String>, Vec<&StoredFile>) = sources.into_iter().unzip();
    let contents = stored.read_all(&sources).map_err(broken)?;
    let mut texts = paths.iter().zip(&contents);
    Ok(texts.any(|(path, content)| holds_tests(path, KeptPart::RustTests, content)))
}

/// Returns the texts of touched files, for finding tests by name.
fn sources(touched: &[TouchedFile]) -> TestSources {
    let text = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    TestSources {
        kept: touched.iter().filter_map(|it| text(&it.kept)).collect(),
        now: touched.iter().filter_map(|it| text(&it.now)).collect(),
    }
}

/// Returns the check with options that let it run as many tests as possible.
fn tolerant(check: &RequiredCheck) -> RequiredCheck {
    let mut check = check.clone();
    let (name, options) = PYTEST_OPTIONS;
    match check.command.variables.iter_mut().find(|(known, _)| known == name) {
        Some((_, value)) => *value = format!("{value} {options}"),
        None => check.command.variables.push((name.to_owned(), options.to_owned())),
    }
    check
}

fn weakened_file(path: String, now: TestFate) -> WeakenedTest {
    WeakenedTest { file: Some(path.clone()), test: path, kind: CheckKind::Unit, now, fails: None }
}

/// Returns a text without carriage returns at the ends of lines: git may have removed them.
fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    out.retain(|byte| {
        at += 1;
        !(*byte == b'\r' && bytes.get(at) == Some(&b'\n'))
    });
    out
}

/// Returns the name with every character replaced that a git ref may not have.
fn ref_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

fn unreadable(path: &str, error: &std::io::Error) -> StepError {
    StepError::Round(format!("cannot read `{path}`: {error}"))
}

fn broken(error: GitError) -> StepError {
    StepError::Round(chain(&error))
}

fn swap_broken(error: SwapError) -> StepError {
    StepError::Round(chain(&error))
}
