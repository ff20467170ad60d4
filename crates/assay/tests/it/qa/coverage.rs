//! Specs that require a minimum coverage, with reports as runners write them.

use super::{PLAN, QaFixture};

const SPEC: &str = "\
# Greeting

## Acceptance Criteria

- [ ] `greets` passes

## Verification

**Unit Tests:**
- `sh cover.sh` - All pass
- Coverage: >= 80%

**Integration Tests:**
- `sh cover.sh` - All pass
";

/// A runner whose tests cover as many of ten lines as `tested.txt` has.
const HEAD: &str = "\
echo 1..1
echo ok 1 - greets
tested=$(wc -l < tested.txt)
hits() { if [ $1 -le $tested ]; then echo 1; else echo 0; fi; }
";

const LCOV: &str = "\
{
    echo SF:greet.sh
    for n in 1 2 3 4 5 6 7 8 9 10; do echo DA:$n,$(hits $n); done
    echo end_of_record
} > lcov.info
";

const COBERTURA: &str = r#"
{
    echo '<?xml version="1.0"?><coverage><sources><source>.</source></sources><packages><package><classes>'
    echo '<class filename="greet.sh"><lines>'
    for n in 1 2 3 4 5 6 7 8 9 10; do echo "<line number=\"$n\" hits=\"$(hits $n)\"/>"; done
    echo '</lines></class></classes></package></packages></coverage>'
} > coverage.xml
"#;

/// Sets up a spec with half of its lines covered, and a fixer that tests three more lines.
pub(super) fn half_covered(spec: &str, plan: &str, report: &str) -> QaFixture {
    let script = "for n in 6 7 8; do echo $n >> tested.txt; done\n";
    let fixture = QaFixture::with(spec, plan, script, "");
    let repository = &fixture.repository;
    repository.write(".gitignore", "lcov.info\ncoverage.xml\n");
    repository.write("cover.sh", format!("{HEAD}{report}"));
    repository.git(&["add", ".gitignore", "cover.sh"]);
    repository.git(&["commit", "--quiet", "--message", "how it is measured"]);
    repository.write("greet.sh", "echo hello\n".repeat(10));
    repository.write("tested.txt", "1\n2\n3\n4\n5\n");
    fixture
}

/// Sets up the same spec with reports in the format of lcov.
pub(super) fn half_covered_by_lcov(spec: &str, plan: &str) -> QaFixture {
    half_covered(spec, plan, LCOV)
}

#[test]
fn too_little_coverage_is_an_issue_until_there_is_enough() {
    for report in [LCOV, COBERTURA] {
        let fixture = half_covered(SPEC, PLAN, report);
        let ran = fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
        let titles = [
            "Test coverage in total is below 80%",
            "Test coverage of `greet.sh` is below 80%",
            "Test coverage of the added lines is below 80%",
        ];
        let expected = titles.map(|title| ("coverage".to_owned(), title.to_owned()));
        assert_eq!(fixture.issues(), expected, "{}", ran.stdout);
        let table = "| total | 50.0% | 80% |\n| changed lines | 50.0% | 80% |\n| greet.sh | 50.0% | 80% |\n";
        let qa_report = fixture.artifact("qa_report.md");
        assert!(qa_report.contains(table), "{qa_report}");
        fixture.ends(0, &["--resume"]);
        fixture.is_approved();
        let qa_report = fixture.artifact("qa_report.md");
        assert!(qa_report.contains("| total | 80.0% | 80% |\n"), "{qa_report}");
    }
}

#[test]
fn unmeasured_coverage_does_not_count_as_coverage() {
    let fixture = half_covered(SPEC, PLAN, "");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let title = "Not run: coverage: sh cover.sh".to_owned();
    assert_eq!(fixture.issues(), [("coverage".to_owned(), title)]);
}
