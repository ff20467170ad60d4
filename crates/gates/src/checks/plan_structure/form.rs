//! What a formatter would catch, and what a merge left behind.

use crate::checks::say::{at, lines_of_text, listed, on_plan, whole};
use crate::checks::{Seen, Target};
use crate::item::Scope;
use crate::quote::quoted;
use crate::subject::Subject;

/// Gives the whole plan as a target if it is Markdown: JSON has no form to look at.
pub(super) fn whole_markdown(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let is_markdown = subject.plan.is_some_and(|(plan, _)| plan.is_markdown);
    if is_markdown { whole(subject, check) } else { Vec::new() }
}

/// Looks for markers of a merge that was not finished. Between fences they are an example.
pub(super) fn look_for_conflicts(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let mut found = Vec::new();
        let mut is_open = false;
        for (number, line) in lines_of_text(plan) {
            let line = line.trim_end();
            let is_marker = |mark: &str| {
                line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            let opens = is_marker("<<<<<<<");
            is_open |= opens;
            // Alone, the others underline a heading or quote something.
            if opens || (is_open && (is_marker("=======") || is_marker("|||||||"))) {
                found.push(format!("{}{}", quoted(line), at(plan, number)));
            } else if is_open && is_marker(">>>>>>>") {
                found.push(format!("{}{}", quoted(line), at(plan, number)));
                is_open = false;
            }
        }
        Seen::under("Merge conflict markers are left", found)
    })
}

/// Looks for headings that are more than one level below the one before.
pub(super) fn look_at_headings(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let pairs = plan.headings.iter().zip(plan.headings.iter().skip(1));
        let skips = pairs.filter(|(before, heading)| heading.level > before.level + 1);
        let told = skips.map(|(before, heading)| {
            let (text, line) = (quoted(&heading.text), at(plan, heading.line));
            format!("{text} goes from level {} to {}{line}", before.level, heading.level)
        });
        Seen::under("Headings skip a level", told.collect())
    })
}

/// Looks for fences that are not closed.
pub(super) fn look_at_fences(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let open = plan.fences.iter().filter(|fence| !fence.is_closed);
        let told = open.map(|fence| format!("line {}", fence.first));
        Seen::under("Fences are not closed", told.collect())
    })
}

/// Counts lines with white space that nobody sees.
pub(super) fn look_at_white_space(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let (mut ends, mut mixed) = (Vec::new(), Vec::new());
        for (number, line) in lines_of_text(plan) {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let text = line.trim_end_matches([' ', '\t']);
            // Two blanks behind a text break the line.
            let is_break = !text.is_empty() && line.len() == text.len() + 2 && line.ends_with("  ");
            if line.len() > text.len() && !is_break {
                ends.push(number.to_string());
            }
            let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            if indent.contains(" \t") && !text.is_empty() {
                mixed.push(number.to_string());
            }
        }
        let counted = [(ends, "at the end"), (mixed, "with blanks before tabs")];
        let told = counted.into_iter().filter(|(lines, _)| !lines.is_empty());
        let told = told.map(|(lines, what)| format!("{} {what} ({})", lines.len(), listed(&lines)));
        Seen::under("Stray white space in lines", told.collect())
    })
}
