//! Renders the document for the person who has to take over a loop: [`render_escalation`].

use super::escaping::{text, title};
use super::{CheckLine, MAX_ISSUES, details, left_out, numbered, tables};
use crate::file_names::FIX_REQUEST;
use crate::issue::Issue;

/// The content of the escalation document.
#[derive(Debug, Clone, Copy)]
pub struct Escalation<'a> {
    /// The spec's name.
    pub spec: &'a str,
    /// The number of the last round.
    pub round: u32,
    /// The time of the last round.
    pub at: &'a str,
    /// The reason of the ending, as a sentence.
    pub reason: &'a str,
    /// The issues that kept recurring.
    pub recurring: &'a [RecurringIssue],
    /// The other open issues.
    pub open: &'a [Issue],
    /// The results of the checks.
    pub checks: &'a [CheckLine],
    /// Actions that the ending suggests, in addition to the general ones.
    pub actions: &'a [String],
    /// True if there is a fixer that can read a request.
    pub has_fixer: bool,
}

/// An issue that occurred in several rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecurringIssue {
    /// The issue, as the last round reported it.
    pub issue: Issue,
    /// The rounds that had the issue.
    pub appearances: Vec<Appearance>,
}

/// A round that had an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appearance {
    /// The number of the round.
    pub round: u32,
    /// The title of the issue in that round.
    pub title: String,
    /// The fixer's summary after that round; `None` if no fixer ran.
    pub tried: Option<String>,
}

/// Renders `QA_HUMAN_ESCALATION.md`.
pub fn render_escalation(input: &Escalation<'_>) -> String {
    let mut out = format!(
        "# QA Human Escalation\n\n- Spec: {}\n- Round: {}\n- When: {}\n\n## Why\n\n\
         The loop stopped here: {}\n\n",
        title(input.spec),
        input.round,
        title(input.at),
        title(input.reason),
    );
    if !input.recurring.is_empty() {
        out.push_str("## Recurring Issues\n\n");
        out.push_str(&recurring(input.recurring));
    }
    if !input.open.is_empty() {
        out.push_str("## Open Issues\n\n");
        out.push_str(&numbered(input.open));
    }
    out.push_str(&format!("## Output of the Checks\n\n{}\n", tables::checks(input.checks)));
    out.push_str(&format!("## Suggested Actions\n\n{}\n", actions(input)));
    out.push_str(&format!("## How to Resume\n\n{}", resume(input.spec)));
    out
}

fn recurring(issues: &[RecurringIssue]) -> String {
    let mut out = String::new();
    for (recurring, number) in issues.iter().take(MAX_ISSUES).zip(1..) {
        let issue = &recurring.issue;
        let rounds = recurring.appearances.iter().map(|appearance| appearance.round.to_string());
        let rounds: Vec<String> = rounds.collect();
        out.push_str(&format!("### {number}. {}\n\n{}", title(&issue.title), details(issue)));
        out.push_str(&format!("- Rounds: {}\n", rounds.join(", ")));
        out.extend(recurring.appearances.iter().map(appearance));
        out.push('\n');
    }
    out + &left_out(issues.len())
}

fn appearance(appearance: &Appearance) -> String {
    let Appearance { round, title: called, tried } = appearance;
    let tried = match tried.as_deref().map(str::trim) {
        None => "nothing".to_owned(),
        Some("") => "a fix without a summary".to_owned(),
        Some(tried) => text(tried),
    };
    format!("- Round {round}, seen as: {}\n- Round {round}, tried: {tried}\n", title(called))
}

fn actions(input: &Escalation<'_>) -> String {
    let mut actions: Vec<String> = input.actions.iter().map(|action| text(action)).collect();
    if !input.recurring.is_empty() {
        actions
            .push("Fix the recurring issues by hand: the fixer could not resolve them.".to_owned());
    }
    let criteria = "Check the criteria in `spec.md`: an unclear criterion, or one that \
                    contradicts another, cannot be met.";
    actions.push(criteria.to_owned());
    if input.has_fixer {
        let say = format!(
            "Write instructions for the fixer into `{FIX_REQUEST}`: the next run starts with them."
        );
        actions.push(say);
    }
    let numbered = actions.iter().zip(1..).map(|(action, number)| format!("{number}. {action}\n"));
    numbered.collect()
}

fn resume(spec: &str) -> String {
    let spec = typed(spec);
    format!(
        "After a change of any file, run `assay qa --spec {spec}`, which reviews the changed \
         tree. If no file needs a change, run `assay qa --spec {spec} --resume`, or delete \
         `{FIX_REQUEST}` and run `assay qa --spec {spec}`. In each case, the limits count from \
         zero again.\n"
    )
}

/// Returns the longest prefix of a name that is safe in a shell: the prefix is enough to find the
/// spec, and a command that a person copies from the document must not do anything else.
fn typed(name: &str) -> &str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let length = name.find(|c| !is_plain(c)).unwrap_or(name.len());
    match &name[..length] {
        plain if plain.is_empty() || plain.starts_with('-') => "NAME",
        plain => plain,
    }
}
