//! `cargo xtask bench`: measures times, compared with other programs in the same run.
//!
//! Times differ between machines, so nothing here fails for being slow: a table shows the
//! measurements and the targets.

mod dashboard;
mod editor;
mod hostile;
mod ledger;
mod merge;
mod meter;
mod personas;
mod queue;
mod reading;
mod recurring;
mod rules;
mod scripts;
mod webhooks;

use std::time::{Duration, Instant};

use anyhow::bail;
use assay_testenv::workspace::command;
use serde_json::{Value, json};

use crate::workspace::write_json;

pub(crate) use hostile::child;
pub(crate) use queue::files::whole_tasks;
pub(crate) use webhooks::{configured, serve_bare};

/// A line of the table.
struct Row {
    what: String,
    /// The value as text.
    shown: String,
    value: Option<f64>,
    bar: Option<Target>,
}

/// The target of a value.
#[derive(Clone, Copy)]
enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Target::AtMost(most) => value <= most,
            Target::AtLeast(least) => value >= least,
        }
    }

    fn shown(self) -> String {
        match self {
            Target::AtMost(most) => format!("<= {most}"),
            Target::AtLeast(least) => format!(">= {least}"),
        }
    }
}

impl Row {
    /// Creates a row with a time and without a target.
    fn time(what: impl Into<String>, time: Duration) -> Row {
        let value = Some(time.as_secs_f64());
        Row { what: what.into(), shown: format!("{time:.3?}"), value, bar: None }
    }

    /// Creates a row with a number and without a target.
    fn count(what: impl Into<String>, value: f64, unit: &str) -> Row {
        Row { what: what.into(), shown: format!("{value:.0}{unit}"), value: Some(value), bar: None }
    }

    /// Creates a row with a ratio and without a target.
    fn ratio(what: impl Into<String>, value: f64) -> Row {
        let shown = format!("{value:.2}x");
        Row { what: what.into(), shown, value: Some(value), bar: None }
    }

    /// Creates a row with a number and a target.
    fn number(what: impl Into<String>, value: f64, unit: &str, bar: Target) -> Row {
        let shown = format!("{value:.2}{unit}");
        Row { what: what.into(), shown, value: Some(value), bar: Some(bar) }
    }

    /// Creates a row for a measurement that failed.
    fn missing(what: impl Into<String>, why: impl std::fmt::Display) -> Row {
        Row { what: what.into(), shown: format!("could not be had: {why}"), value: None, bar: None }
    }

    fn line(&self) -> String {
        let verdict = match (self.bar, self.value) {
            (Some(bar), Some(value)) if bar.is_met(value) => format!("{:>10}", bar.shown()),
            (Some(bar), Some(_)) => format!("{:>10}  MISSED", bar.shown()),
            _ => String::new(),
        };
        format!("{:62}{:>12}  {verdict}", self.what, self.shown).trim_end().to_owned()
    }

    fn json(&self) -> Value {
        let bar = self.bar.map(Target::shown);
        let met = self.bar.zip(self.value).map(|(bar, value)| bar.is_met(value));
        json!({ "what": self.what, "value": self.value, "shown": self.shown, "bar": bar, "met": met })
    }
}

/// A bench: its name and its parts.
type Bench = (&'static str, &'static [fn() -> anyhow::Result<Vec<Row>>]);

const BENCHES: [Bench; 8] = [
    ("dashboard", &[dashboard::rows]),
    ("editor", &[editor::rows]),
    ("findings", &[reading::rows, hostile::rows, merge::rows, recurring::rows]),
    ("rules", &[rules::many_lines, rules::one_change]),
    ("personas", &[personas::rows]),
    ("queue", &[queue::files::rows, queue::idle::rows, queue::postgres::rows]),
    ("webhooks", &[webhooks::rows]),
    ("ledger", &[ledger::rows]),
];

/// Runs one bench or all. A slow run is not a failure.
pub(crate) fn run(name: Option<&str>) -> anyhow::Result<bool> {
    let wanted = |bench: &&Bench| name.is_none_or(|name| name == bench.0);
    if !BENCHES.iter().any(|bench| wanted(&bench)) {
        let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        bail!("there is no such bench; expected one of {}", names.join(", "));
    }
    if cfg!(debug_assertions) {
        let status =
            command("cargo", &["run", "--release", "--quiet", "--package", "assay-lab", "--"])
                .arg("bench")
                .args(name)
                .status()?;
        return Ok(status.success());
    }
    for (name, parts) in BENCHES.iter().filter(wanted) {
        let mut rows = Vec::new();
        for part in *parts {
            for row in part()? {
                println!("{}", row.line());
                rows.push(row.json());
            }
        }
        write_json("bench", &format!("{name}.json"), &json!({ "rows": rows }))?;
    }
    Ok(true)
}

/// Returns the median time of several runs.
fn median<T>(runs: usize, work: impl FnMut() -> T) -> Duration {
    medians(runs, work, || ()).0
}

/// Returns the median times of two functions that run in turns, so that other load of the machine
/// affects both.
fn medians<A, B>(
    runs: usize,
    mut one: impl FnMut() -> A,
    mut other: impl FnMut() -> B,
) -> (Duration, Duration) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..runs.max(1) {
        ones.push(timed(&mut one));
        others.push(timed(&mut other));
    }
    (middle(ones), middle(others))
}

fn timed<T>(work: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
