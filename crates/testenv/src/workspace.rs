//! The folders of the workspace, and commands that run in it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the folder of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}

/// Returns the folder that cargo builds into.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Returns a folder below the target folder, and creates it if it is missing.
pub fn target_folder(name: &str) -> io::Result<PathBuf> {
    let folder = target().join(name);
    std::fs::create_dir_all(&folder).map_err(|error| {
        io::Error::new(error.kind(), format!("could not make `{}`: {error}", folder.display()))
    })?;
    Ok(folder)
}

/// Returns a command that runs a program in the folder of the workspace.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    for name in package_variables() {
        command.env_remove(name);
    }
    command
}

/// Returns the variables by which `cargo run` describes the package of this process. The build
/// script of `ring` runs again when they change, so a cargo that inherits them compiles half of the
/// workspace again.
pub fn package_variables() -> Vec<OsString> {
    let is_of_package = |name: &OsString| {
        let name = name.to_string_lossy();
        let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
        prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "CARGO_PRIMARY_PACKAGE"
    };
    std::env::vars_os().map(|(name, _)| name).filter(is_of_package).collect()
}

/// Returns true if a program can be started with these arguments and succeeds. Its output is not
/// shown.
pub fn answers(program: &str, args: &[&str]) -> bool {
    let status = command(program, args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
