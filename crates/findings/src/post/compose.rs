//! From a synthesis to a draft: [`compose`] says where each finding goes, and what it says there.

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

/// What a review is composed for.
pub struct Surroundings<'a> {
    /// The pull request's diff, as the service shows it.
    pub diff: &'a Diff,
    /// The tree after it; without one, nothing is suggested.
    pub tree: Option<&'a dyn Tree>,
    /// Whoever can say whether a suggestion leaves a file that parses.
    pub parses: Option<&'a dyn Parses>,
    /// The commit that was reviewed.
    pub head: &'a str,
    /// What the configuration asks for where the change is ready.
    pub when_ready: WhenReady,
    /// What is gone since the last review, and only what somebody looked for.
    pub resolved: &'a [Resolved],
    /// Where all of the review can be read: an address or a command.
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

/// Returns the sentence that says why a review is a comment and not an approval.
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

/// Gives who looked, unless somebody who had to did not: then nothing that is missing is gone.
fn looked(synthesis: &Synthesis) -> Finders {
    match synthesis.verdict.state {
        State::NothingToReview | State::Incomplete => Finders::default(),
        State::Ready | State::ReadyWithFixes | State::NotReady => {
            let sure = synthesis.reports.iter().filter(|report| proves_absence(report));
            Finders::of(sure.map(|report| report.reviewer.as_str()))
        }
    }
}

/// Says whether what a reviewer does not report is not there. A model that says nothing of a defect
/// today may have overlooked it.
fn proves_absence(report: &ReportSummary) -> bool {
    let is_whole =
        report.unusable.is_none() && report.rejected.is_empty() && report.incomplete.is_empty();
    match report.kind {
        // What rules leave out by plan is left out each time, and what they could not read counts in
        // the coverage.
        Some(ReviewerKind::Rules) => is_whole,
        Some(ReviewerKind::Command) => is_whole && report.not_covered.is_empty(),
        Some(ReviewerKind::Persona) | None => false,
    }
}

/// Gives what is not told and yet not gone: what nobody is sure enough of, and what nobody could
/// look for.
fn untold(synthesis: &Synthesis) -> BTreeSet<Fingerprint> {
    let held_back = synthesis.held_back.iter().map(Fingerprint::of);
    held_back.chain(synthesis.unseen.iter().map(Fingerprint::of_resolved)).collect()
}

/// Says where a change stands and why, in a sentence or two that name no finding.
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

/// Says why a finding is no comment, wherever it stands. What blocks always may be one.
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
