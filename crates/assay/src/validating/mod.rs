//! The validation loop from the command line: [`Validation`] has a spec, its journal and everybody
//! who looks and works.

mod eyes;
mod hands;
mod silent;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use assay_change::{Change, Scope, Selection};
use assay_checks::required::Risk;
use assay_checks::run::{Allowance, Runner};
use assay_findings::path::RepoPath;
use assay_review::runs::{self, short_hash};
use assay_sandbox::secrets_elsewhere;
use assay_store::clock;
use assay_validate::ending::Ending;
use assay_validate::event::{Begun, Event, TreeHash};
use assay_validate::ground::{Ground, Hears};
use assay_validate::journal::{Journal, JournalError};
use assay_validate::learned::Learned;
use assay_validate::opening::{Found, Opening, opening};
use assay_validate::own::tree_hash;
use assay_validate::plan::{self, ImplementationPlan};
use assay_validate::run::{Breakdown, run};
use assay_validate::spec::{self, Criterion, Spec};
use assay_validate::standing::Standing;

use self::eyes::Eyes;
use self::hands::Hands;
pub(crate) use self::silent::Silent;
use crate::environment::variable;
use crate::exit::NothingKnown;
use crate::memory;
use crate::models::{Line, ModelArgs};
use crate::queues;
use crate::settings::{Prompts, Settings};

/// Where loops keep what is nobody else's business, below the state folder.
const STATE: &str = "qa";

/// A spec as it lies in a repository.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) spec: Spec,
    plan: ImplementationPlan,
    /// What the plan says; nothing where it does not.
    risk: Option<Risk>,
}

/// What is asked of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) base: Option<&'a str>,
    pub(crate) resumes: bool,
    pub(crate) sign_off: Option<&'a str>,
    pub(crate) models: &'a ModelArgs,
    /// For whom it is run, where that is not whoever is at the terminal.
    pub(crate) host: Option<Host<'a>>,
}

/// Somebody who has a loop run in a work tree that goes away afterwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host<'a> {
    /// Their repository, where answers are kept and it is counted what a day costs.
    pub(crate) root: &'a Path,
    /// How long they wait.
    pub(crate) seconds: u64,
}

/// How a run came out.
pub(crate) enum CameTo {
    /// It is approved already, and nothing was run.
    ApprovedBefore,
    /// It waits for a person, and nothing was run.
    Waits(Ending),
    /// It was run to an ending.
    Ended(Ending),
}

impl Place {
    /// Finds a spec by the beginning of its name.
    pub(crate) fn of(folder: &Path, prefix: &str) -> anyhow::Result<Place> {
        let root = queues::root(folder)?;
        let folder = spec::find(&root, prefix)?;
        let plan = ImplementationPlan::read(&spec::file(&root, &folder, plan::NAME)?)?;
        let risk = plan.risk_level()?;
        let spec = Spec::read(&root, &folder, &plan)?;
        Ok(Place { root, spec, plan, risk })
    }

    /// Gives where the loop stands, whoever is at it, and whether that was seen on this machine.
    pub(crate) fn standing(&self) -> anyhow::Result<(Standing, bool)> {
        let (entries, is_own) =
            Journal::read_sealed(&self.folder(), &self.seal()).context(UNKNOWN)?;
        Ok((Standing::of(&entries).context(UNKNOWN)?, is_own))
    }

    /// Takes the digest of the tree as it is.
    pub(crate) fn tree(&self) -> anyhow::Result<TreeHash> {
        Ok(tree_hash(&self.root)?)
    }

    /// Gives the plan.
    pub(crate) fn plan(&self) -> &ImplementationPlan {
        &self.plan
    }

    fn folder(&self) -> PathBuf {
        self.root.join(&self.spec.folder)
    }

    /// Says what is missing before anything can be validated.
    pub(crate) fn check_complete(&self) -> anyhow::Result<()> {
        if self.plan.is_complete() {
            return Ok(());
        }
        let path = self.spec.folder.join(plan::NAME);
        let missing = self.plan.missing();
        if missing.is_empty() {
            bail!("`{}` has no subtask, so nothing was implemented yet", path.display());
        }
        let named = missing.iter().take(10).map(|subtask| {
            let title = subtask.title.as_deref().map(|title| format!(" ({title})"));
            format!("`{}`{} is {}", subtask.name, title.unwrap_or_default(), subtask.status)
        });
        let named: Vec<String> = named.collect();
        let more = match missing.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(", and {more} more are not either"),
        };
        bail!("not every subtask of `{}` is completed: {}{more}", path.display(), named.join(", "))
    }

    /// Gives where the loop keeps its own; refuses what came with the repository.
    fn state(&self) -> anyhow::Result<PathBuf> {
        if let Some(brought) = runs::brought(&self.root) {
            bail!(
                "`{brought}` came with the repository, so nobody here saw what it says; take it \
                 out of the repository"
            );
        }
        Ok(runs::state_folder(&self.root)?.join(STATE).join(&self.spec.name))
    }

    /// Gives where the seal of the journal is kept: out of reach for whatever runs in the tree, or,
    /// on a machine where nothing can be kept elsewhere, with the rest of the loop's state.
    pub(crate) fn seal(&self) -> PathBuf {
        let home = || Some(PathBuf::from(variable("HOME")?).join(".local/state"));
        let kept = variable("XDG_STATE_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let name = short_hash(root.as_os_str().as_encoded_bytes());
        let folder = kept.or_else(home).filter(|folder| folder.is_absolute());
        let folder = folder.map(|folder| folder.join("assay/qa").join(name).join(&self.spec.name));
        let folder = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok());
        let beside = || runs::state_folder_path(&self.root).join(STATE).join(&self.spec.name);
        folder.unwrap_or_else(beside).join("seal")
    }

    /// Reads the same spec once more.
    fn again(&self) -> anyhow::Result<Place> {
        Place::of(&self.root, &self.spec.name)
    }

    /// Gives the commit on top of which it was implemented: the one that is asked for, or found.
    fn base(&self, asked: Option<&str>) -> anyhow::Result<Option<String>> {
        Ok(match asked {
            Some(base) => Some(assay_change::commit_of(&self.root, base)?),
            None => self.change(None)?.base_revision().map(str::to_owned),
        })
    }

    /// Gives the commit on top of which it was implemented, given what is known of it. On the main
    /// branch that is where the first loop began: what is committed there since is still part of it.
    fn base_after(
        &self,
        standing: &Standing,
        asked: Option<&str>,
    ) -> anyhow::Result<Option<String>> {
        let commit = |name: &str| assay_change::commit_of(&self.root, name).ok();
        let is_on_main = || {
            let main = assay_change::main_branch(&self.root).and_then(|main| commit(&main));
            main.is_some() && main == commit("HEAD")
        };
        match &standing.base {
            Some(base) if asked.is_none() && commit(base).is_some() && is_on_main() => {
                Ok(Some(base.clone()))
            }
            Some(_) | None => self.base(asked),
        }
    }

    /// Gives how much depends on it, which an implementation cannot lower, and how it lowers what was
    /// required before it.
    fn bar(&self, change: &Change) -> (Option<Risk>, Vec<String>) {
        let read = |name: &str| {
            let path = RepoPath::exact(self.spec.folder.join(name).to_str()?).ok()?;
            change.base().read(&path)
        };
        let plan = read(plan::NAME).and_then(|text| ImplementationPlan::parse(text).ok());
        let Some(plan) = plan else { return (self.risk, Vec::new()) };
        let risk = plan.risk_level().ok().flatten();
        let text = read(spec::NAME).unwrap_or_default();
        let before = Spec::parse(&self.spec.folder, &text, &plan).ok();
        let criteria = before.iter().flat_map(|spec| &spec.criteria);
        let is_gone = |criterion: &&Criterion| {
            self.spec.criteria.iter().all(|now| now.text != criterion.text)
        };
        let gone =
            criteria.filter(is_gone).map(|it| format!("the criterion `{}` is gone", it.text));
        let mut lowered: Vec<String> = gone.collect();
        if risk > self.risk {
            lowered.push("the plan's `risk_level` is lower than before".to_owned());
        }
        let minimum = before.as_ref().and_then(|spec| spec.verification.minimum_coverage);
        if minimum > self.spec.verification.minimum_coverage {
            lowered.push("less has to be covered than before".to_owned());
        }
        (risk.max(self.risk), lowered)
    }

    /// Opens what was implemented, on top of a commit or of what is found to be one.
    fn change(&self, base: Option<&str>) -> anyhow::Result<Change> {
        let scope = base.map_or(Scope::Automatic, |base| Scope::Against(base.to_owned()));
        let selection = Selection { untracked: true, ..Selection::default() };
        Ok(assay_change::open(&self.root, &scope, &selection)?)
    }
}

/// What is said where a loop cannot be followed, which is never an approval.
const UNKNOWN: NothingKnown = NothingKnown("where the loop stands is not known");

/// What is said where a loop cannot go on.
const BROKEN: NothingKnown = NothingKnown("the loop cannot go on, and nothing is approved");

/// Goes on with the loop of a spec until there is an ending, or nothing to be done.
pub(crate) fn validate(
    place: &Place,
    asked: Asked<'_>,
    listener: &dyn Hears,
    warn: &dyn Fn(&str),
) -> anyhow::Result<(CameTo, Standing)> {
    place.check_complete()?;
    let state = place.state()?;
    let seal = place.seal();
    let mut journal = Journal::open(&place.folder(), &seal).context(UNKNOWN)?;
    // Whoever wrote the journal before may have changed the spec meanwhile.
    let place = &place.again()?;
    place.check_complete()?;
    let mut standing = Standing::of(journal.entries()).context(UNKNOWN)?;
    let tree = place.tree()?;
    if let Some(by) = asked.sign_off {
        let base = || place.base(asked.base);
        sign_off(&mut journal, &mut standing, by, &tree, base)?;
    }
    let found = Found {
        root: &place.root,
        spec: &place.spec,
        standing: &standing,
        tree: &tree,
        is_own: journal.is_own(),
        resumes: asked.resumes,
    };
    // What was approved on top of one commit says nothing of what came before that.
    let wanted = place.base_after(&standing, asked.base)?;
    let begin = match opening(found)? {
        Opening::Approved if wanted == standing.base => {
            return Ok((CameTo::ApprovedBefore, standing));
        }
        Opening::Approved => Some(Begun::Changed.into()),
        Opening::Waits(ending) => return Ok((CameTo::Waits(ending), standing)),
        Opening::Begin(begin) => Some(begin),
        Opening::GoOn => None,
    };
    // The base of an epoch stays: fixes that are not committed must not become all there is.
    let goes_on = begin.is_none() && standing.has_begun;
    let base = if goes_on { standing.base.clone() } else { wanted };
    if goes_on && asked.base.is_some() {
        warn("the loop goes on with the base that it began with; `--base` is for a new one");
    }
    let change = place.change(base.as_deref())?;
    let (risk, lowered) = place.bar(&change);
    lowered.iter().for_each(|what| warn(&format!("{what}, so a person has to vouch for it")));
    let mut settings = Settings::of(&change)?;
    let prompts = Prompts::of(&change, &mut settings.notes)?;
    settings.notes.iter().for_each(|note| warn(note));
    let limits = settings.qa.limits()?;
    let source = settings.qa.memory()?;
    let args = asked.models.clone().or_where_configured().or_within(settings.qa.budget);
    let args = args.at_most(asked.host.map(|host| host.seconds));
    let purse = asked.host.map_or(place.root.as_path(), |host| host.root);
    let line = match args.are_wanted(&settings) {
        true => Some(Line::open(&args, &settings.models, purse)?),
        false => None,
    };
    let deadline = Deadline::after(args.most_seconds());
    let eyes = Eyes {
        place,
        args: &args,
        line: line.clone(),
        models: &settings.models,
        prompt: prompts.reviewer.as_deref(),
        own_kinds: &settings.qa.issue_types,
        deadline,
        warn,
    };
    let hands = Hands {
        spec: &place.spec,
        chosen: settings.qa.fixer()?,
        models: &settings.models,
        line,
        prompt: prompts.fixer.as_deref(),
        deadline,
    };
    let ground = Ground {
        root: place.root.clone(),
        spec: place.spec.clone(),
        risk,
        said_risk: place.risk,
        lowered,
        base,
        frameworks: settings.qa.frameworks()?,
        app: settings.qa.app()?,
        runner: runner(&place.root, &state, deadline.within(settings.qa.check_time())),
        state: state.clone(),
        clock: &now,
        reviewer: &eyes,
        fixer: &hands,
        listener,
    };
    let (ending, standing) = run(&ground, &mut journal, &limits, begin).map_err(broken)?;
    let learned = Learned::of(&place.spec.name, &standing, &ending);
    memory::tell(&source, &place.root, &learned).iter().for_each(|trouble| warn(trouble));
    Ok((CameTo::Ended(ending), standing))
}

/// Notes that somebody vouches for the tree as it is.
fn sign_off(
    journal: &mut Journal,
    standing: &mut Standing,
    by: &str,
    tree: &TreeHash,
    base: impl FnOnce() -> anyhow::Result<Option<String>>,
) -> anyhow::Result<()> {
    if by.trim().is_empty() {
        bail!("there is no name; whoever reads the journal later needs to know who vouched");
    }
    if !journal.is_own() {
        // It would be forgotten with all else that happened elsewhere.
        note(journal, standing, Event::EpochBegun { why: Begun::Elsewhere, base: base()? })?;
    }
    let event = Event::SignedOff { by: by.trim().to_owned(), tree: tree.clone() };
    note(journal, standing, event)
}

fn note(journal: &mut Journal, standing: &mut Standing, event: Event) -> anyhow::Result<()> {
    let at = now();
    standing.take(&at, &event).context(UNKNOWN)?;
    journal.add(&at, event).context(UNKNOWN)?;
    Ok(())
}

/// Gives the time.
fn now() -> String {
    clock::now().to_string()
}

fn runner(root: &Path, state: &Path, time: Duration) -> Runner {
    let allowance = Allowance { time, ..Allowance::default() };
    let runner = Runner::new(root).allowance(allowance).caches(&state.join("caches"));
    let runner = runner.hidden(secrets_elsewhere(|name| variable(name).map(Into::into)));
    let runner = match variable("HOME").filter(|home| !home.is_empty()) {
        Some(home) => runner.home(Path::new(&home)),
        None => runner,
    };
    match variable("PATH") {
        Some(path) => runner.search_path(path),
        None => runner,
    }
}

fn broken(error: Breakdown) -> anyhow::Error {
    match error {
        Breakdown::Journal(JournalError::Disk(error)) => anyhow::Error::from(error).context(BROKEN),
        error => anyhow::Error::from(error).context(BROKEN),
    }
}

/// When a run has to be done.
#[derive(Debug, Clone, Copy)]
struct Deadline(Option<(Instant, u64)>);

impl Deadline {
    fn after(seconds: Option<u64>) -> Deadline {
        let until = |seconds| Instant::now().checked_add(Duration::from_secs(seconds));
        Deadline(seconds.and_then(|seconds| Some((until(seconds)?, seconds))))
    }

    /// Says so where it is over.
    fn check(self) -> Result<(), Breakdown> {
        match self.0 {
            Some((end, seconds)) if Instant::now() >= end => {
                Err(Breakdown::Budget(format!("{seconds} s are over")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Gives no more time than there is.
    fn within(self, time: Duration) -> Duration {
        let left = self.0.map(|(end, _)| end.saturating_duration_since(Instant::now()));
        left.map_or(time, |left| time.min(left.max(Duration::from_secs(1))))
    }
}
