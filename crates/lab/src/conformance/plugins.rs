//! The plugins of the project, validated and installed by the programs that load them.
//!
//! The program of Cursor cannot be installed from a registry. Codex reads the manifests of Cursor,
//! too, so the plugin for Cursor is checked with Codex.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;
use assay_testenv::workspace::{root, target_folder};

use super::{Check, Outcome};
use crate::peers;

/// The version of `@anthropic-ai/claude-code`.
const CLAUDE_CODE: &str = "2.1.197";

/// The version of `@openai/codex`.
const CODEX: &str = "0.169.0";

/// The line of `codex mcp list` with the server of the plugin.
const SERVER: &str = "assay    mcp review";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let mut checks = claude_code()?;
    checks.extend(codex()?);
    Ok(checks)
}

fn claude_code() -> anyhow::Result<Vec<Check>> {
    let folder = match peers::npm("claude-code", "@anthropic-ai/claude-code", CLAUDE_CODE) {
        Ok(folder) => folder,
        Err(error) => return Ok(vec![("Claude Code".to_owned(), Outcome::unavailable(&error))]),
    };
    let program = folder.join("node_modules/.bin/claude");
    let home = empty_folder("conformance/plugins")?;
    let plugins = root().join("plugins");
    let (marketplace, plugin) = (plugins.display().to_string(), "assay@assay");
    let own = plugins.join("claude-code").display().to_string();
    let steps: [(&str, Vec<&str>); 4] = [
        ("validates the plugin", vec!["plugin", "validate", &own]),
        ("validates the list of plugins", vec!["plugin", "validate", &marketplace]),
        ("adds the list of plugins", vec!["plugin", "marketplace", "add", &marketplace]),
        ("installs the plugin", vec!["plugin", "install", plugin]),
    ];
    let check = |(name, args): &(&str, Vec<&str>)| {
        let result = output_of(&program, &home, args).map(drop);
        (format!("Claude Code {name}"), Outcome::of(result))
    };
    Ok(steps.iter().map(check).collect())
}

fn codex() -> anyhow::Result<Vec<Check>> {
    let folder = match peers::npm("codex", "@openai/codex", CODEX) {
        Ok(folder) => folder,
        Err(error) => return Ok(vec![("Codex".to_owned(), Outcome::unavailable(&error))]),
    };
    let program = folder.join("node_modules/.bin/codex");
    let plugins = root().join("plugins");
    let own = install_with_codex(&program, &empty_folder("conformance/plugins-codex")?, &plugins);
    // A list for Codex has precedence, so the files for Cursor lie alone in a folder.
    let cursor = empty_folder("conformance/plugins-cursor")?;
    for part in [".cursor-plugin", "cursor"] {
        let status = Command::new("cp").arg("-r").arg(plugins.join(part)).arg(&cursor).status()?;
        if !status.success() {
            bail!("cannot copy the plugin for Cursor");
        }
    }
    let home = empty_folder("conformance/plugins-cursor-home")?;
    let cursor = install_with_codex(&program, &home, &cursor);
    Ok(vec![
        ("Codex loads the plugin".to_owned(), Outcome::of(own)),
        ("Codex loads the plugin for Cursor".to_owned(), Outcome::of(cursor)),
    ])
}

/// Installs the plugin of a list of plugins, and checks that Codex knows its server and tells the
/// model about both of its skills.
fn install_with_codex(program: &Path, home: &Path, list: &Path) -> anyhow::Result<()> {
    let list = list.display().to_string();
    output_of(program, home, &["plugin", "marketplace", "add", &list])?;
    output_of(program, home, &["plugin", "add", "assay@assay"])?;
    let servers = output_of(program, home, &["mcp", "list"])?;
    if !servers.contains(SERVER) {
        bail!("Codex does not know the server of the plugin: {servers}");
    }
    let prompt = output_of(program, home, &["debug", "prompt-input", "Review this branch"])?;
    for verb in ["review", "fix"] {
        let known = prompt.lines().flat_map(|line| line.split("\\n"));
        if !known.into_iter().any(|line| line.starts_with("- assay:") && line.contains(verb)) {
            bail!("Codex tells the model of no skill `{verb}` of the plugin");
        }
    }
    Ok(())
}

fn empty_folder(name: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder(name)?;
    fs::remove_dir_all(&folder)?;
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Returns the output of a program that loads plugins, which runs with a home of its own and
/// without requests that are not needed.
fn output_of(program: &Path, home: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(home)
        .env("HOME", home)
        .env("CODEX_HOME", home)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("{}{}", said.trim(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(said)
}
