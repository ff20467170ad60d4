//! `assay watch-prs`: polls for open pull requests, and queues their reviews.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_base::shutdown::Shutdown;
use assay_engine::config::agents::AgentSettings;
use assay_engine::config::service::SHORT_WAIT;
use assay_engine::queues;
use assay_findings::write::escape;
use assay_serve::polling::{
    PollError, PollReport, PullFilter, PullPoller, SkipReason, TicketStatusFilter,
};
use assay_services::http::SystemClock;
use assay_store::pulls::{Pull, RepositoryName};
use assay_store::task::QueueName;
use serde_json::{Value, json};

use super::{note, print_safely, warn};
use crate::exit::Exit;
use crate::output;
use crate::process::{self, environment};
use crate::signals;

/// The longest wait between polls, whatever a service requests.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(24 * 3_600);

/// Arguments of `assay watch-prs`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A repository to poll [default: `github.repositories` of the configuration]
    #[arg(long = "repo", value_name = "OWNER/NAME")]
    repositories: Vec<RepositoryName>,
    /// Select pull requests with one of these labels [default: `github.labels`]
    #[arg(long = "label", value_name = "NAME")]
    labels: Vec<String>,
    /// Select pull requests whose ticket has this status, such as `Code Review`
    #[arg(long, value_name = "NAME")]
    jira_status: Option<String>,
    /// The agent for the reviews [default: the agent of `workflow.reviewer`]
    #[arg(long = "for", value_name = "AGENT")]
    agent: Option<String>,
    /// Seconds between polls
    #[arg(long, value_name = "SECONDS", default_value_t = 300,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,
    /// Poll once, list the pull requests that were skipped, and exit
    #[arg(long)]
    once: bool,
    /// Print a line of JSON for each poll with news
    #[arg(long)]
    json: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

impl Args {
    /// Returns true if the command handles signals itself.
    pub(crate) fn handles_signals(&self) -> bool {
        !self.once
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let watch = PullWatcher::new(args, &settings)?;
    // The reason of a wait for GitHub is reported only if the wait fails.
    let patience = Arc::new(SystemClock::new(process::clock(), SHORT_WAIT, |_| ()));
    let poller = watch.polling(&root, &settings, Arc::clone(&patience))?;
    match args.once {
        true => watch.poll_once(poller),
        false => watch.poll_until_shutdown(poller, patience),
    }
}

/// The arguments with the values of the configuration.
struct PullWatcher<'a> {
    args: &'a Args,
    repositories: Vec<RepositoryName>,
    reviewers: QueueName,
}

impl PullWatcher<'_> {
    fn new<'a>(args: &'a Args, settings: &AgentSettings) -> anyhow::Result<PullWatcher<'a>> {
        let repositories = match args.repositories.is_empty() {
            true => settings.configuration.github.repositories.clone(),
            false => args.repositories.clone(),
        };
        if repositories.is_empty() {
            bail!(
                "missing repository: name one with `--repo OWNER/NAME`, or in \
                 `github.repositories` of `{}`",
                assay_engine::config::PATH
            );
        }
        let reviewers = queues::reviewer_queue(settings, args.agent.as_deref())?;
        Ok(PullWatcher { args, repositories, reviewers })
    }

    fn polling(
        &self,
        root: &Path,
        settings: &AgentSettings,
        patience: Arc<SystemClock>,
    ) -> anyhow::Result<PullPoller> {
        let configured = &settings.configuration.github;
        let labels = match self.args.labels.is_empty() {
            true => configured.labels.clone(),
            false => self.args.labels.clone(),
        };
        let status = match self.args.jira_status.clone() {
            Some(name) => {
                let tickets = settings.configuration.jira.required(SHORT_WAIT, |_| ())?;
                Some(TicketStatusFilter { name, tickets })
            }
            None => None,
        };
        let filter = PullFilter { labels, status };
        let github = configured.with_token(patience)?;
        let queue = queues::open(root, settings)?.into();
        let repositories = self.repositories.clone();
        Ok(PullPoller::new(
            github,
            repositories,
            filter,
            queue,
            self.reviewers.clone(),
            process::clock(),
        ))
    }

    fn poll_once(&self, mut poller: PullPoller) -> anyhow::Result<Exit> {
        let looked = poller.poll();
        self.print_queued(&looked)?;
        print_skipped(&looked);
        ReportedErrors::default().update(&looked);
        Ok(if looked.failed.is_empty() { Exit::Ready } else { Exit::Incomplete })
    }

    fn poll_until_shutdown(
        &self,
        mut poller: PullPoller,
        patience: Arc<SystemClock>,
    ) -> anyhow::Result<Exit> {
        let shutdown = Shutdown::default();
        let requester = shutdown.clone();
        signals::on_first_signal(move || {
            requester.request();
            patience.cancel();
        });
        let names: Vec<&str> = self.repositories.iter().map(RepositoryName::as_str).collect();
        let every = Duration::from_secs(self.args.every);
        note(&format!("polling {} every {} s", names.join(", "), every.as_secs()));
        let mut reported = ReportedErrors::default();
        while output::is_open() {
            let looked = poller.poll();
            self.print_queued(&looked)?;
            // An error after a shutdown request is a consequence of the request.
            if shutdown.is_requested() {
                return Ok(Exit::Ready);
            }
            reported.update(&looked);
            if shutdown.wait(poller.delay(every).min(MAX_POLL_INTERVAL)) {
                return Ok(Exit::Ready);
            }
        }
        Ok(Exit::Ready)
    }

    fn print_queued(&self, looked: &PollReport) -> anyhow::Result<()> {
        if self.args.json {
            let is_quiet =
                looked.queued.is_empty() && looked.skipped.is_empty() && looked.failed.is_empty();
            return match is_quiet && !self.args.once {
                true => Ok(()),
                false => print_safely(&format!("{}\n", as_json(looked))),
            };
        }
        let queue = &self.reviewers;
        for (id, pull) in &looked.queued {
            let title = escape::one_line(&pull.title);
            let line = format!("{}: queued {id} in `{queue}`  {title}\n", pull_name(pull));
            print_safely(&line)?;
        }
        Ok(())
    }
}

fn pull_name(pull: &Pull) -> String {
    format!("{}#{}", pull.repository, pull.number)
}

fn as_json(looked: &PollReport) -> Value {
    let about = |pull: &Pull| {
        json!({
            "repository": pull.repository, "number": pull.number, "head": pull.head,
            "title": pull.title,
        })
    };
    let with = |pull: &Pull, key: &str, value: Value| {
        let mut about = about(pull);
        about[key] = value;
        about
    };
    let queued = looked.queued.iter().map(|(id, pull)| with(pull, "task", json!(id)));
    let passed = looked.skipped.iter().map(|(pull, why)| with(pull, "why", json!(why.as_str())));
    let failed = looked
        .failed
        .iter()
        .map(|(repository, error)| json!({ "repository": repository, "error": error.to_string() }));
    json!({
        "at": process::now(),
        "queued": queued.collect::<Vec<_>>(),
        "passed_over": passed.collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
    })
}

/// Prints the pull requests that were skipped with their reasons; those that were queued before are
/// only counted.
fn print_skipped(looked: &PollReport) {
    let is_there = |why: &SkipReason| matches!(why, SkipReason::AlreadyThere(_));
    for (pull, why) in looked.skipped.iter().filter(|(_, why)| !is_there(why)) {
        note(&format!("{}: skipped, {why}", pull_name(pull)));
    }
    match looked.skipped.iter().filter(|(_, why)| is_there(why)).count() {
        0 => {}
        1 => note("1 pull request was queued before"),
        count => note(&format!("{count} pull requests were queued before")),
    }
}

/// The errors that were reported; an error is reported again only if it differs.
#[derive(Default)]
struct ReportedErrors(BTreeSet<(RepositoryName, String)>);

impl ReportedErrors {
    fn update(&mut self, looked: &PollReport) {
        let trouble =
            |(name, error): &(RepositoryName, PollError)| (name.clone(), error.dedup_key());
        let now: BTreeSet<(RepositoryName, String)> = looked.failed.iter().map(trouble).collect();
        let mut known = self.0.clone();
        for failed in &looked.failed {
            if known.insert(trouble(failed)) {
                warn(&format!("{}: {}", failed.0, failed.1));
            }
        }
        let had: BTreeSet<&RepositoryName> = self.0.iter().map(|(name, _)| name).collect();
        let has = |name: &RepositoryName| now.iter().any(|(other, _)| other == name);
        for name in had.into_iter().filter(|name| !has(name)) {
            note(&format!("{name}: polling works again"));
        }
        self.0 = now;
    }
}
