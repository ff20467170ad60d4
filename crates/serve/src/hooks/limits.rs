//! Limits of incoming requests: [`Limits`].

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::hook_answer::HookAnswer;

/// The maximum size of a body in bytes. GitHub sends at most 25 MB, and a pull request has some
/// tens of KB.
pub(super) const MAX_BODY: usize = 5 << 20;

/// The timeout for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of deliveries that are processed at the same time.
const MAX_CONCURRENT_DELIVERIES: usize = 256;

/// The maximum size, in KiB, of all bodies that are in memory at the same time.
const MAX_BUFFERED_KIB: u32 = 64 << 10;

/// The limits that protect other senders from one that sends too much.
pub(super) struct Limits {
    pub(super) deliveries: Semaphore,
    held: Semaphore,
    pub(super) body_within: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let held = usize::try_from(MAX_BUFFERED_KIB).expect("it is a small number");
        Limits {
            deliveries: Semaphore::new(MAX_CONCURRENT_DELIVERIES),
            held: Semaphore::new(held),
            body_within: BODY_TIMEOUT,
        }
    }
}

/// The permit to process one delivery. Dropping it releases the permit.
pub(super) struct DeliveryPermit<'a> {
    _delivery: SemaphorePermit<'a>,
    _held: SemaphorePermit<'a>,
}

impl Limits {
    /// Reads a body within the limits. Fails with the answer if a limit is exceeded.
    pub(super) async fn read(
        &self,
        request: Request,
    ) -> Result<(Bytes, DeliveryPermit<'_>), HookAnswer> {
        let busy = |_| HookAnswer::retry_later("too many concurrent deliveries");
        let most = declared_length(request.headers())?;
        let kib = u32::try_from(most.div_ceil(1024)).unwrap_or(MAX_BUFFERED_KIB);
        let permit = DeliveryPermit {
            _delivery: self.deliveries.try_acquire().map_err(busy)?,
            _held: self.held.try_acquire_many(kib).map_err(busy)?,
        };
        let read = axum::body::to_bytes(request.into_body(), most);
        match timeout(self.body_within, read).await {
            Ok(Ok(body)) => Ok((body, permit)),
            Ok(Err(_)) if most == MAX_BODY => Err(too_large()),
            Ok(Err(_)) => Err(HookAnswer::bad_request("the body is incomplete")),
            Err(_) => Err(HookAnswer::request_timeout("timeout while reading the body")),
        }
    }
}

/// Returns the maximum size of a body in bytes, by its `Content-Length`.
fn declared_length(headers: &HeaderMap) -> Result<usize, HookAnswer> {
    let Some(length) = headers.get(header::CONTENT_LENGTH) else { return Ok(MAX_BODY) };
    let length = length.to_str().ok().and_then(|text| text.parse::<usize>().ok());
    match length {
        Some(length) if length <= MAX_BODY => Ok(length),
        Some(_) => Err(too_large()),
        None => Err(HookAnswer::bad_request("invalid header `Content-Length`: expected a number")),
    }
}

fn too_large() -> HookAnswer {
    HookAnswer::too_large(format!("the body has more than {MAX_BODY} bytes"))
}
