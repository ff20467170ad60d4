//! A review as people read it in a terminal.

use std::collections::BTreeMap;
use std::io::Write;

use anstyle::{AnsiColor, Color, Style};
use assay_change::Change;
use assay_findings::finding::Finding;
use assay_findings::path::RepoPath;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::State;
use assay_findings::write::plain;

/// Lines shown around the one that is meant.
const CONTEXT: u32 = 1;

/// The most columns that are used: of a source line, or of a text before it goes on below.
const WIDTH: usize = 96;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = colour(AnsiColor::Red);
const YELLOW: Style = colour(AnsiColor::Yellow);
const GREEN: Style = colour(AnsiColor::Green);
const CYAN: Style = colour(AnsiColor::Cyan);

const fn colour(colour: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(Color::Ansi(colour)))
}

/// Prints a review: by file, the worst first, then the verdict and what was covered.
pub(crate) fn print(change: &Change, synthesis: &Synthesis) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let files = count(change.files.len(), "file");
    writeln!(out, "{BOLD}Review of {}{BOLD:#} ({files})\n", plain::one_line(&change.title))?;
    for (file, findings) in by_file(&synthesis.findings) {
        let lines = Source::open(change, file);
        let name = file.map_or("the change as a whole", RepoPath::as_str);
        writeln!(out, "{BOLD}{}{BOLD:#}", plain::one_line(name))?;
        for finding in findings {
            write_finding(&mut out, finding, &lines)?;
        }
    }
    write_verdict(&mut out, change, synthesis)
}

/// Groups findings by file; the file with the worst finding comes first.
fn by_file(findings: &[Finding]) -> Vec<(Option<&RepoPath>, Vec<&Finding>)> {
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

/// A file's lines, fit to be shown: without secrets and control characters.
struct Source(Vec<String>);

impl Source {
    fn open(change: &Change, file: Option<&RepoPath>) -> Source {
        let text = file.and_then(|file| change.tree().read(file)).unwrap_or_default();
        Source(assay_rules::redacted_lines(&text))
    }

    fn line(&self, number: u32) -> Option<String> {
        let line = self.0.get((number as usize).checked_sub(1)?)?;
        let line = line.replace('\t', "    ");
        Some(plain::visible(&line).chars().take(WIDTH).collect())
    }
}

fn style_of(finding: &Finding) -> Style {
    match finding.grade.impact().level() {
        0 | 1 => RED,
        2 | 3 => YELLOW,
        _ => CYAN,
    }
}

fn write_finding(out: &mut impl Write, finding: &Finding, source: &Source) -> anyhow::Result<()> {
    let style = style_of(finding);
    let severity = plain::one_line(&finding.severity);
    let title = assay_rules::redact(&finding.title).into_owned();
    let rule = finding.rule.as_deref().map(|rule| format!(" ({})", plain::one_line(rule)));
    writeln!(
        out,
        "  {style}{severity}{style:#}: {BOLD}{}{BOLD:#}{DIM}{}{DIM:#}",
        plain::one_line(&title),
        rule.unwrap_or_default(),
    )?;
    if let Some(line) = finding.line {
        write_snippet(out, source, line, style)?;
    }
    let text =
        |text: &str, first| wrapped(&plain::one_line(&assay_rules::redact(text)), first, "     ");
    writeln!(out, "     {}", text(&finding.description, 5))?;
    if let Some(fix) = &finding.suggested_fix {
        writeln!(out, "     {GREEN}fix:{GREEN:#} {}", text(fix, 10))?;
    }
    writeln!(out)?;
    Ok(())
}

fn write_snippet(
    out: &mut impl Write,
    source: &Source,
    line: u32,
    style: Style,
) -> anyhow::Result<()> {
    for number in line.saturating_sub(CONTEXT)..=line + CONTEXT {
        let Some(text) = source.line(number) else { continue };
        if number != line {
            writeln!(out, "  {DIM}{number:>5} |{DIM:#} {DIM}{text}{DIM:#}")?;
            continue;
        }
        writeln!(out, "  {DIM}{number:>5} |{DIM:#} {text}")?;
        let indent = text.chars().take_while(|c| c.is_whitespace()).count();
        let carets = "^".repeat(text.trim().chars().count().max(1));
        let indent = " ".repeat(indent);
        writeln!(out, "  {DIM}      |{DIM:#} {indent}{style}{carets}{style:#}")?;
    }
    Ok(())
}

fn write_verdict(
    out: &mut impl Write,
    change: &Change,
    synthesis: &Synthesis,
) -> anyhow::Result<()> {
    let verdict = &synthesis.verdict;
    let style = match verdict.state {
        State::Ready => GREEN,
        State::ReadyWithFixes => YELLOW,
        State::NotReady | State::Incomplete => RED,
    };
    let state = verdict.state.in_words();
    writeln!(out, "{style}{state}{style:#} (rules only: no model is configured)")?;
    for reason in &verdict.because {
        writeln!(out, "  {}", wrapped(&plain::one_line(&reason.text), 2, "    "))?;
    }
    if let Some(coverage) = &synthesis.coverage {
        writeln!(out, "{DIM}{coverage}{DIM:#}")?;
    }
    if !change.untracked.is_empty() {
        let files = count(change.untracked.len(), "untracked file");
        writeln!(out, "{DIM}{files} not looked at; --untracked takes them in{DIM:#}")?;
    }
    Ok(())
}

/// Breaks a text into lines; the first starts at a column, the others are indented.
fn wrapped(text: &str, first: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut column = first;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > first && column + 1 + width > WIDTH {
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

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
