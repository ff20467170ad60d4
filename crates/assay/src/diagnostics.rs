//! Diagnostics: the events that all crates emit, as lines on stderr or in an agent's log, and the
//! spans of their work, which are sent to a collector of traces.
//!
//! Without `-v` and without `ASSAY_LOG` no event is formatted. Each line is redacted as a whole by
//! the detector that redacts findings, so that a new event cannot leak a credential.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use assay_agents::log::{self, Log};
use assay_engine::telemetry::{self, TraceExport, TraceLayer};
use assay_findings::write::escape;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry};

use crate::messages;
use crate::process::{self, variable};

/// The variable with the filter of events.
const VARIABLE: &str = "ASSAY_LOG";

/// True if events are printed.
static PRINTS_EVENTS: AtomicBool = AtomicBool::new(false);

/// Options of every command for diagnostics.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Args {
    /// Print more details on stderr; `-vv` for every request, retry and command
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// Diagnostics of this process.
#[derive(Clone)]
pub(crate) struct Diagnostics {
    verbosity: u8,
    filter: Option<String>,
    agent_log: Arc<OnceLock<Arc<Log>>>,
    /// The export of traces; `None` if no traces are sent.
    traces: Option<TraceExport>,
}

/// The duration of a command, which decides when a failure to send traces is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandDuration {
    /// The command ends by itself: failures are reported at its end.
    Ends,
    /// The command runs until it is stopped: the first failure is reported at once.
    RunsUntilStopped,
}

impl Diagnostics {
    /// Starts to print the events that the options and `ASSAY_LOG` select, and to send traces if the
    /// variables of OpenTelemetry name a collector. `ASSAY_LOG` has precedence over the options,
    /// because it is more specific.
    pub(crate) fn install(args: Args, duration: CommandDuration) -> anyhow::Result<Diagnostics> {
        let from_options = match args.verbose {
            0 => None,
            1 => Some("assay=info"),
            2 => Some("assay=debug"),
            _ => Some("assay=trace"),
        };
        let filter = variable(VARIABLE).or(from_options.map(str::to_owned));
        let agent_log = Arc::new(OnceLock::new());
        let lines = match &filter {
            Some(filter) => {
                PRINTS_EVENTS.store(true, Ordering::Relaxed);
                let events = parse(filter)?.and(filter_fn(is_workspace_event));
                let lines = EventLines { agent_log: Arc::clone(&agent_log) };
                Some(lines.with_filter(events))
            }
            None => None,
        };
        let traces = start_traces(duration);
        let spans = traces.as_ref().map(|traces| {
            let filter = filter_fn(TraceLayer::is_exported);
            let filter = filter.with_max_level_hint(LevelFilter::INFO);
            TraceLayer::new(traces, process::clock()).with_filter(filter)
        });
        // Without a subscriber, events and spans cost nothing.
        if lines.is_some() || spans.is_some() {
            Registry::default().with(lines).with(spans).try_init()?;
        }
        Ok(Diagnostics { verbosity: args.verbose, filter, agent_log, traces })
    }

    /// Sends the spans that are not sent yet, for a bounded time, and warns of those that could not
    /// be sent. Call once, after the output of the command.
    pub(crate) fn shut_down(&self) {
        let summary = self.traces.as_ref().map(TraceExport::shut_down);
        summary.and_then(|summary| summary.warning).into_iter().for_each(|it| messages::warn(&it));
    }

    /// Returns the export of traces; `None` if no traces are sent.
    pub(crate) fn traces(&self) -> Option<&TraceExport> {
        self.traces.as_ref()
    }

    /// Returns true if `-v` was given.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbosity > 0
    }

    /// Returns the variable that makes a child process print the same events.
    pub(crate) fn for_child(&self) -> Option<(&'static str, &str)> {
        Some((VARIABLE, self.filter.as_deref()?))
    }

    /// Redirects all further events from stderr to the log of an agent.
    pub(crate) fn write_to(&self, log: &Arc<Log>) {
        // A process runs one agent, so a second log is the same log.
        let _ = self.agent_log.set(Arc::clone(log));
    }
}

/// Returns true if events are printed, in which case nothing may be drawn on the terminal.
pub(crate) fn are_printed() -> bool {
    PRINTS_EVENTS.load(Ordering::Relaxed)
}

/// Prepares the export of traces, and warns of variables that prevent or change it.
fn start_traces(duration: CommandDuration) -> Option<TraceExport> {
    let on_first_failure: Option<telemetry::OnFirstFailure> = match duration {
        CommandDuration::Ends => None,
        CommandDuration::RunsUntilStopped => Some(Box::new(messages::warn)),
    };
    let started = telemetry::start(process::environment(), on_first_failure);
    started.warnings.iter().for_each(|warning| messages::warn(warning));
    started.export
}

/// Returns true for events of this workspace. Events of dependencies hold whole requests and
/// answers.
fn is_workspace_event(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("assay")
}

fn parse(filter: &str) -> anyhow::Result<EnvFilter> {
    EnvFilter::builder().parse(filter).with_context(|| {
        format!(
            "`{VARIABLE}={filter}` is not a filter; use a level (`error`, `warn`, `info`, `debug`, \
             `trace`) or levels of crates, such as `assay_models=debug,assay_store=trace`"
        )
    })
}

/// A layer that formats each event as one line.
struct EventLines {
    agent_log: Arc<OnceLock<Arc<Log>>>,
}

impl<S: Subscriber> Layer<S> for EventLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let text = redacted_line(event);
        match self.agent_log.get() {
            Some(log) => log.record(log_level(metadata), &format!("{}: {text}", metadata.target())),
            None => {
                let (time, level) =
                    (process::clock().now().strftime("%H:%M:%S%.3f"), metadata.level());
                let line = format!("{time} {level:>5} {}: {text}\n", metadata.target());
                // Diagnostics that cannot be printed must not stop the work.
                let _ = io::stderr().lock().write_all(line.as_bytes());
            }
        }
    }
}

fn log_level(metadata: &Metadata<'_>) -> log::Level {
    match *metadata.level() {
        Level::ERROR => log::Level::Error,
        Level::WARN => log::Level::Warning,
        Level::INFO => log::Level::Info,
        Level::DEBUG => log::Level::Debug,
        Level::TRACE => log::Level::Trace,
    }
}

/// Returns the message and the fields of an event as one redacted line.
fn redacted_line(event: &Event<'_>) -> String {
    let mut fields = Fields::default();
    event.record(&mut fields);
    escape::one_line(&assay_rules::redact(&format!("{}{}", fields.message, fields.others)))
}

/// The message of an event, and its other fields as ` name=value`.
#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            name => {
                let _ = write!(self.others, " {name}={value:?}");
            }
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.others, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A layer that collects the lines of events.
    #[derive(Clone, Default)]
    struct Collected(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Collected {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            self.0.lock().unwrap().push(redacted_line(event));
        }
    }

    fn lines(emit: impl FnOnce()) -> Vec<String> {
        let collected = Collected::default();
        let subscriber = Registry::default().with(collected.clone());
        tracing::subscriber::with_default(subscriber, emit);
        let lines = collected.0.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn an_event_is_one_line_with_its_fields() {
        let lines = lines(|| {
            let wait = std::time::Duration::from_millis(1_500);
            tracing::warn!(service = "GitHub", ?wait, error = %"lost\nin transit", "retrying");
        });
        assert_eq!(lines, ["retrying service=\"GitHub\" wait=1.5s error=lost in transit"]);
    }

    #[test]
    fn no_field_of_an_event_shows_a_credential() {
        let token = ["ghp", "_", "R8dY2kLmQ4vTz6WnB1xCs9Hf3JpAeU7gKo5N"].concat();
        let lines = lines(|| {
            tracing::info!(header = %format!("Authorization: Bearer {token}"), "sending");
            tracing::info!("cloning https://x-access-token:{token}@github.com/shop/shop");
            tracing::info!(command = format!("curl -H 'token: {token}'"), "running");
        });
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| !line.contains(&token)), "{lines:?}");
    }

    #[test]
    fn a_filter_that_cannot_be_read_is_refused_with_examples() {
        let error = parse("assay_models=loud").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`ASSAY_LOG=assay_models=loud` is not a filter; use a level (`error`, `warn`, `info`, \
             `debug`, `trace`) or levels of crates, such as `assay_models=debug,assay_store=trace`"
        );
        assert!(parse("debug").is_ok());
        assert!(parse("warn,assay_models=debug,assay_store=trace").is_ok());
    }
}
