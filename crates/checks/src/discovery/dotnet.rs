//! C#, F# and Visual Basic: `dotnet test`.

use std::collections::BTreeSet;

use super::file_index::{FileIndex, Language, around, join, outermost};
use super::{Build, CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, REPORTS};

const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    let is_project = |name: &str| PROJECTS.iter().any(|ending| name.ends_with(ending));
    let is_solution = |name: &str| name.ends_with(".sln") || name.ends_with(".slnx");
    let projects = index.folders_where(is_project);
    let solutions = index.folders_where(is_solution);
    let outer: BTreeSet<&str> =
        outermost(solutions.iter().chain(&projects).copied()).into_iter().collect();
    let is_test = |project: &&&str| {
        index.names(project).any(|name| is_project(name) && is_test_project(index, project, name))
    };
    let tested: BTreeSet<&str> =
        projects.iter().filter(is_test).filter_map(|project| around(project, &outer)).collect();
    for folder in outer {
        let is_set_up = tested.contains(folder);
        let command = CommandLine::words(["dotnet", "build"]);
        found.builds.push(Build { folder: folder.to_owned(), command });
        if !is_set_up && !index.has_tests(Language::DotNet, folder) {
            continue;
        }
        let command = CommandLine::words(["dotnet", "test"]);
        let measure = ["--collect", "XPlat Code Coverage", "--results-directory", REPORTS];
        found.frameworks.push(Framework {
            name: "dotnet_test".to_owned(),
            kind: TestKind::All,
            folder: folder.to_owned(),
            run: command.clone(),
            coverage: Some(CoverageRun {
                command: command.clone().with(measure),
                glob: format!("{REPORTS}/**/coverage.cobertura.xml"),
            }),
            command,
            reading: ResultSource::Guess,
            is_set_up,
            has_tests: index.has_tests(Language::DotNet, folder),
            has_integration: index.has_integration(Language::DotNet, folder),
        });
    }
}

fn is_test_project(index: &FileIndex<'_>, folder: &str, name: &str) -> bool {
    index.text_of(&join(folder, name)).contains("Microsoft.NET.Test.Sdk")
}
