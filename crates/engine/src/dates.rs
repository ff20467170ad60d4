//! Dates and ids from the current time.

use assay_base::clock::Clock;
use assay_findings::identity::Day;

/// Returns today's date in the format of dismissals.
pub fn today(clock: &Clock) -> Option<Day> {
    Day::try_from(clock.now().strftime("%Y-%m-%d").to_string()).ok()
}

/// Returns an id that is a timestamp.
pub fn time_id(time: jiff::Timestamp) -> String {
    time.strftime("%Y%m%d-%H%M%S-%3f").to_string()
}
