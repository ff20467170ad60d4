//! A counting semaphore.

use std::sync::{Condvar, Mutex};

/// A number of slots that threads take and give back.
pub struct Slots {
    free: Mutex<usize>,
    changed: Condvar,
}

/// A taken slot; dropping it gives the slot back.
pub struct Slot<'a> {
    slots: &'a Slots,
}

impl Slots {
    pub fn new(count: usize) -> Self {
        Slots {
            free: Mutex::new(count),
            changed: Condvar::new(),
        }
    }

    /// Waits for a free slot and takes it.
    pub fn take(&self) -> Slot<'_> {
        let mut free = self.free.lock().unwrap();
        while *free == 0 {
            free = self.changed.wait(free).unwrap();
        }
        *free -= 1;
        Slot { slots: self }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.slots.free.lock().unwrap() += 1;
        self.slots.changed.notify_one();
    }
}
