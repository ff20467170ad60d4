//! Polling of pull requests: [`PullPoller`] lists the open ones on GitHub and queues those to
//! review.
//!
//! Each call polls once and computes the delay until the next poll; the caller waits. The task is
//! the same that a webhook creates, so an existing task needs no work. The tag of an answer of
//! GitHub is stored only once the whole answer is processed: a full queue or an unreachable
//! database loses nothing.
//!
//! The status of a ticket changes without GitHub's knowledge. So pull requests that wait for their
//! ticket are checked again even if GitHub reports no change.

mod filter;

use std::sync::Arc;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::Clock;
use assay_findings::write::escape::chain;
use assay_services::github::{GitHub, OpenPulls, PullRequest};
use assay_services::http::ServiceError;
use assay_store::pulls::{Pull, RepositoryName};
use assay_store::queue::{Queue, QueueError};
use assay_store::task::{Moment, QueueName, TaskId};

pub use self::filter::{PullFilter, SkipReason, TicketStatusFilter};

/// The creator of the tasks.
const CREATED_BY: &str = "watch-prs";

/// The longest delay between polls during an outage, unless the usual interval is longer.
const MAX_DELAY: Duration = Duration::from_secs(3_600);

/// The reason that a repository was not polled completely, or a pull request not queued.
#[derive(Debug, thiserror::Error)]
pub enum PollError {
    /// GitHub did not return the pull requests.
    #[error("cannot list the pull requests: {}", chain(.0))]
    Unknown(ServiceError),
    /// GitHub was not asked, because of a rate limit.
    #[error("not polled: GitHub rate limit")]
    NotAsked,
    /// There are more pull requests than GitHub lists; the field has the number of listed ones.
    #[error("too many open pull requests: only the {0} that changed last were polled")]
    TooMany(usize),
    /// The status of a ticket is unknown.
    #[error("#{number} was not queued: {}", chain(error))]
    NoStatus {
        /// The number of the pull request.
        number: u64,
        /// The error of JIRA.
        error: ServiceError,
    },
    /// The queue did not accept a task.
    #[error("#{number} was not queued: {}", chain(error))]
    NotQueued {
        /// The number of the pull request.
        number: u64,
        /// The error of the queue.
        error: QueueError,
    },
}

impl PollError {
    /// Returns a text that stays the same while the cause of the error does, to deduplicate
    /// reports.
    pub fn dedup_key(&self) -> String {
        match self {
            PollError::Unknown(ServiceError::RateLimited { .. }) | PollError::NotAsked => {
                "GitHub rate limit".to_owned()
            }
            PollError::Unknown(error) | PollError::NoStatus { error, .. } => chain(error),
            PollError::TooMany(_) => self.to_string(),
            PollError::NotQueued { error, .. } => chain(error),
        }
    }

    /// Returns the error of a service, if a service caused the failure.
    fn service(&self) -> Option<&ServiceError> {
        match self {
            PollError::Unknown(error) | PollError::NoStatus { error, .. } => Some(error),
            PollError::NotAsked | PollError::TooMany(_) | PollError::NotQueued { .. } => None,
        }
    }
}

/// The result of one poll.
#[derive(Debug, Default)]
pub struct PollReport {
    /// The tasks that were queued.
    pub queued: Vec<(TaskId, Pull)>,
    /// The pull requests that were skipped, with the reason. A repository without changes has no
    /// entry.
    pub skipped: Vec<(Pull, SkipReason)>,
    /// The failures by repository. The next poll tries again.
    pub failed: Vec<(RepositoryName, PollError)>,
}

/// A repository that is polled.
struct PolledRepository {
    repository: RepositoryName,
    /// The entity tag of GitHub's last answer; `None` until an answer is completely processed.
    tag: Option<String>,
    /// Pull requests whose ticket does not have the status yet, which may change without a change
    /// on GitHub.
    early: Vec<PullRequest>,
    /// The number of listed pull requests if there are more; `None` if all are listed.
    cut_at: Option<usize>,
}

/// Polls repositories for pull requests to review, and queues them.
pub struct PullPoller {
    github: GitHub,
    queue: Arc<dyn Queue>,
    reviewers: QueueName,
    filter: PullFilter,
    clock: Clock,
    polled: Vec<PolledRepository>,
    /// The number of consecutive polls in which a service was unavailable.
    outages: u32,
    /// The delay that a service asked for by its rate limit; zero if there is none.
    limit: Duration,
}

impl PullPoller {
    /// Creates a poller of repositories that pushes to the queue `reviewers`. A repository that is
    /// named twice is polled once.
    pub fn new(
        github: GitHub,
        repositories: impl IntoIterator<Item = RepositoryName>,
        filter: PullFilter,
        queue: Arc<dyn Queue>,
        reviewers: QueueName,
        clock: &Clock,
    ) -> PullPoller {
        let mut polled: Vec<PolledRepository> = Vec::new();
        for repository in repositories {
            if !polled.iter().any(|known| known.repository.is(&repository)) {
                polled.push(PolledRepository {
                    repository,
                    tag: None,
                    early: Vec::new(),
                    cut_at: None,
                });
            }
        }
        let (clock, limit) = (clock.clone(), Duration::ZERO);
        PullPoller { github, queue, reviewers, filter, clock, polled, outages: 0, limit }
    }

    /// Polls all repositories once.
    pub fn poll(&mut self) -> PollReport {
        let mut report = PollReport::default();
        let mut polled = std::mem::take(&mut self.polled);
        self.limit = Duration::ZERO;
        for polled in &mut polled {
            // Further requests during a rate limit would extend it.
            match self.limit.is_zero() {
                true => self.poll_repository(polled, &mut report),
                false => report.failed.push((polled.repository.clone(), PollError::NotAsked)),
            }
            let limits = report.failed.iter().filter_map(|(_, error)| match error.service() {
                Some(ServiceError::RateLimited { wait, .. }) => Some(*wait),
                _ => None,
            });
            self.limit = limits.max().unwrap_or_default();
        }
        self.polled = polled;
        let mut services = report.failed.iter().filter_map(|(_, error)| error.service());
        self.outages = match services.any(ServiceError::is_transient) {
            true => self.outages.saturating_add(1),
            false => 0,
        };
        report
    }

    /// Returns the delay until the next poll: `usually`, longer with each consecutive poll during
    /// an outage, and at least the delay that a service asked for.
    pub fn delay(&self, usually: Duration) -> Duration {
        let backoff = Backoff::new(usually, usually.max(MAX_DELAY));
        backoff.delay(self.outages.saturating_sub(1)).max(self.limit)
    }

    fn poll_repository(&self, polled: &mut PolledRepository, report: &mut PollReport) {
        let repository = &polled.repository;
        let failures = report.failed.len();
        let (pulls, tag) = match self.github.open_pulls(repository, polled.tag.as_deref()) {
            Ok(OpenPulls::Unchanged) => (std::mem::take(&mut polled.early), polled.tag.take()),
            Ok(OpenPulls::Changed { mut pulls, tag, more }) => {
                polled.cut_at = more.then_some(pulls.len());
                // The oldest pull request is queued first, so that a queue with little capacity
                // takes it first.
                pulls.reverse();
                (pulls, tag)
            }
            Err(error) => {
                return report.failed.push((repository.clone(), PollError::Unknown(error)));
            }
        };
        polled.early.clear();
        for pull in pulls {
            match self.queue_pull(repository, &pull, report) {
                Ok(PullState::TooEarly) => polled.early.push(pull),
                Ok(PullState::Settled) => {}
                // An error of the queue itself affects all pull requests.
                Err(QueueUnusable) => break,
            }
        }
        polled.tag = tag.filter(|_| report.failed.len() == failures);
        let cut = polled.cut_at.map(|at| (repository.clone(), PollError::TooMany(at)));
        report.failed.extend(cut);
    }

    /// Queues a pull request, unless the filter excludes it.
    fn queue_pull(
        &self,
        repository: &RepositoryName,
        request: &PullRequest,
        report: &mut PollReport,
    ) -> Result<PullState, QueueUnusable> {
        let (pull, number) = (request.pull(repository), request.number);
        match self.filter.skip_reason(request, &pull) {
            Ok(None) => {}
            Ok(Some(why)) => {
                let taken =
                    if why.is_temporary() { PullState::TooEarly } else { PullState::Settled };
                report.skipped.push((pull, why));
                return Ok(taken);
            }
            Err(error) => {
                report.failed.push((repository.clone(), PollError::NoStatus { number, error }));
                return Ok(PullState::Settled);
            }
        }
        let task = pull.review(&self.reviewers, CREATED_BY, Moment::now(&self.clock));
        let id = task.task.id.clone();
        match self.queue.push(vec![task]) {
            Ok(()) => report.queued.push((id, pull)),
            Err(QueueError::AlreadyExists { status, .. }) => {
                report.skipped.push((pull, SkipReason::AlreadyThere(status)));
            }
            Err(error) => {
                let is_its_own = matches!(error, QueueError::Task(_));
                report.failed.push((repository.clone(), PollError::NotQueued { number, error }));
                return if is_its_own { Ok(PullState::Settled) } else { Err(QueueUnusable) };
            }
        }
        Ok(PullState::Settled)
    }
}

/// The state of a pull request after a poll.
enum PullState {
    /// No work is left for the pull request, or its failure is recorded.
    Settled,
    /// The pull request may be queued later without a change on GitHub.
    TooEarly,
}

/// The queue accepts no tasks now.
struct QueueUnusable;

#[cfg(test)]
mod tests;
