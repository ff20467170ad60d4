//! `assay gate reconcile`: the plan against what was written.

use anyhow::Context;
use assay_gates::phase::Phase;
use assay_gates::reconcile::text;

use super::{Form, GateArgs, tell};
use crate::commands::{print_json, print_safely};
use crate::exit::Exit;
use crate::gating::{Asked, Opened};

pub(super) fn run(args: &GateArgs) -> anyhow::Result<Exit> {
    let phase = GateArgs { phase: Some(Phase::Reconcile), ..args.clone() };
    let asked: Asked<'_> = phase.asked()?;
    let opened = Opened::new(asked)?;
    tell(&opened);
    opened.with_gate(|gate| {
        let reconciled = gate.subject.reconciled().context("there is no plan")?;
        match args.format {
            Form::Text => print_safely(&text(reconciled))?,
            Form::Json => print_json(reconciled)?,
        }
        Ok(if reconciled.passes() { Exit::Ready } else { Exit::NotReady })
    })
}
