//! Updates of the tickets of a loop in JIRA and Linear: [`TicketTracker`] sends each event once,
//! and moves tickets.
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

use super::SpecLocation;
use super::jira_ticket::{JiraTicket, MAX_LOOP_WAIT, ticket_in_plan};
use crate::config::Settings;
use crate::config::linear::LinearStates;

/// An observer that updates the tickets of a spec, and passes all events on to another observer.
pub(super) struct TicketTracker<'a> {
    listener: &'a dyn LoopObserver,
    spec: &'a str,
    repository: String,
    jira: Option<JiraTicket<'a>>,
    linear: Option<LinearTicket>,
    sent: RefCell<BTreeSet<[u8; 16]>>,
    warn: &'a dyn Fn(&str),
}

/// Sends the messages to JIRA that an earlier run of the loop stored, if the loop does not run
/// again.
pub(super) fn send_stored_updates(
    place: &SpecLocation,
    root: &Path,
    base: Option<&str>,
    warn: &dyn Fn(&str),
) {
    let send = || -> anyhow::Result<()> {
        let outbox = place.environment.state_of(root).home_folder("outbox")?;
        let outbox = Outbox::in_folder(outbox, place.environment.clock());
        if ticket_in_plan(place.plan(), "jira_key").is_none()
            || !dispatcher::has_ticket_updates(&outbox)?
        {
            return Ok(());
        }
        let settings = Settings::of(&place.environment, &place.change(base)?)?;
        if settings.qa.tracking.unwrap_or(true)
            && let Some(ticket) = JiraTicket::open(place.plan(), &settings, root, warn)?
        {
            ticket.send_due();
        }
        Ok(())
    };
    if let Err(error) = send() {
        warn(&format!("cannot send the stored messages to JIRA: {error:#}"));
    }
}

/// An issue in Linear, which is created at the first event.
struct LinearTicket {
    linear: Linear,
    /// The identifier of the issue; `None` if the plan names no issue.
    named: Option<String>,
    states: LinearStates,
    issue: RefCell<Option<LinearIssue>>,
}

impl<'a> TicketTracker<'a> {
    /// Creates the observer for the services that are configured. Messages to JIRA go through the
    /// outbox of the repository at `root`; messages of an earlier run are sent first.
    pub(super) fn of(
        place: &'a SpecLocation,
        root: &Path,
        settings: &Settings,
        listener: &'a dyn LoopObserver,
        warn: &'a dyn Fn(&str),
    ) -> TicketTracker<'a> {
        let trouble = |what: &str, error: anyhow::Error| warn(&format!("{what}: {error:#}"));
        let is_wanted = settings.qa.tracking.unwrap_or(true);
        let jira = match is_wanted.then(|| JiraTicket::open(place.plan(), settings, root, warn)) {
            Some(Ok(ticket)) => {
                ticket.iter().for_each(JiraTicket::send_due);
                ticket
            }
            Some(Err(error)) => {
                trouble("JIRA gets no updates of the loop", error);
                None
            }
            None => None,
        };
        let linear = match is_wanted.then(|| open_linear_ticket(place.plan(), settings)) {
            Some(Ok(linear_ticket)) => linear_ticket,
            Some(Err(error)) => {
                trouble("Linear gets no updates of the loop", error);
                None
            }
            None => None,
        };
        TicketTracker {
            listener,
            spec: &place.spec.name,
            repository: repository_name(&place.root).unwrap_or_default(),
            jira,
            linear,
            sent: RefCell::default(),
            warn,
        }
    }

    fn notify(&self, news: &LoopNotification) {
        if let Some(ticket) = &self.jira {
            ticket.update(news, self.spec);
        }
        if let Some(linear_ticket) = &self.linear
            && let Err(error) = self.notify_linear(linear_ticket, news, &news.text(self.spec))
        {
            (self.warn)(&format!("cannot update Linear: {}", chain(&error)));
        }
    }

    fn notify_linear(
        &self,
        linear_ticket: &LinearTicket,
        news: &LoopNotification,
        text: &str,
    ) -> Result<(), LinearError> {
        let mut kept = linear_ticket.issue.borrow_mut();
        let mut issue = match kept.take() {
            Some(issue) => issue,
            None => self.linear_issue(linear_ticket)?,
        };
        let state = match &news.kind {
            NotificationKind::Started => linear_ticket.states.started.as_deref(),
            NotificationKind::Rejected { .. } => None,
            NotificationKind::Approved { .. } => linear_ticket.states.approved.as_deref(),
            NotificationKind::HandedOver { .. } => linear_ticket.states.handed_over.as_deref(),
        };
        let moved = state.map(|state| linear_ticket.linear.move_to(&issue, state)).transpose();
        if let Ok(Some(TransitionOutcome::Moved { to, .. })) = &moved {
            issue.state.clone_from(to);
        }
        let commented =
            linear_ticket.linear.comment_once(&issue, &LinearId::from_digest(news.identity), text);
        *kept = Some(issue);
        moved?;
        commented?;
        Ok(())
    }

    fn linear_issue(&self, linear_ticket: &LinearTicket) -> Result<LinearIssue, LinearError> {
        if let Some(named) = &linear_ticket.named {
            return linear_ticket.linear.issue(named);
        }
        let id =
            LinearId::from_digest(LoopNotification::identity_of_spec(&self.repository, self.spec));
        let description = format!("The spec `{}`, as `assay qa` validates it.", self.spec);
        linear_ticket.linear.get_or_create_issue(&id, self.spec, &description)
    }
}

fn open_linear_ticket(
    plan: &ImplementationPlan,
    settings: &Settings,
) -> anyhow::Result<Option<LinearTicket>> {
    let linear = settings.linear.open(MAX_LOOP_WAIT, |_| ())?;
    let states = settings.linear.states.clone();
    let named = ticket_in_plan(plan, "linear_issue").map(str::to_owned);
    Ok(linear.map(|linear| LinearTicket { linear, named, states, issue: RefCell::default() }))
}

impl LoopObserver for TicketTracker<'_> {
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
        if let Some(news) = news.filter(|news| self.sent.borrow_mut().insert(news.identity)) {
            self.notify(&news);
        }
    }
}
