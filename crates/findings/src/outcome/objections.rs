//! Objections in a reviewer's prose: [`objections`].
//!
//! There are three kinds of objections. A demand ("must be fixed", "do not merge") rejects the
//! change, whatever the list of findings contains. A defect that is described in prose contradicts
//! an empty list. A statement that the change was not reviewed means that an empty list is no
//! evidence. All of them count against a report, so a sentence that is hard to read counts as an
//! objection.

use super::WordMeaning;
use super::clauses::clauses;
use super::prose_lines::{Line, says_nothing};
use super::words::DecidingWord;
use crate::verdict_words::Words;

/// Returns the objections of a line, at most one for each clause.
pub(super) fn objections<'l>(line: &'l Line<'_>) -> Vec<DecidingWord<'l>> {
    let is_label = line.is_heading() || line.prose.trim_end().trim_end_matches('*').ends_with(':');
    let is_empty_label = is_label && line.is_followed_by_none || says_none_at_the_end(&line.prose);
    if line.is_unchecked || is_empty_label {
        return Vec::new();
    }
    let found = clauses(&line.prose, &[]).into_iter().filter(|clause| !clause.is_question);
    found
        .filter_map(|clause| {
            let meaning = meaning_of(&Words::of(before_condition(clause.text)))?;
            if line.is_heading() && meaning == WordMeaning::Concern {
                return None;
            }
            Some(DecidingWord { clause: clause.text, meaning })
        })
        .collect()
}

/// Returns true if a line ends with a label and the word that there is nothing: `Must fix: none`.
fn says_none_at_the_end(line: &str) -> bool {
    let behind = line.rsplit_once(':').map(|(_, behind)| behind.trim());
    behind.is_some_and(|behind| says_nothing(behind) && behind.split_whitespace().count() <= 2)
        || line.trim_end().ends_with("(0)")
}

/// Returns a clause up to the condition behind it: a conditional statement is no objection.
fn before_condition(clause: &str) -> &str {
    let conditions = [" if ", " unless ", " whether "];
    let starts = ["if ", "unless ", "whether "];
    if starts.iter().any(|start| clause.trim_start().to_lowercase().starts_with(start)) {
        return "";
    }
    let end = conditions.iter().filter_map(|condition| clause.find(condition)).min();
    &clause[..end.unwrap_or(clause.len())]
}

/// Returns the kind of objection that a clause makes; `None` if it makes none.
fn meaning_of(words: &Words<'_>) -> Option<WordMeaning> {
    if says_not_reviewed(words) {
        return Some(WordMeaning::NotReviewed);
    }
    if demands_fix(words) {
        return Some(WordMeaning::Objection);
    }
    describes_defect(words).then_some(WordMeaning::Concern)
}

/// Nouns and pronouns for the content that a review reads.
const SUBJECTS: [&str; 14] = [
    "change", "changes", "diff", "code", "file", "files", "patch", "it", "this", "that", "request",
    "content", "contents", "attachment",
];

/// Words that deny an ability.
const INABILITIES: [&str; 12] = [
    "cannot", "can't", "couldn't", "unable", "won't", "refuse", "decline", "didn't", "haven't",
    "wasn't", "cant", "don't",
];

/// Returns true if a clause states that the change was not reviewed: "I cannot review this change".
fn says_not_reviewed(words: &Words<'_>) -> bool {
    const ACTS: [&str; 18] = [
        "review", "reviewed", "assess", "evaluate", "analyze", "analyse", "inspect", "examine",
        "read", "access", "open", "view", "load", "process", "complete", "perform", "see", "find",
    ];
    const SERVICES: [&str; 4] = ["help", "assist", "comply", "fulfill"];
    const SPEAKERS: [&str; 7] = ["i", "we", "i'm", "i've", "reviewer", "sorry", "am"];
    let denies = |at: usize| {
        INABILITIES.contains(&words.lower(at))
            || words.lower(at) == "not" && at > 0 && words.lower(at + 1) != "only"
    };
    let speaks = |at: usize| {
        words.lower[..at].iter().any(|word| SPEAKERS.contains(&word.as_str()))
            || INABILITIES.contains(&words.lower(0))
            || words.lower(0) == "could" && words.lower(1) == "not"
    };
    let refuses = (0..words.len()).any(|at| {
        let word = words.lower(at);
        let serves = SERVICES.contains(&word);
        if !serves && !ACTS.contains(&word) {
            return false;
        }
        let denied = (at.saturating_sub(5)..at).any(denies) && speaks(at);
        // "I did not see any issue" is a review.
        let is_about_issues = words.within(at, 6, Words::is_issue)
            || words.within(at, 2, |word| matches!(word, "anything" | "nothing"));
        denied
            && (serves || words.within(at, 6, |word| SUBJECTS.contains(&word)))
            && !is_about_issues
    });
    refuses || says_review_failed(words) || says_nothing_was_shown(words)
}

/// Returns true if a clause states that there was no review: "the review was skipped".
fn says_review_failed(words: &Words<'_>) -> bool {
    const FAILURES: [&str; 6] =
        ["skipped", "aborted", "impossible", "incomplete", "interrupted", "unreviewed"];
    let about_review = words.any(&["review", "reviewed", "unreviewed"]);
    let could_not = (1..words.len()).any(|at| {
        matches!(words.lower(at), "complete" | "completed" | "finish" | "finished" | "be")
            && words.lower(at - 1) == "not"
            && words.within(0, words.len(), |word| word == "could" || word == "not")
            && words.any(&["could", "couldn't"])
    });
    let not_done = (1..words.len()).any(|at| {
        matches!(words.lower(at), "reviewed" | "performed" | "completed" | "possible")
            && matches!(words.lower(at - 1), "not" | "never" | "wasn't")
    });
    about_review && (words.any(&FAILURES) || not_done || could_not)
}

/// Returns true if a clause states that the change was not available to be read.
fn says_nothing_was_shown(words: &Words<'_>) -> bool {
    const SHOWN: [&str; 8] =
        ["provided", "given", "supplied", "attached", "included", "available", "shown", "visible"];
    const DAMAGED: [&str; 6] = ["missing", "truncated", "empty", "cut", "incomplete", "unreadable"];
    let things = ["diff", "change", "changes", "code", "patch", "files", "content"];
    (0..words.len()).any(|at| {
        if !things.contains(&words.lower(at)) {
            return false;
        }
        let denied = (at.saturating_sub(3)..at).any(|before| words.lower(before) == "no");
        let is_damaged = matches!(words.lower(at + 1), "is" | "was" | "appears" | "seems")
            && words.within(at + 1, 3, |word| DAMAGED.contains(&word))
            && matches!(words.lower(at), "diff" | "patch");
        denied && words.within(at, 4, |word| SHOWN.contains(&word)) || is_damaged
    })
}

/// Returns true if a clause demands a fix, or demands that the change is not merged.
fn demands_fix(words: &Words<'_>) -> bool {
    const FIXED: [&str; 9] = [
        "fixed", "addressed", "changed", "corrected", "resolved", "reverted", "replaced",
        "rewritten", "repaired",
    ];
    const MERGED: [&str; 9] =
        ["merge", "merged", "merging", "ship", "shipped", "land", "deploy", "deployed", "release"];
    const NOT: [&str; 8] =
        ["not", "don't", "never", "cannot", "can't", "shouldn't", "mustn't", "unsafe"];
    let is_denied = |at: usize| {
        let denies = ["no", "none", "nothing", "neither", "zero"];
        words.lower[at.saturating_sub(4)..at].iter().any(|word| denies.contains(&word.as_str()))
            || matches!(words.lower(at.wrapping_sub(1)), "not" | "doesn't" | "don't" | "didn't")
    };
    let demand = (0..words.len()).any(|at| {
        if !matches!(words.lower(at), "must" | "needs" | "need" | "has" | "have") || is_denied(at) {
            return false;
        }
        let be = (at + 1..at + 4).find(|next| words.lower(*next) == "be");
        let passive = be.is_some_and(|be| {
            !(at..be).any(|between| words.lower(between) == "not")
                && words.within(be, 2, |word| FIXED.contains(&word))
        });
        passive || words.lower(at) == "must" && words.lower(at + 1) == "fix"
    });
    let stop = (0..words.len()).any(|at| {
        let denied = || (at.saturating_sub(5)..at).any(|before| NOT.contains(&words.lower(before)));
        let is_description = ["does", "doesn't", "it", "function", "we", "never"];
        MERGED.contains(&words.lower(at))
            && denied()
            && !words.any(&["reason", "nothing"])
            && !is_description.contains(&words.lower(at.saturating_sub(2)))
            && !is_description.contains(&words.lower(at.saturating_sub(1)))
    });
    demand || stop
}

/// Nouns for a defect.
const DEFECTS: [&str; 25] = [
    "bug", "bugs", "vulnerability", "vulnerabilities", "injection", "injections", "leak", "leaks",
    "flaw", "flaws", "defect", "defects", "hole", "regression", "regressions", "race", "overflow",
    "exploit", "backdoor", "deadlock", "crash", "xss", "csrf", "traversal", "corruption",
];

/// Nouns for a defect that also occur in harmless sentences.
const TROUBLES: [&str; 13] = [
    "issue", "issues", "problem", "problems", "concern", "concerns", "finding", "findings",
    "error", "errors", "mistake", "risk", "risks",
];

/// Returns true if a clause describes a defect in the change: "there is a serious SQL injection".
fn describes_defect(words: &Words<'_>) -> bool {
    const DENIALS: [&str; 13] = [
        "no", "not", "none", "never", "without", "zero", "0", "cannot", "neither", "nor",
        "nothing", "free", "unable",
    ];
    const REPAIRS: [&str; 10] = [
        "fix", "resolve", "address", "prevent", "avoid", "remove", "mitigate", "eliminate",
        "correct", "handle",
    ];
    let is_repair = |at: usize| {
        let word = words.lower(at);
        let is_noun = at > 0 && matches!(words.lower(at - 1), "this" | "the" | "a");
        let ends = ["", "s", "es", "d", "ed", "ing"];
        let stem = |verb: &str| ends.iter().any(|end| word.strip_prefix(verb) == Some(end));
        !is_noun && REPAIRS.iter().any(|verb| stem(verb) || stem(verb.trim_end_matches('e')))
    };
    let is_harmless = |at: usize| {
        let denies = |word: &String| DENIALS.contains(&word.as_str()) || word.ends_with("n't");
        words.lower[..at].iter().any(denies)
            || (0..at).any(is_repair)
            || words.within(at, 4, |word| matches!(word, "resolved" | "fixed" | "addressed"))
    };
    (0..words.len()).any(|at| {
        let word = words.lower(at);
        let defect = DEFECTS.contains(&word);
        let told = defect
            && (is_weighed(words, at) || is_asserted(words, at) || is_found(words, at))
            || TROUBLES.contains(&word)
                && (is_weighed(words, at) || is_stated(words, at) || is_found(words, at))
            || is_called_wrong(words, at)
            || asks_for_work(words, at);
        told && !is_harmless(at)
    })
}

/// Returns true if the noun at `at` is called grave: "a serious SQL injection".
fn is_weighed(words: &Words<'_>, at: usize) -> bool {
    const GRAVE: [&str; 10] = [
        "serious", "severe", "critical", "dangerous", "major", "significant", "blocking",
        "exploitable", "glaring", "grave",
    ];
    (at.saturating_sub(3)..at).any(|before| GRAVE.contains(&words.lower(before)))
}

/// Returns true if the clause states that the noun at `at` exists: "there is a race".
fn is_stated(words: &Words<'_>, at: usize) -> bool {
    (at.saturating_sub(7)..at).any(|before| {
        words.lower(before) == "there's"
            || words.lower(before) == "there"
                && matches!(words.lower(before + 1), "is" | "are" | "remains" | "remain")
    })
}

/// Returns true if the clause states that the noun at `at` exists, or has a cause.
fn is_asserted(words: &Words<'_>, at: usize) -> bool {
    const CAUSES: [&str; 14] = [
        "introduces", "introduced", "introduce", "contains", "contain", "causes", "cause",
        "creates", "create", "leads", "allows", "exposes", "has", "enables",
    ];
    is_stated(words, at)
        || (at.saturating_sub(6)..at).any(|before| CAUSES.contains(&words.lower(before)))
}

/// Returns true if the clause states that the noun at `at` was found: "I found two problems".
fn is_found(words: &Words<'_>, at: usize) -> bool {
    const FINDS: [&str; 8] = [
        "found", "find", "identified", "spotted", "noticed", "discovered", "detected", "following",
    ];
    (at.saturating_sub(5)..at).any(|before| FINDS.contains(&words.lower(before)))
}

/// Returns true if the word at `at` calls its subject wrong: "the check is broken".
fn is_called_wrong(words: &Words<'_>, at: usize) -> bool {
    const WRONG: [&str; 9] = [
        "vulnerable", "broken", "incorrect", "wrong", "unsafe", "insecure", "exploitable", "buggy",
        "flawed",
    ];
    let links = ["is", "are", "looks", "seems", "remains", "still"];
    WRONG.contains(&words.lower(at))
        && (at.saturating_sub(3)..at).any(|before| links.contains(&words.lower(before)))
}

/// Returns true if the words at `at` ask for work: "please fix", "needs work", "see below".
fn asks_for_work(words: &Words<'_>, at: usize) -> bool {
    match words.lower(at) {
        "please" => matches!(words.lower(at + 1), "fix" | "address" | "correct" | "change"),
        "needs" => matches!(words.lower(at + 1), "work" | "fixing" | "attention"),
        "should" => {
            words.lower(at + 1) == "be" && matches!(words.lower(at + 2), "fixed" | "addressed")
        }
        "see" | "listed" | "described" => matches!(words.lower(at + 1), "below" | "above"),
        _ => false,
    }
}
