//! The folder of results of an evaluation: outputs of reviewers, the report and its HTML page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use assay_eval::formats::parse_output;
use assay_eval::page;
use assay_eval::report::{EvalReport, ReviewerResults, ReviewerScore, VERSION};
use assay_eval::score::CaseResult;
use assay_eval::set::Case;
use assay_findings::write::pretty;

use super::case_output::CaseOutput;
use super::reviewers::find_output;

/// The file of the report in the folder of results.
const SCORE: &str = "score.json";

/// The HTML page in the folder of results.
const PAGE: &str = "report.html";

/// Fails if results cannot be written into a folder. The folder must be new, empty, or of an
/// earlier run.
pub fn check_results_folder(out: &Path) -> anyhow::Result<()> {
    let is_empty = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            return Err(error).with_context(|| format!("cannot use `{}`", out.display()));
        }
    };
    match is_empty || out.join(SCORE).is_file() {
        true => Ok(()),
        false => bail!("`{}` contains other files; name a new or an empty folder", out.display()),
    }
}

/// Returns the folder for the outputs of one run of a reviewer; runs are counted from 1.
pub fn outputs_folder(out: &Path, reviewer: &str, run: usize) -> PathBuf {
    let folder = out.join(folder_name(reviewer));
    match run {
        1 => folder,
        _ => folder.with_file_name(format!("{}.run-{run}", folder_name(reviewer))),
    }
}

/// Returns the folder for the recording of a reviewer.
pub fn recording_folder(out: &Path, reviewer: &str) -> PathBuf {
    out.join("recordings").join(folder_name(reviewer))
}

/// Converts the name of a reviewer into the name of a folder.
fn folder_name(reviewer: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '=');
    reviewer.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// Writes the outputs of a run, and replaces those of an earlier run.
pub fn write_outputs(folder: &Path, outputs: &BTreeMap<String, CaseOutput>) -> anyhow::Result<()> {
    // Remaining outputs of an earlier run would be taken for outputs of this run.
    if folder.is_dir() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot replace `{}`", folder.display()))?;
    }
    outputs.iter().try_for_each(|(id, output)| write_output(folder, id, output))
}

/// Writes the output of a case, if there is one.
pub fn write_output(folder: &Path, id: &str, output: &CaseOutput) -> anyhow::Result<()> {
    match &output.stored {
        Some((text, ending)) => write_file(&folder.join(format!("{id}.{ending}")), text.as_bytes()),
        None => Ok(()),
    }
}

/// Reads the outputs of a reviewer. The output of a case is the only file whose name is the id of
/// the case with any extension.
pub fn read_outputs(folder: &Path, cases: &[Case]) -> anyhow::Result<ReviewerResults> {
    if !folder.is_dir() {
        bail!("`{}` is not a folder with one output for each case", folder.display());
    }
    let mut results = BTreeMap::new();
    for case in cases {
        let Some(path) = find_output(folder, &case.id)? else { continue };
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        results.insert(case.id.clone(), parse_bytes(&bytes));
    }
    if results.is_empty() {
        let id = cases.first().map_or("CASE", |case| case.id.as_str());
        bail!(
            "`{}` contains no output of any case; expected files such as `{id}.json`",
            folder.display()
        );
    }
    let name = name_of(folder);
    Ok(ReviewerResults { name, results, ..ReviewerResults::default() })
}

/// Reads the output of a case; the error is the text for the result.
pub fn read_output(path: &Path) -> Result<CaseResult, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    parse_bytes(&bytes)
}

fn parse_bytes(bytes: &[u8]) -> Result<CaseResult, String> {
    let (text, _) = assay_findings::read::decode(bytes);
    parse_output(&text).map_err(|error| error.to_string())
}

/// Writes the report as JSON and as an HTML page.
pub fn write_report(out: &Path, report: &EvalReport) -> anyhow::Result<()> {
    write_file(&out.join(PAGE), page::render(report).as_bytes())?;
    write_file(&out.join(SCORE), pretty(report).as_bytes())
}

/// Reads a report. Fails if it has another format version.
pub fn read_report(path: &Path) -> anyhow::Result<EvalReport> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the report `{}`", path.display()))?;
    let report: EvalReport = serde_json::from_str(&text).with_context(|| {
        format!("`{}` is not a report of `assay eval score --format json`", path.display())
    })?;
    match report.version {
        VERSION => Ok(report),
        other => bail!("`{}` has the unsupported format version {other}", path.display()),
    }
}

/// Reads the score of a reviewer from `FILE` or `FILE:REVIEWER`.
pub fn read_reviewer(text: &str) -> anyhow::Result<ReviewerScore> {
    let (path, wanted) = match text.rsplit_once(':') {
        Some((path, name)) if !Path::new(text).exists() => (path, Some(name)),
        Some(_) | None => (text, None),
    };
    let report = read_report(Path::new(path))?;
    let names: Vec<String> = report.reviewers.iter().map(|it| it.name.clone()).collect();
    let mut reviewers = report.reviewers.into_iter();
    let found = match wanted {
        Some(wanted) => reviewers.find(|reviewer| reviewer.name == wanted),
        None if names.len() == 1 => reviewers.next(),
        None => None,
    };
    found.ok_or_else(|| {
        anyhow!(
            "name one reviewer of `{path}` as `{path}:REVIEWER`; there are {}",
            names.join(", ")
        )
    })
}

/// Returns the name of a set or a reviewer, which is the name of its folder.
pub fn name_of(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

/// Writes a file, and creates its folder.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let written = match path.parent() {
        Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(path, bytes)),
        None => fs::write(path, bytes),
    };
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use assay_eval::matching::{MatchRule, WordRule};
    use assay_eval::report::evaluate;
    use assay_eval::summary::SummaryOptions;

    use super::*;

    fn cases() -> Vec<Case> {
        ["a", "b"].map(|id| Case { id: id.to_owned(), ..Case::default() }).into()
    }

    #[test]
    fn results_go_into_a_folder_that_is_new_empty_or_of_an_earlier_run() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        check_results_folder(&out).unwrap();
        write_file(&out.join("notes.txt"), b"").unwrap();
        let refused = check_results_folder(&out).unwrap_err().to_string();
        assert!(refused.ends_with("contains other files; name a new or an empty folder"));
        write_file(&out.join(SCORE), b"").unwrap();
        check_results_folder(&out).unwrap();
    }

    #[test]
    fn each_run_of_a_reviewer_has_a_folder_with_a_plain_name() {
        let folder = |run| outputs_folder(Path::new("out"), "models=x/y:z", run);
        assert_eq!(folder(1), Path::new("out/models=x-y-z"));
        assert_eq!(folder(2), Path::new("out/models=x-y-z.run-2"));
        let recording = recording_folder(Path::new("out"), "rules");
        assert_eq!(recording, Path::new("out/recordings/rules"));
    }

    #[test]
    fn outputs_are_read_by_case_and_a_folder_without_any_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = folder.path().join("tool");
        let refused = |cases: &[Case]| read_outputs(&outputs, cases).unwrap_err().to_string();
        assert!(refused(&cases()).contains("is not a folder"));
        write_file(&outputs.join("c.json"), b"{\"findings\": []}").unwrap();
        assert!(refused(&cases()).ends_with("expected files such as `a.json`"));
        write_file(&outputs.join("b.json"), b"{\"findings\": []}").unwrap();
        let read = read_outputs(&outputs, &cases()).unwrap();
        let read_cases: Vec<&str> = read.results.keys().map(String::as_str).collect();
        assert_eq!((read.name.as_str(), read_cases), ("tool", vec!["b"]));
    }

    #[test]
    fn a_report_of_several_reviewers_needs_the_name_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("score.json").display().to_string();
        let reviewer =
            |name: &str| ReviewerResults { name: name.to_owned(), ..ReviewerResults::default() };
        let reviewers = [reviewer("rules"), reviewer("models")];
        let rule = MatchRule { within: None, words: WordRule::Ignored };
        let figures = SummaryOptions { beta: 1.0, draws: 1, seed: 1 };
        let report = evaluate("set", &cases(), &reviewers, rule, figures);
        write_report(folder.path(), &report).unwrap();
        assert_eq!(read_reviewer(&format!("{path}:models")).unwrap().name, "models");
        let refused = read_reviewer(&path).unwrap_err().to_string();
        assert!(refused.ends_with("there are rules, models"), "{refused}");
    }
}
