//! Decodes the response of a provider, whether a stream or one body: [`ResponseDecoder`].

use serde_json::Value;

use super::sse::{EventParser, SseEvent, TooLong};
use super::{ApiError, Dialect, MAX_ANSWER_BYTES, PartialAnswer};

/// The end of a stream in the dialects of OpenAI.
const DONE: &str = "[DONE]";

/// Decodes an answer piece by piece.
#[derive(Debug)]
pub(crate) struct ResponseDecoder {
    dialect: Dialect,
    answer: PartialAnswer,
    format: BodyFormat,
    /// The first bytes of the response, to be shown if it is not an answer.
    head: Vec<u8>,
    garbled: Option<String>,
    /// The number of bytes of a body that were received, without white space.
    body_bytes: usize,
}

/// The maximum number of first bytes that are retained.
const MAX_HEAD_BYTES: usize = 300;

#[derive(Debug)]
enum BodyFormat {
    /// Only white space was received so far.
    Unknown,
    /// A single body, though a stream was requested.
    Body(Vec<u8>),
    /// A stream of events.
    Stream(EventParser),
}

/// The reason why a response is not an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// The response is longer than any answer.
    TooLong,
    /// The response is not in the dialect; the first bytes of it.
    Garbled(String),
}

impl From<TooLong> for DecodeError {
    fn from(_: TooLong) -> DecodeError {
        DecodeError::TooLong
    }
}

impl ResponseDecoder {
    pub(crate) fn new(dialect: Dialect) -> ResponseDecoder {
        let (answer, format, head) = (PartialAnswer::default(), BodyFormat::Unknown, Vec::new());
        ResponseDecoder { dialect, answer, format, head, garbled: None, body_bytes: 0 }
    }

    /// Returns the answer as received so far.
    pub(crate) fn answer(&self) -> &PartialAnswer {
        &self.answer
    }

    /// Returns a measure of the content received so far. It grows with the text of the model, and
    /// not with bytes that only keep a connection open.
    pub(crate) fn content(&self) -> usize {
        self.answer.received_chars + self.body_bytes
    }

    /// Converts to the answer as received so far.
    pub(crate) fn into_answer(self) -> PartialAnswer {
        self.answer
    }

    /// Decodes a piece of the response.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), DecodeError> {
        self.head.extend(piece.iter().take(MAX_HEAD_BYTES.saturating_sub(self.head.len())));
        if let BodyFormat::Unknown = self.format {
            let Some(first) = piece.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                return Ok(());
            };
            // No event begins with these characters, and the content type that servers declare is
            // often wrong.
            self.format = match first {
                b'{' | b'[' => BodyFormat::Body(Vec::new()),
                _ => BodyFormat::Stream(EventParser::default()),
            };
        }
        match &mut self.format {
            BodyFormat::Unknown => {}
            BodyFormat::Body(body) if body.len() + piece.len() > MAX_ANSWER_BYTES => {
                return Err(DecodeError::TooLong);
            }
            BodyFormat::Body(body) => {
                self.body_bytes += piece.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
                body.extend_from_slice(piece);
            }
            BodyFormat::Stream(events) => {
                let (dialect, answer, garbled) =
                    (self.dialect, &mut self.answer, &mut self.garbled);
                events.feed(piece, &mut |event| fold(dialect, event, answer, garbled))?;
            }
        }
        match (self.answer.len() > MAX_ANSWER_BYTES, self.garbled.take()) {
            (true, _) => Err(DecodeError::TooLong),
            (false, Some(garbled)) => Err(DecodeError::Garbled(garbled)),
            (false, None) => Ok(()),
        }
    }

    /// Returns the answer after the end of the response.
    pub(crate) fn finish(mut self) -> Result<PartialAnswer, DecodeError> {
        match self.format {
            // An empty response is a complete, empty answer.
            BodyFormat::Unknown => self.answer.ended = true,
            BodyFormat::Body(body) => {
                let body: Value = serde_json::from_slice(&body).map_err(|_| {
                    DecodeError::Garbled(String::from_utf8_lossy(&body).into_owned())
                })?;
                self.answer.api_error = ApiError::parse(&body);
                self.answer.ended = true;
                self.dialect.fold_body(&body, &mut self.answer);
            }
            BodyFormat::Stream(events) => {
                let (dialect, answer, garbled) =
                    (self.dialect, &mut self.answer, &mut self.garbled);
                events.finish(&mut |event| fold(dialect, event, answer, garbled))?;
                if self.answer == PartialAnswer::default() && self.garbled.is_none() {
                    self.garbled = Some(String::from_utf8_lossy(&self.head).into_owned());
                }
            }
        }
        match self.garbled {
            Some(garbled) => Err(DecodeError::Garbled(garbled)),
            None => Ok(self.answer),
        }
    }
}

fn fold(
    dialect: Dialect,
    event: SseEvent,
    answer: &mut PartialAnswer,
    garbled: &mut Option<String>,
) {
    // Text after a gap would be joined to the text before it, and mean something else.
    if garbled.is_some() {
        return;
    }
    if event.data.trim() == DONE {
        answer.ended = true;
        return;
    }
    let Ok(data) = serde_json::from_str::<Value>(&event.data) else {
        // Events after the end change nothing.
        if !answer.ended {
            garbled.get_or_insert(event.data);
        }
        return;
    };
    dialect.fold(&event.kind, &data, answer);
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::answer;
    use super::*;

    #[test]
    fn output_that_is_not_json_is_garbled() {
        expect![[r#"Garbled("<html>")"#]]
            .assert_eq(&answer(Dialect::Chat, "data: <html>\n\ndata: [DONE]\n\n"));
        expect![[r#"Garbled("{\"choices\":")"#]].assert_eq(&answer(Dialect::Chat, "{\"choices\":"));
    }

    #[test]
    fn text_after_an_invalid_event_is_not_appended() {
        let piece = |text: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
        };
        let mut intake = ResponseDecoder::new(Dialect::Chat);
        let stream = format!("{}data: {{\"cho\n\n{}", piece("line 6"), piece("0"));
        assert!(intake.feed(stream.as_bytes()).is_err());
        assert_eq!(intake.into_answer().into_parts(false).text, "line 6");
    }

    #[test]
    fn an_html_page_is_not_an_answer() {
        let page = answer(Dialect::Anthropic, "<html><body>Sign in</body></html>");
        expect![[r#"Garbled("<html><body>Sign in</body></html>")"#]].assert_eq(&page);
    }
}
