//! The plugins of the project, validated and installed by the programs that load them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::bail;
use assay_testenv::workspace::{root, target_folder};

use super::{Check, Outcome};
use crate::peers;

/// The version of `@anthropic-ai/claude-code`.
const CLAUDE_CODE: &str = "2.1.197";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let folder = match peers::npm("claude-code", "@anthropic-ai/claude-code", CLAUDE_CODE) {
        Ok(folder) => folder,
        Err(error) => return Ok(vec![("Claude Code".to_owned(), Outcome::unavailable(&error))]),
    };
    let program = folder.join("node_modules/.bin/claude");
    let home = target_folder("conformance/plugins")?;
    fs::remove_dir_all(&home)?;
    fs::create_dir_all(&home)?;
    let plugins = root().join("plugins");
    let (marketplace, plugin) = (plugins.display().to_string(), "assay@assay");
    let own = plugins.join("claude-code").display().to_string();
    let steps: [(&str, Vec<&str>); 4] = [
        ("validates the plugin", vec!["validate", &own]),
        ("validates the list of plugins", vec!["validate", &marketplace]),
        ("adds the list of plugins", vec!["marketplace", "add", &marketplace]),
        ("installs the plugin", vec!["install", plugin]),
    ];
    let check = |(name, args): &(&str, Vec<&str>)| {
        (format!("Claude Code {name}"), Outcome::of(plugin_command(&program, &home, args)))
    };
    Ok(steps.iter().map(check).collect())
}

/// Runs a command of Claude Code on plugins, with a home of its own and without a network.
fn plugin_command(program: &Path, home: &Path, args: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program)
        .arg("plugin")
        .args(args)
        .current_dir(home)
        .env("HOME", home)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .output()?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!("{}", String::from_utf8_lossy(&said).trim());
    }
    Ok(())
}
