//! A shutdown token: [`Shutdown`].

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// A shutdown token, shared by the code that requests the shutdown and the code that waits for it.
/// All clones share one state, and a request is never withdrawn.
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
    /// Requests the shutdown. All callbacks have run when this returns.
    pub fn request(&self) {
        let mut state = self.state();
        state.is_requested = true;
        std::mem::take(&mut state.on_request).into_iter().for_each(|callback| callback());
        self.0.requested.notify_all();
    }

    /// Returns true if the shutdown was requested.
    pub fn is_requested(&self) -> bool {
        self.state().is_requested
    }

    /// Waits until the shutdown is requested, for `timeout` at most. Returns true if it was
    /// requested.
    pub fn wait(&self, timeout: Duration) -> bool {
        let waited =
            self.0.requested.wait_timeout_while(self.state(), timeout, |state| !state.is_requested);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_requested
    }

    /// Calls `callback` when the shutdown is requested, or at once if it was requested already. The
    /// callback must neither wait nor use this token.
    pub fn on_request(&self, callback: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        match state.is_requested {
            true => callback(),
            false => state.on_request.push(Box::new(callback)),
        }
    }

    /// Runs `work` in a thread of its own. Returns its result, or `None` if the shutdown is
    /// requested first; the work then continues in its thread until the process ends.
    pub fn run_until_requested<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, done) = mpsc::channel();
        let requested = sender.clone();
        // Sending fails if the other message arrived first, since the receiver is then gone.
        self.on_request(move || drop(requested.send(None)));
        thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(work));
            drop(sender.send(Some(outcome)));
        });
        match done.recv().expect("the thread sends the outcome of the work") {
            Some(Ok(result)) => Some(result),
            Some(Err(panic)) => resume_unwind(panic),
            None => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
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
    fn work_ends_with_its_result_or_with_the_request() {
        let shutdown = Shutdown::default();
        assert_eq!(shutdown.run_until_requested(|| 7), Some(7));
        let (release, held) = mpsc::channel::<()>();
        let requester = shutdown.clone();
        let never = shutdown.run_until_requested(move || {
            requester.request();
            let _ = held.recv();
        });
        assert_eq!(never, None);
        drop(release);
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
