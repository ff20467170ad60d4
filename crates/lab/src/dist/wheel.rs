//! Wheels, which pip installs: the program becomes a script of the environment.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::archive::FileMode;
use super::payload::{BILL, LICENSES, Payload, THIRD_PARTY};
use super::platform::{Platform, program_name};
use super::{LICENSE, PACKAGE, SUMMARY, version, write as write_file};

/// A wheel in memory, with the records of its files.
struct WheelWriter {
    zip: ZipWriter<Cursor<Vec<u8>>>,
    /// The lines of `RECORD`: path, digest and size of each file.
    record: String,
}

impl WheelWriter {
    fn new() -> WheelWriter {
        WheelWriter { zip: ZipWriter::new(Cursor::new(Vec::new())), record: String::new() }
    }

    fn add(&mut self, path: &str, bytes: &[u8], mode: FileMode) -> anyhow::Result<()> {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        self.record.push_str(&format!("{path},sha256={digest},{}\n", bytes.len()));
        self.store(path, bytes, mode)
    }

    /// Adds a file without a record. Files have the earliest time that a zip archive can have.
    fn store(&mut self, path: &str, bytes: &[u8], mode: FileMode) -> anyhow::Result<()> {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(mode.bits());
        self.zip.start_file(path, options)?;
        Ok(self.zip.write_all(bytes)?)
    }

    /// Adds `RECORD`, which has no digest of itself, and returns the bytes of the wheel.
    fn finish(mut self, info: &str) -> anyhow::Result<Vec<u8>> {
        let path = format!("{info}/RECORD");
        self.record.push_str(&format!("{path},,\n"));
        let record = std::mem::take(&mut self.record);
        self.store(&path, record.as_bytes(), FileMode::Data)?;
        Ok(self.zip.finish()?.into_inner())
    }
}

/// Writes the wheel and returns its path.
pub(super) fn write(
    payload: &Payload,
    platform: &Platform,
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    let stem = format!("{}-{}", PACKAGE.replace('-', "_"), version());
    let info = format!("{stem}.dist-info");
    let mut wheel = WheelWriter::new();
    let script = format!("{stem}.data/scripts/{}", program_name(&platform.triple));
    wheel.add(&script, &payload.binary, FileMode::Program)?;
    wheel.add(&format!("{info}/METADATA"), metadata(payload)?.as_bytes(), FileMode::Data)?;
    wheel.add(&format!("{info}/WHEEL"), tags(platform).as_bytes(), FileMode::Data)?;
    for name in LICENSES.into_iter().chain([THIRD_PARTY]) {
        wheel.add(&format!("{info}/licenses/{name}"), payload.file(name)?, FileMode::Data)?;
    }
    wheel.add(&format!("{info}/sboms/{BILL}"), payload.file(BILL)?, FileMode::Data)?;
    let path = folder.join(format!("{stem}-py3-none-{}.whl", platform.wheel_tag));
    write_file(&path, &wheel.finish(&info)?)?;
    Ok(path)
}

/// Returns the metadata of the package, with the README as its long description.
fn metadata(payload: &Payload) -> anyhow::Result<String> {
    let licenses = LICENSES.into_iter().chain([THIRD_PARTY]);
    let licenses: String = licenses.map(|name| format!("License-File: {name}\n")).collect();
    Ok(format!(
        "Metadata-Version: 2.4\nName: {PACKAGE}\nVersion: {}\nSummary: {SUMMARY}\n\
         License-Expression: {LICENSE}\n{licenses}Requires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{}",
        version(),
        String::from_utf8_lossy(payload.file("README.md")?),
    ))
}

/// Returns the file `WHEEL`, with a line for each platform of the tag.
fn tags(platform: &Platform) -> String {
    let tags = platform.wheel_tag.split('.').map(|tag| format!("Tag: py3-none-{tag}\n"));
    format!(
        "Wheel-Version: 1.0\nGenerator: assay dist ({})\nRoot-Is-Purelib: false\n{}",
        version(),
        tags.collect::<String>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_give_the_same_wheel_with_a_record_of_each() {
        let pack = || {
            let mut wheel = WheelWriter::new();
            wheel.add("a-1.data/scripts/a", b"program", FileMode::Program).unwrap();
            wheel.finish("a-1.dist-info").unwrap()
        };
        let bytes = pack();
        assert_eq!(bytes, pack());
        let mut read = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mode = read.by_name("a-1.data/scripts/a").unwrap().unix_mode().unwrap();
        assert_eq!(mode & 0o777, 0o755);
        let record = std::io::read_to_string(read.by_name("a-1.dist-info/RECORD").unwrap());
        assert_eq!(
            record.unwrap(),
            "a-1.data/scripts/a,sha256=ExDKLIky29EYZovZdEJVij4fVGteFcaWmd-9YCT1SNg,7\n\
             a-1.dist-info/RECORD,,\n"
        );
    }
}
