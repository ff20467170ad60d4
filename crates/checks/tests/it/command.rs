//! Command lines as people write them.

use assay_checks::command::{CommandLine, Program};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// Parses commands, one on each line, and compares the commands to run.
fn check(lines: &str, expect: Expect) {
    let parsed_lines: String =
        lines.lines().map(|line| format!("{}\n", shown(line.trim()))).collect();
    expect.assert_eq(&parsed_lines);
}

fn shown(line: &str) -> String {
    match CommandLine::parse(line) {
        Err(error) => format!("refused: {error}"),
        Ok(CommandLine { program: Program::Script(script), .. }) => format!("sh: {script}"),
        Ok(CommandLine { variables, program: Program::Words(words) }) => {
            let set: String =
                variables.iter().map(|(name, value)| format!("{name}={value:?} ")).collect();
            format!("{set}{words:?}")
        }
    }
}

#[test]
fn words_and_quotes_need_no_shell() {
    check(
        r#"pytest tests/test_auth.py
           pytest   -k "log in"  'a b'c
           npm run test:unit -- --grep=x
           RUST_BACKTRACE=1 A="b c" cargo test
           echo '$HOME; rm -rf /'
           env A=1 make"#,
        expect![[r#"
            ["pytest", "tests/test_auth.py"]
            ["pytest", "-k", "log in", "a bc"]
            ["npm", "run", "test:unit", "--", "--grep=x"]
            RUST_BACKTRACE="1" A="b c" ["cargo", "test"]
            ["echo", "$HOME; rm -rf /"]
            ["env", "A=1", "make"]
        "#]],
    );
}

#[test]
fn commands_with_shell_syntax_are_run_by_a_shell() {
    check(
        "cargo build && cargo test
         pytest | tee log
         make > out
         echo $(date)
         echo `date`
         echo \"$HOME\"
         A=$B make
         ls *.py
         cd backend; pytest
         a\\ b
         echo \"a\\\"b\"
         ~/run
         a # b",
        expect![[r#"
            sh: cargo build && cargo test
            sh: pytest | tee log
            sh: make > out
            sh: echo $(date)
            sh: echo `date`
            sh: echo "$HOME"
            sh: A=$B make
            sh: ls *.py
            sh: cd backend; pytest
            sh: a\ b
            sh: echo "a\"b"
            sh: ~/run
            sh: a # b
        "#]],
    );
}

#[test]
fn empty_and_malformed_commands_are_refused() {
    check(
        "\n'\n\"a\nA=1\na\0b",
        expect![[r#"
        refused: the command is empty
        refused: a quote is not closed
        refused: a quote is not closed
        refused: the command is empty
        refused: it contains a NUL byte
    "#]],
    );
}

#[test]
fn quoted_and_malformed_names_set_no_variable() {
    check(
        "'A=1' b\nA'B'=1 b\n1A=2 b",
        expect![[r#"
        ["A=1", "b"]
        ["AB=1", "b"]
        ["1A=2", "b"]
    "#]],
    );
}

proptest! {
    /// A formatted command is parsed as the same command.
    #[test]
    fn a_formatted_command_parses_to_the_same_command(words in prop::collection::vec("[^\0\r\n]{0,12}", 1..5)) {
        let line = CommandLine::words(words);
        let text = line.to_string();
        if let Ok(again @ CommandLine { program: Program::Words(_), .. }) = CommandLine::parse(&text)
            && again.variables.is_empty()
        {
            prop_assert_eq!(again, line);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        let _ = CommandLine::parse(&text);
    }
}
