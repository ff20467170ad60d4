//! Asks a model to fix the findings of a review: [`Fixer`].
//!
//! The model answers with edits, exact text for exact text, of the files that were in the prompt.
//! Each edit is checked and refused by itself. The files with the other edits are written all
//! together or not at all.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_findings::path::RepoPath;
use assay_models::{Failure, Mark, Model, ModelClient, ModelRequest, Nonce, Prompt};
use assay_rules::redact_text;
use serde::Deserialize;

use crate::fix::{FileFix, FixError, FixPlan, read};
use crate::prompt::{self, AnswerLimits};

/// The maximum number of bytes of all files in a prompt.
const MAX_PROMPT_BYTES: usize = 400_000;

/// Asks a model for edits.
pub struct Fixer {
    /// The client that calls the model.
    pub client: Arc<ModelClient>,
    /// The model.
    pub model: Arc<dyn Model>,
    /// The marks of the run.
    pub nonce: Nonce,
    /// The timeout of an answer.
    pub time: Duration,
    /// The maximum number of tokens for thinking.
    pub thinking: u32,
}

/// The input of a fix.
#[derive(Debug, Clone, Copy)]
pub struct FixerRequest<'a> {
    /// The role of the model, for the prompt.
    pub brief: &'a str,
    /// The findings, in words.
    pub findings: &'a str,
    /// The files of the findings.
    pub files: &'a [RepoPath],
}

/// The result of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixerResult {
    /// The summary of the model.
    pub summary: String,
    /// The number of edits that were applied.
    pub applied: usize,
    /// The edits that were refused, each with the reason.
    pub refused: Vec<String>,
}

/// The reason why nothing was fixed.
#[derive(Debug, thiserror::Error)]
pub enum FixerError {
    /// The model gave no answer.
    #[error(transparent)]
    NoAnswer(#[from] Failure),
    /// The answer is not a list of edits.
    #[error(
        "`{model}`: the answer is not a list of edits ({why}); try again, or choose another model"
    )]
    Unreadable {
        /// The name of the model.
        model: String,
        /// The problem with the answer.
        why: String,
    },
    /// The answer obeys instructions in the code.
    #[error("`{model}`: the answer obeyed instructions in the code and was discarded")]
    ObeyedInstructions {
        /// The name of the model.
        model: String,
    },
    /// No file can be shown to a model.
    #[error("none of the files with findings can be shown to a model")]
    NothingToShow,
    /// The edits cannot be written.
    #[error(transparent)]
    Write(#[from] FixError),
}

impl FixerError {
    /// Returns true if a retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            FixerError::NoAnswer(failure) => failure.class.is_transient(),
            FixerError::Unreadable { .. }
            | FixerError::ObeyedInstructions { .. }
            | FixerError::Write(_) => true,
            FixerError::NothingToShow => false,
        }
    }
}

/// The answer of a model.
#[derive(Debug, Deserialize)]
struct FixerAnswer {
    edits: Vec<Edit>,
    #[serde(default)]
    summary: String,
}

#[derive(Debug, Deserialize)]
struct Edit {
    file: String,
    find: String,
    replace: String,
}

impl Fixer {
    /// Asks the model for edits of the files in a folder, and applies them.
    pub fn fix(
        &self,
        folder: &Path,
        request: &FixerRequest<'_>,
    ) -> Result<FixerResult, FixerError> {
        let files = read_files(folder, request.files);
        if files.is_empty() {
            return Err(FixerError::NothingToShow);
        }
        let limits =
            AnswerLimits { answer: self.model.about().max_output_tokens, thinking: self.thinking };
        let findings = redact_text(request.findings);
        let texts = files.iter().map(|(path, text)| (path, redact_text(text)));
        let prompt = prompt::fix(request.brief, &findings, texts, limits);
        let answer = self.ask(&prompt)?;
        let (plan, refused) = plan_edits(&files, answer.edits);
        let applied = plan.1;
        plan.0.apply(folder)?;
        Ok(FixerResult { summary: redact_text(&answer.summary), applied, refused })
    }

    fn ask(&self, prompt: &Prompt) -> Result<FixerAnswer, FixerError> {
        let model = self.model.id().to_string();
        let ask = ModelRequest {
            label: "fixer",
            prompt,
            nonce: &self.nonce,
            time: self.time,
            is_cacheable: &|reply| parse(&reply.text).is_ok(),
        };
        let reply = self.client.ask(&*self.model, &ask, &|_| {}).outcome?;
        if reply.contains_word(self.nonce.value_of(Mark::Canary)) {
            return Err(FixerError::ObeyedInstructions { model });
        }
        parse(&reply.text).map_err(|why| FixerError::Unreadable { model, why })
    }
}

/// Parses an answer, which may be in a code fence.
fn parse(text: &str) -> Result<FixerAnswer, String> {
    let start = text.find('{').unwrap_or(0);
    let end = text.rfind('}').map_or(text.len(), |at| at + 1);
    let json = text.get(start..end).unwrap_or_default();
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// Reads the files that can be edited, up to the maximum size.
fn read_files(folder: &Path, files: &[RepoPath]) -> BTreeMap<RepoPath, String> {
    let mut limits = MAX_PROMPT_BYTES;
    let mut shown = BTreeMap::new();
    for path in files {
        let Ok(text) = read(folder, path) else { continue };
        if text.len() <= limits {
            limits -= text.len();
            shown.insert(path.clone(), text);
        }
    }
    shown
}

/// Computes the effect of edits on files. An edit is refused if its text does not occur exactly
/// once, or if the file would not parse afterwards.
fn plan_edits(
    files: &BTreeMap<RepoPath, String>,
    edits: Vec<Edit>,
) -> ((FixPlan, usize), Vec<String>) {
    let mut after: BTreeMap<RepoPath, String> = BTreeMap::new();
    let (mut applied, mut refused) = (0, Vec::new());
    for Edit { file, find, replace } in edits {
        let known = RepoPath::exact(&file).ok().filter(|path| files.contains_key(path));
        let Some(path) = known else {
            refused.push(format!("`{file}` was not in the prompt"));
            continue;
        };
        let before = after.get(&path).unwrap_or(&files[&path]);
        let places = if find.is_empty() { 0 } else { before.matches(&find).count() };
        if places != 1 {
            refused
                .push(format!("{file}: the text to replace occurs {places} times, expected once"));
            continue;
        }
        let tried = before.replacen(&find, &replace, 1);
        if !assay_rules::parses_as_well(path.as_str(), before, &tried) {
            refused.push(format!("{file}: the file would not parse after the edit"));
            continue;
        }
        applied += 1;
        after.insert(path, tried);
    }
    let changed = after.into_iter().filter(|(path, text)| files[path] != *text);
    let files = changed.map(|(path, after)| {
        let before = files[&path].clone();
        FileFix { path, before, after, fixes: Vec::new() }
    });
    ((FixPlan { files: files.collect(), refused: Vec::new() }, applied), refused)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(edits: &str, expected: &Expect) {
        let path = RepoPath::exact("a.py").unwrap();
        let files = BTreeMap::from([(path, "x = 1\ny = 2\ny = 2\n".to_owned())]);
        let answer = parse(edits).unwrap();
        let ((plan, applied), refused) = plan_edits(&files, answer.edits);
        let after = plan.files.first().map(|file| file.after.clone()).unwrap_or_default();
        expected.assert_eq(&format!("{applied} applied\n{}\n{after}", refused.join("\n")));
    }

    #[test]
    fn only_edits_with_exactly_one_valid_match_are_applied() {
        check(
            "Here you are:\n```json\n{\"edits\": [
                {\"file\": \"a.py\", \"find\": \"x = 1\", \"replace\": \"x = 3\"},
                {\"file\": \"a.py\", \"find\": \"y = 2\", \"replace\": \"\"},
                {\"file\": \"a.py\", \"find\": \"z\", \"replace\": \"\"},
                {\"file\": \"a.py\", \"find\": \"x = 3\", \"replace\": \"def (:\"},
                {\"file\": \"../b.py\", \"find\": \"x\", \"replace\": \"y\"}
            ], \"summary\": \"done\"}\n```",
            &expect![[r#"
                1 applied
                a.py: the text to replace occurs 2 times, expected once
                a.py: the text to replace occurs 0 times, expected once
                a.py: the file would not parse after the edit
                `../b.py` was not in the prompt
                x = 3
                y = 2
                y = 2
            "#]],
        );
    }

    #[test]
    fn an_answer_without_edits_writes_nothing() {
        check(
            "{\"edits\": []}",
            &expect![[r#"
            0 applied

        "#]],
        );
    }
}
