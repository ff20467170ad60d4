//! `assay gate run`: runs a gate from end to end.

use assay_engine::gate_run::LocalGateEnvironment;
use assay_engine::gate_session::OpenGate;
use assay_gates::answer::GateAnswer;
use assay_gates::guide::Instruction;
use assay_gates::run::{FixPolicy, GateObserver, RunEnding, RunResult};
use assay_gates::text::write::{decomposed, guidance};
use assay_gates::verify::GateVerification;

use super::{
    DecomposeArgs, Form, GateArgs, build_list, open_or_create, print_next_command, print_notes,
    show,
};
use crate::commands::{print_json, print_safely, warn};
use crate::exit::Exit;
use crate::messages::Stderr;

/// Prints the progress of a run as text.
struct ProgressPrinter<'a> {
    opened: &'a OpenGate,
    form: Form,
    /// The first error of printing.
    failed: anyhow::Result<()>,
}

impl GateObserver for ProgressPrinter<'_> {
    fn on_verified(&mut self, gate: &GateVerification) {
        if self.form == Form::Text && self.failed.is_ok() {
            self.failed = show(self.opened, Form::Text, gate);
        }
    }

    fn on_guidance(&mut self, instructions: &[Instruction]) {
        if self.form == Form::Text && self.failed.is_ok() {
            self.failed = print_safely(&format!("\n{}\n", guidance(instructions)));
        }
    }

    fn on_restored(&mut self) {
        warn("the fixer changed the gate's own files; its changes to them were reverted");
    }
}

pub(super) fn run(args: &GateArgs) -> anyhow::Result<Exit> {
    let options = args.options()?;
    let opened = open_or_create(options)?;
    print_notes(&opened);
    let list = build_list(&opened, &DecomposeArgs::default())?;
    if args.format == Form::Text && !list.was_there {
        print_safely(&format!("{}\n", decomposed(list.state.list.items())))?;
    }
    let fixing =
        if opened.policy.fixer.is_some() { FixPolicy::Enabled } else { FixPolicy::Disabled };
    let mut printer = ProgressPrinter { opened: &opened, form: args.format, failed: Ok(()) };
    let keep = &opened.place.keep;
    let work = LocalGateEnvironment { options, first: &opened, reporter: &Stderr };
    let ran = assay_gates::run::run(&work, keep, &opened.policy.bar, fixing, &mut printer)?;
    printer.failed?;
    report_result(&opened, args.format, &ran)
}

fn report_result(opened: &OpenGate, form: Form, ran: &RunResult) -> anyhow::Result<Exit> {
    if form == Form::Json {
        print_json(&GateAnswer::of_verified(opened.phase, &ran.gate))?;
    }
    print_next_command(opened.phase, &ran.gate.status.outcome);
    Ok(match &ran.ending {
        RunEnding::Passed => Exit::Ready,
        RunEnding::Failed => Exit::NotReady,
        RunEnding::Open => Exit::Incomplete,
        RunEnding::HandedOver(reasons) => {
            for reason in reasons {
                warn(&format!("a person is needed: {reason}"));
            }
            Exit::HandedOver
        }
    })
}
