//! Extends existing ntuples.

use super::cluster::{Clusters, Group};
use super::describe::Node;
use super::open_cluster::Filling;
use super::options::FieldOptions;
use super::prior::Prior;
use super::record::{AliasRecord, ColumnRecord, Counts, Descriptions, FieldRecord};
use super::seal::Sealer;
use super::{NtupleOptions, NtupleWriter, TopField};
use crate::coding::{Coding, Kept, Kind};
use crate::form::{Part, Shape};
use crate::{Ntuple, Options};
use forthwith_columns::{DType, Form};
use forthwith_plan::{Error, Result};
use forthwith_root::write::FileWriter;
use forthwith_root::{Found, RootFile};
use std::collections::{BTreeMap, HashMap};

impl NtupleWriter {
    /// Opens an ntuple of the file to add entries and columns. `found` is its key in `old`, the file that
    /// `file` updates. Steps have the types with which the ntuple is read. Of the options, only those for the
    /// layout of pages apply; existing columns keep their encoding.
    ///
    /// Nothing of the ntuple is overwritten. When the file is finished, the ntuple has the same name and a
    /// new footer with the new clusters, and replaces the old one in the directory.
    ///
    /// # Errors
    /// Returns an error if the ntuple cannot be read, or if it has fields that cannot be extended: streamed
    /// ones, and those with several representations.
    pub fn open(
        file: &mut FileWriter,
        old: &RootFile,
        found: &Found,
        options: NtupleOptions,
    ) -> Result<Self> {
        let opened = Self::continued(file, old, found, options);
        opened.map_err(|error| error.in_object(&found.path).in_file(file.uri()))
    }

    /// Returns the names and Forms of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Form)> {
        self.columns.iter().map(|column| (&*column.name, &column.form))
    }

    fn continued(
        file: &mut FileWriter,
        old: &RootFile,
        found: &Found,
        mut options: NtupleOptions,
    ) -> Result<Self> {
        let ntuple = Ntuple::open(old, found, Options::default())?;
        let (schema, entries) = (ntuple.schema(), ntuple.entry_count());
        let mut binder = Binder { ntuple: &ntuple, entries, columns: BTreeMap::new() };
        let mut columns = Vec::new();
        for (number, top) in ntuple.top_fields() {
            let Some(of) = schema.fields.get(top as usize).filter(|of| !of.is_projected()) else { continue };
            let here = |what: String| {
                Error::unsupported(format!("adding entries to a field with {what}")).in_object(&of.name)
            };
            let shape = ntuple.shape(number)?.as_ref().map_err(|why| here(why.clone()))?;
            let node = binder.bind(shape, &options).map_err(here)?;
            columns.push(TopField { name: of.name.clone(), form: shape.form.clone(), node });
        }
        let mut all = Descriptions::default();
        for (id, of) in (0..).zip(&schema.fields) {
            all.fields.push(FieldRecord {
                parent: of.parent.unwrap_or(id),
                role: of.role,
                name: of.name.clone(),
                type_name: of.type_name.clone(),
                description: of.description.clone(),
                repeats: of.repeats,
                source: None,
            });
        }
        for id in 0..schema.columns.len() as u32 {
            let column = binder.columns.remove(&id).ok_or_else(|| {
                let name = schema.columns.get(id as usize).map(|column| all.path(column.field));
                Error::unsupported(format!("adding entries to field {:?}", name.unwrap_or_default()))
            })?;
            all.columns.push(column);
        }
        all.aliases.extend(schema.aliases.iter().map(|&(field, column)| AliasRecord { column, field }));
        let anchor = ntuple.anchor();
        let (lists, attributes) = ntuple.added()?;
        let mut clusters = Clusters::new(options.compression, ntuple.header_hash()?, anchor.longest);
        clusters.groups = ntuple
            .groups()
            .iter()
            .map(|group| Group {
                first: group.entries.start,
                entries: group.entries.end - group.entries.start,
                clusters: group.clusters,
                pages: group.pages,
            })
            .collect();
        let (directory, name) = found.path.rsplit_once('/').unwrap_or(("", &found.path));
        let page = options.page_bytes.clamp(64, 1 << 30);
        let filling =
            all.columns.iter().map(|column| Filling::new(all.path(column.field), column, page)).collect();
        let projections = std::mem::take(&mut options.projections);
        let fields: BTreeMap<String, FieldOptions> = std::mem::take(&mut options.fields);
        if !projections.is_empty() || !fields.is_empty() {
            let what =
                "options for fields of an ntuple that is in the file already, whose fields keep theirs";
            return Err(Error::invalid(what));
        }
        Ok(Self {
            directory: file.directory(directory)?,
            name: name.to_owned(),
            columns,
            in_header: all.counts(),
            classes: schema.fields.iter().map(|of| of.type_name.clone()).collect(),
            all,
            header: anchor.header,
            filling,
            sealer: Sealer::new(options.runner.clone()),
            entries,
            begun: entries,
            filled: 0,
            amounts: [0; 2],
            clusters,
            prior: Some(Prior {
                cycle: found.key.cycle,
                version: anchor.version,
                longest: anchor.longest,
                entries,
                lists,
                attributes,
            }),
            broken: false,
            options,
        })
    }

    /// Returns whether nothing was added to an existing ntuple.
    pub(super) fn is_unchanged(&self) -> bool {
        let Counts { fields, columns, aliases } = self.in_header;
        let now = self.all.counts();
        self.prior.as_ref().is_some_and(|prior| prior.entries == self.entries)
            && (now.fields, now.columns, now.aliases) == (fields, columns, aliases)
    }
}

/// Finds the columns of fields, and their encodings.
struct Binder<'n> {
    ntuple: &'n Ntuple,
    entries: u64,
    columns: BTreeMap<u32, ColumnRecord>,
}

impl Binder<'_> {
    /// Returns the node that fills a field, from the parts that read it.
    fn bind(&mut self, shape: &Shape, options: &NtupleOptions) -> Result<Node, String> {
        let mut parts: HashMap<String, usize> = HashMap::new();
        for part in &shape.parts {
            let column = match &part.columns[..] {
                [column] if part.objects.is_none() => *column,
                [_] | [] => return Err(format!("objects in a stream ({})", part.path)),
                _ => return Err(format!("several representations ({})", part.path)),
            };
            let record = self.record(part, column, options)?;
            if self.columns.insert(column, record).is_some() {
                return Err(format!("a column that another one has as well ({})", part.path));
            }
            parts.extend(part.specs().into_iter().map(|spec| (spec.key, column as usize)));
        }
        node(&shape.form, &parts)
    }

    /// Returns the record of an existing column, which continues after its last element.
    fn record(&self, part: &Part, column: u32, options: &NtupleOptions) -> Result<ColumnRecord, String> {
        let Coding { kept, stored } = &part.coding;
        let of = self.ntuple.schema().columns.get(column as usize).zip(stored.first());
        let (of, stored) = of.ok_or("no column")?;
        let is_byte = |dtype: DType| dtype.size() == 1;
        let (suits, from) = match (*kept, stored.kind) {
            (Kept::Numbers(DType::Bool), Kind::Bit) => (true, None),
            (Kept::Numbers(dtype), Kind::Plain(own) | Kind::Split(own) | Kind::Zigzag(own))
                if dtype == own =>
            {
                (true, None)
            }
            (
                Kept::Numbers(dtype @ (DType::Float32 | DType::Float64)),
                Kind::Half
                | Kind::Truncated
                | Kind::Quantised
                | Kind::Plain(DType::Float32)
                | Kind::Split(DType::Float32),
            ) => (true, Some(dtype)),
            (Kept::Bytes, Kind::Byte) => (true, None),
            (Kept::Bytes, Kind::Plain(dtype)) => (is_byte(dtype), None),
            (
                Kept::Offsets | Kept::Option,
                Kind::Index32 | Kind::Index64 | Kind::SplitIndex32 | Kind::SplitIndex64,
            ) => (true, None),
            // A variant with one alternative is read as an option.
            (Kept::Tags(2..), Kind::Switch) => (true, None),
            _ => (false, None),
        };
        if !suits {
            return Err(format!("a column of type {} ({})", stored.kind.name(), part.path));
        }
        let first = self.elements(part, column).map_err(|error| error.kind.to_string())?;
        Ok(ColumnRecord {
            kind: stored.kind,
            code: of.kind,
            bits: of.bits,
            field: of.field,
            first: Some(first),
            from,
            range: stored.range,
            compression: options.compression,
        })
    }

    /// Returns the number of elements of a column.
    fn elements(&self, part: &Part, column: u32) -> Result<u64> {
        if let Some(last) = self.entries.checked_sub(1) {
            for at in self.ntuple.clusters(&(last..self.entries))? {
                if let Some(pages) = at.list.column(at.cluster, column)? {
                    return Ok((pages.first as u64).saturating_add(pages.elements));
                }
            }
        }
        // The column was added later, and no cluster has it.
        Ok(if part.parent.is_none() { self.entries.saturating_mul(part.times) } else { 0 })
    }
}

/// Returns the node that fills the columns which are read to the buffers of a Form.
fn node(form: &Form, columns: &HashMap<String, usize>) -> Result<Node, String> {
    let column = |key: &str, buffer: &str| {
        let found = columns.get(&format!("{key}-{buffer}")).copied();
        found.ok_or_else(|| format!("values of type {}", form.type_string()))
    };
    let size_of = |size: u64| usize::try_from(size).map_err(|_| format!("arrays of {size} items"));
    Ok(match form {
        Form::Numpy { key, dtype, shape } => {
            let each = shape.iter().try_fold(1u64, |each, size| each.checked_mul(*size));
            let each = size_of(each.unwrap_or(u64::MAX))?;
            Node::Numbers { column: column(key, "data")?, size: dtype.size(), each }
        }
        Form::String { key, .. } => Node::Text { ends: column(key, "offsets")?, bytes: column(key, "data")? },
        Form::List { key, content } => {
            Node::Lists { ends: column(key, "offsets")?, content: Box::new(node(content, columns)?) }
        }
        Form::Regular { size, content } => {
            Node::Fixed { size: size_of(*size)?, content: Box::new(node(content, columns)?) }
        }
        Form::Record { contents, .. } => {
            Node::Fields(contents.iter().map(|form| node(form, columns)).collect::<Result<_, _>>()?)
        }
        Form::Option { content, .. } if matches!(**content, Form::Union { .. }) => node(content, columns)?,
        Form::Option { key, content } => {
            Node::Options { ends: column(key, "index")?, content: Box::new(node(content, columns)?) }
        }
        Form::Union { key, contents } => Node::Variants {
            switch: column(key, "tags")?,
            contents: contents.iter().map(|form| node(form, columns)).collect::<Result<_, _>>()?,
        },
        Form::Logical { content, .. } => node(content, columns)?,
        other => return Err(format!("values of type {}", other.type_string())),
    })
}
