//! Scripts that checks run: files that they source, and modules that they import.

use super::{Edit, Row};

const OPTIONS: &str = "wanted=hello\n";

const GREETS: &str = "echo 1..1; grep -q \"$wanted\" greeting.txt && echo 'ok 1 - greets' || { echo 'not ok 1 - greets'; exit 1; }\n";

fn row<'a>(name: &'a str, main: &'a [(&str, &str)], branch: &'a [Edit<'a>]) -> Row<'a> {
    let (criteria, command) = ("- [ ] `greets` passes", "sh ci.sh");
    Row { name, main, branch, fixer: &[], criteria, command }
}

#[test]
fn settings_that_a_script_of_a_check_sources_are_kept() {
    for (name, sources, path) in [
        ("a plain path", ". ./etc/opts.sh", "etc/opts.sh"),
        ("a path without an ending", ". ./etc/opts", "etc/opts"),
        ("the folder of the script", ". \"$(dirname \"$0\")/etc/opts.sh\"", "etc/opts.sh"),
        ("another folder", "cd etc && . ./opts.sh && cd ..", "etc/opts.sh"),
        ("a loop", "for f in etc/*; do . \"./$f\"; done", "etc/opts"),
    ] {
        let script = format!("{sources}\n{GREETS}");
        let main = [("ci.sh", script.as_str()), (path, OPTIONS), ("greeting.txt", "hello\n")];
        let branch = [("greeting.txt", Some("nothing\n")), (path, Some("wanted=nothing\n"))];
        row(name, &main, &branch).is_refused("Weakened test: greets", "the version of main fails");
        let more = [("greeting.txt", Some("hello, you\n")), (path, Some("wanted=hello\nmore=1\n"))];
        row(name, &main, &more).is_approved();
    }
}

#[test]
fn functions_that_a_script_of_a_check_sources_are_code() {
    let script = ". ./lib/greet.sh\necho 1..1; greet | grep -q hello && echo 'ok 1 - greets' || { echo 'not ok 1 - greets'; exit 1; }\n";
    let main = [("ci.sh", script), ("lib/greet.sh", "greet() {\n  echo nothing\n}\n")];
    let branch = [("lib/greet.sh", Some("greet() {\n  echo hello\n}\n"))];
    row("a function that is mended", &main, &branch).is_approved();
}

#[test]
fn modules_that_a_script_of_a_check_imports_are_kept() {
    let verify = "import sys\n\nsys.path.insert(0, '.')\nfrom calc import sub\nfrom limits import WANTED\n\nis_met = sub(3, 2) == WANTED\nprint('1..1')\nprint('ok 1 - greets' if is_met else 'not ok 1 - greets')\nsys.exit(0 if is_met else 1)\n";
    let good = "def sub(a, b):\n    return a - b\n";
    let main = [
        ("tools/verify.py", verify),
        ("tools/limits.py", "WANTED = 1\n"),
        ("calc.py", good),
        (".gitignore", "__pycache__/\n"),
    ];
    let command = "python3 tools/verify.py";
    let broken = good.replace("a - b", "a + b");
    let branch = [("calc.py", Some(broken.as_str())), ("tools/limits.py", Some("WANTED = 5\n"))];
    Row { command, ..row("a module of a script", &main, &branch) }
        .is_refused("Weakened test: greets", "the version of main fails");
    let more = format!("{good}\n\ndef mul(a, b):\n    return a * b\n");
    let branch =
        [("calc.py", Some(more.as_str())), ("tools/limits.py", Some("WANTED = 1\nMORE = 2\n"))];
    Row { command, ..row("a value more", &main, &branch) }.is_approved();
}
