//! Running reviewers side by side: [`run`].

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, mpsc};
use std::thread;

use assay_change::Change;
use assay_findings::coverage::{Coverage, Looks, Requirement};
use assay_findings::gate::Mode;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal, Suppression};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, ReviewerKind};
use assay_findings::spent::Spent;
use assay_findings::synthesis::{Circumstances, Synthesis, synthesize};
use assay_findings::validation::Opinion;
use assay_findings::verdict::WithoutContent;
use assay_rules::{Redacted, WithSymbols};

use crate::reviewer::{Answer, Exchange, Interest, Reviewer, Tell};

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
    let reads = |by: &&dyn Reviewer| matches!(by.interest(change), Interest::Reads(_));
    let reviewers: Vec<&dyn Reviewer> =
        reviewers.iter().map(|reviewer| &**reviewer).filter(reads).collect();
    watch.started(&reviewers.iter().map(|by| by.name()).collect::<Vec<_>>());
    let can_wait = |by: &dyn Reviewer| by.kind() == ReviewerKind::Persona && !by.is_required();
    let (later, first): (Vec<usize>, Vec<usize>) = match at_a_time.order {
        Order::AllAtOnce => (Vec::new(), (0..reviewers.len()).collect()),
        Order::RequiredFirst => (0..reviewers.len()).partition(|at| can_wait(reviewers[*at])),
    };
    let mut all = read_by(&first, &reviewers, change, at_a_time, watch);
    all.extend(read_by(&later, &reviewers, change, at_a_time, watch));
    all.sort_by_key(|(at, _)| *at);
    let mut review = Review::default();
    for (_, answer) in all {
        review.reports.push(answer.report);
        review.looks.push(answer.looks);
        review.suppressions.extend(answer.suppressions);
        review.exchanges.extend(answer.exchanges);
    }
    review
}

/// Has some of the reviewers read the change, side by side.
fn read_by(
    some: &[usize],
    reviewers: &[&dyn Reviewer],
    change: &Change,
    at_a_time: AtATime,
    watch: &dyn Watch,
) -> Vec<(usize, Answer)> {
    let queue = |wanted: fn(ReviewerKind) -> bool| -> Mutex<VecDeque<usize>> {
        Mutex::new(some.iter().copied().filter(|at| wanted(reviewers[*at].kind())).collect())
    };
    // Whoever waits for a model does not keep those who work here from working.
    let queues = [
        (queue(|kind| kind != ReviewerKind::Persona), at_a_time.local),
        (queue(|kind| kind == ReviewerKind::Persona), at_a_time.models),
    ];
    // Bounded by the number of reviewers, and by how often each tells how far it is.
    let (sender, events) = mpsc::channel();
    thread::scope(|scope| {
        for (waiting, workers) in &queues {
            for _ in 0..(*workers).clamp(1, some.len().max(1)) {
                let sender = sender.clone();
                scope.spawn(move || {
                    while let Some(at) = next(waiting) {
                        work(reviewers[at], at, change, &sender);
                    }
                });
            }
        }
        drop(sender);
        let mut answers = Vec::new();
        for event in events {
            match event {
                Event::Heard(at, chars) => watch.heard(reviewers[at].name(), chars),
                Event::Answered(at, answer) => {
                    watch.answered(&answer);
                    answers.push((at, *answer));
                }
            }
        }
        answers
    })
}

enum Event {
    Heard(usize, usize),
    Answered(usize, Box<Answer>),
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
    let answer = ask(reviewer, change, &tell);
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
                spent: terms.spent.clone(),
                coverage: Some(Coverage::of(change.hunks(), &self.looks, terms.require)),
                today: terms.today.clone(),
                ..Circumstances::default()
            },
        )
    }
}
