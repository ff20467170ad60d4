//! Parsing of texts that are designed to take long: time per byte and peak memory, for small and
//! huge texts.
//!
//! Each text is parsed in its own process, so that the peak memory is that of one text.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use assay_findings::script_api::{SeverityFormat, parse};
use serde_json::{Value, json};

use super::{Row, Target, median};
use crate::workspace::output;

const SMALL_BYTES: usize = 64 << 10;
const HUGE_BYTES: usize = 16 << 20;

/// The time limit of one parse.
const PARSE_TIMEOUT: Duration = Duration::from_secs(120);

/// The kinds of texts: name, beginning, and the repeated part.
const KINDS: [(&str, &str, &str); 16] = [
    ("keys-without-values", "", "{\"a\" "),
    ("opening-brackets", "", "["),
    ("opening-braces", "", "{"),
    ("unclosed-string-of-quotes", "{\"a\":\"", "x\" "),
    ("numbers", "[", "1,"),
    ("closing-braces", "[", "}"),
    ("mixed-quotes", "{\"findings\": [", "\"'"),
    ("nested-lists-of-findings", "", "{\"findings\":["),
    ("empty-findings", "[", "{\"file\":\"a\"},"),
    ("open-comments", "", "{/*"),
    ("open-fences", "", "```json\n{\n"),
    ("escaped-openings", "", "{\\\"a\\\":"),
    ("tagged-lines", "", "[HIGH] a.rs:1 x\n"),
    ("severities-on-one-line", "", "CRITICAL: "),
    ("approvals-on-one-line", "", "Verdict: APPROVE and "),
    ("failed-tests-on-one-line", "", "3 tests failed, not pass "),
];

fn text(kind: &str, bytes: usize) -> anyhow::Result<String> {
    let Some((_, start, repeated)) = KINDS.iter().find(|(name, _, _)| *name == kind) else {
        bail!("there is no hostile text `{kind}`");
    };
    let mut text = String::with_capacity(bytes);
    text.push_str(start);
    while text.len() + repeated.len() <= bytes {
        text.push_str(repeated);
    }
    Ok(text)
}

/// Measures every kind, small and huge.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (kind, _, _) in KINDS {
        let measured = measure(kind, SMALL_BYTES, 31)
            .and_then(|small| Ok((small, measure(kind, HUGE_BYTES, 3)?)));
        let (small, huge) = match measured {
            Ok(measured) => measured,
            Err(error) => {
                rows.push(Row::missing(format!("hostile {kind}"), format!("{error:#}")));
                continue;
            }
        };
        rows.push(Row::time(format!("hostile {kind}, 16 MiB"), huge.time));
        let growth = (huge.time.as_secs_f64() / HUGE_BYTES as f64)
            / (small.time.as_secs_f64() / SMALL_BYTES as f64);
        let what = "  time per byte, 16 MiB against 64 KiB";
        rows.push(Row::number(what, growth, "x", Target::AtMost(1.5)));
        let memory = huge.peak as f64 / HUGE_BYTES as f64;
        rows.push(Row::number("  peak memory by the input", memory, "x", Target::AtMost(12.0)));
    }
    Ok(rows)
}

/// The cost of one parse.
struct ParseCost {
    time: Duration,
    /// Peak memory in bytes, above that of the process before.
    peak: u64,
}

fn measure(kind: &str, bytes: usize, runs: usize) -> anyhow::Result<ParseCost> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(["bench-child", kind, &bytes.to_string(), &runs.to_string()]);
    let printed: Value = serde_json::from_str(&output(command)?)?;
    let seconds = printed["seconds"].as_f64().context("the child printed no time")?;
    let peak = printed["peak"].as_u64().context("the child printed no peak")?;
    Ok(ParseCost { time: Duration::from_secs_f64(seconds), peak })
}

/// Parses one text in this process and prints the cost.
pub(crate) fn child(kind: &str, bytes: usize, runs: usize) -> anyhow::Result<bool> {
    let text = text(kind, bytes)?;
    let (done, waiting) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if waiting.recv_timeout(PARSE_TIMEOUT).is_err_and(|e| e == mpsc::RecvTimeoutError::Timeout)
        {
            std::process::exit(3);
        }
    });
    let before = memory("VmRSS:")?;
    let start = Instant::now();
    let read = || parse(text.as_bytes(), SeverityFormat::Auto, None);
    std::hint::black_box(read());
    let first = start.elapsed();
    let peak = memory("VmHWM:")?.saturating_sub(before);
    // A slow parse is timed once, since its noise does not matter.
    let slow = first > Duration::from_secs(5);
    let time = if slow { first } else { median(runs, read) };
    drop(done);
    println!("{}", json!({ "seconds": time.as_secs_f64(), "peak": peak }));
    Ok(true)
}

/// Returns an amount of memory from the process's own status, in bytes.
fn memory(field: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(field));
    let amount = line.and_then(|line| line.split_whitespace().nth(1)).context("no such field")?;
    Ok(amount.parse::<u64>()? << 10)
}
