//! HTTP routes of the attachments.

use crate::blobs::{is_valid_name, Blobs};

/// Status code of an answer.
pub type Status = u16;

/// Handles `PUT /attachments/{name}`.
pub fn put(blobs: &Blobs, name: &str, body: &[u8]) -> Status {
    if !is_valid_name(name) {
        return 400;
    }
    match blobs.write(name, body) {
        Ok(()) => 204,
        Err(_) => 500,
    }
}
