//! A repository and its branches as JSON.

use serde_json::{Value, json};

use super::{WEB, user};
use crate::github::state::{Repo, State};

/// The addresses below the one of a repository, by the names of their fields.
const ADDRESSES: [(&str, &str); 37] = [
    ("archive_url", "/{archive_format}{/ref}"),
    ("assignees_url", "/assignees{/user}"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("branches_url", "/branches{/branch}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("comments_url", "/comments{/number}"),
    ("commits_url", "/commits{/sha}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("contents_url", "/contents/{+path}"),
    ("contributors_url", "/contributors"),
    ("deployments_url", "/deployments"),
    ("downloads_url", "/downloads"),
    ("events_url", "/events"),
    ("forks_url", "/forks"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("hooks_url", "/hooks"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("issue_events_url", "/issues/events{/number}"),
    ("issues_url", "/issues{/number}"),
    ("keys_url", "/keys{/key_id}"),
    ("labels_url", "/labels{/name}"),
    ("languages_url", "/languages"),
    ("merges_url", "/merges"),
    ("milestones_url", "/milestones{/number}"),
    ("notifications_url", "/notifications{?since,all,participating}"),
    ("pulls_url", "/pulls{/number}"),
    ("releases_url", "/releases{/id}"),
    ("stargazers_url", "/stargazers"),
    ("statuses_url", "/statuses/{sha}"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("tags_url", "/tags"),
    ("teams_url", "/teams"),
    ("trees_url", "/git/trees{/sha}"),
    ("url", ""),
];

/// Renders a repository.
pub(in crate::github) fn repository(state: &State, repo: &Repo) -> Value {
    let name = &repo.full_name;
    let web = format!("{WEB}/{name}");
    let open = repo.pulls.values().filter(|pull| pull.is_open()).count();
    let mut value = json!({
        "id": repo.id, "node_id": format!("R_{}", repo.id),
        "name": name.split('/').next_back(), "full_name": name,
        "owner": user(state, repo.owner()), "private": false, "html_url": web,
        "description": null, "fork": false, "homepage": null, "language": null, "license": null,
        "git_url": format!("git://github.com/{name}.git"),
        "ssh_url": format!("git@github.com:{name}.git"), "clone_url": format!("{web}.git"),
        "svn_url": web, "mirror_url": null, "default_branch": repo.default_branch,
        "forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0, "watchers_count": 0,
        "size": 1, "open_issues": open, "open_issues_count": open, "topics": [],
        "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false,
        "has_downloads": true, "archived": false, "disabled": false, "visibility": "public",
        "allow_forking": true, "is_template": false, "web_commit_signoff_required": false,
        "pushed_at": "2026-01-01T00:00:00Z", "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    });
    for (field, below) in ADDRESSES {
        value[field] = json!(format!("{}/repos/{name}{below}", state.root));
    }
    value
}

/// Renders a branch as a reference.
pub(in crate::github) fn reference(state: &State, repo: &Repo, branch: &str) -> Value {
    let url = format!("{}/repos/{}/git", state.root, repo.full_name);
    let sha = repo.branches.get(branch);
    json!({
        "ref": format!("refs/heads/{branch}"), "node_id": format!("REF_{}", repo.id),
        "url": format!("{url}/refs/heads/{branch}"),
        "object": {
            "type": "commit", "sha": sha,
            "url": format!("{url}/commits/{}", sha.map_or("", String::as_str)),
        },
    })
}
