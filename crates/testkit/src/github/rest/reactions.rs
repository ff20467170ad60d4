//! Reactions to comments on a pull request as a whole.

use serde_json::Value;

use super::super::call::{Call, Fields, Outcome, Reply};
use super::super::json;
use super::super::refusal::Refusal;
use super::super::state::{IssueComment, Reaction, State};

/// The contents that a reaction may have.
const CONTENTS: [&str; 8] = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

pub(super) fn list(call: &mut Call<'_>, name: &str, id: u64) -> Outcome {
    let pulls = call.state.repo(name)?.pulls.values();
    let comment = pulls.flat_map(|pull| &pull.comments).find(|comment| comment.id == id);
    let reactions = &comment.ok_or_else(Refusal::not_found)?.reactions;
    let reactions: Vec<Value> = reactions.iter().map(|it| json::reaction(call.state, it)).collect();
    Ok(call.list(&reactions))
}

/// Adds a reaction. A reaction that the user has added before is returned with status 200.
pub(super) fn create(call: &mut Call<'_>, name: &str, id: u64) -> Outcome {
    let fields = Fields::read(call.body, &["content"])?;
    fields.needed("content")?;
    let content = fields.word("content", &CONTENTS)?.unwrap_or_default().to_owned();
    let (author, at) = (call.token.login.clone(), call.now);
    let before = comment(call.state, name, id)?.reactions.iter();
    let mut before = before.filter(|it| it.author == author && it.content == content).cloned();
    if let Some(there) = before.next() {
        return Ok(Reply::unchanged(json::reaction(call.state, &there)));
    }
    drop(before);
    let reaction = Reaction { id: call.state.next_id(), author, content, at };
    comment(call.state, name, id)?.reactions.push(reaction.clone());
    Ok(Reply::done(201, json::reaction(call.state, &reaction)))
}

fn comment<'a>(state: &'a mut State, name: &str, id: u64) -> Result<&'a mut IssueComment, Refusal> {
    let pulls = state.repo_mut(name)?.pulls.values_mut();
    let mut comments = pulls.flat_map(|pull| &mut pull.comments);
    comments.find(|comment| comment.id == id).ok_or_else(Refusal::not_found)
}
