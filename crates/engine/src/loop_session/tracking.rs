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
use assay_validate::event::Seen;
use assay_validate::ground::Hears;
use assay_validate::news::{Happened, News};
use assay_validate::plan::ImplementationPlan;
use assay_validate::standing::Standing;

use super::Place;
use super::ticket::{Ticket, WAIT, named};
use crate::config::Settings;
use crate::config::linear::StoredStates;

/// An observer that updates the tickets of a spec, and passes all events on to another observer.
pub(super) struct Tracking<'a> {
    listener: &'a dyn Hears,
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
        let outbox = place.environment.state_of(root).outside("outbox")?;
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
        listener: &'a dyn Hears,
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

    fn tell(&self, news: &News) {
        if let Some(ticket) = &self.jira {
            ticket.update(news, self.spec);
        }
        if let Some(followed) = &self.linear
            && let Err(error) = self.tell_linear(followed, news, &news.text(self.spec))
        {
            (self.warn)(&format!("Linear was not told: {}", chain(&error)));
        }
    }

    fn tell_linear(&self, followed: &Followed, news: &News, text: &str) -> Result<(), LinearError> {
        let mut kept = followed.issue.borrow_mut();
        let mut issue = match kept.take() {
            Some(issue) => issue,
            None => self.linear_issue(followed)?,
        };
        let state = match &news.what {
            Happened::Started => followed.states.started.as_deref(),
            Happened::Rejected { .. } => None,
            Happened::Approved { .. } => followed.states.approved.as_deref(),
            Happened::HandedOver { .. } => followed.states.handed_over.as_deref(),
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
        let id = LinearId::from_digest(News::identity_of_spec(&self.repository, self.spec));
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

impl Hears for Tracking<'_> {
    fn round(&self, number: u32) {
        self.listener.round(number);
    }

    fn checking(&self, name: &str) {
        self.listener.checking(name);
    }

    fn checked(&self, outcome: &CheckOutcome) {
        self.listener.checked(outcome);
    }

    fn reviewing(&self) {
        self.listener.reviewing();
    }

    fn reviewed(&self, seen: &Seen) {
        self.listener.reviewed(seen);
    }

    fn fixing(&self, issues: usize) {
        self.listener.fixing(issues);
    }

    fn said(&self, said: &str) {
        self.listener.said(said);
    }

    fn fixed(&self, files: &[String], left_out: &[String]) {
        self.listener.fixed(files, left_out);
    }

    fn broke_down(&self, why: &str) {
        self.listener.broke_down(why);
    }

    fn stands(&self, standing: &Standing, ending: Option<&Ending>) {
        self.listener.stands(standing, ending);
        if self.jira.is_none() && self.linear.is_none() {
            return;
        }
        let news = News::of(&self.repository, self.spec, standing, ending);
        // A failed update is not retried at every step.
        if let Some(news) = news.filter(|news| self.told.borrow_mut().insert(news.identity)) {
            self.tell(&news);
        }
    }
}
