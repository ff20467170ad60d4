//! `review.analysers: auto`, and the analysers that `init` and `doctor` offer.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use assay_testkit::Repository;

use crate::{AssayRun, assay_with};

/// A program in place of ruff, which reports one finding for each file.
const RUFF: &str = "#!/bin/sh\n[ \"$1\" = --version ] && { echo ruff 1; exit; }\n\
    shift 5\nprintf '['\nfor file; do printf '{\"code\": \"X1\", \"message\": \"odd\", \"filename\": \
    \"%s\", \"location\": {\"row\": 1, \"column\": 1}, \"end_location\": {\"row\": 1, \"column\": 2}, \
    \"fix\": null, \"url\": null}' \"$PWD/$file\"; done\nprintf ']'\nexit 1\n";

/// A repository, and a folder of programs for `PATH`.
struct Fixture {
    repository: Repository,
    programs: tempfile::TempDir,
}

impl Fixture {
    fn new(configuration: &str) -> Fixture {
        let fixture =
            Fixture { repository: Repository::new(), programs: tempfile::tempdir().unwrap() };
        fixture.add_program("ruff", RUFF);
        fixture.add_program("mypy", "#!/bin/sh\necho mypy 1\n");
        fixture.repository.write("assay.yaml", configuration);
        fixture.repository.commit("configuration");
        fixture
    }

    fn add_program(&self, name: &str, text: &str) {
        let path = self.programs.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, args: &[&str]) -> AssayRun {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.programs.path().display());
        assay_with(self.repository.path(), args, b"", &[("PATH", &path)])
    }

    /// Returns the names of the reviewers of the change, and the output.
    fn reviewers(&self) -> (Vec<String>, String) {
        let synthesis = self.run(&["review", "--json"]).json();
        let reports = synthesis["reports"].as_array().unwrap().iter();
        let names = reports.map(|report| report["reviewer"].as_str().unwrap().to_owned()).collect();
        (names, self.run(&["review"]).stdout)
    }
}

#[test]
fn an_analyser_that_the_repository_configures_runs_with_auto() {
    let fixture = Fixture::new("review:\n  analysers: auto\n");
    fixture.repository.write("ruff.toml", "");
    fixture.repository.commit("ruff");
    fixture.repository.write("a.py", "x = 1\n");
    fixture.repository.git(&["add", "a.py"]);
    let (names, shown) = fixture.reviewers();
    assert_eq!(names, ["ruff", "rules"], "{shown}");
    assert!(shown.contains("(ruff/X1)"), "{shown}");
}

#[test]
fn no_analyser_runs_unless_the_configuration_says_auto() {
    let fixture = Fixture::new("review:\n  analysers: none\n");
    fixture.repository.write("ruff.toml", "");
    fixture.repository.commit("ruff");
    fixture.repository.write("a.py", "x = 1\n");
    fixture.repository.git(&["add", "a.py"]);
    assert_eq!(fixture.reviewers().0, ["rules"]);
}

#[test]
fn a_change_does_not_configure_the_analysers_of_its_own_review() {
    let fixture = Fixture::new("review:\n  analysers: auto\n");
    fixture.repository.write("ruff.toml", "");
    fixture.repository.write("a.py", "x = 1\n");
    fixture.repository.git(&["add", "--all"]);
    assert_eq!(fixture.reviewers().0, ["rules"]);
    let fixture = Fixture::new("");
    fixture.repository.write("ruff.toml", "");
    fixture.repository.commit("ruff");
    fixture.repository.write("assay.yaml", "review:\n  analysers: auto\n");
    fixture.repository.write("a.py", "x = 1\n");
    fixture.repository.git(&["add", "--all"]);
    assert_eq!(fixture.reviewers().0, ["rules"]);
}

#[test]
fn an_analyser_that_runs_code_of_the_repository_is_named_and_does_not_run() {
    let fixture = Fixture::new("review:\n  analysers: auto\n");
    fixture.repository.write("mypy.ini", "");
    fixture.repository.commit("mypy");
    fixture.repository.write("a.py", "x = 1\n");
    fixture.repository.git(&["add", "a.py"]);
    let (names, shown) = fixture.reviewers();
    assert_eq!(names, ["rules"], "{shown}");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("mypy did not run, although `mypy.ini` configures it"), "{shown}");
    assert!(shown.contains("add `mypy` to `review.commands`"), "{shown}");
}

#[test]
fn a_program_of_the_repository_does_not_run() {
    let fixture = Fixture::new("review:\n  analysers: auto\n");
    fs::remove_file(fixture.programs.path().join("ruff")).unwrap();
    fixture.repository.write("ruff.toml", "");
    fixture.repository.write("ruff", "#!/bin/sh\ntouch ran\n");
    fixture.repository.commit("ruff");
    fixture.repository.write("a.py", "x = 1\n");
    fixture.repository.git(&["add", "a.py"]);
    let variables = [("PATH", format!(".:{}", std::env::var("PATH").unwrap()))];
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let ran = assay_with(fixture.repository.path(), &["review", "--json"], b"", &variables);
    let reports = ran.json()["reports"].as_array().unwrap().len();
    assert_eq!(reports, 1, "{}", ran.stdout);
    assert!(!fixture.repository.path().join("ran").exists());
}

#[test]
fn init_and_doctor_offer_the_analysers_of_the_repository() {
    let fixture = Fixture::new("");
    fixture.repository.write("pyproject.toml", "[tool.ruff]\n[tool.mypy]\n");
    let shown = fixture.run(&["init"]).stdout;
    assert!(
        shown.contains("found ruff (`pyproject.toml`): `review.analysers: auto` runs it"),
        "{shown}"
    );
    assert!(shown.contains("found mypy (`pyproject.toml`): it runs code"), "{shown}");
    let shown = fixture.run(&["doctor"]).stdout;
    assert!(
        shown.contains("-    ruff is installed, and `pyproject.toml` configures it"),
        "{shown}"
    );
    fixture.repository.write("assay.yaml", "review:\n  analysers: auto\n");
    let shown = fixture.run(&["doctor"]).stdout;
    assert!(shown.contains("ok   ruff runs by `review.analysers: auto`"), "{shown}");
    assert!(shown.contains("-    mypy is installed, and"), "{shown}");
}
