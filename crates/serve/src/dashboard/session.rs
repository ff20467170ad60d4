//! Sessions of browsers: [`Sessions`] turns the token into a cookie, and checks forms.
//!
//! A cookie has a time of expiry, a random number and their signature by the token. So the server
//! stores no session, a session outlives a restart, and a new token ends all sessions. The cookie
//! does not contain the token.

use assay_base::clock::Clock;
use axum::http::{HeaderMap, header};
use ring::hmac;

use crate::token::{Token, TokenError};

/// The length of a session in seconds.
const SESSION_SECONDS: i64 = 12 * 60 * 60;

/// The sessions of one server.
#[derive(Debug)]
pub(super) struct Sessions {
    key: hmac::Key,
    /// The name of the cookie. It depends on the token, since a browser sends cookies to every
    /// port of a host: several servers on one machine keep their sessions apart.
    cookie: String,
    clock: Clock,
}

/// A valid session. The text is the value of its cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BrowserSession(String);

impl Sessions {
    /// Creates the sessions for a token.
    pub(super) fn new(token: &Token, clock: &Clock) -> Sessions {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
        let cookie = format!("assay_session_{}", &sign(&key, "cookie name")[..8]);
        Sessions { key, cookie, clock: clock.clone() }
    }

    /// Starts a session. Returns the value of `Set-Cookie`.
    pub(super) fn start(&self) -> Result<String, TokenError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| TokenError::Random(error.to_string()))?;
        let content = format!("{}-{}", self.now() + SESSION_SECONDS, hex(&random));
        let signature = sign(&self.key, &format!("session {content}"));
        let attributes = format!("Path=/; Max-Age={SESSION_SECONDS}; HttpOnly; SameSite=Strict");
        Ok(format!("{}={content}-{signature}; {attributes}", self.cookie))
    }

    /// Returns the value of `Set-Cookie` that ends the session of a browser.
    pub(super) fn end(&self) -> String {
        format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie)
    }

    /// Returns the session of a request; `None` if there is no valid one.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<BrowserSession> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|text| text.to_str().ok());
        let mut pairs =
            cookies.flat_map(|text| text.split(';')).filter_map(|it| it.split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.trim() == self.cookie)?;
        let value = value.trim();
        let (content, signature) = value.rsplit_once('-')?;
        let expiry: i64 = content.split_once('-')?.0.parse().ok()?;
        let is_valid = self.is_signed(&format!("session {content}"), signature);
        (is_valid && self.now() < expiry).then(|| BrowserSession(value.to_owned()))
    }

    /// Returns the token that forms of a session have to carry.
    pub(super) fn form_token(&self, session: &BrowserSession) -> String {
        sign(&self.key, &format!("form {}", session.0))
    }

    /// Returns true if a form was made for the session.
    pub(super) fn is_form_token(&self, session: &BrowserSession, token: &str) -> bool {
        self.is_signed(&format!("form {}", session.0), token)
    }

    fn is_signed(&self, text: &str, signature: &str) -> bool {
        let Some(signature) = unhex(signature) else { return false };
        hmac::verify(&self.key, text.as_bytes(), &signature).is_ok()
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }
}

fn sign(key: &hmac::Key, text: &str) -> String {
    hex(hmac::sign(key, text.as_bytes()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use assay_base::clock::ManualClock;

    use super::*;

    fn sessions(token: &str, clock: &Clock) -> Sessions {
        Sessions::new(&Token::new(token, "a test").unwrap(), clock)
    }

    fn headers(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, format!("other=1; {cookie}").parse().unwrap());
        headers
    }

    #[test]
    fn a_session_is_valid_until_it_expires_and_only_with_its_signature() {
        let manual = ManualClock::at("2026-05-01T08:00:00Z".parse().unwrap());
        let sessions = sessions("0123456789abcdef", &manual.clock());
        let set = sessions.start().unwrap();
        assert!(set.ends_with("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"), "{set}");
        let cookie = set.split(';').next().unwrap();
        let session = sessions.find(&headers(cookie)).unwrap();
        let forged = cookie.replace("=17", "=18");
        assert_ne!(forged, cookie);
        assert_eq!(sessions.find(&headers(&forged)), None);
        assert_eq!(sessions.find(&headers(&cookie[..cookie.len() - 2])), None);
        assert_eq!(sessions.find(&HeaderMap::new()), None);
        assert!(sessions.is_form_token(&session, &sessions.form_token(&session)));
        let other = sessions.find(&headers(sessions.start().unwrap().split(';').next().unwrap()));
        assert!(!sessions.is_form_token(&session, &sessions.form_token(&other.unwrap())));
        assert!(!sessions.is_form_token(&session, "é"));
        manual.advance(std::time::Duration::from_secs(43_201));
        assert_eq!(sessions.find(&headers(cookie)), None);
    }

    #[test]
    fn the_cookie_has_no_part_of_the_token_and_is_of_no_use_to_another_server() {
        let clock = Clock::system();
        let (one, two) =
            (sessions("0123456789abcdef", &clock), sessions("fedcba9876543210", &clock));
        let set = one.start().unwrap();
        assert!(!set.contains("0123456789abcdef"));
        let cookie = set.split(';').next().unwrap();
        assert_eq!(two.find(&headers(cookie)), None);
        let (_, value) = cookie.split_once('=').unwrap();
        assert_eq!(two.find(&headers(&format!("{}={value}", two.cookie))), None);
    }
}
