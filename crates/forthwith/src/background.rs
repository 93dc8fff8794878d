//! Blocking calls as futures, for programs with an asynchronous runtime of any kind.
//!
//! Each call runs on its own thread from the moment it is made, whether its future is polled or not: decoding
//! would block the threads of a runtime. No runtime is needed or started.

use crate::{File, OpenOptions, Table};
use forthwith_columns::Array;
use forthwith_engine::Progress;
use forthwith_plan::{Error, Plan, Result};
use std::{
    future::Future,
    path::Path,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// Future of a call that runs on its own thread. Dropping it before it is ready cancels the call at its next
/// check.
///
/// # Panics
/// If it is polled after it was ready.
#[must_use = "a future that is dropped ends its call"]
pub struct Background<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    is_dropped: AtomicBool,
}

struct State<T> {
    result: Option<Result<T>>,
    waker: Option<Waker>,
}

impl<T> Shared<T> {
    /// Locks the state. No code panics between two changes of it, so a poisoned lock still guards a
    /// consistent state.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, result: Result<T>) {
        let mut state = self.lock();
        state.result.get_or_insert(result);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Completes the future with an error if the thread panics.
struct Ending<T>(Arc<Shared<T>>);

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.finish(Err(Error::fault("a call in the background panicked")));
        }
    }
}

impl<T: Send + 'static> Background<T> {
    /// Starts a call on a new thread; its argument returns whether it should continue.
    fn start(work: impl FnOnce(&dyn Fn() -> bool) -> Result<T> + Send + 'static) -> Self {
        let state = Mutex::new(State { result: None, waker: None });
        let shared = Arc::new(Shared { state, is_dropped: AtomicBool::new(false) });
        let its = Ending(Arc::clone(&shared));
        let call = move || {
            let result = work(&|| !its.0.is_dropped.load(Ordering::Relaxed));
            its.0.finish(result);
        };
        if let Err(refused) = std::thread::Builder::new().name("forthwith call".into()).spawn(call) {
            shared.finish(Err(Error::fault(format!("no thread for a call in the background: {refused}"))));
        }
        Self(shared)
    }
}

impl<T> Future for Background<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock();
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        assert!(Arc::strong_count(&self.0) > 1, "a future is polled after it was ready");
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.0.is_dropped.store(true, Ordering::Relaxed);
    }
}

impl<T> std::fmt::Debug for Background<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Background").field("is_ready", &self.0.lock().result.is_some()).finish()
    }
}

impl File {
    /// Calls [`open`](Self::open) on a new thread.
    pub fn open_async(path: impl AsRef<Path>) -> Background<Self> {
        Self::open_with_async(path, OpenOptions::new())
    }

    /// Calls [`open_with`](Self::open_with) on a new thread.
    pub fn open_with_async(path: impl AsRef<Path>, options: OpenOptions) -> Background<Self> {
        let path = path.as_ref().to_owned();
        Background::start(move |_| Self::open_with(path, &options))
    }

    /// Calls [`table`](Self::table) on a new thread.
    pub fn table_async(&self, path: &str) -> Background<Table> {
        let (file, path) = (self.clone(), path.to_owned());
        Background::start(move |_| file.table(&path))
    }
}

impl Table {
    /// Calls [`columns`](Self::columns) on a new thread.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    /// # fn block_on<T>(future: impl Future<Output = T>) -> T {
    /// #     let mut future = std::pin::pin!(future);
    /// #     loop {
    /// #         let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #         if let std::task::Poll::Ready(done) = future.as_mut().poll(&mut context) {
    /// #             return done;
    /// #         }
    /// #         std::thread::yield_now();
    /// #     }
    /// # }
    /// # block_on(async {
    /// let file = forthwith::File::open_async(format!("{folder}/zmumu.root")).await?;
    /// let events = file.table_async("events").await?;
    /// let arrays = events.columns_async(&["Muon_pt", "MET_pt"]).await?;
    /// assert_eq!(arrays[1].length, 3600);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// # })?;
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    pub fn columns_async<S: AsRef<str>>(&self, fields: &[S]) -> Background<Vec<Array>> {
        let table = self.clone();
        let fields: Vec<String> = fields.iter().map(|field| field.as_ref().to_owned()).collect();
        Background::start(move |goes_on| {
            let plan = table.plan(&fields, ..)?;
            table.read(&plan, None, Some(&mut |_: Progress| goes_on()))
        })
    }

    /// Calls [`read`](Self::read) on a new thread.
    pub fn read_async(&self, plan: Plan, threads: Option<usize>) -> Background<Vec<Array>> {
        let table = self.clone();
        Background::start(move |goes_on| table.read(&plan, threads, Some(&mut |_: Progress| goes_on())))
    }
}
