//! Verifying and fixing in a run of a gate: [`LocalGateEnvironment`].

use assay_findings::path::RepoPath;
use assay_gates::digest::Digest;
use assay_gates::run::GateEnvironment;
use assay_gates::verify::GateVerification;
use assay_review::fixer::FixerRequest;
use assay_review::persona::Tier;
use assay_sandbox::Command;

use crate::config::fixer::{ChosenFixer, FixerCommand};
use crate::gate_session::{GateOptions, OpenGate};
use crate::models::{self, ModelOptions, ModelSession};
use crate::reporter::Reporter;

/// The role in the prompt of a model that fixes.
const BRIEF: &str = "You fix a plan, or code and documents, so that the failed points of a checklist \
                     hold. Each point has its finding, its place, and what to do.";

/// The environment of a run of a gate. The gate is opened again for each step, since its files
/// change in between; its policy stays the same.
pub struct LocalGateEnvironment<'a> {
    /// The gate to run.
    pub options: GateOptions<'a>,
    /// The gate as it was first opened.
    pub first: &'a OpenGate,
    /// The receiver of messages about edits that were refused.
    pub reporter: &'a dyn Reporter,
}

impl LocalGateEnvironment<'_> {
    fn open(&self) -> anyhow::Result<OpenGate> {
        self.first.reopen(self.options)
    }
}

impl GateEnvironment for LocalGateEnvironment<'_> {
    type Error = anyhow::Error;

    fn verify(&self) -> anyhow::Result<GateVerification> {
        let opened = self.open()?;
        Ok(opened.with_gate(|gate| gate.verify(opened.verifiers()))?)
    }

    fn begin_fix(&self) -> anyhow::Result<()> {
        let opened = self.open()?;
        let author = match &opened.policy.fixer {
            Some(ChosenFixer::Command(FixerCommand { program, .. })) => program.as_str(),
            Some(ChosenFixer::Model) => "model",
            None => return Ok(()),
        };
        Ok(opened.with_gate(|gate| gate.credit(author))?)
    }

    fn content(&self) -> anyhow::Result<Digest> {
        let opened = self.open()?;
        Ok(opened.with_gate(|gate| gate.subject.whole(opened.phase)))
    }

    fn fix(&self, guidance: &str) -> Result<(), String> {
        let opened = self.open().map_err(|error| format!("{error:#}"))?;
        match &opened.policy.fixer {
            Some(ChosenFixer::Command(FixerCommand { program, args, env, time })) => {
                let command = Command::new(program).args(args).time(*time);
                // The command gets no keys except the variables that the configuration names.
                let given = env
                    .iter()
                    .filter_map(|name| Some((name, self.options.environment.variable(name)?)));
                let command =
                    given.fold(command, |command, (name, value)| command.env(name, value));
                fix_by_command(&opened, command, guidance)
            }
            Some(ChosenFixer::Model) => fix_by_model(&opened, guidance, self.reporter),
            None => Err("no fixer is configured".to_owned()),
        }
    }
}

/// Runs the command that fixes. The command reads the instructions from stdin.
fn fix_by_command(opened: &OpenGate, command: Command, guidance: &str) -> Result<(), String> {
    let plan = opened.made_from.plan.as_deref().unwrap_or_default();
    let run = command
        .folder(&opened.place.root)
        .env("ASSAY_GATE_PHASE", opened.phase.name())
        .env("ASSAY_GATE_PLAN", plan)
        .input(guidance.as_bytes().to_vec())
        .run();
    let finished = run.map_err(|error| error.to_string())?;
    if finished.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&finished.stderr);
    let last =
        said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output on stderr");
    Err(format!("ended with {}: {}", finished.status, last.trim()))
}

fn fix_by_model(opened: &OpenGate, guidance: &str, reporter: &dyn Reporter) -> Result<(), String> {
    let files: Vec<RepoPath> = opened.files();
    let (models, root) = (&opened.policy.models, &opened.place.root);
    let error_text = |error: anyhow::Error| format!("{error:#}");
    let model_session =
        ModelSession::open(&ModelOptions::default(), models, root).map_err(error_text)?;
    let fixer = models::open_fixer(models, Tier::Default, &model_session).map_err(error_text)?;
    let errand = FixerRequest { brief: BRIEF, findings: guidance, files: &files };
    let mended = fixer.fix(&opened.place.root, &errand).map_err(|error| error.to_string())?;
    for refused in &mended.refused {
        reporter.warn(&format!("an edit was refused: {refused}"));
    }
    Ok(())
}
