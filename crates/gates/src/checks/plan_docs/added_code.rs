//! Checks the code that planned diffs add: its public items and its comments. Only the lines in a
//! diff are judged.

use assay_rules::{SourceLines, find_undocumented};

use super::documents::diffed;
use crate::checks::plan_helpers::{at, on_milestones};
use crate::checks::{comments, source};
use crate::item::Scope;
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Checks that added public items have a doc comment.
pub(super) fn look_for_bare_items(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    look_for(subject, "Public items have no doc comment", |source| {
        find_undocumented(source).into_iter().map(|(at, _)| at).collect()
    })
}

/// Checks that no added comment leaves work open.
pub(super) fn look_for_todos(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    look_for(subject, "Added comments contain open tasks", comments::open)
}

/// Checks that no added comment describes history.
pub(super) fn look_for_history(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    look_for(subject, "Added comments describe earlier versions", comments::history)
}

fn look_for(
    subject: &Subject<'_>,
    what: &str,
    find: fn(&SourceLines<'_>) -> Vec<usize>,
) -> CheckResult {
    on_milestones(subject, |plan| {
        let mut told = Vec::new();
        for file in diffed(subject) {
            for piece in file.pieces() {
                let found = source::of_piece(file.path(), &piece).map(|source| find(&source));
                told.extend(found.into_iter().flatten().map(|nth| {
                    let line = piece.lines[nth];
                    let (text, path) = (quoted(line.text), quoted(file.path()));
                    format!("{text} in {path}{}", at(plan, line.at))
                }));
            }
        }
        CheckResult::under(what, told)
    })
}
