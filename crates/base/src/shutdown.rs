//! A shutdown token: [`Shutdown`].

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A shutdown token, shared by who requests the end and who waits. All clones share one state, and a
/// request is never taken back.
#[derive(Clone, Default)]
pub struct Shutdown(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    requested: Condvar,
}

#[derive(Default)]
struct State {
    is_requested: bool,
    on_request: Vec<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shutdown").field(&self.is_requested()).finish()
    }
}

impl Shutdown {
    /// Requests the end. All callbacks have run when this returns.
    pub fn request(&self) {
        let mut state = self.state();
        state.is_requested = true;
        std::mem::take(&mut state.on_request).into_iter().for_each(|callback| callback());
        self.0.requested.notify_all();
    }

    /// Returns true if the end was requested.
    pub fn is_requested(&self) -> bool {
        self.state().is_requested
    }

    /// Waits until the end is requested, for `timeout` at most. Returns true if it was requested.
    pub fn wait(&self, timeout: Duration) -> bool {
        let waited =
            self.0.requested.wait_timeout_while(self.state(), timeout, |state| !state.is_requested);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_requested
    }

    /// Calls `callback` at the request, or at once if it was made already. The callback must neither
    /// wait nor use this token.
    pub fn on_request(&self, callback: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        match state.is_requested {
            true => callback(),
            false => state.on_request.push(Box::new(callback)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(120);

    #[test]
    fn a_request_reaches_every_clone_and_ends_their_waiting() {
        let shutdown = Shutdown::default();
        let clone = shutdown.clone();
        let waiting = thread::spawn(move || clone.wait(LONG));
        assert!(!shutdown.wait(Duration::ZERO));
        shutdown.request();
        assert!(waiting.join().unwrap());
        assert!(shutdown.wait(LONG) && shutdown.is_requested());
    }

    #[test]
    fn a_callback_runs_once_whether_set_before_or_after_the_request() {
        let (shutdown, (sender, calls)) = (Shutdown::default(), mpsc::channel());
        let call = |name: &'static str| {
            let sender = sender.clone();
            move || sender.send(name).unwrap()
        };
        shutdown.on_request(call("before"));
        assert!(calls.try_recv().is_err());
        shutdown.request();
        shutdown.request();
        shutdown.on_request(call("after"));
        assert_eq!(calls.try_iter().collect::<Vec<_>>(), ["before", "after"]);
    }
}
