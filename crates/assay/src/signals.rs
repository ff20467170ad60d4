//! What happens when somebody stops us.

use std::thread;

use assay_serve::stop::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Has the commands that we started end with us: they are in process groups of their own, so that
/// Ctrl-C does not reach them, and an agent that goes on costs money.
pub(crate) fn stop_commands_too() {
    // Where signals cannot be watched, we end as any program does.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            assay_sandbox::stop_all();
            let _ = emulate_default_handler(signal);
        }
    });
}

/// Has a server finish what it does and end; whoever asks a second time does not wait for that.
pub(crate) fn end_server(stop: Stop) {
    at_first(move || stop.stop());
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
            assay_sandbox::stop_all();
            let _ = emulate_default_handler(signal);
        }
    });
}
