//! Whether a file is whole: what its parts say of each other, and what can be read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use forthwith_io::Decompressor;
use forthwith_plan::{Error, Result};

use super::{Key, RootFile, decompress_record};
use crate::object::{BasketHeader, Cursor, Object, Objects};
use crate::tree::Tree;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing. Everything that is listed can be read.
    Remark,
    /// Something that is listed cannot be read, or not as it was written.
    Damage,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What was looked at: `"header"`, `"records"`, `"keys"`, `"free segments"`, `"streamer infos"`, `"objects"`, `"trees"`.
    pub part: &'static str,
    /// The object, if it is about one.
    pub object: Option<String>,
    /// Where in the file, as far as known.
    pub byte: Option<u64>,
    /// What it is.
    pub what: String,
}

/// What a check looked at and found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Checked {
    /// Records of the file.
    pub records: usize,
    /// Of them, baskets.
    pub baskets: usize,
    /// Bytes that were decompressed.
    pub bytes: u64,
    /// Objects that directories list.
    pub objects: usize,
    /// Branches whose baskets were compared with the records.
    pub branches: usize,
    /// What was found, in the order of the parts.
    pub findings: Vec<Finding>,
    left_out: usize,
}

impl Checked {
    /// The worst of what was found.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// How many more findings there were than are listed.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    fn find(&mut self, severity: Severity, part: &'static str, byte: Option<u64>, what: impl Into<String>) {
        self.find_in(severity, part, None, byte, what);
    }

    fn find_in(
        &mut self,
        severity: Severity,
        part: &'static str,
        object: Option<&str>,
        byte: Option<u64>,
        what: impl Into<String>,
    ) {
        if self.findings.len() >= MAX_FINDINGS {
            self.left_out += 1;
            return;
        }
        let object = object.map(str::to_owned);
        self.findings.push(Finding { severity, part, object, byte, what: what.into() });
    }
}

impl RootFile {
    /// Reads the whole file and compares what its parts say of each other: header, records with their checksums, lists of keys,
    /// free segments, streamer infos, the byte counts in every object, and the baskets that trees name.
    ///
    /// # Errors
    /// The source cannot be read. Whatever is wrong with the file is a finding.
    pub fn check(&self) -> Result<Checked> {
        let mut checked = Checked::default();
        let size = self.source().size()?;
        let header = self.header();
        match header.end.cmp(&size) {
            std::cmp::Ordering::Less => checked.find(
                Severity::Remark,
                "header",
                Some(header.end),
                format!("{} bytes follow behind the end that the header gives", size - header.end),
            ),
            std::cmp::Ordering::Greater => checked.find(
                Severity::Damage,
                "header",
                Some(size),
                format!("the file ends {} bytes before the end that the header gives", header.end - size),
            ),
            std::cmp::Ordering::Equal => {}
        }
        let records = self.check_records(&mut checked)?;
        let listed = match self.keys_recursive() {
            Ok(listed) => listed,
            Err(error) => {
                checked.find(Severity::Damage, "keys", error.place.byte, error.kind.to_string());
                Vec::new()
            }
        };
        checked.objects = listed.len();
        self.check_unlisted(&mut checked);
        for found in &listed {
            self.check_key(&found.path, &found.key, &records.keys, &mut checked);
        }
        self.check_free(&records.gaps, &mut checked);
        self.check_streamers(&mut checked);
        for found in &listed {
            if !found.key.is_directory() {
                self.check_object(&found.path, &found.key, &records.keys, &mut checked);
            }
        }
        Ok(checked)
    }

    fn check_records(&self, checked: &mut Checked) -> Result<Walked> {
        let mut walked = Walked::default();
        for record in self.records()? {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let what = format!("no record here, so that none behind it is found: {}", error.kind);
                    checked.find(Severity::Damage, "records", error.place.byte, what);
                    break;
                }
            };
            checked.records += 1;
            let Some(key) = record.key else {
                walked.gaps.push((record.at, record.at + record.length - 1));
                continue;
            };
            let label = key.label();
            if key.seek != record.at {
                let what = format!("the key says that it stands at byte {}", key.seek);
                // Lists of keys and of free segments are found by other means.
                let severity = if &*key.class_name == "TFile" { Severity::Remark } else { Severity::Damage };
                checked.find_in(severity, "records", Some(&label), Some(record.at), what);
            }
            if &*key.class_name == "TBasket" {
                checked.baskets += 1;
            }
            match self.decompressed(&key, record.at, record.length) {
                Ok(length) => checked.bytes += length,
                Err(error) => {
                    let what = error.kind.to_string();
                    checked.find_in(Severity::Damage, "records", Some(&label), Some(record.at), what);
                }
            }
            walked.keys.insert(record.at, key);
        }
        Ok(walked)
    }

    /// Decompresses a record, whose checksums are compared thereby.
    fn decompressed(&self, key: &Key, at: u64, length: u64) -> Result<u64> {
        let stored =
            Key { seek: at, nbytes: i32::try_from(length).unwrap_or(i32::MAX), ..key.clone() }.stored()?;
        // What is in the records of an RNTuple is compressed in pieces that only its page lists know.
        if stored.end - stored.start >= u64::from(key.objlen) || &*key.class_name == "RBlob" {
            return Ok(stored.end - stored.start);
        }
        let bytes = self.source().read_one(stored)?;
        super::check_record(&bytes, key.objlen as usize)?;
        let mut payload = vec![0; key.objlen as usize];
        decompress_record(&bytes, &mut payload, &mut Decompressor::default())?;
        Ok(u64::from(key.objlen))
    }

    fn check_key(&self, path: &str, key: &Key, records: &BTreeMap<u64, Key>, checked: &mut Checked) {
        let label = format!("{path};{}", key.cycle);
        let Some(record) = records.get(&key.seek) else {
            let what = "a directory lists it where there is no record";
            checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            return;
        };
        let differences = [
            ("length", i64::from(key.nbytes), i64::from(record.nbytes)),
            ("length of the key", i64::from(key.keylen), i64::from(record.keylen)),
            ("length of the object", i64::from(key.objlen), i64::from(record.objlen)),
            ("cycle", i64::from(key.cycle), i64::from(record.cycle)),
        ];
        for (what, listed, stored) in differences {
            if listed != stored {
                let what = format!("{what}: the directory says {listed}, the record {stored}");
                checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            }
        }
        // What a list calls a TDirectoryFile calls itself a TDirectory in files written before there was the other.
        let same_class = key.class_name == record.class_name || (key.is_directory() && record.is_directory());
        if key.name != record.name || !same_class {
            let what = format!("the record says that it is {} of class {}", record.name, record.class_name);
            checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
        }
    }

    /// What only a recovery finds. In a file that was not closed that is what was written last.
    fn check_unlisted(&self, checked: &mut Checked) {
        let Ok((_, found)) = Self::recover(self.source().clone()) else { return };
        if found.unlisted.is_empty() {
            return;
        }
        let is_closed = self.header().seek_free != 0 && self.header().nbytes_free != 0;
        let severity = if is_closed { Severity::Remark } else { Severity::Damage };
        let names = found.unlisted.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        let what = format!(
            "{} objects are in no directory, and a recovery finds them: {names}",
            found.unlisted.len()
        );
        checked.find(severity, "keys", None, what);
    }

    fn check_free(&self, gaps: &[(u64, u64)], checked: &mut Checked) {
        let part = "free segments";
        let segments = match self.free_segments() {
            Ok(segments) => segments,
            Err(error) => {
                checked.find(Severity::Remark, part, error.place.byte, error.kind.to_string());
                return;
            }
        };
        let end = self.header().end;
        match segments.last() {
            Some(&(first, _)) if first == end => {}
            Some(&(first, _)) => {
                let what = format!("the last begins at byte {first}, and not where the file ends, at {end}");
                checked.find(Severity::Remark, part, None, what);
            }
            None => checked.find(Severity::Remark, part, None, "there is no list: the file was not closed"),
        }
        if segments.windows(2).any(|pair| pair[0].1 >= pair[1].0) || segments.iter().any(|(a, b)| a > b) {
            checked.find(Severity::Remark, part, None, "they overlap");
        }
        for &(first, last) in gaps {
            if !segments.iter().any(|&(begin, end)| begin <= first && last <= end) {
                let what = format!("the deleted record up to byte {last} is not listed");
                checked.find(Severity::Remark, part, Some(first), what);
            }
        }
    }

    fn check_streamers(&self, checked: &mut Checked) {
        let infos = self.streamers().and_then(|streamers| streamers.infos());
        if let Err(error) = infos {
            checked.find(Severity::Damage, "streamer infos", error.place.byte, error.kind.to_string());
        }
    }

    fn check_object(&self, path: &str, key: &Key, records: &BTreeMap<u64, Key>, checked: &mut Checked) {
        let label = format!("{path};{}", key.cycle);
        let objects = match self.object(key) {
            Ok(objects) => objects,
            Err(error) => {
                let severity = severity_of(&error);
                let what = at_object(&error);
                checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
                return;
            }
        };
        for (object, error) in objects.faults() {
            let what = format!("in {}: {}", object.class(), at_object(error));
            checked.find_in(severity_of(error), "objects", Some(&label), Some(key.seek), what);
        }
        for left in objects.leftovers() {
            let what = format!("{} bytes in {} behind what its streamer info says", left.length, left.class);
            checked.find_in(Severity::Remark, "objects", Some(&label), Some(key.seek), what);
        }
        let unknown: BTreeSet<(&str, i16)> = objects
            .iter()
            .filter(|object| object.is_opaque() && object.fault().is_none() && !is_plain(object))
            .map(|object| (object.class(), object.version()))
            .collect();
        for (class, version) in unknown {
            let what = format!("no streamer info for class {class} version {version}");
            checked.find_in(Severity::Remark, "streamer infos", Some(&label), None, what);
        }
        if Tree::is_tree(&key.class_name) {
            self.check_tree(&label, &objects, records, checked);
        }
    }

    fn check_tree(
        &self,
        label: &str,
        objects: &Objects,
        records: &BTreeMap<u64, Key>,
        checked: &mut Checked,
    ) {
        let branches: HashMap<u32, Object<'_>> = objects
            .iter()
            .filter(|object| object.class().starts_with("TBranch") && !object.is_opaque())
            .map(|object| (object.number(), object))
            .collect();
        let mut numbers: Vec<u32> = branches.keys().copied().collect();
        numbers.sort_unstable();
        for branch in numbers.iter().filter_map(|number| branches.get(number)) {
            if branch.text("fFileName").is_some_and(|name| !name.is_empty()) {
                continue;
            }
            checked.branches += 1;
            let place = format!("{label}/{}", branch.text("fName").unwrap_or_default());
            if let Err((byte, what)) = self.check_branch(*branch, records) {
                checked.find_in(Severity::Damage, "trees", Some(&place), byte, what);
            }
        }
    }

    /// Whether the baskets of a branch are there and hold as many entries as it says.
    fn check_branch(
        &self,
        branch: Object<'_>,
        records: &BTreeMap<u64, Key>,
    ) -> std::result::Result<(), (Option<u64>, String)> {
        let ints =
            |name| branch.array(name).map(|array| array.ints().collect::<Vec<_>>()).unwrap_or_default();
        let (seeks, first, sizes) = (ints("fBasketSeek"), ints("fBasketEntry"), ints("fBasketBytes"));
        let written = usize::try_from(branch.int("fWriteBasket").unwrap_or(0)).unwrap_or(0);
        let entries = branch.int("fEntries").unwrap_or(0);
        let embedded = branch.list("fBaskets").flatten().filter(|basket| basket.class() == "TBasket").count();
        let mut counted = 0;
        for basket in 0..written {
            let seek = seeks.get(basket).copied().unwrap_or(0);
            if seek == 0 {
                // Inside the branch, or not there.
                if embedded == 0 {
                    return Err((None, format!("basket {basket} of {written} is nowhere")));
                }
                return Ok(());
            }
            let at = seek.unsigned_abs();
            let Some(key) = records.get(&at).filter(|key| &*key.class_name == "TBasket") else {
                return Err((Some(at), format!("there is no basket where basket {basket} should be")));
            };
            if let Some(&size) = sizes.get(basket)
                && size != i64::from(key.nbytes)
            {
                let what = format!("basket {basket} has {} bytes, and not {size}", key.nbytes);
                return Err((Some(at), what));
            }
            let begin = first.get(basket).copied().unwrap_or(0);
            let end = match first.get(basket + 1) {
                Some(&next) if basket + 1 < written || next > 0 => next,
                // Counted from the first entry of the tree, which may be gone.
                _ => branch.int("fEntryNumber").unwrap_or(entries),
            };
            let header = self
                .source()
                .read_one(at..at + u64::from(key.keylen))
                .map_err(Error::new)
                .and_then(|bytes| BasketHeader::parse(&mut Cursor::new(&bytes)))
                .map_err(|error| (Some(at), error.kind.to_string()))?;
            let held = i64::from(header.nev_buf);
            if held != end - begin && end > begin {
                let what = format!("basket {basket} has {held} entries, and not {}", end - begin);
                return Err((Some(at), what));
            }
            counted += held;
        }
        if embedded == 0 && written > 0 && counted != entries {
            return Err((None, format!("its baskets have {counted} entries together, and not {entries}")));
        }
        Ok(())
    }
}

/// Records by where they stand, and the deleted ones.
#[derive(Default)]
struct Walked {
    keys: BTreeMap<u64, Key>,
    gaps: Vec<(u64, u64)>,
}

/// An error with its place in the object, as it is decompressed.
fn at_object(error: &Error) -> String {
    match error.place.byte {
        Some(byte) => format!("{}, at byte {byte} of the object", error.kind),
        None => error.kind.to_string(),
    }
}

/// What the file does not describe is no damage.
fn severity_of(error: &Error) -> Severity {
    match error.kind {
        forthwith_plan::ErrorKind::Unsupported { .. } => Severity::Remark,
        _ => Severity::Damage,
    }
}

/// Classes that have no members to be known.
fn is_plain(object: &Object<'_>) -> bool {
    object.body().is_empty() || matches!(object.class(), "TBasket" | "TQObject")
}

/// More findings are counted only.
const MAX_FINDINGS: usize = 1000;
