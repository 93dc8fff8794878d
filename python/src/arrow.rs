//! Arrow data as capsules of the C data interface, exported by the columns crate.

use crate::{
    array::{damaged, fault, place},
    errors,
    files::hearing,
    forth::in_main_thread,
    handle::Handle,
};
use forthwith::{
    columns::{
        self, Form, Invalid, TextPolicy,
        arrow::{
            self, ArrowError, DataType, Options, RecordBatch, RecordBatchReader as _,
            RecordBatchStreamReader, SchemaRef, StringLayout,
        },
    },
    plan::{Error, Place},
};
use pyo3::{prelude::*, types::PyCapsule};
use std::{collections::HashMap, sync::Arc, thread::ThreadId};

/// Options of an Arrow export, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Choices<'py> {
    /// Whether maps are exported as Arrow maps, rather than as lists of key-value pairs.
    maps: bool,
    /// Whether unions are exported as structs, for consumers that do not support unions.
    union_as_struct: bool,
    /// Name of the layout of text and bytes.
    strings: Option<String>,
    /// Names of text columns to dictionary-encode.
    dictionaries: Vec<String>,
    /// Whether columns that are dictionaries in the Arrow schema of the file stay dictionaries.
    keep_dictionaries: bool,
    /// A stream with the schema that the consumer requests.
    request: Option<Bound<'py, PyCapsule>>,
}

impl Choices<'_> {
    /// Returns the export options without the layouts of columns.
    fn options(&self) -> Options {
        options(self.maps, self.union_as_struct)
    }

    /// Returns `schema`, which was made with [`options`](Self::options), with the requested layouts. A schema
    /// requested by the consumer replaces `strings`.
    fn of(&self, py: Python<'_>, schema: SchemaRef, kept: &Kept) -> PyResult<SchemaRef> {
        let strings = strings(py, self.strings.as_deref())?;
        let mut schema = schema;
        if let Some(original) = kept.original.as_ref().filter(|_| self.keep_dictionaries) {
            let plain = arrow::with_original(&schema, original, true);
            schema = Arc::new(arrow::requested(&schema, &plain));
        }
        if !self.dictionaries.is_empty() {
            schema = Arc::new(arrow::requested(&schema, &self.of_dictionaries(py, &schema, strings)?));
        }
        if let Some(capsule) = &self.request {
            let stream = RecordBatchStreamReader::try_new(taken(capsule)?);
            let request = stream.map_err(|error| errors::request(py, error.to_string()))?.schema();
            return Ok(Arc::new(arrow::requested(&schema, &request)));
        }
        let fields = schema.fields().iter().map(|field| strings.field(field)).collect::<Vec<_>>();
        Ok(Arc::new(arrow::Schema::new_with_metadata(fields, schema.metadata().clone())))
    }

    /// Returns a schema of the columns to dictionary-encode.
    fn of_dictionaries(
        &self,
        py: Python<'_>,
        schema: &arrow::Schema,
        strings: StringLayout,
    ) -> PyResult<arrow::Schema> {
        let wanted = self.dictionaries.iter().map(|name| {
            let (_, field) = schema.fields().find(name).ok_or_else(|| {
                errors::request(py, format!("dictionaries: there is no column {name:?} among those selected"))
            })?;
            let values = match field.data_type() {
                DataType::Dictionary(_, values) => values.as_ref().clone(),
                plain => strings.data_type(plain),
            };
            let made = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
            Ok(field.as_ref().clone().with_data_type(made))
        });
        Ok(arrow::Schema::new(wanted.collect::<PyResult<Vec<_>>>()?))
    }
}

/// Parses the name of a layout of text and bytes.
fn strings(py: Python<'_>, name: Option<&str>) -> PyResult<StringLayout> {
    let Some(name) = name else { return Ok(StringLayout::default()) };
    StringLayout::parse(name).ok_or_else(|| {
        let known = StringLayout::NAMES.join(", ");
        errors::request(py, format!("strings is one of {known}, not {name:?}"))
    })
}

/// Returns export options: whether maps are Arrow maps, and whether unions are structs.
pub(crate) fn options(maps: bool, union_as_struct: bool) -> Options {
    Options::default().with_maps(maps).with_union_as_struct(union_as_struct)
}

/// Exports one array to the capsules of its schema and of its data.
pub(crate) fn array<'py>(
    py: Python<'py>,
    array: &columns::Array,
    place: &Place,
    options: &Options,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let export = || {
        let (field, data) = arrow::export(array, "", options)?;
        arrow::c_array(&field, &data)
    };
    let (schema, data) = py.detach(export).map_err(|error| damaged(py, &error, array, place))?;
    Ok((
        PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
        PyCapsule::new_with_value(py, data, c"arrow_array")?,
    ))
}

/// Returns the array with replacement characters for bytes that are not valid UTF-8.
pub(crate) fn valid_text(array: &columns::Array) -> Result<columns::Array, Invalid> {
    let mut valid = array.clone();
    TextPolicy::Replace.convert(&mut valid, 1)?;
    Ok(valid)
}

/// Arrow schema and metadata of a file.
pub(crate) struct Kept {
    /// The Arrow schema that the file was written from, if it is stored.
    original: Option<SchemaRef>,
    words: HashMap<String, String>,
}

impl Kept {
    pub(crate) fn of(table: &forthwith::Table) -> Self {
        let words = table.file().user_metadata().into_iter();
        // Values of Arrow metadata are text.
        let words = words.filter_map(|(name, value)| Some((name, String::from_utf8(value.to_vec()).ok()?)));
        Self { original: table.arrow_schema(), words: words.collect() }
    }

    /// Returns the schema with the metadata of the file and of its columns.
    fn described(&self, schema: SchemaRef) -> SchemaRef {
        if self.original.is_none() && self.words.is_empty() {
            return schema;
        }
        let described = self.original.as_ref().map(|original| arrow::with_original(&schema, original, false));
        let described = described.unwrap_or_else(|| schema.as_ref().clone());
        Arc::new(described.with_metadata(self.words.clone()))
    }
}

/// Exports the schema of a selection, for which no data are read.
pub(crate) fn schema<'py>(
    py: Python<'py>,
    forms: &[(String, Form)],
    choices: &Choices<'_>,
    kept: &Kept,
) -> PyResult<Bound<'py, PyCapsule>> {
    let made = schema_of(forms, &choices.options()).map_err(|error| unmade(py, &error))?;
    capsule(py, choices.of(py, kept.described(made), kept)?.as_ref())
}

/// Exports a schema to a capsule.
pub(crate) fn capsule<'py>(py: Python<'py>, schema: &arrow::Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = arrow::c_schema(schema).map_err(|error| unmade(py, &error))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Moves the stream out of a capsule.
#[allow(unsafe_code)] // the C data interface hands over a pointer
pub(crate) fn taken(capsule: &Bound<'_, PyCapsule>) -> PyResult<arrow::FFI_ArrowArrayStream> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a pointer to a valid stream, by the Arrow PyCapsule interface;
    // `from_raw` replaces it by a released stream.
    Ok(unsafe { arrow::FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) })
}

/// Returns a selection as a stream that reads one step for each batch. `asks` means that a Python file object
/// is read.
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
pub(crate) fn stream<'py>(
    py: Python<'py>,
    handle: &Arc<Handle>,
    forms: Vec<(String, Form)>,
    walk: forthwith::Steps,
    threads: Option<usize>,
    choices: &Choices<'_>,
    asks: bool,
    kept: &Kept,
) -> PyResult<Bound<'py, PyCapsule>> {
    let options = choices.options();
    let plain = kept.described(schema_of(&forms, &options).map_err(|error| unmade(py, &error))?);
    let schema = choices.of(py, Arc::clone(&plain), kept)?;
    // Text is read as views if all text columns are exported as views.
    let viewed = options.clone().with_views(true);
    let as_views = schema_of(&forms, &viewed).map_err(|error| unmade(py, &error))?;
    let types = |schema: &SchemaRef| {
        schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>()
    };
    let views = types(&as_views) != types(&plain) && types(&as_views) == types(&schema);
    let (options, plain) = if views { (viewed, kept.described(as_views)) } else { (options, plain) };
    let walk = walk.with_views(views);
    let adapted = (plain != schema).then(|| Arc::clone(&schema));
    let names = forms.into_iter().map(|(name, _)| name).collect();
    let main = in_main_thread(py)?.then(|| std::thread::current().id());
    let batches = Batches { handle: Arc::clone(handle), walk, names, threads, options, adapted, asks, main };
    PyCapsule::new_with_value(py, arrow::stream(schema, batches), c"arrow_array_stream")
}

/// Exports records as a stream of one batch, and other arrays as a batch with the one column `value`.
pub(crate) fn batch<'py>(py: Python<'py>, array: &columns::Array) -> PyResult<Bound<'py, PyCapsule>> {
    let export = || {
        let (names, columns) = columns_of(array);
        let named: Vec<_> = names.iter().map(String::as_str).zip(&columns).collect();
        arrow::record_batch_of(array.length, &named, &Options::default().with_maps(true))
    };
    let batch = py.detach(export).map_err(|error| unmade(py, &error))?;
    PyCapsule::new_with_value(py, arrow::stream(batch.schema(), [Ok(batch)]), c"arrow_array_stream")
}

/// Returns the names and arrays of the fields of a record array, and any other array as the column `value`.
pub(crate) fn columns_of(array: &columns::Array) -> (Vec<String>, Vec<columns::Array>) {
    match &array.form {
        Form::Record { fields: Some(names), .. } => (names.clone(), array.clone().into_fields()),
        _ => (vec!["value".to_owned()], vec![array.clone()]),
    }
}

fn schema_of(forms: &[(String, Form)], options: &Options) -> Result<SchemaRef, arrow::ExportError> {
    let forms: Vec<_> = forms.iter().map(|(name, form)| (name.as_str(), form)).collect();
    arrow::schema(&forms, options)
}

/// Returns the exception for types that Arrow does not support.
fn unmade(py: Python<'_>, error: &arrow::ExportError) -> PyErr {
    errors::exception(py, &Error::fault(error.to_string()))
}

struct Batches {
    handle: Arc<Handle>,
    walk: forthwith::Steps,
    names: Vec<String>,
    threads: Option<usize>,
    options: Options,
    /// The schema to adapt batches to, if it differs from the schema that the options give.
    adapted: Option<SchemaRef>,
    asks: bool,
    /// Python's main thread, if it created the stream: only that thread handles signals. Other threads must
    /// not attach to the interpreter here, because a thread that waits for their batches may hold it.
    main: Option<ThreadId>,
}

/// Returns the exception of a signal handler as an error of the stream, which consumers convert to an
/// exception of their own.
#[cold]
fn interrupted(exception: &PyErr) -> ArrowError {
    ArrowError::ExternalError(format!("reading was interrupted by {exception}").into())
}

impl Batches {
    fn batch(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        let mut stopped = None;
        let mut read = || {
            if self.handle.gate.is_closed() {
                return Err(Error::invalid("the file has been closed"));
            }
            if self.main != Some(std::thread::current().id()) {
                return self.walk.read(self.threads, None);
            }
            let mut goes_on = hearing(&mut stopped);
            self.walk.read(self.threads, Some(&mut |_| goes_on()))
        };
        let step = read();
        // The signal may have arrived after the last block was read.
        if let Some(exception) = stopped {
            return Some(Err(interrupted(&exception)));
        }
        let (entries, mut arrays) = match step {
            Ok(Some(step)) => step,
            Ok(None) => return None,
            Err(error) => return Some(Err(ArrowError::ExternalError(Box::new(error)))),
        };
        if self.walk.table().text_policy() == TextPolicy::Stored {
            for array in &mut arrays {
                if let Err(error) = TextPolicy::Replace.convert(array, self.threads.unwrap_or(1)) {
                    return Some(Err(ArrowError::ExternalError(Box::new(error))));
                }
            }
        }
        let named: Vec<_> = self.names.iter().map(String::as_str).zip(&arrays).collect();
        // A filter leaves fewer rows than the step has entries. Without columns, the number of rows is that
        // of the entries.
        let rows = arrays.first().map_or(entries.end - entries.start, |array| array.length);
        let batch =
            arrow::record_batch_of(rows, &named, &self.options).and_then(|batch| match &self.adapted {
                Some(schema) => arrow::adapted(batch, schema),
                None => Ok(batch),
            });
        Some(batch.map_err(|error| {
            let uri = self.handle.file.uri();
            let is_wrong =
                |array: &columns::Array| array.check_digits().is_err() || array.check_text().is_err();
            let wrong = self.walk.paths().into_iter().zip(&arrays).find(|(_, array)| is_wrong(array));
            ArrowError::ExternalError(match wrong {
                Some((path, array)) => Box::new(fault(&error, array, &place(uri, path, entries.start))),
                None => Box::new(error),
            })
        }))
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.asks {
            return self.batch();
        }
        // The consumer may have called with the interpreter attached, but reading threads need it to call the
        // file object.
        let this = &mut *self;
        match Python::try_attach(|py| py.detach(|| this.batch())) {
            Some(batch) => batch,
            None => self.batch(),
        }
    }
}
