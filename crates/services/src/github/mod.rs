//! GitHub, and GitHub Enterprise: [`GitHub`].
//!
//! Each file has the calls about one thing, with its types. Text that comes back was written by
//! anybody, and is cut to no more than somebody reads. Writes keep a [`Pace`]; whether a write took
//! effect whose answer was lost is for the caller to look up.

mod branches;
mod checks;
mod comments;
mod pace;
pub mod post;
mod pulls;
mod reviews;
mod sarif;
mod threads;

use std::sync::Arc;
use std::time::Duration;

use assay_sandbox::Keys;
use assay_store::pulls::RepositoryName;
use serde::de::DeserializeOwned;

pub use self::checks::CheckRun;
pub use self::comments::{IssueComment, ReviewComment};
pub use self::pace::Pace;
use self::pace::Paced;
pub use self::pulls::{
    Association, ChangedFile, Head, NewPull, OpenPulls, PullRequest, PullState, PullUpdate,
    TooLarge, origin,
};
pub use self::reviews::{Event, GivenReview, LineComment, NewReview, PostedReview, Side};
pub use self::threads::{
    OWN_OPERATIONS, ReviewState, StandingComment, StandingReview, StandsAs, Thread, ThreadComment,
};
use crate::http::{
    Api, Authorization, Call, ServerUrl, ServiceClock, ServiceError, Transport, Wire, path_segment,
};

/// The name of the service.
const SERVICE: &str = "GitHub";

/// Where GitHub itself listens.
pub const PUBLIC: &str = "https://api.github.com";

/// The version of the interface that is spoken.
const VERSION: &str = "2022-11-28";

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(30);

/// How much is asked for at a time.
const PAGE: usize = 100;

/// GitHub, or a company's own.
#[derive(Clone)]
pub struct GitHub {
    api: Api,
    /// What stands before the paths of everything but GraphQL.
    prefix: &'static str,
}

impl GitHub {
    /// GitHub at an address: its own, or `https://HOST/api/v3` of a company's.
    pub fn new(url: &ServerUrl, keys: Keys, pace: Pace, clock: Arc<dyn ServiceClock>) -> GitHub {
        // There, GraphQL is beside that path and not below it.
        match url.to_string().trim_end_matches('/').strip_suffix("/v3") {
            Some(above) => {
                let above = above.parse().expect("an address without its end is one");
                GitHub::over(Arc::new(Wire::new(above, TIME)), keys, pace, clock).below("/v3")
            }
            None => GitHub::over(Arc::new(Wire::new(url.clone(), TIME)), keys, pace, clock),
        }
    }

    /// GitHub over a transport.
    pub fn over(
        inner: Arc<dyn Transport>,
        keys: Keys,
        pace: Pace,
        clock: Arc<dyn ServiceClock>,
    ) -> GitHub {
        let transport = Arc::new(Paced { inner, pace, clock: Arc::clone(&clock) });
        let api = Api::new(SERVICE, transport, Arc::new(keys), Authorization::Bearer, clock)
            .with_header("accept", "application/vnd.github+json")
            .with_header("x-github-api-version", VERSION);
        GitHub { api, prefix: "" }
    }

    fn below(self, prefix: &'static str) -> GitHub {
        GitHub { prefix, ..self }
    }

    /// The clock that it waits by.
    pub fn clock(&self) -> &dyn ServiceClock {
        self.api.clock()
    }

    /// The path of something in a repository.
    fn in_repository(&self, repository: &RepositoryName, rest: &str) -> String {
        let (owner, name) = (path_segment(repository.owner()), path_segment(repository.name()));
        format!("{}/repos/{owner}/{name}{rest}", self.prefix)
    }

    /// Reads all pages of a list, but no more than so many entries. Says whether there are more.
    fn pages<T: DeserializeOwned>(
        &self,
        call: &Call,
        most: usize,
    ) -> Result<(Vec<T>, bool), ServiceError> {
        let mut all = Vec::new();
        let mut page = 1_usize;
        loop {
            let call = call.clone().query("per_page", PAGE).query("page", page);
            let response = self.api.send(&call)?;
            let entries: Vec<T> = self.api.read(&call, &response)?;
            let is_last = !has_next(response.header("link")) || entries.is_empty();
            all.extend(entries);
            if all.len() > most || (all.len() == most && !is_last) {
                all.truncate(most);
                return Ok((all, true));
            }
            if is_last {
                return Ok((all, false));
            }
            page += 1;
        }
    }
}

/// Says whether a list has another page. Where that is said to be is not followed: we know it, and it
/// could be anywhere.
fn has_next(link: Option<&str>) -> bool {
    link.is_some_and(|link| link.split(',').any(|part| part.contains("rel=\"next\"")))
}
