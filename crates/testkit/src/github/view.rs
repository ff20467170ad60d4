//! What people would see on GitHub.

use std::fmt::Write as _;

use serde_json::Value;

use super::state::{Place, Pull, Review, ReviewState, Sarif, Thread};
use super::{GitHub, shape};

/// A thread as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenThread {
    /// Its id in GraphQL.
    pub id: String,
    /// The file.
    pub path: String,
    /// The last line; none if it is about the file, or outdated.
    pub line: Option<u32>,
    /// The first line, if it has several.
    pub start_line: Option<u32>,
    /// `LEFT` or `RIGHT`; none if it is about the file.
    pub side: Option<&'static str>,
    /// Whether its line is gone.
    pub is_outdated: bool,
    /// Who resolved it.
    pub resolved_by: Option<String>,
    /// What was said.
    pub comments: Vec<SeenComment>,
}

/// A comment as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenComment {
    /// Its id.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// What it says.
    pub body: String,
}

/// A review as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenReview {
    /// Its id.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    pub state: &'static str,
    /// What it says; nothing where it only holds a comment that came alone.
    pub body: String,
    /// The commit that was looked at.
    pub commit: String,
}

impl GitHub {
    /// Draws all that is said on a pull request, as text.
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
            // It is shown as its comments alone.
            if review.state == "COMMENTED" && review.body.is_empty() {
                continue;
            }
            let state = review.state.to_lowercase().replace('_', " ");
            let _ = writeln!(text, "review, {state} at {}", &review.commit[..7]);
            say(&mut text, &review.author, &review.body);
        }
        text
    }

    /// Gives the threads of a pull request that everybody sees.
    pub fn threads(&self, repo: &str, number: u64) -> Vec<SeenThread> {
        self.look(repo, number, |pull| pull.threads.iter().map(seen).collect())
    }

    /// Gives the comments on a pull request as a whole.
    pub fn comments(&self, repo: &str, number: u64) -> Vec<SeenComment> {
        self.look(repo, number, |pull| {
            let comments = pull.comments.iter();
            comments.map(|it| comment(it.id, &it.author, &it.body)).collect()
        })
    }

    /// Gives the reviews of a pull request that everybody sees.
    pub fn reviews(&self, repo: &str, number: u64) -> Vec<SeenReview> {
        let is_seen = |review: &&Review| review.state != ReviewState::Pending;
        let seen = |review: &Review| SeenReview {
            id: review.id,
            author: review.author.clone(),
            state: review.state.word(),
            body: review.body.clone(),
            commit: review.commit.clone(),
        };
        self.look(repo, number, |pull| pull.reviews.iter().filter(is_seen).map(seen).collect())
    }

    /// Gives whatever was written on a pull request and everybody sees.
    pub fn bodies(&self, repo: &str, number: u64) -> Vec<String> {
        let threads = self.threads(repo, number).into_iter().flat_map(|thread| thread.comments);
        let comments = threads.chain(self.comments(repo, number)).map(|comment| comment.body);
        let reviews = self.reviews(repo, number).into_iter().map(|review| review.body);
        comments.chain(reviews).filter(|body| !body.is_empty()).collect()
    }

    /// Gives a pull request in GitHub's own form.
    pub fn pull(&self, repo: &str, number: u64) -> Value {
        let state = self.state();
        let pull = state.pull(repo, number).unwrap();
        shape::pull(&state, state.repo(repo).unwrap(), pull)
    }

    /// Gives the check runs of a repository in GitHub's own form, each with its `annotations`.
    pub fn check_runs(&self, repo: &str) -> Vec<Value> {
        let state = self.state();
        let repo = state.repo(repo).unwrap();
        let runs = repo.check_runs.iter().map(|run| {
            let mut value = shape::check_run(&state, repo, run);
            value["annotations"] = Value::Array(run.annotations.clone());
            value
        });
        runs.collect()
    }

    /// Gives what was uploaded to code scanning.
    pub fn sarifs(&self, repo: &str) -> Vec<Sarif> {
        self.state().repo(repo).unwrap().sarifs.clone()
    }

    /// Gives the commit that a branch is at.
    pub fn branch(&self, repo: &str, branch: &str) -> Option<String> {
        self.state().repo(repo).unwrap().branches.get(branch).cloned()
    }

    fn look<T>(&self, repo: &str, number: u64, at: impl FnOnce(&Pull) -> T) -> T {
        at(self.state().pull(repo, number).unwrap())
    }
}

fn comment(id: u64, author: &str, body: &str) -> SeenComment {
    SeenComment { id, author: author.to_owned(), body: body.to_owned() }
}

fn seen(thread: &Thread) -> SeenThread {
    let lines = match &thread.place {
        Place::File => None,
        Place::Lines(lines) => Some(lines),
    };
    let there = lines.filter(|_| !thread.is_outdated);
    SeenThread {
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

fn draw(text: &mut String, thread: &SeenThread) {
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

/// Draws what somebody says, each line below the other.
fn say(text: &mut String, author: &str, body: &str) {
    let said = format!("  {author}: {}", body.replace('\n', "\n    "));
    *text += said.trim_end();
    *text += "\n";
}
