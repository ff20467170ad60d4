//! Checks the references of a plan: the files that it names, and its links.

use crate::checks::file_set::FileSet;
use crate::checks::links::Links;
use crate::checks::plan_helpers::{at, on_plan};
use crate::item::Scope;
use crate::plan::is_pattern;
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Checks that the files exist that milestones name as existing.
pub(super) fn look_for_files(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let known = FileSet::planned(subject);
        let mut missing = Vec::new();
        for milestone in &plan.milestones {
            let named = milestone.old_files.iter().filter(|path| !is_pattern(path));
            for path in named.filter(|path| !known.has_one_that_ends_in(path)) {
                match known.has(path) {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(error) => return CheckResult::NotChecked(error.to_string()),
                }
                missing.push(format!(
                    "{} in {}{}",
                    quoted(path),
                    milestone.id,
                    at(plan, milestone.line)
                ));
            }
        }
        CheckResult::under("Files do not exist and are not marked as new", missing)
    })
}

/// Checks that links lead to existing files, or to headings of the plan.
pub(super) fn look_at_links(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let page = subject.plan.map_or("", |(_, path)| path);
        let mut links = Links::new(FileSet::planned(subject));
        links.add_page(page, &plan.text);
        let mut dead = Vec::new();
        for link in &plan.links {
            match links.dead(page, &link.target) {
                Ok(Some(_)) => {
                    dead.push(format!("{}{}", quoted(&link.target), at(plan, link.line)))
                }
                Ok(None) => {}
                Err(error) => return CheckResult::NotChecked(error.to_string()),
            }
        }
        CheckResult::under("Dead links", dead)
    })
}
