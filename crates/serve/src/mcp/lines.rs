//! Messages over a pair of streams, one a line: [`Lines`].
//!
//! Every line is judged here ([`super::message`]), so that whatever bytes come, a request is answered
//! and the conversation goes on. A line that is too long is passed over in pieces, and never kept.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter,
};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::MAX_MESSAGE;
use super::id_scan::IdScan;
use super::message::{Judged, judge, too_long};

/// A pair of streams. All clones share them: a conversation that could not begin is begun again on
/// the same streams.
pub(super) struct Lines<R, W> {
    input: Arc<Mutex<Input<R>>>,
    output: Arc<Mutex<BufWriter<W>>>,
}

impl<R, W> Clone for Lines<R, W> {
    fn clone(&self) -> Lines<R, W> {
        Lines { input: Arc::clone(&self.input), output: Arc::clone(&self.output) }
    }
}

/// What comes in. A read may be dropped at any await, so all of its state is kept here.
struct Input<R> {
    stream: BufReader<R>,
    /// The line so far.
    line: Vec<u8>,
    /// The scan of a line that is too long to be kept.
    passed_over: Option<IdScan>,
    /// Answers to the line before that are not written yet.
    unsent: Vec<Value>,
    /// The answer that is being written. The input ends, and the process with it, only after this.
    writing: Option<JoinHandle<io::Result<()>>>,
}

/// A line that came in.
enum Line {
    Whole(Vec<u8>),
    TooLong(IdScan),
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(input: R, output: W) -> Lines<R, W> {
        let input = Input {
            stream: BufReader::new(input),
            line: Vec::new(),
            passed_over: None,
            unsent: Vec::new(),
            writing: None,
        };
        Lines {
            input: Arc::new(Mutex::new(input)),
            output: Arc::new(Mutex::new(BufWriter::new(output))),
        }
    }

    /// Returns the next message that the protocol takes, or `None` at the end of the input. All that
    /// is wrong before it is answered.
    async fn next(&self) -> io::Result<Option<RxJsonRpcMessage<RoleServer>>> {
        let mut input = self.input.lock().await;
        loop {
            input.finish_writing().await?;
            if let Some(answer) = input.unsent.pop() {
                let output = Arc::clone(&self.output);
                // On a task of its own: a line that is broken off would spoil the next one.
                input.writing = Some(tokio::spawn(async move { write(&output, &answer).await }));
                continue;
            }
            let judged = match input.next_line().await? {
                Some(Line::Whole(line)) => judge(&line),
                Some(Line::TooLong(scan)) => {
                    Judged::Refused(vec![too_long(scan.id(), MAX_MESSAGE)])
                }
                None => return Ok(None),
            };
            match judged {
                Judged::Message(message) => return Ok(Some(*message)),
                Judged::Passed => {}
                Judged::Refused(answers) => input.unsent.extend(answers.into_iter().rev()),
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Input<R> {
    /// Waits until the answer that is being written is written.
    async fn finish_writing(&mut self) -> io::Result<()> {
        let Some(writing) = &mut self.writing else { return Ok(()) };
        let written = writing.await;
        self.writing = None;
        written.map_err(io::Error::other)?
    }

    /// Reads up to the end of a line, or of the input.
    async fn next_line(&mut self) -> io::Result<Option<Line>> {
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
                self.passed_over = Some(IdScan::over(&std::mem::take(&mut self.line)));
            }
            if end.is_some()
                && let Some(line) = self.end_line()
            {
                return Ok(Some(line));
            }
        }
    }

    /// Takes the line that is over, unless there is nothing in it.
    fn end_line(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.line);
        match self.passed_over.take() {
            Some(scan) => Some(Line::TooLong(scan)),
            None if line.is_empty() => None,
            None => Some(Line::Whole(line)),
        }
    }
}

/// Writes a message as a line.
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

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // A stream that broke is over; there is nobody left to be told.
        self.next().await.ok().flatten()
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.flush().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Reads once and gives the read up while the answer is being written.
    async fn interrupted_read<W: AsyncWrite + Send + Unpin + 'static>(lines: &Lines<&[u8], W>) {
        tokio::select! {
            biased;
            read = lines.next() => panic!("the answer was not waited for: {read:?}"),
            () = tokio::task::yield_now() => {}
        }
    }

    #[tokio::test]
    async fn the_input_does_not_end_before_its_last_answer_is_written() {
        // The output takes one byte at a time, and nothing until it is read.
        let (output, mut client) = tokio::io::duplex(1);
        let lines = Lines::new(&br#"{"id":1.5,"method":"x"}"#[..], output);
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
}
