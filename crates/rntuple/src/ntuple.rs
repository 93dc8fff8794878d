//! An opened ntuple: its header and footer, and access to its page lists and pages.

use crate::anchor::{Anchor, CLASS};
use crate::blob::{self, Envelope};
use crate::coding;
use crate::decode;
use crate::footer::{ClusterGroup, Footer};
use crate::form::{self, Shape};
use crate::frame::{Link, Locator};
use crate::offset_columns::Ends;
use crate::pages::{Numbered, Page, PageList};
use crate::schema::{self, Column, Schema};
use crate::write::RawList;
use bytes::Bytes;
use forthwith_io::Source;
use forthwith_plan::{Error, Field, Result, Stored};
use forthwith_program::Program;
use forthwith_root::class::{Layouts, is_described};
use forthwith_root::{Found, RootFile, unroll};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Options for reading an ntuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether the checksums of the anchor, of envelopes and of pages are verified.
    pub verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { verify: true }
    }
}

/// An ntuple, whose header and footer have been parsed. It can be shared between threads.
pub struct Ntuple {
    source: Arc<dyn Source>,
    file: RootFile,
    /// Classes of streamed fields.
    layouts: OnceLock<Layouts>,
    size: u64,
    object: String,
    options: Options,
    anchor: Anchor,
    /// Checksum of the header, if it is to be verified.
    hash: Option<u64>,
    schema: Schema,
    footer: Footer,
    /// Page list of each cluster group, and the index of its first cluster.
    lists: Vec<(OnceLock<PageList>, u64)>,
    fields: Vec<Field>,
    /// For each field the field records that lead to it, and its shape once resolved.
    chains: Vec<Chain>,
    /// Cached pages of ends, by position.
    ends: Mutex<Vec<(u64, Bytes)>>,
}

/// Field records that lead to a field, and its shape or the reason why it is not supported.
type Chain = (Vec<u32>, OnceLock<std::result::Result<Shape, String>>);

/// Maximum number of cached pages of ends.
const KEPT: usize = 16;

impl Ntuple {
    /// Returns whether objects of a class are ntuples.
    #[must_use]
    pub fn is_ntuple(class: &str) -> bool {
        class == CLASS
    }

    /// Returns whether objects of a class are ntuples in a format before version 1.
    #[must_use]
    pub fn is_experimental(class: &str) -> bool {
        class == "ROOT::Experimental::RNTuple"
    }

    /// Opens an ntuple that a directory of the file lists.
    ///
    /// # Errors
    /// Returns an error if it has another class, or if its metadata are damaged or not supported.
    pub fn open(file: &RootFile, found: &Found, options: Options) -> Result<Self> {
        let here = |error: Error| error.in_object(&found.path).in_file(file.uri());
        let class = &*found.key.class_name;
        if class != CLASS {
            return Err(here(Error::unsupported(format!("{class}, which is not an RNTuple of version 1"))));
        }
        let payload = file.payload(&found.key)?;
        let anchor =
            Anchor::parse(&payload, options.verify).map_err(|error| here(error.in_member("anchor")))?;
        Self::of(file, found.path.clone(), anchor, options).map_err(here)
    }

    pub(crate) fn of(file: &RootFile, object: String, anchor: Anchor, options: Options) -> Result<Self> {
        let (source, file) = (Arc::clone(file.source()), file.clone());
        let longest = anchor.longest;
        let header =
            blob::envelope(source.as_ref(), anchor.header, Envelope::Header, longest, options.verify)?;
        let in_header = |error: Error| error.in_member(Envelope::Header.name());
        let mut schema = Schema::parse(&mut blob::body(&header)).map_err(in_header)?;
        let hash = options.verify.then(|| blob::checksum(&header));
        let footer =
            blob::envelope(source.as_ref(), anchor.footer, Envelope::Footer, longest, options.verify)?;
        let in_footer = |error: Error| error.in_member(Envelope::Footer.name());
        let footer = Footer::parse(&mut blob::body(&footer), hash, &mut schema).map_err(in_footer)?;
        let mut first = 0;
        let lists = footer.groups.iter().map(|group| {
            let number = first;
            first += u64::from(group.clusters);
            (OnceLock::new(), number)
        });
        let lists = lists.collect();
        let (mut fields, mut chains) = (Vec::new(), Vec::new());
        for &top in schema.children(None) {
            list(&schema, top, &mut fields, &mut chains);
        }
        let size = source.size()?;
        let ends = Mutex::default();
        let layouts = OnceLock::new();
        Ok(Self {
            source,
            file,
            layouts,
            size,
            object,
            options,
            anchor,
            hash,
            schema,
            footer,
            lists,
            fields,
            chains,
            ends,
        })
    }

    /// Returns the version of the format in the anchor.
    #[must_use]
    pub fn version(&self) -> String {
        self.anchor.version.map(|number| number.to_string()).join(".")
    }

    /// Returns the name of the program that wrote the ntuple.
    #[must_use]
    pub fn writer(&self) -> &str {
        &self.schema.writer
    }

    /// Returns the description of the ntuple.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.schema.description
    }

    /// Opens an attribute set of the ntuple. Its fields are `_rangeStart` and `_rangeLen`, a range of entries
    /// of this ntuple, and `_userData`, the values for that range.
    ///
    /// # Errors
    /// Returns an error if there is no attribute set with that name, or if its metadata are damaged or not
    /// supported.
    pub fn attribute_set(&self, name: &str) -> Result<Self> {
        let object = format!("{}@{name}", self.object);
        let here = |error: Error| error.in_object(&object).in_file(self.uri());
        let set = self.footer.attribute_set(name).map_err(|error| self.here_as_a_whole(error))?;
        let anchor = set.anchor(self.source.as_ref(), self.options.verify).map_err(here)?;
        Self::of(&self.file, object.clone(), anchor, self.options).map_err(here)
    }

    /// Returns the number of pages in the page lists.
    ///
    /// # Errors
    /// Returns an error if a page list is damaged.
    pub fn pages(&self) -> Result<u64> {
        let mut pages = 0;
        for at in self.clusters(&(0..self.footer.entries()))? {
            let here = |error: Error| error.in_block(at.number).in_unit("cluster");
            let count = self.schema.columns.len() as u32;
            for column in 0..count {
                let found = at.list.column(at.cluster, column).map_err(here)?;
                pages += found.map_or(0, |column| column.pages.len() as u64);
            }
        }
        Ok(pages)
    }

    pub(crate) const fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) const fn anchor(&self) -> Anchor {
        self.anchor
    }

    pub(crate) fn groups(&self) -> &[ClusterGroup] {
        &self.footer.groups
    }

    pub(crate) fn entry_count(&self) -> u64 {
        self.footer.entries()
    }

    /// Returns the names of the attribute sets.
    pub(crate) fn attribute_names(&self) -> Vec<String> {
        self.footer.attributes.iter().map(|set| set.name.clone()).collect()
    }

    pub(crate) fn listed(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the record of a field.
    pub(crate) fn record(&self, field: u32) -> Option<&schema::Field> {
        let (chain, _) = self.chains.get(field as usize)?;
        self.schema.fields.get(*chain.last()? as usize)
    }

    /// Returns the top-level fields: their indexes among all fields, and those of their records.
    pub(crate) fn top_fields(&self) -> impl Iterator<Item = (u32, u32)> {
        let chains = (0..).zip(&self.chains);
        chains.filter_map(|(number, (chain, _))| match chain[..] {
            [top] => Some((number, top)),
            _ => None,
        })
    }

    /// Returns the checksum of the header.
    pub(crate) fn header_hash(&self) -> Result<u64> {
        match self.hash {
            Some(hash) => Ok(hash),
            None => Ok(blob::checksum(&self.envelope(self.anchor.header, Envelope::Header)?)),
        }
    }

    /// Returns header and footer, decompressed and with their checksums.
    ///
    /// # Errors
    /// Returns an error if they cannot be read, or differ from those when the ntuple was opened.
    pub fn envelopes(&self) -> Result<[Bytes; 2]> {
        let here = |error| self.here_as_a_whole(error);
        let header = self.envelope(self.anchor.header, Envelope::Header).map_err(here)?;
        Ok([header, self.envelope(self.anchor.footer, Envelope::Footer).map_err(here)?])
    }

    /// Returns the checksum of the footer.
    pub(crate) fn footer_hash(&self) -> Result<u64> {
        Ok(blob::checksum(&self.envelope(self.anchor.footer, Envelope::Footer)?))
    }

    /// Returns the lists of the schema extension in the footer, and its attribute sets, as stored.
    pub(crate) fn added(&self) -> Result<([RawList; 4], RawList)> {
        let footer = self.envelope(self.anchor.footer, Envelope::Footer)?;
        let mut body = blob::body(&footer);
        body.features()?;
        body.u64("the header's checksum")?;
        let mut extension = body.record("the schema extension")?;
        let mut lists = <[RawList; 4]>::default();
        if extension.left() > 0 {
            for list in &mut lists {
                *list = RawList::read(&mut extension)?;
            }
        }
        body.list("the cluster groups", 8)?;
        let attributes = if body.left() > 0 { RawList::read(&mut body)? } else { RawList::default() };
        Ok((lists, attributes))
    }

    fn envelope(&self, link: Link, kind: Envelope) -> Result<Bytes> {
        blob::envelope(self.source.as_ref(), link, kind, self.anchor.longest, self.options.verify)
    }

    pub(crate) fn uri(&self) -> &str {
        self.source.uri()
    }

    pub(crate) fn object_path(&self) -> &str {
        &self.object
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    pub(crate) const fn verifies(&self) -> bool {
        self.options.verify
    }

    /// Returns whether a column was added when the ntuple had entries.
    pub(crate) fn is_late(&self, column: u32) -> bool {
        let at = column as usize;
        at >= self.schema.first_columns || self.schema.columns.get(at).is_some_and(Column::is_deferred)
    }

    /// Returns the path of a field.
    pub(crate) fn path(&self, field: u32) -> String {
        self.fields.get(field as usize).map(|field| field.path.clone()).unwrap_or_default()
    }

    /// Returns the shape of a field, or the reason why it is not supported.
    pub(crate) fn shape(&self, field: u32) -> Result<&std::result::Result<Shape, String>> {
        let Some((chain, shape)) = self.chains.get(field as usize) else {
            return Err(Error::no_field(field, self.chains.len()));
        };
        Ok(shape.get_or_init(|| match chain.split_first() {
            Some((top, members)) => form::shape(&self.schema, *top, members, &|class, items, member| {
                self.program(class, items, member)
            }),
            None => Err("no field".into()),
        }))
    }

    /// Returns the program that reads streamed objects of a class, or the reason why there is none.
    fn program(&self, class: &str, items: bool, member: &str) -> std::result::Result<Program, String> {
        let layouts = match self.layouts.get() {
            Some(layouts) => layouts,
            None => {
                let found = self.schema.classes().map_err(|error| error.kind.to_string())?;
                let written_by = self.file.header().version % 1_000_000;
                self.layouts.get_or_init(|| Layouts::new(Arc::new(found), written_by))
            }
        };
        let mut layouts = layouts;
        let mut found = unroll::program(layouts, class, false, member);
        // Some writers have the streamer info only in the file.
        let of_file = if found.is_err() { self.file.layouts().ok() } else { None };
        if let Some(of_file) = &of_file {
            let second = unroll::program(of_file, class, false, member);
            if second.is_ok() || is_described(of_file.streamers(), class) {
                (layouts, found) = (of_file, second);
            }
        }
        // If there are no objects, streamer info may be missing.
        match found {
            Err(why) if items => unroll::program(layouts, class, true, member).map_err(|_| why),
            found => found,
        }
    }

    /// Returns the clusters that have some of the entries, in order.
    pub(crate) fn clusters(&self, entries: &Range<u64>) -> Result<Vec<Numbered<'_>>> {
        let mut found = Vec::new();
        for (group, (list, first)) in self.footer.groups.iter().zip(&self.lists) {
            let is_apart = group.entries.end <= entries.start || group.entries.start >= entries.end;
            if is_apart || group.entries.is_empty() {
                continue;
            }
            let list = match list.get() {
                Some(list) => list,
                None => {
                    let read = self.page_list(group)?;
                    list.get_or_init(|| read)
                }
            };
            let from = list.clusters.partition_point(|cluster| cluster.entries.end <= entries.start);
            let inside = list.clusters.iter().enumerate().skip(from);
            let inside = inside.take_while(|(_, cluster)| cluster.entries.start < entries.end);
            found.extend(
                inside.filter(|(_, cluster)| !cluster.entries.is_empty()).map(|(at, cluster)| Numbered {
                    number: first + at as u64,
                    cluster,
                    list,
                }),
            );
        }
        Ok(found)
    }

    pub(crate) fn page_list(&self, group: &crate::footer::ClusterGroup) -> Result<PageList> {
        let bytes = self.envelope(group.pages, Envelope::PageList)?;
        let list = PageList::parse(bytes, self.hash, &group.entries, group.clusters);
        list.map_err(|error| error.in_member(Envelope::PageList.name()))
    }

    /// Returns the header, decompressed and with its checksum.
    pub(crate) fn header(&self) -> Result<Bytes> {
        let Anchor { header, longest, .. } = self.anchor;
        blob::envelope(self.source.as_ref(), header, Envelope::Header, longest, true)
    }

    /// Returns the bytes at a locator, and `more` further bytes.
    pub(crate) fn blob(&self, locator: Locator, more: u64) -> Result<Bytes> {
        blob::read(self.source.as_ref(), locator, more, self.anchor.longest)
    }

    /// Returns the stored bytes of a page without its checksum, which is verified with `verify`.
    pub(crate) fn page_data(&self, page: &Page, verify: bool) -> Result<Bytes> {
        let more = if page.checksum { 8 } else { 0 };
        let bytes = self.blob(page.locator, more)?;
        if page.checksum && verify {
            decode::verified(&bytes)?;
        }
        Ok(bytes.slice(..bytes.len().saturating_sub(more as usize)))
    }

    /// Returns the position of a page's bytes, including its checksum if that is to be verified.
    pub(crate) fn stored(&self, page: &Page, verified: bool) -> Result<Stored> {
        let (locator, longest) = (page.locator, self.anchor.longest);
        // The checksum counts for the length at which pages are split.
        let there = if page.checksum { 8 } else { 0 };
        let checksum = if verified { there } else { 0 };
        if longest > 0 && locator.size.saturating_add(there) > longest {
            let bytes = blob::read(self.source.as_ref(), locator, there, longest)?;
            return Ok(Stored::Inline(bytes.slice(..bytes.len() - (there - checksum) as usize)));
        }
        let size = locator.size.saturating_add(checksum);
        match (Locator { size, ..locator }).range() {
            Ok(range) => Ok(Stored::Range(range)),
            Err(error) => {
                let reason = error.kind.to_string();
                Ok(Stored::Missing { reason, at: Some(locator.position) })
            }
        }
    }

    /// Returns the end of the list before element `at` of a page.
    pub(crate) fn end_in_page(&self, how: &coding::Stored, page: &Page, at: u64) -> Result<u64> {
        let bytes = self.page(how, page)?;
        let ends = Ends::of(how, &bytes).ok_or_else(crate::page_note::foreign)?;
        let end = ends.before(usize::try_from(at).unwrap_or(usize::MAX));
        end.ok().flatten().ok_or_else(crate::numbers::too_few)
    }

    /// Returns a decompressed page of ends or of the bytes of objects.
    pub(crate) fn page(&self, how: &coding::Stored, page: &Page) -> Result<Bytes> {
        let position = page.locator.position;
        let length = usize::try_from(how.page_bytes(page.elements)).unwrap_or(usize::MAX);
        let known = || self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().iter().find(|(at, bytes)| *at == position && bytes.len() == length).cloned();
        if let Some((_, bytes)) = found {
            return Ok(bytes);
        }
        let body = self.page_data(page, self.options.verify)?;
        let bytes = blob::decompressed(&body, length as u64, ["the length of a page", "a page"])?;
        let mut known = known();
        if known.len() >= KEPT {
            known.remove(0);
        }
        known.push((position, bytes.clone()));
        Ok(bytes)
    }

    pub(crate) fn here_as_a_whole(&self, error: Error) -> Error {
        error.in_object(&self.object).in_file(self.uri())
    }
}

/// Adds a field, and after it the members of records in it.
fn list(schema: &Schema, top: u32, fields: &mut Vec<Field>, chains: &mut Vec<Chain>) {
    let Some(of) = schema.fields.get(top as usize) else { return };
    let mut work = vec![(of.name.clone(), of.name.clone(), vec![top], None)];
    // Fields are taken from the end, so that members come after their record.
    while let Some((path, name, chain, parent)) = work.pop() {
        let Some(of) = chain.last().and_then(|id| Some((*id, schema.fields.get(*id as usize)?))) else {
            continue;
        };
        let number = u32::try_from(fields.len()).unwrap_or(u32::MAX);
        let members = form::record_in(schema, of.0).map(|record| form::members(schema, record));
        let members = members.unwrap_or_default();
        fields.push(Field {
            path: path.clone(),
            name,
            title: of.1.description.clone(),
            parent,
            has_children: !members.is_empty(),
            has_data: true,
            is_part: parent.is_some(),
        });
        for member in members.into_iter().rev() {
            let chain = chain.iter().chain(&member.chain).copied().collect();
            work.push((format!("{path}/{}", member.name), member.name, chain, Some(number)));
        }
        chains.push((chain, OnceLock::new()));
    }
}

forthwith_io::impl_debug!(Ntuple, |it| "uri": it.uri(), "object": it.object, "version": it.version());
