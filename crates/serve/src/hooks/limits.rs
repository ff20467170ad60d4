//! Limits of incoming requests: [`Limits`].

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::answer::Answer;

/// The maximum size of a body in bytes. GitHub sends at most 25 MB, and a pull request has some
/// tens of KB.
pub(super) const MAX_BODY: usize = 5 << 20;

/// The timeout for receiving a body.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// The maximum number of deliveries that are processed at the same time.
const AT_A_TIME: usize = 256;

/// The maximum size, in KiB, of all bodies that are in memory at the same time.
const HELD: u32 = 64 << 10;

/// The limits that protect other senders from one that sends too much.
pub(super) struct Limits {
    pub(super) deliveries: Semaphore,
    held: Semaphore,
    pub(super) body_within: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let held = usize::try_from(HELD).expect("it is a small number");
        Limits {
            deliveries: Semaphore::new(AT_A_TIME),
            held: Semaphore::new(held),
            body_within: BODY_WITHIN,
        }
    }
}

/// The permit to process one delivery. Dropping it releases the permit.
pub(super) struct Turn<'a> {
    _delivery: SemaphorePermit<'a>,
    _held: SemaphorePermit<'a>,
}

impl Limits {
    /// Reads a body within the limits. Fails with the answer if a limit is exceeded.
    pub(super) async fn read(&self, request: Request) -> Result<(Bytes, Turn<'_>), Answer> {
        let busy = |_| Answer::later("too many deliveries come at once");
        let most = declared(request.headers())?;
        let kib = u32::try_from(most.div_ceil(1024)).unwrap_or(HELD);
        let turn = Turn {
            _delivery: self.deliveries.try_acquire().map_err(busy)?,
            _held: self.held.try_acquire_many(kib).map_err(busy)?,
        };
        let read = axum::body::to_bytes(request.into_body(), most);
        match timeout(self.body_within, read).await {
            Ok(Ok(body)) => Ok((body, turn)),
            Ok(Err(_)) if most == MAX_BODY => Err(too_large()),
            Ok(Err(_)) => Err(Answer::unreadable("the body broke off")),
            Err(_) => Err(Answer::too_slow("the body did not come in time")),
        }
    }
}

/// Returns the maximum size of a body in bytes, by its `Content-Length`.
fn declared(headers: &HeaderMap) -> Result<usize, Answer> {
    let Some(length) = headers.get(header::CONTENT_LENGTH) else { return Ok(MAX_BODY) };
    let length = length.to_str().ok().and_then(|text| text.parse::<usize>().ok());
    match length {
        Some(length) if length <= MAX_BODY => Ok(length),
        Some(_) => Err(too_large()),
        None => Err(Answer::unreadable("the header `Content-Length` is no number")),
    }
}

fn too_large() -> Answer {
    Answer::too_large(format!("the body has more than {MAX_BODY} bytes"))
}
