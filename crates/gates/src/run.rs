//! A gate from end to end: verified, fixed and verified again, until it is passed or a person has to
//! see to it: [`run`].

use crate::bar::Bar;
use crate::digest::Digest;
use crate::guide::{Instruction, instructions};
use crate::keep::Keep;
use crate::standing::Outcome;
use crate::store_error::StoreError;
use crate::text::write::guidance;
use crate::verify::VerifiedGate;

/// The work of a run, which changes between its rounds.
pub trait Work {
    /// The error of a step that cannot be made at all.
    type Error: From<StoreError>;

    /// Verifies what is there now.
    fn verify(&self) -> Result<VerifiedGate, Self::Error>;

    /// Records that a fix is about to be made, before the gate's files are compared with what the fixer
    /// leaves of them.
    fn begin_fix(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Takes the digest of what is there now.
    fn content(&self) -> Result<Digest, Self::Error>;

    /// Has it fixed, given what is to be done; or says why that cannot be. What whoever fixes says
    /// about its own work counts for nothing.
    fn fix(&self, guidance: &str) -> Result<(), String>;
}

/// Who hears how a run goes on.
pub trait Hear {
    /// Something was verified.
    fn verified(&mut self, gate: &VerifiedGate);

    /// Somebody is told what to fix.
    fn guided(&mut self, instructions: &[Instruction]);

    /// The fixer changed the gate's own files, which were put back.
    fn put_back(&mut self);
}

/// How a run ended.
#[derive(Debug)]
pub enum Ending {
    /// The gate is passed.
    Passed,
    /// The gate is not passed, and no fixer is configured.
    Failed,
    /// Something was not looked at.
    Open,
    /// A person has to see to it, for these reasons.
    HandedOver(Vec<String>),
}

/// The answer of a run.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// The last verification.
    pub gate: VerifiedGate,
    /// How often something was fixed.
    pub fixes: u32,
}

/// Whether somebody fixes what fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixing {
    /// They do.
    Yes,
    /// Nobody does.
    Nobody,
}

/// Verifies and has fixed until there is an ending, of which there always is one: every round has
/// to change something, and the bar has a ceiling.
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
        // The ceiling ends it as long as attempts are whole; this does where they never are.
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

/// Says how a run ends with a gate as it stands, if it does.
fn ending(gate: &VerifiedGate, fixing: Fixing) -> Option<Ending> {
    match (&gate.standing.outcome, fixing) {
        (Outcome::Pass, _) => Some(Ending::Passed),
        (Outcome::Open | Outcome::Empty | Outcome::Incomplete(_), _) => Some(Ending::Open),
        (Outcome::HandedOver(reasons), _) => Some(Ending::HandedOver(reasons.clone())),
        (Outcome::Fail, Fixing::Nobody) => Some(Ending::Failed),
        (Outcome::Fail, Fixing::Yes) => None,
    }
}

/// Has it fixed, and sees what came of it: why a person is needed, where nothing did.
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
