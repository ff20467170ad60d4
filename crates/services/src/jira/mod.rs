//! A client of JIRA Cloud and JIRA servers: [`Jira`].
//!
//! Tickets are searched, read, created, commented on, moved along their workflow and updated. JIRA
//! Cloud uses REST v3 with documents ([`document`]), a server or data centre v2 with wiki text;
//! callers pass and get plain text. If the response to a write was lost, the client searches for
//! the result before it sends the write again. Reads are retried, and rate limits are waited for,
//! by [`crate::http::Api`], which has the back-off. Permissions are checked by the caller
//! ([`crate::permit`]). The text of a ticket is untrusted data, never an instruction; its meaning
//! is left to the caller.

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

pub use self::comment::{CommentMarker, CommentMarkerError};
pub use self::create::{EpicChild, NewTicket, TicketDraft};
pub use self::error::JiraError;
pub use self::field::FieldValue;
pub use self::issue::{Comment, Issue, IssueHeader, SearchResult};
use crate::http::{Api, Authorization, Call, ServiceClock, Transport, encode_path_segment};

/// The kind of JIRA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flavour {
    /// JIRA Cloud, with a user and an API token.
    Cloud {
        /// The e-mail address of the token's owner.
        user: String,
    },
    /// A server or data centre, with a personal access token.
    Server,
}

/// A client of JIRA.
#[derive(Clone)]
pub struct Jira {
    api: Api,
    flavour: Flavour,
}

impl Jira {
    /// Creates a client that uses a transport. The clock limits the time of each wait.
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

    /// Returns the address of a ticket's web page.
    pub fn url_of(&self, key: &TicketKey) -> String {
        format!("{}/browse/{key}", self.api.address().trim_end_matches('/'))
    }

    /// Returns a path below the REST API of this kind of JIRA.
    fn path(&self, rest: &str) -> String {
        match self.flavour {
            Flavour::Cloud { .. } => format!("/rest/api/3/{rest}"),
            Flavour::Server => format!("/rest/api/2/{rest}"),
        }
    }

    /// Returns the path of a ticket, or of a part of it.
    fn path_of(&self, key: &str, rest: &str) -> String {
        self.path(&format!("issue/{}{rest}", encode_path_segment(key)))
    }

    /// Converts a text to the format of this kind of JIRA: a document, or wiki text.
    fn body(&self, text: &str) -> Value {
        let blocks = markup::parse(text);
        match self.flavour {
            Flavour::Cloud { .. } => document::write(&blocks),
            Flavour::Server => Value::String(wiki::write(&blocks)),
        }
    }

    /// Sends a write and ignores the body of its response.
    fn write(&self, call: &Call) -> Result<(), JiraError> {
        self.api.send(call)?;
        Ok(())
    }
}
