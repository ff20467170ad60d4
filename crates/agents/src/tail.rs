//! Waking who reads along in logs: [`Tail`].

use std::io;
use std::path::Path;
use std::time::Duration;

use assay_store::queue::Watch;
use notify::{Event, RecursiveMode, Watcher};

/// Watches a folder of logs.
pub struct Tail(Watch);

impl Tail {
    /// Watches a folder from now on.
    pub fn new(folder: &Path) -> io::Result<Tail> {
        let watch = Watch::new(|bell| {
            let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
                // Reading is no news.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    bell.ring();
                }
            })?;
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        watch.map(Tail).map_err(|error: notify::Error| io::Error::other(error))
    }

    /// Waits until something may have been written, or so long.
    pub fn wait(&self, at_most: Duration) {
        self.0.wait(at_most);
    }
}
