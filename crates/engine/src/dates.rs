//! Dates and ids that are made of the present time.

use assay_base::clock::Clock;
use assay_findings::identity::Day;

/// Returns today's date, as dismissals are written.
pub fn today(clock: &Clock) -> Option<Day> {
    Day::try_from(clock.now().strftime("%Y-%m-%d").to_string()).ok()
}

/// Returns an id that is a time.
pub fn time_id(time: jiff::Timestamp) -> String {
    time.strftime("%Y%m%d-%H%M%S-%3f").to_string()
}
