//! A debugging port of this machine: [`Endpoint`], and the windows that it offers.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use assay_http::agent::agent;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::http::Uri;

use super::error::AttachError;
use super::untrusted::truncate_line;

/// The timeout of a request to the port.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of an answer, in bytes.
const MAX_RESPONSE_BYTES: u64 = 4 << 20;

/// The address of the DevTools of a browser or an app, on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint(SocketAddr);

impl Endpoint {
    /// Returns the endpoint of an app that was started with `--remote-debugging-port`.
    pub fn local(port: u16) -> Endpoint {
        Endpoint(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    /// Returns the port.
    pub fn port(self) -> u16 {
        self.0.port()
    }

    pub(super) fn address(self) -> SocketAddr {
        self.0
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Endpoint {
    type Err = AttachError;

    /// Parses an address such as `127.0.0.1:9222`, `localhost:9222` or `[::1]:9222`.
    fn from_str(text: &str) -> Result<Endpoint, AttachError> {
        let no_address = || AttachError::NoAddress { text: truncate_line(text) };
        let (host, port) = text.rsplit_once(':').ok_or_else(no_address)?;
        let port = port.parse().map_err(|_| no_address())?;
        let host = parse_loopback(host)
            .ok_or_else(|| AttachError::NotLocal { host: truncate_line(host) })?;
        Ok(Endpoint(SocketAddr::new(host, port)))
    }
}

/// Returns the address of a host that is this machine, or `None` for other hosts. Names are not
/// resolved: only `localhost` is accepted.
pub(super) fn parse_loopback(host: &str) -> Option<IpAddr> {
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok().filter(IpAddr::is_loopback)
}

/// The browser or app that listens at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// The name and version of the product, such as `Chrome/156.0`.
    #[serde(rename(deserialize = "Browser"))]
    pub browser: String,
    /// The user agent that web servers see; it names Electron.
    #[serde(default, rename(deserialize = "User-Agent"))]
    pub user_agent: String,
}

impl Product {
    /// The oldest major version of Chrome that is supported; Electron 9 has it.
    pub const MIN_CHROME_VERSION: u32 = 83;

    /// Returns the major version of Chrome, or `None` if the browser is not of the Chromium family.
    ///
    /// An app can choose its user agent freely, so the product's own name counts first.
    pub fn chrome_version(&self) -> Option<u32> {
        let version = |text: &str| {
            let (_, after) = text.split_once("Chrome/")?;
            after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        version(&self.browser).or_else(|| version(&self.user_agent))
    }

    /// Returns true if assay supports the version.
    pub fn is_supported(&self) -> bool {
        self.chrome_version().is_some_and(|version| version >= Product::MIN_CHROME_VERSION)
    }

    /// Returns the common name of the browser: the one of Electron, if it is an Electron app.
    fn display_name(&self) -> String {
        let electron = self.user_agent.split(' ').find(|word| word.starts_with("Electron/"));
        match electron {
            Some(electron) => format!("{electron}, {}", self.browser),
            None => self.browser.clone(),
        }
    }
}

/// A window, or another target with a page in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The id of the window, valid while the window exists.
    pub id: String,
    /// The kind of the target: `page`, `webview`, …
    pub kind: String,
    /// The title of the page.
    pub title: String,
    /// The address of the page.
    pub url: String,
    /// The path of the window's debugger, below the endpoint; `None` if another debugger uses the
    /// window.
    #[serde(skip)]
    path: Option<String>,
}

impl Window {
    /// Returns the path of the window's debugger, or `None` if another debugger uses the window.
    pub(super) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns true if this is a window of the app itself, and not of its developer tools or
    /// extensions.
    pub fn is_own(&self) -> bool {
        let tools = ["devtools:", "chrome-extension:"];
        self.kind == "page" && !tools.iter().any(|scheme| self.url.starts_with(scheme))
    }
}

/// A window in the form of the DevTools protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    id: String,
    r#type: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    web_socket_debugger_url: Option<String>,
}

impl Endpoint {
    /// Returns the product that listens at the endpoint.
    pub fn product(self) -> Result<Product, AttachError> {
        let Product { browser, user_agent } = self.get("/json/version")?;
        Ok(Product { browser: truncate_line(&browser), user_agent: truncate_line(&user_agent) })
    }

    /// Returns the product that listens at the endpoint. Fails if the product is older than
    /// [`Product::MIN_CHROME_VERSION`], or no Chromium.
    pub fn supported_product(self) -> Result<Product, AttachError> {
        let product = self.product()?;
        let (at, oldest) = (self.to_string(), Product::MIN_CHROME_VERSION);
        match product.chrome_version() {
            Some(version) if version >= oldest => Ok(product),
            Some(_) => Err(AttachError::TooOld { at, product: product.display_name(), oldest }),
            None => {
                Err(AttachError::UnknownBrowser { at, product: product.display_name(), oldest })
            }
        }
    }

    /// Lists the windows, without their workers and frames.
    pub fn windows(self) -> Result<Vec<Window>, AttachError> {
        let targets: Vec<Target> = self.get("/json/list")?;
        let shown = targets.into_iter().filter(|it| matches!(&*it.r#type, "page" | "webview"));
        shown.map(|target| self.window(target)).collect()
    }

    /// Returns the window with an id, or the first window of the app itself.
    pub fn find_window(self, id: Option<&str>) -> Result<Window, AttachError> {
        let mut windows = self.windows()?.into_iter();
        let at = || self.to_string();
        match id {
            None => windows.find(Window::is_own).ok_or_else(|| AttachError::NoPage { at: at() }),
            Some(id) => windows
                .find(|window| window.id == id)
                .ok_or_else(|| AttachError::NoSuchWindow { at: at(), id: truncate_line(id) }),
        }
    }

    fn window(self, target: Target) -> Result<Window, AttachError> {
        let path = target.web_socket_debugger_url.as_deref().map(|url| self.path(url));
        Ok(Window {
            path: path.transpose()?,
            id: truncate_line(&target.id),
            kind: truncate_line(&target.r#type),
            title: truncate_line(&target.title),
            url: truncate_line(&target.url),
        })
    }

    /// Returns the path in the address of a window's debugger. Only the path is used, and only on
    /// this endpoint; an address on another machine is refused nevertheless, since it is not what
    /// it seems.
    fn path(self, url: &str) -> Result<String, AttachError> {
        let bad =
            || self.not_devtools_error(format!("invalid window address `{}`", truncate_line(url)));
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let host = uri.host().ok_or_else(bad)?;
        parse_loopback(host).ok_or_else(|| AttachError::NotLocal { host: truncate_line(host) })?;
        let path = uri.path_and_query().ok_or_else(bad)?;
        Ok(path.to_string())
    }

    fn get<T: DeserializeOwned>(self, path: &str) -> Result<T, AttachError> {
        let agent = agent(&self.0.ip().to_string(), REQUEST_TIMEOUT);
        let request = agent.get(format!("http://{}{path}", self.0));
        let answer = request.config().timeout_global(Some(REQUEST_TIMEOUT)).build().call();
        let answer = answer.map_err(|error| self.request_error(error))?;
        let status = answer.status().as_u16();
        if status != 200 {
            return Err(self.not_devtools_error(format!("the server returned status {status}")));
        }
        let body = answer.into_body().into_with_config().limit(MAX_RESPONSE_BYTES).read_to_vec();
        let body = body.map_err(|error| self.request_error(error))?;
        serde_json::from_slice(&body)
            .map_err(|_| self.not_devtools_error(format!("unexpected answer to `{path}`")))
    }

    fn request_error(self, error: ureq::Error) -> AttachError {
        match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.not_listening_error()
            }
            ureq::Error::Timeout(_) => {
                self.not_devtools_error(format!("no answer within {} s", REQUEST_TIMEOUT.as_secs()))
            }
            other => self.not_devtools_error(truncate_line(&other.to_string())),
        }
    }

    pub(super) fn not_listening_error(self) -> AttachError {
        AttachError::NotListening { at: self.to_string(), port: self.0.port() }
    }

    pub(super) fn not_devtools_error(self, why: String) -> AttachError {
        AttachError::NotDevTools { at: self.to_string(), why }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let parsed = match text.parse::<Endpoint>() {
            Ok(endpoint) => endpoint.to_string(),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&parsed);
    }

    #[test]
    fn only_loopback_addresses_are_accepted_as_endpoints() {
        check("localhost:9222", expect!["127.0.0.1:9222"]);
        check("127.0.0.2:1", expect!["127.0.0.2:1"]);
        check("[::1]:9222", expect!["[::1]:9222"]);
        let elsewhere = "DevTools is used on this machine only";
        for host in ["example.com", "10.0.0.1", "0.0.0.0", "localhost.example.com", "[::]", ""] {
            let error = format!("{host}:9222").parse::<Endpoint>().unwrap_err().to_string();
            assert_eq!(error, format!("cannot connect to `{host}`: {elsewhere}"));
        }
        check(
            "9222",
            expect!["invalid address `9222`: expected HOST:PORT, such as `127.0.0.1:9222`"],
        );
        check(
            "localhost:99999",
            expect![
                "invalid address `localhost:99999`: expected HOST:PORT, such as `127.0.0.1:9222`"
            ],
        );
    }

    #[test]
    fn a_window_on_another_host_is_refused() {
        let endpoint = Endpoint::local(9222);
        let path = |url: &str| endpoint.path(url).map_err(|error| error.to_string());
        assert_eq!(path("ws://127.0.0.1:9222/devtools/page/A"), Ok("/devtools/page/A".to_owned()));
        let elsewhere = path("ws://10.1.2.3:9222/devtools/page/A").unwrap_err();
        assert!(elsewhere.starts_with("cannot connect to `10.1.2.3`"), "{elsewhere}");
        let odd = path("ws://127.0.0.1@example.com/x").unwrap_err();
        assert!(odd.starts_with("cannot connect to `example.com`"), "{odd}");
        assert!(path("nowhere\u{7}").unwrap_err().contains("invalid window address"));
    }
}
