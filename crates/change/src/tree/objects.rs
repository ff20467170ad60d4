//! Git's objects, each asked for by name: [`Objects`].

use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_sandbox::{Command, Conversation};

use super::MAX_FILE;
use crate::git::{Git, argument, text};

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(60);

/// What is asked about an object: how git is asked again and again, and how once.
#[derive(Debug)]
pub(super) struct Question {
    again: &'static str,
    once: &'static str,
    has_content: bool,
}

/// What a file says.
pub(super) const CONTENT: Question = Question { again: "--batch", once: "blob", has_content: true };

/// Whether it is a file at all.
pub(super) const KIND: Question =
    Question { again: "--batch-check", once: "-t", has_content: false };

/// A process that is asked about one object after another, started with the first question and
/// again when it died.
#[derive(Debug)]
pub(super) struct Objects {
    git: Git,
    question: Question,
    running: Mutex<Option<Conversation>>,
}

/// What git says about a file.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) size: u64,
    /// What it says, where that was asked for.
    pub(super) content: Vec<u8>,
}

impl Objects {
    pub(super) fn new(git: &Git, question: Question) -> Objects {
        Objects { git: git.clone(), question, running: Mutex::default() }
    }

    /// Gives the answer about a file; `None` if there is no such file or it is too large.
    pub(super) fn ask(&self, name: &[u8]) -> Option<Answer> {
        if name.contains(&0) {
            return None;
        }
        // These would end the question early.
        if name.contains(&b'\n') || name.contains(&b'\r') {
            return self.ask_once(name);
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = running.take();
        loop {
            let is_new = known.is_none();
            let mut git = match known.take() {
                Some(git) => git,
                None => self.command(&["cat-file", self.question.again]).converse().ok()?,
            };
            // One that failed to answer is not asked again: what it still has to say would be
            // taken for another answer.
            match self.exchange(&mut git, name) {
                Ok(answer) => {
                    *running = Some(git);
                    return answer;
                }
                Err(_) if is_new => return None,
                Err(_) => {}
            }
        }
    }

    fn exchange(&self, git: &mut Conversation, name: &[u8]) -> io::Result<Option<Answer>> {
        git.write_all(&[name, b"\n"].concat())?;
        let mut header = Vec::new();
        git.read_until(b'\n', &mut header)?;
        if header.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((kind, size)) = object(&text(&header)) else { return Ok(None) };
        let is_wanted = kind == "blob" && (size <= MAX_FILE || !self.question.has_content);
        let mut content = Vec::new();
        if self.question.has_content {
            let mut body = git.take(size);
            match is_wanted {
                true => io::copy(&mut body, &mut content)?,
                false => io::copy(&mut body, &mut io::sink())?,
            };
            // A line break ends the answer.
            git.read_exact(&mut [0])?;
        }
        Ok(is_wanted.then_some(Answer { size, content }))
    }

    fn ask_once(&self, name: &[u8]) -> Option<Answer> {
        let args = [b"cat-file", self.question.once.as_bytes(), name].map(argument);
        let finished = self.command(&args).output(MAX_FILE as usize).run().ok()?;
        let is_file = finished.status.success()
            && (self.question.has_content || finished.stdout == b"blob\n");
        let size = finished.stdout.len() as u64;
        is_file.then_some(Answer { size, content: finished.stdout })
    }

    fn command<A: AsRef<std::ffi::OsStr>>(&self, args: &[A]) -> Command {
        self.git.command(args).time(TIME)
    }
}

/// Reads an object's kind and size; `None` if the answer is that there is none.
fn object(header: &str) -> Option<(String, u64)> {
    let mut fields = header.split(' ');
    let (id, kind, size) = (fields.next()?, fields.next()?, fields.next()?);
    // A name that is not known is repeated, whatever it looks like.
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit()) && fields.next().is_none();
    is_id.then_some((kind.to_owned(), size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_died_is_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let init = Command::new("git").args(["init", "--quiet"]).folder(folder.path());
        assert!(init.run().unwrap().status.success());
        let git = Git::find(folder.path()).unwrap();
        std::fs::write(folder.path().join("a"), "1\n").unwrap();
        git.run(&["add", "a"]).unwrap();
        let objects = Objects::new(&git, CONTENT);
        *objects.running.lock().unwrap() = Some(Command::new("true").converse().unwrap());
        assert_eq!(objects.ask(b":0:a").unwrap().content, b"1\n");
        assert!(objects.ask(b":0:b").is_none());
    }
}
