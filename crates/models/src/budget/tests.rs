//! Budgets, used by one caller and by several threads.

use std::sync::atomic::{AtomicU64, Ordering};

use assay_base::clock::Deadline;
use proptest::prelude::*;

use super::*;
use crate::ModelId;

fn most(tokens: u64) -> Spending {
    let tokens = Usage { input: tokens, ..Usage::default() };
    Spending { calls: 1, cached: 0, tokens, micro_usd: Some(tokens.input * 2), is_bound: true }
}

fn tokens(cap: u64) -> Caps {
    Caps { tokens: Some(cap), ..Caps::default() }
}

fn used(reservation: Reservation<'_>, tokens: u64) {
    let usage = Usage { input: tokens, ..Usage::default() };
    reservation.settle_as(usage, Some(tokens * 2));
}

fn refused(budget: &Budget, tokens: u64) -> String {
    let failure = budget.reserve_amount("p/m", most(tokens)).unwrap_err();
    assert_eq!((failure.class, failure.usage), (FailureClass::Budget, Some(Usage::default())));
    failure.message
}

#[test]
fn the_unused_part_of_a_reservation_is_available_again() {
    let budget = Budget::new(tokens(100), None);
    used(budget.reserve_amount("p/m", most(90)).unwrap(), 10);
    used(budget.reserve_amount("p/m", most(90)).unwrap(), 90);
    assert_eq!(
        refused(&budget, 1),
        "`p/m`: the budget of 100 tokens for a run does not cover another call; raise the budget, \
         or review a smaller change"
    );
    assert_eq!((budget.spent().calls, budget.spent().tokens.total()), (2, 100));
}

#[test]
fn an_abandoned_reservation_counts_as_spent_once() {
    let budget = Budget::unlimited();
    let open = budget.reserve_amount("a", most(60)).unwrap();
    budget.reserve_amount("a", most(60)).unwrap().release();
    budget.abandon();
    assert_eq!(budget.spent(), most(60));
    drop(open);
    assert_eq!(budget.spent(), most(60));
    assert_eq!(budget.spent_by_model()["a"], most(60));
}

#[test]
fn a_dropped_reservation_is_spent_and_a_released_one_is_not() {
    let budget = Budget::new(tokens(100), None);
    budget.reserve_amount("p/m", most(100)).unwrap().release();
    assert_eq!(budget.spent(), Spending::default());
    drop(budget.reserve_amount("p/m", most(60)).unwrap());
    assert_eq!(budget.spent(), most(60));
}

#[test]
fn a_cap_of_zero_allows_nothing() {
    for caps in [
        tokens(0),
        Caps { micro_usd: Some(0), ..Caps::default() },
        Caps { calls: Some(0), ..Caps::default() },
    ] {
        refused(&Budget::new(caps, None), 1);
    }
    refused(&Budget::new(Caps::default(), Some(Deadline::after(Duration::ZERO))), 1);
}

#[test]
fn a_cap_on_money_requires_a_price() {
    let caps = Caps { micro_usd: Some(1_000_000), ..Caps::default() };
    let budget = Budget::new(caps, None);
    let unpriced_model =
        ModelDescription { price: None, ..ModelDescription::of(ModelId::new("p", "m")) };
    let prompt = Prompt {
        system: String::new(),
        blocks: Vec::new(),
        schema: None,
        max_output_tokens: 1,
        thinking_tokens: 0,
        tools: Vec::new(),
        turns: Vec::new(),
    };
    let message = budget.reserve(&unpriced_model, &prompt).unwrap_err().message;
    assert!(message.contains("set its `usd_per_million`"), "{message}");
    // Without a cap on money, an unknown price only makes the cost unknown.
    let budget = Budget::unlimited();
    drop(budget.reserve(&unpriced_model, &prompt).unwrap());
    assert_eq!(budget.spent().micro_usd, None);
}

#[test]
fn a_reservation_that_does_not_fit_waits_for_open_ones() {
    let budget = Budget::new(tokens(100), None);
    let first = budget.reserve_amount("p/m", most(80)).unwrap();
    std::thread::scope(|scope| {
        let second =
            scope.spawn(|| budget.reserve_amount("p/m", most(80)).map(|held| used(held, 80)));
        used(first, 20);
        second.join().unwrap().unwrap();
    });
    assert_eq!(budget.spent().tokens.total(), 100);
}

#[test]
fn the_daily_budget_is_shared_by_runs() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        || Budget::unlimited().with_day(DailyBudget::new(folder.path(), "2026-11-15", tokens(100)));
    used(run().reserve_amount("p/m", most(100)).unwrap(), 40);
    drop(run().reserve_amount("p/m", most(50)).unwrap());
    let message = refused(&run(), 11);
    assert!(
        message.contains("the budget of 100 tokens for a day does not cover another call"),
        "{message}"
    );
    used(run().reserve_amount("p/m", most(10)).unwrap(), 10);
    let tomorrow = DailyBudget::new(folder.path(), "2026-11-16", tokens(100));
    used(Budget::unlimited().with_day(tomorrow).reserve_amount("p/m", most(100)).unwrap(), 1);
}

#[test]
fn a_reservation_beyond_the_daily_budget_waits_for_open_ones_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let budget =
        Budget::unlimited().with_day(DailyBudget::new(folder.path(), "2026-11-15", tokens(100)));
    let first = budget.reserve_amount("p/m", most(80)).unwrap();
    std::thread::scope(|scope| {
        let second =
            scope.spawn(|| budget.reserve_amount("p/m", most(80)).map(|held| used(held, 80)));
        used(first, 20);
        second.join().unwrap().unwrap();
    });
}

#[test]
fn a_damaged_daily_budget_file_is_not_treated_as_empty() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("spend-2026-11-15.json"), "{").unwrap();
    let day = DailyBudget::new(folder.path(), "2026-11-15", tokens(100));
    let message = refused(&Budget::unlimited().with_day(day), 1);
    assert!(message.contains("spend-2026-11-15.json"), "{message}");
}

/// Returns true if the amounts spent and reserved are within the caps at this moment.
fn holds(budget: &Budget) -> bool {
    let state = budget.state();
    budget.caps.exceeded_cap(Amount::of(&state.spent).plus(state.reserved)).is_none()
}

#[derive(Debug, Clone)]
struct Question {
    most: u64,
    part: u64,
    is_dropped: bool,
}

fn questions() -> impl Strategy<Value = Vec<Vec<Question>>> {
    let question = (0_u64..60, 0_u64..=100, any::<bool>())
        .prop_map(|(most, part, is_dropped)| Question { most, part, is_dropped });
    prop::collection::vec(prop::collection::vec(question, 0..6), 1..6)
}

fn cap(most: u64) -> impl Strategy<Value = Option<u64>> {
    prop::option::of(0..most)
}

/// Makes the calls of each thread, and returns the number of calls that were made.
fn ask_all(budget: &Budget, threads: &[Vec<Question>]) -> u64 {
    let asked = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for questions in threads {
            let asked = &asked;
            scope.spawn(move || {
                for question in questions {
                    let Ok(held) = budget.reserve_amount("p/m", most(question.most)) else {
                        continue;
                    };
                    asked.fetch_add(1, Ordering::Relaxed);
                    assert!(holds(budget));
                    match question.is_dropped {
                        true => drop(held),
                        false => used(held, question.most * question.part / 100),
                    }
                    assert!(holds(budget));
                }
            });
        }
    });
    asked.into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(64)))]

    #[test]
    fn no_cap_is_exceeded_at_any_moment(
        threads in questions(),
        caps in (cap(200), cap(400), cap(12)),
        day_cap in cap(200),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (run_tokens, micro_usd, calls) = caps;
        let caps = Caps { tokens: run_tokens, micro_usd, calls };
        let day_caps = Caps { tokens: day_cap, ..Caps::default() };
        let budget = Budget::new(caps, None)
            .with_day(DailyBudget::new(folder.path(), "2026-11-15", day_caps));
        let asked = ask_all(&budget, &threads);
        let spent = budget.spent();
        prop_assert!(holds(&budget));
        prop_assert_eq!(budget.state().reserved, Amount::default());
        prop_assert_eq!(spent.calls, asked);
        prop_assert!(day_caps.exceeded_cap(Amount::of(&spent)).is_none());
    }

    #[test]
    fn runs_that_share_a_daily_budget_stay_within_its_cap_together(
        threads in questions(),
        day_cap in 0_u64..200,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let day = || DailyBudget::new(folder.path(), "2026-11-15", tokens(day_cap));
        let runs: Vec<Budget> =
            threads.iter().map(|_| Budget::unlimited().with_day(day())).collect();
        std::thread::scope(|scope| {
            for (run, questions) in runs.iter().zip(&threads) {
                scope.spawn(move || ask_all(run, std::slice::from_ref(questions)));
            }
        });
        let spent = runs.iter().fold(Spending::default(), |all, run| all.plus(run.spent()));
        prop_assert!(tokens(day_cap).exceeded_cap(Amount::of(&spent)).is_none());
        prop_assert_eq!(day().read().unwrap(), Amount::of(&spent));
    }
}

#[test]
fn an_overflowing_spending_saturates() {
    let most = Spending { calls: u64::MAX, cached: u64::MAX, ..Spending::default() };
    assert_eq!(most.plus(most), most);
}
