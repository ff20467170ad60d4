//! What goes over the wire: a [`Request`], a [`Response`], and whoever carries them ([`Transport`]).

use std::fmt;
use std::io::Read as _;
use std::time::Duration;

use ureq::Agent;
use ureq::http::HeaderValue;

use super::ServerUrl;

/// The longest time to connect to a service.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How many bytes an answer may have.
const MOST: u64 = 64 << 20;

/// What is done to what an address names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It is read.
    Get,
    /// Something is added to it.
    Post,
    /// It is replaced.
    Put,
    /// A part of it is replaced.
    Patch,
}

impl Method {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
        }
    }
}

/// What a request does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads, so it can be sent again.
    Reads,
    /// It writes, and does so again each time it is sent.
    Writes,
}

/// A request to a service. It shows nobody what its headers hold, which may be a key.
#[derive(Clone)]
pub struct Request {
    /// What is done.
    pub method: Method,
    /// What that does to the world.
    pub effect: Effect,
    /// To what: the path below the service's address, with its query.
    pub target: String,
    /// The header fields, names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// What is sent along.
    pub body: Option<Vec<u8>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.target)
    }
}

/// What a service answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Gives a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter();
        fields.find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }
}

/// No answer came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// It got lost on the way.
    OnTheWay {
        /// Why.
        why: String,
        /// Whether the service may have got the request nevertheless.
        may_have_arrived: bool,
    },
    /// It was not sent: it is not its turn, and nobody waits that long.
    NotItsTurn {
        /// How long it would have to be waited for.
        wait: Duration,
    },
}

/// Carries a request to a service.
///
/// It sends a request once: whoever wants it sent again sends it again.
pub trait Transport: Send + Sync {
    /// Sends a request, and gives what came back.
    fn send(&self, request: &Request) -> Result<Response, Lost>;

    /// Says where to, for messages.
    fn place(&self) -> String;
}

/// A service at an address, over HTTP.
#[derive(Debug, Clone)]
pub struct Wire {
    url: ServerUrl,
    agent: Agent,
    time: Duration,
}

impl Wire {
    /// A service at an address; an answer may take so long.
    pub fn new(url: ServerUrl, time: Duration) -> Wire {
        let agent = agent(&url);
        Wire { url, agent, time }
    }
}

/// Creates an agent for requests to a server.
pub(crate) fn agent(url: &ServerUrl) -> Agent {
    assay_http::agent::agent(url.host(), CONNECT_TIMEOUT)
}

impl Transport for Wire {
    fn send(&self, request: &Request) -> Result<Response, Lost> {
        let address = format!("{}{}", self.url.to_string().trim_end_matches('/'), request.target);
        let mut sent = ureq::http::Request::builder().method(request.method.as_str()).uri(address);
        for (name, value) in &request.headers {
            let value = HeaderValue::try_from(value);
            let mut value =
                value.map_err(|_| unsent(format!("the header `{name}` cannot be sent")))?;
            // Whoever logs requests leaves it out.
            value.set_sensitive(*name == "authorization");
            sent = sent.header(*name, value);
        }
        let body = request.body.as_deref().unwrap_or_default();
        let sent = sent.body(body).map_err(|error| unsent(error.to_string()))?;
        let sent = self.agent.configure_request(sent).timeout_global(Some(self.time)).build();
        let response = self.agent.run(sent).map_err(lost)?;
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let headers = headers.collect();
        let mut body = Vec::new();
        let mut reader = response.into_body().into_with_config().limit(MOST).reader();
        reader.read_to_end(&mut body).map_err(|error| lost(error.into()))?;
        Ok(Response { status, headers, body })
    }

    fn place(&self) -> String {
        self.url.to_string()
    }
}

fn unsent(why: String) -> Lost {
    Lost::OnTheWay { why, may_have_arrived: false }
}

fn lost(error: ureq::Error) -> Lost {
    let may_have_arrived = !matches!(
        error,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_)
    );
    let refused = matches!(&error, ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused);
    let why = match &error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        ureq::Error::HostNotFound => "nobody knows its host".to_owned(),
        other => other.to_string(),
    };
    Lost::OnTheWay { why, may_have_arrived: may_have_arrived && !refused }
}
