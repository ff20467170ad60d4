//! Grounding of true and false votes on real pull requests.
//!
//! The data is a folder with `cases.jsonl`: for each pull request the file of its `diff`, and its
//! `golden` comments with `path`, `from_line`, `note` and `is_ai_comment`. Each comment becomes a
//! vote that quotes the known line next to its place, and false votes derived from that vote.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};
use assay_change::diff::reconstruct::{ReconstructedFiles, reconstruct};
use assay_change::{Change, RecordedChange};
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::vote::{Confidence, LineRange, Vote};
use serde_json::{Value, json};

use crate::workspace::write_json;

/// The offset of a wrong line number that grounding has to correct.
const LINE_OFFSET: u32 = 7;

/// The minimum length of a quote that proves something, in letters.
const MIN_QUOTE: usize = 8;

/// A pull request, rebuilt from its diff.
struct Pull {
    change: Change,
    after: BTreeMap<String, String>,
}

/// A comment with a known line of its file.
struct PlacedComment<'a> {
    pull: &'a Pull,
    note: String,
    path: String,
    line: u32,
    quote: String,
    is_of_person: bool,
}

/// A comment with the number of its pull request.
type NumberedComment = (usize, Value);

/// The verdict on one vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VoteFate {
    /// Reported with full confidence, at a line.
    Kept { line: Option<u32> },
    /// Held back, or reported with less confidence.
    Doubted,
}

/// A way to build a vote from a comment, and true if the vote has to be kept.
struct VoteVariant {
    name: &'static str,
    is_true: bool,
    judge: fn(&PlacedComment<'_>, &str) -> VoteFate,
}

/// The ways; `judge` also gets a quote of another pull request.
const VARIANTS: [VoteVariant; 7] = [
    VoteVariant {
        name: "true votes kept",
        is_true: true,
        judge: |it, _| it.judge(&it.path, it.line, Some(&it.quote)),
    },
    VoteVariant {
        name: "true votes seven lines off kept",
        is_true: true,
        judge: |it, _| it.judge(&it.path, it.line + LINE_OFFSET, Some(&it.quote)),
    },
    VoteVariant {
        name: "quotes of another pull request held back",
        is_true: false,
        judge: |it, foreign| it.judge(&it.path, it.line, Some(foreign)),
    },
    VoteVariant {
        name: "quotes with a changed word held back",
        is_true: false,
        judge: |it, _| it.judge(&it.path, it.line, Some(&changed(&it.quote))),
    },
    VoteVariant {
        name: "missing files held back",
        is_true: false,
        judge: |it, _| it.judge("no/such/file.rs", it.line, Some(&it.quote)),
    },
    VoteVariant {
        name: "lines beyond the end held back",
        is_true: false,
        judge: |it, _| it.judge(&it.path, it.lines() + 1000, None),
    },
    VoteVariant {
        name: "votes held back whose quote is prose with a back-ticked name",
        is_true: false,
        judge: |it, _| it.judge(&it.path, it.line, Some(&it.prose())),
    },
];

/// Measures a folder. Returns true if every true vote is kept and every false one is not.
pub(super) fn run(data: &Path) -> anyhow::Result<bool> {
    let (pulls, comments) = read(data)?;
    let placed = comments.iter().filter_map(|(at, value)| place(&pulls[*at], value));
    let placed: Vec<PlacedComment<'_>> = placed.collect();
    ensure!(!placed.is_empty(), "no comment has a place in its diff");
    let mut counts = Vec::new();
    let mut moved_back = 0;
    for way in &VARIANTS {
        let mut count = Count { way, right: 0, right_of_people: 0 };
        for (at, comment) in placed.iter().enumerate() {
            let foreign = &placed[(at + placed.len() / 2) % placed.len()].quote;
            let fate = (way.judge)(comment, foreign);
            let is_right = matches!(fate, VoteFate::Kept { .. }) == way.is_true;
            count.right += usize::from(is_right);
            count.right_of_people += usize::from(is_right && comment.is_of_person);
            if !is_right {
                println!("  {}: {}:{} `{}`", way.name, comment.path, comment.line, comment.quote);
            }
            if way.is_true && fate == (VoteFate::Kept { line: Some(comment.line) }) {
                moved_back += 1;
            }
        }
        counts.push(count);
    }
    println!("{moved_back} of {}: true votes shown at their line", 2 * placed.len());
    report(&comments, &placed, &counts)
}

/// The votes of one way with the right result.
struct Count {
    way: &'static VoteVariant,
    right: usize,
    right_of_people: usize,
}

/// Prints and writes the counts: of all comments, and of those that people wrote.
fn report(
    comments: &[NumberedComment],
    placed: &[PlacedComment<'_>],
    counts: &[Count],
) -> anyhow::Result<bool> {
    let of_people = placed.iter().filter(|comment| comment.is_of_person).count();
    let written = comments.iter().filter(|(_, comment)| is_of_person(comment)).count();
    println!(
        "{} of {} comments have a known line in their diff; of the {written} that people wrote, {of_people}",
        placed.len(),
        comments.len(),
    );
    let mut rows: BTreeMap<&str, Value> = BTreeMap::new();
    for Count { way, right, right_of_people } in counts {
        println!(
            "{right} of {}, by people {right_of_people} of {of_people}: {}",
            placed.len(),
            way.name
        );
        rows.insert(way.name, json!({ "all": right, "by_people": right_of_people }));
    }
    let votes = json!({ "all": placed.len(), "by_people": of_people });
    write_json("measure", "grounding.json", &json!({ "votes": votes, "rows": rows }))?;
    Ok(counts.iter().all(|count| count.right == placed.len()))
}

fn is_of_person(comment: &Value) -> bool {
    comment["is_ai_comment"].as_bool() == Some(false)
}

impl PlacedComment<'_> {
    /// Grounds and gates one vote, as a vote of a persona.
    fn judge(&self, path: &str, line: u32, quote: Option<&str>) -> VoteFate {
        let title = self.note.split_inclusive(['.', '\n']).next().unwrap_or(&self.note).trim();
        let mut vote = Vote::new(title, Grade::from_word("P1"));
        vote.description.clone_from(&self.note);
        vote.file = RepoPath::exact(path).ok();
        vote.lines = LineRange::at(line);
        vote.confidence = Some(Confidence::HIGH);
        vote.evidence = quote.map(str::to_owned).into_iter().collect();
        let mut report = Report::new(Reviewer::new("reader", ReviewerKind::Persona));
        report.votes.push(vote);
        let changed = self.pull.change.changed_lines();
        let around = SynthesisInputs {
            tree: Some(self.pull.change.tree()),
            changed: Some(&changed),
            ..SynthesisInputs::default()
        };
        let synthesis = synthesize(&[report], &around);
        let found = synthesis.findings.iter().find(|it| it.confidence >= Confidence::HIGH);
        found.map_or(VoteFate::Doubted, |finding| VoteFate::Kept { line: finding.line })
    }

    /// Returns the number of lines of the file that the diff shows.
    fn lines(&self) -> u32 {
        self.pull.after[&self.path].lines().count() as u32
    }

    /// Returns a sentence that names the longest word of the line in back-ticks. A word that is a
    /// whole line of the file would be a quote of that line, so it is not used.
    fn prose(&self) -> String {
        let is_line = |word: &str| self.pull.after[&self.path].lines().any(|it| it.trim() == word);
        let words = self.quote.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words = words.filter(|word| !is_line(word));
        let name = words.max_by_key(|word| word.len()).unwrap_or_default();
        format!("The handling of `{name}` is not right here")
    }
}

/// Returns a quote with its longest word replaced.
fn changed(quote: &str) -> String {
    let words = quote.split(|c: char| !c.is_alphanumeric() && c != '_');
    let longest = words.max_by_key(|word| word.len()).unwrap_or_default();
    quote.replacen(longest, "zanzibar_quux", 1)
}

/// Reads the pull requests, and the comments with the number of their pull request.
fn read(data: &Path) -> anyhow::Result<(Vec<Pull>, Vec<NumberedComment>)> {
    let path = data.join("cases.jsonl");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    let (mut pulls, mut comments) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line)?;
        let diff = case["diff"].as_str().context("a case has no `diff`")?;
        let bytes =
            std::fs::read(data.join(diff)).with_context(|| format!("could not read `{diff}`"))?;
        pulls.push(lay_out(&bytes).with_context(|| format!("`{diff}` cannot be used"))?);
        let golden = case["golden"].as_array().context("a case has no `golden`")?;
        comments.extend(golden.iter().map(|comment| (pulls.len() - 1, comment.clone())));
    }
    Ok((pulls, comments))
}

fn lay_out(diff: &[u8]) -> anyhow::Result<Pull> {
    let ReconstructedFiles { before, after } = reconstruct(&String::from_utf8_lossy(diff))?;
    let tree = |files: &BTreeMap<String, String>| {
        let files = files
            .iter()
            .filter_map(|(path, text)| Some((RepoPath::exact(path).ok()?, text.clone())));
        files.collect::<BTreeMap<RepoPath, String>>()
    };
    let files = assay_change::diff::parse(diff);
    let change =
        RecordedChange::from_files("pull request".to_owned(), files, tree(&before), tree(&after));
    Ok(Pull { change: change.open(std::env::temp_dir()), after })
}

/// Returns a comment with the known line that is nearest to its place; `None` if the diff shows no
/// line of the file that is long enough to be quoted.
fn place<'a>(pull: &'a Pull, comment: &Value) -> Option<PlacedComment<'a>> {
    let (note, path) = (comment["note"].as_str()?, comment["path"].as_str()?);
    let wanted = comment["from_line"].as_u64()? as u32;
    let lines = pull.after.get(path)?.lines().enumerate();
    let letters = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).count();
    let known = lines.filter(|(_, line)| letters(line) >= MIN_QUOTE);
    let nearest = known.min_by_key(|(at, _)| (*at as u32 + 1).abs_diff(wanted));
    let (at, line) = nearest?;
    Some(PlacedComment {
        pull,
        note: note.to_owned(),
        path: path.to_owned(),
        line: at as u32 + 1,
        quote: line.trim().to_owned(),
        is_of_person: is_of_person(comment),
    })
}
