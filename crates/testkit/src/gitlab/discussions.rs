//! Discussions and notes of the fake.

use serde_json::{Value, json};

use super::refusal::{Outcome, Refusal, invalid, json_user, not_found, only};
use super::{Discussion, Note, State};

/// The maximum length of a note, in bytes.
const MAX_NOTE_BYTES: usize = 1_000_000;

pub(super) fn route(
    state: &mut State,
    at: usize,
    user: u64,
    (method, rest): (&str, &[&str]),
    body: &Value,
) -> Outcome {
    match (method, rest) {
        ("GET", ["discussions"]) => {
            let all = state.requests[at].discussions.iter().map(to_json).collect();
            Ok((200, Value::Array(all)))
        }
        ("POST", ["discussions"]) => start(state, at, user, body),
        ("PUT", ["discussions", id]) => resolve(state, at, user, id, body),
        ("POST", ["discussions", id, "notes"]) => reply(state, at, user, id, body),
        ("GET", ["notes"]) => {
            let notes = state.requests[at].discussions.iter().flat_map(|discussion| {
                discussion.notes.iter().map(|note| note_json(discussion, note))
            });
            Ok((200, Value::Array(notes.collect())))
        }
        ("POST", ["notes"]) => {
            only(body, &["body"])?;
            let note = add(state, at, user, body, Value::Null)?;
            Ok((201, note["notes"][0].clone()))
        }
        ("PUT", ["notes", id]) => update(state, at, user, id, body),
        _ => Err(not_found("Route")),
    }
}

/// Returns the text of a note. The real one would carry out a line that is a command.
fn text(body: &Value) -> Result<String, Refusal> {
    let text = body["body"].as_str().filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| invalid("body is missing, or empty"))?;
    let is_command = |line: &str| {
        line.strip_prefix('/')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    if text.lines().any(is_command) {
        return Err(invalid("the note would run a command"));
    }
    match text.len() > MAX_NOTE_BYTES {
        true => Err(invalid("Note {:note=>[\"is too long\"]}")),
        false => Ok(text.to_owned()),
    }
}

fn start(state: &mut State, at: usize, user: u64, body: &Value) -> Outcome {
    only(body, &["body", "position"])?;
    let position = &body["position"];
    if !position.is_null() {
        let request = &state.requests[at];
        request.diff.check(position, &request.head)?;
    }
    Ok((201, add(state, at, user, body, position.clone())?))
}

fn add(
    state: &mut State,
    at: usize,
    user: u64,
    body: &Value,
    position: Value,
) -> Result<Value, Refusal> {
    let body = text(body)?;
    let (id, note) = (state.id(), state.id());
    let discussion = Discussion {
        id: format!("{id:040x}"),
        notes: vec![Note { id: note, author: user, body }],
        resolved_by: None,
        position,
    };
    let json = to_json(&discussion);
    state.requests[at].discussions.push(discussion);
    Ok(json)
}

fn reply(state: &mut State, at: usize, user: u64, id: &str, body: &Value) -> Outcome {
    only(body, &["body"])?;
    let (body, note) = (text(body)?, state.id());
    let discussion = find(state, at, id)?;
    discussion.notes.push(Note { id: note, author: user, body });
    let last = discussion.notes.last().unwrap();
    Ok((201, note_json(discussion, last)))
}

fn resolve(state: &mut State, at: usize, user: u64, id: &str, body: &Value) -> Outcome {
    only(body, &["resolved"])?;
    let resolved = body["resolved"].as_bool().ok_or_else(|| invalid("resolved is invalid"))?;
    let discussion = find(state, at, id)?;
    if discussion.position.is_null() {
        return Err(Refusal(403, "403 Forbidden".to_owned()));
    }
    discussion.resolved_by = resolved.then_some(user);
    Ok((200, to_json(discussion)))
}

fn update(state: &mut State, at: usize, user: u64, id: &str, body: &Value) -> Outcome {
    only(body, &["body"])?;
    let text = text(body)?;
    let id: u64 = id.parse().map_err(|_| invalid("note_id is invalid"))?;
    for discussion in &mut state.requests[at].discussions {
        if let Some(note) = discussion.notes.iter_mut().find(|note| note.id == id) {
            if note.author != user {
                return Err(Refusal(403, "403 Forbidden".to_owned()));
            }
            note.body = text;
            let note = note.clone();
            return Ok((200, note_json(discussion, &note)));
        }
    }
    Err(not_found("Note"))
}

fn find<'a>(state: &'a mut State, at: usize, id: &str) -> Result<&'a mut Discussion, Refusal> {
    let mut all = state.requests[at].discussions.iter_mut();
    all.find(|discussion| discussion.id == id).ok_or_else(|| not_found("Discussion"))
}

fn to_json(discussion: &Discussion) -> Value {
    let notes = discussion.notes.iter().map(|note| note_json(discussion, note));
    json!({
        "id": discussion.id,
        "individual_note": discussion.position.is_null() && discussion.notes.len() == 1,
        "notes": notes.collect::<Vec<_>>(),
    })
}

fn note_json(discussion: &Discussion, note: &Note) -> Value {
    let is_on_diff = !discussion.position.is_null();
    let kind = match (is_on_diff, discussion.notes.len()) {
        (true, _) => json!("DiffNote"),
        (false, 1) => Value::Null,
        (false, _) => json!("DiscussionNote"),
    };
    let mut out = json!({
        "id": note.id, "type": kind, "body": note.body, "author": json_user(note.author),
        "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z",
        "system": false, "noteable_id": 1_000, "noteable_type": "MergeRequest",
        "resolvable": is_on_diff, "noteable_iid": 1,
    });
    if is_on_diff {
        out["position"] = discussion.position.clone();
        out["resolved"] = json!(discussion.resolved_by.is_some());
        out["resolved_by"] = discussion.resolved_by.map_or(Value::Null, json_user);
    }
    out
}
