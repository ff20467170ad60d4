//! Takes what a provider sends, in whichever form: [`Intake`].

use serde_json::Value;

use super::sse::{Event, Events, TooLong};
use super::{Answer, Complaint, Dialect, MAX_ANSWER};

/// The end of a stream in the dialects of OpenAI.
const DONE: &str = "[DONE]";

/// Takes an answer piece by piece.
#[derive(Debug)]
pub(crate) struct Intake {
    dialect: Dialect,
    answer: Answer,
    form: Form,
    /// How it begins, for whoever must see why it is no answer.
    head: Vec<u8>,
    garbled: Option<String>,
    /// How many bytes of a body came that are more than filling.
    body_bytes: usize,
}

/// How much of the beginning is kept.
const HEAD: usize = 300;

#[derive(Debug)]
enum Form {
    /// Nothing but space came yet.
    Unknown,
    /// One body, though a stream was asked for.
    Body(Vec<u8>),
    /// A stream.
    Stream(Events),
}

/// Why what came is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// It is longer than any answer.
    TooLong,
    /// It is not in the dialect; this is how it begins.
    Garbled(String),
}

impl From<TooLong> for Bad {
    fn from(_: TooLong) -> Bad {
        Bad::TooLong
    }
}

impl Intake {
    pub(crate) fn new(dialect: Dialect) -> Intake {
        let (answer, form, head) = (Answer::default(), Form::Unknown, Vec::new());
        Intake { dialect, answer, form, head, garbled: None, body_bytes: 0 }
    }

    /// Gives what came so far.
    pub(crate) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns how much of an answer came so far: it grows with what a model says, and not with what
    /// only keeps a connection open.
    pub(crate) fn content(&self) -> usize {
        self.answer.heard + self.body_bytes
    }

    /// Gives what came so far, for good.
    pub(crate) fn into_answer(self) -> Answer {
        self.answer
    }

    /// Takes a piece.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), Bad> {
        self.head.extend(piece.iter().take(HEAD.saturating_sub(self.head.len())));
        if let Form::Unknown = self.form {
            let Some(first) = piece.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                return Ok(());
            };
            // No event begins like this, and what servers say about their answers is often wrong.
            self.form = match first {
                b'{' | b'[' => Form::Body(Vec::new()),
                _ => Form::Stream(Events::default()),
            };
        }
        match &mut self.form {
            Form::Unknown => {}
            Form::Body(body) if body.len() + piece.len() > MAX_ANSWER => return Err(Bad::TooLong),
            Form::Body(body) => {
                self.body_bytes += piece.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
                body.extend_from_slice(piece);
            }
            Form::Stream(events) => {
                let (dialect, answer, garbled) =
                    (self.dialect, &mut self.answer, &mut self.garbled);
                events.feed(piece, &mut |event| fold(dialect, event, answer, garbled))?;
            }
        }
        match (self.answer.len() > MAX_ANSWER, self.garbled.take()) {
            (true, _) => Err(Bad::TooLong),
            (false, Some(garbled)) => Err(Bad::Garbled(garbled)),
            (false, None) => Ok(()),
        }
    }

    /// Gives the answer when nothing follows any more.
    pub(crate) fn finish(mut self) -> Result<Answer, Bad> {
        match self.form {
            // An answer of nothing is whole, and empty.
            Form::Unknown => self.answer.ended = true,
            Form::Body(body) => {
                let body: Value = serde_json::from_slice(&body)
                    .map_err(|_| Bad::Garbled(String::from_utf8_lossy(&body).into_owned()))?;
                self.answer.complaint = Complaint::read(&body);
                self.answer.ended = true;
                self.dialect.whole(&body, &mut self.answer);
            }
            Form::Stream(events) => {
                let (dialect, answer, garbled) =
                    (self.dialect, &mut self.answer, &mut self.garbled);
                events.finish(&mut |event| fold(dialect, event, answer, garbled))?;
                if self.answer == Answer::default() && self.garbled.is_none() {
                    self.garbled = Some(String::from_utf8_lossy(&self.head).into_owned());
                }
            }
        }
        match self.garbled {
            Some(garbled) => Err(Bad::Garbled(garbled)),
            None => Ok(self.answer),
        }
    }
}

fn fold(dialect: Dialect, event: Event, answer: &mut Answer, garbled: &mut Option<String>) {
    // What comes after a hole would be joined to what came before it, and mean something else.
    if garbled.is_some() {
        return;
    }
    if event.data.trim() == DONE {
        answer.ended = true;
        return;
    }
    let Ok(data) = serde_json::from_str::<Value>(&event.data) else {
        // What comes after the end changes nothing.
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
    fn what_is_no_json_is_garbled() {
        expect![[r#"Garbled("<html>")"#]]
            .assert_eq(&answer(Dialect::Chat, "data: <html>\n\ndata: [DONE]\n\n"));
        expect![[r#"Garbled("{\"choices\":")"#]].assert_eq(&answer(Dialect::Chat, "{\"choices\":"));
    }

    #[test]
    fn what_follows_a_hole_is_not_joined_to_what_came_before_it() {
        let piece = |text: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
        };
        let mut intake = Intake::new(Dialect::Chat);
        let stream = format!("{}data: {{\"cho\n\n{}", piece("line 6"), piece("0"));
        assert!(intake.feed(stream.as_bytes()).is_err());
        assert_eq!(intake.into_answer().into_parts(false).text, "line 6");
    }

    #[test]
    fn a_page_is_no_answer() {
        let page = answer(Dialect::Anthropic, "<html><body>Sign in</body></html>");
        expect![[r#"Garbled("<html><body>Sign in</body></html>")"#]].assert_eq(&page);
    }
}
