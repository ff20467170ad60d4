//! The ledger as text in a terminal.

use std::io::Write;
use std::path::Path;

use anstyle::Style;
use assay_engine::wording::count;
use assay_findings::finding::Finding;
use assay_findings::write::escape;
use assay_store::ledger::query::{FindingEntry, History, ReviewerVote, RunOutcome};
use assay_store::ledger::{FindingOutcome, FindingState};
use assay_store::task::Moment;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{BOLD, CYAN, DIM, GREEN, RED, WIDTH, YELLOW, wrap};
use crate::hyperlink::{self, LinkPlace};
use crate::output::{self, StyledStdout};

/// The width of an id.
const ID_WIDTH: usize = 12;

/// The width of all gaps between columns.
const GAPS_WIDTH: usize = 10;

/// The minimum width of a place.
const MIN_PLACE_WIDTH: usize = 16;

/// The widths of the columns.
struct Columns {
    severity: usize,
    state: usize,
    age: usize,
    place: usize,
    /// The width of the table; `None` if it is not limited.
    room: Option<usize>,
}

/// Prints findings of a repository as a table.
pub(crate) fn print_list(
    entries: &[FindingEntry],
    root: &Path,
    state: Option<FindingState>,
    now: Moment,
) -> anyhow::Result<()> {
    let mut out = StyledStdout::new();
    let kind = state.map(|state| format!("{} ", state.as_str())).unwrap_or_default();
    if entries.is_empty() {
        writeln!(out, "no {kind}findings match")?;
        return Ok(());
    }
    let room = output::is_terminal().then(terminal_width);
    let columns = Columns::of(entries, state.is_none(), now, room);
    let heading = columns.row(["ID", "SEVERITY", "STATE", "AGE", "PLACE", "FINDING"]);
    writeln!(out, "{DIM}{heading}{DIM:#}")?;
    for entry in entries {
        let place = cut_front(&place(entry), columns.place);
        let title = match &entry.rule {
            Some(rule) => format!("{} ({rule})", entry.heading()),
            None => entry.heading().to_owned(),
        };
        let title = escape::one_line(&title);
        let (age, state) = (age(entry, now), entry.state.as_str());
        let severity = escape::one_line(&entry.severity);
        let start = columns.start([&entry.id, &severity, state, &age]).len();
        let mut row = columns.row([&entry.id, &severity, state, &age, &place, &title]);
        row.replace_range(start..start + place.len(), &link(entry, root, &place));
        writeln!(out, "{}", columns.colour_severity(&row, entry))?;
    }
    writeln!(out, "\n{}", count(entries.len(), &format!("{kind}finding")))?;
    Ok(())
}

/// Returns the width of the terminal. Tables are not limited to a width that reads well.
fn terminal_width() -> usize {
    let size = terminal_size::terminal_size();
    size.map_or(*WIDTH, |(width, _)| usize::from(width.0).saturating_sub(1))
}

impl Columns {
    fn of(entries: &[FindingEntry], with_state: bool, now: Moment, room: Option<usize>) -> Columns {
        let widest = |heading: &str, text: &dyn Fn(&FindingEntry) -> String| {
            let texts = entries.iter().map(|entry| text(entry).width());
            texts.chain([heading.width()]).max().unwrap_or_default()
        };
        let severity = widest("SEVERITY", &|entry| escape::one_line(&entry.severity));
        let state = match with_state {
            true => widest("STATE", &|entry| entry.state.as_str().to_owned()),
            false => 0,
        };
        let age = widest("AGE", &|entry| age(entry, now));
        let place = widest("PLACE", &place);
        let left =
            room.map(|room| room.saturating_sub(ID_WIDTH + severity + state + age + GAPS_WIDTH));
        // The title is more important than the place.
        let most = left.map_or(place, |left| (left * 2 / 5).max(MIN_PLACE_WIDTH));
        Columns { severity, state, age, place: place.min(most), room }
    }

    fn row(&self, [id, severity, state, age, place, title]: [&str; 6]) -> String {
        let mut row = self.start([id, severity, state, age]);
        row.push_str(&format!("{}  ", pad(place, self.place)));
        let left = self.room.map(|room| room.saturating_sub(row.width()).max(16));
        row.push_str(&left.map_or(title.to_owned(), |left| cut_end(title, left)));
        row
    }

    /// Returns the part of a row before the place.
    fn start(&self, [id, severity, state, age]: [&str; 4]) -> String {
        let mut row = format!("{}  {}  ", pad(id, ID_WIDTH), pad(severity, self.severity));
        if self.state > 0 {
            row.push_str(&format!("{}  ", pad(state, self.state)));
        }
        row.push_str(&format!("{}  ", pad(age, self.age)));
        row
    }

    /// Colours the severity of a row.
    fn colour_severity(&self, row: &str, entry: &FindingEntry) -> String {
        let style = style_of(entry);
        let (id, rest) = row.split_at(entry.id.len());
        let (severity, rest) = rest.split_at(2 + escape::one_line(&entry.severity).len());
        format!("{DIM}{id}{DIM:#}{style}{severity}{style:#}{rest}")
    }
}

fn style_of(entry: &FindingEntry) -> Style {
    match (entry.state, entry.impact) {
        (FindingState::Gone | FindingState::Dismissed, _) => DIM,
        (FindingState::Open, 0 | 1) => RED,
        (FindingState::Open, 2 | 3) => YELLOW,
        (FindingState::Open, _) => CYAN,
    }
}

/// Prints the action that was taken on a finding.
pub(crate) fn print_line(what: &str, entry: &FindingEntry) -> anyhow::Result<()> {
    let line = format!("{} {} ({})", entry.id, entry.heading(), place(entry));
    writeln!(StyledStdout::new(), "{GREEN}{what}{GREEN:#} {}", escape::one_line(&line))?;
    Ok(())
}

/// Prints the history of a finding of a repository.
pub(crate) fn print_history(history: &History, root: &Path) -> anyhow::Result<()> {
    let mut out = StyledStdout::new();
    let entry = &history.entry;
    let style = style_of(entry);
    let title = escape::one_line(entry.heading());
    writeln!(
        out,
        "{style}{}{style:#}: {BOLD}{title}{BOLD:#}\n",
        escape::one_line(&entry.severity)
    )?;
    let mut line = |name: &str, value: &str| writeln!(out, "  {DIM}{name:<12}{DIM:#}{value}");
    line("id", &escape::one_line(&entry.id))?;
    line("state", entry.state.as_str())?;
    line("place", &link(entry, root, &place(entry)))?;
    let mut fact = |name: &str, value: &str| line(name, &escape::one_line(value));
    fact("category", &entry.category)?;
    if let Some(rule) = &entry.rule {
        fact("rule", rule)?;
    }
    fact("found by", &entry.reviewers.join(", "))?;
    fact("first seen", &format_minute(entry.first_seen))?;
    fact("last seen", &format_minute(entry.last_seen))?;
    fact("checked", &format_minute(entry.last_look))?;
    if let Ok(finding) = serde_json::from_value::<Finding>(history.finding.clone()) {
        write_finding(&mut out, &finding)?;
    }
    writeln!(out, "\n{BOLD}history{BOLD:#}")?;
    let mut events: Vec<(Moment, Event<'_>)> = Vec::new();
    let mut before = None;
    for look in &history.looks {
        events.push((look.at, Event::Look(look, before)));
        before = Some(look.outcome);
    }
    for decision in &history.decisions {
        let until = decision.until.as_ref().map(|day| format!(", until {day}"));
        let by = format!("by {}: {}{}", decision.by, decision.reason, until.unwrap_or_default());
        events.push((decision.at, Event::Decided("dismissed", by)));
        // A decision that another decision replaced was not reopened.
        let replaced = |at: &Moment| history.decisions.iter().any(|other| other.at == *at);
        let ended = decision.ended.filter(|at| !replaced(at));
        if let Some((at, by)) = ended.zip(decision.ended_by.as_ref()) {
            events.push((at, Event::Decided("reopened", format!("by {by}"))));
        }
    }
    events.sort_by_key(|(at, _)| *at);
    for (at, event) in &events {
        event.write(&mut out, *at)?;
    }
    Ok(())
}

fn write_finding(out: &mut impl Write, finding: &Finding) -> anyhow::Result<()> {
    if let Some(text) = finding.text_below_heading().filter(|text| !text.is_empty()) {
        writeln!(out, "\n  {}", wrap(&escape::one_line(&text), 2, "  "))?;
    }
    if let Some(fix) = finding.fix_or_form() {
        writeln!(out, "  {}", wrap(&escape::one_line(&format!("fix: {fix}")), 2, "  "))?;
    }
    if !finding.evidence.is_empty() {
        writeln!(out, "\n{BOLD}evidence{BOLD:#}")?;
    }
    for line in finding.evidence.iter().flat_map(|text| text.lines()) {
        let line = escape::escape_hidden(line).replace('\t', "    ");
        writeln!(out, "  {DIM}|{DIM:#} {}", cut_end(&line, WIDTH.saturating_sub(4)))?;
    }
    Ok(())
}

/// An event in the history of a finding.
enum Event<'a> {
    /// A look, with the outcome of the look before it.
    Look(&'a RunOutcome, Option<FindingOutcome>),
    Decided(&'static str, String),
}

/// The width before the text of an event: the time, and the kind of event.
const STAMP_WIDTH: usize = 38;

impl Event<'_> {
    fn write(&self, out: &mut impl Write, at: Moment) -> anyhow::Result<()> {
        let (style, word, text) = match self {
            Event::Decided(word, text) => (YELLOW, *word, text.clone()),
            Event::Look(look, before) => {
                let (style, word) = outcome_label(look, *before);
                (style, word, describe_run(look))
            }
        };
        let indent = " ".repeat(STAMP_WIDTH);
        let text = wrap(&escape::one_line(&text), STAMP_WIDTH, &indent);
        writeln!(out, "  {DIM}{}{DIM:#}  {style}{word:<12}{style:#}  {text}", format_minute(at))?;
        if let Event::Look(look, _) = self {
            for vote in &look.votes {
                let line = format!("{indent}{}", wrap(&describe_vote(vote), STAMP_WIDTH, &indent));
                writeln!(out, "{DIM}{line}{DIM:#}")?;
            }
        }
        Ok(())
    }
}

fn outcome_label(look: &RunOutcome, before: Option<FindingOutcome>) -> (Style, &'static str) {
    match look.outcome {
        FindingOutcome::Raised if look.why.is_some() => (YELLOW, "suppressed"),
        FindingOutcome::Raised => match before {
            None => (RED, "new"),
            Some(FindingOutcome::Absent) => (RED, "regressed"),
            Some(_) => (RED, "still open"),
        },
        FindingOutcome::LeftAlone => (YELLOW, "suppressed"),
        FindingOutcome::HeldBack => (CYAN, "held back"),
        FindingOutcome::PreExisting => (CYAN, "pre-existing"),
        FindingOutcome::Absent => (GREEN, "gone"),
    }
}

fn describe_run(look: &RunOutcome) -> String {
    let line = look.line.map(|line| format!(":{line}")).unwrap_or_default();
    let place = look.file.as_ref().map(|file| format!("{file}{line} in ")).unwrap_or_default();
    let why = look.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("{place}run {} ({}){why}", look.run, look.change)
}

fn describe_vote(vote: &ReviewerVote) -> String {
    let sure = vote.confidence.map(|sure| format!(", {sure}% sure")).unwrap_or_default();
    escape::one_line(&format!("{}: {}{sure}", vote.reviewer, vote.severity))
}

fn place(entry: &FindingEntry) -> String {
    let Some(file) = &entry.file else { return "the change".to_owned() };
    let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
    escape::one_line(&format!("{file}{line}"))
}

/// Returns a text as a hyperlink to the place of a finding, if the terminal supports it.
fn link(entry: &FindingEntry, root: &Path, shown: &str) -> String {
    let Some(file) = &entry.file else { return shown.to_owned() };
    let path = root.join(file);
    hyperlink::to_place(LinkPlace { path: &path, line: entry.line, column: None }, shown)
}

fn age(entry: &FindingEntry, now: Moment) -> String {
    match now.0.duration_since(entry.first_seen.0).as_hours() / 24 {
        ..=0 => "today".to_owned(),
        days => count(usize::try_from(days).unwrap_or_default(), "day"),
    }
}

fn format_minute(at: Moment) -> String {
    at.0.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Pads a text with blanks.
fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Truncates a text at its end.
fn cut_end(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    format!("{}…", take_fitting(text.chars(), room))
}

/// Truncates a text at its start, because the end of a path says more.
fn cut_front(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let end: String = take_fitting(text.chars().rev(), room).chars().rev().collect();
    format!("…{end}")
}

/// Takes characters while they fit, with room for an ellipsis.
fn take_fitting(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut left = room.saturating_sub(1);
    chars
        .map_while(|c| {
            left = left.checked_sub(c.width().unwrap_or(0))?;
            Some(c)
        })
        .collect()
}
