//! Copies of remote files that are read as a whole.

use forthwith_io::{self as io, STREAM_IN_MEMORY, Source};
use forthwith_plan::Result;
use std::{io::Read, ops::Range, sync::Arc};

/// Maximum size of a file that is copied. Parts of larger files are fetched on demand.
const LONGEST: u64 = 4 << 30;

/// Number of bytes of a request, and number of such requests that are prefetched.
const WINDOW: u64 = 8 << 20;
const AHEAD: u64 = 2;

/// Returns the source, or for a remote file a copy in memory or a temporary file, for a reader that reads all
/// of it in small parts, some of them twice, each of which would be a request.
///
/// # Errors
/// The source cannot be read or stored.
pub fn whole(source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
    let size = source.size()?;
    if !source.plans_requests() || size > LONGEST {
        return Ok(source);
    }
    let mut stream = Stream { source: &*source, size, window: bytes::Bytes::new(), at: 0, failed: None };
    let copied = io::read_stream(&mut stream, source.uri(), STREAM_IN_MEMORY);
    match stream.failed {
        Some(error) => Err(error.into()),
        None => Ok(copied?),
    }
}

/// Sequential reader of a source.
struct Stream<'a> {
    source: &'a dyn Source,
    size: u64,
    /// Bytes that were read but not returned yet, and the offset of their end.
    window: bytes::Bytes,
    at: u64,
    failed: Option<io::Error>,
}

impl Stream<'_> {
    fn range(&self, windows: u64) -> Range<u64> {
        let start = self.size.min(self.at + windows * WINDOW);
        start..self.size.min(start + WINDOW)
    }

    fn next(&mut self) -> io::Result<()> {
        for ahead in 1..=AHEAD {
            let range = self.range(ahead);
            if !range.is_empty() {
                self.source.expect(&[range]);
            }
        }
        let range = self.range(0);
        self.window = self.source.read_one(range.clone())?;
        self.at = range.end;
        Ok(())
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.window.is_empty()
            && self.at < self.size
            && let Err(error) = self.next()
        {
            self.failed = Some(error);
            return Err(std::io::Error::other("the source cannot be read"));
        }
        let length = into.len().min(self.window.len());
        into[..length].copy_from_slice(&self.window.split_to(length));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::{WINDOW, whole};
    use bytes::Bytes;
    use forthwith_io::{Error, ErrorKind, Memory, Result, Source};
    use std::{
        ops::Range,
        sync::{Arc, Mutex},
    };

    /// A file far away, which answers no byte from one on.
    #[derive(Debug)]
    struct Far {
        file: Memory,
        end: u64,
        expected: Mutex<Vec<Range<u64>>>,
    }

    impl Source for Far {
        fn uri(&self) -> &str {
            "far"
        }

        fn size(&self) -> Result<u64> {
            self.file.size()
        }

        fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
            match ranges.iter().find(|range| range.end > self.end) {
                Some(range) => Err(Error::new(ErrorKind::NotFound, "far").at(range.start)),
                None => self.file.read(ranges),
            }
        }

        fn expect(&self, ranges: &[Range<u64>]) {
            self.expected.lock().expect("no panic").extend(ranges.iter().cloned());
        }

        fn zero_copy(&self) -> bool {
            false
        }

        fn concurrent(&self) -> bool {
            false
        }

        fn plans_requests(&self) -> bool {
            true
        }
    }

    fn far(length: u64, end: u64) -> Arc<Far> {
        let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        Arc::new(Far { file: Memory::new("far", bytes), end, expected: Mutex::default() })
    }

    #[test]
    fn a_far_file_is_copied_and_another_is_not() {
        for length in [0, 1, WINDOW, 3 * WINDOW + 5] {
            let file = far(length, length);
            let copy = whole(Arc::clone(&file) as Arc<dyn Source>).expect("a copy");
            assert_eq!(
                copy.read_one(0..length).expect("inside"),
                file.file.read_one(0..length).expect("inside")
            );
            assert_eq!(copy.uri(), "far");
            assert!(!copy.plans_requests());
            // Each window was read as it was expected.
            let expected = file.expected.lock().expect("no panic").clone();
            assert!(expected.iter().all(|range| range.start % WINDOW == 0 && range.end <= length));
        }
        let near: Arc<dyn Source> = Arc::new(Memory::new("near", vec![0; 9]));
        assert!(Arc::ptr_eq(&whole(Arc::clone(&near)).expect("itself"), &near));
    }

    #[test]
    fn the_error_is_that_of_the_source() {
        let error = whole(far(3 * WINDOW, 2 * WINDOW)).expect_err("no third window");
        assert!(error.to_string().contains(&format!("far, byte {}: not found", 2 * WINDOW)), "{error}");
    }
}
