//! ROOT's own collections, which are streamed by code of their own.

use forthwith_plan::Result;

use super::cursor::out_of_range;
use super::frame::Frame;
use super::objects::{Contents, NONE};
use super::reader::{Reader, Target};

impl Reader<'_> {
    pub(super) fn list(&mut self, depth: usize) -> Result<(i16, Contents)> {
        let frame = self.cursor.frame()?;
        let (name, count) = self.collection(&frame)?;
        let links = self.links(count, 4)?;
        for link in links..links + count {
            self.links[link] = self.link(depth)?;
            self.cursor.list_option(frame.version)?;
        }
        self.leave(&frame);
        Ok((frame.version, Contents::Items { first: links as u32, count: count as u32, name }))
    }

    pub(super) fn array(&mut self, depth: usize) -> Result<(i16, Contents)> {
        let frame = self.cursor.frame()?;
        let (name, count) = self.collection(&frame)?;
        let _lower_bound = self.cursor.i32()?;
        let first = self.pointers(count, depth)?;
        self.leave(&frame);
        Ok((frame.version, Contents::Items { first, count: count as u32, name }))
    }

    pub(super) fn map(&mut self, depth: usize) -> Result<(i16, Contents)> {
        let frame = self.cursor.frame()?;
        let (name, count) = self.collection(&frame)?;
        let first = self.pointers(2 * count, depth)?;
        self.leave(&frame);
        Ok((frame.version, Contents::Items { first, count: 2 * count as u32, name }))
    }

    /// What all collections begin with: where the name stands, and the number of objects.
    fn collection(&mut self, frame: &Frame) -> Result<((u32, u32), usize)> {
        let (name, count) = self.cursor.collection(frame.version)?;
        // The count stands behind the name.
        let begin = self.cursor.position() - 4 - name.len();
        Ok(((begin as u32, name.len() as u32), count))
    }

    pub(super) fn pointers(&mut self, count: usize, depth: usize) -> Result<u32> {
        let links = self.links(count, 4)?;
        for link in links..links + count {
            self.links[link] = self.link(depth)?;
        }
        Ok(links as u32)
    }

    fn link(&mut self, depth: usize) -> Result<u32> {
        Ok(match self.pointer(depth)? {
            Target::Object(number) => number,
            Target::Nothing | Target::Elsewhere(_) => NONE,
        })
    }

    /// Room for so many links, if as many things of at least `size` bytes can follow.
    pub(super) fn links(&mut self, count: usize, size: usize) -> Result<usize> {
        let limit = self.cursor.remaining() / size;
        if count > limit {
            return Err(out_of_range("number of objects", count as i64, limit as i64));
        }
        self.spend(count as u64 / 4)?;
        let first = self.links.len();
        self.links.resize(first + count, NONE);
        Ok(first)
    }
}
