//! Records the surroundings of a tree and reports their issues: programs that checks use, and files
//! that git ignores.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use assay_change::{Change, GitError, StoredFiles};
use assay_checks::command::words_of;
use assay_checks::module_loading::{
    changes_loading, is_source, names_pytest_plugin, shadowed_module,
};
use assay_checks::output_folders::{is_output, is_output_folder};
use assay_checks::programs::OwnPrograms;
use assay_findings::write::escape::chain;

use super::LocalEnvironment;
use super::kept_test_runs::check_of;
use crate::issue::Issue;
use crate::loop_files;
use crate::loop_state::LoopState;
use crate::run::StepError;
use crate::surroundings::{DELETED, Surroundings, for_person, of_loaded, of_programs};

/// Maximum size, in bytes, of a file that is searched for names of programs.
const MAX_SCRIPT: u64 = 1 << 20;

/// Maximum number of files of the work that are recorded.
const MAX_WORK: usize = 5_000;

/// Maximum number of hidden files that are reported, each as an issue.
const MAX_HIDDEN: usize = 20;

/// Length of a recorded digest, in characters.
const DIGEST: usize = 16;

impl LocalEnvironment<'_> {
    /// Returns the current surroundings of the tree.
    pub(super) fn scan_surroundings(&self) -> Result<Surroundings, StepError> {
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let change = self.change()?;
        Ok(Surroundings {
            base: change.base_revision().map(str::to_owned),
            head: stored.head().map_err(broken)?,
            work: self.work(&stored, &change)?,
            programs: self.used_programs(&stored)?,
            loaded: self.loaded(&stored)?,
        })
    }

    /// Returns the issues of the tree's surroundings, compared with those of earlier rounds.
    pub(super) fn surroundings_issues(
        &self,
        loop_state: &LoopState,
    ) -> Result<Vec<Issue>, StepError> {
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let change = self.change()?;
        let base = change.base_revision();
        let now = Surroundings {
            programs: self.used_programs(&stored)?,
            loaded: self.loaded(&stored)?,
            ..Surroundings::default()
        };
        let first = loop_state.first_surroundings.as_ref().unwrap_or(&loop_state.surroundings);
        let mut issues = of_programs(first, &now);
        issues.extend(of_loaded(first, &now));
        issues.extend(self.stand_ins(&stored)?);
        let ignored = self.ignored(&stored)?;
        issues.extend(self.hidden_files(&stored, base, &ignored)?);
        issues.extend(self.shadows(&stored, &ignored)?);
        issues.extend(self.plugins(&stored, base, &ignored)?);
        issues.extend(self.nested_repositories(&stored, base)?);
        issues.extend(self.converted_files(&stored, base)?);
        issues.extend(self.base_issues(&stored, base, loop_state)?);
        if let Some(tree) = loop_state.kept_tests.as_ref().filter(|tree| !stored.has(tree)) {
            let why = "git no longer has the stored tests of the first round, so assay cannot \
                       check whether they were weakened";
            let title = "The stored tests of the first round are missing in git".to_owned();
            issues.push(for_person(title, format!("kept:{tree}"), why.to_owned()));
        }
        Ok(issues)
    }

    /// Returns the files of the change, each with the id of the git object that it would be. At
    /// most `MAX_WORK` existing files are included.
    fn work(
        &self,
        stored: &StoredFiles,
        change: &Change,
    ) -> Result<BTreeMap<String, String>, StepError> {
        let is_work = |path: &&String| {
            !loop_files::is_loop_output(path) && !loop_files::is_loop_document(path)
        };
        let new = change.files.iter().filter_map(|file| file.new_path.as_ref()).filter(is_work);
        let plain: Vec<String> = new.filter(|path| self.is_plain_file(path)).cloned().collect();
        let plain: Vec<String> = plain.into_iter().take(MAX_WORK).collect();
        let ids = stored.object_ids(&plain).map_err(broken)?;
        let mut work: BTreeMap<String, String> = plain.into_iter().zip(ids).collect();
        let old = change.files.iter().filter_map(|file| file.old_path.as_ref()).filter(is_work);
        let is_gone = |path: &&String| self.root.join(path).symlink_metadata().is_err();
        work.extend(old.filter(is_gone).map(|path| (path.clone(), DELETED.to_owned())));
        Ok(work)
    }

    /// Returns, for each required check, the programs of the tree that it can run in its folder,
    /// and the words of its command and of the files that commands name.
    fn programs(&self, paths: &BTreeSet<String>) -> Vec<(OwnPrograms, BTreeSet<String>)> {
        let required = self.required().0;
        let checks = required.iter().filter_map(check_of);
        let mut texts: Vec<String> = Vec::new();
        for path in self.named(paths) {
            let file = self.root.join(path);
            if file.metadata().is_ok_and(|about| about.len() <= MAX_SCRIPT) {
                texts.push(
                    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned(),
                );
            }
        }
        let mentioned: BTreeSet<String> =
            texts.iter().flat_map(|text| words_of(text)).map(str::to_owned).collect();
        checks
            .map(|check| {
                let words = check.command.mentioned_words().into_iter().map(str::to_owned);
                let words = words.chain(mentioned.iter().cloned()).collect();
                (self.runner.own_programs(&check.folder), words)
            })
            .collect()
    }

    /// Returns the programs of the tree that commands name and git does not track, each with its
    /// digest.
    fn used_programs(&self, stored: &StoredFiles) -> Result<BTreeMap<String, String>, StepError> {
        let mut used = BTreeMap::new();
        let paths = stored.work_tree_files().map_err(broken)?.into_iter().collect();
        for (programs, words) in self.programs(&paths) {
            let named = programs.used.iter().filter(|program| words.contains(&program.name));
            for program in named {
                if let Some(path) = self.relative_to_root(&program.path) {
                    used.insert(path, digest_of_program(&self.root, &program.path));
                }
            }
        }
        if !used.is_empty() {
            let tracked = stored.tracked_files().map_err(broken)?;
            used.retain(|path, _| !tracked.contains(path));
        }
        Ok(used)
    }

    /// Returns the programs of the tree that commands name and git tracks: a branch that changes
    /// such a program changes how its tests run.
    pub(super) fn tracked_programs(&self, paths: &BTreeSet<String>) -> Vec<String> {
        let programs = self.programs(paths);
        let named = programs.iter().flat_map(|(programs, words)| {
            let used = programs.used.iter().chain(&programs.shadowing);
            used.filter(|program| words.contains(&program.name))
        });
        named.filter_map(|program| self.relative_to_root(&program.path)).collect()
    }

    fn relative_to_root(&self, path: &Path) -> Option<String> {
        path.strip_prefix(&self.root).ok()?.to_str().map(str::to_owned)
    }

    /// Returns an issue for each program of the tree that scripts of package managers run instead
    /// of a toolchain.
    fn stand_ins(&self, stored: &StoredFiles) -> Result<Vec<Issue>, StepError> {
        let mut issues: BTreeMap<String, Issue> = BTreeMap::new();
        let paths = stored.work_tree_files().map_err(broken)?.into_iter().collect();
        for (programs, words) in self.programs(&paths) {
            let named = programs.shadowing.iter().filter(|program| words.contains(&program.name));
            for program in named {
                let Some(path) = self.relative_to_root(&program.path) else { continue };
                let digest = digest_of_program(&self.root, &program.path);
                let why = format!(
                    "package scripts (npm, yarn, pnpm) run `{path}` instead of `{}`, and no \
                     manifest names the package of the file; delete the file",
                    program.name
                );
                let title = format!("Program in the tree replaces a toolchain: {path}");
                let issue = for_person(title, format!("stand-in:{path}:{digest}"), why);
                issues.insert(path, issue);
            }
        }
        Ok(issues.into_values().collect())
    }

    /// Returns the files that git ignores, without installed packages and build output.
    fn ignored(&self, stored: &StoredFiles) -> Result<Vec<String>, StepError> {
        let mut files = stored.ignored_files(&is_output_folder).map_err(broken)?;
        files.retain(|path| !is_output(path) && !loop_files::is_loop_output(path));
        Ok(files)
    }

    /// Returns the ignored files that change what a test runner loads, in the tree and in its
    /// virtual environments, each with its digest.
    fn loaded(&self, stored: &StoredFiles) -> Result<BTreeMap<String, String>, StepError> {
        let ignored = self.ignored(stored)?;
        let decides = |path: &&String| changes_loading(path) || self.is_plugin(path);
        let mut loaded: Vec<String> = ignored.iter().filter(decides).cloned().collect();
        loaded.extend(self.loaded_by_environments());
        let digest = |path: String| {
            let digest = digest_of(&fs::read(self.root.join(&path)).unwrap_or_default());
            (path, digest)
        };
        Ok(loaded.into_iter().map(digest).collect())
    }

    /// Returns the files of virtual environments that an interpreter or pytest loads without being
    /// asked.
    fn loaded_by_environments(&self) -> Vec<String> {
        let mut found = Vec::new();
        for environment in [".venv", "venv"] {
            let libraries = names_in(&self.root.join(environment).join("lib"));
            for library in libraries {
                let packages = format!("{environment}/lib/{library}/site-packages");
                for name in names_in(&self.root.join(&packages)) {
                    let path = format!("{packages}/{name}");
                    let entry_points = format!("{path}/entry_points.txt");
                    if changes_loading(&name) && self.is_plain_file(&path) {
                        found.push(path);
                    } else if self.is_plugin(&entry_points) {
                        found.push(entry_points);
                    }
                }
            }
        }
        found
    }

    fn is_plugin(&self, path: &str) -> bool {
        path.ends_with("/entry_points.txt")
            && fs::read_to_string(self.root.join(path))
                .is_ok_and(|text| names_pytest_plugin(path, &text))
    }

    /// Returns an issue for each source or configuration file that is hidden only by ignore rules
    /// of the branch.
    fn hidden_files(
        &self,
        stored: &StoredFiles,
        base: Option<&str>,
        ignored: &[String],
    ) -> Result<Vec<Issue>, StepError> {
        let Some(base) = base else { return Ok(Vec::new()) };
        let decides =
            |path: &&String| is_source(path) || changes_loading(path) || self.is_plugin(path);
        let candidates: Vec<String> = ignored.iter().filter(decides).cloned().collect();
        let hidden = stored.newly_ignored_files(base, &candidates).map_err(broken)?;
        Ok(hidden
            .into_iter()
            .take(MAX_HIDDEN)
            .map(|path| {
                let why = format!(
                    "only ignore rules that this branch adds hide `{path}`: no review and no \
                     commit contains the file, and checks read it; track the file in git, or \
                     delete it"
                );
                for_person(
                    format!("Hidden by the branch's own ignore rules: {path}"),
                    format!("hidden:{path}"),
                    why,
                )
            })
            .collect())
    }

    /// Returns an issue for each ignored file that Python loads instead of a module of the tree.
    fn shadows(&self, stored: &StoredFiles, ignored: &[String]) -> Result<Vec<Issue>, StepError> {
        let is_candidate = |path: &&String| path.ends_with(".so") || path.contains("/__init__.py");
        let candidates: Vec<&String> = ignored.iter().filter(is_candidate).collect();
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let tree: BTreeSet<String> =
            stored.work_tree_files().map_err(broken)?.into_iter().collect();
        let exists = |path: &str| tree.get(path).map(String::as_str);
        let shadows = candidates.into_iter().filter_map(|path| {
            let module = shadowed_module(path, &exists)?;
            let why = format!(
                "Python loads `{path}`, which git ignores, instead of `{module}`, so the checks \
                 do not test the tree; delete the file"
            );
            let title = format!("Ignored file replaces a module: {path}");
            Some(for_person(title, format!("shadow:{path}"), why))
        });
        Ok(shadows.collect())
    }

    /// Returns an issue for each ignored package that adds a plugin to pytest, unless the base
    /// declares a plugin.
    fn plugins(
        &self,
        stored: &StoredFiles,
        base: Option<&str>,
        ignored: &[String],
    ) -> Result<Vec<Issue>, StepError> {
        let plugins: Vec<&String> = ignored.iter().filter(|path| self.is_plugin(path)).collect();
        if plugins.is_empty() || declares_plugin(stored, base)? {
            return Ok(Vec::new());
        }
        let issue = |path: &String| {
            let why = format!(
                "`{path}`, which git ignores, adds a pytest plugin that no packaging file of the \
                 base declares; delete the file"
            );
            let title = format!("Ignored package adds a pytest plugin: {path}");
            for_person(title, format!("plugin:{path}"), why)
        };
        Ok(plugins.into_iter().map(issue).collect())
    }
}

/// Returns true if a packaging file of the base declares a pytest plugin.
fn declares_plugin(stored: &StoredFiles, base: Option<&str>) -> Result<bool, StepError> {
    let Some(base) = base else { return Ok(false) };
    for (path, file) in stored.files_of_revision(base).map_err(broken)?.files {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if ["pyproject.toml", "setup.cfg", "setup.py"].contains(&name) {
            let content = stored.read(&file).map_err(broken)?;
            if String::from_utf8_lossy(&content).contains("pytest11") {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Returns the digest of a program: of its content if it is in the tree, of its path if it belongs
/// to the system.
fn digest_of_program(root: &Path, path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_inside = root.canonicalize().is_ok_and(|root| real.starts_with(root));
    match is_inside {
        true => digest_of(&fs::read(&real).unwrap_or_default()),
        false => digest_of(real.as_os_str().as_encoded_bytes()),
    }
}

fn digest_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..DIGEST].to_owned()
}

pub(super) fn broken(error: GitError) -> StepError {
    StepError::Round(chain(&error))
}
