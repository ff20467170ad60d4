//! The draft of a review: [`compose`] decides the place and the text of each finding.

use std::collections::BTreeSet;

use assay_base::text::truncate;

use super::anchor::{self, Placed};
use super::files::Files;
use super::summary::{self, Page};
use super::{
    Approval, Diff, Draft, Event, Finders, Fingerprint, INLINE, Parses, Place, Post, REASON,
    ReviewKey, Side, WhenReady, Why, approval, comment, suggestion,
};
use crate::finding::{Finding, Route};
use crate::ground::Tree;
use crate::identity::Resolved;
use crate::report::ReviewerKind;
use crate::synthesis::{ReportSummary, Synthesis};
use crate::verdict::{Rule, State, Verdict};
use crate::write::plain;

/// The inputs of a review besides its synthesis.
pub struct Surroundings<'a> {
    /// The pull request's diff, as the service shows it.
    pub diff: &'a Diff,
    /// The tree after the change; without a tree, there are no suggestions.
    pub tree: Option<&'a dyn Tree>,
    /// The parser that checks whether a file with a suggestion is well-formed; without it, no
    /// syntax is checked.
    pub parses: Option<&'a dyn Parses>,
    /// The commit that was reviewed.
    pub head: &'a str,
    /// The action that the configuration asks for if the change is ready.
    pub when_ready: WhenReady,
    /// The findings that are gone since the last review; only findings that a reviewer looked for
    /// again.
    pub resolved: &'a [Resolved],
    /// The address or the command that shows the whole review.
    pub run: Option<&'a str>,
}

/// Composes the review of a pull request.
pub fn compose(synthesis: &Synthesis, around: &Surroundings<'_>) -> Draft {
    let approval = approval(around.when_ready, synthesis);
    let event = Event::of(synthesis.verdict.state, &approval);
    let why_comment = why_comment(event, &approval);
    let short = in_short(&synthesis.verdict);
    let posts = posts(synthesis, around);
    let said = [around.head, event.as_str(), &short];
    let findings = posts.iter().map(|post| post.fingerprint.as_str());
    let untold = untold(synthesis);
    let open: BTreeSet<&Fingerprint> =
        posts.iter().map(|post| &post.fingerprint).chain(&untold).collect();
    let is_gone = |resolved: &&Resolved| !open.contains(&Fingerprint::of_resolved(resolved));
    let gone: Vec<&Resolved> = around.resolved.iter().filter(is_gone).collect();
    let dismissed = synthesis.dismissed.iter().map(Fingerprint::of);
    let dismissed = dismissed.filter(|fingerprint| !open.contains(fingerprint));
    let verdict = match &why_comment {
        Some(why) => format!("{short}\n\n{}.", plain::comment(&plain::capitalised(why))),
        None => short.clone(),
    };
    Draft {
        head: around.head.to_owned(),
        base: None,
        event,
        is_ready: is_ready(synthesis.verdict.state),
        looked: looked(synthesis),
        key: ReviewKey::over(said.into_iter().chain(findings)),
        settled: gone.iter().map(|gone| Fingerprint::of_resolved(gone)).chain(dismissed).collect(),
        page: Page::new(synthesis, &gone, around.run, why_comment),
        untold,
        verdict,
        posts,
    }
}

/// Returns the sentence with the reason why a review is a comment and not an approval.
fn why_comment(event: Event, approval: &Approval) -> Option<String> {
    match event {
        Event::Comment => {
            approval.why_not().map(|why| format!("this is a comment and not an approval: {why}"))
        }
        Event::Approve | Event::RequestChanges => None,
    }
}

fn is_ready(state: State) -> bool {
    match state {
        State::Ready | State::ReadyWithFixes => true,
        State::NotReady | State::NothingToReview | State::Incomplete => false,
    }
}

/// Returns the reviewers whose silence proves that a finding is gone; none if a required reviewer
/// did not complete its review.
fn looked(synthesis: &Synthesis) -> Finders {
    match synthesis.verdict.state {
        State::NothingToReview | State::Incomplete => Finders::default(),
        State::Ready | State::ReadyWithFixes | State::NotReady => {
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
fn untold(synthesis: &Synthesis) -> BTreeSet<Fingerprint> {
    let held_back = synthesis.held_back.iter().map(Fingerprint::of);
    held_back.chain(synthesis.unseen.iter().map(Fingerprint::of_resolved)).collect()
}

/// Returns the state of the change and its reasons, in a sentence or two that name no finding.
fn in_short(verdict: &Verdict) -> String {
    let reasons: Vec<String> = summary::reasons(verdict)
        .iter()
        .take(2)
        .map(|reason| plain::comment(&truncate(reason, REASON)))
        .collect();
    let state = plain::capitalised(verdict.state.in_words());
    format!("**{state}**: {}.", reasons.join("; ").trim_end_matches('.'))
}

fn posts(synthesis: &Synthesis, around: &Surroundings<'_>) -> Vec<Post> {
    let files = Files::of(around.tree);
    let mut findings: Vec<&Finding> =
        synthesis.findings.iter().chain(&synthesis.pre_existing).collect();
    findings.sort_by(|a, b| a.by_weight(b));
    let mut seen = BTreeSet::new();
    let mut comments = 0;
    let mut posts = Vec::new();
    for finding in findings.into_iter().filter(|finding| seen.insert(Fingerprint::of(finding))) {
        let kept_back = kept_back(finding, &synthesis.verdict);
        let mut placed = match kept_back {
            Some(why) => Placed::in_summary(why),
            None => anchor::place(finding, around.diff),
        };
        let is_comment = !matches!(placed.place, Place::Summary { .. });
        if is_comment && comments == INLINE {
            placed = Placed::in_summary(Why::TooMany);
        } else if is_comment {
            comments += 1;
        }
        posts.push(post(finding, placed, &files, around.parses));
    }
    posts
}

/// Returns the reason why a finding gets no comment, whatever its place. A blocking finding always
/// may get one.
fn kept_back(finding: &Finding, verdict: &Verdict) -> Option<Why> {
    let blocking = [Rule::Must, Rule::Major, Rule::FailOn];
    let mut reasons = verdict.because.iter().filter(|reason| blocking.contains(&reason.rule));
    if reasons.any(|reason| reason.findings.contains(&finding.id)) {
        return None;
    }
    if finding.pre_existing {
        return Some(Why::PreExisting);
    }
    if !finding.shown {
        return Some(Why::Folded);
    }
    (finding.route == Some(Route::Report)).then_some(Why::ReportedOnly)
}

fn post(
    finding: &Finding,
    mut placed: Placed,
    files: &Files<'_>,
    parses: Option<&dyn Parses>,
) -> Post {
    let suggestion = suggestion::suggest(finding, &placed, files, parses);
    if let Some(suggestion) = &suggestion {
        placed.place = Place::on(Side::Right, suggestion.lines);
    }
    let block = suggestion.as_ref().map(|suggestion| suggestion.block.as_str());
    let body = match placed.place {
        Place::Lines { .. } | Place::File => comment::body(finding, &placed, block, files),
        Place::Summary { .. } => String::new(),
    };
    Post {
        fingerprint: Fingerprint::of(finding),
        path: finding.file.clone(),
        severity: comment::level(finding).to_owned(),
        body,
        entry: comment::entry(finding, &placed),
        line: comment::line(finding),
        place: placed.place,
    }
}
