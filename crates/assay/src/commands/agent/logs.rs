//! `assay agent logs`: prints the logs of agents.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use assay_agents::log;
use assay_agents::tail::Tail;
use assay_engine::queues;
use assay_store::task::AgentId;

use crate::exit::Exit;
use crate::output;

/// The number of bytes at the end of a log that are shown.
const MAX_SHOWN_BYTES: u64 = 64 << 10;

/// The longest wait before a log is read again, since a file event may get lost.
const MAX_TAIL_WAIT: Duration = Duration::from_secs(5);

/// Arguments of `assay agent logs`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agents or workers [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<AgentId>,
    /// Keep printing new lines as they are written
    #[arg(short, long)]
    follow: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let folder = log::folder(&queues::root(&args.folder)?);
    let files = files(&folder, &args.ids)?;
    let tail = args.follow.then(|| Tail::new(&folder)).transpose()?;
    let mut open = Vec::new();
    for path in &files {
        let mut file =
            File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_SHOWN_BYTES)))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // The text before the first line break is part of a line, unless the whole log is shown.
        let start =
            text.iter().position(|byte| *byte == b'\n').filter(|_| length > MAX_SHOWN_BYTES);
        output::write(&text[start.map_or(0, |at| at + 1)..]);
        open.push(file);
    }
    let Some(tail) = tail else { return Ok(Exit::Ready) };
    while output::is_open() {
        for file in &mut open {
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            output::write(&text);
        }
        output::flush();
        tail.wait(MAX_TAIL_WAIT);
    }
    Ok(Exit::Ready)
}

/// Returns the log files of the named agents: `qa` is `qa.log`, or `qa-1.log` and so on.
fn files(folder: &Path, ids: &[AgentId]) -> anyhow::Result<Vec<PathBuf>> {
    if ids.is_empty() {
        let all = folder.join(log::ALL_AGENTS_FILE);
        if !all.exists() {
            bail!("no agent logs found; start agents with `assay agent start`");
        }
        return Ok(vec![all]);
    }
    let mut names: Vec<String> = fs::read_dir(folder)
        .with_context(|| {
            format!(
                "cannot read the agent logs in `{}`; `assay agent start` creates them",
                folder.display()
            )
        })?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let mut files = Vec::new();
    for id in ids {
        let is_its = |name: &&String| {
            let stem = name.strip_suffix(".log").and_then(|stem| stem.strip_prefix(id.as_str()));
            stem.is_some_and(|rest| {
                let number = rest.strip_prefix('-').unwrap_or_default();
                rest.is_empty()
                    || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
            })
        };
        let before = files.len();
        files.extend(names.iter().filter(is_its).map(|name| folder.join(name)));
        if files.len() == before {
            bail!("no log of agent `{id}` in `{}`", folder.display());
        }
    }
    Ok(files)
}
