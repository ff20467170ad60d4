//! Moves a ticket along its workflow: [`Jira::transition`].

use assay_store::pulls::TicketKey;
use serde::Deserialize;
use serde_json::json;

use super::{Jira, JiraError};
use crate::http::Call;
use crate::outcome::TransitionOutcome;

#[derive(Deserialize)]
struct TransitionsResponse {
    transitions: Vec<ApiTransition>,
}

#[derive(Deserialize)]
struct ApiTransition {
    id: String,
    name: String,
    to: ApiStatus,
}

#[derive(Deserialize)]
struct ApiStatus {
    name: String,
}

impl ApiTransition {
    /// Formats the transition for messages.
    fn describe(&self) -> String {
        match is_same_name(&self.name, &self.to.name) {
            true => self.name.clone(),
            false => format!("{} → {}", self.name, self.to.name),
        }
    }
}

impl Jira {
    /// Moves a ticket by the name of a transition that its workflow offers, or by the name of a
    /// status.
    pub fn transition(
        &self,
        key: &TicketKey,
        wanted: &str,
    ) -> Result<TransitionOutcome, JiraError> {
        let from = self.status(key)?;
        if is_same_name(&from, wanted) {
            return Ok(TransitionOutcome::Unchanged { status: from });
        }
        let path = self.path_of(key.as_str(), "/transitions");
        let offers: TransitionsResponse = self.api.json(&Call::get(path.clone()))?;
        let offer = choose(key, wanted, &from, &offers.transitions)?;
        let call = Call::post(path, json!({ "transition": { "id": offer.id } }));
        let to = offer.to.name.clone();
        match self.write(&call) {
            Err(error) if error.is_outcome_unknown() && !is_same_name(&self.status(key)?, &to) => {
                Err(error)
            }
            Err(error) if !error.is_outcome_unknown() => Err(error),
            Ok(()) | Err(_) => Ok(TransitionOutcome::Moved { from, to }),
        }
    }
}

/// Returns the requested transition: the only one with that name, or else the first one to a status
/// with that name.
fn choose<'a>(
    key: &TicketKey,
    wanted: &str,
    status: &str,
    offers: &'a [ApiTransition],
) -> Result<&'a ApiTransition, JiraError> {
    let named: Vec<&ApiTransition> =
        offers.iter().filter(|it| is_same_name(&it.name, wanted)).collect();
    match named[..] {
        [offer] => return Ok(offer),
        [] => {}
        [..] => {
            return Err(JiraError::SeveralTransitions {
                key: key.clone(),
                wanted: wanted.trim().to_owned(),
                offered: named.iter().map(|offer| offer.describe()).collect(),
            });
        }
    }
    offers.iter().find(|it| is_same_name(&it.to.name, wanted)).ok_or_else(|| {
        JiraError::NoTransition {
            key: key.clone(),
            wanted: wanted.trim().to_owned(),
            status: status.to_owned(),
            offered: offers.iter().map(ApiTransition::describe).collect(),
        }
    })
}

/// Returns true if two names are equal apart from case and surrounding white space.
fn is_same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
