//! Wake-ups for readers that follow logs: [`Tail`].

use std::io;
use std::path::Path;
use std::time::Duration;

use assay_store::queue::Watch;
use notify::{Event, RecursiveMode, Watcher};

/// A watch on a folder of logs.
pub struct Tail(Watch);

impl Tail {
    /// Watches a folder from now on.
    pub fn new(folder: &Path) -> io::Result<Tail> {
        let watch = Watch::new(|waker| {
            let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
                // A read access changes nothing.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    waker.wake();
                }
            })?;
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        watch.map(Tail).map_err(|error: notify::Error| io::Error::other(error))
    }

    /// Waits until a log may have changed, or for `at_most`.
    pub fn wait(&self, at_most: Duration) {
        self.0.wait(at_most);
    }
}
