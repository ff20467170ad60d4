//! Verifies a gate: runs all verifiers on its items, in parallel where possible.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::beside::{By, Checklist};
use crate::checks::{self};
use crate::command::CommandVerifier;
use crate::gate::{Digests, Gate, GateError, Proposed, add, redacted};
use crate::guide::GONE;
use crate::held::OwedElsewhere;
use crate::item::{Item, ItemId, Scope, Verified};
use crate::phase::Phase;
use crate::plan_bar::REQUIREMENT;
use crate::result::CheckResult;
use crate::standing::{Standing, judge};
use crate::state::{Looked, State};
use crate::verifier::{Judge, Verifiers, groups, lanes};

/// Maximum number of verifiers that run in parallel.
const SIDE_BY_SIDE: usize = 8;

/// Approximate number of items in one request to a judge.
const ASKED_TOGETHER: usize = 3;

/// The result of verifying a gate.
#[derive(Debug)]
pub struct VerifiedGate {
    /// The status of the gate.
    pub standing: Standing,
    /// The state that the status was computed from.
    pub state: State,
    /// The items that were added because the subject has grown.
    pub added: Vec<ItemId>,
    /// The items that were removed because their subject is no longer there.
    pub retired: Vec<ItemId>,
    /// The items that were not verified, each with the reason.
    pub unseen: Vec<(ItemId, String)>,
    /// The items that gates of the same plan in other folders require.
    pub elsewhere: Vec<OwedElsewhere>,
}

/// A gate that is about to be verified.
struct Begun {
    state: State,
    added: Vec<ItemId>,
    retired: Vec<ItemId>,
    elsewhere: Vec<OwedElsewhere>,
}

/// A batch of items and their verifier.
struct Errand<'a> {
    who: Who<'a>,
    items: Vec<&'a Item>,
}

#[derive(Clone, Copy)]
enum Who<'a> {
    Command(&'a CommandVerifier),
    Judge(&'a dyn Judge),
    Nobody(&'static str),
}

impl Gate<'_> {
    /// Verifies all items that need it, and returns the status of the gate. Results are for the
    /// content at the beginning: later changes of the content are not covered.
    pub fn verify(&self, verifiers: Verifiers<'_>) -> Result<VerifiedGate, GateError> {
        let digests = self.content();
        let Begun { state, added, retired, elsewhere } = self.begin(&digests, verifiers)?;
        let mut unseen = self.write_down(&digests, self.look_by_code(&state))?;
        self.reopen(&digests, &unseen)?;
        let left = self.left(&digests, &state);
        let (one_by_one, side_by_side) = lanes(left.iter().copied());
        for item in one_by_one {
            let errand = Errand { who: who(&state, item, verifiers), items: vec![item] };
            unseen.extend(self.write_down(&digests, self.run(&errand))?);
        }
        let errands = errands(&state, side_by_side, verifiers);
        unseen.extend(self.run_side_by_side(&digests, &errands)?);
        let altered = state.altered.iter().map(ToString::to_string).collect();
        let (state, standing) = self.end()?;
        let standing = Standing { altered, ..standing };
        Ok(VerifiedGate { standing, state, added, retired, unseen, elsewhere })
    }

    /// Begins a new attempt, if it is one. Adds items for new targets of the subject and for newly
    /// configured commands, and removes items whose target is gone.
    fn begin(&self, digests: &Digests, verifiers: Verifiers<'_>) -> Result<Begun, GateError> {
        let records = self.recorded()?;
        self.change(digests, |state, content| {
            let elsewhere = self.join(state, &records);
            state.begin(content.attempt);
            state.restore_judged(content);
            let built_in = match state.beside.made_from.checklist {
                Checklist::BuiltIn => self.built_in(),
                Checklist::HandedIn => Vec::new(),
            };
            let retired = self.retire(state);
            let listed = state.list.items();
            // Items for a reader are distinguished by their text.
            let key = |scope: &Scope, by: Option<By>, check: &str| {
                let words = by.is_none().then(|| check.to_owned());
                (scope.clone(), by, words)
            };
            let listed: HashSet<(Scope, Option<By>, Option<String>)> =
                listed.map(|item| key(&item.scope, state.note(&item.id).by, &item.check)).collect();
            let commands = verifiers.commands.iter().filter(|c| c.phases.contains(&self.phase));
            let (mut added, mut number) = (Vec::new(), state.next_number());
            for item in built_in.into_iter().chain(commands.map(CommandVerifier::item)) {
                if !listed.contains(&key(&item.scope, item.by.clone(), &item.check)) {
                    added.push(add(state, item, None, &mut number)?);
                }
            }
            added.extend(self.hold_to_bar(state, &mut number)?);
            Ok(Begun { state: state.clone(), added, retired, elsewhere })
        })
    }

    /// Removes built-in items whose target no longer exists. Items whose part of a plan is gone
    /// stay: a person has to confirm that.
    pub(crate) fn retire(&self, state: &mut State) -> Vec<ItemId> {
        if self.phase.is_of_a_plan() || self.phase == Phase::Reconcile {
            return Vec::new();
        }
        let mut gone = gone(state, &self.built_in());
        gone.retain(|id| state.list.get(id).is_some_and(|item| self.may_retire(&item.scope)));
        state.list.remove(&gone.iter().cloned().collect());
        gone
    }

    /// Returns true if a built-in item is removed from the list when its target is gone: a change
    /// may shrink, and a plan may not.
    pub(crate) fn may_retire(&self, scope: &Scope) -> bool {
        let is_of_a_plan = self.phase.is_of_a_plan() || self.phase == Phase::Reconcile;
        match scope {
            Scope::Milestone(_) | Scope::Decision(_) => false,
            Scope::All | Scope::File { .. } | Scope::Other(_) => !is_of_a_plan,
        }
    }

    /// Runs the built-in checks, even on items with a result: they take almost no time.
    pub(crate) fn look_by_code(&self, state: &State) -> Vec<(ItemId, CheckResult)> {
        let targets: HashSet<(String, Scope)> = checks::of(self.phase)
            .into_iter()
            .flat_map(|check| {
                let targets = (check.targets)(self.subject).into_iter();
                targets.map(|target| (check.key.to_owned(), target.scope))
            })
            .collect();
        let look = |item: &Item| {
            let Some(By::Code(key)) = state.note(&item.id).by else { return None };
            let is_gone = !targets.contains(&(key.clone(), item.scope.clone()));
            let seen = match (key == REQUIREMENT, self.subject.plan) {
                (true, Some((plan, _))) => state.beside.bar.look(plan, item),
                (true, None) => CheckResult::NotChecked("there is no plan".to_owned()),
                (false, _) if is_gone && checks::named(&key).is_some() => {
                    CheckResult::Fail(format!("`{}` {GONE}", item.scope))
                }
                (false, _) => self.look(&key, item),
            };
            Some((item.id.clone(), seen))
        };
        state.list.items().filter_map(look).collect()
    }

    /// Reopens items that failed on other content and that code could not check now.
    fn reopen(&self, digests: &Digests, unseen: &[(ItemId, String)]) -> Result<(), GateError> {
        self.change(digests, |state, content| {
            for (id, _) in unseen {
                state.reopen(id, content);
            }
            Ok(())
        })
    }

    /// Returns the items that are left for commands and judges.
    fn left<'s>(&self, digests: &Digests, state: &'s State) -> Vec<&'s Item> {
        self.with(digests, |content| {
            let is_left = |item: &&Item| match state.note(&item.id).by {
                Some(By::Code(_)) => false,
                // A command may read anything, so its last result may be outdated.
                Some(By::Command(_)) => true,
                // On the same content a judge sees the same, and a person's result stays valid.
                None => !state.is_seen(item, content),
            };
            state.list.items().filter(is_left).collect()
        })
    }

    fn run_side_by_side(
        &self,
        digests: &Digests,
        errands: &[Errand<'_>],
    ) -> Result<Vec<(ItemId, String)>, GateError> {
        let waiting = Mutex::new(errands.iter());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut unseen = Vec::new();
            while let Some(errand) = next() {
                unseen.extend(self.write_down(digests, self.run(errand))?);
            }
            Ok(unseen)
        };
        thread::scope(|scope| {
            let hands = errands.len().min(SIDE_BY_SIDE);
            let workers: Vec<_> = (0..hands).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| match worker.join() {
                Ok(unseen) => unseen,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            let all: Result<Vec<Vec<_>>, GateError> = joined.collect();
            Ok(all?.into_iter().flatten().collect())
        })
    }

    fn run(&self, errand: &Errand<'_>) -> Vec<(ItemId, CheckResult)> {
        let Errand { who, items } = errand;
        let ids = items.iter().map(|item| item.id.clone());
        let seen: Vec<CheckResult> = match who {
            Who::Command(command) => {
                let plan = self.subject.plan.map(|(_, path)| path);
                items.iter().map(|item| command.look(self.phase, item, plan)).collect()
            }
            Who::Judge(judge) => judge.judge(self.phase, self.subject, items),
            Who::Nobody(why) => {
                items.iter().map(|_| CheckResult::NotChecked((*why).to_owned())).collect()
            }
        };
        // An item without an answer was not verified.
        let missing =
            std::iter::repeat_with(|| CheckResult::NotChecked("there was no answer".to_owned()));
        ids.zip(seen.into_iter().chain(missing)).collect()
    }

    /// Records the results, and returns the items that were not checked.
    fn write_down(
        &self,
        digests: &Digests,
        seen: Vec<(ItemId, CheckResult)>,
    ) -> Result<Vec<(ItemId, String)>, GateError> {
        let (mut settled, mut unseen) = (Vec::new(), Vec::new());
        for (id, seen) in seen {
            match seen {
                CheckResult::Pass => settled.push((id, Verified::Pass)),
                CheckResult::Fail(finding) => settled.push((id, Verified::Fail(finding))),
                CheckResult::NotChecked(why) => unseen.push((id, why)),
            }
        }
        if !settled.is_empty() {
            self.change(digests, |state, content| {
                for (id, result) in settled {
                    state.settle(&id, redacted(result), content, Looked::AtAll);
                }
                Ok(())
            })?;
        }
        Ok(unseen)
    }

    /// Ends the attempt, if all items are verified.
    fn end(&self) -> Result<(State, Standing), GateError> {
        self.change(&self.content(), |state, content| {
            let standing = judge(state, &self.bar, content);
            if let Some(reviewed) = standing.reviewed() {
                state.end(content.attempt, reviewed);
            }
            Ok((state.clone(), judge(state, &self.bar, content)))
        })
    }
}

/// Returns the built-in items of a list whose target no longer exists.
fn gone(state: &State, built_in: &[Proposed]) -> Vec<ItemId> {
    let there: HashSet<(&Scope, Option<&By>)> =
        built_in.iter().map(|item| (&item.scope, item.by.as_ref())).collect();
    let is_gone = |item: &&Item| {
        let by = state.note(&item.id).by;
        let is_built_in = matches!(&by, Some(By::Code(key)) if key != REQUIREMENT);
        is_built_in && !there.contains(&(&item.scope, by.as_ref()))
    };
    state.list.items().filter(is_gone).map(|item| item.id.clone()).collect()
}

/// Returns the verifier of an item.
fn who<'a>(state: &State, item: &Item, verifiers: Verifiers<'a>) -> Who<'a> {
    match state.note(&item.id).by {
        Some(By::Command(name)) => {
            let known = verifiers.commands.iter().find(|command| command.name == name);
            known.map_or(Who::Nobody("its command is not configured any more"), Who::Command)
        }
        Some(By::Code(_)) | None => verifiers.judge.map_or(
            Who::Nobody(
                "not judged: no model is configured, and nobody else said what came of it; hand in a \
                 judgement with `assay gate update-item ID --status PASS` or `--status FAIL --finding TEXT`",
            ),
            Who::Judge,
        ),
    }
}

/// Puts the items for a judge into groups, and each other item into a batch of its own.
fn errands<'a>(state: &State, items: Vec<&'a Item>, verifiers: Verifiers<'a>) -> Vec<Errand<'a>> {
    let (mut errands, mut judged) = (Vec::new(), Vec::new());
    for item in items {
        match who(state, item, verifiers) {
            Who::Judge(_) => judged.push(item),
            who @ (Who::Command(_) | Who::Nobody(_)) => {
                errands.push(Errand { who, items: vec![item] });
            }
        }
    }
    if let Some(judge) = verifiers.judge {
        let together = groups(&judged, ASKED_TOGETHER, SIDE_BY_SIDE);
        let asked = together.into_iter().map(|items| Errand { who: Who::Judge(judge), items });
        errands.extend(asked);
    }
    errands
}
