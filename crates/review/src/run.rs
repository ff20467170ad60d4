//! Runs reviewers side by side: [`run`], and [`run_until`] for a review that can be interrupted.
//!
//! The rules read the change first, since models get their findings. A delegated review and a
//! replay take the findings of the rules from the record, so that the prompt of a model is the same
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
use assay_findings::coverage::{CoverageRequirement, ReviewCoverage, ReviewerCoverage};
use assay_findings::gate::ReviewMode;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal, Suppression};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, ReviewerKind};
use assay_findings::second_look::Opinion;
use assay_findings::shown_limit::ShownLimit;
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::template::TemplateSet;
use assay_findings::usage::ReviewUsage;
use assay_findings::verdict::NoContentPolicy;
use assay_rules::{RedactedTree, SymbolTree};
use tracing::span;

use crate::exchange::Exchange;
use crate::leads::Leads;
use crate::reviewer::{OnProgress, ReadDecision, Reviewer, ReviewerAnswer};
use crate::templates;

/// The answers of all reviewers of a change.
#[derive(Debug, Default)]
pub struct Review {
    /// The report of each reviewer, in the order of the roster, then reports from other sources,
    /// which cover nothing.
    pub reports: Vec<Report>,
    /// The outcome of each hunk, by reviewer.
    pub looks: Vec<ReviewerCoverage>,
    /// The findings that comments in the change ask to suppress.
    pub suppressions: Vec<Suppression>,
    /// The requests to models.
    pub exchanges: Vec<Exchange>,
    /// The opinions of second looks.
    pub opinions: Vec<Opinion>,
    /// The names of the reviewers that were interrupted before they answered.
    pub interrupted: Vec<String>,
}

/// The number of reviewers that read at the same time.
#[derive(Debug, Clone, Copy)]
pub struct Concurrency {
    /// The number of reviewers that work on this machine.
    pub local: usize,
    /// The number of reviewers that wait for a model.
    pub models: usize,
    /// The order in which reviewers start.
    pub order: StartOrder,
}

/// The order in which reviewers start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartOrder {
    /// All reviewers start as soon as there is a free thread.
    AllAtOnce,
    /// Personas that are not required wait for the others, since the budget may not suffice for
    /// all.
    RequiredFirst,
}

/// The minimum number of characters between two progress events of an answer.
const MIN_PROGRESS_CHARS: usize = 200;

/// The decisions and limits that count in addition to the reviewers' answers.
#[derive(Debug, Default)]
pub struct ReviewPolicy<'a> {
    /// The mode of the review.
    pub mode: ReviewMode,
    /// The grade from which findings block; `None` for the default.
    pub fail_on: Option<Grade>,
    /// The required extent of the coverage.
    pub require: CoverageRequirement,
    /// The verdict on a change without reviewable content.
    pub without_content: NoContentPolicy,
    /// The number of findings that are shown.
    pub shown: ShownLimit,
    /// The templates of findings; `None` for those that are shipped with assay.
    pub templates: Option<&'a TemplateSet>,
    /// The findings that were accepted before.
    pub dismissals: &'a [Dismissal],
    /// The spending on models; `None` if none were called.
    pub spent: Option<ReviewUsage>,
    /// The current date, for dismissals that end on a day; `None` if it is unknown.
    pub today: Option<Day>,
}

/// An observer of a review, called on the thread that runs the review.
pub trait ReviewObserver {
    /// Called when the reading starts, with the names of the reviewers that read.
    fn on_start(&self, reviewers: &[&str]);

    /// Called with the number of characters of an answer received so far.
    fn on_progress(&self, reviewer: &str, chars: usize);

    /// Called when a reviewer has answered.
    fn on_answer(&self, answer: &ReviewerAnswer);
}

/// Runs the reviewers that are concerned by a change, some at a time. The failure of one does not
/// affect the others.
pub fn run(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
    at_a_time: Concurrency,
    observer: &dyn ReviewObserver,
) -> Review {
    let never = &Shutdown::default();
    combine_answers(change, reviewers, at_a_time, observer, |some| {
        let (sender, events) = mpsc::channel();
        let span = tracing::Span::current().id();
        thread::scope(|scope| {
            for waiting in queues(some, reviewers, at_a_time) {
                let work = QueueWork { waiting, sender: sender.clone(), span: span.clone() };
                scope.spawn(move || work.run(reviewers, change, never));
            }
            collect(&events, some, reviewers, observer).unwrap_or_else(|partial| partial)
        })
    })
}

/// Runs the reviewers like `run`, until an interrupt. After that, reviewers that have not answered
/// are not waited for: their threads go on until the process ends, and their answers are marked as
/// interrupted.
pub fn run_until(
    shutdown: &Shutdown,
    change: &Arc<Change>,
    reviewers: &Arc<[Box<dyn Reviewer>]>,
    at_a_time: Concurrency,
    observer: &dyn ReviewObserver,
) -> Review {
    combine_answers(change, reviewers, at_a_time, observer, |some| {
        let (sender, events) = mpsc::channel();
        let interrupted = sender.clone();
        let span = tracing::Span::current().id();
        // The receiver is gone if all reviewers have answered before.
        shutdown.on_request(move || drop(interrupted.send(Event::Interrupted)));
        let start = |waiting: Queue| {
            let work = QueueWork { waiting, sender: sender.clone(), span: span.clone() };
            let (reviewers, change) = (Arc::clone(reviewers), Arc::clone(change));
            let shutdown = shutdown.clone();
            thread::spawn(move || work.run(&reviewers, &change, &shutdown))
        };
        let threads: Vec<JoinHandle<()>> =
            queues(some, reviewers, at_a_time).into_iter().map(start).collect();
        collect(&events, some, reviewers, observer)
            .inspect(|_| {
                for thread in threads {
                    // A panic of a reviewer is caught in its thread.
                    let _ = thread.join();
                }
            })
            .unwrap_or_else(|partial| partial)
    })
}

/// Combines the answers of all reviewers that are concerned. `read` runs some of them, by their
/// numbers, and leaves out those that were interrupted.
fn combine_answers(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
    at_a_time: Concurrency,
    observer: &dyn ReviewObserver,
    read: impl Fn(&[usize]) -> BTreeMap<usize, ReviewerAnswer>,
) -> Review {
    let reads = |at: &usize| matches!(reviewers[*at].interest(change), ReadDecision::Reads(_));
    let readers: Vec<usize> = (0..reviewers.len()).filter(reads).collect();
    observer.on_start(&readers.iter().map(|at| reviewers[*at].name()).collect::<Vec<_>>());
    let can_wait = |by: &dyn Reviewer| by.kind() == ReviewerKind::Persona && !by.is_required();
    let (later, first): (Vec<usize>, Vec<usize>) = match at_a_time.order {
        StartOrder::AllAtOnce => (Vec::new(), readers.clone()),
        StartOrder::RequiredFirst => readers.iter().partition(|at| can_wait(&*reviewers[**at])),
    };
    // The rules read first: models get their findings.
    let (rules, first): (Vec<usize>, Vec<usize>) =
        first.into_iter().partition(|at| reviewers[*at].kind() == ReviewerKind::Rules);
    let mut answers = read(&rules);
    let leads = Leads::of(answers.values().map(|answer| &answer.report));
    readers.iter().for_each(|at| reviewers[*at].set_leads(&leads));
    answers.extend(read(&first));
    answers.extend(read(&later));
    let mut review = Review::default();
    for at in readers {
        let answer = answers.remove(&at).unwrap_or_else(|| {
            review.interrupted.push(reviewers[at].name().to_owned());
            ReviewerAnswer::interrupted(&*reviewers[at], change)
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

/// Returns a queue for each thread; threads for the same kind of reviewer share one.
fn queues(some: &[usize], reviewers: &[Box<dyn Reviewer>], at_a_time: Concurrency) -> Vec<Queue> {
    let is_persona = |at: &usize| reviewers[*at].kind() == ReviewerKind::Persona;
    // A reviewer that waits for a model does not block those that work on this machine.
    let (models, local): (Vec<usize>, Vec<usize>) = some.iter().copied().partition(is_persona);
    let kinds = [(local, at_a_time.local), (models, at_a_time.models)];
    let shared = kinds.into_iter().flat_map(|(waiting, threads)| {
        let threads = threads.max(1).min(waiting.len());
        std::iter::repeat_n(Arc::new(Mutex::new(VecDeque::from(waiting))), threads)
    });
    shared.collect()
}

fn kind_name(kind: ReviewerKind) -> &'static str {
    match kind {
        ReviewerKind::Rules => "rules",
        ReviewerKind::Persona => "persona",
        ReviewerKind::Command => "command",
    }
}

/// The work of one thread: reviewers of a queue, one after the other.
struct QueueWork {
    waiting: Queue,
    sender: Sender<Event>,
    /// The span of the review. An id does not keep the span open, so that the review of an
    /// interrupted process ends without its threads.
    span: Option<span::Id>,
}

impl QueueWork {
    /// Runs reviewers until none waits. After an interrupt only the rules start, since others may
    /// cost money.
    fn run(&self, reviewers: &[Box<dyn Reviewer>], change: &Change, shutdown: &Shutdown) {
        while let Some(at) = pop_next(&self.waiting) {
            let reviewer = &*reviewers[at];
            let is_rules = reviewer.kind() == ReviewerKind::Rules;
            if is_rules || !shutdown.is_requested() {
                let span = tracing::info_span!(
                    parent: self.span.clone(),
                    "reviewer",
                    otel.name = format!("reviewer {}", reviewer.name()),
                    otel.error = tracing::field::Empty,
                    assay.reviewer.name = reviewer.name(),
                    assay.reviewer.kind = kind_name(reviewer.kind()),
                    assay.reviewer.is_required = reviewer.is_required(),
                    assay.reviewer.votes = tracing::field::Empty,
                );
                span.in_scope(|| run_reviewer(reviewer, at, change, &self.sender));
            }
        }
    }
}

/// Collects the answers of some reviewers. After an interrupt, fails with the answers so far and
/// that of the rules, which wait for nothing and answer soon.
fn collect(
    events: &Receiver<Event>,
    some: &[usize],
    reviewers: &[Box<dyn Reviewer>],
    observer: &dyn ReviewObserver,
) -> Result<BTreeMap<usize, ReviewerAnswer>, BTreeMap<usize, ReviewerAnswer>> {
    let mut answers: BTreeMap<usize, ReviewerAnswer> = BTreeMap::new();
    let mut is_interrupted = false;
    let mut awaited: BTreeSet<usize> = some.iter().copied().collect();
    while !awaited.is_empty() {
        match events.recv() {
            Ok(Event::Heard(at, chars)) => observer.on_progress(reviewers[at].name(), chars),
            Ok(Event::Answered(at, answer)) => {
                if awaited.remove(&at) {
                    observer.on_answer(&answer);
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

/// An event of a reviewer's thread.
enum Event {
    Heard(usize, usize),
    Answered(usize, Box<ReviewerAnswer>),
    Interrupted,
}

/// Runs one reviewer and sends its answer. The receiver is gone only if its thread panicked.
fn run_reviewer(reviewer: &dyn Reviewer, at: usize, change: &Change, sender: &Sender<Event>) {
    let heard = Mutex::new((sender.clone(), 0));
    let on_progress = |chars: usize| {
        let mut heard = heard.lock().unwrap_or_else(|broken| broken.into_inner());
        if chars >= heard.1 + MIN_PROGRESS_CHARS || chars < heard.1 {
            heard.1 = chars;
            let _ = heard.0.send(Event::Heard(at, chars));
        }
    };
    let name = reviewer.name();
    tracing::info!(reviewer = name, "the reviewer starts");
    let started = Stopwatch::start();
    let answer = catch_review(reviewer, change, &on_progress);
    let (elapsed, votes) = (started.elapsed(), answer.report.votes.len());
    tracing::info!(reviewer = name, ?elapsed, votes, "the reviewer answered");
    let span = tracing::Span::current();
    span.record("assay.reviewer.votes", votes);
    if let Some(unusable) = &answer.report.unusable {
        span.record("otel.error", unusable);
    }
    let _ = sender.send(Event::Answered(at, Box::new(answer)));
}

fn pop_next(waiting: &Mutex<VecDeque<usize>>) -> Option<usize> {
    waiting.lock().unwrap_or_else(|broken| broken.into_inner()).pop_front()
}

fn catch_review(
    reviewer: &dyn Reviewer,
    change: &Change,
    on_progress: OnProgress<'_>,
) -> ReviewerAnswer {
    catch_unwind(AssertUnwindSafe(|| reviewer.review(change, on_progress))).unwrap_or_else(|_| {
        ReviewerAnswer::failed(reviewer, change, "the reviewer crashed; this is a bug in assay")
    })
}

impl Review {
    /// Returns the number of bytes of all prompts and answers of models.
    pub fn bytes(&self) -> u64 {
        self.exchanges.iter().map(|exchange| exchange.bytes).sum()
    }

    /// Returns the files that votes and opinions name, whether they exist or not.
    pub fn named_files(&self) -> BTreeSet<RepoPath> {
        let votes = self.reports.iter().flat_map(|report| &report.votes);
        let quoted = self.opinions.iter().filter_map(|opinion| opinion.quoted_file.clone());
        votes.filter_map(|vote| vote.file.clone()).chain(quoted).collect()
    }

    /// Returns the reports from sources other than the reviewers.
    pub(crate) fn external_reports(&self) -> &[Report] {
        self.reports.get(self.looks.len()..).unwrap_or_default()
    }

    /// Returns the answers of the reviewers that asked no model.
    pub(crate) fn local_answers(&self) -> Vec<ReviewerAnswer> {
        let answers = self.reports.iter().zip(&self.looks);
        let local = answers.filter(|(_, looks)| looks.kind != ReviewerKind::Persona);
        let answer = |(report, looks): (&Report, &ReviewerCoverage)| ReviewerAnswer {
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

    /// Combines all answers, and decides the verdict.
    pub fn synthesis(&self, change: &Change, terms: &ReviewPolicy<'_>) -> Synthesis {
        let changed = change.changed_lines();
        // Models saw no credential, so their quotes are looked up in redacted text.
        let redacted = RedactedTree(change.tree());
        let tree = SymbolTree::new(&redacted);
        synthesize(
            &self.reports,
            &SynthesisInputs {
                tree: Some(&tree),
                tree_errors: change.tree_errors(),
                changed: Some(&changed),
                mode: terms.mode,
                fail_on: terms.fail_on.clone(),
                templates: terms.templates.or(Some(templates::builtin())),
                dismissals: terms.dismissals,
                suppressions: &self.suppressions,
                opinions: &self.opinions,
                without_content: terms.without_content,
                shown: terms.shown,
                spent: terms.spent.clone(),
                coverage: Some(
                    ReviewCoverage::of(change.hunks(), &self.looks, terms.require)
                        .with_reports(&self.reports),
                ),
                today: terms.today.clone(),
                ..SynthesisInputs::default()
            },
        )
    }
}
