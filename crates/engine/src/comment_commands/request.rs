//! The event `issue_comment` of GitHub: [`CommentRequest`], and the tasks that follow from it.

use std::fmt;

use assay_findings::post::marker;
use assay_store::pulls::{Pull, RepositoryName, pull_in_context};
use assay_store::queue::QueuedTask;
use assay_store::task::{Moment, Priority, QueueName, Task, TaskId, TaskKind};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::command::{CommentCommand, find_commands};

/// The kind of the task. The kind is not among `TaskKind::KNOWN`: only a signed webhook creates such
/// a task, and no tool of an agent, since the task states the author of the commands.
pub(crate) const TASK_KIND: &str = "comment_command";

/// The key of the comment in the context of a task.
const COMMENT_KEY: &str = "comment";

/// The priority of the task: a person waits for the answer, and most answers take seconds.
const PRIORITY: i64 = 10;

/// The only action of the event that is carried out. A comment that is edited later does not run
/// again.
const CREATED: &str = "created";

/// The required fields of the payload.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Payload {
    action: String,
    issue: Issue,
    comment: Comment,
    repository: Repository,
}

#[derive(Deserialize)]
struct Issue {
    number: u64,
    /// Present if the issue is a pull request.
    #[serde(default)]
    pull_request: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Comment {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<User>,
}

#[derive(Deserialize)]
struct User {
    login: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: RepositoryName,
}

/// The reason why an event has no commands to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentRejection {
    /// The event needs no action.
    Ignored(&'static str),
    /// The payload is not that of the event.
    Invalid(String),
}

impl fmt::Display for CommentRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommentRejection::Ignored(why) => f.write_str(why),
            CommentRejection::Invalid(why) => {
                write!(f, "the body is not an `issue_comment` event: {why}")
            }
        }
    }
}

/// A comment with commands on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentRequest {
    /// The repository of the pull request.
    pub repository: RepositoryName,
    /// The number of the pull request.
    pub number: u64,
    /// The comment with its commands.
    pub comment: CommandComment,
}

/// A comment with commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandComment {
    /// The id of the comment.
    pub id: u64,
    /// The login of the author.
    pub author: String,
    /// The commands.
    pub commands: Vec<CommentCommand>,
}

impl CommentRequest {
    /// Parses the payload of the event `issue_comment`. Fails with the reason if the comment has no
    /// commands to carry out.
    pub fn parse(payload: &[u8]) -> Result<CommentRequest, CommentRejection> {
        let payload: Payload = serde_json::from_slice(payload)
            .map_err(|error| CommentRejection::Invalid(error.to_string()))?;
        let Payload { action, issue, comment, repository } = payload;
        let ignored = |why| Err(CommentRejection::Ignored(why));
        if action != CREATED {
            return ignored("only new comments are read");
        }
        if issue.pull_request.is_none() {
            return ignored("the comment is not on a pull request");
        }
        let Some(user) = comment.user else {
            return ignored("the comment has no author");
        };
        // The login of a bot has brackets.
        if user.kind.is_some_and(|kind| kind != "User") || !is_login(&user.login) {
            return ignored("the comment is not by a person");
        }
        let body = comment.body.unwrap_or_default();
        if marker::read(&body).is_some() {
            return ignored("the comment is one of assay");
        }
        let commands = find_commands(&body);
        if commands.is_empty() {
            return ignored("the comment has no command");
        }
        let comment = CommandComment { id: comment.id, author: user.login, commands };
        Ok(CommentRequest { repository: repository.full_name, number: issue.number, comment })
    }

    /// Returns the name of the pull request, by which the ledger knows its reviews.
    pub(super) fn pull_name(&self) -> String {
        format!("{}#{}", self.repository, self.number)
    }

    /// Returns the task that carries out the commands. Its id has the id of the comment, so that a
    /// queue accepts the task once.
    pub fn task(&self, queue: &QueueName, by: &str, now: Moment) -> QueuedTask {
        let kind: TaskKind = TASK_KIND.parse().expect("it is a name");
        let (author, number) = (&self.comment.author, self.number);
        let title = format!("Carry out the commands of {author} in PR #{number}");
        let mut task = Task::new(self.task_id(), kind, &title, now);
        task.created_by = by.to_owned();
        task.assigned_to = queue.to_string();
        task.priority = PRIORITY.try_into().unwrap_or(Priority::DEFAULT);
        let commands = self.comment.commands.iter().map(ToString::to_string);
        task.description = commands.collect::<Vec<_>>().join("\n");
        let mut context = Map::new();
        context.insert("github_repo".to_owned(), json!(self.repository));
        context.insert("pr_number".to_owned(), json!(self.number));
        context.insert(COMMENT_KEY.to_owned(), json!(self.comment));
        task.context = context;
        QueuedTask { queue: queue.clone(), task }
    }

    /// Returns the request of a task; `None` if its context has none.
    pub(super) fn of_task(task: &Task) -> Option<CommentRequest> {
        let (repository, number) = pull_in_context(&task.context)?;
        let comment: CommandComment =
            serde_json::from_value(task.context.get(COMMENT_KEY)?.clone()).ok()?;
        is_login(&comment.author).then_some(CommentRequest { repository, number, comment })
    }

    /// Returns the task that reviews the pull request because of the comment: one for each comment,
    /// also if the same commit was reviewed before.
    pub(super) fn review_task(&self, pull: &Pull, queue: &QueueName, now: Moment) -> QueuedTask {
        let by = format!("comment of {}", self.comment.author);
        pull.review_again(&format!("comment {}", self.comment.id), queue, &by, now)
    }

    fn task_id(&self) -> TaskId {
        // An owner has no dot, so no other repository results in the same id.
        let (owner, name) = (self.repository.owner(), self.repository.name());
        let id = format!("command-{owner}.{name}-{}-{}", self.number, self.comment.id);
        let id = id.to_ascii_lowercase();
        id.parse().unwrap_or_else(|_| {
            let hash = assay_base::hash::short_hash(&id, 32);
            format!("command-{hash}").parse().expect("it is short and plain")
        })
    }
}

/// Returns true if a text is the login of a user.
fn is_login(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=80).contains(&text.len()) && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn payload(change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut payload = json!({
            "action": "created",
            "issue": { "number": 7, "pull_request": { "url": "…" }, "state": "open" },
            "comment": {
                "id": 99, "body": "/assay review\n/assay dismiss ad it is a test",
                "user": { "login": "ann", "type": "User" },
            },
            "repository": { "full_name": "O/r" },
        });
        change(&mut payload);
        payload.to_string().into_bytes()
    }

    fn reason(change: impl FnOnce(&mut Value)) -> String {
        CommentRequest::parse(&payload(change)).unwrap_err().to_string()
    }

    #[test]
    fn a_request_survives_its_task() {
        let request = CommentRequest::parse(&payload(|_| {})).unwrap();
        let now = Moment(jiff::Timestamp::UNIX_EPOCH);
        let task = request.task(&"qa".parse().unwrap(), "github webhook", now).task;
        assert_eq!(task.id.as_str(), "command-o.r-7-99");
        assert_eq!(task.title, "Carry out the commands of ann in PR #7");
        assert_eq!(task.priority.get(), 10);
        assert_eq!(CommentRequest::of_task(&task), Some(request));
        let mut forged = task;
        forged.context[COMMENT_KEY]["author"] = json!("../ann");
        assert_eq!(CommentRequest::of_task(&forged), None);
    }

    #[test]
    fn a_comment_reviews_a_commit_once_and_another_comment_once_more() {
        let pull = Pull {
            repository: "o/r".parse().unwrap(),
            number: 7,
            head: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d".parse().unwrap(),
            title: String::new(),
            branch: "topic".to_owned(),
            base: "main".to_owned(),
            url: String::new(),
            origin: assay_store::pulls::PullOrigin::Inside,
        };
        let id = |comment: u64| {
            let mut request = CommentRequest::parse(&payload(|_| {})).unwrap();
            request.comment.id = comment;
            let now = Moment(jiff::Timestamp::UNIX_EPOCH);
            request.review_task(&pull, &"qa".parse().unwrap(), now).task.id
        };
        assert_eq!(id(1), id(1));
        assert_ne!(id(1), id(2));
        assert_ne!(id(1), pull.task_id());
    }

    #[test]
    fn events_without_commands_to_carry_out_are_ignored_with_the_reason() {
        let edited = reason(|it| it["action"] = json!("edited"));
        assert_eq!(edited, "only new comments are read");
        let issue = reason(|it| it["issue"]["pull_request"] = Value::Null);
        assert_eq!(issue, "the comment is not on a pull request");
        let bot = reason(|it| it["comment"]["user"]["type"] = json!("Bot"));
        assert_eq!(bot, "the comment is not by a person");
        let bot = reason(|it| it["comment"]["user"]["login"] = json!("assay[bot]"));
        assert_eq!(bot, "the comment is not by a person");
        let gone = reason(|it| it["comment"]["user"] = Value::Null);
        assert_eq!(gone, "the comment has no author");
        let own = "/assay review\n\n<!-- assay:answer 7 -->";
        let own = reason(|it| it["comment"]["body"] = json!(own));
        assert_eq!(own, "the comment is one of assay");
        let talk = reason(|it| it["comment"]["body"] = json!("Looks good"));
        assert_eq!(talk, "the comment has no command");
        let empty = reason(|it| it["comment"]["body"] = Value::Null);
        assert_eq!(empty, "the comment has no command");
        for change in ["comment", "issue", "repository"] {
            let why = reason(|it| it[change] = json!(7));
            assert!(why.starts_with("the body is not an `issue_comment` event: "), "{why}");
        }
    }
}
