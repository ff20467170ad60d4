//! Recorded comments of review tools, and the verdicts of judges on them: [`load`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

const VERDICTS: &str = ".evaluations.json";
const COMMENTS: &str = ".candidates.json";

/// The comments as one judge extracted and judged them.
pub(super) struct Judge {
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
}

/// A pull request.
pub(super) struct Case {
    /// The number of golden comments.
    pub(super) golden: usize,
    /// The tools in the same order in every case.
    pub(super) tools: Vec<Tool>,
}

/// The comments of a tool on a pull request.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) comments: Vec<Comment>,
    pub(super) published: PublishedCounts,
}

/// A comment, with the numbers of the golden comments that the judge matched with it.
pub(super) struct Comment {
    pub(super) text: String,
    pub(super) golden: BTreeSet<usize>,
}

/// The counts that were published with the verdicts.
#[derive(Clone, Copy)]
pub(super) struct PublishedCounts {
    pub(super) right: usize,
    pub(super) wrong: usize,
    pub(super) missed: usize,
}

/// Reads a folder with `cases.jsonl` and, for each judge, `published/*.candidates.json` and
/// `published/*.evaluations.json`.
pub(super) fn load(data: &Path) -> anyhow::Result<Vec<Judge>> {
    let path = data.join("cases.jsonl");
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {path:?}"))?;
    let cases: Vec<Value> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| format!("{path:?} is not one JSON object on each line"))?;
    let folder = data.join("published");
    let entries = fs::read_dir(&folder).with_context(|| format!("could not list {folder:?}"))?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(VERDICTS).map(str::to_owned));
    }
    if names.is_empty() {
        bail!("{folder:?} has no file that ends with `{VERDICTS}`");
    }
    names.into_iter().map(|name| read_judge(&folder, name, &cases)).collect()
}

fn read_judge(folder: &Path, name: String, cases: &[Value]) -> anyhow::Result<Judge> {
    let read = |ending: &str| -> anyhow::Result<Value> {
        let path = folder.join(format!("{name}{ending}"));
        let text = fs::read_to_string(&path).with_context(|| format!("could not read {path:?}"))?;
        serde_json::from_str(&text).with_context(|| format!("{path:?} is not JSON"))
    };
    let (verdicts, comments) = (read(VERDICTS)?, read(COMMENTS)?);
    let read_case = |case: &Value| -> anyhow::Result<Case> {
        let url = case["pr_url"].as_str().context("a case has no `pr_url`")?;
        let judged = verdicts[url].as_object();
        let judged = judged.with_context(|| format!("`{name}` judged nothing of {url}"))?;
        let golden = case["golden"].as_array().context("a case has no `golden`")?;
        let numbers: BTreeMap<&str, usize> = golden
            .iter()
            .zip(0..)
            .filter_map(|(g, at)| Some((g["comment"].as_str()?, at)))
            .collect();
        let sorted: BTreeMap<&String, &Value> = judged.iter().collect();
        let tools = sorted.into_iter().map(|(tool, verdict)| {
            read_tool(tool, verdict, &comments[url][tool], &numbers)
                .with_context(|| format!("`{tool}` on {url}, judged by `{name}`"))
        });
        Ok(Case { golden: golden.len(), tools: tools.collect::<anyhow::Result<_>>()? })
    };
    let cases: Vec<Case> = cases.iter().map(read_case).collect::<anyhow::Result<_>>()?;
    let tools =
        |case: &Case| -> Vec<String> { case.tools.iter().map(|t| t.name.clone()).collect() };
    if cases.windows(2).any(|pair| tools(&pair[0]) != tools(&pair[1])) {
        bail!("`{name}` judged other tools in one case than in another");
    }
    Ok(Judge { name, cases })
}

fn read_tool(
    name: &str,
    verdict: &Value,
    comments: &Value,
    numbers: &BTreeMap<&str, usize>,
) -> anyhow::Result<Tool> {
    let mut matched: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for hit in verdict["true_positives"].as_array().context("no `true_positives`")? {
        let golden = hit["golden_comment"].as_str().and_then(|text| numbers.get(text));
        let comment = hit["matched_candidate"].as_str().context("no `matched_candidate`")?;
        matched.entry(comment).or_default().insert(*golden.context("an unknown golden comment")?);
    }
    let count = |key: &str| {
        verdict[key].as_u64().map(|n| n as usize).with_context(|| format!("no count `{key}`"))
    };
    let texts = comments.as_array().into_iter().flatten().filter_map(|it| it["text"].as_str());
    let comments = texts.map(|text| Comment {
        text: text.to_owned(),
        golden: matched.get(text).cloned().unwrap_or_default(),
    });
    Ok(Tool {
        name: name.to_owned(),
        comments: comments.collect(),
        published: PublishedCounts {
            right: count("tp")?,
            wrong: count("fp")?,
            missed: count("fn")?,
        },
    })
}
