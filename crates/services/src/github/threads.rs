//! The review state of a pull request: threads, comments and reviews, and which of them are ours.
//!
//! Only GraphQL shows whether a thread is resolved, and whether the current user wrote a comment.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::GitHub;
use crate::graphql::{self, Operation};
use crate::http::{Effect, ServiceError};

/// The maximum number of pages that are read of each list.
const MOST_PAGES: usize = 40;

const REVIEW_STATE: Operation = Operation {
    name: "ReviewState",
    effect: Effect::Reads,
    text: "query ReviewState($owner: String!, $name: String!, $number: Int!, $threads: String, \
           $comments: String, $reviews: String) { \
           repository(owner: $owner, name: $name) { pullRequest(number: $number) { headRefOid baseRefName \
           reviewThreads(first: 50, after: $threads) { pageInfo { hasNextPage endCursor } \
           nodes { id isResolved isOutdated resolvedBy { login } path line \
           comments(first: 50) { nodes { body viewerDidAuthor author { login } } } } } \
           comments(first: 100, after: $comments) { pageInfo { hasNextPage endCursor } \
           nodes { fullDatabaseId body viewerDidAuthor } } \
           reviews(first: 100, after: $reviews) { pageInfo { hasNextPage endCursor } \
           nodes { fullDatabaseId body state viewerDidAuthor commit { oid } } } } } }",
};

const RESOLVE: Operation = Operation {
    name: "ResolveThread",
    effect: Effect::Writes,
    text: "mutation ResolveThread($id: ID!) { \
           resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }",
};

const UNRESOLVE: Operation = Operation {
    name: "UnresolveThread",
    effect: Effect::Writes,
    text: "mutation UnresolveThread($id: ID!) { \
           unresolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }",
};

/// All GraphQL operations, for a check against GitHub's schema.
pub const OWN_OPERATIONS: [Operation; 3] = [REVIEW_STATE, RESOLVE, UNRESOLVE];

/// The review state of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewState {
    /// The head commit; `None` before the first page was read.
    pub head: Option<CommitId>,
    /// The base branch; `None` before the first page was read.
    pub base: Option<String>,
    /// The threads on its lines and files.
    pub threads: Vec<Thread>,
    /// The comments in its conversation.
    pub comments: Vec<StandingComment>,
    /// The reviews, the oldest first.
    pub reviews: Vec<StandingReview>,
}

/// A thread on a line or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The GraphQL id of the thread.
    pub id: String,
    /// True if a user resolved the thread.
    pub is_resolved: bool,
    /// True if its line is gone.
    pub is_outdated: bool,
    /// True if the author of its first comment resolved it.
    pub is_resolved_by_its_author: bool,
    /// The path of the file.
    pub path: String,
    /// The comments of the thread, the oldest first.
    pub comments: Vec<ThreadComment>,
}

/// A comment in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadComment {
    /// The text of the comment.
    pub body: String,
    /// True if we wrote it.
    pub is_ours: bool,
}

/// A comment in the conversation of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingComment {
    /// The id with which the comment is updated; `None` if GitHub gives none.
    pub id: Option<u64>,
    /// The text of the comment.
    pub body: String,
    /// True if we wrote it.
    pub is_ours: bool,
}

/// The state of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StandsAs {
    /// The review approves the change.
    Approved,
    /// The review requests changes.
    ChangesRequested,
    /// The review has no verdict.
    Commented,
    /// The review had a verdict, and was dismissed.
    Dismissed,
    /// The review is not submitted, and only its author sees it.
    Pending,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingReview {
    /// The id with which the review is dismissed; `None` if GitHub gives none.
    pub id: Option<u64>,
    /// The text of the review.
    pub body: String,
    /// The state of the review.
    pub state: StandsAs,
    /// True if we wrote it.
    pub is_ours: bool,
    /// The commit that was reviewed; `None` if it is gone.
    pub commit: Option<CommitId>,
}

#[derive(Deserialize)]
struct Data {
    repository: Option<Repository>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    pull_request: Option<ToldPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldPull {
    head_ref_oid: CommitId,
    base_ref_name: String,
    review_threads: Page<ToldThread>,
    comments: Page<ToldComment>,
    reviews: Page<ToldReview>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    page_info: PageInfo,
    nodes: Vec<Option<T>>,
}

impl<T> Page<T> {
    /// Returns the cursor of the next page, or `None` if there is none.
    fn next(&self) -> Option<String> {
        self.page_info.end_cursor.clone().filter(|_| self.page_info.has_next_page)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldThread {
    id: String,
    is_resolved: bool,
    #[serde(default)]
    is_outdated: bool,
    resolved_by: Option<Login>,
    path: String,
    comments: Nodes<ToldRemark>,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Vec<Option<T>>,
}

#[derive(Deserialize)]
struct Login {
    login: String,
}

impl Login {
    /// Returns true if two logins are the same user: GitHub adds `[bot]` to the login of a bot in
    /// some places only.
    fn is(&self, other: &Login) -> bool {
        let plain = |login: &str| login.strip_suffix("[bot]").unwrap_or(login).to_lowercase();
        plain(&self.login) == plain(&other.login)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldRemark {
    body: String,
    viewer_did_author: bool,
    author: Option<Login>,
}

/// A number that may exceed GraphQL's integers, and is text for that reason.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Text(String),
    Plain(u64),
}

impl Number {
    fn read(self) -> Option<u64> {
        match self {
            Number::Text(text) => text.parse().ok(),
            Number::Plain(number) => Some(number),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldComment {
    full_database_id: Option<Number>,
    body: String,
    viewer_did_author: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldReview {
    full_database_id: Option<Number>,
    body: String,
    state: StandsAs,
    viewer_did_author: bool,
    commit: Option<Oid>,
}

#[derive(Deserialize)]
struct Oid {
    oid: CommitId,
}

impl From<ToldComment> for StandingComment {
    fn from(told: ToldComment) -> StandingComment {
        StandingComment {
            id: told.full_database_id.and_then(Number::read),
            body: told.body,
            is_ours: told.viewer_did_author,
        }
    }
}

impl From<ToldRemark> for ThreadComment {
    fn from(told: ToldRemark) -> ThreadComment {
        ThreadComment { body: told.body, is_ours: told.viewer_did_author }
    }
}

impl From<ToldThread> for Thread {
    fn from(told: ToldThread) -> Thread {
        let mut comments = told.comments.nodes.into_iter().flatten().peekable();
        let author = comments.peek().and_then(|first| first.author.as_ref());
        let by_its_author = author.zip(told.resolved_by.as_ref()).is_some_and(|(a, b)| a.is(b));
        Thread {
            id: told.id,
            is_resolved: told.is_resolved,
            is_outdated: told.is_outdated,
            is_resolved_by_its_author: told.is_resolved && by_its_author,
            path: told.path,
            comments: comments.map(ThreadComment::from).collect(),
        }
    }
}

impl From<ToldReview> for StandingReview {
    fn from(told: ToldReview) -> StandingReview {
        StandingReview {
            id: told.full_database_id.and_then(Number::read),
            body: told.body,
            state: told.state,
            is_ours: told.viewer_did_author,
            commit: told.commit.map(|commit| commit.oid),
        }
    }
}

/// The cursors of the next pages of a pull request's three lists. From its last cursor on, a list
/// that was read to its end returns an empty page.
#[derive(Default)]
struct Cursors {
    threads: Option<String>,
    comments: Option<String>,
    reviews: Option<String>,
}

impl GitHub {
    /// Reads the review state of a pull request. Fails if there are more pages than are read, since
    /// a missing comment could not be recognised then.
    pub fn review_state(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<ReviewState, ServiceError> {
        let mut state = ReviewState::default();
        let mut at = Cursors::default();
        let mut wanted = (true, true, true);
        for _ in 0..MOST_PAGES {
            let pull = self.state_page(repository, number, &at)?;
            let next = (pull.review_threads.next(), pull.comments.next(), pull.reviews.next());
            state.head = Some(pull.head_ref_oid);
            state.base = Some(pull.base_ref_name);
            // A list at its end is requested with the others, and was read before.
            if wanted.0 {
                let threads = pull.review_threads.nodes.into_iter().flatten();
                state.threads.extend(threads.map(Thread::from));
            }
            if wanted.1 {
                let comments = pull.comments.nodes.into_iter().flatten();
                state.comments.extend(comments.map(StandingComment::from));
            }
            if wanted.2 {
                let reviews = pull.reviews.nodes.into_iter().flatten();
                state.reviews.extend(reviews.map(StandingReview::from));
            }
            wanted = (
                wanted.0 && next.0.is_some(),
                wanted.1 && next.1.is_some(),
                wanted.2 && next.2.is_some(),
            );
            if wanted == (false, false, false) {
                return Ok(state);
            }
            at.threads = next.0.or(at.threads);
            at.comments = next.1.or(at.comments);
            at.reviews = next.2.or(at.reviews);
        }
        Err(self.unreadable("there is more on the pull request than can be read"))
    }

    fn state_page(
        &self,
        repository: &RepositoryName,
        number: u64,
        at: &Cursors,
    ) -> Result<ToldPull, ServiceError> {
        let variables = json!({
            "owner": repository.owner(),
            "name": repository.name(),
            "number": number,
            "threads": at.threads,
            "comments": at.comments,
            "reviews": at.reviews,
        });
        let data: Data = graphql::ask(&self.api, "/graphql", &REVIEW_STATE, &variables)?;
        let pull = data.repository.and_then(|repository| repository.pull_request);
        pull.ok_or_else(|| self.unreadable("there is no such pull request"))
    }

    fn unreadable(&self, why: &str) -> ServiceError {
        ServiceError::Unreadable {
            service: self.api.service(),
            what: REVIEW_STATE.name.to_owned(),
            why: why.to_owned(),
            unclear: false,
        }
    }

    /// Resolves a thread.
    pub fn resolve(&self, thread: &str) -> Result<(), ServiceError> {
        self.mutate(&RESOLVE, thread)
    }

    /// Reopens a thread.
    pub fn unresolve(&self, thread: &str) -> Result<(), ServiceError> {
        self.mutate(&UNRESOLVE, thread)
    }

    fn mutate(&self, operation: &Operation, thread: &str) -> Result<(), ServiceError> {
        let variables = json!({ "id": thread });
        graphql::ask::<Value>(&self.api, "/graphql", operation, &variables).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(author: Value, resolved_by: Value) -> Thread {
        let comment = json!({ "body": "b", "viewerDidAuthor": true, "author": author });
        let told = json!({ "id": "t", "isResolved": true, "resolvedBy": resolved_by, "path": "a",
            "comments": { "nodes": [comment, null] } });
        Thread::from(serde_json::from_value::<ToldThread>(told).unwrap())
    }

    #[test]
    fn a_bot_is_the_same_with_its_mark_and_without() {
        let login = |login: &str| json!({ "login": login });
        let by = |author: Value, by: Value| thread(author, by).is_resolved_by_its_author;
        assert!(by(login("assay"), login("assay[bot]")));
        assert!(by(login("assay[bot]"), login("assay")));
        assert!(!by(login("assay"), login("ann")));
        assert!(!by(Value::Null, Value::Null), "whoever is gone is nobody");
    }

    #[test]
    fn a_number_may_be_text_or_missing() {
        let number = |told: Value| {
            let told = json!({ "fullDatabaseId": told, "body": "b", "viewerDidAuthor": true });
            StandingComment::from(serde_json::from_value::<ToldComment>(told).unwrap()).id
        };
        assert_eq!(number(json!("3456789012")), Some(3_456_789_012));
        assert_eq!(number(json!(7)), Some(7));
        assert_eq!(number(Value::Null), None);
    }
}
