//! Selects the files of a version that count as kept tests: [`KeptFiles`].

use std::collections::BTreeSet;

use assay_change::{GitError, StoredFile, StoredFiles, StoredTree};
use assay_checks::kept::{
    KeptPart, is_configuration, is_test_file, is_test_folder, loaded_files, part_of, scripts_in,
};
use assay_rules::{Reference, references};

use crate::kept_tests::resolve::{folder_of, normalize};
use crate::kept_tests::support::{TextSource, infer};
use crate::loop_files;

/// A version of the tests: the merge base, or the first tree that the loop judged.
pub(super) struct TestVersion {
    /// The name of the version, such as `main` or `the first round`.
    pub(super) name: String,
    /// The id of the commit or the tree.
    pub(super) revision: String,
    pub(super) tree: StoredTree,
}

impl TestVersion {
    /// Returns true if the version has a file or a link at a path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.tree.files.contains_key(path) || self.tree.links.contains_key(path)
    }
}

/// The kept files that are not recognised as tests by their names.
#[derive(Debug, Default)]
pub(super) struct KeptFiles {
    /// Files that are kept as a whole.
    pub(super) named: BTreeSet<String>,
    /// Files that probably belong to tests, but may be under test themselves.
    pub(super) probable: BTreeSet<String>,
    /// Commands whose scripts cannot be determined.
    pub(super) unresolved: BTreeSet<String>,
}

/// Returns true if the loop writes the file, or the file states requirements on the tree.
pub(super) fn is_loop_file(path: &str) -> bool {
    loop_files::is_loop_output(path) || loop_files::is_loop_document(path)
}

/// Searches and reads the files of a version.
struct VersionTexts<'a> {
    stored: &'a StoredFiles,
    version: &'a TestVersion,
}

impl TextSource for VersionTexts<'_> {
    type Error = GitError;

    fn mentioning(&self, words: &[String]) -> Result<Vec<String>, GitError> {
        let mut paths = self.stored.files_with_words(&self.version.revision, words)?;
        paths.retain(|path| self.version.tree.files.contains_key(path) && !is_loop_file(path));
        Ok(paths)
    }

    fn read(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let files: Vec<&StoredFile> =
            paths.iter().filter_map(|path| self.version.tree.files.get(path)).collect();
        let contents = self.stored.read_all(&files)?;
        Ok(contents.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect())
    }
}

impl KeptFiles {
    /// Selects the files that a version keeps. `all` are the paths of the work tree and of all
    /// versions, and `named` the files that commands name. `is_same` returns true if the work tree
    /// has the given object at the given path.
    pub(super) fn of(
        stored: &StoredFiles,
        version: &TestVersion,
        all: &BTreeSet<String>,
        named: &BTreeSet<String>,
        is_same: &dyn Fn(&str, &str) -> bool,
    ) -> Result<KeptFiles, GitError> {
        let tree = &version.tree;
        let differs =
            |(path, file): &(&String, &StoredFile)| !is_loop_file(path) && !is_same(path, &file.id);
        let changed: BTreeSet<String> =
            tree.files.iter().filter(differs).map(|(path, _)| path.clone()).collect();
        let mut files = KeptFiles { named: named.clone(), ..KeptFiles::default() };
        files.add_targets(stored, tree)?;
        files.add_scripts(stored, tree, all)?;
        files.add_loaded(stored, tree, all)?;
        let texts = VersionTexts { stored, version };
        let is_kept = |path: &str| part_of(path, &files.named) == Some(KeptPart::Whole);
        let support = infer(&tree.files, &changed, &is_kept, &texts)?;
        files.probable.retain(|path| changed.contains(path));
        files.probable.extend(support.probable);
        files.named.extend(support.certain);
        let named = &files.named;
        files.probable.retain(|path| part_of(path, named) != Some(KeptPart::Whole));
        Ok(files)
    }

    /// Adds the targets of kept links.
    fn add_targets(&mut self, stored: &StoredFiles, tree: &StoredTree) -> Result<(), GitError> {
        for (path, link) in &tree.links {
            let is_kept = part_of(path, &self.named) == Some(KeptPart::Whole);
            if !is_kept && !is_test_folder(path) {
                continue;
            }
            let target = String::from_utf8_lossy(&stored.read(link)?).into_owned();
            let Some(target) = normalize(&format!("{}/{target}", folder_of(path))) else {
                continue;
            };
            let prefix = format!("{target}/");
            let below = tree.files.keys().filter(|it| **it == target || it.starts_with(&prefix));
            self.named.extend(below.cloned());
        }
        Ok(())
    }

    /// Adds the scripts that named files run, recursively.
    fn add_scripts(
        &mut self,
        stored: &StoredFiles,
        tree: &StoredTree,
        all: &BTreeSet<String>,
    ) -> Result<(), GitError> {
        let mut waiting: Vec<String> = self.named.iter().cloned().collect();
        let mut seen: BTreeSet<String> = self.named.clone();
        while let Some(path) = waiting.pop() {
            let Some(file) = tree.files.get(&path) else { continue };
            let content = stored.read(file)?;
            let scripts = scripts_in(&path, &String::from_utf8_lossy(&content), all);
            let found = scripts.tests.iter().chain(&scripts.others);
            waiting.extend(found.filter(|path| seen.insert((*path).clone())).cloned());
            self.named.extend(scripts.tests);
            self.probable.extend(scripts.others);
            let unresolved = scripts.unresolved.into_iter();
            self.unresolved.extend(unresolved.map(|line| format!("`{path}` runs `{line}`")));
        }
        Ok(())
    }

    /// Adds the plugins and setup files that a test runner loads because of its configuration.
    fn add_loaded(
        &mut self,
        stored: &StoredFiles,
        tree: &StoredTree,
        all: &BTreeSet<String>,
    ) -> Result<(), GitError> {
        let is_read = |path: &&String| is_configuration(path) && !is_loop_file(path);
        let paths: Vec<&String> = tree.files.keys().filter(is_read).collect();
        let files: Vec<&StoredFile> = paths.iter().map(|path| &tree.files[*path]).collect();
        for (path, content) in paths.iter().zip(stored.read_all(&files)?) {
            self.named.extend(loaded_files(path, &String::from_utf8_lossy(&content), all));
        }
        Ok(())
    }

    /// Returns true if tests are in a submodule, or tests import from it.
    pub(super) fn has_tests_in(
        &self,
        stored: &StoredFiles,
        version: &TestVersion,
        submodule: &str,
    ) -> Result<bool, GitError> {
        let prefix = format!("{submodule}/");
        if is_test_folder(submodule) || self.named.iter().any(|path| path.starts_with(&prefix)) {
            return Ok(true);
        }
        let name = submodule.rsplit('/').next().unwrap_or(submodule);
        let texts = VersionTexts { stored, version };
        let mut paths = texts.mentioning(&[name.to_owned()])?;
        paths.retain(|path| is_test_file(path));
        let contents = texts.read(&paths)?;
        let is_in = |path: &str, it: &Reference| match it {
            Reference::Module { names, .. } => names.first().is_some_and(|first| first == name),
            Reference::File(file) => normalize(&format!("{}/{file}", folder_of(path)))
                .is_some_and(|file| file.starts_with(&prefix)),
            Reference::Submodule(_) | Reference::Package(_) | Reference::Text(_) => false,
        };
        Ok(paths.iter().zip(&contents).any(|(path, text)| {
            references(path, text).is_some_and(|found| found.iter().any(|it| is_in(path, it)))
        }))
    }
}
