//! `assay gate reconcile`: compares the plan with the change.

use anyhow::Context;
use assay_engine::gate_session::{GateOptions, OpenGate};
use assay_gates::phase::Phase;
use assay_gates::reconcile::{Reconciliation, text};

use super::{Form, GateArgs, print_notes};
use crate::commands::{print_json, print_safely};
use crate::exit::Exit;

pub(super) fn run(args: &GateArgs) -> anyhow::Result<Exit> {
    let phase = GateArgs { phase: Some(Phase::Reconcile), ..args.clone() };
    let options: GateOptions<'_> = phase.options()?;
    let opened = match options.plan {
        // Reconciling changes no gate, so the plan may be another than that of the gate.
        Some(_) => OpenGate::to_show(options)?,
        None => OpenGate::with_list(options)?,
    };
    print_notes(&opened);
    opened.with_gate(|gate| {
        let reconciled =
            gate.subject.reconciled().context("missing plan: name it with `--plan FILE`")?;
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
