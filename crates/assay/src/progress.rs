//! Progress on stderr: a line for each reviewer, silent where nobody watches.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use assay_findings::write::plain;
use assay_review::{Answer, Watch};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::count;

/// Shows who is reading, and keeps the record of it.
pub(crate) struct Progress {
    screen: MultiProgress,
    state: RefCell<State>,
    started: Instant,
}

#[derive(Default)]
struct State {
    lines: Vec<(String, ProgressBar)>,
    log: Vec<String>,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        // Drawn on stderr, and only if that is a terminal.
        Progress {
            screen: MultiProgress::new(),
            state: RefCell::default(),
            started: Instant::now(),
        }
    }

    /// Keeps the record alone.
    pub(crate) fn hidden() -> Progress {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Progress { screen, ..Progress::new() }
    }

    /// Takes the lines off the screen again, and gives what happened, a line each.
    pub(crate) fn finish(&self) -> Vec<String> {
        // A screen that cannot be cleared is one that nobody watches.
        let _ = self.screen.clear();
        self.state.borrow().log.clone()
    }

    /// Says that findings are looked at again.
    pub(crate) fn looking_again(&self) {
        let line = self.spinner("what was found is looked at again".to_owned());
        self.state.borrow_mut().lines.push((String::new(), line));
    }

    fn spinner(&self, message: String) -> ProgressBar {
        // It draws itself where it likes until it is on the screen.
        let line = self.screen.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("{spinner} {msg}");
        line.set_style(style.expect("the template is valid"));
        line.set_message(message);
        line.enable_steady_tick(Duration::from_millis(100));
        line
    }

    fn seconds(&self) -> String {
        format!("{:.2} s", self.started.elapsed().as_secs_f64())
    }
}

impl Watch for Progress {
    fn started(&self, reviewers: &[&str]) {
        let mut state = self.state.borrow_mut();
        for name in reviewers {
            let line = self.spinner(format!("{name} is reading"));
            state.lines.push(((*name).to_owned(), line));
        }
        state.log.push(format!("reviewers: {}", reviewers.join(", ")));
    }

    fn heard(&self, reviewer: &str, chars: usize) {
        let state = self.state.borrow();
        if let Some((_, line)) = state.lines.iter().find(|(name, _)| name == reviewer) {
            line.set_message(format!("{reviewer} has written {chars} characters"));
        }
    }

    fn answered(&self, answer: &Answer) {
        let mut state = self.state.borrow_mut();
        let name = &answer.report.reviewer.name;
        let said = match &answer.report.unusable {
            Some(why) => format!("nothing usable: {why}"),
            None => count(answer.report.votes.len(), "finding"),
        };
        let text = plain::one_line(&format!("{name}: {said} after {}", self.seconds()));
        if let Some((_, line)) = state.lines.iter().find(|(reviewer, _)| reviewer == name) {
            line.finish_with_message(text.clone());
        }
        state.log.push(text);
    }
}
