//! Exports the state of a loop: `Exporter` writes the keys of the plan and the generated documents,
//! all of them from the journal's `LoopState`.

use std::path::Path;
use std::time::Duration;

use assay_checks::check::{self, CheckOutcome};
use assay_findings::write::escape::chain;
use assay_store::durable_fs::{self, Durability};

use crate::artifacts::digest;
use crate::artifacts::{
    self, Appearance, CheckLine, CheckLineOutcome, CoverageLine, Escalation, RecurringIssue,
    Report, SignOffLine, StatusReport, TestCount,
};
use crate::ending::Ending;
use crate::event::{ArtifactDigests, ReviewResult};
use crate::file_names;
use crate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use crate::loop_state::{LoopState, Round, RoundOutcome};
use crate::loop_status::LoopStatus;
use crate::plan::{self, HistoryEntry, Signoff, SignoffStatus, Stats};
use crate::resume;
use crate::run::StepError;
use crate::spec::{self, Spec};
use crate::tree_hash::TreeHash;

/// Writes the plan's `qa_*` keys and the documents of a loop.
pub struct Exporter<'a> {
    /// The spec that the loop validates.
    pub spec: &'a Spec,
    /// The state of the loop.
    pub loop_state: &'a LoopState,
}

impl Exporter<'_> {
    /// Returns the status of the spec.
    pub fn status(&self) -> StatusReport {
        let status = StatusReport::of(&self.spec.name, &self.signoff(), &self.history());
        status.with_sign_offs(self.sign_offs())
    }

    /// Returns the digests of the documents that `Exporter::write` would write for this ending.
    pub(crate) fn artifact_digests(&self, ending: Option<&Ending>) -> ArtifactDigests {
        let digest = |text: String| digest(text.as_bytes());
        ArtifactDigests {
            request: self.request(ending).map(digest),
            escalation: ending.and_then(|ending| self.escalation(ending)).map(digest),
        }
    }

    /// Writes the plan's keys and all documents into the folder of the spec.
    pub fn write(&self, root: &Path, ending: Option<&Ending>) -> Result<(), StepError> {
        let at = |name: &str| {
            let path = spec::file(root, &self.spec.folder, name);
            path.map_err(|error| StepError::Fatal(error.to_string()))
        };
        let history = self.history();
        let plan = at(plan::NAME)?;
        plan::write_export(&plan, &self.signoff(), &history, &Stats::of(&history))
            .map_err(|error| StepError::Fatal(chain(&error)))?;
        if let Some(report) = self.report() {
            write_if_changed(&at(file_names::REPORT)?, &report)?;
        }
        resume::archive_feedback(root, self.spec, self.loop_state)
            .map_err(|error| StepError::Fatal(chain(&error)))?;
        self.write_shared_file(&at(file_names::FIX_REQUEST)?, self.request(ending))?;
        let escalation = ending.and_then(|ending| self.escalation(ending));
        self.write_shared_file(&at(file_names::ESCALATION)?, escalation)
    }

    /// Writes a document that a person may write too, provided that the journal has its digest.
    /// Removes the earlier document once the loop is approved. Leaves a file alone that a person
    /// wrote.
    fn write_shared_file(&self, path: &Path, text: Option<String>) -> Result<(), StepError> {
        let there = durable_fs::read(path).map_err(fatal_error)?;
        let is_own =
            there.as_ref().is_none_or(|there| self.loop_state.knows_artifact(&digest(there)));
        let is_approved = matches!(self.loop_state.state, LoopStatus::Approved(_));
        match (text, there) {
            _ if !is_own => Ok(()),
            (Some(text), _) if self.loop_state.knows_artifact(&digest(text.as_bytes())) => {
                write_if_changed(path, &text)
            }
            (None, Some(_)) if is_approved => durable_fs::remove(path).map_err(fatal_error),
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn signoff(&self) -> Signoff {
        let loop_state = self.loop_state;
        let status = loop_state.signoff_status();
        let ending = match &loop_state.state {
            LoopStatus::HandedOver(ending) => Some(ending),
            _ => None,
        };
        let last = loop_state.history.last();
        let shows_issues =
            matches!(status, SignoffStatus::Rejected | SignoffStatus::HumanEscalation);
        Signoff {
            status,
            qa_session: loop_state.round,
            timestamp: last.map(|round| without_fraction(&round.at)).unwrap_or_default(),
            tests_passed: last
                .filter(|_| status == SignoffStatus::Approved)
                .and_then(|round| Some(round.review()?.tests_passed)),
            issues_found: if shows_issues { loop_state.issues() } else { Vec::new() },
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
            status: self.round_status(round).to_owned(),
            timestamp: without_fraction(&round.at),
            issues: self.review(round).map(|review| review.issues).unwrap_or_default(),
        };
        self.loop_state.history.iter().map(entry).collect()
    }

    /// Returns the status word of a round: `error`, `rejected`, `human_escalation` or `approved`.
    fn round_status(&self, round: &Round) -> &'static str {
        let is_signed_off = self.loop_state.is_signed_off(&round.tree);
        match self.review(round) {
            None => "error",
            Some(review) if !review.issues.is_empty() => "rejected",
            Some(review) if review.needs_sign_off && !is_signed_off => "human_escalation",
            Some(_) => "approved",
        }
    }

    /// Returns the review result of a round, with the decisions of persons applied.
    fn review(&self, round: &Round) -> Option<ReviewResult> {
        round.review().map(|review| self.loop_state.with_decisions(review, &round.tree))
    }

    /// Returns the sign-offs and decisions of persons. An entry about another tree than that of the
    /// last round is marked as void.
    fn sign_offs(&self) -> Vec<SignOffLine> {
        let loop_state = self.loop_state;
        let last = loop_state.history.last().map(|round| &round.tree);
        let vouched = loop_state.sign_offs.iter().map(|(by, tree)| SignOffLine {
            by: by.clone(),
            about: None,
            because: None,
            is_void: last.is_some_and(|last| last != tree),
        });
        let decided = loop_state.decisions.iter().map(|decision| SignOffLine {
            by: decision.by.clone(),
            about: Some(decision.title.clone()),
            because: Some(decision.because.clone()),
            is_void: last.is_some_and(|last| *last != decision.tree),
        });
        vouched.chain(decided).collect()
    }

    fn report(&self) -> Option<String> {
        let round = self.loop_state.history.last()?;
        let TreeHash(tree) = &round.tree;
        let review = self.review(round);
        let review = review.as_ref();
        let errors = match &round.outcome {
            RoundOutcome::Error(why) => vec![error_issue(why)],
            RoundOutcome::Verdict(_) => Vec::new(),
        };
        let feedback = self.loop_state.feedback.as_ref();
        Some(artifacts::render_report(&Report {
            spec: &self.spec.name,
            verdict: self.round_status(round),
            round: round.number,
            at: &without_fraction(&round.at),
            tree,
            criteria: review.map(|review| review.criteria.as_slice()).unwrap_or_default(),
            not_judged: if review.is_none() { &self.spec.criteria } else { &[] },
            checks: &lines(&round.checks),
            coverage: &self.coverage(&round.checks),
            kept: &round.kept,
            feedback,
            issues: review.map_or(&errors, |review| &review.issues),
            sign_offs: &self.sign_offs(),
            no_test_project: review.is_some_and(|review| review.no_test_project),
            remarks: review.map(|review| review.remarks.as_slice()).unwrap_or_default(),
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
            None => self.loop_state.state == LoopStatus::Rejected,
        };
        let loop_state = self.loop_state;
        is_open.then(|| {
            artifacts::render_fix_request(
                &loop_state.issues(),
                &loop_state.remarks(),
                loop_state.round,
                self.spec,
            )
        })
    }

    fn escalation(&self, ending: &Ending) -> Option<String> {
        if *ending == Ending::Approved {
            return None;
        }
        let loop_state = self.loop_state;
        let recurring: Vec<RecurringIssue> = match ending {
            Ending::Recurring { issues } => {
                issues.iter().map(|(issue, _)| self.recurring(issue)).collect()
            }
            _ => Vec::new(),
        };
        let mut open = loop_state.issues();
        open.retain(|issue| recurring.iter().all(|known| known.issue != *issue));
        let last = loop_state.history.last();
        let checks = last.map(|round| lines(&round.checks)).unwrap_or_default();
        Some(artifacts::render_escalation(&Escalation {
            spec: &self.spec.name,
            round: loop_state.round,
            at: &last.map(|round| without_fraction(&round.at)).unwrap_or_default(),
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
        let open = self.loop_state.issues();
        let open = open.iter().filter(|issue| issue.remedy.can_be_decided());
        let decide = open.map(|issue| {
            format!("Decide `{}` with `--sign-off`, `--for` and `--because`.", issue.title)
        });
        ending.actions().into_iter().chain(decide).collect()
    }

    fn recurring(&self, issue: &Issue) -> RecurringIssue {
        let appearances = self.loop_state.appearances(issue).into_iter();
        let appearance = |(round, review): (&Round, &Issue)| Appearance {
            round: round.number,
            title: review.title.clone(),
            tried: round.fix.as_ref().map(|fix| fix.summary.clone()),
        };
        RecurringIssue { issue: issue.clone(), appearances: appearances.map(appearance).collect() }
    }
}

/// Formats a timestamp without fractions of a second, as plans have it.
fn without_fraction(at: &str) -> String {
    match at.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => at.to_owned(),
    }
}

/// Returns an issue for a failed round. Reports show the issue, and no fixer gets it.
fn error_issue(why: &str) -> Issue {
    Issue {
        title: "The round failed".to_owned(),
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
            check::CheckState::Passed => CheckLineOutcome::Passed,
            check::CheckState::Failed { .. } => CheckLineOutcome::Failed,
            check::CheckState::NotRun { why } => CheckLineOutcome::NotRun { why: why.clone() },
            check::CheckState::TimedOut => CheckLineOutcome::NotRun { why: "timed out".to_owned() },
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
    Some(format!("the run also counts as {also}: the checks have the same command, which ran once"))
}

/// Writes a file unless it has this content already.
fn write_if_changed(path: &Path, text: &str) -> Result<(), StepError> {
    if durable_fs::read(path).map_err(fatal_error)?.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    durable_fs::write(path, text.as_bytes(), Durability::Fsync).map_err(fatal_error)
}

fn fatal_error(error: durable_fs::DiskError) -> StepError {
    StepError::Fatal(chain(&error))
}
