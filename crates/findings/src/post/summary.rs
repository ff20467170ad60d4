//! The summary of a pull request's review: the comment that is updated in place.

use std::collections::BTreeSet;

use assay_base::text::truncate;
use serde::{Deserialize, Serialize};

use super::layout::{Entry, FoldedList, SummaryLimits, arrange};
use super::marker::Marker;
use super::resolution::{self, TrackedFinding};
use super::text::{self, Block};
use super::{CommentPlace, MAX_BODY_BYTES, MAX_REASON_CHARS, Post, PostedState, SummaryReason};
use crate::coverage::ReviewCoverage;
use crate::finding::Finding;
use crate::grade::SEVEN_LEVELS;
use crate::identity::ResolvedFinding;
use crate::synthesis::Synthesis;
use crate::verdict::{Verdict, VerdictRule};
use crate::write::escape;

/// The maximum number of parts of a summary.
const MAX_PARTS: usize = 5;
/// The number of bytes for the heading and the marker of a part.
const FRAME_BYTES: usize = 200;
/// The maximum length of the text above the findings, in bytes.
const MAX_HEAD_BYTES: usize = 12_000;
/// The maximum number of items of a list, and the maximum characters of each.
const MAX_ITEMS: usize = 300;
const MAX_ITEM_CHARS: usize = 200;

/// The content of a summary besides the findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SummaryPage {
    /// The verdict.
    title: String,
    /// The reasons of the verdict, and the coverage.
    reasons: String,
    /// The outcomes of the findings of all reviews; `None` if all of them are open.
    #[serde(default)]
    outcomes: Option<String>,
    lists: Vec<SummaryList>,
    /// The address or the command that shows the whole review.
    run: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SummaryList {
    title: String,
    items: Vec<String>,
    more: usize,
}

impl SummaryPage {
    /// Creates the page. `why_comment` is the reason why the review is a comment and not an
    /// approval, if it is one.
    pub(super) fn new(
        synthesis: &Synthesis,
        resolved: &[&ResolvedFinding],
        run: Option<&str>,
        why_comment: Option<String>,
    ) -> SummaryPage {
        let mut reasons = reasons(&synthesis.verdict);
        reasons.extend(synthesis.coverage.as_ref().map(ToString::to_string));
        reasons.extend(why_comment);
        let short = reasons.iter().map(|reason| truncate(reason, MAX_REASON_CHARS));
        let mut reasons = text::fit(&short.map(Block::Item).collect::<Vec<_>>(), MAX_HEAD_BYTES);
        if reasons.is_cut {
            reasons.text.push_str("\n- more reasons are omitted for space");
        }
        SummaryPage {
            title: escape::escape_comment(&title(synthesis)),
            reasons: reasons.text,
            outcomes: None,
            lists: lists(synthesis, resolved),
            run: run.map(str::to_owned),
        }
    }

    /// Adds the outcomes of the findings of all reviews.
    pub(super) fn with_outcomes(self, tracked: &[TrackedFinding]) -> SummaryPage {
        SummaryPage { outcomes: resolution::table(tracked), ..self }
    }

    /// Returns the sentence that names the place of the whole review; empty if there is none.
    fn pointer(&self) -> String {
        let run = self.run.as_deref().map(|run| truncate(run, MAX_ITEM_CHARS));
        run.map(|run| format!(" Full review: {}", escape::to_code_span(&run))).unwrap_or_default()
    }

    /// Arranges the page and its findings in parts.
    pub(super) fn with(
        &self,
        counts: &str,
        entries: &[Entry],
        old: Option<FoldedList>,
        room: SummaryLimits,
    ) -> Vec<String> {
        let pieces = [self.reasons.as_str(), counts, self.outcomes.as_deref().unwrap_or_default()];
        let pieces: Vec<&str> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let lists = self.lists.iter().map(|list| FoldedList {
            title: list.title.clone(),
            items: list.items.clone(),
            more: list.more,
        });
        let asides: Vec<FoldedList> = old.into_iter().chain(lists).collect();
        arrange(&pieces.join("\n\n"), entries, &asides, &self.pointer(), room)
    }
}

/// Returns the verdict in a few words, with its limits.
pub(super) fn title(synthesis: &Synthesis) -> String {
    let caveat = synthesis.coverage.as_ref().and_then(ReviewCoverage::caveat);
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    escape::capitalize(&format!("{}{caveat}", synthesis.verdict.state.in_words()))
}

/// Returns the reasons of a verdict without naming findings, which are listed elsewhere.
pub(super) fn reasons(verdict: &Verdict) -> Vec<String> {
    let unmet = verdict.because.iter().filter(|r| r.rule == VerdictRule::UnmetRequirement).count();
    let mut said_unmet = false;
    let in_words = verdict.because.iter().filter_map(|reason| match reason.rule {
        VerdictRule::UnmetRequirement if std::mem::replace(&mut said_unmet, true) => None,
        VerdictRule::UnmetRequirement if unmet == 1 => Some("1 requirement is not met".to_owned()),
        VerdictRule::UnmetRequirement => Some(format!("{unmet} requirements are not met")),
        _ if reason.findings.is_empty() => Some(reason.text.clone()),
        _ => reason.text.split(": ").next().map(str::to_owned),
    });
    in_words.collect()
}

/// Formats the parts of a pull request's summary.
pub(super) fn parts(page: &SummaryPage, posts: &[Post], posted: &PostedState) -> Vec<String> {
    let is_old =
        |post: &&Post| post.place == CommentPlace::Summary { why: SummaryReason::PreExisting };
    let (old, open): (Vec<&Post>, Vec<&Post>) = posts.iter().partition(is_old);
    let hidden = |posts: Vec<&'_ Post>| -> Vec<Entry> {
        let hidden = posts.into_iter().filter(|post| !posted.visible.contains(&post.fingerprint));
        hidden.map(|post| entry(post, posted)).collect()
    };
    let counts = counts(open.iter().map(|post| post.severity.as_str()));
    let all = open.len();
    let mut entries = hidden(open);
    entries.sort_by_key(|entry| entry.is_folded);
    let shown = match (all, all - entries.len()) {
        (0, _) | (_, 0) => String::new(),
        (all, shown) if all == shown => " All of them are comments on the change.".to_owned(),
        (_, 1) => " 1 is a comment on the change; the following are not.".to_owned(),
        (_, shown) => format!(" {shown} are comments on the change; the following are not."),
    };
    let old = pre_existing_list(hidden(old).into_iter().map(|entry| entry.line).collect());
    let room = SummaryLimits { parts: MAX_PARTS, bytes: MAX_BODY_BYTES - FRAME_BYTES };
    add_frames(&page.title, page.with(&format!("{counts}{shown}"), &entries, old, room))
}

/// Returns the list of findings that are older than the change; `None` if there are none.
pub(super) fn pre_existing_list(lines: Vec<String>) -> Option<FoldedList> {
    let title = "Existed before this change".to_owned();
    Some(FoldedList { title, items: lines, more: 0 }).filter(|aside| !aside.items.is_empty())
}

fn entry(post: &Post, posted: &PostedState) -> Entry {
    let refused = posted.refused.get(&post.fingerprint);
    let note = refused.map(|why| {
        let why = escape::escape_comment(&truncate(why, MAX_ITEM_CHARS));
        format!("\n\n_Rejected as a comment on the change_: {why}")
    });
    let full = format!("{}{}", post.entry, note.unwrap_or_default());
    let is_folded = post.place == CommentPlace::Summary { why: SummaryReason::Folded };
    Entry { group: post.severity.clone(), is_folded, full, line: post.line.clone() }
}

/// Formats the number of findings by severity, the worst first.
pub(super) fn counts<'a>(levels: impl Iterator<Item = &'a str>) -> String {
    let mut counts = SEVEN_LEVELS.map(|level| (level, 0));
    for level in levels {
        counts.iter_mut().filter(|(known, _)| *known == level).for_each(|(_, count)| *count += 1);
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let present = counts.into_iter().filter(|(_, count)| *count > 0);
    let words: Vec<String> = present.map(|(word, count)| format!("{count} {word}")).collect();
    match all {
        0 => "No findings.".to_owned(),
        1 => format!("**1 finding**: {}.", words.join(", ")),
        _ => format!("**{all} findings**: {}.", words.join(", ")),
    }
}

/// Adds the heading and the marker to each part.
fn add_frames(title: &str, parts: Vec<String>) -> Vec<String> {
    let all = parts.len();
    let frame = |(part, number): (String, u32)| {
        let of = if all > 1 { format!(", part {number} of {all}") } else { String::new() };
        format!("## {title}{of}\n\n{part}\n\n{}", Marker::Summary(number))
    };
    parts.into_iter().zip(1..).map(frame).collect()
}

/// Returns the text for a part of a summary that is no longer needed.
pub fn spare_part(number: u32) -> String {
    format!("_This part of the summary is no longer needed._\n\n{}", Marker::Summary(number))
}

fn lists(synthesis: &Synthesis, resolved: &[&ResolvedFinding]) -> Vec<SummaryList> {
    let texts = |texts: &[String]| -> Vec<String> { texts.iter().map(|text| item(text)).collect() };
    let doubtful = synthesis.held_back.iter().filter(|finding| !finding.is_lead());
    let lists = [
        ("Not reviewed", uncovered_items(synthesis)),
        ("Resolved since the last review", resolved.iter().copied().map(resolved_item).collect()),
        ("Could not be checked again", synthesis.unseen.iter().map(resolved_item).collect()),
        ("Held back as unsure", doubtful.map(super::comment::line).collect()),
        ("Left alone on purpose", synthesis.dismissed.iter().map(dismissed).collect()),
        ("Testing gaps", texts(&synthesis.testing_gaps)),
        ("Residual risks", texts(&synthesis.residual_risks)),
    ];
    let with_items = lists.into_iter().filter(|(_, items)| !items.is_empty());
    with_items
        .map(|(title, mut items)| {
            let more = items.len().saturating_sub(MAX_ITEMS);
            items.truncate(MAX_ITEMS);
            SummaryList { title: title.to_owned(), items, more }
        })
        .collect()
}

fn uncovered_items(synthesis: &Synthesis) -> Vec<String> {
    let unusable = synthesis.reports.iter().filter_map(|report| {
        let why = report.unusable.as_deref()?;
        Some(item(&format!("{} gave nothing usable: {why}", report.reviewer)))
    });
    let files: BTreeSet<&String> =
        synthesis.reports.iter().flat_map(|report| &report.not_covered).collect();
    unusable.chain(files.into_iter().map(|file| item(file))).collect()
}

fn resolved_item(resolved: &ResolvedFinding) -> String {
    let file = resolved.file.as_ref().map(|file| truncate(file.as_str(), MAX_ITEM_CHARS));
    let place = file.map(|file| format!(" ({})", escape::to_code_span(&file))).unwrap_or_default();
    format!("{}{place}", item(&resolved.title))
}

fn dismissed(finding: &Finding) -> String {
    let why = finding.dismissal.as_deref().unwrap_or("no reason");
    format!("{}: {}", super::comment::line(finding), item(why))
}

fn item(text: &str) -> String {
    escape::escape_comment(&truncate(text, MAX_ITEM_CHARS))
}
