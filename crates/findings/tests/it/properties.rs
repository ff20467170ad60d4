//! Laws that hold for every input, tested on random inputs. `PROPTEST_CASES` sets their number.

use assay_findings::grade::Grade;
use assay_findings::persona_schema::{self, ReportTier};
use assay_findings::read;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::script_api::{self, SeverityFormat};
use assay_findings::shown_limit::ShownLimit;
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use assay_findings::vote::{AutofixClass, Confidence, LineRange, Owner, Vote};
use assay_findings::write::{self, FindingsDocument};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Generates texts as reviewers write them: words, code, quotes, brackets and line breaks.
fn text() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "the lock", "is not held", "`find(id)`", "{\"a\": 1}", "[0]", "it's", "say \"no\"", "a, b",
        "key: value", "x\ny", "C:\\temp", "ünïcode", "if (a) { b(); }", "// note", "100%", "```",
        "— so",
    ]);
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.join(" "))
}

/// Generates text of words alone, without marks of JSON.
fn plain_text() -> impl Strategy<Value = String> {
    let word = select(vec!["lock", "not", "held", "while", "reading", "the", "balance", "twice"]);
    prop::collection::vec(word, 2..7).prop_map(|words| words.join(" "))
}

fn finding(text: BoxedStrategy<String>) -> impl Strategy<Value = Value> {
    let severity =
        select(vec!["CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION"]);
    let file = select(vec!["src/a.rs", "src/b/c.py", "web/app.ts", "Makefile"]);
    (file, 1..500u32, severity, text.clone(), prop::option::of(text)).prop_map(
        |(file, line, severity, description, fix)| {
            json!({"file": file, "line_number": line, "severity": severity, "category": "security",
                "description": description, "suggested_fix": fix})
        },
    )
}

fn review(text: BoxedStrategy<String>) -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(finding(text), 1..5).prop_map(|mut findings| {
        // Each finding has a line of its own, so that no two are equal.
        for (number, finding) in findings.iter_mut().enumerate() {
            finding["line_number"] = json!(1_000 * (number + 1));
        }
        findings
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinities", |n| n.is_finite()).prop_map(Value::from),
        text().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Returns the findings of a text, each by its line, severity and description.
fn parsed_votes(text: &str) -> Vec<(Option<u32>, String, String)> {
    let votes = read::read(text, None).votes.unwrap_or_default();
    votes
        .into_iter()
        .map(|vote| (vote.line(), vote.grade.word().to_owned(), vote.description))
        .collect()
}

fn expected(finding: &Value) -> (Option<u32>, String, String) {
    (
        finding["line_number"].as_u64().map(|line| line as u32),
        finding["severity"].as_str().unwrap().to_owned(),
        finding["description"].as_str().unwrap().trim().to_owned(),
    )
}

/// The effect of one slip on a character.
#[derive(Debug, Clone, Copy)]
enum Slip {
    Leave,
    Repeat,
}

/// Makes one slip at the `nth` structural character of the list, and returns the index of the
/// finding that contains it; `None` if the character is between findings.
fn with_slip(findings: &[Value], pretty: bool, nth: usize, slip: Slip) -> (String, Option<usize>) {
    let write = |value: &Value| match pretty {
        true => serde_json::to_string_pretty(value).unwrap(),
        false => value.to_string(),
    };
    let mut text = String::from("{\"findings\": [");
    let mut places: Vec<(usize, Option<usize>)> = Vec::new();
    places.push((text.len() - 1, None));
    for (number, finding) in findings.iter().enumerate() {
        if number > 0 {
            places.push((text.len(), None));
            text.push_str(",\n");
        }
        let start = text.len();
        text.push_str(&write(finding));
        let mut escaped = false;
        let mut inside = false;
        for (at, byte) in text.bytes().enumerate().skip(start) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if inside => escaped = true,
                b'"' => {
                    inside = !inside;
                    places.push((at, Some(number)));
                }
                b'{' | b'}' | b'[' | b']' | b',' | b':' if !inside => {
                    places.push((at, Some(number)))
                }
                _ => {}
            }
        }
    }
    places.push((text.len(), None));
    text.push_str("], \"summary\": \"done\"}");
    let (at, touched) = places[nth % places.len()];
    match slip {
        Slip::Leave => {
            text.remove(at);
        }
        Slip::Repeat => {
            let again = text.as_bytes()[at] as char;
            text.insert(at, again);
        }
    }
    (text, touched)
}

proptest! {
    #[test]
    fn parsing_any_text_does_not_panic(text in any::<String>()) {
        script_api::parse(text.as_bytes(), SeverityFormat::Auto, None);
    }

    #[test]
    fn reading_any_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        script_api::parse(&bytes, SeverityFormat::Auto, None);
        script_api::validate(&bytes, ReportTier::Full);
        let (text, _) = read::decode(&bytes);
        synthesize(&Report::list_from_text(&text, None), &SynthesisInputs::default());
    }

    #[test]
    fn reading_any_sequence_of_json_marks_does_not_panic(text in "[\\[\\]{}\",:'a1 \\\\\n`/#“”‘’´ü_().+-]{0,300}") {
        script_api::parse(text.as_bytes(), SeverityFormat::Auto, None);
        synthesize(&Report::list_from_text(&text, None), &SynthesisInputs::default());
    }

    #[test]
    fn valid_json_is_read_unchanged(value in any_json(), pretty in any::<bool>()) {
        let list = Value::Array(vec![value]);
        let text = if pretty { serde_json::to_string_pretty(&list).unwrap() } else { list.to_string() };
        prop_assert_eq!(read::repair_json(&text), Some(list));
    }

    #[test]
    fn valid_findings_are_read_completely(findings in review(text().boxed()), pretty in any::<bool>()) {
        let review = json!({"findings": findings, "summary": "done"});
        let text = if pretty { serde_json::to_string_pretty(&review).unwrap() } else { review.to_string() };
        let fenced = format!("Here is what I found:\n```json\n{text}\n```\nREQUEST_CHANGES");
        let wanted: Vec<_> = findings.iter().map(expected).collect();
        prop_assert_eq!(parsed_votes(&text), wanted.clone());
        prop_assert_eq!(parsed_votes(&fenced), wanted);
    }

    #[test]
    fn one_slip_affects_at_most_the_finding_that_contains_the_slip(
        findings in review(plain_text().boxed()),
        pretty in any::<bool>(),
        nth in any::<usize>(),
        slip in select(vec![Slip::Leave, Slip::Repeat]),
    ) {
        let (text, touched) = with_slip(&findings, pretty, nth, slip);
        let parsed = parsed_votes(&text);
        for (number, finding) in findings.iter().enumerate() {
            if Some(number) != touched {
                prop_assert!(parsed.contains(&expected(finding)), "lost {number} of\n{text}\ngot {parsed:?}");
            }
        }
    }

    #[test]
    fn a_truncation_keeps_every_finding_before_the_cut(
        findings in review(text().boxed()),
        pretty in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let write = |value: &Value| match pretty {
            true => serde_json::to_string_pretty(value).unwrap(),
            false => value.to_string(),
        };
        let mut text = String::from("{\"findings\": [");
        let mut ends = Vec::new();
        for finding in &findings {
            text.push_str(&write(finding));
            ends.push(text.len());
            text.push_str(", ");
        }
        let mut at = cut.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let whole = ends.iter().filter(|end| **end <= at).count();
        let parsed = parsed_votes(&text[..at]);
        for finding in &findings[..whole] {
            prop_assert!(parsed.contains(&expected(finding)), "lost one of\n{}\ngot {parsed:?}", &text[..at]);
        }
    }

    #[test]
    fn the_schema_check_agrees_with_a_full_implementation(document in almost_a_report()) {
        let schema: Value = serde_json::from_str(persona_schema::SCHEMA).unwrap();
        let peer = jsonschema::draft7::new(&schema).unwrap();
        let errors = persona_schema::validate(&document, ReportTier::Full);
        prop_assert_eq!(errors.is_empty(), peer.is_valid(&document), "{:?}", errors);
    }

    #[test]
    fn the_order_of_reports_makes_no_difference(reports in reports(), turn in any::<usize>()) {
        let first = synthesize(&reports, &SynthesisInputs::default());
        let mut turned = reports.clone();
        turned.rotate_left(turn % reports.len().max(1));
        turned.reverse();
        prop_assert_eq!(first, synthesize(&turned, &SynthesisInputs::default()));
    }

    #[test]
    fn a_report_that_arrives_twice_changes_nothing(reports in reports()) {
        let once = synthesize(&reports, &SynthesisInputs::default());
        let doubled: Vec<Report> = reports.iter().chain(&reports).cloned().collect();
        let twice = synthesize(&doubled, &SynthesisInputs::default());
        prop_assert_eq!(all_findings(&once), all_findings(&twice));
        prop_assert_eq!(once.verdict, twice.verdict);
    }

    #[test]
    fn merging_merged_votes_again_changes_no_group(reports in reports(), turn in any::<usize>()) {
        // The votes of each finding become a report of their own, in another order.
        let once = synthesize(&reports, &SynthesisInputs::default());
        let mut votes: Vec<(String, Vote)> = all_findings(&once)
            .iter()
            .flat_map(|finding| &finding.votes)
            .map(|vote| {
                let report = reports.iter().find(|r| r.reviewer.name == vote.reviewer).unwrap();
                (vote.reviewer.clone(), report.votes[vote.vote].clone())
            })
            .collect();
        prop_assume!(once.counts.demoted == 0);
        let turn = turn % votes.len().max(1);
        votes.rotate_left(turn);
        let again: Vec<Report> = votes
            .into_iter()
            .map(|(name, vote)| {
                let mut report = Report::new(Reviewer::new(name, ReviewerKind::Persona));
                report.votes.push(vote);
                report
            })
            .collect();
        prop_assume!(!again.is_empty());
        let again = synthesize(&again, &SynthesisInputs::default());
        let groups = |synthesis: &Synthesis| -> Vec<(String, Vec<String>, String)> {
            let findings = all_findings(synthesis);
            let group = |f: &assay_findings::finding::Finding| {
                (f.fingerprint.clone(), f.reviewers.clone(), f.severity.clone())
            };
            let mut groups: Vec<_> = findings.iter().map(group).collect();
            groups.sort();
            groups
        };
        prop_assert_eq!(groups(&once), groups(&again));
    }

    /// Checks that no further report makes a vote harmless that blocks by itself. A verdict that
    /// rests on the agreement of two votes has no such law: a further vote can join one of the two
    /// and leave the other one alone.
    #[test]
    fn a_vote_that_blocks_by_itself_blocks_among_others(reports in reports()) {
        let blocks = |reports: &[Report]| {
            synthesize(reports, &SynthesisInputs::default()).verdict.state == VerdictState::NotReady
        };
        let all_block = blocks(&reports);
        for report in &reports {
            // A severity of no vocabulary blocks until another vote grades the finding.
            for vote in report.votes.iter().filter(|vote| !vote.grade.is_unmapped()) {
                let mut alone = Report::new(report.reviewer.clone());
                alone.votes.push(vote.clone());
                prop_assert!(all_block || !blocks(&[alone]), "{vote:#?} in {reports:#?}");
            }
        }
    }

    #[test]
    fn the_order_of_votes_in_a_report_changes_no_group(reports in reports(), turn in any::<usize>()) {
        let groups = |reports: &[Report]| {
            let made = synthesize(reports, &SynthesisInputs::default());
            let mut groups: Vec<Vec<String>> =
                all_findings(&made).into_iter().map(|finding| finding.reviewers).collect();
            groups.sort();
            (groups, made.merges.len())
        };
        let mut turned = reports.clone();
        for report in &mut turned {
            let count = report.votes.len().max(1);
            report.votes.rotate_left(turn % count);
        }
        prop_assert_eq!(groups(&reports), groups(&turned));
    }

    #[test]
    fn folding_changes_no_verdict(reports in reports(), most in 0..9u32) {
        let shown = ShownLimit::AtMost(most);
        let folded = synthesize(&reports, &SynthesisInputs { shown, ..SynthesisInputs::default() });
        let shown = ShownLimit::All;
        let all = synthesize(&reports, &SynthesisInputs { shown, ..SynthesisInputs::default() });
        prop_assert_eq!(&folded.verdict, &all.verdict);
        prop_assert_eq!(folded.findings.len(), all.findings.len());
        prop_assert!(folded.findings.iter().all(|f| f.shown || !f.grade.blocks()));
    }

    #[test]
    fn no_grade_and_no_confidence_is_invented(reports in reports()) {
        let synthesis = synthesize(&reports, &SynthesisInputs::default());
        for finding in all_findings(&synthesis) {
            let votes: Vec<(&str, &Vote)> = finding
                .votes
                .iter()
                .map(|v| {
                    let report = reports.iter().find(|r| r.reviewer.name == v.reviewer).unwrap();
                    (v.reviewer.as_str(), &report.votes[v.vote])
                })
                .collect();
            let at_grade: Vec<_> = votes.iter().filter(|(_, v)| v.grade.worst_first(&finding.grade).is_eq()).collect();
            prop_assert!(!at_grade.is_empty(), "nobody said {:?}", finding.grade);
            let best = at_grade.iter().map(|(_, v)| v.confidence.unwrap()).max().unwrap();
            let agree = at_grade.iter().any(|(name, _)| name != &at_grade[0].0);
            let most = if agree { best.next_higher() } else { best };
            prop_assert!(finding.confidence <= most, "{finding:?}");
        }
    }

    #[test]
    fn every_vote_ends_in_exactly_one_finding(reports in reports()) {
        let synthesis = synthesize(&reports, &SynthesisInputs::default());
        let mut seen: Vec<_> = all_findings(&synthesis).into_iter().flat_map(|f| f.votes).collect();
        let votes: usize = reports.iter().map(|report| report.votes.len()).sum();
        prop_assert_eq!(seen.len() + demoted_votes(&reports, &synthesis), votes);
        seen.sort();
        seen.dedup();
        prop_assert_eq!(seen.len() + demoted_votes(&reports, &synthesis), votes);
    }

    #[test]
    fn a_severity_survives_writing_and_reading_in_every_vocabulary(word in severity_word()) {
        let grade = Grade::from_word(word);
        for form in [write::OutputFormat::Qa, write::OutputFormat::Persona] {
            let mut vote = Vote::new("a title", grade.clone());
            vote.file = assay_findings::path::RepoPath::parse("a.rs", None).ok();
            vote.lines = LineRange::at(3);
            vote.confidence = Some(Confidence::CERTAIN);
            let mut report = Report::new(Reviewer::new("x", ReviewerKind::Persona));
            report.votes.push(vote);
            let synthesis = synthesize(&[report], &SynthesisInputs::default());
            let document = FindingsDocument { findings: Some(&synthesis.findings), ..FindingsDocument::default() };
            let there = write::write(form, &document);
            let back = read::read(&there, None).votes.unwrap();
            prop_assert_eq!(&back[0].grade, &grade, "{}", there);
        }
    }

    #[test]
    fn no_text_forges_a_line_of_an_output_format(text in "[ -~\n\r\t\u{1b}\u{202e}#*`\\[]{0,80}") {
        let findings = [json!({"file": "a.rs", "line_number": 1, "severity": "LOW",
            "description": format!("start {text}"), "suggested_fix": format!("do {text}")})];
        let reports = [Report::from_text(&json!({"findings": findings}).to_string(), "x", None)];
        let synthesis = synthesize(&reports, &SynthesisInputs::default());
        let document = FindingsDocument {
            findings: Some(&synthesis.findings), synthesis: Some(&synthesis), ..FindingsDocument::default()
        };
        let lines_of = |form| write::write(form, &document);
        prop_assert_eq!(lines_of(write::OutputFormat::Checklist).matches("\n###").count(), 0);
        prop_assert_eq!(lines_of(write::OutputFormat::Checklist).lines().filter(|l| l.starts_with("**")).count(), 2);
        prop_assert_eq!(lines_of(write::OutputFormat::Github).lines().count(), 1);
        prop_assert_eq!(lines_of(write::OutputFormat::Rdjsonl).lines().count(), 1);
        for (form, name) in write::OUTPUT_FORMATS {
            let written = write::write(form, &document);
            prop_assert!(!written.contains(['\u{1b}', '\u{202e}', '\r']), "{}", name);
        }
    }
}

fn severity_word() -> impl Strategy<Value = &'static str> {
    select(vec![
        "CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION", "P0", "P1", "P2",
        "P3", "MUST", "SHOULD", "MAY", "COULD", "trivial", "blocker", "weird",
    ])
}

/// Generates a persona report with up to two of its values replaced.
fn almost_a_report() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!("P0")),
        Just(json!(75)),
        Just(json!(0.5)),
        Just(json!(42.0)),
        Just(json!(0)),
        Just(json!(-3)),
        Just(json!(true)),
        Just(json!([])),
        Just(json!(["x"])),
        Just(json!([1])),
        Just(json!({})),
        Just(json!("x".repeat(101))),
        Just(json!("ä".repeat(100))),
    ];
    let paths = select(vec![
        "/reviewer",
        "/findings",
        "/residual_risks",
        "/testing_gaps",
        "/findings/0",
        "/findings/0/title",
        "/findings/0/severity",
        "/findings/0/file",
        "/findings/0/line",
        "/findings/0/why_it_matters",
        "/findings/0/autofix_class",
        "/findings/0/owner",
        "/findings/0/requires_verification",
        "/findings/0/suggested_fix",
        "/findings/0/confidence",
        "/findings/0/evidence",
        "/findings/0/pre_existing",
        "",
    ]);
    prop::collection::vec((paths, prop::option::of(value)), 0..3).prop_map(|edits| {
        let mut report = json!({
            "reviewer": "security", "residual_risks": [], "testing_gaps": [],
            "findings": [{"title": "t", "severity": "P1", "file": "a.rs", "line": 4,
                "why_it_matters": "w", "autofix_class": "manual", "owner": "human",
                "requires_verification": true, "suggested_fix": null, "confidence": 75,
                "evidence": ["x"], "pre_existing": false}],
        });
        for (path, value) in edits {
            edit(&mut report, path, value);
        }
        report
    })
}

/// Sets a value, or removes it.
fn edit(document: &mut Value, path: &str, value: Option<Value>) {
    let Some((parent, name)) = path.rsplit_once('/') else {
        if let Some(value) = value {
            *document = value;
        }
        return;
    };
    match (document.pointer_mut(parent), value) {
        (Some(Value::Object(parent)), Some(value)) => {
            parent.insert(name.to_owned(), value);
        }
        (Some(Value::Object(parent)), None) => {
            parent.remove(name);
        }
        (Some(Value::Array(parent)), Some(value)) if !parent.is_empty() => parent[0] = value,
        _ => {}
    }
}

fn vote() -> impl Strategy<Value = Vote> {
    let title = select(vec![
        "Missing error handling",
        "No error handling for network failures",
        "Unchecked index",
        "index is not checked",
        "SQL built from input",
        "`open` is never closed",
        "Missing",
        "`TopicUser.find_by` returns nil",
        "find_by can return nil",
        "find_by does not return nil",
        "waits 30 seconds for the index",
        "waits 60 seconds for the index",
        "`parse_all` ignores its error",
        "`parse_one` ignores its error",
        "What `def label(price):` does is not meant",
        "What `def mean(prices):` does is not meant",
    ]);
    let file = prop::option::of(select(vec!["src/a.rs", "src/b.rs"]));
    let class = prop::option::of(select(vec![
        AutofixClass::SafeAuto,
        AutofixClass::GatedAuto,
        AutofixClass::Manual,
        AutofixClass::Advisory,
    ]));
    let owner = prop::option::of(select(vec![
        Owner::Human,
        Owner::Release,
        Owner::DownstreamResolver,
        Owner::ReviewFixer,
    ]));
    let quote = prop::option::of(select(vec!["`let x = items[i];`", "`conn.execute(sql)`"]));
    let grade = select(vec!["P0", "P1", "P2", "P3", "HIGH", "MAJOR", "MUST", "odd"]);
    let confidence = select(vec![0u8, 25, 50, 75, 100]);
    (title, file, prop::option::of(1..30u32), grade, confidence, class, owner, quote, any::<bool>())
        .prop_map(|(title, file, line, grade, confidence, class, owner, quote, old)| {
            let mut vote = Vote::new(title, Grade::from_word(grade));
            vote.file = file.and_then(|f| assay_findings::path::RepoPath::parse(f, None).ok());
            vote.lines = line.and_then(LineRange::at);
            vote.confidence = Confidence::try_from(confidence).ok();
            vote.autofix_class = class;
            vote.owner = owner;
            vote.evidence = quote.map(str::to_owned).into_iter().collect();
            vote.pre_existing = old;
            vote
        })
}

/// Generates reports of different reviewers.
fn reports() -> impl Strategy<Value = Vec<Report>> {
    let names = ["correctness", "security", "testing", "maintainability", "rules"];
    prop::collection::vec(prop::collection::vec(vote(), 0..6), 1..=names.len()).prop_map(
        move |lists| {
            let made = names.iter().zip(lists).map(|(name, mut votes)| {
                let mut report = Report::new(Reviewer::new(*name, ReviewerKind::Persona));
                // A reviewer makes each claim once.
                let mut seen: Vec<Vote> = Vec::new();
                votes.retain(|vote| {
                    let new = !seen.contains(vote);
                    seen.push(vote.clone());
                    new
                });
                report.votes = votes;
                report
            });
            made.collect()
        },
    )
}

fn all_findings(synthesis: &Synthesis) -> Vec<assay_findings::finding::Finding> {
    [&synthesis.findings, &synthesis.pre_existing, &synthesis.held_back, &synthesis.dismissed]
        .into_iter()
        .flatten()
        .cloned()
        .collect()
}

/// Counts the votes of findings that became testing gaps and residual risks, which do not refer to
/// their votes.
fn demoted_votes(reports: &[Report], synthesis: &Synthesis) -> usize {
    let named: usize = all_findings(synthesis).iter().map(|f| f.votes.len()).sum();
    let votes: usize = reports.iter().map(|report| report.votes.len()).sum();
    if synthesis.counts.demoted == 0 { 0 } else { votes - named }
}
