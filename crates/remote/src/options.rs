//! Options of stores, as written by users.

use forthwith_io::ErrorKind;
use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

/// Options of a store by name, and a callback that ends waits.
///
/// All stores have the options `timeout` (seconds after which a read fails if not enough bytes arrive, all
/// attempts included; default 60), `connect_timeout` (seconds; default 10), `retries` (repetitions of a
/// request that failed temporarily; default 4) and `headers.NAME` (for HTTP). The others depend on the store:
/// S3 has `access_key_id`, `secret_access_key`, `session_token`, `region`, `endpoint`, `skip_signature`, or
/// `key`, `secret`, `token`, `endpoint_url` and `anon` as in fsspec. The environment variables of each store
/// are used, too (`AWS_ACCESS_KEY_ID`).
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

/// Shows names only, since values may be secrets.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// Options that all stores have.
const COMMON: [&str; 3] = ["timeout", "connect_timeout", "retries"];

/// fsspec's names of options of S3, and the names that the store uses.
const ALIASES: [(&str, &str); 6] = [
    ("key", "access_key_id"),
    ("secret", "secret_access_key"),
    ("token", "session_token"),
    ("endpoint_url", "endpoint"),
    ("anon", "skip_signature"),
    ("region_name", "region"),
];

impl StoreOptions {
    /// Creates empty options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an option, or replaces it. Names are case-insensitive.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.values.insert(name.to_lowercase(), value.to_owned());
        self
    }

    /// Returns the options that all stores have, which may be passed to another store.
    #[must_use]
    pub fn for_another_store(&self) -> Self {
        let common = |(name, _): &(&String, &String)| COMMON.contains(&name.as_str());
        let values = self.values.iter().filter(common);
        Self {
            values: values.map(|(name, value)| (name.clone(), value.clone())).collect(),
            going_on: Arc::clone(&self.going_on),
        }
    }

    /// Sets a callback that threads call every 20 ms while they wait for an answer; if it returns `false`,
    /// that wait ends, and all other waits for the same file.
    #[must_use]
    pub fn going_on(mut self, going_on: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.going_on = Arc::new(going_on);
        self
    }

    /// Whether threads should continue to wait for answers.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        (self.going_on)()
    }

    /// Returns the error that ends a wait, if the callback requests it.
    pub(crate) fn ended(&self) -> Option<ErrorKind> {
        (!self.goes_on()).then_some(ErrorKind::Cancelled)
    }

    /// Returns the time after which a read fails if not enough bytes arrive.
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

    /// Returns the headers for HTTP, as names and values.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().filter_map(|(name, value)| Some((name.strip_prefix("headers.")?, value.as_str())))
    }

    /// Returns the options of the store itself, by the names that the store uses.
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
