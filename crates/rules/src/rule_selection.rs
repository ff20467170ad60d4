//! The rules that a review applies: [`RuleSelection`], from the options of a command and from the
//! configuration.
//!
//! Rules are named by ids and globs. The rule against orders to reviewers is always applied, with
//! its own severity: text in a change must not be able to hide from the rule that reports it.

use assay_base::nearest::{did_you_mean, nearest};
use assay_findings::grade::Grade;
use globset::{Glob, GlobMatcher};

use crate::text::injection;

/// The reason why a selection of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleSelectionError {
    /// No rule has the id, or matches the glob.
    #[error(
        "{place}: no rule matches `{pattern}`{suggestion} (`assay rules list` lists all rules)"
    )]
    Unknown {
        /// The option or the key with the pattern.
        place: String,
        /// The id or glob.
        pattern: String,
        /// The nearest ids as a question; empty if there are none.
        suggestion: String,
    },
    /// A glob is invalid.
    #[error("{place}: invalid glob `{pattern}`: {message}")]
    Glob {
        /// The option or the key with the glob.
        place: String,
        /// The glob.
        pattern: String,
        /// The problem.
        message: String,
    },
    /// The rule against orders to reviewers is named.
    #[error(
        "{place}: `{id}` is always applied, with its own severity; accept a single finding into \
         the baseline instead",
        id = injection::ID
    )]
    Fixed {
        /// The option or the key with the rule.
        place: String,
    },
}

/// The setting of some rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleSetting {
    /// The rules are not applied.
    Off,
    /// The rules are applied with this severity.
    Severity(Grade),
}

/// An id of a rule, or a glob for ids such as `secret/*`.
#[derive(Debug, Clone)]
struct RulePattern {
    text: String,
    glob: GlobMatcher,
}

impl RulePattern {
    fn new(place: &str, text: &str) -> Result<RulePattern, RuleSelectionError> {
        let text = text.trim();
        if text == injection::ID {
            return Err(RuleSelectionError::Fixed { place: place.to_owned() });
        }
        let glob = Glob::new(text).map_err(|error| RuleSelectionError::Glob {
            place: place.to_owned(),
            pattern: text.to_owned(),
            message: error.kind().to_string(),
        })?;
        Ok(RulePattern { text: text.to_owned(), glob: glob.compile_matcher() })
    }

    fn all<'t>(
        place: &str,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Vec<RulePattern>, RuleSelectionError> {
        texts.into_iter().map(|text| RulePattern::new(place, text)).collect()
    }

    fn covers(&self, id: &str) -> bool {
        self.text == id || self.glob.is_match(id)
    }

    fn is_exact(&self) -> bool {
        !self.text.contains(['*', '?', '[', '{'])
    }

    /// Fails if no rule has the id, or matches the glob.
    fn check(&self, place: &str, ids: &[String]) -> Result<(), RuleSelectionError> {
        if ids.iter().any(|id| self.covers(id)) {
            return Ok(());
        }
        let names = nearest(&self.text, ids.iter().map(String::as_str));
        Err(RuleSelectionError::Unknown {
            place: place.to_owned(),
            pattern: self.text.clone(),
            suggestion: did_you_mean(&names),
        })
    }
}

/// The patterns of one option or key.
#[derive(Debug, Clone)]
struct PatternGroup {
    place: String,
    patterns: Vec<RulePattern>,
}

impl PatternGroup {
    fn covers(&self, id: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.covers(id))
    }
}

/// The rules that a review applies, and their severities.
#[derive(Debug, Clone, Default)]
pub struct RuleSelection {
    /// Each group that a rule has to match.
    selected: Vec<PatternGroup>,
    ignored: Vec<PatternGroup>,
    /// The settings, those of ids first, then those of longer globs.
    settings: Vec<(String, RulePattern, RuleSetting)>,
    paths: Vec<(GlobMatcher, PatternGroup)>,
}

impl RuleSelection {
    /// Applies only rules that match one of the patterns. `place` is named in errors. Without a
    /// pattern, all rules match.
    pub fn select<'t>(
        &mut self,
        place: &str,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), RuleSelectionError> {
        let texts: Vec<&str> = patterns.into_iter().collect();
        if texts.is_empty() {
            return Ok(());
        }
        // The rule that is always applied may be selected.
        let others = texts.into_iter().filter(|text| text.trim() != injection::ID);
        let patterns = RulePattern::all(place, others)?;
        self.selected.push(PatternGroup { place: place.to_owned(), patterns });
        Ok(())
    }

    /// Leaves out the rules that match one of the patterns.
    pub fn ignore<'t>(
        &mut self,
        place: &str,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), RuleSelectionError> {
        let patterns = RulePattern::all(place, patterns)?;
        self.ignored.push(PatternGroup { place: place.to_owned(), patterns });
        Ok(())
    }

    /// Sets the rules that match a pattern. A setting of an id has precedence over that of a glob,
    /// and a longer glob over a shorter one.
    pub fn set(
        &mut self,
        place: &str,
        pattern: &str,
        setting: RuleSetting,
    ) -> Result<(), RuleSelectionError> {
        let pattern = RulePattern::new(place, pattern)?;
        self.settings.push((place.to_owned(), pattern, setting));
        self.settings.sort_by_key(|(_, pattern, _)| {
            (!pattern.is_exact(), std::cmp::Reverse(pattern.text.len()))
        });
        Ok(())
    }

    /// Leaves out the rules that match one of the patterns, in files that match a glob.
    pub fn ignore_in<'t>(
        &mut self,
        place: &str,
        files: &str,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), RuleSelectionError> {
        let glob = Glob::new(files).map_err(|error| RuleSelectionError::Glob {
            place: place.to_owned(),
            pattern: files.to_owned(),
            message: error.kind().to_string(),
        })?;
        let patterns = RulePattern::all(place, patterns)?;
        let group = PatternGroup { place: place.to_owned(), patterns };
        self.paths.push((glob.compile_matcher(), group));
        Ok(())
    }

    /// Fails if a pattern matches none of the ids.
    pub fn check(&self, ids: &[String]) -> Result<(), RuleSelectionError> {
        let of_paths = self.paths.iter().map(|(_, group)| group);
        for group in self.selected.iter().chain(&self.ignored).chain(of_paths) {
            for pattern in &group.patterns {
                pattern.check(&group.place, ids)?;
            }
        }
        self.settings.iter().try_for_each(|(place, pattern, _)| pattern.check(place, ids))
    }

    /// Returns true if a rule is applied to a file, or, without a file, to any file.
    pub(crate) fn applies(&self, id: &str, file: Option<&str>) -> bool {
        if id == injection::ID {
            return true;
        }
        self.selected.iter().all(|group| group.covers(id))
            && !self.ignored.iter().any(|group| group.covers(id))
            && self.setting(id) != Some(&RuleSetting::Off)
            && !file.is_some_and(|file| self.is_ignored_in(id, file))
    }

    /// Returns the severity that the configuration sets for a rule; `None` for the rule's own.
    pub(crate) fn severity(&self, id: &str) -> Option<&Grade> {
        match self.setting(id)? {
            RuleSetting::Severity(grade) if id != injection::ID => Some(grade),
            RuleSetting::Severity(_) | RuleSetting::Off => None,
        }
    }

    /// Returns true if every rule is applied with its own severity.
    pub(crate) fn is_default(&self) -> bool {
        let no_groups = self.selected.is_empty() && self.ignored.is_empty();
        no_groups && self.settings.is_empty() && self.paths.is_empty()
    }

    /// Returns all settings as text, by which two selections are compared; `None` for the default.
    pub fn as_text(&self) -> Option<String> {
        let texts = |group: &PatternGroup| {
            let texts: Vec<&str> = group.patterns.iter().map(|one| one.text.as_str()).collect();
            texts.join(",")
        };
        let selected = self.selected.iter().map(|group| format!("select {}", texts(group)));
        let ignored = self.ignored.iter().map(|group| format!("ignore {}", texts(group)));
        let settings = self.settings.iter().map(|(_, pattern, setting)| match setting {
            RuleSetting::Off => format!("{} off", pattern.text),
            RuleSetting::Severity(grade) => format!("{} {}", pattern.text, grade.word()),
        });
        let paths =
            self.paths.iter().map(|(files, group)| format!("{} {}", files.glob(), texts(group)));
        let all: Vec<String> = selected.chain(ignored).chain(settings).chain(paths).collect();
        (!self.is_default()).then(|| all.join("\n"))
    }

    fn setting(&self, id: &str) -> Option<&RuleSetting> {
        let mut settings = self.settings.iter();
        settings.find(|(_, pattern, _)| pattern.covers(id)).map(|(.., setting)| setting)
    }

    fn is_ignored_in(&self, id: &str, file: &str) -> bool {
        self.paths.iter().any(|(files, group)| files.is_match(file) && group.covers(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids() -> Vec<String> {
        let ids = ["python/debug-print", "go/debug-print", "secret/leaked", injection::ID];
        ids.map(str::to_owned).to_vec()
    }

    fn applied(selection: &RuleSelection, file: &str) -> Vec<String> {
        ids().into_iter().filter(|id| selection.applies(id, Some(file))).collect()
    }

    #[test]
    fn options_narrow_the_rules_by_ids_and_globs() {
        let mut selection = RuleSelection::default();
        selection.select("`--select`", ["*/debug-print", "secret/*"]).unwrap();
        selection.ignore("`--ignore`", ["go/debug-print"]).unwrap();
        selection.check(&ids()).unwrap();
        assert_eq!(
            applied(&selection, "a.py"),
            ["python/debug-print", "secret/leaked", injection::ID]
        );
    }

    #[test]
    fn the_rule_against_orders_to_reviewers_is_always_applied() {
        let mut selection = RuleSelection::default();
        selection.select("`--select`", ["secret/*"]).unwrap();
        selection.ignore("`--ignore`", ["*"]).unwrap();
        selection.set("`review.rules`", "*", RuleSetting::Off).unwrap();
        selection.set("`review.rules`", "agent-surface/*", severity("LOW")).unwrap();
        selection.ignore_in("`review.rule_paths`", "**", ["*"]).unwrap();
        assert_eq!(applied(&selection, "a.py"), [injection::ID]);
        assert_eq!(selection.severity(injection::ID), None);
        let error = selection.ignore("`--ignore`", [injection::ID]).unwrap_err().to_string();
        assert!(error.contains("is always applied"), "{error}");
        assert!(selection.set("x", injection::ID, RuleSetting::Off).is_err());
    }

    fn severity(word: &str) -> RuleSetting {
        RuleSetting::Severity(Grade::from_word(word))
    }

    #[test]
    fn an_id_has_precedence_over_a_glob_and_a_long_glob_over_a_short_one() {
        let mut selection = RuleSelection::default();
        selection.set("x", "*", RuleSetting::Off).unwrap();
        selection.set("x", "python/debug-print", severity("LOW")).unwrap();
        selection.set("x", "python/debug*", severity("HIGH")).unwrap();
        selection.set("x", "go/*", severity("HIGH")).unwrap();
        let word = |id: &str| selection.severity(id).map(|grade| grade.word().to_owned());
        assert_eq!(word("python/debug-print").as_deref(), Some("LOW"));
        assert_eq!(word("go/debug-print").as_deref(), Some("HIGH"));
        assert!(!selection.applies("secret/leaked", None));
    }

    #[test]
    fn rules_are_left_out_in_some_files() {
        let mut selection = RuleSelection::default();
        selection.ignore_in("x", "tests/**", ["secret/*"]).unwrap();
        assert!(!selection.applies("secret/leaked", Some("tests/a/b.py")));
        assert!(selection.applies("secret/leaked", Some("src/b.py")));
        assert!(selection.applies("secret/leaked", None));
    }

    #[test]
    fn a_pattern_without_a_rule_is_an_error_with_the_nearest_id() {
        let mut selection = RuleSelection::default();
        selection.ignore("`--ignore`", ["pyhton/debug-print"]).unwrap();
        assert_eq!(
            selection.check(&ids()).unwrap_err().to_string(),
            "`--ignore`: no rule matches `pyhton/debug-print`; did you mean `python/debug-print`? \
             (`assay rules list` lists all rules)"
        );
        let error = selection.select("`--select`", ["{a"]).unwrap_err().to_string();
        assert!(error.starts_with("`--select`: invalid glob `{a`: "), "{error}");
    }
}
