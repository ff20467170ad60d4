//! Runs a gate from end to end: it is verified, fixed and verified again, until it is passed or a
//! person has to decide: [`run`].

use crate::blocking_policy::BlockingPolicy;
use crate::digest::Digest;
use crate::gate_status::GateOutcome;
use crate::gate_store::GateStore;
use crate::guide::{Instruction, instructions};
use crate::store_error::StoreError;
use crate::text::write::guidance;
use crate::verify::GateVerification;

/// The environment of a run, whose content changes between rounds.
pub trait GateEnvironment {
    /// The error of a step that is impossible.
    type Error: From<StoreError>;

    /// Verifies the current content.
    fn verify(&self) -> Result<GateVerification, Self::Error>;

    /// Records that a fix is about to start, before the snapshot of the gate's files is taken.
    fn begin_fix(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Returns the digest of the current content.
    fn content(&self) -> Result<Digest, Self::Error>;

    /// Runs the fixer with the given instructions. Fails with the reason why it could not run. The
    /// fixer's own summary has no influence.
    fn fix(&self, guidance: &str) -> Result<(), String>;
}

/// Observes the progress of a run.
pub trait GateObserver {
    /// Notifies that the gate was verified.
    fn on_verified(&mut self, gate: &GateVerification);

    /// Notifies that the fixer gets instructions.
    fn on_guidance(&mut self, instructions: &[Instruction]);

    /// Notifies that the fixer changed the gate's own files, which were restored.
    fn on_restored(&mut self);
}

/// The ending of a run.
#[derive(Debug)]
pub enum RunEnding {
    /// The gate is passed.
    Passed,
    /// The gate is not passed, and no fixer is configured.
    Failed,
    /// An item was not verified.
    Open,
    /// A person has to decide, for these reasons.
    HandedOver(Vec<String>),
}

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The ending of the run.
    pub ending: RunEnding,
    /// The last verification.
    pub gate: GateVerification,
    /// The number of fixes.
    pub fixes: u32,
}

/// The presence of a fixer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixPolicy {
    /// A fixer fixes failed items.
    Enabled,
    /// There is no fixer.
    Disabled,
}

/// Verifies and fixes until there is an ending. The loop terminates: every fix must change the
/// content, and the policy limits the number of iterations.
pub fn run<W: GateEnvironment>(
    environment: &W,
    store: &GateStore,
    policy: &BlockingPolicy,
    fix_policy: FixPolicy,
    observer: &mut dyn GateObserver,
) -> Result<RunResult, W::Error> {
    let mut fixes = 0;
    loop {
        let gate = environment.verify()?;
        observer.on_verified(&gate);
        if let Some(ending) = ending(&gate, fix_policy) {
            return Ok(RunResult { ending, gate, fixes });
        }
        // The ceiling of the policy limits complete attempts; this limit also covers incomplete
        // ones.
        if fixes >= policy.ceiling {
            let why = format!("the limit of {fixes} fixes is reached");
            return Ok(RunResult { ending: RunEnding::HandedOver(vec![why]), gate, fixes });
        }
        let guide = instructions(&gate.state, &gate.status);
        observer.on_guidance(&guide);
        environment.begin_fix()?;
        if let Err(why) = fix_once(environment, store, &guidance(&guide), observer)? {
            return Ok(RunResult { ending: RunEnding::HandedOver(vec![why]), gate, fixes });
        }
        fixes += 1;
    }
}

/// Returns the ending of a run with this gate; `None` if a fix follows.
fn ending(gate: &GateVerification, fix_policy: FixPolicy) -> Option<RunEnding> {
    match (&gate.status.outcome, fix_policy) {
        (GateOutcome::Pass, _) => Some(RunEnding::Passed),
        (GateOutcome::Open | GateOutcome::Empty | GateOutcome::Incomplete(_), _) => {
            Some(RunEnding::Open)
        }
        (GateOutcome::HandedOver(reasons), _) => Some(RunEnding::HandedOver(reasons.clone())),
        (GateOutcome::Fail, FixPolicy::Disabled) => Some(RunEnding::Failed),
        (GateOutcome::Fail, FixPolicy::Enabled) => None,
    }
}

/// Runs the fixer once, and restores the gate's files. Returns the reason why a person is needed if
/// the fixer failed or changed nothing.
fn fix_once<W: GateEnvironment>(
    environment: &W,
    store: &GateStore,
    guidance: &str,
    observer: &mut dyn GateObserver,
) -> Result<Result<(), String>, W::Error> {
    let (before, snapshot) = (environment.content()?, store.snapshot()?);
    let fixed = environment.fix(guidance);
    if store.restore(&snapshot)? {
        observer.on_restored();
    }
    Ok(match fixed {
        Err(why) => Err(format!("the fixer failed: {why}")),
        Ok(()) if environment.content()? == before => Err("the fixer changed nothing".to_owned()),
        Ok(()) => Ok(()),
    })
}
