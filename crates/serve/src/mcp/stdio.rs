//! A server over a pair of streams, one message per line.

use assay_base::shutdown::Shutdown;
use std::fs::File;
use std::io;

use rmcp::service::{ServerInitializeError, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};

use super::handler::Handler;
use super::line_transport::LineTransport;
use super::{ServeError, Server, on_runtime};
use crate::shutdown;

/// Serves the client at `input` and `output`, until `input` ends or shutdown is requested.
pub fn serve(
    server: &Server,
    input: File,
    output: File,
    shutdown: &Shutdown,
) -> Result<(), ServeError> {
    on_runtime(async {
        let (input, output) = (tokio::fs::File::from_std(input), tokio::fs::File::from_std(output));
        serve_client(server, input, output, shutdown).await
    })
}

/// Serves one client.
pub(super) async fn serve_client<R, W>(
    server: &Server,
    input: R,
    output: W,
    shutdown: &Shutdown,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = LineTransport::new(input, output);
    let handler = Handler::new(server.clone());
    let mut requested = std::pin::pin!(shutdown::wait_until_requested(shutdown));
    let conversation = loop {
        let begun = tokio::select! {
            begun = serve_server(handler.clone(), lines.clone()) => begun,
            () = &mut requested => return Ok(()),
        };
        match begun {
            Ok(conversation) => break conversation,
            // A client that disconnects before its first message is not a failure.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            // A message before the handshake was ignored or answered, and the client may still
            // start.
            Err(
                ServerInitializeError::ExpectedInitializeRequest(_)
                | ServerInitializeError::InitializeFailed(_),
            ) => lines.reset(),
            Err(error) => return Err(ServeError::Connection(io::Error::other(error))),
        }
    };
    let end = conversation.cancellation_token();
    let mut waiting = std::pin::pin!(conversation.waiting());
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = &mut requested => {
            end.cancel();
            waiting.await
        }
    };
    ended.map(|_| ()).map_err(|error| ServeError::Connection(error.into()))
}
