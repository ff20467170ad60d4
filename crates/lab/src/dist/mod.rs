//! `cargo xtask dist`: builds the packages of the release binary for one target.
//!
//! [`payload::Payload`] has the files of all packages: the binary, completion scripts, the manual
//! page, licences and the bill of materials. [`archive`] packs them as a tar archive, [`wheel`] for
//! Python, [`npm`] for Node.js. [`release_index`] writes the files that name the archives of all
//! targets: checksums, install script, Homebrew formula, and the npm package that chooses one.
//!
//! The same commit and compiler give the same bytes: paths are replaced while compiling, entries
//! are sorted, times are those of the commit, and owners are 0.

mod archive;
mod bill_of_materials;
mod npm;
mod payload;
mod platform;
mod release_index;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_testenv::workspace::{command, root, target, target_folder};
use sha2::{Digest, Sha256};

use self::payload::Payload;
use self::platform::Platform;
use crate::workspace::output;

/// The name of the packages in registries; the program in them is `assay`.
const PACKAGE: &str = "assay-gate";

/// The description of the program for registries, in one sentence.
const SUMMARY: &str = "The quality gate for code that agents and people write";

/// The licence of the program, as an SPDX expression.
const LICENSE: &str = "MIT OR Apache-2.0";

/// Arguments of `cargo xtask dist`.
#[derive(clap::Args)]
pub(crate) struct DistArgs {
    /// The target triple [default: the triple of this machine]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Pack this binary instead of a new release build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The folder of the packages [default: target/dist]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The address of the folder that the archives are downloaded from. Writes checksums, install
    /// script, formula and the npm package for all archives in the folder, and builds nothing
    #[arg(long, value_name = "URL", conflicts_with_all = ["target", "binary"])]
    index: Option<String>,
}

impl DistArgs {
    /// Returns the arguments that pack a binary of this machine.
    pub(crate) fn of_binary(binary: &Path, out: &Path) -> DistArgs {
        DistArgs {
            target: None,
            binary: Some(binary.to_owned()),
            out: Some(out.to_owned()),
            index: None,
        }
    }

    /// Returns the arguments that build and pack the binary of a target.
    pub(crate) fn of_target(target: &str, out: &Path) -> DistArgs {
        let (target, out) = (Some(target.to_owned()), Some(out.to_owned()));
        DistArgs { target, binary: None, out, index: None }
    }

    /// Returns the arguments that write the index of a folder.
    pub(crate) fn index_of(out: &Path, url: &str) -> DistArgs {
        let index = Some(url.to_owned());
        DistArgs { target: None, binary: None, out: Some(out.to_owned()), index }
    }
}

/// Builds the packages for one target, or the index of all packages. Returns true: a failure is an
/// error.
pub(crate) fn run(args: &DistArgs) -> anyhow::Result<bool> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => target_folder("dist")?,
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("could not make `{}`", folder.display()))?;
    let written = match &args.index {
        Some(url) => release_index::write(&folder, url)?,
        None => pack(args, &folder)?,
    };
    for path in written {
        println!("written: {}", path.display());
    }
    Ok(true)
}

/// Writes archive, wheel and npm package for one target, and returns their paths.
fn pack(args: &DistArgs, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let triple = match &args.target {
        Some(triple) => triple.clone(),
        None => host()?,
    };
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => build(&triple)?,
    };
    let platform = Platform::of(&triple, &binary)?;
    let payload = Payload::collect(&binary, &platform, commit_time()?)?;
    let archive = archive::write(&payload, &platform, folder)?;
    let wheel = wheel::write(&payload, &platform, folder)?;
    let npm = npm::write_platform(&payload, &platform, folder)?;
    let checksum = write_checksum(&archive)?;
    Ok(vec![archive, checksum, wheel, npm])
}

/// Builds the release binary without the paths of this machine, and returns its path.
fn build(triple: &str) -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let user = std::env::home_dir().map(|home| home.join(".cargo"));
    let cargo = home.or(user).context("neither `CARGO_HOME` nor a home folder is known")?;
    let flags = [
        format!("--remap-path-prefix={}=/assay", root().display()),
        format!("--remap-path-prefix={}=/cargo", cargo.display()),
    ];
    let folder = target().join("dist-build");
    let mut cargo = command("cargo", &["build", "--release", "--locked", "--package", "assay"]);
    cargo.args(["--target", triple]).env("CARGO_TARGET_DIR", &folder);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    if !cargo.status()?.success() {
        bail!("`assay` could not be built for `{triple}`; is `rustup target add {triple}` done?");
    }
    Ok(folder.join(triple).join("release").join(platform::program_name(triple)))
}

/// Returns the target triple of this machine.
fn host() -> anyhow::Result<String> {
    let described = output(command("rustc", &["-vV"]))?;
    let host = described.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// Returns the time of the commit that is packed, in seconds since 1970: `SOURCE_DATE_EPOCH`, or
/// else that of git.
fn commit_time() -> anyhow::Result<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => output(command("git", &["log", "-1", "--format=%ct"]))?,
    };
    text.trim().parse().with_context(|| format!("`{}` is no time in seconds", text.trim()))
}

/// Returns the version of the packages.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Writes `FILE.sha256` in the form that `sha256sum --check` reads, and returns its path.
fn write_checksum(file: &Path) -> anyhow::Result<PathBuf> {
    let name = file_name(file)?;
    let sum = hex(&Sha256::digest(read(file)?));
    let path = file.with_file_name(format!("{name}.sha256"));
    write(&path, format!("{sum}  {name}\n").as_bytes())?;
    Ok(path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn file_name(path: &Path) -> anyhow::Result<&str> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.with_context(|| format!("`{}` has no readable name", path.display()))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("could not read `{}`", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("could not write `{}`", path.display()))
}
