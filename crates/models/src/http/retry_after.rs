//! The delay that a provider asks for, in `Retry-After` and in headers of single providers.

use std::time::Duration;

use assay_http::retry_after::{parse_http_date, parse_retry_after, parse_seconds, time_until};
use ureq::http::HeaderMap;

/// The quantities that Anthropic limits, each with a header for the time of its reset.
const LIMITED_QUANTITIES: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

/// Returns the delay that the provider asks for. Dates count from the provider's own clock, which
/// is its `Date` header.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(parse_seconds) {
        return Some(millis / 1_000);
    }
    let now = text("date").and_then(parse_http_date);
    if let Some(after) = text("retry-after") {
        return parse_retry_after(after, now);
    }
    let reset = |counted: &&str| {
        let left = text(&format!("anthropic-ratelimit-{counted}-remaining"));
        let reset = text(&format!("anthropic-ratelimit-{counted}-reset"))?;
        // Only an exhausted quantity has to be waited for.
        if left.is_some_and(|left| left != "0") {
            return None;
        }
        Some(time_until(reset.parse().ok()?, now?))
    };
    LIMITED_QUANTITIES.iter().filter_map(reset).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn check(given: &[(&'static str, &str)], expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.insert(*name, value.parse().unwrap());
        }
        assert_eq!(retry_after(&headers), expected.map(Duration::from_millis), "{given:?}");
    }

    #[test]
    fn a_retry_delay_is_read_from_several_headers() {
        check(&[], None);
        check(&[("retry-after", "7")], Some(7_000));
        check(&[("retry-after", "0.5")], Some(500));
        check(&[("retry-after", "7"), ("retry-after-ms", "250")], Some(250));
        check(&[NOW, ("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")], Some(60_000));
        check(&[NOW, ("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")], Some(0));
        check(&[NOW, ("anthropic-ratelimit-tokens-reset", "1994-11-06T08:49:40Z")], Some(3_000));
    }

    #[test]
    fn only_the_reset_of_an_exhausted_limit_is_waited_for() {
        check(
            &[
                NOW,
                ("anthropic-ratelimit-requests-remaining", "0"),
                ("anthropic-ratelimit-requests-reset", "1994-11-06T08:49:38Z"),
                ("anthropic-ratelimit-tokens-remaining", "9000"),
                ("anthropic-ratelimit-tokens-reset", "1994-11-06T09:49:37Z"),
            ],
            Some(1_000),
        );
    }

    #[test]
    fn an_invalid_retry_after_gives_no_delay() {
        for after in ["soon", "-3", "NaN", "1e400", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            check(&[NOW, ("retry-after", after)], None);
        }
        // Without a clock, a date cannot be converted to a delay.
        check(&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")], None);
    }
}
