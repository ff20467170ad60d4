//! Real outputs of analysers, parsed.
//!
//! The fixtures are outputs of Ruff 0.17.4, Bandit 1.9.4, Semgrep 1.182.0, ShellCheck 0.11.0,
//! ESLint 10.14.0, Pyright 1.1.414 and clippy 0.1.95 on the files in `fixtures/flawed`. That of golangci-lint is
//! written after its documentation, and the rdjsonl is Ruff's rdjson, a line for each diagnostic.

use assay_review::command::format::AnalyserFormat;
use expect_test::{Expect, expect};

use crate::flawed::{MemoryTree, read, read_as};

fn check(form: AnalyserFormat, output: &str, expected: Expect) {
    expected.assert_eq(&read(form, output, &MemoryTree::flawed()));
}

#[test]
fn ruff_output_gives_file_lines_rule_and_safe_fixes() {
    check(
        AnalyserFormat::Ruff,
        include_str!("../fixtures/ruff.json"),
        expect![[r#"
        ruff/I001 py/app.py:1-3 LOW style | Import block is un-sorted or un-formatted
            quotes `import os`
            fix: Organize imports
            gated_auto 1-5: "import json\nimport os\nimport subprocess\n\n\n"
        ruff/F401 py/app.py:1 LOW style | `os` imported but unused
            quotes `import os`
            fix: Remove unused import: `os`
            gated_auto 1-1: ""
        ruff/F401 py/app.py:2 LOW style | `json` imported but unused
            quotes `import json`
            fix: Remove unused import: `json`
            gated_auto 2-2: ""
        ruff/S602 py/app.py:7 MEDIUM security | `subprocess` call with `shell=True` identified, security issue
            quotes `subprocess.call(`
        ruff/E711 py/app.py:11 LOW style | Comparison to `None` should be `cond is None`
            quotes `return None if cmd == None else eval(cmd)`
            fix: Replace with `cond is None`
        ruff/S307 py/app.py:11 MEDIUM security | Use of possibly insecure function; consider using `ast.literal_eval`
            quotes `return None if cmd == None else eval(cmd)`
        ruff/F841 py/app.py:15 MEDIUM correctness | Local variable `naïve` is assigned to but never used
            quotes `naïve = "é"; y = x == None`
            fix: Remove assignment to unused variable `naïve`
        ruff/E702 py/app.py:15 LOW style | Multiple statements on one line (semicolon)
            quotes `naïve = "é"; y = x == None`
        ruff/F841 py/app.py:15 MEDIUM correctness | Local variable `y` is assigned to but never used
            quotes `naïve = "é"; y = x == None`
            fix: Remove assignment to unused variable `y`
        ruff/E711 py/app.py:15 LOW style | Comparison to `None` should be `cond is None`
            quotes `naïve = "é"; y = x == None`
            fix: Replace with `cond is None`
        ruff/F821 py/app.py:16 HIGH correctness | Undefined name `undefined_name`
            quotes `return undefined_name`
        ruff/S105 py/app.py:19 MEDIUM security | Possible hardcoded password assigned to: "…"
        ruff/invalid-syntax py/broken.py:1 HIGH correctness | Expected a parameter or the end of the parameter list
            quotes `def broken(:`
        ruff/invalid-syntax py/broken.py:1 HIGH correctness | Expected `)`, found newline
            quotes `def broken(:`
        ruff/invalid-syntax py/broken.py:2 HIGH correctness | Expected a statement
            quotes `return eval(x) == None )))`
        ruff/invalid-syntax py/broken.py:3 HIGH correctness | unindent does not match any outer indentation level
            quotes `if {{{ == None: = eval(`
        ruff/invalid-syntax py/broken.py:3 HIGH correctness | Expected an expression
            quotes `if {{{ == None: = eval(`
        ruff/invalid-syntax py/broken.py:4 HIGH correctness | unexpected EOF while parsing
        ruff/I001 py/with space/ü.py:1 LOW style | Import block is un-sorted or un-formatted
            quotes `import yaml`
            fix: Organize imports
            gated_auto 1-1: "import yaml\n\n"
        ruff/S506 py/with space/ü.py:2 MEDIUM security | Probable use of unsafe `yaml.load`
            quotes `yaml.load(open("x"))`
        not covered: py/broken.py: ruff cannot parse it
    "#]],
    );
}

#[test]
fn bandit_findings_are_about_security_and_unparsed_files_are_not_covered() {
    check(
        AnalyserFormat::Bandit,
        include_str!("../fixtures/bandit.json"),
        expect![[r#"
        bandit/B404 py/app.py:3 LOW security | Consider possible security implications associated with the subprocess module
            quotes `import subprocess`
            confidence 75
        bandit/B602 py/app.py:9-10 HIGH security | subprocess call with shell=True identified, security issue
            quotes `shell=True,`
            confidence 75
        bandit/B307 py/app.py:11 MEDIUM security | Use of possibly insecure function - consider using safer ast.literal_eval
            quotes `return None if cmd == None else eval(cmd)`
            confidence 75
        bandit/B105 py/app.py:19 LOW security | Possible hardcoded password: '…'
            confidence 50
        bandit/B506 py/with space/ü.py:2 MEDIUM security | Use of unsafe yaml load
            quotes `yaml.load(open("x"))`
            confidence 75
        not covered: py/broken.py: syntax error while parsing AST from file
    "#]],
    );
}

#[test]
fn semgrep_columns_count_bytes_and_partly_parsed_files_are_not_covered() {
    check(
        AnalyserFormat::Semgrep,
        include_str!("../fixtures/semgrep.json"),
        expect![[r#"
        semgrep/note-return py/app.py:11 LOW correctness | just a note
            quotes `return None if cmd == None else eval(cmd)`
        semgrep/compare-to-none py/app.py:11 MEDIUM correctness | Compare to None with `is`
            quotes `return None if cmd == None else eval(cmd)`
            fix: Write `(cmd is None)` instead.
            gated_auto 11-11: "    return None if (cmd is None) else eval(cmd)\n"
        semgrep/eval-on-input py/app.py:11 HIGH security | Running `eval` on a value from outside runs code from outside
            quotes `return None if cmd == None else eval(cmd)`
            confidence 75
        semgrep/compare-to-none py/app.py:15 MEDIUM correctness | Compare to None with `is`
            quotes `naïve = "é"; y = x == None`
            fix: Write `(x is None)` instead.
            gated_auto 15-15: "    naïve = \"é\"; y = (x is None)\n"
        semgrep/note-return py/app.py:16 LOW correctness | just a note
            quotes `return undefined_name`
        not covered: py/broken.py: Syntax error at line py/broken.py:2:  `return eval(x) == None )))` was unexpected
    "#]],
    );
}

#[test]
fn eslint_columns_count_utf16_units_and_an_ignored_file_is_not_a_finding() {
    check(
        AnalyserFormat::Eslint,
        include_str!("../fixtures/eslint.json"),
        expect![[r#"
        eslint/eqeqeq js/a.js:2 HIGH correctness | Expected '===' and instead saw '=='
            quotes `const s = "😀"; if (s == null) { var x = 1; }`
            fix: Use '===' instead of '=='.
        eslint/no-var js/a.js:2 MEDIUM style | Unexpected var, use let or const instead
            quotes `const s = "😀"; if (s == null) { var x = 1; }`
            gated_auto 2-2: "const s = \"😀\"; if (s == null) { let x = 1; }\n"
        eslint/no-unused-vars js/a.js:2 MEDIUM style | 'x' is assigned a value but never used
            quotes `const s = "😀"; if (s == null) { var x = 1; }`
            fix: Remove unused variable 'x'.
        eslint/no-debugger js/a.js:3 HIGH correctness | Unexpected 'debugger' statement
            quotes `debugger;`
        eslint/use-isnan js/a.js:5 HIGH correctness | Use the isNaN function to compare with NaN
            quotes `if (a === NaN) {`
            fix: Replace with Number.isNaN.
        eslint/no-else-return js/a.js:7-9 MEDIUM style | Unnecessary 'else' after 'return'
            quotes `} else {`
            gated_auto 4-10: "function f(a) {\n  if (a === NaN) {\n    return 1;\n  } \n    return 2;\n  \n}\n"
        - js/broken.js:1 HIGH correctness | Parsing error: Unexpected token =
            quotes `const = 3;`
        not covered: js/broken.js: Parsing error: Unexpected token =
        not covered: js/ignored.js: File ignored because of a matching ignore pattern. Use "--no-ignore" to disable file ignore settings or use "--no-warn-ignored" to suppress this warning.
    "#]],
    );
}

#[test]
fn shellcheck_output_is_read_as_checkstyle() {
    let output = include_str!("../fixtures/shellcheck.xml");
    let tree = MemoryTree::flawed();
    let shown = read_as("shellcheck", AnalyserFormat::Checkstyle, output, &tree);
    let expected = expect![[r#"
        shellcheck/SC2035 sh/a.sh:2 LOW style | Use ./*glob* or -- *glob* so names with dashes won't become options
            quotes `files=$(ls *.txt)`
        shellcheck/SC2086 sh/a.sh:3 LOW style | Double quote to prevent globbing and word splitting
            quotes `rm $files`
        shellcheck/SC2164 sh/a.sh:4 MEDIUM style | Use 'cd ... || exit' or 'cd ... || return' in case cd fails
            quotes `cd "$1"`
        shellcheck/SC2154 sh/a.sh:5 MEDIUM style | x is referenced but not assigned
            quotes ```
        if [ $x == "a<b" ]; then echo `date`; fi
        ```
        shellcheck/SC2086 sh/a.sh:5 LOW style | Double quote to prevent globbing and word splitting
            quotes ```
        if [ $x == "a<b" ]; then echo `date`; fi
        ```
        shellcheck/SC3014 sh/a.sh:5 MEDIUM style | In POSIX sh, == in place of = is undefined
            quotes ```
        if [ $x == "a<b" ]; then echo `date`; fi
        ```
        shellcheck/SC2046 sh/a.sh:5 MEDIUM style | Quote this to prevent word splitting
            quotes ```
        if [ $x == "a<b" ]; then echo `date`; fi
        ```
        shellcheck/SC2005 sh/a.sh:5 LOW style | Useless echo? Instead of 'echo $(cmd)', just use 'cmd'
            quotes ```
        if [ $x == "a<b" ]; then echo `date`; fi
        ```
        shellcheck/SC2006 sh/a.sh:5 LOW style | Use $(...) notation instead of legacy backticks `...`
            quotes ```
        if [ $x == "a<b" ]; then echo `date`; fi
        ```
        shellcheck/SC1009 sh/broken.sh:2 LOW style | The mentioned syntax error was in this if expression
            quotes `if true; then`
        shellcheck/SC1073 sh/broken.sh:2 HIGH correctness | Couldn't parse this then clause
            quotes `if true; then`
        shellcheck/SC1072 sh/broken.sh:3 HIGH correctness | Expected a command
        not covered: sh/broken.sh: Couldn't parse this then clause. Fix to allow more checks.
        not covered: sh/nosuch.sh: sh/nosuch.sh: openBinaryFile: does not exist (No such file or directory)
    "#]];
    expected.assert_eq(&shown);
}

#[test]
fn clippy_paths_start_at_the_crate_folder_and_only_certain_suggestions_are_fixes() {
    check(
        AnalyserFormat::Clippy,
        include_str!("../fixtures/clippy.jsonl"),
        expect![[r#"
        rustc/unused_variables rs/src/lib.rs:3 MEDIUM correctness | unused variable: `unused`
            quotes `let unused = 1;`
            fix: if this is intentional, prefix it with an underscore: _unused
            gated_auto 3-3: "    let _unused = 1;\n"
        clippy/needless_return rs/src/lib.rs:4 MEDIUM best_practices | unneeded `return` statement
            quotes `return x.len();`
            fix: remove `return`
            gated_auto 4-4: "    x.len()\n"
        clippy/ptr_arg rs/src/lib.rs:2 MEDIUM best_practices | writing `&Vec` instead of `&[_]` involves a new object where a slice will do
            quotes `pub fn f(x: &Vec<u8>) -> usize {`
            fix: change this to: &[u8]
        clippy/len_zero rs/src/lib.rs:8 MEDIUM best_practices | length comparison to zero
            quotes `let s = "é"; if s.len() == 0 { return true; }`
            fix: using `is_empty` is clearer and more explicit: s.is_empty()
            gated_auto 8-8: "    let s = \"é\"; if s.is_empty() { return true; }\n"
        clippy/redundant_pattern_matching rs/src/lib.rs:9 MEDIUM best_practices | redundant pattern matching, consider using `is_some()`
            quotes `match o { Some(_) => true, None => false }`
            fix: try: o.is_some()
            gated_auto 9-9: "    o.is_some()\n"
        clippy/approx_constant rs/src/lib.rs:15 HIGH correctness | approximate value of `f{32, 64}::consts::PI` found
            quotes `println!("{}", 3.14);`
        rustc/unused_must_use rs/src/lib.rs:14 MEDIUM correctness | unused `std::result::Result` that must be used
            quotes `r.map(|v| v + 1);`
            fix: use `let _ = ...` to ignore the resulting value: let _ =
        not covered: the build failed; code that needs the build was not checked
    "#]],
    );
}

#[test]
fn pyright_places_start_at_0() {
    let output = include_str!("../fixtures/pyright.json");
    let shown = read(AnalyserFormat::Pyright, output, &MemoryTree::flawed());
    let places = shown.lines().filter(|line| line.contains(" HIGH correctness | "));
    let places: Vec<&str> = places.filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(places[0], "py/app.py:16", "{shown}");
    assert!(places.len() > 1, "{shown}");
    assert!(shown.starts_with("pyright/reportUndefinedVariable "), "{shown}");
}

#[test]
fn errors_of_the_compiler_are_findings() {
    let lib = include_str!("../fixtures/flawed/broken.rs");
    let tree = MemoryTree::new(&[("rs/src/lib.rs", lib)]);
    let output = include_str!("../fixtures/clippy-broken.jsonl");
    expect![[r#"
        - rs/src/lib.rs:4 HIGH correctness | 1 positional argument in format string, but no arguments were given
            quotes `pub fn g() { m!(); println!("{}"); }`
        rustc/E0425 rs/src/lib.rs:1 HIGH correctness | cannot find function `undefined` in this scope
            quotes `pub fn f() -> u8 { undefined(`
        rustc/E0308 rs/src/lib.rs:3 HIGH correctness | mismatched types
            quotes `macro_rules! m { () => { let x: u8 = "a"; } }`
        not covered: the build failed; code that needs the build was not checked
    "#]].assert_eq(&read(AnalyserFormat::Clippy, output, &tree));
}

#[test]
fn golangci_lint_findings_name_their_linter() {
    let output = include_str!("../fixtures/golangci-lint.json");
    check(
        AnalyserFormat::GolangciLint,
        output,
        expect![[r#"
        golangci-lint/errcheck go/main.go:9 MEDIUM correctness | Error return value of `os.Remove` is not checked
            quotes `func remove(name string) { os.Remove(name)`
        golangci-lint/gosec/G204 go/main.go:10 HIGH security | Subprocess launched with a potential tainted input or cmd arguments
            quotes `exec.Command(name).Run()`
        golangci-lint/staticcheck/S1039 go/main.go:11 MEDIUM correctness | unnecessary use of fmt.Sprint
            quotes `fmt.Println(fmt.Sprint("done"))`
            fix: Replace with string literal
        golangci-lint/gofmt go/main.go:8 MEDIUM style | File is not properly formatted
            quotes `var x = 1`
            gated_auto 8-8: "\tx := 1\n"
        note: The linter 'deadcode' is deprecated
    "#]],
    );
}

#[test]
fn rdjson_gives_no_fix_if_the_column_unit_is_ambiguous() {
    check(
        AnalyserFormat::Rdjson,
        include_str!("../fixtures/ruff.rdjson"),
        expect![[r#"
            ruff/I001 py/app.py:1-3 MEDIUM correctness | Import block is un-sorted or un-formatted
                quotes `import os`
                gated_auto 1-5: "import json\nimport os\nimport subprocess\n\n\n"
            ruff/F401 py/app.py:1 MEDIUM correctness | `os` imported but unused
                quotes `import os`
                gated_auto 1-1: ""
            ruff/F401 py/app.py:2 MEDIUM correctness | `json` imported but unused
                quotes `import json`
                gated_auto 2-2: ""
            ruff/S602 py/app.py:7 MEDIUM correctness | `subprocess` call with `shell=True` identified, security issue
                quotes `subprocess.call(`
            ruff/E711 py/app.py:11 MEDIUM correctness | Comparison to `None` should be `cond is None`
                quotes `return None if cmd == None else eval(cmd)`
                gated_auto 11-11: "    return None if cmd is None else eval(cmd)\n"
            ruff/S307 py/app.py:11 MEDIUM correctness | Use of possibly insecure function; consider using `ast.literal_eval`
                quotes `return None if cmd == None else eval(cmd)`
            ruff/F841 py/app.py:15 MEDIUM correctness | Local variable `naïve` is assigned to but never used
                quotes `naïve = "é"; y = x == None`
            ruff/E702 py/app.py:15 MEDIUM correctness | Multiple statements on one line (semicolon)
                quotes `naïve = "é"; y = x == None`
            ruff/F841 py/app.py:15 MEDIUM correctness | Local variable `y` is assigned to but never used
                quotes `naïve = "é"; y = x == None`
            ruff/E711 py/app.py:15 MEDIUM correctness | Comparison to `None` should be `cond is None`
                quotes `naïve = "é"; y = x == None`
            ruff/F821 py/app.py:16 MEDIUM correctness | Undefined name `undefined_name`
                quotes `return undefined_name`
            ruff/S105 py/app.py:19 MEDIUM correctness | Possible hardcoded password assigned to: "…"
            ruff/invalid-syntax py/broken.py:1 MEDIUM correctness | Expected a parameter or the end of the parameter list
                quotes `def broken(:`
            ruff/invalid-syntax py/broken.py:1 MEDIUM correctness | Expected `)`, found newline
                quotes `def broken(:`
            ruff/invalid-syntax py/broken.py:2 MEDIUM correctness | Expected a statement
                quotes `return eval(x) == None )))`
            ruff/invalid-syntax py/broken.py:3 MEDIUM correctness | unindent does not match any outer indentation level
                quotes `if {{{ == None: = eval(`
            ruff/invalid-syntax py/broken.py:3 MEDIUM correctness | Expected an expression
                quotes `if {{{ == None: = eval(`
            ruff/invalid-syntax py/broken.py:4 MEDIUM correctness | unexpected EOF while parsing
            ruff/I001 py/with space/ü.py:1 MEDIUM correctness | Import block is un-sorted or un-formatted
                quotes `import yaml`
                gated_auto 1-1: "import yaml\n\n"
            ruff/S506 py/with space/ü.py:2 MEDIUM correctness | Probable use of unsafe `yaml.load`
                quotes `yaml.load(open("x"))`
        "#]],
    );
}

#[test]
fn rdjsonl_gives_the_same_findings_as_rdjson() {
    let tree = MemoryTree::flawed();
    let lines = read(AnalyserFormat::Rdjsonl, include_str!("../fixtures/ruff.rdjsonl"), &tree);
    let document = read(AnalyserFormat::Rdjson, include_str!("../fixtures/ruff.rdjson"), &tree);
    assert_eq!(lines, document);
}

#[test]
fn sarif_of_ruff_has_file_uris() {
    check(
        AnalyserFormat::Sarif,
        include_str!("../fixtures/ruff.sarif"),
        expect![[r#"
            ruff/I001 py/app.py:1-3 HIGH correctness | Import block is un-sorted or un-formatted
                quotes `import os`
                fix: Organize imports
                gated_auto 1-5: "import json\nimport os\nimport subprocess\n\n\n"
            ruff/F401 py/app.py:1 HIGH correctness | `os` imported but unused
                quotes `import os`
                fix: Remove unused import: `os`
                gated_auto 1-1: ""
            ruff/F401 py/app.py:2 HIGH correctness | `json` imported but unused
                quotes `import json`
                fix: Remove unused import: `json`
                gated_auto 2-2: ""
            ruff/S602 py/app.py:7 HIGH correctness | `subprocess` call with `shell=True` identified, security issue
                quotes `subprocess.call(`
            ruff/E711 py/app.py:11 HIGH correctness | Comparison to `None` should be `cond is None`
                quotes `return None if cmd == None else eval(cmd)`
                fix: Replace with `cond is None`
                gated_auto 11-11: "    return None if cmd is None else eval(cmd)\n"
            ruff/S307 py/app.py:11 HIGH correctness | Use of possibly insecure function; consider using `ast.literal_eval`
                quotes `return None if cmd == None else eval(cmd)`
            ruff/F841 py/app.py:15 HIGH correctness | Local variable `naïve` is assigned to but never used
                quotes `naïve = "é"; y = x == None`
                fix: Remove assignment to unused variable `naïve`
            ruff/E702 py/app.py:15 HIGH correctness | Multiple statements on one line (semicolon)
                quotes `naïve = "é"; y = x == None`
            ruff/F841 py/app.py:15 HIGH correctness | Local variable `y` is assigned to but never used
                quotes `naïve = "é"; y = x == None`
                fix: Remove assignment to unused variable `y`
            ruff/E711 py/app.py:15 HIGH correctness | Comparison to `None` should be `cond is None`
                quotes `naïve = "é"; y = x == None`
                fix: Replace with `cond is None`
            ruff/F821 py/app.py:16 HIGH correctness | Undefined name `undefined_name`
                quotes `return undefined_name`
            ruff/S105 py/app.py:19 HIGH correctness | Possible hardcoded password assigned to: "…"
            ruff/invalid-syntax py/broken.py:1 HIGH correctness | Expected a parameter or the end of the parameter list
                quotes `def broken(:`
            ruff/invalid-syntax py/broken.py:1 HIGH correctness | Expected `)`, found newline
                quotes `def broken(:`
            ruff/invalid-syntax py/broken.py:2 HIGH correctness | Expected a statement
                quotes `return eval(x) == None )))`
            ruff/invalid-syntax py/broken.py:3 HIGH correctness | unindent does not match any outer indentation level
                quotes `if {{{ == None: = eval(`
            ruff/invalid-syntax py/broken.py:3 HIGH correctness | Expected an expression
                quotes `if {{{ == None: = eval(`
            ruff/invalid-syntax py/broken.py:4 HIGH correctness | unexpected EOF while parsing
            ruff/I001 py/with space/ü.py:1 HIGH correctness | Import block is un-sorted or un-formatted
                quotes `import yaml`
                fix: Organize imports
                gated_auto 1-1: "import yaml\n\n"
            ruff/S506 py/with space/ü.py:2 HIGH correctness | Probable use of unsafe `yaml.load`
                quotes `yaml.load(open("x"))`
        "#]],
    );
}

#[test]
fn sarif_of_semgrep_has_levels_precision_and_tags_on_its_rules() {
    check(
        AnalyserFormat::Sarif,
        include_str!("../fixtures/semgrep.sarif"),
        expect![[r#"
        semgrep-oss/note-return py/app.py:11 LOW style | just a note
            quotes `return None if cmd == None else eval(cmd)`
            confidence 100
        semgrep-oss/compare-to-none py/app.py:11 MEDIUM correctness | Compare to None with `is`
            quotes `return None if cmd == None else eval(cmd)`
            confidence 100
        semgrep-oss/eval-on-input py/app.py:11 HIGH security | Running `eval` on a value from outside runs code from outside
            quotes `return None if cmd == None else eval(cmd)`
            confidence 100
        semgrep-oss/compare-to-none py/app.py:15 MEDIUM correctness | Compare to None with `is`
            quotes `naïve = "é"; y = x == None`
            confidence 100
        semgrep-oss/note-return py/app.py:16 LOW style | just a note
            quotes `return undefined_name`
            confidence 100
        note: Syntax error at line py/broken.py:2:  `return eval(x) == None )))` was unexpected
    "#]],
    );
}
