//! JIRA, in the cloud and on one's own server: [`Jira`].
//!
//! Tickets are searched, read, made, commented on, moved along their workflow and changed. The cloud
//! speaks REST v3 with documents ([`document`]), a server or data centre v2 with wiki text; callers
//! give and get plain text. A write whose answer was lost is looked for and not simply sent again.
//! Who may do what is asked before ([`crate::permit`]), and what a ticket's text means is left to
//! others: it is material, never an instruction.

mod comment;
mod create;
pub mod document;
mod error;
mod field;
mod issue;
mod markup;
mod transition;
mod wiki;

use std::sync::Arc;

use assay_sandbox::Keys;
use assay_store::pulls::TicketKey;
use serde_json::Value;

pub use self::comment::{Marker, MarkerError};
pub use self::create::{Child, Draft, NewTicket};
pub use self::error::JiraError;
pub use self::field::FieldValue;
pub use self::issue::{Comment, Found, Issue, Listed};
use crate::http::{Api, Authorization, Call, ServiceClock, Transport, path_segment};

/// Which JIRA it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flavour {
    /// Atlassian's own, where a user and a token ask.
    Cloud {
        /// Whose token it is, an e-mail address.
        user: String,
    },
    /// A server or data centre, where a personal access token asks.
    Server,
}

/// A JIRA that is asked.
#[derive(Clone)]
pub struct Jira {
    api: Api,
    flavour: Flavour,
}

impl Jira {
    /// A JIRA over a transport, with a key and somebody's patience.
    pub fn new(
        transport: Arc<dyn Transport>,
        flavour: Flavour,
        keys: Arc<Keys>,
        clock: Arc<dyn ServiceClock>,
    ) -> Jira {
        let authorization = match &flavour {
            Flavour::Cloud { user } => Authorization::Basic { user: user.clone() },
            Flavour::Server => Authorization::Bearer,
        };
        let api = Api::new("JIRA", transport, keys, authorization, clock);
        Jira { api: api.with_header("accept", "application/json"), flavour }
    }

    /// Gives where people find a ticket.
    pub fn url_of(&self, key: &TicketKey) -> String {
        format!("{}/browse/{key}", self.api.place().trim_end_matches('/'))
    }

    /// Gives a path below the version of the interface that is spoken.
    fn path(&self, rest: &str) -> String {
        match self.flavour {
            Flavour::Cloud { .. } => format!("/rest/api/3/{rest}"),
            Flavour::Server => format!("/rest/api/2/{rest}"),
        }
    }

    /// Gives the path of a ticket, or of something of it.
    fn path_of(&self, key: &str, rest: &str) -> String {
        self.path(&format!("issue/{}{rest}", path_segment(key)))
    }

    /// Gives a text as it is sent: a document, or wiki text.
    fn body(&self, text: &str) -> Value {
        let blocks = markup::parse(text);
        match self.flavour {
            Flavour::Cloud { .. } => document::write(&blocks),
            Flavour::Server => Value::String(wiki::write(&blocks)),
        }
    }

    /// Sends a write whose answer says nothing.
    fn write(&self, call: &Call) -> Result<(), JiraError> {
        self.api.send(call)?;
        Ok(())
    }
}
