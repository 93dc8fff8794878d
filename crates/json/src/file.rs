//! Opening of a file.

use crate::{
    blocks::Blocks,
    scan::Scan,
    schema,
    seen::{Found, Seen},
};
use forthwith_columns::Form;
use forthwith_io::Source;
use forthwith_plan::{BlockRunner, Result};
use std::sync::Arc;

/// Options for reading a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// Whether values of different kinds at one path form a union. Otherwise their column cannot be read.
    pub unions: bool,
    /// Whether strings become dates or timestamps if all values of the path are ISO 8601 dates or timestamps.
    pub dates: bool,
    /// Whether each line is a value, as in JSON Lines, so that a list at the beginning of the file is an
    /// entry. Otherwise the items of that list are the entries.
    pub lines: bool,
    /// Type of an entry; `None` to infer it from the values. Members that the schema does not name are
    /// skipped.
    pub schema: Option<String>,
}

/// JSON file: consecutive values, one per line or not, or the items of one list.
#[derive(Debug)]
pub struct JsonFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) types: Types,
    pub(crate) blocks: Blocks,
}

/// Type of an entry.
#[derive(Debug)]
pub(crate) enum Types {
    Given(Form),
    Found(Box<Seen>, Found),
}

impl JsonFile {
    /// Opens a file and reads it once, except a stream with a schema, which is read as entries are requested.
    /// In a file with each value on a line of its own, a damaged line is an error only when its entry is
    /// read.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, if the text is not JSON (with line and column), or if
    /// the schema is invalid.
    pub fn open(source: Arc<dyn Source>, options: &JsonOptions, runner: &dyn BlockRunner) -> Result<Self> {
        let uri = source.uri().to_owned();
        Self::scan(source, options, runner).map_err(|error| error.in_file(&uri))
    }

    fn scan(source: Arc<dyn Source>, options: &JsonOptions, runner: &dyn BlockRunner) -> Result<Self> {
        let given = options.schema.as_deref().map(schema::form).transpose()?;
        if let Some(form) = given.as_ref().filter(|_| source.is_stream()) {
            let blocks = Blocks::of_stream(Arc::clone(&source), options.lines);
            return Ok(Self { source, types: Types::Given(form.clone()), blocks });
        }
        // Without a schema, a stream is read to its end.
        let size = source.size()?;
        let mut scan = Scan::of_file(runner, given.is_none(), size);
        while !scan.is_end {
            scan.advance(&*source, options.lines)?;
        }
        scan.check_damage()?;
        let (seen, list, framing) = scan.finished();
        let types = match given {
            Some(form) => Types::Given(form),
            None => Types::Found(
                Box::new(seen.unwrap_or_default()),
                Found { unions: options.unions, dates: options.dates },
            ),
        };
        Ok(Self { source, types, blocks: Blocks::File(list, framing) })
    }
}
