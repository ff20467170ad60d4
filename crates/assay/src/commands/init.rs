//! `assay init`: writes a commented configuration, with every key at its default.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_agents::config::{mcp, roster};
use assay_engine::config;

use super::print;
use crate::exit::Exit;

/// Arguments of `assay init`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Install a git hook that reviews staged changes before each commit
    #[arg(long)]
    hook: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The files of the configuration.
const FILES: [(&str, &str); 3] = [
    (config::PATH, include_str!("../../assets/agent-framework.yaml")),
    (roster::PATH, roster::BUILT_IN),
    (mcp::PATH, include_str!("../../assets/mcp-config.json")),
];

/// The hook that git runs before a commit.
const HOOK: &str = include_str!("../../assets/pre-commit");

/// The command of the hook.
const HOOK_COMMAND: &str = "assay review --staged --mode report-only";

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let mut done = Vec::new();
    for (name, text) in FILES {
        let path = root.join(name);
        if path.exists() {
            done.push(format!("{name} already exists and was not changed"));
        } else {
            write(&path, text)?;
            done.push(format!("wrote {name}"));
        }
    }
    if args.hook {
        done.push(install_hook(&args.folder, &root)?);
    }
    done.push("next: assay review".to_owned());
    print(&(done.join("\n") + "\n"))?;
    Ok(Exit::Ready)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Installs the hook in git's folder of hooks. An existing hook is never overwritten.
fn install_hook(folder: &Path, root: &Path) -> anyhow::Result<String> {
    let path = assay_change::hooks_folder(folder)?.join("pre-commit");
    let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
    match fs::read_to_string(&path) {
        Ok(there) if there == HOOK => return Ok(format!("{shown} already exists")),
        Ok(_) => bail!(
            "`{shown}` already exists and was not written by assay; add `{HOOK_COMMAND}` to it"
        ),
        Err(_) => write(&path, HOOK)?,
    }
    make_executable(&path)?;
    Ok(format!("wrote {shown}: git runs `{HOOK_COMMAND}` before each commit"))
}

fn make_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, permissions)
        .with_context(|| format!("cannot make `{}` executable", path.display()))
}
