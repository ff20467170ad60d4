//! Error responses of the fake, and the checks of a body.

use serde_json::{Value, json};

use super::USER;

/// The error of a request: the status and the message.
pub(super) struct Refusal(pub(super) u16, pub(super) String);

/// The status and the body of an answer.
pub(super) type Outcome = Result<(u16, Value), Refusal>;

/// Fails if a body has another field than the known ones: the real one ignores such a field.
pub(super) fn only(body: &Value, known: &[&str]) -> Result<(), Refusal> {
    let fields = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    match fields.into_iter().find(|name| !known.contains(name)) {
        Some(name) => Err(invalid(&format!("{name} is not a parameter"))),
        None => Ok(()),
    }
}

pub(super) fn invalid(what: &str) -> Refusal {
    Refusal(400, what.to_owned())
}

pub(super) fn not_found(what: &str) -> Refusal {
    Refusal(404, format!("404 {what} Not Found"))
}

pub(super) fn json_user(id: u64) -> Value {
    let name = if id == USER { "assay-bot" } else { "ann" };
    json!({ "id": id, "username": name, "name": name, "state": "active" })
}
