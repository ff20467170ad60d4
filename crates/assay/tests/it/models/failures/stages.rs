//! Failures after the first answer of a persona. Several failures share a review here, each at its
//! own place; only failures that end all calls have a review of their own.

use super::*;

const AT_ONCE: &str = "  attempts: 1\n  seconds: 2\n  cache: false\n";

/// Returns the failures that end all calls, and the others.
fn parted() -> (Vec<Way>, Vec<Way>) {
    ways().into_iter().partition(Way::ends_the_run)
}

/// Adds a persona for each failure to the repository, and returns their names.
fn persona_for_each(case: &Case, ways: &[Way]) -> Vec<String> {
    let name = |at| {
        let name = format!("way-{at}");
        case.repository.write(format!(".assay/personas/{name}.md"), persona(&name, ""));
        name
    };
    (0..ways.len()).map(name).collect()
}

#[test]
fn a_clean_change_is_ready_with_fixes_if_an_optional_persona_fails() {
    let (ending, lasting) = parted();
    let case = Case::new(AT_ONCE);
    let nothing = ModelFaultKind::Says(with_findings("nobody", Vec::new()).to_string());
    case.trouble(&["` reviewer"], nothing.clone());
    assert_eq!(case.review(&["--format", "json"]).json()["verdict"]["state"], "ready");
    case.no_trouble();
    let names = persona_for_each(&case, &lasting);
    for (name, way) in names.iter().zip(&lasting) {
        case.trouble(&[&format!("`{name}` reviewer")], way.mishap());
    }
    case.trouble(&["` reviewer"], nothing.clone());
    let failed = Failed::review(&case, &[]);
    for (name, way) in names.iter().zip(&lasting) {
        failed.check_end(way, 0, "ready_with_fixes");
        failed.check_reported(way, name);
        failed.check_kept(way, name);
    }
    // One failure alone is enough, and a failure that ends all calls retains earlier answers.
    let case = Case::new(ONE_AT_A_TIME);
    let alone = lasting.into_iter().filter(|way| way.fault == Fault::WrongSchema);
    for way in ending.into_iter().chain(alone) {
        case.only_trouble(&["`testing` reviewer"], way.mishap());
        case.trouble(&["` reviewer"], nothing.clone());
        let failed = Failed::review(&case, &[]);
        failed.check_end(&way, 0, "ready_with_fixes");
        failed.check_reported(&way, "testing");
    }
}

#[test]
fn a_failed_second_request_is_reported_with_the_first_unusable_answer() {
    let (ending, lasting) = parted();
    let case = Case::new(AT_ONCE);
    let prose = ModelFaultKind::Says("I have looked at all of it with great care.".to_owned());
    let go_wrong = |name: &str, way: &Way| {
        let asks = format!("`{name}` reviewer");
        case.trouble(&[&asks, "could not be read"], way.mishap());
        case.trouble(&[&asks], prose.clone());
    };
    let check = |failed: &Failed, way: &Way, name: &str| {
        failed.check_end(way, 3, "incomplete");
        failed.check_reported(way, name);
        failed.check_kept(way, name);
        let why = failed.why(name).unwrap();
        failed.check(why.contains("the answer is not a report"), way, why);
    };
    let names = persona_for_each(&case, &lasting);
    for (name, way) in names.iter().zip(&lasting) {
        go_wrong(name, way);
    }
    let failed = Failed::review(&case, &["--persona", &names.join(",")]);
    for (name, way) in names.iter().zip(&lasting) {
        check(&failed, way, name);
    }
    for way in ending {
        case.no_trouble();
        go_wrong("correctness", &way);
        let failed = Failed::review(&case, &["--persona", "correctness"]);
        check(&failed, &way, "correctness");
    }
}

/// Returns new files, each too long to share a part of two kilobytes with another.
fn files(count: usize) -> Vec<(String, String)> {
    let line = |file: usize, at: usize| {
        let factor = file * 1_000 + at;
        format!("    total += prices[{at}] * {factor}  # price {factor} of the list\n")
    };
    let text = |file| {
        let lines: String = (0..24).map(|at| line(file, at)).collect();
        format!("def price_{file:02}(prices, total):\n{lines}    return total\n")
    };
    (0..count).map(|file| (format!("part_{file:02}.py"), text(file))).collect()
}

/// Returns answers in which `correctness` reports the first two lines of every shown file.
fn doubts(files: &[(String, String)], severity: &'static str) -> ModelFaultKind {
    let files = files.to_vec();
    ModelFaultKind::Answers(Arc::new(move |asked| {
        let shown = files.iter().filter(|(path, _)| asked.contains(&format!("### FILE {path}")));
        let findings = shown.flat_map(|(path, text)| {
            (1..).zip(text.lines()).take(2).map(move |(line, quote)| {
                let title = format!("{path} is wrong in line {line}");
                finding(&title, severity, (path, line), quote)
            })
        });
        with_findings("correctness", findings.collect()).to_string()
    }))
}

#[test]
fn findings_stay_and_are_marked_if_the_second_look_fails() {
    let files = files(2);
    let case = Case::of(&files, ANTHROPIC, AT_ONCE);
    for way in ways() {
        for (severity, code, verdict) in [("P1", 1, "not_ready"), ("P2", 0, "ready_with_fixes")] {
            case.only_trouble(&["You are the `validator`"], way.mishap());
            case.trouble(&["`correctness` reviewer"], doubts(&files, severity));
            let failed = Failed::review(&case, &["--persona", "correctness"]);
            failed.check_end(&way, code, verdict);
            for (path, _) in &files {
                failed.check_unvalidated(&way, path);
            }
        }
    }
}

impl Failed {
    /// Checks that the findings of a file are all there, with the reason why the second look
    /// failed.
    fn check_unvalidated(&self, way: &Way, path: &str) {
        let reported = match way.fault {
            Fault::WrongSchema => ["expected confirm, refute or unsure"; 2],
            _ => way.reported,
        };
        let findings = self.synthesis["findings"].as_array().unwrap().iter();
        let own: Vec<&Value> = findings.filter(|it| it["file"] == path).collect();
        self.check(own.len() == 2, way, "nothing is lost");
        for look in own.iter().map(|finding| &finding["validation"]) {
            self.check(look["state"] == "unvalidated", way, "it is marked");
            let why = look["why"].as_str().unwrap();
            self.check(reported.iter().all(|words| why.contains(words)), way, why);
        }
    }
}

#[test]
fn a_failed_part_loses_only_its_own_hunks() {
    // A change has at most twelve parts.
    let files = files(12);
    let small = format!("      context_tokens: 1000\n{AT_ONCE}");
    let case = Case::of(&files, ANTHROPIC, &small);
    let (_, lasting) = parted();
    for ways in lasting.chunks(files.len() - 1) {
        case.no_trouble();
        for (way, (path, _)) in ways.iter().zip(&files) {
            case.trouble(&["`correctness` reviewer", path], way.mishap());
        }
        case.trouble(&["`correctness` reviewer"], doubts(&files, "P2"));
        let failed = Failed::review(&case, &["--persona", "correctness"]);
        let reasons = failed.synthesis["coverage"]["failed"].as_object().unwrap();
        for way in ways {
            failed.check_end(way, 3, "incomplete");
            let tells = |why: &String| way.reported.iter().all(|words| why.contains(words));
            failed.check(reasons.keys().any(tells), way, "it is told");
        }
        let lost: u64 = reasons.values().map(|hunks| hunks.as_u64().unwrap()).sum();
        assert_eq!(lost as usize, ways.len(), "{}", failed.ran.stdout);
        let reported = titles(&failed.synthesis);
        for (path, _) in &files[ways.len()..] {
            assert!(
                reported.contains(&format!("{path} is wrong in line 2")),
                "{path}: {reported:?}"
            );
        }
    }
}

#[test]
fn a_part_that_aborts_the_run_keeps_the_results_of_earlier_parts() {
    let files = files(3);
    let small = format!("      context_tokens: 1000\n{AT_ONCE}");
    let case = Case::of(&files, ANTHROPIC, &small);
    for way in parted().0 {
        case.only_trouble(&["`correctness` reviewer", "part 2 of 3"], way.mishap());
        case.trouble(&["`correctness` reviewer"], doubts(&files, "P2"));
        let failed = Failed::review(&case, &["--persona", "correctness"]);
        failed.check_end(&way, 3, "incomplete");
        failed.check_reported(&way, "correctness");
        let reported = titles(&failed.synthesis);
        let first = (1..3).map(|line| format!("part_00.py is wrong in line {line}"));
        failed.check(reported == first.collect::<Vec<_>>(), &way, "the first part is kept");
    }
}
