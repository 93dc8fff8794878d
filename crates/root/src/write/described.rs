//! Class descriptions and rules, collected for a file's streamer record.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::classes::{UNDESCRIBED, described_class, named_by};
use forthwith_plan::Result;

use super::{Buffer, infos};
use crate::class::Layouts;
use crate::streamer::{StreamerInfo, Streamers};

/// Contents of a file's streamer record.
#[derive(Debug)]
pub(super) struct Described {
    /// Descriptions of classes, in the order in which they were added.
    pub(super) infos: Vec<Arc<StreamerInfo>>,
    /// Versions and checksums of each class. Several versions may share a checksum, and one version may have
    /// several checksums.
    pub(super) classes: HashMap<Box<str>, HashSet<(i32, u32)>>,
    /// Whether the file is new: every description was then added together with the classes it refers to.
    pub(super) complete: bool,
    /// Rules of schema evolution, which the streamer record has beside the descriptions.
    pub(super) rules: Vec<Box<str>>,
    /// Whether the streamer record has to be written.
    pub(super) changed: bool,
    /// Layouts of all these classes; `None` until they are requested, and after a description is added.
    layouts: Option<Arc<Layouts>>,
}

impl Default for Described {
    /// Returns the record of a new file, which has to be written.
    fn default() -> Self {
        Self { changed: true, complete: true, ..Self::of(Vec::new(), Vec::new()) }
    }
}

impl Described {
    /// Returns the record of an existing file.
    pub(super) fn of(infos: Vec<Arc<StreamerInfo>>, rules: Vec<Box<str>>) -> Self {
        let mut described = Self {
            infos: Vec::new(),
            classes: HashMap::new(),
            complete: false,
            rules,
            changed: false,
            layouts: None,
        };
        for info in infos {
            described.add(info);
        }
        Self { changed: false, ..described }
    }

    /// Appends the payload of the streamer record.
    pub(super) fn write(&self, buffer: &mut Buffer) {
        infos::list(buffer, self.infos.iter().map(|info| &**info), &self.rules);
    }

    /// Returns the layouts of the classes.
    ///
    /// # Errors
    /// Returns an error if a copied description cannot be parsed.
    pub(super) fn layouts(&mut self) -> Result<Arc<Layouts>> {
        if let Some(layouts) = &self.layouts {
            return Ok(Arc::clone(layouts));
        }
        let mut buffer = Buffer::new(0);
        self.write(&mut buffer);
        let streamers = Streamers::parse(buffer.into_bytes().into(), 0)?;
        let layouts = Arc::new(Layouts::new(Arc::new(streamers), i32::MAX));
        Ok(Arc::clone(self.layouts.insert(layouts)))
    }

    /// Whether there is a class of this name and version with other members.
    pub(super) fn has_other(&self, info: &StreamerInfo) -> bool {
        let other = |&(version, checksum): &(i32, u32)| version == info.version && checksum != info.checksum;
        self.classes.get(&info.class).is_some_and(|labels| labels.iter().any(other))
    }

    /// Adds a description; returns whether its class, version and checksum are new.
    pub(super) fn add(&mut self, info: Arc<StreamerInfo>) -> bool {
        let label = (info.version, info.checksum);
        // Most copied descriptions are duplicates: their names are not cloned.
        let is_new = match self.classes.get_mut(&info.class) {
            Some(labels) => labels.insert(label),
            None => self.classes.insert(info.class.clone(), HashSet::from([label])).is_none(),
        };
        if !is_new {
            return false;
        }
        self.infos.push(info);
        self.changed = true;
        self.layouts = None;
        true
    }

    /// Adds one of ROOT's own classes and the classes it refers to; returns whether the class is known.
    pub(super) fn add_known(&mut self, class: &str) -> bool {
        if UNDESCRIBED.contains(&class) {
            return true;
        }
        let Some(info) = described_class(class) else { return false };
        self.add_closed(info);
        true
    }

    /// Adds a description, and those of ROOT's own classes that it refers to.
    pub(super) fn add_closed(&mut self, info: Arc<StreamerInfo>) {
        if self.add(Arc::clone(&info)) {
            for class in named_by(&info) {
                self.add_known(class);
            }
        }
    }
}
