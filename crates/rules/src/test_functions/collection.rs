//! The tests that a runner collects and runs: [`TestFile::obstacle`].

use super::TestEffect;
use crate::conditions::{Truth, of_cfg, split};
use crate::language::Language;
use crate::reachability::{Flow, ScopeKind};
use crate::syntax::{Syntax, SyntaxNode};

/// The functions of scripts that declare tests.
pub(super) const DECLARE: [&str; 17] = [
    "it", "test", "describe", "specify", "suite", "context", "scenario", "xit", "xtest",
    "xdescribe", "xspecify", "xcontext", "fit", "fdescribe", "ftest", "example", "xexample",
];

/// A test in the form of its declaration.
pub(super) struct Test<'t> {
    pub(super) name: String,
    pub(super) line: u32,
    /// The function that runs as the test; `None` if there is none.
    pub(super) function: Option<SyntaxNode<'t>>,
    /// The decorators, annotations or attributes; for scripts, the function that declares the test,
    /// with its options.
    marks: Vec<String>,
}

impl<'t> Test<'t> {
    /// Returns the test that a node declares.
    pub(super) fn of(language: Language, node: &SyntaxNode<'t>, flow: &Flow) -> Option<Test<'t>> {
        let kind = node.kind().into_owned();
        match (language, kind.as_str()) {
            (Language::Python, "function_definition") => {
                Test::by_name(node, decorators(node), |name| name.starts_with("test"))
            }
            (Language::Rust, "function_item") => {
                let is_marked = flow.attributes.iter().any(|it| is_test_attribute(it));
                let attributes = flow.attributes.clone();
                Test::by_name(node, attributes, |name| is_marked || name.starts_with("test"))
            }
            (Language::Go, "function_declaration") => Test::by_name(node, Vec::new(), |name| {
                name.starts_with("Test") || name.starts_with("Fuzz")
            }),
            (Language::Java, "method_declaration") => {
                let marks = modifiers(node);
                let is_marked =
                    marks.iter().any(|mark| mark.starts_with('@') && mark.contains("Test"));
                Test::by_name(node, marks, |name| is_marked || name.starts_with("test"))
            }
            (Language::Php, "method_declaration") => {
                Test::by_name(node, Vec::new(), |name| name.starts_with("test"))
            }
            (Language::Ruby, "method") => {
                Test::by_name(node, Vec::new(), |name| name.starts_with("test"))
            }
            (_, "call_expression" | "call") => Test::by_title(language, node),
            _ => None,
        }
    }

    fn by_name(
        node: &SyntaxNode<'t>,
        marks: Vec<String>,
        is_test: impl Fn(&str) -> bool,
    ) -> Option<Test<'t>> {
        let named = node.field("name")?;
        let name = named.text().into_owned();
        let line = named.start_pos().line() as u32 + 1;
        is_test(&name).then(|| Test { name, line, function: Some(node.clone()), marks })
    }

    fn by_title(language: Language, node: &SyntaxNode<'t>) -> Option<Test<'t>> {
        let called = node.field("function").or_else(|| node.field("method"))?.text().into_owned();
        let is_declared = match language {
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                DECLARE.contains(&root(&called))
            }
            Language::Ruby => DECLARE.contains(&called.as_str()),
            Language::Go => called.ends_with(".Run"),
            _ => false,
        };
        let arguments = node.field("arguments").filter(|_| is_declared)?;
        let all: Vec<SyntaxNode<'t>> =
            arguments.children().filter(|child| child.is_named()).collect();
        let title = all.first().filter(|first| {
            let kind = first.kind();
            kind.contains("string")
        })?;
        let is_function = |node: &&SyntaxNode<'t>| {
            matches!(&*node.kind(), "arrow_function" | "function_expression" | "func_literal")
        };
        let block = node.field("block");
        let named = all.iter().skip(1).any(|one| &*one.kind() == "identifier");
        let function = all.iter().rfind(is_function).cloned().or(block);
        let function = function.or_else(|| named.then(|| node.clone()));
        let options = all.iter().skip(1).filter(|one| !is_function(one));
        let mut marks = vec![called];
        marks.extend(options.map(|option| option.text().into_owned()));
        let name = title.text().trim_matches(['"', '\'', '`']).to_owned();
        Some(Test { name, line: title.start_pos().line() as u32 + 1, function, marks })
    }

    /// Returns true if the test passes only if its code fails.
    pub(super) fn expects_failure(&self) -> bool {
        let mut marks = self.marks.iter();
        marks.any(|mark| mark.contains("should_panic") || mark.contains("expected"))
    }

    fn is_titled(&self, node: &SyntaxNode<'_>) -> bool {
        matches!(&*node.kind(), "call_expression" | "call")
    }
}

/// Returns the first name of a callee: `it` of `it.only.each([1])`.
pub(super) fn root(called: &str) -> &str {
    called.split(['.', '(', '`']).next().unwrap_or_default()
}

fn decorators(node: &SyntaxNode<'_>) -> Vec<String> {
    let Some(around) = node.parent().filter(|it| &*it.kind() == "decorated_definition") else {
        return Vec::new();
    };
    let found = around.children().filter(|child| &*child.kind() == "decorator");
    found.map(|decorator| decorator.text().into_owned()).collect()
}

fn modifiers(node: &SyntaxNode<'_>) -> Vec<String> {
    let found = node.children().filter(|child| &*child.kind() == "modifiers");
    let all = found.flat_map(|modifiers| modifiers.children().collect::<Vec<_>>());
    all.map(|modifier| modifier.text().into_owned()).collect()
}

fn attribute(text: &str) -> &str {
    text.trim().trim_start_matches(['#', '!', '[']).trim_end_matches(']').trim()
}

fn is_test_attribute(text: &str) -> bool {
    let path = attribute(text).split(['(', '=']).next().unwrap_or_default().trim();
    let last = path.rsplit("::").next().unwrap_or(path);
    ["test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test", "case", "test_log"]
        .contains(&last)
}

/// The facts of a file that affect its tests.
pub(super) struct TestFile {
    language: Language,
    path: String,
    /// The reason that no test of the file runs; `None` if there is none.
    whole: Option<TestEffect>,
    /// Names of tests and classes that the file excludes from its runner.
    switched_off: Vec<String>,
    /// True if a test of the file is marked to run alone.
    has_only: bool,
}

impl TestFile {
    pub(super) fn of(language: Language, path: &str, text: &str, syntax: &Syntax) -> TestFile {
        let mut file = TestFile {
            language,
            path: path.to_owned(),
            whole: None,
            switched_off: Vec::new(),
            has_only: false,
        };
        match language {
            Language::Python => file.read_python(&syntax.root()),
            Language::Go => file.read_build_tags(text),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                file.has_only = syntax.root().dfs().any(|node| {
                    &*node.kind() == "call_expression"
                        && node.field("function").is_some_and(|called| is_only(&called.text()))
                });
            }
            _ => {}
        }
        file
    }

    fn read_python(&mut self, root: &SyntaxNode<'_>) {
        for statement in root.children() {
            let text = statement.text();
            let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let assigned = squeezed.split_once('=');
            match assigned {
                Some(("__test__", value)) if is_off(value) => {
                    self.whole = Some(inert("is not collected: the file says `__test__ = False`"));
                }
                Some(("pytestmark", value)) => {
                    self.whole = self.whole.take().or(python_mark_obstacle(value))
                }
                Some((name, value)) if is_off(value) => {
                    self.switched_off.extend(name.strip_suffix(".__test__").map(str::to_owned));
                }
                _ if squeezed.starts_with("pytest.skip(") => {
                    self.whole = Some(inert("is skipped with its file"));
                }
                _ => {}
            }
        }
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let is_collected =
            name.starts_with("test") || name.ends_with("_test.py") || name.ends_with("_tests.py");
        if !is_collected && self.whole.is_none() {
            self.whole = Some(TestEffect::Unclear(format!(
                "may not be collected: runners collect `test_*.py`, and the file is `{name}`"
            )));
        }
    }

    fn read_build_tags(&mut self, text: &str) {
        const KNOWN: [&str; 24] = [
            "linux", "windows", "darwin", "unix", "amd64", "arm64", "386", "arm", "cgo", "race",
            "freebsd", "netbsd", "openbsd", "js", "wasm", "android", "ios", "gc", "msan", "asan",
            "go1", "solaris", "aix", "plan9",
        ];
        let head = text.lines().take_while(|line| !line.starts_with("package "));
        let tags = head.filter_map(|line| line.strip_prefix("//go:build ")).last();
        let unknown = tags.and_then(|tags| {
            let mut rest = tags.split(|c: char| !c.is_alphanumeric() && !"_.!".contains(c));
            rest.find(|tag| {
                let tag = tag.split('.').next().unwrap_or(tag);
                !tag.is_empty() && !tag.starts_with('!') && !KNOWN.contains(&tag)
            })
        });
        self.whole = match unknown {
            Some("ignore" | "never") => {
                Some(inert("is not built: its file is left out by a build tag"))
            }
            Some(tag) => {
                Some(TestEffect::Unclear(format!("is built only with the build tag `{tag}`")))
            }
            None => None,
        };
    }

    /// Returns the reason that a runner does not run a test, or that this is unknown; `None` if it
    /// runs.
    pub(super) fn obstacle(
        &self,
        test: &Test<'_>,
        node: &SyntaxNode<'_>,
        flow: &Flow,
    ) -> Option<TestEffect> {
        if let Some(whole) = &self.whole {
            return Some(whole.clone());
        }
        if self.switched_off.contains(&test.name) {
            return Some(inert("is not collected: its `__test__` is False"));
        }
        match self.language {
            Language::Python => self.python(test, node, flow),
            Language::Rust => rust(test, flow),
            Language::Go if !test.is_titled(node) => self.go(test, node),
            Language::JavaScript | Language::TypeScript | Language::Tsx => self.script(test, node),
            Language::Java => java(test, node),
            Language::Ruby if test.is_titled(node) => self.script(test, node),
            _ => None,
        }
    }

    fn python(&self, test: &Test<'_>, node: &SyntaxNode<'_>, flow: &Flow) -> Option<TestEffect> {
        if flow.scope == ScopeKind::Function {
            return Some(inert("is not collected: the test stands inside of a function"));
        }
        if let Some(trouble) = test.marks.iter().find_map(|mark| python_mark_obstacle(mark)) {
            return Some(trouble);
        }
        let mut class = node.ancestors().find(|it| &*it.kind() == "class_definition");
        while let Some(inner) = class {
            if let Some(trouble) = self.class(&inner) {
                return Some(trouble);
            }
            class = inner.ancestors().find(|it| &*it.kind() == "class_definition");
        }
        None
    }

    /// Returns the reason that a runner does not collect the tests of a class in Python.
    fn class(&self, class: &SyntaxNode<'_>) -> Option<TestEffect> {
        let name = class.field("name")?.text().into_owned();
        if self.switched_off.contains(&name) {
            return Some(inert("is not collected: the `__test__` of its class is False"));
        }
        if let Some(trouble) = decorators(class).iter().find_map(|mark| python_mark_obstacle(mark))
        {
            return Some(trouble);
        }
        let bases =
            class.field("superclasses").map(|it| it.text().into_owned()).unwrap_or_default();
        let bases: Vec<&str> = bases
            .trim_matches(['(', ')'])
            .split(',')
            .map(|base| base.trim().rsplit('.').next().unwrap_or_default())
            .filter(|base| !base.is_empty() && *base != "object" && !base.contains('='))
            .collect();
        let is_case = bases.iter().any(|base| base.contains("Test"));
        for statement in class.field("body")?.children() {
            let text = statement.text();
            let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            match squeezed.split_once('=') {
                Some(("__test__", value)) if is_off(value) => {
                    return Some(inert("is not collected: its class says `__test__ = False`"));
                }
                Some(("pytestmark", value)) => {
                    if let Some(trouble) = python_mark_obstacle(value) {
                        return Some(trouble);
                    }
                }
                _ => {}
            }
            let is_init = ["def__init__(", "def__new__("].iter().any(|it| squeezed.starts_with(it));
            if is_init && !is_case {
                return Some(inert("is not collected: its class has an `__init__`"));
            }
        }
        if is_case || name.starts_with("Test") {
            return None;
        }
        Some(match bases.is_empty() {
            true => TestEffect::Inert(format!(
                "is not collected: its class `{name}` is no `TestCase`, and its name does not begin with `Test`"
            )),
            false => TestEffect::Unclear(format!(
                "may not be collected: nothing shows that `{name}` is a test class"
            )),
        })
    }

    fn go(&self, test: &Test<'_>, node: &SyntaxNode<'_>) -> Option<TestEffect> {
        if !self.path.ends_with("_test.go") {
            return Some(inert("is not collected: its file is no `_test.go`"));
        }
        let rest = test.name.trim_start_matches("Test").trim_start_matches("Fuzz");
        if rest.starts_with(|c: char| c.is_lowercase()) {
            return Some(inert("is not collected: a lower-case letter follows `Test`"));
        }
        let parameters = node.field("parameters")?.text().into_owned();
        let is_test = parameters.contains("testing.T") || parameters.contains("testing.F");
        (!is_test).then(|| inert("is not collected: its parameter is no `*testing.T`"))
    }

    fn script(&self, test: &Test<'_>, node: &SyntaxNode<'_>) -> Option<TestEffect> {
        if test.function.is_none() {
            return Some(inert("has no body"));
        }
        let mut is_alone = test.marks.first().is_some_and(|called| is_only(called));
        if let Some(trouble) = script_obstacle(&test.marks) {
            return Some(trouble);
        }
        for around in node.ancestors() {
            if !matches!(&*around.kind(), "call_expression" | "call") {
                continue;
            }
            let Some(outer) = Test::by_title(self.language, &around) else { continue };
            is_alone |= outer.marks.first().is_some_and(|called| is_only(called));
            if let Some(trouble) = script_obstacle(&outer.marks) {
                return Some(trouble);
            }
        }
        (self.has_only && !is_alone)
            .then(|| inert("does not run: another test of the file has `only`"))
    }
}

fn inert(why: &str) -> TestEffect {
    TestEffect::Inert(why.to_owned())
}

fn is_off(value: &str) -> bool {
    matches!(value, "False" | "0" | "None")
}

fn is_only(called: &str) -> bool {
    let mut parts = called.split(['.', '(']);
    let first = parts.next().unwrap_or_default();
    ["fit", "fdescribe", "ftest"].contains(&first)
        || (DECLARE.contains(&first) && parts.any(|part| part == "only"))
}

/// Returns the obstacle in the declaring function of a script and its options.
fn script_obstacle(marks: &[String]) -> Option<TestEffect> {
    let (called, options) = marks.split_first()?;
    let first = root(called);
    if first.starts_with('x') && DECLARE.contains(&&first[1..]) {
        return Some(inert(&format!("is skipped: `{first}`")));
    }
    for part in called.split(['.', '(']).skip(1) {
        match part {
            "skip" | "todo" => return Some(inert(&format!("is skipped: `{called}`"))),
            "fails" | "failing" => {
                return Some(inert(&format!("is expected to fail: `{called}`")));
            }
            "skipIf" | "runIf" => {
                let value =
                    called.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
                let is_off =
                    (part == "skipIf" && value == "true") || (part == "runIf" && value == "false");
                return Some(match is_off {
                    true => inert(&format!("is skipped: `{called}`")),
                    false => {
                        TestEffect::Unclear(format!("runs only under a condition: `{called}`"))
                    }
                });
            }
            _ => {}
        }
    }
    options.iter().find_map(|option| {
        let squeezed: String = option.chars().filter(|c| !c.is_whitespace()).collect();
        let squeezed = squeezed.trim_matches(['{', '}']);
        squeezed.split(',').find_map(|pair| {
            let (key, value) = pair.split_once(':').unwrap_or((pair, "true"));
            let (key, value) = (key.trim_matches([':', '"', '\'']), value.trim_matches(['>', '=']));
            let is_set = !matches!(value, "false" | "undefined" | "null" | "nil");
            (["skip", "todo", "pending"].contains(&key) && is_set)
                .then(|| inert(&format!("is skipped: `{option}`")))
        })
    })
}

/// Returns the obstacle in a decorator or a mark of Python.
fn python_mark_obstacle(mark: &str) -> Option<TestEffect> {
    let squeezed: String = mark.chars().filter(|c| !c.is_whitespace()).collect();
    let squeezed = squeezed.trim_start_matches('@').trim_matches(['[', ']']);
    let shown = mark.trim().split('\n').next().unwrap_or_default();
    let (name, arguments) = squeezed.split_once('(').unwrap_or((squeezed, ""));
    let arguments = arguments.trim_end_matches(')');
    let first = split(arguments).first().copied().unwrap_or_default();
    match name.rsplit('.').next().unwrap_or(name) {
        "skip" => Some(inert(&format!("is skipped: `{shown}`"))),
        "xfail" | "expectedFailure" => Some(inert(&format!("is expected to fail: `{shown}`"))),
        "fixture" => Some(inert("is not collected: the function is a fixture")),
        word @ ("skipif" | "skipIf" | "skipUnless") => {
            let truth = truth_of_python(first);
            let is_off = match word {
                "skipUnless" => truth == Truth::Never,
                _ => truth == Truth::Always,
            };
            match (is_off, truth) {
                (true, _) => Some(inert(&format!("is skipped: `{shown}`"))),
                (false, Truth::Unknown) => {
                    Some(TestEffect::Unclear(format!("runs only under a condition: `{shown}`")))
                }
                (false, _) => None,
            }
        }
        "parametrize" => {
            let values = split(arguments).get(1).copied().unwrap_or_default();
            ["[]", "()"]
                .contains(&values)
                .then(|| inert(&format!("runs for no parameters: `{shown}`")))
        }
        _ => None,
    }
}

fn truth_of_python(text: &str) -> Truth {
    // A condition in a string is also an expression.
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let text = inner('"').or_else(|| inner('\'')).unwrap_or(text);
    let Some(syntax) = Syntax::parse(Language::Python, text) else { return Truth::Unknown };
    let root = syntax.root();
    let statement = root.children().next();
    statement.map_or(Truth::Unknown, |statement| Truth::of_expression(&statement))
}

fn rust(test: &Test<'_>, flow: &Flow) -> Option<TestEffect> {
    if !test.marks.iter().any(|mark| is_test_attribute(mark)) {
        return Some(inert("has no `#[test]`"));
    }
    if flow.scope == ScopeKind::Function {
        return Some(inert("is not collected: the test stands inside of a function"));
    }
    test.marks.iter().map(|mark| attribute(mark)).find_map(|mark| {
        let name = mark.split([' ', '=', '(']).next().unwrap_or_default();
        if name == "ignore" {
            return Some(inert("is ignored: `#[ignore]`"));
        }
        let rest = mark.strip_prefix("cfg_attr")?.trim().strip_prefix('(')?.strip_suffix(')')?;
        let parts = split(rest);
        let (predicate, given) = parts.split_first()?;
        let is_ignored = given.iter().any(|given| given.trim().starts_with("ignore"));
        (is_ignored && of_cfg(predicate) == Truth::Always).then(|| inert("is ignored: `cfg_attr`"))
    })
}

fn java(test: &Test<'_>, node: &SyntaxNode<'_>) -> Option<TestEffect> {
    let off = |marks: &[String]| {
        marks.iter().find_map(|mark| {
            let name = mark.trim_start_matches('@').split('(').next().unwrap_or_default();
            let name = name.rsplit('.').next().unwrap_or(name);
            let squeezed: String = mark.chars().filter(|c| !c.is_whitespace()).collect();
            (["Disabled", "Ignore"].contains(&name) || squeezed.contains("enabled=false"))
                .then(|| inert(&format!("is skipped: `{mark}`")))
        })
    };
    if let Some(trouble) = off(&test.marks) {
        return Some(trouble);
    }
    let mut classes = node.ancestors().filter(|it| &*it.kind() == "class_declaration");
    let trouble = classes.find_map(|class| off(&modifiers(&class)));
    let is_marked = test.marks.iter().any(|mark| mark.starts_with('@') && mark.contains("Test"));
    let is_case = node
        .ancestors()
        .any(|it| it.field("superclass").is_some_and(|base| base.text().contains("Test")));
    trouble.or_else(|| (!is_marked && !is_case).then(|| inert("has no `@Test`")))
}
