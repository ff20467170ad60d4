//! Single items of a gate: submitted, verified by hand, or accepted.

use std::path::Path;

use anyhow::{Context, bail};
use assay_engine::gate_session::OpenGate;
use assay_gates::answer::GateAnswer;
use assay_gates::gate::NewItem;
use assay_gates::item::{ItemId, ItemResult, Severity};
use serde::Deserialize;
use serde_json::Value;

use super::{Form, GateArgs};
use crate::commands::{print, print_json, read_file, read_stdin};
use crate::exit::Exit;

/// Arguments of `assay gate update-item`.
#[derive(clap::Args)]
pub(super) struct UpdateArgs {
    /// The id of the item
    #[arg(value_name = "ID")]
    id: ItemId,
    /// The result: PASS or FAIL
    #[arg(long, value_name = "STATUS")]
    status: String,
    /// The finding, for a FAIL
    #[arg(long, value_name = "TEXT")]
    finding: Option<String>,
}

/// Arguments of `assay gate accept`.
#[derive(clap::Args)]
pub(super) struct AcceptArgs {
    /// The id of the item
    #[arg(value_name = "ID")]
    id: ItemId,
    /// The reason for accepting the item
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The person who accepts the item, who wrote neither the items nor a fix
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

pub(super) fn update(args: &GateArgs, update: &UpdateArgs) -> anyhow::Result<Exit> {
    let result = result(&update.status, update.finding.as_deref())?;
    let opened = OpenGate::with_list(args.options()?)?;
    opened.with_gate(|gate| gate.update(&update.id, result))?;
    report_item(&opened, args.format, &update.id, "recorded")
}

/// Parses a result; the case of letters is ignored.
fn result(status: &str, finding: Option<&str>) -> anyhow::Result<ItemResult> {
    match (status.to_ascii_uppercase().as_str(), finding) {
        ("PASS", None) => Ok(ItemResult::Pass),
        ("PASS", Some(_)) => {
            bail!("`--status PASS` takes no `--finding`; use `--status FAIL` to report a finding")
        }
        ("FAIL", finding) => Ok(ItemResult::Fail(finding.unwrap_or_default().to_owned())),
        ("TODO", _) => Ok(ItemResult::Todo),
        _ => bail!("invalid status `{status}`: expected PASS or FAIL"),
    }
}

pub(super) fn accept(args: &GateArgs, accept: &AcceptArgs) -> anyhow::Result<Exit> {
    let opened = OpenGate::with_list(args.options()?)?;
    let by = accept.by.as_deref().unwrap_or_default();
    opened.with_gate(|gate| gate.accept(&accept.id, &accept.reason, by))?;
    report_item(&opened, args.format, &accept.id, "accepted")
}

fn report_item(opened: &OpenGate, form: Form, id: &ItemId, done: &str) -> anyhow::Result<Exit> {
    match form {
        Form::Text => print(&format!("{id}: {done}\n"))?,
        Form::Json => {
            let (_, standing) = opened.with_gate(|gate| gate.status())?;
            print_json(&GateAnswer::of(opened.phase, &standing))?;
        }
    }
    Ok(Exit::Ready)
}

/// An item of a submitted list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SubmittedItem {
    id: Option<ItemId>,
    scope: String,
    check: String,
    severity: Option<Severity>,
    #[serde(alias = "parent_id")]
    parent: Option<ItemId>,
    /// The result of a verification elsewhere, which is ignored.
    #[serde(default, rename = "status")]
    _status: Option<String>,
    #[serde(default, rename = "finding")]
    _finding: Option<String>,
}

/// Reads submitted items from a file, or from stdin if the path is `-`.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<NewItem>> {
    let bytes = if path == "-" { read_stdin()? } else { read_file(path)? };
    let shown = path.display();
    let mut list: Value = serde_json::from_slice(&bytes)
        .with_context(|| format!("`{shown}` is not JSON: expected a list of items"))?;
    // The list may be in an object, as in the state file of a gate.
    if let Some(items) = list.get_mut("items") {
        list = items.take();
    }
    let items: Vec<SubmittedItem> = serde_json::from_value(list).with_context(|| {
        format!(
            "invalid items in `{shown}`: expected a list of objects with `scope` and `check`, and \
             optionally `id`, `severity` and `parent`"
        )
    })?;
    if let Some(number) =
        items.iter().position(|item| item.check.trim().is_empty() || item.scope.trim().is_empty())
    {
        bail!("`{shown}`: item {} has an empty `scope` or `check`", number + 1);
    }
    let proposed = |item: SubmittedItem| NewItem {
        id: item.id,
        scope: item.scope.as_str().into(),
        check: item.check,
        // An item without a severity must pass.
        severity: item.severity.unwrap_or(Severity::Must),
        parent: item.parent,
        by: None,
    };
    Ok(items.into_iter().map(proposed).collect())
}
