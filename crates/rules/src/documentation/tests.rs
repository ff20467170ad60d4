//! Tests of the items that are reported.

use super::*;

/// Checks that exactly the lines marked with a `!` at their end are reported, if every line is
/// added.
fn check(path: &str, marked: &str) {
    let lines: Vec<&str> = marked.lines().map(|line| line.trim_end_matches('!')).collect();
    let wanted = marked.lines().enumerate().filter(|(_, line)| line.ends_with('!'));
    let wanted: Vec<usize> = wanted.map(|(at, _)| at).collect();
    let found = all_undocumented(path, lines, false);
    let undocumented_lines: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    assert_eq!(undocumented_lines, wanted, "{found:?}");
}

fn all_undocumented(path: &str, lines: Vec<&str>, is_cut: bool) -> Vec<(usize, String)> {
    let all = (0..lines.len()).collect();
    let source = SourceLines::new(path, lines, all, is_cut);
    source.map(|source| find_undocumented(&source)).unwrap_or_default()
}

#[test]
fn rust_items_without_a_doc_comment_are_reported() {
    check(
        "src/a.rs",
        r###"/// Says so.
pub fn a() {}
pub fn b() {}!
pub(crate) fn c() {}
/// Doc.
#[derive(
    Debug,
)]
#[serde(rename = "x")]
pub struct D;
#[derive(Debug)]
pub struct E {!
    pub field: u32,
}
pub mod f;
pub mod g {!
}
pub use g::x;
/** Doc. */
pub const H: u32 = 1;
pub const fn i() {}!
pub async unsafe fn j() {}!
pub unsafe extern "C" fn k() {}!
#[doc = "said"]
pub fn l() {}
// A comment is no doc.
pub trait M {}!
const N: &str = r#"
pub fn in_text() {}
"#;
/*
pub fn in_comment() {}
*/
pub type O<'a> = &'a str;!
"###,
    );
}

#[test]
fn python_definitions_without_a_docstring_are_reported() {
    check(
        "shop/a.py",
        r#"def a():
    """Says so."""
def b(x: dict = {'a': 1},
      y=2) -> int:
    r'''Says so.'''
    def inner():
        pass
def c():!
    return 1
def _d():
    return 1
class E:!
    def f(self):!
        pass
    @property
    def g(self):
        "Says so."
    @g.setter
    def g(self, value):
        pass
    def __init__(self):
        pass
class _H:
    def i(self):
        pass
TEXT = """
def in_text():
    pass
"""
async def j():!
# a comment
return 1
"#,
    );
}

#[test]
fn go_exports_without_a_comment_are_reported() {
    check(
        "a.go",
        "package a

// A says so.
func A() {}
func B() {}!
func c() {}
func (t *T) D() {}!
func (t *t) E() {}
// T is.
type T struct {
\tField int
}
type U struct{}!
const (
\tV = 1!
\tW = 2 // W is.
\tx = 3
)
// All of them.
var (
\tY = 1
)
var s = `
func Z() {}
`
",
    );
}

#[test]
fn exports_of_scripts_without_a_comment_are_reported() {
    check(
        "web/a.ts",
        "/** Says so. */
export function a() {}
export async function b() {}!
export default class C {}!
/**
 * Says so.
 */
@Component({
  selector: 'x',
})
export class D {}
// No doc.
export const e = 1;!
export { e };
export * from './f';
export default {};
export interface G {}!
function h() {}
const t = `
export function i() {}
`;
export const enum J { A }!
",
    );
}

#[test]
fn public_members_of_java_without_a_comment_are_reported() {
    check(
        "src/main/java/A.java",
        "/** Says so. */
@Service
public class A {
    public int field = call(1);
    public A() {}!
    /**
     * Says so.
     */
    public static int b(int c) { return c; }
    @Override
    public String toString() { return null; }
    public List<String> d(!
        int e) { return null; }
    void f() {}
    public static void main(String[] args) {}
    public interface G {}!
}
",
    );
}

#[test]
fn test_files_and_other_languages_need_no_documentation() {
    check("tests/a.rs", "pub fn a() {}\n");
    check("a.md", "pub fn a() {}\n");
}

#[test]
fn hostile_files_are_scanned_to_the_end() {
    let deep = "x(\n".repeat(20_000) + &"pub fn a() {}\n".repeat(20_000);
    let found = all_undocumented("a.rs", deep.lines().collect(), false);
    assert_eq!(found.len(), 20_000);
    let long = "/*".repeat(100_000);
    all_undocumented("a.rs", vec![&long], true);
    let far: String = (0..3_000).map(|_| "        def a():\n            pass\n").collect();
    all_undocumented("a.py", far.lines().collect(), false);
}

#[test]
fn an_item_that_may_be_documented_outside_of_the_excerpt_is_not_reported() {
    let check = |path: &str, text: &str| {
        let found = all_undocumented(path, text.lines().collect(), true);
        found.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(check("a.rs", "#[derive(Debug)]\npub struct A;\npub struct B;"), "B");
    assert_eq!(check("a.ts", " * Says so.\n */\nexport class A {}\nexport class B {}"), "B");
    assert_eq!(check("a.ts", "f();\n/* No doc. */\nexport class A {}"), "A");
    assert_eq!(check("a.go", "//go:noinline\nfunc A() {}\nfunc B() {}"), "B");
    assert_eq!(check("a.py", "    def a(self):\n        pass\ndef b():\n    pass"), "b");
}
