//! Updates of the tickets of a loop in JIRA and Linear: [`Tracking`] sends each event once, and
//! moves tickets.
//!
//! A failure produces a warning and has no other effect: it does not change the verdict, and delays
//! the loop only a little.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use assay_change::repository_name;
use assay_checks::check::CheckOutcome;
use assay_findings::write::escape::chain;
use assay_services::dispatcher;
use assay_services::linear::{Linear, LinearError, LinearId, LinearIssue};
use assay_services::outcome::TransitionOutcome;
use assay_store::outbox::Outbox;
use assay_validate::ending::Ending;
use assay_validate::environment::LoopObserver;
use assay_validate::event::ReviewResult;
use assay_validate::loop_state::LoopState;
use assay_validate::notification::{LoopNotification, NotificationKind};
use assay_validate::plan::ImplementationPlan;

use super::Place;
use super::ticket::{Ticket, WAIT, named};
use crate::config::Settings;
use crate::config::linear::StoredStates;

/// An observer that updates the tickets of a spec, and passes all events on to another observer.
pub(super) struct Tracking<'a> {
    listener: &'a dyn LoopObserver,
    spec: &'a str,
    repository: String,
    jira: Option<Ticket<'a>>,
    linear: Option<Followed>,
    told: RefCell<BTreeSet<[u8; 16]>>,
    warn: &'a dyn Fn(&str),
}

/// Sends the messages to JIRA that an earlier run of the loop stored, if the loop does not run
/// again.
pub(super) fn send_kept(place: &Place, root: &Path, base: Option<&str>, warn: &dyn Fn(&str)) {
    let send = || -> anyhow::Result<()> {
        let outbox = place.environment.state_of(root).home_folder("outbox")?;
        let outbox = Outbox::in_folder(outbox, place.environment.clock());
        if named(place.plan(), "jira_key").is_none() || !dispatcher::has_ticket_updates(&outbox)? {
            return Ok(());
        }
        let settings = Settings::of(&place.environment, &place.change(base)?)?;
        if settings.qa.tracking.unwrap_or(true)
            && let Some(ticket) = Ticket::open(place.plan(), &settings, root, warn)?
        {
            ticket.send();
        }
        Ok(())
    };
    if let Err(error) = send() {
        warn(&format!("messages to JIRA still wait: {error:#}"));
    }
}

/// An issue in Linear, which is created at the first event.
struct Followed {
    linear: Linear,
    /// The identifier of the issue; `None` if the plan names no issue.
    named: Option<String>,
    states: StoredStates,
    issue: RefCell<Option<LinearIssue>>,
}

impl<'a> Tracking<'a> {
    /// Creates the observer for the services that are configured. Messages to JIRA go through the
    /// outbox of the repository at `root`; messages of an earlier run are sent first.
    pub(super) fn of(
        place: &'a Place,
        root: &Path,
        settings: &Settings,
        listener: &'a dyn LoopObserver,
        warn: &'a dyn Fn(&str),
    ) -> Tracking<'a> {
        let trouble = |what: &str, error: anyhow::Error| warn(&format!("{what}: {error:#}"));
        let is_wanted = settings.qa.tracking.unwrap_or(true);
        let jira = match is_wanted.then(|| Ticket::open(place.plan(), settings, root, warn)) {
            Some(Ok(ticket)) => {
                ticket.iter().for_each(Ticket::send);
                ticket
            }
            Some(Err(error)) => {
                trouble("JIRA is not told how the loop goes on", error);
                None
            }
            None => None,
        };
        let linear = match is_wanted.then(|| followed(place.plan(), settings)) {
            Some(Ok(followed)) => followed,
            Some(Err(error)) => {
                trouble("Linear is not told how the loop goes on", error);
                None
            }
            None => None,
        };
        Tracking {
            listener,
            spec: &place.spec.name,
            repository: repository_name(&place.root).unwrap_or_default(),
            jira,
            linear,
            told: RefCell::default(),
            warn,
        }
    }

    fn tell(&self, news: &LoopNotification) {
        if let Some(ticket) = &self.jira {
            ticket.update(news, self.spec);
        }
        if let Some(followed) = &self.linear
            && let Err(error) = self.tell_linear(followed, news, &news.text(self.spec))
        {
            (self.warn)(&format!("Linear was not told: {}", chain(&error)));
        }
    }

    fn tell_linear(
        &self,
        followed: &Followed,
        news: &LoopNotification,
        text: &str,
    ) -> Result<(), LinearError> {
        let mut kept = followed.issue.borrow_mut();
        let mut issue = match kept.take() {
            Some(issue) => issue,
            None => self.linear_issue(followed)?,
        };
        let state = match &news.kind {
            NotificationKind::Started => followed.states.started.as_deref(),
            NotificationKind::Rejected { .. } => None,
            NotificationKind::Approved { .. } => followed.states.approved.as_deref(),
            NotificationKind::HandedOver { .. } => followed.states.handed_over.as_deref(),
        };
        let moved = state.map(|state| followed.linear.move_to(&issue, state)).transpose();
        if let Ok(Some(TransitionOutcome::Moved { to, .. })) = &moved {
            issue.state.clone_from(to);
        }
        let told =
            followed.linear.comment_once(&issue, &LinearId::from_digest(news.identity), text);
        *kept = Some(issue);
        moved?;
        told?;
        Ok(())
    }

    fn linear_issue(&self, followed: &Followed) -> Result<LinearIssue, LinearError> {
        if let Some(named) = &followed.named {
            return followed.linear.issue(named);
        }
        let id =
            LinearId::from_digest(LoopNotification::identity_of_spec(&self.repository, self.spec));
        let description = format!("The spec `{}`, as `assay qa` validates it.", self.spec);
        followed.linear.get_or_create_issue(&id, self.spec, &description)
    }
}

fn followed(plan: &ImplementationPlan, settings: &Settings) -> anyhow::Result<Option<Followed>> {
    let linear = settings.linear.open(WAIT, |_| ())?;
    let states = settings.linear.states.clone();
    let named = named(plan, "linear_issue").map(str::to_owned);
    Ok(linear.map(|linear| Followed { linear, named, states, issue: RefCell::default() }))
}

impl LoopObserver for Tracking<'_> {
    fn on_round(&self, number: u32) {
        self.listener.on_round(number);
    }

    fn on_check_started(&self, name: &str) {
        self.listener.on_check_started(name);
    }

    fn on_check_finished(&self, outcome: &CheckOutcome) {
        self.listener.on_check_finished(outcome);
    }

    fn on_review_started(&self) {
        self.listener.on_review_started();
    }

    fn on_review_finished(&self, seen: &ReviewResult) {
        self.listener.on_review_finished(seen);
    }

    fn on_fix_started(&self, issues: usize) {
        self.listener.on_fix_started(issues);
    }

    fn on_fix_finished(&self, said: &str) {
        self.listener.on_fix_finished(said);
    }

    fn on_fix_applied(&self, files: &[String], left_out: &[String]) {
        self.listener.on_fix_applied(files, left_out);
    }

    fn on_error(&self, why: &str) {
        self.listener.on_error(why);
    }

    fn on_state(&self, loop_state: &LoopState, ending: Option<&Ending>) {
        self.listener.on_state(loop_state, ending);
        if self.jira.is_none() && self.linear.is_none() {
            return;
        }
        let news = LoopNotification::of(&self.repository, self.spec, loop_state, ending);
        // A failed update is not retried at every step.
        if let Some(news) = news.filter(|news| self.told.borrow_mut().insert(news.identity)) {
            self.tell(&news);
        }
    }
}
