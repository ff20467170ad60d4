//! The texts for one finding: the body of a comment, an entry of the summary, one line.

use assay_base::text::truncate;

use super::MAX_BODY_BYTES;
use super::file_cache::FileCache;
use super::marker::{Finders, Fingerprint, Marker};
use super::placement::{CommentPlace, Placement, lines_of};
use super::text::{self, Block};
use crate::claim_similarity::squeeze;
use crate::finding::{Finding, GroundingMark};
use crate::grade::SEVEN_LEVELS;
use crate::template::TemplateText;
use crate::trace::TraceStep;
use crate::vote::LineRange;
use crate::write::{escape, seven_level, sign, worth_note};

/// The maximum length of an entry of the summary, in bytes, so that a part has room for at least
/// one.
pub(super) const MAX_ENTRY_BYTES: usize = 50_000;
/// The maximum length of a title in a heading, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// The maximum length of a title in a one-line entry, in characters.
const MAX_SHORT_TITLE_CHARS: usize = 120;
/// The maximum length of the name of a file, a rule or a category, in characters.
const MAX_NAME_CHARS: usize = 200;
/// The maximum length of an id, in characters; a finding that was read from a file may have any
/// text as its id.
const MAX_ID_CHARS: usize = 40;
/// The maximum number of quotes that are repeated, and the maximum characters of each.
const MAX_QUOTES: usize = 2;
const MAX_QUOTE_CHARS: usize = 200;
/// The maximum number of quotes in an explanation, and the maximum characters of each.
const MAX_EXPLAINED_QUOTES: usize = 5;
const MAX_EXPLAINED_QUOTE_CHARS: usize = 1_000;
/// The note at the end of a text that was cut.
const CUT_NOTE: &str = "_The text exceeds the size limit of a comment and is truncated._";

/// The maximum number of steps of a trace in a comment.
const MAX_TRACE_STEPS: usize = 20;

/// Formats a comment on a line or a file.
pub(super) fn body(
    finding: &Finding,
    placed: &Placement,
    suggestion: Option<&str>,
    files: &FileCache<'_>,
) -> String {
    let mut head = vec![format!("**{}**", heading(finding, MAX_TITLE_CHARS))];
    head.extend(placed.fit.in_words().map(|note| format!("_{note}_")));
    let mut foot: Vec<String> = suggestion.map(str::to_owned).into_iter().collect();
    foot.extend(folded_trace(finding));
    foot.extend(finding.template.as_ref().map(folded_kind));
    foot.push(metadata_line(finding));
    let by = Finders::of(finding.reviewers.iter().map(String::as_str));
    foot.push(Marker::Finding(Fingerprint::of(finding), by).to_string());
    let seen = shown_lines(placed).and_then(|lines| squeezed_code(finding, lines, files));
    assemble(head, finding_texts(finding, seen.as_deref(), suggestion), foot, MAX_BODY_BYTES)
}

/// Formats an entry of the summary.
pub(super) fn entry(finding: &Finding, placed: &Placement) -> String {
    let mut head = vec![format!("**{}**", heading(finding, MAX_TITLE_CHARS))];
    head.extend(place(finding, MAX_NAME_CHARS));
    if let CommentPlace::Summary { why } = placed.place
        && let Some(why) = why.in_words()
    {
        head.push(format!("_Not posted as a separate comment: {why}._"));
    }
    assemble(
        head,
        finding_texts(finding, None, None),
        vec![metadata_line(finding)],
        MAX_ENTRY_BYTES,
    )
}

/// Formats a finding with all of its evidence, for a person who asks for an explanation. `outcome`
/// and `votes` are Markdown.
pub(super) fn explanation(finding: &Finding, outcome: &str, votes: Option<String>) -> String {
    let place = place(finding, MAX_NAME_CHARS);
    let facts: Vec<String> = place.into_iter().chain([outcome.to_owned()]).collect();
    let head = vec![format!("**{}**", heading(finding, MAX_TITLE_CHARS)), facts.join(" · ")];
    let texts = FindingTexts { why: Vec::new(), ..finding_texts(finding, None, None) };
    let mut foot: Vec<String> = quoted_evidence(finding).into_iter().collect();
    foot.extend(trace_lines(finding).map(|lines| format!("**Data flow**\n\n{lines}")));
    foot.extend(votes);
    foot.extend(finding.template.as_ref().map(|template| {
        let title = escape::escape_comment(&truncate(&template.title, MAX_TITLE_CHARS));
        format!("**About {title}**: {}", shared_explanation(template))
    }));
    foot.push(metadata_line(finding));
    assemble(head, texts, foot, MAX_ENTRY_BYTES)
}

/// Returns the quoted code as a block; `None` without evidence.
fn quoted_evidence(finding: &Finding) -> Option<String> {
    let quotes = finding.evidence.iter().map(|quote| quote.trim().trim_matches('`'));
    let quotes = quotes.filter(|quote| !quote.is_empty()).take(MAX_EXPLAINED_QUOTES);
    let quotes: Vec<String> =
        quotes.map(|quote| truncate(quote, MAX_EXPLAINED_QUOTE_CHARS)).collect();
    let code = quotes.join("\n");
    (!code.is_empty()).then(|| format!("**Evidence**\n\n{}", escape::to_code_block(&code)))
}

/// Formats a finding on one line.
pub(super) fn line(finding: &Finding) -> String {
    let place =
        place(finding, MAX_NAME_CHARS).map(|place| format!(" ({place})")).unwrap_or_default();
    format!("{}{place} · {}", heading(finding, MAX_SHORT_TITLE_CHARS), id(finding))
}

/// Returns the id, by which a command names the finding.
fn id(finding: &Finding) -> String {
    escape::to_code_span(&truncate(&finding.id, MAX_ID_CHARS))
}

/// Returns the level, of the seven, under which a finding is counted and grouped, whatever its
/// original word.
pub(super) fn level(finding: &Finding) -> &'static str {
    SEVEN_LEVELS[usize::from(finding.grade.impact().level())]
}

/// Returns the severity and the title.
fn heading(finding: &Finding, most: usize) -> String {
    let severity = escape::escape_comment(&truncate(seven_level(&finding.grade), 40));
    let title = escape::escape_comment(&truncate(finding.heading(), most));
    format!("{} {severity}: {title}", sign(&finding.grade)).trim().to_owned()
}

fn place(finding: &Finding, most: usize) -> Option<String> {
    let file = truncate(finding.file.as_ref()?.as_str(), most);
    let lines = match lines_of(finding) {
        Some(lines) if lines.start() < lines.end() => format!(":{}-{}", lines.start(), lines.end()),
        Some(lines) => format!(":{}", lines.start()),
        None => String::new(),
    };
    Some(escape::to_code_span(&format!("{file}{lines}")))
}

/// Returns one small line with id, category, rule, reviewers and confidence.
fn metadata_line(finding: &Finding) -> String {
    let category = escape::escape_comment(&truncate(&finding.category, MAX_NAME_CHARS));
    let mut words = vec![id(finding), category];
    words.extend(
        finding.rule.as_deref().map(|rule| escape::to_code_span(&truncate(rule, MAX_NAME_CHARS))),
    );
    let names = truncate(&finding.reviewers.join(", "), MAX_NAME_CHARS);
    words.push(format!("found by {}", escape::escape_comment(&names)));
    words.push(format!("confidence {}{}", finding.confidence.percent(), worth_note(finding)));
    if finding.marks.contains(&GroundingMark::PlacedByAssay) {
        words.push("location found by assay".to_owned());
    }
    if finding.requires_verification {
        words.push("the fix must be verified".to_owned());
    }
    format!("<sub>{}</sub>", words.join(" · "))
}

/// The texts of a finding, in the order in which they are written.
struct FindingTexts {
    description: Vec<Block>,
    why: Vec<Block>,
    fix: Vec<Block>,
}

fn finding_texts(finding: &Finding, seen: Option<&str>, suggestion: Option<&str>) -> FindingTexts {
    let below = finding.text_below_heading();
    let mut description = below.map(|text| text::blocks(&text)).unwrap_or_default();
    description.extend(finding.doubt().map(Block::Paragraph));
    FindingTexts {
        description,
        why: evidence_blocks(finding, seen),
        fix: fix_blocks(finding, suggestion),
    }
}

/// Returns the way of a value through the code as a folded list; `None` without a trace.
fn folded_trace(finding: &Finding) -> Option<String> {
    let lines = trace_lines(finding)?;
    Some(format!("<details><summary>Data flow</summary>\n\n{lines}\n\n</details>"))
}

/// Returns the steps of the trace as a list; `None` without a trace.
fn trace_lines(finding: &Finding) -> Option<String> {
    let steps: Vec<String> = finding.trace.iter().take(MAX_TRACE_STEPS).map(trace_line).collect();
    (!steps.is_empty()).then(|| steps.join("\n"))
}

/// Returns the explanation that all findings of a kind share, folded.
fn folded_kind(template: &TemplateText) -> String {
    let title = escape::escape_comment(&truncate(&template.title, MAX_TITLE_CHARS));
    let explanation = shared_explanation(template);
    format!("<details><summary>About {title}</summary>\n\n{explanation}\n\n</details>")
}

/// Returns the explanation that all findings of a kind share, with its link.
fn shared_explanation(template: &TemplateText) -> String {
    let explanation = escape::escape_comment(template.explanation.trim());
    let link = template.link.as_deref().map(|link| format!("\n\n<{link}>")).unwrap_or_default();
    format!("{explanation}{link}")
}

fn trace_line(step: &TraceStep) -> String {
    let file = truncate(step.file.as_str(), MAX_NAME_CHARS);
    let place = escape::to_code_span(&format!("{file}:{}", step.line));
    let code = escape::to_code_span(&truncate(&escape::one_line(&step.code), MAX_QUOTE_CHARS));
    format!("1. {} {place}: {code}", step.role.as_str())
}

/// Returns the evidence of the finding, without quotes of the lines that the comment is on.
fn evidence_blocks(finding: &Finding, seen: Option<&str>) -> Vec<Block> {
    let is_seen = |quote: &str| {
        let quote = squeeze(quote.trim().trim_matches('`'));
        seen.is_some_and(|seen| seen.contains(&quote))
    };
    let quotes: Vec<String> = finding
        .evidence
        .iter()
        .filter(|quote| !quote.trim().is_empty() && !is_seen(quote))
        .take(MAX_QUOTES)
        .map(|quote| truncate(&escape::one_line(quote), MAX_QUOTE_CHARS))
        .collect();
    if quotes.is_empty() { Vec::new() } else { vec![Block::Paragraph(quotes.join("; "))] }
}

/// Returns the fix, unless the suggestion already shows the same code.
fn fix_blocks(finding: &Finding, suggestion: Option<&str>) -> Vec<Block> {
    let Some(fix) = finding.fix_or_form().filter(|fix| !fix.trim().is_empty()) else {
        return Vec::new();
    };
    if suggestion.is_some_and(|block| squeeze(block).contains(&squeeze(fix))) {
        return Vec::new();
    }
    let is_code = fix.trim_end().contains('\n') && !fix.contains("```");
    if is_code { vec![Block::Code(fix.replace("\r\n", "\n"))] } else { text::blocks(fix) }
}

/// Assembles a body. A third of the room is reserved for the fix, however long the description is.
fn assemble(head: Vec<String>, matter: FindingTexts, foot: Vec<String>, most: usize) -> String {
    const LABEL_BYTES: usize = 100;
    let fixed: usize = head.iter().chain(&foot).map(|piece| piece.len() + 2).sum();
    let room = most.saturating_sub(fixed + LABEL_BYTES + CUT_NOTE.len());
    let fix = text::fit(&matter.fix, room / 3);
    let why = text::fit(&matter.why, room / 6);
    let left = room.saturating_sub(fix.text.len() + why.text.len());
    let description = text::fit(&matter.description, left);
    let is_cut = fix.is_cut || why.is_cut || description.is_cut;
    let mut pieces = head;
    pieces.extend(Some(description.text).filter(|text| !text.is_empty()));
    if !why.text.is_empty() {
        pieces.push(format!("**Why**: {}", why.text));
    }
    if !fix.text.is_empty() {
        let starts_with_text = matches!(matter.fix.first(), Some(Block::Paragraph(_)));
        let gap = if starts_with_text { " " } else { "\n\n" };
        pieces.push(format!("**Fix**:{gap}{}", fix.text));
    }
    pieces.extend(is_cut.then(|| CUT_NOTE.to_owned()));
    pieces.extend(foot);
    pieces.join("\n\n")
}

fn shown_lines(placed: &Placement) -> Option<LineRange> {
    match placed.place {
        CommentPlace::DiffLines { start, line, .. } => {
            LineRange::range(start.unwrap_or(line), line)
        }
        CommentPlace::File | CommentPlace::Summary { .. } => None,
    }
}

/// Returns the text of some lines of the finding's file, without whitespace.
fn squeezed_code(finding: &Finding, lines: LineRange, files: &FileCache<'_>) -> Option<String> {
    let text = files.read(finding.file.as_ref()?)?;
    let start = lines.start() as usize - 1;
    let count = (lines.end() - lines.start()) as usize + 1;
    Some(text.lines().skip(start).take(count).map(squeeze).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::trace::TraceRole;

    #[test]
    fn the_code_of_a_trace_is_inert_in_a_comment() {
        let step = TraceStep {
            role: TraceRole::Source,
            file: RepoPath::exact("a.py").unwrap(),
            line: 4,
            code: "f(`'</details>@x'`)\n# Title".to_owned(),
        };
        let line = trace_line(&step);
        assert_eq!(line.lines().count(), 1);
        assert_eq!(line, "1. source `a.py:4`: `f(''</details>@x'') # Title`");
    }
}
