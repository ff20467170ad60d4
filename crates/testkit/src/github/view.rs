//! The data of the fake as a person sees it on GitHub.

use std::fmt::Write as _;

use serde_json::Value;

use super::state::{Pull, Review, ReviewState, Sarif, Thread, ThreadPosition};
use super::{GitHub, json};

/// A visible thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadView {
    /// The id in GraphQL.
    pub id: String,
    /// The path of the file.
    pub path: String,
    /// The last line; `None` if the thread is about the file, or outdated.
    pub line: Option<u32>,
    /// The first line of a range; `None` for a single line.
    pub start_line: Option<u32>,
    /// `LEFT` or `RIGHT`; `None` if the thread is about the file.
    pub side: Option<&'static str>,
    /// True if the line is gone.
    pub is_outdated: bool,
    /// The user who resolved the thread; `None` if it is not resolved.
    pub resolved_by: Option<String>,
    /// The comments in order.
    pub comments: Vec<CommentView>,
}

/// A visible comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentView {
    /// The id of the comment.
    pub id: u64,
    /// The login of the author.
    pub author: String,
    /// The text of the comment.
    pub body: String,
}

/// A visible review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewView {
    /// The id of the review.
    pub id: u64,
    /// The login of the author.
    pub author: String,
    /// `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    pub state: &'static str,
    /// The text of the review; empty if it only holds a single comment.
    pub body: String,
    /// The reviewed commit.
    pub commit: String,
}

impl GitHub {
    /// Renders all visible texts of a pull request.
    pub fn visible(&self, repo: &str, number: u64) -> String {
        let mut text = String::new();
        for thread in self.threads(repo, number) {
            draw(&mut text, &thread);
        }
        for comment in self.comments(repo, number) {
            text += "comment\n";
            say(&mut text, &comment.author, &comment.body);
        }
        for review in self.reviews(repo, number) {
            // Such a review is shown only by its comments.
            if review.state == "COMMENTED" && review.body.is_empty() {
                continue;
            }
            let state = review.state.to_lowercase().replace('_', " ");
            let _ = writeln!(text, "review, {state} at {}", &review.commit[..7]);
            say(&mut text, &review.author, &review.body);
        }
        text
    }

    /// Returns the visible threads of a pull request.
    pub fn threads(&self, repo: &str, number: u64) -> Vec<ThreadView> {
        self.with_pull(repo, number, |pull| pull.threads.iter().map(thread_view).collect())
    }

    /// Returns the comments on a pull request as a whole.
    pub fn comments(&self, repo: &str, number: u64) -> Vec<CommentView> {
        self.with_pull(repo, number, |pull| {
            let comments = pull.comments.iter();
            comments.map(|it| comment(it.id, &it.author, &it.body)).collect()
        })
    }

    /// Returns the reactions to a comment in the conversation of a pull request, each as
    /// `login: content`.
    pub fn reactions(&self, repo: &str, number: u64, comment: u64) -> Vec<String> {
        self.with_pull(repo, number, |pull| {
            let comment = pull.comments.iter().find(|known| known.id == comment).unwrap();
            let reactions = comment.reactions.iter();
            reactions.map(|it| format!("{}: {}", it.author, it.content)).collect()
        })
    }

    /// Returns the visible reviews of a pull request.
    pub fn reviews(&self, repo: &str, number: u64) -> Vec<ReviewView> {
        let is_seen = |review: &&Review| review.state != ReviewState::Pending;
        let seen = |review: &Review| ReviewView {
            id: review.id,
            author: review.author.clone(),
            state: review.state.word(),
            body: review.body.clone(),
            commit: review.commit.clone(),
        };
        self.with_pull(repo, number, |pull| pull.reviews.iter().filter(is_seen).map(seen).collect())
    }

    /// Returns all visible texts on a pull request.
    pub fn bodies(&self, repo: &str, number: u64) -> Vec<String> {
        let threads = self.threads(repo, number).into_iter().flat_map(|thread| thread.comments);
        let comments = threads.chain(self.comments(repo, number)).map(|comment| comment.body);
        let reviews = self.reviews(repo, number).into_iter().map(|review| review.body);
        comments.chain(reviews).filter(|body| !body.is_empty()).collect()
    }

    /// Returns a pull request as JSON of the REST API.
    pub fn pull(&self, repo: &str, number: u64) -> Value {
        let state = self.state();
        let pull = state.pull(repo, number).unwrap();
        json::pull(&state, state.repo(repo).unwrap(), pull)
    }

    /// Returns the check runs of a repository as JSON of the REST API, each with its `annotations`.
    pub fn check_runs(&self, repo: &str) -> Vec<Value> {
        let state = self.state();
        let repo = state.repo(repo).unwrap();
        let runs = repo.check_runs.iter().map(|run| {
            let mut value = json::check_run(&state, repo, run);
            value["annotations"] = Value::Array(run.annotations.clone());
            value
        });
        runs.collect()
    }

    /// Returns the uploads to code scanning.
    pub fn sarifs(&self, repo: &str) -> Vec<Sarif> {
        self.state().repo(repo).unwrap().sarifs.clone()
    }

    /// Returns the commit of a branch; `None` if there is no such branch.
    pub fn branch(&self, repo: &str, branch: &str) -> Option<String> {
        self.state().repo(repo).unwrap().branches.get(branch).cloned()
    }

    fn with_pull<T>(&self, repo: &str, number: u64, at: impl FnOnce(&Pull) -> T) -> T {
        at(self.state().pull(repo, number).unwrap())
    }
}

fn comment(id: u64, author: &str, body: &str) -> CommentView {
    CommentView { id, author: author.to_owned(), body: body.to_owned() }
}

fn thread_view(thread: &Thread) -> ThreadView {
    let lines = match &thread.place {
        ThreadPosition::File => None,
        ThreadPosition::Lines(lines) => Some(lines),
    };
    let there = lines.filter(|_| !thread.is_outdated);
    ThreadView {
        id: thread.id.clone(),
        path: thread.path.clone(),
        line: there.map(|lines| lines.line),
        start_line: there.and_then(|lines| Some(lines.start?.1)),
        side: lines.map(|lines| lines.side.word()),
        is_outdated: thread.is_outdated,
        resolved_by: thread.resolved_by.clone(),
        comments: thread.comments.iter().map(|it| comment(it.id, &it.author, &it.body)).collect(),
    }
}

fn draw(text: &mut String, thread: &ThreadView) {
    *text += &thread.path;
    let _ = match (thread.line, thread.start_line) {
        (Some(line), Some(start)) => write!(text, ":{start}-{line}"),
        (Some(line), None) => write!(text, ":{line}"),
        (None, _) => Ok(()),
    };
    match thread.side {
        Some("LEFT") => *text += ", left",
        Some(_) => {}
        None => *text += ", file",
    }
    if thread.is_outdated {
        *text += ", outdated";
    }
    if let Some(login) = &thread.resolved_by {
        let _ = write!(text, ", resolved by {login}");
    }
    *text += "\n";
    for comment in &thread.comments {
        say(text, &comment.author, &comment.body);
    }
}

/// Appends a comment with its author, one line below the other.
fn say(text: &mut String, author: &str, body: &str) {
    let said = format!("  {author}: {}", body.replace('\n', "\n    "));
    *text += said.trim_end();
    *text += "\n";
}
