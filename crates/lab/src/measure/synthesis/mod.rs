//! `cargo xtask measure synthesis --data DIR`: the quality of merging and selecting the comments of
//! several review tools, against golden comments and the verdicts of judges.
//!
//! The folder has `cases.jsonl` with the golden comments of pull requests and, for each judge,
//! `published/*.candidates.json` and `published/*.evaluations.json`. The comments have no place, so
//! they are compared by their words alone, and the diffs of the set are not read.

mod data;
mod nested;
mod score;

use std::collections::BTreeMap;
use std::path::Path;

use self::data::{Case, Judge};
use self::score::{Groups, Hits, Label, Pairs, share};
use crate::random::Random;

/// The number of draws of tools, and of resamples of cases for an interval.
const DRAWS: usize = 100;
const RESAMPLES: usize = 1_000;

/// The numbers of drawn tools.
const DRAWN: [usize; 4] = [2, 3, 4, 6];

const LABELS: [(&str, Label); 3] =
    [("shown", Label::Shown), ("majority", Label::Majority), ("any", Label::Any)];

/// Prints the results of the synthesis on each judge's comments, then the scores with a gate that
/// was chosen on other changes.
pub(super) fn run(data: &Path, seed: u64) -> anyhow::Result<bool> {
    let judges = data::load(data)?;
    let mut syntheses = Vec::new();
    for judge in &judges {
        let tools = judge.cases.first().map_or(0, |case| case.tools.len());
        let cases = judge.cases.len();
        let golden: usize = judge.cases.iter().map(|case| case.golden).sum();
        println!("{}: {cases} changes, {golden} golden comments, {tools} reviewers", judge.name);
        let all: Vec<usize> = (0..tools).collect();
        let groups = synthesize_all(judge, &all)?;
        print_pairs(judge, &groups, seed);
        print_choice(judge, &groups, seed);
        print_curve(judge, &groups);
        print_calibration(tools, &[&groups]);
        print_draws(judge, tools, seed)?;
        println!();
        syntheses.push(groups);
    }
    let all: Vec<(&Judge, &[Groups])> =
        judges.iter().zip(syntheses.iter().map(Vec::as_slice)).collect();
    nested::print(&all, seed);
    Ok(true)
}

fn synthesize_all(judge: &Judge, tools: &[usize]) -> anyhow::Result<Vec<Groups>> {
    judge.cases.iter().map(|case| Groups::of(case, tools)).collect()
}

fn print_pairs(judge: &Judge, groups: &[Groups], seed: u64) {
    let pairs: Vec<Pairs> =
        judge.cases.iter().zip(groups).map(|(case, groups)| Pairs::of(case, groups)).collect();
    let total = |cases: &mut dyn Iterator<Item = usize>| {
        let mut total = Pairs::default();
        cases.for_each(|case| total.add(pairs[case]));
        total
    };
    let all = total(&mut (0..pairs.len()));
    let merged = interval(pairs.len(), seed, |cases| total(cases).merged());
    let right = interval(pairs.len(), seed, |cases| total(cases).right());
    println!(
        "  pairs on one golden comment that are merged: {} {merged} ({} of {})",
        shown(all.merged()),
        all.same_merged,
        all.same,
    );
    println!(
        "  merged pairs that are right: {} {right} ({} wrong; {} more unknown)",
        shown(all.right()),
        all.other_merged,
        all.unknown_merged,
    );
}

fn print_choice(judge: &Judge, groups: &[Groups], seed: u64) {
    let best = (0..judge.cases.first().map_or(0, |case| case.tools.len()))
        .map(|tool| (published(&judge.cases, tool).f1(), &judge.cases[0].tools[tool].name))
        .max_by(|a, b| a.0.unwrap_or(0.0).total_cmp(&b.0.unwrap_or(0.0)));
    if let Some((f1, name)) = best {
        println!("  best single reviewer: F1 {} ({name})", shown(f1));
    }
    for (name, label) in LABELS {
        let hits: Vec<Hits> = hits(judge, groups, label);
        let all = total(&hits, &mut (0..hits.len()));
        let range = interval(hits.len(), seed, |cases| total(&hits, cases).f1());
        println!(
            "  shown, label `{name}`: F1 {} {range} at {:.2} comments a change",
            shown(all.f1()),
            all.comments as f64 / hits.len() as f64,
        );
    }
}

fn print_curve(judge: &Judge, groups: &[Groups]) {
    let points = (1..=18).rev().map(|step| {
        let bar = f64::from(step) * 0.05;
        let mut all = Hits::default();
        for (case, groups) in judge.cases.iter().zip(groups) {
            all.add(groups.hits_from(bar, Label::Majority).among(case.golden));
        }
        format!("{:.1}:{}", all.comments as f64 / groups.len() as f64, shown(all.f1()))
    });
    println!("  comments a change : F1 (majority): {}", points.collect::<Vec<_>>().join(" "));
}

/// Prints the Brier score of the worth, and the predicted and observed shares in tenths.
fn print_calibration(reviewers: usize, draws: &[&Vec<Groups>]) {
    let groups = || draws.iter().flat_map(|groups| groups.iter()).flat_map(|groups| &groups.0);
    let outcome = |is_right: bool| f64::from(u8::from(is_right));
    let mut bins: BTreeMap<usize, (usize, f64, usize)> = BTreeMap::new();
    let (mut count, mut right, mut squares) = (0, 0, 0.0);
    for group in groups() {
        let is_right = !group.found(Label::Majority).is_empty();
        let bin = bins.entry(((group.worth * 10.0) as usize).min(9)).or_default();
        *bin = (bin.0 + 1, bin.1 + group.worth, bin.2 + usize::from(is_right));
        squares += (group.worth - outcome(is_right)).powi(2);
        (count, right) = (count + 1, right + usize::from(is_right));
    }
    let base = share(right, count).unwrap_or(0.0);
    let bins = bins.values().map(|(count, worth, right)| {
        let (count, right) = (*count as f64, *right as f64);
        format!("{:.2}>{:.2}({:.0})", worth / count, right / count, count / draws.len() as f64)
    });
    println!(
        "  {reviewers} reviewers: Brier {:.3} (base rate {:.3}), predicted>observed(groups): {}",
        squares / f64::from(count.max(1) as u32),
        base * (1.0 - base),
        bins.collect::<Vec<_>>().join(" "),
    );
}

/// Prints the same results for reviewers drawn by a seed, compared with the best of them in
/// hindsight.
fn print_draws(judge: &Judge, tools: usize, seed: u64) -> anyhow::Result<()> {
    for size in DRAWN.into_iter().filter(|size| *size < tools) {
        let mut random = Random::new(seed);
        let mut known: BTreeMap<Vec<usize>, Vec<Groups>> = BTreeMap::new();
        let draws: Vec<Vec<usize>> = (0..DRAWS).map(|_| draw(&mut random, size, tools)).collect();
        for drawn in &draws {
            if !known.contains_key(drawn) {
                known.insert(drawn.clone(), synthesize_all(judge, drawn)?);
            }
        }
        let (mut f1s, mut bests, mut comments, mut wins) = (0.0, 0.0, 0.0, 0);
        for drawn in &draws {
            let hits = hits(judge, &known[drawn], Label::Majority);
            let all = total(&hits, &mut (0..hits.len()));
            let of_one = |tool: &usize| published(&judge.cases, *tool).f1().unwrap_or(0.0);
            let best = drawn.iter().map(of_one).fold(0.0, f64::max);
            let f1 = all.f1().unwrap_or(0.0);
            (f1s, bests, wins) = (f1s + f1, bests + best, wins + usize::from(f1 > best));
            comments += all.comments as f64 / hits.len() as f64;
        }
        let mean = |sum: f64| sum / DRAWS as f64;
        println!(
            "  {size} drawn {DRAWS} times (seed {seed}): F1 {:.3} at {:.2} comments a change; best of the \
             drawn {:.3}, beaten in {} %",
            mean(f1s),
            mean(comments),
            mean(bests),
            wins * 100 / DRAWS,
        );
        print_calibration(size, &draws.iter().map(|drawn| &known[drawn]).collect::<Vec<_>>());
    }
    Ok(())
}

fn draw(random: &mut Random, size: usize, tools: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..tools).collect();
    let mut drawn: Vec<usize> = (0..size).map(|_| left.remove(random.below(left.len()))).collect();
    drawn.sort_unstable();
    drawn
}

fn hits(judge: &Judge, groups: &[Groups], label: Label) -> Vec<Hits> {
    let cases = judge.cases.iter().zip(groups);
    cases.map(|(case, groups)| groups.hits(label).among(case.golden)).collect()
}

fn total(hits: &[Hits], cases: &mut dyn Iterator<Item = usize>) -> Hits {
    let mut total = Hits::default();
    cases.for_each(|case| total.add(hits[case]));
    total
}

/// Returns the counts that were published for a tool.
fn published(cases: &[Case], tool: usize) -> Hits {
    let mut total = Hits::default();
    for counts in cases.iter().map(|case| case.tools[tool].published) {
        let (right, wrong, missed) = (counts.right, counts.wrong, counts.missed);
        total.add(Hits { right, wrong, missed, comments: right + wrong });
    }
    total
}

/// Returns the 95 % interval of a figure by resampling cases with replacement.
fn interval(
    cases: usize,
    seed: u64,
    figure: impl Fn(&mut dyn Iterator<Item = usize>) -> Option<f64>,
) -> String {
    let mut random = Random::new(seed);
    let mut values: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let drawn: Vec<usize> = (0..cases).map(|_| random.below(cases)).collect();
            figure(&mut drawn.into_iter())
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values.get((share * values.len() as f64) as usize).copied();
    format!("[{}–{}]", shown(at(0.025)), shown(at(0.975)))
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}
