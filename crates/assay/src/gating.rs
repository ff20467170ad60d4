//! A gate from the command line: [`Opened`] has its subject, its state and everybody who is asked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_change::tree::DirTree;
use assay_change::{Change, Scope, Selection};
use assay_findings::ground::Tree;
use assay_findings::path::RepoPath;
use assay_gates::bar::Bar;
use assay_gates::beside::MadeFrom;
use assay_gates::command::CommandVerifier;
use assay_gates::gate::{Gate, GateError};
use assay_gates::keep::Keep;
use assay_gates::model::ModelJudge;
use assay_gates::phase::Phase;
use assay_gates::plan::{self, Plan};
use assay_gates::subject::Subject;
use assay_gates::verifier::{Judge, Verifiers};
use assay_review::runs;
use assay_rules::Rulebook;

use crate::exit::NothingKnown;
use crate::models::{self, Line};
use crate::queues;
use crate::settings::Settings;
use crate::settings::gates::GateFixer;
use crate::settings::models::StoredModels;

/// Where the state of gates lies in a repository, unless told otherwise.
const STATE: &str = ".assay/gates";

/// Which gate is meant, and who is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) phase: Phase,
    pub(crate) state_dir: Option<&'a Path>,
    pub(crate) plan: Option<&'a Path>,
    pub(crate) base: Option<&'a str>,
    pub(crate) models: AskModels<'a>,
}

/// Whether a model is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AskModels<'a> {
    /// Where the configuration says so.
    AsConfigured,
    /// It is: the one that is configured, or this one.
    Yes(Option<&'a str>),
    /// None is.
    No,
}

/// Where a gate's state lies.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) keep: Keep,
    folder: PathBuf,
}

/// A gate with what it looks at and everybody who is asked.
pub(crate) struct Opened {
    pub(crate) place: Place,
    pub(crate) phase: Phase,
    plan: Option<(Plan, String)>,
    change: Option<Change>,
    tree: DirTree,
    rules: Rulebook,
    pub(crate) bar: Bar,
    pub(crate) verifiers: Vec<CommandVerifier>,
    pub(crate) fixer: Option<GateFixer>,
    judge: Option<(ModelJudge, Line)>,
    pub(crate) models: StoredModels,
    pub(crate) made_from: MadeFrom,
    /// What is to be told about what decides.
    pub(crate) notes: Vec<String>,
}

impl Place {
    /// Finds where the state of a gate lies.
    pub(crate) fn of(
        folder: &Path,
        phase: Phase,
        state_dir: Option<&Path>,
    ) -> anyhow::Result<Place> {
        let root = queues::root(folder)?;
        let folder = match state_dir {
            Some(state_dir) => folder.join(state_dir),
            None => root.join(STATE),
        };
        if let Some(brought) = brought(&root, &folder) {
            bail!(
                "`{brought}` came with the repository, so nobody here saw what it says; take it \
                 out of the repository, or name another folder with `--state-dir`"
            );
        }
        let keep = Keep::new(&folder, phase);
        Ok(Place { root, keep, folder })
    }

    /// Gives the state's folder from the root, where it is inside.
    fn inside(&self) -> Option<String> {
        let (folder, root) = (self.folder.canonicalize().ok()?, self.root.canonicalize().ok()?);
        Some(format!("{}/", folder.strip_prefix(root).ok()?.to_str()?))
    }
}

/// Names a state that came with a repository.
fn brought(root: &Path, folder: &Path) -> Option<String> {
    if !folder.exists() {
        return None;
    }
    let name = folder.strip_prefix(root).ok()?.to_str()?;
    let is_ours = !assay_change::is_foreign(folder) && !assay_change::is_tracked(root, name);
    (!is_ours).then(|| name.to_owned())
}

impl Opened {
    /// Opens a gate whose list is there, on what that was made from unless told otherwise.
    pub(crate) fn with_list(asked: Asked<'_>) -> anyhow::Result<Opened> {
        let place = Place::of(asked.folder, asked.phase, asked.state_dir)?;
        let made_from = place.keep.read().map_err(GateError::from)?.beside.made_from;
        let unknown =
            NothingKnown("what the gate looks at cannot be had, so nothing is known of it");
        Opened::open(asked, place, made_from).context(unknown)
    }

    /// Opens a gate whether there is a list or not.
    pub(crate) fn new(asked: Asked<'_>) -> anyhow::Result<Opened> {
        let place = Place::of(asked.folder, asked.phase, asked.state_dir)?;
        if place.keep.is_there() {
            return Opened::with_list(asked);
        }
        if asked.state_dir.is_none() {
            // What is kept there is none of git's business.
            runs::state_folder(&place.root)?;
        }
        Opened::open(asked, place, MadeFrom::default())
    }

    fn open(asked: Asked<'_>, place: Place, before: MadeFrom) -> anyhow::Result<Opened> {
        let (phase, mut made_from) = (asked.phase, before);
        if let Some(plan) = asked.plan {
            made_from.plan = Some(from_root(&place.root, &asked.folder.join(plan))?);
        }
        if let Some(base) = asked.base {
            made_from.base = Some(base.to_owned());
        }
        let plan =
            made_from.plan.as_deref().map(|path| read_plan(&place.root, path)).transpose()?;
        if plan.is_none() && (phase.is_of_a_plan() || phase == Phase::Reconcile) {
            bail!("{phase} looks at a plan; say which with `--plan FILE`");
        }
        let scope = made_from.base.clone().map_or(Scope::Automatic, Scope::Against);
        let settings = read_settings(&place.root, &scope, phase)?;
        let change = match phase.is_of_a_plan() {
            true => None,
            false => Some(open_change(&place, &scope, &settings, made_from.plan.as_deref())?),
        };
        let judge = judge(asked.models, &settings, &place.root)?;
        Ok(Opened {
            phase,
            plan: plan.zip(made_from.plan.clone()),
            change,
            tree: DirTree::new(place.root.clone()),
            rules: settings.rules,
            bar: settings.gates.bar(),
            verifiers: settings.gates.verifiers(&place.root)?,
            fixer: settings.gates.fixer()?,
            judge,
            models: settings.models,
            made_from,
            notes: settings.notes,
            place,
        })
    }

    /// Does something with the gate as it is now.
    pub(crate) fn with_gate<T>(&self, work: impl FnOnce(&Gate<'_>) -> T) -> T {
        let plan = self.plan.as_ref().map(|(plan, path)| (plan, path.as_str()));
        let on_disk: &(dyn Tree + Sync) = &self.tree;
        let tree = self.change.as_ref().map_or(on_disk, Change::tree);
        let subject = Subject::new(plan, self.change.as_ref(), tree)
            .with_rules(&self.rules)
            .with_judge(self.judge());
        let (phase, bar) = (self.phase, self.bar);
        work(&Gate { phase, subject: &subject, keep: &self.place.keep, bar })
    }

    /// Gives the model that is asked, if one is.
    pub(crate) fn judge(&self) -> Option<&ModelJudge> {
        self.judge.as_ref().map(|(judge, _)| judge)
    }

    /// Gives everybody who can be asked about items.
    pub(crate) fn asked(&self) -> Verifiers<'_> {
        let judge = self.judge().map(|judge| judge as &dyn Judge);
        Verifiers { commands: &self.verifiers, judge }
    }

    /// Gives the files that whoever fixes may have to touch: the plan, and what was written.
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

/// Gives a path from the root, which it has to be inside.
fn from_root(root: &Path, path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let real = path.canonicalize().with_context(|| format!("could not read `{shown}`"))?;
    let inside =
        root.canonicalize().ok().and_then(|root| real.strip_prefix(root).ok().map(Path::to_owned));
    let inside = inside.and_then(|inside| inside.to_str().map(str::to_owned));
    inside.with_context(|| format!("`{shown}` is not inside `{}`", root.display()))
}

fn read_plan(root: &Path, path: &str) -> anyhow::Result<Plan> {
    let bytes = fs::read(root.join(path)).with_context(|| format!("could not read `{path}`"))?;
    Ok(plan::read(path, &bytes)?)
}

/// Reads the settings that hold for the gate: those from before the change, where that touches them.
/// With a plan alone, all that the branch and the work tree have made of them so far counts as one.
fn read_settings(root: &Path, scope: &Scope, phase: Phase) -> anyhow::Result<Settings> {
    let scope = match (phase.is_of_a_plan(), scope) {
        (true, Scope::Automatic) => assay_change::main_branch(root).map(Scope::Against),
        (true | false, scope) => Some(scope.clone()),
    };
    // A plan may lie where there is no repository yet, or nothing in it.
    let Some(scope) = scope else { return Settings::on_disk(root) };
    Settings::of(&assay_change::open(root, &scope, &Selection::default())?)
}

/// Opens what was written: new files that git does not know yet are among it; the state of the gate
/// is not, nor the plan, which it is held against.
fn open_change(
    place: &Place,
    scope: &Scope,
    settings: &Settings,
    plan: Option<&str>,
) -> anyhow::Result<Change> {
    let selection = Selection { untracked: true, ..Selection::default() };
    let mut change = assay_change::open(&place.root, scope, &selection)?;
    let state = place.inside();
    let is_ours = |path: &str| {
        Some(path) == plan || state.as_deref().is_some_and(|state| path.starts_with(state))
    };
    change.files.retain(|file| !is_ours(file.path()));
    change.leave_out(&settings.leave_out);
    Ok(change)
}

fn judge(
    asked: AskModels<'_>,
    settings: &Settings,
    root: &Path,
) -> anyhow::Result<Option<(ModelJudge, Line)>> {
    let only = match asked {
        AskModels::Yes(only) => only,
        AskModels::AsConfigured if settings.gates.models => None,
        AskModels::AsConfigured | AskModels::No => return Ok(None),
    };
    models::gate_judge(&settings.models, only, root).map(Some)
}
