//! Statistics of the ledger as text in a terminal.

use std::fmt::Write;

use assay_engine::finding_statistics::{
    BudgetScope, BudgetUnit, BudgetUse, CostStatistics, FindingGrouping, GroupStatistics,
    LedgerStatistics, MostlyDismissed, Overview, Period, SourceKind, Timeline,
};
use assay_engine::wording::count;
use assay_findings::write::escape;

use super::sparkline::SparklineStyle;
use super::{BOLD, DIM, TableWidth, YELLOW, table};
use crate::output;
use crate::process::variable;

/// The maximum number of periods in a chart; older ones are left out.
const MAX_BARS: usize = 60;

/// Prints statistics.
pub(crate) fn print(statistics: &LedgerStatistics) -> anyhow::Result<()> {
    let style = SparklineStyle::of(output::is_terminal(), variable);
    let text = render(statistics, style, TableWidth::on_stdout())?;
    output::write_styled(assay_rules::redact(&text).as_bytes());
    Ok(())
}

fn render(
    statistics: &LedgerStatistics,
    style: SparklineStyle,
    room: TableWidth,
) -> anyhow::Result<String> {
    let mut out = String::new();
    if statistics.runs.total == 0 {
        match &statistics.since {
            Some(since) => writeln!(out, "no review since {since}")?,
            None => writeln!(out, "the ledger is empty; `assay review` fills it")?,
        }
        return Ok(out);
    }
    write_summary(&mut out, statistics)?;
    match (&statistics.overview, statistics.by) {
        (Some(overview), _) => write_overview(&mut out, statistics, overview, style, room)?,
        (None, Some(by)) => write_groups(&mut out, statistics, by, room)?,
        (None, None) => {}
    }
    for note in &statistics.notes {
        writeln!(out, "{YELLOW}note:{YELLOW:#} {}", escape::one_line(note))?;
    }
    Ok(out)
}

fn write_summary(out: &mut String, statistics: &LedgerStatistics) -> anyhow::Result<()> {
    let LedgerStatistics { runs, total, .. } = statistics;
    let since = statistics.since.as_ref().map(|since| format!(" since {since}"));
    let incomplete = match runs.incomplete {
        0 => String::new(),
        number => format!(", {number} of them incomplete: such a review resolves nothing"),
    };
    let reviews = counted(runs.total, "review");
    writeln!(out, "{BOLD}{reviews}{BOLD:#}{}{incomplete}", since.unwrap_or_default())?;
    let unchecked = match total.unchecked {
        0 => String::new(),
        number => format!(" ({number} not checked again since the first report)"),
    };
    let GroupStatistics { findings, open, resolved, dismissed, .. } = total;
    let findings = counted(*findings, "finding");
    writeln!(
        out,
        "{BOLD}{findings}{BOLD:#}: {open} open{unchecked}, {resolved} resolved, {dismissed} dismissed"
    )?;
    Ok(())
}

fn counted(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

/// The columns of a table of groups.
type Column = (&'static str, fn(&GroupStatistics) -> String);

const COUNTS: [Column; 2] =
    [("FINDINGS", |group| group.findings.to_string()), ("OPEN", |group| group.open.to_string())];

const STATES: [Column; 4] = [
    ("RESOLVED", |group| match group.share_resolved {
        Some(share) => format!("{} ({})", group.resolved, percent(share)),
        None => group.resolved.to_string(),
    }),
    ("DISMISSED", |group| group.dismissed.to_string()),
    ("MEDIAN", |group| duration(group.median_seconds)),
    ("90TH PCT", |group| duration(group.p90_seconds)),
];

const PRECISION: [Column; 2] = [
    ("ACCEPTED", |group| format!("{} of {}", group.accepted, group.decided)),
    ("PRECISION", precision),
];

const COST: [Column; 2] = [
    ("COST", |group| group.cost.as_ref().map(cost).unwrap_or_else(|| "-".to_owned())),
    ("PER ACCEPTED", |group| {
        let per = group.cost.as_ref().and_then(|cost| cost.usd_per_accepted);
        per.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.4}"))
    }),
];

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn precision(group: &GroupStatistics) -> String {
    let bounds = group.precision_low.zip(group.precision_high);
    match group.precision.zip(bounds) {
        None => "no decision".to_owned(),
        Some((share, (low, high))) => {
            format!("{} ({:.0}-{})", percent(share), low * 100.0, percent(high))
        }
    }
}

/// Formats a time in its largest unit.
fn duration(seconds: Option<u64>) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match seconds {
        None => "-".to_owned(),
        Some(seconds) if seconds < MINUTE => "<1 min".to_owned(),
        Some(seconds) if seconds < HOUR => format!("{} min", seconds / MINUTE),
        Some(seconds) if seconds < 2 * DAY => format!("{} h", seconds / HOUR),
        Some(seconds) => counted(seconds / DAY, "day"),
    }
}

fn cost(cost: &CostStatistics) -> String {
    let bound = if cost.at_most { "at most " } else { "" };
    match cost.unpriced_runs {
        0 => format!("{bound}${:.4}", cost.usd),
        runs => format!("{bound}${:.4} and {} without a price", cost.usd, counted(runs, "review")),
    }
}

fn write_table(
    out: &mut String,
    heading: &str,
    columns: &[Column],
    groups: &[GroupStatistics],
    room: TableWidth,
) -> anyhow::Result<()> {
    let names = [heading].into_iter().chain(columns.iter().map(|(name, _)| *name));
    let names: Vec<&str> = names.collect();
    let row = |group: &GroupStatistics| {
        let name = group.name.clone().unwrap_or_else(|| "(none)".to_owned());
        [name].into_iter().chain(columns.iter().map(|(_, cell)| cell(group))).collect()
    };
    let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
    let text = table(&names, &rows, room);
    let (head, body) = text.split_once('\n').unwrap_or((&text, ""));
    write!(out, "\n{DIM}{head}{DIM:#}\n{body}")?;
    Ok(())
}

fn write_groups(
    out: &mut String,
    statistics: &LedgerStatistics,
    by: FindingGrouping,
    room: TableWidth,
) -> anyhow::Result<()> {
    if statistics.groups.is_empty() {
        return Ok(());
    }
    let mut columns = [&COUNTS[..], &STATES[..], &PRECISION[..]].concat();
    if statistics.groups.iter().any(|group| group.cost.is_some()) {
        columns.extend(COST);
    }
    write_table(out, &by.as_str().to_uppercase(), &columns, &statistics.groups, room)?;
    if statistics.overlapping {
        writeln!(out, "\n{DIM}a finding can be in several groups{DIM:#}")?;
    }
    Ok(())
}

fn write_overview(
    out: &mut String,
    statistics: &LedgerStatistics,
    overview: &Overview,
    style: SparklineStyle,
    room: TableWidth,
) -> anyhow::Result<()> {
    let severity = [&COUNTS[..], &STATES[..]].concat();
    let reviewer = [&COUNTS[..], &PRECISION[..], &COST[..]].concat();
    let tables = [
        ("SEVERITY", &severity[..], &overview.severities),
        ("CATEGORY", &COUNTS[..], &overview.categories),
        ("RULE", &COUNTS[..], &overview.rules),
        ("FILE", &COUNTS[..], &overview.files),
        ("FOLDER", &COUNTS[..], &overview.folders),
        ("REVIEWER", &reviewer[..], &overview.reviewers),
        ("MODEL", &reviewer[..], &overview.models),
    ];
    for (heading, columns, groups) in tables {
        if !groups.is_empty() {
            write_table(out, heading, columns, groups, room)?;
        }
        if heading == "SEVERITY" {
            write_timeline(out, overview.timeline.as_ref(), style)?;
        }
    }
    write_cost(out, statistics)?;
    for budget in &overview.budgets {
        writeln!(out, "{}", describe_budget(budget))?;
    }
    write_mostly_dismissed(out, &overview.mostly_dismissed)
}

fn write_timeline(
    out: &mut String,
    timeline: Option<&Timeline>,
    style: SparklineStyle,
) -> anyhow::Result<()> {
    let Some(timeline) = timeline else { return Ok(()) };
    let noun = match timeline.period {
        Period::Day => "day",
        Period::Week => "week",
    };
    let periods = timeline.resolved.len();
    let skipped = periods.saturating_sub(MAX_BARS);
    let shown = match skipped {
        0 => format!("{} from {}", count(periods, noun), timeline.start),
        _ => format!("the last {MAX_BARS} of {}", count(periods, noun)),
    };
    let rows = timeline.reported.iter().map(|row| (row.severity.as_str(), &row.counts[skipped..]));
    let rows: Vec<_> = rows.chain([("resolved", &timeline.resolved[skipped..])]).collect();
    let most = rows.iter().flat_map(|(_, counts)| *counts).copied().max().unwrap_or_default();
    writeln!(
        out,
        "\n{DIM}reported and resolved by {noun}, {shown}; the largest bar is {most}{DIM:#}"
    )?;
    for (name, counts) in rows {
        writeln!(out, "{name:<10}  {}  {}", style.draw(counts, most), counts.iter().sum::<u64>())?;
    }
    Ok(())
}

fn write_cost(out: &mut String, statistics: &LedgerStatistics) -> anyhow::Result<()> {
    let Some(total) = statistics.total.cost.as_ref().filter(|cost| cost.calls > 0) else {
        return Ok(());
    };
    let CostStatistics { calls, tokens, usd_per_accepted, tokens_per_accepted, .. } = total;
    writeln!(
        out,
        "\n{BOLD}cost{BOLD:#}: {}, {}, {tokens} tokens",
        cost(total),
        counted(*calls, "call")
    )?;
    let per = match (usd_per_accepted, tokens_per_accepted) {
        (Some(usd), _) => format!("${usd:.4} for each accepted finding"),
        (None, Some(tokens)) => format!("{tokens} tokens for each accepted finding"),
        (None, None) => "no finding was accepted yet".to_owned(),
    };
    writeln!(out, "      {per}")?;
    Ok(())
}

fn describe_budget(budget: &BudgetUse) -> String {
    let scope = match budget.scope {
        BudgetScope::Run => "run",
        BudgetScope::Day => "day",
    };
    let (unit, amount): (&str, fn(f64) -> String) = match budget.unit {
        BudgetUnit::Usd => ("usd", |usd| format!("${usd:.4}")),
        BudgetUnit::Tokens => ("tokens", |tokens| format!("{tokens} tokens")),
        BudgetUnit::Calls => ("calls", |calls| format!("{calls} calls")),
    };
    let share = budget.share.map(|share| format!(" ({})", percent(share))).unwrap_or_default();
    let at = budget.highest_at.as_ref().map(|at| format!(", at {at}")).unwrap_or_default();
    format!(
        "models.budget.{scope}.{unit}: highest use {} of {}{share}{at}",
        amount(budget.highest),
        amount(budget.limit)
    )
}

fn write_mostly_dismissed(out: &mut String, sources: &[MostlyDismissed]) -> anyhow::Result<()> {
    if sources.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}mostly dismissed{BOLD:#}: at least 5 decisions, fewer than half accepted"
    )?;
    for source in sources {
        let kind = match source.kind {
            SourceKind::Rule => "rule",
            SourceKind::Reviewer => "reviewer",
        };
        let MostlyDismissed { name, accepted, decided, remedy, .. } = source;
        let line = format!("{kind} {name}: {accepted} of {decided} accepted");
        writeln!(out, "  {YELLOW}{}{YELLOW:#}", escape::one_line(&line))?;
        writeln!(out, "    to switch off: {}", escape::one_line(remedy))?;
        if let Some(command) = &source.command {
            writeln!(out, "    {}", escape::one_line(command))?;
        }
    }
    Ok(())
}
