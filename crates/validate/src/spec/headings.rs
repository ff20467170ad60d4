//! Headings that announce acceptance criteria, in the words and languages that are usual for them:
//! [`names_criteria`].

/// Words that announce criteria wherever they stand in a title, in small letters.
const ANYWHERE: [&str; 34] = [
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

/// The same in languages that have no blanks between words.
const WITHOUT_BLANKS: [&str; 17] = [
    "受け入れ基準", "受入基準", "受入れ基準", "受け入れ条件", "受入条件", "受入れ条件", "完了条件",
    "完了の定義", "完成の定義", "验收标准", "驗收標準", "验收条件", "驗收條件", "完成标准",
    "完成定义", "成功标准", "성공 기준",
];

/// Titles that announce criteria if they stand alone, in small letters.
const ALONE: [&str; 26] = [
    "ac", "acs", "acceptance", "criteria", "done when", "it is done when", "this is done when",
    "done if", "requirements", "functional requirements", "non functional requirements",
    "nonfunctional requirements", "anforderungen", "fertig wenn", "erledigt wenn", "exigences",
    "terminé quand", "requisitos", "requisitos funcionales", "requisitos funcionais",
    "terminado cuando", "pronto quando", "kriterien", "要件", "要求事項", "需求",
];

/// Returns true if a title announces acceptance criteria: usual words for them anywhere in it, or a
/// shorter word alone.
pub(super) fn names_criteria(title: &str) -> bool {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let padded = format!(" {} ", words.join(" "));
    let has = |phrase: &&str| padded.contains(&format!(" {phrase} "));
    // `2. Requirements` is the same title.
    let is_number = |word: &&String| word.chars().all(|c| c.is_ascii_digit());
    let bare: Vec<&str> = words.iter().skip_while(is_number).map(String::as_str).collect();
    ANYWHERE.iter().any(has)
        || WITHOUT_BLANKS.iter().any(|phrase| padded.contains(phrase))
        || ALONE.contains(&bare.join(" ").as_str())
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
        ] {
            assert!(!names_criteria(title), "{title}");
        }
    }
}
