//! The packages of `cargo xtask dist`, installed by the programs of users: pip, npm and the install
//! script. Each package is installed into an empty folder, and the installed program reviews a
//! change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::{answers, target_folder};

use super::{Check, Outcome};
use crate::peers;
use crate::workspace::assay;
use crate::{dist, dist::DistArgs};

/// The version of the Python package `cyclonedx-python-lib`, which validates bills of materials.
const CYCLONEDX: &str = "11.5.0";

/// The address in the index; the install script gets another one.
const URL: &str = "https://localhost/assay";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let folder = target_folder("conformance/packages")?;
    fs::remove_dir_all(&folder)?;
    fs::create_dir_all(&folder)?;
    let packages = folder.join("dist");
    dist::run(&DistArgs::of_binary(&assay()?, &packages))?;
    dist::run(&DistArgs::index_of(&packages, URL))?;
    let check =
        |name: &str, installed: anyhow::Result<()>| (name.to_owned(), Outcome::of(installed));
    Ok(vec![
        check("wheel in a new environment", install_wheel(&folder, &packages)),
        ("npm in a new folder".to_owned(), npm_outcome(&folder, &packages)),
        check("install script", run_install_script(&folder, &packages)),
        check("install script refuses an exchanged archive", refuse_exchanged(&folder, &packages)),
        check("packed twice, the same bytes", pack_twice(&folder, &packages)),
        ("bill of materials".to_owned(), validate_bill(&folder, &packages)),
    ])
}

/// Installs the wheel without a network, and reviews a change with the installed program.
fn install_wheel(folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let environment = folder.join("venv");
    run_program(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let wheel = only_file(packages, ".whl")?;
    let pip = environment.join("bin/pip");
    run_program(Command::new(pip).args(["install", "--quiet", "--no-index"]).arg(wheel))?;
    review_with(&environment.join("bin/assay"), folder)
}

fn npm_outcome(folder: &Path, packages: &Path) -> Outcome {
    match answers("npm", &["--version"]) {
        true => Outcome::of(install_npm(folder, packages)),
        false => Outcome::Unavailable("`npm` is not installed".to_owned()),
    }
}

/// Installs the package of the platform and the one that chooses, and starts the program by the
/// latter.
fn install_npm(folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let place = folder.join("npm");
    fs::create_dir_all(&place)?;
    fs::write(place.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.args(files(packages, ".tgz")?).current_dir(&place);
    run_program(&mut npm)?;
    review_with(&place.join("node_modules/.bin/assay"), folder)
}

/// Runs the install script with the archives of a folder in place of a server.
fn run_install_script(folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let place = folder.join("bin");
    let (ended_well, said) = install_script(packages, packages, &place)?;
    if !ended_well {
        bail!("{said}");
    }
    review_with(&place.join("assay"), folder)
}

/// Runs the install script with an archive that is not the one of its checksum.
fn refuse_exchanged(folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let (server, place) = (folder.join("server"), folder.join("refused"));
    fs::create_dir_all(&server)?;
    let archive = only_file(packages, ".tar.gz")?;
    let name = archive.file_name().context("an archive has a name")?;
    fs::write(server.join(name), b"another archive")?;
    let (ended_well, said) = install_script(packages, &server, &place)?;
    if ended_well || !said.contains("nothing was installed") || place.join("assay").exists() {
        bail!("an exchanged archive was installed, or refused for another reason: {said}");
    }
    Ok(())
}

/// Returns true if the script succeeded, and its output.
fn install_script(packages: &Path, server: &Path, place: &Path) -> anyhow::Result<(bool, String)> {
    let output = Command::new("sh")
        .arg(packages.join("install.sh"))
        .env("ASSAY_DOWNLOAD_URL", format!("file://{}", server.display()))
        .env("ASSAY_INSTALL_DIR", place)
        .output()
        .context("could not start `sh`")?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// Packs the same binary once more and compares all packages.
fn pack_twice(folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let again = folder.join("again");
    dist::run(&DistArgs::of_binary(&assay()?, &again))?;
    dist::run(&DistArgs::index_of(&again, URL))?;
    for entry in fs::read_dir(packages)? {
        let name = entry?.file_name();
        if fs::read(packages.join(&name))? != fs::read(again.join(&name))? {
            bail!("`{}` has other bytes the second time", name.to_string_lossy());
        }
    }
    Ok(())
}

/// Validates the bill of materials with the schema of CycloneDX.
fn validate_bill(folder: &Path, packages: &Path) -> Outcome {
    let python = match peers::pip_with([
        ("cyclonedx-python-lib", CYCLONEDX),
        ("jsonschema[format-nongpl]", peers::JSONSCHEMA),
    ]) {
        Ok(python) => python,
        Err(error) => return Outcome::unavailable(&error),
    };
    Outcome::of(validate_with(&python, folder, packages))
}

const VALIDATE: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
";

fn validate_with(python: &Path, folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let bill = unpack(&only_file(packages, ".tar.gz")?, folder)?.join("assay.cdx.json");
    run_program(Command::new(python).args(["-c", VALIDATE]).arg(bill))
}

/// Unpacks an archive, and returns the folder with its files.
pub(super) fn unpack(archive: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let place = folder.join("unpacked");
    fs::create_dir_all(&place)?;
    run_program(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&place))?;
    let stem = archive.file_name().and_then(|name| name.to_str()?.strip_suffix(".tar.gz"));
    Ok(place.join(stem.context("an archive has a name")?))
}

/// Reviews a flawed change with an installed program, outside of every environment.
pub(super) fn review_with(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let repository = folder.join("repository");
    if !repository.exists() {
        fs::create_dir_all(&repository)?;
        run_program(Command::new("git").args(["init", "--quiet"]).current_dir(&repository))?;
        fs::write(repository.join("a.py"), "def f():\n    breakpoint()\n    return 1\n")?;
        run_program(Command::new("git").args(["add", "--all"]).current_dir(&repository))?;
    }
    let mut review = Command::new(program);
    let review = review.args(["review", "--staged"]).current_dir(&repository).output();
    let review = review.with_context(|| format!("could not start `{}`", program.display()))?;
    let said = String::from_utf8_lossy(&review.stdout);
    match review.status.code() {
        Some(1) if said.contains("python/debugger") => Ok(()),
        code => bail!("`{}` ended with {code:?} and printed: {said}", program.display()),
    }
}

/// Runs a program that has to succeed.
pub(super) fn run_program(command: &mut Command) -> anyhow::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("could not start `{shown}`"))?;
    match output.status.success() {
        true => Ok(()),
        false => bail!("`{shown}` failed: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Returns the files of a folder with an ending, sorted.
fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn only_file(folder: &Path, ending: &str) -> anyhow::Result<PathBuf> {
    let found = files(folder, ending)?;
    match <[PathBuf; 1]>::try_from(found) {
        Ok([file]) => Ok(file),
        Err(found) => bail!("expected one file with `{ending}`, found {}", found.len()),
    }
}
