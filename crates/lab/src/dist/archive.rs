//! Tar archives that have the same bytes for the same content: [`TarGz`].

use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder, write::GzEncoder};

use super::payload::Payload;
use super::platform::{Platform, program_name};
use super::{version, write as write_file};

/// A compressed tar archive in memory.
pub(super) struct TarGz {
    builder: tar::Builder<GzEncoder<Vec<u8>>>,
    time: u64,
}

/// The permissions of a file in an archive.
#[derive(Clone, Copy)]
pub(super) enum FileMode {
    /// A file that all users may run.
    Program,
    /// A file that all users may read.
    Data,
}

impl FileMode {
    /// Returns the permission bits.
    pub(super) fn bits(self) -> u32 {
        match self {
            FileMode::Program => 0o755,
            FileMode::Data => 0o644,
        }
    }
}

impl TarGz {
    /// Creates an archive whose files get a time, in seconds since 1970.
    pub(super) fn new(time: u64) -> TarGz {
        // The header of gzip has a time and the name of a system as well; both are left out.
        let encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        TarGz { builder: tar::Builder::new(encoder), time }
    }

    /// Adds a file.
    pub(super) fn add(&mut self, path: &str, bytes: &[u8], mode: FileMode) -> anyhow::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode.bits());
        header.set_mtime(self.time);
        header.set_uid(0);
        header.set_gid(0);
        Ok(self.builder.append_data(&mut header, path, bytes)?)
    }

    /// Returns the bytes of the archive.
    pub(super) fn finish(self) -> anyhow::Result<Vec<u8>> {
        Ok(self.builder.into_inner()?.finish()?)
    }
}

/// Returns the name of the archive for a target, without its extension.
pub(super) fn archive_stem(triple: &str) -> String {
    format!("assay-{}-{triple}", version())
}

/// Writes the archive with all files, in one folder, and returns its path.
pub(super) fn write(
    payload: &Payload,
    platform: &Platform,
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    let stem = archive_stem(&platform.triple);
    let mut archive = TarGz::new(payload.time);
    let program = format!("{stem}/{}", program_name(&platform.triple));
    archive.add(&program, &payload.binary, FileMode::Program)?;
    for (name, bytes) in &payload.files {
        archive.add(&format!("{stem}/{name}"), bytes, FileMode::Data)?;
    }
    let path = folder.join(format!("{stem}.tar.gz"));
    write_file(&path, &archive.finish()?)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_content_gives_the_same_bytes_at_another_time_of_day() {
        let pack = || {
            let mut archive = TarGz::new(1_700_000_000);
            archive.add("assay/assay", b"program", FileMode::Program).unwrap();
            archive.add("assay/README.md", b"text", FileMode::Data).unwrap();
            archive.finish().unwrap()
        };
        let first = pack();
        // Bytes 4 to 7 of gzip's header are the time.
        assert_eq!(&first[4..8], [0; 4]);
        assert_eq!(first, pack());
    }

    #[test]
    fn an_archive_keeps_paths_modes_times_and_owners() {
        let mut archive = TarGz::new(1_700_000_000);
        archive.add("a/program", b"x", FileMode::Program).unwrap();
        archive.add("a/text", b"yz", FileMode::Data).unwrap();
        let bytes = archive.finish().unwrap();
        let mut read = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let entries: Vec<String> = read
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let (mode, time) = (header.mode().unwrap(), header.mtime().unwrap());
                let owner = (header.uid().unwrap(), header.gid().unwrap());
                format!("{} {mode:o} {time} {owner:?}", entry.path().unwrap().display())
            })
            .collect();
        assert_eq!(entries, ["a/program 755 1700000000 (0, 0)", "a/text 644 1700000000 (0, 0)"]);
    }
}
