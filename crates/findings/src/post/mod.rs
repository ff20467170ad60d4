//! A pull request's review, composed: [`compose`] turns a synthesis into a [`Draft`] of comments
//! and a summary, every finding in exactly one of them.
//!
//! Nothing is sent from here. Whoever posts a draft finds out what stands already and what is
//! refused ([`Standing`]), asks the draft what is left to say, and decides nothing about words. All
//! text of findings is taken to be hostile: it forges no [`marker`], ends no fence, loads no image
//! and tells nobody.

mod anchor;
mod check_run;
mod comment;
mod diff;
mod fitting;
pub mod marker;
mod suggestion;
mod summary;
mod text;
mod ticket;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use self::anchor::Placed;
use self::marker::Marker;
use self::summary::Page;
use crate::finding::Finding;
use crate::gate::Route;
use crate::ground::Tree;
use crate::identity::Resolved;
use crate::path::RepoPath;
use crate::report::ReviewerKind;
use crate::synthesis::{ReportSummary, Synthesis};
use crate::verdict::{Rule, State, Verdict};
use crate::write::plain;

pub use self::anchor::{Place, Why};
pub use self::check_run::{Annotation, AnnotationLevel, CheckRun, Conclusion, check_run};
pub use self::diff::{Diff, FileHunks, HunkLines, Kind, Side};
pub use self::marker::{Finders, Fingerprint, ReviewKey};
pub use self::suggestion::Parses;
pub use self::summary::spare_part;
pub use self::ticket::ticket_comment;

/// The most bytes of a body, with its marker; the service takes a little more.
const BODY: usize = 60_000;
/// The most comments that one call carries.
const COMMENTS: usize = 30;
/// The most comments on one pull request.
const INLINE: usize = 100;
/// What a call says that has only comments for us.
const MORE: &str = "More comments of the same review.";
/// The most characters of a reason in a review's body.
const REASON: usize = 300;

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
    /// What a change that is ready gets.
    pub when_ready: WhenReady,
    /// What is gone since the last review, and only what somebody looked for.
    pub resolved: &'a [Resolved],
    /// Where all of the review can be read: an address or a command.
    pub run: Option<&'a str>,
}

/// What a change that is ready gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenReady {
    /// It is approved.
    #[default]
    Approve,
    /// It is only commented on.
    Comment,
}

/// What a review does to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    /// It lets it through.
    Approve,
    /// It holds it up.
    RequestChanges,
    /// It says something.
    Comment,
}

impl Event {
    /// Gives the event its word in the service's interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Event::Approve => "APPROVE",
            Event::RequestChanges => "REQUEST_CHANGES",
            Event::Comment => "COMMENT",
        }
    }

    fn of(state: State, when_ready: WhenReady) -> Event {
        match (state, when_ready) {
            (State::Ready | State::ReadyWithFixes, WhenReady::Approve) => Event::Approve,
            (State::Ready | State::ReadyWithFixes, WhenReady::Comment) => Event::Comment,
            (State::NotReady, _) => Event::RequestChanges,
            (State::Incomplete, _) => Event::Comment,
        }
    }
}

/// A review that is ready to be posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    head: String,
    /// The branch that the commits were held against, where it is known by name.
    #[serde(default)]
    base: Option<String>,
    event: Event,
    /// Whether the change is ready, whatever the review does about it.
    #[serde(default)]
    is_ready: bool,
    /// Who looks alike each time and has, where all who had to did: what they do not find any more
    /// is gone.
    looked: Finders,
    /// What is there, or may be, and is not told.
    #[serde(default)]
    untold: BTreeSet<Fingerprint>,
    /// The verdict in a sentence or two.
    verdict: String,
    key: ReviewKey,
    posts: Vec<Post>,
    /// What is gone or was dismissed, and needs no comment any more.
    settled: BTreeSet<Fingerprint>,
    page: Page,
}

/// One finding of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// What it is told again by.
    pub fingerprint: Fingerprint,
    /// Its file.
    pub path: Option<RepoPath>,
    /// Where it is shown.
    pub place: Place,
    /// How bad it is, of the seven levels.
    severity: String,
    /// Its comment; empty where it is in the summary.
    body: String,
    /// What the summary says where there is no comment.
    entry: String,
    /// The same on one line.
    line: String,
}

/// What stands on a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The findings that have a comment.
    pub visible: BTreeSet<Fingerprint>,
    /// The findings whose comment was refused, and why.
    pub refused: BTreeMap<Fingerprint, String>,
    /// The reviews that stand, and whose verdict no later one took the place of.
    pub reviews: BTreeSet<ReviewKey>,
}

/// One call that posts a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCall {
    /// What it is told again by; its body says it too.
    pub key: ReviewKey,
    /// The commit that it is about.
    pub commit: String,
    /// What it does.
    pub event: Event,
    /// What it says.
    pub body: String,
    /// Its comments on lines.
    pub comments: Vec<LineComment>,
}

/// A comment on lines of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineComment {
    /// What it is told again by; its body says it too.
    pub fingerprint: Fingerprint,
    /// The file.
    pub path: RepoPath,
    /// The side.
    pub side: Side,
    /// The first line, where there are several.
    pub start: Option<u32>,
    /// The last line.
    pub line: u32,
    /// What it says.
    pub body: String,
}

/// A comment on a file of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileComment {
    /// What it is told again by; its body says it too.
    pub fingerprint: Fingerprint,
    /// The commit that it is about.
    pub commit: String,
    /// The file.
    pub path: RepoPath,
    /// What it says.
    pub body: String,
}

/// The files of a tree, each read once.
struct Files<'t> {
    tree: Option<&'t dyn Tree>,
    known: RefCell<HashMap<RepoPath, Option<Rc<str>>>>,
}

impl Files<'_> {
    fn read(&self, path: &RepoPath) -> Option<Rc<str>> {
        let mut known = self.known.borrow_mut();
        if !known.contains_key(path) {
            let text = self.tree.and_then(|tree| tree.read(path)).map(Rc::from);
            known.insert(path.clone(), text);
        }
        known.get(path).cloned().flatten()
    }
}

/// Composes the review of a pull request.
pub fn compose(synthesis: &Synthesis, around: &Surroundings<'_>) -> Draft {
    let event = Event::of(synthesis.verdict.state, around.when_ready);
    let verdict = in_short(&synthesis.verdict);
    let posts = posts(synthesis, around);
    let said = [around.head, event.as_str(), &verdict];
    let findings = posts.iter().map(|post| post.fingerprint.as_str());
    let untold = untold(synthesis);
    let open: BTreeSet<&Fingerprint> =
        posts.iter().map(|post| &post.fingerprint).chain(&untold).collect();
    let is_gone = |resolved: &&Resolved| !open.contains(&Fingerprint::of_resolved(resolved));
    let gone: Vec<&Resolved> = around.resolved.iter().filter(is_gone).collect();
    let dismissed = synthesis.dismissed.iter().map(Fingerprint::of);
    let dismissed = dismissed.filter(|fingerprint| !open.contains(fingerprint));
    Draft {
        head: around.head.to_owned(),
        base: None,
        event,
        is_ready: is_ready(synthesis.verdict.state),
        looked: looked(synthesis),
        key: ReviewKey::over(said.into_iter().chain(findings)),
        settled: gone.iter().map(|gone| Fingerprint::of_resolved(gone)).chain(dismissed).collect(),
        page: Page::new(synthesis, &gone, around.run),
        untold,
        verdict,
        posts,
    }
}

fn is_ready(state: State) -> bool {
    match state {
        State::Ready | State::ReadyWithFixes => true,
        State::NotReady | State::Incomplete => false,
    }
}

/// Gives who looked, unless somebody who had to did not: then nothing that is missing is gone.
fn looked(synthesis: &Synthesis) -> Finders {
    match synthesis.verdict.state {
        State::Incomplete => Finders::default(),
        State::Ready | State::ReadyWithFixes | State::NotReady => {
            let sure = synthesis.reports.iter().filter(|report| proves_absence(report));
            Finders::of(sure.map(|report| report.reviewer.as_str()))
        }
    }
}

/// Says whether what a reviewer does not report is not there. A model that says nothing of a defect
/// today may have overlooked it.
fn proves_absence(report: &ReportSummary) -> bool {
    let is_whole = report.unusable.is_none() && report.rejected.is_empty();
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
        .map(|reason| plain::comment(&plain::shortened(reason, REASON)))
        .collect();
    let state = plain::capitalised(verdict.state.in_words());
    format!("**{state}**: {}.", reasons.join("; ").trim_end_matches('.'))
}

fn posts(synthesis: &Synthesis, around: &Surroundings<'_>) -> Vec<Post> {
    let files = Files { tree: around.tree, known: RefCell::default() };
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

impl Draft {
    /// Gives the commit that was reviewed.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Says which branch the commits were held against: for another one, they are another change.
    pub fn against(self, base: Option<String>) -> Draft {
        Draft { base, ..self }
    }

    /// Gives the branch that the commits were held against, where it is known.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Gives what its review does to the pull request.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Says whether the change is ready, whatever the review does about it.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Gives the key of the review that carries the verdict.
    pub fn key(&self) -> &ReviewKey {
        &self.key
    }

    /// Gives its findings, the worst first.
    pub fn posts(&self) -> &[Post] {
        &self.posts
    }

    /// Gives the calls that post what is not there yet, the worst first. The first one carries the
    /// verdict, unless that stands already.
    pub fn calls(&self, standing: &Standing) -> Vec<ReviewCall> {
        let missing: Vec<LineComment> =
            self.missing(standing).filter_map(Post::as_line_comment).collect();
        let mut chunks = missing.chunks(COMMENTS);
        let mut calls = Vec::new();
        if !standing.reviews.contains(&self.key) {
            let comments = chunks.next().unwrap_or_default().to_vec();
            let (commit, event) = (self.head.clone(), self.event);
            let body = signed(&self.verdict, &self.key);
            calls.push(ReviewCall { key: self.key.clone(), commit, event, body, comments });
        }
        for comments in chunks {
            calls.push(ReviewCall::of_comments(&self.key, &self.head, comments.to_vec()));
        }
        calls
    }

    /// Gives the comments on files that are not there yet, which are posted one by one.
    pub fn file_comments(&self, standing: &Standing) -> Vec<FileComment> {
        let comment = |post: &Post| {
            let path = post.path.clone().filter(|_| post.place == Place::File)?;
            let (fingerprint, commit) = (post.fingerprint.clone(), self.head.clone());
            Some(FileComment { fingerprint, commit, path, body: post.body.clone() })
        };
        self.missing(standing).filter_map(comment).collect()
    }

    /// Gives the findings that can be resolved, of those that have a comment: what is known to be
    /// gone or was dismissed, and what all who found it looked for, surely, and did not find again.
    pub fn settled(&self, comments: &BTreeMap<Fingerprint, Finders>) -> BTreeSet<Fingerprint> {
        let open: BTreeSet<&Fingerprint> =
            self.posts.iter().map(|post| &post.fingerprint).chain(&self.untold).collect();
        let is_settled = |(print, by): &(&Fingerprint, &Finders)| {
            let is_gone = self.settled.contains(print) || by.are_among(&self.looked);
            is_gone && !open.contains(print)
        };
        comments.iter().filter(is_settled).map(|(print, _)| print.clone()).collect()
    }

    /// Writes the parts of the summary, in which every finding is that has no comment.
    pub fn summary(&self, standing: &Standing) -> Vec<String> {
        summary::parts(&self.page, &self.posts, standing)
    }

    fn missing<'a>(&'a self, standing: &'a Standing) -> impl Iterator<Item = &'a Post> {
        self.posts.iter().filter(|post| {
            !standing.visible.contains(&post.fingerprint)
                && !standing.refused.contains_key(&post.fingerprint)
        })
    }
}

/// Ends the body of a review with its marker.
fn signed(text: &str, key: &ReviewKey) -> String {
    format!("{text}\n\n{}", Marker::Review(key.clone()))
}

impl ReviewCall {
    /// A call with comments alone, which belong to a review.
    fn of_comments(of: &ReviewKey, commit: &str, comments: Vec<LineComment>) -> ReviewCall {
        let findings = comments.iter().map(|comment| comment.fingerprint.as_str());
        let key = ReviewKey::over([of.as_str()].into_iter().chain(findings));
        let (commit, body) = (commit.to_owned(), signed(MORE, &key));
        ReviewCall { key, commit, event: Event::Comment, body, comments }
    }

    /// Parts a call that was refused, so that what is in order gets through: what it does from its
    /// comments, then the comments in halves. Nothing if there is nothing to part.
    pub fn parted(mut self) -> Option<[ReviewCall; 2]> {
        let kept = match self.event {
            Event::Approve | Event::RequestChanges => 0,
            Event::Comment => self.comments.len() / 2,
        };
        if self.comments.len() == kept || (kept == 0 && self.event == Event::Comment) {
            return None;
        }
        let rest = self.comments.split_off(kept);
        let rest = ReviewCall::of_comments(&self.key, &self.commit, rest);
        Some([self, rest])
    }
}

impl Post {
    fn as_line_comment(&self) -> Option<LineComment> {
        let Place::Lines { side, start, line } = self.place else { return None };
        let path = self.path.clone()?;
        let (fingerprint, body) = (self.fingerprint.clone(), self.body.clone());
        Some(LineComment { fingerprint, path, side, start, line, body })
    }
}
