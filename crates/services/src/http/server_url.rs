//! The address of a server: [`ServerUrl`].

use std::fmt;
use std::str::FromStr;

use assay_http::agent::is_loopback;
use ureq::http::Uri;

/// The reason why a text is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlError {
    /// The text is no address, or has another scheme than `http` or `https`.
    #[error("expected a URL such as `http://localhost:8000/mcp`")]
    Invalid,
    /// The address contains a user name or a password.
    #[error("the URL has a user name or a password, which is not sent")]
    HasCredentials,
}

/// The address of a server, such as `http://localhost:8000/mcp`. Only `http` and `https` are
/// allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl(Uri);

impl ServerUrl {
    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    /// Returns true if a key can be sent to the server: encrypted, or within this machine.
    pub fn is_secure(&self) -> bool {
        self.0.scheme_str() == Some("https") || is_loopback(self.host())
    }

    /// Returns the host, without its port.
    pub(crate) fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }
}

impl fmt::Display for ServerUrl {
    /// Writes the address without its query, which may contain a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map_or("", |authority| authority.as_str());
        write!(f, "{scheme}://{authority}{}", self.0.path())
    }
}

impl FromStr for ServerUrl {
    type Err = ServerUrlError;

    fn from_str(text: &str) -> Result<ServerUrl, ServerUrlError> {
        let uri: Uri = text.trim().parse().map_err(|_| ServerUrlError::Invalid)?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let Some(authority) = uri.authority().filter(|it| is_web && !it.host().is_empty()) else {
            return Err(ServerUrlError::Invalid);
        };
        match authority.as_str().contains('@') {
            true => Err(ServerUrlError::HasCredentials),
            false => Ok(ServerUrl(uri)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_urls_without_credentials_are_accepted() {
        let parsed = |text: &str| match text.parse::<ServerUrl>() {
            Ok(url) => url.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(parsed("http://localhost:8000/mcp"), "http://localhost:8000/mcp");
        assert_eq!(parsed(" https://memory.example.org "), "https://memory.example.org/");
        assert_eq!(parsed("https://m.example/mcp?key=abc"), "https://m.example/mcp");
        for odd in [
            "", "localhost:8000", "/mcp", "ftp://example.org/", "file:///etc/passwd", "http://",
            "javascript:alert(1)", "http:///mcp", "ht tp://x", "http://x\u{7}y/",
        ] {
            assert_eq!(parsed(odd), ServerUrlError::Invalid.to_string(), "{odd}");
        }
        assert_eq!(
            parsed("https://ada:pw@example.org/mcp"),
            ServerUrlError::HasCredentials.to_string()
        );
    }

    #[test]
    fn plain_http_counts_as_secure_only_for_loopback_hosts() {
        let is_secure = |text: &str| text.parse::<ServerUrl>().unwrap().is_secure();
        for safe in ["http://localhost/", "http://127.0.0.1:1/", "http://[::1]:1/", "https://x/"] {
            assert!(is_secure(safe), "{safe}");
        }
        for unsafe_url in ["http://localhost.example/", "http://10.0.0.1/", "http://127.example/"] {
            assert!(!is_secure(unsafe_url), "{unsafe_url}");
        }
    }
}
