//! Merging generated votes returns the recorded result, byte for byte.

use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::vote::{Confidence, LineRange, Vote};
use expect_test::expect;

/// Texts from which titles and descriptions are built: words, names, quotes, line references.
const PIECES: [&str; 84] = [
    "returns",
    "returned",
    "nil",
    "null",
    "the",
    "a",
    "lock",
    "locks",
    "is",
    "not",
    "never",
    "isn't",
    "doesn’t",
    "can't",
    "before",
    "after",
    "instead of",
    "rather than",
    "should use",
    "must call",
    "validated",
    "validation",
    "input",
    "inputs",
    "missing",
    "without",
    "fails",
    "leaks",
    "leaking",
    "queries",
    "query",
    "stopped",
    "timeout",
    "of",
    "30",
    "60 seconds",
    "1.5",
    "on line 12",
    "at lines 78-80,",
    "a.rb:12",
    "L157",
    "`find_by`",
    "`TopicUser.find_by`",
    "TopicUser.find_by(...)",
    "`save_all`",
    "save_all()",
    "`x`",
    "maxSize",
    "HTTPServer",
    "http2",
    "src/a.rs::b->c",
    "gap-filling.ts",
    "2_steps",
    "$scope",
    "'user input'",
    "\"name\"",
    "\"",
    "`unbalanced",
    "`topic = Topic.find(id)`",
    "`best = sorted(prices)[0] or None`",
    "größe",
    "naïve\u{a0}call",
    "…",
    "it's",
    "don't_care",
    "n't",
    "-",
    "— while",
    "(not always)",
    ";",
    "and/or",
    "e.g.",
    "SQL",
    "XSS",
    "injection",
    "consider",
    "might",
    "Potentially",
    "caller",
    "the caller's",
    "order\nid",
    "WHERE",
    "to",
    "from",
];

/// A random number generator with the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * limit as u128) >> 64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn pieces(&mut self, most: usize) -> Vec<&'static str> {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.pick(&PIECES)).collect()
    }
}

/// Returns reports on few defects, each described in several ways.
fn reports(seed: u64, votes: usize) -> Vec<Report> {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let defects: Vec<Vec<&str>> = (0..1 + votes / 5).map(|_| numbers.pieces(8)).collect();
    let reviewer = |number: usize| {
        let kind = match number {
            4 => ReviewerKind::Rules,
            _ => ReviewerKind::Persona,
        };
        let mut reviewer = Reviewer::new(format!("reader-{}", number % 5), kind);
        reviewer.family = (number > 4).then(|| "other".to_owned());
        reviewer
    };
    let mut reports: Vec<Report> = (0..7).map(|number| Report::new(reviewer(number))).collect();
    for _ in 0..votes {
        let made = vote(&mut numbers, &defects);
        let number = numbers.below(reports.len());
        let repeats = 1 + usize::from(numbers.chance(5));
        let votes = &mut reports[number].votes;
        votes.extend(std::iter::repeat_n(made, repeats));
    }
    reports
}

fn vote(numbers: &mut Numbers, defects: &[Vec<&'static str>]) -> Vote {
    let defect = numbers.below(defects.len());
    let mut pieces = defects[defect].clone();
    if numbers.chance(50) {
        let at = numbers.below(pieces.len());
        pieces[at] = numbers.pick(&PIECES);
    }
    if numbers.chance(15) {
        pieces.reverse();
    }
    let title = pieces.join(" ");
    let mut vote = Vote::new(title, Grade::from_word(numbers.pick(&["P0", "P1", "P2", "odd"])));
    let more = numbers.pieces(10).join(" ");
    vote.description = match numbers.below(5) {
        0 => String::new(),
        1 => vote.title.clone(),
        2 => format!("{} {more}", vote.title),
        3 => format!("{}. {}", vote.title, defects[defect].join(" ")),
        _ => more,
    };
    if numbers.chance(85) {
        let file = if numbers.chance(90) { defect % 3 } else { numbers.below(3) };
        vote.file = RepoPath::exact(&format!("src/{file}.rs")).ok();
    }
    if numbers.chance(85) {
        let line = 1 + (defect * 7 + numbers.below(6)) as u32;
        vote.lines = LineRange::range(line, line + numbers.below(5) as u32);
    }
    vote.category = numbers.chance(30).then(|| numbers.pick(&["Security", "style"]).to_owned());
    vote.rule = numbers.chance(8).then(|| numbers.pick(&["a/b", "a/c"]).to_owned());
    vote.confidence =
        numbers.chance(60).then(|| Confidence::at_or_below(numbers.below(101) as f64));
    if numbers.chance(30) {
        vote.evidence = vec![format!("`let total = {};`", numbers.pick(&["sum(all)", "len(x)"]))];
    }
    vote
}

/// Returns a hash of the results of merging.
fn digest(reports: &[Report]) -> String {
    let merged = synthesize(reports, &SynthesisInputs::default());
    let lists = (&merged.findings, &merged.pre_existing, &merged.held_back, &merged.merges);
    let text = serde_json::to_string(&lists).unwrap();
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// Returns one line for each number of votes: a hash over the results of many seeds.
fn digests() -> String {
    let of = |votes: usize, seeds: u64| {
        let all: Vec<String> = (1..=seeds).map(|seed| digest(&reports(seed, votes))).collect();
        let hash = blake3::hash(all.concat().as_bytes()).to_hex()[..16].to_owned();
        format!("{votes} votes: {hash}\n")
    };
    [(5, 200), (40, 60), (400, 4)].map(|(votes, seeds)| of(votes, seeds)).concat()
}

#[test]
fn merging_gives_the_recorded_result() {
    expect![[r#"
        5 votes: 46cec8103756997d
        40 votes: d38422951ef46f91
        400 votes: 1112ed41f6c268ed
    "#]]
    .assert_eq(&digests());
}
