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
        targets: |s| whole(s, "Verify that the plan has milestones and each has a unique id"),
        run: milestones::look_at_ids,
        fix: Fix::of(
            "Add milestones to the plan, each as a heading with a unique id, such as `## M1: \
             Title`.",
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
            "State the reason of {name}: in the reason column of the decision log, or after the \
             decision with `Reason:` or `because`.",
        ),
    },
    Check {
        key: "plan-structure/decisions",
        severity: Must,
        targets: |s| {
            decisions::too_many(s, "Check that the plan does not exceed the limit of decisions")
        },
        run: decisions::look_at_their_number,
        fix: Fix::of("Split the plan, or keep only the decisions in its log that it depends on."),
    },
    Check {
        key: "plan-structure/assumptions",
        severity: Must,
        targets: |s| whole(s, "Verify that each assumption is validated or says how it will be"),
        run: decisions::look_at_assumptions,
        fix: Fix {
            what: "Validate each assumption and add the evidence, or how it will be verified. A \
                   tick alone is no evidence. Write one of:",
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
        fix: Fix::of("Replace each placeholder with its content, or remove the line."),
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
        targets: |s| whole(s, "Check that the plan contains no instructions to its reviewers"),
        run: injection::look,
        fix: Fix::of("Remove instructions to reviewers and models; a plan describes the work."),
    },
    Check {
        key: "plan-structure/order",
        severity: Must,
        targets: |s| {
            whole(s, "Verify that milestones depend only on existing milestones, without a cycle")
        },
        run: milestones::look_at_order,
        fix: Fix::of(
            "Name only milestones of this plan after `Depends on`, and break each cycle: split a \
             milestone, or remove an unnecessary dependency.",
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
            whole(s, "Check that the files that milestones name exist or are marked as new")
        },
        run: references::look_for_files,
        fix: Fix::of("Correct each path, or write `(new)` after a file that the plan creates."),
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
            whole(s, "Check for duplicate milestones, and for duplicate criteria in a milestone")
        },
        run: milestones::look_for_duplicates,
        fix: Fix::of("Merge the duplicates, or state how they differ."),
    },
    Check {
        key: "plan-structure/size",
        severity: Should,
        targets: |s| whole(s, "Check that no milestone is too large to be verified at once"),
        run: milestones::look_at_size,
        fix: Fix::of(
            "Split each milestone that is too large into milestones that can be finished and \
             verified separately.",
        ),
    },
    Check {
        key: "plan-structure/vague-criteria",
        severity: Should,
        targets: |s| whole(s, "Check that each criterion can be verified"),
        run: criteria::look_for_vague_ones,
        fix: Fix::of(
            "State in each criterion how to verify it: a command and its output, a number and its \
             limit, a test by name.",
        ),
    },
    Check {
        key: "plan-structure/links",
        severity: Should,
        targets: |s| whole(s, "Check that links lead to files and headings that exist"),
        run: references::look_at_links,
        fix: Fix::of("Correct or remove each link. Paths are relative to the folder of the plan."),
    },
    Check {
        key: "plan-structure/headings",
        severity: May,
        targets: |s| form::whole_markdown(s, "Check that headings do not skip a level"),
        run: form::look_at_headings,
        fix: Fix::of("Change the headings so that each is one level below its parent."),
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
            "Remove trailing whitespace, and indent with spaces or with tabs but not with both.",
        ),
    },
];
