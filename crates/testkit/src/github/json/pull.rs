//! A pull request and its files as JSON.

use serde_json::{Map, Value, json};

use super::{WEB, association, repository, user};
use crate::date::iso;
use crate::github::diff::{File, Status};
use crate::github::random::{hash, sha};
use crate::github::state::{BranchHead, Pull, PullState, Repo, State};

/// The maximum number of changed lines of a file with a patch.
const MAX_PATCH_LINES: usize = 3_000;

/// Renders a pull request as an entry of a list.
pub(in crate::github) fn pull_in_list(state: &State, repo: &Repo, pull: &Pull) -> Value {
    let number = pull.number;
    let url = format!("{}/repos/{}", state.root, repo.full_name);
    let (this, issue) = (format!("{url}/pulls/{number}"), format!("{url}/issues/{number}"));
    let web = format!("{WEB}/{}/pull/{number}", repo.full_name);
    let (closed, merged) = match pull.state {
        PullState::Open => (None, None),
        PullState::Closed { at } => (Some(iso(at)), None),
        PullState::Merged { at } => (Some(iso(at)), Some(iso(at))),
    };
    let mut value = json!({
        "id": pull.id, "node_id": format!("PR_{}", pull.id), "number": number,
        "title": pull.title, "body": pull.body,
        "state": if pull.is_open() { "open" } else { "closed" },
        "draft": pull.draft, "locked": false, "user": user(state, &pull.author),
        "labels": pull.labels.iter().map(|name| label(&url, name)).collect::<Vec<_>>(),
        "milestone": null, "assignee": null, "assignees": [], "requested_reviewers": [],
        "requested_teams": [], "auto_merge": null, "active_lock_reason": null,
        "created_at": iso(pull.created), "updated_at": iso(pull.updated),
        "closed_at": closed, "merged_at": merged, "merge_commit_sha": null,
        "author_association": association(state, repo, &pull.author),
        "head": end(state, &pull.head_repo, &pull.head),
        "base": end(state, &repo.full_name, &pull.base),
    });
    let addresses = [
        ("self", "url", this.clone()),
        ("html", "html_url", web.clone()),
        ("issue", "issue_url", issue.clone()),
        ("comments", "comments_url", format!("{issue}/comments")),
        ("review_comments", "review_comments_url", format!("{this}/comments")),
        ("review_comment", "review_comment_url", format!("{url}/pulls/comments{{/number}}")),
        ("commits", "commits_url", format!("{this}/commits")),
        ("statuses", "statuses_url", format!("{url}/statuses/{}", pull.head.sha)),
    ];
    let mut links = Map::new();
    for (link, field, address) in addresses {
        value[field] = json!(address);
        links.insert(link.to_owned(), json!({ "href": address }));
    }
    value["_links"] = Value::Object(links);
    value["diff_url"] = json!(format!("{web}.diff"));
    value["patch_url"] = json!(format!("{web}.patch"));
    value
}

/// Renders a pull request with all fields.
pub(in crate::github) fn pull(state: &State, repo: &Repo, pull: &Pull) -> Value {
    let mut value = pull_in_list(state, repo, pull);
    let changes = pull.diff.files.iter().map(File::changes);
    let (added, deleted) = changes.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let comments: usize = pull.threads.iter().map(|thread| thread.comments.len()).sum();
    let more = json!({
        "merged": matches!(pull.state, PullState::Merged { .. }), "merged_by": null,
        "mergeable": true, "rebaseable": true, "mergeable_state": "clean",
        "comments": pull.comments.len(), "review_comments": comments, "commits": 1,
        "maintainer_can_modify": pull.maintainer_can_modify,
        "additions": added, "deletions": deleted, "changed_files": pull.diff.files.len(),
    });
    for (name, field) in more.as_object().into_iter().flatten() {
        value[name] = field.clone();
    }
    value
}

fn end(state: &State, name: &str, end: &BranchHead) -> Value {
    let owner = name.split('/').next().unwrap_or_default();
    let repo = state.repositories.get(name).map(|repo| repository(state, repo));
    json!({
        "label": format!("{owner}:{}", end.branch), "ref": end.branch, "sha": end.sha,
        "user": user(state, owner), "repo": repo,
    })
}

fn label(url: &str, name: &str) -> Value {
    let id = hash(name.as_bytes()) % 1_000_000;
    json!({
        "id": id, "node_id": format!("LA_{id}"), "url": format!("{url}/labels/{name}"),
        "name": name, "description": "", "color": "ededed", "default": false,
    })
}

/// Renders a file of a pull request.
pub(in crate::github) fn file(state: &State, repo: &Repo, pull: &Pull, file: &File) -> Value {
    let (additions, deletions) = file.changes();
    // Real addresses are encoded; of the names in tests, only blanks need that.
    let path = file.path.replace(' ', "%20");
    let (name, head) = (&repo.full_name, &pull.head.sha);
    let mut value = json!({
        "sha": sha(&file.patch()), "filename": file.path, "status": status(file.status),
        "additions": additions, "deletions": deletions, "changes": additions + deletions,
        "blob_url": format!("{WEB}/{name}/blob/{head}/{path}"),
        "raw_url": format!("{WEB}/{name}/raw/{head}/{path}"),
        "contents_url": format!("{}/repos/{name}/contents/{path}?ref={head}", state.root),
    });
    if !file.hunks.is_empty() && additions + deletions <= MAX_PATCH_LINES {
        value["patch"] = json!(file.patch());
    }
    if let Some(old) = &file.old_path {
        value["previous_filename"] = json!(old);
    }
    value
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Added => "added",
        Status::Removed => "removed",
        Status::Modified => "modified",
        Status::Renamed => "renamed",
    }
}
