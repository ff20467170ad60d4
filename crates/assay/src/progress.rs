//! Progress on stderr: a line for each reviewer. Nothing is shown if stderr is not a terminal.

use std::cell::RefCell;
use std::time::Duration;

use assay_engine::review_progress::ReviewProgress;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::diagnostics;

/// The lines on stderr for the reviewers that are reading.
pub(crate) struct Progress {
    screen: MultiProgress,
    lines: RefCell<Vec<(String, ProgressBar)>>,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        // Drawn on stderr, and only if stderr is a terminal. Diagnostics would mix with the lines.
        match diagnostics::are_printed() {
            true => Progress::hidden(),
            false => Progress::on(ProgressDrawTarget::stderr()),
        }
    }

    /// Creates progress that is not shown.
    pub(crate) fn hidden() -> Progress {
        Progress::on(ProgressDrawTarget::hidden())
    }

    fn on(target: ProgressDrawTarget) -> Progress {
        Progress { screen: MultiProgress::with_draw_target(target), lines: RefCell::default() }
    }

    fn spinner(&self, message: String) -> ProgressBar {
        // A bar draws itself until it is added to the screen.
        let line = self.screen.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("{spinner} {msg}");
        line.set_style(style.expect("the template is valid"));
        line.set_message(message);
        line.enable_steady_tick(Duration::from_millis(100));
        line
    }
}

impl ReviewProgress for Progress {
    fn started(&self, reviewers: &[&str]) {
        let mut lines = self.lines.borrow_mut();
        for name in reviewers {
            lines.push(((*name).to_owned(), self.spinner(format!("{name} is reading"))));
        }
    }

    fn heard(&self, reviewer: &str, chars: usize) {
        let lines = self.lines.borrow();
        if let Some((_, line)) = lines.iter().find(|(name, _)| name == reviewer) {
            line.set_message(format!("{reviewer} has written {chars} characters"));
        }
    }

    fn answered(&self, reviewer: &str, text: &str) {
        let lines = self.lines.borrow();
        if let Some((_, line)) = lines.iter().find(|(name, _)| name == reviewer) {
            line.finish_with_message(text.to_owned());
        }
    }

    fn looking_again(&self) {
        let line = self.spinner("second look at the findings".to_owned());
        self.lines.borrow_mut().push((String::new(), line));
    }

    fn finished(&self) {
        // If the screen cannot be cleared, no user watches it.
        let _ = self.screen.clear();
    }
}
