//! Fetching of pull requests and merge requests: [`Git::fetch_pull`] and
//! [`Git::fetch_merge_request`] fetch one from the remote of its repository.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_base::hash::short_hash;

use super::{Git, GitError, Setting, check, none_if_negative, text, with_settings};

/// The timeout of a call to a remote.
const REMOTE_TIMEOUT: Duration = Duration::from_secs(600);

/// The variables that git needs to access a remote like the user: agents, helpers, proxies.
const REMOTE_ENVIRONMENT: [&str; 26] = [
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "GH_TOKEN", "GITHUB_TOKEN",
    "GITLAB_TOKEN", "GH_CONFIG_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "no_proxy", "all_proxy",
];

/// The protocols that run no program of the repository's choice.
const PROTOCOLS: &str = "file:http:https:ssh";

/// The program on the remote side, which a setting could replace by any other.
const UPLOAD_PACK: &str = "--upload-pack=git-upload-pack";

/// The settings that name programs that a fetch runs: only those of the user apply.
const PROGRAM_SETTINGS: &str = r"^(credential\..*|core\.(sshcommand|askpass))$";

/// The credential helpers for GitHub and GitLab that are used if no other has a password. They read
/// the conventional variables of a token, in a shell of git, so that the token is in no argument.
const TOKEN_HELPERS: [(&str, &str); 2] = [
    (
        "credential.https://github.com.helper",
        "!f() { t=\"${GITHUB_TOKEN:-$GH_TOKEN}\"; test \"$1\" = get && test -n \"$t\" && \
         printf 'username=x-access-token\\npassword=%s\\n' \"$t\"; }; f",
    ),
    (
        "credential.https://gitlab.com.helper",
        "!f() { test \"$1\" = get && test -n \"$GITLAB_TOKEN\" && \
         printf 'username=oauth2\\npassword=%s\\n' \"$GITLAB_TOKEN\"; }; f",
    ),
];

/// The place of a pull request or merge request on its remote, and in the clone.
struct RequestPlace<'a> {
    remote: &'a str,
    /// The prefix of its refs on the remote.
    refs: String,
    /// The prefix of the refs that it is fetched into.
    kept: String,
}

/// The two commits of a pull request.
#[derive(Debug)]
pub(crate) struct PullCommits {
    /// The commit at which the pull request left its base.
    pub(crate) base: String,
    /// The last commit.
    pub(crate) head: String,
}

impl Git {
    /// Fetches a pull request into `refs/assay/pull/`: its last commit or the `wanted` one, and its
    /// base branch. Other processes may fetch at the same time; the result is from this fetch.
    pub(crate) fn fetch_pull(
        &self,
        repository: &str,
        number: u64,
        wanted: Option<&str>,
        base: Option<&str>,
    ) -> Result<PullCommits, GitError> {
        let remote = self.remote_of(repository)?;
        let place = RequestPlace {
            remote: &remote,
            refs: format!("refs/pull/{number}"),
            // Several remotes of one clone may have pull requests of the same number.
            kept: format!("refs/assay/pull/{}/{number}", repository_hash(repository)),
        };
        let missing = || GitError::UnknownPull { repository: repository.to_owned(), number };
        self.fetch_request(&place, wanted, base, missing)
    }

    /// Fetches a merge request of GitLab into `refs/assay/merge-request/`, as
    /// [`Git::fetch_pull`] does.
    pub(crate) fn fetch_merge_request(
        &self,
        project: &str,
        number: u64,
    ) -> Result<PullCommits, GitError> {
        let remote = self.remote_of_project(project)?;
        let place = RequestPlace {
            remote: &remote,
            refs: format!("refs/merge-requests/{number}"),
            kept: format!("refs/assay/merge-request/{}/{number}", repository_hash(project)),
        };
        let missing = || GitError::UnknownMergeRequest { project: project.to_owned(), number };
        self.fetch_request(&place, None, None, missing)
    }

    fn fetch_request(
        &self,
        place: &RequestPlace<'_>,
        wanted: Option<&str>,
        base: Option<&str>,
        missing: impl Fn() -> GitError,
    ) -> Result<PullCommits, GitError> {
        let RequestPlace { remote, refs, kept } = place;
        let (head, merge) = (format!("{refs}/head"), format!("{refs}/merge"));
        let list = ["ls-remote", "--quiet", UPLOAD_PACK, "--", remote, "HEAD", &head, &merge];
        let listed = self.run_on_remote(&list)?;
        let listed = text(&listed);
        let is_there = |name: &str| listed.lines().any(|line| line.ends_with(&format!("\t{name}")));
        if !is_there(&head) {
            return Err(missing());
        }
        // A pull request that cannot be merged is compared with its base branch, or else the
        // default branch.
        let base = base.map(|base| self.branch_name(base)).transpose()?;
        let against = match (is_there(&merge), base) {
            (true, _) => merge.clone(),
            (false, Some(base)) => base,
            (false, None) => "HEAD".to_owned(),
        };
        self.fetch(
            remote,
            &[&format!("+{head}:{kept}/head"), &format!("+{against}:{kept}/against")],
        )?;
        let mut head = self.resolve(&format!("{kept}/head"))?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != head) {
            // A commit that was just pushed may not be at the ref yet, or not be there any more.
            if !is_commit(wanted) {
                return Err(GitError::UnknownRevision { name: wanted.to_owned() });
            }
            self.fetch(remote, &[&format!("+{wanted}:{kept}/head")])?;
            head = self.resolve(wanted)?;
        }
        let tip = self.resolve(&format!("{kept}/against"))?;
        let against = match against == merge {
            true => self.parent_or_empty(&tip)?,
            false => tip,
        };
        Ok(PullCommits { base: self.merge_base(&against, &head)?, head })
    }

    /// Fetches a branch from the remote of a repository into `refs/assay/branch/`, and returns its
    /// last commit.
    pub(crate) fn fetch_branch(&self, repository: &str, branch: &str) -> Result<String, GitError> {
        let remote = self.remote_of(repository)?;
        let name = self.branch_name(branch)?;
        let kept =
            format!("refs/assay/branch/{}/{}", repository_hash(repository), branch_hash(branch));
        self.fetch(&remote, &[&format!("+{name}:{kept}")])?;
        self.resolve(&kept)
    }

    /// Returns the full ref of a branch. Fails if the name is not valid.
    fn branch_name(&self, branch: &str) -> Result<String, GitError> {
        match self.line(&["check-ref-format", "--branch", branch]) {
            Ok(_) => Ok(format!("refs/heads/{branch}")),
            Err(_) => Err(GitError::BadBranch { name: branch.to_owned() }),
        }
    }

    fn fetch(&self, remote: &str, refs: &[&str]) -> Result<(), GitError> {
        let options = [
            "fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules",
            "--no-write-fetch-head", "--no-auto-maintenance", "--refmap=", UPLOAD_PACK, "--",
            remote,
        ];
        self.run_on_remote(&[&options, refs].concat()).map(|_| ())
    }

    pub(super) fn run_on_remote(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let command = self.command(args).time(REMOTE_TIMEOUT).inherit_env(REMOTE_ENVIRONMENT);
        let command = command.env("GIT_ALLOW_PROTOCOL", PROTOCOLS);
        let settings = [self.settings.clone(), self.program_settings()].concat();
        let finished = with_settings(command, &settings).run()?;
        check(args, finished.status, &finished.stderr)?;
        Ok(finished.stdout)
    }

    /// Returns the settings that replace the programs of the repository by those of the user.
    fn program_settings(&self) -> Vec<Setting> {
        let mut settings: Vec<Setting> =
            [("core.sshCommand", "ssh"), ("core.askPass", ""), ("credential.helper", "")]
                .map(|(key, value)| (key.into(), value.into()))
                .into();
        for whose in ["--system", "--global"] {
            let args = ["config", whose, "--includes", "--null", "--get-regexp", PROGRAM_SETTINGS];
            let command = self.command(&args).inherit_env(["XDG_CONFIG_HOME"]);
            // Git exits with an error if no such setting exists.
            let listed = command.run().map(|finished| finished.stdout).unwrap_or_default();
            let own = parse_settings(&listed).into_iter();
            settings.extend(own.map(|(key, value)| (key.into(), value.into())));
        }
        settings.extend(TOKEN_HELPERS.map(|(key, value)| (key.into(), value.into())));
        settings
    }

    /// Returns the remote of a repository. Fails if there is none.
    pub(super) fn remote_of(&self, repository: &str) -> Result<String, GitError> {
        let is_it = |address: &str| {
            repository_of(address).is_some_and(|found| found.eq_ignore_ascii_case(repository))
        };
        let remotes = self.remotes()?;
        find_remote(&remotes, is_it).ok_or_else(|| unknown_remote(repository, &remotes))
    }

    /// Returns the remote of a project of GitLab. Fails if there is none. A server may have all
    /// projects below a path, so a remote whose path only ends with the project is used if no other
    /// is the project.
    fn remote_of_project(&self, project: &str) -> Result<String, GitError> {
        let project = project.to_ascii_lowercase();
        let path = |address: &str| path_of(address).map(|path| path.to_ascii_lowercase());
        let is_it = |address: &str| path(address).is_some_and(|path| path == project);
        let ends_with_it = |address: &str| {
            path(address).is_some_and(|path| path.ends_with(&format!("/{project}")))
        };
        let remotes = self.remotes()?;
        find_remote(&remotes, is_it)
            .or_else(|| find_remote(&remotes, ends_with_it))
            .ok_or_else(|| unknown_remote(&project, &remotes))
    }

    /// Returns the addresses of the remotes, by name.
    fn remotes(&self) -> Result<BTreeMap<String, String>, GitError> {
        let listed = self.run(&["config", "--null", "--get-regexp", r"^remote\..*\.url$"]);
        // A remote is fetched from its first URL.
        let mut remotes = BTreeMap::new();
        for (key, address) in parse_settings(&none_if_negative(listed)?.unwrap_or_default()) {
            let name = key.strip_prefix("remote.").and_then(|key| key.strip_suffix(".url"));
            remotes.entry(name.unwrap_or_default().to_owned()).or_insert(address);
        }
        Ok(remotes)
    }
}

fn find_remote(remotes: &BTreeMap<String, String>, is_it: impl Fn(&str) -> bool) -> Option<String> {
    remotes.iter().find(|(_, address)| is_it(address)).map(|(name, _)| name.clone())
}

fn unknown_remote(repository: &str, remotes: &BTreeMap<String, String>) -> GitError {
    GitError::UnknownRemote { repository: repository.to_owned(), remotes: format_remotes(remotes) }
}

/// Returns true if a text is the full id of a commit.
fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The number of digits of a hash in the name of a ref.
const HASH_DIGITS: usize = 12;

/// Returns the hash of a repository's name, regardless of case.
fn repository_hash(repository: &str) -> String {
    short_hash(repository.to_ascii_lowercase(), HASH_DIGITS)
}

/// Returns the hash of a branch's name.
fn branch_hash(branch: &str) -> String {
    short_hash(branch, HASH_DIGITS)
}

/// Parses settings as git lists them: key, line break, value, NUL.
fn parse_settings(listed: &[u8]) -> Vec<(String, String)> {
    let entries = listed.split(|byte| *byte == 0).map(text);
    let parse_settings = entries.filter_map(|entry| {
        let (key, value) = entry.split_once('\n')?;
        Some((key.to_owned(), value.to_owned()))
    });
    parse_settings.collect()
}

/// Returns the `OWNER/REPO` of a remote's URL: `https://host/OWNER/REPO.git`, `git@host:OWNER/REPO`
/// or a path.
fn repository_of(address: &str) -> Option<&str> {
    let path = path_of(address)?;
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at);
    let last = slashes.next()?;
    let start = slashes.next().map_or(0, |at| at + 1);
    (start < last).then(|| &path[start..])
}

/// Returns the path of a remote's URL on its host, without `.git`.
fn path_of(address: &str) -> Option<&str> {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    match address.split_once("://") {
        Some((_, rest)) => Some(rest.split_once('/')?.1),
        // A colon before the first slash follows a host.
        None => Some(match address.split_once(':') {
            Some((host, path)) if !host.contains('/') => path,
            _ => address,
        }),
    }
}

/// Formats the list of remotes, without the parts of their URLs that may be secret.
fn format_remotes(remotes: &BTreeMap<String, String>) -> String {
    let known = remotes.iter().map(|(name, address)| match repository_of(address) {
        Some(repository) => format!("`{name}` ({repository})"),
        None => format!("`{name}`"),
    });
    match remotes.is_empty() {
        true => "none".to_owned(),
        false => known.collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_read_from_the_address_of_a_remote() {
        for address in [
            "https://github.com/o/r",
            "https://github.com/o/r.git",
            "https://token@github.com/o/r.git/",
            "ssh://git@github.example:2222/o/r.git",
            "git@github.com:o/r.git",
            "github.com:o/r",
            "gh:o/r",
            "https://host/git/o/r",
            "/srv/git/o/r.git",
            "../o/r",
        ] {
            assert_eq!(repository_of(address), Some("o/r"), "{address}");
        }
        for address in ["", "r", "https://host/r", "host:r.git", "/r", "https://host"] {
            assert_eq!(repository_of(address), None, "{address}");
        }
    }
}
