//! Whether a file is whole: what its parts say of each other, and what can be read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use forthwith_io::Decompressor;
use forthwith_plan::{Error, Result};

use super::{Key, RootFile, decompress_record, known::is_roots_own};
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
        let mut records = self.check_records(&mut checked)?;
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
            self.check_key(&found.path, &found.key, &mut records, &mut checked);
        }
        self.check_free(&records.gaps, &mut checked);
        self.check_streamers(&mut checked);
        for found in &listed {
            if !found.key.is_directory() {
                self.check_object(&found.path, &found.key, &mut records, &mut checked);
            }
        }
        Ok(checked)
    }

    fn check_records(&self, checked: &mut Checked) -> Result<Walked> {
        let mut walked = Walked::default();
        for record in self.records()? {
            // Whoever made the file may have left something between records. What is listed behind is looked up by itself.
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let what = format!("no record here, so that none behind it is found: {}", error.kind);
                    checked.find(Severity::Remark, "records", error.place.byte, what);
                    walked.is_cut_short = true;
                    break;
                }
            };
            if let Some(key) = record.key.as_ref().filter(|key| key.seek != record.at)
                // Lists of keys and of free segments are found by other means.
                && &*key.class_name != "TFile"
            {
                let what = format!(
                    "no record here, so that none behind it is found: the key says that it stands at byte {}",
                    key.seek
                );
                checked.find_in(Severity::Remark, "records", Some(&key.label()), Some(record.at), what);
                walked.is_cut_short = true;
                break;
            }
            let Some(key) = record.key else {
                checked.records += 1;
                walked.gaps.push((record.at, record.at + record.length - 1));
                continue;
            };
            self.check_record(key, record.at, record.length, &mut walked, checked);
        }
        Ok(walked)
    }

    fn check_record(&self, key: Key, at: u64, length: u64, walked: &mut Walked, checked: &mut Checked) {
        checked.records += 1;
        if &*key.class_name == "TBasket" {
            checked.baskets += 1;
        }
        match self.decompressed(&key, at, length) {
            Ok(length) => checked.bytes += length,
            Err(error) => {
                // As above.
                let is_list = &*key.class_name == "TFile" && key.seek != at;
                let severity = if is_list { Severity::Remark } else { Severity::Damage };
                checked.find_in(severity, "records", Some(&key.label()), Some(at), error.kind.to_string());
            }
        }
        walked.keys.insert(at, key);
    }

    /// The key of the record that something says is here.
    fn record_key<'a>(&self, at: u64, walked: &'a mut Walked, checked: &mut Checked) -> Option<&'a Key> {
        if walked.is_cut_short
            && !walked.keys.contains_key(&at)
            && let Some(key) = self.key_at(at)
            && let Ok(length) = u64::try_from(key.nbytes)
            && length >= u64::from(key.keylen)
        {
            self.check_record(key, at, length, walked, checked);
        }
        walked.keys.get(&at)
    }

    fn key_at(&self, at: u64) -> Option<Key> {
        let head = self.source().read_one(at..at.checked_add(Key::FIXED)?).ok()?;
        let length = u16::from_be_bytes([*head.get(14)?, *head.get(15)?]);
        let bytes = self.source().read_one(at..at.checked_add(u64::from(length))?).ok()?;
        Key::parse(&mut Cursor::new(&bytes)).ok()
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

    fn check_key(&self, path: &str, key: &Key, records: &mut Walked, checked: &mut Checked) {
        let label = format!("{path};{}", key.cycle);
        let Some(record) = self.record_key(key.seek, records, checked) else {
            let what = "a directory lists it where there is no record";
            checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            return;
        };
        let differences = [
            ("place", key.seek, record.seek),
            ("length", u64::from(key.nbytes.unsigned_abs()), u64::from(record.nbytes.unsigned_abs())),
            ("length of the key", u64::from(key.keylen), u64::from(record.keylen)),
            ("length of the object", u64::from(key.objlen), u64::from(record.objlen)),
            ("cycle", u64::from(key.cycle), u64::from(record.cycle)),
        ];
        for (what, listed, stored) in differences {
            if listed != stored {
                let what = format!("{what}: the directory says {listed}, the record {stored}");
                checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            }
        }
        if key.is_renamed(record) {
            let what = format!("it was renamed: the record says that it is {}", record.name);
            checked.find_in(Severity::Remark, "keys", Some(&label), Some(key.seek), what);
        } else if key.name != record.name || !key.is_same_class(record) {
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

    fn check_object(&self, path: &str, key: &Key, records: &mut Walked, checked: &mut Checked) {
        let label = format!("{path};{}", key.cycle);
        let payload = match self.payload(key) {
            Ok(payload) => payload,
            Err(error) => {
                let severity = severity_of(&error);
                let what = at_object(&error);
                checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
                return;
            }
        };
        let read =
            self.walker().and_then(|walker| walker.read(payload, u32::from(key.keylen), &key.class_name));
        let objects = match read {
            Ok(objects) => objects,
            Err(error) => {
                let (severity, what) = misread(&key.class_name, &error);
                checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
                return;
            }
        };
        for (object, error) in objects.faults() {
            let (severity, what) = misread(object.class(), error);
            let what = format!("in {}: {what}", object.class());
            checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
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

    fn check_tree(&self, label: &str, objects: &Objects, records: &mut Walked, checked: &mut Checked) {
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
            if let Err((byte, what)) = self.check_branch(*branch, records, checked) {
                checked.find_in(Severity::Damage, "trees", Some(&place), byte, what);
            }
        }
    }

    /// Whether the baskets of a branch are there and hold as many entries as it says.
    fn check_branch(
        &self,
        branch: Object<'_>,
        records: &mut Walked,
        checked: &mut Checked,
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
            let key = self.record_key(at, records, checked).filter(|key| &*key.class_name == "TBasket");
            let Some(key) = key.filter(|key| key.seek == at) else {
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
    /// Whether the walk ended before the file.
    is_cut_short: bool,
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

/// What it means that an object of a class, whose bytes are there, is not what its streamer info says.
fn misread(class: &str, error: &Error) -> (Severity, String) {
    let (severity, what) = (severity_of(error), at_object(error));
    if severity < Severity::Damage || is_roots_own(class) {
        return (severity, what);
    }
    let what = format!("not described: {class} has a streamer of its own, or is damaged ({what})");
    (Severity::Remark, what)
}

/// Classes that have no members to be known.
fn is_plain(object: &Object<'_>) -> bool {
    object.body().is_empty() || matches!(object.class(), "TBasket" | "TQObject")
}

/// More findings are counted only.
const MAX_FINDINGS: usize = 1000;
