//! A gate of a front end: [`OpenGate`] has its subject, its state and its verifiers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, bail};
use assay_change::state::StateKind;
use assay_change::tree::DirTree;
use assay_change::{Change, ExclusionRules, GitError, Scope, Selection};
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_gates::blocking_policy::BlockingPolicy;
use assay_gates::command::CommandVerifier;
use assay_gates::gate::{Gate, GateError};
use assay_gates::gate_store::{GateStore, IfDeleted};
use assay_gates::model::ModelJudge;
use assay_gates::phase::Phase;
use assay_gates::plan::{self, Plan};
use assay_gates::sidecar::GateInputs;
use assay_gates::store_error::StoreError;
use assay_gates::subject::{Subject, SubjectJudge};
use assay_gates::verifier::{Judge, Verifiers};
use assay_rules::Rulebook;

use crate::config::Settings;
use crate::config::fixer::ChosenFixer;
use crate::config::models::{ModelsConfig, Phase as ModelPhase};
use crate::environment::Environment;
use crate::models::{self, ModelOptions, ModelSession};
use crate::queues;
use crate::unknown_outcome::UnknownOutcome;

/// The kind of state of gates, unless the user names a folder.
const STATE: &str = "gates";

/// The options by which a gate is opened.
#[derive(Debug, Clone, Copy)]
pub struct GateOptions<'a> {
    /// The environment of the front end.
    pub environment: &'a Environment,
    /// The folder that paths are relative to.
    pub folder: &'a Path,
    /// The phase of the gate.
    pub phase: Phase,
    /// The folder of the state; `None` for `.assay/gates`.
    pub state_dir: Option<&'a Path>,
    /// The plan that the user names; `None` to use that of the list.
    pub plan: Option<&'a Path>,
    /// The base commit that the user names; `None` to use that of the list.
    pub base: Option<&'a str>,
    /// The choice of models.
    pub models: ModelChoice<'a>,
}

/// The choice of models as verifiers.
#[derive(Debug, Clone, Copy)]
pub enum ModelChoice<'a> {
    /// Models are asked if the configuration says so.
    AsConfigured,
    /// A model is asked: the named one, or with `None` the configured one.
    Yes(Option<&'a str>),
    /// No model is asked.
    No,
}

/// The location of the state of a gate.
pub struct GateLocation {
    /// The root of the work tree.
    pub root: PathBuf,
    /// The store of the state.
    pub keep: GateStore,
    folder: PathBuf,
    kind: StateKind,
}

/// A gate with its subject: plan, change and tree.
pub struct OpenGate {
    /// The location of the state.
    pub place: GateLocation,
    /// The phase of the gate.
    pub phase: Phase,
    plan: Option<(Plan, String)>,
    change: Option<Change>,
    tree: DirTree,
    /// The plan and the base that the list is built from.
    pub made_from: GateInputs,
    /// The policy of the gate.
    pub policy: Rc<GatePolicy>,
}

/// The policy and the verifiers of a gate. They are read once, so that a fixer cannot change them.
pub struct GatePolicy {
    rules: Rulebook,
    exclusions: ExclusionRules,
    /// The blocking policy.
    pub bar: BlockingPolicy,
    /// The commands that verify items.
    pub verifiers: Vec<CommandVerifier>,
    /// The fixer; `None` if none is configured.
    pub fixer: Option<ChosenFixer>,
    judge: Option<(ModelJudge, ModelSession)>,
    /// The configured models.
    pub models: ModelsConfig,
    /// Notes for the user on the versions of settings that are used.
    pub notes: Vec<String>,
}

impl GateLocation {
    /// Returns the location of the state of a gate.
    pub fn of(
        environment: &Environment,
        folder: &Path,
        phase: Phase,
        state_dir: Option<&Path>,
    ) -> anyhow::Result<GateLocation> {
        let root = queues::root(folder)?;
        let state = environment.state_of(&root);
        let files = Phase::ALL
            .into_iter()
            .flat_map(|phase| [format!("qr-{phase}.json"), format!("qr-{phase}.state.json")]);
        let kind = match state_dir {
            Some(state_dir) => {
                state.open_folder(&folder.join(state_dir), &files.collect::<Vec<_>>())
            }
            None => state.open(STATE),
        };
        let kind = kind.context("cannot use the state of the gate")?;
        let folder = kind.path().to_owned();
        let keep = GateStore::new(kind.clone(), phase);
        Ok(GateLocation { root, keep, folder, kind })
    }

    /// Returns true if a path, relative to the root, is a state file of a gate.
    fn is_state_file(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_named = (name.starts_with("qr-") && name.ends_with(".json"))
            || (name.starts_with(".qr-") && (name.ends_with(".lock") || name.ends_with(".tmp")));
        is_named && self.relative_folder().as_deref() == Some(folder)
    }

    /// Returns the folder of the state relative to the root; `None` if it is outside.
    fn relative_folder(&self) -> Option<String> {
        relative_folder(&self.root, &self.folder)
    }
}

/// Returns a folder relative to the root, with symbolic links resolved; `None` if it is outside.
fn relative_folder(root: &Path, folder: &Path) -> Option<String> {
    let (folder, root) = (folder.canonicalize().ok()?, root.canonicalize().ok()?);
    Some(folder.strip_prefix(root).ok()?.to_str()?.to_owned())
}

impl OpenGate {
    /// Opens a gate that has a list, with the plan and the base that the list is built from.
    pub fn with_list(options: GateOptions<'_>) -> anyhow::Result<OpenGate> {
        let place = GateLocation::of(
            options.environment, options.folder, options.phase, options.state_dir,
        )?;
        let made_from = place.keep.read().map_err(GateError::from)?.sidecar.inputs;
        let wanted = requested_inputs(options, &place, made_from.clone())?;
        if made_from.plan.is_some() && wanted.plan != made_from.plan {
            bail!("{}", mismatch_message("plan", made_from.plan.as_deref()));
        }
        if made_from.base.is_some() && wanted.base != made_from.base {
            bail!("{}", mismatch_message("base", made_from.base.as_deref()));
        }
        OpenGate::open(options, place, wanted, None).context(UNREADABLE_SUBJECT)
    }

    /// Opens a gate to build a new list, which replaces a list that exists or was lost.
    pub fn for_new_list(options: GateOptions<'_>, lost: IfDeleted) -> anyhow::Result<OpenGate> {
        let place = GateLocation::of(
            options.environment, options.folder, options.phase, options.state_dir,
        )?;
        if options.state_dir.is_none() {
            // Git ignores the state.
            place.kind.create()?;
        }
        let before = match (place.keep.read_if_any(), lost) {
            (Err(StoreError::Deleted { .. }), IfDeleted::Release) => None,
            (before, IfDeleted::Release | IfDeleted::Refuse) => before.map_err(GateError::from)?,
        };
        let before = before.map(|state| state.sidecar.inputs).unwrap_or_default();
        let wanted = requested_inputs(options, &place, before)?;
        OpenGate::open(options, place, wanted, None)
    }

    /// Opens a gate to show it, with or without a list.
    pub fn to_show(options: GateOptions<'_>) -> anyhow::Result<OpenGate> {
        let place = GateLocation::of(
            options.environment, options.folder, options.phase, options.state_dir,
        )?;
        let wanted = requested_inputs(options, &place, GateInputs::default())?;
        OpenGate::open(options, place, wanted, None)
    }

    /// Opens the same gate again with the current files and the same policy.
    pub(crate) fn reopen(&self, options: GateOptions<'_>) -> anyhow::Result<OpenGate> {
        let place = GateLocation::of(
            options.environment, options.folder, options.phase, options.state_dir,
        )?;
        let policy = Some(Rc::clone(&self.policy));
        OpenGate::open(options, place, self.made_from.clone(), policy).context(UNREADABLE_SUBJECT)
    }

    fn open(
        options: GateOptions<'_>,
        place: GateLocation,
        made_from: GateInputs,
        policy: Option<Rc<GatePolicy>>,
    ) -> anyhow::Result<OpenGate> {
        let phase = options.phase;
        let tree = DirTree::new(place.root.clone());
        let plan = made_from.plan.as_deref().map(|path| read_plan(&tree, path)).transpose()?;
        if plan.is_none() && (phase.is_of_a_plan() || phase == Phase::Reconcile) {
            bail!("{phase} requires a plan: name it with `--plan FILE`");
        }
        if plan.as_ref().is_some_and(|plan| plan.milestones.is_empty() && !phase.is_of_a_plan()) {
            bail!(
                "the plan has no milestones to compare with the change; write each milestone as a \
                 heading such as `## Milestone M1: TITLE` (`Phase 1`, `Stage 1`, `Step 1` and \
                 `Task 1` are accepted as well), with its criteria as a list below `### Acceptance \
                 Criteria`"
            );
        }
        let scope = made_from.base.clone().map_or(Scope::Automatic, Scope::Against);
        let policy = match policy {
            Some(policy) => policy,
            None => Rc::new(GatePolicy::read(options, &place, &scope)?),
        };
        let change = match phase.is_of_a_plan() {
            true => None,
            false => {
                let plan = made_from.plan.as_deref();
                Some(open_change(&place, &scope, &policy.exclusions, plan)?)
            }
        };
        let plan = plan.zip(made_from.plan.clone());
        Ok(OpenGate { phase, plan, change, tree, made_from, policy, place })
    }

    /// Calls `work` with the gate as it is now.
    pub fn with_gate<T>(&self, work: impl FnOnce(&Gate<'_>) -> T) -> T {
        let plan = self.plan.as_ref().map(|(plan, path)| (plan, path.as_str()));
        let on_disk: &(dyn Tree + Sync) = &self.tree;
        let tree = self.change.as_ref().map_or(on_disk, Change::tree);
        let subject = Subject::new(plan, self.change.as_ref(), tree)
            .with_rules(&self.policy.rules)
            .with_judge(self.judge().map(|judge| judge as &dyn SubjectJudge));
        let (phase, policy) = (self.phase, self.policy.bar);
        work(&Gate { phase, subject: &subject, store: &self.place.keep, policy })
    }

    /// Returns the model that judges; `None` if no model is asked.
    pub fn judge(&self) -> Option<&ModelJudge> {
        self.policy.judge.as_ref().map(|(judge, _)| judge)
    }

    /// Returns the verifiers of items: the commands, and the model.
    pub fn verifiers(&self) -> Verifiers<'_> {
        let judge = self.judge().map(|judge| judge as &dyn Judge);
        Verifiers { commands: &self.policy.verifiers, judge }
    }

    /// Returns the files that a fixer may have to change: the plan, and the files of the change.
    pub(crate) fn files(&self) -> Vec<RepoPath> {
        let plan = self.plan.iter().map(|(_, path)| path.as_str());
        let written = self.change.iter().flat_map(|change| &change.files);
        let written = written.filter(|file| file.left_out.is_none());
        let names: BTreeSet<&str> = match self.phase.is_of_a_plan() {
            true => plan.collect(),
            false => written.filter_map(|file| file.new_path.as_deref()).collect(),
        };
        names.into_iter().filter_map(|name| RepoPath::exact(name).ok()).collect()
    }
}

impl GatePolicy {
    fn read(
        options: GateOptions<'_>,
        place: &GateLocation,
        scope: &Scope,
    ) -> anyhow::Result<GatePolicy> {
        let settings = read_settings(options.environment, &place.root, scope, options.phase)?;
        Ok(GatePolicy {
            bar: settings.gates.blocking_policy(),
            verifiers: settings.gates.verifiers(&place.root)?,
            fixer: settings.gates.fixer()?,
            judge: open_judge(options.models, &settings, &place.root)?,
            rules: settings.rules,
            exclusions: settings.exclusions,
            models: settings.models,
            notes: settings.notes,
        })
    }
}

/// The error if the subject of a gate cannot be read, which is never a pass.
const UNREADABLE_SUBJECT: UnknownOutcome =
    UnknownOutcome("cannot read the subject of the gate, so its result is unknown");

/// Returns the requested inputs, with those of the list for inputs that are not requested.
fn requested_inputs(
    options: GateOptions<'_>,
    place: &GateLocation,
    before: GateInputs,
) -> anyhow::Result<GateInputs> {
    let plan = options
        .plan
        .map(|plan| path_from_root(&place.root, &options.folder.join(plan)))
        .transpose()?;
    let base = options.base.map(str::to_owned);
    Ok(GateInputs { plan: plan.or(before.plan), base: base.or(before.base), ..before })
}

fn mismatch_message(what: &str, made_from: Option<&str>) -> String {
    let made_from = made_from.unwrap_or_default();
    format!(
        "this list was built for the {what} `{made_from}`; `assay gate decompose --again` builds a \
         list for another {what}"
    )
}

/// Returns a path relative to the root. Fails if the path is outside.
fn path_from_root(root: &Path, path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let real = path.canonicalize().with_context(|| format!("cannot read `{shown}`"))?;
    let inside =
        root.canonicalize().ok().and_then(|root| real.strip_prefix(root).ok().map(Path::to_owned));
    let inside = inside.and_then(|inside| inside.to_str().map(str::to_owned));
    inside.with_context(|| format!("`{shown}` is not inside `{}`", root.display()))
}

fn read_plan(tree: &DirTree, path: &str) -> anyhow::Result<Plan> {
    let text = RepoPath::exact(path).map_or(Ok(None), |path| tree.read(&path))?;
    let text = text.with_context(|| {
        format!("cannot read `{path}`: it is not a text file in the repository")
    })?;
    Ok(plan::read(path, text.as_bytes())?)
}

/// Reads the settings that apply to the gate: the version before the change, if the change touches
/// them. For a plan alone, everything that the branch and the work tree changed counts as the
/// change.
fn read_settings(
    environment: &Environment,
    root: &Path,
    scope: &Scope,
    phase: Phase,
) -> anyhow::Result<Settings> {
    let scope = match (phase.is_of_a_plan(), scope) {
        (true, Scope::Automatic) => {
            let base = match main_branch_or_none(root)? {
                Some(main) => Some(main),
                None => head_or_none(root)?,
            };
            base.map(Scope::Against)
        }
        (true | false, scope) => Some(scope.clone()),
    };
    // The folder of a plan may have no repository yet, or a repository without commits.
    let Some(scope) = scope else { return Settings::on_disk(environment, root) };
    Settings::of(environment, &assay_change::open(root, &scope, &Selection::default())?)
}

/// Returns the main branch; `None` if there is no repository or no such branch.
fn main_branch_or_none(root: &Path) -> Result<Option<String>, GitError> {
    match assay_change::main_branch(root) {
        Err(GitError::NotARepository { .. }) => Ok(None),
        main => main,
    }
}

/// Returns the last commit; `None` if there is no repository or no commit.
fn head_or_none(root: &Path) -> Result<Option<String>, GitError> {
    match assay_change::commit_of(root, "HEAD") {
        Err(GitError::NotARepository { .. } | GitError::UnknownRevision { .. }) => Ok(None),
        head => head.map(Some),
    }
}

/// Opens the change with untracked files and without the gate's state files. If only the plan is
/// untracked or changed, the change is the one that was committed before the plan.
fn open_change(
    place: &GateLocation,
    scope: &Scope,
    exclusions: &ExclusionRules,
    plan: Option<&str>,
) -> anyhow::Result<Change> {
    let open = |untracked| -> anyhow::Result<Change> {
        let selection = Selection { untracked, ..Selection::default() };
        let mut change = assay_change::open(&place.root, scope, &selection)?;
        change.files.retain(|file| !place.is_state_file(file.path()));
        Ok(change)
    };
    let mut change = open(true)?;
    if change.files.iter().all(|file| Some(file.path()) == plan) {
        change = open(false)?;
    }
    change.exclude(exclusions);
    Ok(change)
}

fn open_judge(
    choice: ModelChoice<'_>,
    settings: &Settings,
    root: &Path,
) -> anyhow::Result<Option<(ModelJudge, ModelSession)>> {
    let only = match choice {
        ModelChoice::Yes(only) => only,
        ModelChoice::AsConfigured if settings.gates.models => None,
        ModelChoice::AsConfigured | ModelChoice::No => return Ok(None),
    };
    let model_session = ModelSession::open(&ModelOptions::default(), &settings.models, root)?;
    Ok(Some((
        models::open_judge(&settings.models, only, ModelPhase::Gates, &model_session)?,
        model_session,
    )))
}
