//! Packages for npm: one with the program for each platform, and one that chooses among them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::archive::{FileMode, TarGz};
use super::payload::{BILL, LICENSES, Payload, THIRD_PARTY};
use super::platform::{Platform, program_name};
use super::{LICENSE, PACKAGE, SUMMARY, version, write as write_file};

/// The program of the package that chooses: starts the program of the platform's package.
const LAUNCHER: &str = include_str!("assets/launcher.js");

/// Writes the package with the program, and returns its path.
pub(super) fn write_platform(
    payload: &Payload,
    platform: &Platform,
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    let name = format!("{PACKAGE}-{}", platform.npm_suffix);
    let program = program_name(&platform.triple);
    let mut archive = TarGz::new(payload.time);
    archive.add("package/package.json", &json_file(&manifest(&name, platform)), FileMode::Data)?;
    archive.add(&format!("package/bin/{program}"), &payload.binary, FileMode::Program)?;
    for name in LICENSES.into_iter().chain([THIRD_PARTY, BILL]) {
        archive.add(&format!("package/{name}"), payload.file(name)?, FileMode::Data)?;
    }
    write_package(archive, &name, folder)
}

/// Writes the package that chooses among the packages of platforms, such as `linux-x64-gnu`, and
/// returns its path.
pub(super) fn write_chooser(
    suffixes: &[String],
    time: u64,
    folder: &Path,
    files: &[(&str, Vec<u8>)],
) -> anyhow::Result<PathBuf> {
    let mut archive = TarGz::new(time);
    let manifest = json_file(&chooser_manifest(suffixes));
    archive.add("package/package.json", &manifest, FileMode::Data)?;
    archive.add("package/bin/assay.js", LAUNCHER.as_bytes(), FileMode::Program)?;
    for (name, bytes) in files {
        archive.add(&format!("package/{name}"), bytes, FileMode::Data)?;
    }
    write_package(archive, PACKAGE, folder)
}

fn write_package(archive: TarGz, name: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{name}-{}.tgz", version()));
    write_file(&path, &archive.finish()?)?;
    Ok(path)
}

fn json_file(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Returns the manifest of the package for a platform.
fn manifest(name: &str, platform: &Platform) -> Value {
    let mut manifest = json!({
        "name": name,
        "version": version(),
        "description": format!("{SUMMARY}: the program for {}", platform.triple),
        "license": LICENSE,
        "os": [platform.npm_os],
        "cpu": [platform.npm_cpu],
        "preferUnplugged": true,
    });
    if let Some(libc) = platform.npm_libc {
        manifest["libc"] = json!([libc]);
    }
    manifest
}

/// Returns the manifest of the package that chooses. npm installs those optional dependencies that
/// fit the machine.
fn chooser_manifest(suffixes: &[String]) -> Value {
    let optional: serde_json::Map<String, Value> =
        suffixes.iter().map(|suffix| (format!("{PACKAGE}-{suffix}"), json!(version()))).collect();
    json!({
        "name": PACKAGE,
        "version": version(),
        "description": SUMMARY,
        "license": LICENSE,
        "bin": { "assay": "bin/assay.js" },
        "engines": { "node": ">=18" },
        "optionalDependencies": optional,
    })
}
