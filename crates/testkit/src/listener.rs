//! A listener on 127.0.0.1 with one thread for each connection: [`Listener`].

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A listener that accepts connections until it is dropped, and then closes the open ones.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    open: Arc<OpenConnections>,
    listening: Option<JoinHandle<()>>,
}

/// The open connections.
pub(crate) struct OpenConnections {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    connections: HashMap<u64, Arc<TcpStream>>,
    is_ending: bool,
}

/// An entry in the list of open connections, which is removed when the connection ends in any way.
/// A connection stays open while it is listed.
struct ConnectionGuard<'a> {
    open: &'a OpenConnections,
    id: u64,
}

impl Drop for ConnectionGuard<'_> {
    fn drop(&mut self) {
        self.open.state().connections.remove(&self.id);
        self.open.changed.notify_all();
    }
}

impl Listener {
    /// Starts to listen on a port, or on any free port if it is 0. Fails if the port is in use.
    pub(crate) fn start(
        port: u16,
        converse: impl Fn(&OpenConnections, &TcpStream) + Send + Sync + 'static,
    ) -> io::Result<Listener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let open = Arc::new(OpenConnections { state: Mutex::default(), changed: Condvar::new() });
        let listening = thread::spawn({
            let open = Arc::clone(&open);
            move || open.listen(&listener, &converse)
        });
        Ok(Listener { address, open, listening: Some(listening) })
    }

    /// Returns the address to connect to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until no connection is open. Panics after a minute.
    pub(crate) fn wait_until_idle(&self) {
        let (state, waited) = self
            .open
            .changed
            .wait_timeout_while(self.open.state(), Duration::from_secs(60), |state| {
                !state.connections.is_empty()
            })
            .unwrap();
        let open = state.connections.len();
        assert!(!waited.timed_out(), "{open} connections are still open");
    }

    /// Serves until the process ends.
    pub(crate) fn join(&mut self) -> thread::Result<()> {
        self.listening.take().map_or(Ok(()), JoinHandle::join)
    }

    /// Ends all connections and threads. The error is the panic of a thread.
    pub(crate) fn end(&mut self) -> thread::Result<()> {
        {
            let mut state = self.open.state();
            state.is_ending = true;
            for stream in state.connections.values() {
                // The connection may have ended already.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.open.changed.notify_all();
        // The accepting thread notices the end only with a new connection.
        let _ = TcpStream::connect(self.address);
        self.join()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.listening.is_some() {
            let ended = self.end();
            assert!(ended.is_ok() || thread::panicking(), "a connection panicked");
        }
    }
}

impl OpenConnections {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts connections until the end, and waits for their threads.
    fn listen(
        &self,
        listener: &TcpListener,
        converse: &(impl Fn(&OpenConnections, &TcpStream) + Sync),
    ) {
        thread::scope(|scope| {
            for (id, stream) in (0..).zip(listener.incoming()) {
                let mut state = self.state();
                if state.is_ending {
                    break;
                }
                let Ok(stream) = stream.map(Arc::new) else { continue };
                state.connections.insert(id, Arc::clone(&stream));
                drop(state);
                let listed = ConnectionGuard { open: self, id };
                scope.spawn(move || {
                    let listed = listed;
                    converse(listed.open, &stream);
                });
            }
        });
    }

    /// Waits for a time, or until the end. Returns true if the end has not come.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state();
        while !state.is_ending {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return true };
            state = self
                .changed
                .wait_timeout(state, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
        false
    }
}

impl fmt::Debug for OpenConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").finish_non_exhaustive()
    }
}
