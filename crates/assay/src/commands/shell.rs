//! `assay completions` and `assay man`: print completion scripts and the manual page.

use std::io;

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

/// Prints the manual page with all commands.
pub(crate) fn man() -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    render_commands(&command, &mut page)?;
    super::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Ready)
}

/// Appends the options of each command to the page.
fn render_commands(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let title = format!("{} {}", "assay", command.get_name()).to_uppercase();
        page.extend_from_slice(format!(".SH {title}\n").as_bytes());
        let man = clap_mangen::Man::new(command.clone());
        man.render_description_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
    }
    Ok(())
}
