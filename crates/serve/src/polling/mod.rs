//! Pull requests that are looked for: [`Polling`] asks GitHub which are open, and queues those that are
//! to be reviewed.
//!
//! It looks once for each call; when to look again it says, and whoever calls waits. What is queued is
//! the same task that a webhook makes, so one that is there already is nothing to do. A tag of GitHub's
//! is kept only once all of its answer is settled: a queue that was full, or a database that was away,
//! loses nothing.
//!
//! The status of a ticket changes without GitHub's knowledge. So pull requests that wait for their
//! ticket are checked again even if GitHub reports no change.

mod filter;

use std::sync::Arc;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::Clock;
use assay_findings::write::plain::chain;
use assay_services::github::{GitHub, OpenPulls, PullRequest};
use assay_services::http::ServiceError;
use assay_store::pulls::{Pull, RepositoryName};
use assay_store::queue::{Queue, QueueError};
use assay_store::task::{Moment, QueueName, TaskId};

pub use self::filter::{Filter, InStatus, PassedOver};

/// Who a task says that it is from.
const BY: &str = "watch-prs";

/// The longest delay between polls during an outage, unless the usual interval is longer.
const MAX_DELAY: Duration = Duration::from_secs(3_600);

/// Why not everything could be looked at, or queued.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// GitHub did not say which pull requests there are.
    #[error("its pull requests are not known: {}", chain(.0))]
    Unknown(ServiceError),
    /// GitHub was not asked.
    #[error("it was not looked at: GitHub sets a limit")]
    NotAsked,
    /// There are more pull requests than are listed.
    #[error("it has more open pull requests than the {0} that changed last, which were looked at")]
    TooMany(usize),
    /// It is not known how far a ticket is.
    #[error("#{number} was not queued: {}", chain(error))]
    NoStatus {
        /// The pull request.
        number: u64,
        /// Why.
        error: ServiceError,
    },
    /// The queue did not take a task.
    #[error("#{number} was not queued: {}", chain(error))]
    NotQueued {
        /// The pull request.
        number: u64,
        /// Why.
        error: QueueError,
    },
}

impl LookError {
    /// Gives what stays the same for as long as the same is wrong.
    pub fn gist(&self) -> String {
        match self {
            LookError::Unknown(ServiceError::Limited { .. }) | LookError::NotAsked => {
                "GitHub sets a limit".to_owned()
            }
            LookError::Unknown(error) | LookError::NoStatus { error, .. } => chain(error),
            LookError::TooMany(_) => self.to_string(),
            LookError::NotQueued { error, .. } => chain(error),
        }
    }

    /// Gives what a service said, if one is to blame.
    fn service(&self) -> Option<&ServiceError> {
        match self {
            LookError::Unknown(error) | LookError::NoStatus { error, .. } => Some(error),
            LookError::NotAsked | LookError::TooMany(_) | LookError::NotQueued { .. } => None,
        }
    }
}

/// What came of looking once.
#[derive(Debug, Default)]
pub struct Looked {
    /// What was queued.
    pub queued: Vec<(TaskId, Pull)>,
    /// What was not, and why that is in order. A repository in which nothing changed says nothing.
    pub passed_over: Vec<(Pull, PassedOver)>,
    /// What could not be looked at or queued. The next look makes up for it, if it can.
    pub failed: Vec<(RepositoryName, LookError)>,
}

/// A repository that is looked at.
struct Watched {
    repository: RepositoryName,
    /// What GitHub gave to ask again with, once all that it told then is settled.
    tag: Option<String>,
    /// Those whose ticket is not far enough: that changes without GitHub's knowing.
    early: Vec<PullRequest>,
    /// How many pull requests were listed, if there are more.
    cut_at: Option<usize>,
}

/// Looks for pull requests that are to be reviewed, and queues them.
pub struct Polling {
    github: GitHub,
    queue: Arc<dyn Queue>,
    reviewers: QueueName,
    filter: Filter,
    clock: Clock,
    watched: Vec<Watched>,
    /// How many looks in a row a service was out.
    outages: u32,
    /// How long a service asked to be left alone.
    limit: Duration,
}

impl Polling {
    /// Looks at repositories, for those who work on a queue. One that is named twice is looked at once.
    pub fn new(
        github: GitHub,
        repositories: impl IntoIterator<Item = RepositoryName>,
        filter: Filter,
        queue: Arc<dyn Queue>,
        reviewers: QueueName,
        clock: &Clock,
    ) -> Polling {
        let mut watched: Vec<Watched> = Vec::new();
        for repository in repositories {
            if !watched.iter().any(|known| known.repository.is(&repository)) {
                watched.push(Watched { repository, tag: None, early: Vec::new(), cut_at: None });
            }
        }
        let (clock, limit) = (clock.clone(), Duration::ZERO);
        Polling { github, queue, reviewers, filter, clock, watched, outages: 0, limit }
    }

    /// Looks at all repositories, once.
    pub fn look(&mut self) -> Looked {
        let mut looked = Looked::default();
        let mut watched = std::mem::take(&mut self.watched);
        self.limit = Duration::ZERO;
        for watched in &mut watched {
            // Whoever goes on asking is shut out for longer.
            match self.limit.is_zero() {
                true => self.look_at(watched, &mut looked),
                false => looked.failed.push((watched.repository.clone(), LookError::NotAsked)),
            }
            let limits = looked.failed.iter().filter_map(|(_, error)| match error.service() {
                Some(ServiceError::Limited { wait, .. }) => Some(*wait),
                _ => None,
            });
            self.limit = limits.max().unwrap_or_default();
        }
        self.watched = watched;
        let mut services = looked.failed.iter().filter_map(|(_, error)| error.service());
        self.outages = match services.any(ServiceError::is_passing) {
            true => self.outages.saturating_add(1),
            false => 0,
        };
        looked
    }

    /// Says how long to wait before the next look, where it is usually that long: longer with each
    /// look in which a service was out, and as long as one asked for.
    pub fn rest(&self, usually: Duration) -> Duration {
        let backoff = Backoff::new(usually, usually.max(MAX_DELAY));
        backoff.delay(self.outages.saturating_sub(1)).max(self.limit)
    }

    fn look_at(&self, watched: &mut Watched, looked: &mut Looked) {
        let repository = &watched.repository;
        let failures = looked.failed.len();
        let (pulls, tag) = match self.github.open_pulls(repository, watched.tag.as_deref()) {
            Ok(OpenPulls::Unchanged) => (std::mem::take(&mut watched.early), watched.tag.take()),
            Ok(OpenPulls::Now { mut pulls, tag, more }) => {
                watched.cut_at = more.then_some(pulls.len());
                // The first that came is the first that is reviewed, also where there is little room.
                pulls.reverse();
                (pulls, tag)
            }
            Err(error) => {
                return looked.failed.push((repository.clone(), LookError::Unknown(error)));
            }
        };
        watched.early.clear();
        for pull in pulls {
            match self.take(repository, &pull, looked) {
                Ok(Taken::TooEarly) => watched.early.push(pull),
                Ok(Taken::Settled) => {}
                // What is wrong with the queue is wrong for all.
                Err(Unusable) => break,
            }
        }
        watched.tag = tag.filter(|_| looked.failed.len() == failures);
        let cut = watched.cut_at.map(|at| (repository.clone(), LookError::TooMany(at)));
        looked.failed.extend(cut);
    }

    /// Queues a pull request, unless it is passed over.
    fn take(
        &self,
        repository: &RepositoryName,
        request: &PullRequest,
        looked: &mut Looked,
    ) -> Result<Taken, Unusable> {
        let (pull, number) = (request.pull(repository), request.number);
        match self.filter.passes_over(request, &pull) {
            Ok(None) => {}
            Ok(Some(why)) => {
                let taken = if why.may_pass() { Taken::TooEarly } else { Taken::Settled };
                looked.passed_over.push((pull, why));
                return Ok(taken);
            }
            Err(error) => {
                looked.failed.push((repository.clone(), LookError::NoStatus { number, error }));
                return Ok(Taken::Settled);
            }
        }
        let task = pull.review(&self.reviewers, BY, Moment::now(&self.clock));
        let id = task.task.id.clone();
        match self.queue.push(vec![task]) {
            Ok(()) => looked.queued.push((id, pull)),
            Err(QueueError::AlreadyThere { status, .. }) => {
                looked.passed_over.push((pull, PassedOver::AlreadyThere(status)));
            }
            Err(error) => {
                let is_its_own = matches!(error, QueueError::Task(_));
                looked.failed.push((repository.clone(), LookError::NotQueued { number, error }));
                return if is_its_own { Ok(Taken::Settled) } else { Err(Unusable) };
            }
        }
        Ok(Taken::Settled)
    }
}

/// How far a pull request is.
enum Taken {
    /// Nothing is left to do, or it is noted that it failed.
    Settled,
    /// It may be queued later, though nothing changes on GitHub.
    TooEarly,
}

/// The queue takes nothing now.
struct Unusable;

#[cfg(test)]
mod tests;
