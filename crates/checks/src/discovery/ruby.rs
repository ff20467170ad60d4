//! Ruby: RSpec and Minitest.

use super::file_index::{FileIndex, Language, join, outermost};
use super::{Discovery, Framework, ResultSource, TestKind};
use crate::command::CommandLine;

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    let is_manifest = |name: &str| {
        matches!(name, "Gemfile" | "Rakefile" | ".rspec") || name.ends_with(".gemspec")
    };
    for folder in outermost(index.folders_where(is_manifest)) {
        let gems = index.text(folder, "Gemfile");
        let by: &[&str] = if index.has(folder, "Gemfile") { &["bundle", "exec"] } else { &[] };
        let tests =
            |ending: &str| index.tests(Language::Ruby, folder).any(|path| path.ends_with(ending));
        let is_rspec = index.has(folder, ".rspec")
            || index.has(&join(folder, "spec"), "spec_helper.rb")
            || gems.contains("rspec");
        if is_rspec || tests("_spec.rb") {
            let command = CommandLine::words(by.iter().copied()).with(["rspec"]);
            push(index, folder, "rspec", command, is_rspec, found);
        }
        if tests("_test.rb") || gems.contains("minitest") {
            let command = match index.has(&join(folder, "bin"), "rails") {
                true => CommandLine::words(["bin/rails", "test"]),
                false => CommandLine::words(by.iter().copied()).with(["rake", "test"]),
            };
            push(index, folder, "minitest", command, gems.contains("minitest"), found);
        }
    }
}

fn push(
    index: &FileIndex<'_>,
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
        reading: ResultSource::Guess,
        coverage: None,
        is_set_up,
        has_tests: index.has_tests(Language::Ruby, folder),
        has_integration: index.has_integration(Language::Ruby, folder),
    });
}
