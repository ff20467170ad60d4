//! `cargo xtask record-example`: records the examples under `examples/` again.
//!
//! The change of the recorded review and the answers of the models are written by hand; the review
//! that assay builds from both is recorded. The answers on the cases of `examples/eval` were given
//! by readers, so they are transferred to the new questions, and marked. Both must be done whenever
//! the text of a question changes.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use assay_testenv::workspace::{command, root, target};
use assay_testkit::Repository;
use assay_testkit::model::{FakeModel, Rules};

/// The folder of the recording.
const RECORDING: &str = "examples/persona-review";

/// The set whose recordings are transferred.
const SET: &str = "examples/eval";

const BEFORE: [(&str, &str); 4] = [
    ("AGENTS.md", include_str!("before/AGENTS.md")),
    ("docs/refunds.md", include_str!("before/docs/refunds.md")),
    ("refunds.py", include_str!("before/refunds.py")),
    ("shop/mail.py", include_str!("before/shop/mail.py")),
];

const AFTER: (&str, &str) = ("refunds.py", include_str!("after/refunds.py"));

/// Records the review. Returns true if that succeeded.
pub(crate) fn record() -> anyhow::Result<bool> {
    let status = command("cargo", &["build", "--package", "assay"]).status()?;
    if !status.success() {
        bail!("assay does not build");
    }
    let rules = Rules::from_json(include_str!("answers.json")).map_err(anyhow::Error::msg)?;
    let server = FakeModel::start(rules);
    let repository = Repository::new();
    for (path, text) in BEFORE {
        repository.write(path, text);
    }
    let models = format!(
        "models:\n  use:\n    example: {{ api: anthropic, model: claude-sonnet-4-5, url: \"{}\" }}\n",
        server.url()
    );
    repository.write("config/agent-framework.yaml", models);
    repository.commit("The shop");
    repository.git(&["switch", "--quiet", "--create", "refunds"]);
    repository.write(AFTER.0, AFTER.1);
    repository
        .commit("Customers can take back a part of an order\n\nThe rules are in docs/refunds.md.");
    let folder = root().join(RECORDING);
    if folder.exists() {
        fs::remove_dir_all(&folder).context("the old recording cannot be removed")?;
    }
    let binary = target().join("debug/assay");
    let folder = folder.display().to_string();
    let args = ["review", "--models", "--mode", "report-only", "--record", &folder];
    let status = command(&binary.display().to_string(), &args)
        .current_dir(repository.path())
        .status()
        .context("assay could not be run")?;
    // The example has findings, so the review is not ready.
    Ok(status.code() == Some(1) && rekey(&binary)?)
}

/// Transfers the answers of the set's recordings to the current questions. Returns true if no
/// question is left without an answer.
fn rekey(binary: &Path) -> anyhow::Result<bool> {
    let folder = root().join(SET).join("recordings");
    if !folder.is_dir() {
        return Ok(true);
    }
    // The configuration of the current folder must not change the questions.
    let empty = Repository::new();
    let mut is_answered = true;
    for entry in fs::read_dir(&folder).context("the recordings of the set cannot be read")? {
        let recording = entry?.path();
        if !recording.join("answers.jsonl").is_file() {
            continue;
        }
        let (set, recording) = (root().join(SET), recording.display().to_string());
        let set = set.display().to_string();
        let status = command(&binary.display().to_string(), &["eval", "rekey", &set, &recording])
            .current_dir(empty.path())
            .status()
            .context("assay could not be run")?;
        is_answered &= status.success();
    }
    Ok(is_answered)
}
