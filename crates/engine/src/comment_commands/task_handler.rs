//! The task handler for commands in comments: [`CommentCommandHandler`].

use std::path::PathBuf;

use anyhow::Context;
use assay_agents::config::roster::Permission;
use assay_agents::task_handler::{HandlerError, Job, TaskHandler, TaskOutcome};
use assay_findings::write::escape::{capitalize, chain};
use assay_services::dispatcher::Delivery;
use assay_services::http::ServiceError;
use assay_store::task::{Moment, QueueName};

use super::request::CommentRequest;
use super::session::{CommandOutcome, CommandSession, ReviewStart};
use crate::config::Services;
use crate::config::service::SHORT_WAIT;
use crate::environment::Environment;
use crate::handler_error::task_error;

/// The handler that carries out the commands of a comment. Reviews that they ask for are follow-up
/// tasks.
pub struct CommentCommandHandler {
    /// The environment of the front end.
    pub environment: Environment,
    /// The path of the repository.
    pub root: PathBuf,
    /// The services, as configured in the work tree.
    pub services: Services,
    /// The queue of reviews.
    pub reviewer: QueueName,
}

impl TaskHandler for CommentCommandHandler {
    fn required_permission(&self) -> Permission {
        Permission::Github
    }

    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError> {
        let request = CommentRequest::of_task(job.task).ok_or_else(|| {
            HandlerError::permanent("the task has no valid `comment` in its context")
        })?;
        let repository = &request.repository;
        if !self.services.github.repositories.iter().any(|own| own.is(repository)) {
            return Err(HandlerError::permanent(format!(
                "`{repository}` is not among `github.repositories`"
            )));
        }
        let outcome = self.run(&request).map_err(|error| handler_error(&error))?;
        let comment = request.comment.id;
        let (summary, review) = match outcome {
            CommandOutcome::AnsweredBefore { review } => {
                (format!("comment {comment} was answered before"), review)
            }
            CommandOutcome::NotPermitted { warning } => {
                if let Some(why) = warning {
                    job.log.warning(&format!("cannot react to comment {comment}: {why}"));
                }
                let author = &request.comment.author;
                (format!("{author} may not write to {repository}; nothing was done"), None)
            }
            CommandOutcome::Answered { delivery, review, failure: _ } => {
                (describe_delivery(&delivery, job), review)
            }
        };
        let now = Moment::now(self.environment.clock());
        let follow_ups = review.map(|pull| request.review_task(&pull, &self.reviewer, now));
        Ok(TaskOutcome {
            follow_ups: follow_ups.into_iter().collect(),
            ..TaskOutcome::done(summary)
        })
    }
}

impl CommentCommandHandler {
    fn run(&self, request: &CommentRequest) -> anyhow::Result<CommandOutcome> {
        let CommentCommandHandler { environment, root, services, .. } = self;
        let github = services.github.open(SHORT_WAIT, |_| {})?;
        let github = &github.context("missing token for GitHub: set `GITHUB_TOKEN`")?;
        let session = CommandSession { environment, root, services, github };
        session.run(request, &|_| ReviewStart::Queued)
    }
}

/// Returns the result of the delivery of an answer in words. An answer that was not delivered is in
/// the outbox, and is logged.
fn describe_delivery(delivery: &Delivery, job: &Job<'_>) -> String {
    match delivery {
        Delivery::Sent(done) | Delivery::Superseded(done) => capitalize(done),
        Delivery::Retrying(why) => {
            let why = chain(why);
            job.log.warning(&format!("Not delivered, retrying later: {why}"));
            "The answer is stored, and is posted later".to_owned()
        }
        Delivery::DeadLettered(why, place) => {
            let why = chain(why);
            job.log.warning(&format!("Not delivered: {why}; the message is stored in {place}"));
            "The answer could not be posted".to_owned()
        }
    }
}

/// Converts an error into a task failure, and decides if a retry may help.
fn handler_error(error: &anyhow::Error) -> HandlerError {
    match error.downcast_ref::<ServiceError>() {
        Some(service) => {
            let is_transient = service.is_transient() || service.is_outcome_unknown();
            HandlerError { error: chain(service), is_transient }
        }
        None => task_error(error),
    }
}
