//! Findings that a user accepts into the baseline, in the ledger: [`record_accepted`].

use assay_engine::review_session::ReviewSession;
use assay_findings::finding::Finding;
use assay_review::ledger;

use crate::messages::warn;
use crate::process::{state_of, user_name};

/// Records in the ledger which findings were accepted into the baseline, if the run is in the
/// ledger.
pub(crate) fn record_accepted(
    prepared: &ReviewSession,
    run: Option<&str>,
    accepted: &[(&Finding, &str)],
) {
    let Some(run) = run.filter(|_| !accepted.is_empty() && prepared.ledger_warning().is_none())
    else {
        return;
    };
    let root = &prepared.change.root;
    if let Err(error) = ledger::record_accepted(&state_of(root), run, accepted, &user_name(root)) {
        let error = anyhow::Error::from(error);
        warn(&format!("cannot record the accepted findings in the ledger: {error:#}"));
    }
}
