//! Issues that occur in several rounds: [`find_recurrences`].

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::RepoPath;
use crate::title_similarity::{THRESHOLD, TitleIndex};

/// An issue of one round, with the fields by which it is recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Issue")]
pub struct RoundIssue {
    /// The title of the issue.
    #[serde(default)]
    pub title: Option<String>,
    /// The description of the issue, which replaces a missing title.
    #[serde(default)]
    pub description: Option<String>,
    /// The file of the issue.
    #[serde(default)]
    pub file: Option<String>,
    /// The line of the issue, from 1.
    #[serde(default, alias = "line_number", deserialize_with = "lenient_line")]
    pub line: Option<u32>,
    /// The key of an issue that assay itself created: such issues recur by key alone.
    #[serde(default)]
    pub key: Option<String>,
}

/// Deserializes a line from a number or a text; any other value is no line.
fn lenient_line<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    Ok(match serde_json::Value::deserialize(from)? {
        serde_json::Value::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()),
        serde_json::Value::String(text) => text.trim().parse().ok(),
        _ => None,
    })
}

impl RoundIssue {
    pub(crate) fn words(&self) -> &str {
        let named = self.title.as_deref().filter(|title| !title.trim().is_empty());
        named.or(self.description.as_deref()).unwrap_or("")
    }

    /// Returns the words by which the issue is compared; empty for an issue with a key.
    fn compared_words(&self) -> &str {
        if self.key.is_some() { "" } else { self.words() }
    }

    /// Returns the file as a normalised path; `None` for an empty name.
    pub(crate) fn path(&self) -> Option<String> {
        let file = self.file.as_deref().filter(|file| !file.trim().is_empty())?;
        Some(RepoPath::parse(file, None).map_or_else(|_| file.to_owned(), String::from))
    }

    /// Returns the place at which issues are compared: the key with true, or else the file with
    /// false.
    fn place(&self) -> (bool, &str) {
        match (&self.key, &self.file) {
            (Some(key), _) => (true, key),
            (None, file) => (false, file.as_deref().unwrap_or("")),
        }
    }
}

/// An earlier round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Round")]
pub struct IssueRound {
    /// The result of the round. A round with `error` is ignored, since its issues are not issues of
    /// the change.
    #[serde(default)]
    pub status: Option<String>,
    /// The issues of the round.
    #[serde(default)]
    pub issues: Vec<RoundIssue>,
}

/// An issue that recurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recurrence {
    /// The index of the issue among the current ones, from 0.
    pub issue: usize,
    /// The number of rounds with the issue, the current one included.
    pub count: usize,
}

/// Returns the current issues that occur in at least `threshold` rounds.
pub fn find_recurrences(
    current: &[RoundIssue],
    history: &[IssueRound],
    threshold: usize,
) -> Vec<Recurrence> {
    find_recurrences_at(current, history, threshold, THRESHOLD)
}

/// Returns the current issues that occur in at least `threshold` rounds. Issues with a similarity
/// of at least `similarity`, from 0 to 1, count as one.
pub fn find_recurrences_at(
    current: &[RoundIssue],
    history: &[IssueRound],
    threshold: usize,
    similarity: f64,
) -> Vec<Recurrence> {
    let past: Vec<(usize, &RoundIssue)> = history
        .iter()
        .enumerate()
        .filter(|(_, round)| round.status.as_deref() != Some("error"))
        .flat_map(|(number, round)| round.issues.iter().map(move |issue| (number, issue)))
        .collect();
    let mut index = TitleIndex::from_titles(
        past.iter().map(|(_, issue)| *issue).chain(current).map(RoundIssue::compared_words),
    );
    let mut places = PlaceNumbers::default();
    let mut rounds_of_key: HashMap<u32, BTreeSet<usize>> = HashMap::new();
    let mut at_place: HashMap<u32, Vec<u32>> = HashMap::new();
    for (id, (round, issue)) in (0u32..).zip(&past) {
        let place = places.of(issue);
        if issue.key.is_some() {
            rounds_of_key.entry(place).or_default().insert(*round);
        } else {
            index.insert(id, place);
            at_place.entry(place).or_default().push(id);
        }
    }
    let mut found = Vec::new();
    for (number, issue) in current.iter().enumerate() {
        let place = places.of(issue);
        let rounds = match issue.key {
            Some(_) => rounds_of_key.get(&place).map_or(0, BTreeSet::len),
            None => {
                let id = (past.len() + number) as u32;
                // The index omits issues that are less similar than `THRESHOLD`.
                let candidates = match similarity < THRESHOLD {
                    true => at_place.get(&place).cloned().unwrap_or_default(),
                    false => index.candidates(id, place),
                };
                let rounds: BTreeSet<usize> = candidates
                    .into_iter()
                    .map(|candidate| (candidate, past[candidate as usize]))
                    .filter(|(candidate, (_, other))| {
                        let lines = (issue.line, other.line);
                        index.similarity(id, *candidate, lines).score >= similarity
                    })
                    .map(|(_, (round, _))| round)
                    .collect();
                rounds.len()
            }
        };
        if rounds + 1 >= threshold {
            found.push(Recurrence { issue: number, count: rounds + 1 });
        }
    }
    found
}

/// The numbers of the places at which issues are compared.
#[derive(Default)]
struct PlaceNumbers<'a> {
    numbers: HashMap<(bool, &'a str), u32>,
}

impl<'a> PlaceNumbers<'a> {
    fn of(&mut self, issue: &'a RoundIssue) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(issue.place()).or_insert(next)
    }
}
