//! Cache of the layouts of a file's classes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use forthwith_plan::Result;
use forthwith_platform::ProcessLock;

use super::{Item, Layout, describe, versions};
use crate::cpp::{Container, CppType};
use crate::streamer::{StreamerInfo, Streamers, registrations};

/// Layouts of the classes of a file, from its streamer infos and the tables of this crate.
///
/// Objects are read by these layouts, and columns are unrolled from them.
#[derive(Debug)]
pub struct Layouts {
    pub(crate) streamers: Arc<Streamers>,
    /// Version of ROOT that wrote the file, such as 63400.
    pub(super) written_by: i32,
    known: ProcessLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Number of [`registrations`] when the layouts were made, as later ones may change classes that contain
    /// others.
    with: u64,
    /// Layouts by the address of their info, which they keep alive.
    layouts: HashMap<usize, Arc<Layout>, BuildHasherDefault<AddressHasher>>,
}

/// Hasher for addresses, which a file cannot choose, so that it need not be unpredictable.
#[derive(Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }

    fn write_usize(&mut self, address: usize) {
        // The table takes the bucket from the low bits, and the tag from the high ones.
        self.0 = (self.0 ^ address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Layouts {
    /// Returns the layouts of a file with these streamer infos, which `written_by` wrote: a version of ROOT
    /// such as 63400.
    #[must_use]
    pub fn new(streamers: Arc<Streamers>, written_by: i32) -> Self {
        Self { streamers, written_by, known: ProcessLock::default() }
    }

    /// Returns the streamer infos of the file.
    #[must_use]
    pub fn streamers(&self) -> &Arc<Streamers> {
        &self.streamers
    }

    /// Returns the layout of a class in a version, or with a checksum. Returns `None` if there is no streamer
    /// info.
    ///
    /// # Errors
    /// Returns an error if a streamer info cannot be parsed.
    pub fn describe(&self, class: &str, version: i32, checksum: Option<u32>) -> Result<Option<Arc<Layout>>> {
        let info = describe(&self.streamers, class, version, checksum)?;
        Ok(info.map(|info| self.of(&info)))
    }

    /// Returns the layout of the highest version of a class in the file or registered by a user.
    ///
    /// # Errors
    /// Returns an error if a streamer info cannot be parsed.
    pub fn latest(&self, class: &str) -> Result<Option<Arc<Layout>>> {
        Ok(self.streamers.latest(class)?.map(|info| self.of(&info)))
    }

    /// Returns the layouts of all versions of a class, except those of a user, in the order of the file.
    ///
    /// # Errors
    /// Returns an error if a streamer info cannot be parsed.
    pub fn versions(&self, class: &str) -> Result<Vec<Arc<Layout>>> {
        Ok(versions(&self.streamers, class)?.iter().map(|info| self.of(info)).collect())
    }

    /// Returns the layout of a streamer info.
    pub fn of(&self, info: &Arc<StreamerInfo>) -> Arc<Layout> {
        // Infos that are not in the file have no checksum, and may be made anew each time.
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

    /// Returns the container that a class is, by its name or by streamer info whose only member is a
    /// container, or `None` for other classes.
    ///
    /// # Errors
    /// Returns an error if a streamer info cannot be parsed.
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
