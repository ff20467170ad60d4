//! MCP servers, tested with third-party clients: the official conformance suite, the inspector, the
//! Python SDK and a real agent, over both transports and in both revisions of the protocol. In
//! addition, every tool is called with invalid arguments.

mod claude;
mod delegated;
mod fixture;
mod github;
mod hostile;
mod inspector;
mod jira;
mod official;
mod python;

use super::Check;
use crate::workspace;

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    workspace::assay()?;
    let mut checks = hostile::run();
    checks.extend(official::run());
    checks.extend(inspector::run());
    checks.extend(python::run());
    checks.extend(github::run());
    checks.extend(jira::run());
    checks.extend(claude::run());
    checks.extend(delegated::run());
    Ok(checks)
}
