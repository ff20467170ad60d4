//! Percent-encoding of paths and path segments in URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// The characters that a segment escapes: all but the unreserved characters of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that a path escapes: those of a segment, but no slashes, and no signs without a
/// meaning in a path.
const PATH: &AsciiSet = &SEGMENT.remove(b'/').remove(b'+').remove(b'@');

/// Encodes one segment of a path, or a value of a query.
pub fn encode_segment(text: &str) -> String {
    percent_encode(text.as_bytes(), SEGMENT).to_string()
}

/// Encodes a path; its slashes stay.
pub fn encode_path(path: impl AsRef<[u8]>) -> String {
    percent_encode(path.as_ref(), PATH).to_string()
}

/// Decodes `%20` and the like. Other text is unchanged, and bytes that are not UTF-8 are replaced.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_encoded_in_a_segment_and_kept_in_a_path() {
        assert_eq!(encode_segment("a/b c~.-_?#%é"), "a%2Fb%20c~.-_%3F%23%25%C3%A9");
        assert_eq!(encode_path("/a+b/@c d?é"), "/a+b/@c%20d%3F%C3%A9");
        assert_eq!(encode_path(b"\xff"), "%FF");
    }

    #[test]
    fn decoding_reverses_encoding() {
        for text in ["", "a/b c", "100%", "é表😀", "%41"] {
            assert_eq!(decode(&encode_segment(text)), text);
            assert_eq!(decode(&encode_path(text)), text);
        }
    }

    #[test]
    fn only_two_hexadecimal_digits_are_an_escape() {
        for text in ["%", "%4", "%zz", "%+f", "%-1", "a+b", "%é"] {
            assert_eq!(decode(text), text);
        }
        assert_eq!(decode("%2f%2F%ff"), "//\u{fffd}");
    }
}
