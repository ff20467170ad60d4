//! What happens when a user or another process stops this one.

use std::io::Write;
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use assay_base::shutdown::Shutdown;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The exit code of a process that a second interrupt ends.
const INTERRUPTED_TWICE: i32 = 130;

/// Has the commands that we started end with us: they are in process groups of their own, so that
/// Ctrl-C does not reach them, and an agent that goes on costs money.
pub(crate) fn stop_commands_too() {
    // Where signals cannot be watched, we end as any program does.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            end_at_once(signal);
        }
    });
}

/// Ends the process as its default does, and with it all that it started and made.
fn end_at_once(signal: i32) {
    assay_sandbox::shut_down();
    let _ = emulate_default_handler(signal);
}

/// Has a server finish what it does and end; whoever asks a second time does not wait for that.
pub(crate) fn end_server(shutdown: Shutdown) {
    at_first(move || shutdown.request());
}

/// Does something when somebody stops us for the first time; whoever asks a second time does not wait
/// for that.
pub(crate) fn at_first(end: impl FnOnce() + Send + 'static) {
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

/// How far a review is, which decides what an interrupt does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The change is being opened: nothing is known of it yet.
    Preparing,
    /// Readers are at work: what they have answered is kept and shown.
    Reading,
    /// The result is being kept and shown, which is brought to its end.
    Showing,
    /// The result is known: an interrupt ends the process at once.
    Shown,
}

/// The interrupts of a review. The first stops what is read and leaves what was found so far; the
/// second ends the process.
#[derive(Clone)]
pub(crate) struct ReviewInterrupts {
    shutdown: Shutdown,
    phase: Arc<Mutex<Phase>>,
}

impl ReviewInterrupts {
    /// Watches for interrupts from now on.
    pub(crate) fn watch() -> ReviewInterrupts {
        let own = ReviewInterrupts {
            shutdown: Shutdown::default(),
            phase: Arc::new(Mutex::new(Phase::Preparing)),
        };
        // Where signals cannot be watched, we end as any program does.
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
            // Nothing is written any more: a run is kept whole or not at all.
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
        }
        drop(phase);
        let _ = writeln!(io::stderr(), "interrupted; a second interrupt ends assay at once");
    }

    /// Begins to read the change. Returns false if the review was interrupted before.
    pub(crate) fn begin_reading(&self) -> bool {
        let mut phase = self.phase();
        *phase = Phase::Reading;
        !self.shutdown.is_requested()
    }

    /// Begins to keep and to show what was found.
    pub(crate) fn begin_showing(&self) {
        *self.phase() = Phase::Showing;
    }

    /// Lets an interrupt end the process from now on. Returns false if the review was interrupted
    /// before.
    pub(crate) fn end_showing(&self) -> bool {
        *self.phase() = Phase::Shown;
        !self.shutdown.is_requested()
    }

    /// Returns the token that the first interrupt requests.
    pub(crate) fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
