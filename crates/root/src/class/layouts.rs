//! The layouts of a file's classes, made once of each.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use forthwith_plan::Result;
use forthwith_platform::ProcessLock;

use super::{Item, Layout, describe, versions};
use crate::cpp::{Container, CppType};
use crate::streamer::{StreamerInfo, Streamers, registrations};

/// How the classes of a file are stored, by its streamer infos and the tables of this crate.
///
/// Objects are walked by these layouts, and columns are unrolled from them.
#[derive(Debug)]
pub struct Layouts {
    pub(crate) streamers: Arc<Streamers>,
    /// The version of ROOT that wrote the file, such as 63400.
    pub(super) written_by: i32,
    known: ProcessLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The number of [`registrations`] then: what a file says of classes that contain others may mean
    /// something else since.
    with: u64,
    /// By the address of the info, which the layout keeps.
    layouts: HashMap<usize, Arc<Layout>, BuildHasherDefault<AddressHasher>>,
}

/// Addresses are far apart, and no file chooses them: they need no hash that is hard to foresee.
#[derive(Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }

    fn write_usize(&mut self, address: usize) {
        // The table takes its place from the low bits, and what it compares first from the high ones.
        self.0 = (self.0 ^ address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Layouts {
    /// The layouts of the file that these infos are from, and that this version of ROOT wrote, such as 63400.
    #[must_use]
    pub fn new(streamers: Arc<Streamers>, written_by: i32) -> Self {
        Self { streamers, written_by, known: ProcessLock::default() }
    }

    /// The streamer infos of the file.
    #[must_use]
    pub fn streamers(&self) -> &Arc<Streamers> {
        &self.streamers
    }

    /// The layout of a class version, or of that with a checksum. `None` if nothing describes it.
    ///
    /// # Errors
    /// An info cannot be parsed.
    pub fn describe(&self, class: &str, version: i32, checksum: Option<u32>) -> Result<Option<Arc<Layout>>> {
        let info = describe(&self.streamers, class, version, checksum)?;
        Ok(info.map(|info| self.of(&info)))
    }

    /// The layout of the highest version of a class that the file or a user describes.
    ///
    /// # Errors
    /// An info cannot be parsed.
    pub fn latest(&self, class: &str) -> Result<Option<Arc<Layout>>> {
        Ok(self.streamers.latest(class)?.map(|info| self.of(&info)))
    }

    /// The layouts of all versions of a class that are known without a user, in the order of the file.
    ///
    /// # Errors
    /// An info cannot be parsed.
    pub fn versions(&self, class: &str) -> Result<Vec<Arc<Layout>>> {
        Ok(versions(&self.streamers, class)?.iter().map(|info| self.of(info)).collect())
    }

    /// The layout that an info describes.
    pub fn of(&self, info: &Arc<StreamerInfo>) -> Arc<Layout> {
        // Infos that no file has are without one, and may be made anew each time.
        if info.checksum == 0 {
            return Arc::new(Layout::of(info, self));
        }
        let now = registrations();
        let address = Arc::as_ptr(info) as usize;
        {
            let mut known = self.known.lock();
            if known.with != now {
                known.layouts.clear();
                known.with = now;
            }
            if let Some(layout) = known.layouts.get(&address) {
                return layout.clone();
            }
        }
        let layout = Arc::new(Layout::of(info, self));
        let mut known = self.known.lock();
        if known.with == now {
            known.layouts.insert(address, layout.clone());
        }
        layout
    }

    /// The container that a class is by itself: by its name, or since its description has no members but one
    /// that says so.
    ///
    /// # Errors
    /// An info cannot be parsed.
    pub fn container(&self, class: &str) -> Result<Option<Arc<Item>>> {
        if !class.ends_with('>') {
            return Ok(None);
        }
        let kind = CppType::parse(class);
        if kind.is_container() {
            return Ok(Some(Arc::new(Item::of(&kind, self))));
        }
        let Some(info) = self.streamers.latest(class)? else { return Ok(None) };
        let [only] = info.elements.as_slice() else { return Ok(None) };
        if &*only.name != "This" || only.is_base() {
            return Ok(None);
        }
        let item = class.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>')).unwrap_or_default();
        let item = match Item::of(&CppType::parse(item.split(',').next().unwrap_or(item)), self) {
            Item::Unknown(class) => Item::Memberless(class),
            item @ Item::Class(_) => item,
            _ => return Ok(None),
        };
        Ok(Some(Arc::new(Item::List(Container::vector(), Arc::new(item)))))
    }
}
