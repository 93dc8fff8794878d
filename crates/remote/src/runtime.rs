//! The runtime of the process.

use crate::StoreOptions;
use forthwith_io::{Error, ErrorKind, ProcessLock, Result};
use std::{
    sync::{
        Arc, LazyLock,
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};
use tokio::runtime::{Builder, Handle, Runtime};

/// Runtimes are kept for ever: a forked process has no threads of its parent's, and must not end them.
static RUNTIME: LazyLock<ProcessLock<Option<&'static Runtime>>> = LazyLock::new(ProcessLock::default);

/// The runtime of this process: two threads, which wait for sockets.
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

/// How often a wait asks whether it still should.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Waits for an answer of a store, as long as the options say that it should.
pub(crate) fn wait<T: Send + 'static>(
    name: &str,
    options: &StoreOptions,
    answer: impl Future<Output = std::result::Result<T, ErrorKind>> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = channel();
    let task = runtime(name)?.spawn(async move { drop(sender.send(answer.await)) });
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(answer) => return answer.map_err(|kind| Error::new(kind, name)),
            Err(RecvTimeoutError::Timeout) if options.goes_on() => {}
            Err(_) => {
                task.abort();
                return Err(Error::new(ErrorKind::Cancelled, name));
            }
        }
    }
}

/// Chooses the cryptography of TLS, of which a process has one. Another one that the program has chosen already is as good.
pub(crate) fn choose_cryptography() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// A value for each process, made when it is first asked for: connections are not shared with forked processes.
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
