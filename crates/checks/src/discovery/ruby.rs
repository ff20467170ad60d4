//! Ruby: RSpec and Minitest.

use super::survey::{Language, Survey, join, outermost};
use super::{Discovery, Framework, Reading, TestKind};
use crate::command::CommandLine;

pub(super) fn look(survey: &Survey<'_>, found: &mut Discovery) {
    let is_manifest = |name: &str| {
        matches!(name, "Gemfile" | "Rakefile" | ".rspec") || name.ends_with(".gemspec")
    };
    for folder in outermost(survey.folders_where(is_manifest)) {
        let gems = survey.text(folder, "Gemfile");
        let by: &[&str] = if survey.has(folder, "Gemfile") { &["bundle", "exec"] } else { &[] };
        let tests =
            |ending: &str| survey.tests(Language::Ruby, folder).any(|path| path.ends_with(ending));
        let is_rspec = survey.has(folder, ".rspec")
            || survey.has(&join(folder, "spec"), "spec_helper.rb")
            || gems.contains("rspec");
        if is_rspec || tests("_spec.rb") {
            let command = CommandLine::words(by.iter().copied()).with(["rspec"]);
            push(survey, folder, "rspec", command, is_rspec, found);
        }
        if tests("_test.rb") || gems.contains("minitest") {
            let command = match survey.has(&join(folder, "bin"), "rails") {
                true => CommandLine::words(["bin/rails", "test"]),
                false => CommandLine::words(by.iter().copied()).with(["rake", "test"]),
            };
            push(survey, folder, "minitest", command, gems.contains("minitest"), found);
        }
    }
}

fn push(
    survey: &Survey<'_>,
    folder: &str,
    name: &str,
    command: CommandLine,
    is_set_up: bool,
    found: &mut Discovery,
) {
    found.frameworks.push(Framework {
        name: name.to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        run: command.clone(),
        command,
        reading: Reading::Guess,
        coverage: None,
        is_set_up,
        has_tests: survey.has_tests(Language::Ruby, folder),
        has_integration: survey.has_integration(Language::Ruby, folder),
    });
}
