//! `cargo xtask record-example`: the recorded review under `examples/`, made anew.
//!
//! The change and what the models say to it are written by hand; what assay makes of both is
//! recorded. It has to be made anew whenever what models are told changes.

use std::fs;

use anyhow::{Context, bail};
use assay_fakes::Repository;
use assay_fakes::model::{FakeModel, Rules};

use crate::workspace::{command, root, target};

/// Where the recording lies.
const RECORDING: &str = "examples/persona-review";

const BEFORE: [(&str, &str); 4] = [
    ("AGENTS.md", include_str!("before/AGENTS.md")),
    ("docs/refunds.md", include_str!("before/docs/refunds.md")),
    ("refunds.py", include_str!("before/refunds.py")),
    ("shop/mail.py", include_str!("before/shop/mail.py")),
];

const AFTER: (&str, &str) = ("refunds.py", include_str!("after/refunds.py"));

/// Records the review; says whether that went well.
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
    Ok(status.code() == Some(1))
}
