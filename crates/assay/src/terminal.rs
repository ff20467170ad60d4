//! A review as text in a terminal.

mod explanations;
pub(crate) mod ledger;
mod roster;
mod snippet;
mod sparkline;
pub(crate) mod statistics;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::LazyLock;

use anstyle::{AnsiColor, Color, Style};
use assay_change::Change;
use assay_engine::next_steps::{NextStep, ReviewCaller, hook_summary, next_steps};
use assay_engine::wording::count;
use assay_findings::finding::{Finding, GroundingMark, ValidationState};
use assay_findings::path::RepoPath;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::{VerdictState, list_reviewers};
use assay_findings::write::escape;
use assay_review::fix::FixPlan;

use self::explanations::Explanations;
pub(crate) use self::roster::print_roster;
pub(crate) use self::snippet::Source;
pub(crate) use self::table::{TableWidth, table};
use crate::hyperlink::{self, LinkPlace};
use crate::output;

/// The width of source lines and wrapped text: that of the terminal, up to a width that reads well.
pub(crate) static WIDTH: LazyLock<usize> = LazyLock::new(|| {
    COLUMNS.map_or(MAX_WIDTH, |columns| columns.saturating_sub(1).clamp(MIN_WIDTH, MAX_WIDTH))
});

/// The number of columns of the terminal; `None` if the output is not a terminal.
static COLUMNS: LazyLock<Option<usize>> =
    LazyLock::new(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)));

const MAX_WIDTH: usize = 96;
const MIN_WIDTH: usize = 30;

/// The width before a source line: its number and a bar.
const MARGIN: usize = 10;

/// The maximum number of listed files without a review, and of listed dismissed findings.
const MAX_LISTED: usize = 10;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = colour(AnsiColor::Red);
pub(crate) const YELLOW: Style = colour(AnsiColor::Yellow);
pub(crate) const GREEN: Style = colour(AnsiColor::Green);
const CYAN: Style = colour(AnsiColor::Cyan);

const fn colour(colour: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(Color::Ansi(colour)))
}

/// Additions to the findings in the output.
#[derive(Default)]
pub(crate) struct PrintOptions<'a> {
    /// The id of the stored run; `None` if it is not stored.
    pub(crate) run: Option<&'a str>,
    /// The caller, which decides which commands are printed as the next ones.
    pub(crate) caller: ReviewCaller,
    /// True if folded findings are shown as well.
    pub(crate) all_findings: bool,
    /// True if the leads of the rules are listed.
    pub(crate) leads: bool,
    /// Notes for the user on the versions of settings that are used.
    pub(crate) notes: &'a [String],
}

/// Prints a review on stdout.
pub(crate) fn print(
    change: &Change,
    synthesis: &Synthesis,
    options: &PrintOptions<'_>,
) -> anyhow::Result<()> {
    output::write_styled(render(change, synthesis, options)?.as_bytes());
    Ok(())
}

/// Returns a review as styled and redacted text: the findings by file, the worst first, then the
/// verdict, the coverage, and the next commands.
pub(crate) fn render(
    change: &Change,
    synthesis: &Synthesis,
    options: &PrintOptions<'_>,
) -> anyhow::Result<String> {
    let is_hook = options.caller == ReviewCaller::CommitHook;
    if let Some(line) = hook_summary(synthesis, !options.notes.is_empty()).filter(|_| is_hook) {
        return Ok(format!("{}\n", escape::one_line(&line)));
    }
    let mut out = Vec::new();
    let files = count(change.files.len(), "file");
    writeln!(out, "{BOLD}Review of {}{BOLD:#} ({files})\n", escape::one_line(&change.title))?;
    let shown = synthesis.findings.iter().filter(|finding| finding.shown || options.all_findings);
    let mut explanations = Explanations::default();
    for (file, findings) in by_file(shown) {
        let source = Source::open(change, file);
        let first = findings.iter().find_map(|finding| finding.line);
        writeln!(out, "{BOLD}{}{BOLD:#}", heading(change, file, first))?;
        for finding in findings {
            write_finding(&mut out, finding, &source, explanations.earlier_place(finding))?;
        }
    }
    write_folded(&mut out, synthesis, options)?;
    write_verdict(&mut out, synthesis)?;
    write_notes(&mut out, change, synthesis, options)?;
    write_next(&mut out, synthesis, options)?;
    // The output is redacted, whatever a message quotes.
    let text = String::from_utf8_lossy(&out);
    Ok(assay_rules::redact(&text).into_owned())
}

/// Returns the name of a file, as a hyperlink if the terminal supports it.
pub(crate) fn heading(change: &Change, file: Option<&RepoPath>, line: Option<u32>) -> String {
    let Some(file) = file else { return "the change as a whole".to_owned() };
    let shown = escape::one_line(file.as_str());
    let path = change.root.join(file.as_str());
    hyperlink::to_place(LinkPlace { path: &path, line, column: None }, &shown)
}

/// Groups findings by file; the file with the worst finding comes first.
fn by_file<'f>(
    findings: impl Iterator<Item = &'f Finding>,
) -> Vec<(Option<&'f RepoPath>, Vec<&'f Finding>)> {
    let mut order: Vec<Option<&RepoPath>> = Vec::new();
    let mut groups: BTreeMap<Option<&RepoPath>, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let file = finding.file.as_ref();
        if !groups.contains_key(&file) {
            order.push(file);
        }
        groups.entry(file).or_default().push(finding);
    }
    order.into_iter().map(|file| (file, groups.remove(&file).unwrap_or_default())).collect()
}

fn style_of(finding: &Finding) -> Style {
    match finding.grade.impact().level() {
        0 | 1 => RED,
        2 | 3 => YELLOW,
        _ => CYAN,
    }
}

/// Returns the sources of a finding: the rule, and the reviewers if there are others than rules.
fn sources_of(finding: &Finding) -> String {
    let others = finding.reviewers.iter().filter(|name| *name != assay_rules::REVIEWER);
    let others: Vec<&str> = others.map(String::as_str).collect();
    let mut parts: Vec<String> = finding.rule.iter().cloned().collect();
    // For an analyser, the rule is enough.
    if !others.is_empty() && (finding.rule.is_none() || finding.reviewers.len() > 1) {
        parts.push(format!(
            "{}, {}% sure",
            abbreviate_names(&others),
            finding.confidence.percent()
        ));
    }
    let worth = finding.worth.filter(|_| !finding.shown);
    parts.extend(worth.map(|worth| format!("folded, worth {worth}")));
    if finding.marks.contains(&GroundingMark::PlacedByAssay) {
        parts.push("location found by assay".to_owned());
    }
    let second = finding.validation.as_ref().map(|look| look.state);
    parts.extend(second.map(|state| state.as_str().to_owned()));
    parts.join("; ")
}

/// Returns the first few names, and the number of the others.
fn abbreviate_names(names: &[&str]) -> String {
    match names {
        [first, second, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second} and {} more", rest.len())
        }
        _ => names.join(" and "),
    }
}

/// Prints one finding: title, place, impact and fix. With the place of an earlier finding that has
/// the same explanation, the place is printed instead of the explanation.
pub(crate) fn write_finding(
    out: &mut impl Write,
    finding: &Finding,
    source: &Source,
    earlier: Option<&str>,
) -> anyhow::Result<()> {
    let style = style_of(finding);
    write_title(out, finding)?;
    source.write(out, finding, style)?;
    let text =
        |text: &str, first| wrap(&escape::one_line(&assay_rules::redact(text)), first, "     ");
    match (earlier, finding.text_below_heading()) {
        (Some(place), _) => {
            let reference = format!("explained above, at {place}");
            writeln!(out, "     {DIM}{}{DIM:#}", text(&reference, 5))?;
        }
        (None, Some(below)) => writeln!(out, "     {}", text(&below, 5))?,
        (None, None) => (),
    }
    if let Some(doubt) = finding.doubt() {
        writeln!(out, "     {DIM}{}{DIM:#}", text(&doubt, 5))?;
    }
    write_trace(out, finding)?;
    if let Some(fix) = finding.fix_or_form().filter(|_| earlier.is_none()) {
        writeln!(out, "     {GREEN}fix:{GREEN:#} {}", text(fix, 10))?;
    }
    source.write_replacement(out, finding)?;
    let link = finding.template.as_ref().and_then(|template| template.link.as_deref());
    if let Some(link) = link.filter(|_| earlier.is_none()) {
        writeln!(out, "     {DIM}see {}{DIM:#}", escape::one_line(link))?;
    }
    writeln!(out)?;
    Ok(())
}

/// Prints the severity, the title and the sources of a finding, wrapped in a terminal.
fn write_title(out: &mut impl Write, finding: &Finding) -> anyhow::Result<()> {
    let style = style_of(finding);
    let severity = escape::one_line(&finding.severity);
    let title = assay_rules::redact(finding.heading()).into_owned();
    let by = sources_of(finding);
    let by = if by.is_empty() { by } else { format!("({})", escape::one_line(&by)) };
    let start = 2 + severity.chars().count() + 2;
    let title = match *COLUMNS {
        Some(_) => wrap(&escape::one_line(&title), start, "     "),
        None => escape::one_line(&title),
    };
    let last = title.rsplit('\n').next().unwrap_or_default().chars().count();
    let column = if title.contains('\n') { last } else { start + last };
    let is_too_long = COLUMNS.is_some() && column + 1 + by.chars().count() > *WIDTH;
    let gap = match (by.is_empty(), is_too_long) {
        (true, _) => "",
        (false, true) => "\n     ",
        (false, false) => " ",
    };
    writeln!(out, "  {style}{severity}{style:#}: {BOLD}{title}{BOLD:#}{gap}{DIM}{by}{DIM:#}")?;
    Ok(())
}

/// Prints the way of a value through the code, one line for each step.
fn write_trace(out: &mut impl Write, finding: &Finding) -> anyhow::Result<()> {
    for step in &finding.trace {
        let place = match finding.file.as_ref() == Some(&step.file) {
            true => format!("line {}", step.line),
            false => format!("{}:{}", step.file, step.line),
        };
        let code = escape::one_line(&assay_rules::redact(&step.code));
        let place = escape::one_line(&place);
        let start = 5 + 6 + 1 + place.chars().count() + 2;
        let code = match *COLUMNS {
            Some(_) => assay_base::text::truncate(&code, WIDTH.saturating_sub(start + 1).max(20)),
            None => code,
        };
        writeln!(out, "     {DIM}{:<6} {place}:{DIM:#} {code}", step.role.as_str())?;
    }
    Ok(())
}

/// Prints the number of folded findings, and the flag that shows them.
fn write_folded(
    out: &mut impl Write,
    synthesis: &Synthesis,
    options: &PrintOptions<'_>,
) -> anyhow::Result<()> {
    let folded = synthesis.findings.iter().filter(|finding| !finding.shown).count();
    if folded > 0 && !options.all_findings {
        let more = count(folded, "more finding");
        let why = "as less likely or not urgent; --all-findings shows all";
        writeln!(out, "{DIM}{more} folded, {why}{DIM:#}\n")?;
    }
    Ok(())
}

/// Prints the leads if the options ask for them. The verdict has their number.
fn write_leads(
    out: &mut impl Write,
    leads: &[&Finding],
    options: &PrintOptions<'_>,
) -> anyhow::Result<()> {
    for finding in leads.iter().filter(|_| options.leads) {
        let place = finding.place().unwrap_or_else(|| "the change".to_owned());
        let rule = finding.rule.as_deref().unwrap_or("a rule");
        let line = format!("lead: {} at {place} ({rule})", finding.title);
        writeln!(out, "{DIM}{}{DIM:#}", wrap(&escape::one_line(&line), 0, "  "))?;
    }
    if !leads.is_empty() && !options.leads {
        writeln!(out, "{DIM}--leads lists the {}{DIM:#}", count(leads.len(), "lead"))?;
    }
    Ok(())
}

/// Prints the verdict with its reasons, and the coverage.
pub(crate) fn write_verdict(out: &mut impl Write, synthesis: &Synthesis) -> anyhow::Result<()> {
    let verdict = &synthesis.verdict;
    let style = match verdict.state {
        VerdictState::Ready => GREEN,
        VerdictState::ReadyWithFixes | VerdictState::NothingToReview => YELLOW,
        VerdictState::NotReady | VerdictState::Incomplete => RED,
    };
    let state = verdict.state.in_words();
    let caveat = synthesis.coverage.as_ref().and_then(|coverage| coverage.caveat());
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    writeln!(out, "{style}{state}{style:#}{caveat}")?;
    for reason in &verdict.because {
        writeln!(out, "  {}", wrap(&escape::one_line(&reason.text), 2, "    "))?;
    }
    if let Some(coverage) = &synthesis.coverage {
        writeln!(out, "{DIM}{}{DIM:#}", escape::one_line(&coverage.to_string()))?;
    }
    if let Some(spent) = &synthesis.spent {
        writeln!(out, "{DIM}{}{DIM:#}", escape::one_line(&spent.to_string()))?;
        for model in &spent.models {
            writeln!(out, "{DIM}  {}{DIM:#}", escape::one_line(&model.to_string()))?;
        }
    }
    Ok(())
}

fn write_notes(
    out: &mut impl Write,
    change: &Change,
    synthesis: &Synthesis,
    options: &PrintOptions<'_>,
) -> anyhow::Result<()> {
    for finding in synthesis.dismissed.iter().take(MAX_LISTED) {
        let why = finding.dismissal.as_deref().unwrap_or("no reason");
        let place = finding.place().unwrap_or_else(|| "the change".to_owned());
        let line = format!("suppressed: {} at {place}: {why}", finding.title);
        writeln!(out, "{DIM}{}{DIM:#}", escape::one_line(&line))?;
    }
    if synthesis.dismissed.len() > MAX_LISTED {
        let more = count(synthesis.dismissed.len() - MAX_LISTED, "more finding");
        writeln!(out, "{DIM}suppressed: {more}; --format json lists them{DIM:#}")?;
    }
    let (leads, doubtful): (Vec<&Finding>, Vec<&Finding>) =
        synthesis.held_back.iter().partition(|finding| finding.is_lead());
    write_leads(out, &leads, options)?;
    for finding in doubtful {
        let why = match &finding.validation {
            Some(look) if look.state == ValidationState::Refuted => {
                format!("refuted: {}", look.why)
            }
            Some(look) if look.lowered_from.is_some() => {
                format!("{}% sure after a second look: {}", finding.confidence.percent(), look.why)
            }
            _ => doubt_of(finding),
        };
        let place = finding.place().unwrap_or_else(|| "the change".to_owned());
        let line = format!("held back: {} at {place}: {why}", finding.title);
        writeln!(out, "{DIM}{}{DIM:#}", wrap(&escape::one_line(&line), 0, "  "))?;
    }
    for (what, list) in
        [("risk", &synthesis.residual_risks), ("not tested", &synthesis.testing_gaps)]
    {
        for text in list.iter().take(MAX_LISTED) {
            let line = format!("{what}: {text}");
            writeln!(out, "{DIM}{}{DIM:#}", wrap(&escape::one_line(&line), 0, "  "))?;
        }
    }
    // Several reviewers may have skipped the same file, for the same reason.
    let not_covered: BTreeSet<&String> =
        synthesis.reports.iter().flat_map(|report| &report.not_covered).collect();
    for file in not_covered.iter().take(MAX_LISTED) {
        writeln!(out, "{DIM}not reviewed: {}{DIM:#}", escape::one_line(file))?;
    }
    if not_covered.len() > MAX_LISTED {
        let more = count(not_covered.len() - MAX_LISTED, "more file");
        writeln!(out, "{DIM}not reviewed: {more}; --format json lists them{DIM:#}")?;
    }
    write_failed_reviewers(out, synthesis)?;
    for note in options.notes {
        writeln!(out, "{YELLOW}{}{YELLOW:#}", wrap(&escape::one_line(note), 0, "  "))?;
    }
    if !change.untracked.is_empty() {
        let files = count(change.untracked.len(), "untracked file");
        writeln!(out, "{DIM}{files} not reviewed; include them with --untracked{DIM:#}")?;
    }
    Ok(())
}

/// Prints the reviewers that failed: one line for each cause, with the number of reviewers.
fn write_failed_reviewers(out: &mut impl Write, synthesis: &Synthesis) -> anyhow::Result<()> {
    // A reason that decides is printed with the verdict.
    let is_printed =
        |why: &str| synthesis.verdict.because.iter().any(|reason| reason.text.contains(why));
    let mut causes: Vec<(&str, Vec<&str>)> = Vec::new();
    for report in &synthesis.reports {
        let Some(why) = report.unusable.as_deref().filter(|why| !is_printed(why)) else { continue };
        let name = report.reviewer.as_str();
        match causes.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => causes.push((why, vec![name])),
        }
    }
    for (why, names) in causes {
        let line = format!("{} gave nothing usable: {why}", list_reviewers(&names));
        writeln!(out, "{YELLOW}{}{YELLOW:#}", wrap(&escape::one_line(&line), 0, "  "))?;
    }
    Ok(())
}

/// Returns the reason why a finding is uncertain: a contradiction by the code, or the doubt of its
/// reviewer.
fn doubt_of(finding: &Finding) -> String {
    let why = finding.marks.iter().find_map(|mark| match mark {
        GroundingMark::FileNotFound => Some("the file does not exist"),
        GroundingMark::FileUnreadable => Some("the file cannot be read"),
        GroundingMark::QuoteNotFound => Some("the quoted code is not at this place"),
        GroundingMark::NoQuote => Some("the quote is too short to be checked"),
        GroundingMark::NoPlace => Some("the finding names no file and line"),
        GroundingMark::Repaired => Some("the JSON of the report is damaged"),
        GroundingMark::FileMoved
        | GroundingMark::LineMoved
        | GroundingMark::LineBeyondEnd
        | GroundingMark::OutsideTheHunks
        | GroundingMark::GradeCapped
        | GroundingMark::PlacedByAssay => None,
    });
    let percent = finding.confidence.percent();
    match why {
        Some(why) => format!("{percent}% sure: {why}"),
        None => format!("{percent}% sure"),
    }
}

/// Prints the next commands: one on a line with `next:`, several in two columns.
fn write_next(
    out: &mut impl Write,
    synthesis: &Synthesis,
    options: &PrintOptions<'_>,
) -> anyhow::Result<()> {
    let steps = next_steps(synthesis, options.run.is_some(), options.caller);
    if let [NextStep { command, effect }] = &*steps {
        writeln!(out, "\nnext: {CYAN}{command}{CYAN:#} {effect}")?;
        return Ok(());
    }
    let width = steps.iter().map(|step| step.command.len()).max().unwrap_or_default();
    for (number, NextStep { command, effect }) in steps.iter().enumerate() {
        if number == 0 {
            writeln!(out, "\nnext:")?;
        }
        writeln!(out, "  {CYAN}{command:width$}{CYAN:#}  {effect}")?;
    }
    Ok(())
}

/// Prints the fixes that a user chose, of which some may have been refused.
pub(crate) fn write_chosen_fixes(out: &mut impl Write, plan: &FixPlan) -> anyhow::Result<()> {
    for (fix, why) in &plan.refused {
        let line = format!("{}:{}", fix.file, fix.replacement.start_line());
        let what = format!("{} at {line}: {why}", fix.title);
        writeln!(out, "{YELLOW}not applied{YELLOW:#}: {}", escape::one_line(&what))?;
    }
    let fixes: usize = plan.files.iter().map(|file| file.fixes.len()).sum();
    let files = count(plan.files.len(), "file");
    writeln!(out, "{GREEN}{}{GREEN:#} applied in {files}", count(fixes, "fix"))?;
    Ok(())
}

/// Prints the fixes that were or would be applied.
pub(crate) fn write_plan(out: &mut impl Write, plan: &FixPlan, check: bool) -> anyhow::Result<()> {
    for file in &plan.files {
        writeln!(out, "{BOLD}{}{BOLD:#}", escape::one_line(file.path.as_str()))?;
        for fix in &file.fixes {
            writeln!(out, "  {}", escape::one_line(&fix.title))?;
            snippet::write_change(out, &file.before, &fix.replacement)?;
        }
    }
    for (fix, why) in &plan.refused {
        let line = format!("{}:{}", fix.file, fix.replacement.start_line());
        writeln!(out, "{YELLOW}not applied{YELLOW:#}: {} at {}: {why}", fix.title, line)?;
    }
    let fixes: usize = plan.files.iter().map(|file| file.fixes.len()).sum();
    let noun = count(fixes, "safe fix");
    let verb = if check { "would be applied" } else { "applied" };
    match fixes {
        0 => writeln!(out, "no safe fixes to apply")?,
        _ => writeln!(out, "{GREEN}{noun}{GREEN:#} {verb}")?,
    }
    Ok(())
}

/// Wraps a text; the first line starts at a column, the others are indented.
fn wrap(text: &str, first: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut column = first;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > first && column + 1 + width > *WIDTH {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else if !out.is_empty() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}
