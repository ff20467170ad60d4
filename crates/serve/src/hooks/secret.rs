//! Verification of webhook signatures and tokens: [`Secret`].
//!
//! A signature covers the body alone: it contains no time, so it does not expire, and it contains
//! no delivery id (see `delivery_log`).
//!
//! `ring`, which TLS to the database already depends on, compares signatures in constant time.

use std::fmt;
use std::sync::Arc;

use ring::hmac;

use crate::token::Token;

/// The minimum number of characters of a secret.
const MIN_LENGTH: usize = 16;

/// The prefix of the only accepted form of signature.
const SIGNATURE_PREFIX: &str = "sha256=";

/// The error of a text that is too short for a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the secret in {place} is too short: expected at least {MIN_LENGTH} characters")]
pub struct SecretError {
    /// The source of the text, such as a variable.
    place: String,
}

/// A secret that is shared with the sender of deliveries. It is never shown.
#[derive(Clone)]
pub struct Secret {
    key: Arc<hmac::Key>,
    word: Option<Token>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The reason that a signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum SignatureError {
    #[error("it is missing")]
    Missing,
    #[error("it is present more than once")]
    Several,
    #[error("expected `sha256=` and 64 hexadecimal digits")]
    Form,
    #[error("it is of another secret or another body")]
    Wrong,
}

impl Secret {
    /// Creates a secret from a text of at least 16 characters. `place` names the source of the text
    /// in the error.
    pub fn new(text: &str, place: impl Into<String>) -> Result<Secret, SecretError> {
        if text.chars().count() < MIN_LENGTH {
            return Err(SecretError { place: place.into() });
        }
        let key = Arc::new(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes()));
        Ok(Secret { key, word: Token::new(text, "a secret").ok() })
    }

    /// Checks the signature of the raw body, before the body is parsed.
    pub(super) fn check<'a>(
        &self,
        mut signatures: impl Iterator<Item = &'a [u8]>,
        body: &[u8],
    ) -> Result<(), SignatureError> {
        let signature = signatures.next().ok_or(SignatureError::Missing)?;
        if signatures.next().is_some() {
            return Err(SignatureError::Several);
        }
        let digits =
            signature.strip_prefix(SIGNATURE_PREFIX.as_bytes()).ok_or(SignatureError::Form)?;
        let tag = parse_hex(digits).ok_or(SignatureError::Form)?;
        hmac::verify(&self.key, body, &tag).map_err(|_| SignatureError::Wrong)
    }

    /// Returns true if `given` is the secret itself. Always false for a secret that does not fit in
    /// a header.
    pub(super) fn matches(&self, given: &str) -> bool {
        self.word.as_ref().is_some_and(|word| word.matches(given))
    }
}

/// Parses 64 hexadecimal digits.
fn parse_hex(digits: &[u8]) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "It's a Secret to Everybody";
    const SIGNED: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn check(signatures: &[&str], body: &str) -> Result<(), SignatureError> {
        let secret = Secret::new(SECRET, "a test").unwrap();
        secret.check(signatures.iter().map(|text| text.as_bytes()), body.as_bytes())
    }

    #[test]
    fn the_signature_example_of_github_is_accepted() {
        assert_eq!(check(&[SIGNED], "Hello, World!"), Ok(()));
    }

    #[test]
    fn missing_repeated_wrong_and_malformed_signatures_are_rejected() {
        let body = "Hello, World!";
        assert_eq!(check(&[], body), Err(SignatureError::Missing));
        assert_eq!(check(&[SIGNED, SIGNED], body), Err(SignatureError::Several));
        assert_eq!(check(&[SIGNED], "Hello, World?"), Err(SignatureError::Wrong));
        let other = SIGNED.replace("757107", "757108");
        assert_eq!(check(&[&other], body), Err(SignatureError::Wrong));
        let sha1 = format!("sha1={}", &SIGNED[7..47]);
        let (upper, cut) = (SIGNED.replace("sha", "SHA"), &SIGNED[..69]);
        let (long, odd) = (format!("{SIGNED}00"), SIGNED.replace('7', "g"));
        let blank = SIGNED.replace('=', "= ");
        for form in ["", "sha256=", &SIGNED[7..], &sha1, &upper, cut, &long, &odd, &blank] {
            assert_eq!(check(&[form], body), Err(SignatureError::Form), "{form}");
        }
    }

    #[test]
    fn a_secret_is_redacted_in_debug_output_and_rejected_if_too_short() {
        assert_eq!(format!("{:?}", Secret::new(SECRET, "X").unwrap()), "Secret(…)");
        let error = Secret::new("hunter2", "`GITHUB_WEBHOOK_SECRET`").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the secret in `GITHUB_WEBHOOK_SECRET` is too short: expected at least 16 characters"
        );
    }
}
