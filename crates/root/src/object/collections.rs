//! ROOT's own collections, which have custom streamers.

use forthwith_plan::{Error, Result};

use super::objects::{Contents, NONE};
use super::reader::{Reader, Target};
use crate::class::Native;
use crate::record::{Frame, text};

impl Reader<'_> {
    /// Reads a collection of pointers. A `TMap` has two for each object in its count, a `TObjArray` its lower
    /// bound before them, and a `TList` an option after each.
    pub(super) fn bag(&mut self, kind: Native, depth: usize) -> Result<(i16, Contents)> {
        self.in_frame(|reader, frame| {
            let (name, count) = reader.collection(frame)?;
            if kind == Native::ObjArray {
                reader.cursor.i32()?;
            }
            let count = if kind == Native::Map { 2 * count } else { count };
            let links = reader.links(count, 4)?;
            for link in links..links + count {
                reader.to.links[link] = reader.link(depth)?;
                if kind == Native::List {
                    reader.cursor.list_option(frame.version)?;
                }
            }
            Ok((frame.version, Contents::Items { first: links as u32, count: count as u32, name }))
        })
    }

    /// Reads a `TBtree`: numbers about its nodes, then a collection in a frame of its own. Its frame has no
    /// version, and no checksum in its place.
    pub(super) fn btree(&mut self, depth: usize) -> Result<(i16, Contents)> {
        let frame = self.frame_without_checksum()?;
        self.cursor.take(NODE_NUMBERS * 4)?;
        let (_, contents) = self.bag(Native::Bag, depth)?;
        self.leave(&frame);
        Ok((frame.version, contents))
    }

    /// Reads a `TClonesArray`: the class name with its version, then the objects, stored member-wise or
    /// object-wise.
    pub(super) fn clones(&mut self, depth: usize) -> Result<(i16, Contents)> {
        let frame = self.frame()?;
        let bits = if frame.version > 2 { self.cursor.tobject()?.bits } else { 0 };
        let name = if frame.version > 1 { self.cursor.string()? } else { &[] };
        let name = ((self.cursor.position() - name.len()) as u32, name.len() as u32);
        let class = text(self.cursor.string()?);
        let (class, version) = class.rsplit_once(';').unwrap_or((&class, "0"));
        let version: i32 = version.trim().parse().unwrap_or(0);
        // It is negative in old files.
        let count = i64::from(self.cursor.i32()?).unsigned_abs() as usize;
        let _lower_bound = self.cursor.i32()?;
        let by_member = bits & if frame.version == 3 { OLD_BY_MEMBER } else { BY_MEMBER } != 0;
        let class = self.class_by_name(class);
        let links = self.links(count, 1)?;
        if by_member {
            let first = self.member_wise(class, version, None, count, depth + 1)?;
            for index in 0..count {
                self.to.links[links + index] = first + index as u32;
            }
        } else {
            for link in links..links + count {
                if self.cursor.u8()? != 0 {
                    let position = self.cursor.position();
                    let node = self.open(class, position);
                    self.contents(node, None, depth + 1)?;
                    self.to.links[link] = node;
                }
            }
        }
        self.leave(&frame);
        Ok((frame.version, Contents::Items { first: links as u32, count: count as u32, name }))
    }

    /// Reads the beginning of a collection: the offset and length of its name, and the number of objects.
    fn collection(&mut self, frame: &Frame) -> Result<((u32, u32), usize)> {
        let (name, count) = self.cursor.collection(frame.version)?;
        // The count follows the name.
        let begin = self.cursor.position() - 4 - name.len();
        Ok(((begin as u32, name.len() as u32), count))
    }

    pub(super) fn pointers(&mut self, count: usize, depth: usize) -> Result<u32> {
        let links = self.links(count, 4)?;
        for link in links..links + count {
            self.to.links[link] = self.link(depth)?;
        }
        Ok(links as u32)
    }

    fn link(&mut self, depth: usize) -> Result<u32> {
        Ok(match self.pointer(depth)? {
            Target::Object(number) => number,
            Target::Nothing | Target::Elsewhere(_) => NONE,
        })
    }

    /// Reserves this number of links, if the remaining bytes suffice for items of at least `size` bytes.
    pub(super) fn links(&mut self, count: usize, size: usize) -> Result<usize> {
        let limit = self.cursor.remaining() / size;
        if count > limit {
            return Err(Error::out_of_range("number of objects", count, limit));
        }
        self.spend(count as u64 / 4)?;
        let first = self.to.links.len();
        self.to.links.resize(first + count, NONE);
        Ok(first)
    }
}

/// Number of numbers about the nodes of a `TBtree`.
const NODE_NUMBERS: usize = 6;
/// Status bit of a `TClonesArray` whose objects are stored member-wise.
const BY_MEMBER: u32 = 1 << 12;
/// Status bit of such a `TClonesArray` in version 3.
const OLD_BY_MEMBER: u32 = 1 << 14;
