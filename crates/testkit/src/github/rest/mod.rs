//! The endpoints of the REST API: [`route`].

mod checks;
mod collaborators;
mod comments;
mod position;
mod pulls;
mod reactions;
mod refs;
mod reviews;
mod sarif;

use super::call::{Call, Outcome, Reply};
use super::json;
use super::refusal::Refusal;
use super::state::Access;

/// Carries out a request by its method and path.
pub(super) fn route(call: &mut Call<'_>, method: &str, path: &[&str]) -> Outcome {
    match (method, path) {
        ("GET", ["user"]) => current_user(call),
        (_, ["repos", owner, name, rest @ ..]) => {
            let repo = format!("{owner}/{name}");
            call.state.repo(&repo)?;
            below(call, method, &repo, rest)
        }
        _ => Err(Refusal::not_found()),
    }
}

/// Carries out a request on an existing repository.
fn below(call: &mut Call<'_>, method: &str, repo: &str, path: &[&str]) -> Outcome {
    match (method, path) {
        ("GET", []) => Ok(Reply::unchanged(json::repository(call.state, call.state.repo(repo)?))),
        ("GET", ["pulls"]) => pulls::list(call, repo),
        ("POST", ["pulls"]) => pulls::open(call, repo),
        ("GET", ["pulls", number]) => pulls::get(call, repo, parse(number)?),
        ("PATCH", ["pulls", number]) => pulls::update(call, repo, parse(number)?),
        ("GET", ["pulls", number, "files"]) => pulls::files(call, repo, parse(number)?),
        ("GET", ["pulls", number, "comments"]) => {
            comments::list_on_code(call, repo, parse(number)?)
        }
        ("POST", ["pulls", number, "comments"]) => {
            comments::create_on_code(call, repo, parse(number)?)
        }
        ("POST", ["pulls", number, "comments", id, "replies"]) => {
            comments::reply(call, repo, parse(number)?, parse(id)?)
        }
        ("GET", ["pulls", number, "reviews"]) => reviews::list(call, repo, parse(number)?),
        ("POST", ["pulls", number, "reviews"]) => reviews::create(call, repo, parse(number)?),
        ("PUT", ["pulls", number, "reviews", id, "dismissals"]) => {
            reviews::dismiss(call, repo, parse(number)?, parse(id)?)
        }
        ("GET", ["issues", number, "comments"]) => {
            comments::list_on_issue(call, repo, parse(number)?)
        }
        ("POST", ["issues", number, "comments"]) => {
            comments::create_on_issue(call, repo, parse(number)?)
        }
        ("PATCH", ["issues", "comments", id]) => comments::edit(call, repo, parse(id)?),
        ("GET", ["issues", "comments", id, "reactions"]) => reactions::list(call, repo, parse(id)?),
        ("POST", ["issues", "comments", id, "reactions"]) => {
            reactions::create(call, repo, parse(id)?)
        }
        ("GET", ["collaborators", login, "permission"]) => {
            collaborators::permission(call, repo, login)
        }
        ("GET", ["commits", reference @ .., "check-runs"]) => {
            checks::list(call, repo, &reference.join("/"))
        }
        ("POST", ["check-runs"]) => checks::create(call, repo),
        ("PATCH", ["check-runs", id]) => checks::update(call, repo, parse(id)?),
        ("POST", ["code-scanning", "sarifs"]) => sarif::upload(call, repo),
        ("GET", ["git", "ref", reference @ ..]) => refs::get(call, repo, &reference.join("/")),
        ("POST", ["git", "refs"]) => refs::create(call, repo),
        _ => Err(Refusal::not_found()),
    }
}

/// Parses a number of a path. Fails with 404 if it is not a number.
fn parse(text: &str) -> Result<u64, Refusal> {
    text.parse().map_err(|_| Refusal::not_found())
}

/// Returns the user of the token. Fails for an App, which is not a user.
fn current_user(call: &Call<'_>) -> Outcome {
    match call.token.access {
        Access::Read | Access::User => {
            Ok(Reply::unchanged(json::current_user(call.state, &call.token.login)))
        }
        Access::App => Err(Refusal::inaccessible()),
    }
}
