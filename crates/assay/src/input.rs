//! Input of commands: stdin and files.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::Context;

use crate::messages::note;

/// Reads stdin, up to one byte more than any command accepts.
pub(crate) fn read_stdin() -> anyhow::Result<Vec<u8>> {
    if io::stdin().is_terminal() {
        note(
            "reading stdin from the terminal; end the input with Ctrl-D, or pass a file by `< FILE`",
        );
    }
    let mut bytes = Vec::new();
    let most = assay_findings::read::MAX_TEXT as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(bytes)
}

pub(crate) fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
}
