//! Calls of git: [`Git`] is the only type that knows its command line.
//!
//! The settings of a repository can name programs to run. No call here runs them: hooks, filters,
//! monitors, external diffs and converters are switched off by our settings, which override those
//! of the repository.
//!
//! Attributes are switched off as well, since they belong to the repository under review. Generated
//! files are determined by the attributes before the change ([`generated`]), so that no change
//! exempts its own files.

mod error;
mod generated;
mod pull;
mod push;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use assay_base::text::first_chars;
use assay_sandbox::Command;

use crate::diff::{FileDiff, Parser};
use crate::file_name::display_name;
pub use error::GitError;
pub(crate) use error::none_if_negative;

/// Settings that prevent those of the repository from running programs or hiding files.
const SAFE_SETTINGS: [(&str, &str); 8] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.alternateRefsCommand", "true"),
    ("core.attributesFile", "/dev/null"),
    // Larger files count as binary.
    ("core.bigFileThreshold", "512m"),
    ("core.quotePath", "true"),
    ("submodule.recurse", "false"),
    ("diff.suppressBlankEmpty", "false"),
];

/// The command and options of a diff.
const DIFF_ARGS: [&str; 16] = [
    "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--find-copies",
    "-l1000", "--no-relative",
    // Only the settings of a submodule determine whether its files changed.
    "--ignore-submodules=dirty", "--submodule=short", "--unified=3", "--inter-hunk-context=0",
    "--src-prefix=a/", "--dst-prefix=b/", "--indent-heuristic", "--diff-algorithm=myers",
];

/// The ids of the tree without files, by the name of the object format.
const EMPTY_TREES: [(&str, &str); 2] = [
    ("sha1", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    ("sha256", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
];

/// The maximum number of commit messages that are read.
const MAX_MESSAGES_OPTION: &str = "--max-count=50";

/// The names that a main branch usually has.
const MAIN_BRANCHES: [&str; 2] = ["main", "master"];

/// The timeout of a diff.
const DIFF_TIMEOUT: Duration = Duration::from_secs(600);

/// A repository, with the settings for every call of git.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub(crate) root: PathBuf,
    /// The id of the tree without files.
    pub(crate) empty_tree: String,
    /// The folder in which git runs, so that relative paths start there.
    folder: PathBuf,
    /// The settings that override those of the repository.
    settings: Vec<Setting>,
    /// The folder of git and the work tree; `None` if git finds them itself.
    pin: Option<(PathBuf, PathBuf)>,
    /// The absolute path of the index; `None` for the one that git finds itself.
    index: Option<PathBuf>,
}

/// The branch that changes are made against, and its last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MainBranch {
    pub(crate) name: String,
    pub(crate) commit: String,
}

/// The key of a setting, of any bytes, and its value.
type Setting = (OsString, OsString);

impl Git {
    /// Finds the repository around a folder.
    pub(crate) fn find(folder: &Path) -> Result<Git, GitError> {
        let mut git = Git::find_without_filters(folder)?;
        let filters = git.filters()?;
        git.settings.extend(filters.iter().flat_map(|name| disable_filter(name)));
        Ok(git)
    }

    /// Finds the repository around a folder, for commands of git that apply no filter: those that
    /// read refs, commits, settings or the entries of the index.
    pub(crate) fn find_without_filters(folder: &Path) -> Result<Git, GitError> {
        let mut git = Git {
            root: folder.to_owned(),
            empty_tree: String::new(),
            folder: folder.to_owned(),
            settings: SAFE_SETTINGS.map(|(key, value)| (key.into(), value.into())).into(),
            pin: None,
            index: None,
        };
        let (root, object_format) = git.find_root()?;
        git.root = root;
        let known = EMPTY_TREES.iter().find(|(name, _)| *name == object_format);
        git.empty_tree = match known {
            Some((_, id)) => (*id).to_owned(),
            None => git.line(&["hash-object", "-t", "tree", "/dev/null"])?,
        };
        Ok(git)
    }

    /// Fixes the folder of git and the work tree, whatever git would find there later.
    pub(crate) fn pin(self, git_folder: &Path, work_tree: &Path) -> Git {
        Git { pin: Some((git_folder.to_owned(), work_tree.to_owned())), ..self }
    }

    /// Uses the index that git names to a hook. A relative path starts at the current folder of the
    /// process, or at the root if the hook changed its folder. The index of another repository,
    /// such as that of a superproject, is not used.
    pub(crate) fn with_index_of_hook(self, index: &Path) -> Result<Git, GitError> {
        let current = std::env::current_dir().unwrap_or_else(|_| self.root.clone());
        let around = Git::find_without_filters(&current);
        if around.is_ok_and(|around| around.root != self.root) {
            return Ok(self);
        }
        let candidates = [current.join(index), self.root.join(index)];
        match candidates.into_iter().find(|path| path.is_file()) {
            Some(path) => Ok(Git { index: Some(path), ..self }),
            None => Err(GitError::NoIndex { index: index.to_owned() }),
        }
    }

    /// Returns the root of the work tree and the name of the repository's object format.
    fn find_root(&self) -> Result<(PathBuf, String), GitError> {
        let folder = || self.folder.clone();
        if !self.folder.is_dir() {
            return Err(GitError::NotARepository { folder: folder() });
        }
        let printed = match self.run(&["rev-parse", "--show-toplevel", "--show-object-format"]) {
            Ok(printed) => printed,
            Err(GitError::Failed { message, .. }) if message.contains("dubious ownership") => {
                return Err(GitError::NotYours { root: self.unsafe_root(&message) });
            }
            Err(GitError::Failed { message, .. }) if message.contains("work tree") => {
                return Err(GitError::NoWorkTree { folder: folder() });
            }
            Err(GitError::Failed { message, .. }) if message.contains("not a git repository") => {
                return Err(GitError::NotARepository { folder: folder() });
            }
            Err(other) => return Err(other),
        };
        // The path of the work tree can have line breaks, the name of the format cannot.
        let printed = printed.strip_suffix(b"\n").unwrap_or(&printed);
        let end = printed.iter().rposition(|byte| *byte == b'\n').unwrap_or(printed.len());
        let (root, object_format) = printed.split_at(end);
        let root = PathBuf::from(OsString::from_vec(root.to_owned()));
        // A setting may put the work tree anywhere, and with it the files that are read.
        match root.join(".git").exists() {
            true => Ok((root, text(object_format.trim_ascii()))),
            false => Err(GitError::StrayWorkTree { folder: folder(), root }),
        }
    }

    /// Returns the absolute path of a repository that belongs to another user, as git names it, or
    /// else the given folder.
    fn unsafe_root(&self, message: &str) -> PathBuf {
        let named = message.split_once("repository at '").and_then(|(_, rest)| {
            let root = Path::new(rest.rsplit_once('\'')?.0);
            root.is_absolute().then(|| root.to_owned())
        });
        let folder = || std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        named.unwrap_or_else(|| self.folder.canonicalize().unwrap_or_else(|_| folder()))
    }

    /// Returns the configured filters from all configuration files, as `filter.name`.
    fn filters(&self) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let args = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
        let listed = none_if_negative(self.run(&args))?.unwrap_or_default();
        let keys = listed.split(|byte| *byte == 0);
        let dot = |key: &[u8]| key.iter().rposition(|byte| *byte == b'.');
        Ok(keys.filter_map(|key| Some(key[..dot(key)?].to_vec())).collect())
    }

    /// Returns true if a filter of this name is configured.
    pub(crate) fn has_filter(&self, name: &str) -> bool {
        let key = format!("filter.{name}.clean");
        self.settings.iter().any(|(known, _)| *known == *key)
    }

    /// Returns a command of git with our settings.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let command = Command::new("git")
            .args(["--no-pager", "--literal-pathspecs"])
            .args(args)
            .folder(&self.folder)
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Missing objects of a partial clone are not fetched: that would run its remote.
            .env("GIT_NO_LAZY_FETCH", "1")
            // Replacement objects are ignored, since a push sends the original ones.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_ALLOW_PROTOCOL", "none");
        let command = match &self.pin {
            Some((git_folder, tree)) => {
                command.env("GIT_DIR", git_folder).env("GIT_WORK_TREE", tree)
            }
            None => command,
        };
        let command = match &self.index {
            Some(index) => command.env("GIT_INDEX_FILE", index),
            None => command,
        };
        with_settings(self.without_attributes(command), &self.settings)
    }

    /// Prevents git from reading attributes, which could mark code as binary and so hide it.
    fn without_attributes(&self, command: Command) -> Command {
        match self.empty_tree.as_str() {
            "" => command,
            tree => command.env("GIT_ATTR_SOURCE", tree).env("GIT_ATTR_NOSYSTEM", "1"),
        }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let finished = self.command(args).run()?;
        check(args, finished.status, &finished.stderr)?;
        Ok(finished.stdout)
    }

    /// Runs git with another index than the repository's.
    pub(crate) fn run_with_index(&self, args: &[&str], index: &Path) -> Result<Vec<u8>, GitError> {
        let command = self.command(args).env("GIT_INDEX_FILE", index).folder(&self.root);
        let finished = command.run()?;
        check(args, finished.status, &finished.stderr)?;
        Ok(finished.stdout)
    }

    pub(crate) fn line(&self, args: &[&str]) -> Result<String, GitError> {
        Ok(text(&self.run(args)?).trim().to_owned())
    }

    /// Returns the messages of the commits after `from` and up to `to`, newest first.
    pub(crate) fn messages(&self, from: &str, to: &str) -> Result<Vec<String>, GitError> {
        // If nothing was committed before, everything is new, and there may be no commit at all.
        let range = match from == self.empty_tree {
            true if self.head_or_empty()? == self.empty_tree => return Ok(Vec::new()),
            true => to.to_owned(),
            false => format!("{from}..{to}"),
        };
        let args =
            ["log", "-z", "--format=%B", "--no-show-signature", MAX_MESSAGES_OPTION, &range, "--"];
        let printed = self.run(&args)?;
        let messages = printed.split(|byte| *byte == 0).map(|message| text(message.trim_ascii()));
        Ok(messages.filter(|message| !message.is_empty()).collect())
    }

    /// Returns the name that commits are made under, or `None` if it is not configured.
    pub(crate) fn user_name(&self) -> Option<String> {
        self.line(&["config", "user.name"]).ok().filter(|name| !name.is_empty())
    }

    /// Returns the name of the repository: by the URL of its remote, or else by its folder, which
    /// is the same for all of its work trees.
    pub(crate) fn name(&self) -> String {
        let remote = self.line(&["config", "--get", "remote.origin.url"]).unwrap_or_default();
        let folder = || self.line(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let named = last_name(&remote).map(str::to_owned);
        let named =
            named.or_else(|| last_name(folder().ok()?.strip_suffix("/.git")?).map(Into::into));
        named.unwrap_or_else(|| last_name(&self.root.to_string_lossy()).unwrap_or("").to_owned())
    }

    /// Returns the folder in which git looks for hooks unless our settings disable them.
    pub(crate) fn hooks_folder(&self) -> Result<PathBuf, GitError> {
        let listed = self.line(&["config", "--show-scope", "--get-all", "core.hooksPath"]);
        let listed = none_if_negative(listed)?.unwrap_or_default();
        let mut set = listed.lines().filter_map(|line| line.split_once('\t'));
        // Our own setting has the scope of the command line.
        match set.rfind(|(scope, _)| *scope != "command") {
            Some((_, folder)) => Ok(self.root.join(folder)),
            None => {
                let absolute = "--path-format=absolute";
                Ok(Path::new(&self.line(&["rev-parse", absolute, "--git-common-dir"])?)
                    .join("hooks"))
            }
        }
    }

    /// Returns the commit that a name denotes. Fails if there is none.
    pub(crate) fn resolve(&self, name: &str) -> Result<String, GitError> {
        let unknown = || GitError::UnknownRevision { name: name.to_owned() };
        if name.starts_with('-') {
            return Err(unknown());
        }
        let peeled = format!("{name}^{{commit}}");
        match self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]) {
            Ok(id) if !id.is_empty() => Ok(id),
            Ok(_) => Err(unknown()),
            Err(error) if error.is_negative_answer() => Err(unknown()),
            // Git aborts on a name that it cannot parse, such as a day before the start of the
            // reflog.
            Err(GitError::Failed { code: Some(128), message, .. }) if is_bad_name(&message) => {
                Err(unknown())
            }
            Err(other) => Err(other),
        }
    }

    /// Returns the commit that a name denotes, or `None` if there is no such commit.
    pub(crate) fn resolve_if_known(&self, name: &str) -> Result<Option<String>, GitError> {
        match self.resolve(name) {
            Err(GitError::UnknownRevision { .. }) => Ok(None),
            resolved => resolved.map(Some),
        }
    }

    /// Returns the commit that each of the names denotes, in their order; `None` for a name without
    /// a commit. Names have no line breaks. Fails if git answers in another form, since a missing
    /// answer does not mean that there is no commit.
    pub(crate) fn resolve_all(&self, names: &[String]) -> Result<Vec<Option<String>>, GitError> {
        let args = ["cat-file", "--batch-check=%(objectname)"];
        // As for a single name, a name that could be an option denotes nothing.
        let names_nothing = |name: &str| name.starts_with('-');
        let safe = names.iter().map(|name| if names_nothing(name) { "" } else { name.as_str() });
        let input: String = safe.map(|name| format!("{name}^{{commit}}\n")).collect();
        let finished = self.command(&args).input(input.into_bytes()).run()?;
        check(&args, finished.status, &finished.stderr)?;
        let printed = text(&finished.stdout);
        let commits: Option<Vec<Option<String>>> = printed.lines().map(answered_commit).collect();
        commits.filter(|commits| commits.len() == names.len()).ok_or_else(|| GitError::Failed {
            command: args[0].to_owned(),
            message: "git did not report a result for every name".to_owned(),
            code: None,
        })
    }

    /// Returns the last commit, or the empty tree if nothing is committed.
    pub(crate) fn head_or_empty(&self) -> Result<String, GitError> {
        match self.resolve("HEAD") {
            Err(GitError::UnknownRevision { .. }) => Ok(self.empty_tree.clone()),
            other => other,
        }
    }

    /// Fails if a path exists neither now nor in the last commit.
    pub(crate) fn check_paths(&self, paths: &[String]) -> Result<(), GitError> {
        match paths {
            [] => Ok(()),
            paths => self.check_paths_in(paths, &self.head_or_empty()?),
        }
    }

    /// Fails if a path exists neither now nor in a commit.
    pub(crate) fn check_paths_in(&self, paths: &[String], commit: &str) -> Result<(), GitError> {
        for path in paths {
            if self.folder.join(path).exists() {
                continue;
            }
            if self.run(&["ls-tree", "--name-only", commit, "--", path])?.is_empty() {
                return Err(GitError::UnknownPath { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Returns a path that starts at the current folder as a path from the root, without `.` and
    /// `..`; `None` if the path is outside of the repository.
    pub(crate) fn path_from_root(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        if let Some(inside) = Path::new(path).is_absolute().then(|| self.inside_root(path)) {
            return Ok(inside);
        }
        let printed = self.run(&["rev-parse", "--show-prefix"])?;
        let prefix = printed.strip_suffix(b"\n").unwrap_or(&printed);
        Ok(without_dots(&[prefix, path.as_bytes()].concat()))
    }

    /// Returns an absolute path as a path from the root; `None` if the path is elsewhere.
    fn inside_root(&self, path: &str) -> Option<Vec<u8>> {
        let path = without_dots(path.as_bytes())?;
        let absolute = Path::new("/").join(OsStr::from_bytes(&path));
        let inside = match absolute.strip_prefix(&self.root) {
            Ok(inside) => inside.to_owned(),
            Err(_) => absolute.canonicalize().ok()?.strip_prefix(&self.root).ok()?.to_owned(),
        };
        Some(inside.into_os_string().into_vec())
    }

    /// Returns the commit at which the current branch left another one.
    pub(crate) fn fork_point(&self, base: &str) -> Result<String, GitError> {
        self.merge_base(base, "HEAD")
    }

    /// Returns the commit at which two histories diverge.
    pub(crate) fn merge_base(&self, base: &str, tip: &str) -> Result<String, GitError> {
        let start = self.resolve(base)?;
        match self.line(&["merge-base", &start, tip]) {
            Ok(fork) if !fork.is_empty() => Ok(fork),
            Err(other) if !other.is_negative_answer() => Err(other),
            Ok(_) | Err(_) if self.is_shallow()? => {
                Err(GitError::EndsTooEarly { base: base.to_owned(), tip: tip.to_owned() })
            }
            // Histories without a common commit are compared as they are.
            Ok(_) | Err(_) => Ok(start),
        }
    }

    /// Returns the branch that changes are made against, or `None` if HEAD is on it.
    pub(crate) fn default_branch(&self) -> Result<Option<String>, GitError> {
        let Some(MainBranch { name: branch, .. }) = self.main_branch()? else { return Ok(None) };
        let current = self.current_branch()?;
        Ok((current.as_deref() != Some(branch.as_str())).then_some(branch))
    }

    /// Returns the branch that changes are made against, with its last commit. A remote-tracking
    /// branch precedes a local branch of the same name: commits that only the local branch has are
    /// not published yet.
    pub(crate) fn main_branch(&self) -> Result<Option<MainBranch>, GitError> {
        let mut names = Vec::from_iter(self.symbolic_ref("refs/remotes/origin/HEAD")?);
        names.extend(["origin/main", "origin/master"].map(str::to_owned));
        names.extend(self.main_upstreams()?);
        names.extend(MAIN_BRANCHES.map(str::to_owned));
        let commits = self.resolve_all(&names)?;
        let mut named = names.into_iter().zip(commits);
        Ok(named.find_map(|(name, commit)| Some(MainBranch { name, commit: commit? })))
    }

    /// Returns the configured remote-tracking branches of the local main branches, such as
    /// `upstream/main`. A branch that is returned need not exist.
    pub(crate) fn main_upstreams(&self) -> Result<Vec<String>, GitError> {
        let refs = MAIN_BRANCHES.map(|name| format!("refs/heads/{name}"));
        let args = ["for-each-ref", "--format=%(refname) %(upstream)", &refs[0], &refs[1]];
        let listed = self.line(&args)?;
        // A pattern also matches the refs below it, such as `refs/heads/main/old`.
        let upstream_of = |name: &String| {
            let mut lines = listed.lines().filter_map(|line| line.split_once(' '));
            let (_, upstream) = lines.find(|(listed, _)| listed == name)?;
            upstream.strip_prefix("refs/remotes/").map(str::to_owned)
        };
        Ok(refs.iter().filter_map(upstream_of).collect())
    }

    /// Returns the branch that HEAD is on, or `None` if it is detached.
    pub(crate) fn current_branch(&self) -> Result<Option<String>, GitError> {
        self.symbolic_ref("HEAD")
    }

    fn symbolic_ref(&self, name: &str) -> Result<Option<String>, GitError> {
        let target = none_if_negative(self.line(&["symbolic-ref", "--short", "--quiet", name]))?;
        Ok(target.filter(|target| !target.is_empty()))
    }

    /// Returns true if `commit` is `of` or one of its ancestors; false if either is unknown.
    pub(crate) fn is_ancestor(&self, commit: &str, of: &str) -> Result<bool, GitError> {
        if self.resolve_all(&[commit.to_owned(), of.to_owned()])?.contains(&None) {
            return Ok(false);
        }
        let args = ["merge-base", "--is-ancestor", "--end-of-options", commit, of];
        Ok(none_if_negative(self.run(&args))?.is_some())
    }

    fn is_shallow(&self) -> Result<bool, GitError> {
        Ok(self.line(&["rev-parse", "--is-shallow-repository"])? == "true")
    }

    /// Returns the first parent of a commit, or the empty tree for a root commit.
    pub(crate) fn parent_or_empty(&self, commit: &str) -> Result<String, GitError> {
        let commit = self.resolve(commit)?;
        match self.resolve(&format!("{commit}^")) {
            Ok(parent) => Ok(parent),
            Err(GitError::UnknownRevision { .. }) if self.is_shallow()? => {
                Err(GitError::CutOff { commit })
            }
            Err(GitError::UnknownRevision { .. }) => Ok(self.empty_tree.clone()),
            Err(other) => Err(other),
        }
    }

    /// Returns the files that git neither tracks nor ignores.
    pub(crate) fn untracked(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let mut args =
            vec!["ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--"];
        args.extend(paths.iter().map(String::as_str));
        let listed = self.run(&args)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(display_name).collect())
    }

    /// Returns true if git tracks a file in a folder, or tracks a part of the folder's path: behind
    /// a link or in a submodule git lists nothing, and all of it is part of the repository.
    pub(crate) fn tracks(&self, folder: &str) -> bool {
        let around = folder.match_indices('/').map(|(at, _)| &folder[..at]);
        let around: Vec<&str> = around.collect();
        let args = [&["ls-files", "--stage", "-z", "--", folder][..], &around].concat();
        let Ok(listed) = self.run(&args) else { return true };
        let entries = listed.split(|byte| *byte == 0).map(text);
        let mut names = entries.filter_map(|entry| Some(entry.split_once('\t')?.1.to_owned()));
        names.any(|name| {
            let below = name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            // Git tracks no folders, so an entry with such a name is a link, a submodule or a file.
            below || name == folder || around.contains(&name.as_str())
        })
    }

    /// Runs a diff and parses it as a stream.
    pub(crate) fn diff(&self, what: &[&str], paths: &[String]) -> Result<Vec<FileDiff>, GitError> {
        let mut args = [&DIFF_ARGS, what, &["--"]].concat();
        args.extend(paths.iter().map(String::as_str));
        let mut parser = Parser::default();
        let ended = self.command(&args).time(DIFF_TIMEOUT).stream(|piece| parser.feed(piece))?;
        check(&args, ended.status, &ended.stderr)?;
        Ok(parser.finish())
    }
}

impl Git {
    /// Compares two files outside of the repository; `None` if their content is the same.
    pub(crate) fn diff_files(&self, old: &Path, new: &Path) -> Result<Option<FileDiff>, GitError> {
        let mut args: Vec<&OsStr> = DIFF_ARGS.iter().map(OsStr::new).collect();
        args.extend(["--no-index", "--"].map(OsStr::new));
        args.extend([old.as_os_str(), new.as_os_str()]);
        let mut parser = Parser::default();
        let ended = self.command(&args).time(DIFF_TIMEOUT).stream(|piece| parser.feed(piece))?;
        // The exit code 1 means that the files differ.
        if ended.status.code() != Some(1) {
            check(&DIFF_ARGS, ended.status, &ended.stderr)?;
        }
        Ok(parser.finish().into_iter().next())
    }
}

/// Returns a path without `.`, `..` and blank parts; `None` if the path leads out of its start.
fn without_dots(path: &[u8]) -> Option<Vec<u8>> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join(&b'/'))
}

/// Returns the last part of a URL or a path.
fn last_name(address: &str) -> Option<&str> {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    address.rsplit(['/', ':']).next().filter(|name| !name.is_empty())
}

/// Parses an answer of `git cat-file --batch-check` to the name of a commit: the commit, or none
/// for a name that denotes no commit. Returns `None` for any other line.
fn answered_commit(line: &str) -> Option<Option<String>> {
    let is_id = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_unknown = line.ends_with("^{commit} missing") || line.ends_with("^{commit} ambiguous");
    (is_id || is_unknown).then(|| is_id.then(|| line.to_owned()))
}

/// Returns true if the message of git is about the given name, and not about git itself.
fn is_bad_name(message: &str) -> bool {
    ["ambiguous argument", "bad revision", "Log for", "log for", "invalid", "Needed a single"]
        .iter()
        .any(|start| message.contains(start))
}

/// Converts bytes into an argument.
pub(crate) fn argument(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Fails if git failed, with the reason from its stderr.
pub(crate) fn check(args: &[&str], status: ExitStatus, stderr: &[u8]) -> Result<(), GitError> {
    if status.success() {
        return Ok(());
    }
    Err(GitError::Failed {
        command: args.first().copied().unwrap_or_default().to_owned(),
        message: failure_reason(status, &text(stderr)),
        code: status.code(),
    })
}

/// Returns the lines of git's stderr with the reason of a failure: its errors, the refusal of each
/// ref and the messages of the remote, without progress, URLs and hints. Returns the exit status if
/// there are none.
fn failure_reason(status: ExitStatus, stderr: &str) -> String {
    const MAX_LINES: usize = 6;
    const MAX_CHARS: usize = 600;
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let says_why = |line: &&str| {
        let starts = ["fatal:", "error:", "remote: ", "! ["];
        starts.iter().any(|start| line.starts_with(start))
    };
    let why: Vec<&str> = lines().filter(says_why).take(MAX_LINES).collect();
    match why.is_empty() {
        true => lines().next().map_or_else(|| status.to_string(), str::to_owned),
        false => first_chars(&why.join("; "), MAX_CHARS).to_owned(),
    }
}

/// Passes settings in the environment, which other users cannot read.
fn with_settings(command: Command, settings: &[Setting]) -> Command {
    let count = settings.len().to_string();
    let numbered = settings.iter().enumerate();
    numbered.fold(command.env("GIT_CONFIG_COUNT", count), |command, (at, (key, value))| {
        command
            .env(format!("GIT_CONFIG_KEY_{at}"), key)
            .env(format!("GIT_CONFIG_VALUE_{at}"), value)
    })
}

/// Returns the settings that switch a filter off.
fn disable_filter(filter: &[u8]) -> [Setting; 4] {
    [(".clean", ""), (".smudge", ""), (".process", ""), (".required", "false")]
        .map(|(key, value)| (OsString::from_vec([filter, key.as_bytes()].concat()), value.into()))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use assay_testkit::Repository;

    use super::*;

    #[test]
    fn the_empty_tree_has_the_id_that_git_computes() {
        for (format, id) in EMPTY_TREES {
            let repository = Repository::empty(&[&format!("--object-format={format}")]);
            let git = Git::find(repository.path()).unwrap();
            let computed = git.line(&["hash-object", "-t", "tree", "/dev/null"]).unwrap();
            assert_eq!((git.empty_tree.as_str(), computed.as_str()), (id, id));
        }
    }

    #[test]
    fn an_answer_that_is_neither_a_commit_nor_its_absence_is_none() {
        let id = "78981922613b2afb6025042ff6bd878ac1994e85";
        assert_eq!(answered_commit(id), Some(Some(id.to_owned())));
        assert_eq!(answered_commit("a b^{commit} missing"), Some(None));
        assert_eq!(answered_commit("7898^{commit} ambiguous"), Some(None));
        for line in ["", "fatal: out of memory", "main", "main missing"] {
            assert_eq!(answered_commit(line), None, "{line:?}");
        }
    }

    #[test]
    fn resolving_names_together_gives_the_same_result_as_one_by_one() {
        let repository = Repository::new();
        repository.write("a", "1\n");
        repository.commit("second");
        repository.git(&["tag", "old", "HEAD^"]);
        // A name of a branch and a tag, a branch without commits, and objects that are no commits.
        repository.git(&["tag", "main", "HEAD^"]);
        repository.git(&["tag", "file", "HEAD:a"]);
        repository.git(&["tag", "tree", "HEAD^{tree}"]);
        let git = Git::find(repository.path()).unwrap();
        let names = [
            "HEAD", "main", "refs/heads/main", "old", "file", "tree", "no such", "", "HEAD^",
            "HEAD~9", "origin/main", ":a", "@{-1}", "a b missing", "-x",
        ];
        let names = names.map(str::to_owned);
        let one_by_one = names.iter().map(|name| git.resolve_if_known(name).unwrap());
        let one_by_one: Vec<Option<String>> = one_by_one.collect();
        assert_eq!(git.resolve_all(&names).unwrap(), one_by_one);
        assert_eq!(one_by_one.iter().flatten().count(), 5, "{one_by_one:?}");
    }
}
