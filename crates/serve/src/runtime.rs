//! The one runtime that a server runs on.

use std::io;

/// Starts it, and ends it without waiting for whoever reads a stream that nobody writes to.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(result)
}
