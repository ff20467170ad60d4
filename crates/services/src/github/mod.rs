//! A client of GitHub and GitHub Enterprise: [`GitHub`].
//!
//! Each file has the calls for one kind of object, with its types. Text in a response is untrusted
//! and is truncated. Writes are limited by a [`RateLimiter`]. If the response to a write was lost,
//! the caller has to find out whether the write took effect.

mod answers;
mod app;
mod branches;
mod checks;
mod comments;
mod pulls;
mod review_service;
mod reviews;
mod sarif;
mod threads;

use std::sync::Arc;
use std::time::Duration;

use assay_sandbox::Keys;
use assay_store::pulls::RepositoryName;
use serde::de::DeserializeOwned;

pub use self::answers::Reaction;
pub use self::app::{AppKey, AppKeyError, InstallationToken};
pub use self::checks::CheckRun;
pub use self::comments::{IssueComment, ReviewComment};
pub use self::pulls::{
    Association, ChangedFile, DiffTooLarge, Head, NewPull, OpenPulls, PullRequest, PullState,
    PullUpdate, origin,
};
pub use self::review_service::GitHubPull;
pub use self::reviews::{Event, LineComment, ListedReview, NewReview, PostedReview, Side};
pub use self::threads::OPERATIONS;
use crate::http::{
    Api, Authorization, Call, HttpTransport, RateLimitedTransport, RateLimiter, ServerUrl,
    ServiceClock, ServiceError, Transport, WriteLimits, encode_path_segment,
};

/// The name of the service.
const SERVICE: &str = "GitHub";

/// The address of the public GitHub API.
pub const PUBLIC_URL: &str = "https://api.github.com";

/// The limits of writes. GitHub allows 80 writes a minute and 500 an hour, and blocks clients that
/// write in bursts.
pub const WRITE_LIMITS: WriteLimits =
    WriteLimits { min_interval: Duration::from_secs(1), per_minute: 75, per_hour: 480 };

/// The version of the REST API.
const VERSION: &str = "2022-11-28";

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of entries per page of a list.
const PAGE_SIZE: usize = 100;

/// A client of GitHub or a GitHub Enterprise server.
#[derive(Clone)]
pub struct GitHub {
    api: Api,
    /// The prefix of all paths except GraphQL.
    prefix: &'static str,
}

impl GitHub {
    /// Creates a client of the API at an address: the public one, or `https://HOST/api/v3` of a
    /// GitHub Enterprise server.
    pub fn new(
        url: &ServerUrl,
        keys: Keys,
        limiter: RateLimiter,
        clock: Arc<dyn ServiceClock>,
    ) -> GitHub {
        // On GitHub Enterprise, the path of GraphQL is next to `/v3` and not below it.
        match url.to_string().trim_end_matches('/').strip_suffix("/v3") {
            Some(above) => {
                let above = above.parse().expect("an address without its end is one");
                GitHub::with_transport(
                    Arc::new(HttpTransport::new(above, REQUEST_TIMEOUT)),
                    keys,
                    limiter,
                    clock,
                )
                .with_prefix("/v3")
            }
            None => GitHub::with_transport(
                Arc::new(HttpTransport::new(url.clone(), REQUEST_TIMEOUT)),
                keys,
                limiter,
                clock,
            ),
        }
    }

    /// Creates a client that uses a transport.
    pub fn with_transport(
        inner: Arc<dyn Transport>,
        keys: Keys,
        limiter: RateLimiter,
        clock: Arc<dyn ServiceClock>,
    ) -> GitHub {
        let transport =
            Arc::new(RateLimitedTransport { inner, limiter, clock: Arc::clone(&clock) });
        let api = Api::new(SERVICE, transport, Arc::new(keys), Authorization::Bearer, clock)
            .with_header("accept", "application/vnd.github+json")
            .with_header("x-github-api-version", VERSION);
        GitHub { api, prefix: "" }
    }

    fn with_prefix(self, prefix: &'static str) -> GitHub {
        GitHub { prefix, ..self }
    }

    /// Returns the clock that the client waits by.
    pub fn clock(&self) -> &dyn ServiceClock {
        self.api.clock()
    }

    /// Returns the path of an object in a repository.
    fn repository_path(&self, repository: &RepositoryName, rest: &str) -> String {
        let (owner, name) =
            (encode_path_segment(repository.owner()), encode_path_segment(repository.name()));
        format!("{}/repos/{owner}/{name}{rest}", self.prefix)
    }

    /// Reads the pages of a list, up to `most` entries. The flag is true if there are more.
    fn read_pages<T: DeserializeOwned>(
        &self,
        call: &Call,
        most: usize,
    ) -> Result<(Vec<T>, bool), ServiceError> {
        self.api.pages(call, PAGE_SIZE, most)
    }
}
