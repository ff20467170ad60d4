//! Verifying a gate: everybody who can say something about its items is asked.

use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::beside::{By, Checklist};
use crate::checks::{self, Seen};
use crate::command::CommandVerifier;
use crate::gate::{Gate, GateError, add};
use crate::item::{Item, ItemId, Verified};
use crate::standing::{Standing, judge};
use crate::state::State;
use crate::verifier::{Judge, Verifiers, groups, lanes};

/// How many are asked side by side.
const SIDE_BY_SIDE: usize = 8;

/// About how many items a judge is asked about at a time.
const ASKED_TOGETHER: usize = 3;

/// What verifying came to.
#[derive(Debug)]
pub struct VerifiedGate {
    /// Where the gate stands.
    pub standing: Standing,
    /// The state that it stands on.
    pub state: State,
    /// The items that were added because the subject has grown.
    pub added: Vec<ItemId>,
    /// The items that nobody saw, each with the reason.
    pub unseen: Vec<(ItemId, String)>,
}

/// Items, and who is asked about them.
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
    /// Has everything verified that has to be, and says where the gate stands then.
    pub fn verify(&self, verifiers: Verifiers<'_>) -> Result<VerifiedGate, GateError> {
        let (state, added) = self.begin()?;
        let mut unseen = self.write_down(self.look_by_code(&state))?;
        self.reopen(&unseen)?;
        let left = self.left(&state);
        let (one_by_one, side_by_side) = lanes(left.iter().copied());
        for item in one_by_one {
            let errand = Errand { who: who(&state, item, verifiers), items: vec![item] };
            unseen.extend(self.write_down(self.run(&errand))?);
        }
        let errands = errands(&state, side_by_side, verifiers);
        unseen.extend(self.run_side_by_side(&errands)?);
        let (state, standing) = self.end()?;
        Ok(VerifiedGate { standing, state, added, unseen })
    }

    /// Begins another attempt, if it is one, and adds what the subject has more of than it had when
    /// the list was made.
    fn begin(&self) -> Result<(State, Vec<ItemId>), GateError> {
        self.change(|state, content| {
            state.begin(content.whole);
            let built_in = match state.beside.made_from.checklist {
                Checklist::BuiltIn => self.built_in(),
                Checklist::HandedIn => Vec::new(),
            };
            let mut added = Vec::new();
            for item in built_in {
                let is_listed = state.list.items().any(|listed| {
                    listed.scope == item.scope && state.note(&listed.id).by == item.by
                });
                if !is_listed {
                    added.push(add(state, item, None)?);
                }
            }
            Ok((state.clone(), added))
        })
    }

    /// Has the built-in checks look, whatever was seen before: that costs next to nothing.
    fn look_by_code(&self, state: &State) -> Vec<(ItemId, Seen)> {
        let look = |item: &Item| {
            let Some(By::Code(key)) = state.note(&item.id).by else { return None };
            let seen = match checks::named(&key) {
                Some(check) => (check.look)(self.subject, &item.scope),
                None => Seen::Unseen(format!("this version has no check `{key}`")),
            };
            Some((item.id.clone(), seen))
        };
        state.list.items().filter_map(look).collect()
    }

    /// Opens items again that failed on other content and that code cannot tell anything of now.
    fn reopen(&self, unseen: &[(ItemId, String)]) -> Result<(), GateError> {
        self.change(|state, content| {
            for (id, _) in unseen {
                state.reopen(id, content);
            }
            Ok(())
        })
    }

    /// Gives the items that somebody else has to look at.
    fn left<'s>(&self, state: &'s State) -> Vec<&'s Item> {
        self.with_content(|content| {
            let is_left = |item: &&Item| match state.note(&item.id).by {
                Some(By::Code(_)) => false,
                // A command may see something else where it failed before.
                Some(By::Command(_)) => state.result(item, content) != Verified::Pass,
                // On the same content a judge sees the same, and a person's word stands.
                None => !state.is_seen(item, content),
            };
            state.list.items().filter(is_left).collect()
        })
    }

    fn run_side_by_side(&self, errands: &[Errand<'_>]) -> Result<Vec<(ItemId, String)>, GateError> {
        let waiting = Mutex::new(errands.iter());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut unseen = Vec::new();
            while let Some(errand) = next() {
                unseen.extend(self.write_down(self.run(errand))?);
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

    fn run(&self, errand: &Errand<'_>) -> Vec<(ItemId, Seen)> {
        let Errand { who, items } = errand;
        let ids = items.iter().map(|item| item.id.clone());
        let seen: Vec<Seen> = match who {
            Who::Command(command) => {
                let plan = self.subject.plan.map(|(_, path)| path);
                items.iter().map(|item| command.look(self.phase, item, plan)).collect()
            }
            Who::Judge(judge) => judge.judge(self.phase, self.subject, items),
            Who::Nobody(why) => items.iter().map(|_| Seen::Unseen((*why).to_owned())).collect(),
        };
        // Who answers for fewer items than were asked about has not seen the others.
        let missing = std::iter::repeat_with(|| Seen::Unseen("there was no answer".to_owned()));
        ids.zip(seen.into_iter().chain(missing)).collect()
    }

    /// Writes down what was seen, and gives what was not.
    fn write_down(&self, seen: Vec<(ItemId, Seen)>) -> Result<Vec<(ItemId, String)>, GateError> {
        let (mut settled, mut unseen) = (Vec::new(), Vec::new());
        for (id, seen) in seen {
            match seen {
                Seen::Holds => settled.push((id, Verified::Pass)),
                Seen::Fails(finding) => settled.push((id, Verified::Fail(finding))),
                Seen::Unseen(why) => unseen.push((id, why)),
            }
        }
        if !settled.is_empty() {
            self.change(|state, content| {
                for (id, result) in settled {
                    state.settle(&id, result, content);
                }
                Ok(())
            })?;
        }
        Ok(unseen)
    }

    /// Ends the attempt, if nothing is left to be seen.
    fn end(&self) -> Result<(State, Standing), GateError> {
        self.change(|state, content| {
            let standing = judge(state, &self.bar, content);
            if let Some(reviewed) = standing.reviewed() {
                state.end(content.whole, reviewed);
            }
            Ok((state.clone(), judge(state, &self.bar, content)))
        })
    }
}

/// Says who is asked about an item.
fn who<'a>(state: &State, item: &Item, verifiers: Verifiers<'a>) -> Who<'a> {
    match state.note(&item.id).by {
        Some(By::Command(name)) => {
            let known = verifiers.commands.iter().find(|command| command.name == name);
            known.map_or(Who::Nobody("its command is not configured any more"), Who::Command)
        }
        Some(By::Code(_)) | None => verifiers.judge.map_or(
            Who::Nobody("no model is configured, and nobody else said what came of it"),
            Who::Judge,
        ),
    }
}

/// Puts what a judge is asked about into groups, and leaves the rest one by one.
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
