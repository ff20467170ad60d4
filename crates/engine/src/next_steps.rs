//! The commands that a user may type after a review: [`next_steps`].

use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::VerdictState;
use assay_findings::vote::AutofixClass;

use crate::wording::count;

/// The caller of a review, which decides what a user may type next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewCaller {
    /// A user who reviews any change.
    #[default]
    User,
    /// A user who reviews what is staged.
    UserOnStaged,
    /// The hook of git before a commit.
    CommitHook,
}

/// A command that a user may type next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// The command line.
    pub command: String,
    /// The effect of the command, as the rest of a sentence.
    pub effect: String,
}

impl NextStep {
    fn new(command: impl Into<String>, effect: impl Into<String>) -> NextStep {
        NextStep { command: command.into(), effect: effect.into() }
    }
}

/// Returns the commands that follow a review. Commands that read a stored run are left out if the
/// review is not stored.
pub fn next_steps(synthesis: &Synthesis, is_stored: bool, caller: ReviewCaller) -> Vec<NextStep> {
    let fix = fix_step(synthesis, is_stored, caller);
    if caller != ReviewCaller::CommitHook || !refuses_commit(synthesis) {
        return fix.into_iter().collect();
    }
    let worst = synthesis.findings.iter().find(|finding| finding.shown).filter(|_| is_stored);
    let mut steps: Vec<NextStep> = fix.into_iter().collect();
    if let Some(Finding { id, .. }) = worst {
        let command = format!("assay findings show {id}");
        steps.push(NextStep::new(command, "shows the first finding"));
        let command = format!("assay findings dismiss {id} --reason TEXT");
        steps.push(NextStep::new(command, "accepts it"));
    }
    steps.push(NextStep::new("git commit --no-verify", "commits without a review"));
    steps
}

fn fix_step(synthesis: &Synthesis, is_stored: bool, caller: ReviewCaller) -> Option<NextStep> {
    let is_safe =
        |f: &&Finding| f.autofix_class == AutofixClass::SafeAuto && f.replacement.is_some();
    let safe = synthesis.findings.iter().filter(is_safe).count();
    let effect = format!("applies {}", count(safe, "safe fix"));
    match caller {
        _ if safe == 0 => None,
        // These fixes are computed from the index, and not from the stored run.
        ReviewCaller::UserOnStaged => Some(NextStep::new("assay fix --staged", effect)),
        ReviewCaller::CommitHook if refuses_commit(synthesis) => {
            Some(NextStep::new("assay fix --staged", effect))
        }
        // After a commit, nothing is staged.
        ReviewCaller::User | ReviewCaller::CommitHook => {
            is_stored.then(|| NextStep::new("assay fix", effect))
        }
    }
}

/// Returns true if the verdict stops a commit.
fn refuses_commit(synthesis: &Synthesis) -> bool {
    match synthesis.verdict.state {
        VerdictState::NotReady | VerdictState::Incomplete => true,
        VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::NothingToReview => false,
    }
}

/// Returns the line that a hook prints for a review without anything to show; `None` if the review
/// has findings or notes, or stops the commit.
pub fn hook_summary(synthesis: &Synthesis, has_notes: bool) -> Option<String> {
    let has_only_leads = synthesis.held_back.iter().all(Finding::is_lead);
    let is_silent = synthesis.findings.is_empty() && has_only_leads && !has_notes;
    if refuses_commit(synthesis) || !is_silent {
        return None;
    }
    let state = synthesis.verdict.state.in_words();
    if synthesis.verdict.state == VerdictState::NothingToReview {
        return Some(format!("assay: {state}"));
    }
    let coverage = synthesis.coverage.as_ref();
    let caveat = coverage.and_then(|coverage| coverage.caveat());
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    let counts = coverage.map(|coverage| format!("; {coverage}")).unwrap_or_default();
    let leads = match synthesis.held_back.len() {
        0 => String::new(),
        number => format!("; {}", count(number, "lead")),
    };
    Some(format!("assay: {state}{caveat}{counts}{leads}"))
}
