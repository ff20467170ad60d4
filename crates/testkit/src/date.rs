//! Times since 1970 as the services write them.

use std::time::Duration;

/// A time, taken apart.
struct Parts {
    /// Since 1970, which began on a Thursday.
    days: u64,
    year: u64,
    /// From 0.
    month: usize,
    /// From 1.
    day: u64,
    /// Of the day.
    second: u64,
}

impl Parts {
    fn of(time: Duration) -> Parts {
        let (days, second) = (time.as_secs() / 86_400, time.as_secs() % 86_400);
        let is_leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let (mut year, mut day) = (1970, days);
        while day >= 365 + u64::from(is_leap(year)) {
            day -= 365 + u64::from(is_leap(year));
            year += 1;
        }
        let february = 28 + u64::from(is_leap(year));
        let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut month = 0;
        while day >= lengths[month] {
            day -= lengths[month];
            month += 1;
        }
        Parts { days, year, month, day: day + 1, second }
    }

    fn clock(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.second / 3600, self.second / 60 % 60, self.second % 60)
    }
}

/// Writes a time as HTTP does: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http(time: Duration) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parts = Parts::of(time);
    let weekday = WEEKDAYS[(parts.days % 7) as usize];
    let month = MONTHS[parts.month];
    format!("{weekday}, {:02} {month} {} {} GMT", parts.day, parts.year, parts.clock())
}

/// Writes a time as JSON has it: `1994-11-06T08:49:37Z`.
pub(crate) fn iso(time: Duration) -> String {
    let parts = Parts::of(time);
    format!("{}-{:02}-{:02}T{}Z", parts.year, parts.month + 1, parts.day, parts.clock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_http_does() {
        let date = |seconds| http(Duration::from_secs(seconds));
        assert_eq!(date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(date(1_798_761_599), "Thu, 31 Dec 2026 23:59:59 GMT");
    }

    #[test]
    fn a_date_is_written_as_json_has_it() {
        assert_eq!(iso(Duration::from_secs(784_111_777)), "1994-11-06T08:49:37Z");
    }
}
