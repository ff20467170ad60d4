//! Parses the answers of verifiers that use the text form.
//!
//! Only the exact words count. A word with other text around it, two words that contradict each
//! other, or counts that do not add up are [`Malformed`], and that is never a pass.

use crate::item::{ItemId, Scope};

/// A parsed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The answer to making a list.
    Decomposed {
        /// The number of items that the answer states.
        created: usize,
        /// The items that the answer lists.
        items: Vec<(ItemId, String, Scope)>,
    },
    /// The answer to verifying.
    Verified(VerifiedAnswer),
}

/// The answer of a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedAnswer {
    /// True if the answer states a pass.
    pub is_pass: bool,
    /// The stated numbers of all, passed and failed items; `None` if there are none.
    pub counts: Option<(usize, usize, usize)>,
    /// The items that failed according to the answer.
    pub failed: Vec<(ItemId, String)>,
    /// The action after `NEXT:`; `None` if there is none, or it is unknown.
    pub next: Option<Next>,
    /// The path of a report; `None` if there is none.
    pub report: Option<String>,
    /// A note on a missing part; `None` if the answer is complete.
    pub warning: Option<&'static str>,
}

/// The action after `NEXT:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Continue with the next phase.
    NextPhase,
    /// Verify items.
    Verify,
    /// Fix failed items.
    Fix,
    /// Ask a person to decide.
    Person,
}

/// The reason why a text is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed: {0}")]
pub struct Malformed(String);

/// Parses an answer.
pub fn read(text: &str) -> Result<Answer, Malformed> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut said = lines.iter().copied().filter(|line| !line.is_empty());
    match said.next() {
        Some("DECOMPOSE COMPLETE") => read_decomposed(&lines),
        Some("VERIFICATION COMPLETE") => read_verified(&lines).map(Answer::Verified),
        Some(first) if first.starts_with("RESULT: ") => read_result(&lines).map(Answer::Verified),
        Some(word @ ("PASS" | "FAIL")) if said.next().is_none() => {
            Ok(Answer::Verified(VerifiedAnswer { is_pass: word == "PASS", ..nothing_but() }))
        }
        Some(_) => Err(Malformed("it begins with none of the known forms".to_owned())),
        None => Err(Malformed("it is empty".to_owned())),
    }
}

fn nothing_but() -> VerifiedAnswer {
    let (counts, next, report, warning) = (None, None, None, None);
    VerifiedAnswer { is_pass: false, counts, failed: Vec::new(), next, report, warning }
}

fn read_decomposed(lines: &[&str]) -> Result<Answer, Malformed> {
    let created = only(lines, "Items created: ")?.and_then(|count| count.parse().ok());
    let created = created
        .ok_or_else(|| Malformed("the number after `Items created:` is missing".to_owned()))?;
    let items = lines.iter().filter_map(|line| {
        let (id, rest) = entry(line)?;
        let (check, scope) = rest.strip_suffix(')')?.rsplit_once(" (scope: ")?;
        Some((id, check.to_owned(), Scope::from(scope)))
    });
    Ok(Answer::Decomposed { created, items: items.collect() })
}

fn read_verified(lines: &[&str]) -> Result<VerifiedAnswer, Malformed> {
    let is_pass = match only(lines, "Status: ")? {
        Some("PASS") => true,
        Some("FAIL") => false,
        _ => return Err(Malformed("the status is neither PASS nor FAIL".to_owned())),
    };
    let counts = only(lines, "Items: ")?.map(read_counts).transpose()?;
    let behind = lines.iter().skip_while(|line| **line != "Failed items:").skip(1);
    let failed: Vec<(ItemId, String)> =
        behind.map_while(|line| entry(line)).map(|(id, check)| (id, check.to_owned())).collect();
    if is_pass && (!failed.is_empty() || counts.is_some_and(|(total, pass, _)| total != pass)) {
        return Err(Malformed("the status is PASS, and not all items passed".to_owned()));
    }
    let warning = (!is_pass && failed.is_empty()).then_some("failed list missing; read the state");
    let next = only(lines, "NEXT: ")?.and_then(read_next);
    Ok(VerifiedAnswer { is_pass, counts, failed, next, report: None, warning })
}

fn read_result(lines: &[&str]) -> Result<VerifiedAnswer, Malformed> {
    let is_pass = match only(lines, "RESULT: ")? {
        Some("PASS") => true,
        Some("FAIL") => false,
        _ => return Err(Malformed("the result is neither PASS nor FAIL".to_owned())),
    };
    let report = only(lines, "PATH: ")?.map(str::to_owned);
    Ok(VerifiedAnswer { is_pass, report, ..nothing_but() })
}

/// Returns the text after a word at the beginning of a line; `None` if there is none. Fails if
/// several lines begin with the word.
fn only<'a>(lines: &[&'a str], word: &str) -> Result<Option<&'a str>, Malformed> {
    let mut found = lines.iter().filter_map(|line| line.strip_prefix(word));
    let first = found.next();
    match found.next() {
        Some(_) => Err(Malformed(format!("`{}` occurs twice", word.trim_end()))),
        None => Ok(first),
    }
}

/// Parses `7 total, 5 PASS, 2 FAIL`, optionally with text after it.
fn read_counts(text: &str) -> Result<(usize, usize, usize), Malformed> {
    let mut parts = text.split(", ");
    let mut number = |word: &str| {
        let (number, rest) = parts.next()?.split_once(' ')?;
        rest.starts_with(word).then(|| number.parse::<usize>().ok())?
    };
    let (total, pass, fail) = (number("total"), number("PASS"), number("FAIL"));
    let counts = total.zip(pass).zip(fail).map(|((total, pass), fail)| (total, pass, fail));
    let sound = counts
        .filter(|(total, pass, fail)| pass.checked_add(*fail).is_some_and(|seen| seen <= *total));
    sound.ok_or_else(|| Malformed("the counts cannot be parsed, or do not add up".to_owned()))
}

/// Parses `- id: text`.
fn entry<'a>(line: &&'a str) -> Option<(ItemId, &'a str)> {
    let (id, text) = line.strip_prefix("- ")?.split_once(": ")?;
    Some((id.parse().ok()?, text))
}

fn read_next(text: &str) -> Option<Next> {
    let known = [
        ("Continue to next phase", Next::NextPhase),
        ("Invoke verifiers", Next::Verify),
        ("Invoke fixer", Next::Fix),
        ("Ask a person", Next::Person),
    ];
    known.into_iter().find(|(words, _)| text.starts_with(words)).map(|(_, next)| next)
}
