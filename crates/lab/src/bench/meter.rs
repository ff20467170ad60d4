//! The cost of running a program: [`measure`].

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// The bytes of a mebibyte.
pub(super) const MEBIBYTE: f64 = (1 << 20) as f64;

/// The cost of one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessCost {
    pub(super) seconds: f64,
    /// CPU time in seconds, over all cores.
    pub(super) processor: f64,
    /// The peak memory of any one of the processes, in bytes.
    pub(super) peak: u64,
}

impl ProcessCost {
    /// Returns the measurement with the median time; `None` if there are none.
    pub(super) fn median_of(mut readings: Vec<ProcessCost>) -> Option<ProcessCost> {
        readings.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        readings.get(readings.len() / 2).copied()
    }
}

/// Runs a program with its output in a file, under GNU time, which includes children.
pub(super) fn measure(command: Command, output: &Path) -> anyhow::Result<ProcessCost> {
    let report = output.with_extension("time");
    let mut timed = Command::new("/usr/bin/time");
    timed.args(["--quiet", "--format", "%U %S %M", "--output"]).arg(&report);
    timed.arg(command.get_program()).args(command.get_args());
    timed.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    timed.stdin(Stdio::null()).stdout(File::create(output)?).stderr(Stdio::piped());
    let start = std::time::Instant::now();
    let ended = timed.output().context("could not start `/usr/bin/time`")?;
    let seconds = start.elapsed().as_secs_f64();
    let report = std::fs::read_to_string(&report).context("`/usr/bin/time` told nothing")?;
    let numbers: Vec<f64> = report.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    // Each of these programs exits with an error if it finds something; here, an error is a missing
    // output.
    let [user, system, kibibytes] = numbers[..] else {
        bail!("{}: {}", report.trim(), String::from_utf8_lossy(&ended.stderr).trim());
    };
    if std::fs::metadata(output)?.len() == 0 {
        bail!("nothing was printed: {}", String::from_utf8_lossy(&ended.stderr).trim());
    }
    Ok(ProcessCost { seconds, processor: user + system, peak: (kibibytes as u64) << 10 })
}
