//! Progress of a review: [`ReviewProgress`] shows it, and [`Recorder`] records it.

use std::cell::RefCell;

use assay_base::clock::Stopwatch;
use assay_findings::write::escape;
use assay_review::{ReviewObserver, ReviewerAnswer};

use crate::wording::count;

/// An observer of the progress of a review. The default methods do nothing.
pub trait ReviewProgress {
    /// Called when reviewers begin to read.
    fn started(&self, _reviewers: &[&str]) {}

    /// Called while a reviewer writes, with the number of characters so far.
    fn heard(&self, _reviewer: &str, _chars: usize) {}

    /// Called when a reviewer has answered, with a line about the answer.
    fn answered(&self, _reviewer: &str, _line: &str) {}

    /// Called when a second look at findings starts.
    fn looking_again(&self) {}

    /// Called at the end.
    fn finished(&self) {}
}

/// An observer that shows no progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoProgress;

impl ReviewProgress for NoProgress {}

/// An observer that records progress, and passes it on.
pub(crate) struct Recorder<'a> {
    progress: &'a dyn ReviewProgress,
    log: RefCell<Vec<String>>,
    started: Stopwatch,
}

impl<'a> Recorder<'a> {
    /// Returns a recorder that passes progress on.
    pub(crate) fn new(progress: &'a dyn ReviewProgress) -> Recorder<'a> {
        Recorder { progress, log: RefCell::default(), started: Stopwatch::start() }
    }

    /// Passes on that a second look at findings starts.
    pub(crate) fn looking_again(&self) {
        self.progress.looking_again();
    }

    /// Ends the progress, and returns the record as lines.
    pub(crate) fn finish(&self) -> Vec<String> {
        self.progress.finished();
        self.log.borrow().clone()
    }
}

impl ReviewObserver for Recorder<'_> {
    fn on_start(&self, reviewers: &[&str]) {
        self.progress.started(reviewers);
        self.log.borrow_mut().push(format!("reviewers: {}", reviewers.join(", ")));
    }

    fn on_progress(&self, reviewer: &str, chars: usize) {
        self.progress.heard(reviewer, chars);
    }

    fn on_answer(&self, answer: &ReviewerAnswer) {
        let name = &answer.report.reviewer.name;
        let said = match &answer.report.unusable {
            Some(why) => format!("nothing usable: {why}"),
            None => count(answer.report.votes.len(), "finding"),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let line = escape::one_line(&format!("{name}: {said} after {seconds:.2} s"));
        self.progress.answered(name, &line);
        self.log.borrow_mut().push(line);
    }
}
