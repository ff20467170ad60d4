//! pytest-lsp, a client that checks each message against the specification, with the capabilities
//! of VS Code, Neovim and Emacs.

use std::path::Path;

use super::{empty_folder, program, run_to_end};
use crate::conformance::{Check, Outcome};
use crate::peers;

/// The tests, run by pytest.
const TESTS: &str = include_str!("editor_test.py");

pub(super) fn run(assay: &Path) -> Vec<Check> {
    let outcome = match peers::pytest_lsp() {
        Ok(python) => Outcome::of(check(&python, assay)),
        Err(error) => Outcome::unavailable(&error),
    };
    vec![("pytest-lsp: VS Code, Neovim, Emacs".to_owned(), outcome)]
}

fn check(python: &Path, assay: &Path) -> anyhow::Result<()> {
    let folder = empty_folder("pytest-lsp")?;
    std::fs::write(folder.join("editor_test.py"), TESTS)?;
    let mut pytest = program(python, &folder, assay);
    pytest
        .args(["-m", "pytest", "--quiet", "--exitfirst", "--tb=short", "-p", "no:cacheprovider"])
        .args(["-o", "asyncio_default_fixture_loop_scope=function", "--basetemp"])
        .arg(folder.join("tests"))
        .arg("editor_test.py")
        .env("ASSAY_FOLDER", &folder);
    let said = run_to_end(pytest)?;
    println!("pytest-lsp: {}", said.lines().last().unwrap_or_default());
    Ok(())
}
