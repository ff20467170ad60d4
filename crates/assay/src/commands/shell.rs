//! `assay completions`: prints completion scripts.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::exit::Exit;

/// Arguments of `assay completions`.
#[derive(clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell that the script is for
    shell: Shell,
}

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "assay", &mut script);
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ready)
}
