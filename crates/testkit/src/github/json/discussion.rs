//! Reviews and comments as JSON.

use serde_json::{Value, json};

use super::{WEB, association, user};
use crate::date::iso;
use crate::github::state::{
    IssueComment, Pull, Reaction, Repo, Review, ReviewComment, ReviewState, State, Thread,
    ThreadPosition,
};

/// Renders a review.
pub(in crate::github) fn review(state: &State, repo: &Repo, pull: &Pull, review: &Review) -> Value {
    let (html, this) = addresses(state, repo, pull);
    let html = format!("{html}#pullrequestreview-{}", review.id);
    let mut value = json!({
        "id": review.id, "node_id": format!("PRR_{}", review.id),
        "user": user(state, &review.author), "body": review.body, "state": review.state.word(),
        "html_url": html, "pull_request_url": this, "commit_id": review.commit,
        "author_association": association(state, repo, &review.author),
        "_links": { "html": { "href": html }, "pull_request": { "href": this } },
    });
    if review.state != ReviewState::Pending {
        value["submitted_at"] = json!(iso(review.at));
    }
    value
}

/// Renders a comment on a line or a file.
pub(in crate::github) fn review_comment(
    state: &State,
    (repo, pull): (&Repo, &Pull),
    thread: &Thread,
    comment: &ReviewComment,
) -> Value {
    let (html, this) = addresses(state, repo, pull);
    let html = format!("{html}#discussion_r{}", comment.id);
    let url = format!("{}/repos/{}/pulls/comments/{}", state.root, repo.full_name, comment.id);
    let mut value = json!({
        "id": comment.id, "node_id": format!("PRRC_{}", comment.id), "url": url, "html_url": html,
        "pull_request_review_id": comment.review, "pull_request_url": this, "path": thread.path,
        "commit_id": if thread.is_outdated { &comment.commit } else { &pull.head.sha },
        "original_commit_id": comment.commit, "user": user(state, &comment.author),
        "body": comment.body, "created_at": iso(comment.at), "updated_at": iso(comment.at),
        "author_association": association(state, repo, &comment.author),
        "_links": {
            "self": { "href": url }, "html": { "href": html }, "pull_request": { "href": this },
        },
    });
    match &thread.place {
        ThreadPosition::File => {
            value["subject_type"] = json!("file");
            value["diff_hunk"] = json!("");
        }
        ThreadPosition::Lines(lines) => {
            let is_there = !thread.is_outdated;
            let start = lines.start.filter(|_| is_there);
            value["subject_type"] = json!("line");
            value["diff_hunk"] = json!(lines.hunk);
            value["side"] = json!(lines.side.word());
            value["line"] = json!(is_there.then_some(lines.line));
            value["original_line"] = json!(lines.original.0);
            value["start_line"] = json!(start.map(|(_, line)| line));
            value["start_side"] = json!(start.map(|(side, _)| side.word()));
            value["original_start_line"] = json!(lines.original.1);
        }
    }
    let first = thread.comments.first().filter(|first| first.id != comment.id);
    if let Some(first) = first {
        value["in_reply_to_id"] = json!(first.id);
    }
    value
}

/// Renders a comment on the pull request as a whole.
pub(in crate::github) fn issue_comment(
    state: &State,
    repo: &Repo,
    number: u64,
    comment: &IssueComment,
) -> Value {
    let url = format!("{}/repos/{}/issues", state.root, repo.full_name);
    let id = comment.id;
    json!({
        "id": id, "node_id": format!("IC_{id}"), "url": format!("{url}/comments/{id}"),
        "html_url": format!("{WEB}/{}/pull/{number}#issuecomment-{id}", repo.full_name),
        "issue_url": format!("{url}/{number}"), "body": comment.body,
        "user": user(state, &comment.author), "created_at": iso(comment.at),
        "updated_at": iso(comment.updated),
        "author_association": association(state, repo, &comment.author),
    })
}

/// Renders a reaction to a comment.
pub(in crate::github) fn reaction(state: &State, reaction: &Reaction) -> Value {
    json!({
        "id": reaction.id, "node_id": format!("REA_{}", reaction.id),
        "user": user(state, &reaction.author), "content": reaction.content,
        "created_at": iso(reaction.at),
    })
}

/// Returns the addresses of a pull request on the website and in the API.
fn addresses(state: &State, repo: &Repo, pull: &Pull) -> (String, String) {
    let (name, number) = (&repo.full_name, pull.number);
    (format!("{WEB}/{name}/pull/{number}"), format!("{}/repos/{name}/pulls/{number}", state.root))
}
