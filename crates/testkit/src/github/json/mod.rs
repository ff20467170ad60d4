//! The data of GitHub as JSON of its REST API, with every field that the API documents.

mod check;
mod discussion;
mod pull;
mod repository;

pub(super) use check::check_run;
pub(super) use discussion::{issue_comment, reaction, review, review_comment};
pub(super) use pull::{file, pull, pull_in_list};
pub(super) use repository::{reference, repository};

use serde_json::{Value, json};

use super::state::{Repo, State};

/// The root of the website.
const WEB: &str = "https://github.com";

/// Renders a user as others see it.
pub(super) fn user(state: &State, login: &str) -> Value {
    let id = state.users.get(login).copied().unwrap_or_default();
    // The login of an App is `name[bot]`, which must be encoded in an address.
    let name = login.replace('[', "%5B").replace(']', "%5D");
    let url = format!("{}/users/{name}", state.root);
    json!({
        "login": login, "id": id, "node_id": format!("U_{id}"),
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{id}"),
        "gravatar_id": "", "url": url, "html_url": format!("{WEB}/{name}"),
        "followers_url": format!("{url}/followers"),
        "following_url": format!("{url}/following{{/other_user}}"),
        "gists_url": format!("{url}/gists{{/gist_id}}"),
        "starred_url": format!("{url}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{url}/subscriptions"),
        "organizations_url": format!("{url}/orgs"), "repos_url": format!("{url}/repos"),
        "events_url": format!("{url}/events{{/privacy}}"),
        "received_events_url": format!("{url}/received_events"),
        "type": if login.ends_with("[bot]") { "Bot" } else { "User" },
        "user_view_type": "public", "site_admin": false,
    })
}

/// Renders the user of the token.
pub(super) fn current_user(state: &State, login: &str) -> Value {
    let mut user = user(state, login);
    let more = json!({
        "name": null, "company": null, "blog": "", "location": null, "email": null,
        "hireable": null, "bio": null, "public_repos": 1, "public_gists": 0, "followers": 0,
        "following": 0, "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        user[name] = value.clone();
    }
    user
}

/// Returns the role of a user in a repository.
fn association(state: &State, repo: &Repo, login: &str) -> &'static str {
    match login {
        _ if repo.owner() == login => "OWNER",
        _ if state.strangers.contains(login) => "NONE",
        _ => "COLLABORATOR",
    }
}
