//! Runs a gate from end to end: it is verified, fixed and verified again, until it is passed or a
//! person has to decide: [`run`].

use crate::bar::Bar;
use crate::digest::Digest;
use crate::guide::{Instruction, instructions};
use crate::keep::Keep;
use crate::standing::Outcome;
use crate::store_error::StoreError;
use crate::text::write::guidance;
use crate::verify::VerifiedGate;

/// The environment of a run, whose content changes between rounds.
pub trait Work {
    /// The error of a step that is impossible.
    type Error: From<StoreError>;

    /// Verifies the current content.
    fn verify(&self) -> Result<VerifiedGate, Self::Error>;

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
pub trait Hear {
    /// Notifies that the gate was verified.
    fn verified(&mut self, gate: &VerifiedGate);

    /// Notifies that the fixer gets instructions.
    fn guided(&mut self, instructions: &[Instruction]);

    /// Notifies that the fixer changed the gate's own files, which were restored.
    fn put_back(&mut self);
}

/// The ending of a run.
#[derive(Debug)]
pub enum Ending {
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
pub struct Ran {
    /// The ending of the run.
    pub ending: Ending,
    /// The last verification.
    pub gate: VerifiedGate,
    /// The number of fixes.
    pub fixes: u32,
}

/// The presence of a fixer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixing {
    /// A fixer fixes failed items.
    Yes,
    /// There is no fixer.
    Nobody,
}

/// Verifies and fixes until there is an ending. The loop terminates: every fix must change the
/// content, and the policy limits the number of iterations.
pub fn run<W: Work>(
    work: &W,
    keep: &Keep,
    bar: &Bar,
    fixing: Fixing,
    hear: &mut dyn Hear,
) -> Result<Ran, W::Error> {
    let mut fixes = 0;
    loop {
        let gate = work.verify()?;
        hear.verified(&gate);
        if let Some(ending) = ending(&gate, fixing) {
            return Ok(Ran { ending, gate, fixes });
        }
        // The ceiling of the policy limits complete attempts; this limit also covers incomplete
        // ones.
        if fixes >= bar.ceiling {
            let why = format!("it was fixed {fixes} times, and no more are made");
            return Ok(Ran { ending: Ending::HandedOver(vec![why]), gate, fixes });
        }
        let told = instructions(&gate.state, &gate.standing);
        hear.guided(&told);
        work.begin_fix()?;
        if let Err(why) = fix_once(work, keep, &guidance(&told), hear)? {
            return Ok(Ran { ending: Ending::HandedOver(vec![why]), gate, fixes });
        }
        fixes += 1;
    }
}

/// Returns the ending of a run with this gate; `None` if a fix follows.
fn ending(gate: &VerifiedGate, fixing: Fixing) -> Option<Ending> {
    match (&gate.standing.outcome, fixing) {
        (Outcome::Pass, _) => Some(Ending::Passed),
        (Outcome::Open | Outcome::Empty | Outcome::Incomplete(_), _) => Some(Ending::Open),
        (Outcome::HandedOver(reasons), _) => Some(Ending::HandedOver(reasons.clone())),
        (Outcome::Fail, Fixing::Nobody) => Some(Ending::Failed),
        (Outcome::Fail, Fixing::Yes) => None,
    }
}

/// Runs the fixer once, and restores the gate's files. Returns the reason why a person is needed if
/// the fixer failed or changed nothing.
fn fix_once<W: Work>(
    work: &W,
    keep: &Keep,
    guidance: &str,
    hear: &mut dyn Hear,
) -> Result<Result<(), String>, W::Error> {
    let (before, kept) = (work.content()?, keep.snapshot()?);
    let fixed = work.fix(guidance);
    if keep.put_back(&kept)? {
        hear.put_back();
    }
    Ok(match fixed {
        Err(why) => Err(format!("the fixer failed: {why}")),
        Ok(()) if work.content()? == before => Err("the fixer changed nothing".to_owned()),
        Ok(()) => Ok(()),
    })
}
