//! The share of findings that are recovered from broken reviews, compared with two peer libraries.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use assay_findings::read;
use assay_testenv::workspace::{command, target_folder};
use serde_json::{Value, json};

use super::cases::{self, Case};
use super::draft::Expected;
use super::scripts;
use crate::peers;
use crate::workspace::{output, write_json};

/// The number of stored examples of each kind for which a peer recovers more.
const EXAMPLES: usize = 3;

/// The number of findings that a parser recovered from each case; `None` if the parser is not
/// available.
struct Reader {
    name: &'static str,
    recovered: Option<Vec<usize>>,
}

/// Measures, prints the table and writes it to `target/measure/recovery.json`.
pub(super) fn run(seed: u64) -> anyhow::Result<()> {
    let cases = cases::generate(seed);
    println!("seed {seed}, {} cases", cases.len());
    let folder = target_folder("measure")?;
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let input = folder.join("recovery-cases.json");
    std::fs::write(&input, json!(texts).to_string())?;
    let readers = [
        Reader { name: "assay", recovered: Some(assay(&cases)) },
        peer("json_repair", json_repair(&folder, &input), &cases),
        peer("jsonrepair", jsonrepair(&input), &cases),
    ];
    let rows = rows(&cases, &readers);
    print_table(&rows, &readers);
    write_losses(&folder.join("recovery-losses.txt"), &cases, &readers)?;
    write_json("measure", "recovery.json", &as_json(seed, &rows, &readers))
}

// ---- the parsers

fn assay(cases: &[Case]) -> Vec<usize> {
    let read = |case: &Case| -> Vec<Expected> {
        let votes = read::read(&case.text, None).votes.unwrap_or_default();
        votes
            .iter()
            .map(|vote| Expected {
                file: vote.file.as_ref().map(ToString::to_string).unwrap_or_default(),
                line: vote.line().unwrap_or_default(),
                severity: vote.grade.word().to_owned(),
                description: vote.description.clone(),
            })
            .collect()
    };
    cases.iter().map(|case| matching(&case.expected, &read(case))).collect()
}

fn json_repair(folder: &Path, input: &Path) -> anyhow::Result<String> {
    let python = peers::json_repair()?;
    let script = folder.join("recovery.py");
    std::fs::write(&script, scripts::JSON_REPAIR)?;
    run_script(&python.to_string_lossy(), script, input)
}

fn jsonrepair(input: &Path) -> anyhow::Result<String> {
    // Node searches for a package from the script's own folder.
    let script = peers::jsonrepair()?.join("recovery.mjs");
    std::fs::write(&script, scripts::JSONREPAIR)?;
    run_script("node", script, input)
}

fn run_script(program: &str, script: PathBuf, input: &Path) -> anyhow::Result<String> {
    let mut command = command(program, &[]);
    command.arg(script).arg(input);
    output(command)
}

/// Scores the output of a peer's script; a peer that is not available is reported.
fn peer(name: &'static str, printed: anyhow::Result<String>, cases: &[Case]) -> Reader {
    let scored = printed.and_then(|printed| score(&printed, cases));
    if let Err(error) = &scored {
        println!("{name} could not be had: {error:#}");
    }
    Reader { name, recovered: scored.ok() }
}

fn score(printed: &str, cases: &[Case]) -> anyhow::Result<Vec<usize>> {
    let recovered: Vec<Vec<Vec<Value>>> =
        serde_json::from_str(printed).context("the script printed no lists")?;
    ensure!(recovered.len() == cases.len(), "the script answered for {} cases", recovered.len());
    let best = |(case, ways): (&Case, &Vec<Vec<Value>>)| {
        let counts = ways.iter().map(|found| {
            let found: Vec<Expected> = found.iter().filter_map(peer_finding).collect();
            matching(&case.expected, &found)
        });
        counts.max().unwrap_or(0)
    };
    Ok(cases.iter().zip(&recovered).map(best).collect())
}

/// Parses a finding of a peer; a line may be any kind of number or text.
fn peer_finding(found: &Value) -> Option<Expected> {
    let text = |at: usize| found.get(at)?.as_str().map(str::to_owned);
    let line = match found.get(1)? {
        Value::String(text) => text.trim().trim_end_matches('.').parse().ok()?,
        number => number.as_f64()?,
    };
    Some(Expected { file: text(0)?, line: line as u32, severity: text(2)?, description: text(3)? })
}

/// Counts the expected findings that were found, each at most once.
fn matching(expected: &[Expected], found: &[Expected]) -> usize {
    let mut left: Vec<Expected> = found.iter().map(folded).collect();
    let taken = expected.iter().map(folded).filter(|wanted| {
        let at = left.iter().position(|found| found == wanted);
        at.map(|at| left.swap_remove(at)).is_some()
    });
    taken.count()
}

/// Removes the blanks of a description.
fn folded(finding: &Expected) -> Expected {
    let description = finding.description.split_whitespace().collect();
    Expected { description, ..finding.clone() }
}

// ---- the table

/// The number of findings recovered from cases of one kind.
struct Row {
    kind: &'static str,
    cases: usize,
    findings: usize,
    /// The counts by parser.
    recovered: Vec<Option<usize>>,
}

impl Row {
    fn share(&self, reader: usize) -> Option<f64> {
        self.recovered[reader].map(|count| count as f64 / self.findings.max(1) as f64)
    }

    fn is_behind(&self) -> bool {
        self.recovered[1..].iter().flatten().any(|peer| Some(*peer) > self.recovered[0])
    }
}

/// Sums up the cases of each kind, and all cases in a last row.
fn rows(cases: &[Case], readers: &[Reader]) -> Vec<Row> {
    let mut kinds: Vec<&'static str> = cases.iter().map(|case| case.kind).collect();
    kinds.dedup();
    let mut rows: Vec<Row> =
        kinds.into_iter().map(|kind| row(kind, cases, readers, |case| case.kind == kind)).collect();
    rows.push(row("all", cases, readers, |_| true));
    rows
}

fn row(
    kind: &'static str,
    cases: &[Case],
    readers: &[Reader],
    wanted: impl Fn(&Case) -> bool,
) -> Row {
    let chosen: Vec<usize> = (0..cases.len()).filter(|at| wanted(&cases[*at])).collect();
    let sum = |counts: &Vec<usize>| chosen.iter().map(|at| counts[*at]).sum();
    Row {
        kind,
        cases: chosen.len(),
        findings: chosen.iter().map(|at| cases[*at].expected.len()).sum(),
        recovered: readers.iter().map(|reader| reader.recovered.as_ref().map(sum)).collect(),
    }
}

fn print_table(rows: &[Row], readers: &[Reader]) {
    let mut head = format!("{:40}{:>6}{:>10}", "kind", "cases", "findings");
    for reader in readers {
        let _ = write!(head, "{:>13}", reader.name);
    }
    println!("\n{head}");
    for row in rows {
        let mut line = format!("{:40}{:>6}{:>10}", row.kind, row.cases, row.findings);
        for reader in 0..readers.len() {
            let share = row.share(reader);
            let share = share.map_or("not had".to_owned(), |share| format!("{:.1} %", share * 1e2));
            let _ = write!(line, "{share:>13}");
        }
        println!("{line}{}", if row.is_behind() { "  behind" } else { "" });
    }
    println!();
}

fn as_json(seed: u64, rows: &[Row], readers: &[Reader]) -> Value {
    let row = |row: &Row| {
        let shares: serde_json::Map<String, Value> = readers
            .iter()
            .enumerate()
            .map(|(at, reader)| (reader.name.to_owned(), json!(row.share(at))))
            .collect();
        json!({ "kind": row.kind, "cases": row.cases, "findings": row.findings, "share": shares })
    };
    json!({
        "seed": seed,
        "versions": { "json_repair": peers::JSON_REPAIR, "jsonrepair": peers::JSONREPAIR },
        "rows": rows.iter().map(row).collect::<Vec<Value>>(),
    })
}

/// Writes some cases of which a peer recovers more, for debugging: the shortest of each kind.
fn write_losses(path: &Path, cases: &[Case], readers: &[Reader]) -> anyhow::Result<()> {
    let count = |reader: usize, at: usize| Some(readers[reader].recovered.as_ref()?[at]);
    let mut lost: Vec<usize> = (0..cases.len())
        .filter(|at| (1..readers.len()).any(|peer| count(peer, *at) > count(0, *at)))
        .collect();
    lost.sort_by_key(|at| (cases[*at].kind, cases[*at].text.len()));
    let mut losses = String::new();
    for of_kind in lost.chunk_by(|a, b| cases[*a].kind == cases[*b].kind) {
        for at in of_kind.iter().take(EXAMPLES) {
            let Case { kind, text, expected } = &cases[*at];
            let _ =
                write!(losses, "##### {kind}: case {at}, {} findings, recovered", expected.len());
            for (number, reader) in readers.iter().enumerate() {
                let _ = write!(losses, " {}: {}", reader.name, count(number, *at).unwrap_or(0));
            }
            let _ = writeln!(losses, "\n{text}\n");
        }
    }
    std::fs::write(path, losses)?;
    Ok(())
}
