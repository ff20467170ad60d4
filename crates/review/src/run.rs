//! Running reviewers side by side: [`run`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;

use assay_change::Change;
use assay_findings::coverage::{Coverage, Looks, Requirement};
use assay_findings::gate::Mode;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal, Suppression};
use assay_findings::report::Report;
use assay_findings::synthesis::{Circumstances, Synthesis, synthesize};
use assay_rules::WithSymbols;

use crate::reviewer::{Answer, Interest, Reviewer};

/// What all reviewers made of a change.
#[derive(Debug)]
pub struct Review {
    /// What each reported, in the order of the roster.
    pub reports: Vec<Report>,
    /// What each made of each hunk.
    pub looks: Vec<Looks>,
    /// Which findings comments in the change ask to leave alone.
    pub suppressions: Vec<Suppression>,
}

/// What decides besides the reviewers' answers.
#[derive(Debug, Default)]
pub struct Terms<'a> {
    /// How the review is run.
    pub mode: Mode,
    /// The line from which findings block, where another than the usual one is wanted.
    pub fail_on: Option<Grade>,
    /// How much has to be read.
    pub require: Requirement,
    /// What was accepted before.
    pub dismissals: &'a [Dismissal],
    /// Today, for what was accepted up to a day.
    pub today: Option<Day>,
}

/// Hears how a review goes on, on the thread that called for it.
pub trait Watch {
    /// These reviewers read the change.
    fn started(&self, reviewers: &[&str]);

    /// One of them has answered.
    fn answered(&self, answer: &Answer);
}

/// Has those reviewers who are concerned read a change, so many at a time. One that breaks down
/// costs only itself.
pub fn run(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
    at_a_time: usize,
    watch: &dyn Watch,
) -> Review {
    let reads = |by: &&dyn Reviewer| matches!(by.interest(change), Interest::Reads(_));
    let reviewers: Vec<&dyn Reviewer> =
        reviewers.iter().map(|reviewer| &**reviewer).filter(reads).collect();
    watch.started(&reviewers.iter().map(|by| by.name()).collect::<Vec<_>>());
    let waiting: Mutex<VecDeque<usize>> = Mutex::new((0..reviewers.len()).collect());
    // Bounded by the number of reviewers.
    let (sender, answers) = mpsc::channel();
    let mut all: Vec<(usize, Answer)> = thread::scope(|scope| {
        for _ in 0..at_a_time.clamp(1, reviewers.len().max(1)) {
            let (sender, waiting, reviewers) = (sender.clone(), &waiting, &reviewers);
            scope.spawn(move || {
                while let Some(at) = next(waiting) {
                    // Whoever waits for answers is gone only if it broke down itself.
                    let _ = sender.send((at, ask(reviewers[at], change)));
                }
            });
        }
        drop(sender);
        answers.iter().inspect(|(_, answer)| watch.answered(answer)).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    let mut review = Review { reports: Vec::new(), looks: Vec::new(), suppressions: Vec::new() };
    for (_, answer) in all {
        review.reports.push(answer.report);
        review.looks.push(answer.looks);
        review.suppressions.extend(answer.suppressions);
    }
    review
}

fn next(waiting: &Mutex<VecDeque<usize>>) -> Option<usize> {
    waiting.lock().unwrap_or_else(|broken| broken.into_inner()).pop_front()
}

fn ask(reviewer: &dyn Reviewer, change: &Change) -> Answer {
    catch_unwind(AssertUnwindSafe(|| reviewer.review(change)))
        .unwrap_or_else(|_| Answer::failed(reviewer, change, "it crashed; this is a bug in assay"))
}

impl Review {
    /// Puts all answers together and decides.
    pub fn synthesis(&self, change: &Change, terms: &Terms<'_>) -> Synthesis {
        let changed = change.changed_lines();
        let tree = WithSymbols::new(change.tree());
        synthesize(
            &self.reports,
            &Circumstances {
                tree: Some(&tree),
                changed: Some(&changed),
                mode: terms.mode,
                fail_on: terms.fail_on.clone(),
                dismissals: terms.dismissals,
                suppressions: &self.suppressions,
                coverage: Some(Coverage::of(change.hunks(), &self.looks, terms.require)),
                today: terms.today.clone(),
                ..Circumstances::default()
            },
        )
    }
}
