//! The severity of a finding: [`Grade`], and the words of each vocabulary for it.
//!
//! Reviewers use four vocabularies ([`Scheme`]), which answer two different questions: how much
//! breaks ([`Impact`]) and whether the defect must be fixed ([`Obligation`]). A grade stores the
//! stated answer, and derives the other one only when a caller asks for it.

use std::borrow::Cow;
use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The extent of the damage, from `0` (data loss, a security hole) to `6` (a suggestion).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(extend("maximum" = 6))]
pub struct Impact(u8);

impl Impact {
    /// The least impact that still counts as a major defect (MAJOR, and P1 above it).
    pub const MAJOR: Impact = Impact(2);

    /// Returns the level of the impact; `0` is the worst.
    pub fn level(self) -> u8 {
        self.0
    }

    fn obligation(self) -> Obligation {
        match self.0 {
            0 | 1 => Obligation::Must,
            2 | 3 => Obligation::Should,
            _ => Obligation::May,
        }
    }
}

impl TryFrom<u8> for Impact {
    type Error = String;

    fn try_from(level: u8) -> Result<Self, Self::Error> {
        if level <= 6 {
            Ok(Impact(level))
        } else {
            Err(format!("invalid impact `{level}`: expected 0 to 6"))
        }
    }
}

impl From<Impact> for u8 {
    fn from(impact: Impact) -> u8 {
        impact.0
    }
}

/// The obligation to fix a defect.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Obligation {
    /// The defect blocks the change.
    Must,
    /// The defect should be fixed, now or soon.
    Should,
    /// The author decides.
    May,
}

impl Obligation {
    fn impact(self) -> Impact {
        match self {
            Obligation::Must => Impact(1),
            Obligation::Should => Impact(3),
            Obligation::May => Impact(5),
        }
    }
}

/// A vocabulary of severity words.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// `CRITICAL` to `SUGGESTION`, seven levels.
    Qa7,
    /// `P0` to `P3`.
    P,
    /// `high`, `medium`, `low`.
    Hml,
    /// `MUST`, `SHOULD`, `MAY`.
    Qr,
    /// A word of no known vocabulary.
    Unknown,
}

/// The original severity word of a grade.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Native")]
pub struct NativeSeverity {
    /// The vocabulary of the word.
    pub scheme: Scheme,
    /// The word, in that vocabulary's spelling; an unknown word as it was written.
    pub word: Cow<'static, str>,
}

/// The severity of a finding.
///
/// At least one of impact and obligation is known. The native word, if there is one, agrees with
/// both: a stored grade whose numbers differ from those of its word loses the word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StoredGrade")]
pub struct Grade {
    impact: Option<Impact>,
    obligation: Option<Obligation>,
    native: Option<NativeSeverity>,
}

/// A level of SARIF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SarifLevel {
    /// The defect breaks something.
    Error,
    /// The defect may break something.
    Warning,
    /// The finding is worth knowing.
    Note,
}

impl SarifLevel {
    /// Returns the level as SARIF spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            SarifLevel::Error => "error",
            SarifLevel::Warning => "warning",
            SarifLevel::Note => "note",
        }
    }
}

struct SeverityWord {
    scheme: Scheme,
    word: &'static str,
    impact: Option<Impact>,
    obligation: Option<Obligation>,
}

const fn word(
    scheme: Scheme,
    word: &'static str,
    impact: Option<u8>,
    obligation: Option<Obligation>,
) -> SeverityWord {
    let impact = match impact {
        Some(level) => Some(Impact(level)),
        None => None,
    };
    SeverityWord { scheme, word, impact, obligation }
}

/// Every severity word with its impact and obligation. A word of two vocabularies belongs to the
/// first one listed, unless the vocabulary is named.
const SEVERITY_WORDS: &[SeverityWord] = {
    use Obligation::{May, Must, Should};
    use Scheme::{Hml, P, Qa7, Qr};
    &[
        word(Qa7, "CRITICAL", Some(0), Some(Must)),
        word(Qa7, "HIGH", Some(1), Some(Must)),
        word(Qa7, "MAJOR", Some(2), Some(Should)),
        word(Qa7, "MEDIUM", Some(3), Some(Should)),
        word(Qa7, "LOW", Some(4), Some(May)),
        word(Qa7, "MINOR", Some(5), Some(May)),
        word(Qa7, "SUGGESTION", Some(6), Some(May)),
        word(P, "P0", Some(0), Some(Must)),
        word(P, "P1", Some(1), Some(Should)),
        word(P, "P2", Some(3), Some(May)),
        word(P, "P3", Some(4), Some(May)),
        word(Hml, "critical", Some(0), None),
        word(Hml, "high", Some(1), None),
        word(Hml, "medium", Some(3), None),
        word(Hml, "low", Some(4), None),
        word(Hml, "trivial", Some(6), None),
        word(Qr, "MUST", None, Some(Must)),
        word(Qr, "SHOULD", None, Some(Should)),
        word(Qr, "MAY", None, Some(May)),
        word(Qr, "COULD", None, Some(May)),
    ]
};

/// Words for the P levels that reviewers write if their instructions describe the levels in prose.
const PROSE_LEVELS: &[(&str, &str)] = &[
    ("must-fix", "P0"),
    ("should-fix", "P1"),
    ("worth-noting", "P2"),
    ("could-fix", "P2"),
    ("low-signal", "P3"),
];

/// Words of no vocabulary whose level is clear, each with the nearest of the seven levels.
const SYNONYMS: &[(&str, &str)] = &[
    ("blocker", "CRITICAL"),
    ("blocking", "CRITICAL"),
    ("fatal", "CRITICAL"),
    ("severe", "CRITICAL"),
    ("urgent", "CRITICAL"),
    ("show-stopper", "CRITICAL"),
    ("showstopper", "CRITICAL"),
    ("error", "HIGH"),
    ("important", "HIGH"),
    ("serious", "HIGH"),
    ("warning", "MEDIUM"),
    ("moderate", "MEDIUM"),
    ("info", "MINOR"),
    ("informational", "MINOR"),
    ("note", "MINOR"),
    ("nit", "MINOR"),
    ("nitpick", "MINOR"),
    ("trivial", "MINOR"),
    ("style", "MINOR"),
    ("cosmetic", "MINOR"),
];

/// The seven levels, the worst first; the index is the impact.
pub const SEVEN_LEVELS: [&str; 7] =
    ["CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION"];

impl Grade {
    /// Parses a severity word of any vocabulary, in any case. A synonym becomes the word of the
    /// nearest of the seven levels; an unknown word is stored as written, and blocks.
    pub fn from_word(text: &str) -> Grade {
        let text = text.trim();
        let listed = |list: &[(&'static str, &'static str)], part: &str| {
            list.iter().find(|(word, _)| word.eq_ignore_ascii_case(part)).map(|(_, level)| *level)
        };
        let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
        if let Some(level) = listed(SYNONYMS, bare) {
            return Grade::in_scheme(Scheme::Qa7, level).expect("a synonym names a level");
        }
        if let Some(known) = SEVERITY_WORDS.iter().find(|w| w.word.eq_ignore_ascii_case(text)) {
            return known.grade();
        }
        let prose = text.rsplit('/').map(str::trim).find_map(|part| listed(PROSE_LEVELS, part));
        prose
            .and_then(|level| Grade::in_scheme(Scheme::P, level))
            .or_else(|| Grade::parse_decorated(text))
            .unwrap_or_else(|| Grade::unknown(text))
    }

    /// Returns true if a text is a synonym, which is parsed as one of the seven levels.
    pub fn is_synonym(text: &str) -> bool {
        SYNONYMS.iter().any(|(word, _)| word.eq_ignore_ascii_case(text.trim()))
    }

    /// Parses a known word among other words or marks, as in `**HIGH**` or `P1 - High`. Of several
    /// known words, the worst counts. Returns `None` for a text with a negation or with more than
    /// four words.
    fn parse_decorated(text: &str) -> Option<Grade> {
        let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_denied =
            words().any(|word| matches!(word.to_ascii_lowercase().as_str(), "not" | "non" | "no"));
        if is_denied || words().count() > 4 {
            return None;
        }
        let known = |word: &str| {
            let known = SEVERITY_WORDS.iter().find(|known| known.word.eq_ignore_ascii_case(word));
            let synonym = || SYNONYMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
            known.map(SeverityWord::grade).or_else(|| Grade::in_scheme(Scheme::Qa7, synonym()?.1))
        };
        words().filter_map(known).min_by_key(Grade::impact)
    }

    /// Returns true if a text is a severity word and has no other word.
    pub fn is_word(text: &str) -> bool {
        SEVERITY_WORDS.iter().any(|known| known.word.eq_ignore_ascii_case(text.trim()))
    }

    /// Parses a word of one vocabulary, in any case.
    pub fn in_scheme(scheme: Scheme, text: &str) -> Option<Grade> {
        let text = text.trim();
        SEVERITY_WORDS
            .iter()
            .find(|w| w.scheme == scheme && w.word.eq_ignore_ascii_case(text))
            .map(SeverityWord::grade)
    }

    fn unknown(text: &str) -> Grade {
        Grade {
            impact: None,
            obligation: Some(Obligation::Should),
            native: Some(NativeSeverity {
                scheme: Scheme::Unknown,
                word: Cow::Owned(text.to_owned()),
            }),
        }
    }

    /// Returns the impact, derived from the obligation if no impact was stated.
    pub fn impact(&self) -> Impact {
        self.impact
            .or(self.obligation.map(Obligation::impact))
            .expect("a grade has an impact or an obligation")
    }

    /// Returns the obligation, derived from the impact if no obligation was stated.
    pub fn obligation(&self) -> Obligation {
        self.obligation
            .or(self.impact.map(Impact::obligation))
            .expect("a grade has an impact or an obligation")
    }

    /// Returns the original severity word; `None` if the grade has none.
    pub fn native(&self) -> Option<&NativeSeverity> {
        self.native.as_ref()
    }

    /// Returns true if the original severity word belongs to no vocabulary.
    pub fn is_unmapped(&self) -> bool {
        self.native.as_ref().is_some_and(|native| native.scheme == Scheme::Unknown)
    }

    /// Returns the word to show: the original word if the grade has one, else that of the seven
    /// levels.
    pub fn word(&self) -> &str {
        self.native.as_ref().map_or_else(|| self.as_seven_level(), |native| &native.word)
    }

    /// Returns the grade as a word of a vocabulary: the original word, if it belongs to that
    /// vocabulary.
    pub fn word_in_scheme(&self, scheme: Scheme) -> &str {
        match &self.native {
            Some(native) if native.scheme == scheme => &native.word,
            _ => match scheme {
                Scheme::Qa7 => self.as_seven_level(),
                Scheme::P => self.as_p(),
                Scheme::Hml => self.as_hml(),
                Scheme::Qr => self.as_qr(),
                Scheme::Unknown => self.word(),
            },
        }
    }

    fn as_seven_level(&self) -> &'static str {
        SEVEN_LEVELS[usize::from(self.impact().level())]
    }

    fn as_p(&self) -> &'static str {
        match self.impact().level() {
            0 => "P0",
            1 | 2 => "P1",
            3 => "P2",
            _ => "P3",
        }
    }

    fn as_hml(&self) -> &'static str {
        match self.impact().level() {
            0..=2 => "high",
            3 => "medium",
            _ => "low",
        }
    }

    fn as_qr(&self) -> &'static str {
        match self.obligation() {
            Obligation::Must => "MUST",
            Obligation::Should => "SHOULD",
            Obligation::May => "MAY",
        }
    }

    /// Returns the level for SARIF.
    pub fn sarif_level(&self) -> SarifLevel {
        match self.impact().level() {
            0 | 1 => SarifLevel::Error,
            2 | 3 => SarifLevel::Warning,
            _ => SarifLevel::Note,
        }
    }

    /// Returns true if an open finding of this grade keeps a change from being ready: its
    /// obligation is *must*, it is MAJOR or P1 or worse, or its severity is in no vocabulary and so
    /// may be any of these.
    pub fn blocks(&self) -> bool {
        self.is_unmapped()
            || self.obligation() == Obligation::Must
            || self.impact() <= Impact::MAJOR
    }

    /// Orders grades, the worst first.
    pub fn worst_first(&self, other: &Grade) -> Ordering {
        self.impact().cmp(&other.impact()).then(self.obligation().cmp(&other.obligation()))
    }

    /// Returns true if this grade is at least as bad as the other one. A severity that is in no
    /// vocabulary may be as bad as any.
    pub fn is_at_least(&self, other: &Grade) -> bool {
        self.is_unmapped() || self.worst_first(other) != Ordering::Greater
    }
}

impl SeverityWord {
    fn grade(&self) -> Grade {
        Grade {
            impact: self.impact,
            obligation: self.obligation,
            native: Some(NativeSeverity { scheme: self.scheme, word: Cow::Borrowed(self.word) }),
        }
    }
}

/// A grade as stored in a file, which a user may have edited.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Stored")]
struct StoredGrade {
    #[serde(default)]
    impact: Option<Impact>,
    #[serde(default)]
    obligation: Option<Obligation>,
    #[serde(default)]
    native: Option<NativeSeverity>,
}

impl TryFrom<StoredGrade> for Grade {
    type Error = String;

    fn try_from(stored: StoredGrade) -> Result<Self, Self::Error> {
        let StoredGrade { impact, obligation, native } = stored;
        let meant = native.as_ref().map(|native| match native.scheme {
            Scheme::Unknown => Some(Grade::unknown(&native.word)),
            scheme => Grade::in_scheme(scheme, &native.word),
        });
        match meant {
            Some(Some(meant)) if impact.is_none() && obligation.is_none() => Ok(meant),
            Some(Some(meant)) if (meant.impact, meant.obligation) == (impact, obligation) => {
                Ok(meant)
            }
            _ if impact.is_none() && obligation.is_none() => {
                Err("a grade needs an impact or an obligation".to_owned())
            }
            _ => Ok(Grade { impact, obligation, native: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> String {
        let grade = Grade::from_word(text);
        let half = |known: Option<String>| known.unwrap_or_else(|| "-".to_owned());
        format!(
            "{text}: {} {} {} {} {} {} {}",
            half(grade.impact.map(|i| i.level().to_string())),
            half(grade.obligation.map(|o| format!("{o:?}").to_lowercase())),
            grade.word_in_scheme(Scheme::Qa7),
            grade.word_in_scheme(Scheme::P),
            grade.word_in_scheme(Scheme::Hml),
            grade.word_in_scheme(Scheme::Qr),
            grade.sarif_level().as_str(),
        )
    }

    #[test]
    fn every_word_maps_as_the_table_says() {
        let words = [
            "CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION", "P0", "P1", "P2",
            "P3", "MUST", "SHOULD", "MAY", "COULD", "trivial", "blocker", "blockr",
        ];
        let table: Vec<String> = words.iter().map(|word| row(word)).collect();
        expect_test::expect![[r#"
            CRITICAL: 0 must CRITICAL P0 high MUST error
            HIGH: 1 must HIGH P1 high MUST error
            MAJOR: 2 should MAJOR P1 high SHOULD warning
            MEDIUM: 3 should MEDIUM P2 medium SHOULD warning
            LOW: 4 may LOW P3 low MAY note
            MINOR: 5 may MINOR P3 low MAY note
            SUGGESTION: 6 may SUGGESTION P3 low MAY note
            P0: 0 must CRITICAL P0 high MUST error
            P1: 1 should HIGH P1 high SHOULD error
            P2: 3 may MEDIUM P2 medium MAY warning
            P3: 4 may LOW P3 low MAY note
            MUST: - must HIGH P1 high MUST error
            SHOULD: - should MEDIUM P2 medium SHOULD warning
            MAY: - may MINOR P3 low MAY note
            COULD: - may MINOR P3 low COULD note
            trivial: 5 may MINOR P3 low MAY note
            blocker: 0 must CRITICAL P0 high MUST error
            blockr: - should MEDIUM P2 medium SHOULD warning"#]]
        .assert_eq(&table.join("\n"));
    }

    #[test]
    fn a_synonym_is_read_as_the_nearest_level() {
        let level = |word: &str| Grade::from_word(word).word_in_scheme(Scheme::Qa7).to_owned();
        for (words, expected) in [
            ("blocker Fatal SEVERE urgent show-stopper showstopper", "CRITICAL"),
            ("error important", "HIGH"),
            ("warning moderate", "MEDIUM"),
            ("info note nit trivial style cosmetic", "MINOR"),
        ] {
            for word in words.split(' ') {
                assert_eq!(level(word), expected, "{word}");
                assert_eq!(level(&format!("**{word}**")), expected, "{word}");
            }
        }
        assert_eq!(level("minor / blocker"), "CRITICAL");
    }

    #[test]
    fn an_unknown_severity_word_blocks_at_every_threshold() {
        for word in ["UNKNOWN", "blockr", "sev-1", "hihg", "not critical"] {
            let grade = Grade::from_word(word);
            assert!(grade.is_unmapped() && grade.blocks(), "{word}");
            assert!(SEVEN_LEVELS.iter().all(|level| grade.is_at_least(&Grade::from_word(level))));
        }
    }

    #[test]
    fn an_edited_grade_loses_its_original_word() {
        let edited =
            r#"{"impact": 1, "obligation": "may", "native": {"scheme": "qa7", "word": "MINOR"}}"#;
        let grade: Grade = serde_json::from_str(edited).unwrap();
        assert_eq!((grade.native(), grade.word_in_scheme(Scheme::Qa7)), (None, "HIGH"));
    }
}
