//! Renders the manual test plan for a person: [`render_manual_plan`].

use std::collections::HashMap;

use assay_findings::write::escape;

use super::escaping::long_title;
use crate::markdown::{compared, tick};
use crate::spec::Criterion;

const TITLE: &str = "# Manual Test Plan";
const CASES: &str = "## Test Cases";
const NOTES: &str = "## Notes";

/// The separator between the steps of a case.
const ARROW: &str = " → ";

/// Renders `MANUAL_TEST_PLAN.md`: a check box for each criterion.
///
/// Changes that a person made to the previous plan are retained: ticks, text that is indented below
/// a case, and, in the notes, all text that belongs to no case.
pub fn render_manual_plan(criteria: &[Criterion], previous: Option<&str>) -> String {
    let mut before = PreviousPlan::read(previous.unwrap_or(""));
    let mut out = format!("{TITLE}\n\n{CASES}\n\n");
    for (criterion, number) in criteria.iter().zip(1..) {
        let text = long_title(&criterion.text);
        let case = before.take(&text);
        let mark = if case.is_ticked { "x" } else { " " };
        out.push_str(&format!("{number}. [{mark}] {text}\n"));
        out.extend(case.below.iter().map(|line| format!("{line}\n")));
        if case.below.is_empty() && text.contains(ARROW) {
            out.extend(text.split(ARROW).map(|step| format!("   - {}\n", step.trim())));
        }
    }
    let rest = before.rest();
    if !rest.is_empty() {
        out.push_str(&format!("\n{NOTES}\n\n{}\n", rest.join("\n")));
    }
    out
}

/// The previous plan, with the changes of a person.
struct PreviousPlan {
    /// The unindented lines, each with the indented lines below it.
    cases: Vec<Case>,
    /// The indices of the cases with a check box, by their text.
    by_text: HashMap<String, usize>,
}

#[derive(Default)]
struct Case {
    line: String,
    is_ticked: bool,
    /// The indented lines below the case.
    below: Vec<String>,
}

impl PreviousPlan {
    fn read(text: &str) -> PreviousPlan {
        let mut before = PreviousPlan { cases: Vec::new(), by_text: HashMap::new() };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut is_open = false;
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            if [TITLE, CASES, NOTES].contains(&line) {
                is_open = false;
                continue;
            }
            let line = escape::escape_hidden(line).into_owned();
            match before.cases.last_mut() {
                Some(case) if is_open && line.starts_with([' ', '\t']) => case.below.push(line),
                _ => before.begin(line),
            }
            is_open = true;
        }
        before
    }

    fn begin(&mut self, line: String) {
        let mut is_ticked = false;
        if let Some((ticked, said)) = boxed(&line) {
            is_ticked = ticked;
            // Of two cases with the same text, a ticked one counts.
            let at = self.by_text.entry(compared(said)).or_insert(self.cases.len());
            if ticked {
                *at = self.cases.len();
            }
        }
        self.cases.push(Case { line, is_ticked, below: Vec::new() });
    }

    /// Removes the case with the text and returns it; returns an empty case if there is none.
    fn take(&mut self, text: &str) -> Case {
        let at = self.by_text.remove(&compared(text));
        at.and_then(|at| self.cases.get_mut(at)).map(std::mem::take).unwrap_or_default()
    }

    /// Returns the lines of the remaining cases, without those that no person changed.
    fn rest(&self) -> Vec<&str> {
        let untouched = |case: &Case| {
            let is_open = boxed(&case.line).is_some_and(|(ticked, _)| !ticked);
            case.line.is_empty() || (is_open && case.below.is_empty())
        };
        let kept = self.cases.iter().filter(|case| !untouched(case));
        kept.flat_map(|case| std::iter::once(&case.line).chain(&case.below))
            .map(String::as_str)
            .collect()
    }
}

/// Returns the check box of a case, and the text behind it; `None` if there is no box.
fn boxed(line: &str) -> Option<(bool, &str)> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(['.', ')', '-', '*', '+'])?;
    let (ticked, said) = tick(rest.trim_start());
    Some((ticked?, said))
}
