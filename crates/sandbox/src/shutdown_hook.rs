//! Actions that run before this process ends by a signal: [`ShutdownHook`].

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Hook = Box<dyn FnOnce() + Send>;

/// The hooks that are set, in the order in which they were set, and the number of the next one.
static HOOKS: Mutex<Hooks> = Mutex::new(Hooks { set: BTreeMap::new(), next: 0, is_closed: false });

struct Hooks {
    set: BTreeMap<u64, Hook>,
    next: u64,
    is_closed: bool,
}

fn hooks() -> MutexGuard<'static, Hooks> {
    HOOKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An action that runs when the process shuts down, unless the value is dropped before.
#[derive(Debug)]
pub struct ShutdownHook(u64);

impl ShutdownHook {
    /// Sets a hook. Returns `None` if the process is ending already.
    pub fn new(hook: impl FnOnce() + Send + 'static) -> Option<ShutdownHook> {
        let mut hooks = hooks();
        if hooks.is_closed {
            return None;
        }
        let number = hooks.next;
        hooks.next += 1;
        hooks.set.insert(number, Box::new(hook));
        Some(ShutdownHook(number))
    }
}

impl Drop for ShutdownHook {
    fn drop(&mut self) {
        hooks().set.remove(&self.0);
    }
}

/// Runs every hook that is set, the last one first. No hook can be set afterwards.
pub(crate) fn run_all() {
    let set = {
        let mut hooks = hooks();
        hooks.is_closed = true;
        std::mem::take(&mut hooks.set)
    };
    for hook in set.into_values().rev() {
        hook();
    }
}
