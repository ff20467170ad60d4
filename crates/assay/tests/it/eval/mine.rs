//! `assay eval mine`: a set from the history of a repository.

use std::fs;
use std::path::Path;

use assay_testkit::Repository;
use serde_json::{Value, json};

use crate::{AssayRun, assay_in};

/// Returns a repository with a defect and its fix, a reverted change, and a security fix.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("docs/cart.md", "The discount is subtracted.\n");
    repository.write("cart.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("The cart");
    repository.write(
        "cart.py",
        "def total(prices, discount):\n    found = sum(prices)\n    return found + discount\n",
    );
    repository.commit("Give a discount, see docs/cart.md");
    repository.write(
        "cart.py",
        "def total(prices, discount):\n    found = sum(prices)\n    return found - discount\n",
    );
    repository.write("tests/test_cart.py", "def test_total():\n    assert total([3], 1) == 2\n");
    repository.commit("fix(cart): the discount is subtracted\n\nTotals grew by the discount.");
    repository.write("names.py", "def name(user):\n    return user.name.lower()\n");
    repository.commit("Names in lower case");
    repository.git(&["revert", "--no-edit", "HEAD"]);
    repository.write(
        "files.py",
        "import os\n\n\ndef read(root, name):\n    return open(os.path.join(root, name)).read()\n",
    );
    repository.commit("Files can be read");
    repository.write(
        "files.py",
        "import os\n\n\ndef read(root, name):\n    path = os.path.realpath(os.path.join(root, name))\n    if not path.startswith(root + os.sep):\n        raise ValueError(name)\n    return open(path).read()\n",
    );
    repository.commit("Prevent path traversal in read");
    repository.write("README", "fixed\n");
    repository.commit("fix typo in the README");
    repository
}

fn cases(set: &Path) -> Vec<Value> {
    let text = fs::read_to_string(set.join("cases.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn state(repository: &Repository) -> String {
    let refs = repository.git(&["for-each-ref"]);
    let status = repository.git(&["status", "--short", "--ignored"]);
    refs + &status + &repository.git(&["rev-parse", "HEAD"])
}

fn mine(repository: &Repository, out: &Path, args: &[&str]) -> AssayRun {
    let out = out.display().to_string();
    assay_in(repository.path(), &[&["eval", "mine", "--out", &out], args].concat(), b"")
}

#[test]
fn reverts_fixes_and_security_fixes_become_cases_and_the_repository_is_unchanged() {
    let repository = repository();
    let before = state(&repository);
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("mined");
    let ran = mine(&repository, &set, &[]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(state(&repository), before);
    let cases = cases(&set);
    let of = |kind: &str| {
        let mut found = cases.iter().filter(|case| case["id"].as_str().unwrap().starts_with(kind));
        let case = found.next().unwrap_or_else(|| panic!("no {kind}: {}", ran.stdout));
        assert!(found.next().is_none(), "{kind}");
        case
    };
    let fix = of("fix-");
    assert_eq!(fix["title"], "Give a discount, see docs/cart.md");
    assert_eq!(fix["labels"][0]["path"], "cart.py");
    assert_eq!(fix["labels"][0]["line"], 3);
    assert_eq!(
        fix["labels"][0]["comment"],
        "the discount is subtracted\nTotals grew by the discount."
    );
    assert!(fix["labels"][0]["reason"].as_str().unwrap().contains("traced by blame"));
    let change = fix["change"].as_str().unwrap();
    assert_eq!(fix["purpose"], json!([format!("{change}/before/docs/cart.md")]));
    let after = fs::read_to_string(set.join(change).join("after/cart.py")).unwrap();
    assert!(after.contains("found + discount"), "{after}");
    let revert = of("revert-");
    assert_eq!(revert["labels"][0]["path"], "names.py");
    assert!(revert["labels"][0]["reason"].as_str().unwrap().starts_with("reverted by "));
    let security = of("security-");
    assert_eq!(security["labels"][0]["category"], "security");
    assert_eq!(security["labels"][0]["line"], 5);
    assert!(!security["title"].as_str().unwrap().contains("traversal"), "{security}");
    assert!(security.get("message").is_none());
    assert_eq!(cases.len(), 3);
    // The set can be used unchanged.
    let ran = assay_in(folder.path(), &["eval", "mined"], b"");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("mined: 3 cases, 3 labels\n"), "{}", ran.stdout);
}

#[test]
fn review_comments_are_labels_if_they_were_followed_and_rejected_if_they_were_refused() {
    let repository = repository();
    let commit = |subject: &str| {
        let found = repository.git(&["log", "--format=%H", "--grep", subject]);
        found.trim().lines().next().unwrap().to_owned()
    };
    let discount = commit("Give a discount");
    let comment = |id: u64, line: u32, body: &str, reply: Option<u64>| {
        json!({
            "id": id, "body": body, "path": "cart.py", "line": null, "original_line": line,
            "original_commit_id": discount, "in_reply_to_id": reply, "user": { "login": "x" },
        })
    };
    let threads = json!([
        comment(1, 3, "This adds the discount.", None),
        comment(2, 2, "Call it sum.", None),
        comment(3, 2, "The name is by design.", Some(2)),
        comment(4, 1, "A blank is missing.", None),
        { "id": 5, "body": "gone", "path": "cart.py", "original_line": 1, "original_commit_id": "0".repeat(40) },
    ]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.json");
    fs::write(&file, threads.to_string()).unwrap();
    let set = folder.path().join("mined");
    let file = file.display().to_string();
    let ran = mine(&repository, &set, &["--from", "threads", "--threads", &file]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let cases = cases(&set);
    assert_eq!(cases.len(), 1, "{cases:?}");
    assert_eq!(cases[0]["labels"].as_array().unwrap().len(), 1);
    assert_eq!(cases[0]["labels"][0]["comment"], "This adds the discount.");
    assert_eq!(cases[0]["rejected"][0]["comment"], "Call it sum.");
    assert!(ran.stderr.contains("skipped 1: the commit of the review comment is not here"));
    assert!(ran.stderr.contains("skipped 1: the review comment was neither followed"));
}

#[test]
fn findings_of_the_ledger_are_labels_if_they_were_fixed_and_rejected_if_they_were_dismissed() {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    let flaw = |name: &str| format!("def {name}(text):\n    return eval(text)\n");
    repository.write("one.py", flaw("one"));
    repository.write("two.py", flaw("two"));
    repository.write("three.py", flaw("three"));
    repository.commit("Answer questions");
    let review = || assay_in(repository.path(), &["review", "--format", "json"], b"").json();
    let first = review();
    let findings = first["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 3, "{first}");
    let two = findings.iter().find(|it| it["file"] == "two.py").unwrap()["id"].as_str().unwrap();
    let args = ["findings", "dismiss", two, "--reason", "the text is ours"];
    let dismissed = assay_in(repository.path(), &args, b"");
    assert_eq!(dismissed.code, 0, "{}", dismissed.stderr);
    repository.write("one.py", "def one(text):\n    return int(text)\n");
    repository.commit("Numbers only");
    review();

    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("mined");
    let ran = mine(&repository, &set, &["--from", "ledger"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let cases = cases(&set);
    let labels: Vec<&Value> =
        cases.iter().flat_map(|it| it["labels"].as_array().unwrap()).collect();
    assert_eq!(labels.len(), 1, "an open finding is neither: {cases:?}");
    assert_eq!((&labels[0]["path"], &labels[0]["line"]), (&json!("one.py"), &json!(2)));
    let rejected: Vec<&Value> =
        cases.iter().flat_map(|it| it["rejected"].as_array().into_iter().flatten()).collect();
    assert_eq!(rejected.len(), 1, "{cases:?}");
    assert_eq!(rejected[0]["path"], "two.py");
    let reason = rejected[0]["reason"].as_str().unwrap();
    assert!(reason.contains("dismissed by ") && reason.ends_with(": the text is ours"), "{reason}");
}

#[test]
fn a_set_is_not_written_into_the_repository_or_over_other_files() {
    let repository = repository();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "x").unwrap();
    for (out, said) in [
        (repository.path().join("set"), "is inside the repository"),
        (repository.path().join(".git/set"), "is inside the repository"),
        (folder.path().to_owned(), "is not empty"),
    ] {
        let ran = mine(&repository, &out, &[]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let ran = mine(&repository, &folder.path().join("new"), &["--from", "threads"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("`--threads FILE`"), "{}", ran.stderr);
    let empty = Repository::new();
    let ran = mine(&empty, &folder.path().join("new"), &[]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("no cases found"), "{}", ran.stderr);
}
