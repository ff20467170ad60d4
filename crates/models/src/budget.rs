//! Spending limits: [`Budget`], shared by all callers of a run.
//!
//! Every call first makes a [`Reservation`] of the most that it can cost. So at any moment, the
//! amount spent and the amounts reserved together stay within every cap. A call that does not fit
//! next to the reservations of other calls waits until these are settled; it fails only if it
//! cannot fit at all.

mod daily_budget;

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Deadline;
use serde::{Deserialize, Serialize};

pub use self::daily_budget::DailyBudget;
use crate::{Failure, FailureClass, ModelDescription, ModelId, Prompt, Reply, Usage};

/// Caps on spending. `None` is no cap; a cap of zero allows nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Tokens, read and written, those of caches included.
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub micro_usd: Option<u64>,
    /// The number of calls.
    pub calls: Option<u64>,
}

/// An amount of calls, tokens and money that was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// The number of calls to models.
    pub calls: u64,
    /// The number of replies that were taken from a cache or a recording.
    pub cached: u64,
    /// The tokens of the calls.
    pub tokens: Usage,
    /// Millionths of a dollar; `None` if the price of any model is unknown.
    pub micro_usd: Option<u64>,
    /// True if the usage of a call is unknown: then the amounts are upper bounds.
    pub is_bound: bool,
}

impl Default for Spending {
    /// Returns zero spending, with a known cost of zero.
    fn default() -> Spending {
        let tokens = Usage::default();
        Spending { calls: 0, cached: 0, tokens, micro_usd: Some(0), is_bound: false }
    }
}

impl Spending {
    /// Returns the sum of two amounts; the cost is unknown if either is.
    pub fn plus(self, other: Spending) -> Spending {
        let money = self.micro_usd.zip(other.micro_usd);
        Spending {
            calls: self.calls.saturating_add(other.calls),
            cached: self.cached.saturating_add(other.cached),
            tokens: self.tokens.plus(other.tokens),
            micro_usd: money.map(|(one, other)| one.saturating_add(other)),
            is_bound: self.is_bound || other.is_bound,
        }
    }
}

/// An amount that counts against caps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Amount {
    tokens: u64,
    micro_usd: u64,
    calls: u64,
}

impl Amount {
    fn of(spent: &Spending) -> Amount {
        let micro_usd = spent.micro_usd.unwrap_or_default();
        Amount { tokens: spent.tokens.total(), micro_usd, calls: spent.calls }
    }

    fn plus(self, other: Amount) -> Amount {
        Amount {
            tokens: self.tokens.saturating_add(other.tokens),
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    fn minus(self, other: Amount) -> Amount {
        Amount {
            tokens: self.tokens.saturating_sub(other.tokens),
            micro_usd: self.micro_usd.saturating_sub(other.micro_usd),
            calls: self.calls.saturating_sub(other.calls),
        }
    }
}

impl Caps {
    /// Returns the text for the first cap that an amount exceeds; `None` if it exceeds none.
    fn exceeded_cap(&self, amount: Amount) -> Option<String> {
        let over = |cap: Option<u64>, amount: u64| cap.filter(|cap| amount > *cap);
        if let Some(cap) = over(self.calls, amount.calls) {
            return Some(format!("{cap} calls"));
        }
        if let Some(cap) = over(self.tokens, amount.tokens) {
            return Some(format!("{cap} tokens"));
        }
        over(self.micro_usd, amount.micro_usd).map(|cap| format!("{} dollars", dollars(cap)))
    }
}

fn dollars(micro_usd: u64) -> String {
    // Rounded up, so that a small amount is not shown as zero.
    let cents = micro_usd.div_ceil(10_000);
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// The spending limits of a run, and optionally of a day.
#[derive(Debug)]
pub struct Budget {
    caps: Caps,
    deadline: Option<Deadline>,
    day: Option<DailyBudget>,
    state: Mutex<BudgetState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct BudgetState {
    spent: Spending,
    by_model: BTreeMap<String, Spending>,
    reserved: Amount,
    /// The reserved amount of each open call, with its model.
    open: Vec<(String, Spending)>,
}

impl BudgetState {
    fn add(&mut self, model: &str, spent: Spending) {
        self.spent = self.spent.plus(spent);
        let of_model = self.by_model.entry(model.to_owned()).or_default();
        *of_model = of_model.plus(spent);
    }
}

/// The reason why a reservation cannot be made now.
enum ReserveError {
    /// The amount never fits, the deadline of the run has passed, or the amount spent is unknown.
    Failure(Failure),
    /// Other calls hold reservations that they may not use up.
    Others,
}

/// The amount that is reserved for one call. If a reservation is dropped without being settled, all
/// of it counts as spent, since the real usage is unknown.
#[derive(Debug)]
#[must_use]
pub(crate) struct Reservation<'a> {
    budget: &'a Budget,
    model: String,
    most: Spending,
    settled: Option<Spending>,
}

impl Budget {
    /// Creates the budget of a run.
    pub fn new(caps: Caps, deadline: Option<Deadline>) -> Budget {
        Budget { caps, deadline, day: None, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Creates a budget without caps.
    pub fn unlimited() -> Budget {
        Budget::new(Caps::default(), None)
    }

    /// Adds the caps of a day.
    pub fn with_day(mut self, day: DailyBudget) -> Budget {
        self.day = Some(day);
        self
    }

    /// Reserves the most that a prompt can cost. A call that fits only after other reservations are
    /// settled waits for them, so a caller must not hold two reservations at once.
    pub(crate) fn reserve(
        &self,
        model: &ModelDescription,
        prompt: &Prompt,
    ) -> Result<Reservation<'_>, Failure> {
        let most = Spending {
            calls: 1,
            cached: 0,
            tokens: model.max_usage(prompt),
            micro_usd: model.max_micro_usd(prompt),
            is_bound: true,
        };
        self.reserve_amount(&model.id.to_string(), most)
    }

    fn reserve_amount(&self, name: &str, most: Spending) -> Result<Reservation<'_>, Failure> {
        let caps = [Some(self.caps), self.day.as_ref().map(DailyBudget::caps)];
        if most.micro_usd.is_none() && caps.iter().flatten().any(|caps| caps.micro_usd.is_some()) {
            return Err(budget_failure(format!(
                "`{name}`: the model's price is unknown, so a budget in dollars cannot be \
                 enforced; set its `usd_per_million`, or remove the budget"
            )));
        }
        let mut state = self.state();
        loop {
            match self.try_reserve(&mut state, name, Amount::of(&most)) {
                Ok(()) => {
                    let model = name.to_owned();
                    state.open.push((model.clone(), most));
                    return Ok(Reservation { budget: self, model, most, settled: None });
                }
                Err(ReserveError::Failure(failure)) => return Err(failure),
                Err(ReserveError::Others) => state = self.wait(state),
            }
        }
    }

    fn try_reserve(
        &self,
        state: &mut BudgetState,
        name: &str,
        most: Amount,
    ) -> Result<(), ReserveError> {
        if self.time_left() == Some(Duration::ZERO) {
            let message = format!(
                "`{name}`: the run's time limit is reached; raise the limit, or review a smaller \
                 change"
            );
            return Err(ReserveError::Failure(budget_failure(message)));
        }
        let spent = Amount::of(&state.spent);
        if let Some(cap) = self.caps.exceeded_cap(spent.plus(most)) {
            let message = format!(
                "`{name}`: the budget of {cap} for a run does not cover another call; raise the \
                 budget, or review a smaller change"
            );
            return Err(ReserveError::Failure(budget_failure(message)));
        }
        if self.caps.exceeded_cap(spent.plus(state.reserved).plus(most)).is_some() {
            return Err(ReserveError::Others);
        }
        if let Some(day) = &self.day {
            day.reserve(name, most, state.reserved)?;
        }
        state.reserved = state.reserved.plus(most);
        Ok(())
    }

    /// Waits until another call is settled, or the deadline of the run has passed.
    fn wait<'a>(&self, state: MutexGuard<'a, BudgetState>) -> MutexGuard<'a, BudgetState> {
        match self.time_left() {
            None => self.freed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                let waited = self.freed.wait_timeout(state, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// Returns true if the given amounts still fit into the caps of the run.
    pub fn has_room_for(&self, calls: u64, tokens: u64, micro_usd: u64) -> bool {
        let spent = Amount::of(&self.spent());
        self.caps.exceeded_cap(spent.plus(Amount { tokens, micro_usd, calls })).is_none()
    }

    /// Counts a reply of a model that was taken from a cache or a recording.
    pub(crate) fn count_cached(&self, model: &ModelId) {
        self.state().add(&model.to_string(), Spending { cached: 1, ..Spending::default() });
    }

    /// Returns the amount spent so far on each model that was called, by name.
    pub fn spent_by_model(&self) -> BTreeMap<String, Spending> {
        let nothing = Spending::default();
        let by_model = self.state().by_model.clone();
        by_model.into_iter().filter(|(_, spent)| *spent != nothing).collect()
    }

    /// Counts all reservations as spent: the process is about to end, and the providers may still
    /// bill the open calls.
    pub fn abandon(&self) {
        let mut state = self.state();
        for (model, most) in std::mem::take(&mut state.open) {
            state.add(&model, most);
            state.reserved = state.reserved.minus(Amount::of(&most));
            if let Some(day) = &self.day {
                day.settle(Amount::of(&most), Amount::of(&most));
            }
        }
    }

    /// Returns the amount spent so far.
    pub fn spent(&self) -> Spending {
        self.state().spent
    }

    /// Returns the time until the deadline of the run; `None` if there is no deadline.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(Deadline::left)
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// Counts the usage of a reply, and releases the rest of the reservation.
    pub(crate) fn settle(self, model: &ModelDescription, reply: &Reply) -> Spending {
        let priced = model.price.map(|price| price.cost(reply.usage));
        self.settle_as(reply.usage, reply.micro_usd.or(priced))
    }

    /// Counts the usage of a failed call, if it is known; otherwise the whole reservation.
    pub(crate) fn settle_failed(self, model: &ModelDescription, usage: Option<Usage>) -> Spending {
        match usage {
            Some(usage) => self.settle_as(usage, model.price.map(|price| price.cost(usage))),
            None => self.most,
        }
    }

    /// Releases the whole reservation: the model was not called.
    pub(crate) fn release(mut self) {
        self.settled = Some(Spending::default());
    }

    fn settle_as(mut self, tokens: Usage, micro_usd: Option<u64>) -> Spending {
        // No tokens cost nothing, even if the price is unknown.
        let micro_usd = if tokens.total() == 0 { Some(0) } else { micro_usd };
        let spent = Spending { tokens, micro_usd, is_bound: false, ..self.most };
        self.settled = Some(spent);
        spent
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let spent = self.settled.unwrap_or(self.most);
        let (most, used) = (Amount::of(&self.most), Amount::of(&spent));
        let mut state = self.budget.state();
        let is_own =
            |(model, most): &(String, Spending)| *model == self.model && *most == self.most;
        let Some(at) = state.open.iter().position(is_own) else {
            // `abandon` has counted the reservation as spent already.
            return;
        };
        state.open.swap_remove(at);
        state.add(&self.model, spent);
        state.reserved = state.reserved.minus(most);
        if let Some(day) = &self.budget.day {
            day.settle(most, used);
        }
        self.budget.freed.notify_all();
    }
}

fn budget_failure(message: String) -> Failure {
    Failure::free(FailureClass::Budget, message)
}

#[cfg(test)]
mod tests;
