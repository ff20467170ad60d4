//! The reporter of assay for Node's test runner: [`with_node_reporter`].

use crate::command::{CommandLine, SUPPORT};

/// Adds our reporter to all runs of `node --test` in a command, by the variable `NODE_OPTIONS`;
/// `words` are those of one of the runs. Each of several reporters needs a destination. Returns
/// `None` if the command names its reporters in a way that Node itself rejects.
pub(super) fn with_node_reporter(mut command: CommandLine, words: &[&str]) -> Option<CommandLine> {
    const VARIABLE: &str = "NODE_OPTIONS";
    let is = |word: &str, option: &str| {
        word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let count = |option: &str| words.iter().filter(|word| is(word, option)).count();
    let own =
        format!("--test-reporter=\"{SUPPORT}/reporter.mjs\" --test-reporter-destination=/dev/null");
    let rest = match (count("--test-reporter"), count("--test-reporter-destination")) {
        (0, 0) => " --test-reporter=tap --test-reporter-destination=stdout",
        (1, 0) => " --test-reporter-destination=stdout",
        (reporters, destinations) if reporters == destinations => "",
        _ => return None,
    };
    let options = format!("{own}{rest}");
    match command.variables.iter_mut().find(|(name, _)| name == VARIABLE) {
        Some((_, value)) => *value = format!("{value} {options}"),
        None => command.variables.push((VARIABLE.to_owned(), options)),
    }
    Some(command)
}
