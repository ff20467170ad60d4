//! `assay github-command`: carries out the commands in a comment on a pull request, in a workflow
//! of GitHub.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use assay_engine::comment_commands::{
    CommandOutcome, CommandSession, CommentRejection, CommentRequest,
};
use assay_engine::config::agents::AgentSettings;
use assay_engine::config::service::SHORT_WAIT;
use assay_engine::queues;
use assay_engine::reporter::Reporter;
use assay_findings::write::escape::chain;
use assay_services::dispatcher::Delivery;

use super::{note, print_safely, read_file, warn};
use crate::exit::Exit;
use crate::messages::Stderr;
use crate::process::{environment, variable};

/// The variable with the path of the payload, which GitHub sets in workflows.
const EVENT_VARIABLE: &str = "GITHUB_EVENT_PATH";

/// Arguments of `assay github-command`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file with the payload of the event `issue_comment` [default: the variable
    /// `GITHUB_EVENT_PATH`]
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
    /// Queue reviews for agents, instead of reviewing and posting at once
    #[arg(long)]
    queue: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let event = args.event.clone().or_else(|| variable(EVENT_VARIABLE).map(PathBuf::from));
    let event = event.with_context(|| {
        format!("missing event: name its file with `--event`, or set `{EVENT_VARIABLE}`")
    })?;
    let request = match CommentRequest::parse(&read_file(&event)?) {
        Ok(request) => request,
        Err(CommentRejection::Ignored(why)) => {
            note(&format!("nothing to do: {why}"));
            return Ok(Exit::Ready);
        }
        Err(rejection @ CommentRejection::Invalid(_)) => {
            bail!("cannot use `{}`: {rejection}", event.display())
        }
    };
    let root = assay_change::root(&args.folder)?;
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let services = settings.configuration.services();
    let github = services.github.required(SHORT_WAIT, note)?;
    let session = CommandSession {
        environment: environment(),
        root: &root,
        services: &services,
        github: &github,
    };
    session.check_repository(&request)?;
    let outcome = match args.queue {
        true => {
            let queue = queues::open(&root, &settings)?;
            let reviewer = queues::reviewer_queue(&settings, None)?;
            session.run(&request, &|pull| {
                session.queue_review(&request, pull, queue.as_ref(), &reviewer)
            })
        }
        false => {
            let reporter: Arc<dyn Reporter> = Arc::new(Stderr);
            session.run(&request, &|pull| session.review_here(pull, Arc::clone(&reporter)))
        }
    };
    show(&request, &outcome?)
}

/// Prints the outcome.
fn show(request: &CommentRequest, outcome: &CommandOutcome) -> anyhow::Result<Exit> {
    let comment = request.comment.id;
    match outcome {
        CommandOutcome::AnsweredBefore { .. } => {
            print_safely(&format!("comment {comment} was answered before\n"))?;
            Ok(Exit::Ready)
        }
        CommandOutcome::NotPermitted { warning } => {
            let (author, repository) = (&request.comment.author, &request.repository);
            print_safely(&format!("{author} may not write to {repository}; nothing was done\n"))?;
            if let Some(why) = warning {
                warn(&format!("cannot react to comment {comment}: {why}"));
            }
            Ok(Exit::Ready)
        }
        CommandOutcome::Answered { delivery, failure, .. } => {
            if let Some(why) = failure {
                warn(&format!("the pull request was not reviewed: {why}"));
            }
            match delivery {
                Delivery::Sent(done) | Delivery::Superseded(done) => {
                    print_safely(&format!("{done}\n"))?;
                    Ok(if failure.is_none() { Exit::Ready } else { Exit::Incomplete })
                }
                Delivery::Retrying(why) => {
                    warn(&format!("cannot post the answer: {}; it is stored", chain(why)));
                    Ok(Exit::Incomplete)
                }
                Delivery::DeadLettered(why, place) => {
                    let why = chain(why);
                    warn(&format!("cannot post the answer: {why}; it is stored in `{place}`"));
                    Ok(Exit::Incomplete)
                }
            }
        }
    }
}
