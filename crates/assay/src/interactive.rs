//! The interactive mode of a review: asks the user for a decision on each finding.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::bail;
use assay_change::Change;
use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_findings::write::escape;
use assay_review::baseline::Baseline;
use assay_review::fix::FixPlan;
use assay_review::runs;

use crate::output::{self, StyledStdout};
use crate::process::user_name;

/// The decision of a user on a finding.
enum Choice {
    Apply,
    /// The reason of the dismissal.
    Dismiss(String),
    Skip,
    Quit,
}

/// Fails if stdin or stdout is not a terminal.
pub(crate) fn check_terminal() -> anyhow::Result<()> {
    if io::stdin().is_terminal() && output::is_terminal() {
        return Ok(());
    }
    bail!("`--mode interactive` requires a terminal; omit the option to review without questions")
}

/// A finding that the user accepted, and the reason.
type Accepted<'s> = (&'s Finding, String);

/// Asks in the terminal about each finding, then applies the decisions. Returns the findings that
/// were accepted into the baseline.
pub(crate) fn ask<'s>(
    baseline: &mut Baseline,
    change: &Change,
    synthesis: &'s Synthesis,
) -> anyhow::Result<Vec<Accepted<'s>>> {
    let mut dialogue = Dialogue { input: io::stdin().lock(), out: StyledStdout::new() };
    dialogue.ask_all(baseline, change, synthesis)
}

/// A dialogue: the input of the user, and the output for questions.
struct Dialogue<I, O> {
    input: I,
    out: O,
}

impl<I: BufRead, O: Write> Dialogue<I, O> {
    /// Asks about each finding, then applies the decisions, all fixes in one step.
    fn ask_all<'s>(
        &mut self,
        baseline: &mut Baseline,
        change: &Change,
        synthesis: &'s Synthesis,
    ) -> anyhow::Result<Vec<Accepted<'s>>> {
        let mut apply: Vec<&Finding> = Vec::new();
        let mut accepted = Vec::new();
        let count = synthesis.findings.len();
        for (finding, number) in synthesis.findings.iter().zip(1..) {
            let place = finding.place().map(|place| format!(" ({place})")).unwrap_or_default();
            let what = format!("{number} of {count}: {}{place}", finding.title);
            writeln!(self.out, "\n{}", escape::one_line(&what))?;
            match self.choose(finding)? {
                Choice::Apply => apply.push(finding),
                Choice::Dismiss(reason) => {
                    baseline.accept([finding], &user_name(&change.root), &reason);
                    accepted.push((finding, reason));
                }
                Choice::Skip => {}
                Choice::Quit => break,
            }
        }
        if !accepted.is_empty() {
            baseline.save(&change.root)?;
            let path = assay_review::baseline::PATH;
            writeln!(self.out, "{} accepted into `{path}`", accepted.len())?;
        }
        self.apply_fixes(change, synthesis, &apply)?;
        Ok(accepted)
    }

    fn apply_fixes(
        &mut self,
        change: &Change,
        synthesis: &Synthesis,
        apply: &[&Finding],
    ) -> anyhow::Result<()> {
        if apply.is_empty() {
            return Ok(());
        }
        let mut fixes = runs::fixes_of(change, synthesis);
        fixes.retain(|fix| apply.iter().any(|finding| finding.id == fix.finding));
        let plan = FixPlan::new(&change.root, fixes);
        plan.apply(&change.root)?;
        crate::terminal::write_plan(&mut self.out, &plan, false)
    }

    /// Asks until the answer is valid; the end of the input quits.
    fn choose(&mut self, finding: &Finding) -> anyhow::Result<Choice> {
        let fixable = finding.replacement.is_some();
        let question = match fixable {
            true => "[a]pply the fix, [d]ismiss, [s]kip, [q]uit? ",
            false => "[d]ismiss, [s]kip, [q]uit? ",
        };
        loop {
            match self.ask_line(question)?.as_str() {
                "a" | "apply" if fixable => return Ok(Choice::Apply),
                "d" | "dismiss" => match self.ask_line("reason? ")? {
                    reason if reason.is_empty() => {
                        writeln!(self.out, "not dismissed: the reason is empty")?;
                    }
                    reason => return Ok(Choice::Dismiss(reason)),
                },
                "s" | "skip" => return Ok(Choice::Skip),
                "q" | "quit" | "" => return Ok(Choice::Quit),
                other => writeln!(self.out, "unknown answer `{}`", escape::one_line(other))?,
            }
        }
    }

    fn ask_line(&mut self, question: &str) -> anyhow::Result<String> {
        write!(self.out, "{question}")?;
        self.out.flush()?;
        let mut answer = String::new();
        self.input.read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_change::{Scope, Selection};
    use assay_engine::environment::Environment;
    use assay_engine::models::{CachePolicy, ModelOptions, ReviewOptions};
    use assay_engine::review_session::ReviewSession;
    use assay_findings::gate::ReviewMode;
    use assay_testkit::Repository;

    const CODE: &str = "fn f(a: u32, b: u32) {\n    dbg!(a);\n    dbg!(b);\n    g();\n}\n";

    /// Answers the questions about a change that adds two `dbg!`. Returns the resulting file, the
    /// number of accepted findings, and the output.
    fn answered(answers: &str) -> (String, usize, String) {
        let repository = Repository::new();
        repository.write("a.rs", "fn f() {}\n");
        repository.commit("before");
        repository.write("a.rs", CODE);
        let prepared = ReviewSession::open(
            &Environment::default(),
            repository.path(),
            &Scope::Automatic,
            &Selection::default(),
            ReviewOptions {
                models: &ModelOptions::default(),
                cache_policy: CachePolicy::Off,
                model_session: None,
                also: None,
            },
        )
        .unwrap();
        let reviewed = prepared.review_without_progress(ReviewMode::Interactive);
        let mut baseline = Baseline::default();
        let mut dialogue = Dialogue { input: answers.as_bytes(), out: Vec::new() };
        dialogue.ask_all(&mut baseline, &prepared.change, &reviewed.synthesis).unwrap();
        let text = std::fs::read_to_string(repository.path().join("a.rs")).unwrap();
        (text, baseline.accepted.len(), String::from_utf8(dialogue.out).unwrap())
    }

    #[test]
    fn an_applied_fix_is_written_and_a_dismissed_finding_is_accepted() {
        let (text, accepted, shown) = answered("a\nd\nit stays for now\n");
        assert_eq!(text, CODE.replace("    dbg!(a);\n", ""), "{shown}");
        assert_eq!(accepted, 1, "{shown}");
    }

    #[test]
    fn no_finding_is_fixed_or_accepted_without_an_answer_or_a_reason() {
        for answers in ["", "q\n", "s\ns\n", "d\n\nd\n\n", "what?\n"] {
            let (text, accepted, shown) = answered(answers);
            assert_eq!((text.as_str(), accepted), (CODE, 0), "{answers}: {shown}");
        }
    }
}
