//! Times since 1970 in the formats of services.

use std::time::Duration;

use jiff::Timestamp;

/// Formats a time as an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http(time: Duration) -> String {
    timestamp(time).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Formats a time as ISO 8601: `1994-11-06T08:49:37Z`.
pub(crate) fn iso(time: Duration) -> String {
    timestamp(time).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the timestamp of a time since 1970, without its fraction of a second.
fn timestamp(time: Duration) -> Timestamp {
    Timestamp::from_second(time.as_secs() as i64).expect("a fake's time is before the year 9999")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_formatted_for_http_headers() {
        let date = |seconds| http(Duration::from_secs(seconds));
        assert_eq!(date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(date(1_798_761_599), "Thu, 31 Dec 2026 23:59:59 GMT");
    }

    #[test]
    fn a_date_is_formatted_as_iso_8601() {
        assert_eq!(iso(Duration::from_secs(784_111_777)), "1994-11-06T08:49:37Z");
    }
}
