//! Forty criteria of three invented projects, as a person would write them, with the answer that a
//! reader of the project would give. No criterion is decided wrongly, and most are decided without
//! a model.

use std::collections::BTreeMap;
use std::path::Path;

use assay_checks::check::{CheckKind, CheckOutcome};
use assay_checks::results::{ResultFormat, read};
use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_validate::criterion::CriterionAnswer;
use assay_validate::issues;
use assay_validate::plan::ImplementationPlan;
use assay_validate::spec::Spec;

use crate::loop_simulation;

/// The answer that a reader would give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Met,
    NotMet,
    /// No code can decide; a model or a person decides.
    Undecided,
    /// A command decides, which is run for the criterion.
    Command,
}

use Expected::{Command, Met, NotMet, Undecided};

struct Project {
    files: &'static [(&'static str, &'static str)],
    /// Results of the unit tests, in TAP.
    results: &'static str,
    criteria: &'static [(&'static str, Expected)],
}

/// A command-line tool in Python that computes the price of a parcel.
const PARCEL: Project = Project {
    files: &[
        (
            "parcel/tariff.py",
            "ZONES = {\"near\": 4}\n\n\ndef price(weight, zone):\n    return ZONES[zone] + weight\n\n\n\
             class Tariff:\n    pass\n",
        ),
        (
            "parcel/cli.py",
            "from parcel.tariff import price\n\n\ndef main():\n    print(price(1, \"near\"))\n",
        ),
        (
            "README.md",
            "# Parcel\n\nRun `parcel --zone near`.\n\n<!-- TODO: describe --express -->\n",
        ),
        ("CHANGELOG.md", "# Changes\n\n- `--zone` picks the zone of a parcel\n"),
        (
            "tests/test_tariff.py",
            "def test_price_of_near_zone():\n    assert True\n\n\n\
             def test_unknown_zone_is_refused():\n    assert True\n",
        ),
    ],
    results: "1..5\nok 1 - tests.test_tariff > test_price_of_near_zone\n\
              ok 2 - tests.test_tariff > test_unknown_zone_is_refused\n\
              not ok 3 - tests.test_cli.TestCli > test_prints_price\n\
              ok 4 - tests.test_cli.TestHelp > test_help\n\
              ok 5 - tests.test_cli.TestHelp > test_version # SKIP\n",
    criteria: &[
        ("`tests/test_tariff.py::test_price_of_near_zone` passes", Met),
        ("Prices depend on the zone: `test_price_of_near_zone`", Met),
        ("The CLI prints the price (`TestCli::test_prints_price`)", NotMet),
        ("`test_unknown_zone_is_refused` passes and a helpful message is shown", Undecided),
        ("The function `price` exists in `parcel/tariff.py`", Met),
        ("The class `Tariff` is defined in `parcel/tariff.py`", Met),
        ("The function `refund` exists in `parcel/tariff.py`", NotMet),
        ("The readme mentions `--zone`", Met),
        ("The readme mentions `--express`", NotMet),
        ("The change log mentions `--zone`", Met),
        ("The README explains how to install the tool", Undecided),
        ("`test_help` and `test_version` pass", Undecided),
        ("Parcels over 30 kg are refused", Undecided),
        ("`ruff check .` passes", Command),
        ("All tests in `tests/test_tariff.py` pass", Met),
    ],
};

/// A web service in TypeScript that computes the time of the next tide.
const TIDE: Project = Project {
    files: &[
        (
            "src/tide.ts",
            "export function nextHigh(port: string): Date {\n  return new Date(port);\n}\n",
        ),
        (
            "src/server.ts",
            "import { nextHigh } from './tide';\n\nexport const handler = nextHigh;\n",
        ),
        ("package.json", "{\"name\": \"tide\", \"scripts\": {\"test\": \"vitest\"}}\n"),
        ("docs/api.md", "# API\n\n`GET /tides/:port` answers with the next high tide.\n"),
    ],
    results: "1..4\nok 1 - tide > finds the next high water\nok 2 - tide > knows all ports\n\
              not ok 3 - server > answers 404 for unknown ports\nok 4 - server > answers within a second\n",
    criteria: &[
        ("`tide > finds the next high water` passes", Met),
        ("`tide finds the next high water` passes", Met),
        ("The suite `tide` passes", Met),
        ("The suite `server` passes", NotMet),
        ("Unknown ports get a 404: `answers 404 for unknown ports`", NotMet),
        ("`knows all ports` fails for ports without data", Undecided),
        ("`nextHigh` is exported from `src/tide.ts`", Met),
        ("The file `docs/api.md` exists", Met),
        ("The docs mention `/tides/:port`", Met),
        ("No request is logged twice", Undecided),
        ("`npm run build` succeeds", Command),
        ("`npx tsc --noEmit` exits with code 0", Command),
        ("Answers come within 200 ms at the 95th percentile", Undecided),
    ],
};

/// A library in Rust that weaves patterns.
const LOOM: Project = Project {
    files: &[
        (
            "src/lib.rs",
            "//! Weaves.\n\n/// A pattern.\npub struct Pattern;\n\n/// Weaves a pattern.\npub fn weave(_: &Pattern) -> String {\n    String::new()\n}\n",
        ),
        ("README.md", "# Loom\n\nWeaves patterns.\n"),
        ("Cargo.toml", "[package]\nname = \"loom\"\n"),
    ],
    results: "1..3\nok 1 - tests::weaves_stripes\nok 2 - tests::weaves_checks\nok 3 - tests::empty_pattern_is_empty\n",
    criteria: &[
        ("`tests::weaves_stripes` passes", Met),
        ("`weaves_stripes()` still passes", Met),
        ("`weaves_stripes`, `weaves_checks` and `empty_pattern_is_empty` pass", Met),
        ("`weaves_dots` passes", NotMet),
        ("The struct `Pattern` exists in `src/lib.rs`", Met),
        ("The function `unweave` is removed", Met),
        ("The function `weave` is removed from `src/lib.rs`", NotMet),
        ("`cargo clippy --all-targets -- -D warnings` passes", Command),
        ("`weave` never panics", Undecided),
        ("The readme mentions macros", NotMet),
        ("An empty pattern is woven to an empty text, as `empty_pattern_is_empty` shows", Met),
        ("All existing tests still pass", Met),
    ],
};

/// A project in memory.
struct Files(BTreeMap<RepoPath, &'static str>);

impl Tree for Files {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.0.get(path).map(|text| (*text).to_owned()))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.0.contains_key(path))
    }

    fn symbol_at(&self, _: &RepoPath, _: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Ok(self.0.keys().cloned().collect())
    }
}

/// Decides the criteria of a project without a model.
fn decided(project: &Project) -> Vec<(String, Expected, Expected)> {
    let list: String = project.criteria.iter().map(|(text, _)| format!("- [ ] {text}\n")).collect();
    let plan = ImplementationPlan::parse("{}".to_owned()).unwrap();
    let spec = format!("## Acceptance Criteria\n\n{list}");
    let spec = Spec::parse(Path::new("specs/001-it"), &spec, &plan).unwrap();
    let files = project.files.iter().map(|(path, text)| (RepoPath::exact(path).unwrap(), *text));
    let files = Files(files.collect());
    let tests = read(ResultFormat::Tap, project.results.as_bytes()).unwrap();
    let passes = tests.totals.failed == 0;
    let also = vec![CheckKind::FullSuite];
    let unit = loop_simulation::outcome("unit: run tests", CheckKind::Unit, passes);
    let checks = [CheckOutcome { tests: Some(tests), also, ..unit }];
    let lines = issues::judge_criteria(&spec, &checks, &files, None).unwrap();
    let is_run = |text: &str| {
        spec.verification.criterion_commands.iter().any(|it| text.contains(&it.command))
    };
    assert_eq!(lines.len(), project.criteria.len(), "{lines:#?}");
    let answer = |(line, (text, expected)): (&_, &(&str, Expected))| {
        let line: &assay_validate::criterion::CriterionLine = line;
        assert_eq!(line.text, *text);
        let answer = match line.answer {
            CriterionAnswer::Met | CriterionAnswer::Decided => Met,
            CriterionAnswer::NotMet => NotMet,
            CriterionAnswer::CannotTell if is_run(text) => Command,
            CriterionAnswer::CannotTell => Undecided,
        };
        (line.text.clone(), *expected, answer)
    };
    lines.iter().zip(project.criteria).map(answer).collect()
}

#[test]
fn forty_criteria_of_three_projects_are_decided_as_a_reader_would() {
    let answers: Vec<_> = [PARCEL, TIDE, LOOM].iter().flat_map(decided).collect();
    let wrong: Vec<_> = answers.iter().filter(|(_, expected, answer)| expected != answer).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let undecided = answers.iter().filter(|(_, _, answer)| *answer == Undecided).count();
    assert_eq!((answers.len(), undecided), (40, 8), "32 need neither a model nor a person");
}
