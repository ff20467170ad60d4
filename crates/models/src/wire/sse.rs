//! A parser of server-sent events: [`EventParser`].

use super::MAX_ANSWER_BYTES;

/// Splits a stream of bytes into events; pieces may end anywhere.
#[derive(Debug, Default)]
pub(crate) struct EventParser {
    line: Vec<u8>,
    event: SseEvent,
    after_return: bool,
    begun: bool,
}

/// An event: its kind, which may be empty, and its data.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) kind: String,
    pub(crate) data: String,
}

/// The error for a line or an event that is longer than any answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl EventParser {
    /// Parses bytes, and passes each complete event to `take`.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        take: &mut impl FnMut(SseEvent),
    ) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, end) = (&rest[..at], rest[at]);
            rest = &rest[at + 1..];
            // A line feed after a carriage return of the previous piece does not end another line.
            let half = end == b'\n' && self.after_return && head.is_empty();
            self.after_return = end == b'\r';
            if !half {
                self.extend(head)?;
                self.end_line(take)?;
            }
        }
        if !rest.is_empty() {
            self.after_return = false;
        }
        self.extend(rest)
    }

    /// Passes on a last event without a blank line after it, which some servers leave out.
    pub(crate) fn finish(mut self, take: &mut impl FnMut(SseEvent)) -> Result<(), TooLong> {
        if !self.line.is_empty() {
            self.end_line(take)?;
        }
        self.dispatch(take);
        Ok(())
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > MAX_ANSWER_BYTES {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, take: &mut impl FnMut(SseEvent)) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = match std::mem::replace(&mut self.begun, true) {
            true => &*line,
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
        };
        if line.is_empty() {
            self.dispatch(take);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.kind = value.to_owned(),
            "data" => {
                if self.event.data.len() + value.len() > MAX_ANSWER_BYTES {
                    return Err(TooLong);
                }
                self.event.data.push_str(value);
                self.event.data.push('\n');
            }
            // A comment has no name; other fields are for browsers.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, take: &mut impl FnMut(SseEvent)) {
        let mut event = std::mem::take(&mut self.event);
        if event.data.pop().is_some() {
            take(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let (mut events, mut taken) = (EventParser::default(), Vec::new());
        for piece in pieces {
            events.feed(piece, &mut |event| taken.push(event)).unwrap();
        }
        events.finish(&mut |event| taken.push(event)).unwrap();
        taken
    }

    fn check(text: &str, expected: Expect) {
        let shown = |event: &SseEvent| format!("{}|{:?}\n", event.kind, event.data);
        expected.assert_eq(&events(&[text.as_bytes()]).iter().map(shown).collect::<String>());
    }

    #[test]
    fn events_have_kinds_and_data() {
        check(
            "event: ping\ndata: {}\n\ndata:one\ndata: two\n\n: a comment\nid: 7\n\ndata: last",
            expect![[r#"
                ping|"{}"
                |"one\ntwo"
                |"last"
            "#]],
        );
    }

    #[test]
    fn all_line_endings_are_accepted() {
        check(
            "\u{feff}data: a\r\n\r\ndata: b\r\rdata: c\n\n",
            expect![[r#"
                |"a"
                |"b"
                |"c"
            "#]],
        );
    }

    #[test]
    fn an_overlong_line_is_an_error() {
        let mut events = EventParser::default();
        let piece = vec![b'x'; 1 << 20];
        let fed = (0..17).try_for_each(|_| events.feed(&piece, &mut |_| {}));
        assert_eq!(fed, Err(TooLong));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(64)))]
        #[test]
        fn events_do_not_depend_on_chunk_boundaries(
            lines in prop::collection::vec("(data: [a-zé]{0,4}|event: x|: c|)(\n|\r\n|\r)", 0..12),
            size in 1_usize..7,
        ) {
            let text = lines.concat();
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            prop_assert_eq!(events(&pieces), events(&[text.as_bytes()]));
        }
    }
}
