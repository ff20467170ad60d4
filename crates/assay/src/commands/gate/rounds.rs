//! `assay gate run`: a gate from end to end.

use assay_engine::config::fixer::{ChosenFixer, FixerCommand};
use assay_engine::gate_session::{Asked, Opened};
use assay_engine::models::{self, Line, ModelRequest};
use assay_findings::path::RepoPath;
use assay_gates::answer::GateAnswer;
use assay_gates::digest::Digest;
use assay_gates::guide::Instruction;
use assay_gates::run::{Ending, Fixing, Hear, Ran, Work};
use assay_gates::text::write::{decomposed, guidance};
use assay_gates::verify::VerifiedGate;
use assay_review::fixer::Errand;
use assay_review::persona::Tier;
use assay_sandbox::Command;

use super::{DecomposeArgs, Form, GateArgs, made, open_or_begin, show, tell, tell_next};
use crate::commands::{print_json, print_safely, warn};
use crate::exit::Exit;
use crate::process::variable;

/// What a model that fixes is told to be.
const BRIEF: &str = "You mend a plan, or code and documents, so that the points of a checklist that \
                     failed hold. Each point says what was found, where, and what to do.";

/// What a run works on: opened anew for each step, as it changes in between, and on the same terms.
struct Subject<'a> {
    asked: Asked<'a>,
    first: &'a Opened,
}

impl Subject<'_> {
    fn open(&self) -> anyhow::Result<Opened> {
        self.first.again(self.asked)
    }
}

impl Work for Subject<'_> {
    type Error = anyhow::Error;

    fn verify(&self) -> anyhow::Result<VerifiedGate> {
        let opened = self.open()?;
        Ok(opened.with_gate(|gate| gate.verify(opened.asked()))?)
    }

    fn begin_fix(&self) -> anyhow::Result<()> {
        let opened = self.open()?;
        let author = match &opened.terms.fixer {
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
        match &opened.terms.fixer {
            Some(ChosenFixer::Command(FixerCommand { program, args, env, time })) => {
                let command = Command::new(program).args(args).time(*time);
                // It gets no key but those that it is given by name.
                let given = env.iter().filter_map(|name| Some((name, variable(name)?)));
                let command =
                    given.fold(command, |command, (name, value)| command.env(name, value));
                by_command(&opened, command, guidance)
            }
            Some(ChosenFixer::Model) => by_model(&opened, guidance),
            None => Err("nobody is configured to fix anything".to_owned()),
        }
    }
}

/// Has a command fix it, which reads what is to be done from its standard input.
fn by_command(opened: &Opened, command: Command, guidance: &str) -> Result<(), String> {
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
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    Err(format!("it ended with {}: {}", finished.status, last.trim()))
}

fn by_model(opened: &Opened, guidance: &str) -> Result<(), String> {
    let files: Vec<RepoPath> = opened.files();
    let (models, root) = (&opened.terms.models, &opened.place.root);
    let told = |error: anyhow::Error| format!("{error:#}");
    let line = Line::open(&ModelRequest::default(), models, root).map_err(told)?;
    let fixer = models::fixer(models, Tier::Default, &line).map_err(told)?;
    let errand = Errand { brief: BRIEF, findings: guidance, files: &files };
    let mended = fixer.fix(&opened.place.root, &errand).map_err(|error| error.to_string())?;
    for refused in &mended.refused {
        warn(&format!("an edit was refused: {refused}"));
    }
    Ok(())
}

/// Prints how a run goes on, as text.
struct Printing<'a> {
    opened: &'a Opened,
    form: Form,
    /// What could not be printed.
    failed: anyhow::Result<()>,
}

impl Hear for Printing<'_> {
    fn verified(&mut self, gate: &VerifiedGate) {
        if self.form == Form::Text && self.failed.is_ok() {
            self.failed = show(self.opened, Form::Text, gate);
        }
    }

    fn guided(&mut self, instructions: &[Instruction]) {
        if self.form == Form::Text && self.failed.is_ok() {
            self.failed = print_safely(&format!("\n{}\n", guidance(instructions)));
        }
    }

    fn put_back(&mut self) {
        warn("the fixer changed the gate's own files; they are as they were again");
    }
}

pub(super) fn run(args: &GateArgs) -> anyhow::Result<Exit> {
    let asked = args.asked()?;
    let opened = open_or_begin(asked)?;
    tell(&opened);
    let list = made(&opened, &DecomposeArgs::default())?;
    if args.format == Form::Text && !list.was_there {
        print_safely(&format!("{}\n", decomposed(list.state.list.items())))?;
    }
    let fixing = if opened.terms.fixer.is_some() { Fixing::Yes } else { Fixing::Nobody };
    let mut printing = Printing { opened: &opened, form: args.format, failed: Ok(()) };
    let keep = &opened.place.keep;
    let (work, bar) = (Subject { asked, first: &opened }, &opened.terms.bar);
    let ran = assay_gates::run::run(&work, keep, bar, fixing, &mut printing)?;
    printing.failed?;
    ended(&opened, args.format, &ran)
}

fn ended(opened: &Opened, form: Form, ran: &Ran) -> anyhow::Result<Exit> {
    if form == Form::Json {
        print_json(&GateAnswer::of_verified(opened.phase, &ran.gate))?;
    }
    tell_next(opened.phase, &ran.gate.standing.outcome);
    Ok(match &ran.ending {
        Ending::Passed => Exit::Ready,
        Ending::Failed => Exit::NotReady,
        Ending::Open => Exit::Incomplete,
        Ending::HandedOver(reasons) => {
            for reason in reasons {
                warn(&format!("a person is needed: {reason}"));
            }
            Exit::HandedOver
        }
    })
}
