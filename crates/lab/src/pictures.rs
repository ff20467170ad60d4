//! `cargo xtask pictures`: renders the terminal output of assay as SVG files for the manual.
//!
//! Each picture shows a prompt, a command and its output as a terminal shows them, with colours.
//! The output is that of the binary, in the repository of `assay demo`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anstyle::{Color, RgbColor};
use anstyle_svg::{Palette, Term};
use anyhow::{Context, bail};
use assay_testenv::workspace::{root, target_folder};

use crate::workspace;

/// The folder of the pictures.
const FOLDER: &str = "docs/pictures";

/// The path that the pictures show for the demo repository.
const SHOWN_FOLDER: &str = "/tmp/assay-demo";

const FOREGROUND: Color = Color::Rgb(RgbColor(0xd4, 0xd8, 0xde));
const BACKGROUND: Color = Color::Rgb(RgbColor(0x16, 0x1b, 0x22));

/// Colours that can be read on the background, in the order of the ANSI colours.
const PALETTE: Palette = Palette([
    RgbColor(0x48, 0x4f, 0x58),
    RgbColor(0xff, 0x7b, 0x72),
    RgbColor(0x56, 0xd3, 0x64),
    RgbColor(0xe3, 0xb3, 0x41),
    RgbColor(0x79, 0xc0, 0xff),
    RgbColor(0xd2, 0xa8, 0xff),
    RgbColor(0x56, 0xd4, 0xdd),
    RgbColor(0xd4, 0xd8, 0xde),
    RgbColor(0x8b, 0x94, 0x9e),
    RgbColor(0xff, 0xa1, 0x98),
    RgbColor(0x7e, 0xe7, 0x87),
    RgbColor(0xf2, 0xcc, 0x60),
    RgbColor(0xa5, 0xd6, 0xff),
    RgbColor(0xe2, 0xc5, 0xff),
    RgbColor(0x7d, 0xe8, 0xee),
    RgbColor(0xff, 0xff, 0xff),
]);

/// The opacity of dimmed text. The default of the renderer is hard to read on the background.
const DIMMED: (&str, &str) = (".dimmed { opacity: 0.4; }", ".dimmed { opacity: 0.65; }");

/// A picture: the name of its file, and the arguments of assay.
struct Picture {
    name: &'static str,
    args: &'static [&'static str],
}

/// The pictures of commands in the demo repository, in the order in which the commands run.
const IN_DEMO: [Picture; 2] = [
    Picture { name: "fix", args: &["fix"] },
    Picture { name: "findings-list", args: &["findings", "list"] },
];

/// Renders all pictures. Returns true: a command that fails is an error.
pub(crate) fn make() -> anyhow::Result<bool> {
    let binary = workspace::assay()?;
    let temporary = target_folder("pictures").context("could not create `target/pictures`")?;
    let demo = run(&binary, &["demo"], Path::new("."), &temporary)?;
    let repository = demo_repository(&demo)?;
    save("demo", &["demo"], &demo, &repository)?;
    for Picture { name, args } in IN_DEMO {
        let output = run(&binary, args, &repository, &temporary)?;
        save(name, args, &output, &repository)?;
    }
    fs::remove_dir_all(&repository)
        .with_context(|| format!("could not remove `{}`", repository.display()))?;
    Ok(true)
}

/// Runs assay with colours and returns its stdout. Exit code 1 is a verdict, any other but 0 an
/// error.
fn run(binary: &Path, args: &[&str], folder: &Path, temporary: &Path) -> anyhow::Result<String> {
    let output = Command::new(binary)
        .args(args)
        .current_dir(folder)
        .env("CLICOLOR_FORCE", "1")
        .env("TMPDIR", temporary)
        .output()
        .with_context(|| format!("could not start `{}`", binary.display()))?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`assay {}` ended with {}: {errors}", args.join(" "), output.status);
    }
    String::from_utf8(output.stdout).context("the output of assay is not UTF-8")
}

/// Returns the folder of the demo repository, which the demo prints.
fn demo_repository(output: &str) -> anyhow::Result<PathBuf> {
    let (_, rest) = output.split_once("The repository is ").context("the demo names no folder")?;
    let path = rest.lines().next().and_then(|line| line.split(". ").next());
    Ok(PathBuf::from(path.context("the demo names no folder")?))
}

/// Writes the picture of a command and its output.
fn save(name: &str, args: &[&str], output: &str, repository: &Path) -> anyhow::Result<()> {
    let output = output.replace(&repository.display().to_string(), SHOWN_FOLDER);
    let text = format!("\x1b[1m$ assay {}\x1b[0m\n{output}", args.join(" "));
    let terminal = Term::new().palette(PALETTE).fg_color(FOREGROUND).bg_color(BACKGROUND);
    let picture = terminal.render_svg(&text).replace(DIMMED.0, DIMMED.1);
    let folder = root().join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("could not create `{FOLDER}`"))?;
    let path = folder.join(name).with_extension("svg");
    fs::write(&path, picture).with_context(|| format!("could not write `{}`", path.display()))?;
    println!("written to {FOLDER}/{name}.svg");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_path_is_read_from_the_demo_output() {
        let output = "ready\n\nThe repository is /tmp/x/assay-demo-1. Next commands:\n  assay\n";
        assert_eq!(demo_repository(output).unwrap(), Path::new("/tmp/x/assay-demo-1"));
        assert!(demo_repository("ready\n").is_err());
    }
}
