//! A git repository for a test: [`Repository`].

use std::fs;
use std::path::Path;
use std::process::Command;

/// A repository in a temporary folder, with one commit on `main`.
#[derive(Debug)]
pub struct Repository {
    folder: tempfile::TempDir,
}

impl Default for Repository {
    fn default() -> Repository {
        Repository::new()
    }
}

impl Repository {
    /// Makes one with a README in it.
    pub fn new() -> Repository {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "tester"]);
        repository.git(&["config", "user.email", "tester@localhost"]);
        repository.write("README", "nothing to see\n");
        repository.commit("first");
        repository
    }

    /// Gives its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs git in it, which has to work.
    pub fn git(&self, args: &[&str]) {
        let output = Command::new("git").args(args).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Deletes a file.
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits everything, even if that is nothing.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }
}
