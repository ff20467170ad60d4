//! The descriptions of all rules for users: [`RuleDescription`], from [`Rulebook::describe`].
//!
//! Rules from files are parsed and not compiled, so that a list of all rules is quick.

use std::collections::HashSet;
use std::str::FromStr;

use assay_findings::tier::EvidenceTier;
use serde::Serialize;

use crate::builtin;
use crate::change_checks;
use crate::examples::Examples;
use crate::language::{self, Language};
use crate::rule::{FixClass, RuleError, RuleInfo};
use crate::rule_file::RuleEntry;
use crate::rule_text::RuleText;
use crate::rulebook::Rulebook;
use crate::suppression;
use crate::text;

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// A rule on syntax trees, from a file.
    Structural,
    /// A rule that follows data from sources to sinks, from a file.
    Flow,
    /// A rule on the text of added lines, in any language.
    Text,
    /// A check of the change as a whole.
    Change,
}

impl RuleKind {
    /// Returns true if rules of the kind are defined in files.
    fn is_from_file(self) -> bool {
        matches!(self, RuleKind::Structural | RuleKind::Flow)
    }

    /// Returns the kind in words.
    pub fn in_words(self) -> &'static str {
        match self {
            RuleKind::Structural => "structural rule, on syntax trees",
            RuleKind::Flow => "rule that follows data from sources to sinks",
            RuleKind::Text => "rule on the text of added lines",
            RuleKind::Change => "check of the whole change",
        }
    }
}

/// The safety of a rule's rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleFix {
    /// `assay fix` applies the rewrite.
    Safe,
    /// A person has to agree to the rewrite.
    Gated,
}

/// The description of a rule for users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleDescription {
    /// The id of the rule, such as `python/sql-injection`.
    pub id: String,
    /// The kind of the rule.
    pub kind: RuleKind,
    /// The languages of the rule, such as `python`; empty for a rule that reads every text file.
    pub languages: Vec<String>,
    /// The severity of its findings, as one of the seven levels.
    pub severity: String,
    /// The category of its findings, such as `security`.
    pub category: String,
    /// `lead` if a match without known data is a lead; `None` if it is a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<EvidenceTier>,
    /// The defect in a few words.
    pub title: String,
    /// The consequence of the defect.
    pub message: String,
    /// The advice for a fix.
    pub advice: Option<String>,
    /// The safety of the rewrite; `None` if the rule has no rewrite.
    pub fix: Option<RuleFix>,
    /// The file of the repository that defines the rule; `None` for a built-in rule.
    pub file: Option<String>,
    /// True if the repository or its configuration switches the rule off.
    pub off: bool,
    /// Code or changes in which the rule finds something.
    pub bad: Vec<String>,
    /// Code or changes in which the rule finds nothing.
    pub good: Vec<String>,
}

impl RuleDescription {
    fn new(about: RuleInfo, kind: RuleKind) -> RuleDescription {
        RuleDescription {
            id: about.id,
            kind,
            languages: Vec::new(),
            severity: about.grade.word().to_owned(),
            category: about.category,
            tier: about.tier,
            title: about.title,
            message: about.message,
            advice: about.advice,
            fix: None,
            file: None,
            off: false,
            bad: Vec::new(),
            good: Vec::new(),
        }
    }

    /// Describes a rule that is implemented in code.
    fn of_code(text: &RuleText, kind: RuleKind) -> RuleDescription {
        let (bad, good) = CODE_EXAMPLES
            .iter()
            .find(|(id, ..)| *id == text.id)
            .map_or((Vec::new(), Vec::new()), |(_, bad, good)| (owned(bad), owned(good)));
        RuleDescription { bad, good, ..RuleDescription::new(text.info(), kind) }
    }

    /// Adds the examples of the file next to the rule. Examples of another rule are left out.
    pub fn add_examples(&mut self, name: &str, yaml: &str) -> Result<(), RuleError> {
        let examples = Examples::parse(yaml)
            .map_err(|message| RuleError { name: name.to_owned(), message })?;
        if examples.id == self.id {
            self.bad = examples.invalid;
            self.good = examples.valid;
        }
        Ok(())
    }

    /// Returns true if the rule reads files of a language, given by a name or a short name such as
    /// `py`.
    pub fn reads_language(&self, name: &str) -> bool {
        let wanted = language_word(name);
        self.languages.is_empty() || self.languages.iter().any(|own| Some(own) == wanted.as_ref())
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn word(language: Language) -> String {
    language.to_string().to_lowercase()
}

/// Returns the word of a language with a grammar, by its name or a short name; `None` if there is
/// no such language.
fn language_word(name: &str) -> Option<String> {
    let shell = matches!(name.to_ascii_lowercase().as_str(), "shell" | "sh");
    let language = if shell { Language::Bash } else { Language::from_str(name).ok()? };
    language::has_grammar(language).then(|| word(language))
}

impl Rulebook {
    /// Returns the words of the languages that rules can be written for.
    pub fn languages() -> Vec<String> {
        language::WITH_GRAMMAR.iter().map(|language| word(*language)).collect()
    }

    /// Returns true if rules can be written for a language, given by a name or a short name.
    pub fn knows_language(name: &str) -> bool {
        language_word(name).is_some()
    }

    /// Describes all rules, sorted by id: the built-in ones, and those of the repository, with the
    /// severities of the selection. A rule of the repository replaces a built-in rule with its id in the languages of the former.
    pub fn describe(&self) -> Result<Vec<RuleDescription>, RuleError> {
        let mut rules: Vec<RuleDescription> = describe_code().collect();
        for ((name, yaml), (_, examples)) in builtin::RULES.iter().zip(builtin::EXAMPLES) {
            for entry in RuleEntry::read(name, yaml)? {
                let mut described = of_file(entry);
                if let Some(rule) = &mut described {
                    rule.add_examples(name, examples)?;
                }
                rules.extend(described);
            }
        }
        for (name, yaml) in self.repository_files() {
            for entry in RuleEntry::read(name, yaml)? {
                overlay(&mut rules, name, entry);
            }
        }
        rules.sort_by(|a, b| (&a.id, &a.file).cmp(&(&b.id, &b.file)));
        for rule in &mut rules {
            rule.off |= !self.selection().applies(&rule.id, None);
            if let Some(grade) = self.selection().severity(&rule.id) {
                rule.severity = grade.word().to_owned();
            }
        }
        Ok(rules)
    }
}

/// Describes the rules that are implemented in code, each once.
fn describe_code() -> impl Iterator<Item = RuleDescription> {
    let of_text = text::RULES.iter().map(|rule| (rule.rule_text, RuleKind::Text));
    let of_comments = suppression::RULE_TEXTS.into_iter().map(|text| (text, RuleKind::Text));
    let of_change = change_checks::rule_texts().map(|text| (text, RuleKind::Change));
    let mut seen = HashSet::new();
    let all = of_text.chain(of_comments).chain(of_change);
    all.filter(move |(text, _)| seen.insert(text.id))
        .map(|(text, kind)| RuleDescription::of_code(&text, kind))
}

/// Describes an entry of a file; `None` for an entry that switches a rule off.
fn of_file(entry: RuleEntry) -> Option<RuleDescription> {
    let (about, kind, languages, fix) = match entry {
        RuleEntry::Off(_) => return None,
        RuleEntry::Structure { about, languages, fix } => {
            (about, RuleKind::Structural, languages, fix)
        }
        RuleEntry::Flow { about, languages } => (about, RuleKind::Flow, languages, None),
    };
    let fix = fix.map(|class| match class {
        FixClass::Safe => RuleFix::Safe,
        FixClass::Gated => RuleFix::Gated,
    });
    let languages = languages.into_iter().map(word).collect();
    Some(RuleDescription { languages, fix, ..RuleDescription::new(about, kind) })
}

/// Applies an entry of a repository's file to the rules before it.
fn overlay(rules: &mut Vec<RuleDescription>, file: &str, entry: RuleEntry) {
    if let RuleEntry::Off(id) = &entry {
        let meant = rules.iter_mut().filter(|rule| rule.id == *id);
        meant.filter(|rule| rule.kind.is_from_file()).for_each(|rule| rule.off = true);
    }
    let Some(rule) = of_file(entry) else { return };
    for other in rules.iter_mut().filter(|other| other.id == rule.id) {
        other.languages.retain(|language| !rule.languages.contains(language));
    }
    rules.retain(|other| !other.kind.is_from_file() || !other.languages.is_empty());
    rules.push(RuleDescription { file: Some(file.to_owned()), ..rule });
}

/// The examples of the rules that are implemented in code: the id, and what the rule finds and does
/// not find.
const CODE_EXAMPLES: &[(&str, &[&str], &[&str])] = &[
    (
        "change/conflict-marker",
        &["<<<<<<< HEAD\ntimeout = 10\n=======\ntimeout = 30\n>>>>>>> topic"],
        &["timeout = 30"],
    ),
    (
        "secret/leaked-credential",
        &["a token whose form belongs to one service, such as a key of a cloud provider"],
        &["token = os.environ[\"SERVICE_TOKEN\"]"],
    ),
    (
        "secret/test-key",
        &["a private key in `testdata/server.key`"],
        &["the public key that belongs to it"],
    ),
    (
        "secret/hard-coded-password",
        &["a random value under a name such as `db_password`"],
        &["db_password = os.environ[\"DB_PASSWORD\"]"],
    ),
    (
        "secret/possible-password",
        &["a word with digits under a name such as `password`"],
        &["password = \"${DB_PASSWORD}\""],
    ),
    (
        "template/request-unescaped",
        &["<p>{{ request.args.get('q')|safe }}</p>", "<%== params[:q] %>", "{!! $_GET['q'] !!}"],
        &["<p>{{ request.args.get('q') }}</p>"],
    ),
    (
        "template/unescaped-value",
        &["<p>{{ comment.text|safe }}</p>", "<p v-html=\"comment.text\"/>"],
        &["<p>{{ comment.text }}</p>"],
    ),
    (
        "docker/unchecked-download",
        &["ADD https://a.example/tool.tar.gz /opt/"],
        &["ADD --checksum=sha256:24454f83… https://a.example/tool.tar.gz /opt/"],
    ),
    (
        "docker/tls-unchecked",
        &["ENV NODE_TLS_REJECT_UNAUTHORIZED=0"],
        &["ENV NODE_EXTRA_CA_CERTS=/etc/ssl/own.pem"],
    ),
    (
        "migration/drops-data",
        &["ALTER TABLE users DROP COLUMN name;"],
        &["ALTER TABLE users DROP CONSTRAINT users_name_key;"],
    ),
    (
        "migration/not-null-without-default",
        &["ALTER TABLE users ADD COLUMN age int NOT NULL;"],
        &["ALTER TABLE users ADD COLUMN age int NOT NULL DEFAULT 0;"],
    ),
    (
        "migration/index-locks-table",
        &["CREATE INDEX users_name ON users (name);"],
        &["CREATE INDEX CONCURRENTLY users_name ON users (name);"],
    ),
    (
        text::injection::ID,
        &[
            "a comment that tells reviewers to set their instructions aside, or to report no finding",
        ],
        &["# The caller validates the amount."],
    ),
    (
        "change/ignored-without-reason",
        &["f(x)  # assay: ignore python/no-eval"],
        &["f(x)  # assay: ignore python/no-eval the text is a constant of this module"],
    ),
    (
        "change/ignored-unknown-rule",
        &["f(x)  # assay: ignore pyhton/no-eval the text is a constant of this module"],
        &["f(x)  # assay: ignore python/no-eval the text is a constant of this module"],
    ),
    (
        "change/check-removed",
        &["a change that removes `if \"..\" in name: raise ValueError` and leaves `open(name)`"],
        &["a change that replaces the condition by another one on `name`"],
    ),
    (
        "change/weaker-call",
        &["a change that replaces `hmac.compare_digest(a, b)` by `a == b`"],
        &["a change that replaces `a == b` by `hmac.compare_digest(a, b)`"],
    ),
    (
        "change/setting-removed",
        &["a change that removes `resolve_entities=False`, and leaves the call of the parser"],
        &["a change that removes the setting together with the parser"],
    ),
    (
        "change/condition-loosened",
        &["a change of `if size == 0 or size > LIMIT: return` to `if size == 0: return`"],
        &["a change of `if size == 0: return` to `if size == 0 or size > LIMIT: return`"],
    ),
    (
        "change/cleaning-removed",
        &["a change of `send(value.trim())` to `send(value)`"],
        &["a change of `send(value.trim())` to `send(clean(value))`"],
    ),
    (
        "test/weakened",
        &["a change that removes an assertion from a test"],
        &["a change that replaces an assertion by a stricter one"],
    ),
    (
        "test/removed",
        &["a change that removes a test whose code stays"],
        &["a change that removes a test together with the code that the test covers"],
    ),
    (
        "test/file-deleted",
        &["a change that deletes `tests/test_cart.py` and leaves `cart.py`"],
        &["a change that deletes `tests/test_cart.py` and `cart.py`"],
    ),
    (
        "change/untested",
        &["a change that adds 30 lines of code and touches no test, in a repository with tests"],
        &["the same change with a new test"],
    ),
    (
        "change/migration-without-way-back",
        &["a migration that drops a column and has no `down` part"],
        &["a migration whose `down` part adds the column again"],
    ),
    (
        "change/state-committed",
        &["a change that adds `.assay/runs/1/run.json`"],
        &["a change that adds `.assay/rules/no-floats.yml` or `.assay/baseline.json`"],
    ),
    (
        "change/lock-file-not-updated",
        &["a new dependency in `package.json`, with an unchanged `package-lock.json`"],
        &["a new dependency in `package.json`, with the updated `package-lock.json`"],
    ),
    (
        "change/generated-file-edited",
        &["a change that touches nothing but `api_pb2.py`"],
        &["a change of `api.proto`, with the `api_pb2.py` that follows from it"],
    ),
    (
        "shape/long-function",
        &["a function that grows from 140 to 160 lines"],
        &["two functions of 80 lines"],
    ),
    (
        "shape/deep-nesting",
        &["a loop in six nested branches"],
        &["an early return for each condition"],
    ),
    (
        "shape/duplicate-block",
        &["the same fifteen lines, added to two files"],
        &["a function of these lines, called from both files"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn book(rules: &[(&str, &str)]) -> Rulebook {
        let owned = rules.iter().map(|(name, yaml)| ((*name).to_owned(), (*yaml).to_owned()));
        Rulebook::with_repository_rules(owned).unwrap()
    }

    fn find<'r>(rules: &'r [RuleDescription], id: &str) -> Vec<&'r RuleDescription> {
        rules.iter().filter(|rule| rule.id == id).collect()
    }

    #[test]
    fn every_rule_has_a_description_with_advice_and_examples() {
        let rules = Rulebook::builtin().describe().unwrap();
        assert!(rules.len() > builtin::RULES.len());
        for rule in &rules {
            let id = &rule.id;
            assert!(!rule.bad.is_empty() && !rule.good.is_empty(), "{id} has no examples");
            assert!(rule.advice.as_deref().is_some_and(|text| !text.is_empty()), "{id}");
            assert_eq!(rule.kind.is_from_file(), !rule.languages.is_empty(), "{id}");
        }
    }

    #[test]
    fn descriptions_and_ids_name_the_same_rules_once() {
        let book = Rulebook::builtin();
        let mut ids = book.ids().to_vec();
        ids.sort();
        let described: Vec<String> =
            book.describe().unwrap().into_iter().map(|rule| rule.id).collect();
        assert_eq!(ids, described);
    }

    #[test]
    fn a_rule_of_the_repository_replaces_a_built_in_one_in_its_languages() {
        let yaml = "id: javascript/eval-like\nlanguage: JavaScript\nmessage: Ours\nrule:\n  pattern: f()\n";
        let built_in = Rulebook::builtin().describe().unwrap();
        let is_shared =
            |rule: &&RuleDescription| rule.languages == ["javascript", "typescript", "tsx"];
        let id = built_in.iter().find(is_shared).map(|rule| rule.id.as_str()).unwrap();
        let yaml = yaml.replace("javascript/eval-like", id);
        let rules = book(&[(".assay/rules/own.yml", &yaml)]).describe().unwrap();
        let both = find(&rules, id);
        assert_eq!(both[0].languages, ["typescript", "tsx"]);
        assert_eq!(both[0].file, None);
        assert_eq!(both[1].title, "Ours");
        assert_eq!(both[1].file.as_deref(), Some(".assay/rules/own.yml"));
    }

    #[test]
    fn a_rule_that_the_repository_switches_off_is_described_as_off() {
        let yaml =
            "id: python/assert-tuple\nlanguage: Python\nseverity: off\nrule:\n  pattern: f()\n";
        let rules = book(&[("off.yml", yaml)]).describe().unwrap();
        let [rule] = find(&rules, "python/assert-tuple")[..] else { panic!("one description") };
        assert!(rule.off);
        assert_eq!(rule.title, "Assertion on a tuple is always true");
    }

    #[test]
    fn a_language_has_its_short_names() {
        let rules = Rulebook::builtin().describe().unwrap();
        let rule = find(&rules, "python/assert-tuple")[0];
        assert!(rule.reads_language("py") && rule.reads_language("Python"));
        assert!(!rule.reads_language("go") && !rule.reads_language("klingon"));
        assert!(Rulebook::knows_language("sh") && !Rulebook::knows_language("klingon"));
    }
}
