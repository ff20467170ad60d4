//! The living sessions of the admin console.

use std::collections::HashMap;

use crate::session::{Seconds, Session};

const LIFE: Seconds = 12 * 60 * 60;

/// Sessions by token.
#[derive(Debug, Default)]
pub struct SessionTable {
    sessions: HashMap<String, Session>,
}

impl SessionTable {
    /// Adds a session that starts at `now`.
    pub fn sign_in(&mut self, token: String, user: String, now: Seconds) {
        let session = Session {
            user,
            signed_in_at: now,
            ends_at: now + LIFE,
        };
        self.sessions.insert(token, session);
    }

    /// Returns the user of a living session.
    pub fn user(&self, token: &str, now: Seconds) -> Option<&str> {
        let session = self.sessions.get(token)?;
        (session.ends_at > now).then_some(session.user.as_str())
    }
}
