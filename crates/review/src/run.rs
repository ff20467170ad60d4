//! Running reviewers side by side: [`run`], and [`run_until`] for a review that can be interrupted.
//!
//! The rules read the change first, since models are told their findings. A delegated review and a
//! replay take the findings of the rules from the record, so that a question to a model is the same
//! in all three.
//!
//! An interrupted review abandons its threads: a thread that waits for a provider cannot be woken.
//! [`run_until`] gives the threads values that they own (`Arc`) and returns the answers so far, and
//! the end of the process ends the threads. It waits for the rules, which wait for nothing
//! themselves.
//!
//! Votes are grounded on redacted text. Models see no credential, so their quotes are looked up in
//! texts without credentials.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};

use assay_base::clock::Stopwatch;
use assay_base::shutdown::Shutdown;
use assay_change::Change;
use assay_findings::coverage::{Coverage, Looks, Requirement};
use assay_findings::gate::Mode;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal, Suppression};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, ReviewerKind};
use assay_findings::shown::ShownLimit;
use assay_findings::spent::Spent;
use assay_findings::synthesis::{Circumstances, Synthesis, synthesize};
use assay_findings::validation::Opinion;
use assay_findings::verdict::WithoutContent;
use assay_rules::{Redacted, WithSymbols};

use crate::exchange::Exchange;
use crate::leads::Leads;
use crate::reviewer::{Answer, Interest, Reviewer, Tell};

/// What all reviewers made of a change.
#[derive(Debug, Default)]
pub struct Review {
    /// What each reported, in the order of the roster.
    pub reports: Vec<Report>,
    /// What each made of each hunk.
    pub looks: Vec<Looks>,
    /// Which findings comments in the change ask to leave alone.
    pub suppressions: Vec<Suppression>,
    /// What was asked of models.
    pub exchanges: Vec<Exchange>,
    /// What a second look at findings came to.
    pub opinions: Vec<Opinion>,
    /// The names of the reviewers that were interrupted before they answered.
    pub interrupted: Vec<String>,
}

/// How many reviewers read at the same time.
#[derive(Debug, Clone, Copy)]
pub struct AtATime {
    /// Of those that work on this machine.
    pub local: usize,
    /// Of those that wait for a model.
    pub models: usize,
    /// Who may begin when.
    pub order: Order,
}

/// Who may begin when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Everybody, as far as there is room.
    AllAtOnce,
    /// Personas that need not answer wait for the others: there may not be enough for all.
    RequiredFirst,
}

/// So many characters come between two tidings of an answer.
const HEARD_AT_ONCE: usize = 200;

/// What decides besides the reviewers' answers.
#[derive(Debug, Default)]
pub struct Terms<'a> {
    /// How the review is run.
    pub mode: Mode,
    /// The line from which findings block, where another than the usual one is wanted.
    pub fail_on: Option<Grade>,
    /// How much has to be read.
    pub require: Requirement,
    /// What a change without reviewable content comes to.
    pub without_content: WithoutContent,
    /// How many findings are shown.
    pub shown: ShownLimit,
    /// What was accepted before.
    pub dismissals: &'a [Dismissal],
    /// What the models took, where any were asked.
    pub spent: Option<Spent>,
    /// Today, for what was accepted up to a day.
    pub today: Option<Day>,
}

/// Hears how a review goes on, on the thread that called for it.
pub trait Watch {
    /// These reviewers read the change.
    fn started(&self, reviewers: &[&str]);

    /// So many characters of an answer have come.
    fn heard(&self, reviewer: &str, chars: usize);

    /// One of them has answered.
    fn answered(&self, answer: &Answer);
}

/// Has those reviewers who are concerned read a change, so many at a time. One that breaks down
/// costs only itself.
pub fn run(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
    at_a_time: AtATime,
    watch: &dyn Watch,
) -> Review {
    let never = &Shutdown::default();
    review_by(change, reviewers, at_a_time, watch, |some| {
        let (sender, events) = mpsc::channel();
        thread::scope(|scope| {
            for waiting in queues(some, reviewers, at_a_time) {
                let sender = sender.clone();
                scope.spawn(move || work_off(&waiting, reviewers, change, &sender, never));
            }
            collect(&events, some, reviewers, watch).unwrap_or_else(|partial| partial)
        })
    })
}

/// Does the same until it is interrupted. After that the reviewers that have not answered are not
/// waited for: their threads go on until the process ends, and their answers say that they were
/// interrupted.
pub fn run_until(
    shutdown: &Shutdown,
    change: &Arc<Change>,
    reviewers: &Arc<[Box<dyn Reviewer>]>,
    at_a_time: AtATime,
    watch: &dyn Watch,
) -> Review {
    review_by(change, reviewers, at_a_time, watch, |some| {
        let (sender, events) = mpsc::channel();
        let interrupted = sender.clone();
        // The receiver is gone if all have answered before.
        shutdown.on_request(move || drop(interrupted.send(Event::Interrupted)));
        let start = |waiting: Queue| {
            let (sender, change) = (sender.clone(), Arc::clone(change));
            let (reviewers, shutdown) = (Arc::clone(reviewers), shutdown.clone());
            thread::spawn(move || work_off(&waiting, &reviewers, &change, &sender, &shutdown))
        };
        let threads: Vec<JoinHandle<()>> =
            queues(some, reviewers, at_a_time).into_iter().map(start).collect();
        collect(&events, some, reviewers, watch)
            .inspect(|_| {
                for thread in threads {
                    // A reviewer that breaks down is caught in its thread.
                    let _ = thread.join();
                }
            })
            .unwrap_or_else(|partial| partial)
    })
}

/// Puts the answers of all who are concerned together. `read` has some of them read, by their numbers,
/// and leaves out those that were interrupted.
fn review_by(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
    at_a_time: AtATime,
    watch: &dyn Watch,
    read: impl Fn(&[usize]) -> BTreeMap<usize, Answer>,
) -> Review {
    let reads = |at: &usize| matches!(reviewers[*at].interest(change), Interest::Reads(_));
    let readers: Vec<usize> = (0..reviewers.len()).filter(reads).collect();
    watch.started(&readers.iter().map(|at| reviewers[*at].name()).collect::<Vec<_>>());
    let can_wait = |by: &dyn Reviewer| by.kind() == ReviewerKind::Persona && !by.is_required();
    let (later, first): (Vec<usize>, Vec<usize>) = match at_a_time.order {
        Order::AllAtOnce => (Vec::new(), readers.clone()),
        Order::RequiredFirst => readers.iter().partition(|at| can_wait(&*reviewers[**at])),
    };
    // The rules read first: models are told of their findings.
    let (rules, first): (Vec<usize>, Vec<usize>) =
        first.into_iter().partition(|at| reviewers[*at].kind() == ReviewerKind::Rules);
    let mut answers = read(&rules);
    let leads = Leads::of(answers.values().map(|answer| &answer.report));
    readers.iter().for_each(|at| reviewers[*at].note_leads(&leads));
    answers.extend(read(&first));
    answers.extend(read(&later));
    let mut review = Review::default();
    for at in readers {
        let answer = answers.remove(&at).unwrap_or_else(|| {
            review.interrupted.push(reviewers[at].name().to_owned());
            Answer::interrupted(&*reviewers[at], change)
        });
        review.reports.push(answer.report);
        review.looks.push(answer.looks);
        review.suppressions.extend(answer.suppressions);
        review.exchanges.extend(answer.exchanges);
    }
    review
}

/// The reviewers that wait to read, by their numbers.
type Queue = Arc<Mutex<VecDeque<usize>>>;

/// Returns a queue for each thread that is to work it off; threads of one kind share theirs.
fn queues(some: &[usize], reviewers: &[Box<dyn Reviewer>], at_a_time: AtATime) -> Vec<Queue> {
    let is_persona = |at: &usize| reviewers[*at].kind() == ReviewerKind::Persona;
    // Whoever waits for a model does not keep those who work here from working.
    let (models, local): (Vec<usize>, Vec<usize>) = some.iter().copied().partition(is_persona);
    let kinds = [(local, at_a_time.local), (models, at_a_time.models)];
    let shared = kinds.into_iter().flat_map(|(waiting, threads)| {
        let threads = threads.max(1).min(waiting.len());
        std::iter::repeat_n(Arc::new(Mutex::new(VecDeque::from(waiting))), threads)
    });
    shared.collect()
}

/// Has those in a queue read the change, one after the other. After an interrupt only the rules
/// begin: others may cost money.
fn work_off(
    waiting: &Queue,
    reviewers: &[Box<dyn Reviewer>],
    change: &Change,
    sender: &Sender<Event>,
    shutdown: &Shutdown,
) {
    while let Some(at) = next(waiting) {
        let is_rules = reviewers[at].kind() == ReviewerKind::Rules;
        if is_rules || !shutdown.is_requested() {
            work(&*reviewers[at], at, change, sender);
        }
    }
}

/// Collects the answers of some reviewers. Fails with those that are there at an interrupt, and that
/// of the rules: they wait for nobody, and are there soon.
fn collect(
    events: &Receiver<Event>,
    some: &[usize],
    reviewers: &[Box<dyn Reviewer>],
    watch: &dyn Watch,
) -> Result<BTreeMap<usize, Answer>, BTreeMap<usize, Answer>> {
    let mut answers: BTreeMap<usize, Answer> = BTreeMap::new();
    let mut is_interrupted = false;
    let mut awaited: BTreeSet<usize> = some.iter().copied().collect();
    while !awaited.is_empty() {
        match events.recv() {
            Ok(Event::Heard(at, chars)) => watch.heard(reviewers[at].name(), chars),
            Ok(Event::Answered(at, answer)) => {
                if awaited.remove(&at) {
                    watch.answered(&answer);
                    answers.insert(at, *answer);
                }
            }
            Ok(Event::Interrupted) => {
                is_interrupted = true;
                awaited.retain(|at| reviewers[*at].kind() == ReviewerKind::Rules);
            }
            Err(_) => return Err(answers),
        }
    }
    if is_interrupted && answers.len() < some.len() { Err(answers) } else { Ok(answers) }
}

/// What readers tell. There are as many as reviewers, and as often as each tells how far it is.
enum Event {
    Heard(usize, usize),
    Answered(usize, Box<Answer>),
    Interrupted,
}

/// Has one reviewer read the change. Whoever hears of it is gone only if it broke down itself.
fn work(reviewer: &dyn Reviewer, at: usize, change: &Change, sender: &Sender<Event>) {
    let heard = Mutex::new((sender.clone(), 0));
    let tell = |chars: usize| {
        let mut heard = heard.lock().unwrap_or_else(|broken| broken.into_inner());
        if chars >= heard.1 + HEARD_AT_ONCE || chars < heard.1 {
            heard.1 = chars;
            let _ = heard.0.send(Event::Heard(at, chars));
        }
    };
    let name = reviewer.name();
    tracing::info!(reviewer = name, "the reviewer starts");
    let started = Stopwatch::start();
    let answer = ask(reviewer, change, &tell);
    let (elapsed, votes) = (started.elapsed(), answer.report.votes.len());
    tracing::info!(reviewer = name, ?elapsed, votes, "the reviewer answered");
    let _ = sender.send(Event::Answered(at, Box::new(answer)));
}

fn next(waiting: &Mutex<VecDeque<usize>>) -> Option<usize> {
    waiting.lock().unwrap_or_else(|broken| broken.into_inner()).pop_front()
}

fn ask(reviewer: &dyn Reviewer, change: &Change, tell: Tell<'_>) -> Answer {
    catch_unwind(AssertUnwindSafe(|| reviewer.review(change, tell)))
        .unwrap_or_else(|_| Answer::failed(reviewer, change, "it crashed; this is a bug in assay"))
}

impl Review {
    /// Returns the bytes of all questions to models and of their answers.
    pub fn bytes(&self) -> u64 {
        self.exchanges.iter().map(|exchange| exchange.bytes).sum()
    }

    /// Gives the files that somebody named, whether there are such or not.
    pub fn named_files(&self) -> BTreeSet<RepoPath> {
        let votes = self.reports.iter().flat_map(|report| &report.votes);
        let quoted = self.opinions.iter().filter_map(|opinion| opinion.quoted_file.clone());
        votes.filter_map(|vote| vote.file.clone()).chain(quoted).collect()
    }

    /// Gives the answers of those who asked no model.
    pub(crate) fn local_answers(&self) -> Vec<Answer> {
        let answers = self.reports.iter().zip(&self.looks);
        let local = answers.filter(|(_, looks)| looks.kind != ReviewerKind::Persona);
        let answer = |(report, looks): (&Report, &Looks)| Answer {
            report: report.clone(),
            looks: looks.clone(),
            suppressions: match looks.kind {
                ReviewerKind::Rules => self.suppressions.clone(),
                ReviewerKind::Command | ReviewerKind::Persona => Vec::new(),
            },
            exchanges: Vec::new(),
        };
        local.map(answer).collect()
    }

    /// Puts all answers together and decides.
    pub fn synthesis(&self, change: &Change, terms: &Terms<'_>) -> Synthesis {
        let changed = change.changed_lines();
        // Models saw no credential, so what they quote is looked up where none stands.
        let redacted = Redacted(change.tree());
        let tree = WithSymbols::new(&redacted);
        synthesize(
            &self.reports,
            &Circumstances {
                tree: Some(&tree),
                tree_errors: change.tree_errors(),
                changed: Some(&changed),
                mode: terms.mode,
                fail_on: terms.fail_on.clone(),
                dismissals: terms.dismissals,
                suppressions: &self.suppressions,
                opinions: &self.opinions,
                without_content: terms.without_content,
                shown: terms.shown,
                spent: terms.spent.clone(),
                coverage: Some(Coverage::of(change.hunks(), &self.looks, terms.require)),
                today: terms.today.clone(),
                ..Circumstances::default()
            },
        )
    }
}
