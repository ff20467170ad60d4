//! A spec in a repository: [`SpecLocation`] finds it, its base commit, and the files of its loop.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use assay_change::{Change, GitError, Scope, Selection};
use assay_checks::check_plan::Risk;
use assay_validate::environment::recover_work_tree;
use assay_validate::loop_files::tree_hash_without;
use assay_validate::loop_state::LoopState;
use assay_validate::plan::{self, ImplementationPlan};
use assay_validate::spec::{self, Spec};
use assay_validate::tree_hash::TreeHash;

use crate::environment::Environment;
use crate::queues;

/// The folder of loops below the state folder.
pub(super) const STATE_KIND: &str = "qa";

/// A spec in a repository.
pub struct SpecLocation {
    pub(super) environment: Environment,
    /// The root of the work tree.
    pub root: PathBuf,
    /// The spec.
    pub spec: Spec,
    plan: ImplementationPlan,
    /// The risk according to the plan; `None` if the plan does not state one.
    pub(super) risk: Option<Risk>,
}

impl SpecLocation {
    /// Finds a spec by a prefix of its name.
    pub fn of(
        environment: &Environment,
        folder: &Path,
        prefix: &str,
    ) -> anyhow::Result<SpecLocation> {
        let root = queues::root(folder)?;
        let folder = spec::find(&root, prefix)?;
        let plan = ImplementationPlan::read(&spec::file(&root, &folder, plan::NAME)?)?;
        let risk = plan.risk_level()?;
        let spec = Spec::read(&root, &folder, &plan)?;
        Ok(SpecLocation { environment: environment.clone(), root, spec, plan, risk })
    }

    /// Returns the state of the loop, and true if this machine wrote the journal. The loop may be
    /// running in another process.
    pub fn loop_state(&self) -> anyhow::Result<(LoopState, bool)> {
        let (_, state, is_own) = self.journal()?;
        Ok((state, is_own))
    }

    /// Moves files back that a killed run had moved aside for kept tests.
    pub fn recover(&self, warn: &dyn Fn(&str)) -> anyhow::Result<()> {
        let displaced = recover_work_tree(&self.root).map_err(|error| {
            anyhow!("cannot move back the files that kept tests replaced: {error}")
        })?;
        for path in displaced {
            warn(&format!("a file at the place of one of your files was moved to `{path}`"));
        }
        Ok(())
    }

    /// Returns the digest of the current tree.
    pub fn tree(&self) -> anyhow::Result<TreeHash> {
        Ok(tree_hash_without(&self.root, &self.environment.outputs_below(&self.root))?)
    }

    /// Returns the implementation plan.
    pub fn plan(&self) -> &ImplementationPlan {
        &self.plan
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.root.join(&self.spec.folder)
    }

    /// Fails if the plan is not complete.
    pub fn check_complete(&self) -> anyhow::Result<()> {
        if self.plan.is_complete() {
            return Ok(());
        }
        let path = self.spec.folder.join(plan::NAME);
        let missing = self.plan.missing();
        if missing.is_empty() {
            bail!("`{}` has no subtasks, so nothing was implemented yet", path.display());
        }
        let named = missing.iter().take(10).map(|subtask| {
            let title = subtask.title.as_deref().map(|title| format!(" ({title})"));
            format!("`{}`{} is {}", subtask.name, title.unwrap_or_default(), subtask.status)
        });
        let named: Vec<String> = named.collect();
        let more = match missing.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(", and {more} more are not completed"),
        };
        bail!("not every subtask of `{}` is completed: {}{more}", path.display(), named.join(", "))
    }

    /// Returns the folder of the loop's private files. Fails if the state came with the repository.
    pub(super) fn state(&self) -> anyhow::Result<PathBuf> {
        let kind = self.environment.state_of(&self.root).open(STATE_KIND)?;
        kind.create()?;
        Ok(kind.path().join(&self.spec.name))
    }

    /// Returns the path of the journal's seal. The seal is outside of the tree, where no program
    /// that runs in the tree can write.
    pub(crate) fn seal(&self) -> anyhow::Result<PathBuf> {
        Ok(self
            .environment
            .state_of(&self.root)
            .home_folder(STATE_KIND)?
            .join(&self.spec.name)
            .join("seal"))
    }

    /// Reads the same spec again.
    pub(super) fn reopen(&self) -> anyhow::Result<SpecLocation> {
        SpecLocation::of(&self.environment, &self.root, &self.spec.folder.to_string_lossy())
    }

    /// Returns the base commit of the implementation: the requested one, or the one that is found.
    pub(super) fn base(&self, asked: Option<&str>) -> anyhow::Result<Option<String>> {
        Ok(match asked {
            Some(base) => Some(assay_change::commit_of(&self.root, base)?),
            None => self.change(None)?.base_revision().map(str::to_owned),
        })
    }

    /// Returns the base commit of the implementation, given the state of the loop. On the main
    /// branch, the base is the one of the first loop: commits since then are still part of the
    /// implementation.
    pub(super) fn base_after(
        &self,
        loop_state: &LoopState,
        asked: Option<&str>,
    ) -> anyhow::Result<Option<String>> {
        let commit = |name: &str| match assay_change::commit_of(&self.root, name) {
            Err(GitError::UnknownRevision { .. }) => Ok(None),
            commit => commit.map(Some),
        };
        let is_on_main = || -> Result<bool, GitError> {
            let Some(main) = assay_change::main_branch(&self.root)? else { return Ok(false) };
            let main = commit(&main)?;
            Ok(main.is_some() && main == commit("HEAD")?)
        };
        match &loop_state.base {
            Some(base) if asked.is_none() && commit(base)?.is_some() && is_on_main()? => {
                Ok(Some(base.clone()))
            }
            Some(_) | None => self.base(asked),
        }
    }

    /// Opens the implementation as a change on top of a base commit; with `None`, the base is
    /// found.
    pub(super) fn change(&self, base: Option<&str>) -> anyhow::Result<Change> {
        let (scope, selection) = (Scope::on_top_of(base), Selection::with_untracked());
        Ok(assay_change::open(&self.root, &scope, &selection)?)
    }
}
