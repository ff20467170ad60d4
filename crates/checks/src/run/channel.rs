//! Channels for results that the work tree does not control: reporters of our own, which run inside
//! of a test runner and write to a folder outside of the tree.

use std::fs;
use std::io;
use std::path::Path;

use assay_sandbox::Command;

use crate::check::RequiredCheck;

/// A module that every Python interpreter loads before the code of the tree.
const PYTHON: (&str, &str) = ("sitecustomize.py", include_str!("channel/sitecustomize.py"));

/// A reporter for `node --test`.
const NODE: (&str, &str) = ("reporter.mjs", include_str!("channel/reporter.mjs"));

/// Adds the reporter to a command that the check's `reading` expects.
pub(super) fn with_reporters(
    command: Command,
    check: &RequiredCheck,
    support: &Path,
) -> io::Result<Command> {
    if check.reading.is_of_node() {
        fs::write(support.join(NODE.0), NODE.1)?;
    }
    if !check.reading.is_of_python() {
        return Ok(command);
    }
    let folder = support.join("python");
    fs::create_dir(&folder)?;
    fs::write(folder.join(PYTHON.0), PYTHON.1)?;
    Ok(command.prepend_path("PYTHONPATH", folder))
}
