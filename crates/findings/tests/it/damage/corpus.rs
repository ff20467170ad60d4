//! Reports that block, in every form that reviewers write.

use serde_json::{Value, json};

/// A report whose synthesis is `not ready`.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) text: String,
}

/// Returns at least forty reports: every list of findings in every form.
pub(super) fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (list, findings) in lists() {
        for (form, write) in OUTPUT_FORMATS {
            samples.push(Sample { name: format!("{list} as {form}"), text: write(&findings) });
        }
    }
    samples
}

/// Returns the lists of findings. In each, at least one finding blocks.
fn lists() -> Vec<(&'static str, Vec<Value>)> {
    let injection = finding("SQL injection", "P0", "src/db.py", 42, "query = \"select \" + name");
    let race = finding("Lost update", "P1", "src/cart.py", 7, "total = total + item[\"price\"]");
    let name = finding("Unclear name", "P3", "src/cart.py", 3, "x = {\"a\": [1, 2]}");
    let loops = finding("Query in a loop", "P2", "src/api.py", 9, "for u in users: load(u, [])");
    vec![
        ("blocker last", vec![name.clone(), loops.clone(), injection.clone()]),
        ("blocker first", vec![injection.clone(), name.clone()]),
        ("one blocker", vec![race.clone()]),
        ("blocker between", vec![loops, race, name, injection]),
    ]
}

fn finding(title: &str, severity: &str, file: &str, line: u32, quote: &str) -> Value {
    json!({
        "title": title, "severity": severity, "file": file, "line": line,
        "why_it_matters": format!("{title}: \"wrong\" data, in [some] cases {{rare}}."),
        "autofix_class": "manual", "owner": "downstream-resolver", "requires_verification": true,
        "confidence": 100, "evidence": [quote, "a second line of code()"], "pre_existing": false,
        "suggested_fix": "Use `bind()`, not +",
    })
}

type Write = fn(&[Value]) -> String;

const OUTPUT_FORMATS: [(&str, Write); 14] = [
    ("a persona report", |findings| persona(findings).to_string()),
    ("a persona report, indented", |findings| pretty(&persona(findings))),
    ("a compact persona report", |findings| compact(findings).to_string()),
    ("a fenced persona report", |findings| {
        format!("I read all of it.\n\n```json\n{}\n```\n", pretty(&persona(findings)))
    }),
    ("a review", |findings| review(findings).to_string()),
    ("a review between sentences", |findings| {
        format!(
            "Review complete, see the list:\n\n~~~\n{}\n~~~\n\nPlease fix these.\n\n\
             Overall: **REQUEST_CHANGES**\n",
            pretty(&review(findings))
        )
    }),
    ("a wrapped review", |findings| json!({"review": {"result": review(findings)}}).to_string()),
    ("a bare list", |findings| format!("Findings:\n{}", pretty(&review(findings)["findings"]))),
    ("JSON lines", |findings| {
        let review = review(findings);
        let lines = review["findings"].as_array().unwrap().iter();
        lines.map(|finding| format!("{finding}\n")).collect()
    }),
    ("groups by severity", |findings| {
        let mut groups = serde_json::Map::new();
        for finding in review(findings)["findings"].as_array().unwrap() {
            let mut finding = finding.clone();
            let severity = finding.as_object_mut().unwrap().remove("severity").unwrap();
            let group = groups.entry(severity.as_str().unwrap()).or_insert_with(|| json!([]));
            group.as_array_mut().unwrap().push(finding);
        }
        json!({"findings": groups, "summary": "by severity"}).to_string()
    }),
    ("two fences", |findings| {
        let review = review(findings);
        let list = review["findings"].as_array().unwrap();
        let (first, rest) = list.split_at(1);
        format!(
            "First:\n```json\n{}\n```\nThen:\n```\n{}\n```\n",
            json!({"issues": first}),
            json!({"issues": rest})
        )
    }),
    ("sloppy JSON", |findings| {
        let review = pretty(&review(findings));
        review
            .replace("\"severity\"", "severity")
            .replace("null", "None")
            .replace("}\n  ]", "},\n  ]")
    }),
    ("lines", |findings| {
        let lines =
            review(findings)["findings"].as_array().unwrap().iter().map(line).collect::<String>();
        format!("What I found:\n\n{lines}\nVerdict: REQUEST_CHANGES\n")
    }),
    ("lines around code", |findings| {
        let lines =
            review(findings)["findings"].as_array().unwrap().iter().map(line).collect::<Vec<_>>();
        format!(
            "Found:\n\n```python\nx = [1]\n```\n\n{}",
            lines.join("\n```python\ny = {}\n```\n\n")
        )
    }),
];

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

fn persona(findings: &[Value]) -> Value {
    json!({"reviewer": "security", "findings": findings, "residual_risks": ["load"], "testing_gaps": []})
}

fn compact(findings: &[Value]) -> Value {
    let mut findings = findings.to_vec();
    for finding in &mut findings {
        let finding = finding.as_object_mut().unwrap();
        finding.remove("evidence");
        finding.remove("why_it_matters");
    }
    persona(&findings)
}

/// Formats findings as the structured review of seven levels.
fn review(findings: &[Value]) -> Value {
    let level = |severity: &Value| match severity.as_str() {
        Some("P0") => "CRITICAL",
        Some("P1") => "HIGH",
        Some("P2") => "MEDIUM",
        _ => "LOW",
    };
    let findings: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "file": finding["file"], "line_number": finding["line"],
                "severity": level(&finding["severity"]), "category": "security",
                "description": finding["why_it_matters"], "suggested_fix": Value::Null,
            })
        })
        .collect();
    json!({"findings": findings, "summary": "What I found, in short."})
}

fn line(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().unwrap().to_owned();
    format!(
        "- **{}**: {} ({}:{})\n",
        text("severity"),
        text("description"),
        text("file"),
        finding["line_number"]
    )
}
