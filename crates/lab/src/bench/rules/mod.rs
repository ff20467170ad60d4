//! The rules over a million lines, compared with semgrep and ast-grep, and over a change of typical
//! size.
//!
//! Every program runs on the same files, in its own repository, on all cores of the machine.

mod corpus;
mod edit;
mod places;
mod translate;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::target_folder;
use serde_json::Value;

use super::meter::{MEBIBYTE, ProcessCost, measure};
use super::{Row, Target};
use crate::peers;
use crate::repository::Repository;
use crate::workspace::assay;
use corpus::Corpus;

/// The number of runs of assay and ast-grep, in turns.
const RUNS: usize = 3;

/// Semgrep reads one of this many files.
const SEMGREP_SHARE: usize = 4;

/// The number of reviews of a change of typical size.
const REVIEWS: usize = 21;

/// The number of files of the large repository.
const MANY_FILES: usize = 11_000;

/// Times every program over a million lines.
pub(super) fn many_lines() -> anyhow::Result<Vec<Row>> {
    let folder = target_folder("bench/rules")?;
    let corpus = Corpus::gather()?;
    let mut rows = corpus.rows();
    let repository = corpus.commit(folder.join("corpus"))?;
    let rules = translate::rules()?;
    rows.push(Row::count("built-in structural rules", rules.len() as f64, ""));
    let binary = assay()?;
    let ast_grep = ast_grep(&folder, &rules);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        own.push(measure(review(&binary, &repository), &folder.join("assay.json"))?);
        if let Ok(peer) = &ast_grep {
            other.push(measure(scan(peer, &repository), &folder.join("ast-grep.jsonl"))?);
        }
    }
    let own = ProcessCost::median_of(own).context("assay was not run")?;
    rows.extend(own_rows(&own, corpus.lines(), &folder.join("assay.json"))?);
    rows.extend(match ast_grep.map(|_| ProcessCost::median_of(other)) {
        Ok(Some(peer)) => {
            let mut rows = peer_rows(&format!("ast-grep {}", peers::AST_GREP), &own, &peer, 1.0);
            let (ours, theirs) = (folder.join("assay.json"), folder.join("ast-grep.jsonl"));
            rows.extend(places::rows(&ours, &theirs, &rules)?);
            rows
        }
        Ok(None) => Vec::new(),
        Err(error) => vec![Row::missing("ast-grep", format!("{error:#}"))],
    });
    rows.extend(compare_with_semgrep(&folder, &corpus, &rules, &binary)?);
    Ok(rows)
}

/// Times assay and semgrep on a part of the files, since semgrep takes long on all of them.
fn compare_with_semgrep(
    folder: &Path,
    corpus: &Corpus,
    rules: &[Value],
    binary: &Path,
) -> anyhow::Result<Vec<Row>> {
    let part = corpus.every(SEMGREP_SHARE);
    let repository = part.commit(folder.join("part"))?;
    let name = format!("semgrep {}", peers::SEMGREP);
    let (peer, told) = match semgrep(folder, rules, &repository) {
        Ok(run) => run,
        Err(error) => return Ok(vec![Row::missing(name, format!("{error:#}"))]),
    };
    let mut own = Vec::new();
    for _ in 0..RUNS {
        own.push(measure(review(binary, &repository), &folder.join("part.json"))?);
    }
    let own = ProcessCost::median_of(own).context("assay was not run")?;
    let what = format!("assay, one file in {SEMGREP_SHARE}: {} lines", part.lines());
    let mut rows = vec![Row::count(what, own.seconds * 1e3, " ms")];
    rows.extend(peer_rows(&name, &own, &peer, 5.0));
    rows.extend(told);
    Ok(rows)
}

/// Times a change of typical size, in a large repository and in a small one.
pub(super) fn one_change() -> anyhow::Result<Vec<Row>> {
    let folder = target_folder("bench/rules")?;
    let corpus = Corpus::gather()?;
    let binary = assay()?;
    let change = edit::Change::new(&corpus)?;
    let large = change.commit(folder.join("large"), corpus.many(MANY_FILES))?;
    let small = change.commit(folder.join("small"), Vec::new())?;
    let (mut in_large, mut in_small) = (Vec::new(), Vec::new());
    for _ in 0..REVIEWS {
        in_large.push(measure(review(&binary, &large), &folder.join("large.json"))?);
        in_small.push(measure(review(&binary, &small), &folder.join("small.json"))?);
    }
    let large = ProcessCost::median_of(in_large).context("no review of the large repository")?;
    let small = ProcessCost::median_of(in_small).context("no review of the small repository")?;
    let what = format!(
        "a change of {} files, {} lines, among {MANY_FILES} files",
        change.files(),
        change.lines()
    );
    let ratio = large.seconds / small.seconds;
    Ok(vec![
        Row::number(what, large.seconds * 1e3, " ms", Target::AtMost(300.0)),
        Row::count("  processor time", large.processor * 1e3, " ms"),
        Row::count("  peak memory", large.peak as f64 / MEBIBYTE, " MiB"),
        Row::count("  the same change among no other files", small.seconds * 1e3, " ms"),
        Row::number("  the large repository against the small", ratio, "x", Target::AtMost(1.5)),
    ])
}

fn review(binary: &Path, repository: &Repository) -> Command {
    let mut command = Command::new(binary);
    command
        .args(["review", "--commit", "HEAD", "--format", "json", "--mode", "report-only"])
        .current_dir(repository.folder());
    command
}

fn own_rows(own: &ProcessCost, lines: usize, printed: &Path) -> anyhow::Result<Vec<Row>> {
    let printed: Value =
        serde_json::from_slice(&std::fs::read(printed)?).context("assay printed no synthesis")?;
    let coverage = &printed["coverage"];
    let by_rules = coverage["reviewed"]["rules"].as_u64().unwrap_or(0);
    let unread = ["left_out", "failed"].map(|key| coverage[key].to_string()).join(", ");
    let text_only = &coverage["text_only"];
    println!("assay: {by_rules} hunks by rules, {text_only} text only; left out, failed: {unread}");
    let memory = own.peak as f64 / MEBIBYTE;
    let found = printed["findings"].as_array().map_or(0, Vec::len);
    Ok(vec![
        Row::count("assay", own.seconds * 1e3, " ms"),
        Row::count("  processor time", own.processor * 1e3, " ms"),
        Row::count("  lines a second", lines as f64 / own.seconds, ""),
        Row::number("  peak memory", memory, " MiB", Target::AtMost(300.0)),
        Row::count("  findings", found as f64, ""),
    ])
}

fn peer_rows(name: &str, own: &ProcessCost, peer: &ProcessCost, least: f64) -> Vec<Row> {
    let ratio = peer.seconds / own.seconds;
    vec![
        Row::count(name, peer.seconds * 1e3, " ms"),
        Row::count("  processor time", peer.processor * 1e3, " ms"),
        Row::count("  peak memory", peer.peak as f64 / MEBIBYTE, " MiB"),
        Row::number("  assay is as many times as fast", ratio, "x", Target::AtLeast(least)),
        Row::ratio("  and by processor time", peer.processor / own.processor),
    ]
}

// ---- the peers

/// The program of a peer and its rules.
struct Peer {
    program: std::path::PathBuf,
    rules: std::path::PathBuf,
}

/// Installs ast-grep and writes the rules in its format, one for each language.
fn ast_grep(folder: &Path, ours: &[Value]) -> anyhow::Result<Peer> {
    let program = peers::pip_program("ast-grep-cli", peers::AST_GREP, "ast-grep")?;
    let rules = translate::for_ast_grep(ours, folder)?;
    Ok(Peer { program, rules })
}

fn scan(peer: &Peer, repository: &Repository) -> Command {
    let mut command = Command::new(&peer.program);
    command.args(["scan", "--json=stream", "--config"]).arg(&peer.rules);
    for ignored in ["hidden", "dot", "exclude", "global", "parent", "vcs"] {
        command.args(["--no-ignore", ignored]);
    }
    command.arg(".").current_dir(repository.folder());
    command
}

/// Runs semgrep once. Returns its cost, and rows with its numbers of rules, files and findings.
fn semgrep(
    folder: &Path,
    ours: &[Value],
    repository: &Repository,
) -> anyhow::Result<(ProcessCost, Vec<Row>)> {
    let program = peers::pip_program("semgrep", peers::SEMGREP, "semgrep")?;
    let translated = translate::for_semgrep(ours, folder)?;
    let cores = std::thread::available_parallelism()?.to_string();
    let mut command = Command::new(program);
    command
        .args(["scan", "--metrics", "off", "--disable-version-check", "--json", "--quiet"])
        .args(["--max-target-bytes", "0", "--jobs", &cores, "--config"])
        .arg(&translated.file)
        .arg(".")
        .current_dir(repository.folder());
    let output = folder.join("semgrep.json");
    let reading = measure(command, &output)?;
    let printed: Value =
        serde_json::from_slice(&std::fs::read(&output)?).context("semgrep printed no results")?;
    let (Some(found), Some(read)) =
        (printed["results"].as_array(), printed["paths"]["scanned"].as_array())
    else {
        bail!("semgrep printed no lists");
    };
    let refused: BTreeSet<&str> = printed["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|error| error["type"] == "Rule parse error")
        .filter_map(|error| error["rule_id"].as_str())
        .collect();
    let refused = refused.len();
    let told = vec![
        Row::count("  rules by their first pattern", translated.by_pattern as f64, ""),
        Row::count("  rules by their first example", translated.by_example as f64, ""),
        Row::count("  rules that it does not get", translated.left as f64, ""),
        Row::count("  rules that it refuses", refused as f64, ""),
        Row::count("  files read by it", read.len() as f64, ""),
        Row::count("  places found by it", found.len() as f64, ""),
    ];
    Ok((reading, told))
}
