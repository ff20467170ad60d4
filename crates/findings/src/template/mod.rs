//! Templates of findings: [`FindingTemplate`] gives all findings of one kind of defect the same
//! title, explanation, form of a fix and link, for every reviewer.
//!
//! A template changes no other field of a finding: the reviewer's title, evidence and place, the
//! identity and the dismissals stay. A finding is recognised by the rules of its votes, else by
//! CWE ids in their texts, else by their categories, else by the words of their titles. If two
//! templates match in the same way, the finding gets neither. The files of templates are read by
//! `review::templates`.

mod claim_pattern;
mod rule_pattern;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::claim_pattern::{SubjectWords, TokenizedClaim};

pub use self::claim_pattern::ClaimPattern;
pub use self::rule_pattern::RulePattern;

/// The maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 80;

/// The maximum number of characters of an explanation, and of a fix.
const MAX_TEXT_CHARS: usize = 1_000;

/// The texts that all findings of one kind share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateText {
    /// The name of the template.
    pub name: String,
    /// The title of the kind.
    pub title: String,
    /// The defect and its effect, for all findings of the kind.
    pub explanation: String,
    /// The form of a fix.
    pub fix: String,
    /// The address of a page about the kind; null if there is none.
    #[serde(default)]
    pub link: Option<String>,
}

/// A kind of defect, with the texts that its findings share and the ways to recognise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingTemplate {
    /// The name, such as `sql-injection`.
    pub name: String,
    /// The title of the kind.
    pub title: String,
    /// The defect and its effect.
    pub explanation: String,
    /// The form of a fix.
    pub fix: String,
    /// The address of a page about the kind; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The ways to recognise a finding of the kind.
    #[serde(rename = "match")]
    pub criteria: MatchCriteria,
    /// Claims that show which findings the template matches.
    #[serde(default)]
    pub examples: TemplateExamples,
}

/// The ways to recognise a finding: one of them is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchCriteria {
    /// The rules and the codes of analysers, such as `*/sql-injection` and `bandit/B608`.
    pub rules: Vec<RulePattern>,
    /// The numbers of weaknesses in the Common Weakness Enumeration.
    pub cwe: Vec<u32>,
    /// The categories, in lower case with hyphens.
    pub categories: Vec<String>,
    /// The words of a title.
    pub claims: Vec<ClaimPattern>,
}

/// Titles that show which findings a template matches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TemplateExamples {
    /// Titles of findings of the kind.
    #[serde(rename = "match")]
    pub matching: Vec<String>,
    /// Titles of other findings.
    pub other: Vec<String>,
}

/// The way by which a finding was recognised, the most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchMethod {
    /// The rule of a vote.
    Rule,
    /// A CWE id in the text of a vote.
    Cwe,
    /// The category of a vote.
    Category,
    /// The words of the title of a vote.
    Claim,
}

impl MatchMethod {
    const ALL: [MatchMethod; 4] =
        [MatchMethod::Rule, MatchMethod::Cwe, MatchMethod::Category, MatchMethod::Claim];

    /// Returns the method in a word or two.
    pub fn as_str(self) -> &'static str {
        match self {
            MatchMethod::Rule => "rule",
            MatchMethod::Cwe => "CWE id",
            MatchMethod::Category => "category",
            MatchMethod::Claim => "words of the title",
        }
    }
}

impl FindingTemplate {
    /// Returns the texts that findings of the kind share.
    pub fn text(&self) -> TemplateText {
        TemplateText {
            name: self.name.clone(),
            title: self.title.clone(),
            explanation: self.explanation.clone(),
            fix: self.fix.clone(),
            link: self.link.clone(),
        }
    }

    /// Returns the fault of the template; `None` if it can be used.
    pub fn fault(&self) -> Option<String> {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let MatchCriteria { rules, cwe, categories, claims } = &self.criteria;
        let is_link = |link: &String| {
            let is_web = link.starts_with("https://") || link.starts_with("http://");
            is_web
                && !link
                    .contains(|c: char| c.is_whitespace() || c.is_control() || "<>`\"'".contains(c))
        };
        if self.name.is_empty() || !self.name.chars().all(is_name) {
            return Some(format!(
                "invalid name `{}`: expected lower-case letters, digits and hyphens",
                self.name
            ));
        }
        let texts = [
            ("title", &self.title, MAX_TITLE_CHARS),
            ("explanation", &self.explanation, MAX_TEXT_CHARS),
            ("fix", &self.fix, MAX_TEXT_CHARS),
        ];
        let wrong = texts
            .iter()
            .find(|(_, text, most)| text.trim().is_empty() || text.chars().count() > *most);
        if let Some((key, _, most)) = wrong {
            return Some(format!("`{key}` must have 1 to {most} characters"));
        }
        if self.link.as_ref().is_some_and(|link| !is_link(link)) {
            return Some("`link` must be an address that begins with `https://`".to_owned());
        }
        let has_criteria =
            !(rules.is_empty() && cwe.is_empty() && categories.is_empty() && claims.is_empty());
        (!has_criteria).then(|| {
            "`match` must have at least one of `rules`, `cwe`, `categories` and `claims`".to_owned()
        })
    }
}

/// The facts of a finding by which a template is chosen.
#[derive(Debug, Clone, Default)]
pub struct ClaimFacts<'a> {
    /// The rules of the votes.
    pub rules: Vec<&'a str>,
    /// The categories of the votes.
    pub categories: Vec<&'a str>,
    /// The titles of the votes.
    pub titles: Vec<&'a str>,
    /// All texts of the votes that may contain a CWE id.
    pub texts: Vec<&'a str>,
}

impl<'a> ClaimFacts<'a> {
    /// Returns the facts of a title alone.
    pub fn of_title(title: &'a str) -> ClaimFacts<'a> {
        ClaimFacts { titles: vec![title], texts: vec![title], ..ClaimFacts::default() }
    }

    /// Returns the CWE ids in the texts.
    fn cwe_ids(&self) -> BTreeSet<u32> {
        self.texts.iter().flat_map(|text| cwe_ids(text)).collect()
    }
}

/// Returns the numbers of all `CWE-89` in a text.
fn cwe_ids(text: &str) -> impl Iterator<Item = u32> {
    let bytes = text.as_bytes();
    let starts = bytes.windows(4).enumerate();
    let starts = starts.filter(|(_, word)| word.eq_ignore_ascii_case(b"cwe-"));
    starts.filter_map(|(at, _)| {
        let digits = bytes[at + 4..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        text.get(at + 4..at + 4 + digits)?.parse().ok()
    })
}

/// A finding in the form in which templates compare it.
struct ComparedFacts<'a> {
    rules: &'a [&'a str],
    cwe: BTreeSet<u32>,
    categories: Vec<String>,
    claims: Vec<TokenizedClaim>,
}

/// Returns a category as templates spell it.
fn fold_category(category: &str) -> String {
    category.trim().to_lowercase().replace(['_', ' '], "-")
}

/// A template with the words that it ignores claims for.
#[derive(Debug, Clone)]
struct PreparedTemplate {
    template: FindingTemplate,
    subjects: SubjectWords,
    is_own: bool,
}

impl PreparedTemplate {
    fn new(template: FindingTemplate, is_own: bool) -> PreparedTemplate {
        let subjects = SubjectWords::of(&template.criteria.claims);
        PreparedTemplate { template, subjects, is_own }
    }

    fn matches(&self, facts: &ComparedFacts<'_>, method: MatchMethod) -> bool {
        let MatchCriteria { rules, cwe, categories, claims } = &self.template.criteria;
        let is_rule = |rule: &&str| rules.iter().any(|pattern| pattern.matches(rule));
        let is_claim = |claim: &TokenizedClaim| {
            claims.iter().any(|pattern| pattern.matches(claim, &self.subjects))
        };
        match method {
            MatchMethod::Rule => facts.rules.iter().any(is_rule),
            MatchMethod::Cwe => cwe.iter().any(|number| facts.cwe.contains(number)),
            MatchMethod::Category => facts.categories.iter().any(|one| categories.contains(one)),
            MatchMethod::Claim => facts.claims.iter().any(is_claim),
        }
    }
}

/// All templates of a review: the built-in ones, and those of a repository.
#[derive(Debug, Clone, Default)]
pub struct TemplateSet {
    /// The templates of the repository first, then by name.
    templates: Vec<PreparedTemplate>,
}

impl TemplateSet {
    /// Creates a set. A template of the repository replaces the built-in one of its name.
    pub fn new(
        builtin: impl IntoIterator<Item = FindingTemplate>,
        own: impl IntoIterator<Item = FindingTemplate>,
    ) -> TemplateSet {
        let own: Vec<FindingTemplate> = own.into_iter().collect();
        let is_replaced =
            |template: &FindingTemplate| own.iter().any(|one| one.name == template.name);
        let builtin: Vec<FindingTemplate> =
            builtin.into_iter().filter(|template| !is_replaced(template)).collect();
        let own = own.into_iter().map(|template| PreparedTemplate::new(template, true));
        let builtin = builtin.into_iter().map(|template| PreparedTemplate::new(template, false));
        let mut templates: Vec<PreparedTemplate> = own.chain(builtin).collect();
        templates.sort_by(|a, b| {
            b.is_own.cmp(&a.is_own).then_with(|| a.template.name.cmp(&b.template.name))
        });
        TemplateSet { templates }
    }

    /// Returns the templates, those of the repository first; true marks one of the repository.
    pub fn iter(&self) -> impl Iterator<Item = (&FindingTemplate, bool)> {
        self.templates.iter().map(|prepared| (&prepared.template, prepared.is_own))
    }

    /// Returns the templates of the repository.
    pub fn own(&self) -> impl Iterator<Item = &FindingTemplate> {
        self.iter().filter(|(_, is_own)| *is_own).map(|(template, _)| template)
    }

    /// Returns the template of a finding, and the way by which it was recognised; `None` if no
    /// template matches, or if two match in the same way. A template of the repository precedes
    /// a built-in one.
    pub fn recognise(&self, facts: &ClaimFacts<'_>) -> Option<(&FindingTemplate, MatchMethod)> {
        let compared = ComparedFacts {
            rules: &facts.rules,
            cwe: facts.cwe_ids(),
            categories: facts.categories.iter().map(|category| fold_category(category)).collect(),
            claims: facts.titles.iter().map(|title| TokenizedClaim::new(title)).collect(),
        };
        for method in MatchMethod::ALL {
            for is_own in [true, false] {
                let group = self.templates.iter().filter(|prepared| prepared.is_own == is_own);
                let mut matching = group.filter(|prepared| prepared.matches(&compared, method));
                let Some(first) = matching.next() else { continue };
                return matching.next().is_none().then_some((&first.template, method));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
