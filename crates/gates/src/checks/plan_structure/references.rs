//! Where a plan points to: the files that it names, and its links.

use std::collections::{HashMap, HashSet};

use crate::checks::Seen;
use crate::checks::known::Known;
use crate::checks::say::{at, on_plan};
use crate::item::Scope;
use crate::plan::{Plan, is_pattern};
use crate::quote::quoted;
use crate::subject::Subject;

/// Looks for files that milestones take to be there and that are not.
pub(super) fn look_for_files(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let known = Known::new(subject.tree, plan);
        let mut missing = Vec::new();
        for milestone in &plan.milestones {
            let named = milestone.old_files.iter().filter(|path| !is_pattern(path));
            for path in named.filter(|path| !known.has(path) && !known.has_one_that_ends_in(path)) {
                missing.push(format!(
                    "{} in {}{}",
                    quoted(path),
                    milestone.id,
                    at(plan, milestone.line)
                ));
            }
        }
        Seen::under("Files do not exist, and the plan does not say that they are new", missing)
    })
}

/// Looks for links that lead to no file, and to no heading of the plan.
pub(super) fn look_at_links(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let path = subject.plan.map_or("", |(_, path)| path);
        let known = Known::new(subject.tree, plan);
        let anchors = anchors(plan);
        let is_dead = |target: &str| match target.strip_prefix('#') {
            Some("") => false,
            Some(anchor) => !anchors.contains(&anchor.to_lowercase()),
            None => known.is_dead(target, path),
        };
        let dead = plan.links.iter().filter(|link| is_dead(&link.target));
        let told = dead.map(|link| format!("{}{}", quoted(&link.target), at(plan, link.line)));
        Seen::under("Links lead nowhere", told.collect())
    })
}

/// Gives the names under which the plan's own headings can be linked to.
fn anchors(plan: &Plan) -> HashSet<String> {
    let mut anchors = HashSet::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for heading in &plan.headings {
        let name = anchor(&heading.text);
        let count = counts.entry(name.clone()).or_insert(0);
        anchors.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    for mark in ["id=\"", "name=\""] {
        let named = plan.text.split(mark).skip(1).filter_map(|after| after.split('"').next());
        anchors.extend(named.map(str::to_lowercase));
    }
    anchors
}

/// Makes the name of a heading as forges do.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
