//! Java and Kotlin: Maven and Gradle.

use super::file_index::{FileIndex, Language, join, outermost};
use super::{Build, CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::CommandLine;
use crate::results::ResultFormat;

/// The scripts that Gradle reads.
const GRADLE: [&str; 4] =
    ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    for folder in outermost(index.folders_with("pom.xml")) {
        maven(index, folder, found);
    }
    for folder in outermost(index.folders_where(|name| GRADLE.contains(&name))) {
        gradle(index, folder, found);
    }
}

fn maven(index: &FileIndex<'_>, folder: &str, found: &mut Discovery) {
    let program = if index.has(folder, "mvnw") { "./mvnw" } else { "mvn" };
    let pom = index.text(folder, "pom.xml");
    // Failsafe runs the integration tests, in a later phase.
    let phase = if pom.contains("maven-failsafe-plugin") { "verify" } else { "test" };
    let command = CommandLine::words([program, phase]);
    let run = CommandLine::words([program, "-B", phase]);
    let coverage = pom.contains("jacoco").then(|| CoverageRun {
        command: run.clone().with(["jacoco:report"]),
        glob: "**/target/site/jacoco/jacoco.xml".to_owned(),
    });
    found.frameworks.push(Framework {
        name: "maven".to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        command,
        run,
        reading: ResultSource::Files {
            form: ResultFormat::Junit,
            glob: "**/target/{surefire,failsafe}-reports/TEST-*.xml".to_owned(),
        },
        coverage,
        is_set_up: index.has_tests(Language::Jvm, folder),
        has_tests: index.has_tests(Language::Jvm, folder),
        has_integration: phase == "verify" || index.has_integration(Language::Jvm, folder),
    });
    let command = CommandLine::words([program, "-B", "compile"]);
    found.builds.push(Build { folder: folder.to_owned(), command });
}

fn gradle(index: &FileIndex<'_>, folder: &str, found: &mut Discovery) {
    let program = if index.has(folder, "gradlew") { "./gradlew" } else { "gradle" };
    let script: String = GRADLE.iter().map(|name| index.text(folder, name)).collect();
    let app = join(folder, "app");
    let scripts = script + &index.text(&app, GRADLE[0]) + &index.text(&app, GRADLE[1]);
    let coverage = scripts.contains("jacoco").then(|| CoverageRun {
        command: CommandLine::words([program, "cleanTest", "test", "jacocoTestReport"]),
        glob: "**/build/reports/jacoco/**/*.xml".to_owned(),
    });
    found.frameworks.push(Framework {
        name: "gradle".to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        command: CommandLine::words([program, "test"]),
        // Gradle does not run tests that it considers up to date.
        run: CommandLine::words([program, "cleanTest", "test", "--continue"]),
        reading: ResultSource::Files {
            form: ResultFormat::Junit,
            glob: "**/build/test-results/**/TEST-*.xml".to_owned(),
        },
        coverage,
        is_set_up: index.has_tests(Language::Jvm, folder),
        has_tests: index.has_tests(Language::Jvm, folder),
        has_integration: index.has_integration(Language::Jvm, folder),
    });
    let command = CommandLine::words([program, "assemble"]);
    found.builds.push(Build { folder: folder.to_owned(), command });
}
