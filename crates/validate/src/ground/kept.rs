//! Running checks with kept tests in place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use assay_change::{GitError, StoredFile, StoredFiles};
use assay_checks::check::{CheckKind, CheckOutcome, RequiredCheck};
use assay_checks::kept::{KeptPart, holds_tests, kept_version, named_files, part_of, scripts_in};
use assay_checks::required::Required;
use assay_findings::write::plain::chain;

use super::Ground;
use super::checking::without_secrets;
use super::git_guard::GitGuard;
use crate::kept::compare::compare;
use crate::kept::excuse::excusing_criterion;
use crate::kept::sources::TestSources;
use crate::kept::swap::{self, Replacement, Swap, SwapError};
use crate::kept::{KeptRun, TestFate, WeakenedTest};
use crate::own;
use crate::run::{Breakdown, Site};
use crate::standing::Standing;

/// The version of the tests of the first tree that a loop judged, in words.
const FIRST_ROUND: &str = "the first round";

/// What pytest is told with kept tests: a file that cannot be loaded must not keep the others from
/// running.
const PYTEST_OPTIONS: (&str, &str) = ("PYTEST_ADDOPTS", "--continue-on-collection-errors");

/// Moves files back that a run which was killed had moved out of a work tree, and returns where files
/// were put that stood in their way.
pub fn recover_work_tree(root: &Path) -> Result<Vec<String>, String> {
    let stored = StoredFiles::open(root).map_err(|error| chain(&error))?;
    let folder = stored.git_folder().map_err(|error| chain(&error))?;
    let displaced = swap::recover(&folder).map_err(|error| chain(&error))?;
    Ok(displaced.iter().map(|path| path.display().to_string()).collect())
}

/// A version of the tests.
struct Version {
    name: String,
    files: BTreeMap<String, StoredFile>,
}

/// Files of the work tree, with the objects that they would be; `None` for a link.
type WorkFiles = BTreeMap<String, Option<String>>;

/// A file whose kept version differs from the one in the work tree.
struct Touched {
    replacement: Replacement,
    /// Whether the version has tests or settings in it that the change could weaken.
    existed: bool,
    kept: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
}

impl Ground<'_> {
    /// Keeps the tests of the tree as it is, and returns the tree of them.
    pub(super) fn keep_first_tests(&self) -> Result<Option<String>, Breakdown> {
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let paths = stored.of_work_tree().map_err(broken)?;
        let named = self.named(&|path| paths.iter().any(|it| it == path));
        let kept = paths.iter().filter(|path| is_kept(path, &named) || path.ends_with(".sh"));
        let kept: Vec<String> = kept.filter(|path| self.is_plain_file(path)).cloned().collect();
        let folder = tempfile::tempdir().map_err(|error| Breakdown::Round(error.to_string()))?;
        let index = folder.path().join("index");
        let name = format!("kept/{}", ref_name(&self.spec.name));
        stored.keep(&name, &kept, &index).map(Some).map_err(broken)
    }

    /// Runs the checks with each version of the tests that the work under test did not write, as far as
    /// it touched them.
    pub(super) fn run_kept(&self, standing: &Standing) -> Result<Vec<KeptRun>, Breakdown> {
        let Some(round) = &standing.open else { return Ok(Vec::new()) };
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let paths: BTreeSet<String> = stored.of_work_tree().map_err(broken)?.into_iter().collect();
        let (base, first) = (self.base_version(&stored)?, first_version(&stored, standing)?);
        let is_there = |path: &str| {
            let is_in =
                |it: &Option<Version>| it.as_ref().is_some_and(|it| it.files.contains_key(path));
            paths.contains(path) || is_in(&base) || is_in(&first)
        };
        let mut named = self.named(&is_there);
        named.extend(self.tracked_programs().into_iter().filter(|path| is_there(path)));
        for version in [&base, &first].into_iter().flatten() {
            add_scripts(&stored, version, &mut named, &is_there)?;
        }
        let work = self.work_files(&stored, &paths, &named)?;
        let mut runs = Vec::new();
        let mut as_in_base = BTreeSet::new();
        if let Some(base) = &base {
            let touched = self.touched(&stored, &work, base, &named, &BTreeSet::new())?;
            let changed: BTreeSet<&String> =
                touched.iter().map(|it| &it.replacement.path).collect();
            // What is as in the base is no fixer's work: others may have changed it there.
            let paths = work.keys().chain(base.files.keys());
            as_in_base = paths.filter(|path| !changed.contains(path)).cloned().collect();
            runs.extend(self.run_with(&stored, standing, base, &touched, &named)?);
        }
        if let Some(first) = &first {
            let touched = self.touched(&stored, &work, first, &named, &as_in_base)?;
            runs.extend(self.run_with(&stored, standing, first, &touched, &named)?);
        }
        match self.tree()? == round.tree {
            true => Ok(runs),
            false => Err(Breakdown::Round(
                "the tree changed while the checks ran with kept tests; what tests write has to be \
                 committed, or ignored by git"
                    .to_owned(),
            )),
        }
    }

    fn base_version(&self, stored: &StoredFiles) -> Result<Option<Version>, Breakdown> {
        let change = self.change()?;
        let Some(revision) = change.base_revision() else { return Ok(None) };
        let files = stored.of_revision(revision).map_err(broken)?;
        let main = assay_change::main_branch(&self.root).map_err(broken)?;
        let main = main.map(|name| name.strip_prefix("origin/").unwrap_or(&name).to_owned());
        Ok(Some(Version { name: main.unwrap_or_else(|| "the base".to_owned()), files }))
    }

    /// Returns the files of the work tree that are kept, or have a part that is.
    fn work_files(
        &self,
        stored: &StoredFiles,
        paths: &BTreeSet<String>,
        named: &[String],
    ) -> Result<WorkFiles, Breakdown> {
        let kept = paths.iter().filter(|path| is_kept(path, named)).cloned();
        let (plain, links): (Vec<String>, Vec<String>) =
            kept.partition(|path| self.is_plain_file(path));
        let ids = stored.ids_of(&plain).map_err(broken)?;
        let plain = plain.into_iter().zip(ids.into_iter().map(Some));
        Ok(plain.chain(links.into_iter().map(|path| (path, None))).collect())
    }

    pub(super) fn is_plain_file(&self, path: &str) -> bool {
        !path.contains('\n')
            && fs::symlink_metadata(self.root.join(path)).is_ok_and(|about| about.is_file())
    }

    /// Returns the files that commands of the required checks name.
    pub(super) fn named(&self, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
        let required = self.required().0;
        named_files(required.iter().filter_map(check_of), exists)
    }

    fn touched(
        &self,
        stored: &StoredFiles,
        work: &WorkFiles,
        version: &Version,
        named: &[String],
        left_out: &BTreeSet<String>,
    ) -> Result<Vec<Touched>, Breakdown> {
        let paths: BTreeSet<&String> = work.keys().chain(version.files.keys()).collect();
        let mut touched = Vec::new();
        for path in paths {
            let Some(part) = part_of(path, named) else { continue };
            let (here, there) = (work.get(path), version.files.get(path));
            let is_same = match (here, there) {
                (Some(Some(id)), Some(file)) => *id == file.id,
                (Some(None), None) | (None, None) => true,
                _ => false,
            };
            if is_same || left_out.contains(path) || own::is_own(path) || own::is_paper(path) {
                continue;
            }
            touched.extend(self.touch(stored, path, part, there)?);
        }
        Ok(touched)
    }

    fn touch(
        &self,
        stored: &StoredFiles,
        path: &str,
        part: KeptPart,
        file: Option<&StoredFile>,
    ) -> Result<Option<Touched>, Breakdown> {
        let now = match self.is_plain_file(path) {
            true => Some(fs::read(self.root.join(path)).map_err(|it| unreadable(path, &it))?),
            false => None,
        };
        let kept = file.map(|file| stored.read(file)).transpose().map_err(broken)?;
        let content = kept_version(part, now.as_deref(), kept.as_deref());
        let is_same = match (&content, &now) {
            (Some(content), Some(now)) => without_returns(content) == without_returns(now),
            (None, None) => true,
            _ => false,
        };
        if is_same {
            return Ok(None);
        }
        let existed = match (&kept, part) {
            (None, _) => false,
            (Some(kept), KeptPart::RustTests) => holds_tests(path, part, kept),
            (Some(_), _) => true,
        };
        let is_executable = file.is_some_and(|file| file.is_executable);
        let content = content.map(|bytes| (bytes, is_executable));
        let replacement = Replacement { path: path.to_owned(), content };
        Ok(Some(Touched { replacement, existed, kept, now }))
    }

    /// Runs the checks with a version of the tests, if that has tests and something of it was touched.
    fn run_with(
        &self,
        stored: &StoredFiles,
        standing: &Standing,
        version: &Version,
        touched: &[Touched],
        named: &[String],
    ) -> Result<Option<KeptRun>, Breakdown> {
        let Some(round) = standing.open.as_ref().filter(|_| !touched.is_empty()) else {
            return Ok(None);
        };
        if !has_tests(stored, version, named)? {
            return Ok(None);
        }
        let (kept, altered) = self.run_swapped(stored, version, touched, named)?;
        let sources = sources(touched);
        let changes_a_check = touched.iter().any(|it| it.existed);
        let compared = compare(&round.checks, &kept, &sources, changes_a_check);
        let mut run = KeptRun {
            version: version.name.clone(),
            files: touched.iter().map(|it| it.replacement.path.clone()).collect(),
            ran: compared.ran,
            weakened: altered.into_iter().map(overwritten).collect(),
            renamed: compared.renamed,
            excused: Vec::new(),
        };
        let criteria = self.first_criteria(standing);
        for weakened in compared.weakened {
            match excusing_criterion(&weakened.test, &criteria, &sources) {
                Some(criterion) if weakened.now != TestFate::CheckPasses => {
                    run.excused.push((weakened.test, criterion.to_owned()));
                }
                Some(_) | None => run.weakened.push(weakened),
            }
        }
        Ok(Some(run))
    }

    /// Puts kept files in, runs the checks, and takes the files out again. Returns also which of them
    /// the code that ran wrote over.
    fn run_swapped(
        &self,
        stored: &StoredFiles,
        version: &Version,
        touched: &[Touched],
        named: &[String],
    ) -> Result<(Vec<CheckOutcome>, Vec<String>), Breakdown> {
        let git_folder = stored.git_folder().map_err(broken)?;
        let mut files: Vec<Replacement> = touched.iter().map(|it| it.replacement.clone()).collect();
        files.extend(self.lock_files(&files));
        let runner = self.runner(&self.change()?)?;
        let guard = GitGuard::of(&self.root, stored)?;
        let swap = Swap::put_in(&self.root, &git_folder, &files).map_err(swap_broken)?;
        let mut outcomes = Vec::new();
        // With the files as they were, other commands may be those that test.
        for check in self.required().0.iter().filter_map(check_of) {
            let is_new = |path: &String| named.contains(path) && !version.files.contains_key(path);
            let names = named_files([check], |path| named.iter().any(|it| it == path));
            if check.kind == CheckKind::Coverage || names.iter().any(is_new) {
                continue;
            }
            let name = format!("{} with the tests of {}", check.name, version.name);
            self.listener.checking(&name);
            let outcome = without_secrets(guard.hold(runner.run(&tolerant(check)))?);
            self.listener.checked(&CheckOutcome { name, ..outcome.clone() });
            outcomes.push(outcome);
        }
        let own: Vec<&String> = touched.iter().map(|it| &it.replacement.path).collect();
        let mut altered = swap.altered();
        altered.retain(|path| own.contains(&path));
        for path in swap.take_out().map_err(swap_broken)? {
            self.listener
                .broke_down(&format!("a check wrote a file that is now in `{}`", path.display()));
        }
        Ok((outcomes, altered))
    }

    /// Returns lock files beside manifests that are put in: tools write them anew to fit.
    fn lock_files(&self, files: &[Replacement]) -> Vec<Replacement> {
        let locks = files.iter().filter_map(|file| {
            let folder = file.path.strip_suffix("Cargo.toml")?;
            let path = format!("{folder}Cargo.lock");
            let bytes =
                fs::read(self.root.join(&path)).ok().filter(|_| self.is_plain_file(&path))?;
            Some(Replacement { path, content: Some((bytes, false)) })
        });
        locks.collect()
    }

    /// Returns the criteria as they were in the first round.
    fn first_criteria(&self, standing: &Standing) -> Vec<String> {
        match standing.history.iter().find_map(|round| round.seen()) {
            Some(seen) => seen.criteria.iter().map(|line| line.text.clone()).collect(),
            None => self.spec.criteria.iter().map(|it| it.text.clone()).collect(),
        }
    }
}

fn first_version(stored: &StoredFiles, standing: &Standing) -> Result<Option<Version>, Breakdown> {
    let Some(tree) = standing.kept_tests.as_ref().filter(|tree| stored.has(tree)) else {
        return Ok(None);
    };
    let files = stored.of_revision(tree).map_err(broken)?;
    Ok(Some(Version { name: FIRST_ROUND.to_owned(), files }))
}

/// Adds the scripts that named files run in a version, and those that they run.
fn add_scripts(
    stored: &StoredFiles,
    version: &Version,
    named: &mut Vec<String>,
    exists: &dyn Fn(&str) -> bool,
) -> Result<(), Breakdown> {
    let mut at = 0;
    while let Some(path) = named.get(at).cloned() {
        at += 1;
        let Some(file) = version.files.get(&path) else { continue };
        let content = stored.read(file).map_err(broken)?;
        for script in scripts_in(&path, &String::from_utf8_lossy(&content), exists) {
            if !named.contains(&script) {
                named.push(script);
            }
        }
    }
    Ok(())
}

fn is_kept(path: &str, named: &[String]) -> bool {
    part_of(path, named).is_some() && !own::is_own(path) && !own::is_paper(path)
}

pub(super) fn check_of(required: &Required) -> Option<&RequiredCheck> {
    match required {
        Required::Run(check) => Some(check),
        Required::ByHand { .. } | Required::TryOut { .. } | Required::Unavailable { .. } => None,
    }
}

/// Returns true if a version has tests.
fn has_tests(stored: &StoredFiles, version: &Version, named: &[String]) -> Result<bool, Breakdown> {
    let mut sources = Vec::new();
    for (path, file) in &version.files {
        match part_of(path, named) {
            Some(_) if named.contains(path) => return Ok(true),
            Some(KeptPart::Whole) if holds_tests(path, KeptPart::Whole, b"") => return Ok(true),
            Some(KeptPart::RustTests) => sources.push((path, file)),
            Some(_) | None => {}
        }
    }
    for (path, file) in sources {
        let content = stored.read(file).map_err(broken)?;
        if holds_tests(path, KeptPart::RustTests, &content) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the texts of touched files, in which tests are looked up by name.
fn sources(touched: &[Touched]) -> TestSources {
    let text = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    TestSources {
        kept: touched.iter().filter_map(|it| text(&it.kept)).collect(),
        now: touched.iter().filter_map(|it| text(&it.now)).collect(),
    }
}

/// Returns a check that runs as many of its tests as can be run.
fn tolerant(check: &RequiredCheck) -> RequiredCheck {
    let mut check = check.clone();
    let (name, options) = PYTEST_OPTIONS;
    match check.command.variables.iter_mut().find(|(known, _)| known == name) {
        Some((_, value)) => *value = format!("{value} {options}"),
        None => check.command.variables.push((name.to_owned(), options.to_owned())),
    }
    check
}

fn overwritten(path: String) -> WeakenedTest {
    WeakenedTest {
        file: Some(path.clone()),
        test: path,
        kind: CheckKind::Unit,
        now: TestFate::Overwritten,
        fails: None,
    }
}

/// Returns a text without the returns at the ends of its lines: git may have taken them out.
fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    out.retain(|byte| {
        at += 1;
        !(*byte == b'\r' && bytes.get(at) == Some(&b'\n'))
    });
    out
}

/// Returns a name that git takes for a ref.
fn ref_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

fn unreadable(path: &str, error: &std::io::Error) -> Breakdown {
    Breakdown::Round(format!("`{path}` cannot be read: {error}"))
}

fn broken(error: GitError) -> Breakdown {
    Breakdown::Round(chain(&error))
}

fn swap_broken(error: SwapError) -> Breakdown {
    Breakdown::Round(chain(&error))
}
