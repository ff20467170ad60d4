//! `assay init`: writes a commented configuration, with every key at its default.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_agents::config::{mcp, roster};
use assay_change::state::write_atomically;
use assay_engine::config;
use assay_engine::config::automatic_analysers::{UsableAnalyser, find_usable_on_disk};
use assay_engine::config::configuration_file;

use super::print;
use crate::exit::Exit;
use crate::process::{environment, state_of};

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

/// The JSON Schema of the configuration, which the first line of the configuration names.
const SCHEMA_FILE: &str = ".assay/configuration.schema.json";

/// The hook that git runs before a commit.
const HOOK: &str = include_str!("../../assets/pre-commit");

/// The command of the hook.
const HOOK_COMMAND: &str = "assay review --hook";

/// The hooks that earlier versions wrote, which are replaced.
const EARLIER_HOOKS: [&str; 2] = [
    "\
#!/bin/sh
# Reviews what is staged; a change that is not ready is not committed.
# `git commit --no-verify` goes past it.
exec assay review --staged --mode report-only
",
    "\
#!/bin/sh
# Reviews what is staged; a change that is not ready is not committed.
# `git commit --no-verify` goes past it.
exec assay review --hook
",
];

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let mut done = Vec::new();
    for (name, text) in FILES {
        match existing(&root, name) {
            Some(existing) => done.push(format!("{existing} already exists and was not changed")),
            None => {
                write(&root.join(name), text)?;
                done.push(format!("wrote {name}"));
            }
        }
    }
    write_schema(&root)?;
    done.push(format!("wrote {SCHEMA_FILE}, for editors"));
    if args.hook {
        done.push(install_hook(&args.folder, &root)?);
    }
    done.extend(usable_analysers(&root));
    done.push("next: assay review".to_owned());
    print(&(done.join("\n") + "\n"))?;
    Ok(Exit::Ready)
}

/// Returns a line for each analyser that the repository configures and that is installed.
fn usable_analysers(root: &Path) -> Vec<String> {
    let usable = find_usable_on_disk(environment(), root).unwrap_or_default();
    let line = |found: &UsableAnalyser| {
        let UsableAnalyser { known, configured_by } = found;
        format!("found {} (`{configured_by}`): {}", known.name, found.how_to_run())
    };
    usable.iter().map(line).collect()
}

/// Returns the existing file in place of one to write. A repository has one configuration, at any of
/// its places.
fn existing(root: &Path, name: &'static str) -> Option<&'static str> {
    let exists = |name: &&str| root.join(name).symlink_metadata().is_ok();
    match name == config::PATH {
        true => configuration_file::PATHS.into_iter().find(exists),
        false => Some(name).filter(exists),
    }
}

/// Writes the schema into the folder of state, which git ignores: the schema belongs to the version
/// of assay on this machine.
fn write_schema(root: &Path) -> anyhow::Result<()> {
    state_of(root).create()?;
    let path = root.join(SCHEMA_FILE);
    let text = assay_findings::write::pretty(&config::schema::schema());
    // A repository may have a link here, which is replaced and not followed.
    write_atomically(&path, text.as_bytes())
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Writes a new file. Fails if the path exists, also as a symbolic link.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Installs the hook in git's folder of hooks. An existing hook is never overwritten.
fn install_hook(folder: &Path, root: &Path) -> anyhow::Result<String> {
    let path = assay_change::hooks_folder(folder)?.join("pre-commit");
    let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
    match fs::read_to_string(&path) {
        Ok(there) if there == HOOK => return Ok(format!("{shown} already exists")),
        Ok(there) if EARLIER_HOOKS.contains(&there.as_str()) => {
            write_atomically(&path, HOOK.as_bytes())
                .with_context(|| format!("cannot write `{}`", path.display()))?;
        }
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
