//! A git repository for a test: [`Repository`].

mod template;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository in a temporary folder.
#[derive(Debug)]
pub struct Repository {
    folder: tempfile::TempDir,
    state_home: tempfile::TempDir,
}

impl Default for Repository {
    fn default() -> Repository {
        Repository::new()
    }
}

impl Repository {
    /// Creates a repository with one commit on `main`.
    pub fn new() -> Repository {
        let repository = Repository::in_new_folders();
        if template::copy("first", with_first_commit, repository.path()) {
            // The index of the template has the inodes and times of the template's files.
            repository.git(&["update-index", "--refresh"]);
        } else {
            with_first_commit(repository.path());
        }
        repository
    }

    /// Creates a repository without commits; `options` are passed to `git init`.
    pub fn empty(options: &[&str]) -> Repository {
        let repository = Repository::in_new_folders();
        if !options.is_empty() || !template::copy("empty", without_commits, repository.path()) {
            initialize(repository.path(), options);
        }
        repository
    }

    fn in_new_folders() -> Repository {
        let (folder, state_home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Repository { folder, state_home }
    }

    /// Returns the folder of the repository.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a folder outside of the repository for the state of the user.
    pub fn state_home(&self) -> &Path {
        self.state_home.path()
    }

    /// Runs git in the repository and returns its output. Panics if git fails.
    pub fn git<A: AsRef<OsStr>>(&self, args: &[A]) -> String {
        git(self.path(), args)
    }

    /// Runs git in the repository; git may fail.
    pub fn try_git<A: AsRef<OsStr>>(&self, args: &[A]) -> Output {
        Command::new("git").args(args).current_dir(self.path()).output().unwrap()
    }

    /// Returns the path of a file in the repository, and creates its folder.
    pub fn file(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// Writes a file.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        fs::write(self.file(path), text).unwrap();
    }

    /// Deletes a file.
    pub fn remove(&self, path: impl AsRef<Path>) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    /// Commits all changes, even if there are none.
    pub fn commit(&self, message: &str) {
        commit(self.path(), message);
    }
}

fn initialize(folder: &Path, options: &[&str]) {
    git(folder, &[&["init", "--quiet", "--initial-branch=main"], options].concat());
    git(folder, &["config", "user.name", "tester"]);
    git(folder, &["config", "user.email", "tester@localhost"]);
}

fn without_commits(folder: &Path) {
    initialize(folder, &[]);
}

fn with_first_commit(folder: &Path) {
    initialize(folder, &[]);
    fs::write(folder.join("README"), "nothing to see\n").unwrap();
    commit(folder, "first");
}

fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "--message", message]);
}

/// Runs git in a folder and returns its output. Panics if git fails.
pub fn git<A: AsRef<OsStr>>(folder: &Path, args: &[A]) -> String {
    let output = Command::new("git").args(args).current_dir(folder).output().unwrap();
    let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
