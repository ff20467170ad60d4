//! Definitions in code: [`definitions`] finds functions, types and values in a syntax tree.

use std::collections::HashMap;
use std::ops::Range;

use crate::language::{self, CodeContainer, Language};
use crate::reachability::{Flow, Reach, ScopeKind, walk};
use crate::syntax::{Syntax, SyntaxNode, unmarked_name};

/// A name that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolDefinition {
    /// The unqualified name: `sell` of `Shop::sell`.
    pub name: String,
    /// The line of the name, from 1.
    pub line: u32,
    /// The kind of the definition.
    pub kind: DefinitionKind,
    /// True if the name is a variable inside of a function.
    pub is_local: bool,
    /// The reach of the definition: whether a run reaches it and the name stays defined.
    pub reach: Reach,
}

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A function or a method, or a variable that holds one.
    Function,
    /// A type, with the keyword of its language: `struct`, `class`, `enum`.
    Type(&'static str),
    /// A constant or a variable.
    Value,
    /// A module or a namespace.
    Module,
    /// A macro of Rust.
    Macro,
}

/// Returns the names that a file defines, in order; `None` if no grammar can parse its code.
pub fn definitions(path: &str, text: &str) -> Option<Vec<SymbolDefinition>> {
    let is_data =
        matches!(language::of(path, text)?, Language::Yaml | Language::Json | Language::Hcl);
    if is_data || CodeContainer::of(path) == Some(CodeContainer::Dockerfile) {
        return None;
    }
    let syntax = Syntax::of(path, text)?;
    let (mut found, mut uses) = (Vec::new(), NameUses::default());
    let is_assertion = |_: &SyntaxNode<'_>| false;
    walk(&syntax, &is_assertion, &mut |node, flow| {
        let names = defined_names(node).into_iter();
        found.extend(names.map(|definition| Candidate::new(definition, node, flow)));
        uses.record(node, flow);
    });
    let reaches: Vec<Reach> = found.iter().map(|one| uses.reach(one, &found)).collect();
    let mut found: Vec<SymbolDefinition> = found
        .into_iter()
        .zip(reaches)
        .map(|(one, reach)| SymbolDefinition { reach, ..one.definition })
        .collect();
    found.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    found.dedup();
    Some(found)
}

/// A definition with its place in the flow of its file.
struct Candidate {
    definition: SymbolDefinition,
    range: Range<usize>,
    flow: Flow,
    /// True if only a mention of the name reaches the definition.
    is_by_name: bool,
    /// True if the definition assigns a literal value.
    is_literal: bool,
}

impl Candidate {
    fn new(definition: SymbolDefinition, node: &SyntaxNode<'_>, flow: &Flow) -> Candidate {
        let is_decorated =
            node.parent().is_some_and(|parent| &*parent.kind() == "decorated_definition");
        let is_declared = matches!(
            &*node.kind(),
            "function_item"
                | "function_definition"
                | "function_declaration"
                | "class_definition"
                | "generator_function_declaration"
                | "class_declaration"
                | "struct_item"
        );
        let is_attributed = flow.attributes.iter().any(|attribute| attribute.contains("test"));
        let value = node.field("value").or_else(|| node.field("right"));
        Candidate {
            definition,
            range: node.range(),
            flow: flow.clone(),
            is_by_name: is_declared && !is_decorated && !is_attributed,
            is_literal: value.is_some_and(|value| is_literal(&value)),
        }
    }
}

fn is_literal(node: &SyntaxNode<'_>) -> bool {
    matches!(
        &*node.kind(),
        "none"
            | "null"
            | "nil"
            | "undefined"
            | "true"
            | "false"
            | "integer"
            | "float"
            | "number"
            | "string"
    )
}

/// The places of a file that mention names or remove them.
#[derive(Default)]
struct NameUses {
    mentions: HashMap<String, Vec<usize>>,
    /// The removals of names: the id of the scope, the name, and the position.
    removed: Vec<(usize, String, usize)>,
}

impl NameUses {
    fn record(&mut self, node: &SyntaxNode<'_>, flow: &Flow) {
        let kind = node.kind().into_owned();
        if matches!(
            kind.as_str(),
            "identifier" | "type_identifier" | "shorthand_property_identifier"
        ) {
            self.mentions.entry(node.text().into_owned()).or_default().push(node.range().start);
        }
        if matches!(flow.reach, Reach::Never(_)) {
            return;
        }
        for name in removed_names(&kind, &node.text()) {
            self.removed.push((flow.scope_id, name, node.range().start));
        }
    }

    /// Returns the reach of a definition: whether a run reaches it and its name stays defined.
    fn reach(&self, one: &Candidate, all: &[Candidate]) -> Reach {
        let name = &one.definition.name;
        let in_scope = || {
            let same = |other: &&Candidate| {
                other.definition.name == *name && other.flow.scope_id == one.flow.scope_id
            };
            all.iter().filter(same)
        };
        if matches!(one.flow.reach, Reach::Never(_)) {
            return one.flow.reach.clone();
        }
        let later = |start: usize| in_scope().any(|other| other.range.start > start);
        let is_gone = |(scope, gone, at): &&(usize, String, usize)| {
            *scope == one.flow.scope_id && gone == name && *at > one.range.start && !later(*at)
        };
        if self.removed.iter().any(|removed| is_gone(&removed)) {
            return Reach::Never("the name is deleted again".to_owned());
        }
        let replaces = |other: &Candidate| {
            other.range.start > one.range.start
                && other.is_literal
                && other.flow.reach == Reach::Reached
        };
        let is_code = !matches!(one.definition.kind, DefinitionKind::Value);
        if is_code && in_scope().next_back().is_some_and(replaces) {
            return Reach::Never("the name is given another value below".to_owned());
        }
        if one.flow.scope == ScopeKind::Function {
            let mentions = self.mentions.get(name).map_or(&[][..], Vec::as_slice);
            let is_used = mentions
                .iter()
                .any(|at| one.flow.scope_range.contains(at) && !one.range.contains(at));
            return match one.is_by_name && !is_used {
                true => Reach::Never("the function around never uses the name".to_owned()),
                false => Reach::Reached,
            };
        }
        let branches = |other: &Candidate| match (other.flow.branch, one.flow.branch) {
            (Some((own, is_else)), Some((id, here))) => own == id && is_else != here,
            _ => false,
        };
        let is_conditional = matches!(one.flow.reach, Reach::Conditional(_));
        match is_conditional && in_scope().any(branches) {
            true => Reach::Reached,
            false => one.flow.reach.clone(),
        }
    }
}

/// Returns the names that a statement removes.
fn removed_names(kind: &str, text: &str) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    match kind {
        "delete_statement" => {
            let rest = text.trim_start_matches("del").trim();
            // `del items[0]` and `del a.b` do not remove `items` and `a`.
            let by_name = ["globals()", "vars()", "locals()"].iter().any(|it| rest.starts_with(it));
            match by_name {
                true => words(rest).into_iter().skip(1).collect(),
                false => {
                    let names = rest.trim_matches(['(', ')']).split(',').map(str::trim);
                    let is_name = |name: &&str| {
                        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                    };
                    names.filter(is_name).map(str::to_owned).collect()
                }
            }
        }
        "call" if ["globals().pop(", "vars().pop("].iter().any(|it| text.starts_with(it)) => {
            words(text).into_iter().skip(2).take(1).collect()
        }
        "call" | "method_call"
            if ["remove_method", "undef_method"].iter().any(|it| text.starts_with(it)) =>
        {
            words(text).into_iter().skip(1).collect()
        }
        "undef" => words(text).into_iter().skip(1).collect(),
        "unset_command" => words(text).into_iter().filter(|word| word.len() > 1).skip(1).collect(),
        "unary_expression" if text.starts_with("delete ") => {
            words(text).pop().into_iter().collect()
        }
        "preproc_call" if text.starts_with("#undef") => words(text).into_iter().skip(1).collect(),
        _ => Vec::new(),
    }
}

/// Returns the names that a node defines.
fn defined_names(node: &SyntaxNode<'_>) -> Vec<SymbolDefinition> {
    use DefinitionKind::{Function, Macro, Module, Type, Value};
    let kind = match &*node.kind() {
        // Rust, and kinds that languages share
        "function_item"
        | "function_declaration"
        | "generator_function_declaration"
        | "method_definition"
        | "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration"
        | "method"
        | "singleton_method"
        | "function_definition"
        | "preproc_function_def" => Function,
        "struct_item" => Type("struct"),
        "enum_item" | "enum_declaration" => Type("enum"),
        "union_item" => Type("union"),
        "trait_item" | "trait_declaration" => Type("trait"),
        "class_definition" | "class_declaration" | "abstract_class_declaration" | "class" => {
            Type("class")
        }
        "interface_declaration" | "annotation_type_declaration" => Type("interface"),
        "record_declaration" => Type("record"),
        "struct_declaration" => Type("struct"),
        "object_declaration" => Type("object"),
        "protocol_declaration" => Type("protocol"),
        "local_function_statement" => Function,
        "namespace_declaration" | "file_scoped_namespace_declaration" => Module,
        "type_item"
        | "type_alias_declaration"
        | "type_alias_statement"
        | "type_spec"
        | "type_alias"
        | "alias_declaration"
        | "concept_definition"
        | "type_definition" => Type("type"),
        // A use of a C type has the same keyword, without a body.
        "struct_specifier" if node.field("body").is_some() => Type("struct"),
        "class_specifier" if node.field("body").is_some() => Type("class"),
        "union_specifier" if node.field("body").is_some() => Type("union"),
        "enum_specifier" if node.field("body").is_some() => Type("enum"),
        "mod_item" | "internal_module" | "module" | "namespace_definition" => Module,
        "macro_definition" => Macro,
        "const_item"
        | "static_item"
        | "const_spec"
        | "var_spec"
        | "const_element"
        | "property_element"
        | "preproc_def"
        | "let_declaration"
        | "short_var_declaration"
        | "assignment"
        | "variable_assignment"
        | "property_declaration"
        | "enum_constant" => Value,
        "variable_declarator"
        | "public_field_definition"
        | "field_definition"
        | "init_declarator"
        | "assignment_expression"
        | "pair" => match is_function(node.field("value").or_else(|| node.field("right"))) {
            true => Function,
            false => Value,
        },
        "call" => return defined_by_call(node),
        _ => return Vec::new(),
    };
    let kind = match kind {
        Value if is_function(node.field("value").or_else(|| node.field("right"))) => Function,
        kind => kind,
    };
    let is_let = matches!(&*node.kind(), "let_declaration" | "short_var_declaration");
    let is_local = kind == Value && (is_let || is_in_a_function(node));
    let names = names_of(node).into_iter();
    let reach = Reach::Reached;
    let definition =
        |(name, line)| SymbolDefinition { name, line, kind, is_local, reach: reach.clone() };
    names.map(definition).collect()
}

/// Returns the names that a node defines, each with its line.
fn names_of(node: &SyntaxNode<'_>) -> Vec<(String, u32)> {
    let kind = node.kind();
    let named = match &*kind {
        "let_declaration" => node.field("pattern"),
        "short_var_declaration" | "assignment" | "assignment_expression" => node.field("left"),
        "pair" => node.field("key").filter(|_| is_function(node.field("value"))),
        "init_declarator" | "function_definition" | "type_definition" => {
            node.field("name").or_else(|| node.field("declarator"))
        }
        // PHP and Java have no field for these names.
        "const_element" | "property_element" => node.children().find(|child| child.is_named()),
        "field_definition" => node.field("property").or_else(|| node.field("name")),
        _ => node.field("name").or_else(|| unmarked_name(node)),
    };
    let Some(named) = named else { return Vec::new() };
    match &*kind {
        "const_spec" | "var_spec" => {
            let all = node.children().filter(|child| &*child.kind() == "identifier");
            all.filter_map(|name| plain(&name)).collect()
        }
        "short_var_declaration" => named.children().filter_map(|name| plain(&name)).collect(),
        _ => plain(&named).into_iter().collect(),
    }
}

/// Returns the unqualified name in a declaration, `sell` of `*Shop::sell(int)`, and its line.
fn plain(node: &SyntaxNode<'_>) -> Option<(String, u32)> {
    let mut node = node.clone();
    for _ in 0..12 {
        let kind = node.kind().into_owned();
        let inner = match kind.as_str() {
            "qualified_identifier"
            | "scope_resolution"
            | "nested_identifier"
            | "template_function"
            | "generic_type" => node.field("name"),
            "member_expression" => node.field("property"),
            "mut_pattern" | "reference_declarator" | "parenthesized_declarator" => {
                node.children().filter(|child| child.is_named()).last()
            }
            _ => node.field("declarator"),
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    let text = node.text();
    let name = text.trim_matches(['"', '\'', '`', '#', '$', ':']);
    let is_name = |c: char| c.is_alphanumeric() || "_$?!~=".contains(c);
    let is_plain = !name.is_empty() && name.chars().all(is_name);
    let line = u32::try_from(node.start_pos().line() + 1).unwrap_or(u32::MAX);
    is_plain.then(|| (name.to_owned(), line))
}

/// Returns true if a value is a function.
fn is_function(value: Option<SyntaxNode<'_>>) -> bool {
    value.is_some_and(|value| {
        matches!(
            &*value.kind(),
            "arrow_function"
                | "function_expression"
                | "generator_function"
                | "function"
                | "lambda"
                | "lambda_expression"
                | "closure_expression"
                | "func_literal"
                | "anonymous_function"
                | "anonymous_function_creation_expression"
        )
    })
}

/// Returns true if a node is inside of a function.
fn is_in_a_function(node: &SyntaxNode<'_>) -> bool {
    let mut above = node.parent();
    while let Some(node) = above {
        let kind = node.kind().into_owned();
        let is_body = matches!(
            kind.as_str(),
            "function_item"
                | "function_definition"
                | "function_declaration"
                | "method_declaration"
                | "method_definition"
                | "method"
                | "singleton_method"
                | "constructor_declaration"
                | "generator_function_declaration"
        );
        if is_body || is_function(Some(node.clone())) {
            return true;
        }
        above = node.parent();
    }
    false
}

/// Returns the methods that a call in Ruby defines: `attr_reader :size`, `define_method(:sell)`.
fn defined_by_call(node: &SyntaxNode<'_>) -> Vec<SymbolDefinition> {
    const DEFINE: [&str; 6] =
        ["attr_reader", "attr_writer", "attr_accessor", "define_method", "scope", "alias_method"];
    let is_one = node.field("method").is_some_and(|method| DEFINE.contains(&&*method.text()));
    let Some(arguments) = node.field("arguments").filter(|_| is_one) else { return Vec::new() };
    let symbols = arguments.children().filter(|child| &*child.kind() == "simple_symbol");
    let named = symbols.filter_map(|symbol| plain(&symbol));
    let kind = DefinitionKind::Function;
    let reach = Reach::Reached;
    let definition =
        |(name, line)| SymbolDefinition { name, line, kind, is_local: false, reach: reach.clone() };
    named.map(definition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the definitions of a file, in order: `function frob`, `struct Shop`, `local x`.
    fn shown(path: &str, text: &str) -> String {
        let Some(found) = definitions(path, text) else { return "no grammar".to_owned() };
        let words = found.into_iter().map(|found| {
            let kind = match found.kind {
                DefinitionKind::Function => "function",
                DefinitionKind::Type(word) => word,
                DefinitionKind::Value if found.is_local => "local",
                DefinitionKind::Value => "value",
                DefinitionKind::Module => "module",
                DefinitionKind::Macro => "macro",
            };
            format!("{kind} {}:{}", found.name, found.line)
        });
        words.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn every_form_of_a_definition_is_found_in_every_language() {
        let table: &[(&str, &str, &str)] = &[
            ("a.rs", "pub async fn frob<T>(\n    a: T,\n)\n{\n}\n", "function frob:1"),
            ("a.rs", "impl A { #[inline] const fn frob() -> u8 { 1 } }\n", "function frob:1"),
            ("a.rs", "trait T { fn frob(&self) {} }\n", "trait T:1, function frob:1"),
            (
                "a.rs",
                "static mut A: u8 = 1;\nconst B: u8 = 2;\ntype C = u8;\n",
                "value A:1, value B:2, type C:3",
            ),
            (
                "a.rs",
                "macro_rules! m { () => {} }\nmod n { union U { a: u8 } }\n",
                "macro m:1, union U:2, module n:2",
            ),
            ("a.rs", "fn f() { let mut x = 1; }\n", "function f:1, local x:1"),
            ("a.py", "@cache\nasync def frob(\n    a,\n): return 1\n", "function frob:2"),
            (
                "a.py",
                "class A:\n    x: int = 3\n    @property\n    def size(self): ...\n",
                "class A:1, value x:2, function size:4",
            ),
            (
                "a.py",
                "LIMIT = 3\nf = lambda x: x\ndef g():\n    y = 1\n",
                "value LIMIT:1, function f:2, function g:3, local y:4",
            ),
            ("a.js", "export default async function* frob()\n{\n}\n", "function frob:1"),
            (
                "a.js",
                "class A { static async frob() { } #priv = () => 1; get size() { return 1 } }\n",
                "class A:1, function frob:1, function priv:1, function size:1",
            ),
            (
                "a.js",
                "const f = (x) => x, g = function () {}, k = 3;\nexports.frob = function () {};\n",
                "function f:1, function g:1, value k:1, function frob:2",
            ),
            (
                "a.js",
                "module.exports = { frob: () => 1, sell() {} };\n",
                "value exports:1, function frob:1, function sell:1",
            ),
            (
                "a.ts",
                "export abstract class A<T> { abstract x(): void; public frob<U>(a: U): T\n{ return 1 as any } }\n",
                "class A:1, function frob:1",
            ),
            (
                "a.ts",
                "export interface I { a: string }\nexport type T = I;\nenum E { A }\nnamespace N {}\n",
                "interface I:1, type T:2, enum E:3, module N:4",
            ),
            ("a.tsx", "export const Card: React.FC = () => <div />;\n", "function Card:1"),
            (
                "a.go",
                "package a\n\nfunc (s *Shop[T]) Sell(\n\ta int,\n) error { return nil }\n",
                "function Sell:3",
            ),
            (
                "a.go",
                "package a\n\ntype Shop struct{}\ntype ID = string\nconst (\n\tA, B = 1, 2\n)\nvar F = func() {}\n",
                "type Shop:3, type ID:4, value A:6, value B:6, value F:8",
            ),
            (
                "A.java",
                "class A<T> {\n  @Override public <U> List<U> frob(int a)\n      throws E\n  {\n  }\n  A() { }\n}\n",
                "class A:1, function frob:2, function A:6",
            ),
            (
                "A.java",
                "record P(int x) {}\ninterface I { default int one() { return 1; } }\nenum E { RED }\nclass K { static final int MAX = 3; }\n",
                "record P:1, interface I:2, function one:2, enum E:3, value RED:3, class K:4, value MAX:4",
            ),
            ("a.c", "static int\nfrob(int a)\n{\n  return 1;\n}\n", "function frob:2"),
            (
                "a.c",
                "#define LIMIT 3\n#define TWICE(x) (2 * (x))\ntypedef struct shop { int a; } shop_t;\nint frob(int);\n",
                "value LIMIT:1, function TWICE:2, struct shop:3, type shop_t:3",
            ),
            (
                "a.cpp",
                "int A::frob(int a) const\n{ return 1; }\nA::~A() = default;\n",
                "function frob:1, function ~A:3",
            ),
            (
                "a.cpp",
                "namespace n { template <class T> class Shop { public: T sell() { return {}; } }; }\nusing Id = int;\n",
                "class Shop:1, module n:1, function sell:1, type Id:2",
            ),
            (
                "a.rb",
                "module A\n  class B::C\n    def self.frob = 1\n    def sell!(a)\n    end\n    attr_reader :size\n    LIMIT = 3\n  end\nend\n",
                "module A:1, class C:2, function frob:3, function sell!:4, function size:6, value LIMIT:7",
            ),
            (
                "a.php",
                "<?php\nfinal class A extends B\n{\n  public const MAX = 3;\n  private static ?int $x = 1;\n  public static function frob(int $a): int\n  {\n  }\n}\nfunction sell() {}\n",
                "class A:2, value MAX:4, value x:5, function frob:6, function sell:10",
            ),
            (
                "a.sh",
                "frob() { :; }\nfunction sell\n{\n  local a=1\n}\nLIMIT=3\n",
                "function frob:1, function sell:2, local a:4, value LIMIT:6",
            ),
            ("a.yml", "frob: 1\n", "no grammar"),
            ("a.json", "{\"frob\": 1}\n", "no grammar"),
            ("Dockerfile", "FROM a\nRUN b() { :; }\n", "no grammar"),
            ("a.vue", "<p/>\n<script>\nfunction frob() {}\n</script>\n", "function frob:3"),
            ("a.tf", "resource \"a\" \"b\" {}\n", "no grammar"),
            (
                "a.cs",
                "namespace N;\npublic class A<T> {\n  int Frob(int a) => a;\n  A() { }\n  const int Max = 3;\n}\nstruct S { }\nrecord R(int X);\ninterface I { }\nenum E { X }\n",
                "module N:1, class A:2, function Frob:3, function A:4, value Max:5, struct S:7, record R:8, interface I:9, enum E:10",
            ),
            (
                "a.kt",
                "class A(val x: Int) {\n  suspend fun frob(a: Int): Int = a\n  val size = 3\n}\nobject O {\n}\nfun sell() { val y = 1 }\n",
                "class A:1, function frob:2, value size:3, object O:5, function sell:7, local y:7",
            ),
            (
                "a.swift",
                "class A {\n  func frob(a: Int) -> Int { a }\n  let size = 3\n}\nprotocol P { }\nfunc sell() { let y = 1 }\n",
                "class A:1, function frob:2, value size:3, protocol P:5, function sell:6, local y:6",
            ),
        ];
        let mut wrong = Vec::new();
        for (path, text, expected) in table {
            let found = shown(path, text);
            if found != *expected {
                wrong.push(format!("{path}: {text}  found    {found}\n  expected {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_use_is_no_definition() {
        for (path, text) in [
            ("a.rs", "fn main() { frob(1); x.frob(); a::frob(); }\n"),
            ("a.py", "frob(1)\nif frob == 3: pass\nfrom a import frob\n"),
            ("a.js", "frob(1, () => {});\nimport { frob } from 'x';\n"),
            ("a.ts", "import type frob from 'x';\nconst a: frob = 1;\n"),
            ("a.go", "package a\n\nfunc main() { frob() }\n"),
            ("A.java", "class A { void a() { frob(1); new Frob(); } }\n"),
            ("a.c", "int main(void) { struct frob *a = 0; return frob(1); }\n"),
            ("a.rb", "frob(1) { |x| x }\n"),
            ("a.php", "<?php frob(1); A::frob();\n"),
            ("a.sh", "frob 1\n"),
            ("a.cs", "class A { void B() { Frob.frob(1); new frob(); } }\n"),
            ("a.kt", "fun main() { frob(1); a.frob() }\n"),
            ("a.swift", "func main() { frob(1); a.frob() }\n"),
        ] {
            let found = definitions(path, text).unwrap();
            assert!(found.iter().all(|found| found.name != "frob"), "{path}: {found:?}");
        }
    }
}
