//! A client of GitLab, on gitlab.com or self-managed: [`GitLab`].
//!
//! Each file has the calls for one kind of object, with its types. [`GitLabMergeRequest`] is a merge
//! request as a place for reviews. Text in a response is untrusted and is truncated.

mod approvals;
mod discussions;
mod merge_requests;
mod position;
mod project_path;
mod review_service;

use std::sync::Arc;
use std::time::Duration;

use assay_sandbox::Keys;

pub use self::discussions::{Discussion, Note};
pub use self::merge_requests::{DiffRefs, MergeRequest};
pub use self::project_path::{ProjectPath, ProjectPathError};
pub use self::review_service::GitLabMergeRequest;
use crate::http::{
    Api, Authorization, HttpTransport, RateLimitedTransport, RateLimiter, ServerUrl, ServiceClock,
    Transport, WriteLimits, encode_path_segment,
};

/// The name of the service.
const SERVICE: &str = "GitLab";

/// The address of the API of gitlab.com.
pub const PUBLIC_URL: &str = "https://gitlab.com/api/v4";

/// The limits of writes. GitLab allows 300 notes a minute by default, and on gitlab.com 60.
pub const WRITE_LIMITS: WriteLimits =
    WriteLimits { min_interval: Duration::from_millis(200), per_minute: 55, per_hour: 3_000 };

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of entries per page of a list.
const PAGE_SIZE: usize = 100;

/// A client of GitLab.
#[derive(Clone)]
pub struct GitLab {
    api: Api,
}

impl GitLab {
    /// Creates a client of the API at an address, such as `https://HOST/api/v4`.
    pub fn new(
        url: &ServerUrl,
        keys: Keys,
        limiter: RateLimiter,
        clock: Arc<dyn ServiceClock>,
    ) -> GitLab {
        let transport = Arc::new(HttpTransport::new(url.clone(), REQUEST_TIMEOUT));
        GitLab::with_transport(transport, keys, limiter, clock)
    }

    /// Creates a client that uses a transport.
    pub fn with_transport(
        inner: Arc<dyn Transport>,
        keys: Keys,
        limiter: RateLimiter,
        clock: Arc<dyn ServiceClock>,
    ) -> GitLab {
        let transport =
            Arc::new(RateLimitedTransport { inner, limiter, clock: Arc::clone(&clock) });
        // Access tokens of users, projects and groups are accepted as bearer tokens, too.
        let api = Api::new(SERVICE, transport, Arc::new(keys), Authorization::Bearer, clock)
            .with_header("accept", "application/json");
        GitLab { api }
    }

    /// Returns the clock that the client waits by.
    pub fn clock(&self) -> &dyn ServiceClock {
        self.api.clock()
    }

    /// Returns the path of an object of a merge request.
    fn merge_request_path(&self, project: &ProjectPath, number: u64, rest: &str) -> String {
        let project = encode_path_segment(project.as_str());
        format!("/projects/{project}/merge_requests/{number}{rest}")
    }
}
