//! Options given as a JSON object.

use crate::status::Failure;
use forthwith::{
    ChainOptions, Engine, MissingColumns, OpenOptions, OptionValue, Options, files::StoreOptions,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Maximum number of threads; more are assumed to be an error of the caller.
const MOST_THREADS: u64 = 4096;

/// Options for opening one file or a chain; `missing` is for chains only.
pub(crate) struct GivenOptions {
    pub(crate) open: OpenOptions,
    pub(crate) store: StoreOptions,
    pub(crate) engine: Arc<Engine>,
    pub(crate) missing: Option<MissingColumns>,
}

impl GivenOptions {
    /// Parses a JSON object; `None` for default options.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let object: Map<String, Value> = match text {
            None => Map::new(),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| Failure::invalid(format!("options is not a JSON object: {error}")))?,
        };
        let (mut open, mut store) = (OpenOptions::new(), StoreOptions::new());
        let (mut missing, mut engine) = (None, Options::default());
        for (name, value) in &object {
            match name.as_str() {
                "threads" => {
                    let threads = value.as_u64().filter(|threads| (1..=MOST_THREADS).contains(threads));
                    let threads = threads.ok_or_else(|| unlike(name, "a number from 1 on", value))?;
                    engine = Options::with_threads(usize::try_from(threads).unwrap_or(1));
                }
                "store" => store = store_options(value)?,
                "missing" => {
                    missing = Some(match value.as_str() {
                        Some("raise") => MissingColumns::Raise,
                        Some("null") => MissingColumns::Null,
                        _ => return Err(unlike(name, r#""raise" or "null""#, value)),
                    });
                }
                "damage" => {
                    return Err(Failure::invalid(
                        "the C interface does not list what is lost, so it does not read around damage",
                    ));
                }
                _ => open.set(name, option_value(name, value)?),
            }
        }
        Ok(Self { open, store, engine: Arc::new(Engine::new(engine)), missing })
    }

    /// Returns an error if an option is for chains only.
    pub(crate) fn for_one_file(self) -> Result<Self, Failure> {
        match self.missing {
            Some(_) => Err(Failure::invalid("missing is an option of forthwith_chain")),
            None => Ok(self),
        }
    }

    pub(crate) fn for_chain(self) -> ChainOptions {
        ChainOptions {
            open: self.open,
            store: self.store,
            missing: self.missing.unwrap_or_default(),
            engine: Some(self.engine),
            ..ChainOptions::default()
        }
    }
}

/// Converts an option. Its name and type are validated when the format of the file is known.
fn option_value(name: &str, value: &Value) -> Result<OptionValue, Failure> {
    let numbers = |values: &[Value]| values.iter().map(Value::as_u64).collect::<Option<Vec<_>>>();
    let found = match value {
        Value::Bool(flag) => Some((*flag).into()),
        Value::String(text) => Some(text.as_str().into()),
        Value::Array(values) => numbers(values).map(Into::into),
        _ => None,
    };
    found.ok_or_else(|| unlike(name, "true, false, text, or a list of whole numbers", value))
}

fn store_options(value: &Value) -> Result<StoreOptions, Failure> {
    // The message does not contain the value, which may be a secret.
    let unlike = || Failure::invalid("the option store is an object of texts");
    let mut options = StoreOptions::new();
    for (name, value) in value.as_object().ok_or_else(unlike)? {
        options = options.with(name, value.as_str().ok_or_else(unlike)?);
    }
    Ok(options)
}

fn unlike(name: &str, expected: &str, value: &Value) -> Failure {
    Failure::invalid(format!("the option {name} is {expected}, not {value}"))
}
