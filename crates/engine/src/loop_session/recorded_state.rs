//! The recorded state of a loop, which is read while no run has to hold its journal: the entries,
//! the status on the current tree, and the evidence of its rounds.

use std::path::PathBuf;

use anyhow::Context;
use assay_validate::artifacts::StatusReport;
use assay_validate::e2e;
use assay_validate::export::Exporter;
use assay_validate::journal::{Entry, Journal};
use assay_validate::loop_state::LoopState;
use assay_validate::loop_status::LoopStatus;
use assay_validate::tree_hash::TreeHash;

use super::sign_off::SignOffRecorder;
use super::spec_location::STATE_KIND;
use super::{SpecLocation, UNKNOWN_STATE};

impl SpecLocation {
    /// Returns the entries of the journal, the state of the loop, and true if this machine wrote
    /// the journal. The loop may be running in another process.
    pub(crate) fn journal(&self) -> anyhow::Result<(Vec<Entry>, LoopState, bool)> {
        let (entries, is_own) =
            Journal::read_sealed(&self.folder(), &self.seal()?).context(UNKNOWN_STATE)?;
        let state = LoopState::of(&entries).context(UNKNOWN_STATE)?;
        Ok((entries, state, is_own))
    }

    /// Returns the status of the spec on the current tree.
    pub fn status(&self) -> anyhow::Result<StatusReport> {
        let (_, state, is_own) = self.journal()?;
        Ok(self.status_of(&state, is_own, &self.tree()?))
    }

    /// Returns the status of the spec on a tree. An approval of another tree, or on another machine,
    /// is void.
    pub(crate) fn status_of(
        &self,
        loop_state: &LoopState,
        is_own: bool,
        tree: &TreeHash,
    ) -> StatusReport {
        let status = match (loop_state.has_begun, self.plan().signoff()) {
            // A loop on another machine may have written a sign-off.
            (false, Some(signoff)) => {
                StatusReport::of(&self.spec.name, &signoff, &self.plan().iteration_history())
            }
            (true | false, _) => Exporter { spec: &self.spec, loop_state }.status(),
        };
        match &loop_state.state {
            LoopStatus::Approved(approved) if approved != tree => {
                status.void("the tree has changed since the approval")
            }
            LoopStatus::Approved(_) if is_own => status,
            LoopStatus::HandedOver(_) if loop_state.was_changed_while_waiting(tree) => {
                let command = format!("assay qa --spec {}", self.spec.name);
                status.with_reason(&format!(
                    "the tree has changed since; `{command}` validates it again"
                ))
            }
            _ if status.is_approved() => status.void("not approved on this machine"),
            _ => status,
        }
    }

    /// Returns true if a sign-off of the whole tree has an effect.
    pub(crate) fn awaits_sign_off(
        &self,
        loop_state: &LoopState,
        is_own: bool,
        tree: &TreeHash,
    ) -> bool {
        let recorder = SignOffRecorder { place: self, base: None, tree };
        loop_state.has_begun && recorder.check_effect(is_own, loop_state).is_ok()
    }

    /// Returns the folder of the screenshots and logs of a round. Fails if the state came with the
    /// repository.
    pub(crate) fn evidence_folder(&self, round: u32) -> anyhow::Result<PathBuf> {
        let kind = self.environment.state_of(&self.root).open(STATE_KIND)?;
        Ok(e2e::evidence_folder(&kind.path().join(&self.spec.name), round))
    }
}
