//! Moves a ticket along its workflow: [`Jira::transition`].

use assay_store::pulls::TicketKey;
use serde::Deserialize;
use serde_json::json;

use super::{Jira, JiraError};
use crate::http::Call;
use crate::outcome::Moved;

#[derive(Deserialize)]
struct Offers {
    transitions: Vec<Offer>,
}

#[derive(Deserialize)]
struct Offer {
    id: String,
    name: String,
    to: Status,
}

#[derive(Deserialize)]
struct Status {
    name: String,
}

impl Offer {
    /// Formats the transition for messages.
    fn told(&self) -> String {
        match is_same(&self.name, &self.to.name) {
            true => self.name.clone(),
            false => format!("{} → {}", self.name, self.to.name),
        }
    }
}

impl Jira {
    /// Moves a ticket by the name of a transition that its workflow offers, or by the name of a
    /// status.
    pub fn transition(&self, key: &TicketKey, wanted: &str) -> Result<Moved, JiraError> {
        let from = self.status(key)?;
        if is_same(&from, wanted) {
            return Ok(Moved::Before { status: from });
        }
        let path = self.path_of(key.as_str(), "/transitions");
        let offers: Offers = self.api.json(&Call::get(path.clone()))?;
        let offer = choose(key, wanted, &from, &offers.transitions)?;
        let call = Call::post(path, json!({ "transition": { "id": offer.id } }));
        let to = offer.to.name.clone();
        match self.write(&call) {
            Err(error) if error.is_unclear() && !is_same(&self.status(key)?, &to) => Err(error),
            Err(error) if !error.is_unclear() => Err(error),
            Ok(()) | Err(_) => Ok(Moved::Now { from, to }),
        }
    }
}

/// Returns the requested transition: the only one with that name, or else the first one to a status
/// with that name.
fn choose<'a>(
    key: &TicketKey,
    wanted: &str,
    status: &str,
    offers: &'a [Offer],
) -> Result<&'a Offer, JiraError> {
    let named: Vec<&Offer> = offers.iter().filter(|it| is_same(&it.name, wanted)).collect();
    match named[..] {
        [offer] => return Ok(offer),
        [] => {}
        [..] => {
            return Err(JiraError::SeveralTransitions {
                key: key.clone(),
                wanted: wanted.trim().to_owned(),
                offered: named.iter().map(|offer| offer.told()).collect(),
            });
        }
    }
    offers.iter().find(|it| is_same(&it.to.name, wanted)).ok_or_else(|| JiraError::NoTransition {
        key: key.clone(),
        wanted: wanted.trim().to_owned(),
        status: status.to_owned(),
        offered: offers.iter().map(Offer::told).collect(),
    })
}

/// Returns true if two names are equal apart from case and surrounding white space.
fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
