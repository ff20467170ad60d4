//! The results of `start_review` and `read_brief`: sizes, limits and pieces.

use super::*;

/// The maximum length of one result, in characters.
const MAX_ANSWER: usize = 28_000;

/// Returns the result of a tool. Fails if it is longer than an agent accepts.
fn fitting(folder: &Path, tool: &str, arguments: &Value) -> Value {
    let result = result_of(folder, tool, arguments);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(result["isError"] != true, "{tool}: {text}");
    assert!(text.chars().count() <= MAX_ANSWER, "{tool}: {} characters", text.len());
    result["structuredContent"].clone()
}

/// Returns a repository with a change of about 40 KB in two files.
fn large() -> Repository {
    let repository = Repository::new();
    repository.write("README.md", "# Shop\n");
    repository.commit("before");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    for file in 0..2 {
        let words = "a long line of prices and \"names\" of é ".repeat(4);
        let line = |at: usize| format!("PRICE_{file}_{at} = '{words}'\n");
        repository.write(format!("shop/part_{file}.py"), (0..100).map(line).collect::<String>());
    }
    repository.commit("many lines");
    repository
}

#[test]
fn no_answer_is_truncated_and_an_omitted_text_is_named_with_its_size() {
    let repository = large();
    let folder = repository.path();
    let started = fitting(folder, "start_review", &json!({ "base": "main" }));
    let next = started["next"].as_str().unwrap();
    let mut missing = 0;
    for part in started["change"].as_array().unwrap() {
        let (number, bytes) = (&part["part"], &part["bytes"]);
        let named = format!("change part {number} ({bytes} bytes)");
        assert_eq!(part["text"].is_null(), next.contains(&named), "{named}: {next}");
        assert_eq!(part["text"].is_null(), part["call"] == "read_brief", "{part}");
        missing += usize::from(part["text"].is_null());
        if let Some(text) = part["text"].as_str() {
            assert_eq!(text.len() as u64, bytes.as_u64().unwrap());
        }
    }
    assert!(missing > 0, "{started}");
    for task in started["tasks"].as_array().unwrap() {
        let named = format!(
            "task of {}, part {} ({} bytes)",
            task["persona"].as_str().unwrap(),
            task["part"],
            task["bytes"]
        );
        assert_eq!(task["text"].is_null(), next.contains(&named), "{named}: {next}");
    }
}

#[test]
fn a_long_brief_comes_in_pieces_that_make_the_whole() {
    let repository = large();
    let folder = repository.path();
    let sizes = json!({ "base": "main", "readers": "sub-agents" });
    let started = fitting(folder, "start_review", &sizes);
    assert!(started["instructions"].is_null() && started["change"].is_null(), "{started}");
    let task = &started["tasks"][0];
    let mut asked =
        json!({ "review": started["review"], "persona": task["persona"], "part": task["part"] });
    let (mut whole, mut pieces) = (String::new(), 0);
    loop {
        let brief = fitting(folder, "read_brief", &asked);
        assert_eq!((&brief["bytes"], &brief["offset"]), (&task["bytes"], &json!(whole.len())));
        whole.push_str(brief["text"].as_str().unwrap());
        pieces += 1;
        if brief["next_offset"].is_null() {
            break;
        }
        asked["offset"] = brief["next_offset"].clone();
    }
    assert!(pieces > 1);
    assert_eq!(json!(whole.len()), task["bytes"]);
    let mut only = |text: &str| {
        asked["offset"] = json!(0);
        asked["only"] = json!(text);
        fitting(folder, "read_brief", &asked)
    };
    let (change, task) = (only("change"), only("task"));
    assert!(whole.contains(change["text"].as_str().unwrap().trim_end()));
    assert!(whole.ends_with(task["text"].as_str().unwrap().trim_end()));
    let beyond = json!({
        "review": started["review"], "persona": "general", "part": 1, "offset": 9_999_999,
    });
    let refused = call(folder, "read_brief", &beyond).unwrap_err();
    assert!(refused.starts_with("`offset` 9999999 is not in the text"), "{refused}");
}

#[test]
fn inactive_reviewers_are_only_counted_unless_a_list_is_requested() {
    let case = Case::new("");
    let folder = case.repository.path();
    let started = fitting(folder, "start_review", &json!({ "each_persona": true }));
    let asleep = started["asleep"].as_u64().unwrap();
    assert!(asleep > 5 && started["asleep_readers"].is_null(), "{started}");
    let listed = json!({ "each_persona": true, "list_asleep": true });
    let listed = fitting(folder, "start_review", &listed);
    assert_eq!(listed["asleep_readers"].as_array().unwrap().len() as u64, asleep);
    for reader in started["readers"].as_array().unwrap() {
        let why = reader["why"].as_str().unwrap();
        assert!(!why.is_empty() && !why.contains('\n'), "{reader}");
    }
}

#[test]
fn each_persona_reads_separately_if_requested() {
    let repository = Repository::new();
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("before");
    repository.write("shop.py", "def total(prices):\n    return sum(prices) / len(prices)\n");
    let names = |arguments: Value| {
        let started = fitting(repository.path(), "start_review", &arguments);
        let tasks = started["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["persona"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(names(json!({})), ["general"]);
    let each = names(json!({ "each_persona": true }));
    assert!(each.contains(&"correctness".to_owned()) && !each.contains(&"general".to_owned()));
}

#[test]
fn the_stated_purpose_is_in_every_brief_and_the_reports_on_it_count() {
    let repository = Repository::new();
    repository.write("docs/plan.md", "# Plan\n\nThe mean of no prices is zero.\n");
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("before");
    repository.write("shop.py", "def mean(prices):\n    return sum(prices) / len(prices)\n");
    let folder = repository.path();
    let purpose = "Means, as docs/plan.md wants them. password = \"hunter2-kT9vQ2mX7p\"";
    let started = fitting(folder, "start_review", &json!({ "purpose": purpose }));
    let change = started["change"][0]["text"].as_str().unwrap();
    assert!(change.contains("Means, as docs/plan.md wants them."), "{change}");
    assert!(change.contains("The mean of no prices is zero."), "{change}");
    assert!(!change.contains("hunter2"), "{change}");
    let id = started["review"].as_str().unwrap();
    let report = json!({ "review": id, "persona": "general", "report": [] });
    fitting(folder, "report_findings", &report);
    let outcome = finish(folder, id);
    assert_eq!(outcome["incomplete"], false, "{outcome}");
    let refused = call(folder, "start_review", &json!({ "purpose": " \n" })).unwrap_err();
    assert!(refused.contains("`purpose` is empty"), "{refused}");
}

#[test]
fn a_delegated_reading_gets_the_findings_of_the_rules() {
    let repository = Repository::new();
    repository.write("README.md", "# Shop\n");
    repository.commit("before");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("run.py", "def run(code):\n    return eval(code)\n");
    repository.commit("runs code");
    let folder = repository.path();
    let started = fitting(folder, "start_review", &json!({ "base": "main" }));
    let change = started["change"][0]["text"].as_str().unwrap();
    for expected in ["The findings of the rules in these files", ": run.py:2: "] {
        assert!(change.contains(expected), "{expected}\n{change}");
    }
    let review = started["review"].as_str().unwrap();
    answer_all(folder, review, &started["tasks"]);
    let outcome = finish(folder, review);
    assert_eq!(outcome["incomplete"], false, "reports are found again: {outcome}");
    assert_eq!(outcome["findings"][0]["place"], "run.py:2", "{outcome}");
}

#[test]
fn related_files_of_a_large_change_are_read_in_one_part() {
    let repository = Repository::new();
    repository.write("README.md", "# Shop\n");
    repository.commit("before");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    let pairs = [
        ("app/models/order.rb", "db/migrate/2026_create_orders.rb"),
        ("app/fees.py", "tests/test_fees.py"),
        ("locales/de/app.json", "locales/en/app.json"),
        ("src/Cart.css", "src/Cart.tsx"),
    ];
    let paths = pairs.iter().flat_map(|(one, other)| [*one, *other]).chain(["zone.py"]);
    for (path, at) in paths.zip(1..) {
        let line =
            |n: usize| format!("value_{at}_{n} = 'a line that is about as long as most are'\n");
        repository.write(path, (0..110).map(line).collect::<String>());
    }
    repository.commit("nine files");
    let folder = repository.path();
    let started = fitting(folder, "start_review", &json!({ "base": "main" }));
    let parts = started["change"].as_array().unwrap().len();
    assert!(parts > 1, "{started}");
    let task = &started["tasks"][0];
    let texts: Vec<String> = (1..=parts)
        .map(|part| {
            let mut asked = json!({ "review": started["review"], "persona": task["persona"], "part": part, "only": "change" });
            let mut whole = String::new();
            loop {
                let brief = fitting(folder, "read_brief", &asked);
                whole.push_str(brief["text"].as_str().unwrap());
                if brief["next_offset"].is_null() {
                    break whole;
                }
                asked["offset"] = brief["next_offset"].clone();
            }
        })
        .collect();
    let part_of = |path: &str| {
        let heading = format!("### FILE {path} ");
        let found: Vec<usize> = (0..parts).filter(|at| texts[*at].contains(&heading)).collect();
        assert_eq!(found.len(), 1, "{path} is in parts {found:?}");
        found[0]
    };
    for (one, other) in pairs {
        assert_eq!(part_of(one), part_of(other), "{one} and {other}");
    }
    assert!(texts.iter().all(|text| text.len() < 32_000), "no part is larger than an agent takes");
}
