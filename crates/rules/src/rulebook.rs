//! All rules: [`Rulebook`], by language, compiled when a language first occurs.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use ast_grep_core::Matcher;

use crate::builtin;
use crate::change_checks;
use crate::flow::{FlowRule, FlowRules};
use crate::language::{self, Language};
use crate::rule::{Rule, RuleError};
use crate::rule_file::{RuleDefinition, RuleEntry, RuleFile};
use crate::rule_selection::{RuleSelection, RuleSelectionError};
use crate::suppression;
use crate::text;

/// The built-in rules and those of a repository.
#[derive(Debug)]
pub struct Rulebook {
    by_language: HashMap<Language, OnceLock<LanguageRules>>,
    repository: Vec<(String, String)>,
    selection: RuleSelection,
    ids: OnceLock<Vec<String>>,
}

/// The rules of one language, indexed by the node kinds that they can match.
#[derive(Debug)]
pub(crate) struct LanguageRules {
    pub(crate) rules: Vec<Rule>,
    /// The rules that follow data.
    pub(crate) flow: FlowRules,
    /// The ids of structural rules that the repository switches off. Their matches decide which
    /// matches of rules on data are dropped.
    off: HashSet<String>,
    by_kind: Vec<Vec<usize>>,
}

impl Rulebook {
    /// Returns the built-in rules alone.
    pub fn builtin() -> Rulebook {
        Rulebook::new(Vec::new())
    }

    /// Adds the rules of a repository, each with the name of its file. A rule with the id of a
    /// built-in rule replaces it.
    pub fn with_repository_rules(
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Rulebook, RuleError> {
        let repository: Vec<(String, String)> = files.into_iter().collect();
        for (name, yaml) in &repository {
            RuleFile::read(name, yaml)?;
        }
        Ok(Rulebook::new(repository))
    }

    fn new(repository: Vec<(String, String)>) -> Rulebook {
        let (selection, ids) = (RuleSelection::default(), OnceLock::new());
        Rulebook { by_language: empty_cache(), repository, selection, ids }
    }

    /// Limits the rules to a selection. Fails if the selection names an unknown rule.
    pub fn with_selection(self, selection: RuleSelection) -> Result<Rulebook, RuleSelectionError> {
        selection.check(self.ids())?;
        Ok(Rulebook { selection, ..self })
    }

    /// Returns the rules that are applied.
    pub fn selection(&self) -> &RuleSelection {
        &self.selection
    }

    /// Returns the ids of all rules, without repetition, applied or not.
    pub fn ids(&self) -> &[String] {
        self.ids.get_or_init(|| self.collect_ids())
    }

    fn collect_ids(&self) -> Vec<String> {
        let of_text = text::RULES.iter().map(|rule| rule.rule_text);
        let in_code = of_text.chain(suppression::RULE_TEXTS).chain(change_checks::rule_texts());
        let in_code = in_code.map(|text| text.id.to_owned());
        let built_in = builtin::RULES.iter().map(|(name, _)| (*name).to_owned());
        let entries = self.repository_files().flat_map(|(name, yaml)| {
            RuleEntry::read(name, yaml).expect("every rule was read once before")
        });
        let own = entries.map(RuleEntry::into_id);
        let mut seen = HashSet::new();
        let all = in_code.chain(built_in).chain(own);
        all.filter(|id| seen.insert(id.clone())).collect()
    }

    /// Returns the ids of the rules that the selection leaves out, in all files or in one of some
    /// files.
    pub fn not_applied<'f>(&self, files: impl IntoIterator<Item = &'f str>) -> Vec<&str> {
        if self.selection.is_default() {
            return Vec::new();
        }
        let files: Vec<&str> = files.into_iter().collect();
        let is_left_out = |id: &&str| {
            let in_files = || files.iter().any(|file| !self.selection.applies(id, Some(file)));
            !self.selection.applies(id, None) || in_files()
        };
        self.ids().iter().map(String::as_str).filter(is_left_out).collect()
    }

    /// Returns the files of all rules, each with its name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        builtin::RULES.iter().copied().chain(self.repository_files())
    }

    /// Returns the rule files of the repository, each with its name.
    pub(crate) fn repository_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.repository.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Returns the built-in definition of a rule; `None` if no built-in rule file has the rule.
    pub fn builtin_definition(id: &str) -> Option<RuleDefinition> {
        builtin::RULES.iter().find_map(|(file, yaml)| RuleDefinition::find(file, yaml, id))
    }

    /// Returns the definition of a rule by the repository; `None` if it does not define the rule.
    /// The last definition is the one that is used.
    pub fn repository_definition(&self, id: &str) -> Option<RuleDefinition> {
        let mut files = self.repository.iter().rev();
        files.find_map(|(file, yaml)| RuleDefinition::find(file, yaml, id))
    }

    /// Returns the rules of a language.
    pub(crate) fn rules(&self, language: Language) -> &LanguageRules {
        let shelf = self.by_language.get(&language).expect("there is a shelf for every grammar");
        shelf.get_or_init(|| {
            let builtin = builtin::for_language(language);
            let builtin = builtin.map(|(name, yaml)| (name.to_owned(), yaml));
            let mut rules: Vec<Rule> = Vec::new();
            let mut flow_rules: Vec<FlowRule> = Vec::new();
            let mut off: HashSet<String> = HashSet::new();
            let mut libraries = builtin::libraries(language);
            for (name, yaml) in builtin.chain(self.repository.iter().cloned()) {
                let read = RuleFile::read_for(&name, &yaml, |wanted| wanted == language)
                    .expect("every rule was read once before");
                flow_rules.retain(|rule| !read.off.contains(&rule.about.id));
                off.extend(read.off);
                libraries.extend(read.libraries);
                for rule in read.rules {
                    off.remove(&rule.about.id);
                    rules.retain(|other| other.about.id != rule.about.id);
                    flow_rules.retain(|other| other.about.id != rule.about.id);
                    rules.push(rule);
                }
                for rule in read.flow_rules {
                    off.remove(&rule.about.id);
                    rules.retain(|other| other.about.id != rule.about.id);
                    flow_rules.retain(|other| other.about.id != rule.about.id);
                    flow_rules.push(rule);
                }
            }
            let flow = FlowRules::new(language, flow_rules, &libraries);
            rules.retain(|rule| !off.contains(&rule.about.id) || flow.covers(&rule.about.id));
            LanguageRules { off, ..LanguageRules::new(rules, flow) }
        })
    }
}

fn empty_cache() -> HashMap<Language, OnceLock<LanguageRules>> {
    language::WITH_GRAMMAR.iter().map(|language| (*language, OnceLock::new())).collect()
}

impl LanguageRules {
    pub(crate) fn new(rules: Vec<Rule>, flow: FlowRules) -> LanguageRules {
        let mut by_kind: Vec<Vec<usize>> = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            let kinds = rule.config.matcher.potential_kinds();
            for kind in kinds.iter().flatten() {
                if by_kind.len() <= kind {
                    by_kind.resize_with(kind + 1, Vec::new);
                }
                by_kind[kind].push(at);
            }
        }
        LanguageRules { rules, flow, off: HashSet::new(), by_kind }
    }

    /// Returns true if the repository switches a structural rule off.
    pub(crate) fn is_off(&self, id: &str) -> bool {
        self.off.contains(id)
    }

    /// Returns the indices of the rules that can match a node of a kind.
    pub(crate) fn of_kind(&self, kind: u16) -> &[usize] {
        self.by_kind.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }
}
