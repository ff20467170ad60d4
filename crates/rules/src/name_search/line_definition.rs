//! Definitions by the words on a line: [`LineDefinition::of`], for languages without a grammar and
//! for code that a grammar cannot parse.

use super::word::is_word;
use crate::code_lines::LineSyntax;
use crate::definitions::DefinitionKind;

/// The form of a definition on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineDefinition {
    /// The defining keyword, `=` for a value, `(` for a method.
    word: &'static str,
    /// True if the name can be called: by its keyword, or because its value is a function.
    is_function: bool,
    /// True if the name is a variable inside of a function.
    pub(super) is_local: bool,
}

/// The keywords that define the name after them.
const DEFINING_KEYWORDS: [&str; 24] = [
    "fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union", "def", "class",
    "func", "function", "interface", "let", "var", "record", "module", "namespace", "object",
    "val", "fun", "protocol", "macro_rules!",
];

/// The keywords that define a value.
const VALUES: [&str; 6] = ["const", "static", "let", "var", "val", "="];

/// The keywords that define a function.
const FUNCTIONS: [&str; 6] = ["fn", "def", "func", "function", "fun", "("];

/// The keywords that precede a call, and not a definition.
const CONTROL: [&str; 32] = [
    "if", "else", "elif", "elseif", "unless", "while", "until", "for", "foreach", "loop", "do",
    "switch", "match", "case", "when", "catch", "guard", "try", "with", "using", "lock",
    "synchronized", "return", "new", "await", "throw", "yield", "in", "of", "not", "go", "defer",
];

/// The extensions of languages whose methods have no keyword.
const WITH_METHODS: [&str; 15] = [
    "java", "c", "h", "cc", "cpp", "hpp", "cs", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts",
    "cts",
];

/// The extensions of languages in which `struct A b;` uses a type.
const C: [&str; 5] = ["c", "h", "cc", "cpp", "hpp"];

impl LineDefinition {
    /// Returns the kind of the definition.
    pub(super) fn kind(self) -> DefinitionKind {
        match self.word {
            _ if self.is_function => DefinitionKind::Function,
            word if VALUES.contains(&word) => DefinitionKind::Value,
            "macro_rules!" => DefinitionKind::Macro,
            "mod" | "module" | "namespace" => DefinitionKind::Module,
            word => DefinitionKind::Type(word),
        }
    }

    /// Returns the definition of a name on a line, or `None` if the line uses it. A definition has
    /// a keyword before the name, or is a method or an assignment. The body of a method may begin
    /// on the next line with code.
    pub(super) fn of(path: &str, code: &str, next: &str, name: &str) -> Option<LineDefinition> {
        if code.trim_start().starts_with("import ") || CONTROL.contains(&name) {
            return None;
        }
        for (at, _) in code.match_indices(name) {
            let (before, behind) = (&code[..at], &code[at + name.len()..]);
            if !is_word(code, at, at + name.len()) {
                continue;
            }
            if let Some(word) = word_before(path, before, behind.trim_start()) {
                return Some(LineDefinition::by(word, path, before, behind));
            }
            if is_method(path, before, name, (behind.trim(), next.trim())) {
                return Some(LineDefinition::by("(", path, before, behind));
            }
        }
        // In Python and scripts, a name at the start of a line may be assigned a value.
        let rest = code.strip_prefix(name)?;
        let value = rest.trim_start();
        let is_value = value.starts_with('=') && !value.starts_with("==") && name.len() > 2;
        is_value.then(|| LineDefinition::by("=", path, "", rest))
    }

    fn by(word: &'static str, path: &str, before: &str, behind: &str) -> LineDefinition {
        let is_value = VALUES.contains(&word);
        let is_function = FUNCTIONS.contains(&word) || (is_value && is_assigned_function(behind));
        let is_inside = before.starts_with([' ', '\t']) && !before.contains("export ");
        let is_local = match LineSyntax::of(path) {
            Some(LineSyntax::Rust) => word == "let",
            Some(LineSyntax::Script | LineSyntax::Go) => is_value && is_inside && !is_function,
            _ => false,
        };
        LineDefinition { word, is_function, is_local }
    }
}

/// Returns the extension of a file name in lower case; empty if there is none.
fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// Returns the keyword before a name that defines it.
fn word_before(path: &str, before: &str, behind: &str) -> Option<&'static str> {
    let before = before.trim_end().trim_end_matches(['*', '&']).trim_end();
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    if let Some(word) = DEFINING_KEYWORDS.iter().find(|word| **word == last) {
        let is_type = ["struct", "enum", "union", "class"].contains(word);
        let is_use = is_type
            && C.contains(&extension(path).as_str())
            && !(behind.is_empty() || behind.starts_with(['{', ':', '<']) || behind == "final {");
        return (!is_use).then_some(*word);
    }
    // Kotlin and Swift put generics, Kotlin and Ruby a receiver in between:
    // `fun <T> List<T>.sell(`.
    let words = ["fun", "func", "def", "function"];
    let between = |c: char| c.is_alphanumeric() || "_<>,:.? ".contains(c);
    let is_between = |word: &&str| {
        let rest =
            before.rsplit_once(word).filter(|(start, _)| !start.ends_with(char::is_alphanumeric));
        rest.is_some_and(|(_, rest)| {
            rest.starts_with([' ', '<']) && rest.chars().all(between) && rest.ends_with(['.', '>'])
        })
    };
    if let Some(word) = words.iter().find(|word| is_between(word)) {
        return Some(*word);
    }
    // Go puts the receiver in between: `func (s *Shop) Sell(`.
    if before.starts_with("func (") && before.ends_with(')') {
        return Some("func");
    }
    (last == "mut" && before.contains("static")).then_some("static")
}

/// Returns true if a name is a method of Java, C or a script, or a function of a shell, by the text
/// around it: only types before it, a parameter list after it, and a body.
fn is_method(path: &str, before: &str, name: &str, (behind, next): (&str, &str)) -> bool {
    let extension = extension(path);
    let is_alone = before.trim().is_empty();
    if ["sh", "bash"].contains(&extension.as_str()) {
        let body = behind.strip_prefix("()").map(str::trim_start);
        return is_alone && body.is_some_and(|body| body.starts_with('{') || next.starts_with('{'));
    }
    if !WITH_METHODS.contains(&extension.as_str()) {
        return false;
    }
    let is_script = LineSyntax::of(path) == Some(LineSyntax::Script);
    // `for_each(x, list) {` within a function of C is the use of a macro.
    let is_constructor = before.is_empty() || name.starts_with(char::is_uppercase);
    if is_alone && !is_script && !is_constructor {
        return false;
    }
    let types = |c: char| c.is_alphanumeric() || "_<>[],.* \t?@".contains(c);
    let is_typed = before.chars().all(types) && !before.trim_end().ends_with(['.', ',']);
    let mut words = before.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_statement = words.any(|word| CONTROL.contains(&word));
    // Type parameters may precede the parameters: `frob<T>(a)`.
    let generic = behind.strip_prefix('<').and_then(|rest| rest.split_once(">("));
    let behind = generic.map_or(behind, |(types, _)| &behind[types.len() + 2..]);
    // `frob(a)` alone on a line is a call, even if a block follows.
    let next = if is_alone && !is_script { "" } else { next };
    is_typed && !is_statement && has_parameters_and_body(&extension, behind, next)
}

/// Returns true if a text is a parameter list followed by a body. A call whose last argument begins
/// a function also ends in a brace, but its list is not closed.
fn has_parameters_and_body(extension: &str, text: &str, next: &str) -> bool {
    let Some(after) = behind_brackets(text) else { return false };
    if extension == "cs"
        && (after.starts_with("=>") || (after.is_empty() && next.starts_with("=>")))
    {
        return true;
    }
    let head = after.split('{').next().unwrap_or_default();
    let is_head = |c: char| c.is_alphanumeric() || "_<>[],.:?&| \t".contains(c);
    let has_body = after.contains('{') || next.starts_with('{');
    has_body && head.chars().all(is_head)
}

/// Returns the text after the brackets at the start of a text, if they are closed.
fn behind_brackets(text: &str) -> Option<&str> {
    let mut open = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 1 => return Some(text[at + 1..].trim()),
            ')' => open = open.checked_sub(1)?,
            _ if open == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns true if the text after a name assigns a function to it: `= (a) => a`, `= lambda a: a`.
fn is_assigned_function(behind: &str) -> bool {
    let marks = behind.char_indices().filter(|(_, c)| *c == '=');
    let gives = |at: &usize| {
        let is_joined = behind[..*at].ends_with(['=', '!', '<', '>', ':']);
        !is_joined && !behind[at + 1..].starts_with(['=', '>'])
    };
    let Some(at) = marks.map(|(at, _)| at).find(gives) else { return false };
    let value = behind[at + 1..].trim_start();
    let value = value.strip_prefix("async ").unwrap_or(value).trim_start();
    let is_said = ["function", "lambda"].iter().any(|word| {
        let rest = value.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let parameters = match value.starts_with(is_letter) {
        true => Some(value.trim_start_matches(is_letter).trim_start()),
        false => behind_brackets(value),
    };
    let is_arrow =
        |rest: &str| rest.starts_with("=>") || (rest.starts_with(':') && rest.contains("=>"));
    is_said || parameters.is_some_and(is_arrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the definition of a name on a line: `fn`, `const function`, `let local`.
    fn check(path: &str, code: &str, name: &str) -> String {
        let (code, next) = code.split_once('\n').unwrap_or((code, ""));
        let Some(defined) = LineDefinition::of(path, code, next, name) else {
            return "used".to_owned();
        };
        let function = if defined.is_function { " function" } else { "" };
        let local = if defined.is_local { " local" } else { "" };
        format!("{}{function}{local}", defined.word)
    }

    #[test]
    fn a_call_is_no_definition() {
        for (path, code) in [
            ("a.rs", "if frob(1) {"),
            ("a.rs", "    while frob(x) {"),
            ("a.rs", "match frob(x) {"),
            ("a.go", "for frob(x) {"),
            ("a.js", "  } else if (frob(x)) {"),
            ("a.js", "if (a) frob(x, () => {"),
            ("a.js", "frob(1, () => {"),
            ("a.js", "return frob(x) {"),
            ("A.java", "switch (frob(x)) {"),
            ("A.java", "    while frob(x) {"),
            ("a.c", "    frob(item, list) {"),
            ("a.c", "struct frob *next = 0;"),
            ("a.kt", "frob(scope) {"),
            ("a.rb", "frob(x) {"),
            ("a.ts", "import type frob from 'x';"),
            ("a.py", "frob == 3"),
        ] {
            assert_eq!(check(path, code, "frob"), "used", "{path}: {code}");
        }
        assert_eq!(check("A.java", "while (x) {", "while"), "used");
    }

    #[test]
    fn definitions_are_classified_by_keyword_and_kind() {
        for (path, code, defined) in [
            ("a.rs", "pub fn frob() {", "fn function"),
            ("a.rs", "    let frob = 3;", "let local"),
            ("a.rs", "pub const frob: u8 = 3;", "const"),
            ("a.js", "const frob = 3;", "const"),
            ("a.js", "  const frob = 3;", "const local"),
            ("a.js", "  const frob = items.map((x) => x.a);", "const local"),
            ("a.js", "  const frob = (x) => x;", "const function"),
            ("a.js", "export const frob = async x => x;", "const function"),
            ("a.ts", "let frob: () => void = function () {", "let function"),
            ("a.ts", "const frob = (x: A): B => {", "const function"),
            ("a.ts", "  frob(a: (b: B) => C): D {", "( function"),
            ("a.py", "frob = lambda x: x", "= function"),
            ("a.py", "frob = 3", "="),
            ("A.java", "    public int frob(int a) throws B {", "( function"),
            ("a.c", "frob(int a) {", "( function"),
            ("a.c", "struct frob {", "struct"),
            ("a.sh", "frob() {", "( function"),
            ("a.go", "func (s *Shop) frob() {", "func function"),
            ("a.kt", "fun <T> frob(a: T) = a", "fun function"),
            ("a.kt", "suspend fun List<Int>.frob(): Int = 1", "fun function"),
            ("a.kt", "private fun frob()\n{", "fun function"),
            ("a.swift", "public func frob<T>(a: T) -> T {", "func function"),
            ("A.cs", "    public int frob(int a) => a;", "( function"),
            ("A.cs", "    public int frob(int a)\n    {", "( function"),
            ("A.cs", "    public async Task<int> frob<T>(T a) where T : B\n    {", "( function"),
            ("A.cs", "    int frob() { return 1; }", "( function"),
            ("a.rb", "  def self.frob = 1", "def function"),
            ("a.sh", "frob()\n{", "( function"),
            ("a.scala", "  def frob(a: Int) = a", "def function"),
        ] {
            assert_eq!(check(path, code, "frob"), defined, "{path}: {code}");
        }
    }
}
