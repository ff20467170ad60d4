//! Public items that say nothing of what they are for: [`undocumented`].

use assay_findings::vote::Lines;

use super::lexed::{Language, Lexed};

/// So many lines of attributes or of a signature are looked over.
const MAX_LINES: usize = 60;

/// A file with its code and comments told apart.
struct File<'t> {
    lines: Vec<&'t str>,
    lexed: Lexed,
    /// In Python, what is seen from outside.
    seen: Vec<bool>,
}

/// Gives the public items that begin on added lines and carry no documentation, each with its line
/// and its name. In files of tests there are none.
pub(crate) fn undocumented(path: &str, after: &str, added: &[Lines]) -> Vec<(u32, String)> {
    let name_of: fn(&File<'_>, usize) -> Option<String> = match Language::of(path) {
        Some(Language::Rust) => rust,
        Some(Language::Python) => python,
        Some(Language::Go) => go,
        Some(Language::Script) => script,
        Some(Language::Java) if path.ends_with(".java") => java,
        Some(Language::Java | Language::Hash) | None => return Vec::new(),
    };
    if assay_rules::is_test(path) || path.ends_with(".pyi") || path.ends_with(".d.ts") {
        return Vec::new();
    }
    let language = Language::of(path).unwrap_or(Language::Hash);
    let lexed = Lexed::read(language, after);
    let mut file = File { lines: after.lines().collect(), lexed, seen: Vec::new() };
    if language == Language::Python {
        file.seen = seen_from_outside(&file);
    }
    let numbers = added.iter().flat_map(|lines| lines.start()..=lines.end());
    let numbers = numbers.take_while(|number| *number as usize <= file.lines.len());
    numbers
        .filter_map(|number| {
            let at = (number as usize).checked_sub(1)?;
            Some((number, name_of(&file, at)?))
        })
        .collect()
}

/// Takes the word at the beginning of some code.
fn word(code: &str) -> &str {
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    &code[..end.unwrap_or(code.len())]
}

/// Takes one of some words off the beginning of some code.
fn without<'c>(code: &'c str, words: &[&str]) -> Option<&'c str> {
    let first = word(code);
    words.contains(&first).then(|| code[first.len()..].trim_start())
}

impl File<'_> {
    fn code(&self, at: usize) -> &str {
        self.lexed.code.get(at).map_or("", |code| code.trim())
    }

    fn comment(&self, at: usize) -> &str {
        self.lexed.comments.get(at).map_or("", |comment| comment.trim())
    }

    fn indent(&self, at: usize) -> usize {
        let line = self.lines.get(at).copied().unwrap_or_default();
        line.len() - line.trim_start().len()
    }

    /// Gives the first line above that is no attribute, decorator or annotation, as those begin with
    /// a sign. They may take several lines.
    fn above(&self, at: usize, sign: &str) -> Option<usize> {
        let mut open = 0i32;
        let lowest = at.saturating_sub(MAX_LINES);
        for at in (lowest..at).rev() {
            let code = self.code(at);
            if code.is_empty() {
                return Some(at);
            }
            let count =
                |signs: [char; 2]| code.chars().filter(|c| signs.contains(c)).count() as i32;
            open += count([')', ']']) - count(['(', '[']);
            let is_sign = code.starts_with(sign);
            if !is_sign && open <= 0 {
                return Some(at);
            }
        }
        None
    }

    /// Says whether the comment that ends on a line begins as one of some marks say.
    fn is_comment_of(&self, at: usize, marks: &[&str]) -> bool {
        let begins = |at: usize| marks.iter().any(|mark| self.comment(at).starts_with(mark));
        let mut at = at;
        for _ in 0..10 * MAX_LINES {
            if !self.code(at).is_empty() || self.comment(at).is_empty() {
                return false;
            }
            if begins(at) {
                return true;
            }
            let Some(above) = at.checked_sub(1) else { return false };
            at = above;
        }
        true
    }
}

fn rust(file: &File<'_>, at: usize) -> Option<String> {
    let mut code = file.code(at).strip_prefix("pub ")?.trim_start();
    while let Some(rest) = without(code, &["async", "unsafe", "default", "extern"]) {
        code = rest.trim_start_matches('"').trim_start();
    }
    if let Some(rest) = without(code, &["const"])
        && word(rest) == "fn"
    {
        code = rest;
    }
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];
    let rest = without(code, &kinds)?;
    // A module of its own says at its own top what it is for.
    if word(code) == "mod" && rest.ends_with(';') {
        return None;
    }
    let above = file.above(at, "#[");
    let mut attributes = above.map_or(at.saturating_sub(MAX_LINES), |above| above + 1)..at;
    let is_documented = above.is_some_and(|above| file.is_comment_of(above, &["///", "/**"]))
        || attributes.any(|at| file.code(at).starts_with("#[doc"));
    (!is_documented).then(|| word(rest).to_owned())
}

fn python(file: &File<'_>, at: usize) -> Option<String> {
    let code = file.code(at);
    let code = without(code, &["async"]).unwrap_or(code);
    let name = word(without(code, &["def", "class"])?);
    let is_public = !name.is_empty() && !name.starts_with('_');
    let is_seen = file.seen.get(at).is_some_and(|seen| *seen);
    if !is_public || !is_seen || is_overload(file, at) {
        return None;
    }
    let body = after_signature(file, at)?;
    let lines = file.lines.iter().skip(body).map(|line| line.trim());
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let first = first.trim_start_matches(['r', 'R', 'u', 'U']);
    let is_documented = first.starts_with('"') || first.starts_with('\'');
    (!is_documented).then(|| name.to_owned())
}

/// Says of every line of Python whether what it defines is seen from outside: it stands in nothing
/// but public classes.
fn seen_from_outside(file: &File<'_>) -> Vec<bool> {
    let mut seen = Vec::with_capacity(file.lines.len());
    // The definitions around a line, each with its indent.
    let mut around: Vec<(usize, bool)> = Vec::new();
    let mut open = 0i32;
    for at in 0..file.lines.len() {
        let code = file.code(at);
        let is_continued = open > 0;
        let count = |signs: [char; 3]| code.chars().filter(|c| signs.contains(c)).count() as i32;
        open = (open + count(['(', '[', '{']) - count([')', ']', '}'])).max(0);
        if code.is_empty() || is_continued {
            seen.push(false);
            continue;
        }
        let indent = file.indent(at);
        while around.last().is_some_and(|(outer, _)| *outer >= indent) {
            around.pop();
        }
        let is_seen = around.last().is_none_or(|(_, is_seen)| *is_seen);
        seen.push(is_seen);
        let plain = without(code, &["async"]).unwrap_or(code);
        match without(plain, &["class", "def"]) {
            Some(name) if word(plain) == "class" => {
                around.push((indent, is_seen && !name.starts_with('_')));
            }
            // What is defined in a function is nobody else's.
            Some(_) => around.push((indent, false)),
            None => {}
        }
    }
    seen
}

/// Says whether a definition only repeats or completes another one.
fn is_overload(file: &File<'_>, at: usize) -> bool {
    let above = (at.saturating_sub(MAX_LINES)..at).rev().map(|at| file.code(at));
    let mut decorators = above.take_while(|code| code.starts_with('@'));
    decorators.any(|code| {
        [".setter", ".deleter", "overload", "override"].iter().any(|end| code.ends_with(end))
    })
}

/// Gives where the body of a definition begins; none where it stands on the same line.
fn after_signature(file: &File<'_>, at: usize) -> Option<usize> {
    let mut open = 0i32;
    for line in at..(at + MAX_LINES).min(file.lines.len()) {
        for (place, c) in file.code(line).char_indices() {
            match c {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                ':' if open <= 0 => {
                    let behind = file.code(line)[place + 1..].trim();
                    return behind.is_empty().then_some(line + 1);
                }
                _ => {}
            }
        }
    }
    None
}

fn go(file: &File<'_>, at: usize) -> Option<String> {
    let code = file.code(at);
    let is_exported = |name: &str| name.starts_with(char::is_uppercase);
    let has_comment = |at: usize| {
        at.checked_sub(1).is_some_and(|a| file.code(a).is_empty() && !file.comment(a).is_empty())
    };
    let name = if file.indent(at) == 0 {
        let rest = without(code, &["func", "type", "var", "const"])?;
        match rest.strip_prefix('(') {
            // A group is known by its members.
            Some(_) if word(code) != "func" => return None,
            Some(receiver) => {
                let (receiver, rest) = receiver.split_once(')')?;
                let kind = receiver.rsplit([' ', '*']).next().unwrap_or_default();
                if !is_exported(kind) {
                    return None;
                }
                word(rest.trim_start())
            }
            None => word(rest),
        }
    } else {
        let group = group_of(file, at)?;
        if has_comment(group) || !file.comment(at).is_empty() {
            return None;
        }
        word(code)
    };
    (is_exported(name) && !has_comment(at)).then(|| name.to_owned())
}

/// Gives where the group begins that a line is a member of, such as `const (`.
fn group_of(file: &File<'_>, at: usize) -> Option<usize> {
    let indent = file.indent(at);
    let is_member = |above: &usize| file.indent(*above) >= indent || file.code(*above).is_empty();
    let lowest = at.saturating_sub(10 * MAX_LINES);
    let head = (lowest..at).rev().find(|above| !is_member(above))?;
    let is_group = file.indent(head) == 0 && file.code(head).ends_with('(');
    let is_first_level = file.lines[at].starts_with('\t') && !file.lines[at].starts_with("\t\t");
    let kinds = ["var", "const", "type"];
    (is_group && is_first_level && kinds.contains(&word(file.code(head)))).then_some(head)
}

fn script(file: &File<'_>, at: usize) -> Option<String> {
    let mut code = file.code(at).strip_prefix("export ")?.trim_start();
    while let Some(rest) = without(code, &["default", "declare", "async", "abstract"]) {
        code = rest;
    }
    if let Some(rest) = without(code, &["const"])
        && word(rest) == "enum"
    {
        code = rest;
    }
    let kinds =
        ["function", "class", "interface", "type", "enum", "const", "let", "var", "namespace"];
    let rest = without(code, &kinds)?;
    let name = word(rest.trim_start_matches(['*', ' ']));
    let is_documented =
        file.above(at, "@").is_some_and(|above| file.is_comment_of(above, &["/**"]));
    (!name.is_empty() && !is_documented).then(|| name.to_owned())
}

fn java(file: &File<'_>, at: usize) -> Option<String> {
    let mut code = without(file.code(at), &["public"])?;
    let modifiers =
        ["static", "final", "abstract", "synchronized", "default", "sealed", "strictfp", "native"];
    while let Some(rest) = without(code, &modifiers) {
        code = rest;
    }
    let kinds = ["class", "interface", "enum", "record"];
    let name = match without(code, &kinds).or_else(|| code.strip_prefix("@interface ")) {
        Some(rest) => word(rest),
        None => {
            let before = code[..code.find('(')?].trim_end();
            if before.contains('=') {
                return None;
            }
            before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?
        }
    };
    let attributes = (at.saturating_sub(MAX_LINES)..at).rev().map(|at| file.code(at));
    let mut annotations = attributes.take_while(|code| code.starts_with('@'));
    if name.is_empty() || name == "main" || annotations.any(|code| code.starts_with("@Override")) {
        return None;
    }
    let is_documented =
        file.above(at, "@").is_some_and(|above| file.is_comment_of(above, &["/**"]));
    (!is_documented).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line is added; those with a `!` behind them are to be told.
    fn check(path: &str, marked: &str) {
        let text: String =
            marked.lines().map(|l| l.trim_end_matches('!').to_owned() + "\n").collect();
        let wanted: Vec<u32> = marked
            .lines()
            .zip(1u32..)
            .filter(|(line, _)| line.ends_with('!'))
            .map(|(_, number)| number)
            .collect();
        let all = Lines::range(1, marked.lines().count() as u32).unwrap();
        let found = undocumented(path, &text, &[all]);
        let numbers: Vec<u32> = found.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, wanted, "{found:?}");
    }

    #[test]
    fn rust_items_are_told_without_their_doc() {
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
    fn python_definitions_are_told_without_their_docstring() {
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
    fn go_exports_are_told_without_their_comment() {
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
    fn exports_of_scripts_are_told_without_their_comment() {
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
    fn public_members_of_java_are_told_without_their_comment() {
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
    fn tests_and_other_files_need_none() {
        check("tests/a.rs", "pub fn a() {}\n");
        check("a.md", "pub fn a() {}\n");
    }

    #[test]
    fn hostile_files_end() {
        let deep = "x(\n".repeat(20_000) + &"pub fn a() {}\n".repeat(20_000);
        let found = undocumented("a.rs", &deep, &[Lines::range(1, 40_000).unwrap()]);
        assert_eq!(found.len(), 20_000);
        let long = "/*".repeat(100_000);
        undocumented("a.rs", &long, &[Lines::at(1).unwrap()]);
        let far: String = (0..3_000).map(|_| "        def a():\n            pass\n").collect();
        undocumented("a.py", &far, &[Lines::range(1, 6_000).unwrap()]);
    }
}
