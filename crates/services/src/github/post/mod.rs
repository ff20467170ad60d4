//! Posting a review: [`post`] makes a draft stand on a pull request, once, whatever goes wrong.
//!
//! What stands there is read first, and read again whenever nobody knows whether a write took
//! effect; what is left to do follows from that alone (`seen`). So it does not matter where it was
//! broken off before: each finding has its comment, or its place in the summary, exactly once.
//! Comments are told again by their markers, and only those that we wrote ourselves count.

mod seen;
mod verdicts;

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_findings::post::{self as draft, Draft, Fingerprint};
use assay_store::pulls::{CommitId, RepositoryName};

use self::seen::{Own, OwnThread, Seen, Step};
use super::{Event, GitHub, LineComment, NewReview, ReviewState, Side, StandsAs};
use crate::http::ServiceError;

/// How many steps in a row may fail before the review is left for a later attempt.
const MAX_FAILURES: u32 = 4;

/// Delays before GitHub is asked whether a failed write took effect: GitHub may still be working on
/// a review whose response was lost.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(30), Duration::from_secs(240));

/// What came of posting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Posted {
    /// The draft stands on the pull request.
    Stands(Standing),
    /// The pull request is another change by now, which somebody reviews anew: no more is posted.
    Superseded(Moved),
}

/// What became of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// It has another last commit.
    On(CommitId),
    /// It is for another branch.
    Onto(String),
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moved::On(head) => write!(f, "has moved on to {}", head.short()),
            Moved::Onto(base) => write!(f, "is for `{base}` by now"),
        }
    }
}

/// What stands on a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// The findings that have a comment.
    pub visible: BTreeSet<Fingerprint>,
    /// How many comments were added.
    pub added: usize,
    /// How many threads were resolved, as their finding is gone.
    pub resolved: usize,
    /// How many threads were opened again, as their finding is back.
    pub reopened: usize,
    /// How many findings GitHub takes no comment on; they are in the summary.
    pub refused: usize,
    /// How many threads and reviews of ours we may not resolve, open again or take back.
    pub not_permitted: usize,
}

/// Makes a draft stand on a pull request. `posted` are the findings that are known to have had a
/// comment: one that somebody deleted is not written again.
pub fn post(
    github: &GitHub,
    repository: &RepositoryName,
    number: u64,
    draft: &Draft,
    posted: &BTreeSet<Fingerprint>,
) -> Result<Posted, ServiceError> {
    let (base, done) = (draft.base(), Standing::default());
    let mut run = Run { github, repository, number, base, posted, done };
    match run.stand(draft) {
        Ok(()) => Ok(Posted::Stands(run.done)),
        Err(Stop::Moved(moved)) => Ok(Posted::Superseded(moved)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Says whether looking again, and trying once more, may help. What is not permitted, or not there,
/// stays so.
fn is_worth_another_try(error: &ServiceError) -> bool {
    // A limit that nobody waits for now is for whoever tries later.
    let is_limit = matches!(error, ServiceError::Limited { .. });
    !is_limit && (error.is_passing() || error.is_unclear() || error.status() == Some(422))
}

/// Says whether we are told that something is not for us to change, now or later.
fn is_not_permitted(error: &ServiceError) -> bool {
    matches!(error.status(), Some(403 | 404 | 422))
}

/// Why it is not gone on.
enum Stop {
    /// The pull request is another change by now.
    Moved(Moved),
    Failed(ServiceError),
}

impl From<ServiceError> for Stop {
    fn from(error: ServiceError) -> Stop {
        Stop::Failed(error)
    }
}

struct Run<'a> {
    github: &'a GitHub,
    repository: &'a RepositoryName,
    number: u64,
    /// The branch that the draft is about, where it is known.
    base: Option<&'a str>,
    posted: &'a BTreeSet<Fingerprint>,
    done: Standing,
}

impl Run<'_> {
    /// Takes one step after the other until nothing is left to do.
    fn stand(&mut self, draft: &Draft) -> Result<(), Stop> {
        let mut seen = self.look(draft, Seen::default())?;
        let mut failures = 0;
        while let Some(step) = seen.next(draft) {
            let error = match self.take(step, &mut seen) {
                Ok(()) => {
                    failures = 0;
                    continue;
                }
                Err(Stop::Failed(error)) => error,
                Err(moved) => return Err(moved),
            };
            failures += 1;
            if failures > MAX_FAILURES || !is_worth_another_try(&error) {
                return Err(Stop::Failed(error));
            }
            self.wait(failures, &error)?;
            seen = self.look(draft, seen)?;
        }
        self.done.refused = seen.refused.len();
        self.done.not_permitted = seen.left.len();
        self.done.visible = seen.threads.into_keys().collect();
        Ok(())
    }

    fn look(&self, draft: &Draft, before: Seen) -> Result<Seen, Stop> {
        let state = self.github.review_state(self.repository, self.number)?;
        if let (Some(head), Some(base)) = (&state.head, &state.base) {
            self.check_moved(draft.head(), head, base)?;
        }
        self.check_pending(&state)?;
        let mut seen = Seen::of(&state, before);
        seen.leave_deleted(self.posted);
        Ok(seen)
    }

    /// Refuses to write beside a review that is not submitted: GitHub would, and does not say why.
    fn check_pending(&self, state: &ReviewState) -> Result<(), ServiceError> {
        let mut own = state.reviews.iter().filter(|review| review.is_ours);
        if !own.any(|review| review.state == StandsAs::Pending) {
            return Ok(());
        }
        let place = format!("{}#{}", self.repository, self.number);
        Err(ServiceError::Refused {
            service: super::SERVICE,
            what: format!("another review on {place}"),
            status: 422,
            said: format!(
                "there is a review of yours that is not submitted yet on {place}; submit or delete it"
            ),
            unclear: false,
        })
    }

    /// Looks whether it is still the same change, as it is cheap and a verdict on another is not.
    fn look_whether_moved(&self, reviewed: &str) -> Result<(), Stop> {
        let pull = self.github.pull(self.repository, self.number)?;
        self.check_moved(reviewed, &pull.head.commit, &pull.base.branch)
    }

    /// Refuses to go on with another change: what was said of one would be taken to be about it.
    fn check_moved(&self, reviewed: &str, head: &CommitId, base: &str) -> Result<(), Stop> {
        if head.as_str() != reviewed {
            return Err(Stop::Moved(Moved::On(head.clone())));
        }
        match self.base.is_none_or(|reviewed| reviewed == base) {
            true => Ok(()),
            false => Err(Stop::Moved(Moved::Onto(base.to_owned()))),
        }
    }

    fn wait(&self, failures: u32, error: &ServiceError) -> Result<(), ServiceError> {
        let time = BACKOFF.delay(failures - 1);
        let why = format!("{error}; it is looked again in {} s", time.as_secs());
        let waited = self.github.clock().wait(time, &why);
        waited.map_err(|_| ServiceError::Limited {
            service: super::SERVICE,
            what: "posting the review".to_owned(),
            wait: time,
        })
    }

    /// Takes a step, and notes what stands there from now on.
    fn take(&mut self, step: Step, seen: &mut Seen) -> Result<(), Stop> {
        let (github, repository, number) = (self.github, self.repository, self.number);
        match step {
            Step::Review(call) => self.review(call, seen)?,
            Step::CommentOnFile(comment) => self.comment_on_file(&comment, seen)?,
            Step::NewPart(part, body) => {
                let comment = github.comment(repository, number, &body)?;
                seen.summary.insert(part, (comment.id, body));
            }
            Step::ChangePart(part, id, body) => {
                github.update_comment(repository, id, &body)?;
                seen.summary.insert(part, (id, body));
            }
            Step::Reopen(id) => {
                if permitted(github.unresolve(&id), Own::Thread(id.clone()), seen)? {
                    self.done.reopened += 1;
                    mark(seen, &id, false);
                }
            }
            Step::Resolve(id) => {
                if permitted(github.resolve(&id), Own::Thread(id.clone()), seen)? {
                    self.done.resolved += 1;
                    mark(seen, &id, true);
                }
            }
            Step::Dismiss(id, head, why) => {
                self.look_whether_moved(&head)?;
                let dismissed = github.dismiss_review(repository, number, id, why);
                if permitted(dismissed, Own::Review(id), seen)? {
                    seen.reviews.dismissed(id);
                }
            }
        }
        Ok(())
    }

    /// Sends a review. Where it is refused, it is sent in parts until it is known what is wrong.
    fn review(&mut self, call: draft::ReviewCall, seen: &mut Seen) -> Result<(), Stop> {
        if call.event != draft::Event::Comment {
            self.look_whether_moved(&call.commit)?;
        }
        let sent = self.github.submit_review(self.repository, self.number, &as_review(&call));
        match sent {
            Ok(posted) => {
                self.done.added += call.comments.len();
                seen.reviews.sent(posted.id, &call);
                let prints = call.comments.into_iter().map(|comment| comment.fingerprint);
                prints.for_each(|print| note_thread(seen, print));
                Ok(())
            }
            Err(error) if error.status() == Some(422) => {
                // Nothing is taken on commits that were pushed away, and nothing is wrong with it.
                self.look_whether_moved(&call.commit)?;
                self.refused(call, seen, error)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn refused(
        &mut self,
        mut call: draft::ReviewCall,
        seen: &mut Seen,
        error: ServiceError,
    ) -> Result<(), Stop> {
        if let Some([first, second]) = call.clone().parted() {
            // What it does goes without its comments, so it would be found to be missing next anyway.
            seen.parts.push(second);
            return match first.comments.is_empty() {
                true => self.review(first, seen),
                false => {
                    seen.parts.push(first);
                    Ok(())
                }
            };
        }
        if let Some(comment) = call.comments.pop() {
            let said = error.said().unwrap_or_default().to_owned();
            seen.refused.insert(comment.fingerprint, said);
            return Ok(());
        }
        match call.event {
            // Nobody approves or holds up what is their own, and not everybody may.
            draft::Event::Approve | draft::Event::RequestChanges => {
                call.event = draft::Event::Comment;
                self.review(call, seen)
            }
            draft::Event::Comment => Err(error.into()),
        }
    }

    fn comment_on_file(
        &mut self,
        comment: &draft::FileComment,
        seen: &mut Seen,
    ) -> Result<(), Stop> {
        let commit = commit(&comment.commit);
        let (path, body) = (comment.path.as_str(), &comment.body);
        let sent = self.github.comment_on_file(self.repository, self.number, &commit, path, body);
        match sent {
            Ok(_) => {
                self.done.added += 1;
                note_thread(seen, comment.fingerprint.clone());
                Ok(())
            }
            Err(error) if error.status() == Some(422) => {
                self.look_whether_moved(&comment.commit)?;
                let said = error.said().unwrap_or_default().to_owned();
                seen.refused.insert(comment.fingerprint.clone(), said);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Says whether something of ours could be changed. What we may not change is left as it is: it is
/// better to have too much stand there than to tell nothing.
fn permitted<T>(
    changed: Result<T, ServiceError>,
    what: Own,
    seen: &mut Seen,
) -> Result<bool, ServiceError> {
    match changed {
        Ok(_) => Ok(true),
        Err(error) if is_not_permitted(&error) => {
            seen.left.insert(what);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Notes a thread that was just made; what it is called is not known until it is looked at.
fn note_thread(seen: &mut Seen, fingerprint: Fingerprint) {
    let new = OwnThread { id: String::new(), is_resolved: false, is_resolved_by_us: false };
    seen.threads.entry(fingerprint).or_default().push(new);
}

fn mark(seen: &mut Seen, id: &str, is_resolved: bool) {
    let threads = seen.threads.values_mut().flatten().filter(|thread| thread.id == id);
    for thread in threads {
        thread.is_resolved = is_resolved;
        thread.is_resolved_by_us = is_resolved;
    }
}

fn as_review(call: &draft::ReviewCall) -> NewReview {
    let comments = call.comments.iter().map(|comment| {
        let side = match comment.side {
            draft::Side::Left => Side::Left,
            draft::Side::Right => Side::Right,
        };
        LineComment {
            path: comment.path.to_string(),
            line: comment.line,
            side,
            start_line: comment.start,
            start_side: comment.start.map(|_| side),
            body: comment.body.clone(),
        }
    });
    NewReview {
        commit: commit(&call.commit),
        event: match call.event {
            draft::Event::Approve => Event::Approve,
            draft::Event::RequestChanges => Event::RequestChanges,
            draft::Event::Comment => Event::Comment,
        },
        body: call.body.clone(),
        comments: comments.collect(),
    }
}

/// Takes the commit of a draft, which was found to be the head of the pull request.
fn commit(text: &str) -> CommitId {
    text.parse().expect("the head of a pull request is a commit")
}
