//! A git repository for a test, and what a change of it looks like as text.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assay_change::diff::{Content, FileDiff, Origin};
use assay_change::{Change, Scope, Selection};
use assay_findings::path::RepoPath;
use assay_findings::vote::Lines;

/// A repository in a temporary folder.
pub(crate) struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    /// Makes one with one commit on `main`.
    pub(crate) fn new() -> Repository {
        let repository = Repository::empty(&[]);
        repository.write("README", "nothing to see\n");
        repository.commit("first");
        repository
    }

    /// Makes one without commits.
    pub(crate) fn empty(options: &[&str]) -> Repository {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.git(&[&["init", "--quiet", "--initial-branch=main"], options].concat());
        repository.git(&["config", "user.name", "tester"]);
        repository.git(&["config", "user.email", "tester@localhost"]);
        repository
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn git<A: AsRef<OsStr>>(&self, args: &[A]) -> String {
        git(self.path(), args)
    }

    /// Runs git where it may fail.
    pub(crate) fn try_git<A: AsRef<OsStr>>(&self, args: &[A]) -> Output {
        Command::new("git").args(args).current_dir(self.path()).output().unwrap()
    }

    pub(crate) fn file(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        fs::write(self.file(path), text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    pub(crate) fn open(&self, scope: Scope) -> Change {
        open(self.path(), scope)
    }
}

/// Runs git as a user would.
pub(crate) fn git<A: AsRef<OsStr>>(folder: &Path, args: &[A]) -> String {
    let output = Command::new("git").args(args).current_dir(folder).output().unwrap();
    let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub(crate) fn open(folder: &Path, scope: Scope) -> Change {
    assay_change::open(folder, &scope, &Selection::default()).unwrap()
}

pub(crate) fn against(base: &str) -> Scope {
    Scope::Against(base.to_owned())
}

pub(crate) fn commits(range: &str) -> Scope {
    Scope::Commits(range.to_owned())
}

pub(crate) fn path(path: &str) -> RepoPath {
    RepoPath::exact(path).unwrap()
}

/// Counts the lines that came and went.
pub(crate) fn counts(file: &FileDiff) -> (u32, u32) {
    let count = |lines: &mut dyn Iterator<Item = Lines>| {
        lines.map(|lines| lines.end() - lines.start() + 1).sum()
    };
    (count(&mut file.added()), count(&mut file.removed()))
}

/// Shows a change: a line for each file, the text before it was held against first.
pub(crate) fn show(change: &Change) -> String {
    let mut text = format!("{}\n", change.title);
    for file in &change.files {
        let (added, removed) = counts(file);
        text += &format!("{:?} +{added} -{removed}", file.path());
        if file.content != Content::Text {
            text += &format!(" {:?}", file.content);
        }
        if file.origin != Origin::Same {
            text += &format!(" {:?} {:?}", file.origin, file.old_path.as_deref().unwrap());
        }
        if file.generated {
            text += " generated";
        }
        text.push('\n');
    }
    text
}
