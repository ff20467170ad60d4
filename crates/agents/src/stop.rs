//! Being told to stop: [`Stop`], by signals or because whoever started us is gone.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Whether somebody wants an end. Clones are one.
#[derive(Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Default)]
struct Inner {
    asked: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
    /// Rung together with them.
    bell: Condvar,
}

/// Wakes somebody who waits for something else.
type Waker = Box<dyn Fn() + Send>;

impl Stop {
    /// Asks for an end.
    pub fn ask(&self) {
        let wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.asked.store(true, Ordering::SeqCst);
        wakers.iter().for_each(|wake| wake());
        self.0.bell.notify_all();
    }

    /// Waits so long, or until it is asked for. Says whether it is.
    pub fn wait(&self, at_most: Duration) -> bool {
        let wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.bell.wait_timeout_while(wakers, at_most, |_| !self.is_asked());
        drop(waited);
        self.is_asked()
    }

    /// Says whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Has somebody woken once it is asked for, or at once if it is already.
    pub fn when_asked(&self, wake: impl Fn() + Send + 'static) {
        let mut wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_asked() {
            wake();
        }
        wakers.push(Box::new(wake));
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
