//! HTTP messages and their transport: [`Request`], [`Response`] and [`Transport`].

use std::fmt;
use std::io::Read as _;
use std::time::Duration;

use ureq::Agent;
use ureq::http::HeaderValue;

use super::ServerUrl;

/// The timeout for connecting to a service.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum size of a response, in bytes.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads a resource.
    Get,
    /// Adds a resource.
    Post,
    /// Replaces a resource.
    Put,
    /// Replaces a part of a resource.
    Patch,
}

impl Method {
    /// Returns the name of the method.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
        }
    }
}

/// The effect of a request on the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEffect {
    /// The request only reads, so it can be sent again.
    Read,
    /// The request writes, again each time that it is sent.
    Write,
}

/// A request to a service. Its `Debug` output leaves out the headers, which may contain a key.
#[derive(Clone)]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// The effect on the service.
    pub effect: RequestEffect,
    /// The path below the service's address, with the query.
    pub target: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The body; `None` for a request without one.
    pub body: Option<Vec<u8>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.target)
    }
}

/// The response of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the value of a header, or `None` if it is missing.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter();
        fields.find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }
}

/// The reason why there is no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportError {
    /// The request or the response was lost.
    Network {
        /// The cause.
        why: String,
        /// True if the service may have received the request nevertheless.
        may_have_arrived: bool,
    },
    /// The request was not sent: a rate limit applies, and its delay exceeds the maximum wait.
    RateLimited {
        /// The delay that the rate limit requires.
        wait: Duration,
    },
}

/// A transport for requests to a service.
///
/// A transport sends a request once; retries are left to the caller.
pub trait Transport: Send + Sync {
    /// Sends a request and returns the response.
    fn send(&self, request: &Request) -> Result<Response, TransportError>;

    /// Returns the address of the service, for messages.
    fn address(&self) -> String;
}

/// The HTTP transport to a service.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    url: ServerUrl,
    agent: Agent,
    timeout: Duration,
}

impl HttpTransport {
    /// Creates a transport to the service at an address; `timeout` is the timeout of a request.
    pub fn new(url: ServerUrl, timeout: Duration) -> HttpTransport {
        let agent = agent(&url);
        HttpTransport { url, agent, timeout }
    }
}

/// Creates an HTTP agent for requests to a server.
pub(crate) fn agent(url: &ServerUrl) -> Agent {
    assay_http::agent::agent(url.host(), CONNECT_TIMEOUT)
}

impl Transport for HttpTransport {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let address = format!("{}{}", self.url.to_string().trim_end_matches('/'), request.target);
        let mut sent = ureq::http::Request::builder().method(request.method.as_str()).uri(address);
        for (name, value) in &request.headers {
            let value = HeaderValue::try_from(value);
            let mut value =
                value.map_err(|_| not_sent_error(format!("the header `{name}` cannot be sent")))?;
            // Logs of requests leave out sensitive headers.
            value.set_sensitive(*name == "authorization");
            sent = sent.header(*name, value);
        }
        let body = request.body.as_deref().unwrap_or_default();
        let sent = sent.body(body).map_err(|error| not_sent_error(error.to_string()))?;
        let sent = self.agent.configure_request(sent).timeout_global(Some(self.timeout)).build();
        let response = self.agent.run(sent).map_err(network_error)?;
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let headers = headers.collect();
        let mut body = Vec::new();
        let mut reader = response.into_body().into_with_config().limit(MAX_RESPONSE_BYTES).reader();
        reader.read_to_end(&mut body).map_err(|error| network_error(error.into()))?;
        Ok(Response { status, headers, body })
    }

    fn address(&self) -> String {
        self.url.to_string()
    }
}

fn not_sent_error(why: String) -> TransportError {
    TransportError::Network { why, may_have_arrived: false }
}

fn network_error(error: ureq::Error) -> TransportError {
    let may_have_arrived = !matches!(
        error,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_)
    );
    let refused = matches!(&error, ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused);
    let why = match &error {
        ureq::Error::Timeout(_) => "timeout".to_owned(),
        ureq::Error::HostNotFound => "could not resolve host".to_owned(),
        other => other.to_string(),
    };
    TransportError::Network { why, may_have_arrived: may_have_arrived && !refused }
}
