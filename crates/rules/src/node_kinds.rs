//! The meaning of node kinds in each language: [`NodeKinds`], computed once and looked up by
//! number.

use std::collections::HashMap;
use std::sync::LazyLock;

use ast_grep_core::tree_sitter::LanguageExt;

use crate::language::{Language, WITH_GRAMMAR};

/// The meanings of the node kinds of one language, by their numbers.
pub(crate) struct NodeKinds(Vec<u8>);

const COMMENT: u8 = 1;
const NAMED: u8 = 2;
const FUNCTION: u8 = 4;
const BRANCH: u8 = 8;
const SCOPE: u8 = 16;

static KINDS: LazyLock<HashMap<Language, NodeKinds>> = LazyLock::new(|| {
    WITH_GRAMMAR.iter().map(|language| (*language, NodeKinds::new(*language))).collect()
});

impl NodeKinds {
    /// Returns the kinds of a language.
    pub(crate) fn of(language: Language) -> &'static NodeKinds {
        KINDS.get(&language).expect("every language with a grammar is there")
    }

    fn new(language: Language) -> NodeKinds {
        let grammar = language.get_ts_language();
        let kinds = (0..grammar.node_kind_count() as u16).map(|id| {
            match grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id)) {
                Some(kind) => meaning(kind),
                None => 0,
            }
        });
        NodeKinds(kinds.collect())
    }

    fn has(&self, kind: u16, meaning: u8) -> bool {
        self.0.get(usize::from(kind)).is_some_and(|known| known & meaning != 0)
    }

    /// Returns true if a kind has any meaning here.
    pub(crate) fn has_meaning(&self, kind: u16) -> bool {
        self.has(kind, u8::MAX)
    }

    pub(crate) fn is_comment(&self, kind: u16) -> bool {
        self.has(kind, COMMENT)
    }

    /// Returns true for a named definition: a function, a type, a module.
    pub(crate) fn is_named(&self, kind: u16) -> bool {
        self.has(kind, NAMED)
    }

    /// Returns true for a named function.
    pub(crate) fn is_function(&self, kind: u16) -> bool {
        self.has(kind, FUNCTION)
    }

    /// Returns true for a node that opens another level: a branch or a loop.
    pub(crate) fn is_branch(&self, kind: u16) -> bool {
        self.has(kind, BRANCH)
    }

    /// Returns true for a node in which levels are counted from zero: a function, named or not.
    pub(crate) fn is_scope(&self, kind: u16) -> bool {
        self.has(kind, SCOPE)
    }
}

/// Returns the meaning of a kind, by its names in the grammars.
fn meaning(kind: &str) -> u8 {
    let mut meaning = 0;
    if kind.contains("comment") {
        meaning |= COMMENT;
    }
    let is_named = matches!(
        kind,
        // Rust
        "function_item" | "struct_item" | "enum_item" | "union_item" | "trait_item" | "mod_item"
        | "macro_definition" | "function_signature_item" | "impl_item"
        // Python, JavaScript, TypeScript, Go, Java, PHP, shell
        | "function_definition" | "class_definition" | "function_declaration"
        | "generator_function_declaration" | "class_declaration" | "abstract_class_declaration"
        | "method_definition" | "interface_declaration" | "enum_declaration" | "internal_module"
        | "type_alias_declaration" | "method_declaration" | "type_spec"
        | "constructor_declaration" | "record_declaration" | "trait_declaration"
        | "variable_declarator"
        // C, C++
        | "struct_specifier" | "class_specifier" | "namespace_definition" | "enum_specifier"
        // C#, Kotlin, Swift
        | "struct_declaration" | "object_declaration" | "protocol_declaration"
        | "local_function_statement"
        // Ruby
        | "method" | "singleton_method" | "class" | "module"
    );
    if is_named {
        meaning |= NAMED;
        let is_function = ["function", "method", "constructor"].iter().any(|k| kind.contains(k));
        meaning |= if is_function { FUNCTION } else { 0 };
    }
    let scopes = ["function", "method", "lambda", "closure"];
    if scopes.iter().any(|scope| kind.contains(scope)) {
        meaning |= SCOPE;
    }
    let is_branch = matches!(
        kind,
        "if_statement"
            | "if_expression"
            | "for_statement"
            | "for_expression"
            | "for_in_statement"
            | "enhanced_for_statement"
            | "foreach_statement"
            | "while_statement"
            | "while_expression"
            | "loop_expression"
            | "do_statement"
            | "switch_statement"
            | "switch_expression"
            | "match_expression"
            | "match_statement"
            | "try_statement"
            | "with_statement"
            | "select_statement"
            | "expression_switch_statement"
            | "when_expression"
            | "do_while_statement"
            | "repeat_while_statement"
            | "if"
            | "unless"
            | "while"
            | "until"
            | "for"
            | "case"
    );
    if is_branch {
        meaning |= BRANCH;
    }
    meaning
}
