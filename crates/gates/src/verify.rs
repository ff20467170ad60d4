//! Verifies a gate: runs all verifiers on its items, in parallel where possible.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::checks::{self};
use crate::command::CommandVerifier;
use crate::foreign_items::ForeignItems;
use crate::gate::{ContentDigests, Gate, GateError, NewItem, add, redacted};
use crate::gate_state::{GateState, VerifiedScope};
use crate::gate_status::{GateStatus, evaluate};
use crate::guide::GONE;
use crate::item::{Item, ItemId, ItemResult, Scope};
use crate::phase::Phase;
use crate::plan_requirements::REQUIREMENT;
use crate::result::CheckResult;
use crate::sidecar::{ChecklistSource, VerifiedBy};
use crate::verifier::{Judge, Verifiers, groups, lanes};

/// Maximum number of verifiers that run in parallel.
const MAX_PARALLEL: usize = 8;

/// Approximate number of items in one request to a judge.
const ITEMS_PER_REQUEST: usize = 3;

/// The result of verifying a gate.
#[derive(Debug)]
pub struct GateVerification {
    /// The status of the gate.
    pub status: GateStatus,
    /// The state that the status was computed from.
    pub state: GateState,
    /// The items that were added because the subject has grown.
    pub added: Vec<ItemId>,
    /// The items that were removed because their subject is no longer there.
    pub retired: Vec<ItemId>,
    /// The items that were not verified, each with the reason.
    pub unseen: Vec<(ItemId, String)>,
    /// The items that gates of the same plan in other folders require.
    pub elsewhere: Vec<ForeignItems>,
}

/// A gate that is about to be verified.
struct PreparedGate {
    state: GateState,
    added: Vec<ItemId>,
    retired: Vec<ItemId>,
    elsewhere: Vec<ForeignItems>,
}

/// A batch of items and their verifier.
struct VerifyBatch<'a> {
    verifier: Verifier<'a>,
    items: Vec<&'a Item>,
}

#[derive(Clone, Copy)]
enum Verifier<'a> {
    Command(&'a CommandVerifier),
    Judge(&'a dyn Judge),
    Missing(&'static str),
}

impl Gate<'_> {
    /// Verifies all items that need it, and returns the status of the gate. Results are for the
    /// content at the beginning: later changes of the content are not covered.
    pub fn verify(&self, verifiers: Verifiers<'_>) -> Result<GateVerification, GateError> {
        let digests = self.content();
        let PreparedGate { state, added, retired, elsewhere } = self.begin(&digests, verifiers)?;
        let mut unseen = self.record_results(&digests, self.run_builtin_checks(&state))?;
        self.reopen(&digests, &unseen)?;
        let left = self.open_items(&digests, &state);
        let (sequential, parallel) = lanes(left.iter().copied());
        for item in sequential {
            let batch =
                VerifyBatch { verifier: verifier_of(&state, item, verifiers), items: vec![item] };
            unseen.extend(self.record_results(&digests, self.run(&batch))?);
        }
        let batches = batches(&state, parallel, verifiers);
        unseen.extend(self.run_parallel(&digests, &batches)?);
        let altered = state.altered.iter().map(ToString::to_string).collect();
        let (state, status) = self.end()?;
        let status = GateStatus { altered, ..status };
        Ok(GateVerification { status, state, added, retired, unseen, elsewhere })
    }

    /// Begins a new attempt, if it is one. Adds items for new targets of the subject and for newly
    /// configured commands, and removes items whose target is gone.
    fn begin(
        &self,
        digests: &ContentDigests,
        verifiers: Verifiers<'_>,
    ) -> Result<PreparedGate, GateError> {
        let records = self.recorded()?;
        self.change(digests, |state, content| {
            let elsewhere = self.join(state, &records);
            state.begin(content.attempt);
            state.restore_judged(content);
            let built_in = match state.sidecar.inputs.checklist {
                ChecklistSource::BuiltIn => self.built_in(),
                ChecklistSource::HandedIn => Vec::new(),
            };
            let retired = self.retire(state);
            let listed = state.list.items();
            // Items for a reader are distinguished by their text.
            let key = |scope: &Scope, by: Option<VerifiedBy>, check: &str| {
                let words = by.is_none().then(|| check.to_owned());
                (scope.clone(), by, words)
            };
            let listed: HashSet<(Scope, Option<VerifiedBy>, Option<String>)> =
                listed.map(|item| key(&item.scope, state.note(&item.id).by, &item.check)).collect();
            let commands = verifiers.commands.iter().filter(|c| c.phases.contains(&self.phase));
            let (mut added, mut number) = (Vec::new(), state.next_number());
            for item in built_in.into_iter().chain(commands.map(CommandVerifier::item)) {
                if !listed.contains(&key(&item.scope, item.by.clone(), &item.check)) {
                    added.push(add(state, item, None, &mut number)?);
                }
            }
            added.extend(self.hold_to_requirements(state, &mut number)?);
            Ok(PreparedGate { state: state.clone(), added, retired, elsewhere })
        })
    }

    /// Removes built-in items whose target no longer exists. Items whose part of a plan is gone
    /// stay: a person has to confirm that.
    pub(crate) fn retire(&self, state: &mut GateState) -> Vec<ItemId> {
        if self.phase.is_of_a_plan() || self.phase == Phase::Reconcile {
            return Vec::new();
        }
        let mut gone = gone_items(state, &self.built_in());
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
    pub(crate) fn run_builtin_checks(&self, state: &GateState) -> Vec<(ItemId, CheckResult)> {
        let targets: HashSet<(String, Scope)> = checks::of(self.phase)
            .into_iter()
            .flat_map(|check| {
                let targets = (check.targets)(self.subject).into_iter();
                targets.map(|target| (check.key.to_owned(), target.scope))
            })
            .collect();
        let look = |item: &Item| {
            let Some(VerifiedBy::Code(key)) = state.note(&item.id).by else { return None };
            let is_gone = !targets.contains(&(key.clone(), item.scope.clone()));
            let seen = match (key == REQUIREMENT, self.subject.plan) {
                (true, Some((plan, _))) => state.sidecar.bar.look(plan, item),
                (true, None) => CheckResult::NotChecked("there is no plan".to_owned()),
                (false, _) if is_gone && checks::named(&key).is_some() => {
                    CheckResult::Fail(format!("`{}` {GONE}", item.scope))
                }
                (false, _) => self.run_check(&key, item),
            };
            Some((item.id.clone(), seen))
        };
        state.list.items().filter_map(look).collect()
    }

    /// Reopens items that failed on other content and that code could not check now.
    fn reopen(
        &self,
        digests: &ContentDigests,
        unseen: &[(ItemId, String)],
    ) -> Result<(), GateError> {
        self.change(digests, |state, content| {
            for (id, _) in unseen {
                state.reopen(id, content);
            }
            Ok(())
        })
    }

    /// Returns the items that are left for commands and judges.
    fn open_items<'s>(&self, digests: &ContentDigests, state: &'s GateState) -> Vec<&'s Item> {
        self.with(digests, |content| {
            let is_left = |item: &&Item| match state.note(&item.id).by {
                Some(VerifiedBy::Code(_)) => false,
                // A command may read anything, so its last result may be outdated.
                Some(VerifiedBy::Command(_)) => true,
                // On the same content a judge sees the same, and a person's result stays valid.
                None => !state.is_seen(item, content),
            };
            state.list.items().filter(is_left).collect()
        })
    }

    fn run_parallel(
        &self,
        digests: &ContentDigests,
        batches: &[VerifyBatch<'_>],
    ) -> Result<Vec<(ItemId, String)>, GateError> {
        let waiting = Mutex::new(batches.iter());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut unseen = Vec::new();
            while let Some(batch) = next() {
                unseen.extend(self.record_results(digests, self.run(batch))?);
            }
            Ok(unseen)
        };
        thread::scope(|scope| {
            let hands = batches.len().min(MAX_PARALLEL);
            let workers: Vec<_> = (0..hands).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| match worker.join() {
                Ok(unseen) => unseen,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            let all: Result<Vec<Vec<_>>, GateError> = joined.collect();
            Ok(all?.into_iter().flatten().collect())
        })
    }

    fn run(&self, batch: &VerifyBatch<'_>) -> Vec<(ItemId, CheckResult)> {
        let VerifyBatch { verifier, items } = batch;
        let ids = items.iter().map(|item| item.id.clone());
        let seen: Vec<CheckResult> = match verifier {
            Verifier::Command(command) => {
                let plan = self.subject.plan.map(|(_, path)| path);
                items.iter().map(|item| command.run(self.phase, item, plan)).collect()
            }
            Verifier::Judge(judge) => judge.judge(self.phase, self.subject, items),
            Verifier::Missing(why) => {
                items.iter().map(|_| CheckResult::NotChecked((*why).to_owned())).collect()
            }
        };
        // An item without an answer was not verified.
        let missing = std::iter::repeat_with(|| {
            CheckResult::NotChecked("the verifier gave no answer".to_owned())
        });
        ids.zip(seen.into_iter().chain(missing)).collect()
    }

    /// Records the results, and returns the items that were not checked.
    fn record_results(
        &self,
        digests: &ContentDigests,
        seen: Vec<(ItemId, CheckResult)>,
    ) -> Result<Vec<(ItemId, String)>, GateError> {
        let (mut settled, mut unseen) = (Vec::new(), Vec::new());
        for (id, seen) in seen {
            match seen {
                CheckResult::Pass => settled.push((id, ItemResult::Pass)),
                CheckResult::Fail(finding) => settled.push((id, ItemResult::Fail(finding))),
                CheckResult::NotChecked(why) => unseen.push((id, why)),
            }
        }
        if !settled.is_empty() {
            self.change(digests, |state, content| {
                for (id, result) in settled {
                    state.settle(&id, redacted(result), content, VerifiedScope::Everything);
                }
                Ok(())
            })?;
        }
        Ok(unseen)
    }

    /// Ends the attempt, if all items are verified.
    fn end(&self) -> Result<(GateState, GateStatus), GateError> {
        self.change(&self.content(), |state, content| {
            let status = evaluate(state, &self.policy, content);
            if let Some(reviewed) = status.attempt_result() {
                state.end(content.attempt, reviewed);
            }
            Ok((state.clone(), evaluate(state, &self.policy, content)))
        })
    }
}

/// Returns the built-in items of a list whose target no longer exists.
fn gone_items(state: &GateState, built_in: &[NewItem]) -> Vec<ItemId> {
    let there: HashSet<(&Scope, Option<&VerifiedBy>)> =
        built_in.iter().map(|item| (&item.scope, item.by.as_ref())).collect();
    let is_gone = |item: &&Item| {
        let by = state.note(&item.id).by;
        let is_built_in = matches!(&by, Some(VerifiedBy::Code(key)) if key != REQUIREMENT);
        is_built_in && !there.contains(&(&item.scope, by.as_ref()))
    };
    state.list.items().filter(is_gone).map(|item| item.id.clone()).collect()
}

/// Returns the verifier of an item.
fn verifier_of<'a>(state: &GateState, item: &Item, verifiers: Verifiers<'a>) -> Verifier<'a> {
    match state.note(&item.id).by {
        Some(VerifiedBy::Command(name)) => {
            let known = verifiers.commands.iter().find(|command| command.name == name);
            known.map_or(
                Verifier::Missing("the command of the item is no longer configured"),
                Verifier::Command,
            )
        }
        Some(VerifiedBy::Code(_)) | None => verifiers.judge.map_or(
            Verifier::Missing(
                "not judged: no model is configured, and no result was submitted; submit a result \
                 with `assay gate update-item ID --phase PHASE --status PASS` or `--status FAIL \
                 --finding TEXT`",
            ),
            Verifier::Judge,
        ),
    }
}

/// Puts the items for a judge into groups, and each other item into a batch of its own.
fn batches<'a>(
    state: &GateState,
    items: Vec<&'a Item>,
    verifiers: Verifiers<'a>,
) -> Vec<VerifyBatch<'a>> {
    let (mut batches, mut judged) = (Vec::new(), Vec::new());
    for item in items {
        match verifier_of(state, item, verifiers) {
            Verifier::Judge(_) => judged.push(item),
            verifier @ (Verifier::Command(_) | Verifier::Missing(_)) => {
                batches.push(VerifyBatch { verifier, items: vec![item] });
            }
        }
    }
    if let Some(judge) = verifiers.judge {
        let together = groups(&judged, ITEMS_PER_REQUEST, MAX_PARALLEL);
        let asked = together
            .into_iter()
            .map(|items| VerifyBatch { verifier: Verifier::Judge(judge), items });
        batches.extend(asked);
    }
    batches
}
