//! The living sessions of the admin console.

use std::collections::HashMap;

use crate::session::{Seconds, Session};

const IDLE: Seconds = 30 * 60;

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
            ends_at: now + IDLE,
        };
        self.sessions.insert(token, session);
    }

    /// Returns the user of a living session and extends the session.
    pub fn touch(&mut self, token: &str, now: Seconds) -> Option<&str> {
        if self.sessions.get(token)?.ends_at <= now {
            self.sessions.remove(token);
            return None;
        }
        let session = self.sessions.get_mut(token)?;
        session.ends_at = now + IDLE;
        Some(&session.user)
    }

    /// Removes the ended sessions and returns their number.
    pub fn sweep(&mut self, now: Seconds) -> usize {
        let before = self.sessions.len();
        self.sessions.retain(|_, session| session.ends_at > now);
        before - self.sessions.len()
    }
}
