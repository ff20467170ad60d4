//! Stdout, for every command.
//!
//! The result of a command must not depend on whether its output is read. So no write here fails:
//! the first error is stored, later output is dropped, and [`final_exit`] decides at the end of the
//! process. A command without a natural end calls [`is_open`] to decide if it continues.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};

use crate::exit::Exit;

/// The first error of a write to stdout.
static WRITE_ERROR: Mutex<Option<io::Error>> = Mutex::new(None);

/// The first error of a write to a file of output, with the file.
static FILE_ERROR: Mutex<Option<(PathBuf, io::Error)>> = Mutex::new(None);

fn write_error() -> MutexGuard<'static, Option<io::Error>> {
    WRITE_ERROR.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "this is the module that writes to stdout")]
fn unstyled_stdout() -> io::Stdout {
    io::stdout()
}

/// Writes bytes to stdout unchanged.
pub(crate) fn write(bytes: &[u8]) {
    let mut error = write_error();
    if error.is_none() {
        *error = unstyled_stdout().lock().write_all(bytes).err();
    }
}

/// Writes styled text to stdout; removes the colours if they are not wanted.
pub(crate) fn write_styled(text: &[u8]) {
    StyledStdout::new().write_bytes(text);
}

/// Writes output to a file. Fails if the file cannot be created. Another error is stored, as that of
/// a write to stdout is.
pub(crate) fn write_to_file(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    if let Err(error) = file.write_all(text.as_bytes()) {
        let mut stored = FILE_ERROR.lock().unwrap_or_else(PoisonError::into_inner);
        stored.get_or_insert_with(|| (path.to_owned(), error));
    }
    Ok(())
}

/// Flushes stdout.
pub(crate) fn flush() {
    let mut error = write_error();
    if error.is_none() {
        *error = unstyled_stdout().lock().flush().err();
    }
}

/// Returns true if no write to stdout has failed.
pub(crate) fn is_open() -> bool {
    write_error().is_none()
}

/// Returns true if stdout is a terminal.
pub(crate) fn is_terminal() -> bool {
    unstyled_stdout().is_terminal()
}

/// Returns stdout as a file, for a protocol that uses it.
pub(crate) fn duplicate() -> io::Result<File> {
    Ok(unstyled_stdout().as_fd().try_clone_to_owned()?.into())
}

/// Returns the exit code of the process: that of the command, whether its output was read or not.
/// An output error of a disk or device is reported, and is never a success.
pub(crate) fn final_exit(exit: Exit) -> Exit {
    flush();
    let of_stdout = write_error().take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
    let of_stdout = of_stdout.map(|error| ("stdout".to_owned(), error));
    let of_file = FILE_ERROR.lock().unwrap_or_else(PoisonError::into_inner).take();
    let of_file = of_file.map(|(path, error)| (format!("`{}`", path.display()), error));
    let Some((place, error)) = of_stdout.or(of_file) else { return exit };
    let _ = writeln!(
        io::stderr(),
        "error: cannot write to {place}: {error}\nhint: the output is incomplete; write it to a \
         place with free space and run the command again"
    );
    if exit == Exit::Ready { Exit::Incomplete } else { exit }
}

/// A writer of styled text to stdout. It removes colours if they are not wanted, and never fails.
pub(crate) struct StyledStdout(Option<StripBytes>);

impl StyledStdout {
    pub(crate) fn new() -> StyledStdout {
        let is_plain = AutoStream::choice(&unstyled_stdout()) == ColorChoice::Never;
        StyledStdout(is_plain.then(StripBytes::new))
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            None => write(bytes),
            Some(strip) => strip.strip_next(bytes).for_each(write),
        }
    }
}

impl Write for StyledStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        flush();
        Ok(())
    }
}
