//! Uploads to the archive server.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use crate::slots::Slots;

const PARALLEL_UPLOADS: usize = 4;

/// Sends one file; the call blocks until the server has confirmed.
pub trait Archive: Sync {
    fn send(&self, file: &Path) -> io::Result<()>;
}

/// Uploads files with a bounded number of connections.
pub struct Uploader<A> {
    archive: A,
    slots: Slots,
}

impl<A: Archive> Uploader<A> {
    pub fn new(archive: A) -> Self {
        Uploader {
            archive,
            slots: Slots::new(PARALLEL_UPLOADS),
        }
    }

    /// Uploads one file as soon as a slot is free.
    pub fn upload(&self, file: &Path) -> io::Result<()> {
        let _ = self.slots.take();
        self.archive.send(file)
    }

    /// Uploads all files and returns those that failed with their errors.
    pub fn upload_all(&self, files: &[PathBuf]) -> Vec<(PathBuf, io::Error)> {
        thread::scope(|scope| {
            let uploads: Vec<_> = files
                .iter()
                .map(|file| (file, scope.spawn(move || self.upload(file))))
                .collect();
            uploads
                .into_iter()
                .filter_map(|(file, upload)| {
                    let result = upload.join().expect("an upload thread panicked");
                    result.err().map(|error| (file.clone(), error))
                })
                .collect()
        })
    }
}
