//! The shutdown of a worker or supervisor: [`Stop`], requested by signals or by the end of the
//! process that started this one.
//!
//! Standard input is the lifeline of a worker ([`Stop::at_end_of`]): nothing is ever written to it,
//! and its end says that the supervisor is gone, even if the supervisor was killed.

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use assay_base::shutdown::Shutdown;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// A shutdown token of a worker or supervisor. All clones share one state.
#[derive(Clone, Default)]
pub struct Stop(Shutdown);

impl Stop {
    /// Requests the end.
    pub fn ask(&self) {
        self.0.request();
    }

    /// Waits until the end is requested, for `at_most`. Returns true if it was requested.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.0.wait(at_most)
    }

    /// Returns true if the end was requested.
    pub fn is_asked(&self) -> bool {
        self.0.is_requested()
    }

    /// Calls `wake` at the request, or at once if it was made already.
    pub fn when_asked(&self, wake: impl FnOnce() + Send + 'static) {
        self.0.on_request(wake);
    }

    /// Asks for an end at the first signal; at the second one, everything ends at once.
    pub fn at_signals(&self) -> io::Result<()> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let stop = self.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if !stop.is_asked() {
                    stop.ask();
                    continue;
                }
                assay_sandbox::shut_down();
                let _ = emulate_default_handler(signal);
            }
        });
        Ok(())
    }

    /// Asks for an end once whoever holds the other end of an input is gone.
    pub fn at_end_of(&self, mut lifeline: impl Read + Send + 'static) {
        let stop = self.clone();
        thread::spawn(move || {
            // Nothing is ever written to it.
            let _ = lifeline.read(&mut [0]);
            stop.ask();
        });
    }
}
