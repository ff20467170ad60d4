//! Webhooks: GitHub's own examples, signed by its library, sent to the real server.

use std::path::Path;

use anyhow::bail;
use assay_testenv::workspace::{command, target_folder};
use assay_testkit::storm::Server;

use super::{Check, Outcome};
use crate::peers;
use crate::repository::Repository;
use crate::workspace::{assay, output};

const SECRET: &str = "a secret between GitHub and us";

/// The configuration with the repository of the examples.
const CONFIGURATION: &str = "github: { repositories: [Codertocat/Hello-World] }\n";

/// A script that sends the examples.
const SCRIPT: &str = include_str!("webhooks.cjs");

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let outcome = match peers::github_webhooks() {
        Err(error) => Outcome::unavailable(&error),
        Ok(modules) => Outcome::of(judge(&modules)),
    };
    Ok(vec![("every example of GitHub's, signed by its own library".to_owned(), outcome)])
}

fn judge(modules: &Path) -> anyhow::Result<()> {
    let repository = Repository::new(target_folder("conformance/webhooks")?)?;
    repository.write("config/agent-framework.yaml", CONFIGURATION.as_bytes())?;
    let variables = [("GITHUB_WEBHOOK_SECRET", SECRET)];
    let args = ["--listen", "127.0.0.1:0"];
    let server = Server::start(&assay()?, repository.folder(), &args, &variables)?;
    let script = modules.join("webhooks.cjs");
    std::fs::write(&script, SCRIPT)?;
    let mut node = command("node", &[]);
    node.arg(script).args([server.address(), SECRET]);
    let said = output(node)?;
    match said.trim() {
        "" => Ok(()),
        said => bail!("{said}"),
    }
}
