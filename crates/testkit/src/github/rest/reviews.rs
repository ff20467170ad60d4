//! Reviews, which are posted completely or not at all.

use serde_json::Value;

use super::super::call::{Call, Fields, Outcome, Reply, check_length};
use super::super::json;
use super::super::refusal::Refusal;
use super::super::state::{Pull, Review, ReviewComment, ReviewState, Thread, ThreadPosition};
use super::position::{self, PositionError};

/// The maximum number of comments in one review; the real GitHub times out somewhere above.
const MAX_COMMENTS: usize = 100;

pub(super) fn list(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    let is_seen = |review: &&Review| {
        review.state != ReviewState::Pending || review.author == call.token.login
    };
    let reviews = pull.reviews.iter().filter(is_seen);
    let reviews: Vec<Value> =
        reviews.map(|review| json::review(call.state, repo, pull, review)).collect();
    Ok(call.list(&reviews))
}

/// A comment of a review with a valid position.
struct Entry<'a> {
    path: &'a str,
    body: &'a str,
    place: ThreadPosition,
}

pub(super) fn create(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let fields = Fields::read(call.body, &["commit_id", "body", "event", "comments"])?;
    let pull = call.state.pull(name, number)?;
    let commit = fields.text("commit_id")?.unwrap_or(&pull.head.sha).to_owned();
    let body = fields.text("body")?.unwrap_or_default();
    let state = match fields.word("event", &["APPROVE", "REQUEST_CHANGES", "COMMENT"])? {
        Some("APPROVE") => ReviewState::Approved,
        Some("REQUEST_CHANGES") => ReviewState::ChangesRequested,
        Some(_) => ReviewState::Commented,
        None => ReviewState::Pending,
    };
    check_review(pull, &call.token.login, state, body)?;
    let entries = entries(pull, &commit, fields.list("comments")?)?;
    let review = Review {
        id: call.state.next_id(),
        author: call.token.login.clone(),
        body: body.to_owned(),
        state,
        commit,
        at: call.now,
        pending: Vec::new(),
    };
    let threads: Vec<Thread> = entries
        .into_iter()
        .map(|entry| thread(call, &review, entry.path, entry.body, entry.place))
        .collect();
    let id = review.id;
    add(call.state.pull_mut(name, number)?, review, threads, call.now);
    review_reply(call, name, number, id)
}

/// Dismisses a review with a verdict. Fails for a plain comment and for a dismissed review.
pub(super) fn dismiss(call: &mut Call<'_>, name: &str, number: u64, id: u64) -> Outcome {
    let fields = Fields::read(call.body, &["message", "event"])?;
    fields.needed("message")?;
    fields.word("event", &["DISMISS"])?;
    let now = call.now;
    let pull = call.state.pull_mut(name, number)?;
    let review = pull.reviews.iter_mut().find(|review| review.id == id);
    let review = review.ok_or_else(Refusal::not_found)?;
    match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested => {
            review.state = ReviewState::Dismissed;
        }
        ReviewState::Commented | ReviewState::Dismissed | ReviewState::Pending => {
            let state = review.state.word().to_lowercase();
            let message = format!("Can not dismiss a {state} pull request review");
            return Err(Refusal::unprocessable(&message));
        }
    }
    pull.updated = now;
    review_reply(call, name, number, id)
}

/// Replies with a review that was just changed.
fn review_reply(call: &Call<'_>, name: &str, number: u64, id: u64) -> Outcome {
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    let review = pull.reviews.iter().find(|review| review.id == id);
    let review = review.ok_or_else(Refusal::not_found)?;
    Ok(Reply::done(200, json::review(call.state, repo, pull, review)))
}

/// Creates a thread from its first comment.
pub(super) fn thread(
    call: &mut Call<'_>,
    review: &Review,
    path: &str,
    body: &str,
    place: ThreadPosition,
) -> Thread {
    let id = call.state.next_id();
    let comment = ReviewComment {
        id,
        review: review.id,
        author: review.author.clone(),
        body: body.to_owned(),
        commit: review.commit.clone(),
        at: call.now,
    };
    Thread {
        id: format!("PRRT_{id}"),
        path: path.to_owned(),
        place,
        is_outdated: false,
        resolved_by: None,
        comments: vec![comment],
    }
}

/// Adds a review and its threads to a pull request.
pub(super) fn add(
    pull: &mut Pull,
    mut review: Review,
    mut threads: Vec<Thread>,
    now: std::time::Duration,
) {
    for thread in &mut threads {
        thread.follow(&pull.diff);
    }
    match review.state {
        ReviewState::Pending => review.pending = threads,
        ReviewState::Approved
        | ReviewState::ChangesRequested
        | ReviewState::Commented
        | ReviewState::Dismissed => {
            pull.threads.append(&mut threads);
        }
    }
    pull.reviews.push(review);
    pull.updated = now;
}

/// Fails if a body is too long, without naming the comment.
fn check_body(body: &str) -> Result<(), Refusal> {
    let message = "Body is too long (maximum is 65536 characters)";
    check_length("PullRequestReview", body).map_err(|_| Refusal::unprocessable(message))
}

/// Checks a review apart from its comments.
fn check_review(pull: &Pull, login: &str, state: ReviewState, body: &str) -> Result<(), Refusal> {
    check_body(body)?;
    check_pending(pull, login)?;
    let needs_body = matches!(state, ReviewState::ChangesRequested | ReviewState::Commented);
    if needs_body && body.trim().is_empty() {
        return Err(Refusal::unprocessable("Body cannot be blank"));
    }
    match state {
        ReviewState::Approved if pull.author == login => {
            Err(Refusal::unprocessable("Can not approve your own pull request"))
        }
        ReviewState::ChangesRequested if pull.author == login => {
            Err(Refusal::unprocessable("Can not request changes on your own pull request"))
        }
        ReviewState::Approved
        | ReviewState::ChangesRequested
        | ReviewState::Commented
        | ReviewState::Dismissed
        | ReviewState::Pending => Ok(()),
    }
}

/// Fails if the user has a pending review.
pub(super) fn check_pending(pull: &Pull, login: &str) -> Result<(), Refusal> {
    let is_own = |review: &Review| review.state == ReviewState::Pending && review.author == login;
    if pull.reviews.iter().any(is_own) {
        let message = "User can only have one pending review per pull request";
        return Err(Refusal::unprocessable(message));
    }
    Ok(())
}

/// Returns the position of each comment. Fails at the first invalid one, without naming it.
fn entries<'a>(
    pull: &Pull,
    commit: &str,
    comments: &'a [Value],
) -> Result<Vec<Entry<'a>>, Refusal> {
    let Some(diff) = pull.diff_at(commit) else {
        return Err(Refusal::unprocessable("Commit is not part of the pull request"));
    };
    if comments.len() > MAX_COMMENTS {
        return Err(Refusal::unprocessable("Too many comments"));
    }
    // The real GitHub would drop or misplace a comment without lines.
    let known = ["path", "body", "line", "side", "start_line", "start_side"];
    let entry = |comment: &'a Value| {
        let fields = Fields::read(comment, &known)?;
        let body = fields.needed("body")?;
        check_body(body)?;
        match position::lines(diff, &fields, body) {
            Ok(place) => Ok(Entry { path: fields.needed("path")?, body, place }),
            Err(PositionError::Form(refusal)) => Err(refusal),
            Err(PositionError::Rule { message, .. }) => Err(Refusal::unprocessable(message)),
        }
    };
    comments.iter().map(entry).collect()
}
