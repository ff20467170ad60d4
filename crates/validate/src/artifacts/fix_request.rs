//! Renders the request to the fixer: [`render_fix_request`].

use super::escaping::title;
use super::{numbered, report};
use crate::issue::Issue;
use crate::spec::Spec;

const TITLE: &str = "QA Fix Request";
const ISSUES: &str = "Issues";
const LIMITS: &str = "What must not be done";
const NO_ISSUES: &str = "No issue is open.";
const NOTHING_TO_FIX: &str = "No issue is open that a fixer can remove.";
/// The label of the number of issues that are left out of the request.
const FOR_PERSON: &str = "Left out, for a person: ";
const INTRODUCTION: &str = "Each issue below keeps the spec from being approved. Whether it is \
                            fixed is seen by running the checks and the review again, and not by \
                            what is said of it.";

const DO_NOT: [&str; 5] = [
    "Do not change the spec, the plan or anything else in the spec's folder.",
    "Do not delete, skip or weaken a test, and do not lower a limit, so that a check passes.",
    "Do not silence a rule, a linter or a compiler instead of mending what it says.",
    "Do not change what no issue asks for.",
    "Do not write a sign-off: whether it is approved is not for the fixer to say.",
];

/// Renders `QA_FIX_REQUEST.md`: the issues of a round that can be fixed, the limits of a fix, and
/// the remarks. Issues that only a person can resolve are counted and not listed.
pub fn render_fix_request(issues: &[Issue], remarks: &[Issue], round: u32, spec: &Spec) -> String {
    let (issues, for_person): (Vec<Issue>, Vec<Issue>) =
        issues.iter().cloned().partition(|issue| issue.remedy.can_be_fixed());
    let listed = match (issues.as_slice(), for_person.as_slice()) {
        ([], []) => format!("{NO_ISSUES}\n\n"),
        ([], _) => format!("{NOTHING_TO_FIX}\n\n"),
        (issues, _) => numbered(issues),
    };
    let for_person = match for_person.len() {
        0 => String::new(),
        left_out => format!("- {FOR_PERSON}{left_out}\n"),
    };
    let do_not: String = DO_NOT.iter().map(|what| format!("- {what}\n")).collect();
    format!(
        "# {TITLE}\n\n- Spec: {}\n- Round: {round}\n- Issues: {}\n{for_person}\n{INTRODUCTION}\n\n\
         ## {ISSUES}\n\n{listed}## {LIMITS}\n\n{do_not}{}",
        title(&spec.name),
        issues.len(),
        report::remarks(remarks),
    )
}

/// Returns true if a text is a part of the form itself, and not of a person's feedback in it.
pub(crate) fn is_form(folded: &str) -> bool {
    let counts = |head: &str| {
        let rest = folded.strip_prefix(head);
        rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    let is_spec = folded.strip_prefix("Spec: ").is_some_and(|name| !name.contains(' '));
    is_spec
        || counts("Round: ")
        || counts("Issues: ")
        || counts(FOR_PERSON)
        || [TITLE, ISSUES, LIMITS, report::ALSO, NO_ISSUES, NOTHING_TO_FIX, INTRODUCTION]
            .contains(&folded)
        || DO_NOT.contains(&folded)
}
