//! Calls as futures, awaited by a runtime that only sleeps until it is woken.

use bytes::Bytes;
use forthwith::{Engine, File, Options, io};
use std::{
    future::Future,
    ops::Range,
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        thread::park();
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

/// A file of which each answer takes some time.
#[derive(Debug)]
struct Slow {
    inner: Arc<dyn io::Source>,
    answers: AtomicUsize,
    wait: Duration,
}

impl io::Source for Slow {
    fn uri(&self) -> &str {
        "slow.root"
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        thread::sleep(self.wait);
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.inner.read(ranges)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        true
    }
}

#[test]
fn futures_give_what_calls_give() {
    let path = data("zmumu.root");
    let names = ["Muon_pt", "MET_pt"];
    let expected = File::open(&path).unwrap().table("events").unwrap().columns(&names).unwrap();
    let found = block_on(async {
        let events = File::open_async(&path).await?.table_async("events").await?;
        let whole = events.columns_async(&names).await?;
        let plan = events.plan(&names, ..)?;
        // Side by side, and one before it is awaited.
        let (one, two) = (events.read_async(plan.clone(), Some(1)), events.read_async(plan, None));
        let two = two.await?;
        Ok::<_, forthwith::plan::Error>([whole, one.await?, two])
    });
    for found in found.unwrap() {
        assert_eq!(found, expected);
    }
}

#[test]
fn errors_are_those_of_calls() {
    let missing = data("missing.root");
    let expected = File::open(&missing).map(drop).unwrap_err();
    assert_eq!(block_on(File::open_async(&missing)).map(drop).unwrap_err().to_string(), expected.to_string());
    let events = File::open(data("zmumu.root")).unwrap().table("events").unwrap();
    let expected = events.columns(&["Muon"]).unwrap_err().to_string();
    assert_eq!(block_on(events.columns_async(&["Muon"])).unwrap_err().to_string(), expected);
}

#[test]
fn a_future_that_is_dropped_ends_its_call() {
    let inner = forthwith::files::source(data("zmumu.root")).unwrap();
    let slow = Arc::new(Slow { inner, answers: AtomicUsize::new(0), wait: Duration::from_millis(5) });
    let engine = Arc::new(Engine::new(Options { threads: 1, ..Options::default() }));
    let source: Arc<dyn io::Source> = slow.clone();
    let events = File::from_source(source, engine).unwrap().table("events").unwrap();
    let plan = events.plan(&(0..10).collect::<Vec<u32>>(), ..).unwrap();
    let whole = {
        let before = slow.answers.load(Ordering::Relaxed);
        block_on(events.read_async(plan.clone(), Some(1))).unwrap();
        slow.answers.load(Ordering::Relaxed) - before
    };
    let before = slow.answers.load(Ordering::Relaxed);
    drop(events.read_async(plan, Some(1)));
    // The call holds the source until it has ended.
    drop(events);
    let mut waits = 0;
    while Arc::strong_count(&slow) > 1 && waits < 2000 {
        thread::sleep(Duration::from_millis(5));
        waits += 1;
    }
    assert_eq!(Arc::strong_count(&slow), 1, "the call did not end");
    let asked = slow.answers.load(Ordering::Relaxed) - before;
    assert!(asked < whole || whole <= 1, "{asked} of {whole} answers were waited for");
}
