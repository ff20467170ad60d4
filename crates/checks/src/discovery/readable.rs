//! Adds machine-readable reports to commands that users wrote: [`readable_command`].
//!
//! A command runs as it is written. The report is requested by a variable or an option that the
//! runner documents. If the runner can write it to a file, the file is outside of the tree, and
//! nothing in the tree controls it.

use super::node_reporter::with_node_reporter;
use super::{ResultSource, javascript};
use crate::command::{CommandLine, Program, REPORTS, SUPPORT};
use crate::results::ResultFormat;

/// Programs that run another program, with the words between.
const WRAPPERS: [&[&str]; 5] =
    [&["uv", "run"], &["poetry", "run"], &["pipenv", "run"], &["pdm", "run"], &["hatch", "run"]];

/// Returns a command with a readable report, and the location of the report. Returns `None` if the
/// runner is unknown, or the command has reporting options of its own.
pub(crate) fn readable_command(command: &CommandLine) -> Option<(CommandLine, ResultSource)> {
    match &command.program {
        Program::Words(words) => {
            of_words(command, words).or_else(|| javascript::readable_command(command))
        }
        Program::Script(script) => of_script(command, script),
    }
}

fn of_words(command: &CommandLine, words: &[String]) -> Option<(CommandLine, ResultSource)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if is_pytest(&words) {
        return pytest(command, &words);
    }
    match runner(&words) {
        [python, "-m", "unittest", rest @ ..] if is_python(python) => {
            let says = rest.iter().any(|word| ["-v", "--verbose", "-q", "--quiet"].contains(word));
            let run = if says { command.clone() } else { command.clone().with(["-v"]) };
            Some((run, ResultSource::of_unittest()))
        }
        ["go", "test", rest @ ..] => {
            let run = match rest.contains(&"-json") {
                true => command.clone(),
                false => insert_words(command, "test", &["-json".to_owned()]),
            };
            Some((run, ResultSource::Printed(ResultFormat::GoJson)))
        }
        ["node", rest @ ..] if rest.contains(&"--test") => {
            Some((with_node_reporter(command.clone(), rest)?, ResultSource::of_node()))
        }
        _ => None,
    }
}

/// Adds a report to a script, by variables alone.
fn of_script(command: &CommandLine, script: &str) -> Option<(CommandLine, ResultSource)> {
    let parts = script.split(['\n', ';', '|', '&']);
    let parts: Vec<Vec<&str>> = parts.map(|part| part.split_whitespace().collect()).collect();
    let commands: Vec<&[&str]> = parts.iter().map(|words| without_variables(words)).collect();
    let tested = commands.iter().filter(|words| is_pytest(words)).count();
    // The report of a second run would overwrite that of the first.
    if tested == 1 {
        return pytest(command, commands.iter().find(|words| is_pytest(words))?);
    }
    let has = |is_it: fn(&[&str]) -> bool| commands.iter().any(|words| is_it(words));
    // Each process writes a report of its own.
    if tested == 0 && has(is_unittest) {
        return Some((command.clone(), ResultSource::of_unittest()));
    }
    let node: Vec<&[&str]> = commands.iter().copied().filter(|words| is_node_test(words)).collect();
    match node.as_slice() {
        [words] if tested == 0 => {
            Some((with_node_reporter(command.clone(), words)?, ResultSource::of_node()))
        }
        _ => None,
    }
}

/// Options that change the amount of output of a runner and not its tests, by runner.
const OUTPUT_OPTIONS: [(&[&str], &[&str]); 4] = [
    (&["pytest"], &["-q", "-qq", "-v", "-vv", "--quiet", "--verbose", "--no-header"]),
    (&["go", "test"], &["-json", "-v"]),
    (&["cargo", "test"], &["--no-fail-fast", "-q", "--quiet", "-v", "--verbose"]),
    (&["cargo", "nextest", "run"], &["--no-fail-fast", "-v", "--verbose"]),
];

/// Returns a command without added reports and without options that only change the amount of
/// output, in one spelling. Commands that run the same tests are equal then.
pub(crate) fn without_reporting(command: &CommandLine) -> CommandLine {
    let Program::Words(words) = &command.program else { return command.clone() };
    let is_added = |word: &str| word.contains(REPORTS) || word.contains(SUPPORT);
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !is_added(word)).collect();
    let inner = runner(&words);
    let through = &words[..words.len() - inner.len()];
    let inner: Vec<&str> = match inner {
        [python, "-m", "pytest", rest @ ..] if is_python(python) => {
            [&["pytest"][..], rest].concat()
        }
        [manager @ ("npm" | "pnpm" | "yarn"), "run" | "run-script", "test", rest @ ..]
        | [manager @ "npm", "t", rest @ ..] => [&[*manager, "test"][..], rest].concat(),
        inner => inner.to_vec(),
    };
    let options = OUTPUT_OPTIONS.iter().find(|(start, _)| inner.starts_with(start));
    let options = options.map(|(_, options)| *options).unwrap_or_default();
    // Words after `--` are for the tests themselves.
    let own = inner.iter().position(|word| *word == "--").unwrap_or(inner.len());
    let inner = inner.iter().enumerate();
    let inner = inner.filter(|(at, word)| *at >= own || !options.contains(*word));
    let words = through.iter().chain(inner.map(|(_, word)| word)).copied();
    let variables = command.variables.iter().filter_map(|(name, value)| {
        let value: Vec<&str> = value.split(' ').filter(|word| !is_added(word)).collect();
        (!value.is_empty()).then(|| (name.clone(), value.join(" ")))
    });
    CommandLine { variables: variables.collect(), ..CommandLine::words(words) }
}

fn is_unittest(words: &[&str]) -> bool {
    matches!(runner(words), [python, "-m", "unittest", ..] if is_python(python))
}

fn is_node_test(words: &[&str]) -> bool {
    matches!(words, ["node", rest @ ..] if rest.contains(&"--test"))
}

fn without_variables<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let is_variable = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let count = words.iter().take_while(|word| is_variable(word)).count();
    &words[count..]
}

/// Returns the words of the runner itself, without a program such as `uv run` before it.
fn runner<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let through = WRAPPERS.iter().find(|prefix| words.starts_with(prefix));
    through.map_or(words, |prefix| &words[prefix.len()..])
}

fn is_pytest(words: &[&str]) -> bool {
    match runner(words) {
        [program, ..] if name(program) == "pytest" || name(program) == "py.test" => true,
        [python, "-m", "pytest", ..] => is_python(python),
        _ => false,
    }
}

fn is_python(program: &str) -> bool {
    let version = name(program).strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Returns the name of a program, without its folder.
fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn pytest(command: &CommandLine, words: &[&str]) -> Option<(CommandLine, ResultSource)> {
    let says = ["--junitxml", "--junit-xml", "--collect-only", "--co", "--help", "--version"];
    let option = |word: &&str| word.split('=').next().is_some_and(|name| says.contains(&name));
    if words.iter().any(option) {
        return None;
    }
    let run = with_pytest_option(command.clone(), &format!("--junitxml={REPORTS}/pytest.xml"));
    Some((run, ResultSource::of_pytest()))
}

/// Adds an option to all runs of pytest in a command, by the variable `PYTEST_ADDOPTS`.
pub(crate) fn with_pytest_option(mut command: CommandLine, option: &str) -> CommandLine {
    const VARIABLE: &str = "PYTEST_ADDOPTS";
    match command.variables.iter_mut().find(|(name, _)| name == VARIABLE) {
        Some((_, value)) => {
            value.push(' ');
            value.push_str(option);
        }
        None => command.variables.push((VARIABLE.to_owned(), option.to_owned())),
    }
    command
}

/// Inserts words after the first occurrence of `behind`, or at the end.
fn insert_words(command: &CommandLine, behind: &str, more: &[String]) -> CommandLine {
    let mut command = command.clone();
    if let Program::Words(words) = &mut command.program {
        let at = words.iter().position(|word| word == behind).map_or(words.len(), |at| at + 1);
        words.splice(at..at, more.iter().cloned());
    }
    command
}
