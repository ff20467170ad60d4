//! The built-in reviewer: [`Rulebook::review`] applies every rule to the lines that a change adds.
//!
//! No rule reports anything on lines that the change did not touch.
//!
//! - `rule`, `rule_file`, `rulebook`, `builtin`: one rule; the rules of a YAML file; all rules by
//!   language, read when the language is first needed; the list of built-in rules. `examples`: the
//!   examples of a rule, which are its test. `rule_description`: the description of each rule for
//!   users. `rule_selection`: the rules that a review applies.
//! - `syntax`, `node_kinds`, `tree_facts`, `scan`: the syntax tree of a file, the meaning of its
//!   kinds of node, the facts of one walk over the touched part, and the structural rules, matched
//!   on that walk. `tree_rules`: structural rules and `flow`, joined to one finding for each defect.
//! - `embedded_code`: code inside of files of another format, such as components and notebooks.
//! - `flow`: rules that follow data from its source to a sink, within functions and across calls.
//! - `text`: rules on text, for conflict markers, credentials and orders to reviewers.
//!   `change_checks`: checks of the change as a whole. `suppression`: comments that suppress a
//!   finding.
//! - `credentials`: the only detector for credentials. Its results are reported, and [`redact`]
//!   removes the same results from every text that is shown, sent or stored. [`without_injections`]
//!   removes orders to reviewers.
//! - `behaviours`: steps of changed functions that deserve a scenario and trigger personas.
//! - `symbol_tree`, `definitions`, `calls`, `references`, `conditions`, `reachability`, `test_functions`:
//!   facts of a syntax tree for other crates, such as the symbol around a line ([`SymbolTree`]),
//!   the names that a file defines, the code that a run reaches, and the tests that a runner
//!   collects.
//!
//! This is the only crate that links grammars.

mod behaviours;
mod builtin;
mod calls;
mod change_checks;
mod code_lines;
mod conditions;
mod credentials;
mod definitions;
mod documentation;
mod embedded_code;
pub mod examples;
mod executable_lines;
mod flow;
mod foreign_code;
mod language;
mod name_search;
mod node_kinds;
mod reachability;
mod references;
mod review;
mod rule;
mod rule_description;
mod rule_file;
mod rule_match;
mod rule_selection;
mod rule_text;
mod rule_timer;
mod rulebook;
mod scan;
mod source_files;
mod suppression;
mod symbol_tree;
mod syntax;
mod test_functions;
mod text;
mod tree_facts;
mod tree_rules;

pub use behaviours::{Behaviour, behaviours};
pub use calls::calls;
pub use code_lines::{CodeLines, has_code_lines, is_program};
pub use credentials::{
    KnownCredentials, RedactedTree, Redaction, redact, redact_lines, redact_text,
};
pub use definitions::{DefinitionKind, SymbolDefinition, definitions};
pub use documentation::{SourceLines, find_undocumented, needs_documentation};
pub use executable_lines::executable_lines;
pub use language::{is_test, language_name};
pub use name_search::{NameMatch, NameSearch, NamedDefinition, asserts_on, is_word};
pub use reachability::Reach;
pub use references::{Reference, references};
pub use review::{REVIEWER, RulesResult, reads_text_only};
pub use rule::RuleError;
pub use rule_description::{RuleDescription, RuleFix, RuleKind};
pub use rule_file::RuleDefinition;
pub use rule_selection::{RuleSelection, RuleSelectionError, RuleSetting};
pub use rulebook::Rulebook;
pub use symbol_tree::SymbolTree;
pub use syntax::{GrammarCheck, parses_as_well};
pub use test_functions::{TestEffect, TestFunction, test_functions};
pub use text::injection::{
    ID as INJECTION_RULE, Injection, WITHHELD_LINE, find_injection_in_name, find_injections,
    find_injections_in_file, without_injections, without_injections_in_file,
};
