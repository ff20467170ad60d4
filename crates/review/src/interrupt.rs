//! The request to end a review before all have answered: [`Interrupt`].

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;

use assay_base::shutdown::Shutdown;

/// A request to end a review early, shared by who makes it and who reads. It is made once and never
/// taken back.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Shutdown);

impl Interrupt {
    /// Asks for an early end. It has been heard by all who wait when this returns.
    pub fn request(&self) {
        self.0.request();
    }

    /// Returns true if an early end was asked for.
    pub fn is_requested(&self) -> bool {
        self.0.is_requested()
    }

    /// Has something done at the request, or at once if it was made already. It must not wait.
    pub(crate) fn on_request(&self, wake: impl FnOnce() + Send + 'static) {
        self.0.on_request(wake);
    }

    /// Waits for some work, or for the request. Returns None if that came first: the work goes on in
    /// its thread until the process ends.
    pub fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, done) = mpsc::channel();
        let interrupted = sender.clone();
        // The receiver is gone if the other of both came first.
        self.on_request(move || drop(interrupted.send(None)));
        thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(work));
            drop(sender.send(Some(outcome)));
        });
        match done.recv().expect("the thread sends what came of the work") {
            Some(Ok(result)) => Some(result),
            Some(Err(panic)) => resume_unwind(panic),
            None => None,
        }
    }
}
