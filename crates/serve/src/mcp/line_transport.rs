//! Messages over a pair of streams, one per line: [`LineTransport`].
//!
//! Every line is checked here ([`super::message`]), so that a request is answered and the session
//! goes on, whatever bytes arrive. A line that is too long is scanned in pieces and never stored.

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard};

use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter,
};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;

use super::MAX_MESSAGE;
use super::id_scan::IdScan;
use super::message::{MessageCheck, check_message, too_long_error};

/// A pair of streams. All clones share them: a session whose start failed is started again on the
/// same streams.
pub(super) struct LineTransport<R, W> {
    input: Arc<Mutex<Input<R>>>,
    output: Arc<Mutex<BufWriter<W>>>,
    open_requests: Arc<OpenRequests>,
}

impl<R, W> Clone for LineTransport<R, W> {
    fn clone(&self) -> LineTransport<R, W> {
        LineTransport {
            input: Arc::clone(&self.input),
            output: Arc::clone(&self.output),
            open_requests: Arc::clone(&self.open_requests),
        }
    }
}

/// The received requests without an answer. A client that closes its end after its last request
/// still gets the answer, however long it takes.
#[derive(Default)]
struct OpenRequests {
    ids: SyncMutex<HashSet<RequestId>>,
    one_less: Notify,
}

impl OpenRequests {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Records a received message: a request is open, and a cancelled one gets no answer.
    fn record(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.ids().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                {
                    self.close(cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
    }

    fn close(&self, id: Option<&RequestId>) {
        if id.is_some_and(|id| self.ids().remove(id)) {
            self.one_less.notify_waiters();
        }
    }

    /// Waits until no request is open.
    async fn wait_until_empty(&self) {
        loop {
            let one_less = self.one_less.notified();
            if self.ids().is_empty() {
                return;
            }
            one_less.await;
        }
    }
}

/// Returns the id of the request that a message answers.
fn answered_id(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The input stream. A read may be dropped at any await, so all of its state is in this struct.
struct Input<R> {
    stream: BufReader<R>,
    /// The line so far.
    line: Vec<u8>,
    /// The scan of a line that is too long to be stored.
    passed_over: Option<IdScan>,
    /// Answers to the previous line that are not written yet.
    unsent: Vec<Value>,
    /// The answer that is being written. The input ends, and the process with it, only after this.
    writing: Option<JoinHandle<io::Result<()>>>,
}

/// A received line.
enum ReceivedLine {
    Whole(Vec<u8>),
    TooLong(IdScan),
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(input: R, output: W) -> LineTransport<R, W> {
        let input = Input {
            stream: BufReader::new(input),
            line: Vec::new(),
            passed_over: None,
            unsent: Vec::new(),
            writing: None,
        };
        LineTransport {
            input: Arc::new(Mutex::new(input)),
            output: Arc::new(Mutex::new(BufWriter::new(output))),
            open_requests: Arc::default(),
        }
    }

    /// Forgets the requests of a session whose start failed: some of them get no answer.
    pub(super) fn reset(&self) {
        self.open_requests.ids().clear();
    }

    /// Returns the next valid message, or `None` at the end of the input. Answers all invalid
    /// messages before it.
    async fn next(&self) -> io::Result<Option<RxJsonRpcMessage<RoleServer>>> {
        let mut input = self.input.lock().await;
        loop {
            input.finish_writing().await?;
            if let Some(answer) = input.unsent.pop() {
                let output = Arc::clone(&self.output);
                // A task of its own completes the write: a line that is cut off would damage the
                // next one.
                input.writing = Some(tokio::spawn(async move { write(&output, &answer).await }));
                continue;
            }
            let judged = match input.next_line().await? {
                Some(ReceivedLine::Whole(line)) => check_message(&line),
                Some(ReceivedLine::TooLong(scan)) => {
                    MessageCheck::Refused(vec![too_long_error(scan.id(), MAX_MESSAGE)])
                }
                None => return Ok(None),
            };
            match judged {
                MessageCheck::Message(message) => return Ok(Some(*message)),
                MessageCheck::Passed => {}
                MessageCheck::Refused(answers) => input.unsent.extend(answers.into_iter().rev()),
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Input<R> {
    /// Waits until the current answer is written.
    async fn finish_writing(&mut self) -> io::Result<()> {
        let Some(writing) = &mut self.writing else { return Ok(()) };
        let written = writing.await;
        self.writing = None;
        written.map_err(io::Error::other)?
    }

    /// Reads up to the end of a line, or of the input.
    async fn next_line(&mut self) -> io::Result<Option<ReceivedLine>> {
        loop {
            let available = self.stream.fill_buf().await?;
            if available.is_empty() {
                return Ok(self.end_line());
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            match &mut self.passed_over {
                Some(scan) => scan.feed(&available[..taken]),
                None => self.line.extend_from_slice(&available[..taken]),
            }
            self.stream.consume(taken + usize::from(end.is_some()));
            if self.line.len() > MAX_MESSAGE {
                self.passed_over = Some(IdScan::scan(&std::mem::take(&mut self.line)));
            }
            if end.is_some()
                && let Some(line) = self.end_line()
            {
                return Ok(Some(line));
            }
        }
    }

    /// Returns the completed line, or `None` if it is empty.
    fn end_line(&mut self) -> Option<ReceivedLine> {
        let line = std::mem::take(&mut self.line);
        match self.passed_over.take() {
            Some(scan) => Some(ReceivedLine::TooLong(scan)),
            None if line.is_empty() => None,
            None => Some(ReceivedLine::Whole(line)),
        }
    }
}

/// Writes a message as a line and flushes the stream.
async fn write<W, M>(output: &Mutex<BufWriter<W>>, message: &M) -> io::Result<()>
where
    W: AsyncWrite + Send + Unpin,
    M: Serialize,
{
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (output, open_requests) = (Arc::clone(&self.output), Arc::clone(&self.open_requests));
        async move {
            let written = write(&output, &message).await;
            open_requests.close(answered_id(&message));
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // A stream that failed is treated as one that ended.
        let message = self.next().await.ok().flatten();
        match &message {
            Some(message) => self.open_requests.record(message),
            // At the end of the input the SDK drops the answers that take longer than a few
            // seconds.
            None => self.open_requests.wait_until_empty().await,
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.flush().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Starts a read and drops it while the answer is being written.
    async fn interrupted_read<W: AsyncWrite + Send + Unpin + 'static>(
        lines: &LineTransport<&[u8], W>,
    ) {
        tokio::select! {
            biased;
            read = lines.next() => panic!("the answer was not waited for: {read:?}"),
            () = tokio::task::yield_now() => {}
        }
    }

    #[tokio::test]
    async fn the_input_does_not_end_before_its_last_answer_is_written() {
        // The output takes one byte at a time, and blocks until the client reads.
        let (output, mut client) = tokio::io::duplex(1);
        let lines = LineTransport::new(&br#"{"id":1.5,"method":"x"}"#[..], output);
        interrupted_read(&lines).await;
        interrupted_read(&lines).await;
        let mut answer = Vec::new();
        let (end, _) = tokio::join!(
            async {
                let end = lines.next().await;
                drop(lines);
                end
            },
            client.read_to_end(&mut answer)
        );
        assert!(end.is_ok_and(|message| message.is_none()));
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["id"], 1.5, "{answer}");
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PING_AND_CANCEL: &str = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
    );

    #[tokio::test]
    async fn the_input_does_not_end_while_a_request_has_no_answer() {
        let mut lines = LineTransport::new(PING.as_bytes(), tokio::io::sink());
        let request = lines.receive().await;
        let Some(JsonRpcMessage::Request(request)) = request else { panic!("{request:?}") };
        tokio::select! {
            biased;
            end = lines.receive() => panic!("the answer was not waited for: {end:?}"),
            () = tokio::task::yield_now() => {}
        }
        let error = rmcp::ErrorData::internal_error("late", None);
        lines.send(JsonRpcMessage::error(error, Some(request.id))).await.unwrap();
        assert!(lines.receive().await.is_none());
    }

    #[tokio::test]
    async fn a_cancelled_request_is_not_waited_for() {
        let mut lines = LineTransport::new(PING_AND_CANCEL.as_bytes(), tokio::io::sink());
        assert!(lines.receive().await.is_some());
        assert!(lines.receive().await.is_some(), "the notification");
        assert!(lines.receive().await.is_none());
    }
}
