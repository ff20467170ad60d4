//! The thread that reviews one repository: [`Worker`].
//!
//! A text is reviewed after a pause in typing, and only the newest text. Jobs that write, such as a
//! dismissal, run in the order of their arrival.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_base::clock::{Deadline, Stopwatch};
use assay_base::shutdown::Shutdown;
use assay_change::tree::UnsavedTexts;
use assay_engine::editor_session::{EditorReview, EditorSession};
use assay_findings::finding::Finding;
use assay_findings::path::RepoPath;

use super::settings::LspSettings;

/// The number of pauses after which a text is reviewed even if the user types on.
const MAX_PAUSES: u32 = 8;

/// The versions of the open documents that were reviewed, by path.
pub(super) type Versions = BTreeMap<RepoPath, i32>;

/// The open texts of a repository at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenTexts {
    /// The texts that are not saved.
    pub(super) unsaved: UnsavedTexts,
    /// The versions of all open documents.
    pub(super) versions: Versions,
}

/// A job for the worker.
pub(super) enum Job {
    /// Reviews texts.
    Review(OpenTexts, Urgency),
    /// Reads files of git, settings and ledger again with the next review.
    Reload,
    /// Replaces the settings.
    Configure(LspSettings),
    /// Runs a command of the user, and reports the answer with its number.
    Run(u64, Action),
}

/// The time at which a text is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// At once.
    Now,
    /// After a pause in typing.
    AfterPause,
}

/// A command of the user.
pub(super) enum Action {
    /// Dismisses a finding.
    Dismiss { finding: Box<Finding>, by: String, reason: String, unsaved: UnsavedTexts },
    /// Describes the history of a finding.
    Explain(Box<Finding>),
    /// Reviews the saved files, and stores the review.
    StoreReview,
}

/// A result of the worker.
pub(super) enum WorkerReport {
    /// The texts of these versions were reviewed, or could not be.
    Reviewed(Versions, Result<EditorReview, String>),
    /// A command ended with this text, or failed.
    Answered(u64, Result<String, String>),
}

/// A thread that owns the session of one repository. It ends when the value is dropped.
pub(super) struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    shutdown: Shutdown,
}

impl Worker {
    /// Starts the thread; `report` is called on it.
    pub(super) fn start(
        session: EditorSession,
        settings: &LspSettings,
        report: impl Fn(WorkerReport) + Send + 'static,
    ) -> Worker {
        let (sender, jobs) = mpsc::channel();
        let shutdown = Shutdown::default();
        let running =
            JobRunner { session, debounce: settings.debounce, shutdown: shutdown.clone() };
        let thread = thread::spawn(move || running.run(&jobs, &report));
        Worker { jobs: Some(sender), thread: Some(thread), shutdown }
    }

    /// Queues a job. The queue has no bound: a review takes all texts that wait.
    pub(super) fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The thread catches panics, so the receiver is there as long as the worker.
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shutdown.request();
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct JobRunner {
    session: EditorSession,
    debounce: Duration,
    shutdown: Shutdown,
}

/// A review that waits for a pause in typing.
struct WaitingReview {
    texts: OpenTexts,
    since: Stopwatch,
    due: Deadline,
}

impl JobRunner {
    fn run(mut self, jobs: &Receiver<Job>, report: &dyn Fn(WorkerReport)) {
        let mut waiting: Option<WaitingReview> = None;
        loop {
            let job = match &waiting {
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(review) => jobs.recv_timeout(review.due.left()),
            };
            match job {
                Ok(Job::Review(texts, urgency)) => {
                    waiting = Some(self.schedule(waiting, texts, urgency));
                }
                Ok(Job::Reload) => self.session.reload(),
                Ok(Job::Configure(settings)) => {
                    self.debounce = settings.debounce;
                    self.session.set_settings(settings.review);
                }
                Ok(Job::Run(number, action)) => {
                    report(WorkerReport::Answered(number, self.act(action)));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(review) = waiting.take() {
                        report(self.review(review.texts));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn schedule(
        &self,
        waiting: Option<WaitingReview>,
        texts: OpenTexts,
        urgency: Urgency,
    ) -> WaitingReview {
        let pause = match urgency {
            Urgency::Now => Duration::ZERO,
            Urgency::AfterPause => self.debounce,
        };
        let since = waiting.map_or_else(Stopwatch::start, |waiting| waiting.since);
        let latest = since.deadline(self.debounce * MAX_PAUSES);
        WaitingReview { texts, since, due: Deadline::after(pause).min(latest) }
    }

    fn review(&mut self, texts: OpenTexts) -> WorkerReport {
        let started = Stopwatch::start();
        let reviewed = catch(|| self.session.review(&texts.unsaved));
        let (elapsed, unsaved) = (started.elapsed(), texts.unsaved.len());
        tracing::info!(?elapsed, unsaved, "the work tree was reviewed");
        WorkerReport::Reviewed(texts.versions, reviewed)
    }

    fn act(&mut self, action: Action) -> Result<String, String> {
        catch(|| match action {
            Action::Dismiss { finding, by, reason, unsaved } => {
                self.session.dismiss(&finding, &by, &reason, &unsaved)?;
                Ok(format!("dismissed: {}", finding.title))
            }
            Action::Explain(finding) => self.session.explain(&finding),
            Action::StoreReview => {
                let saved = self.session.store_review(&self.shutdown)?;
                Ok(format!("the review is stored as run {}", saved.id))
            }
        })
    }
}

/// Returns the result of some work, or the text of its failure.
fn catch<T>(work: impl FnOnce() -> anyhow::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| format!("{error:#}")),
        Err(_) => Err("the review crashed; this is a bug in assay".to_owned()),
    }
}
