//! The permissions of users in a repository.

use serde_json::json;

use super::super::call::{Call, Outcome, Reply};
use super::super::json;
use super::super::refusal::Refusal;
use super::super::state::State;

/// Returns the permission and the role of a user. Fails with 404 for an unknown user. `permission`
/// is one of the base roles `admin`, `write`, `read` and `none`: `maintain` counts as `write` and
/// `triage` as `read`.
pub(super) fn permission(call: &mut Call<'_>, name: &str, login: &str) -> Outcome {
    let owner = call.state.repo(name)?.owner().to_owned();
    let is_known = |known: &&String| known.eq_ignore_ascii_case(login);
    let login = call.state.users.keys().find(is_known).cloned();
    let login = login.ok_or_else(Refusal::not_found)?;
    let role = role(call.state, &owner, &login);
    let base = match role.as_str() {
        "maintain" => "write",
        "triage" => "read",
        other => other,
    };
    let mut user = json::user(call.state, &login);
    user["permissions"] = json!({
        "pull": base != "none", "triage": role != "none" && role != "read",
        "push": matches!(base, "write" | "admin"), "maintain": matches!(role.as_str(), "maintain" | "admin"),
        "admin": base == "admin",
    });
    user["role_name"] = json!(role);
    Ok(Reply::unchanged(json!({ "permission": base, "role_name": role, "user": user })))
}

/// Returns the role of a user. Users who are no members may read, as in a public repository.
fn role(state: &State, owner: &str, login: &str) -> String {
    let role = state.roles.get(login).map(String::as_str);
    role.unwrap_or(match login {
        _ if login == owner => "admin",
        _ if state.strangers.contains(login) => "read",
        _ => "write",
    })
    .to_owned()
}
