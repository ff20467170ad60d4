//! The base address of an app's pages: [`BaseUrl`].

use std::fmt;
use std::str::FromStr;

use ureq::http::Uri;

use crate::browser::endpoint::parse_loopback;
use crate::browser::untrusted::truncate_line;

/// The address to which pages are relative: on this machine, or files of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// The reason why an address cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// The text is no address.
    #[error("invalid address `{0}`: expected one such as `http://localhost:3000`")]
    NoAddress(String),
    /// The address is that of another machine.
    #[error("cannot open `{0}`: only pages of this machine are opened")]
    NotLocal(String),
    /// The text is no page below an address.
    #[error("invalid page `{0}`: expected one such as `/dashboard` or `#settings`")]
    NoPage(String),
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<BaseUrl, BaseUrlError> {
        let no_address = || BaseUrlError::NoAddress(truncate_line(text));
        let trimmed = text.trim_end_matches('/');
        if !is_plain(trimmed) || trimmed.contains(['?', '#']) {
            return Err(no_address());
        }
        if let Some(path) = trimmed.strip_prefix("file://") {
            return if path.starts_with('/') {
                Ok(BaseUrl(trimmed.to_owned()))
            } else {
                Err(no_address())
            };
        }
        let uri: Uri = trimmed.parse().map_err(|_| no_address())?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let host = uri.host().filter(|_| is_web).ok_or_else(no_address)?;
        match parse_loopback(host) {
            Some(_) => Ok(BaseUrl(trimmed.to_owned())),
            None => Err(BaseUrlError::NotLocal(truncate_line(host))),
        }
    }
}

impl BaseUrl {
    /// Returns the address of a page. It never leads to another machine or another folder.
    pub fn page(&self, page: &str) -> Result<String, BaseUrlError> {
        let path = page.split(['?', '#']).next().unwrap_or_default();
        let climbs = path.split('/').any(|part| part == "..");
        if !is_plain(page) || page.contains("://") || climbs {
            return Err(BaseUrlError::NoPage(truncate_line(page)));
        }
        let between = if page.starts_with(['/', '?', '#']) || page.is_empty() { "" } else { "/" };
        Ok(format!("{}{between}{page}", self.0))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(base: &str, page: &str, expect: Expect) {
        let joined_url = base.parse::<BaseUrl>().and_then(|base| base.page(page));
        expect.assert_eq(&joined_url.unwrap_or_else(|error| error.to_string()));
    }

    #[test]
    fn a_page_url_stays_below_its_base_url() {
        check("http://localhost:3000/", "/dashboard", expect!["http://localhost:3000/dashboard"]);
        check("http://localhost:3000", "login?a=1", expect!["http://localhost:3000/login?a=1"]);
        check("http://127.0.0.1:1", "//evil.com/", expect!["http://127.0.0.1:1//evil.com/"]);
        check("file:///app/index.html", "#a", expect!["file:///app/index.html#a"]);
        check("https://[::1]:1", "", expect!["https://[::1]:1"]);
        let hint = "expected one such as `/dashboard` or `#settings`";
        for page in ["/../x", "http://evil.com", "/a\\b", "/a b", "javascript://x"] {
            let base: BaseUrl = "http://localhost:3000".parse().unwrap();
            assert_eq!(
                base.page(page).unwrap_err().to_string(),
                format!("invalid page `{page}`: {hint}")
            );
        }
    }

    #[test]
    fn only_local_urls_are_accepted_as_base_url() {
        for (host, named) in [
            ("http://example.com", "example.com"),
            ("http://localhost.evil.com", "localhost.evil.com"),
            ("http://localhost@evil.com", "evil.com"),
            ("https://10.0.0.1:3000", "10.0.0.1"),
        ] {
            assert_eq!(host.parse::<BaseUrl>(), Err(BaseUrlError::NotLocal(named.to_owned())));
        }
        for text in ["", "localhost:3000", "ftp://localhost", "file://x", "javascript:alert(1)"] {
            assert_eq!(
                text.parse::<BaseUrl>(),
                Err(BaseUrlError::NoAddress(text.to_owned())),
                "{text}"
            );
        }
    }
}
