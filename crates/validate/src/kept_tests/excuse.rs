//! Finds criteria that demand a change of a test, or of the code under test:
//! [`excusing_criterion`].

use assay_findings::grounding::squeeze;

use super::compare::leaf;
use super::test_sources::TestSources;

/// Words with which a criterion demands a change. A criterion that only asks for a passing test
/// excuses nothing.
const CHANGE_WORDS: [&str; 30] = [
    "change", "changes", "changed", "now", "instead", "longer", "remove", "removes", "removed",
    "delete", "deletes", "deleted", "drop", "drops", "dropped", "replace", "replaces", "replaced",
    "rename", "renamed", "rewrite", "rewritten", "becomes", "become", "anymore", "updated",
    "update", "gone", "retired", "previously",
];

/// Returns a criterion that demands a change of the test, or of the value of an expression in the
/// test. `criteria` are those of the first round: an author who weakens a test must not be able to
/// excuse it too.
pub(crate) fn excusing_criterion<'a>(
    test: &str,
    criteria: &'a [String],
    sources: &TestSources,
) -> Option<&'a str> {
    let body = sources.kept_test(leaf(test)).map(|body| squeeze(&body));
    let names = |name: &str| {
        let is_expression = name.contains('(') && name.len() >= 4;
        let is_in_test = body.as_ref().is_some_and(|body| body.contains(&squeeze(name)));
        name == test || name == leaf(test) || (is_expression && is_in_test)
    };
    let is_it = |criterion: &&String| {
        let quoted = criterion.split('`').skip(1).step_by(2);
        says_change(criterion) && quoted.into_iter().any(|name| names(name.trim()))
    };
    criteria.iter().find(is_it).map(String::as_str)
}

fn says_change(criterion: &str) -> bool {
    let said =
        criterion.split('`').step_by(2).flat_map(|part| part.split(|c: char| !c.is_alphanumeric()));
    let mut words = said.map(str::to_ascii_lowercase);
    words.any(|word| CHANGE_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_excused(criterion: &str) -> bool {
        let kept = vec!["def test_sub():\n    assert sub(3, 2) == 1\n".to_owned()];
        let sources = TestSources { kept, now: Vec::new() };
        excusing_criterion("test_calc > test_sub", &[criterion.to_owned()], &sources).is_some()
    }

    #[test]
    fn a_criterion_excuses_a_test_only_if_it_says_that_the_test_changes() {
        assert!(!is_excused("Subtraction works: `test_sub`"));
        assert!(!is_excused("`test_sub` passes"));
        assert!(!is_excused("`sub` no longer crashes on None"));
        assert!(!is_excused("`test_other` is changed"));
        assert!(is_excused("`test_sub` changes: the result is never positive"));
        assert!(is_excused("`sub(3,2)` is now `-1`"));
        assert!(is_excused("`test_sub` is removed with the function"));
    }
}
