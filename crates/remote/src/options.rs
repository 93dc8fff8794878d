//! Options of a store, as users write them.

use forthwith_io::ErrorKind;
use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

/// How to reach a store: options by name, and the time that a request may take.
///
/// `timeout` (seconds after which a read fails if not enough bytes come, all attempts included, 60), `connect_timeout` (seconds, 10),
/// `retries` (of a request that fails in passing, 4) and `headers.NAME` (for HTTP) are for all stores. The others are those of the store: for S3 `access_key_id`,
/// `secret_access_key`, `session_token`, `region`, `endpoint`, `skip_signature`, or `key`, `secret`, `token`, `endpoint_url` and `anon`,
/// as fsspec calls them. The environment's variables of each store count, too (`AWS_ACCESS_KEY_ID`).
#[derive(Clone)]
pub struct StoreOptions {
    values: BTreeMap<String, String>,
    going_on: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { values: BTreeMap::new(), going_on: Arc::new(|| true) }
    }
}

/// Values may be secrets: names only.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// Options for all stores, in seconds but for the last.
const COMMON: [&str; 3] = ["timeout", "connect_timeout", "retries"];

/// fsspec's names of options of S3, and those of the store.
const ALIASES: [(&str, &str); 6] = [
    ("key", "access_key_id"),
    ("secret", "secret_access_key"),
    ("token", "session_token"),
    ("endpoint_url", "endpoint"),
    ("anon", "skip_signature"),
    ("region_name", "region"),
];

impl StoreOptions {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more. Names are taken without regard to case.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.values.insert(name.to_lowercase(), value.to_owned());
        self
    }

    /// The same for another store: of the options only those for all stores.
    #[must_use]
    pub fn for_another_store(&self) -> Self {
        let common = |(name, _): &(&String, &String)| COMMON.contains(&name.as_str());
        let values = self.values.iter().filter(common);
        Self {
            values: values.map(|(name, value)| (name.clone(), value.clone())).collect(),
            going_on: Arc::clone(&self.going_on),
        }
    }

    /// The same with a function that a thread calls every 20 ms while it waits for an answer; `false` ends the wait, and all other waits
    /// for the same file.
    #[must_use]
    pub fn going_on(mut self, going_on: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.going_on = Arc::new(going_on);
        self
    }

    /// Whether threads that wait for an answer are to go on waiting.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        (self.going_on)()
    }

    /// The reason to end a wait, if there is one.
    pub(crate) fn ended(&self) -> Option<ErrorKind> {
        (!self.goes_on()).then_some(ErrorKind::Cancelled)
    }

    /// The time after which a read fails if not enough bytes come.
    pub(crate) fn stall(&self) -> Result<Duration, ErrorKind> {
        self.seconds("timeout", 60.0)
    }

    pub(crate) fn connect(&self) -> Result<Duration, ErrorKind> {
        self.seconds("connect_timeout", 10.0)
    }

    pub(crate) fn retries(&self) -> Result<usize, ErrorKind> {
        match self.values.get("retries") {
            None => Ok(4),
            Some(text) => {
                text.parse().map_err(|_| refused(format!("retries must be a whole number, not {text:?}")))
            }
        }
    }

    fn seconds(&self, name: &str, default: f64) -> Result<Duration, ErrorKind> {
        let Some(text) = self.values.get(name) else { return Ok(Duration::from_secs_f64(default)) };
        let seconds: Option<f64> = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds < 1e6);
        seconds
            .map(Duration::from_secs_f64)
            .ok_or_else(|| refused(format!("{name} must be a number of seconds, not {text:?}")))
    }

    /// Headers for HTTP, by their names.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().filter_map(|(name, value)| Some((name.strip_prefix("headers.")?, value.as_str())))
    }

    /// The options of the store itself, by the store's names.
    pub(crate) fn of_store(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = |name: &str| !COMMON.contains(&name) && !name.starts_with("headers.");
        self.values.iter().filter(move |(name, _)| own(name)).map(|(name, value)| {
            let known = ALIASES.iter().find(|(alias, _)| alias == name);
            (known.map_or(name.as_str(), |(_, name)| name), value.as_str())
        })
    }
}

pub(crate) fn refused(text: String) -> ErrorKind {
    ErrorKind::Remote { text }
}
