//! The verdicts of a judge on pairs of comment and label: `JudgeRun` reads them from a file, and
//! asks the judge for those that are missing.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, anyhow};
use assay_eval::judge::{JudgedPair, JudgedPairs, MAX_PAIRS};
use assay_eval::matching::{MatchRule, Verdict, Verdicts, WordRule};
use assay_eval::report::ReviewerResults;
use assay_eval::set::Case;
use assay_rules::redact_text;

use super::judge::PairJudge;
use crate::reporter::Reporter;

/// Reads the verdicts of a file.
pub fn read_verdicts(path: &Path) -> anyhow::Result<Verdicts> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the verdicts `{}`", path.display()))?;
    Verdicts::parse(&text)
        .map_err(|error| anyhow!("`{}` contains no verdicts: {error}", path.display()))
}

/// Appends redacted verdicts to a file.
fn append_verdicts(path: &Path, verdicts: &[Verdict]) -> anyhow::Result<()> {
    let mut lines = String::new();
    for verdict in verdicts {
        let (comment, label) = (redact_text(&verdict.comment), redact_text(&verdict.label));
        lines += &serde_json::to_string(&Verdict { comment, label, ..verdict.clone() })?;
        lines.push('\n');
    }
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(lines.as_bytes()))
        .with_context(|| format!("cannot write the verdicts `{}`", path.display()))
}

/// The pairs that a judge decides, and the file of verdicts.
pub struct JudgeRun<'a> {
    /// The selection of pairs that the judge decides.
    pub pairs: JudgedPairs,
    /// The file of the verdicts; `None` if they are not stored.
    pub file: Option<&'a Path>,
    /// The receiver of the errors of the judge.
    pub reporter: &'a dyn Reporter,
}

impl JudgeRun<'_> {
    /// Asks the judge about all pairs without a recorded verdict; `open` opens the judge, and is
    /// called only if there is such a pair. Returns the match rule, and the number of pairs that
    /// the judge left undecided, which are decided by place and words.
    pub fn match_rule(
        &self,
        cases: &[Case],
        reviewers: &[ReviewerResults],
        open: impl FnOnce() -> anyhow::Result<PairJudge>,
    ) -> anyhow::Result<(MatchRule, usize)> {
        let mut verdicts = match self.file.filter(|path| path.exists()) {
            Some(path) => read_verdicts(path)?,
            None => Verdicts::default(),
        };
        let open_pairs = self.open_pairs(cases, reviewers, &verdicts);
        let mut undecided = 0;
        if !open_pairs.is_empty() {
            let judge = open()?;
            // Each prompt has pairs of one case, so that no comment is compared with another
            // change.
            for pairs in open_pairs.chunk_by(|one, other| one.case == other.case) {
                for pairs in pairs.chunks(MAX_PAIRS) {
                    undecided += self.ask(&judge, pairs, &mut verdicts)?;
                }
            }
        }
        Ok((MatchRule { within: None, words: WordRule::Judged(verdicts) }, undecided))
    }

    /// Returns the pairs without a verdict, each once, ordered by case.
    fn open_pairs(
        &self,
        cases: &[Case],
        reviewers: &[ReviewerResults],
        verdicts: &Verdicts,
    ) -> Vec<JudgedPair> {
        let mut open: BTreeMap<(String, String, String), JudgedPair> = BTreeMap::new();
        for (case, reviewer) in
            cases.iter().flat_map(|case| reviewers.iter().map(move |it| (case, it)))
        {
            let Some(Ok(result)) = reviewer.results.get(&case.id) else { continue };
            for pair in self.pairs.of_case(case, &result.comments) {
                if verdicts.decision(&pair.case, &pair.comment, &pair.label).is_none() {
                    let key = (pair.case.clone(), pair.comment.clone(), pair.label.clone());
                    let known = open.entry(key).or_insert(pair.clone());
                    known.is_alike |= pair.is_alike;
                }
            }
        }
        open.into_values().collect()
    }

    /// Asks about some pairs of one case, and stores the verdicts. Returns the number of undecided
    /// pairs.
    fn ask(
        &self,
        judge: &PairJudge,
        pairs: &[JudgedPair],
        verdicts: &mut Verdicts,
    ) -> anyhow::Result<usize> {
        let decisions = judge.decide(pairs).unwrap_or_else(|error| {
            self.reporter.note(&assay_rules::redact(&format!("{error:#}")));
            vec![None; pairs.len()]
        });
        let mut decided = Vec::new();
        let mut undecided = 0;
        for (pair, decision) in pairs.iter().zip(decisions) {
            let verdict = match decision {
                Some(names) => pair.verdict(names, Some(&judge.name())),
                None => pair.verdict(pair.is_alike, None),
            };
            match decision {
                Some(_) => decided.push(verdict.clone()),
                None => undecided += 1,
            }
            verdicts.add(verdict).map_err(anyhow::Error::msg)?;
        }
        if let Some(path) = self.file {
            append_verdicts(path, &decided)?;
        }
        Ok(undecided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_appended_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verdicts.jsonl");
        assert!(read_verdicts(&path).unwrap_err().to_string().starts_with("cannot read"));
        let line = r#"{"case":"a","comment":"it breaks","label":"broken","names":true}"#;
        let verdict: Verdict = serde_json::from_str(line).unwrap();
        append_verdicts(&path, std::slice::from_ref(&verdict)).unwrap();
        append_verdicts(&path, &[Verdict { case: "b".to_owned(), ..verdict }]).unwrap();
        let verdicts = read_verdicts(&path).unwrap();
        for case in ["a", "b"] {
            assert_eq!(verdicts.decision(case, "it breaks", "broken"), Some(true));
        }
        assert_eq!(verdicts.decision("c", "it breaks", "broken"), None);
    }
}
