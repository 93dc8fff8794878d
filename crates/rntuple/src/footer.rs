//! The footer: the schema extension, and the links to page lists.

use crate::anchor::Anchor;
use crate::blob;
use crate::frame::{Link, Reader};
use crate::schema::Schema;
use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, NameListing, Result, similar_names};
use std::ops::Range;

/// Contents of a footer, except the fields and columns that it adds.
#[derive(Debug, Default)]
pub(crate) struct Footer {
    pub(crate) groups: Vec<ClusterGroup>,
    pub(crate) attributes: Vec<AttributeSet>,
}

/// Clusters that share a page list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterGroup {
    pub(crate) entries: Range<u64>,
    pub(crate) clusters: u32,
    pub(crate) pages: Link,
}

/// Attribute set: an ntuple with values for ranges of entries of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttributeSet {
    pub(crate) name: String,
    version: (u16, u16),
    /// Link to the anchor, which no directory lists.
    anchor: Link,
}

/// Supported version of the schema of attribute sets: two numbers for the range, and a record of the values.
const ATTRIBUTES: u16 = 1;

impl Footer {
    /// Parses the body of a footer. `header` is the header's checksum, if it is to be verified.
    pub(crate) fn parse(body: &mut Reader<'_>, header: Option<u64>, schema: &mut Schema) -> Result<Self> {
        body.features()?;
        let begin = *body;
        let found = body.u64("the header's checksum")?;
        if let Some(expected) = header.filter(|header| *header != found) {
            return Err(begin.error(Error::mismatch("the header's checksum in the footer", expected, found)));
        }
        let mut extension = body.record("the schema extension")?;
        // The extension may be empty.
        if extension.left() > 0 {
            schema.extend(&mut extension)?;
        }
        let mut footer = Self::default();
        let mut groups = body.list("the cluster groups", 8)?;
        let mut end = 0;
        for _ in 0..groups.items {
            let begin = groups.rest;
            let group = ClusterGroup::parse(&mut groups.rest.record("a cluster group")?)?;
            if group.entries.start != end {
                let found = group.entries.start;
                return Err(begin.error(Error::mismatch("the first entry of a cluster group", end, found)));
            }
            end = group.entries.end;
            footer.groups.push(group);
        }
        // Files of version 1.0.0 end here.
        if body.left() > 0 {
            let mut sets = body.list("the attribute sets", 8)?;
            for _ in 0..sets.items {
                footer.attributes.push(AttributeSet::parse(&mut sets.rest.record("an attribute set")?)?);
            }
        }
        Ok(footer)
    }

    /// Returns the attribute set with a name.
    pub(crate) fn attribute_set(&self, name: &str) -> Result<&AttributeSet> {
        self.attributes.iter().find(|set| set.name == name).ok_or_else(|| {
            let near = similar_names(name, self.attributes.iter().map(|set| &*set.name));
            let known = NameListing::of(self.attributes.iter().map(|set| &*set.name));
            ErrorKind::NotFound { what: "attribute set", name: name.to_owned(), near, known }.into()
        })
    }

    /// Returns the number of entries of all groups.
    pub(crate) fn entries(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.entries.end)
    }
}

impl ClusterGroup {
    fn parse(record: &mut Reader<'_>) -> Result<Self> {
        let begin = *record;
        let what = "a cluster group";
        let (first, span) = (record.u64(what)?, record.u64(what)?);
        let end = first.checked_add(span).filter(|end| i64::try_from(*end).is_ok()).ok_or_else(|| {
            begin.error(Error::out_of_range("the entries of a cluster group", span as i64, i64::MAX))
        })?;
        let clusters = record.u32(what)?;
        Ok(Self { entries: first..end, clusters, pages: record.link(what)? })
    }
}

impl AttributeSet {
    fn parse(record: &mut Reader<'_>) -> Result<Self> {
        let what = "an attribute set";
        let version = (record.u16(what)?, record.u16(what)?);
        let length = record.u32(what)?.into();
        let anchor = Link { length, locator: record.locator(what)? };
        Ok(Self { name: record.text(what)?, version, anchor })
    }

    /// Reads the anchor of the attribute set.
    pub(crate) fn anchor(&self, source: &dyn Source, verify: bool) -> Result<Anchor> {
        let (major, minor) = self.version;
        if major != ATTRIBUTES {
            return Err(Error::unsupported(format!("an attribute set of version {major}.{minor}")));
        }
        let here = |error: Error| error.in_member("anchor").at_byte(self.anchor.locator.position);
        let payload = blob::object(source, self.anchor).map_err(here)?;
        Anchor::parse(&payload, verify).map_err(here)
    }
}
