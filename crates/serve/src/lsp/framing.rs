//! Messages on a stream: a header with `Content-Length`, an empty line, and the body.

use std::io::{self, BufRead, Read, Write};

/// The maximum size of a message, in bytes. Twice the largest file that is read, since JSON escapes
/// characters.
const MAX_BODY: usize = 64 << 20;

/// The maximum length of a header line, in bytes.
const MAX_HEADER_LINE: u64 = 8 << 10;

/// The next part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The body of a message.
    Body(Vec<u8>),
    /// Bytes that are no message, with the reason. The stream can be read on.
    Malformed(String),
    /// The end of the stream.
    End,
}

/// Reads the next message. After a header that is no header, bytes are skipped up to the next line
/// with `Content-Length`.
pub(super) fn read_frame(input: &mut impl BufRead) -> io::Result<Frame> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_HEADER_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(Frame::End);
        }
        let line = line.trim_ascii();
        match (line.is_empty(), header_length(line)) {
            (true, _) => match length.take() {
                Some(length) => return read_body(input, length),
                None => continue,
            },
            (false, Some(Ok(found))) => length = Some(found),
            (false, Some(Err(why))) => return Ok(Frame::Malformed(why)),
            (false, None) if length.is_some() || is_header(line) => {}
            (false, None) => {
                return Ok(Frame::Malformed("expected a `Content-Length` header".to_owned()));
            }
        }
    }
}

/// Returns the length in a `Content-Length` header; `None` for any other line.
fn header_length(line: &[u8]) -> Option<Result<usize, String>> {
    let (name, value) = split_header(line)?;
    if !name.eq_ignore_ascii_case(b"content-length") {
        return None;
    }
    let value = String::from_utf8_lossy(value.trim_ascii()).into_owned();
    Some(value.parse().map_err(|_| format!("`Content-Length` is not a number: `{value}`")))
}

fn is_header(line: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'-');
    split_header(line).is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

fn split_header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((&line[..colon], &line[colon + 1..]))
}

fn read_body(input: &mut impl BufRead, length: usize) -> io::Result<Frame> {
    if length > MAX_BODY {
        io::copy(&mut input.by_ref().take(length as u64), &mut io::sink())?;
        return Ok(Frame::Malformed(format!("the message has more than {MAX_BODY} bytes")));
    }
    let mut body = Vec::new();
    let read = input.by_ref().take(length as u64).read_to_end(&mut body)?;
    Ok(if read == length { Frame::Body(body) } else { Frame::End })
}

/// Writes a message.
pub(super) fn write_frame(output: &mut impl Write, body: &[u8]) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", body.len())?;
    output.write_all(body)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns all parts of a stream, a line for each.
    fn frames(input: &[u8]) -> Vec<String> {
        let mut input = input;
        let mut all = Vec::new();
        loop {
            match read_frame(&mut input).unwrap() {
                Frame::Body(body) => all.push(format!("body {}", String::from_utf8_lossy(&body))),
                Frame::Malformed(why) => all.push(format!("malformed: {why}")),
                Frame::End => return all,
            }
        }
    }

    #[test]
    fn consecutive_messages_are_read_in_order() {
        let input = b"Content-Length: 2\r\n\r\n{}content-length:3\r\nContent-Type: x\r\n\r\n[1]";
        assert_eq!(frames(input), ["body {}", "body [1]"]);
    }

    #[test]
    fn a_wrong_header_does_not_lose_the_next_message() {
        let cases: [&[u8]; 3] = [
            b"Content-Length: x\r\n\r\nContent-Length: 2\r\n\r\n{}",
            b"hello there\r\nContent-Length: 2\r\n\r\n{}",
            b"{\"a\": 1}\nContent-Length: 2\n\n{}",
        ];
        for case in cases {
            let found = frames(case);
            assert_eq!(found.last().unwrap(), "body {}", "{found:?}");
            assert!(found[0].starts_with("malformed"), "{found:?}");
        }
    }

    #[test]
    fn a_truncated_message_ends_the_stream() {
        assert!(frames(b"Content-Length: 9\r\n\r\n{}").is_empty());
        assert!(frames(b"Content-Le").len() <= 1);
        assert!(frames(b"").is_empty());
    }

    proptest! {
        #[test]
        fn written_frames_are_read_back(bodies in prop::collection::vec(".{0,40}", 0..5)) {
            let mut stream = Vec::new();
            for body in &bodies {
                write_frame(&mut stream, body.as_bytes()).unwrap();
            }
            let expected: Vec<String> = bodies.iter().map(|body| format!("body {body}")).collect();
            prop_assert_eq!(frames(&stream), expected);
        }

        #[test]
        fn reading_any_bytes_terminates(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            frames(&bytes);
        }
    }
}
