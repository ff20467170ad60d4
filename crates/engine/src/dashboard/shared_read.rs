//! A slow read that concurrent requests share: [`SharedRead`].

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use assay_base::clock::{Deadline, Stopwatch};

type ReadFunction<T> = Box<dyn Fn() -> anyhow::Result<T> + Send + Sync>;

/// A function that runs another function on a new thread.
type SpawnFunction = fn(Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// A read that runs on a thread of its own, one at a time.
///
/// A request gets the result of a read that began after the request, so a result is never older
/// than its request. Requests that come while a read runs share the next one. A request that stops
/// waiting does not stop the read.
pub(super) struct SharedRead<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    read: ReadFunction<T>,
    spawn: SpawnFunction,
    state: Mutex<ReadState<T>>,
    ended: Condvar,
}

struct ReadState<T> {
    /// The number of reads that began.
    started: u64,
    /// The number of reads that ended; one less than `started` while a read runs.
    finished: u64,
    /// The result of the last read that ended, or its error as text.
    result: Result<T, String>,
    /// The start of the last read that ended, and of the read that runs.
    ended_since: Option<Stopwatch>,
    runs_since: Option<Stopwatch>,
}

impl<T: Clone + Send + 'static> SharedRead<T> {
    pub(super) fn new(
        read: impl Fn() -> anyhow::Result<T> + Send + Sync + 'static,
    ) -> SharedRead<T> {
        SharedRead::with_spawn(Box::new(read), spawn_thread)
    }

    fn with_spawn(read: ReadFunction<T>, spawn: SpawnFunction) -> SharedRead<T> {
        let result = Err("not read yet".to_owned());
        let (ended_since, runs_since) = (None, None);
        let state = ReadState { started: 0, finished: 0, result, ended_since, runs_since };
        let inner = Inner { read, spawn, state: Mutex::new(state), ended: Condvar::new() };
        SharedRead { inner: Arc::new(inner) }
    }

    /// Begins a read, unless one is running.
    pub(super) fn begin(&self) {
        self.begin_next(&mut self.inner.lock());
    }

    /// Returns the result of a read that began after the call; `None` if no such read ended by the
    /// deadline. Waits without an end if there is no deadline.
    pub(super) fn get(&self, until: Option<Deadline>) -> anyhow::Result<Option<T>> {
        let mut state = self.inner.lock();
        let number = state.started + 1;
        while state.finished < number {
            self.begin_next(&mut state);
            if state.finished == state.started {
                // The read could not begin, and has ended with an error.
                continue;
            }
            let Some(woken) = self.inner.wait(state, until) else { return Ok(None) };
            state = woken;
        }
        state.result.clone().map(Some).map_err(|error| anyhow!(error))
    }

    /// Returns the result of a read that began after the call, or else, at the deadline, of the last
    /// read if that one began at most `max_age` ago; `None` if there is neither.
    pub(super) fn get_or_recent(
        &self,
        until: Deadline,
        max_age: Duration,
    ) -> anyhow::Result<Option<T>> {
        if let Some(value) = self.get(Some(until))? {
            return Ok(Some(value));
        }
        let state = self.inner.lock();
        let is_recent = state.ended_since.is_some_and(|since| since.elapsed() <= max_age);
        Ok(state.result.clone().ok().filter(|_| is_recent))
    }

    fn begin_next(&self, state: &mut ReadState<T>) {
        if state.finished < state.started {
            return;
        }
        state.started += 1;
        state.runs_since = Some(Stopwatch::start());
        let inner = Arc::clone(&self.inner);
        if let Err(error) = (self.inner.spawn)(Box::new(move || RunningRead::new(&inner).run())) {
            state.finished = state.started;
            state.result = Err(format!("cannot start a thread: {error}"));
            self.inner.ended.notify_all();
        }
    }
}

fn spawn_thread(run: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    thread::Builder::new().name("dashboard-read".to_owned()).spawn(run).map(drop)
}

impl<T> Inner<T> {
    fn lock(&self) -> MutexGuard<'_, ReadState<T>> {
        // No function of the caller runs under the lock, so a panic leaves no half-made change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of a read; `None` if the deadline has passed.
    fn wait<'a>(
        &self,
        state: MutexGuard<'a, ReadState<T>>,
        until: Option<Deadline>,
    ) -> Option<MutexGuard<'a, ReadState<T>>> {
        let Some(until) = until else {
            return Some(self.ended.wait(state).unwrap_or_else(PoisonError::into_inner));
        };
        if until.has_passed() {
            return None;
        }
        let waited = self.ended.wait_timeout(state, until.left());
        Some(waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// A read in progress. Its end is recorded also if it panics.
struct RunningRead<'a, T> {
    inner: &'a Inner<T>,
    result: Option<Result<T, String>>,
}

impl<'a, T> RunningRead<'a, T> {
    fn new(inner: &'a Inner<T>) -> RunningRead<'a, T> {
        RunningRead { inner, result: None }
    }

    fn run(mut self) {
        self.result = Some((self.inner.read)().map_err(|error| format!("{error:#}")));
    }
}

impl<T> Drop for RunningRead<'_, T> {
    fn drop(&mut self) {
        let unexpected = || Err("the read ended unexpectedly".to_owned());
        let mut state = self.inner.lock();
        state.result = self.result.take().unwrap_or_else(unexpected);
        state.finished = state.started;
        state.ended_since = state.runs_since;
        self.inner.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Returns a read that returns the number of its call after a message arrives, and the sender
    /// of messages.
    fn stepped() -> (SharedRead<u64>, Sender<()>, Arc<AtomicU64>) {
        let (sender, receiver): (Sender<()>, Receiver<()>) = channel();
        let (receiver, calls) = (Mutex::new(receiver), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&calls);
        let read = SharedRead::new(move || {
            let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
            let _ = receiver.lock().unwrap().recv();
            Ok(number)
        });
        (read, sender, calls)
    }

    #[test]
    fn a_request_that_stops_waiting_leaves_the_read_running() {
        let (read, step, calls) = stepped();
        assert_eq!(read.get(Some(Deadline::after(Duration::ZERO))).unwrap(), None);
        step.send(()).unwrap();
        step.send(()).unwrap();
        // The first read began before this request, so a second one answers it.
        assert_eq!(read.get(None).unwrap(), Some(2));
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_read_that_is_always_late_gives_its_recent_result() {
        let (read, step, _) = stepped();
        let (at_once, hour) = (|| Deadline::after(Duration::ZERO), Duration::from_secs(3_600));
        assert_eq!(read.get_or_recent(at_once(), hour).unwrap(), None);
        step.send(()).unwrap();
        step.send(()).unwrap();
        assert_eq!(read.get(None).unwrap(), Some(2));
        assert_eq!(read.get_or_recent(at_once(), hour).unwrap(), Some(2));
        assert_eq!(read.get_or_recent(at_once(), Duration::ZERO).unwrap(), None);
        drop(step);
    }

    #[test]
    fn requests_that_come_while_a_read_runs_share_the_next_one() {
        let (read, step, calls) = stepped();
        read.begin();
        thread::scope(|scope| {
            let requests: Vec<_> = (0..8).map(|_| scope.spawn(|| read.get(None))).collect();
            drop(step);
            for request in requests {
                assert!(request.join().unwrap().unwrap().is_some_and(|number| number > 1));
            }
        });
        assert!(calls.load(Ordering::SeqCst) <= 9);
    }

    #[test]
    fn an_error_and_a_panic_are_errors_of_the_request() {
        let failed: SharedRead<u64> = SharedRead::new(|| Err(anyhow!("the disk is gone")));
        assert_eq!(failed.get(None).unwrap_err().to_string(), "the disk is gone");
        let broken: SharedRead<u64> = SharedRead::new(|| panic!("broken"));
        assert!(broken.get(None).unwrap_err().to_string().contains("ended unexpectedly"));
    }

    #[test]
    fn a_request_fails_at_once_if_no_thread_can_be_started() {
        let refuse: SpawnFunction = |_| Err(io::Error::other("too many threads"));
        let read: SharedRead<u64> = SharedRead::with_spawn(Box::new(|| Ok(1)), refuse);
        for until in [Some(Deadline::after(Duration::ZERO)), None] {
            let error = read.get(until).unwrap_err().to_string();
            assert_eq!(error, "cannot start a thread: too many threads");
        }
    }
}
