//! Judges of criteria that code cannot decide: [`CriterionJudge`], whose answer counts only with a
//! quote.

use assay_findings::grounding::{Tree, squeeze};
use assay_findings::path::RepoPath;

use super::{Answer, CriterionResult, Evidence, Place};
use crate::plan::{Criterion, Milestone};
use crate::quote::quoted;

/// Minimum number of characters of a quote, without blanks.
const MIN_QUOTE: usize = 8;

/// Maximum number of lines of a quote that are compared.
const MAX_LINES: usize = 50;

/// Judges if a criterion is met that code cannot decide.
///
/// A judge only reads and answers: it changes nothing, and runs nothing that the plan names.
pub trait CriterionJudge {
    /// Returns the judgement, or the reason why there is none.
    fn judge(&self, question: &Question<'_>) -> Result<Judgement, String>;
}

/// The question to a judge.
#[derive(Debug)]
pub struct Question<'q> {
    /// The milestone of the criterion.
    pub milestone: &'q Milestone,
    /// The criterion to judge.
    pub criterion: &'q Criterion,
    /// The places that code found for the things that the criterion names.
    pub evidence: &'q [Evidence],
}

/// The answer of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The criterion is met.
    Met {
        /// The path of the file with the evidence.
        file: String,
        /// The line of the evidence, from 1.
        line: u32,
        /// The exact text at that place.
        quote: String,
    },
    /// The criterion is not met.
    NotMet {
        /// The part that is missing.
        why: String,
    },
    /// The judge cannot decide.
    CannotTell {
        /// The reason why the judge cannot decide.
        why: String,
    },
}

/// Asks a judge about a criterion that code could not decide.
pub(super) fn ask(
    judge: Option<&dyn CriterionJudge>,
    milestone: &Milestone,
    criterion: &Criterion,
    (tree, plan): (&dyn Tree, &str),
    result: &mut CriterionResult,
) {
    let (Some(judge), Answer::CannotTell { .. }) = (judge, &result.answer) else { return };
    let question = Question { milestone, criterion, evidence: &result.evidence };
    let cannot_tell = |why: String| Answer::CannotTell { why };
    result.answer = match judge.judge(&question) {
        Err(why) => cannot_tell(why),
        Ok(Judgement::CannotTell { why }) => cannot_tell(why),
        Ok(Judgement::NotMet { why }) => Answer::NotMet { why },
        Ok(Judgement::Met { file, line, quote }) => {
            match grounded(tree, plan, &file, line, &quote) {
                Ok(at) => Answer::Met { at: Some(at), seen: quoted(&quote) },
                Err(why) => cannot_tell(why),
            }
        }
    };
}

/// Verifies the quote of a judge in the tree. If the quote is on another line, that line counts.
/// Fails if the quote is in the plan, too short, or not found.
fn grounded(
    tree: &dyn Tree,
    plan: &str,
    file: &str,
    line: u32,
    quote: &str,
) -> Result<Place, String> {
    let path = RepoPath::parse(file, None).map_err(|error| format!("{}: {error}", quoted(file)))?;
    if path.as_str() == plan {
        return Err("the quote is from the plan, which is no evidence".to_owned());
    }
    let text = tree.read(&path).map_err(|error| error.to_string())?;
    let text = text.ok_or_else(|| format!("there is no file {}", quoted(file)))?;
    let wanted: Vec<String> =
        quote.lines().map(squeeze).filter(|line| !line.is_empty()).take(MAX_LINES).collect();
    if wanted.iter().map(String::len).sum::<usize>() < MIN_QUOTE {
        return Err("the quote is too short to prove anything".to_owned());
    }
    let lines: Vec<(u32, String)> =
        (1u32..).zip(text.lines().map(squeeze)).filter(|(_, line)| !line.is_empty()).collect();
    let starts = lines.windows(wanted.len()).filter(|window| {
        let mut pairs = window.iter().zip(&wanted);
        pairs.all(|((_, line), wanted)| line.contains(wanted.as_str()))
    });
    let places = starts.filter_map(|window| Some(window.first()?.0));
    let nearest = places.min_by_key(|place| place.abs_diff(line));
    let missing = || format!("{} does not contain the quote", quoted(file));
    nearest.map(|line| Place { file: path.to_string(), line }).ok_or_else(missing)
}
