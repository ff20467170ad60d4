//! The stored part of the output of a command: [`Capture`].

use assay_base::text::last_bytes;
use assay_sandbox::Stream;

use crate::text::plain;

/// The maximum number of bytes of each stream that are stored for the parsers of results.
const MAX_STREAM_BYTES: usize = 16 << 20;

/// The maximum number of bytes of the end of both streams.
const MAX_TAIL_BYTES: usize = 8 << 10;

/// The end of a stream that may be long.
#[derive(Debug)]
struct TailBuffer {
    bytes: Vec<u8>,
    most: usize,
    is_cut: bool,
}

impl TailBuffer {
    fn new(most: usize) -> TailBuffer {
        TailBuffer { bytes: Vec::new(), most, is_cut: false }
    }

    fn take(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // Only from time to time, so that each byte is moved once or twice.
        if self.bytes.len() >= 2 * self.most {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let beyond = self.bytes.len().saturating_sub(self.most);
        self.is_cut |= beyond > 0;
        self.bytes.drain(..beyond);
    }
}

/// The output of a command: the digest of all of it, and its end.
#[derive(Debug)]
pub(super) struct Capture {
    printed: TailBuffer,
    complained: TailBuffer,
    both: TailBuffer,
    digests: [blake3::Hasher; 2],
    bytes: u64,
}

impl Default for Capture {
    fn default() -> Capture {
        Capture {
            printed: TailBuffer::new(MAX_STREAM_BYTES),
            complained: TailBuffer::new(MAX_STREAM_BYTES),
            both: TailBuffer::new(MAX_TAIL_BYTES),
            digests: [blake3::Hasher::new(), blake3::Hasher::new()],
            bytes: 0,
        }
    }
}

impl Capture {
    pub(super) fn take(&mut self, stream: Stream, piece: &[u8]) {
        let (end, digest) = match stream {
            Stream::Stdout => (&mut self.printed, &mut self.digests[0]),
            Stream::Stderr => (&mut self.complained, &mut self.digests[1]),
        };
        end.take(piece);
        digest.update(piece);
        self.both.take(piece);
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
    }

    /// Returns the digest of both streams, each hashed by itself: their interleaving is random.
    pub(super) fn digest(&self) -> String {
        let mut both = blake3::Hasher::new();
        for digest in &self.digests {
            both.update(digest.finalize().as_bytes());
        }
        both.finalize().to_hex().to_string()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the end of both streams, interleaved as received.
    pub(super) fn tail(&self) -> String {
        last_bytes(&plain(&self.both.bytes), MAX_TAIL_BYTES).to_owned()
    }

    /// Returns stdout followed by stderr, and true if a part of them is missing.
    pub(super) fn text(&self) -> (Vec<u8>, bool) {
        let is_cut = |end: &TailBuffer| end.is_cut || end.bytes.len() > end.most;
        let text = [&self.printed.bytes[..], b"\n", &self.complained.bytes[..]].concat();
        (text, is_cut(&self.printed) || is_cut(&self.complained))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_long_output_is_kept_and_all_of_it_is_counted() {
        let mut capture = Capture::default();
        for _ in 0..2_000 {
            capture.take(Stream::Stdout, &[b'x'; 20_000]);
        }
        capture.take(Stream::Stderr, b"the end");
        let (text, is_cut) = capture.text();
        assert!(is_cut && text.len() <= 2 * MAX_STREAM_BYTES + 20_008, "{}", text.len());
        assert_eq!(capture.bytes(), 40_000_007);
        assert!(capture.tail().ends_with("xthe end") && capture.tail().len() <= MAX_TAIL_BYTES);
    }

    #[test]
    fn the_digest_does_not_depend_on_the_interleaving_of_stdout_and_stderr() {
        let digest = |pieces: &[(Stream, &[u8])]| {
            let mut capture = Capture::default();
            pieces.iter().for_each(|(stream, piece)| capture.take(*stream, piece));
            capture.digest()
        };
        let (one, two): ((_, &[u8]), (_, &[u8])) = ((Stream::Stdout, b"a"), (Stream::Stderr, b"b"));
        assert_eq!(digest(&[one, two]), digest(&[two, one]));
        assert_ne!(digest(&[one, two]), digest(&[(Stream::Stdout, b"ab")]));
    }
}
