//! Files that git ignores.

use std::fs;
use std::process::Command;

use super::{BROKEN, CALC, MORE, has, is_approved, is_refused, project, python};

const IGNORE: (&str, &str) = (".gitignore", "__pycache__/\n.pytest_cache/\n*.egg-info/\n");

/// A plugin of pytest that turns failures into passes.
const PLUGIN: &str = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n";

#[test]
fn byte_code_of_the_tree_is_not_read() {
    let fixture = python(&[IGNORE]);
    let repository = &fixture.repository;
    repository.write("calc.py", BROKEN);
    repository.commit("work");
    let good = fixture.aside("calc.py");
    fs::write(&good, CALC).unwrap();
    let script = format!(
        "import py_compile, sys\nfile = f'__pycache__/calc.{{sys.implementation.cache_tag}}.pyc'\npy_compile.compile('{}', cfile=file, dfile='calc.py', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n",
        good.display()
    );
    let made =
        Command::new("python3").args(["-c", &script]).current_dir(repository.path()).status();
    assert!(made.unwrap().success());
    is_refused(&fixture, &[], "1", "Test fails: ", "-1");
}

#[test]
fn an_ignored_package_beside_a_module_needs_a_person() {
    let fixture = python(&[(".gitignore", "__pycache__/\ncalc/\n")]);
    fixture.repository.write("calc.py", BROKEN);
    fixture.repository.write("calc/__init__.py", CALC);
    fixture.repository.commit("work");
    let reason = "Python loads `calc/__init__.py`, which git ignores, instead of `calc.py`";
    is_refused(&fixture, &[], "1", "Ignored file replaces a module: calc/__init__.py", reason);
}

#[test]
fn files_hidden_only_by_the_branch_need_a_person() {
    for (path, rule) in [
        (".cargo/config.toml", ".cargo/"),
        ("sitecustomize.py", "/sitecustomize.py"),
        ("helpers/numbers.py", "helpers/"),
        ("tests/conftest.py", "conftest.py"),
    ] {
        let fixture = python(&[IGNORE]);
        fixture.repository.write("calc.py", MORE);
        fixture.repository.write(".gitignore", format!("{}{rule}\n", IGNORE.1));
        fixture.repository.write(path, "");
        fixture.repository.commit("work");
        let title = format!("Hidden by the branch's own ignore rules: {path}");
        is_refused(&fixture, &[], "1", &title, "only ignore rules that this branch adds hide");
    }
}

#[test]
fn files_behind_ignore_rules_that_hide_themselves_need_a_person() {
    let fixture = python(&[IGNORE]);
    fixture.repository.write("calc.py", MORE);
    fixture.repository.commit("work");
    fixture.repository.write("helpers/.gitignore", "*\n");
    fixture.repository.write("helpers/numbers.py", "ONE = 1\n");
    let title = "Hidden by the branch's own ignore rules: helpers/numbers.py";
    is_refused(&fixture, &[], "1", title, "only ignore rules that this branch adds hide");
}

#[test]
fn a_tree_that_failed_before_needs_a_person() {
    let fixture = python(&[(".gitignore", "__pycache__/\nbuild/\n")]);
    let stateful = "import pathlib\n\n\ndef sub(a, b):\n    return a + b\n\n\nif pathlib.Path('build/mode').exists():\n    def sub(a, b):\n        return a - b\n\npathlib.Path('build').mkdir(exist_ok=True)\npathlib.Path('build/mode').write_text('x')\n";
    fixture.repository.write("calc.py", stateful);
    fixture.repository.commit("work");
    let ran = is_refused(
        &fixture,
        &[],
        "3",
        "Failed before on the same tree: ",
        "failed on the same tree in round ",
    );
    assert_eq!(fixture.ending()["ending"], "awaits_decision", "{}", ran.stdout);
    let sign =
        ["--sign-off", "Ann", "--for", "Failed before", "--because", "the disk was full at first"];
    let decided = fixture.qa(&sign);
    assert_eq!(decided.code, 0, "{}{}", decided.stdout, decided.stderr);
    fixture.is_approved();
}

#[test]
fn an_ignored_file_that_a_runner_loads_and_that_is_new_needs_a_person() {
    for path in ["sitecustomize.py", ".venv/lib/python3.11/site-packages/more.pth", "setup.cfg"] {
        let fixture =
            python(&[(".gitignore", "__pycache__/\n.venv/\nsitecustomize.py\nsetup.cfg\n")]);
        fixture.repository.write("calc.py", BROKEN);
        fixture.repository.commit("work");
        is_refused(&fixture, &[], "1", "Test fails: ", "");
        fixture.repository.write("calc.py", MORE);
        fixture.repository.write(path, "");
        let title = format!("Ignored file changes what tests load: {path}");
        is_refused(
            &fixture,
            &["--resume"],
            "1",
            &title,
            "did not exist in the first round of the loop",
        );
    }
}

#[test]
fn ignored_files_of_a_usual_project_are_no_issue() {
    let fixture = python(&[(".gitignore", "__pycache__/\n.cargo/\n_version.py\n")]);
    let repository = &fixture.repository;
    repository.write(".cargo/config.toml", "");
    repository.write("_version.py", "VERSION = '1'\n");
    repository.write("calc.egg-info/entry_points.txt", "[console_scripts]\ncalc = calc:main\n");
    // A branch that introduces a tool ignores the output of the tool.
    repository.write(".gitignore", "__pycache__/\n.cargo/\n_version.py\ntarget/\nnode_modules/\n*.log\n.idea/\n*.egg-info/\n.venv/\n");
    for path in [
        "target/debug/build.rs", "node_modules/a/index.js", "run.log", ".idea/x.py",
        ".venv/lib/a.py",
    ] {
        repository.write(path, "x = 1\n");
    }
    repository.write("calc.py", MORE);
    repository.commit("work");
    is_approved(&fixture, &[]);
}

/// Tests that need pytest, which `cargo xtask test` installs for modules of this name.
mod toolchains {
    use super::*;

    #[test]
    fn an_ignored_package_that_adds_a_plugin_needs_a_person() {
        if !has("pytest", &["--version"]) {
            return;
        }
        let test = "from calc import sub\n\n\ndef test_sub():\n    assert sub(2, 3) == -1\n";
        let main =
            [("calc.py", CALC), ("tests/__init__.py", ""), ("tests/test_calc.py", test), IGNORE];
        let fixture = project(&main, "python3 -m pytest", "`test_sub` passes");
        let repository = &fixture.repository;
        repository.write("calc.py", BROKEN);
        repository.write("more.py", PLUGIN);
        repository
            .write("more.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: more\nVersion: 1\n");
        repository.write("more.egg-info/entry_points.txt", "[pytest11]\nmore = more\n");
        repository.commit("work");
        is_refused(
            &fixture,
            &[],
            "1",
            "Ignored package adds a pytest plugin: more.egg-info/entry_points.txt",
            "adds a pytest plugin that no packaging file of the base declares",
        );
    }
}
