//! The outcome of each hunk, and the symbols around a line.

use assay_change::tree::DirTree;
use assay_findings::coverage::HunkOutcome;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_rules::SymbolTree;
use assay_testkit::Repository;
use expect_test::{Expect, expect};

use crate::review;

fn looks(path: &str, text: &str) -> Vec<HunkOutcome> {
    review(&[], &[(path, text)]).looks
}

#[test]
fn a_hunk_is_reviewed_only_if_its_language_is_known_and_its_file_parses() {
    assert_eq!(looks("a.py", "x = 1\n"), [HunkOutcome::Reviewed]);
    assert_eq!(looks("a.py", "def f(:\n    ((\n"), [HunkOutcome::Failed("does not parse".into())]);
    assert_eq!(looks("a.txt", "x = 1\n"), [HunkOutcome::TextOnly]);
    assert_eq!(looks("a.png", "\0\0"), [HunkOutcome::LeftOut("binary".into())]);
    assert_eq!(looks("a.py", "x = 1\n\0"), [HunkOutcome::Failed("source that is not text".into())]);
}

#[test]
fn code_that_is_nested_too_deep_is_reviewed_as_text_only() {
    let text = format!("x = {}1{}\n", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(looks("a.py", &text), [HunkOutcome::TextOnly]);
}

fn check_symbols(path: &str, text: &str, expected: Expect) {
    let repository = Repository::new();
    repository.write(path, text);
    let tree = DirTree::new(repository.path().to_owned());
    let tree = SymbolTree::new(&tree);
    let file = RepoPath::exact(path).unwrap();
    let shown: Vec<String> = (1..=text.lines().count() as u32)
        .map(|line| {
            let symbol = tree.symbol_at(&file, line).unwrap();
            format!("{line} {}", symbol.map_or("-".into(), |s| s.name))
        })
        .collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn each_line_is_assigned_to_its_enclosing_rust_item() {
    check_symbols(
        "a.rs",
        "use x;\nimpl<T> Shop<T> {\n    fn total(&self) {\n        1\n    }\n}\nmod tests {\n    fn a() {}\n}\n",
        expect![[r#"
            1 -
            2 Shop<T>
            3 Shop<T>.total
            4 Shop<T>.total
            5 Shop<T>.total
            6 Shop<T>
            7 tests
            8 tests.a
            9 tests"#]],
    );
}

#[test]
fn a_line_is_assigned_to_its_enclosing_function_in_every_language() {
    for (path, text, name) in [
        ("a.py", "class A:\n    def f(self):\n        pass\n", "A.f"),
        ("a.js", "class A {\n  f() {\n    1;\n  }\n}\n", "A.f"),
        ("a.ts", "export const A = () => {\n  const f = function () {\n    1;\n  };\n};\n", "A.f"),
        ("a.go", "package a\nfunc (s *S) f() {\n\tx()\n}\n", "f"),
        ("A.java", "class A {\n  void f() {\n    x();\n  }\n}\n", "A.f"),
        ("a.c", "int *\nf(void) {\n  x();\n}\n", "f"),
        ("a.cpp", "namespace A {\nint f() {\n  return 1;\n}\n}\n", "A.f"),
        ("a.rb", "class A\n  def f\n    1\n  end\nend\n", "A.f"),
        ("a.php", "<?php class A {\n  function f() {\n    x();\n  }\n}\n", "A.f"),
        ("a.sh", "\nf() {\n  x\n}\n", "f"),
    ] {
        let repository = Repository::new();
        repository.write(path, text);
        let dir = DirTree::new(repository.path().to_owned());
        let symbol = SymbolTree::new(&dir).symbol_at(&RepoPath::exact(path).unwrap(), 3).unwrap();
        assert_eq!(symbol.map(|symbol| symbol.name).as_deref(), Some(name), "{path}");
    }
}

#[test]
fn hooks_behind_one_return_are_one_finding_with_the_number_of_places() {
    let hooks =
        "  const [a, setA] = useState(0);\n  const [b, setB] = useState(0);\n  useEffect(load);\n";
    let panel = format!(
        "function Panel({{ open }}) {{\n  if (!open) return null;\n{hooks}  return a;\n}}\n"
    );
    let reviewed =
        review(&[], &[("src/panel.jsx", &format!("{panel}\n{}", panel.replace("Panel", "Row")))]);
    let hook_votes = reviewed
        .report
        .votes
        .iter()
        .filter(|vote| vote.rule.as_deref() == Some("javascript/conditional-hook"));
    let shown: Vec<String> = hook_votes
        .map(|vote| {
            let first = vote.description.split('.').next().unwrap_or_default();
            format!("{:?} {first}", vote.line())
        })
        .collect();
    expect![[r#"
        Some(3) The function has 3 such places
        Some(11) The function has 3 such places"#]]
    .assert_eq(&shown.join("\n"));
}
