//! The tests of a file: [`test_functions`] determines which tests a runner collects and which can
//! fail.
//!
//! A test counts only if its runner collects and runs it, and if a run reaches an assertion that
//! depends on code outside of the test and whose failure reaches the runner.

mod assertion;
mod collection;

use crate::language::{self, Language};
use crate::reachability::{Flow, Reach, walk};
use crate::syntax::{Syntax, SyntaxNode};
use assertion::{TestFacts, is_assertion};

/// A function or a call that declares a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFunction {
    /// The name, or the title.
    pub name: String,
    /// The line of the name, from 1.
    pub line: u32,
    /// The last line, from 1.
    pub last_line: u32,
    /// The effect of the test: whether it can fail.
    pub effect: TestEffect,
}

/// The effect of a test: whether it can fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestEffect {
    /// A runner collects the test, and an assertion of the test can fail.
    CanFail,
    /// The effect is unknown. The text has the obstacle and completes a sentence that begins with
    /// "the test".
    Unclear(String),
    /// The test never fails. The text has the reason and completes a sentence that begins with "the
    /// test".
    Inert(String),
}

/// Returns the tests of a file, in order; `None` if no grammar can parse its code.
pub fn test_functions(path: &str, text: &str) -> Option<Vec<TestFunction>> {
    let language = language::of(path, text)?;
    if matches!(
        language,
        Language::Yaml
            | Language::Json
            | Language::Hcl
            | Language::C
            | Language::Cpp
            | Language::Bash
            | Language::CSharp
            | Language::Kotlin
            | Language::Swift
    ) {
        return None;
    }
    // Tests in Python are recognised by their names alone, which other code may have as well.
    if language == Language::Python && !language::is_test(path) {
        return Some(Vec::new());
    }
    let syntax = Syntax::of(path, text)?;
    let mut found: Vec<(SyntaxNode<'_>, Flow, collection::Test<'_>)> = Vec::new();
    let mut body = TestFacts::default();
    walk(&syntax, &|node| is_assertion(language, node), &mut |node, flow| {
        if let Some(test) = collection::Test::of(language, node, flow) {
            found.push((node.clone(), flow.clone(), test));
        }
        body.record(language, node, flow);
    });
    let file = collection::TestFile::of(language, path, text, &syntax);
    let tests = found.iter().map(|(node, flow, test)| {
        let effect = match &flow.reach {
            Reach::Never(why) => TestEffect::Inert(format!("never runs: {why}")),
            Reach::Conditional(why) => TestEffect::Unclear(format!("runs {why}")),
            Reach::Reached => {
                file.obstacle(test, node, flow).unwrap_or_else(|| body.effect(language, node, test))
            }
        };
        let end = node.end_pos();
        TestFunction {
            name: test.name.clone(),
            line: test.line,
            last_line: end.line() as u32 + 1,
            effect,
        }
    });
    let mut tests: Vec<TestFunction> = tests.collect();
    tests.sort_by_key(|test| test.line);
    Some(tests)
}

#[cfg(test)]
mod tests;
