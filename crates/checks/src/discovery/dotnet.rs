//! C#, F# and Visual Basic: `dotnet test`.

use std::collections::BTreeSet;

use super::survey::{Language, Survey, around, join, outermost};
use super::{Build, CoverageRun, Discovery, Framework, Reading, TestKind};
use crate::command::{CommandLine, REPORTS};

const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

pub(super) fn look(survey: &Survey<'_>, found: &mut Discovery) {
    let is_project = |name: &str| PROJECTS.iter().any(|ending| name.ends_with(ending));
    let is_solution = |name: &str| name.ends_with(".sln") || name.ends_with(".slnx");
    let projects = survey.folders_where(is_project);
    let solutions = survey.folders_where(is_solution);
    let outer: BTreeSet<&str> =
        outermost(solutions.iter().chain(&projects).copied()).into_iter().collect();
    let is_test = |project: &&&str| {
        survey.names(project).any(|name| is_project(name) && is_test_project(survey, project, name))
    };
    let tested: BTreeSet<&str> =
        projects.iter().filter(is_test).filter_map(|project| around(project, &outer)).collect();
    for folder in outer {
        let is_set_up = tested.contains(folder);
        let command = CommandLine::words(["dotnet", "build"]);
        found.builds.push(Build { folder: folder.to_owned(), command });
        if !is_set_up && !survey.has_tests(Language::DotNet, folder) {
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
            reading: Reading::Guess,
            is_set_up,
            has_tests: survey.has_tests(Language::DotNet, folder),
            has_integration: survey.has_integration(Language::DotNet, folder),
        });
    }
}

fn is_test_project(survey: &Survey<'_>, folder: &str, name: &str) -> bool {
    survey.text_of(&join(folder, name)).contains("Microsoft.NET.Test.Sdk")
}
