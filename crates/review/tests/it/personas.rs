//! The shipped personas: their triggers, and the classes of defects that they own.

use std::collections::BTreeSet;

use assay_change::{Change, Scope, Selection};
use assay_review::persona::{Persona, Personas, Signals, VALIDATOR};
use assay_testkit::Repository;
use expect_test::{Expect, expect};

fn shipped() -> Personas {
    Personas::with_repository_personas([]).unwrap()
}

#[test]
fn every_class_of_defect_has_an_owner() {
    let classes = include_str!("../../personas/defect-classes.txt");
    let classes: BTreeSet<&str> = classes
        .lines()
        .filter_map(|line| line.split("  ").next())
        .filter(|c| !c.is_empty())
        .collect();
    assert!(classes.len() >= 90, "only {} classes are known", classes.len());
    let personas = shipped();
    let owned: BTreeSet<&str> =
        personas.iter().flat_map(|persona| persona.owns.iter().map(String::as_str)).collect();
    let ownerless: Vec<&&str> = classes.difference(&owned).collect();
    assert!(ownerless.is_empty(), "nobody answers for {ownerless:?}");
    let unknown: Vec<&&str> = owned.difference(&classes).collect();
    assert!(unknown.is_empty(), "not in the list: {unknown:?}");
}

#[test]
fn every_persona_brief_has_the_required_sections() {
    let personas = shipped();
    let headings =
        ["## Who you are", "## What you hunt", "## How sure you are", "## What you leave alone"];
    // Twenty-two, and two readings that carry their concerns.
    assert_eq!(personas.iter().count(), 24);
    for persona in personas.iter() {
        let missing: Vec<&&str> =
            headings.iter().filter(|h| !persona.brief.contains(**h)).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", persona.name);
        assert!(!persona.about.is_empty(), "{}", persona.name);
    }
}

#[test]
fn every_persona_is_a_reading_or_carried_by_one_and_states_its_concern() {
    let personas = shipped();
    for persona in personas.on_roster() {
        let is_reading = !persona.carries.is_empty();
        assert_ne!(is_reading, personas.is_carried(&persona.name), "{}", persona.name);
        assert!(is_reading || persona.concern != persona.about, "{}", persona.name);
        for carried in &persona.carries {
            assert!(personas.get(carried).is_some(), "{} carries {carried}", persona.name);
        }
    }
}

#[test]
fn a_repository_persona_runs_separately_unless_a_repository_reading_carries_it() {
    let file = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\n{more}trigger: always\n---\n\nLook at prices.\n");
        (format!("{name}.md"), text)
    };
    let with = |files: Vec<(String, String)>| Personas::with_repository_personas(files);
    assert!(shipped().is_carried("security"));
    assert!(!with(vec![file("security", "")]).unwrap().is_carried("security"));
    let carried = with(vec![file("security", ""), file("house", "carries: [security]\n")]);
    assert!(carried.unwrap().is_carried("security"));
    let error = with(vec![file("house", "carries: [nosuch]\n")]).unwrap_err();
    expect!["the persona `house.md` cannot be used: unknown persona `nosuch` in `carries`"]
        .assert_eq(&error.to_string());
}

#[test]
fn the_validator_is_not_on_the_roster_and_required_personas_come_first() {
    let personas = shipped();
    let roster = personas.on_roster();
    assert!(roster.iter().all(|persona| persona.name != VALIDATOR));
    let required: Vec<&str> =
        roster.iter().take_while(|p| p.required).map(|p| p.name.as_str()).collect();
    assert_eq!(required, ["correctness", "general", "security"]);
    assert!(roster.iter().skip(required.len()).all(|persona| !persona.required));
}

/// Compares the personas that read a change from the files before to the files after.
fn check(before: &[(&str, &str)], after: &[(&str, &str)], expected: Expect) {
    let repository = Repository::new();
    before.iter().for_each(|(path, text)| repository.write(path, text));
    repository.commit("before");
    after.iter().for_each(|(path, text)| repository.write(path, text));
    repository.commit("changes it");
    let change = open(&repository);
    let signals = Signals::of(&change, false);
    let personas = shipped();
    let awake: Vec<&str> = personas
        .on_roster()
        .into_iter()
        .filter(|persona| persona.carries.is_empty())
        .filter(|persona| persona.trigger.match_reason(&signals).is_some())
        .map(|persona| persona.name.as_str())
        .collect();
    expected.assert_eq(&awake.join(" "));
}

fn open(repository: &Repository) -> Change {
    let scope = Scope::Commits("HEAD".to_owned());
    assay_change::open(repository.path(), &scope, &Selection::default()).unwrap()
}

#[test]
fn a_documentation_change_triggers_only_correctness_and_docs_truth() {
    check(
        &[("docs/guide.md", "# Guide\n")],
        &[("docs/guide.md", "# Guide\n\nRun `SELECT * FROM users` with your password.\n")],
        expect!["correctness docs-truth"],
    );
}

#[test]
fn a_small_fix_triggers_few_personas() {
    check(
        &[("shop.py", "def total(items):\n    return sum(items)\n")],
        &[(
            "shop.py",
            "def total(items):\n    if not items:\n        return 0\n    items = list(items)\n    return sum(items)\n",
        )],
        expect!["correctness intent testing"],
    );
}

#[test]
fn a_query_built_from_input_triggers_security() {
    check(
        &[("shop.py", "def find(db, name):\n    return None\n")],
        &[(
            "shop.py",
            "def find(db, name):\n    return db.execute(f\"SELECT * FROM users WHERE name = '{name}'\")\n",
        )],
        expect!["correctness security data-exposure intent performance testing"],
    );
}

#[test]
fn a_lock_and_a_thread_trigger_concurrency() {
    check(
        &[("src/lib.rs", "pub fn a() {}\n")],
        &[(
            "src/lib.rs",
            "use std::sync::Mutex;\n\npub fn a(m: &Mutex<u32>) {\n    std::thread::spawn(|| ());\n    *m.lock().unwrap() += 1;\n}\n",
        )],
        expect!["correctness concurrency contract intent testing"],
    );
}

#[test]
fn a_workflow_file_triggers_guard_fidelity_and_supply_chain() {
    check(
        &[],
        &[(
            ".github/workflows/ci.yml",
            "on: push\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@main\n",
        )],
        expect!["correctness guard-fidelity intent supply-chain"],
    );
}

#[test]
fn an_invalid_persona_is_reported_with_the_reason() {
    let check = |text: &str, expected: Expect| {
        let error = Persona::read("x.md", text).unwrap_err();
        expected.assert_eq(&error.to_string());
    };
    check(
        "no front matter",
        expect![
            "the persona `x.md` cannot be used: missing front matter between lines `---` at the beginning of the file"
        ],
    );
    check(
        "---\nname: X!\ntrigger: always\n---\ntext",
        expect![
            "the persona `x.md` cannot be used: invalid name `X!`: expected lower-case letters, digits and dashes"
        ],
    );
    check(
        "---\nname: x\ncap: AWFUL\ntrigger: always\n---\ntext",
        expect!["the persona `x.md` cannot be used: invalid `cap` `AWFUL`: expected a severity"],
    );
    check(
        "---\nname: x\ntrigger: {}\n---\ntext",
        expect![
            "the persona `x.md` cannot be used: `trigger` is empty; use `always` to run the persona on every change"
        ],
    );
    let broken = "---\nname: x\ntrigger:\n  added: ['(']\n---\ntext";
    let error = Personas::with_repository_personas([("x.md".into(), broken.into())]).unwrap_err();
    assert!(error.to_string().contains("unclosed group"), "{error}");
}

#[test]
fn a_repository_persona_replaces_the_shipped_one() {
    let own = "---\nname: security\ntrigger: {paths: ['*.rs']}\n---\nOurs.\n";
    let personas = Personas::with_repository_personas([("a.md".into(), own.into())]).unwrap();
    assert_eq!(personas.get("security").unwrap().brief, "Ours.");
    // Twenty-two, and two readings that carry their concerns.
    assert_eq!(personas.iter().count(), 24);
}

#[test]
fn a_check_that_is_followed_by_a_write_triggers_concurrency() {
    check(
        &[("app/coupons.rb", "module Coupons\nend\n")],
        &[(
            "app/coupons.rb",
            "module Coupons\n  def use(code)\n    coupon = Coupon.find_by(code: code)\n    raise Used if coupon.used\n    coupon.update!(used: true)\n  end\nend\n",
        )],
        expect!["correctness concurrency intent performance testing"],
    );
}

#[test]
fn a_package_called_analytics_does_not_trigger_data_exposure() {
    check(
        &[("src/Report.java", "class Report {\n}\n")],
        &[(
            "src/Report.java",
            "import com.shop.analytics.Sums;\n\nclass Report {\n  int rows(Sums sums) {\n    int all = sums.rows();\n    return all;\n  }\n}\n",
        )],
        expect!["correctness intent testing"],
    );
}

#[test]
fn a_column_without_an_index_triggers_migration_and_performance() {
    check(
        &[("db/1.sql", "CREATE TABLE shops (id bigint PRIMARY KEY);\n")],
        &[("db/2.sql", "ALTER TABLE orders ADD COLUMN shop_id bigint;\n")],
        expect!["correctness intent migration performance"],
    );
}

#[test]
fn an_unknown_behaviour_is_reported_with_the_known_ones() {
    let text = "---\nname: x\ntrigger:\n  does: [dance]\n---\ntext";
    let error = Persona::read("x.md", text).unwrap_err().to_string();
    assert!(error.contains("unknown behaviour `dance` in `does`"), "{error}");
    assert!(error.contains("check-then-act, money, dates"), "{error}");
}
