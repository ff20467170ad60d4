//! The questions of an interactive review: [`Dialogue`].

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use assay_change::Change;
use assay_engine::interactive_review::{DecisionList, Extent, FindingDecision, FixOffer, Question};
use assay_engine::wording::count;
use assay_findings::write::escape;

use crate::signals::ReviewInterrupts;
use crate::terminal::{self, BOLD, DIM, GREEN, Source, YELLOW};

const HELP: &str = "\
a  apply the fix, after the last question and together with all others
d  dismiss: accept the finding into the baseline, with a reason
g  give to an agent: queue a task that fixes the finding
s  skip: leave the finding as it is
u  undo the last answer
q  quit: carry out the decisions so far, and ask no more
x  exit: carry out nothing
A capital letter (A, D, G, S) decides all findings like this one.
Ctrl-C asks if the decisions so far are carried out.
";

/// An input of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Line(String),
    /// The input has ended.
    End,
    /// The user pressed Ctrl-C.
    Interrupt,
}

/// The source of the inputs.
pub(super) trait InputSource {
    /// Waits for the next input.
    fn next_input(&mut self) -> Input;
}

/// The inputs of a terminal: lines and interrupts.
pub(super) struct TerminalInput(Receiver<Input>);

impl TerminalInput {
    /// Starts to read lines from stdin and to receive interrupts.
    pub(super) fn start(interrupts: &ReviewInterrupts) -> TerminalInput {
        let (sender, receiver) = mpsc::channel();
        let of_signals = sender.clone();
        interrupts.begin_asking(move || drop(of_signals.send(Input::Interrupt)));
        // The thread ends with the process: it waits for a line of the user.
        thread::spawn(move || {
            loop {
                let mut line = String::new();
                let input = match io::stdin().lock().read_line(&mut line) {
                    Ok(1..) => Input::Line(line),
                    Ok(0) | Err(_) => Input::End,
                };
                if sender.send(input.clone()).is_err() || input == Input::End {
                    return;
                }
            }
        });
        TerminalInput(receiver)
    }
}

impl InputSource for TerminalInput {
    fn next_input(&mut self) -> Input {
        self.0.recv().unwrap_or(Input::End)
    }
}

/// The end of a dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialogueEnd {
    /// The decisions are carried out.
    CarryOut,
    /// The decisions have no effect.
    Discard,
}

/// An answer to a question.
enum Answer {
    Decide(FindingDecision, Extent),
    Undo,
    Quit,
    Discard,
}

/// A dialogue: the input of the user, and the output for questions.
pub(super) struct Dialogue<I, O> {
    pub(super) input: I,
    pub(super) out: O,
}

impl<I: InputSource, O: Write> Dialogue<I, O> {
    /// Asks about each finding.
    pub(super) fn ask(
        &mut self,
        change: &Change,
        decisions: &mut DecisionList<'_>,
    ) -> anyhow::Result<DialogueEnd> {
        loop {
            let answer = match decisions.question() {
                Some(question) => {
                    self.show(change, &question)?;
                    self.answer(&question, decisions.effects())?
                }
                None => self.last_answer(decisions.effects())?,
            };
            match answer {
                Answer::Decide(decision, extent) => {
                    let decided = decisions.decide(&decision, extent);
                    if decided > 1 {
                        writeln!(self.out, "{DIM}decided {decided} findings{DIM:#}")?;
                    }
                }
                Answer::Undo => match decisions.undo() {
                    0 => writeln!(self.out, "there is no answer to undo")?,
                    undone => {
                        let findings = count(undone, "finding");
                        writeln!(self.out, "{DIM}the last answer is undone: {findings}{DIM:#}")?;
                    }
                },
                Answer::Quit => return Ok(DialogueEnd::CarryOut),
                Answer::Discard => return Ok(DialogueEnd::Discard),
            }
        }
    }

    /// Asks after the last question if the decisions are carried out.
    fn last_answer(&mut self, effects: usize) -> anyhow::Result<Answer> {
        if effects == 0 {
            return Ok(Answer::Quit);
        }
        let decisions = count(effects, "decision");
        let text = format!("\ncarry out {decisions}? [y]es, [n]o, [u]ndo the last answer: ");
        loop {
            match self.input(&text)? {
                Input::End => return Ok(Answer::Quit),
                Input::Interrupt => return Ok(Answer::Discard),
                Input::Line(line) => match line.trim() {
                    "y" | "yes" => return Ok(Answer::Quit),
                    "n" | "no" => return Ok(Answer::Discard),
                    "u" | "undo" => return Ok(Answer::Undo),
                    _ => {}
                },
            }
        }
    }

    /// Shows a finding with its code and its fix.
    fn show(&mut self, change: &Change, question: &Question<'_>) -> anyhow::Result<()> {
        let Question { finding, number, total, offer, alike } = *question;
        let file = finding.file.as_ref();
        let heading = terminal::heading(change, file, finding.line);
        writeln!(self.out, "\n{DIM}{number} of {total}{DIM:#}  {BOLD}{heading}{BOLD:#}")?;
        terminal::write_finding(&mut self.out, finding, &Source::open(change, file), None)?;
        match offer {
            FixOffer::Safe => writeln!(self.out, "{GREEN}The fix is safe.{GREEN:#}")?,
            FixOffer::NotSafe => writeln!(
                self.out,
                "{YELLOW}The fix is not safe:{YELLOW:#} check it in the code around it."
            )?,
            FixOffer::None => {}
        }
        if alike > 1 {
            writeln!(self.out, "{alike} findings like this one: a capital letter decides all.")?;
        }
        Ok(())
    }

    /// Asks until the answer is valid. The end of the input quits.
    fn answer(&mut self, question: &Question<'_>, effects: usize) -> anyhow::Result<Answer> {
        let is_fixable = question.offer != FixOffer::None;
        let apply = if is_fixable { "[a]pply, " } else { "" };
        let text =
            format!("{apply}[d]ismiss, [g]ive to an agent, [s]kip, [u]ndo, [q]uit, [?] help: ");
        loop {
            let line = match self.input(&text)? {
                Input::Line(line) => line,
                Input::End => return Ok(Answer::Quit),
                Input::Interrupt => match self.confirm(effects)? {
                    Some(answer) => return Ok(answer),
                    None => continue,
                },
            };
            let answer = line.trim();
            let is_capital = answer.starts_with(|letter: char| letter.is_ascii_uppercase());
            let extent = if is_capital { Extent::AllLikeIt } else { Extent::One };
            let decide = |decision| Ok(Answer::Decide(decision, extent));
            match answer.to_ascii_lowercase().as_str() {
                "a" | "apply" if is_fixable => return decide(FindingDecision::Apply),
                "a" | "apply" => writeln!(self.out, "there is no exact fix to apply")?,
                "g" | "give" => return decide(FindingDecision::Queue),
                "s" | "skip" => return decide(FindingDecision::Skip),
                "d" | "dismiss" => match self.reason()? {
                    Some(reason) => return decide(FindingDecision::Dismiss(reason)),
                    None => writeln!(self.out, "not dismissed: there is no reason")?,
                },
                "u" | "undo" => return Ok(Answer::Undo),
                "q" | "quit" => return Ok(Answer::Quit),
                "x" | "exit" => return Ok(Answer::Discard),
                "?" | "h" | "help" => write!(self.out, "{HELP}")?,
                "" => {}
                other => writeln!(
                    self.out,
                    "unknown answer `{}`; `?` lists the answers",
                    escape::one_line(other)
                )?,
            }
        }
    }

    /// Asks for the reason of a dismissal.
    fn reason(&mut self) -> anyhow::Result<Option<String>> {
        match self.input("reason (empty to go back): ")? {
            Input::Line(line) => Ok(Some(line.trim().to_owned()).filter(|line| !line.is_empty())),
            Input::End | Input::Interrupt => Ok(None),
        }
    }

    /// Asks after an interrupt if the decisions are carried out; `None` to go on with the question.
    fn confirm(&mut self, effects: usize) -> anyhow::Result<Option<Answer>> {
        if effects == 0 {
            return Ok(Some(Answer::Discard));
        }
        let decisions = count(effects, "decision");
        let text =
            format!("interrupted; carry out the {decisions} so far? [y]es, [n]o, [c]ontinue: ");
        loop {
            match self.input(&text)? {
                Input::End | Input::Interrupt => return Ok(Some(Answer::Discard)),
                Input::Line(line) => match line.trim() {
                    "y" | "yes" => return Ok(Some(Answer::Quit)),
                    "n" | "no" => return Ok(Some(Answer::Discard)),
                    "c" | "continue" => return Ok(None),
                    _ => {}
                },
            }
        }
    }

    fn input(&mut self, question: &str) -> anyhow::Result<Input> {
        write!(self.out, "{question}")?;
        self.out.flush()?;
        let input = self.input.next_input();
        if !matches!(input, Input::Line(_)) {
            writeln!(self.out)?;
        }
        Ok(input)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use assay_change::{Scope, Selection};
    use assay_engine::environment::Environment;
    use assay_engine::interactive_review::{FixTarget, carry_out};
    use assay_engine::models::{CachePolicy, ModelOptions, ReviewOptions};
    use assay_engine::review_session::ReviewSession;
    use assay_findings::gate::ReviewMode;
    use assay_testkit::Repository;

    use super::*;

    const CODE: &str = "fn f(a: u32, b: u32) {\n    dbg!(a);\n    dbg!(b);\n    g();\n}\n";

    struct Script(VecDeque<Input>);

    impl InputSource for Script {
        fn next_input(&mut self) -> Input {
            self.0.pop_front().unwrap_or(Input::End)
        }
    }

    /// The effects of a dialogue about a change that adds two `dbg!`.
    struct Outcome {
        text: String,
        accepted: usize,
        tasks: usize,
        end: DialogueEnd,
        shown: String,
    }

    /// Answers the questions; `^C` is an interrupt.
    fn answered(answers: &[&str]) -> Outcome {
        let repository = Repository::new();
        repository.write("a.rs", "fn f() {}\n");
        repository.commit("before");
        repository.write("a.rs", CODE);
        let environment = Environment::default();
        let options = ReviewOptions {
            models: &ModelOptions::default(),
            cache_policy: CachePolicy::Off,
            model_session: None,
            also: None,
        };
        let (scope, selection) = (Scope::Automatic, Selection::default());
        let folder = repository.path();
        let session = ReviewSession::open(&environment, folder, &scope, &selection, options);
        let mut session = session.unwrap();
        let reviewed = session.review_without_progress(ReviewMode::Interactive);
        let synthesis = &reviewed.synthesis;
        let target = FixTarget::of(&session.change, false);
        let fixes = target.fixes(&session.change, synthesis);
        let mut decisions = DecisionList::new(&synthesis.findings, &fixes);
        let input = answers.iter().map(|answer| match *answer {
            "^C" => Input::Interrupt,
            line => Input::Line(format!("{line}\n")),
        });
        let mut dialogue = Dialogue { input: Script(input.collect()), out: Vec::new() };
        let end = dialogue.ask(&session.change, &mut decisions).unwrap();
        let shown = String::from_utf8(dialogue.out).unwrap();
        let (mut accepted, mut tasks) = (0, 0);
        if end == DialogueEnd::CarryOut {
            let done = carry_out(&environment, &mut session, synthesis, &decisions, target, "ann")
                .unwrap();
            (accepted, tasks) = (done.accepted, usize::from(done.task.is_some()));
            assert!(done.queue_error.is_none(), "{:?}", done.queue_error);
        }
        let text = std::fs::read_to_string(repository.path().join("a.rs")).unwrap();
        Outcome { text, accepted, tasks, end, shown }
    }

    #[test]
    fn an_applied_fix_is_written_and_a_dismissed_finding_is_accepted() {
        let outcome = answered(&["a", "d", "it stays for now"]);
        assert_eq!(outcome.text, CODE.replace("    dbg!(a);\n", ""), "{}", outcome.shown);
        assert_eq!((outcome.accepted, outcome.tasks), (1, 0), "{}", outcome.shown);
    }

    #[test]
    fn a_question_shows_the_code_the_fix_and_its_class() {
        let shown = answered(&["q"]).shown;
        for part in ["1 of 2", "a.rs", "dbg!(a);", "The fix is not safe", "[a]pply"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn a_capital_letter_decides_all_findings_like_it() {
        let outcome = answered(&["A"]);
        let clean = CODE.replace("    dbg!(a);\n", "").replace("    dbg!(b);\n", "");
        assert_eq!(outcome.text, clean, "{}", outcome.shown);
        assert_eq!(answered(&["D", "no debugger here"]).accepted, 2);
    }

    #[test]
    fn an_undone_answer_has_no_effect() {
        let outcome = answered(&["A", "u", "s", "s"]);
        assert_eq!((outcome.text.as_str(), outcome.accepted), (CODE, 0), "{}", outcome.shown);
        let outcome = answered(&["a", "u", "s", "s"]);
        assert_eq!((outcome.text.as_str(), outcome.accepted), (CODE, 0), "{}", outcome.shown);
        let outcome = answered(&["u", "q"]);
        assert!(outcome.shown.contains("there is no answer to undo"), "{}", outcome.shown);
    }

    #[test]
    fn findings_for_an_agent_become_one_task() {
        let outcome = answered(&["G"]);
        assert_eq!((outcome.tasks, outcome.text.as_str()), (1, CODE), "{}", outcome.shown);
    }

    #[test]
    fn no_finding_is_fixed_or_accepted_without_an_answer_or_a_reason() {
        for answers in [&[][..], &["q"], &["s", "s"], &["d", "", "d", ""], &["what?"], &[""]] {
            let Outcome { text, accepted, shown, .. } = answered(answers);
            assert_eq!((text.as_str(), accepted), (CODE, 0), "{answers:?}: {shown}");
        }
    }

    #[test]
    fn an_interrupt_loses_no_decision_unless_the_user_says_so() {
        let carried_out = answered(&["d", "it stays", "^C", "y"]);
        assert_eq!((carried_out.accepted, carried_out.end), (1, DialogueEnd::CarryOut));
        let continued = answered(&["d", "it stays", "^C", "c", "a"]);
        assert_eq!(continued.accepted, 1, "{}", continued.shown);
        assert_eq!(continued.text, CODE.replace("    dbg!(b);\n", ""), "{}", continued.shown);
        for end in [&["n"][..], &["^C"], &[]] {
            let outcome = answered(&[&["d", "it stays", "a", "u", "^C"], end].concat());
            assert_eq!((outcome.accepted, outcome.text.as_str()), (0, CODE), "{}", outcome.shown);
            assert_eq!(outcome.end, DialogueEnd::Discard);
        }
    }

    #[test]
    fn exit_carries_out_nothing() {
        let outcome = answered(&["a", "x"]);
        assert_eq!((outcome.text.as_str(), outcome.end), (CODE, DialogueEnd::Discard));
    }
}
