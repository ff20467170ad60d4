//! Choice of the gate on other changes than those that are scored: [`print()`].
//!
//! Each change is left out once. The gate with the best score on the others, with at most
//! [`MAX_COMMENTS`] comments per change, is scored on the change that was left out.

use std::collections::{BTreeMap, BTreeSet};

use super::data::Judge;
use super::score::{Groups, Hits, Label};
use super::{interval, shown, total};

/// The maximum number of comments per change that a gate may show on the changes on which it is
/// chosen.
const MAX_COMMENTS: f64 = 2.5;

/// The maximum number of comments on one change.
const MAX_SHOWN: usize = 5;

/// A gate: the k-th comment on a change, in order of likelihood, is shown if its worth is at least
/// `first + k * rise`, and no comment after one that is not shown.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gate {
    first: f64,
    rise: f64,
}

/// The golden comments that are found on a change, and the counts of the shown comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) found: BTreeSet<usize>,
    pub(super) wrong: usize,
    pub(super) comments: usize,
}

impl Gate {
    /// Returns the gates to choose from.
    fn all() -> Vec<Gate> {
        let steps = |count: u32| (0..count).map(|step| f64::from(step) * 0.05);
        steps(9).flat_map(|first| steps(5).map(move |rise| Gate { first, rise })).collect()
    }

    /// Counts the groups that the gate shows.
    fn outcome(self, groups: &Groups, label: Label) -> Outcome {
        let mut outcome = Outcome::default();
        for (group, number) in groups.0.iter().zip(1..=MAX_SHOWN) {
            if group.worth < self.first + self.rise * number as f64 {
                break;
            }
            let found = group.found(label);
            outcome.comments += 1;
            outcome.wrong += usize::from(found.is_subset(&outcome.found));
            outcome.found.extend(found);
        }
        outcome
    }
}

impl Outcome {
    /// Returns the outcome of the majority of judges: a golden comment is found if more than half
    /// of them say so, and counts are medians.
    fn of_majority(judges: &[Outcome]) -> Outcome {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        judges.iter().flat_map(|it| &it.found).for_each(|golden| {
            *counts.entry(*golden).or_default() += 1;
        });
        let found = counts.iter().filter(|(_, count)| 2 * **count > judges.len());
        let median = |count: fn(&Outcome) -> usize| {
            let mut all: Vec<usize> = judges.iter().map(count).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or(0)
        };
        Outcome {
            found: found.map(|(golden, _)| *golden).collect(),
            wrong: median(|it| it.wrong),
            comments: median(|it| it.comments),
        }
    }

    fn hits(&self, golden: usize) -> Hits {
        let hits =
            Hits { right: self.found.len(), wrong: self.wrong, missed: 0, comments: self.comments };
        hits.among(golden)
    }
}

/// The hits of each gate on each change.
struct Table(Vec<(Gate, Vec<Hits>)>);

impl Table {
    /// Counts every gate by one judge, or by the majority of several.
    fn of(judges: &[(&Judge, &[Groups])], label: Label) -> Table {
        let cases = judges.first().map_or(0, |(judge, _)| judge.cases.len());
        let rows = Gate::all().into_iter().map(|gate| {
            let hits = (0..cases).map(|case| {
                let outcomes: Vec<Outcome> =
                    judges.iter().map(|(_, groups)| gate.outcome(&groups[case], label)).collect();
                Outcome::of_majority(&outcomes).hits(judges[0].0.cases[case].golden)
            });
            (gate, hits.collect())
        });
        Table(rows.collect())
    }

    fn cases(&self) -> usize {
        self.0.first().map_or(0, |(_, hits)| hits.len())
    }

    /// Returns the index of the gate with the greatest F1 on some changes; the first of equal ones.
    fn best(&self, cases: &[usize]) -> usize {
        let mut best = (0, -1.0);
        for (number, (_, hits)) in self.0.iter().enumerate() {
            let all = total(hits, &mut cases.iter().copied());
            let is_short = all.comments as f64 <= MAX_COMMENTS * cases.len() as f64;
            let f1 = all.f1().unwrap_or(0.0);
            if is_short && f1 > best.1 {
                best = (number, f1);
            }
        }
        best.0
    }

    /// Returns the hits on each change by the gate that was chosen on the others, and the chosen
    /// gates.
    fn nested(&self) -> (Vec<Hits>, Vec<Gate>) {
        let chosen = (0..self.cases()).map(|left_out| {
            let others: Vec<usize> = (0..self.cases()).filter(|case| *case != left_out).collect();
            let (gate, hits) = &self.0[self.best(&others)];
            (hits[left_out], *gate)
        });
        chosen.unzip()
    }
}

/// Prints the nested scores of each judge's comments and of the majority of the judges.
pub(super) fn print(judges: &[(&Judge, &[Groups])], seed: u64) {
    println!(
        "gate chosen without the change that is scored (at most {MAX_COMMENTS} comments a change):"
    );
    for (judge, groups) in judges {
        print_row(&judge.name, &Table::of(&[(judge, groups)], Label::Majority), seed);
    }
    if judges.len() > 1 {
        print_row("most judges", &Table::of(judges, Label::Majority), seed);
    }
}

fn print_row(name: &str, table: &Table, seed: u64) {
    let (hits, gates) = table.nested();
    let all = total(&hits, &mut (0..hits.len()));
    let range = interval(hits.len(), seed, |cases| total(&hits, cases).f1());
    let mut counts: Vec<(usize, Gate)> = Vec::new();
    for gate in gates {
        match counts.iter_mut().find(|(_, known)| *known == gate) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, gate)),
        }
    }
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let most = counts.first().map_or_else(String::new, |(count, gate)| {
        format!("{:.2} + {:.2} k in {count} of {}", gate.first, gate.rise, hits.len())
    });
    println!(
        "  {name}: F1 {} {range} at {:.2} comments a change; bar {most}",
        shown(all.f1()),
        all.comments as f64 / hits.len().max(1) as f64,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(found: &[usize], wrong: usize, comments: usize) -> Outcome {
        Outcome { found: found.iter().copied().collect(), wrong, comments }
    }

    #[test]
    fn a_golden_comment_is_found_if_most_judges_find_it() {
        let judges = [outcome(&[0, 1], 1, 3), outcome(&[1], 2, 3), outcome(&[2], 0, 1)];
        assert_eq!(Outcome::of_majority(&judges), outcome(&[1], 1, 3));
        assert_eq!(Outcome::of_majority(&judges[..1]), judges[0]);
    }

    #[test]
    fn the_scored_change_does_not_influence_the_choice_of_the_gate() {
        let hits = |right, wrong| Hits { right, wrong, missed: 1, comments: right + wrong };
        let gates = [Gate { first: 0.1, rise: 0.0 }, Gate { first: 0.5, rise: 0.0 }];
        // The first gate is best on the last change alone, the second on all others.
        let table = Table(vec![
            (gates[0], vec![hits(0, 1), hits(0, 1), hits(1, 0)]),
            (gates[1], vec![hits(1, 0), hits(1, 0), hits(0, 1)]),
        ]);
        let (scored, chosen) = table.nested();
        assert_eq!(chosen[2], gates[1]);
        assert_eq!((scored[2].right, scored[2].wrong), (0, 1));
    }

    #[test]
    fn a_gate_that_shows_too_many_comments_is_not_chosen() {
        let hits = |right, comments| Hits { right, wrong: 0, missed: 0, comments };
        let gates = [Gate { first: 0.1, rise: 0.0 }, Gate { first: 0.5, rise: 0.0 }];
        let table = Table(vec![(gates[0], vec![hits(3, 3); 2]), (gates[1], vec![hits(2, 2); 2])]);
        assert_eq!(table.best(&[0, 1]), 1);
    }
}
