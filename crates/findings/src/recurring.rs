//! Which issues come back round after round: [`recurring`].

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alike::{AlikeIndex, THRESHOLD};
use crate::path::RepoPath;

/// An issue of one round, as far as telling it again needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Issue {
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// What it says; stands in for a missing title.
    #[serde(default)]
    pub description: Option<String>,
    /// Its file.
    #[serde(default)]
    pub file: Option<String>,
    /// Its line.
    #[serde(default, alias = "line_number", deserialize_with = "lenient_line")]
    pub line: Option<u32>,
    /// The key of an issue that the engine itself made: such issues recur by key alone.
    #[serde(default)]
    pub key: Option<String>,
}

/// Takes a line as a number or as text; anything else is no line.
fn lenient_line<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    Ok(match serde_json::Value::deserialize(from)? {
        serde_json::Value::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()),
        serde_json::Value::String(text) => text.trim().parse().ok(),
        _ => None,
    })
}

impl Issue {
    pub(crate) fn words(&self) -> &str {
        let named = self.title.as_deref().filter(|title| !title.trim().is_empty());
        named.or(self.description.as_deref()).unwrap_or("")
    }

    /// Gives the words that it is compared by; one with a key needs none.
    fn compared(&self) -> &str {
        if self.key.is_some() { "" } else { self.words() }
    }

    /// Gives the file in one spelling; one without a name is none.
    pub(crate) fn path(&self) -> Option<String> {
        let file = self.file.as_deref().filter(|file| !file.trim().is_empty())?;
        Some(RepoPath::parse(file, None).map_or_else(|_| file.to_owned(), String::from))
    }

    /// Where it is compared: with its like in the same file, or by its key.
    fn place(&self) -> (bool, &str) {
        match (&self.key, &self.file) {
            (Some(key), _) => (true, key),
            (None, file) => (false, file.as_deref().unwrap_or("")),
        }
    }
}

/// One round of the past.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Round {
    /// How it ended; what a round that broke down says is no issue of the change.
    #[serde(default)]
    pub status: Option<String>,
    /// What was found in it.
    #[serde(default)]
    pub issues: Vec<Issue>,
}

/// An issue that came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recurrence {
    /// Which of the current issues, counted from 0.
    pub issue: usize,
    /// In how many rounds it stood, the current one among them.
    pub count: usize,
}

/// Gives the current issues that stood in at least `threshold` rounds.
pub fn recurring(current: &[Issue], history: &[Round], threshold: usize) -> Vec<Recurrence> {
    recurring_at(current, history, threshold, THRESHOLD)
}

/// The same, where issues count as one that are at least so much alike.
pub fn recurring_at(
    current: &[Issue],
    history: &[Round],
    threshold: usize,
    similarity: f64,
) -> Vec<Recurrence> {
    let past: Vec<(usize, &Issue)> = history
        .iter()
        .enumerate()
        .filter(|(_, round)| round.status.as_deref() != Some("error"))
        .flat_map(|(number, round)| round.issues.iter().map(move |issue| (number, issue)))
        .collect();
    let mut index =
        AlikeIndex::over(past.iter().map(|(_, issue)| *issue).chain(current).map(Issue::compared));
    let mut places = Places::default();
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
                // The index leaves out what cannot be as alike as usual.
                let candidates = match similarity < THRESHOLD {
                    true => at_place.get(&place).cloned().unwrap_or_default(),
                    false => index.candidates(id, place),
                };
                let rounds: BTreeSet<usize> = candidates
                    .into_iter()
                    .map(|candidate| (candidate, past[candidate as usize]))
                    .filter(|(candidate, (_, other))| {
                        let lines = (issue.line, other.line);
                        index.likeness(id, *candidate, lines).score >= similarity
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

/// Numbers the places at which issues are compared.
#[derive(Default)]
struct Places<'a> {
    numbers: HashMap<(bool, &'a str), u32>,
}

impl<'a> Places<'a> {
    fn of(&mut self, issue: &'a Issue) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(issue.place()).or_insert(next)
    }
}
