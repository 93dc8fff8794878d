//! Opening a file.

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

/// How a file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// Whether values of different kinds in one place are a union; otherwise their column cannot be read.
    pub unions: bool,
    /// Whether texts that are all dates, or all times, in ISO form are such.
    pub dates: bool,
    /// Whether a list with which the file begins is an entry, as in JSON Lines; otherwise its items are the entries.
    pub lines: bool,
    /// The type of an entry; otherwise it is found. What it does not name is stepped over.
    pub schema: Option<String>,
}

/// A file of JSON values: one after the other, on lines or not, or the items of one list.
#[derive(Debug)]
pub struct JsonFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) types: Types,
    pub(crate) blocks: Blocks,
}

/// The type of an entry.
#[derive(Debug)]
pub(crate) enum Types {
    Given(Form),
    Found(Box<Seen>, Found),
}

impl JsonFile {
    /// Reads the whole file once, unless it is a stream that is read by a schema. Where each value is on a line of its own, damage of a line is found when the line is read.
    ///
    /// # Errors
    /// The source cannot be read; text that is not JSON, with line and column; a schema that is none.
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
        // A stream is read to its end.
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
