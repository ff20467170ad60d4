//! `assay man`: the manual pages, one for the program and one for each command.

mod sections;

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::CommandFactory;

use self::sections::write_sections;
use super::print;
use crate::Cli;
use crate::exit::Exit;

/// Arguments of `assay man`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The command of the page, such as `findings list` [default: the page of the program]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write all pages to DIR, as `assay.1`, `assay-review.1` and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// A manual page.
struct ManPage {
    /// The name without the section, such as `assay-review`.
    name: String,
    text: Vec<u8>,
}

/// Prints a page, or writes all pages to a folder.
pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut program = Cli::command();
    program.build();
    if let Some(folder) = &args.dir {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        for page in pages(&program, "assay")? {
            let path = folder.join(format!("{}.1", page.name));
            fs::write(&path, &page.text)
                .with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        return Ok(Exit::Ready);
    }
    let (mut command, mut name) = (&program, "assay".to_owned());
    for part in &args.command {
        let Some(found) = command.find_subcommand(part) else {
            let known: Vec<&str> = subcommands(command).map(clap::Command::get_name).collect();
            let known = match known.is_empty() {
                true => "it has no commands of its own".to_owned(),
                false => format!("its commands are {}", known.join(", ")),
            };
            bail!("`{}` has no command `{part}`; {known}", name.replace('-', " "));
        };
        (command, name) = (found, format!("{name}-{part}"));
    }
    print(&String::from_utf8_lossy(&page(command, &name)?.text))?;
    Ok(Exit::Ready)
}

/// Returns the commands of a command that have a page.
fn subcommands(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set())
}

/// Returns the page of a command and those of its commands.
fn pages(command: &clap::Command, name: &str) -> io::Result<Vec<ManPage>> {
    let mut all = vec![page(command, name)?];
    for inner in subcommands(command) {
        all.extend(pages(inner, &format!("{name}-{}", inner.get_name()))?);
    }
    Ok(all)
}

fn page(command: &clap::Command, name: &str) -> io::Result<ManPage> {
    let man = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("assay ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if subcommands(command).next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    write_sections(&mut text, name)?;
    Ok(ManPage { name: name.to_owned(), text })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn all_pages() -> Vec<(String, String)> {
        let mut program = Cli::command();
        program.build();
        let pages = pages(&program, "assay").unwrap();
        let text = |page: ManPage| (page.name, String::from_utf8(page.text).unwrap());
        pages.into_iter().map(text).collect()
    }

    #[test]
    fn each_command_has_a_page_with_all_sections() {
        let pages = all_pages();
        for name in ["assay", "assay-review", "assay-findings-list", "assay-config-show"] {
            assert!(pages.iter().any(|(page, _)| page == name), "{name}");
        }
        for (name, text) in &pages {
            assert!(text.contains(concat!("\"assay ", env!("CARGO_PKG_VERSION"), "\"")), "{name}");
            for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
                let heading = format!(".SH \"{section}\"");
                let plain = format!(".SH {section}");
                assert!(text.contains(&heading) || text.contains(&plain), "{name}: {section}");
            }
        }
    }

    #[test]
    fn each_example_is_a_valid_command_line() {
        for command in sections::example_commands() {
            let words =
                command.split_whitespace().take_while(|word| !["|", "<", ">"].contains(word));
            let parsed = Cli::try_parse_from(words);
            assert!(parsed.is_ok(), "{command}: {}", parsed.err().unwrap());
        }
    }
}
