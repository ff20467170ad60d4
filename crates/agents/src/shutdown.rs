//! Requests for the shutdown of a worker or supervisor: by signals, or by the end of an input.

use std::io::{self, Read};
use std::thread;

use assay_base::shutdown::Shutdown;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Requests the shutdown at the first signal; the second signal ends the process at once.
pub fn request_on_signals(shutdown: &Shutdown) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let shutdown = shutdown.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            if !shutdown.is_requested() {
                shutdown.request();
                continue;
            }
            assay_sandbox::shut_down();
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Requests the shutdown at the end of `lifeline`, which the parent process holds open.
pub fn request_on_eof(shutdown: &Shutdown, mut lifeline: impl Read + Send + 'static) {
    let shutdown = shutdown.clone();
    thread::spawn(move || {
        // The parent never writes to the lifeline.
        let _ = lifeline.read(&mut [0]);
        shutdown.request();
    });
}
