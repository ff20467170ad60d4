//! Objects of git, read by name: [`ObjectReader`].

use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_sandbox::{Command, PipedChild};

use super::MAX_FILE_BYTES;
use crate::git::{Git, argument, text};

/// The timeout of one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A query about an object: the option of `cat-file` for a long-running process, and that for a
/// single call.
#[derive(Debug)]
pub(super) struct ObjectQuery {
    batch_option: &'static str,
    single_option: &'static str,
    has_content: bool,
}

/// The query for the content of a file.
pub(super) const CONTENT_QUERY: ObjectQuery =
    ObjectQuery { batch_option: "--batch", single_option: "blob", has_content: true };

/// The query that distinguishes files from other kinds of objects.
pub(super) const KIND_QUERY: ObjectQuery =
    ObjectQuery { batch_option: "--batch-check", single_option: "-t", has_content: false };

/// A process that answers queries one after another. It is started with the first query, and again
/// if it died.
#[derive(Debug)]
pub(super) struct ObjectReader {
    git: Git,
    query: ObjectQuery,
    running: Mutex<Option<PipedChild>>,
}

/// The answer of git about a name.
#[derive(Debug)]
pub(super) enum ObjectAnswer {
    /// The name denotes a file.
    File(FileObject),
    /// The name denotes a folder, a submodule, or a file that is too large for the requested
    /// content.
    OtherKind,
    /// There is no such name, or no such object.
    Missing,
}

/// A file in git.
#[derive(Debug)]
pub(super) struct FileObject {
    /// The size in bytes.
    pub(super) size: u64,
    /// The content; empty if it was not requested.
    pub(super) content: Vec<u8>,
}

impl ObjectReader {
    pub(super) fn new(git: &Git, query: ObjectQuery) -> ObjectReader {
        ObjectReader { git: git.clone(), query, running: Mutex::default() }
    }

    /// Returns the answer about a name. Fails if git could not be started, died, or answered with
    /// neither an object nor its absence.
    pub(super) fn query(&self, name: &[u8]) -> io::Result<ObjectAnswer> {
        if name.contains(&0) {
            return Ok(ObjectAnswer::Missing);
        }
        // These characters would end the query early.
        if name.contains(&b'\n') || name.contains(&b'\r') {
            return self.query_once(name);
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = running.take();
        loop {
            let is_new = known.is_none();
            let mut git = match known.take() {
                Some(git) => git,
                None => {
                    let command = self.command(&["cat-file", self.query.batch_option]);
                    command.spawn_piped().map_err(io::Error::other)?
                }
            };
            // A process that failed to answer is not used again: the rest of its output would be
            // taken for another answer.
            match self.exchange(&mut git, name) {
                Ok(answer) => {
                    *running = Some(git);
                    return Ok(answer);
                }
                Err(error) if is_new => {
                    return Err(io::Error::new(error.kind(), format!("git cat-file: {error}")));
                }
                Err(_) => {}
            }
        }
    }

    fn exchange(&self, git: &mut PipedChild, name: &[u8]) -> io::Result<ObjectAnswer> {
        git.write_all(&[name, b"\n"].concat())?;
        let mut header = Vec::new();
        git.read_until(b'\n', &mut header)?;
        if header.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (kind, size) = match read_header(&header, name) {
            Header::Object { kind, size } => (kind, size),
            Header::Missing => return Ok(ObjectAnswer::Missing),
            Header::Submodule => return Ok(ObjectAnswer::OtherKind),
            Header::NotUnderstood => return Err(io::Error::other(text(&header))),
        };
        let is_wanted = kind == "blob" && (size <= MAX_FILE_BYTES || !self.query.has_content);
        let mut content = Vec::new();
        if self.query.has_content {
            let mut body = git.take(size);
            match is_wanted {
                true => io::copy(&mut body, &mut content)?,
                false => io::copy(&mut body, &mut io::sink())?,
            };
            // A line break ends the answer.
            git.read_exact(&mut [0])?;
        }
        Ok(match is_wanted {
            true => ObjectAnswer::File(FileObject { size, content }),
            false => ObjectAnswer::OtherKind,
        })
    }

    /// Runs a query in a separate process. Its exit code 128 means that there is no such file.
    fn query_once(&self, name: &[u8]) -> io::Result<ObjectAnswer> {
        const NO_SUCH_NAME: i32 = 128;
        let args = [b"cat-file", self.query.single_option.as_bytes(), name].map(argument);
        let run = self.command(&args).output(MAX_FILE_BYTES as usize).run();
        let finished = run.map_err(io::Error::other)?;
        match finished.status.code() {
            Some(0) if self.query.has_content || finished.stdout == b"blob\n" => {
                let size = finished.stdout.len() as u64;
                Ok(ObjectAnswer::File(FileObject { size, content: finished.stdout }))
            }
            Some(0) => Ok(ObjectAnswer::OtherKind),
            Some(NO_SUCH_NAME) => Ok(ObjectAnswer::Missing),
            _ => Err(io::Error::other(format!("git cat-file: {}", finished.status))),
        }
    }

    fn command<A: AsRef<std::ffi::OsStr>>(&self, args: &[A]) -> Command {
        self.git.command(args).time(ANSWER_TIMEOUT)
    }
}

/// The first line of an answer.
#[derive(Debug, PartialEq, Eq)]
enum Header {
    Object { kind: String, size: u64 },
    Missing,
    Submodule,
    NotUnderstood,
}

/// Parses the first line of an answer about a name.
fn read_header(header: &[u8], name: &[u8]) -> Header {
    // Git repeats an unknown name, whatever the name looks like.
    if header.strip_prefix(name).is_some_and(|rest| rest == b" missing") {
        return Header::Missing;
    }
    let line = text(header);
    let fields: Vec<&str> = line.split(' ').collect();
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match fields[..] {
        [id, "missing"] if is_id(id) => Header::Missing,
        [id, "submodule"] if is_id(id) => Header::Submodule,
        [id, kind, size] if is_id(id) => match size.parse() {
            Ok(size) => Header::Object { kind: kind.to_owned(), size },
            Err(_) => Header::NotUnderstood,
        },
        _ => Header::NotUnderstood,
    }
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
        let objects = ObjectReader::new(&git, CONTENT_QUERY);
        *objects.running.lock().unwrap() = Some(Command::new("true").spawn_piped().unwrap());
        let ObjectAnswer::File(file) = objects.query(b":0:a").unwrap() else {
            panic!("`a` is a file")
        };
        assert_eq!(file.content, b"1\n");
        assert!(matches!(objects.query(b":0:b").unwrap(), ObjectAnswer::Missing));
    }

    #[test]
    fn an_answer_that_is_neither_an_object_nor_missing_is_not_understood() {
        let header = |line: &str, name: &str| read_header(line.as_bytes(), name.as_bytes());
        let id = "78981922613b2afb6025042ff6bd878ac1994e85";
        let blob = Header::Object { kind: "blob".to_owned(), size: 2 };
        assert_eq!(header(&format!("{id} blob 2"), ":0:a"), blob);
        assert_eq!(header(":0:a b missing", ":0:a b"), Header::Missing);
        assert_eq!(header(&format!("{id} submodule"), ":0:a"), Header::Submodule);
        for line in ["", "fatal: out of memory", ":0:a ambiguous", ":0:b missing"] {
            assert_eq!(header(line, ":0:a"), Header::NotUnderstood, "{line:?}");
        }
    }
}
