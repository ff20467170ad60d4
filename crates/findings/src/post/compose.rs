//! The draft of a review: [`compose`] decides the place and the text of each finding.

use std::collections::BTreeSet;

use assay_base::text::truncate;

use super::file_cache::FileCache;
use super::placement::{self, Placement};
use super::summary::{self, SummaryPage};
use super::{
    Approval, CommentDialect, CommentPlace, DiffSide, Finders, Fingerprint, MAX_INLINE_COMMENTS,
    MAX_REASON_CHARS, Post, PullRequestDiff, ReadyAction, ReviewDraft, ReviewEvent, ReviewKey,
    SummaryReason, SyntaxChecker, TrackedFinding, approval, comment, suggestion,
};
use crate::finding::{Finding, FindingRoute};
use crate::grounding::Tree;
use crate::identity::ResolvedFinding;
use crate::report::ReviewerKind;
use crate::synthesis::{ReportSummary, Synthesis};
use crate::verdict::{Verdict, VerdictRule, VerdictState};
use crate::write::escape;

/// The inputs of a review besides its synthesis.
pub struct DraftInputs<'a> {
    /// The pull request's diff, as the service shows it.
    pub diff: &'a PullRequestDiff,
    /// The tree after the change; without a tree, there are no suggestions.
    pub tree: Option<&'a dyn Tree>,
    /// The parser that checks whether a file with a suggestion is well-formed; without it, no
    /// syntax is checked.
    pub parses: Option<&'a dyn SyntaxChecker>,
    /// The commit that was reviewed.
    pub head: &'a str,
    /// The Markdown of the service.
    pub dialect: CommentDialect,
    /// The action that the configuration asks for if the change is ready.
    pub when_ready: ReadyAction,
    /// The findings that are gone since the last review; only findings that a reviewer looked for
    /// again.
    pub resolved: &'a [ResolvedFinding],
    /// The findings of all reviews of the change, with their outcomes.
    pub tracked: &'a [TrackedFinding],
    /// The address or the command that shows the whole review.
    pub run: Option<&'a str>,
}

/// Composes the review of a pull request.
pub fn compose(synthesis: &Synthesis, inputs: &DraftInputs<'_>) -> ReviewDraft {
    let approval = approval(inputs.when_ready, synthesis);
    let event = ReviewEvent::of(synthesis.verdict.state, &approval);
    let why_comment = why_comment(event, &approval);
    let short = summarize_verdict(&synthesis.verdict);
    let posts = compose_posts(synthesis, inputs);
    let said = [inputs.head, event.as_str(), &short];
    let findings = posts.iter().map(|post| post.fingerprint.as_str());
    let unposted = unposted_findings(synthesis);
    let open: BTreeSet<&Fingerprint> =
        posts.iter().map(|post| &post.fingerprint).chain(&unposted).collect();
    let is_gone = |resolved: &&ResolvedFinding| !open.contains(&Fingerprint::of_resolved(resolved));
    let gone: Vec<&ResolvedFinding> = inputs.resolved.iter().filter(is_gone).collect();
    let dismissed = synthesis.dismissed.iter().map(Fingerprint::of);
    let dismissed = dismissed.filter(|fingerprint| !open.contains(fingerprint));
    let verdict = match &why_comment {
        Some(why) => format!("{short}\n\n{}.", escape::escape_comment(&escape::capitalize(why))),
        None => short.clone(),
    };
    ReviewDraft {
        head: inputs.head.to_owned(),
        base: None,
        event,
        is_ready: is_ready(synthesis.verdict.state),
        reliable: reliable_reviewers(synthesis),
        dialect: inputs.dialect,
        key: ReviewKey::from_texts(said.into_iter().chain(findings)),
        settled: gone.iter().map(|gone| Fingerprint::of_resolved(gone)).chain(dismissed).collect(),
        page: SummaryPage::new(synthesis, &gone, inputs.run, why_comment)
            .with_outcomes(inputs.tracked),
        unposted,
        verdict,
        posts,
    }
}

/// Returns the sentence with the reason why a review is a comment and not an approval.
fn why_comment(event: ReviewEvent, approval: &Approval) -> Option<String> {
    match event {
        ReviewEvent::Comment => {
            approval.withheld_text().map(|why| format!("this is a comment, not an approval: {why}"))
        }
        ReviewEvent::Approve | ReviewEvent::RequestChanges => None,
    }
}

fn is_ready(state: VerdictState) -> bool {
    match state {
        VerdictState::Ready | VerdictState::ReadyWithFixes => true,
        VerdictState::NotReady | VerdictState::NothingToReview | VerdictState::Incomplete => false,
    }
}

/// Returns the reviewers whose silence proves that a finding is gone; none if a required reviewer
/// did not complete its review.
fn reliable_reviewers(synthesis: &Synthesis) -> Finders {
    match synthesis.verdict.state {
        VerdictState::NothingToReview | VerdictState::Incomplete => Finders::default(),
        VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::NotReady => {
            let sure = synthesis.reports.iter().filter(|report| proves_absence(report));
            Finders::of(sure.map(|report| report.reviewer.as_str()))
        }
    }
}

/// Returns true if a finding that a reviewer does not report is gone. A model that does not report
/// a defect today may have overlooked it.
fn proves_absence(report: &ReportSummary) -> bool {
    let is_whole =
        report.unusable.is_none() && report.rejected.is_empty() && report.incomplete.is_empty();
    match report.kind {
        // Content that rules skip by design is skipped each time, and content that they could not
        // read is counted in the coverage.
        Some(ReviewerKind::Rules) => is_whole,
        Some(ReviewerKind::Command) => is_whole && report.not_covered.is_empty(),
        Some(ReviewerKind::Persona) | None => false,
    }
}

/// Returns the findings that are not posted and yet not gone: those that are held back as unsure,
/// and those that this round could not look for.
fn unposted_findings(synthesis: &Synthesis) -> BTreeSet<Fingerprint> {
    let held_back = synthesis.held_back.iter().map(Fingerprint::of);
    held_back.chain(synthesis.unseen.iter().map(Fingerprint::of_resolved)).collect()
}

/// Returns the state of the change and its reasons, in a sentence or two that name no finding.
fn summarize_verdict(verdict: &Verdict) -> String {
    let reasons: Vec<String> = summary::reasons(verdict)
        .iter()
        .take(2)
        .map(|reason| escape::escape_comment(&truncate(reason, MAX_REASON_CHARS)))
        .collect();
    let state = escape::capitalize(verdict.state.in_words());
    format!("**{state}**: {}.", reasons.join("; ").trim_end_matches('.'))
}

fn compose_posts(synthesis: &Synthesis, inputs: &DraftInputs<'_>) -> Vec<Post> {
    let files = FileCache::of(inputs.tree);
    let mut findings: Vec<&Finding> =
        synthesis.findings.iter().chain(&synthesis.pre_existing).collect();
    findings.sort_by(|a, b| a.cmp_by_weight(b));
    let mut seen = BTreeSet::new();
    let mut comments = 0;
    let mut posts = Vec::new();
    for finding in findings.into_iter().filter(|finding| seen.insert(Fingerprint::of(finding))) {
        let summary_reason = summary_reason(finding, &synthesis.verdict);
        let mut placed = match summary_reason {
            Some(why) => Placement::in_summary(why),
            None => placement::place(finding, inputs.diff),
        };
        let is_comment = !matches!(placed.place, CommentPlace::Summary { .. });
        if is_comment && comments == MAX_INLINE_COMMENTS {
            placed = Placement::in_summary(SummaryReason::TooMany);
        } else if is_comment {
            comments += 1;
        }
        posts.push(compose_post(finding, placed, &files, inputs));
    }
    posts
}

/// Returns the reason why a finding gets no comment, whatever its place. A blocking finding always
/// may get one.
fn summary_reason(finding: &Finding, verdict: &Verdict) -> Option<SummaryReason> {
    let blocking = [VerdictRule::Must, VerdictRule::Major, VerdictRule::FailOn];
    let mut reasons = verdict.because.iter().filter(|reason| blocking.contains(&reason.rule));
    if reasons.any(|reason| reason.findings.contains(&finding.id)) {
        return None;
    }
    if finding.pre_existing {
        return Some(SummaryReason::PreExisting);
    }
    if !finding.shown {
        return Some(SummaryReason::Folded);
    }
    (finding.route == Some(FindingRoute::Report)).then_some(SummaryReason::ReportedOnly)
}

fn compose_post(
    finding: &Finding,
    mut placed: Placement,
    files: &FileCache<'_>,
    inputs: &DraftInputs<'_>,
) -> Post {
    let suggestion = suggestion::suggest(finding, &placed, files, inputs.parses, inputs.dialect);
    if let Some(suggestion) = &suggestion {
        placed.place = CommentPlace::on(DiffSide::Right, suggestion.lines);
    }
    let block = suggestion.as_ref().map(|suggestion| suggestion.block.as_str());
    let body = match placed.place {
        CommentPlace::DiffLines { .. } | CommentPlace::File => {
            comment::body(finding, &placed, block, files)
        }
        CommentPlace::Summary { .. } => String::new(),
    };
    Post {
        fingerprint: Fingerprint::of(finding),
        path: finding.file.clone(),
        severity: comment::level(finding).to_owned(),
        body,
        entry: comment::entry(finding, &placed),
        line: comment::line(finding),
        position: placement::position(&placed.place, finding, inputs.diff),
        place: placed.place,
    }
}
