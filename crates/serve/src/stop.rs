//! The end of a server: [`Stop`].

use tokio::sync::watch;

/// Ends a server from any thread. All clones are one.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Has the server finish the calls that are under way, and end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Says whether somebody said so.
    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until somebody says so.
    pub(crate) async fn requested(&self) {
        let mut told = self.0.subscribe();
        // It cannot fail: the other end is `self`.
        let _ = told.wait_for(|&stop| stop).await;
    }
}
