//! A file larger than the disk should hold: its parts, and zeros between them.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use forthwith_io::{Memory, Source};

/// A file of which only the parts that are not zero are stored: a line with its size, then for each part a
/// line with its offset and length, and its bytes.
#[derive(Debug)]
pub(crate) struct Sparse {
    name: String,
    size: u64,
    parts: Vec<(u64, Vec<u8>)>,
}

impl Sparse {
    pub(crate) fn open(path: &Path) -> Self {
        let stored = std::fs::read(path).expect("the file is there");
        let line = |rest: &mut &[u8]| -> Option<Vec<u64>> {
            let end = rest.iter().position(|&byte| byte == b'\n')?;
            let text = String::from_utf8_lossy(&rest[..end]).into_owned();
            *rest = &rest[end + 1..];
            Some(text.split_whitespace().map(|number| number.parse().expect("a number")).collect())
        };
        let mut rest = &*stored;
        let size = line(&mut rest).expect("a size")[0];
        let mut parts = Vec::new();
        while let Some(part) = line(&mut rest) {
            let (bytes, behind) = rest.split_at(part[1] as usize);
            parts.push((part[0], bytes.to_vec()));
            rest = behind;
        }
        Self { name: path.display().to_string(), size, parts }
    }

    fn answer(&self, range: &Range<u64>) -> forthwith_io::Result<Bytes> {
        if range.start > range.end || range.end > self.size {
            // Memory knows how to say it.
            return Memory::new(&*self.name, vec![]).read_one(range.start..range.end.max(range.start + 1));
        }
        let mut bytes = vec![0; (range.end - range.start) as usize];
        for (offset, part) in &self.parts {
            let begin = range.start.max(*offset);
            let end = range.end.min(offset + part.len() as u64);
            if begin < end {
                let from = &part[(begin - offset) as usize..(end - offset) as usize];
                bytes[(begin - range.start) as usize..(end - range.start) as usize].copy_from_slice(from);
            }
        }
        Ok(bytes.into())
    }
}

impl Source for Sparse {
    fn uri(&self) -> &str {
        &self.name
    }

    fn size(&self) -> forthwith_io::Result<u64> {
        Ok(self.size)
    }

    fn read(&self, ranges: &[Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        ranges.iter().map(|range| self.answer(range)).collect()
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        true
    }
}
