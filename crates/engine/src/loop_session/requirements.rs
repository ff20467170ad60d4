//! The highest requirements that ever applied to an implementation, for a [`SpecLocation`].
//!
//! Requirements belong to the work on a branch, not to the name of a folder: if the branch removes
//! a spec folder, its requirements pass to the folder that replaces it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_change::Change;
use assay_findings::grounding::TreeError;
use assay_findings::path::RepoPath;
use assay_store::durable_fs::{self, Durability};
use assay_validate::file_names::{self, SPEC_HOMES};
use assay_validate::loop_state::LoopState;
use assay_validate::plan::{self, ImplementationPlan};
use assay_validate::requirements::Requirements;
use assay_validate::spec::{self, Spec};
use serde::{Deserialize, Serialize};

use super::SpecLocation;
use super::spec_location::STATE_KIND;

/// The file that stores the requirements of a spec.
const REQUIREMENTS_FILE: &str = "bar.json";

/// The requirements of a spec, as stored on this machine.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredRequirements {
    #[serde(flatten)]
    requirements: Requirements,
    /// The branch of the last loop; `None` if HEAD was detached.
    branch: Option<String>,
    /// True if the last loop ended with an approval.
    is_approved: bool,
}

impl SpecLocation {
    /// Returns the requirements that the spec and its plan set now.
    pub(super) fn requirements(&self) -> Requirements {
        Requirements::of(&self.spec, self.risk)
    }

    /// Returns the highest requirements that ever applied to the implementation: those at the base
    /// commit, those of the loop's rounds, and those stored on this machine, also of a removed spec
    /// folder that this one replaces.
    pub(super) fn highest_requirements(
        &self,
        change: &Change,
        loop_state: &LoopState,
    ) -> anyhow::Result<Requirements> {
        let mut highest = self.requirements_at_base(change, &self.spec.folder)?;
        for folder in self.replaced_at_base(change)? {
            highest.raise(&self.requirements_at_base(change, &folder)?);
        }
        highest.raise(&loop_state.requirements);
        for known in self.stored_requirements(change)? {
            highest.raise(&known);
        }
        Ok(highest)
    }

    /// Stores the requirements on the implementation outside of the tree, where no program that
    /// runs in the tree can write.
    pub(super) fn store_requirements(
        &self,
        requirements: &Requirements,
        change: &Change,
        is_approved: bool,
    ) -> anyhow::Result<()> {
        let folder =
            self.environment.state_of(&self.root).home_folder(STATE_KIND)?.join(&self.spec.name);
        durable_fs::make_folder(&folder)?;
        let branch = change.lineage()?.branch;
        let remembered =
            StoredRequirements { requirements: requirements.clone(), branch, is_approved };
        let text = serde_json::to_vec(&remembered)?;
        Ok(durable_fs::write(&folder.join(REQUIREMENTS_FILE), &text, Durability::Fsync)?)
    }

    /// Reads the requirements stored on this machine: of this spec, of removed specs with the same
    /// number, and of specs that were removed on this branch before they were approved.
    fn stored_requirements(&self, change: &Change) -> anyhow::Result<Vec<Requirements>> {
        let outside = self.environment.state_of(&self.root).home_folder(STATE_KIND)?;
        let there: Vec<PathBuf> = spec::all(&self.root)?;
        let is_there = |name: &str| there.iter().any(|folder| folder.ends_with(name));
        let branch = change.lineage()?.branch;
        let is_new = !is_at_base(change, &self.spec.folder)?;
        let mut requirements = Vec::new();
        for name in durable_fs::list_dir(&outside)? {
            let path = outside.join(&name).join(REQUIREMENTS_FILE);
            let Some(bytes) = durable_fs::read(&path)? else { continue };
            let known: StoredRequirements = serde_json::from_slice(&bytes).with_context(|| {
                format!(
                    "cannot read `{}`, so the earlier requirements of the spec are unknown; remove \
                     the file if no requirement was lowered",
                    path.display()
                )
            })?;
            let is_unfinished = !known.is_approved && branch.is_some() && known.branch == branch;
            let is_replaced =
                !is_there(&name) && (self.has_number_of(&name) || (is_new && is_unfinished));
            if name == self.spec.name || is_replaced {
                requirements.push(known.requirements);
            }
        }
        Ok(requirements)
    }

    /// Returns the spec folders at the base commit that are removed and that this spec may replace:
    /// those with its number, and, if this spec is new, those without a copy among the specs.
    fn replaced_at_base(&self, change: &Change) -> anyhow::Result<Vec<PathBuf>> {
        let is_new = !is_at_base(change, &self.spec.folder)?;
        let mut replaced = Vec::new();
        for path in change.base().paths()? {
            let Some(folder) = spec_folder(path.as_str()) else { continue };
            let is_left = self.root.join(path.as_str()).exists();
            if is_left || replaced.contains(&folder) {
                continue;
            }
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let is_replaced = self.has_number_of(&name)
                || (is_new && !has_copy(change, &path).with_context(|| path.to_string())?);
            if is_replaced {
                replaced.push(folder);
            }
        }
        Ok(replaced)
    }

    /// Returns true if the name of a folder begins with the number of the spec.
    fn has_number_of(&self, name: &str) -> bool {
        let number = |name: &str| name.split(['-', '_', ' ']).next().map(str::to_owned);
        number(name) == number(&self.spec.name)
    }

    /// Returns the requirements that a spec folder sets at the base commit.
    fn requirements_at_base(&self, change: &Change, folder: &Path) -> anyhow::Result<Requirements> {
        let (plan, text) =
            (at_base(change, folder, plan::NAME)?, at_base(change, folder, file_names::SPEC)?);
        if plan.is_none() && text.is_none() {
            return Ok(Requirements::default());
        }
        let unreadable = "cannot read the spec or plan before the change, so the earlier \
                          requirements are unknown";
        let has_plan = plan.is_some();
        let plan = ImplementationPlan::parse(plan.unwrap_or_else(|| "{}".to_owned()));
        let plan = plan.context(unreadable)?;
        // A spec without a plan sets no risk.
        let risk = if has_plan { plan.risk_level().context(unreadable)? } else { self.risk };
        let spec = Spec::parse(folder, &text.unwrap_or_default(), &plan);
        Ok(Requirements::of(&spec.context(unreadable)?, risk))
    }
}

/// Reads a file of a spec folder at the base commit; `None` if there is none.
fn at_base(change: &Change, folder: &Path, name: &str) -> Result<Option<String>, TreeError> {
    let path = folder.join(name);
    let path = path.to_str().and_then(|path| RepoPath::exact(path).ok());
    path.map_or(Ok(None), |path| change.base().read(&path))
}

fn is_at_base(change: &Change, folder: &Path) -> Result<bool, TreeError> {
    Ok(at_base(change, folder, file_names::SPEC)?.is_some()
        || at_base(change, folder, plan::NAME)?.is_some())
}

/// Returns the folder of a spec, given the path of its `spec.md`; `None` for other paths.
fn spec_folder(path: &str) -> Option<PathBuf> {
    let folder = Path::new(path.strip_suffix(file_names::SPEC)?.strip_suffix('/')?);
    let home = folder.parent()?;
    SPEC_HOMES.iter().any(|it| home == Path::new(it)).then(|| folder.to_owned())
}

/// Returns true if a file of the base commit has an identical copy among the specs.
fn has_copy(change: &Change, path: &RepoPath) -> Result<bool, TreeError> {
    let Some(text) = change.base().read(path)? else { return Ok(true) };
    for other in change.tree().paths()? {
        let is_spec = SPEC_HOMES.iter().any(|home| Path::new(other.as_str()).starts_with(home));
        let is_same_name = other.as_str().ends_with(file_names::SPEC);
        if is_spec && is_same_name && change.tree().read(&other)?.as_ref() == Some(&text) {
            return Ok(true);
        }
    }
    Ok(false)
}
