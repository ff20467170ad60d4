//! The loop, with those who review and fix as they are: honest, lazy, lying.

use std::cell::{Cell, RefCell};

use assay_validate::ending::{Ending, Limits};
use assay_validate::event::{Begun, TreeHash};
use assay_validate::issue::{Issue, IssueKind, IssueSeverity};
use assay_validate::journal::Journal;
use assay_validate::plan::TestsPassed;
use assay_validate::run::{Breakdown, CheckSeen, Exported, FixSeen, Seen, Site, run};
use assay_validate::state::Standing;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

fn issue(title: &str) -> Issue {
    Issue {
        title: title.to_owned(),
        kind: IssueKind::CodeQuality,
        severity: IssueSeverity::High,
        file: None,
        line: None,
        description: None,
        fix: None,
        key: None,
    }
}

/// What a review says, given which one it is and whether the regression is still there.
type Reviews = dyn Fn(u32, bool) -> Result<Vec<Issue>, Breakdown>;

/// What a fixer makes of the tree, given which time it is.
type Fixes = dyn Fn(u32, u32) -> Result<u32, Breakdown>;

/// A tree that is a number; the check fails as long as it is below ten.
struct Bench<'a> {
    tree: Cell<u32>,
    reviews: Cell<u32>,
    fixes: Cell<u32>,
    ticks: Cell<u32>,
    exported: RefCell<Vec<String>>,
    review: &'a Reviews,
    fix: &'a Fixes,
}

impl<'a> Bench<'a> {
    fn new(review: &'a Reviews, fix: &'a Fixes) -> Bench<'a> {
        let zero = || Cell::new(0);
        Bench {
            tree: zero(),
            reviews: zero(),
            fixes: zero(),
            ticks: zero(),
            exported: RefCell::default(),
            review,
            fix,
        }
    }

    fn passes(&self) -> bool {
        self.tree.get() >= 10
    }
}

impl Site for Bench<'_> {
    fn now(&self) -> String {
        self.ticks.set(self.ticks.get() + 1);
        format!("2026-01-01T00:00:00.{:06}Z", self.ticks.get())
    }

    fn tree(&self) -> Result<TreeHash, Breakdown> {
        Ok(TreeHash(self.tree.get().to_string()))
    }

    fn check(
        &self,
        known: &[(String, Value, bool)],
        tell: &mut dyn FnMut(CheckSeen) -> Result<(), assay_validate::journal::JournalError>,
    ) -> Result<(), Breakdown> {
        if known.is_empty() {
            let passed = self.passes();
            tell(CheckSeen {
                name: "unit".to_owned(),
                outcome: json!({ "passed": passed }),
                passed,
            })?;
        }
        Ok(())
    }

    fn review(&self, checks: &[(String, Value, bool)]) -> Result<Seen, Breakdown> {
        self.reviews.set(self.reviews.get() + 1);
        assert_eq!(checks.len(), 1, "every check was run once on this tree");
        let mut issues = (self.review)(self.reviews.get(), !self.passes())?;
        let failed = checks.iter().filter(|(_, _, passed)| !passed);
        issues.extend(failed.map(|(name, ..)| Issue {
            key: Some(format!("check:{name}")),
            ..issue(&format!("{name} fails"))
        }));
        Ok(Seen { issues, tests_passed: TestsPassed::default(), needs_sign_off: false })
    }

    fn fix(&self, _: &[Issue], _: &TreeHash) -> Result<FixSeen, Breakdown> {
        self.fixes.set(self.fixes.get() + 1);
        self.tree.set((self.fix)(self.fixes.get(), self.tree.get())?);
        Ok(FixSeen::Done { said: "All tests pass, everything is perfect.".to_owned() })
    }

    fn export(&self, standing: &Standing, _: Option<&Ending>) -> Result<Exported, Breakdown> {
        let word = serde_json::to_value(standing.exported()).unwrap();
        self.exported.borrow_mut().push(word.as_str().unwrap().to_owned());
        Ok(Exported { request: Some("digest".to_owned()) })
    }
}

fn check(review: &Reviews, fix: &Fixes, expected: Expect) {
    let folder = TempDir::new().unwrap();
    let bench = Bench::new(review, fix);
    let mut journal = Journal::open(folder.path()).unwrap();
    let (ending, _) = run(&bench, &mut journal, &Limits::default(), None).unwrap();
    let told = format!(
        "{} ({} reviews, {} fixes)",
        ending.reason(),
        bench.reviews.get(),
        bench.fixes.get()
    );
    expected.assert_eq(&told);
    assert_eq!(ending == Ending::Approved, bench.passes() && ending == Ending::Approved);
}

#[test]
fn an_honest_fixer_is_approved() {
    check(
        &|_, _| Ok(vec![]),
        &|_, tree| Ok(tree + 5),
        expect!["all acceptance criteria are met (3 reviews, 2 fixes)"],
    );
}

#[test]
fn a_new_nit_each_round_ends_with_the_rounds() {
    check(
        &|round, _| Ok(vec![issue(&format!("nit {round} of the {round}th kind"))]),
        &|_, tree| Ok(tree + 1),
        expect!["`unit fails` came back in 3 rounds (3 reviews, 2 fixes)"],
    );
    check(
        &|round, _| Ok(vec![issue(&format!("nit {round} of the {round}th kind"))]),
        &|_, tree| Ok(tree + 10),
        expect!["50 rounds were made, and no more are (50 reviews, 49 fixes)"],
    );
}

#[test]
fn a_reviewer_that_flips_ends_with_a_person() {
    check(
        &|round, _| Ok(vec![issue(if round % 2 == 0 { "use tabs here" } else { "prefer spaces" })]),
        &|_, tree| Ok(tree + 10),
        expect!["`prefer spaces` came back in 3 rounds (5 reviews, 4 fixes)"],
    );
}

#[test]
fn a_silent_or_broken_reviewer_ends_with_errors() {
    check(
        &|_, _| Err(Breakdown::Round("it says nothing".to_owned())),
        &|_, tree| Ok(tree + 10),
        expect!["3 rounds broke down, the last one because it says nothing (3 reviews, 0 fixes)"],
    );
}

#[test]
fn a_fixer_that_lies_does_nothing_or_breaks_down_gets_nowhere() {
    check(
        &|_, _| Ok(vec![]),
        &|_, tree| Ok(tree),
        expect!["`unit fails` came back in 3 rounds (3 reviews, 2 fixes)"],
    );
    check(
        &|_, _| Ok(vec![]),
        &|_, _| Err(Breakdown::Round("no keys".to_owned())),
        expect!["3 rounds broke down, the last one because no keys (1 reviews, 3 fixes)"],
    );
    check(
        &|_, _| Ok(vec![]),
        &|_, _| Err(Breakdown::Budget("2.50 USD".to_owned())),
        expect!["the budget is used up: 2.50 USD (1 reviews, 1 fixes)"],
    );
}

#[test]
fn what_was_approved_and_changed_since_is_looked_at_again() {
    let folder = TempDir::new().unwrap();
    let bench = Bench::new(&|_, _| Ok(vec![]), &|_, tree| Ok(tree + 10));
    let go = |bench: &Bench<'_>, begin| {
        let mut journal = Journal::open(folder.path()).unwrap();
        run(bench, &mut journal, &Limits::default(), begin).unwrap().0
    };
    assert_eq!(go(&bench, None), Ending::Approved);
    let reviews = bench.reviews.get();
    assert_eq!(go(&bench, None), Ending::Approved);
    assert_eq!(bench.reviews.get(), reviews, "nothing is run for the same tree");
    bench.tree.set(3);
    assert_eq!(go(&bench, None), Ending::Approved);
    assert!(bench.reviews.get() > reviews);
    assert_eq!(bench.tree.get(), 13);
}

#[test]
fn an_ending_waits_for_somebody_to_take_it_up() {
    let folder = TempDir::new().unwrap();
    let bench = Bench::new(&|_, _| Ok(vec![]), &|_, tree| Ok(tree));
    let go = |begin| {
        let mut journal = Journal::open(folder.path()).unwrap();
        run(&bench, &mut journal, &Limits::default(), begin).unwrap().0
    };
    assert!(matches!(go(None), Ending::Recurring { .. }));
    let reviews = bench.reviews.get();
    assert!(matches!(go(None), Ending::Recurring { .. }));
    assert_eq!(bench.reviews.get(), reviews);
    bench.tree.set(10);
    assert_eq!(go(Some(Begun::RequestDeleted)), Ending::Approved);
}

/// Behaviour of reviewers and fixers, as numbers.
fn behaviours() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (prop::collection::vec(0..6u8, 1..8), prop::collection::vec(0..6u8, 1..8))
}

proptest! {
    /// However they behave, the loop ends within its limits, and a tree whose check fails is never
    /// approved.
    #[test]
    fn every_loop_ends_and_a_regression_blocks((reviewers, fixers) in behaviours()) {
        let review = move |round: u32, _: bool| match reviewers[round as usize % reviewers.len()] {
            0 => Ok(vec![]),
            1 => Ok(vec![issue("always the same thing")]),
            2 => Ok(vec![issue(&format!("something new, number {round} this time"))]),
            3 => Err(Breakdown::Round("garbage".to_owned())),
            4 => Ok(vec![issue("this"), issue("that other thing")]),
            _ => Ok((0..20).map(|n| issue(&format!("flood {n} in {round}"))).collect()),
        };
        let fix = move |time: u32, tree: u32| match fixers[time as usize % fixers.len()] {
            0 => Ok(tree),
            1 => Ok(tree + 1),
            2 => Ok(tree.saturating_sub(1)),
            3 => Err(Breakdown::Round("it broke".to_owned())),
            4 => Ok(10 + time),
            _ => Ok(0),
        };
        let folder = TempDir::new().unwrap();
        let bench = Bench::new(&review, &fix);
        let mut journal = Journal::open(folder.path()).unwrap();
        let (ending, standing) = run(&bench, &mut journal, &Limits::default(), None).unwrap();
        prop_assert!(ending != Ending::Approved || bench.passes());
        prop_assert!(bench.reviews.get() <= 50 && bench.fixes.get() <= 60);
        prop_assert_eq!(Standing::of(journal.entries()), standing);
    }
}
