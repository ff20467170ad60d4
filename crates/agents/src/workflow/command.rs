//! The task handler that runs an agent's own program: [`CommandHandler`].

use std::path::Path;

use assay_findings::verdict::VerdictState;
use assay_findings::write::escape::chain;
use assay_review::external_reports;

use super::fix::{check_out, check_out_to_push, commit, finish_earlier_attempt};
use super::follow_up::after_review;
use super::runner::to_summary;
use super::{ReviewOutcome, Runner, WorkflowContext};
use crate::config::roster::Permission;
use crate::task_handler::{HandlerError, Job, TaskHandler, TaskOutcome};

/// The use of a program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputPolicy {
    /// The changes in the work tree are committed to the branch of the task and reviewed.
    Commit,
    /// The output on stdout is the result; changes in the work tree are discarded.
    Summary,
    /// The findings are the result, from stdout or submitted as reports; changes in the work tree
    /// are discarded. Blocking findings send the change back.
    Findings,
}

/// The handler that runs an agent's own program in a work tree.
pub struct CommandHandler {
    /// The shared context.
    pub workflow_context: WorkflowContext,
    /// The runner of the program.
    pub runner: Runner,
    /// The use of the program's output.
    pub output_policy: OutputPolicy,
}

impl TaskHandler for CommandHandler {
    fn required_permission(&self) -> Permission {
        match self.output_policy {
            OutputPolicy::Commit => Permission::Edit,
            OutputPolicy::Summary | OutputPolicy::Findings => Permission::Read,
        }
    }

    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError> {
        let Some(command) = &job.agent.command else {
            return Err(HandlerError::permanent(format!(
                "agent `{}` has no program for tasks of type `{}`; set `command` in \
                 `config/agents.yaml`",
                job.agent.id, job.task.kind
            )));
        };
        let tree = match self.output_policy {
            OutputPolicy::Commit => check_out_to_push(&self.workflow_context, job)?,
            OutputPolicy::Summary | OutputPolicy::Findings => {
                check_out(&self.workflow_context, job)?
            }
        };
        if self.output_policy == OutputPolicy::Commit
            && let Some(outcome) = finish_earlier_attempt(&self.workflow_context, job, &tree)?
        {
            return Ok(outcome);
        }
        let folder = tree.worktree.path();
        let output = self.runner.run(command, folder, job)?;
        match self.output_policy {
            OutputPolicy::Commit => commit(&self.workflow_context, job, &tree, to_summary(&output)),
            OutputPolicy::Summary if output.trim().is_empty() => Err(HandlerError::transient(
                "the agent's program succeeded and printed nothing; its output is the result of \
                 the task",
            )),
            OutputPolicy::Summary => Ok(TaskOutcome::done(to_summary(&output))),
            OutputPolicy::Findings => self.after_findings(job, folder, &output),
        }
    }
}

impl CommandHandler {
    /// Sends a change back if the program reported blocking findings. A program without findings
    /// approves nothing.
    fn after_findings(
        &self,
        job: &Job<'_>,
        folder: &Path,
        output: &str,
    ) -> Result<TaskOutcome, HandlerError> {
        let task = &job.task.id;
        let mut reports = external_reports::for_task(&self.workflow_context.state, task)
            .map_err(|error| HandlerError::permanent(chain(&error)))?;
        let printed = external_reports::read(output, job.agent.id.as_str(), folder);
        match &printed.unusable {
            None => reports.push(printed),
            Some(why) if reports.is_empty() => {
                return Err(HandlerError::transient(format!(
                    "the agent's program reported no findings, and its output has none that can be \
                     read: {why}"
                )));
            }
            Some(_) => {}
        }
        let synthesis = external_reports::check_reports(&reports, folder);
        match synthesis.verdict.state {
            VerdictState::NotReady => {
                let reviewed = ReviewOutcome {
                    synthesis,
                    draft: None,
                    head: None,
                    messages: Vec::new(),
                    tracked: Vec::new(),
                    may_answer_later: false,
                    run: None,
                };
                after_review(&self.workflow_context.follow_up_input(job), job.task, &reviewed)
            }
            VerdictState::Incomplete => {
                let reasons = synthesis.verdict.because.iter().map(|reason| reason.text.as_str());
                let reasons = reasons.collect::<Vec<_>>().join("; ");
                Err(HandlerError::transient(format!(
                    "cannot read all findings of the agent's program, so the task is not done: \
                     {reasons}"
                )))
            }
            VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::NothingToReview => {
                Ok(TaskOutcome::done(to_summary(output)))
            }
        }
    }
}
