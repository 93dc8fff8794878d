//! Knowledge about servers, which all files of the process share.

use forthwith_io::ProcessLock;
use std::{
    collections::HashMap,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// Upper bound on the servers that are remembered.
const MOST: usize = 1024;

/// Bounds on the bytes that a request is worth. The lower one is what a near server sends while it looks at a request.
const LEAST_COST: u64 = 32 << 10;
const MOST_COST: u64 = 256 << 10;
/// The time of a request is shared by the requests beside it; the line is rarely as busy as [`IN_FLIGHT`](crate::fetch) of them.
const SIDE_BY_SIDE: u64 = 4;
/// Shorter bodies come with their headers: they say nothing about the line.
const MEASURED: u64 = 64 << 10;

/// A server, by its scheme, host and port.
#[derive(Debug, Default)]
pub(crate) struct Server {
    ranges: AtomicU8,
    /// The shortest time to the headers of an answer, in microseconds; 0 before the first.
    latency: AtomicU64,
    /// Bytes of one answer per second, as a moving average; 0 before the first.
    rate: AtomicU64,
}

/// How a server answers requests of several ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Several {
    Unknown,
    Answered,
    Refused,
}

static SERVERS: LazyLock<ProcessLock<HashMap<String, Arc<Server>>>> = LazyLock::new(ProcessLock::default);

/// The server of an origin, such as `https://host:443`.
pub(crate) fn server(origin: &str) -> Arc<Server> {
    let mut servers = SERVERS.lock();
    if let Some(server) = servers.get(origin) {
        return Arc::clone(server);
    }
    if servers.len() >= MOST {
        servers.clear();
    }
    Arc::clone(servers.entry(origin.to_owned()).or_default())
}

impl Server {
    /// Whether requests of several ranges have been refused.
    pub(crate) fn is_single(&self) -> bool {
        self.ranges.load(Relaxed) == Several::Refused as u8
    }

    /// Notes that a request of several ranges was answered.
    pub(crate) fn answers_several(&self) {
        self.ranges.store(Several::Answered as u8, Relaxed);
    }

    /// Notes that a request of several ranges was refused.
    pub(crate) fn refuses_several(&self) {
        self.ranges.store(Several::Refused as u8, Relaxed);
    }

    /// Notes that a request of several ranges ended without an answer, which is a refusal unless the server has answered one before.
    pub(crate) fn breaks_several(&self) {
        let (unknown, refused) = (Several::Unknown as u8, Several::Refused as u8);
        let _ = self.ranges.compare_exchange(unknown, refused, Relaxed, Relaxed);
    }

    /// Notes the time until the headers of an answer came.
    pub(crate) fn measure_latency(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
        let known = self.latency.load(Relaxed);
        if known == 0 || time < known {
            self.latency.store(time, Relaxed);
        }
    }

    /// Notes the time that a body took.
    pub(crate) fn measure_body(&self, bytes: u64, time: Duration) {
        if bytes < MEASURED {
            return;
        }
        let now = (bytes as f64 / time.as_secs_f64().max(1e-6)) as u64;
        let known = self.rate.load(Relaxed);
        self.rate.store(if known == 0 { now } else { known / 4 * 3 + now / 4 }, Relaxed);
    }

    /// The bytes that the line carries in the time that one more request takes: a gap of fewer is cheaper to fetch than to skip.
    pub(crate) fn request_cost(&self) -> u64 {
        let (latency, rate) = (self.latency.load(Relaxed), self.rate.load(Relaxed));
        let carried = u128::from(latency) * u128::from(rate) / 1_000_000 / u128::from(SIDE_BY_SIDE);
        u64::try_from(carried).unwrap_or(u64::MAX).clamp(LEAST_COST, MOST_COST)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_COST, MOST_COST, Server, server};
    use std::{sync::Arc, time::Duration};

    #[test]
    fn a_request_is_worth_what_the_line_carries_meanwhile() {
        let server = Server::default();
        assert_eq!(server.request_cost(), LEAST_COST);
        server.measure_latency(Duration::from_millis(30));
        server.measure_latency(Duration::from_millis(20));
        server.measure_latency(Duration::from_millis(300));
        server.measure_body(10, Duration::from_millis(500));
        server.measure_body(1_000_000, Duration::from_millis(50));
        assert_eq!(server.request_cost(), 100_000);
        for _ in 0..20 {
            server.measure_body(100_000_000, Duration::from_millis(50));
        }
        assert_eq!(server.request_cost(), MOST_COST);
    }

    #[test]
    fn a_broken_connection_is_a_refusal_of_a_server_that_has_never_answered() {
        let (new, proven) = (Server::default(), Server::default());
        proven.answers_several();
        new.breaks_several();
        proven.breaks_several();
        assert_eq!([new.is_single(), proven.is_single()], [true, false]);
        proven.refuses_several();
        assert!(proven.is_single());
    }

    #[test]
    fn servers_are_shared_by_their_origins() {
        assert!(Arc::ptr_eq(&server("http://a:1"), &server("http://a:1")));
        assert!(!Arc::ptr_eq(&server("http://a:1"), &server("http://a:2")));
    }
}
