//! The delay that a service asks for when it limits the rate of requests, in headers or in the
//! body.

use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_http::retry_after::{parse_http_date, parse_retry_after, parse_seconds, time_until};
use jiff::Timestamp;
use serde_json::Value;

use super::Response;

/// Delays if a service limits the rate and does not state a time: 60 s, doubled each time.
///
/// The clock of the client refuses delays beyond its own maximum (60 s for most callers), so most
/// callers wait once. A call has at most `MAX_LIMIT_WAITS` (6) waits, the last of 32 minutes; the
/// seventh delay, of 64 minutes, is only named in the error.
const RATE_LIMIT_BACKOFF: Backoff =
    Backoff::new(Duration::from_secs(60), Duration::from_secs(64 * 60));

/// The phrases with which services report a rate limit.
const RATE_LIMIT_PHRASES: [&str; 4] =
    ["secondary rate limit", "abuse", "rate limit exceeded", "ratelimited"];

/// Returns the delay before the same request may be sent again, or `None` if the response is no
/// rate limit. If the service states no time, each further delay is twice as long. `now` is the
/// time since 1970 here; if the service sends a `Date` header, its own clock counts.
pub(super) fn requested_delay(
    response: &Response,
    now: Duration,
    waits_so_far: u32,
) -> Option<Duration> {
    let is_used_up = response.header("x-ratelimit-remaining") == Some("0");
    let is_limit = match response.status {
        429 => true,
        403 => {
            response.header("retry-after").is_some()
                || is_used_up
                || is_rate_limit_refusal(response)
        }
        // These statuses also have other messages, which are no rate limits.
        400 | 422 => is_rate_limit_refusal(response),
        200 => is_graphql_rate_limit(response),
        _ => false,
    };
    if !is_limit {
        return None;
    }
    let date = response.header("date").and_then(parse_http_date);
    let now = date.or_else(|| timestamp(now));
    let after = response.header("retry-after");
    if let Some(delay) = after.and_then(|after| parse_retry_after(after, now)) {
        return Some(delay);
    }
    let reset = response.header("x-ratelimit-reset").filter(|_| is_used_up);
    let reset = reset.and_then(parse_seconds).and_then(timestamp).zip(now);
    // One second is added, as timestamps are truncated to seconds.
    let reset = reset.map(|(reset, now)| time_until(reset, now) + Duration::from_secs(1));
    Some(reset.unwrap_or_else(|| RATE_LIMIT_BACKOFF.delay(waits_so_far)))
}

/// Returns true if a response with a success status is a rate limit, as GraphQL reports it.
fn is_graphql_rate_limit(response: &Response) -> bool {
    // Most answers are long and no rate limit, so a search comes before parsing.
    const RATE_LIMIT_CODE: &[u8] = b"RATE_LIMITED";
    if !response.body.windows(RATE_LIMIT_CODE.len()).any(|bytes| bytes == RATE_LIMIT_CODE) {
        return false;
    }
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let errors = body["errors"].as_array();
    errors.is_some_and(|errors| errors.iter().any(|error| error["type"] == "RATE_LIMITED"))
}

/// Returns true if a refusal is a rate limit: by its message, or by the codes of its errors.
fn is_rate_limit_refusal(response: &Response) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(&response.body) else { return false };
    let errors = body["errors"].as_array().into_iter().flatten();
    let codes = errors.flat_map(|error| {
        [&error["code"], &error["extensions"]["code"], &error["message"]].map(Value::as_str)
    });
    let mut texts = codes.chain([body["message"].as_str()]).flatten();
    texts.any(|text| {
        let text = text.to_lowercase();
        RATE_LIMIT_PHRASES.iter().any(|word| text.contains(word))
    })
}

/// Converts a time since 1970 to a timestamp.
fn timestamp(since_1970: Duration) -> Option<Timestamp> {
    Timestamp::UNIX_EPOCH.checked_add(since_1970).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_000);

    fn check(status: u16, headers: &[(&str, &str)], body: &str, expected: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let response = Response { status, headers: headers.collect(), body: body.into() };
        let delay = requested_delay(&response, NOW, 1).map(|delay| delay.as_secs());
        assert_eq!(delay, expected, "{response:?}");
    }

    #[test]
    fn a_rate_limit_is_recognised_by_status_headers_or_body() {
        check(429, &[("retry-after", "7")], "", Some(7));
        check(403, &[("retry-after", "30")], "", Some(30));
        check(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1100")], "", Some(101));
        check(403, &[], r#"{"message":"You have exceeded a secondary rate limit."}"#, Some(120));
        check(
            422,
            &[],
            r#"{"message":"Validation Failed","errors":[{"code":"abuse"}]}"#,
            Some(120),
        );
        check(400, &[], r#"{"errors":[{"extensions":{"code":"RATELIMITED"}}]}"#, Some(120));
        check(200, &[], r#"{"data":null,"errors":[{"type":"RATE_LIMITED"}]}"#, Some(120));
        check(429, &[("retry-after", "soon")], "", Some(120));
        let date = ("date", "Thu, 01 Jan 1970 01:00:00 GMT");
        check(429, &[date, ("retry-after", "Thu, 01 Jan 1970 01:00:09 GMT")], "", Some(9));
    }

    #[test]
    fn other_errors_are_not_rate_limits() {
        check(403, &[], r#"{"message":"Resource not accessible by integration"}"#, None);
        check(422, &[], r#"{"message":"Validation Failed","errors":["line is missing"]}"#, None);
        check(404, &[("x-ratelimit-remaining", "0")], "", None);
        check(500, &[("retry-after", "7")], "", None);
        check(200, &[], r#"{"body":"it is RATE_LIMITED"}"#, None);
    }
}
