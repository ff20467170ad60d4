//! Work that an agent's own program does: [`CommandWork`].

use super::fix::{commit, lay_out};
use super::{Runner, Shop};
use crate::config::roster::Permission;
use crate::work::{Failed, Job, Outcome, Work};

/// What becomes of what a program leaves in the work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// It is committed to the task's branch and reviewed.
    Changes,
    /// Nothing: what counts is what it says.
    Words,
}

/// Has an agent's own program do a task in a work tree.
pub struct CommandWork {
    /// What all kinds of work share.
    pub shop: Shop,
    /// How the program is run.
    pub runner: Runner,
    /// What becomes of what it leaves.
    pub leaves: Leaves,
}

impl Work for CommandWork {
    fn needs(&self) -> Permission {
        match self.leaves {
            Leaves::Changes => Permission::Edit,
            Leaves::Words => Permission::Read,
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
        let (branch, worktree) = lay_out(&self.shop, job)?;
        let summary = self.runner.run(command, worktree.path(), job)?;
        match self.leaves {
            Leaves::Changes => commit(&self.shop, job, &worktree, &branch, summary),
            Leaves::Words => Ok(Outcome::done(summary)),
        }
    }
}
