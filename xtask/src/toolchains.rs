//! Tools of other languages for the tests that need them: [`Toolchains`].
//!
//! Python and Node have to be installed. Their test runners are installed once, into the target
//! folder and never into the system.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::{answers, command, target_folder};

/// The environment variable with the folder of the tools, for the tests.
const SET_UP: &str = "ASSAY_TEST_TOOLCHAINS";

/// The packages that `pip` and `npm` install.
const PYTEST: &str = "pytest==9.2.0";
const VITEST: &str = "vitest@3.2.7";

/// The tools that are set up.
pub(crate) struct Toolchains {
    /// The folder of the tools.
    folder: PathBuf,
    /// The tools that could not be set up.
    pub(crate) missing: Vec<Missing>,
}

/// A tool that is missing.
pub(crate) struct Missing {
    pub(crate) what: &'static str,
    /// The command that installs the tool, or its source.
    pub(crate) how: &'static str,
}

impl Toolchains {
    /// Sets up the tools that are not set up yet.
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

    /// Makes the tools available to a command.
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
