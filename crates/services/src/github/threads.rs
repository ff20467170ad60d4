//! Reads the review state of a pull request: threads, comments and reviews, and which of them are
//! ours.
//!
//! Only GraphQL shows whether a thread is resolved, and whether the current user wrote a comment.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::GitHub;
use crate::graphql::{self, Operation};
use crate::http::{RequestEffect, ServiceError};
use crate::post::{
    ConversationComment, ReviewEntry, ReviewState, ReviewStatus, Thread, ThreadComment,
};

/// The maximum number of pages that are read of each list.
const MAX_PAGES: usize = 40;

const REVIEW_STATE: Operation = Operation {
    name: "ReviewState",
    effect: RequestEffect::Read,
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
    effect: RequestEffect::Write,
    text: "mutation ResolveThread($id: ID!) { \
           resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }",
};

const UNRESOLVE: Operation = Operation {
    name: "UnresolveThread",
    effect: RequestEffect::Write,
    text: "mutation UnresolveThread($id: ID!) { \
           unresolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }",
};

/// All GraphQL operations, for a check against GitHub's schema.
pub const OPERATIONS: [Operation; 3] = [REVIEW_STATE, RESOLVE, UNRESOLVE];

#[derive(Deserialize)]
struct Data {
    repository: Option<Repository>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    pull_request: Option<ApiPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiPull {
    head_ref_oid: CommitId,
    base_ref_name: String,
    review_threads: Page<ApiThread>,
    comments: Page<ApiComment>,
    reviews: Page<ApiReview>,
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
struct ApiThread {
    id: String,
    is_resolved: bool,
    #[serde(default)]
    is_outdated: bool,
    resolved_by: Option<Login>,
    path: String,
    comments: Nodes<ApiThreadComment>,
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
struct ApiThreadComment {
    body: String,
    viewer_did_author: bool,
    author: Option<Login>,
}

/// A number that may exceed GraphQL's integers, and is text for that reason.
#[derive(Deserialize)]
#[serde(untagged)]
enum DatabaseId {
    Text(String),
    Plain(u64),
}

impl DatabaseId {
    fn parse(self) -> Option<u64> {
        match self {
            DatabaseId::Text(text) => text.parse().ok(),
            DatabaseId::Plain(number) => Some(number),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiComment {
    full_database_id: Option<DatabaseId>,
    body: String,
    viewer_did_author: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiReview {
    full_database_id: Option<DatabaseId>,
    body: String,
    state: ReviewStatus,
    viewer_did_author: bool,
    commit: Option<Oid>,
}

#[derive(Deserialize)]
struct Oid {
    oid: CommitId,
}

impl From<ApiComment> for ConversationComment {
    fn from(raw: ApiComment) -> ConversationComment {
        ConversationComment {
            id: raw.full_database_id.and_then(DatabaseId::parse),
            body: raw.body,
            is_ours: raw.viewer_did_author,
        }
    }
}

impl From<ApiThreadComment> for ThreadComment {
    fn from(raw: ApiThreadComment) -> ThreadComment {
        ThreadComment { body: raw.body, is_ours: raw.viewer_did_author }
    }
}

impl From<ApiThread> for Thread {
    fn from(raw: ApiThread) -> Thread {
        let mut comments = raw.comments.nodes.into_iter().flatten().peekable();
        let author = comments.peek().and_then(|first| first.author.as_ref());
        let by_its_author = author.zip(raw.resolved_by.as_ref()).is_some_and(|(a, b)| a.is(b));
        Thread {
            id: raw.id,
            is_resolved: raw.is_resolved,
            is_outdated: raw.is_outdated,
            is_resolved_by_its_author: raw.is_resolved && by_its_author,
            path: raw.path,
            comments: comments.map(ThreadComment::from).collect(),
        }
    }
}

impl From<ApiReview> for ReviewEntry {
    fn from(raw: ApiReview) -> ReviewEntry {
        ReviewEntry {
            id: raw.full_database_id.and_then(DatabaseId::parse),
            body: raw.body,
            state: raw.state,
            is_ours: raw.viewer_did_author,
            commit: raw.commit.map(|commit| commit.oid),
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
        for _ in 0..MAX_PAGES {
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
                state.comments.extend(comments.map(ConversationComment::from));
            }
            if wanted.2 {
                let reviews = pull.reviews.nodes.into_iter().flatten();
                state.reviews.extend(reviews.map(ReviewEntry::from));
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
        Err(self
            .unreadable("the pull request has more threads, comments or reviews than can be read"))
    }

    fn state_page(
        &self,
        repository: &RepositoryName,
        number: u64,
        at: &Cursors,
    ) -> Result<ApiPull, ServiceError> {
        let variables = json!({
            "owner": repository.owner(),
            "name": repository.name(),
            "number": number,
            "threads": at.threads,
            "comments": at.comments,
            "reviews": at.reviews,
        });
        let data: Data = graphql::execute(&self.api, "/graphql", &REVIEW_STATE, &variables)?;
        let pull = data.repository.and_then(|repository| repository.pull_request);
        pull.ok_or_else(|| self.unreadable("no such pull request"))
    }

    fn unreadable(&self, why: &str) -> ServiceError {
        ServiceError::InvalidResponse {
            service: self.api.service(),
            what: REVIEW_STATE.name.to_owned(),
            why: why.to_owned(),
            is_outcome_unknown: false,
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
        graphql::execute::<Value>(&self.api, "/graphql", operation, &variables).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(author: Value, resolved_by: Value) -> Thread {
        let comment = json!({ "body": "b", "viewerDidAuthor": true, "author": author });
        let raw = json!({ "id": "t", "isResolved": true, "resolvedBy": resolved_by, "path": "a",
            "comments": { "nodes": [comment, null] } });
        Thread::from(serde_json::from_value::<ApiThread>(raw).unwrap())
    }

    #[test]
    fn a_bot_login_matches_with_and_without_the_bot_suffix() {
        let login = |login: &str| json!({ "login": login });
        let by = |author: Value, by: Value| thread(author, by).is_resolved_by_its_author;
        assert!(by(login("assay"), login("assay[bot]")));
        assert!(by(login("assay[bot]"), login("assay")));
        assert!(!by(login("assay"), login("ann")));
        assert!(!by(Value::Null, Value::Null), "whoever is gone is nobody");
    }

    #[test]
    fn a_comment_id_may_be_a_string_or_missing() {
        let number = |raw: Value| {
            let raw = json!({ "fullDatabaseId": raw, "body": "b", "viewerDidAuthor": true });
            ConversationComment::from(serde_json::from_value::<ApiComment>(raw).unwrap()).id
        };
        assert_eq!(number(json!("3456789012")), Some(3_456_789_012));
        assert_eq!(number(json!(7)), Some(7));
        assert_eq!(number(Value::Null), None);
    }
}
