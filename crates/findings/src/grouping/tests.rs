use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::grade::Grade;
use crate::grounding::Grounder;
use crate::path::RepoPath;
use crate::report::Reviewer;
use crate::title_similarity::fold_title;
use crate::vote::{LineRange, Vote};

/// Groups votes by comparing all pairs of votes, and then all pairs of groups, in every round.
fn group_slowly(votes: &[&GroundedVote<'_>], titles: &[&str]) -> BTreeSet<BTreeSet<u32>> {
    let texts = votes.iter().map(|v| (v.vote.title.as_str(), v.vote.description.as_str()));
    let claims = Claims::of(texts);
    let mut numbers = TextNumbers::default();
    let places: Vec<VotePlace> = votes
        .iter()
        .zip(titles)
        .map(|(vote, title)| VotePlace::of(vote, title, &mut numbers))
        .collect();
    let reviewers = reviewers(votes);
    let links = links::all_pairs(&places, &reviewers, &claims);
    let grouping = Grouping::new(votes, &claims, &places, reviewers, &links);
    let mut groups: BTreeMap<u32, Vec<u32>> =
        (0..votes.len() as u32).map(|v| (v, vec![v])).collect();
    let link = |a: u32, b: u32| {
        let is_it = |link: &&Link| (link.first, link.second) == (a.min(b), a.max(b));
        links.iter().find(is_it).map_or(0, |link| link.strength)
    };
    loop {
        let mut best: Option<(Millionths, Reverse<(u32, u32)>)> = None;
        for (a, one) in &groups {
            for (b, other) in groups.range(a + 1..) {
                let pairs = || one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
                let sum: Millionths = pairs().map(|(a, b)| link(a, b)).sum();
                let mean = sum / (one.len() * other.len()) as Millionths;
                let may_join = mean >= MIN_MEAN_STRENGTH
                    && pairs().all(|(a, b)| grouping.may_share(a.min(b), a.max(b)));
                best = best.max(may_join.then_some((mean, Reverse((*a, *b)))));
            }
        }
        let Some((_, Reverse((a, b)))) = best else { break };
        let other = groups.remove(&b).unwrap();
        groups.get_mut(&a).unwrap().extend(other);
    }
    groups.into_values().map(|members| members.into_iter().collect()).collect()
}

/// The numbers of a reviewer, a place and a claim.
type Drawn = (usize, Option<(usize, u32)>, Vec<usize>, Vec<usize>);

const WORDS: [&str; 16] = [
    "`find_by`", "`save_all`", "returns", "nil", "not", "the", "lock", "before", "writes", "30",
    "60", "leaks", "instead of", "timeout", "user", "is never checked",
];

fn vote((_, place, title, description): &Drawn) -> Vote {
    let words = |numbers: &[usize]| {
        numbers.iter().map(|number| WORDS[*number]).collect::<Vec<_>>().join(" ")
    };
    let mut vote = Vote::new(words(title), Grade::from_word("P2"));
    vote.description = words(description);
    if let Some((file, line)) = place {
        vote.file = RepoPath::exact(&format!("src/{file}.rs")).ok();
        vote.lines = LineRange::at(*line);
    }
    vote
}

proptest! {
    #[test]
    fn grouping_gives_the_same_groups_as_comparing_all_pairs(drawn in prop::collection::vec(
        (
            0..4usize,
            prop::option::weighted(0.7, (0..2usize, 1..30u32)),
            prop::collection::vec(0..WORDS.len(), 1..5),
            prop::collection::vec(0..WORDS.len(), 0..5),
        ),
        1..14,
    )) {
        let mut drawn = drawn;
        drawn.sort_by(|a, b| a.1.map(|it| it.0).cmp(&b.1.map(|it| it.0)));
        let reviewers: Vec<Reviewer> = (0..4)
            .map(|number| Reviewer::new(format!("reader-{number}"), ReviewerKind::Persona))
            .collect();
        let votes: Vec<Vote> = drawn.iter().map(vote).collect();
        let ground = Grounder::new(None, None);
        let grounded: Vec<GroundedVote<'_>> = votes
            .iter()
            .zip(&drawn)
            .enumerate()
            .map(|(at, (vote, drawn))| ground.check(vote, &reviewers[drawn.0], (0, at)))
            .collect();
        let grounded: Vec<&GroundedVote<'_>> = grounded.iter().collect();
        let titles: Vec<String> = votes.iter().map(|vote| fold_title(&vote.title)).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let groups = group(&grounded, &titles);
        let groups: BTreeSet<BTreeSet<u32>> =
            groups.into_iter().map(|group| group.members.into_iter().collect()).collect();
        prop_assert_eq!(groups, group_slowly(&grounded, &titles));
    }
}
