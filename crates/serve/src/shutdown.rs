//! Waiting for a [`Shutdown`] in async code: [`wait_until_requested`].

use std::future;

use assay_base::shutdown::Shutdown;
use tokio::sync::oneshot;

/// Returns a future that completes once shutdown is requested. Each call registers a callback that
/// stays until then, so a server calls this once and not for each message.
pub(crate) fn wait_until_requested(
    shutdown: &Shutdown,
) -> impl Future<Output = ()> + Send + 'static {
    let (sender, receiver) = oneshot::channel();
    shutdown.on_request(move || {
        let _ = sender.send(());
    });
    async move {
        // After the token is dropped, no request can follow.
        if receiver.await.is_err() {
            future::pending::<()>().await;
        }
    }
}
