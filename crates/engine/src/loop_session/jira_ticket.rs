//! The JIRA ticket of a spec: [`JiraTicket`] stores each update in the outbox, and sends it from
//! there.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use assay_base::clock::Clock;
use assay_findings::write::escape::chain;
use assay_services::dispatcher::{Delivery, Dispatcher, OutboundMessage, TicketMessage};
use assay_store::durable_fs::DiskError;
use assay_store::outbox::{self, Outbox};
use assay_store::pulls::TicketKey;
use assay_store::task::Moment;
use assay_validate::notification::LoopNotification;
use assay_validate::plan::ImplementationPlan;
use serde_json::Value;

use crate::config::Settings;
use crate::config::jira::StepNames;
use crate::ticket_update::TicketEvent;

/// The longest wait for a service at a time.
pub(super) const MAX_LOOP_WAIT: Duration = Duration::from_secs(1);

/// Returns the ticket that a plan names, at its top level or under `metadata`; `None` if it names
/// none.
pub(super) fn ticket_in_plan<'a>(plan: &'a ImplementationPlan, key: &str) -> Option<&'a str> {
    let top = plan.whole().get(key);
    let below = || plan.whole().get("metadata").and_then(|metadata| metadata.get(key));
    top.or_else(below).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// The ticket of a spec. An update that JIRA does not accept stays in the outbox of the repository,
/// for the next run of a loop or an agent.
pub(super) struct JiraTicket<'a> {
    mail: Dispatcher,
    key: TicketKey,
    names: StepNames,
    clock: Clock,
    /// The last warning, which is not repeated in a run.
    warned: RefCell<String>,
    warn: &'a dyn Fn(&str),
}

impl<'a> JiraTicket<'a> {
    /// Opens the ticket that a plan names, with the outbox of the repository at `root`. Returns
    /// `None` if the plan names no ticket, or JIRA is not configured.
    pub(super) fn open(
        plan: &ImplementationPlan,
        settings: &Settings,
        root: &Path,
        warn: &'a dyn Fn(&str),
    ) -> anyhow::Result<Option<JiraTicket<'a>>> {
        let stored = &settings.services.jira;
        let Some(key) = ticket_in_plan(plan, "jira_key").filter(|_| stored.is_configured()) else {
            return Ok(None);
        };
        let key = key.parse()?;
        let Some(jira) = stored.open(MAX_LOOP_WAIT, |_| ())? else { return Ok(None) };
        let environment = &settings.environment;
        let clock = environment.clock().clone();
        let outbox = Outbox::in_folder(environment.state_of(root).home_folder("outbox")?, &clock);
        let mail = Dispatcher { outbox, github: None, gitlab: None, jira: Some(jira) };
        let names = stored.step_names(None);
        Ok(Some(JiraTicket { mail, key, names, clock, warned: RefCell::default(), warn }))
    }

    /// Updates the ticket now, or later if JIRA fails. A new update also retries those that wait.
    pub(super) fn update(&self, news: &LoopNotification, spec: &str) {
        let now = Moment::now(&self.clock);
        let kept = self.store_update(news, spec);
        let report = |delivery: &Delivery| self.report(delivery);
        self.warn_of_waiting(
            kept.and_then(|()| self.mail.deliver_to_ticket(&self.key, now, &report)),
        );
    }

    /// Stores an update in the outbox. The same news is stored and sent once.
    fn store_update(&self, news: &LoopNotification, spec: &str) -> Result<(), DiskError> {
        let update = TicketEvent::Loop { news, spec }.update(self.names.clone());
        self.mail.enqueue(&OutboundMessage::Ticket(TicketMessage {
            key: self.key.clone(),
            marker: news.identity.iter().map(|byte| format!("{byte:02x}")).collect(),
            text: update.text,
            transition: update.transition,
            is_commented: false,
            status: None,
        }))
    }

    /// Sends the due updates of all tickets. Warns of updates that are given up, and of those of
    /// this ticket that wait.
    pub(super) fn send_due(&self) {
        let report = |delivery: &Delivery| self.report(delivery);
        let sent = self.mail.deliver_ticket_updates(Moment::now(&self.clock), &report);
        self.warn_of_waiting(sent.and_then(|()| self.mail.waiting_ticket_updates(&self.key)));
    }

    fn report(&self, delivery: &Delivery) {
        if let Delivery::DeadLettered(why, place) = delivery {
            let why = chain(why);
            self.warn_once(format!(
                "cannot update JIRA: {why}; the message is stored in `{place}`"
            ));
        }
    }

    /// Warns of waiting updates of this ticket.
    fn warn_of_waiting(&self, waiting: Result<Vec<outbox::OutboxMessage>, DiskError>) {
        match waiting {
            Ok(waiting) if waiting.is_empty() => {}
            Ok(waiting) => {
                let why = waiting.iter().find_map(|letter| letter.last_error.as_deref());
                self.warn_once(format!(
                    "cannot update JIRA: {}; the message is stored, and a later run sends it",
                    why.unwrap_or("JIRA does not answer")
                ));
            }
            Err(error) => self.warn_once(format!("cannot update JIRA: {}", chain(&error))),
        }
    }

    fn warn_once(&self, warning: String) {
        if *self.warned.borrow() != warning {
            (self.warn)(&warning);
            *self.warned.borrow_mut() = warning;
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_base::clock::ManualClock;
    use assay_testkit::Repository;
    use assay_testkit::jira::{self, FakeJira, Fault};
    use assay_testkit::web::RunningService;
    use assay_validate::notification::NotificationKind;

    use super::*;
    use crate::environment::Environment;

    /// The longest back-off of a message.
    const ONE_HOUR: Duration = Duration::from_secs(3_600);

    /// A repository with a ticket in JIRA, and a clock that the test advances.
    struct TicketFixture {
        repository: Repository,
        manual: ManualClock,
        jira: FakeJira,
        key: String,
        settings: Settings,
        _served: RunningService,
    }

    impl TicketFixture {
        fn new() -> TicketFixture {
            let (repository, jira) = (Repository::new(), FakeJira::cloud());
            let (key, served) = (jira.add("Story", "Greeting"), jira.serve());
            let text = format!("jira: {{ url: '{}' }}\n", served.url());
            repository.write("config/agent-framework.yaml", text);
            let manual = ManualClock::at("2026-02-03T12:00:00Z".parse().unwrap());
            let home = repository.state_home().display().to_string();
            let variables = [
                ("XDG_STATE_HOME", home.as_str()),
                ("JIRA_USER", jira::USER),
                ("JIRA_API_TOKEN", jira::TOKEN),
            ];
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let environment = Environment::new(variables, &manual.clock(), Vec::new);
            let settings = Settings::on_disk(&environment, repository.path()).unwrap();
            TicketFixture { repository, manual, jira, key, settings, _served: served }
        }

        /// Calls `act` as one run of a loop does, and returns the warnings.
        fn run(&self, act: impl FnOnce(&JiraTicket<'_>)) -> Vec<String> {
            let warnings = RefCell::new(Vec::new());
            let warn = |text: &str| warnings.borrow_mut().push(text.to_owned());
            let plan = format!(r#"{{ "jira_key": "{}" }}"#, self.key);
            let plan = ImplementationPlan::parse(plan).unwrap();
            let root = self.repository.path();
            act(&JiraTicket::open(&plan, &self.settings, root, &warn).unwrap().unwrap());
            warnings.into_inner()
        }

        /// Makes JIRA reject all requests of a run.
        fn is_down(&self) {
            (0..40).for_each(|_| self.jira.fail("/rest/api", Fault::Before(503)));
        }

        fn comments(&self) -> usize {
            self.jira.comments(&self.key).len()
        }
    }

    fn started() -> LoopNotification {
        LoopNotification { kind: NotificationKind::Started, identity: [1; 16] }
    }

    fn approved() -> LoopNotification {
        LoopNotification {
            kind: NotificationKind::Approved { rounds: 1, seconds: 5 },
            identity: [2; 16],
        }
    }

    #[test]
    fn an_update_is_sent_immediately_and_once_if_jira_is_available() {
        let fixture = TicketFixture::new();
        for _ in 0..2 {
            let warned = fixture.run(|ticket| ticket.update(&started(), "001"));
            assert_eq!(warned, Vec::<String>::new());
        }
        assert_eq!(
            (fixture.comments(), fixture.jira.status(&fixture.key)),
            (1, "Code Review".into())
        );
    }

    #[test]
    fn updates_are_kept_while_jira_is_down_and_sent_in_order_by_a_later_run() {
        let fixture = TicketFixture::new();
        fixture.is_down();
        let warned = fixture.run(|ticket| {
            ticket.update(&started(), "001");
            ticket.update(&approved(), "001");
        });
        let [warned] = &warned[..] else { panic!("{warned:?}") };
        assert!(warned.starts_with("cannot update JIRA: JIRA refused "), "{warned}");
        assert!(warned.ends_with("; the message is stored, and a later run sends it"), "{warned}");
        assert_eq!(fixture.comments(), 0);
        fixture.jira.recover();
        // Before the message is due, a run warns that it waits, and sends no request.
        let asked = fixture.jira.asked().len();
        assert_eq!(fixture.run(|ticket| ticket.send_due()).len(), 1);
        assert_eq!(fixture.jira.asked().len(), asked);
        fixture.manual.advance(ONE_HOUR);
        assert_eq!(fixture.run(|ticket| ticket.send_due()), Vec::<String>::new());
        assert_eq!((fixture.comments(), fixture.jira.status(&fixture.key)), (2, "Approved".into()));
    }

    #[test]
    fn an_update_that_failed_once_does_not_block_the_next_one() {
        let fixture = TicketFixture::new();
        let posted = format!("POST /rest/api/3/issue/{}/comment", fixture.key);
        (0..2).for_each(|_| fixture.jira.fail(&posted, Fault::Before(503)));
        let warned = fixture.run(|ticket| {
            ticket.update(&started(), "001");
            ticket.update(&approved(), "001");
        });
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert_eq!((fixture.comments(), fixture.jira.status(&fixture.key)), (2, "Approved".into()));
    }

    #[test]
    fn a_crash_between_storing_and_sending_leaves_one_comment() {
        let fixture = TicketFixture::new();
        fixture.run(|ticket| ticket.store_update(&started(), "001").unwrap());
        assert_eq!(fixture.comments(), 0);
        // The resumed run produces the same news.
        let warned = fixture.run(|ticket| {
            ticket.send_due();
            ticket.update(&started(), "001");
        });
        assert_eq!((fixture.comments(), warned), (1, vec![]));
    }

    #[test]
    fn a_lost_answer_leaves_one_comment_and_the_transition_follows() {
        let fixture = TicketFixture::new();
        let posted = format!("POST /rest/api/3/issue/{}/comment", fixture.key);
        fixture.jira.fail(&posted, Fault::CutAfter);
        let transition = format!("POST /rest/api/3/issue/{}/transitions", fixture.key);
        fixture.jira.fail(&transition, Fault::Before(503));
        let warned = fixture.run(|ticket| ticket.update(&started(), "001"));
        assert_eq!((fixture.comments(), warned.len()), (1, 1));
        fixture.manual.advance(ONE_HOUR);
        assert_eq!(fixture.run(|ticket| ticket.send_due()), Vec::<String>::new());
        assert_eq!(
            (fixture.comments(), fixture.jira.status(&fixture.key)),
            (1, "Code Review".into())
        );
    }
}
