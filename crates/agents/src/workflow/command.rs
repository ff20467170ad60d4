//! The task handler that runs an agent's own program: [`CommandWork`].

use std::path::Path;

use assay_findings::verdict::VerdictState;
use assay_findings::write::escape::chain;
use assay_review::handed_in;

use super::fix::{commit, lay_out, lay_out_to_push, take_up};
use super::follow_up::after_review;
use super::runner::in_short;
use super::{Reviewed, Runner, Shop};
use crate::config::roster::Permission;
use crate::work::{Failed, Job, Outcome, Work};

/// The use of a program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// The changes in the work tree are committed to the branch of the task and reviewed.
    Changes,
    /// The output on stdout is the result; changes in the work tree are discarded.
    Words,
    /// The findings are the result, from stdout or submitted as reports; changes in the work tree
    /// are discarded. Blocking findings send the change back.
    Findings,
}

/// The handler that runs an agent's own program in a work tree.
pub struct CommandWork {
    /// The shared context.
    pub shop: Shop,
    /// The runner of the program.
    pub runner: Runner,
    /// The use of the program's output.
    pub leaves: Leaves,
}

impl Work for CommandWork {
    fn needs(&self) -> Permission {
        match self.leaves {
            Leaves::Changes => Permission::Edit,
            Leaves::Words | Leaves::Findings => Permission::Read,
        }
    }

    fn work(&self, job: &Job<'_>) -> Result<Outcome, Failed> {
        let Some(command) = &job.agent.command else {
            return Err(Failed::lasting(format!(
                "agent `{}` has no program for work of the type `{}`; name one as `command` in \
                 `config/agents.yaml`",
                job.agent.id, job.task.kind
            )));
        };
        let tree = match self.leaves {
            Leaves::Changes => lay_out_to_push(&self.shop, job)?,
            Leaves::Words | Leaves::Findings => lay_out(&self.shop, job)?,
        };
        if self.leaves == Leaves::Changes
            && let Some(outcome) = take_up(&self.shop, job, &tree)?
        {
            return Ok(outcome);
        }
        let folder = tree.worktree.path();
        let said = self.runner.run(command, folder, job)?;
        match self.leaves {
            Leaves::Changes => commit(&self.shop, job, &tree, in_short(&said)),
            Leaves::Words if said.trim().is_empty() => Err(Failed::passing(
                "its program ended well and said nothing, so nothing is done; what it prints is \
                 what counts",
            )),
            Leaves::Words => Ok(Outcome::done(in_short(&said))),
            Leaves::Findings => self.after_findings(job, folder, &said),
        }
    }
}

impl CommandWork {
    /// Sends a change back if the program reported blocking findings. A program without findings
    /// approves nothing.
    fn after_findings(&self, job: &Job<'_>, folder: &Path, said: &str) -> Result<Outcome, Failed> {
        let task = &job.task.id;
        let mut reports = handed_in::for_task(&self.shop.state, task)
            .map_err(|error| Failed::lasting(chain(&error)))?;
        let spoken = handed_in::read(said, job.agent.id.as_str(), folder);
        match &spoken.unusable {
            None => reports.push(spoken),
            Some(why) if reports.is_empty() => {
                return Err(Failed::passing(format!(
                    "its program handed in no findings, and said none that can be read: {why}"
                )));
            }
            Some(_) => {}
        }
        let synthesis = handed_in::held_against(&reports, folder);
        match synthesis.verdict.state {
            VerdictState::NotReady => {
                let reviewed = Reviewed {
                    synthesis,
                    draft: None,
                    head: None,
                    messages: Vec::new(),
                    may_answer_later: false,
                    run: None,
                };
                after_review(&self.shop.terms(job), job.task, &reviewed)
            }
            VerdictState::Incomplete => {
                let reasons = synthesis.verdict.because.iter().map(|reason| reason.text.as_str());
                let reasons = reasons.collect::<Vec<_>>().join("; ");
                Err(Failed::passing(format!(
                    "what its program found cannot be read in full, so the task is not done: {reasons}"
                )))
            }
            VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::NothingToReview => {
                Ok(Outcome::done(in_short(said)))
            }
        }
    }
}
