//! Decompression of gzip: [`open`].

use std::io::Read;

use flate2::read::GzDecoder;

/// Returns the decompressed bytes; `None` if `packed` is not gzip, is broken, has a wrong checksum,
/// or decompresses to more than `most` bytes.
pub(super) fn open(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= most).then_some(bytes)
}
