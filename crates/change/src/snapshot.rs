//! The work tree as it is, uncommitted work included: its [`Fingerprint`], and a [`Bench`] beside it
//! on which it can be worked on until what was done there is put back, all or nothing.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::GitError;
use crate::digest::on_disk;
use crate::git::{Git, argument, text};
use crate::name::shown;

/// The name and address under which a snapshot is committed, on no branch.
const IDENTITY: [&str; 4] = ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];

/// What tells one state of a work tree from another: every file that git knows or would take in,
/// byte for byte, but for those that somebody leaves out.
pub fn fingerprint(
    root: &Path,
    leave_out: &dyn Fn(&str) -> bool,
    instead: &dyn Fn(&str, &Path) -> Option<String>,
) -> Result<String, GitError> {
    let git = Git::find(root)?;
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = git.command(&args).folder(&git.root).run()?;
    let mut names: Vec<&[u8]> =
        listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let mut digest = blake3::Hasher::new();
    for name in names {
        let path = shown(name);
        if leave_out(&path) {
            continue;
        }
        let file = git.root.join(argument(name));
        digest.update(&(name.len() as u64).to_le_bytes());
        digest.update(name);
        let content = match instead(&path, &file) {
            Some(text) => blake3::hash(text.as_bytes()),
            // What was deleted, or cannot be read, is told apart from whatever is there.
            None => on_disk(&file).unwrap_or_else(|_| blake3::hash(b"not there")),
        };
        digest.update(content.as_bytes());
        digest.update(&[u8::from(is_executable(&file))]);
    }
    Ok(digest.finalize().to_hex()[..32].to_owned())
}

fn is_executable(file: &Path) -> bool {
    let about = fs::symlink_metadata(file);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o100 != 0)
}

/// A copy of the work tree to work on, apart from where anybody else works. It goes when this does.
#[derive(Debug)]
pub struct Bench {
    git: Git,
    folder: TempDir,
    /// The work tree as it was when the copy was made: a commit on no branch.
    start: String,
    /// What git wrote into the folder to find its own.
    link: Vec<u8>,
}

impl Bench {
    /// Lays out the work tree of a repository as it is, with what is not committed.
    pub fn lay_out(root: &Path) -> Result<Bench, GitError> {
        let git = Git::find(root)?;
        let layout = |source| GitError::Layout { source };
        let folder = tempfile::Builder::new().prefix("assay-bench-").tempdir().map_err(layout)?;
        let index = folder.path().join("index");
        let start = git.commit_as_it_is(&index)?;
        let tree = folder.path().join("tree");
        let path = tree.display().to_string();
        git.run(&["worktree", "add", "--quiet", "--detach", &path, &start])?;
        let link = fs::read(tree.join(".git")).map_err(layout)?;
        Ok(Bench { git, folder, start, link })
    }

    /// Gives its folder.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    /// Names the files that were changed on it.
    pub fn changed(&self) -> Result<Vec<String>, GitError> {
        Ok(self.names()?.iter().map(|name| shown(name)).collect())
    }

    fn names(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let link = self.path().join(".git");
        let is_file = fs::symlink_metadata(&link).is_ok_and(|about| about.is_file());
        // A repository of somebody else's making could have programs run.
        if !is_file || fs::read(&link).ok().as_deref() != Some(&self.link) {
            return Err(GitError::Replaced { folder: self.path() });
        }
        let own = Git::find(&self.path())?;
        let index = self.folder.path().join("index");
        let _ = fs::remove_file(&index);
        let end = own.tree_as_it_is(&index)?;
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &self.start, &end];
        let listed = self.git.run(&args)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(<[u8]>::to_vec).collect())
    }

    /// Puts what was done on it into the work tree that it is a copy of, all or nothing: not where
    /// somebody else changed one of the files since.
    pub fn put_back(&self) -> Result<Vec<String>, GitError> {
        let layout = |source| GitError::Layout { source };
        let (mut puts, names) = (Vec::new(), self.names()?);
        for name in &names {
            let path = argument(name);
            let (there, here) = (self.git.root.join(path), self.path().join(path));
            let before = Kept::read(&there).map_err(layout)?;
            if before != self.at_the_start(name)? {
                return Err(GitError::Moved { file: shown(name) });
            }
            puts.push((there, before, Kept::read(&here).map_err(layout)?));
        }
        for (number, (path, _, after)) in puts.iter().enumerate() {
            if let Err(source) = after.write(path) {
                for (path, before, _) in &puts[..=number] {
                    let _ = before.write(path);
                }
                return Err(layout(source));
            }
        }
        Ok(names.iter().map(|name| shown(name)).collect())
    }

    /// Gives a file as it was when the copy was made.
    fn at_the_start(&self, name: &[u8]) -> Result<Kept, GitError> {
        let listed = self.git.run(&["ls-tree", "-z", &self.start, "--", &text(name)])?;
        let Some((about, _)) =
            text(&listed).split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()))
        else {
            return Ok(Kept::Nothing);
        };
        let mut about = about.split(' ');
        let (mode, object) = (about.next().unwrap_or_default(), about.nth(1).unwrap_or_default());
        let bytes = self.git.run(&["cat-file", "blob", object])?;
        Ok(match mode {
            "120000" => Kept::Link(bytes),
            mode => Kept::File { bytes, is_executable: mode == "100755" },
        })
    }
}

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    File { bytes: Vec<u8>, is_executable: bool },
    Link(Vec<u8>),
}

impl Kept {
    fn read(path: &Path) -> io::Result<Kept> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::Nothing),
            Err(error) => Err(error),
            Ok(about) if about.is_symlink() => {
                Ok(Kept::Link(fs::read_link(path)?.as_os_str().as_bytes().to_vec()))
            }
            Ok(_) => Ok(Kept::File { bytes: fs::read(path)?, is_executable: is_executable(path) }),
        }
    }

    /// Puts it at a path, in place of whatever is there.
    fn write(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        if let (Some(folder), false) = (path.parent(), *self == Kept::Nothing) {
            fs::create_dir_all(folder)?;
        }
        match self {
            Kept::Nothing => Ok(()),
            Kept::Link(to) => std::os::unix::fs::symlink(argument(to), path),
            Kept::File { bytes, is_executable } => {
                fs::write(path, bytes)?;
                let mode = if *is_executable { 0o755 } else { 0o644 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode))
            }
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let path = self.path().display().to_string();
        // What cannot be removed now git forgets by itself once the folder is gone.
        let _ = self.git.run(&["worktree", "remove", "--force", "--force", &path]);
    }
}

impl Git {
    /// Gives the tree of all that is in the work tree, without touching the repository's own index.
    fn tree_as_it_is(&self, index: &Path) -> Result<String, GitError> {
        if self.line(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok() {
            self.run_with_index(&["read-tree", "HEAD"], index)?;
        }
        self.run_with_index(&["add", "--all"], index)?;
        let written = self.command(&["write-tree"]).env("GIT_INDEX_FILE", index).run()?;
        Ok(text(&written.stdout).trim().to_owned())
    }

    /// Commits the work tree as it is, on no branch.
    fn commit_as_it_is(&self, index: &Path) -> Result<String, GitError> {
        let tree = self.tree_as_it_is(index)?;
        let head = self.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok();
        let mut args = IDENTITY.to_vec();
        args.extend(["commit-tree", &tree, "-m", "The work tree as it is"]);
        if let Some(head) = &head {
            args.extend(["-p", head]);
        }
        self.line(&args)
    }
}
