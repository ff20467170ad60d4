//! Comments on code, and on a pull request as a whole.

use serde_json::Value;

use super::super::call::{Call, Fields, Outcome, Reply, check_length};
use super::super::json;
use super::super::refusal::Refusal;
use super::super::state::{
    IssueComment, Review, ReviewComment, ReviewState, Thread, ThreadPosition,
};
use super::position::{self, PositionError};
use super::reviews;

const ON_CODE: &str = "PullRequestReviewComment";

pub(super) fn list_on_code(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    let comments = pull.threads.iter().flat_map(|it| it.comments.iter().map(move |c| (it, c)));
    let mut comments: Vec<(&Thread, &ReviewComment)> = comments.collect();
    comments.sort_by_key(|(_, comment)| comment.id);
    let comments: Vec<Value> = comments
        .into_iter()
        .map(|(thread, comment)| json::review_comment(call.state, (repo, pull), thread, comment))
        .collect();
    Ok(call.list(&comments))
}

pub(super) fn create_on_code(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let known = [
        "body", "commit_id", "path", "side", "line", "start_line", "start_side", "in_reply_to",
        "subject_type",
    ];
    let fields = Fields::read(call.body, &known)?;
    let body = fields.needed("body")?;
    if let Some(id) = fields.number("in_reply_to")? {
        return answer(call, name, number, u64::from(id), body);
    }
    let (commit, path) = (fields.needed("commit_id")?, fields.needed("path")?);
    let is_file = fields.word("subject_type", &["line", "file"])? == Some("file");
    check_length(ON_CODE, body)?;
    let pull = call.state.pull(name, number)?;
    reviews::check_pending(pull, &call.token.login)?;
    let Some(diff) = pull.diff_at(commit) else {
        return Err(invalid("commit_id", "commit_id is not part of the pull request"));
    };
    let place = if is_file {
        if ["line", "side", "start_line", "start_side"].iter().any(|name| fields.has(name)) {
            return Err(invalid("line", "line is not permitted for a comment on a file"));
        }
        if diff.file(path).is_none() {
            return Err(invalid("path", "path is not part of the diff"));
        }
        if position::suggests(body) {
            return Err(invalid("body", "suggestions need a line"));
        }
        ThreadPosition::File
    } else {
        match position::lines(diff, &fields, body) {
            Ok(place) => place,
            Err(PositionError::Form(refusal)) => return Err(refusal),
            Err(PositionError::Rule { field, message }) => return Err(invalid(field, message)),
        }
    };
    let review = review(call, commit);
    let thread = reviews::thread(call, &review, path, body, place);
    let id = thread.comments[0].id;
    reviews::add(call.state.pull_mut(name, number)?, review, vec![thread], call.now);
    created(call, name, number, id)
}

pub(super) fn reply(call: &mut Call<'_>, name: &str, number: u64, id: u64) -> Outcome {
    let body = Fields::read(call.body, &["body"])?.needed("body")?;
    answer(call, name, number, id, body)
}

/// Adds a reply to a thread. Fails if `to` is not the first comment of a thread.
fn answer(call: &mut Call<'_>, name: &str, number: u64, to: u64, body: &str) -> Outcome {
    check_length(ON_CODE, body)?;
    let pull = call.state.pull(name, number)?;
    reviews::check_pending(pull, &call.token.login)?;
    let is_meant = |thread: &Thread| thread.comments.first().is_some_and(|first| first.id == to);
    let Some(place) = pull.threads.iter().position(is_meant) else {
        return Err(invalid("in_reply_to", "in_reply_to is not the first comment of a thread"));
    };
    let commit = pull.head.sha.clone();
    let review = review(call, &commit);
    let comment = ReviewComment {
        id: call.state.next_id(),
        review: review.id,
        author: review.author.clone(),
        body: body.to_owned(),
        commit,
        at: call.now,
    };
    let id = comment.id;
    let now = call.now;
    let pull = call.state.pull_mut(name, number)?;
    pull.threads[place].comments.push(comment);
    reviews::add(pull, review, Vec::new(), now);
    created(call, name, number, id)
}

/// Creates the review that GitHub creates around a single comment.
fn review(call: &mut Call<'_>, commit: &str) -> Review {
    Review {
        id: call.state.next_id(),
        author: call.token.login.clone(),
        body: String::new(),
        state: ReviewState::Commented,
        commit: commit.to_owned(),
        at: call.now,
        pending: Vec::new(),
    }
}

fn created(call: &Call<'_>, name: &str, number: u64, id: u64) -> Outcome {
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    let mut comments =
        pull.threads.iter().flat_map(|it| it.comments.iter().map(move |comment| (it, comment)));
    let comment = comments.find(|(_, comment)| comment.id == id);
    let (thread, comment) = comment.ok_or_else(Refusal::not_found)?;
    let comment = json::review_comment(call.state, (repo, pull), thread, comment);
    Ok(Reply::done(201, comment))
}

pub(super) fn list_on_issue(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    let comments = pull.comments.iter();
    let comments: Vec<Value> =
        comments.map(|comment| json::issue_comment(call.state, repo, number, comment)).collect();
    Ok(call.list(&comments))
}

pub(super) fn create_on_issue(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let body = Fields::read(call.body, &["body"])?.needed("body")?;
    check_length("IssueComment", body)?;
    call.state.pull(name, number)?;
    let comment = IssueComment {
        id: call.state.next_id(),
        author: call.token.login.clone(),
        body: body.to_owned(),
        at: call.now,
        updated: call.now,
        reactions: Vec::new(),
    };
    let now = call.now;
    let pull = call.state.pull_mut(name, number)?;
    pull.comments.push(comment.clone());
    pull.updated = now;
    let repo = call.state.repo(name)?;
    Ok(Reply::done(201, json::issue_comment(call.state, repo, number, &comment)))
}

pub(super) fn edit(call: &mut Call<'_>, name: &str, id: u64) -> Outcome {
    let body = Fields::read(call.body, &["body"])?.needed("body")?;
    check_length("IssueComment", body)?;
    let (now, login) = (call.now, call.token.login.clone());
    let pulls = call.state.repo_mut(name)?.pulls.values_mut();
    let mut comments = pulls.flat_map(|pull| {
        let number = pull.number;
        pull.comments.iter_mut().map(move |comment| (number, comment))
    });
    let comment = comments.find(|(_, comment)| comment.id == id);
    let (number, comment) = comment.ok_or_else(Refusal::not_found)?;
    if comment.author != login {
        return Err(Refusal::inaccessible());
    }
    comment.body = body.to_owned();
    comment.updated = now;
    let comment = comment.clone();
    let repo = call.state.repo(name)?;
    Ok(Reply::done(200, json::issue_comment(call.state, repo, number, &comment)))
}

fn invalid(field: &str, message: &str) -> Refusal {
    Refusal::invalid(ON_CODE, field, "custom", message)
}
