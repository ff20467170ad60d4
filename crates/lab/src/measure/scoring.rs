//! Lexical scoring against the recorded verdicts of judges.
//!
//! The data is a folder with `cases.jsonl` (`pr_url` and `golden` comments of each pull request)
//! and `published/`: for each judge `JUDGE.candidates.json`, the comments of each tool on each pull
//! request, and `JUDGE.evaluations.json`, the verdicts with the published counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use assay_eval::comment::Comment;
use assay_eval::matching::{DEFAULT_SIMILARITY, MatchRule, WordRule, match_case};
use assay_eval::score::Counts;
use assay_eval::set::Label;
use assay_eval::statistics::{DEFAULT_DRAWS, Estimate, bootstrap, spearman};
use serde_json::{Value, json};

use crate::workspace::{files_below, write_json};

/// The minimum share of golden comments on which lexical scoring has to agree with a judge.
const MIN_AGREEMENT: f64 = 0.89;

/// The minimum rank correlation of the tools' F1 by lexical scoring with that by a judge.
const MIN_SPEARMAN: f64 = 0.92;

/// A pull request with its golden comments.
struct PullRequest {
    url: String,
    golden: Vec<String>,
}

/// The score of one tool on one pull request.
#[derive(Clone)]
struct ToolScore {
    tool: String,
    /// The number of golden comments on which both agree.
    agreeing: usize,
    golden: usize,
    judged: Counts,
    lexical: Counts,
}

/// The verdicts of a judge, compared with the published counts and with lexical scoring.
struct JudgeScore {
    judge: String,
    reviews: usize,
    /// The number of reviews whose published counts follow from the verdicts.
    reproduced: usize,
    agreement: Option<Estimate>,
    spearman: Option<Estimate>,
}

/// Measures all judges of a folder. Returns true if all counts are reproduced and all minimums
/// reached.
pub(super) fn run(data: &Path, seed: u64) -> anyhow::Result<bool> {
    let pulls = pull_requests(&data.join("cases.jsonl"))?;
    let mut scores = Vec::new();
    for path in files_below(&data.join("published"), "json")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(judge) = name.strip_suffix(".evaluations.json") {
            scores.push(score_judge(data, judge, &pulls, seed)?);
        }
    }
    ensure!(!scores.is_empty(), "there is no `*.evaluations.json` in `{}`", data.display());
    for score in &scores {
        println!("{}", score.summary());
    }
    let summary: Vec<Value> = scores.iter().map(JudgeScore::json).collect();
    write_json("measure", "scoring.json", &json!(summary))?;
    Ok(scores.iter().all(JudgeScore::holds))
}

fn score_judge(
    data: &Path,
    judge: &str,
    pulls: &[PullRequest],
    seed: u64,
) -> anyhow::Result<JudgeScore> {
    let read = |kind: &str| read_json(&data.join(format!("published/{judge}.{kind}.json")));
    let (verdicts, candidates) = (read("evaluations")?, read("candidates")?);
    let (mut reviews, mut reproduced) = (0, 0);
    let mut scored: Vec<Vec<ToolScore>> = Vec::new();
    for pull in pulls {
        let tools = verdicts[&pull.url].as_object();
        let tools = tools.with_context(|| format!("`{judge}` has no verdicts on {}", pull.url))?;
        let mut of_pull = Vec::new();
        for (tool, verdict) in tools {
            reviews += 1;
            let judged = JudgedReview::read(verdict, &pull.golden).with_context(|| {
                format!("the verdict of `{judge}` on `{tool}` and {}", pull.url)
            })?;
            reproduced += usize::from(judged.is_as_published(verdict));
            let said = match candidates[&pull.url][tool].as_array() {
                Some(said) => texts(said, "text"),
                None => judged.candidates.iter().cloned().collect(),
            };
            of_pull.push(score_tool(tool, &pull.golden, &said, &judged));
        }
        scored.push(of_pull);
    }
    Ok(JudgeScore {
        judge: judge.to_owned(),
        reviews,
        reproduced,
        agreement: bootstrap(&scored, DEFAULT_DRAWS, seed, agreement),
        spearman: bootstrap(&scored, DEFAULT_DRAWS, seed, rank_correlation),
    })
}

/// The verdict on one review.
struct JudgedReview {
    /// The golden comments that a candidate matches.
    named: BTreeSet<String>,
    missed: BTreeSet<String>,
    /// The candidates that match none.
    wrong: BTreeSet<String>,
    candidates: BTreeSet<String>,
}

impl JudgedReview {
    /// Parses a verdict. Fails if its golden comments are not those of the pull request.
    fn read(verdict: &Value, golden: &[String]) -> anyhow::Result<JudgedReview> {
        let list = |key: &str| verdict[key].as_array().with_context(|| format!("no list `{key}`"));
        let (hits, wrong) = (list("true_positives")?, list("false_positives")?);
        let named: BTreeSet<String> = texts(hits, "golden_comment").into_iter().collect();
        let missed: BTreeSet<String> =
            texts(list("false_negatives")?, "golden_comment").into_iter().collect();
        let known: BTreeSet<String> = golden.iter().cloned().collect();
        if named.union(&missed).cloned().collect::<BTreeSet<_>>() != known {
            bail!("the golden comments are not those of `cases.jsonl`");
        }
        let wrong: BTreeSet<String> = texts(wrong, "candidate").into_iter().collect();
        let matched = texts(hits, "matched_candidate");
        let candidates = matched.into_iter().chain(wrong.iter().cloned()).collect();
        Ok(JudgedReview { named, missed, wrong, candidates })
    }

    /// Returns true if the published counts follow from the verdict: a golden comment is a hit if
    /// any candidate matches it; a candidate that matched one and was displaced by a surer one is
    /// neither a hit nor wrong.
    fn is_as_published(&self, verdict: &Value) -> bool {
        let count = |key: &str| verdict[key].as_u64().map(|count| count as usize);
        count("tp") == Some(self.named.len())
            && count("fn") == Some(self.missed.len())
            && count("fp") == Some(self.wrong.len())
    }
}

fn score_tool(tool: &str, golden: &[String], said: &[String], judged: &JudgedReview) -> ToolScore {
    let comments: Vec<Comment> =
        said.iter().map(|text| Comment { text: text.clone(), ..Comment::default() }).collect();
    let labels: Vec<Label> =
        golden.iter().map(|it| Label { comment: it.clone(), ..Label::default() }).collect();
    let words = WordRule::Lexical { at_least: DEFAULT_SIMILARITY };
    let found = match_case("", &comments, &labels, &MatchRule { within: None, words });
    let is_named = |label: usize| found.matches.iter().any(|it| it.label == label);
    let agreeing = golden
        .iter()
        .enumerate()
        .filter(|(at, text)| is_named(*at) == judged.named.contains(*text))
        .count();
    let (hits, labels) = (judged.named.len(), golden.len());
    ToolScore {
        tool: tool.to_owned(),
        agreeing,
        golden: golden.len(),
        // F1 as published: hits and wrong candidates, without displaced ones.
        judged: Counts { hits, labels, comments: hits + judged.wrong.len() },
        lexical: Counts { hits: found.matches.len(), labels, comments: comments.len() },
    }
}

fn agreement(pulls: &[&Vec<ToolScore>]) -> Option<f64> {
    let all = || pulls.iter().flat_map(|pull| pull.iter());
    let golden: usize = all().map(|it| it.golden).sum();
    let agreeing: usize = all().map(|it| it.agreeing).sum();
    assay_eval::score::share(agreeing, golden)
}

/// Returns Spearman's correlation of the tools' F1 by both methods; `None` if it is undefined.
fn rank_correlation(pulls: &[&Vec<ToolScore>]) -> Option<f64> {
    let mut tools: BTreeMap<&str, (Counts, Counts)> = BTreeMap::new();
    for score in pulls.iter().flat_map(|pull| pull.iter()) {
        let (judged, lexical) = tools.entry(&score.tool).or_default();
        (*judged, *lexical) = (*judged + score.judged, *lexical + score.lexical);
    }
    let figures = |of: fn(&(Counts, Counts)) -> &Counts| -> Vec<f64> {
        tools.values().map(|both| of(both).f(1.0).unwrap_or(0.0)).collect()
    };
    spearman(&figures(|both| &both.0), &figures(|both| &both.1))
}

impl JudgeScore {
    fn holds(&self) -> bool {
        let reaches = |figure: Option<Estimate>, bar: f64| figure.is_some_and(|it| it.value >= bar);
        self.reproduced == self.reviews
            && reaches(self.agreement, MIN_AGREEMENT)
            && reaches(self.spearman, MIN_SPEARMAN)
    }

    fn summary(&self) -> String {
        let figure = |estimate: Option<Estimate>| match estimate {
            Some(it) => format!("{:.3} ({:.2}–{:.2})", it.value, it.low, it.high),
            None => "undefined".to_owned(),
        };
        format!(
            "{}: published counts of {} of {} reviews reproduced; agreement {} (bar \
             {MIN_AGREEMENT}), Spearman {} (bar {MIN_SPEARMAN})",
            self.judge,
            self.reproduced,
            self.reviews,
            figure(self.agreement),
            figure(self.spearman),
        )
    }

    fn json(&self) -> Value {
        json!({
            "judge": self.judge,
            "reviews": self.reviews,
            "reproduced": self.reproduced,
            "agreement": self.agreement,
            "spearman": self.spearman,
        })
    }
}

fn pull_requests(path: &Path) -> anyhow::Result<Vec<PullRequest>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    let pull = |line: &str| {
        let value: Value = serde_json::from_str(line)?;
        let url = value["pr_url"].as_str().context("a case has no `pr_url`")?.to_owned();
        let golden = value["golden"].as_array().context("a case has no `golden`")?;
        Ok(PullRequest { url, golden: texts(golden, "comment") })
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(pull).collect()
}

fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn texts(list: &[Value], key: &str) -> Vec<String> {
    list.iter().filter_map(|it| it[key].as_str().map(str::to_owned)).collect()
}
