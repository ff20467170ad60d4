//! The results of an agent that reviews the cases of a set: [`DelegatedResults`] stores and scores
//! the outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_eval::matching::MatchRule;
use assay_eval::report::{EvalReport, ReviewerResults, evaluate};
use assay_eval::set::Case;
use assay_eval::summary::SummaryOptions;
use assay_review::delegation::Brief;

use super::brief_files::{BriefFolder, file_name};
use super::case_output::CaseOutput;
use super::case_repository::CaseRepository;
use super::questions::{CaseQuestions, MissingAnswers};
use super::results_folder::{read_output, write_output, write_report};
use super::reviewers::find_output;
use super::transcripts::RecordingFolder;
use crate::environment::Environment;

/// The name of the agent's row in the table, and of the folder of its outputs.
const DELEGATED: &str = "delegated";

/// The outputs of an agent, and the score of the cases that are finished.
#[derive(Clone)]
pub struct DelegatedResults {
    /// The name of the set.
    pub set: String,
    /// The cases that the agent reviews.
    pub cases: Vec<Case>,
    /// The folder of results.
    pub out: PathBuf,
    /// The rule by which a comment matches a label.
    pub rule: MatchRule,
    /// The options for the figures.
    pub figures: SummaryOptions,
}

impl DelegatedResults {
    fn folder(&self) -> PathBuf {
        self.out.join(DELEGATED)
    }

    /// Returns the ids of the cases that have an output.
    pub fn finished(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut finished = BTreeSet::new();
        for case in &self.cases {
            if find_output(&self.folder(), &case.id)?.is_some() {
                finished.insert(case.id.clone());
            }
        }
        Ok(finished)
    }

    /// Stores the output of a case.
    pub fn keep(&self, id: &str, output: &CaseOutput) -> anyhow::Result<()> {
        write_output(&self.folder(), id, output)
    }

    /// Removes the output of a case.
    fn remove(&self, id: &str) -> anyhow::Result<()> {
        let Some(path) = find_output(&self.folder(), id)? else { return Ok(()) };
        std::fs::remove_file(&path).with_context(|| format!("cannot replace `{}`", path.display()))
    }

    /// Scores the cases that are finished, and writes the report.
    pub fn score(&self) -> anyhow::Result<EvalReport> {
        let finished = self.finished()?;
        let mut results = BTreeMap::new();
        for id in &finished {
            let Some(path) = find_output(&self.folder(), id)? else { continue };
            results.insert(id.clone(), read_output(&path));
        }
        let cases: Vec<Case> =
            self.cases.iter().filter(|case| finished.contains(&case.id)).cloned().collect();
        let name = DELEGATED.to_owned();
        let reviewer = ReviewerResults { name, results, ..ReviewerResults::default() };
        let report = evaluate(&self.set, &cases, &[reviewer], self.rule.clone(), self.figures);
        write_report(&self.out, &report)?;
        Ok(report)
    }

    /// Reads the answers in the folder of briefs, writes the briefs of open questions, and stores
    /// the outputs of the cases that are decided. Returns the names of the open questions.
    pub fn take_answers(
        &self,
        environment: &Environment,
        set: &Path,
        settings: &[(String, String)],
        questions: &CaseQuestions,
        briefs: &BriefFolder,
        record: Option<&RecordingFolder>,
    ) -> anyhow::Result<Vec<String>> {
        let (mut decided, mut open) = (BTreeMap::new(), Vec::new());
        for case in &self.cases {
            let repository = CaseRepository::new(environment, set, case, settings)?;
            let mut source = |brief: &Brief| briefs.answer(&case.id, brief);
            let answered = questions
                .ask(case, &repository, MissingAnswers::Wait, &mut source)
                .with_context(|| format!("cannot score case `{}`", case.id))?;
            for question in &answered.open {
                briefs.write(&case.id, question)?;
                open.push(file_name(&case.id, &question.brief));
            }
            self.remove(&case.id)?;
            if let Some((output, answers)) = answered.ended {
                decided.insert(case.id.clone(), answers);
                self.keep(&case.id, &output)?;
            }
        }
        if let Some(record) = record {
            record.add(decided)?;
        }
        Ok(open)
    }
}

#[cfg(test)]
mod tests {
    use assay_eval::matching::WordRule;

    use super::super::case_output::ReplayedAnswers;
    use super::*;

    #[test]
    fn only_cases_with_an_output_are_finished_and_scored() {
        let folder = tempfile::tempdir().unwrap();
        let results = DelegatedResults {
            set: "set".to_owned(),
            cases: ["a", "b"].map(|id| Case { id: id.to_owned(), ..Case::default() }).into(),
            out: folder.path().to_owned(),
            rule: MatchRule { within: None, words: WordRule::Ignored },
            figures: SummaryOptions { beta: 1.0, draws: 1, seed: 1 },
        };
        let output = CaseOutput {
            result: Err(String::new()),
            stored: Some(("{\"findings\": []}".to_owned(), "json")),
            replayed: ReplayedAnswers::default(),
        };
        results.keep("b", &output).unwrap();
        assert_eq!(results.finished().unwrap(), BTreeSet::from(["b".to_owned()]));
        let report = results.score().unwrap();
        assert_eq!(
            (report.reviewers[0].name.as_str(), report.reviewers[0].missing.len()),
            (DELEGATED, 0)
        );
        assert!(folder.path().join("score.json").is_file());
        results.remove("b").unwrap();
        assert!(results.finished().unwrap().is_empty());
    }
}
