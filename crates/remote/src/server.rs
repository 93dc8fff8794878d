//! Measurements of servers, which all files of the process share.

use forthwith_platform::ProcessLock;
use std::{
    collections::HashMap,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// Upper bound on the number of servers that are remembered.
const MOST: usize = 1024;

/// Number of ranges of a request that most servers answer if they answer several at all: Apache's limit is
/// 200.
const SAFE_RANGES: usize = 100;

/// Bounds on the cost of a request in bytes, and the cost before any measurement.
const LEAST_COST: u64 = 8 << 10;
const MOST_COST: u64 = 256 << 10;
const UNMEASURED_COST: u64 = 32 << 10;
/// Number of parallel requests that are assumed to share the time of a request; the connection is rarely as
/// busy as [`IN_FLIGHT`](crate::link) of them.
const SIDE_BY_SIDE: u64 = 4;
/// Minimum length in bytes of measured bodies: shorter ones arrive with their headers.
const MEASURED: u64 = 64 << 10;

/// Bounds on the bytes of gaps that are fetched per wanted byte; the lower one is that of a server without
/// latency.
const LEAST_WASTE: u64 = 4;
const MOST_WASTE: u64 = 64;

/// A server, by its scheme, host and port.
#[derive(Debug)]
pub(crate) struct Server {
    /// Maximum number of ranges of a request, as far as known.
    limit: AtomicUsize,
    /// Maximum number of ranges of a request that the server has answered.
    answered: AtomicUsize,
    /// Shortest time to the headers of an answer, in microseconds; 0 before the first.
    latency: AtomicU64,
    /// Bytes per second of an answer, as a moving average; 0 before the first.
    rate: AtomicU64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            limit: AtomicUsize::new(usize::MAX),
            answered: AtomicUsize::new(1),
            latency: AtomicU64::default(),
            rate: AtomicU64::default(),
        }
    }
}

static SERVERS: LazyLock<ProcessLock<HashMap<String, Arc<Server>>>> = LazyLock::new(ProcessLock::default);

/// Returns the server of an origin, such as `https://host:443`.
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
    /// Returns the maximum number of ranges of a request, as far as the server has refused more.
    pub(crate) fn range_limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    /// Whether the server has answered a request of that many ranges, or of several if that many are at most
    /// [`SAFE_RANGES`].
    pub(crate) fn has_answered(&self, ranges: usize) -> bool {
        let answered = self.answered.load(Relaxed);
        ranges <= answered || (answered > 1 && ranges <= SAFE_RANGES)
    }

    /// Records that a request of several ranges was answered.
    pub(crate) fn answers(&self, ranges: usize) {
        self.answered.fetch_max(ranges, Relaxed);
    }

    /// Records that a request of several ranges was refused: fewer may be answered, or only one.
    pub(crate) fn refuses(&self, ranges: usize) {
        self.limit.fetch_min(if ranges > SAFE_RANGES { SAFE_RANGES } else { 1 }, Relaxed);
    }

    /// Records that a request of several ranges ended without an answer, which is a refusal unless the server
    /// has answered as many before.
    pub(crate) fn breaks(&self, ranges: usize) {
        if !self.has_answered(ranges) {
            self.refuses(ranges);
        }
    }

    /// Records the time until the headers of an answer arrived.
    pub(crate) fn measure_latency(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
        let known = self.latency.load(Relaxed);
        if known == 0 || time < known {
            self.latency.store(time, Relaxed);
        }
    }

    /// Records the time that a body took.
    pub(crate) fn measure_body(&self, bytes: u64, time: Duration) {
        if bytes < MEASURED {
            return;
        }
        let now = (bytes as f64 / time.as_secs_f64().max(1e-6)) as u64;
        let known = self.rate.load(Relaxed);
        self.rate.store(if known == 0 { now } else { known / 4 * 3 + now / 4 }, Relaxed);
    }

    /// Returns the number of bytes that the connection transfers in the time that one more request takes: a
    /// shorter gap is cheaper to fetch than to skip.
    pub(crate) fn request_cost(&self) -> u64 {
        let (latency, rate) = (self.latency.load(Relaxed), self.rate.load(Relaxed));
        if rate == 0 {
            return UNMEASURED_COST;
        }
        let carried = u128::from(latency) * u128::from(rate) / 1_000_000 / u128::from(SIDE_BY_SIDE);
        u64::try_from(carried).unwrap_or(u64::MAX).clamp(LEAST_COST, MOST_COST)
    }

    /// Returns the number of bytes of gaps that may be fetched per wanted byte: two more for each millisecond
    /// of latency.
    pub(crate) fn waste_factor(&self) -> u64 {
        (LEAST_WASTE + self.latency.load(Relaxed) / 500).min(MOST_WASTE)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        LEAST_COST, LEAST_WASTE, MOST_COST, MOST_WASTE, SAFE_RANGES, Server, UNMEASURED_COST, server,
    };
    use std::{sync::Arc, time::Duration};

    #[test]
    fn a_request_is_worth_what_the_line_carries_meanwhile() {
        let server = Server::default();
        assert_eq!(server.request_cost(), UNMEASURED_COST);
        server.measure_latency(Duration::from_millis(30));
        assert_eq!(server.request_cost(), UNMEASURED_COST);
        server.measure_latency(Duration::from_millis(20));
        server.measure_latency(Duration::from_millis(300));
        server.measure_body(10, Duration::from_millis(500));
        server.measure_body(1_000_000, Duration::from_millis(50));
        assert_eq!(server.request_cost(), 100_000);
        for _ in 0..20 {
            server.measure_body(100_000_000, Duration::from_millis(50));
        }
        assert_eq!(server.request_cost(), MOST_COST);
        server.measure_latency(Duration::from_micros(10));
        assert_eq!(server.request_cost(), LEAST_COST);
    }

    #[test]
    fn more_is_fetched_in_vain_the_farther_a_server_is() {
        let server = Server::default();
        assert_eq!(server.waste_factor(), LEAST_WASTE);
        server.measure_latency(Duration::from_millis(10));
        assert_eq!(server.waste_factor(), LEAST_WASTE + 20);
        server.measure_latency(Duration::from_micros(400));
        assert_eq!(server.waste_factor(), LEAST_WASTE);
        let far = Server::default();
        far.measure_latency(Duration::from_secs(1));
        assert_eq!(far.waste_factor(), MOST_WASTE);
    }

    #[test]
    fn a_broken_connection_is_a_refusal_of_a_server_that_has_never_answered() {
        let (new, proven) = (Server::default(), Server::default());
        proven.answers(20);
        new.breaks(20);
        proven.breaks(20);
        assert_eq!([new.range_limit(), proven.range_limit()], [1, usize::MAX]);
        proven.refuses(20);
        assert_eq!(proven.range_limit(), 1);
    }

    #[test]
    fn a_server_that_refuses_many_ranges_may_answer_fewer() {
        let server = Server::default();
        server.answers(2);
        server.breaks(300);
        assert_eq!(server.range_limit(), SAFE_RANGES);
        assert!(server.has_answered(SAFE_RANGES) && !server.has_answered(SAFE_RANGES + 1));
        server.refuses(300);
        assert_eq!(server.range_limit(), SAFE_RANGES);
        server.refuses(SAFE_RANGES);
        assert_eq!(server.range_limit(), 1);
    }

    #[test]
    fn servers_are_shared_by_their_origins() {
        assert!(Arc::ptr_eq(&server("http://a:1"), &server("http://a:1")));
        assert!(!Arc::ptr_eq(&server("http://a:1"), &server("http://a:2")));
    }
}
