//! `assay gate reconcile`: compares the plan with the change.

use anyhow::Context;
use assay_engine::gate_session::{Asked, Opened};
use assay_gates::phase::Phase;
use assay_gates::reconcile::{Reconciliation, text};

use super::{Form, GateArgs, tell};
use crate::commands::{print_json, print_safely};
use crate::exit::Exit;

pub(super) fn run(args: &GateArgs) -> anyhow::Result<Exit> {
    let phase = GateArgs { phase: Some(Phase::Reconcile), ..args.clone() };
    let asked: Asked<'_> = phase.asked()?;
    let opened = match asked.plan {
        // Reconciling changes no gate, so the plan may be another than that of the gate.
        Some(_) => Opened::to_look(asked)?,
        None => Opened::with_list(asked)?,
    };
    tell(&opened);
    opened.with_gate(|gate| {
        let reconciled = gate.subject.reconciled().context("there is no plan")?;
        let reconciled = &Reconciliation { removed: gate.removed()?, ..reconciled.clone() };
        gate.record_look(reconciled.passes())?;
        match args.format {
            Form::Text => print_safely(&text(reconciled))?,
            Form::Json => print_json(reconciled)?,
        }
        Ok(match (reconciled.passes(), reconciled.has_failed()) {
            (true, _) => Exit::Ready,
            (false, true) => Exit::NotReady,
            (false, false) => Exit::Incomplete,
        })
    })
}
