//! Calls in code: [`calls`] finds them in the syntax tree.

use assay_findings::vote::LineRange;

use crate::syntax::{LineSet, Syntax, SyntaxNode, lines_of};

/// The node kinds of calls in all grammars.
const CALLS: [&str; 9] = [
    "call_expression", "call", "method_invocation", "function_call_expression",
    "member_call_expression", "scoped_call_expression", "command", "new_expression",
    "object_creation_expression",
];

/// The fields of these nodes that hold the name of the callee.
const NAMES: [&str; 5] = ["method", "name", "function", "constructor", "type"];

/// Returns the lines on which a file calls a name.
pub fn calls(path: &str, text: &str, name: &str) -> Vec<LineRange> {
    // Most files do not contain the name at all.
    let Some(syntax) = text.contains(name).then(|| Syntax::of(path, text)).flatten() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let see = |node: &SyntaxNode<'_>, _| {
        if CALLS.contains(&&*node.kind()) && called_name(node).as_deref() == Some(name) {
            found.push(lines_of(node));
        }
    };
    syntax.visit(&LineSet::all(), |_| true, see);
    found
}

/// Returns the last name of the callee: `b` of `a.b(c)`.
fn called_name(node: &SyntaxNode<'_>) -> Option<String> {
    let called = NAMES.iter().find_map(|field| node.field(field))?;
    let text = called.text();
    let word = text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|w| !w.is_empty());
    word.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[u32]) {
        let lines: Vec<u32> =
            calls(path, text, "total").into_iter().map(LineRange::start).collect();
        assert_eq!(lines, expected, "{path}");
    }

    #[test]
    fn calls_are_found_and_mentions_are_not() {
        check(
            "a.rs",
            "fn a() {\n    shop::total(1);\n    // total(2)\n    let total = 3;\n}\n",
            &[2],
        );
        check("a.py", "def total():\n    pass\n\nx = cart.total()\ny = total\n", &[4]);
        check("a.ts", "import {total} from 'x';\nconst y = cart.total(1);\n", &[2]);
        check("a.go", "package a\nfunc f() {\n\tcart.total(1)\n}\n", &[3]);
        check("A.java", "class A {\n  void f() {\n    cart.total(1);\n  }\n}\n", &[3]);
        check("a.c", "int f(void) {\n  return total(1);\n}\n", &[2]);
        check("a.rb", "def f\n  cart.total(1)\nend\n", &[2]);
        check("a.php", "<?php\n$cart->total(1);\ntotal(2);\n", &[2, 3]);
        check("a.txt", "total(1)\n", &[]);
    }
}
