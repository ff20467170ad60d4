//! Outcomes of gates in words, and the command that follows: [`describe_outcome`],
//! [`next_command`].

use assay_gates::gate_status::GateOutcome;
use assay_gates::phase::Phase;

/// Returns an outcome in words, with its reasons.
pub fn describe_outcome(outcome: &GateOutcome) -> String {
    match outcome {
        GateOutcome::Pass => "passed".to_owned(),
        GateOutcome::Fail => "not passed".to_owned(),
        GateOutcome::Open => "current content not verified".to_owned(),
        GateOutcome::Empty => "the list is empty".to_owned(),
        GateOutcome::Incomplete(reasons) => format!("incomplete: {}", reasons.join("; ")),
        GateOutcome::HandedOver(reasons) => format!("a person must decide: {}", reasons.join("; ")),
    }
}

/// Returns the next command after an outcome; `None` if the gate is passed.
pub fn next_command(phase: Phase, outcome: &GateOutcome) -> Option<String> {
    Some(match outcome {
        GateOutcome::Pass => return None,
        GateOutcome::Fail => format!(
            "`assay gate guide --phase {phase}` shows what to fix; `assay gate verify --phase \
             {phase}` verifies again"
        ),
        GateOutcome::Open => format!(
            "record the result of each open item with `assay gate update-item ID --phase {phase} \
             --status PASS`, or `--status FAIL --finding TEXT`"
        ),
        GateOutcome::Empty => format!(
            "add items to the list with `assay gate decompose --again --phase {phase} --items FILE`"
        ),
        GateOutcome::Incomplete(_) => {
            format!("`assay gate status --phase {phase}` shows what is missing")
        }
        GateOutcome::HandedOver(_) => format!(
            "a person decides with `assay gate accept ID --phase {phase} --by NAME --reason TEXT`"
        ),
    })
}
