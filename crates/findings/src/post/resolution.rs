//! The outcome of each finding over all reviews of a change: [`TrackedFinding`], as a table for the
//! pull request and as a list for the ticket.

use assay_base::text::truncate;

use super::text::defuse;
use crate::write::escape;

/// The maximum number of rows of a table, and of items of a list.
const MAX_ROWS: usize = 40;
/// The maximum length of a text in a row, in characters.
const MAX_CELL_CHARS: usize = 120;

/// The outcome of a finding over all reviews of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// The finding was resolved once, and is back.
    Regressed,
    /// The finding is present.
    Open,
    /// A user decided not to fix the finding.
    Dismissed,
    /// A later review looked for the finding and did not find it.
    Resolved,
}

impl Resolution {
    /// Returns the outcome as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Resolution::Regressed => "regressed",
            Resolution::Open => "open",
            Resolution::Dismissed => "dismissed",
            Resolution::Resolved => "resolved",
        }
    }
}

/// A finding of an earlier or the last review of a change, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFinding {
    /// The outcome.
    pub resolution: Resolution,
    /// The severity, as the review wrote it.
    pub severity: String,
    /// The severity as a number, from 0 (worst) to 6.
    pub impact: u8,
    /// The title.
    pub title: String,
    /// The file, with the line if the finding is present; `None` for the change as a whole.
    pub place: Option<String>,
    /// The reason of a dismissal; `None` for other outcomes.
    pub reason: Option<String>,
}

impl TrackedFinding {
    /// Returns the outcome with the reason.
    fn outcome(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.resolution.as_str()),
            None => self.resolution.as_str().to_owned(),
        }
    }
}

/// Returns the findings, those that need work first; empty if all of them are open, which the
/// review itself says.
fn in_order(tracked: &[TrackedFinding]) -> Vec<&TrackedFinding> {
    if tracked.iter().all(|finding| finding.resolution == Resolution::Open) {
        return Vec::new();
    }
    sorted(tracked)
}

/// Returns the findings, those that need work first.
fn sorted(tracked: &[TrackedFinding]) -> Vec<&TrackedFinding> {
    let mut sorted: Vec<&TrackedFinding> = tracked.iter().collect();
    sorted.sort_by_key(|finding| (finding.resolution, finding.impact));
    sorted
}

/// Returns the number of findings in each outcome, such as `1 open, 2 resolved`.
fn counts(findings: &[&TrackedFinding]) -> String {
    let outcomes =
        [Resolution::Regressed, Resolution::Open, Resolution::Dismissed, Resolution::Resolved];
    let counted = outcomes.map(|outcome| {
        (findings.iter().filter(|finding| finding.resolution == outcome).count(), outcome.as_str())
    });
    let present = counted.iter().filter(|(number, _)| *number > 0);
    present.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

/// Returns the outcomes as a table in Markdown; `None` if no finding was resolved, dismissed or
/// came back.
pub(super) fn table(tracked: &[TrackedFinding]) -> Option<String> {
    let findings = in_order(tracked);
    if findings.is_empty() {
        return None;
    }
    // Outside of code, a pipe is escaped; a title has no code in a table.
    let cell = |text: &str| {
        let text = truncate(&escape::one_line(text), MAX_CELL_CHARS);
        escape::escape_comment(&text.replace('`', "'"))
    };
    let row = |finding: &&TrackedFinding| {
        let place = finding.place.as_deref().unwrap_or("the change");
        let place = escape::to_code_span(&truncate(place, MAX_CELL_CHARS)).replace('|', "\\|");
        let (severity, title) = (cell(&finding.severity), cell(&finding.title));
        format!("| {} | {severity} | {title} | {place} |", cell(&finding.outcome()))
    };
    let mut lines = vec![
        format!("**Findings of all reviews**: {}.", counts(&findings)),
        String::new(),
        "| outcome | severity | finding | place |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    lines.extend(findings.iter().take(MAX_ROWS).map(row));
    if findings.len() > MAX_ROWS {
        lines.push(format!("\n{} more are not listed.", findings.len() - MAX_ROWS));
    }
    Some(lines.join("\n"))
}

/// The outcomes of all findings, for a comment on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketResolutions {
    /// The text of the comment.
    pub text: String,
    /// True if a finding was resolved, dismissed or came back. Otherwise the review itself names
    /// all findings, and the text only replaces that of an earlier comment, which may say more.
    pub is_news: bool,
}

/// Returns the outcomes as text for a ticket; `None` if no review of the change found anything.
pub fn ticket_resolutions(
    tracked: &[TrackedFinding],
    pull_request: &str,
) -> Option<TicketResolutions> {
    let is_news = tracked.iter().any(|finding| finding.resolution != Resolution::Open);
    let findings = sorted(tracked);
    if findings.is_empty() {
        return None;
    }
    let item = |finding: &&TrackedFinding| {
        let place = finding.place.as_deref().map(|place| format!(" ({})", defuse(place)));
        let (severity, title) = (defuse(&finding.severity), defuse(&finding.title));
        let outcome = defuse(&finding.outcome());
        format!("- {outcome}: {severity}: {title}{}", place.unwrap_or_default())
    };
    let mut lines = vec![format!("Findings of all reviews: {}.", counts(&findings)), String::new()];
    lines.extend(findings.iter().take(MAX_ROWS).map(item));
    if findings.len() > MAX_ROWS {
        lines.push(format!("- {} more", findings.len() - MAX_ROWS));
    }
    let pull_request = escape::one_line(pull_request);
    if !pull_request.is_empty() {
        lines.extend([String::new(), pull_request]);
    }
    Some(TicketResolutions { text: lines.join("\n"), is_news })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn tracked(resolution: Resolution, title: &str, reason: Option<&str>) -> TrackedFinding {
        TrackedFinding {
            resolution,
            severity: "HIGH".to_owned(),
            impact: 1,
            title: title.to_owned(),
            place: Some("a.py:3".to_owned()),
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn outcomes_are_listed_with_those_that_need_work_first() {
        let all = [
            tracked(Resolution::Resolved, "One | pipe", None),
            tracked(Resolution::Open, "Two", None),
            tracked(Resolution::Dismissed, "Three", Some("known @ops")),
            tracked(Resolution::Regressed, "Four", None),
        ];
        expect![[r#"
            **Findings of all reviews**: 1 regressed, 1 open, 1 dismissed, 1 resolved.

            | outcome | severity | finding | place |
            |---|---|---|---|
            | regressed | HIGH | Four | `a.py:3` |
            | open | HIGH | Two | `a.py:3` |
            | dismissed: known @&#8203;ops | HIGH | Three | `a.py:3` |
            | resolved | HIGH | One \| pipe | `a.py:3` |"#]]
        .assert_eq(&table(&all).unwrap());
        expect![[r#"
            Findings of all reviews: 1 regressed, 1 open, 1 dismissed, 1 resolved.

            - regressed: HIGH: Four (a.py:3)
            - open: HIGH: Two (a.py:3)
            - dismissed: known @ ops: HIGH: Three (a.py:3)
            - resolved: HIGH: One | pipe (a.py:3)

            https://example.org/1"#]]
        .assert_eq(&ticket_resolutions(&all, "https://example.org/1").unwrap().text);
    }

    #[test]
    fn open_findings_alone_have_no_table() {
        let open = [tracked(Resolution::Open, "Two", None)];
        assert_eq!(table(&open), None);
        let open = ticket_resolutions(&open, "").unwrap();
        assert!(!open.is_news && open.text.contains(" open."), "{open:?}");
        assert_eq!(ticket_resolutions(&[], ""), None);
    }
}
