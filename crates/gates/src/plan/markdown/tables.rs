//! Parses tables of decisions and assumptions by the headers of their columns.

use super::super::evidence;
use super::super::reasons::DecisionText;
use super::super::{Assumption, names};
use super::folding::folded;

/// The rows of a table with their line numbers.
pub(super) type Rows = [(Vec<String>, u32)];

/// Returns true if a table anywhere contains decisions: it has a column for them and one for their
/// reasons.
pub(super) fn is_of_decisions(header: &[String]) -> bool {
    position(header, is_decision).is_some() && position(header, is_reason).is_some()
}

/// Returns true if a table anywhere contains assumptions, by a column for them.
pub(super) fn is_of_assumptions(header: &[String]) -> bool {
    position(header, |name| matches!(name, "assumption" | "assumptions")).is_some()
}

fn position(header: &[String], is_it: fn(&str) -> bool) -> Option<usize> {
    header.iter().position(|name| is_it(&folded(name)))
}

fn is_id(name: &str) -> bool {
    matches!(name, "id" | "" | "no" | "nr" | "ref" | "number" | "dl" | "decision id")
}

fn is_decision(name: &str) -> bool {
    matches!(name, "decision" | "decisions" | "choice" | "decided")
}

fn is_reason(name: &str) -> bool {
    let starts = ["reason", "rationale", "why", "justification", "because"];
    starts.iter().any(|start| name.starts_with(start)) && !name.contains("reject")
}

fn is_evidence(name: &str) -> bool {
    let parts = ["valid", "verif", "evidence", "confirm", "proof", "source", "how", "check"];
    parts.iter().any(|part| name.contains(part))
}

/// Parses the decisions in a table.
pub(super) fn decisions(header: &[String], rows: &Rows) -> Vec<DecisionText> {
    let reason = position(header, is_reason);
    let id = position(header, is_id).filter(|at| Some(*at) != reason);
    let other = (0..header.len()).find(|at| Some(*at) != id && Some(*at) != reason);
    let Some(decision) = position(header, is_decision).or(other) else { return Vec::new() };
    let mut told = Vec::new();
    for (cells, line) in rows.iter().filter(|(cells, _)| !is_blank(cells)) {
        let mut one = DecisionText::read(cell(cells, Some(decision)), *line);
        let own_id = names::tidy(cell(cells, id).trim_matches(['`', '*', ' ']));
        if !own_id.is_empty() {
            one.id = Some(own_id);
        }
        if reason.is_some() {
            // The column has the reason, so the text of the decision is not split.
            one = DecisionText { text: cell(cells, Some(decision)).to_owned(), ..one };
            one.reason = cell(cells, reason).to_owned();
        }
        told.push(one);
    }
    told
}

/// Parses the assumptions in a table.
pub(super) fn assumptions(header: &[String], rows: &Rows) -> Vec<Assumption> {
    let named = position(header, |name| name.starts_with("assumption"));
    let Some(what) = named.or_else(|| (0..header.len()).find(|at| !is_id(&folded(&header[*at]))))
    else {
        return Vec::new();
    };
    let shows = (0..header.len()).filter(|at| *at != what && is_evidence(&folded(&header[*at])));
    let shows: Vec<usize> = shows.collect();
    let rows = rows.iter().filter(|(cells, _)| !is_blank(cells));
    rows.map(|(cells, line)| {
        let text = cell(cells, Some(what)).to_owned();
        let shown = shows.iter().find_map(|at| evidence::in_cell(cell(cells, Some(*at))));
        let evidence = shown.or_else(|| evidence::find(&text));
        Assumption { text, evidence, line: *line }
    })
    .collect()
}

/// Returns the rows as text, with dashes between the cells.
pub(super) fn as_text(rows: &Rows) -> impl Iterator<Item = (String, u32)> {
    rows.iter().filter(|(cells, _)| !is_blank(cells)).map(|(cells, line)| {
        let cells: Vec<&str> = cells.iter().map(|c| c.trim()).filter(|c| !c.is_empty()).collect();
        (cells.join(" — "), *line)
    })
}

fn cell(cells: &[String], at: Option<usize>) -> &str {
    at.and_then(|at| cells.get(at)).map_or("", |cell| cell.trim())
}

fn is_blank(cells: &[String]) -> bool {
    cells.iter().all(|cell| cell.trim().is_empty())
}
