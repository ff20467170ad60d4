//! Parses `Retry-After` and `Date` headers.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Returns the delay that a `Retry-After` header asks for: seconds, or the time until an HTTP date.
///
/// `now` is the sender's time, from its `Date` header where there is one; without `now`, a date
/// results in `None`. A date in the past results in no delay. Returns `None` for any other text.
pub fn parse_retry_after(value: &str, now: Option<Timestamp>) -> Option<Duration> {
    parse_seconds(value).or_else(|| Some(time_until(parse_http_date(value)?, now?)))
}

/// Parses a number of seconds, which may have a fraction. Returns `None` if the text is no number
/// or a negative one.
pub fn parse_seconds(value: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(value.trim().parse().ok()?).ok()
}

/// Parses an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn parse_http_date(value: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(value.trim()).ok()
}

/// Returns the time from `now` until `then`, or zero if `then` has passed.
pub fn time_until(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(then.duration_since(now)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    fn check(value: &str, expected_millis: Option<u64>) {
        let delay = parse_retry_after(value, parse_http_date(NOW));
        assert_eq!(delay, expected_millis.map(Duration::from_millis), "{value}");
    }

    #[test]
    fn seconds_may_have_a_fraction_and_space_around_them() {
        check("7", Some(7_000));
        check(" 7 ", Some(7_000));
        check("0.5", Some(500));
        check("0", Some(0));
    }

    #[test]
    fn a_date_is_the_time_until_then_and_no_delay_once_it_has_passed() {
        check("Sun, 06 Nov 1994 08:50:37 GMT", Some(60_000));
        check(" Sun, 06 Nov 1994 08:50:37 GMT ", Some(60_000));
        check(NOW, Some(0));
        check("Sun, 06 Nov 1994 08:40:00 GMT", Some(0));
    }

    #[test]
    fn any_other_text_is_no_delay() {
        for value in ["", "soon", "-3", "NaN", "inf", "1e400", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            check(value, None);
        }
    }

    #[test]
    fn a_date_says_nothing_without_the_time() {
        assert_eq!(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", None), None);
        assert_eq!(parse_retry_after("7", None), Some(Duration::from_secs(7)));
    }
}
