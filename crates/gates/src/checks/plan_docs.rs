//! Checks of phase `plan-docs`: references to decisions, documents for code, and the comments and
//! links in planned diffs.

mod added_code;
mod documents;

use super::plan_helpers::whole;
use super::{Check, Fix};
use crate::item::Severity::{May, Must, Should};

/// The checks, in the order of the list.
pub(super) static CHECKS: [Check; 6] = [
    Check {
        key: "plan-docs/decisions",
        severity: Must,
        targets: |s| whole(s, "Verify that decisions referred to by id are in the decision log"),
        run: documents::look_at_decisions,
        fix: Fix::of(
            "Add each referenced decision to the decision log with its reason, or correct the \
             reference.",
        ),
    },
    Check {
        key: "plan-docs/documents",
        severity: Should,
        targets: |s| {
            whole(s, "Check that a plan that changes code also changes or names documents")
        },
        run: documents::look_for_documents,
        fix: Fix::of(
            "Name the documents that change with the code (README, docs/, CHANGELOG), or say \
                   under `Documentation` why none does.",
        ),
    },
    Check {
        key: "plan-docs/public-items",
        severity: Should,
        targets: |s| whole(s, "Check that public items added in planned diffs carry a doc comment"),
        run: added_code::look_for_bare_items,
        fix: Fix::of(
            "Add a doc comment to each public item that a diff adds: what it does, and what a \
             caller must know.",
        ),
    },
    Check {
        key: "plan-docs/todo-comments",
        severity: Should,
        targets: |s| whole(s, "Check that planned diffs add no TODO or FIXME comments"),
        run: added_code::look_for_todos,
        fix: Fix::of("Resolve each comment, or make it a milestone, and remove the comment."),
    },
    Check {
        key: "plan-docs/links",
        severity: Should,
        targets: |s| {
            whole(s, "Check that links in Markdown that planned diffs add lead to files that exist")
        },
        run: documents::look_at_links,
        fix: Fix::of(
            "Correct each link, or add the file that it leads to. Paths are relative to the \
             folder of the document.",
        ),
    },
    Check {
        key: "plan-docs/history",
        severity: May,
        targets: |s| {
            whole(s, "Check that comments in planned diffs describe the code, not its history")
        },
        run: added_code::look_for_history,
        fix: Fix::of(
            "Describe in each comment what the code does and why. Earlier behaviour belongs in \
             the commit history.",
        ),
    },
];
