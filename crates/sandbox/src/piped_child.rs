//! A running command that answers requests on its stdin: [`PipedChild`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::process::Group;

/// The number of bytes that a pipe accepts at once without blocking its writer.
const MAX_CHUNK_BYTES: usize = rustix::pipe::PIPE_BUF;

/// A running command that is written to and read from. It is killed, with its children, when this
/// value is dropped. Neither a write nor a read waits longer than the command's timeout.
#[derive(Debug)]
pub struct PipedChild {
    child: Child,
    group: Group,
    stdin: ChildStdin,
    stdout: BufReader<TimeoutReader>,
    time: Duration,
}

impl PipedChild {
    pub(crate) fn new(mut child: Child, group: Group, time: Duration) -> PipedChild {
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stdout = BufReader::new(TimeoutReader { stdout, time });
        PipedChild { child, group, stdin, stdout, time }
    }
}

impl Drop for PipedChild {
    fn drop(&mut self) {
        self.group.kill();
        // The exit status has no reader any more.
        let _ = self.child.wait();
    }
}

impl Write for PipedChild {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        wait_for(self.stdin.as_fd(), PollFlags::OUT, self.time)?;
        self.stdin.write(&bytes[..bytes.len().min(MAX_CHUNK_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdin.flush()
    }
}

impl Read for PipedChild {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stdout.read(buffer)
    }
}

impl BufRead for PipedChild {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.stdout.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.stdout.consume(amount);
    }
}

/// A reader of stdout with a timeout for each read.
#[derive(Debug)]
struct TimeoutReader {
    stdout: ChildStdout,
    time: Duration,
}

impl Read for TimeoutReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait_for(self.stdout.as_fd(), PollFlags::IN, self.time)?;
        self.stdout.read(buffer)
    }
}

fn wait_for(pipe: BorrowedFd<'_>, what: PollFlags, time: Duration) -> io::Result<()> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(&pipe, what)], Some(&time))? {
        0 => Err(io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::shell;

    #[test]
    fn a_piped_command_answers_several_requests() {
        let mut echo =
            shell("while read -r line; do echo \"<$line>\"; done").spawn_piped().unwrap();
        for _ in 0..3 {
            echo.write_all(b"hello\n").unwrap();
            let mut answer = String::new();
            echo.read_line(&mut answer).unwrap();
            assert_eq!(answer, "<hello>\n");
        }
    }

    #[test]
    fn reading_from_a_silent_command_times_out() {
        let silent = shell("sleep 600").time(Duration::from_millis(20));
        let error = silent.spawn_piped().unwrap().read_line(&mut String::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn writing_to_a_command_that_does_not_read_times_out() {
        let deaf = shell("sleep 600").time(Duration::from_millis(20));
        let error = deaf.spawn_piped().unwrap().write_all(&[b'x'; 1 << 20]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_dropped_piped_child_leaves_no_process_behind() {
        let mut family = shell("sleep 600 & echo $!; wait").spawn_piped().unwrap();
        let mut child = String::new();
        family.read_line(&mut child).unwrap();
        // Both processes hold the pipe open, so its reader sees the end once both are gone.
        let stdout = family.stdout.get_ref().stdout.as_fd().try_clone_to_owned().unwrap();
        drop(family);
        let mut rest = Vec::new();
        std::fs::File::from(stdout).read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty());
    }
}
