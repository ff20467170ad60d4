//! The task that reviews a pull request: one task for each head commit, also if several triggers
//! request the review.
//!
//! A [`Pull`] is a pull request as a trigger knows it; [`Pull::review`] returns the task. The id of
//! the task is derived from the repository, the number, the base branch and the head commit, so
//! that a webhook, a poll, a build and a person create the same task: a queue rejects an id that
//! exists. The same commits against another base branch are another change.
//!
//! So triggers need not know of each other, and "the task exists already" is success for a trigger.
//! If the head commit is not known, nothing is queued: a task with another id would be a second
//! review.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use assay_base::text::first_chars;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::queue::QueuedTask;
use crate::task::{Moment, QueueName, Task, TaskId, TaskKind};

/// The pattern of `owner/name` in a JSON Schema.
const REPOSITORY_PATTERN: &str = "^[A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100}$";

/// The maximum number of characters of a pull request's title in the title of its task.
const MAX_TITLE_CHARS: usize = 160;

/// The maximum length of a base branch in a task id, in bytes. A longer branch, or one with other
/// characters than lower-case letters and digits, is replaced by its hash. The hash is one digit
/// longer, so that it equals no branch.
const MAX_BASE_LEN: usize = 15;

/// Prefixes that look like the key of a JIRA project but name something else, such as `UTF-8`.
const NON_PROJECT_PREFIXES: [&str; 14] = [
    "AES", "CVE", "CWE", "ES", "HTTP", "IEEE", "IPV", "ISO", "MD", "PEP", "RFC", "RSA", "SHA",
    "UTF",
];

/// The reason why a text names nothing on GitHub or in JIRA.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PullError {
    /// The text is not a repository.
    #[error("invalid repository {0:?}: expected `owner/name`")]
    Repository(String),
    /// The text is not a commit.
    #[error("invalid commit {0:?}: expected 40 or 64 hexadecimal digits")]
    Commit(String),
    /// The text is not a ticket.
    #[error("invalid ticket key {0:?}: expected a key such as `PROJ-123`")]
    Ticket(String),
}

/// A repository on GitHub: `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RepositoryName(Box<str>);

impl RepositoryName {
    /// Returns the name as `owner/name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the owner.
    pub fn owner(&self) -> &str {
        self.parts().0
    }

    /// Returns the name without the owner.
    pub fn name(&self) -> &str {
        self.parts().1
    }

    /// Returns true if both are the same repository; letter case is ignored.
    pub fn is(&self, other: &RepositoryName) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    fn parts(&self) -> (&str, &str) {
        self.0.split_once('/').expect("a repository has an owner")
    }
}

impl FromStr for RepositoryName {
    type Err = PullError;

    fn from_str(text: &str) -> Result<RepositoryName, PullError> {
        let is_owner = |text: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            (1..=39).contains(&text.len()) && text.bytes().all(allowed)
        };
        let is_name = |text: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            let is_folder = text == "." || text == "..";
            (1..=100).contains(&text.len()) && !is_folder && text.bytes().all(allowed)
        };
        match text.split_once('/') {
            Some((owner, name)) if is_owner(owner) && is_name(name) => {
                Ok(RepositoryName(text.into()))
            }
            _ => Err(PullError::Repository(short(text))),
        }
    }
}

impl JsonSchema for RepositoryName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RepositoryName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": REPOSITORY_PATTERN })
    }
}

/// A commit, by its full hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CommitId(Box<str>);

impl CommitId {
    /// Returns the full hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first 12 digits of the hash.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl FromStr for CommitId {
    type Err = PullError;

    fn from_str(text: &str) -> Result<CommitId, PullError> {
        let is_one =
            matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match is_one {
            true => Ok(CommitId(text.to_ascii_lowercase().into())),
            false => Err(PullError::Commit(short(text))),
        }
    }
}

/// A ticket in JIRA: `PROJ-123`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TicketKey(Box<str>);

impl TicketKey {
    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key of the project.
    pub fn project(&self) -> &str {
        self.0.rsplit_once('-').map_or("", |(project, _)| project)
    }

    /// Returns the ticket keys in a branch or a title, such as in `feature/PROJ-123-login`. A word
    /// that only looks like a key, such as `UTF-8`, is skipped.
    pub fn find_in(text: &str) -> impl Iterator<Item = TicketKey> {
        let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let found = text.split(move |c| !is_inside(c)).filter_map(key_in_word);
        found.filter(|key| !NON_PROJECT_PREFIXES.contains(&key.project()))
    }
}

/// Returns the key at the beginning of a word: project, dash, number.
fn key_in_word(word: &str) -> Option<TicketKey> {
    let (project, rest) = word.split_once('-')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest[digits..].trim_end_matches('.');
    let ends = after.is_empty() || after.starts_with('-');
    format!("{project}-{}", &rest[..digits]).parse().ok().filter(|_| ends)
}

impl FromStr for TicketKey {
    type Err = PullError;

    fn from_str(text: &str) -> Result<TicketKey, PullError> {
        let is_project = |text: &str| {
            let mut bytes = text.bytes();
            bytes.next().is_some_and(|first| first.is_ascii_uppercase())
                && (2..=40).contains(&text.len())
                && bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        };
        let is_number = |text: &str| {
            (1..=12).contains(&text.len())
                && !text.starts_with('0')
                && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        match text.rsplit_once('-') {
            Some((project, number)) if is_project(project) && is_number(number) => {
                Ok(TicketKey(text.into()))
            }
            _ => Err(PullError::Ticket(short(text))),
        }
    }
}

macro_rules! as_text {
    ($($type:ident),*) => { $(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )* };
}

as_text!(RepositoryName, CommitId, TicketKey);

/// A pull request as a trigger knows it. All its texts are untrusted: the author of the pull
/// request wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// The repository that the pull request is for.
    pub repository: RepositoryName,
    /// The number of the pull request in the repository.
    pub number: u64,
    /// The head commit.
    pub head: CommitId,
    /// The title.
    pub title: String,
    /// The head branch.
    pub branch: String,
    /// The base branch.
    pub base: String,
    /// The URL for people.
    pub url: String,
    /// The trust in the author.
    pub origin: PullOrigin,
}

/// The origin of a pull request, which decides from which texts tickets are taken: any user can
/// open a pull request on a public repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullOrigin {
    /// The author belongs to the repository: tickets are taken from branch and title.
    Inside,
    /// The branch is in the repository, and the author is not known to belong there: tickets are
    /// taken from the branch alone.
    OwnBranch,
    /// The branch is in a fork, and the author does not belong to the repository: no tickets are
    /// taken.
    Outside,
}

impl Pull {
    /// Returns the id of the review task. The id has the full head commit: an author could push
    /// another commit with the same first digits.
    pub fn task_id(&self) -> TaskId {
        self.id_against(&base_in_id(&self.base))
    }

    /// Returns the id of the review task for a base, as it is written in ids.
    fn id_against(&self, base: &str) -> TaskId {
        // An owner has no dot, so no other repository results in the same id.
        let (owner, name) = (self.repository.owner(), self.repository.name());
        let (owner, name) = (owner.to_ascii_lowercase(), name.to_ascii_lowercase());
        let (number, head) = (self.number, &self.head);
        let id = format!("review-{owner}.{name}-{number}-{base}-{head}");
        id.parse().unwrap_or_else(|_| {
            let hash = blake3::hash(id.as_bytes()).to_hex();
            format!("review-{number}-{hash}").parse().expect("it is short and plain")
        })
    }

    /// Returns the ticket that the pull request is about: the first that it names.
    pub fn ticket(&self) -> Option<TicketKey> {
        self.tickets().next()
    }

    /// Returns true if the pull request names a ticket, alone or among others.
    pub fn names_ticket(&self, key: &TicketKey) -> bool {
        self.tickets().any(|named| named == *key)
    }

    /// Returns the tickets that the branch and the title name, as far as the origin allows.
    fn tickets(&self) -> impl Iterator<Item = TicketKey> {
        let (branch_counts, title_counts) = match self.origin {
            PullOrigin::Inside => (true, true),
            PullOrigin::OwnBranch => (true, false),
            PullOrigin::Outside => (false, false),
        };
        let branch = branch_counts.then_some(&self.branch);
        let title = title_counts.then_some(&self.title);
        branch.into_iter().chain(title).flat_map(|text| TicketKey::find_in(text))
    }

    /// Returns the review task for a queue.
    pub fn review(&self, queue: &QueueName, by: &str, now: Moment) -> QueuedTask {
        let kind: TaskKind = "review".parse().expect("it is a name");
        let title: String =
            self.title.chars().filter(|c| !c.is_control()).take(MAX_TITLE_CHARS).collect();
        let title = format!("Review PR #{} - {title}", self.number);
        let mut task = Task::new(self.task_id(), kind, title.trim_end_matches(" - "), now);
        task.created_by = by.to_owned();
        task.assigned_to = queue.to_string();
        task.description =
            format!("Review {}#{} at {}.", self.repository, self.number, self.head.short());
        task.context = self.context();
        QueuedTask { queue: queue.clone(), task }
    }

    /// Returns a task for another review against a base branch that the pull request had before;
    /// `when` distinguishes one such time from another.
    pub fn review_again(&self, when: &str, queue: &QueueName, by: &str, now: Moment) -> QueuedTask {
        let mut again = self.review(queue, by, now);
        let when = blake3::hash(when.as_bytes()).to_hex();
        again.task.id = self.id_against(&format!("{}.{}", base_in_id(&self.base), &when[..8]));
        again
    }

    /// Returns the context of a task about the pull request.
    pub fn context(&self) -> Map<String, Value> {
        let mut context = Map::new();
        let mut add = |key: &str, value: Value| context.insert(key.to_owned(), value);
        if let Some(ticket) = self.ticket() {
            add("jira_key", json!(ticket));
            add("jira_project", json!(ticket.project()));
        }
        add("github_repo", json!(self.repository));
        add("pr_number", json!(self.number));
        add("pr_url", json!(self.url));
        add("branch_name", json!(self.branch));
        add("base_branch", json!(self.base));
        add("head_commit", json!(self.head));
        context
    }
}

/// Returns the pull request in the context of a task: its repository and its number.
pub fn pull_in_context(context: &Map<String, Value>) -> Option<(RepositoryName, u64)> {
    let repository = context.get("github_repo")?.as_str()?.parse().ok()?;
    let number = match context.get("pr_number")? {
        Value::String(text) => text.trim_start_matches('#').parse().ok()?,
        number => number.as_u64()?,
    };
    Some((repository, number))
}

/// Returns a base branch as it is written in a task id.
fn base_in_id(base: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    match (1..=MAX_BASE_LEN).contains(&base.len()) && base.bytes().all(is_plain) {
        true => base.to_owned(),
        false => blake3::hash(base.as_bytes()).to_hex()[..MAX_BASE_LEN + 1].to_owned(),
    }
}

/// Returns true if the id is that of the review of a pull request's head, which exists once.
pub(crate) fn is_head_review(id: &TaskId) -> bool {
    let Some(rest) = id.as_str().strip_prefix("review-") else { return false };
    rest.rsplit_once('-').is_some_and(|(_, head)| head.parse::<CommitId>().is_ok())
}

/// Returns the first 80 characters of a text, for a message.
fn short(text: &str) -> String {
    first_chars(text, 80).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const HEAD: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";

    fn pull(repository: &str, branch: &str, title: &str) -> Pull {
        Pull {
            repository: repository.parse().unwrap(),
            number: 7,
            head: HEAD.parse().unwrap(),
            title: title.into(),
            branch: branch.into(),
            base: "main".into(),
            url: format!("https://github.example/{repository}/pull/7"),
            origin: PullOrigin::Inside,
        }
    }

    #[test]
    fn a_task_is_named_by_repository_number_base_and_head() {
        let id = |repository: &str| pull(repository, "b", "t").task_id().to_string();
        assert_eq!(id("Owner/Repo"), format!("review-owner.repo-7-main-{HEAD}"));
        assert_ne!(id("a-b/c"), id("a/b-c"));
        assert_ne!(id("a/b.c"), id("a/b-c"));
        let long = id(&format!("{}/{}", "o".repeat(39), "r".repeat(100)));
        assert!(long.starts_with("review-7-") && long.len() < 128, "{long}");
        let onto = |base: &str| Pull { base: base.into(), ..pull("a/b", "b", "t") }.task_id();
        let branches = ["main", "Main", "release/1.0", "release-1.0", "", &"x".repeat(200)];
        let mut names: BTreeSet<String> = branches.map(|base| onto(base).to_string()).into();
        let now = Moment(jiff::Timestamp::UNIX_EPOCH);
        for when in ["2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"] {
            let again = pull("a/b", "b", "t").review_again(when, &"qa".parse().unwrap(), "by", now);
            names.insert(again.task.id.to_string());
        }
        assert_eq!(names.len(), branches.len() + 2, "{names:?}");
        for id in names.into_iter().chain([id("a/b"), long]) {
            assert!(is_head_review(&id.parse().unwrap()), "{id}");
        }
        for other in ["review-qa-1738588800000-a1b2c3", "fix-it", "review-7"] {
            assert!(!is_head_review(&other.parse().unwrap()), "{other}");
        }
    }

    #[test]
    fn invalid_repository_names_commit_ids_and_ticket_keys_are_refused() {
        for odd in ["", "owner", "owner/", "/repo", "a/b/c", "a/..", "a b/c", "a/b\n", "ä/b"] {
            assert!(odd.parse::<RepositoryName>().is_err(), "{odd}");
        }
        for odd in ["", "abc", &HEAD[1..], &format!("{}g", &HEAD[1..])] {
            assert!(odd.parse::<CommitId>().is_err(), "{odd}");
        }
        for odd in ["", "PROJ", "PROJ-", "-1", "proj-1", "P-1", "PROJ-0", "PROJ-1x", "1P-1"] {
            assert!(odd.parse::<TicketKey>().is_err(), "{odd}");
        }
    }

    #[test]
    fn a_ticket_is_found_in_a_branch_or_else_in_a_title() {
        let found = |branch: &str, title: &str| {
            pull("o/r", branch, title).ticket().map(|key| key.to_string())
        };
        assert_eq!(found("feature/PROJ-123-login", ""), Some("PROJ-123".into()));
        assert_eq!(
            found("dependabot/npm/LODASH-4.17.21", "Use SHA-256 (PROJ-12)."),
            Some("PROJ-12".into())
        );
        assert_eq!(found("login", "[PROJ-9] Log in"), Some("PROJ-9".into()));
        assert_eq!(found("login", "PROJ-9: log in, see ABC-2"), Some("PROJ-9".into()));
        assert_eq!(found("read-utf-8", "Read utf-8 in sha-256"), None);
        assert_eq!(found("PROJ-12a", "XPROJ-1b"), None);
    }

    #[test]
    fn a_pull_request_from_outside_names_no_ticket_and_an_own_branch_only_in_its_name() {
        let theirs = Pull { origin: PullOrigin::Outside, ..pull("o/r", "PROJ-1", "PROJ-1: mine") };
        assert_eq!(theirs.ticket(), None);
        assert!(!theirs.names_ticket(&"PROJ-1".parse().unwrap()));
        assert!(!theirs.context().contains_key("jira_key"));
        let own = Pull { origin: PullOrigin::OwnBranch, ..pull("o/r", "PROJ-1", "PROJ-2: mine") };
        assert_eq!(own.ticket(), Some("PROJ-1".parse().unwrap()));
        assert!(!own.names_ticket(&"PROJ-2".parse().unwrap()), "anybody can write a title");
        assert!(pull("o/r", "PROJ-1", "PROJ-2").names_ticket(&"PROJ-2".parse().unwrap()));
    }

    #[test]
    fn a_context_names_a_pull_request_by_a_number_or_a_string() {
        let named = |number: Value| {
            let context = json!({ "github_repo": "o/r", "pr_number": number });
            pull_in_context(context.as_object().unwrap())
                .map(|(repository, number)| format!("{repository}#{number}"))
        };
        for number in [json!(7), json!("7"), json!("#7")] {
            assert_eq!(named(number), Some("o/r#7".to_owned()));
        }
        for odd in [json!(-7), json!("seven"), json!(null)] {
            assert_eq!(named(odd), None);
        }
        assert_eq!(pull_in_context(&pull("o/r", "b", "t").context()).unwrap().1, 7);
    }

    #[test]
    fn a_review_task_has_the_context_of_its_pull_request() {
        let review = pull("o/r", "feature/PROJ-1", "Add\u{7} a login").review(
            &"qa".parse().unwrap(),
            "webhook",
            Moment(jiff::Timestamp::UNIX_EPOCH),
        );
        let task = review.task;
        assert_eq!(task.title, "Review PR #7 - Add a login");
        assert_eq!(task.assigned_to, "qa");
        let context = serde_json::to_string(&task.context).unwrap();
        assert_eq!(
            context,
            format!(
                r#"{{"jira_key":"PROJ-1","jira_project":"PROJ","github_repo":"o/r","pr_number":7,"pr_url":"https://github.example/o/r/pull/7","branch_name":"feature/PROJ-1","base_branch":"main","head_commit":"{HEAD}"}}"#
            )
        );
    }
}
