//! Exports the state of a loop: `Told` writes the keys of the plan and the generated documents,
//! all of them from the journal's `Standing`.

use std::path::Path;
use std::time::Duration;

use assay_checks::check::{self, CheckOutcome};
use assay_findings::write::escape::chain;
use assay_store::disk::{self, Sure};

use crate::ending::Ending;
use crate::event::{Left, Seen};
use crate::file_names;
use crate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use crate::opening;
use crate::paper::digest;
use crate::paper::{
    self, Appearance, CheckLine, CheckWord, CoverageLine, Escalation, RecurringIssue, Report,
    SignOffLine, Status, TestCount,
};
use crate::plan::{self, HistoryEntry, Signoff, SignoffStatus, Stats};
use crate::run::Breakdown;
use crate::spec::{self, Spec};
use crate::standing::{CameTo, Round, Standing};
use crate::state::State;
use crate::tree_hash::TreeHash;

/// Writes the plan's `qa_*` keys and the documents of a loop.
pub struct Told<'a> {
    /// The spec that the loop validates.
    pub spec: &'a Spec,
    /// The state of the loop.
    pub standing: &'a Standing,
}

impl Told<'_> {
    /// Returns the status of the spec.
    pub fn status(&self) -> Status {
        let status = Status::of(&self.spec.name, &self.signoff(), &self.history());
        status.with_sign_offs(self.sign_offs())
    }

    /// Returns the digests of the documents that `Told::write` would write for this ending.
    pub(crate) fn papers(&self, ending: Option<&Ending>) -> Left {
        let digest = |text: String| digest(text.as_bytes());
        Left {
            request: self.request(ending).map(digest),
            escalation: ending.and_then(|ending| self.escalation(ending)).map(digest),
        }
    }

    /// Writes the plan's keys and all documents into the folder of the spec.
    pub fn write(&self, root: &Path, ending: Option<&Ending>) -> Result<(), Breakdown> {
        let at = |name: &str| {
            let path = spec::file(root, &self.spec.folder, name);
            path.map_err(|error| Breakdown::Fatal(error.to_string()))
        };
        let history = self.history();
        let plan = at(plan::NAME)?;
        plan::write_export(&plan, &self.signoff(), &history, &Stats::of(&history))
            .map_err(|error| Breakdown::Fatal(chain(&error)))?;
        if let Some(report) = self.report() {
            put(&at(file_names::REPORT)?, &report)?;
        }
        opening::archive(root, self.spec, self.standing)
            .map_err(|error| Breakdown::Fatal(chain(&error)))?;
        self.hand(&at(file_names::FIX_REQUEST)?, self.request(ending))?;
        let escalation = ending.and_then(|ending| self.escalation(ending));
        self.hand(&at(file_names::ESCALATION)?, escalation)
    }

    /// Writes a document that a person may write too, provided that the journal has its digest.
    /// Removes the earlier document once the loop is approved. Leaves a file alone that a person
    /// wrote.
    fn hand(&self, path: &Path, text: Option<String>) -> Result<(), Breakdown> {
        let there = disk::read(path).map_err(fatal)?;
        let is_own = there.as_ref().is_none_or(|there| self.standing.knows_paper(&digest(there)));
        let is_approved = matches!(self.standing.state, State::Approved(_));
        match (text, there) {
            _ if !is_own => Ok(()),
            (Some(text), _) if self.standing.knows_paper(&digest(text.as_bytes())) => {
                put(path, &text)
            }
            (None, Some(_)) if is_approved => disk::remove(path).map_err(fatal),
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn signoff(&self) -> Signoff {
        let standing = self.standing;
        let status = standing.exported();
        let ending = match &standing.state {
            State::HandedOver(ending) => Some(ending),
            _ => None,
        };
        let last = standing.history.last();
        let shows_issues =
            matches!(status, SignoffStatus::Rejected | SignoffStatus::HumanEscalation);
        Signoff {
            status,
            qa_session: standing.round,
            timestamp: last.map(|round| in_seconds(&round.at)).unwrap_or_default(),
            tests_passed: last
                .filter(|_| status == SignoffStatus::Approved)
                .and_then(|round| Some(round.seen()?.tests_passed)),
            issues_found: if shows_issues { standing.issues() } else { Vec::new() },
            recurring_issues: match ending {
                Some(Ending::Recurring { issues }) => {
                    issues.iter().map(|(issue, _)| issue.clone()).collect()
                }
                _ => Vec::new(),
            },
            escalation_reason: ending.map(Ending::reason),
        }
    }

    fn history(&self) -> Vec<HistoryEntry> {
        let entry = |round: &Round| HistoryEntry {
            iteration: round.number,
            status: self.word(round).to_owned(),
            timestamp: in_seconds(&round.at),
            issues: self.seen(round).map(|seen| seen.issues).unwrap_or_default(),
        };
        self.standing.history.iter().map(entry).collect()
    }

    /// Returns the status word of a round: `error`, `rejected`, `human_escalation` or `approved`.
    fn word(&self, round: &Round) -> &'static str {
        let is_vouched = self.standing.is_vouched(&round.tree);
        match self.seen(round) {
            None => "error",
            Some(seen) if !seen.issues.is_empty() => "rejected",
            Some(seen) if seen.needs_sign_off && !is_vouched => "human_escalation",
            Some(_) => "approved",
        }
    }

    /// Returns the review result of a round, with the decisions of persons applied.
    fn seen(&self, round: &Round) -> Option<Seen> {
        round.seen().map(|seen| self.standing.with_decisions(seen, &round.tree))
    }

    /// Returns the sign-offs and decisions of persons. An entry about another tree than that of the
    /// last round is marked as void.
    fn sign_offs(&self) -> Vec<SignOffLine> {
        let standing = self.standing;
        let last = standing.history.last().map(|round| &round.tree);
        let vouched = standing.vouched.iter().map(|(by, tree)| SignOffLine {
            by: by.clone(),
            about: None,
            because: None,
            is_void: last.is_some_and(|last| last != tree),
        });
        let decided = standing.decisions.iter().map(|decision| SignOffLine {
            by: decision.by.clone(),
            about: Some(decision.title.clone()),
            because: Some(decision.because.clone()),
            is_void: last.is_some_and(|last| *last != decision.tree),
        });
        vouched.chain(decided).collect()
    }

    fn report(&self) -> Option<String> {
        let round = self.standing.history.last()?;
        let TreeHash(tree) = &round.tree;
        let seen = self.seen(round);
        let seen = seen.as_ref();
        let errors = match &round.came_to {
            CameTo::Error(why) => vec![broke_down(why)],
            CameTo::Verdict(_) => Vec::new(),
        };
        let taken = self.standing.feedback.as_ref();
        Some(paper::report(&Report {
            spec: &self.spec.name,
            verdict: self.word(round),
            round: round.number,
            at: &in_seconds(&round.at),
            tree,
            criteria: seen.map(|seen| seen.criteria.as_slice()).unwrap_or_default(),
            not_judged: if seen.is_none() { &self.spec.criteria } else { &[] },
            checks: &lines(&round.checks),
            coverage: &self.coverage(&round.checks),
            kept: &round.kept,
            feedback: taken,
            issues: seen.map_or(&errors, |seen| &seen.issues),
            sign_offs: &self.sign_offs(),
            no_test_project: seen.is_some_and(|seen| seen.no_test_project),
            remarks: seen.map(|seen| seen.remarks.as_slice()).unwrap_or_default(),
        }))
    }

    fn coverage(&self, checks: &[CheckOutcome]) -> Vec<CoverageLine> {
        let minimum = self.spec.verification.minimum_coverage;
        let measured = checks.iter().filter_map(|check| check.coverage.as_ref());
        let lines = measured.flat_map(|measured| {
            let line = |of: &str, percent: Option<f64>| {
                percent.map(|percent| CoverageLine { of: of.to_owned(), percent, minimum })
            };
            let files = measured.files.iter().map(|(path, file)| (path.as_str(), file.count));
            let all = [("total", measured.total), ("changed lines", measured.changed)];
            let all: Vec<CoverageLine> = all
                .into_iter()
                .chain(files)
                .filter_map(|(of, count)| line(of, count.percent()))
                .collect();
            all
        });
        lines.collect()
    }

    /// Returns the text of the fix request; `None` if no fix is needed.
    fn request(&self, ending: Option<&Ending>) -> Option<String> {
        let is_open = match ending {
            Some(ending) => *ending != Ending::Approved,
            None => self.standing.state == State::Rejected,
        };
        let standing = self.standing;
        is_open.then(|| {
            paper::fix_request(&standing.issues(), &standing.remarks(), standing.round, self.spec)
        })
    }

    fn escalation(&self, ending: &Ending) -> Option<String> {
        if *ending == Ending::Approved {
            return None;
        }
        let standing = self.standing;
        let recurring: Vec<RecurringIssue> = match ending {
            Ending::Recurring { issues } => {
                issues.iter().map(|(issue, _)| self.recurring(issue)).collect()
            }
            _ => Vec::new(),
        };
        let mut open = standing.issues();
        open.retain(|issue| recurring.iter().all(|known| known.issue != *issue));
        let last = standing.history.last();
        let checks = last.map(|round| lines(&round.checks)).unwrap_or_default();
        Some(paper::escalation(&Escalation {
            spec: &self.spec.name,
            round: standing.round,
            at: &last.map(|round| in_seconds(&round.at)).unwrap_or_default(),
            reason: &ending.reason(),
            recurring: &recurring,
            open: &open,
            checks: &checks,
            actions: &self.actions(ending),
            has_fixer: !matches!(ending, Ending::NoFixer { .. }),
        }))
    }

    /// Returns the actions that a person can take: those that the ending suggests, and one for each
    /// issue that the person can decide.
    fn actions(&self, ending: &Ending) -> Vec<String> {
        let open = self.standing.issues();
        let open = open.iter().filter(|issue| issue.remedy.can_be_decided());
        let decide = open.map(|issue| {
            format!("Decide `{}` with `--sign-off`, `--for` and `--because`.", issue.title)
        });
        ending.actions().into_iter().chain(decide).collect()
    }

    fn recurring(&self, issue: &Issue) -> RecurringIssue {
        let appearances = self.standing.appearances(issue).into_iter();
        let appearance = |(round, seen): (&Round, &Issue)| Appearance {
            round: round.number,
            title: seen.title.clone(),
            tried: round.fix.as_ref().map(|fix| fix.said.clone()),
        };
        RecurringIssue { issue: issue.clone(), appearances: appearances.map(appearance).collect() }
    }
}

/// Formats a timestamp without fractions of a second, as plans have it.
fn in_seconds(at: &str) -> String {
    match at.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => at.to_owned(),
    }
}

/// Returns an issue for a failed round. Reports show the issue, and no fixer gets it.
fn broke_down(why: &str) -> Issue {
    Issue {
        title: "The round broke down".to_owned(),
        kind: IssueKind::CodeQuality,
        severity: IssueSeverity::High,
        file: None,
        line: None,
        description: Some(why.to_owned()),
        fix: None,
        key: None,
        remedy: Remedy::Fix,
    }
}

fn lines(checks: &[CheckOutcome]) -> Vec<CheckLine> {
    checks.iter().map(line).collect()
}

fn line(check: &CheckOutcome) -> CheckLine {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    CheckLine {
        name: check.kind.name().to_owned(),
        command: Some(check.command.clone()).filter(|command| !command.is_empty()),
        outcome: match &check.state {
            check::State::Passed => CheckWord::Passed,
            check::State::Failed { .. } => CheckWord::Failed,
            check::State::NotRun { why } => CheckWord::NotRun { why: why.clone() },
            check::State::TimedOut => CheckWord::NotRun { why: "it took too long".to_owned() },
        },
        exit: check.exit_code,
        took: Some(Duration::from_millis(check.duration_ms)),
        tests: check.tests.as_ref().map(|tests| TestCount {
            passed: number(tests.totals.passed),
            failed: number(tests.totals.failed),
            skipped: number(tests.totals.skipped),
        }),
        tail: check.tail.clone(),
        notes: shared_run(check).into_iter().chain(check.notes.iter().cloned()).collect(),
    }
}

/// Returns a note if one run of the command counts for several kinds of check.
fn shared_run(check: &CheckOutcome) -> Option<String> {
    let also: Vec<&str> = check.also.iter().map(|kind| kind.name()).collect();
    let also = Some(also.join(", ")).filter(|also| !also.is_empty())?;
    Some(format!("the run also counts as {also}: the command is the same, so it ran once"))
}

/// Writes a file unless it has this content already.
fn put(path: &Path, text: &str) -> Result<(), Breakdown> {
    if disk::read(path).map_err(fatal)?.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    disk::write(path, text.as_bytes(), Sure::OnDisk).map_err(fatal)
}

fn fatal(error: disk::DiskError) -> Breakdown {
    Breakdown::Fatal(chain(&error))
}
