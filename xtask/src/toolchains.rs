//! Tools of other languages for the tests that need them: [`Toolchains`].
//!
//! Python and Node have to be there. What runs their tests is installed into the target folder,
//! once, and never into the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::{answers, command, target_folder};

/// Tells tests the folder that tools were set up in.
const SET_UP: &str = "ASSAY_TEST_TOOLCHAINS";

/// What is installed by `pip`, and by `npm`.
const PYTEST: &str = "pytest==9.2.0";
const VITEST: &str = "vitest@3.2.7";

/// The tools that could be set up.
pub(crate) struct Toolchains {
    /// The folder that they are in.
    folder: PathBuf,
    /// Those that could not be.
    pub(crate) missing: Vec<Missing>,
}

/// A tool that is missing.
pub(crate) struct Missing {
    pub(crate) what: &'static str,
    /// Where it comes from.
    pub(crate) how: &'static str,
}

impl Toolchains {
    /// Sets up what is not set up already.
    pub(crate) fn set_up() -> anyhow::Result<Toolchains> {
        let folder = target_folder("toolchains")?;
        let mut missing = Vec::new();
        if !answers("python3", &["--version"]) {
            missing.push(Missing { what: "python3", how: "apt-get install python3 python3-venv" });
        } else if let Err(error) = pytest(&folder) {
            println!("{error:#}");
            let how = "see above; it comes from the Python Package Index";
            missing.push(Missing { what: "pytest", how });
        }
        if !answers("node", &["--version"]) || !answers("npm", &["--version"]) {
            missing.push(Missing { what: "node and npm", how: "apt-get install nodejs npm" });
        } else if let Err(error) = vitest(&folder) {
            println!("{error:#}");
            missing
                .push(Missing { what: "vitest", how: "see above; it comes from npm's registry" });
        }
        if !answers("go", &["version"]) {
            missing.push(Missing { what: "go", how: "apt-get install golang-go" });
        }
        Ok(Toolchains { folder, missing })
    }

    /// Has a command find what was set up.
    pub(crate) fn given_to<'c>(&self, command: &'c mut Command) -> anyhow::Result<&'c mut Command> {
        let known = std::env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.folder.join("python/bin"));
        let path = std::env::join_paths(own.chain(std::env::split_paths(&known)))?;
        Ok(command.env("PATH", path).env(SET_UP, &self.folder))
    }
}

fn pytest(folder: &Path) -> anyhow::Result<()> {
    let place = folder.join("python");
    let program = place.join("bin/pytest");
    if answers(text(&program)?, &["--version"]) {
        return Ok(());
    }
    run("python3", &["-m", "venv", "--clear", text(&place)?])?;
    run(text(&place.join("bin/pip"))?, &["install", "--quiet", PYTEST])
}

fn vitest(folder: &Path) -> anyhow::Result<()> {
    let program = folder.join("node_modules/.bin/vitest");
    if answers(text(&program)?, &["--version"]) {
        return Ok(());
    }
    let folder = text(folder)?;
    run("npm", &["install", "--no-audit", "--no-fund", "--no-save", "--prefix", folder, VITEST])
}

fn run(program: &str, args: &[&str]) -> anyhow::Result<()> {
    let status = command(program, args).status();
    let status = status.with_context(|| format!("`{program}` could not be started"))?;
    if !status.success() {
        bail!("`{program} {}` ended with {status}", args.join(" "));
    }
    Ok(())
}

fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("`{}` is no text", path.display()))
}
