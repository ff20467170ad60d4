//! `assay eval mine`: builds a set of cases from the history of a repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use assay_change::History;
use assay_engine::evaluation::mining::{CaseKind, Claim, decided_findings, mine, read_threads};
use assay_engine::evaluation::set_folder::{check_set_folder, write_set};
use assay_engine::wording::count;

use super::{note, print};
use crate::exit::Exit;
use crate::process::{self, state_of};

/// Arguments of `assay eval mine`.
#[derive(clap::Args)]
pub(super) struct MineArgs {
    /// The repository, which is only read
    #[arg(default_value = ".")]
    repository: PathBuf,
    /// The folder for the set: new or empty, and outside of the repository
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The sources of cases [default: all]
    #[arg(long, value_enum, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    from: Vec<CaseKindArg>,
    /// Review comments of pull requests, as `gh api repos/OWNER/REPO/pulls/comments` prints them
    #[arg(long, value_name = "FILE")]
    threads: Option<PathBuf>,
    /// Search this many of the newest commits
    #[arg(long, value_name = "N", default_value_t = 2000)]
    commits: usize,
}

/// The source of a case, as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CaseKindArg {
    /// Changes that were reverted
    Reverts,
    /// Changes that a later fix corrected, found by blame
    Fixes,
    /// Security fixes, reverted
    Security,
    /// Review comments on pull requests, from a GitHub export
    Threads,
    /// Findings of earlier reviews by assay that are gone after a change, or were dismissed
    Ledger,
}

impl From<CaseKindArg> for CaseKind {
    fn from(kind: CaseKindArg) -> CaseKind {
        match kind {
            CaseKindArg::Reverts => CaseKind::Reverts,
            CaseKindArg::Fixes => CaseKind::Fixes,
            CaseKindArg::Security => CaseKind::Security,
            CaseKindArg::Threads => CaseKind::Threads,
            CaseKindArg::Ledger => CaseKind::Ledger,
        }
    }
}

pub(super) fn run(args: &MineArgs) -> anyhow::Result<Exit> {
    let history = History::open(&args.repository)?;
    check_set_folder(&args.out, history.root())?;
    let mut kinds: BTreeSet<CaseKind> = args.from.iter().copied().map(CaseKind::from).collect();
    if kinds.contains(&CaseKind::Threads) && args.threads.is_none() {
        bail!("`--from threads` requires the review comments: `--threads FILE`");
    }
    if kinds.is_empty() {
        kinds.extend([CaseKind::Reverts, CaseKind::Fixes, CaseKind::Security, CaseKind::Ledger]);
        kinds.extend(args.threads.as_ref().map(|_| CaseKind::Threads));
    }
    let threads = args.threads.as_deref().map(read_threads).transpose()?.unwrap_or_default();
    let findings = match kinds.contains(&CaseKind::Ledger) {
        true => ledger_findings(history.root(), !args.from.is_empty())?,
        false => Vec::new(),
    };
    let mined = mine(&history, &kinds, &threads, findings, args.commits)?;
    for (reason, commits) in &mined.left_out {
        note(&format!("skipped {commits}: {reason}"));
    }
    if mined.cases.is_empty() {
        bail!(
            "no cases found in the last {} commits of `{}`; search more commits with `--commits`",
            args.commits,
            history.root().display()
        );
    }
    write_set(&args.out, &mined)?;
    let labels: usize = mined.cases.iter().map(|it| it.case.labels.len()).sum();
    print(&format!(
        "{} with {} in `{}`; read the labels before you trust them, then: \
         assay eval {}\n",
        count(mined.cases.len(), "case"),
        count(labels, "label"),
        args.out.display(),
        args.out.display()
    ))?;
    Ok(Exit::Ready)
}

/// Reads the decided findings of the ledger. An unusable ledger is an error only if the user
/// requested its findings.
fn ledger_findings(root: &Path, is_asked_for: bool) -> anyhow::Result<Vec<Claim>> {
    let today = process::today().map(String::from).unwrap_or_default();
    match decided_findings(&state_of(root), &today) {
        Err(error) if !is_asked_for => {
            note(&format!("the ledger is not used: {error:#}"));
            Ok(Vec::new())
        }
        findings => findings,
    }
}
