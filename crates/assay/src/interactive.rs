//! The interactive mode of a review: [`InteractiveReview`] asks the user for a decision on each
//! finding, carries the decisions out, and shows the verdict.

mod dialogue;

use std::io::{self, IsTerminal, Write};

use anyhow::bail;
use assay_engine::interactive_review::{CarriedOut, DecisionList, FixTarget, carry_out};
use assay_engine::models::{ModelSession, Panel};
use assay_engine::review_session::{CompletedReview, ReviewSession};
use assay_engine::wording::count;
use assay_findings::synthesis::Synthesis;
use assay_findings::write::escape;

use self::dialogue::{Dialogue, DialogueEnd, TerminalInput};
use crate::accepted_findings::record_accepted;
use crate::exit::Exit;
use crate::messages::warn;
use crate::output::{self, StyledStdout};
use crate::process::{environment, user_name};
use crate::signals::ReviewInterrupts;
use crate::terminal::{self, BOLD, DIM};

/// Fails if stdin or stdout is not a terminal.
pub(crate) fn check_terminal() -> anyhow::Result<()> {
    if io::stdin().is_terminal() && output::is_terminal() {
        return Ok(());
    }
    bail!("`--mode interactive` requires a terminal; omit the option to review without questions")
}

/// The options of an interactive review.
pub(crate) struct InteractiveReview<'a> {
    /// The place that fixes are applied to.
    pub(crate) target: FixTarget,
    /// True if folded findings are asked about as well.
    pub(crate) all_findings: bool,
    /// The id of the stored run; `None` if it is not stored.
    pub(crate) run: Option<&'a str>,
    /// The interrupts of the review.
    pub(crate) interrupts: &'a ReviewInterrupts,
}

impl InteractiveReview<'_> {
    /// Asks about each finding, carries out the decisions, and shows the verdict, which is the exit
    /// code. `review_again` reviews the change with the applied fixes.
    pub(crate) fn run(
        &self,
        session: &mut ReviewSession,
        reviewed: &CompletedReview,
        review_again: impl FnOnce(
            Option<ModelSession>,
        ) -> anyhow::Result<(ReviewSession, CompletedReview)>,
    ) -> anyhow::Result<Exit> {
        let synthesis = &reviewed.synthesis;
        let mut out = StyledStdout::new();
        let files = count(session.change.files.len(), "file");
        let title = escape::one_line(&session.change.title);
        let mut decisions = self.decisions(session, synthesis);
        let questions = count(decisions.undecided(), "finding");
        writeln!(out, "{BOLD}Review of {title}{BOLD:#} ({files}): {questions} to decide")?;
        if decisions.undecided() > 0 {
            let input = TerminalInput::start(self.interrupts);
            let end = Dialogue { input, out: &mut out }.ask(&session.change, &mut decisions)?;
            if end == DialogueEnd::Discard {
                writeln!(out, "\nno decision was carried out")?;
                return Ok(Exit::from(synthesis.verdict.state));
            }
        }
        let user = user_name(&session.change.root);
        let done = carry_out(environment(), session, synthesis, &decisions, self.target, &user)?;
        record_accepted(session, self.run, &decisions.to_accept());
        write_done(&mut out, &done, &decisions)?;
        self.write_folded(&mut out, synthesis)?;
        let last = self.last_synthesis(session, reviewed, &done, review_again)?;
        writeln!(out)?;
        terminal::write_verdict(&mut out, &last)?;
        Ok(Exit::from(last.verdict.state))
    }

    fn decisions<'s>(&self, session: &ReviewSession, synthesis: &'s Synthesis) -> DecisionList<'s> {
        let fixes = self.target.fixes(&session.change, synthesis);
        let findings = synthesis.findings.iter();
        DecisionList::new(findings.filter(|finding| finding.shown || self.all_findings), &fixes)
    }

    /// Returns the synthesis after the decisions: of a new review if files were changed.
    fn last_synthesis(
        &self,
        session: &ReviewSession,
        reviewed: &CompletedReview,
        done: &CarriedOut,
        review_again: impl FnOnce(
            Option<ModelSession>,
        ) -> anyhow::Result<(ReviewSession, CompletedReview)>,
    ) -> anyhow::Result<Synthesis> {
        if !done.has_fixed() {
            return Ok(session.decide_again(reviewed));
        }
        let (mut later, again) =
            review_again(session.panel.as_ref().and_then(Panel::model_session))?;
        later.share_baseline(session);
        let last = later.decide_again(&again);
        self.interrupts.begin_showing();
        if self.run.is_some()
            && let Err(error) = again.save(&later)
        {
            warn(&format!("cannot store the review of the fixes: {error:#}"));
        }
        self.interrupts.end_showing();
        Ok(last)
    }

    fn write_folded(&self, out: &mut impl Write, synthesis: &Synthesis) -> anyhow::Result<()> {
        let folded = synthesis.findings.iter().filter(|finding| !finding.shown).count();
        if folded > 0 && !self.all_findings {
            let more = count(folded, "more finding");
            writeln!(out, "{DIM}{more} folded; --all-findings asks about all{DIM:#}")?;
        }
        Ok(())
    }
}

/// Prints the effects of the decisions.
fn write_done(
    out: &mut impl Write,
    done: &CarriedOut,
    decisions: &DecisionList<'_>,
) -> anyhow::Result<()> {
    writeln!(out)?;
    if let Some(plan) = &done.plan {
        terminal::write_chosen_fixes(out, plan)?;
    }
    if done.accepted > 0 {
        let path = assay_review::baseline::PATH;
        let accepted = count(done.accepted, "finding");
        writeln!(out, "{accepted} accepted into `{path}`; commit the file to keep them accepted")?;
    }
    if let Some(queued) = &done.task {
        let findings = count(decisions.to_queue().len(), "finding");
        writeln!(
            out,
            "{findings} queued for an agent: task {} in `{}`",
            queued.task.id, queued.queue
        )?;
        writeln!(
            out,
            "  the agent works on the last commit of the branch: commit your work first"
        )?;
    }
    if let Some(error) = &done.queue_error {
        warn(&format!("cannot queue a task for an agent: {error:#}"));
    }
    if decisions.undecided() > 0 {
        writeln!(out, "{} without a decision", count(decisions.undecided(), "finding"))?;
    }
    Ok(())
}
