//! The texts of the shipped personas, checked for contradictions: within a text, with the contract
//! that all personas get, and between two personas.

use std::collections::BTreeMap;

use assay_review::persona::{Persona, Personas};

const CONTRACT: &str = include_str!("../../src/prompt/contract.md");

fn shipped() -> Personas {
    Personas::with_repository_personas([]).unwrap()
}

/// Returns the text of a section.
fn section<'p>(persona: &'p Persona, heading: &str) -> &'p str {
    let (_, rest) = persona.brief.split_once(&format!("## {heading}")).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// Returns the entries of a list, each on one line.
fn entries(section: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in section.lines() {
        match (line.strip_prefix("- "), entries.last_mut()) {
            (Some(entry), _) => entries.push(entry.to_owned()),
            (None, Some(last)) if line.starts_with("  ") => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (None, _) => {}
        }
    }
    entries
}

/// Returns the anchors that a text defines, each with its words:
/// `- 25: a guess. 0: a guard exists.` has two.
fn anchors(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for entry in entries(text) {
        let mut words: Vec<&str> = Vec::new();
        for word in entry.split(' ') {
            match word.strip_suffix(':').and_then(|number| number.parse().ok()) {
                Some(anchor) if [0, 25, 50, 75, 100].contains(&anchor) => {
                    if let Some((_, last)) = found.last_mut() {
                        last.push_str(&words.join(" "));
                    }
                    words.clear();
                    found.push((anchor, String::new()));
                }
                _ => words.push(word),
            }
        }
        if let Some((_, last)) = found.last_mut() {
            last.push_str(&words.join(" "));
        }
    }
    found
}

/// Returns the severities that a text defines.
fn severities(text: &str) -> Vec<u32> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.iter().zip(std::iter::once(&"").chain(&words));
    // `No P0: …` and `No P0 or P1: …` define none.
    let definitions = pairs.filter(|(_, before)| !["No", "no", "or", "nor"].contains(before));
    definitions
        .filter_map(|(word, _)| word.strip_prefix('P')?.strip_suffix(':')?.parse().ok())
        .collect()
}

fn readers(personas: &Personas) -> impl Iterator<Item = &Persona> {
    personas.on_roster().into_iter()
}

#[test]
fn the_text_parser_detects_repeated_anchors_severities_and_phrases() {
    let twice =
        anchors("\n- 100: the line\n  proves it. 75: traced.\n- 100: again. 25: 0 is a number.\n");
    let expected =
        [(100, "the line proves it."), (75, "traced."), (100, "again."), (25, "0 is a number.")];
    assert_eq!(twice, expected.map(|(anchor, words)| (anchor, words.to_owned())));
    assert_eq!(severities("P1: a. P2: b. P1: c. No P0: d. No P0 or P3: e"), [1, 2, 1]);
    let one = "a wholly new file that nothing names";
    let shared: Vec<&str> =
        phrases(one).into_iter().filter(|p| "see a wholly new file that is".contains(p)).collect();
    assert_eq!(shared, ["a wholly new file that"]);
}

#[test]
fn the_contract_asks_for_findings_of_75_or_more_and_for_a_p0_at_50() {
    assert!(
        CONTRACT.contains("Report what is 75 or 100; below that, only what would be a P0 at 50")
    );
}

#[test]
fn every_anchor_is_defined_once_and_the_highest_comes_first() {
    for persona in readers(&shipped()) {
        let anchors: Vec<u32> =
            anchors(section(persona, "How sure you are")).into_iter().map(|(a, _)| a).collect();
        let mut sorted = anchors.clone();
        sorted.sort_by(|a, b| b.cmp(a));
        sorted.dedup();
        // A persona that grades by earlier findings, and readings, may leave out the last one.
        assert!(anchors.len() >= 4, "{}: {anchors:?}", persona.name);
        assert_eq!(anchors, sorted, "{}", persona.name);
    }
}

#[test]
fn no_persona_reports_below_75_except_a_p0_at_50() {
    let tells = ["told", "report it", "reported", "is a finding"];
    for persona in readers(&shipped()) {
        for (anchor, words) in anchors(section(persona, "How sure you are")) {
            let denies = ["not reported", "nothing", "drop", "leave", "instead"];
            let is_denied = denies.iter().any(|no| words.to_lowercase().contains(no));
            let is_reported = tells.iter().any(|yes| words.contains(yes)) && !is_denied;
            let may_be = anchor >= 75 || (anchor == 50 && words.contains("P0"));
            assert!(!is_reported || may_be, "{}: {anchor}: {words}", persona.name);
        }
    }
}

#[test]
fn no_two_anchors_of_a_persona_share_a_phrase() {
    // Two anchors that describe the same case in the same words cannot both hold.
    for persona in readers(&shipped()) {
        let anchors = anchors(section(persona, "How sure you are"));
        for (at, (one, words)) in anchors.iter().enumerate() {
            for (other, second) in &anchors[at + 1..] {
                let shared: Vec<&str> =
                    phrases(words).into_iter().filter(|p| second.contains(p)).collect();
                assert!(
                    shared.is_empty(),
                    "{}: {one} and {other} both say {shared:?}",
                    persona.name
                );
            }
        }
    }
}

/// Returns the sequences of five words in a text.
fn phrases(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices(' ').map(|(at, _)| at + 1))
        .chain([text.len() + 1])
        .collect();
    starts
        .windows(6)
        .map(|run| text[run[0]..run[5] - 1].trim_end_matches([',', '.', ';', ':']))
        .collect()
}

#[test]
fn every_severity_is_defined_once_and_none_is_worse_than_the_cap() {
    for persona in readers(&shipped()) {
        let found = severities(section(persona, "How sure you are"));
        let mut once = found.clone();
        once.dedup();
        assert_eq!(found, once, "{}", persona.name);
        assert!(found.is_sorted(), "{}: {found:?}", persona.name);
        let cap: u32 = persona.cap.word().trim_start_matches('P').parse().unwrap();
        let worst = found.iter().copied().min().unwrap_or(cap);
        assert!(worst >= cap, "{} defines P{worst} and may give P{cap} at most", persona.name);
    }
}

#[test]
fn nothing_is_both_hunted_and_left_alone() {
    for persona in readers(&shipped()) {
        let hunted =
            section(persona, "What you hunt").split_whitespace().collect::<Vec<_>>().join(" ");
        for left in entries(section(persona, "What you leave alone")) {
            let shared: Vec<&str> =
                phrases(&left).into_iter().filter(|p| hunted.contains(p)).collect();
            assert!(shared.is_empty(), "{} hunts and leaves alone {shared:?}", persona.name);
        }
    }
}

#[test]
fn work_is_left_to_other_personas_only_in_the_parsed_form() {
    let personas = shipped();
    let names: Vec<&str> = personas.iter().map(|persona| persona.name.as_str()).collect();
    for persona in readers(&personas) {
        for left in entries(section(persona, "What you leave alone")) {
            for name in &names {
                let form = format!("[{name}] ");
                let rest = left.strip_prefix(&form).unwrap_or(&left);
                for words in [format!("({name})"), format!("{name} reads"), format!("{name}'s")] {
                    assert!(
                        !rest.contains(&words),
                        "{}: {left}: write `- [{name}] …`",
                        persona.name
                    );
                }
            }
            for vague in ["others read", "another reviewer", "The others"] {
                assert!(!left.contains(vague), "{}: {left}: name the persona", persona.name);
            }
        }
    }
}

#[test]
fn no_persona_leaves_a_defect_class_that_it_owns_to_another() {
    let personas = shipped();
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for persona in personas.iter() {
        for class in &persona.owns {
            let before = owners.insert(class, &persona.name);
            assert_eq!(before, None, "{class} has two owners, one is {}", persona.name);
        }
    }
    for persona in readers(&personas) {
        for left in entries(section(persona, "What you leave alone")) {
            let is_own = |class: &&String| left.to_lowercase().contains(&class.replace('-', " "));
            let own: Vec<&String> = persona.owns.iter().filter(is_own).collect();
            assert!(
                own.is_empty(),
                "{} answers for {own:?} and leaves alone: {left}",
                persona.name
            );
        }
        // A concern mentions a class by its name only if the persona owns the class.
        for (class, owner) in &owners {
            let names_it = persona.concern.to_lowercase().contains(&class.replace('-', " "));
            assert!(
                !names_it || owner == &persona.name,
                "{} reads for {class} of {owner}",
                persona.name
            );
        }
    }
}

#[test]
fn the_concern_of_performance_names_a_column_without_an_index() {
    let personas = shipped();
    let concern = personas.get("performance").unwrap().concern.replace('\n', " ");
    assert!(concern.contains("filter, join or sort by and that has no index"), "{concern}");
}

#[test]
fn a_persona_that_leaves_work_to_an_unknown_one_is_refused() {
    let text =
        "---\nname: house\ntrigger: always\n---\n\n## What you leave alone\n\n- [nosuch] Prices.\n";
    let error = Personas::with_repository_personas([("house.md".into(), text.into())]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the persona `house.md` cannot be used: the text refers to the unknown persona `nosuch`"
    );
}
