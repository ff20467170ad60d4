//! A keystroke in a large file: from the notification of the editor to the diagnostics.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_testenv::workspace::target_folder;
use assay_testkit::lsp::LspClient;
use serde_json::json;

use super::{Row, Target};
use crate::repository::Repository;
use crate::workspace::assay;

/// The number of functions in the file, of five lines each.
const FUNCTIONS: usize = 400;

const KEYSTROKES: i32 = 60;

/// Times keystrokes without the pause of the server.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let folder = target_folder("bench/editor")?;
    let repository = Repository::new(folder.join("repository"))?;
    let text: String = (0..FUNCTIONS).map(function).collect();
    repository.write("large.py", text.as_bytes())?;
    repository.commit("large")?;
    let file = repository.folder().join("large.py");
    let mut command = Command::new(assay()?);
    command.arg("lsp").current_dir(repository.folder()).env("XDG_STATE_HOME", folder.join("state"));
    let options = json!({"debounce": 0});
    let mut client = LspClient::start(command, &[repository.folder()], options);
    client.open(&file, &text);
    client.diagnostics(&file, 1);
    let mut times: Vec<Duration> =
        (2..KEYSTROKES + 2).map(|version| keystroke(&mut client, &file, version)).collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2).context("no key was pressed")?;
    let slowest = times.last().context("no key was pressed")?;
    let lines = FUNCTIONS * 5;
    let what = format!("a keystroke in a file of {lines} lines, median");
    client.finish();
    Ok(vec![
        Row::number(what, median.as_secs_f64() * 1e3, " ms", Target::AtMost(100.0)),
        Row::time("the slowest keystroke", *slowest),
    ])
}

fn function(number: usize) -> String {
    format!(
        "def f{number}(a, b):\n    x = a + {number}\n    if x > b:\n        return x * 2\n    return b\n"
    )
}

/// Types one character, and returns the time until the diagnostics of the new text.
fn keystroke(client: &mut LspClient, file: &Path, version: i32) -> Duration {
    let at = json!({"line": version * 37 % 2_000, "character": 4});
    let started = Instant::now();
    client.change(file, version, json!([{"range": {"start": at, "end": at}, "text": "y"}]));
    client.diagnostics(file, version);
    started.elapsed()
}
