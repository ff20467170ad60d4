//! Checks of phase `plan-structure`: milestones, criteria, decisions, assumptions, order, files,
//! links and form.

mod criteria;
mod decisions;
mod form;
mod injection;
mod milestones;
mod placeholders;
mod references;

use super::plan_helpers::whole;
use super::{Check, Fix};
use crate::item::Severity::{May, Must, Should};

/// The checks, in the order of the list.
pub(super) static CHECKS: [Check; 19] = [
    Check {
        key: "plan-structure/milestones",
        severity: Must,
        targets: |s| whole(s, "Verify that the plan has milestones and each has an id of its own"),
        run: milestones::look_at_ids,
        fix: Fix::of(
            "Give the plan its milestones, each as a heading with an id that no other has, \
                   such as `## M1: Title`.",
        ),
    },
    Check {
        key: "plan-structure/criteria",
        severity: Must,
        targets: |s| milestones::each(s, "Validate acceptance criteria for milestone"),
        run: criteria::look_for_any,
        fix: Fix {
            what: "Add acceptance criteria to milestone {name} definition. Include:",
            include: &["Success conditions", "Verification steps", "Exit criteria"],
        },
    },
    Check {
        key: "plan-structure/reasons",
        severity: Must,
        targets: decisions::each_decision,
        run: decisions::look_for_a_reason,
        fix: Fix::of(
            "Say why {name} was decided: put the reason into its column of the decision log, \
                   or behind the decision after `Reason:` or `because`.",
        ),
    },
    Check {
        key: "plan-structure/decisions",
        severity: Must,
        targets: |s| {
            decisions::too_many(s, "Check that the plan has no more decisions than are read")
        },
        run: decisions::look_at_their_number,
        fix: Fix::of("Split the plan, or leave only the decisions in its log that it rests on."),
    },
    Check {
        key: "plan-structure/assumptions",
        severity: Must,
        targets: |s| whole(s, "Verify that each assumption is validated or says how it will be"),
        run: decisions::look_at_assumptions,
        fix: Fix {
            what: "Validate each assumption and write down what shows it, or how it will be shown. \
                   A tick alone shows nothing. Write one of:",
            include: &[
                "`(verified: what was run or read, and what it said)`",
                "`Evidence: file, command or document`",
                "`(will be verified by: test or step, in which milestone)`",
            ],
        },
    },
    Check {
        key: "plan-structure/placeholders",
        severity: Must,
        targets: |s| {
            whole(s, "Check that no placeholder is left in milestones, criteria or decisions")
        },
        run: placeholders::look,
        fix: Fix::of("Replace each placeholder with what was meant, or take the line out."),
    },
    Check {
        key: "plan-structure/conflict-markers",
        severity: Must,
        targets: |s| whole(s, "Check that the plan has no merge conflict markers"),
        run: form::look_for_conflicts,
        fix: Fix::of(
            "Remove conflict markers (<<<<<<<, =======, >>>>>>>) and resolve merge conflicts.",
        ),
    },
    Check {
        key: "plan-structure/orders",
        severity: Must,
        targets: |s| whole(s, "Check that the plan gives no orders to whoever reviews it"),
        run: injection::look,
        fix: Fix::of(
            "Take out what tells a reviewer or a model how to judge; a plan says what is to be \
                   done.",
        ),
    },
    Check {
        key: "plan-structure/order",
        severity: Must,
        targets: |s| {
            whole(
                s,
                "Verify that milestones wait only for milestones that exist, and not in a circle",
            )
        },
        run: milestones::look_at_order,
        fix: Fix::of(
            "Name only milestones of this plan after `Depends on`, and break each circle: \
                   split a milestone, or take the dependency out that is not needed.",
        ),
    },
    Check {
        key: "plan-structure/files",
        severity: Should,
        targets: |s| milestones::each(s, "Check that the files are named for milestone"),
        run: milestones::look_for_files,
        fix: Fix::of("Add the files that milestone {name} touches, as a list after `**Files**:`."),
    },
    Check {
        key: "plan-structure/files-exist",
        severity: Should,
        targets: |s| {
            whole(s, "Check that the files that milestones name exist or are said to be new")
        },
        run: references::look_for_files,
        fix: Fix::of("Correct each path, or write `(new)` behind a file that is to be created."),
    },
    Check {
        key: "plan-structure/tests",
        severity: Should,
        targets: |s| milestones::each(s, "Check that tests are named for milestone"),
        run: milestones::look_for_tests,
        fix: Fix::of(
            "Add the tests of milestone {name}: which are written or run, and what they show.",
        ),
    },
    Check {
        key: "plan-structure/duplicates",
        severity: Should,
        targets: |s| {
            whole(s, "Check that no two milestones, nor two criteria of one, say the same")
        },
        run: milestones::look_for_duplicates,
        fix: Fix::of("Make one of what stands there twice, or say in what the two differ."),
    },
    Check {
        key: "plan-structure/size",
        severity: Should,
        targets: |s| whole(s, "Check that no milestone is too large to be verified at once"),
        run: milestones::look_at_size,
        fix: Fix::of(
            "Split each milestone that is too large into ones that can be finished and \
                   verified alone.",
        ),
    },
    Check {
        key: "plan-structure/vague-criteria",
        severity: Should,
        targets: |s| whole(s, "Check that each criterion says how anybody can tell that it holds"),
        run: criteria::look_for_vague_ones,
        fix: Fix::of(
            "Say in each criterion what is seen when it holds: a command and its output, a \
                   number and its limit, a test by name.",
        ),
    },
    Check {
        key: "plan-structure/links",
        severity: Should,
        targets: |s| whole(s, "Check that links lead to files and headings that exist"),
        run: references::look_at_links,
        fix: Fix::of("Correct each link, or take it out. Paths count from the folder of the plan."),
    },
    Check {
        key: "plan-structure/headings",
        severity: May,
        targets: |s| form::whole_markdown(s, "Check that headings do not skip a level"),
        run: form::look_at_headings,
        fix: Fix::of(
            "Raise or lower the headings so that each is one level below the one it belongs to.",
        ),
    },
    Check {
        key: "plan-structure/fences",
        severity: May,
        targets: |s| form::whole_markdown(s, "Check that code fences are closed"),
        run: form::look_at_fences,
        fix: Fix::of("Close each fence with as many marks as opened it."),
    },
    Check {
        key: "plan-structure/white-space",
        severity: May,
        targets: |s| form::whole_markdown(s, "Check that lines have no stray white space"),
        run: form::look_at_white_space,
        fix: Fix::of(
            "Take the white space off the ends of the lines, and indent with blanks or with \
                   tabs but not with both.",
        ),
    },
];
