//! The rules that follow data in one language: [`FlowRules`], with all shared lists.

use std::collections::{BTreeMap, HashMap};

use super::flow_rule::{FlowLibrary, FlowRule, SourcePattern};
use super::pattern::CallPattern;
use crate::language::Language;

/// The rules of one language, with the patterns of all lists by the names that they match.
#[derive(Debug, Default)]
pub(crate) struct FlowRules {
    pub(crate) rules: Vec<FlowRule>,
    sinks: PatternIndex<usize>,
    sources: PatternIndex<String>,
    sanitizers: PatternIndex<String>,
    validators: PatternIndex<()>,
    propagators: PatternIndex<()>,
    /// The calls after which a rule, by its index, reports nothing.
    unless: PatternIndex<usize>,
    types: PatternIndex<String>,
    /// The kinds of sources by the annotation of a parameter.
    annotations: BTreeMap<String, Vec<String>>,
    /// The kinds of sources by the last name of a decorator.
    decorators: BTreeMap<String, Vec<String>>,
}

/// Patterns by the names that they match, each with a value.
#[derive(Debug)]
pub(super) struct PatternIndex<T> {
    by_name: HashMap<String, Vec<(CallPattern, T)>>,
}

impl<T> Default for PatternIndex<T> {
    fn default() -> PatternIndex<T> {
        PatternIndex { by_name: HashMap::new() }
    }
}

impl<T: Clone> PatternIndex<T> {
    fn add(&mut self, pattern: &CallPattern, value: &T) {
        for name in &pattern.names {
            let list = self.by_name.entry(name.clone()).or_default();
            list.push((pattern.clone(), value.clone()));
        }
    }

    /// Returns the patterns with a name, without those that match all names.
    pub(super) fn by_own_name(&self, name: &str) -> Option<&Vec<(CallPattern, T)>> {
        self.by_name.get(name)
    }

    /// Returns the patterns that can match a name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &(CallPattern, T)> {
        let named = self.by_name.get(name).into_iter().flatten();
        named.chain(self.by_name.get("*").into_iter().flatten())
    }
}

impl FlowRules {
    /// Creates the rules of a language from all rules and libraries.
    pub(crate) fn new(
        language: Language,
        rules: Vec<FlowRule>,
        libraries: &[FlowLibrary],
    ) -> FlowRules {
        let mut own = FlowRules::default();
        for library in libraries.iter().filter(|library| library.languages.contains(&language)) {
            own.add_library(library);
        }
        for (at, rule) in rules.iter().enumerate() {
            own.add_rule(at, rule);
            let lists = libraries.iter().filter(|library| library.languages.contains(&language));
            let shared = lists.flat_map(|library| &library.sinks);
            let shared = shared.filter(|(name, _)| rule.sink_lists.contains(name));
            for pattern in shared.flat_map(|(_, patterns)| patterns) {
                own.sinks.add(pattern, &at);
            }
        }
        own.rules = rules;
        own
    }

    fn add_library(&mut self, library: &FlowLibrary) {
        for (kind, sources) in &library.sources {
            sources.iter().for_each(|source| self.add_source(kind, source));
        }
        for (label, patterns) in &library.sanitizers {
            patterns.iter().for_each(|pattern| self.sanitizers.add(pattern, label));
        }
        library.validators.iter().for_each(|pattern| self.validators.add(pattern, &()));
        library.propagators.iter().for_each(|pattern| self.propagators.add(pattern, &()));
        library.types.iter().for_each(|(pattern, name)| self.types.add(pattern, name));
    }

    fn add_rule(&mut self, at: usize, rule: &FlowRule) {
        let id = &rule.about.id;
        rule.own_sources.iter().for_each(|source| self.add_source(id, source));
        rule.own_sanitizers.iter().for_each(|pattern| self.sanitizers.add(pattern, id));
        rule.own_propagators.iter().for_each(|pattern| self.propagators.add(pattern, &()));
        rule.sinks.iter().for_each(|pattern| self.sinks.add(pattern, &at));
        rule.unless.iter().for_each(|pattern| self.unless.add(pattern, &at));
    }

    fn add_source(&mut self, kind: &String, source: &SourcePattern) {
        let mut add = |names: &[String], decorated: bool| {
            let map = if decorated { &mut self.decorators } else { &mut self.annotations };
            for name in names {
                map.entry(name.clone()).or_default().push(kind.clone());
            }
        };
        match source {
            SourcePattern::Annotated(names) => add(names, false),
            SourcePattern::Decorated(names) => add(names, true),
            SourcePattern::Call(pattern) => self.sources.add(pattern, kind),
        }
    }

    pub(super) fn sinks(&self) -> &PatternIndex<usize> {
        &self.sinks
    }

    pub(super) fn unless(&self) -> &PatternIndex<usize> {
        &self.unless
    }

    pub(super) fn sources(&self) -> &PatternIndex<String> {
        &self.sources
    }

    pub(super) fn sanitizers(&self) -> &PatternIndex<String> {
        &self.sanitizers
    }

    pub(super) fn validators(&self) -> &PatternIndex<()> {
        &self.validators
    }

    pub(super) fn propagators(&self) -> &PatternIndex<()> {
        &self.propagators
    }

    pub(super) fn types(&self) -> &PatternIndex<String> {
        &self.types
    }

    /// Returns true if a function with these decorators answers requests.
    pub(super) fn answers(&self, decorators: &[String]) -> bool {
        let last = |name: &String| name.rsplit('.').next().unwrap_or(name).to_owned();
        decorators.iter().any(|name| self.decorators.contains_key(&last(name)))
    }

    /// Returns the kinds of sources that a parameter is, by its annotations and the decorators of
    /// its function.
    pub(super) fn kinds_of_parameter(
        &self,
        annotations: &[String],
        decorators: &[String],
    ) -> Vec<String> {
        // A framework computes the value of a dependency.
        let is_injected = annotations.iter().any(|name| matches!(&**name, "Depends" | "Security"));
        let decorators = if is_injected { &[] } else { decorators };
        let annotated = annotations.iter().filter_map(|name| self.annotations.get(name));
        let last = |name: &String| name.rsplit('.').next().unwrap_or(name).to_owned();
        let decorated = decorators.iter().filter_map(|name| self.decorators.get(&last(name)));
        annotated.chain(decorated).flatten().cloned().collect()
    }
}
