//! Files whose envelopes were changed and whose checksums are right again, so that a lie is believed until something
//! else disagrees with it.

use forthwith::{
    io::{Decompressor, Memory, xxh3},
    root::{RootFile, decompress_record},
};
use std::sync::Arc;

/// An ntuple taken apart: envelopes without their checksums, decompressed.
#[derive(Clone)]
pub(crate) struct Parts {
    file: Vec<u8>,
    /// Where the anchor's object is.
    anchor: usize,
    pub(crate) header: Vec<u8>,
    pub(crate) footer: Vec<u8>,
    /// Page lists, and where their links are in the footer.
    pub(crate) lists: Vec<(usize, Vec<u8>)>,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn count(bytes: &[u8], at: usize) -> usize {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    if let Some(to) = bytes.get_mut(at..at + 8) {
        to.copy_from_slice(&number.to_le_bytes());
    }
}

impl Parts {
    /// Nothing if the anchor is compressed, since it would not be of the same length with other numbers in it; nor if
    /// envelopes continue in other records.
    pub(crate) fn of(file: Vec<u8>, name: &str) -> Option<Self> {
        let source = Arc::new(Memory::new("whole.root", file.clone()));
        let opened = RootFile::open(source).expect("a file");
        let key = opened.find(name).expect("an ntuple").key;
        let anchor = key.stored().expect("a range");
        if anchor.end - anchor.start != u64::from(key.objlen) {
            return None;
        }
        let anchor = anchor.start as usize;
        let word =
            |at: usize| file[anchor + at..].first_chunk().map_or(0, |b| u64::from_be_bytes(*b)) as usize;
        let envelope = |position: usize, stored: usize, length: usize| {
            let mut bytes = vec![0; length];
            let stored = &file[position..position + stored];
            if stored.len() == length {
                bytes.copy_from_slice(stored);
            } else {
                decompress_record(stored, &mut bytes, &mut Decompressor::new()).expect("an envelope");
            }
            bytes.truncate(length - 8);
            bytes
        };
        // Envelopes in several records are not taken apart.
        let longest = word(62);
        if [word(22), word(46)].iter().any(|size| *size > longest) {
            return None;
        }
        let header = envelope(word(14), word(22), word(30));
        let footer = envelope(word(38), word(46), word(54));
        // Behind flags and the header's checksum: the schema extension, then the cluster groups.
        let mut at = 24 + number(&footer, 24) as usize;
        let groups = count(&footer, at + 8);
        at += 12;
        let mut lists = Vec::new();
        for _ in 0..groups {
            let link = at + 28;
            let (length, stored) = (number(&footer, link) as usize, count(&footer, link + 8));
            lists.push((link, envelope(number(&footer, link + 12) as usize, stored, length)));
            at += number(&footer, at) as usize;
        }
        Some(Self { file, anchor, header, footer, lists })
    }

    /// A file of these envelopes. `change` is shown the footer once it leads to the page lists.
    pub(crate) fn file(mut self, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut file = self.file;
        let mut append = |envelope: &mut Vec<u8>| {
            let place = [file.len() as u64, envelope.len() as u64 + 8];
            let kind = number(envelope, 0) & 0xffff;
            put(envelope, 0, kind | place[1] << 16);
            let hash = xxh3(envelope);
            file.extend(&*envelope);
            file.extend(hash.to_le_bytes());
            (place, hash)
        };
        let (header, hash) = append(&mut self.header);
        for (link, list) in &mut self.lists {
            put(list, 8, hash);
            let ([position, size], _) = append(list);
            put(&mut self.footer, *link, size);
            if let Some(to) = self.footer.get_mut(*link + 8..*link + 12) {
                to.copy_from_slice(&(size as u32).to_le_bytes());
            }
            put(&mut self.footer, *link + 12, position);
        }
        put(&mut self.footer, 16, hash);
        change(&mut self.footer);
        let (footer, _) = append(&mut self.footer);
        let places = [header, footer].map(|[position, size]| [position, size, size]);
        for (word, at) in places.as_flattened().iter().zip((self.anchor + 14..).step_by(8)) {
            file[at..at + 8].copy_from_slice(&word.to_be_bytes());
        }
        let hash = xxh3(&file[self.anchor + 6..self.anchor + 70]);
        file[self.anchor + 70..self.anchor + 78].copy_from_slice(&hash.to_be_bytes());
        file
    }
}
