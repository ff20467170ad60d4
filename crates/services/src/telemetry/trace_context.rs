//! The identity of a span within a trace: [`TraceContext`], and its text form `traceparent`.

use std::fmt;
use std::str::FromStr;

/// The id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceId(pub(super) [u8; 16]);

/// The id of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpanId(pub(super) [u8; 8]);

/// A span as other processes refer to it, by the recommendation "Trace Context" of the W3C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) is_sampled: bool,
}

/// The reason why a text is no `traceparent`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `00-TRACE-SPAN-FLAGS` with 32, 16 and 2 hexadecimal digits, as W3C Trace Context"
)]
pub struct InvalidTraceParent;

impl TraceId {
    /// Creates a random id.
    pub(super) fn random() -> TraceId {
        TraceId(random())
    }
}

impl SpanId {
    /// Creates a random id.
    pub(super) fn random() -> SpanId {
        SpanId(random())
    }
}

/// Returns random bytes that are not all zero, since zero is no id. If the kernel has no
/// randomness, the id is the same for all spans, which spoils the trace and nothing else.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() || bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for TraceContext {
    type Err = InvalidTraceParent;

    /// Parses a `traceparent`. A version after `00` may have further parts, which are ignored.
    fn from_str(text: &str) -> Result<TraceContext, InvalidTraceParent> {
        let mut parts = text.trim().split('-');
        let mut next = || parts.next().ok_or(InvalidTraceParent);
        let (version, trace, span, flags) = (next()?, next()?, next()?, next()?);
        let [version] = bytes::<1>(version)?;
        let (trace, span, [flags]) = (bytes(trace)?, bytes(span)?, bytes::<1>(flags)?);
        let is_known = version != 0xff && (version != 0 || parts.next().is_none());
        if !is_known || trace == [0; 16] || span == [0; 8] {
            return Err(InvalidTraceParent);
        }
        let is_sampled = flags & 1 == 1;
        Ok(TraceContext { trace: TraceId(trace), span: SpanId(span), is_sampled })
    }
}

/// Parses bytes from lower-case hexadecimal digits.
fn bytes<const N: usize>(digits: &str) -> Result<[u8; N], InvalidTraceParent> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digits.len() != 2 * N || !digits.bytes().all(is_hex) {
        return Err(InvalidTraceParent);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = str::from_utf8(pair).map_err(|_| InvalidTraceParent)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| InvalidTraceParent)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn a_traceparent_has_the_ids_and_the_decision_to_sample() {
        for (flags, is_sampled) in [("01", true), ("00", false), ("03", true)] {
            let text = format!("00-{TRACE}-00f067aa0ba902b7-{flags}");
            let context: TraceContext = text.parse().unwrap();
            assert_eq!(context.trace.to_string(), TRACE);
            assert_eq!(context.span.to_string(), "00f067aa0ba902b7");
            assert_eq!(context.is_sampled, is_sampled, "{flags}");
        }
        let later: Result<TraceContext, _> = format!("01-{TRACE}-00f067aa0ba902b7-01-more").parse();
        assert!(later.is_ok());
    }

    #[test]
    fn any_other_text_is_refused() {
        let zeros = "00000000000000000000000000000000";
        for text in [
            "",
            "00",
            TRACE,
            &format!("00-{TRACE}-00f067aa0ba902b7"),
            &format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            &format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            &format!("00-{zeros}-00f067aa0ba902b7-01"),
            &format!("00-{TRACE}-0000000000000000-01"),
            &format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            &format!("00-{TRACE}-00f067aa0ba902bé-01"),
            &format!("00-{TRACE}-+0f067aa0ba902b7-01"),
        ] {
            assert_eq!(text.parse::<TraceContext>(), Err(InvalidTraceParent), "{text}");
        }
    }

    #[test]
    fn random_ids_differ_and_are_not_zero() {
        let (one, other) = (TraceId::random(), TraceId::random());
        assert!(one != other && one.0 != [0; 16] && SpanId::random().0 != [0; 8]);
    }
}
