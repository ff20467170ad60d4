//! `assay report`: the HTML page of a real review.

use std::fs;

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

const BEFORE: &str = "import os\n\n\ndef clean(name):\n    greet(name)\n    return name\n";
const AFTER: &str = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n    print(\"DEBUG\", name)\n    return name\n";

fn run(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), args, b"")
}

/// Returns a repository with a review of a staged change of `clean.py`.
fn reviewed(after: &str) -> Repository {
    let repository = Repository::new();
    repository.write("clean.py", BEFORE);
    repository.commit("before");
    repository.write("clean.py", after);
    repository.git(&["add", "--all"]);
    run(&repository, &["review", "--staged"]);
    repository
}

fn page(repository: &Repository) -> String {
    let ran = run(repository, &["report", "--html", "page.html"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    fs::read_to_string(repository.file("page.html")).unwrap()
}

#[test]
fn the_page_has_the_verdict_and_each_finding_beside_its_code() {
    let repository = reviewed(AFTER);
    let ran = run(&repository, &["report", "--html", "page.html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with(": not ready, 2 open findings\n"), "{}", ran.stdout);
    let page = page(&repository);
    for text in [
        "Not ready <small>(rules only)</small></h1>",
        "<title>staged changes: not ready, 2 open findings</title>",
        "<span class=\"badge high\">HIGH</span>",
        "<code>python/shell-injection</code>",
        "<span class=\"l add hit\"><span class=\"n\">5</span><span class=\"s\">+</span><mark>    os.system(",
        "<span class=\"l del\"><span class=\"n\">5</span><span class=\"s\">-</span>    greet(name)",
        "<figcaption>fix of clean.py</figcaption>",
        "<span class=\"l del\"><span class=\"n\">6</span><span class=\"s\">-</span>    print(&quot;DEBUG&quot;, name)",
        "safe: applied by assay fix",
        "read by rules",
        "New findings by day",
        "<th class=\"mono\" scope=\"row\">clean.py</th><td class=\"number heat-4\">1</td>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let ids = page.matches("<article class=\"entry\" id=\"finding-").count();
    assert_eq!(ids, 2, "{page}");
    let start = page.find("id=\"finding-").unwrap() + "id=\"".len();
    let id = page[start..].split('"').next().unwrap();
    assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
}

#[test]
fn the_page_shows_the_reviewed_tree_and_not_the_current_one() {
    let repository = reviewed(AFTER);
    repository.write("clean.py", "def clean(name):\n    return 'something else'\n");
    let page = page(&repository);
    assert!(page.contains("os.system(f&quot;rm -r {name}&quot;)"), "{page}");
    assert!(!page.contains("something else"), "{page}");
}

#[test]
fn hostile_code_and_names_are_text_on_the_page() {
    let repository = Repository::new();
    let name = "<script>alert(1)<\u{202e}\"'.py";
    let code =
        "def f(x):\n    return eval(x)  # </pre><script>alert(2)</script> \u{202e} \u{1b}[31m\n";
    repository.write(name, code);
    repository.git(&["add", "--all"]);
    run(&repository, &["review", "--staged"]);
    let page = page(&repository);
    assert!(page.contains("&lt;/pre&gt;&lt;script&gt;alert(2)"), "{page}");
    assert!(!page.contains("<script>alert") && !page.contains("<script>alert(1)"), "{page}");
    assert_eq!(page.matches("<script").count(), 1);
    for hidden in ['\u{202e}', '\u{1b}', '\0'] {
        assert!(!page.contains(hidden), "{hidden:?}");
    }
}

#[test]
fn credentials_are_not_on_the_page() {
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    let repository = reviewed(&format!("TOKEN = \"{token}\"\n"));
    let page = page(&repository);
    assert!(page.contains("[redacted]"), "{page}");
    assert!(!page.contains(&token), "{page}");
}

#[test]
fn the_page_refers_to_nothing_outside_of_it_and_runs_no_other_script() {
    let page = page(&reviewed(AFTER));
    for reference in [
        "http://", "https://", " src=", "url(", "@import", "<link", "<iframe", " style=",
        " onclick=",
    ] {
        assert!(!page.contains(reference), "{reference}");
    }
    let policy = page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn a_clean_change_has_a_page_without_findings() {
    let repository = reviewed(&BEFORE.replace("greet", "welcome"));
    let page = page(&repository);
    assert!(page.contains("Ready <small>"), "{page}");
    assert!(page.contains("No open finding."), "{page}");
    assert!(page.contains("No review found a defect."), "{page}");
}

#[test]
fn an_older_run_can_be_named() {
    let repository = reviewed(AFTER);
    let first = run(&repository, &["report", "--html", "page.html"]).stdout;
    let id = first.strip_prefix("run ").unwrap().split(':').next().unwrap();
    repository.write("clean.py", BEFORE.replace("greet", "welcome"));
    repository.git(&["add", "--all"]);
    run(&repository, &["review", "--staged"]);
    assert!(run(&repository, &["report", "--html", "p.html"]).stdout.contains(": ready, 0 open"));
    let named = run(&repository, &["report", id, "--html", "p.html"]).stdout;
    assert_eq!(named, first);
}

#[test]
fn wrong_arguments_and_missing_runs_are_explained() {
    let repository = Repository::new();
    for (args, message) in [
        (&["report"][..], "--html <FILE>"),
        (&["report", "--html", "-"], "expected the name of a file, such as `--html review.html`"),
        (&["report", "--html", "."], "`.` is a folder; name a file"),
        (&["report", "--html", "p.html"], "no review has been run yet; run `assay review`"),
    ] {
        let ran = run(&repository, args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(message), "{args:?}: {}", ran.stderr);
        assert!(!repository.path().join("p.html").exists());
    }
    let repository = reviewed(AFTER);
    let ran = run(&repository, &["report", "nonsense", "--html", "p.html"]);
    assert!(ran.stderr.contains("unknown run `nonsense`"), "{}", ran.stderr);
    let ran = run(&repository, &["report", "--html", "missing/p.html"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot write `missing/p.html`"), "{}", ran.stderr);
}

#[test]
fn the_page_of_a_loop_has_its_criteria_and_needs_no_other_file() {
    let repository = Repository::new();
    let spec = "# Greeting\n\n## Acceptance Criteria\n\n- The greeting is polite\n";
    let plan = r#"{"feature": "Greeting", "verification_strategy": {"risk_level": "trivial"},
        "phases": [{"name": "one", "subtasks": [{"id": "1", "title": "Say hello", "status": "completed"}]}]}"#;
    repository.write("specs/001-greeting/spec.md", spec);
    repository.write("specs/001-greeting/implementation_plan.json", plan);
    repository.write("greeting.txt", "hello\n");
    assert_eq!(run(&repository, &["qa", "--spec", "001", "--no-models"]).code, 4);
    let ran = run(&repository, &["report", "--loop", "001", "--html", "loop.html"]);
    let expected = "loop 001-greeting: a person must act, 1 round, 0 of 1 criteria met\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, expected), "{}", ran.stderr);
    let page = fs::read_to_string(repository.file("loop.html")).unwrap();
    for text in ["The greeting is polite", "cannot tell", "connect-src 'none'"] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let unknown = run(&repository, &["report", "--loop", "002", "--html", "loop.html"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("unknown spec `002`"), "{}", unknown.stderr);
}
