//! Files that git ignores.

use std::fs;
use std::process::Command;

use super::{BROKEN, CALC, MORE, has, is_approved, is_refused, project, python};

const IGNORE: (&str, &str) = (".gitignore", "__pycache__/\n.pytest_cache/\n*.egg-info/\n");

/// A plugin of pytest that turns failures into passes.
const PLUGIN: &str = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n";

#[test]
fn byte_code_of_the_tree_is_not_read() {
    let stage = python(&[IGNORE]);
    let repository = &stage.repository;
    repository.write("calc.py", BROKEN);
    repository.commit("work");
    let good = stage.aside("calc.py");
    fs::write(&good, CALC).unwrap();
    let script = format!(
        "import py_compile, sys\nfile = f'__pycache__/calc.{{sys.implementation.cache_tag}}.pyc'\npy_compile.compile('{}', cfile=file, dfile='calc.py', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n",
        good.display()
    );
    let made =
        Command::new("python3").args(["-c", &script]).current_dir(repository.path()).status();
    assert!(made.unwrap().success());
    is_refused(&stage, &[], "1", "Test fails: ", "-1");
}

#[test]
fn an_ignored_package_beside_a_module_needs_a_person() {
    let stage = python(&[(".gitignore", "__pycache__/\ncalc/\n")]);
    stage.repository.write("calc.py", BROKEN);
    stage.repository.write("calc/__init__.py", CALC);
    stage.repository.commit("work");
    let reason = "Python loads `calc/__init__.py`, which git ignores, in the place of `calc.py`";
    is_refused(&stage, &[], "1", "Ignored file stands in for a module: calc/__init__.py", reason);
}

#[test]
fn what_only_the_branch_hides_needs_a_person() {
    for (path, rule) in [
        (".cargo/config.toml", ".cargo/"),
        ("sitecustomize.py", "/sitecustomize.py"),
        ("helpers/numbers.py", "helpers/"),
        ("tests/conftest.py", "conftest.py"),
    ] {
        let stage = python(&[IGNORE]);
        stage.repository.write("calc.py", MORE);
        stage.repository.write(".gitignore", format!("{}{rule}\n", IGNORE.1));
        stage.repository.write(path, "");
        stage.repository.commit("work");
        let title = format!("Hidden by the branch's own ignore rules: {path}");
        is_refused(&stage, &[], "1", &title, "only ignore rules that this branch adds hide");
    }
}

#[test]
fn rules_that_hide_their_own_file_hide_nothing() {
    let stage = python(&[IGNORE]);
    stage.repository.write("calc.py", MORE);
    stage.repository.commit("work");
    stage.repository.write("helpers/.gitignore", "*\n");
    stage.repository.write("helpers/numbers.py", "ONE = 1\n");
    let title = "Hidden by the branch's own ignore rules: helpers/numbers.py";
    is_refused(&stage, &[], "1", title, "only ignore rules that this branch adds hide");
}

#[test]
fn a_tree_that_failed_before_needs_a_person() {
    let stage = python(&[(".gitignore", "__pycache__/\nbuild/\n")]);
    let stateful = "import pathlib\n\n\ndef sub(a, b):\n    return a + b\n\n\nif pathlib.Path('build/mode').exists():\n    def sub(a, b):\n        return a - b\n\npathlib.Path('build').mkdir(exist_ok=True)\npathlib.Path('build/mode').write_text('x')\n";
    stage.repository.write("calc.py", stateful);
    stage.repository.commit("work");
    let ran =
        is_refused(&stage, &[], "3", "Failed before on the same tree: ", "the same tree failed `");
    assert_eq!(stage.ending()["ending"], "awaits_decision", "{}", ran.stdout);
    let sign =
        ["--sign-off", "Ann", "--for", "Failed before", "--because", "the disk was full at first"];
    let decided = stage.qa(&sign);
    assert_eq!(decided.code, 0, "{}{}", decided.stdout, decided.stderr);
    stage.is_approved();
}

#[test]
fn an_ignored_file_that_a_runner_loads_and_that_is_new_needs_a_person() {
    for path in ["sitecustomize.py", ".venv/lib/python3.11/site-packages/more.pth", "setup.cfg"] {
        let stage =
            python(&[(".gitignore", "__pycache__/\n.venv/\nsitecustomize.py\nsetup.cfg\n")]);
        stage.repository.write("calc.py", BROKEN);
        stage.repository.commit("work");
        is_refused(&stage, &[], "1", "Test fails: ", "");
        stage.repository.write("calc.py", MORE);
        stage.repository.write(path, "");
        let title = format!("Ignored file changes what tests load: {path}");
        is_refused(
            &stage,
            &["--resume"],
            "1",
            &title,
            "was not there in the first round of the loop",
        );
    }
}

#[test]
fn ignored_files_of_a_usual_project_are_no_issue() {
    let stage = python(&[(".gitignore", "__pycache__/\n.cargo/\n_version.py\n")]);
    let repository = &stage.repository;
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
    is_approved(&stage, &[]);
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
        let stage = project(&main, "python3 -m pytest", "`test_sub` passes");
        let repository = &stage.repository;
        repository.write("calc.py", BROKEN);
        repository.write("more.py", PLUGIN);
        repository
            .write("more.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: more\nVersion: 1\n");
        repository.write("more.egg-info/entry_points.txt", "[pytest11]\nmore = more\n");
        repository.commit("work");
        is_refused(
            &stage,
            &[],
            "1",
            "Ignored package adds a plugin to pytest: more.egg-info/entry_points.txt",
            "adds a plugin to pytest that no packaging file of the base declares",
        );
    }
}
