//! Branches.

use super::super::call::{Call, Fields, Outcome, Reply};
use super::super::json;
use super::super::refusal::Refusal;

pub(super) fn get(call: &mut Call<'_>, name: &str, reference: &str) -> Outcome {
    let repo = call.state.repo(name)?;
    let branch = reference.strip_prefix("heads/").ok_or_else(Refusal::not_found)?;
    match repo.branches.contains_key(branch) {
        true => Ok(Reply::unchanged(json::reference(call.state, repo, branch))),
        false => Err(Refusal::not_found()),
    }
}

pub(super) fn create(call: &mut Call<'_>, name: &str) -> Outcome {
    let fields = Fields::read(call.body, &["ref", "sha"])?;
    let (reference, sha) = (fields.needed("ref")?, fields.needed("sha")?);
    let Some(branch) = reference.strip_prefix("refs/heads/").filter(|it| is_branch(it)) else {
        return Err(Refusal::new(422, &format!("{reference} is not a valid ref name.")));
    };
    let repo = call.state.repo_mut(name)?;
    if repo.branches.contains_key(branch) {
        return Err(Refusal::new(422, "Reference already exists"));
    }
    if !repo.commits.contains(sha) {
        return Err(Refusal::new(422, "Object does not exist"));
    }
    // As with files, a branch cannot have the name of a folder of other branches.
    let below =
        |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    if repo.branches.keys().any(|known| below(known, branch) || below(branch, known)) {
        return Err(Refusal::new(422, "Reference cannot be created"));
    }
    repo.branches.insert(branch.to_owned(), sha.to_owned());
    let repo = call.state.repo(name)?;
    Ok(Reply::done(201, json::reference(call.state, repo, branch)))
}

/// Returns true if git accepts a name for a branch.
fn is_branch(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    !name.contains(is_odd)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && name.split('/').all(is_part)
}
