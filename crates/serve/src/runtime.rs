//! The async runtime of a server.

use std::io;

/// Runs a future on a new runtime, and shuts the runtime down without waiting for blocked reads.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(result)
}
