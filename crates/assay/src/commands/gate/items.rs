//! Single items: handed in, settled by hand, accepted as they are.

use std::path::Path;

use anyhow::{Context, bail};
use assay_engine::gate_session::Opened;
use assay_gates::answer::GateAnswer;
use assay_gates::gate::Proposed;
use assay_gates::item::{ItemId, Severity, Verified};
use serde::Deserialize;
use serde_json::Value;

use super::{Form, GateArgs};
use crate::commands::{print, print_json, read_file, read_stdin};
use crate::exit::Exit;

/// What somebody saw of an item.
#[derive(clap::Args)]
pub(super) struct UpdateArgs {
    /// The item
    #[arg(value_name = "ID")]
    id: ItemId,
    /// PASS or FAIL
    #[arg(long, value_name = "STATUS")]
    status: String,
    /// What is wrong, for a FAIL
    #[arg(long, value_name = "TEXT")]
    finding: Option<String>,
}

/// Why somebody lives with an item.
#[derive(clap::Args)]
pub(super) struct AcceptArgs {
    /// The item
    #[arg(value_name = "ID")]
    id: ItemId,
    /// Why it is accepted as it is
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who accepts it: a person who wrote neither the items nor a fix
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

pub(super) fn update(args: &GateArgs, update: &UpdateArgs) -> anyhow::Result<Exit> {
    let result = result(&update.status, update.finding.as_deref())?;
    let opened = Opened::with_list(args.asked()?)?;
    opened.with_gate(|gate| gate.update(&update.id, result))?;
    told(&opened, args.format, &update.id, "written down")
}

/// Reads what somebody saw, in letters of any case.
fn result(status: &str, finding: Option<&str>) -> anyhow::Result<Verified> {
    match (status.to_ascii_uppercase().as_str(), finding) {
        ("PASS", None) => Ok(Verified::Pass),
        ("PASS", Some(_)) => bail!("a PASS has no finding; say FAIL if something is wrong"),
        ("FAIL", finding) => Ok(Verified::Fail(finding.unwrap_or_default().to_owned())),
        ("TODO", _) => Ok(Verified::Todo),
        _ => bail!("`{status}` is no status; say PASS or FAIL"),
    }
}

pub(super) fn accept(args: &GateArgs, accept: &AcceptArgs) -> anyhow::Result<Exit> {
    let opened = Opened::with_list(args.asked()?)?;
    let by = accept.by.as_deref().unwrap_or_default();
    opened.with_gate(|gate| gate.accept(&accept.id, &accept.reason, by))?;
    told(&opened, args.format, &accept.id, "accepted")
}

fn told(opened: &Opened, form: Form, id: &ItemId, done: &str) -> anyhow::Result<Exit> {
    match form {
        Form::Text => print(&format!("{id}: {done}\n"))?,
        Form::Json => {
            let (_, standing) = opened.with_gate(|gate| gate.standing())?;
            print_json(&GateAnswer::of(opened.phase, &standing))?;
        }
    }
    Ok(Exit::Ready)
}

/// An item that is handed in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandedIn {
    id: Option<ItemId>,
    scope: String,
    check: String,
    severity: Option<Severity>,
    #[serde(alias = "parent_id")]
    parent: Option<ItemId>,
    /// What an item has that was verified elsewhere, which counts for nothing here.
    #[serde(default, rename = "status")]
    _status: Option<String>,
    #[serde(default, rename = "finding")]
    _finding: Option<String>,
}

/// Reads items that somebody hands in.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Proposed>> {
    let bytes = if path == "-" { read_stdin()? } else { read_file(path)? };
    let shown = path.display();
    let mut list: Value = serde_json::from_slice(&bytes)
        .with_context(|| format!("`{shown}` is no JSON, and items are a list in JSON"))?;
    // The list may also stand in an object, as in a gate's own file.
    if let Some(items) = list.get_mut("items") {
        list = items.take();
    }
    let items: Vec<HandedIn> = serde_json::from_value(list).with_context(|| {
        format!(
            "`{shown}` is no list of items, each with `scope` and `check` and maybe `id`, \
             `severity` and `parent`"
        )
    })?;
    if let Some(number) =
        items.iter().position(|item| item.check.trim().is_empty() || item.scope.trim().is_empty())
    {
        bail!("`{shown}`: item {} has an empty `scope` or `check`", number + 1);
    }
    let proposed = |item: HandedIn| Proposed {
        id: item.id,
        scope: item.scope.as_str().into(),
        check: item.check,
        // What nobody graded must hold.
        severity: item.severity.unwrap_or(Severity::Must),
        parent: item.parent,
        by: None,
    };
    Ok(items.into_iter().map(proposed).collect())
}
