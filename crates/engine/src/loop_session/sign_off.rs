//! Decisions of a person on a tree or on single issues: [`SignOffRecorder`] records a decision that
//! has an effect, and rejects one that has none, with the reason. [`record_sign_off`] records a
//! decision without running the loop.

use std::fmt;

use anyhow::{Context as _, bail};
use assay_checks::check_plan::{PlannedCheck, Risk, plan_checks};
use assay_checks::discovery::Discovery;
use assay_validate::decision::decide;
use assay_validate::ending::Ending;
use assay_validate::event::{EpochReason, Event};
use assay_validate::export::Exporter;
use assay_validate::file_names::FIX_REQUEST;
use assay_validate::journal::Journal;
use assay_validate::loop_state::LoopState;
use assay_validate::loop_status::LoopStatus;
use assay_validate::resume::{ResumeAction, ResumeInput, decide_resume};
use assay_validate::tree_hash::TreeHash;

use super::{
    LoopOptions, LoopRun, NullObserver, SignOff, SpecLocation, UNKNOWN_STATE, loop_error,
    record_event,
};
use crate::models::ModelOptions;

/// The refusal of a decision, with the reason, such as a decision without effect, a running loop or
/// a changed tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOffRefusal(String);

impl fmt::Display for SignOffRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SignOffRefusal {}

/// Records the decision of a person. No check, review or fix runs: a loop that ends with the
/// decision is completed, and any other loop continues with the next run of `assay qa`.
pub fn record_sign_off(
    place: &SpecLocation,
    word: SignOff<'_>,
    warn: &dyn Fn(&str),
) -> anyhow::Result<LoopState> {
    place.check_complete()?;
    let state = place.state()?;
    let journal = Journal::try_open(&place.folder(), &place.seal()?).context(UNKNOWN_STATE)?;
    let mut journal = journal.ok_or_else(|| {
        SignOffRefusal("the loop is running; decide after it has stopped".to_owned())
    })?;
    // An earlier holder of the journal may have changed the spec meanwhile.
    let place = &place.reopen()?;
    place.check_complete()?;
    place.recover(warn)?;
    let mut loop_state = LoopState::of(journal.entries()).context(UNKNOWN_STATE)?;
    let tree = place.tree()?;
    check_feedback(ResumeInput {
        root: &place.root,
        spec: &place.spec,
        loop_state: &loop_state,
        tree: &tree,
        is_own: journal.is_own(),
        resumes: false,
    })?;
    SignOffRecorder { place, base: None, tree: &tree }
        .record(word, &mut journal, &mut loop_state)?;
    let is_decided =
        matches!(loop_state.state, LoopStatus::Approved(_) | LoopStatus::HandedOver(_));
    if !is_decided || loop_state.has_ended {
        // The artifacts of the round show the decision with its author.
        let exporter = Exporter { spec: &place.spec, loop_state: &loop_state };
        exporter.write(&place.root, None).map_err(loop_error)?;
        return Ok(loop_state);
    }
    let models = ModelOptions::without_models();
    let options =
        LoopOptions { base: None, resumes: false, sign_off: None, models: &models, host: None };
    let run = LoopRun { place, options, state: &state, listener: &NullObserver, warn };
    Ok(run.run_to_end(&mut journal, None, loop_state.base)?.1)
}

/// Fails if a person wrote feedback that no run has read. The next run begins with the feedback, so
/// the loop must not end before.
fn check_feedback(found: ResumeInput<'_>) -> anyhow::Result<()> {
    match decide_resume(found)? {
        ResumeAction::BeginEpoch(begin) if begin.feedback.is_some() => {
            bail!(SignOffRefusal(format!("`{FIX_REQUEST}` has open items; run `assay qa` first")))
        }
        ResumeAction::BeginEpoch(_)
        | ResumeAction::Continue
        | ResumeAction::Approved
        | ResumeAction::Wait(_) => Ok(()),
    }
}

/// The tree that a person decides on.
pub(super) struct SignOffRecorder<'a> {
    pub(super) place: &'a SpecLocation,
    /// The base commit that the user names; `None` to find it.
    pub(super) base: Option<&'a str>,
    pub(super) tree: &'a TreeHash,
}

impl SignOffRecorder<'_> {
    /// Records a decision of a person. Fails if the decision has no effect, or if the person saw
    /// another tree.
    pub(super) fn record(
        &self,
        word: SignOff<'_>,
        journal: &mut Journal,
        loop_state: &mut LoopState,
    ) -> anyhow::Result<()> {
        if word.by.trim().is_empty() {
            bail!(SignOffRefusal(
                "missing name: `--sign-off` must name the person who signs off".to_owned()
            ));
        }
        if word.seen_tree.is_some_and(|seen| seen != self.tree.0) {
            bail!(SignOffRefusal(
                "the tree has changed since the page was shown; open the page again".to_owned()
            ));
        }
        match word.about {
            [] => self.approve_tree(word.by.trim(), journal, loop_state),
            about => self.record_decisions(word, about, journal, loop_state),
        }
    }

    fn record_decisions(
        &self,
        word: SignOff<'_>,
        about: &[String],
        journal: &mut Journal,
        loop_state: &mut LoopState,
    ) -> anyhow::Result<()> {
        if !journal.is_own() {
            bail!(SignOffRefusal(
                "the earlier rounds ran on another machine, so there is nothing to decide here; \
                 run `assay qa` without `--sign-off` first"
                    .to_owned()
            ));
        }
        // All decisions are recorded or none: a wrong name must not leave half of them.
        let decide = |wanted: &String| decide(loop_state, self.tree, word.by, wanted, word.because);
        let mut decisions = Vec::new();
        for decision in about.iter().map(decide) {
            let decision = decision?;
            if decisions.contains(&decision) {
                bail!(SignOffRefusal(format!("`{}` is named twice", decision.title)));
            }
            decisions.push(decision);
        }
        for decision in decisions {
            record_event(
                self.place.environment.clock(),
                journal,
                loop_state,
                Event::Decided { decision },
            )?;
        }
        Ok(())
    }

    fn approve_tree(
        &self,
        by: &str,
        journal: &mut Journal,
        loop_state: &mut LoopState,
    ) -> anyhow::Result<()> {
        self.check_effect(journal.is_own(), loop_state)?;
        if !journal.is_own() {
            // Without a new epoch, the decision would be dropped with the events of another
            // machine.
            let base = self.place.base(self.base)?;
            record_event(
                self.place.environment.clock(),
                journal,
                loop_state,
                Event::EpochBegun { why: EpochReason::Elsewhere, base },
            )?;
        }
        let event = Event::SignedOff { by: by.to_owned(), tree: self.tree.clone() };
        record_event(self.place.environment.clock(), journal, loop_state, event)
    }

    /// Fails if the loop neither waits nor will wait for a person to approve the whole tree.
    pub(super) fn check_effect(&self, is_own: bool, loop_state: &LoopState) -> anyhow::Result<()> {
        if loop_state.state == LoopStatus::Approved(self.tree.clone()) && is_own {
            bail!(SignOffRefusal(
                "the tree is approved already; a sign-off has no effect".to_owned()
            ));
        }
        if loop_state.is_signed_off(self.tree) && is_own {
            let by = loop_state.sign_offs.iter().rev().find(|(_, tree)| tree == self.tree);
            let by = by.map(|(by, _)| by.as_str()).unwrap_or_default();
            bail!(SignOffRefusal(format!(
                "{by} has signed off this tree already; another sign-off has no effect"
            )));
        }
        if loop_state.state == LoopStatus::HandedOver(Ending::AwaitsSignOff) || self.needs_person()
        {
            return Ok(());
        }
        let open = loop_state.issues();
        let titles: Vec<String> = open
            .iter()
            .filter(|issue| issue.remedy.can_be_decided())
            .map(|issue| format!("`{}`", issue.title))
            .collect();
        let instead = match titles.is_empty() {
            true => String::new(),
            false => format!(
                "; decide single issues with `--for` and `--because`: {}",
                titles.join(", ")
            ),
        };
        bail!(SignOffRefusal(format!(
            "a sign-off for the whole tree has no effect here: the risk is not `critical`, and the \
             spec has no steps for a person{instead}"
        )))
    }

    /// Returns true if the spec requires a person to approve the whole tree.
    fn needs_person(&self) -> bool {
        let risk = self.place.risk.unwrap_or(Risk::Medium);
        let all = plan_checks(risk, &self.place.spec.verification, &Discovery::default());
        all.iter().any(|it| matches!(it, PlannedCheck::ByHand { .. }))
    }
}
