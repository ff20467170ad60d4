//! The examples of a rule, which are its test: code that it must find and code that it must not, in
//! the format of ast-grep.

use assay_findings::path::RepoPath;
use assay_findings::vote::Replacement;
use serde::Deserialize;

use crate::builtin;
use crate::flow::{FlowRules, FollowedFile, follow};
use crate::language::Language;
use crate::rule::RuleError;
use crate::rule_file::RuleFile;
use crate::rulebook::LanguageRules;
use crate::scan::scan;
use crate::syntax::{LineSet, Syntax};

/// The examples of one rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Examples {
    /// The id of the rule.
    pub(crate) id: String,
    /// The path of the file with the code, for rules that are limited to some files.
    path: Option<String>,
    /// Code in which the rule finds nothing.
    #[serde(default)]
    pub(crate) valid: Vec<String>,
    /// Code in which the rule finds something.
    #[serde(default)]
    pub(crate) invalid: Vec<String>,
    /// The results of the rule's rewrite for the first entries of `invalid`, in order.
    #[serde(default)]
    fixed: Vec<String>,
}

/// The number of examples that a rule was checked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExampleCounts {
    /// Examples in which the rule has to find something.
    pub invalid: usize,
    /// Examples in which the rule has to find nothing.
    pub valid: usize,
}

/// Checks a rule with its examples, in each of its languages. Both are YAML; `name` is that of the
/// rule's file.
pub fn check_examples(
    name: &str,
    rule_text: &str,
    examples: &str,
) -> Result<ExampleCounts, RuleError> {
    let fail = |message: String| RuleError { name: name.to_owned(), message };
    let examples = Examples::parse(examples).map_err(fail)?;
    let held = ExampleCounts { invalid: examples.invalid.len(), valid: examples.valid.len() };
    let file = RuleFile::read(name, rule_text)?;
    for rule in file.flow_rules {
        let language = rule.language;
        if rule.about.id != examples.id {
            return Err(fail(format!("the examples belong to the rule `{}`", examples.id)));
        }
        let mut libraries = builtin::libraries(language);
        libraries.extend(RuleFile::read(name, rule_text)?.libraries);
        let flow = FlowRules::new(language, vec![rule], &libraries);
        let rules = LanguageRules::new(Vec::new(), flow);
        examples
            .check_examples(&rules, language)
            .map_err(|why| fail(format!("{language}: {why}")))?;
    }
    for rule in file.rules {
        let language = rule.language;
        if rule.about.id != examples.id {
            return Err(fail(format!("the examples belong to the rule `{}`", examples.id)));
        }
        let rules = LanguageRules::new(vec![rule], FlowRules::default());
        examples
            .check_examples(&rules, language)
            .map_err(|why| fail(format!("{language}: {why}")))?;
    }
    Ok(held)
}

impl Examples {
    /// Parses a file of examples.
    pub(crate) fn parse(yaml: &str) -> Result<Examples, String> {
        ast_grep_config::from_str(yaml).map_err(|error| format!("examples: {error}"))
    }

    fn check_examples(&self, rules: &LanguageRules, language: Language) -> Result<(), String> {
        let path = self.path.as_deref().unwrap_or("src/example");
        let applies = rules.rules.iter().all(|rule| rule.scope.applies_to(path))
            && rules.flow.rules.iter().all(|rule| rule.scope.applies_to(path));
        if self.path.is_some() && !applies {
            return Err(format!("the rule does not apply to the path `{path}` of its examples"));
        }
        for code in &self.valid {
            if !hits(rules, language, code)?.is_empty() {
                return Err(format!("the rule has a finding in valid code:\n{code}"));
            }
        }
        for (at, code) in self.invalid.iter().enumerate() {
            let found = hits(rules, language, code)?;
            if found.is_empty() {
                return Err(format!("the rule has no finding in invalid code:\n{code}"));
            }
            if let Some(fixed) = self.fixed.get(at) {
                check_rewrite(language, code, fixed, &found)?;
            }
        }
        Ok(())
    }
}

/// Returns the rewrite at each match of the rule.
fn hits(
    rules: &LanguageRules,
    language: Language,
    code: &str,
) -> Result<Vec<Option<Replacement>>, String> {
    let syntax = Syntax::parse(language, code).ok_or("cannot parse an example")?;
    if syntax.errors() > 0 {
        return Err(format!("an example has a syntax error:\n{code}"));
    }
    let touched = LineSet::all();
    let concerned = vec![true; rules.rules.len()];
    let (found, _) = scan("an example", &syntax, code, rules, &concerned, &touched);
    let path = RepoPath::exact("src/example").map_err(|error| error.to_string())?;
    let before = || Ok(None);
    let file = FollowedFile {
        path: &path,
        text: code,
        syntax: &syntax,
        touched: &touched,
        changed: &touched,
        before: &before,
    };
    let concerned = vec![true; rules.flow.rules.len()];
    let followed = follow(&file, &rules.flow, &concerned, &|_, _| Ok(None));
    let found = found.into_iter().map(|(_, hit)| hit.replacement);
    Ok(found.chain(followed.matches.into_iter().map(|(_, hit)| hit.replacement)).collect())
}

fn check_rewrite(
    language: Language,
    code: &str,
    fixed: &str,
    found: &[Option<Replacement>],
) -> Result<(), String> {
    let mut lines: Vec<String> = code.split_inclusive('\n').map(str::to_owned).collect();
    for replacement in found.iter().flatten().rev() {
        let range = replacement.start_line() as usize - 1..replacement.end_line() as usize;
        lines.splice(range, [replacement.text().to_owned()]);
    }
    let result = lines.concat();
    if result.trim_end() != fixed.trim_end() {
        return Err(format!("the rewrite produces:\n{result}\nexpected:\n{fixed}"));
    }
    match Syntax::parse(language, &result) {
        Some(syntax) if syntax.errors() == 0 => Ok(()),
        _ => Err(format!("the rewrite does not parse:\n{result}")),
    }
}
