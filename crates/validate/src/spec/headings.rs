//! Recognises headings that announce acceptance criteria, in the usual words and languages:
//! [`names_criteria`]; and headings of sections without criteria: [`is_other_section`].

/// Phrases that announce criteria anywhere in a title, in lower case.
const ANYWHERE: [&str; 41] = [
    "acceptance tests",
    "acceptance test",
    "acceptance scenarios",
    "acceptance scenario",
    "acceptance checks",
    "acceptance checklist",
    "acceptance requirements",
    "acceptance criteria",
    "acceptance criterion",
    "success criteria",
    "success criterion",
    "definition of done",
    "completion criteria",
    "exit criteria",
    "abnahmekriterien",
    "akzeptanzkriterien",
    "erfolgskriterien",
    "fertigstellungskriterien",
    "critères d acceptation",
    "critères d acceptance",
    "critères de succès",
    "critères de réussite",
    "criterios de aceptación",
    "criterios de aceptacion",
    "criterios de éxito",
    "definición de hecho",
    "critérios de aceitação",
    "critérios de aceite",
    "critérios de sucesso",
    "definição de pronto",
    "criteri di accettazione",
    "acceptatiecriteria",
    "kryteria akceptacji",
    "критерии приёмки",
    "критерии приемки",
    "критерии готовности",
    "définition de terminé",
    "criteres d acceptation",
    "criterios de aceitacao",
    "acceptance conditions",
    "conditions of satisfaction",
];

/// Phrases that announce criteria, in languages without blanks between words.
const WITHOUT_BLANKS: [&str; 17] = [
    "受け入れ基準", "受入基準", "受入れ基準", "受け入れ条件", "受入条件", "受入れ条件", "完了条件",
    "完了の定義", "完成の定義", "验收标准", "驗收標準", "验收条件", "驗收條件", "完成标准",
    "完成定义", "成功标准", "성공 기준",
];

/// Titles that announce criteria only if they are the whole title, in lower case.
const ALONE: [&str; 44] = [
    "must have", "must haves", "must", "musts", "should have", "should haves", "should", "shoulds",
    "scenarios", "scenario", "test scenarios", "user scenarios", "requirement", "criterion",
    "quality gates", "musskriterien", "sollkriterien", "invariants", "ac", "acs", "acceptance",
    "criteria", "done when", "it is done when", "this is done when", "done if", "requirements",
    "functional requirements", "non functional requirements", "nonfunctional requirements",
    "anforderungen", "fertig wenn", "erledigt wenn", "exigences", "terminé quand", "requisitos",
    "requisitos funcionales", "requisitos funcionais", "terminado cuando", "pronto quando",
    "kriterien", "要件", "要求事項", "需求",
];

/// Qualifiers before *requirements* or *criteria* that refer to the work itself.
const QUALIFIERS: [&str; 33] = [
    "security", "performance", "quality", "technical", "business", "product", "user", "key",
    "core", "main", "feature", "api", "ui", "ux", "additional", "other", "general", "detailed",
    "mandatory", "hard", "must", "release", "validation", "usability", "accessibility",
    "reliability", "functional", "non", "nonfunctional", "and", "minimum", "essential", "test",
];

/// Phrases in titles of sections without criteria.
const OTHER_PHRASES: [&str; 12] = [
    "out of scope", "not in scope", "non goals", "nongoals", "open questions", "nice to have",
    "could have", "won t have", "wont have", "to do", "change log", "files to modify",
];

/// Words in titles of sections without criteria: work to do, and remarks about it.
const OTHER_WORDS: [&str; 50] = [
    "note", "notes", "background", "context", "reference", "references", "dependencies", "risks",
    "questions", "estimate", "technical", "implementation", "design", "links", "task", "tasks",
    "subtask", "subtasks", "todo", "todos", "plan", "steps", "step", "work", "items", "progress",
    "status", "milestone", "milestones", "phase", "phases", "timeline", "schedule", "roadmap",
    "history", "changelog", "files", "affected", "future", "later", "ideas", "example", "examples",
    "alternatives", "assumptions", "glossary", "appendix", "rollout", "deployment", "implementing",
];

/// Words without meaning in such a title.
const FILLERS: [&str; 5] = ["and", "the", "of", "for", "to"];

/// Letters of other alphabets that look like Latin ones, each with its Latin letter.
const LOOKALIKES: [(char, &str); 16] = [
    ('a', "аα"),
    ('b', "Ьв"),
    ('c', "сϲ"),
    ('e', "еε"),
    ('h', "һн"),
    ('i', "іιı"),
    ('j', "ј"),
    ('k', "кκ"),
    ('m', "м"),
    ('n', "пη"),
    ('o', "оοօ"),
    ('p', "рρ"),
    ('s', "ѕ"),
    ('t', "тτ"),
    ('x', "хχ"),
    ('y', "уγ"),
];

/// Returns the words of a title in lower case. Letters that look like Latin ones are replaced by
/// these in words that also have Latin letters.
fn words_of(title: &str) -> Vec<String> {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let latin = |c: char| {
        let found = LOOKALIKES.iter().find(|(_, others)| others.contains(c));
        found.map_or(c, |(latin, _)| *latin)
    };
    let read = |word: String| match word.contains(|c: char| c.is_ascii_alphabetic()) {
        true => word.chars().map(latin).collect(),
        false => word,
    };
    words.map(|word| read(word.to_lowercase())).collect()
}

/// Returns true if a title announces acceptance criteria: by a usual phrase anywhere in it, or by a
/// shorter one as the whole title, or before a bracket or a dash.
pub(super) fn names_criteria(title: &str) -> bool {
    let words = words_of(title);
    let padded = format!(" {} ", words.join(" "));
    let has = |phrase: &&str| padded.contains(&format!(" {phrase} "));
    // `2. Requirements` is the same title as `Requirements`.
    let is_number = |word: &&String| word.chars().all(|c| c.is_ascii_digit());
    let bare =
        |words: &[String]| -> Vec<String> { words.iter().skip_while(is_number).cloned().collect() };
    let head = title.split(['(', '–', '—']).next().unwrap_or(title);
    let (whole, head) = (bare(&words), bare(&words_of(head)));
    ANYWHERE.iter().any(has)
        || WITHOUT_BLANKS.iter().any(|phrase| padded.contains(phrase))
        || [&whole, &head].iter().any(|it| ALONE.contains(&it.join(" ").as_str()))
        || is_qualified(&whole)
}

/// Returns true if the words are *requirements* or *criteria* after qualifiers such as *security*.
fn is_qualified(words: &[String]) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    matches!(last.as_str(), "requirements" | "requirement" | "criteria")
        && (1..=3).contains(&before.len())
        && before.iter().all(|word| QUALIFIERS.contains(&word.as_str()))
}

/// Returns true if a title is that of a section with work to do, remarks or ideas, whose items are
/// no criteria. Every word of the title must belong to such a title.
pub(super) fn is_other_section(title: &str) -> bool {
    let padded = format!(" {} ", words_of(title).join(" "));
    let rest = OTHER_PHRASES
        .iter()
        .fold(padded.clone(), |rest, phrase| rest.replace(&format!(" {phrase} "), " "));
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let is_known = |word: &str| OTHER_WORDS.contains(&word);
    let mut words = rest.split_whitespace();
    let is_named = rest.len() < padded.len() || words.clone().any(is_known);
    is_named && words.all(|word| is_known(word) || FILLERS.contains(&word) || is_number(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_titles_announce_criteria_and_titles_of_features_do_not() {
        for title in [
            "Acceptance Criteria",
            "✅ Acceptance criteria (security)",
            "acceptance_criteria",
            "AC",
            "3. Requirements",
            "Success Criteria",
            "Definition of Done",
            "Done when…",
            "Abnahmekriterien",
            "Akzeptanzkriterien für den Login",
            "Critères d’acceptation",
            "Critères d'acceptation",
            "Criterios de aceptación",
            "Critérios de aceitação",
            "受け入れ基準",
            "验收标准",
            "Критерии приёмки",
            "Acceptance tests",
            "Must have",
            "Must-have (release 1)",
            "Should have",
            "Scenarios",
            "Security requirements",
            "Acceptance Crit\u{435}ria",
        ] {
            assert!(names_criteria(title), "{title}");
        }
        for title in [
            "Search criteria",
            "System requirements",
            "Acceptance of cookies",
            "Notes",
            "Requirements of the old system",
            "AC adapter",
            "Criteria editor",
            "需求背景",
            "Testing",
            "Must we log in?",
        ] {
            assert!(!names_criteria(title), "{title}");
        }
    }

    #[test]
    fn sections_of_work_and_remarks_are_distinguished_from_possible_criteria() {
        for title in [
            "Notes", "Out of scope", "2. Tasks", "Implementation plan", "Nice to have", "Non-goals",
        ] {
            assert!(is_other_section(title), "{title}");
        }
        for title in ["Quality", "Quality notes", "Details", "3.", "Goals", "Scope"] {
            assert!(!is_other_section(title), "{title}");
        }
    }
}
