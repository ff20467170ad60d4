//! `assay review --watch`: reviews again whenever a file of the work tree changes.

use std::path::Path;
use std::time::Duration;

use assay_change::WorkTreeStamp;
use assay_findings::write::escape;

use crate::commands::{note, warn};
use crate::exit::Exit;
use crate::output;
use crate::signals::ReviewInterrupts;

/// The interval between two looks at the times of the files.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The control sequence that clears a terminal.
const CLEAR: &[u8] = b"\x1b[2J\x1b[H";

/// Reviews now and after each change, until the process is interrupted. An error is shown, and the
/// next change is awaited.
pub(super) fn run(
    folder: &Path,
    review: impl Fn(&ReviewInterrupts) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let interrupts = ReviewInterrupts::watch();
    loop {
        let seen = WorkTreeStamp::of(folder)?;
        let reviewed = review(&interrupts);
        if interrupts.shutdown().is_requested() || !output::is_open() {
            return reviewed;
        }
        if let Err(error) = reviewed {
            warn(&escape::one_line(&format!("{error:#}")));
        }
        note("watching for changes; Ctrl-C ends");
        // An interrupt while waiting ends the process at once.
        interrupts.end_showing();
        while WorkTreeStamp::of(folder)? == seen {
            // No thread unparks this one: it only waits for files to change.
            std::thread::park_timeout(POLL_INTERVAL);
        }
        interrupts.begin_preparing();
        if output::is_terminal() {
            output::write(CLEAR);
        }
    }
}
