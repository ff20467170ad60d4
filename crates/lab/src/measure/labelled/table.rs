//! The tables of the labelled cases.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Case, CaseReview, Label};

/// The counts of some flawed cases.
#[derive(Default, Clone, Copy)]
struct Row {
    with_line: usize,
    found_near: usize,
    without_line: usize,
    found_anywhere: usize,
}

impl Row {
    fn add(&mut self, case: &Case, reviewed: &CaseReview) {
        let found = usize::from(case.is_found(reviewed));
        match case.label {
            Label::Clean => {}
            Label::Lines(..) => {
                self.with_line += 1;
                self.found_near += found;
            }
            Label::Somewhere => {
                self.without_line += 1;
                self.found_anywhere += found;
            }
        }
    }

    fn line(&self, name: &str) -> String {
        let share = |found: usize, of: usize| match of {
            0 => String::new(),
            of => format!("{:.1} %", found as f64 * 1e2 / of as f64),
        };
        format!(
            "{name:28}{:>8}{:>8}{:>9}{:>12}{:>10}{:>9}",
            self.with_line,
            self.found_near,
            share(self.found_near, self.with_line),
            self.without_line,
            self.found_anywhere,
            share(self.found_anywhere, self.without_line),
        )
    }

    fn json(&self) -> Value {
        json!({
            "with_line": self.with_line,
            "found_near": self.found_near,
            "without_line": self.without_line,
            "found_anywhere": self.found_anywhere,
        })
    }
}

/// Prints the findings in clean cases, by severity, and each one of HIGH or above.
pub(super) fn print_clean(results: &[(Case, CaseReview)]) -> Value {
    let clean: Vec<&(Case, CaseReview)> =
        results.iter().filter(|(case, _)| case.label == Label::Clean).collect();
    let mut by_severity: BTreeMap<&str, usize> = BTreeMap::new();
    for (case, reviewed) in &clean {
        for finding in &reviewed.findings {
            *by_severity.entry(&finding.severity).or_default() += 1;
            let verdict = if finding.is_high { "FAILED" } else { "noted" };
            let (rule, line) = (&finding.rule, finding.lines.0);
            println!(
                "{verdict}: clean {}: {} {rule} at {}:{line}",
                case.id, finding.severity, case.file
            );
        }
    }
    let silent = clean.iter().filter(|(_, reviewed)| reviewed.findings.is_empty()).count();
    println!("\nclean cases: {}, without a finding: {silent}", clean.len());
    for (severity, count) in &by_severity {
        println!("  {severity}: {count}");
    }
    json!({ "cases": clean.len(), "silent": silent, "by_severity": by_severity })
}

/// Prints the number of flawed cases that were found: with lines, near them; without lines,
/// anywhere.
pub(super) fn print_flawed(results: &[(Case, CaseReview)]) -> Value {
    let mut languages: BTreeMap<&str, Row> = BTreeMap::new();
    let mut categories: BTreeMap<&str, Row> = BTreeMap::new();
    let mut all = Row::default();
    let mut elsewhere = 0;
    for (case, reviewed) in results.iter().filter(|(case, _)| case.label != Label::Clean) {
        languages.entry(&case.language).or_default().add(case, reviewed);
        categories.entry(&case.category).or_default().add(case, reviewed);
        all.add(case, reviewed);
        if let Label::Lines(start, end) = case.label {
            elsewhere += reviewed.findings.iter().filter(|f| !f.is_near((start, end))).count();
        }
        print_found(case, reviewed);
    }
    println!(
        "\n{:28}{:>8}{:>8}{:>9}{:>12}{:>10}{:>9}",
        "flawed cases", "a line", "near", "", "no line", "anywhere", ""
    );
    for (name, row) in languages.iter().chain(&categories) {
        println!("{}", row.line(name));
    }
    println!("{}", all.line("all"));
    println!("findings in cases with a line, but not near it: {elsewhere}\n");
    let rows = |rows: &BTreeMap<&str, Row>| -> Value {
        rows.iter()
            .map(|(name, row)| ((*name).to_owned(), row.json()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    json!({ "all": all.json(), "languages": rows(&languages), "categories": rows(&categories), "elsewhere": elsewhere })
}

fn print_found(case: &Case, reviewed: &CaseReview) {
    for finding in &reviewed.findings {
        let place = match case.label {
            Label::Lines(start, end) if finding.is_near((start, end)) => "near the label",
            Label::Lines(..) => "elsewhere",
            Label::Somewhere | Label::Clean => "no line labelled",
        };
        let (rule, line) = (&finding.rule, finding.lines.0);
        println!("flawed {}: {} {rule} at line {line} ({place})", case.id, finding.severity);
    }
}
