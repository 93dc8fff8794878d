//! The asynchronous runtime of the process.

use forthwith_io::{Error, ErrorKind, Result};
use forthwith_platform::ProcessLock;
use std::{
    sync::{
        Arc, LazyLock,
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::JoinHandle,
};

/// Runtimes are never dropped: a forked process does not have the threads of its parent, and must not join
/// them.
static RUNTIME: LazyLock<ProcessLock<Option<&'static Runtime>>> = LazyLock::new(ProcessLock::default);

/// Returns the runtime of this process: two threads, which wait for sockets.
pub(crate) fn runtime(uri: &str) -> Result<Handle> {
    let mut kept = RUNTIME.lock();
    if let Some(runtime) = *kept {
        return Ok(runtime.handle().clone());
    }
    let made =
        Builder::new_multi_thread().worker_threads(2).thread_name("forthwith-remote").enable_all().build();
    let made = made.map_err(|error| Error::new(ErrorKind::from(error), uri))?;
    let made: &'static Runtime = Box::leak(Box::new(made));
    *kept = Some(made);
    Ok(made.handle().clone())
}

/// Interval at which a wait checks whether it should continue.
const LOOK: Duration = Duration::from_millis(20);

/// A task that is aborted when its handle is dropped.
pub(crate) struct Abort<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for Abort<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for an answer of a server, unless the callback `ended` returns an error that ends the wait.
pub(crate) fn wait<T: Send + 'static>(
    name: &str,
    answer: impl Future<Output = std::result::Result<T, ErrorKind>> + Send + 'static,
    ended: impl Fn() -> Option<ErrorKind>,
) -> Result<T> {
    let (sender, receiver) = channel();
    let _task = Abort(runtime(name)?.spawn(async move { drop(sender.send(answer.await)) }));
    loop {
        let kind = match receiver.recv_timeout(LOOK) {
            Ok(answer) => return answer.map_err(|kind| Error::new(kind, name)),
            Err(RecvTimeoutError::Disconnected) => Some(ErrorKind::Cancelled),
            Err(RecvTimeoutError::Timeout) => ended(),
        };
        if let Some(kind) = kind {
            return Err(Error::new(kind, name));
        }
    }
}

/// Installs the cryptography provider of TLS, of which a process has one. A provider that the program has
/// installed before is kept.
pub(crate) fn choose_cryptography() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// A value for each process, created on first use: connections are not shared with forked processes.
#[derive(Debug)]
pub(crate) struct PerProcess<T>(ProcessLock<Option<Arc<T>>>);

impl<T> PerProcess<T> {
    pub(crate) fn new() -> Self {
        Self(ProcessLock::new(None))
    }

    pub(crate) fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut kept = self.0.lock();
        if let Some(value) = &*kept {
            return Ok(Arc::clone(value));
        }
        let made = Arc::new(make()?);
        *kept = Some(Arc::clone(&made));
        Ok(made)
    }
}
