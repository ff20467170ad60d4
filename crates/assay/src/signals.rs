//! Signal handling: ends commands, servers and reviews.

use std::io::Write;
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use assay_base::shutdown::Shutdown;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The exit code after a second interrupt.
const INTERRUPTED_TWICE: i32 = 130;

/// Ends the commands that this process started when a signal arrives. They run in their own process
/// groups, so that Ctrl-C does not reach them, and an agent that continues costs money.
pub(crate) fn stop_commands_on_signal() {
    // If signals cannot be watched, the default action of a signal applies.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            end_at_once(signal);
        }
    });
}

/// Ends the process by the default action of a signal, after ending its commands and removing its
/// temporary files.
fn end_at_once(signal: i32) {
    assay_sandbox::shut_down();
    let _ = emulate_default_handler(signal);
}

/// Shuts a server down gracefully at the first signal, and at once at the second.
pub(crate) fn end_server(shutdown: Shutdown) {
    on_first_signal(move || shutdown.request());
}

/// Calls `end` at the first signal; the second signal ends the process at once.
pub(crate) fn on_first_signal(end: impl FnOnce() + Send + 'static) {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || {
        let mut asked = signals.forever();
        if asked.next().is_some() {
            end();
        }
        for signal in asked {
            end_at_once(signal);
        }
    });
}

/// The phase of a review, which decides the effect of an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The change is being opened, so there are no findings yet.
    Preparing,
    /// Reviewers are reading: their answers so far are kept and shown.
    Reading,
    /// The result is being stored and shown, which is completed.
    Showing,
    /// The result is shown: an interrupt ends the process at once.
    Shown,
    /// The user is asked for decisions: an interrupt is passed on to the dialogue.
    Asking,
}

/// A function that is called at each interrupt while the user is asked.
type InterruptReceiver = Box<dyn FnMut() + Send>;

/// The interrupts of a review. The first interrupt stops the reviewers and retains the findings so
/// far; the second ends the process.
#[derive(Clone)]
pub(crate) struct ReviewInterrupts {
    shutdown: Shutdown,
    phase: Arc<Mutex<Phase>>,
    /// The receiver of interrupts while the user is asked.
    dialogue: Arc<Mutex<Option<InterruptReceiver>>>,
}

impl ReviewInterrupts {
    /// Starts to watch for interrupts.
    pub(crate) fn watch() -> ReviewInterrupts {
        let own = ReviewInterrupts {
            shutdown: Shutdown::default(),
            phase: Arc::new(Mutex::new(Phase::Preparing)),
            dialogue: Arc::default(),
        };
        // If signals cannot be watched, the default action of a signal applies.
        let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return own };
        let watched = own.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                watched.receive(signal);
            }
        });
        own
    }

    fn receive(&self, signal: i32) {
        let phase = self.phase();
        if self.shutdown.is_requested() {
            // No further write happens: a run is stored completely or not at all.
            assay_sandbox::shut_down();
            exit(INTERRUPTED_TWICE);
        }
        match *phase {
            Phase::Preparing => {
                self.shutdown.request();
                assay_sandbox::stop_all();
            }
            Phase::Reading => {
                self.shutdown.request();
                assay_sandbox::interrupt();
            }
            Phase::Showing => self.shutdown.request(),
            Phase::Shown => end_at_once(signal),
            Phase::Asking => {
                let mut dialogue = self.dialogue.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(interrupt) = dialogue.as_mut() {
                    interrupt();
                }
                return;
            }
        }
        drop(phase);
        let _ = writeln!(io::stderr(), "interrupted; interrupt again to exit at once");
    }

    /// Enters the phase in which the change is opened, for another review.
    pub(crate) fn begin_preparing(&self) {
        *self.phase() = Phase::Preparing;
    }

    /// Enters the phase of reading. Returns false if the review was interrupted before.
    pub(crate) fn begin_reading(&self) -> bool {
        let mut phase = self.phase();
        *phase = Phase::Reading;
        !self.shutdown.is_requested()
    }

    /// Enters the phase in which the result is stored and shown.
    pub(crate) fn begin_showing(&self) {
        *self.phase() = Phase::Showing;
    }

    /// Enters the phase in which an interrupt ends the process. Returns false if the review was
    /// interrupted before.
    pub(crate) fn end_showing(&self) -> bool {
        *self.phase() = Phase::Shown;
        !self.shutdown.is_requested()
    }

    /// Enters the phase of questions to the user, in which an interrupt calls `interrupt`.
    pub(crate) fn begin_asking(&self, interrupt: impl FnMut() + Send + 'static) {
        let mut dialogue = self.dialogue.lock().unwrap_or_else(PoisonError::into_inner);
        *dialogue = Some(Box::new(interrupt));
        *self.phase() = Phase::Asking;
    }

    /// Returns the shutdown token, which the first interrupt triggers.
    pub(crate) fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
