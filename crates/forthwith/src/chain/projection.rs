//! Fields that a caller selects in each file, with their common types.

use super::MissingColumns;
use crate::{Table, UnitedColumn};
use forthwith_columns::{Form, Unlike};
use forthwith_plan::{Error, Result};
use std::{
    collections::{HashMap, HashSet},
    fmt,
    ops::Range,
};

/// A field of one file of a chain.
#[derive(Clone, Debug)]
pub struct ProjectedField {
    /// Name of the column: the path of the field, perhaps with dots between its parts, or the field's own
    /// name.
    pub name: String,
    /// Position of the field in the table.
    pub field: u32,
    /// Type in this file.
    pub form: Form,
}

/// Fields to read of one file of a chain.
#[derive(Clone, Debug, Default)]
pub struct FileProjection {
    /// Name of the file, for errors.
    pub uri: String,
    /// Fields that become columns, in order. Several may have the same name.
    pub columns: Vec<ProjectedField>,
    /// Fields that only expressions use.
    pub used: Vec<ProjectedField>,
    /// Entries to read, counted within the file; `None` for all.
    pub entries: Option<Range<u64>>,
}

/// Fields to read of all files of a chain, with their common types, for
/// [`Chain::select_projected`](super::Chain::select_projected).
///
/// ```
/// use forthwith::{Chain, ChainProjection, FileProjection, MissingColumns, ProjectedField, SelectOptions, Step};
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let chain = Chain::of(&["tests/data/zmumu.root:events", "tests/data/zmumu.root:skim/events"], Default::default())?;
/// let mut files = Vec::new();
/// for at in 0..chain.len() {
///     let table = chain.table(at)?;
///     let mut file = FileProjection { uri: table.file().uri().to_owned(), ..FileProjection::default() };
///     for (field, path) in (0..).zip(table.fields()?.iter().map(|field| field.path.clone())) {
///         if path.starts_with("Muon_p") {
///             file.columns.push(ProjectedField { name: path, field, form: table.form(field)? });
///         }
///     }
///     files.push(file);
/// }
/// let projection = ChainProjection::unite(files, MissingColumns::Null)?.into();
/// let selection = chain.select_projected(&projection, &[], SelectOptions::default())?;
/// let (mut steps, mut rows) = (selection.steps(.., Step::Entries(1000))?, 0);
/// while let Some(step) = steps.read(None, &mut |_| true)? {
///     rows += step.arrays[0].length;
/// }
/// assert_eq!(rows, chain.entries()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ChainProjection {
    files: Vec<FileProjection>,
    /// Columns of all files: those of the first file, then those that only other files have.
    columns: Vec<CommonColumn>,
    /// Columns, and fields of expressions, that some files lack or have with another type.
    united: Vec<(String, Form)>,
}

/// A column of all files.
#[derive(Clone, Debug)]
struct CommonColumn {
    name: String,
    /// Number of columns before it that have the same name.
    nth: usize,
    form: Form,
    /// Whether some files lack it or have it with another type.
    is_united: bool,
}

/// Reason that the fields of the files have no common columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProjectionError {
    /// A file lacks a column.
    Absent {
        /// Name of the column.
        column: String,
        /// The file that lacks it.
        uri: String,
        /// A file that has the column.
        other: String,
    },
    /// Several columns have the same name, and differ between the files.
    Ambiguous {
        /// The common name.
        column: String,
    },
    /// The types of a column have no common type.
    Types {
        /// Name of the column.
        column: String,
        /// A file, and the column's type in it.
        found: (String, String),
        /// An earlier file, and the column's type in it.
        known: (String, String),
    },
}

impl fmt::Display for ProjectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { column, uri, other } => {
                write!(f, "{uri} has no column {column}, which {other} has")
            }
            Self::Ambiguous { column } => {
                write!(f, "{column} is the name of several columns, which differ between the files")
            }
            Self::Types { column, found: (uri, found), known: (first, known) } => {
                write!(
                    f,
                    "column {column} has type {found} in {uri}, which cannot be combined with {known} in {first}"
                )
            }
        }
    }
}

impl std::error::Error for ProjectionError {}

impl From<ProjectionError> for Error {
    fn from(error: ProjectionError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl ChainProjection {
    /// Determines the common columns of the fields of all files, with promoted types. `missing` is the
    /// treatment of columns that a file lacks.
    ///
    /// # Errors
    /// A file lacks a column, unless `missing` is [`MissingColumns::Null`]; types have no common type.
    pub fn unite(files: Vec<FileProjection>, missing: MissingColumns) -> Result<Self, ProjectionError> {
        let is_null = missing == MissingColumns::Null;
        let positions: Vec<_> = files.iter().map(|file| positions(&file.columns)).collect();
        let (mut columns, mut united) = (Vec::new(), Vec::new());
        for (name, nth) in common_names(&files, is_null)? {
            let find = |(file, positions): (&FileProjection, &HashMap<&str, Vec<usize>>)| {
                positions.get(name)?.get(nth).map(|at| file.columns[*at].form.clone())
            };
            let found: Vec<Option<Form>> = files.iter().zip(&positions).map(find).collect();
            if !is_null && let Some(at) = found.iter().position(Option::is_none) {
                return Err(if nth == 0 { absent(&files[at], name, &files[0]) } else { ambiguous(name) });
            }
            let (form, is_united) = unite(name, &files, &found)?;
            // The name refers to the first of several columns.
            if is_united && nth > 0 {
                return Err(ambiguous(name));
            }
            if is_united {
                united.push((name.to_owned(), form.clone()));
            }
            columns.push(CommonColumn { name: name.to_owned(), nth, form, is_united });
        }
        let mut known: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        for name in files.iter().flat_map(|file| &file.used).map(|field| field.name.as_str()) {
            if !known.insert(name) {
                continue;
            }
            let find = |file: &FileProjection| {
                file.used.iter().find(|field| field.name == name).map(|field| field.form.clone())
            };
            let found: Vec<Option<Form>> = files.iter().map(find).collect();
            // In a file without the field, expressions may refer to something else by this name.
            if !is_null && found.iter().any(Option::is_none) {
                continue;
            }
            let (form, is_united) = unite(name, &files, &found)?;
            if is_united {
                united.push((name.to_owned(), form));
            }
        }
        Ok(Self { columns, united, files })
    }

    /// Returns the number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether the projection has no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the fields of each file.
    #[must_use]
    pub fn files(&self) -> &[FileProjection] {
        &self.files
    }

    /// Iterates over the columns of all files, with their common types.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &Form)> {
        self.columns.iter().map(|column| (column.name.as_str(), &column.form))
    }

    /// Returns the projection without columns, for expressions only.
    #[must_use]
    pub fn without_columns(&self) -> Self {
        Self { columns: Vec::new(), ..self.clone() }
    }

    /// Returns the columns that a file lacks or has with another type.
    pub(super) fn united(&self, file: usize) -> Vec<UnitedColumn> {
        let Some(file) = self.files.get(file) else { return Vec::new() };
        let mut fields: HashMap<&str, u32> = HashMap::new();
        for field in file.columns.iter().chain(&file.used) {
            fields.entry(&field.name).or_insert(field.field);
        }
        let column = |(name, form): &(String, Form)| UnitedColumn {
            name: name.clone(),
            field: fields.get(name.as_str()).copied(),
            form: form.clone(),
        };
        self.united.iter().map(column).collect()
    }

    /// Returns the field of each column in the table of a file; `None` for a column that is looked up by
    /// name, with its common type.
    ///
    /// # Errors
    /// The table's fields have changed since they were selected.
    pub(super) fn fields_of(&self, file: usize, table: &Table) -> Result<Vec<Option<u32>>> {
        let Some(chosen) = self.files.get(file) else {
            return Err(Error::invalid(format!("the projection has no file {file}")));
        };
        let fields = table.fields()?;
        for ProjectedField { name, field, .. } in chosen.columns.iter().chain(&chosen.used) {
            let is_same = fields.get(*field as usize).is_some_and(|found| {
                found.path == *name || found.name == *name || found.path == name.replace('.', "/")
            });
            if !is_same {
                let what = format!("field {field} is not {name} any more: the file changed");
                return Err(Error::invalid(what).in_file(table.file().uri()));
            }
        }
        let positions = positions(&chosen.columns);
        let field = |column: &CommonColumn| {
            let at = positions.get(column.name.as_str())?.get(column.nth)?;
            (!column.is_united).then(|| chosen.columns[*at].field)
        };
        Ok(self.columns.iter().map(field).collect())
    }

    /// Returns the entries to read of a file; `None` for all.
    pub(super) fn entries_of(&self, file: usize) -> Option<Range<u64>> {
        self.files.get(file)?.entries.clone()
    }

    /// Returns the common type of a computed column in two files, whose types may only differ in being
    /// optional.
    ///
    /// # Errors
    /// The types differ in another way.
    pub(super) fn unite_computed(
        &self,
        name: &str,
        (first, form): (usize, &Form),
        (file, other): (usize, Form),
    ) -> Result<Form, ProjectionError> {
        if form.clone().optional().type_string() != other.clone().optional().type_string() {
            let uri = |file: usize| self.files.get(file).map_or_else(String::new, |file| file.uri.clone());
            let (column, found) = (name.to_owned(), (uri(file), other.type_string()));
            return Err(ProjectionError::Types { column, found, known: (uri(first), form.type_string()) });
        }
        let is_optional = matches!(other, Form::Option { .. });
        Ok(if is_optional { form.clone().optional() } else { form.clone() })
    }
}

/// Returns the positions of fields by name.
fn positions(fields: &[ProjectedField]) -> HashMap<&str, Vec<usize>> {
    let mut positions: HashMap<&str, Vec<usize>> = HashMap::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        positions.entry(&field.name).or_default().push(at);
    }
    positions
}

/// Returns the names of the columns of all files, each with the number of columns of the same name before it.
///
/// # Errors
/// A file lacks a column, unless `is_null`.
fn common_names(files: &[FileProjection], is_null: bool) -> Result<Vec<(&str, usize)>, ProjectionError> {
    let Some((first, others)) = files.split_first() else { return Ok(Vec::new()) };
    let mut names: Vec<(&str, usize)> = Vec::with_capacity(first.columns.len());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for field in &first.columns {
        let count = counts.entry(&field.name).or_default();
        names.push((&field.name, *count));
        *count += 1;
    }
    for file in others {
        let own = positions(&file.columns);
        if !is_null && let Some((name, _)) = names.iter().find(|(name, _)| !own.contains_key(name)) {
            return Err(absent(file, name, first));
        }
        let mut found: HashMap<&str, usize> = HashMap::new();
        for field in &file.columns {
            let nth = found.entry(&field.name).or_default();
            let known = counts.entry(&field.name).or_default();
            if *nth == *known {
                if !is_null && *nth == 0 {
                    return Err(absent(first, &field.name, file));
                }
                names.push((&field.name, *nth));
                *known += 1;
            }
            *nth += 1;
        }
    }
    Ok(names)
}

/// Returns the common type of a column, and whether some files lack it or have it with another type.
fn unite(
    name: &str,
    files: &[FileProjection],
    found: &[Option<Form>],
) -> Result<(Form, bool), ProjectionError> {
    let known = files.iter().zip(found).filter_map(|(file, form)| Some((file.uri.as_str(), form.as_ref()?)));
    let (uris, forms): (Vec<&str>, Vec<&Form>) = known.unzip();
    let form = Form::unite(&forms).map_err(|Unlike { first, other }| {
        let file = |at: usize| (uris[at].to_owned(), forms[at].type_string());
        ProjectionError::Types { column: name.to_owned(), found: file(other), known: file(first) }
    })?;
    // An optional type has the same values.
    let differs = forms.iter().any(|own| of_values(own).type_string() != of_values(&form).type_string());
    let is_lacking = found.iter().any(Option::is_none);
    Ok((if is_lacking { form.optional() } else { form }, is_lacking || differs))
}

/// Returns the type without an outer option.
fn of_values(form: &Form) -> &Form {
    if let Form::Option { content, .. } = form { content } else { form }
}

fn absent(file: &FileProjection, name: &str, other: &FileProjection) -> ProjectionError {
    ProjectionError::Absent { column: name.to_owned(), uri: file.uri.clone(), other: other.uri.clone() }
}

fn ambiguous(name: &str) -> ProjectionError {
    ProjectionError::Ambiguous { column: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith_columns::DType;

    fn file(uri: &str, columns: &[(&str, DType)]) -> FileProjection {
        let field = |(at, (name, dtype)): (u32, &(&str, DType))| ProjectedField {
            name: (*name).to_owned(),
            field: at,
            form: Form::Numpy { key: "node0".into(), dtype: *dtype, shape: vec![] },
        };
        FileProjection {
            uri: uri.to_owned(),
            columns: (0..).zip(columns).map(field).collect(),
            ..FileProjection::default()
        }
    }

    #[test]
    fn columns_of_one_name_are_lost_in_no_order() {
        let a = ("a", DType::Int64);
        let (once, twice) = (file("once", &[a]), file("twice", &[a, a]));
        for missing in [MissingColumns::Raise, MissingColumns::Null] {
            for files in [[once.clone(), twice.clone()], [twice.clone(), once.clone()]] {
                let error = ChainProjection::unite(files.into(), missing).expect_err("a column more");
                assert_eq!(error, ambiguous("a"));
            }
            let same = ChainProjection::unite(vec![twice.clone(), twice.clone()], missing).expect("the same");
            assert_eq!(same.columns().len(), 2);
        }
        let more = vec![once, file("more", &[a, ("b", DType::Int64)])];
        let more = ChainProjection::unite(more, MissingColumns::Null).expect("missing values");
        assert_eq!(more.columns().len(), 2);
    }

    /// The first of two columns with one name has another type in a file; the second is read at its position.
    #[test]
    fn the_second_column_of_a_name_is_not_the_first() {
        let one = file("one", &[("a", DType::Int32), ("a", DType::Bool)]);
        let two = file("two", &[("a", DType::Int64), ("a", DType::Bool)]);
        let both = ChainProjection::unite(vec![one, two], MissingColumns::Raise).expect("common types");
        let types: Vec<String> = both.columns().map(|(_, form)| form.type_string()).collect();
        assert_eq!(types, ["int64", "bool"]);
        assert_eq!(both.columns.iter().map(|column| column.is_united).collect::<Vec<_>>(), [true, false]);
        assert_eq!(both.united(0).iter().map(|column| column.field).collect::<Vec<_>>(), [Some(0)]);
    }

    #[test]
    fn a_column_that_a_file_lacks_is_named_with_both_files() {
        let (x, y) = (("x", DType::Int64), ("y", DType::Int64));
        let (one, two) = (file("one", &[x]), file("two", &[x, y]));
        for files in [[one.clone(), two.clone()], [two.clone(), one.clone()]] {
            let error =
                ChainProjection::unite(files.into(), MissingColumns::Raise).expect_err("a column more");
            assert_eq!(error.to_string(), "one has no column y, which two has");
        }
        let both = ChainProjection::unite(vec![one, two], MissingColumns::Null).expect("missing values");
        let columns: Vec<_> = both.columns().map(|(name, form)| (name, form.type_string())).collect();
        assert_eq!(columns, [("x", "int64".to_owned()), ("y", "?int64".to_owned())]);
        let bools = vec![file("one", &[x]), file("two", &[("x", DType::Bool)])];
        let error = ChainProjection::unite(bools, MissingColumns::Null).expect_err("no common type");
        assert_eq!(
            error.to_string(),
            "column x has type bool in two, which cannot be combined with int64 in one"
        );
    }
}
