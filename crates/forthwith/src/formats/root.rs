//! ROOT files.

mod extend;
mod merge;
mod objects_diff;
mod recover;
mod rewrite;

pub use extend::extend_tree;

use super::Format;
use crate::check::{Counted, Reading as CheckedReading};
use crate::{
    Container, DiffOptions, File, FileInfo, Key, Merge, MergeProgress, Merged, Object, ObjectDiff,
    OpenOptions, OptionKind, OptionSpec, RecoverProgress, RecoverReport, Recovery, Words,
};
use forthwith_columns::Form;
use forthwith_engine::{BlockThreads, Engine};
use forthwith_io::{Sink, Source};
use forthwith_plan::{
    BlockFormat, CheckReport, Dataset, Error, ErrorKind, Finding, Result, Severity, TableWriter, WriteOptions,
};
use forthwith_rntuple::{LostAnchor, Ntuple, NtupleCheck, NtupleFormat, NtupleOptions, NtupleTable, Options};
use forthwith_root::{
    Checked, Found, Header, Objects, Recovered, RootFile, setting_name,
    write::{Compression, FileSettings},
};
use forthwith_ttree::{
    Tree, TreeCheck, TreeFormat,
    write::{ColumnOptions, Nulls, TreeFile, TreeOptions},
};
use std::{any::Any, sync::Arc};

/// The ROOT format, as listed in `FORMATS`.
pub(super) struct Root;

/// Default name of a tree, and the name of trees as a kind of table.
const DEFAULT_TREE: &str = "tree";

/// Default name of an RNTuple, and the name of RNTuples as a kind of table.
const NTUPLE: &str = "ntuple";

/// Codec that is used if only a compression level is set.
const DEFAULT_CODEC: &str = "zlib";

/// Upper bound on ROOT's version after the magic bytes, to which large files add one million.
const LARGEST_VERSION: i32 = 100_000_000;

const RECOVER: OptionSpec = OptionSpec {
    name: "recover",
    kind: OptionKind::Flag,
    about: "open a file that was not closed by the records that are there, whatever its directories say",
};

const CHECKSUMS: OptionSpec = OptionSpec {
    name: "checksums",
    kind: OptionKind::Flag,
    about: "verify the checksums of RNTuples, as is done unless this is false",
};

impl Format for Root {
    fn name(&self) -> &'static str {
        "ROOT"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["root"]
    }

    fn recognise(&self, head: &[u8], _: &str) -> bool {
        let Some(rest) = head.strip_prefix(b"root") else { return false };
        // Other text may begin with the same four bytes. Some files have a negative version.
        rest.first_chunk().is_none_or(|version| i32::from_be_bytes(*version) < LARGEST_VERSION)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[RECOVER, CHECKSUMS]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let ((file, anchors), recovered) = if options.flag(RECOVER.name, false) {
            let (file, anchors, recovered) = recover::open(source)?;
            ((file, anchors), Some(recovered))
        } else {
            ((RootFile::open(source)?, Vec::new()), None)
        };
        let ntuples = Options { verify: options.flag(CHECKSUMS.name, true) };
        Ok(Arc::new(Opened { engine: Arc::clone(engine), file, recovered, anchors, ntuples }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        let compression = match (options.codec.as_deref(), options.level) {
            (None, None) => Compression::default(),
            (codec, level) => Compression::named(codec.unwrap_or(DEFAULT_CODEC), level)?,
        };
        let settings = FileSettings { compression, ..FileSettings::default() };
        if options.table.as_deref() == Some(NTUPLE) {
            let pages = match (options.codec.as_deref(), options.level) {
                (None, None) => NtupleOptions::default().compression,
                _ => compression,
            };
            let ntuple = NtupleOptions {
                compression: pages,
                cluster_entries: options.block_entries.unwrap_or(u64::MAX),
                nulls: options.nulls,
                runner: Some(Arc::new(BlockThreads::default())),
                ..NtupleOptions::default()
            };
            let name = options.name.as_deref().unwrap_or(NTUPLE);
            return Ok(Box::new(NtupleTable::new(sink, settings, name, fields, ntuple)?));
        }
        let column = ColumnOptions {
            nulls: options.nulls.map_or(Nulls::Refused, Nulls::Filled),
            ..ColumnOptions::default()
        };
        let counted = options.counters.iter().map(|(name, counter)| {
            (name.clone(), ColumnOptions { counter: Some(counter.clone()), ..column.clone() })
        });
        let tree = TreeOptions {
            cluster_entries: options.block_entries,
            columns: counted.collect(),
            default_column: column,
            runner: Arc::new(BlockThreads::default()),
            ..TreeOptions::default()
        };
        let name = options.name.as_deref().unwrap_or(DEFAULT_TREE);
        Ok(Box::new(TreeFile::create(sink, name, fields, settings, tree)?))
    }

    fn tables(&self) -> &'static [&'static str] {
        &[DEFAULT_TREE, NTUPLE]
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 2] = [&TreeFormat, &NtupleFormat];
        &BLOCKS
    }

    fn prepare(&self) {
        forthwith_root::prepare();
    }
}

static TREES: Words =
    Words { table: "tree", column: ["branch", "branches"], block: ["basket", "baskets"], rows: false };

static NTUPLES: Words =
    Words { table: "RNTuple", column: ["field", "fields"], block: ["page", "pages"], rows: false };

struct Opened {
    engine: Arc<Engine>,
    file: RootFile,
    recovered: Option<Recovered>,
    /// Anchors that were created for RNTuples without one.
    anchors: Vec<LostAnchor>,
    ntuples: Options,
}

/// Returns the numbers of a header by their names in `TFile`.
fn numbers(header: &Header) -> Vec<(&'static str, i64)> {
    vec![
        ("fVersion", header.version.into()),
        ("fBEGIN", header.begin.cast_signed()),
        ("fEND", header.end.cast_signed()),
        ("fSeekFree", header.seek_free.cast_signed()),
        ("fNbytesFree", header.nbytes_free.into()),
        ("nfree", header.nfree.into()),
        ("fNbytesName", header.nbytes_name.into()),
        ("fUnits", header.units.into()),
        ("fCompress", header.compression.into()),
        ("fSeekInfo", header.seek_info.cast_signed()),
        ("fNbytesInfo", header.nbytes_info.into()),
    ]
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        Root.name()
    }

    fn source(&self) -> &Arc<dyn Source> {
        self.file.source()
    }

    fn info(&self) -> Result<FileInfo> {
        let header = self.file.header();
        let (major, minor, patch) = header.root_version();
        Ok(FileInfo {
            version: format!("{major}.{minor:02}/{patch:02}"),
            compression: setting_name(header.compression),
            uuid: header.uuid.map(|u| uuid(&u)),
            identity: header.uuid.map(|u| uuid(&u)),
            header: numbers(header),
            ..FileInfo::of(self)?
        })
    }

    fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        let top = self.file.top();
        let directory = if directory.is_empty() { top } else { top.open(&self.file.find(directory)?.key)? };
        if !recursive {
            return Ok(directory.keys()?.iter().map(|k| key(&k.name, k)).collect());
        }
        let prefix = directory.path().to_owned();
        let strip = |f: Found| {
            let path = f.path.strip_prefix(&prefix).unwrap_or(&f.path).trim_start_matches('/').to_owned();
            key(&path, &f.key)
        };
        Ok(directory.keys_recursive()?.into_iter().map(strip).collect())
    }

    fn find(&self, path: &str) -> Result<Key> {
        let (found, set) = self.place(path)?;
        let of = key(&found.path, &found.key);
        Ok(match set {
            None => of,
            Some(set) => {
                let set = Ntuple::open(&self.file, &found, self.ntuples)?.attribute_set(&set)?;
                let path = set.object().to_owned();
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                Key { path, name, title: set.description().to_owned(), ..of }
            }
        })
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        let (found, set) = self.place(path)?;
        if let Some(set) = set {
            let ntuple = Ntuple::open(&self.file, &found, self.ntuples)?;
            return Ok(Arc::new(ntuple.attribute_set(&set)?));
        }
        let class = &found.key.class_name;
        if Tree::is_tree(class) {
            return Ok(Arc::new(Tree::open_found(&self.file, &found)?));
        }
        if Ntuple::is_ntuple(class) {
            return Ok(Arc::new(Ntuple::open(&self.file, &found, self.ntuples)?));
        }
        let what = format!("{class} as a table");
        Err(Error::unsupported(what).in_file(self.file.uri()).in_object(&found.path))
    }

    fn object(&self, path: &str) -> Result<Object> {
        let found = self.file.find(path)?;
        Ok(Object::new(&found.key.class_name, self.file.object(&found.key)?))
    }

    fn check(&self) -> Result<CheckReport> {
        let mut report = self.file.check(&mut [&mut TreeCheck::default(), &mut NtupleCheck]).map(report)?;
        // Keys that cannot be listed were reported by the check of the file.
        for found in self.file.keys_recursive().unwrap_or_default() {
            if Ntuple::is_ntuple(&found.key.class_name) {
                self.check_ntuple(&found, &mut report)?;
            }
        }
        Ok(report)
    }

    fn diff_objects(&self, left: &Object, right: &Object, options: &DiffOptions) -> Result<ObjectDiff> {
        match (left.own::<Objects>(), right.own::<Objects>()) {
            (Some(left), Some(right)) => Ok(objects_diff::diff_objects(left, right, options)),
            _ => Err(Error::unsupported(format!("comparing a {} with a {}", left.class(), right.class()))),
        }
    }

    fn merge(
        &self,
        files: &[&dyn Container],
        sink: Box<dyn Sink>,
        merge: &Merge,
        progress: &mut MergeProgress<'_>,
    ) -> Result<Merged> {
        let own = |file: &&dyn Container| {
            let own = file.own().downcast_ref::<RootFile>().cloned();
            own.ok_or_else(|| file.lacks("merging ROOT files with"))
        };
        let inputs = files.iter().map(own).collect::<Result<Vec<_>>>()?;
        let compression = match (merge.codec.as_deref(), merge.level) {
            (None, None) => None,
            (codec, level) => Some(Compression::named(codec.unwrap_or(DEFAULT_CODEC), level)?),
        };
        merge::merge(&inputs, sink, compression, merge, progress)
    }

    fn recover(
        &self,
        file: &File,
        sink: Box<dyn Sink>,
        progress: &mut RecoverProgress<'_>,
    ) -> Result<RecoverReport> {
        let Some(found) = &self.recovered else {
            let what = "a file that was opened by its directories: open it with recover";
            return Err(Error::invalid(what).in_file(self.file.uri()));
        };
        recover::recover(&self.file, (found, &self.anchors), file, sink, progress)
    }

    fn words(&self) -> &'static Words {
        &TREES
    }

    fn words_of(&self, dataset: &dyn Dataset) -> &'static Words {
        if dataset.format() == NtupleFormat::ID { &NTUPLES } else { &TREES }
    }

    fn recovery(&self) -> Option<Recovery> {
        let found = self.recovered.as_ref()?;
        Some(Recovery {
            objects: found.objects,
            blocks: found.baskets,
            deleted: found.deleted,
            unlisted: found.unlisted.clone(),
            describes_classes: found.streamers,
            end: found.end,
            size: found.size,
            stopped: found.stopped.as_ref().map(|error| error.kind.to_string()),
            gaps: recover::gaps(found),
        })
    }

    fn own(&self) -> &dyn Any {
        &self.file
    }
}

impl Opened {
    /// Returns the key of a path, and the name of the attribute set if the path names one: `dir/ntuple@set`,
    /// or `dir/ntuple@set;2` for cycle 2 of the RNTuple.
    fn place(&self, path: &str) -> Result<(Found, Option<String>)> {
        let missing = match self.file.find(path) {
            Ok(found) => return Ok((found, None)),
            Err(error) if matches!(error.kind, ErrorKind::NotFound { .. }) => error,
            Err(error) => return Err(error),
        };
        for (at, _) in path.match_indices('@') {
            let (of, set) = (&path[..at], &path[at + 1..]);
            let (set, cycle) = match set.rsplit_once(';') {
                Some((set, cycle)) if cycle.parse::<u16>().is_ok() => (set, format!(";{cycle}")),
                _ => (set, String::new()),
            };
            let found = self.file.find(&format!("{of}{cycle}"));
            if let Some(found) = found.ok().filter(|found| Ntuple::is_ntuple(&found.key.class_name)) {
                return Ok((found, Some(set.to_owned())));
            }
        }
        Err(missing)
    }

    /// Reads all values of an RNTuple and of its attribute sets.
    fn check_ntuple(&self, found: &Found, report: &mut CheckReport) -> Result<()> {
        let label = |set: &str| format!("{}{set};{}", found.path, found.key.cycle);
        let ntuple = Ntuple::open(&self.file, found, self.ntuples);
        let Some(ntuple) = self.check_pages(&label(""), ntuple, report)? else { return Ok(()) };
        for name in ntuple.attribute_sets() {
            self.check_pages(&label(&format!("@{name}")), ntuple.attribute_set(&name), report)?;
        }
        Ok(())
    }

    /// Reads all values of an RNTuple, cluster by cluster, which verifies its envelopes and pages. Returns
    /// the RNTuple, or `None` if it cannot be opened.
    fn check_pages(
        &self,
        label: &str,
        ntuple: Result<Ntuple>,
        report: &mut CheckReport,
    ) -> Result<Option<Ntuple>> {
        let part = "RNTuples";
        let damaged = |error: &Error| Finding {
            severity: match error.kind {
                ErrorKind::Unsupported { .. } => Severity::Remark,
                _ => Severity::Damage,
            },
            part,
            object: Some(label.to_owned()),
            byte: error.place.byte,
            what: match &error.place.member {
                Some(member) => format!("{member}: {}", error.kind),
                None => error.kind.to_string(),
            },
        };
        let looked_at = || {
            let ntuple = ntuple?;
            let pages = ntuple.pages()?;
            let cuts = ntuple.boundaries(&[], 0..ntuple.entries()?)?;
            Ok::<_, Error>((ntuple, pages, cuts))
        };
        let (ntuple, pages, cuts) = match looked_at() {
            Ok(found) => found,
            Err(error) if matches!(error.kind, ErrorKind::Source(_)) => return Err(error),
            Err(error) => {
                report.add(damaged(&error));
                return Ok(None);
            }
        };
        match report.counts.iter_mut().find(|(name, _)| *name == "pages") {
            Some((_, count)) => *count += pages,
            None => report.counts.push(("pages", pages)),
        }
        let format = Counted::new(&NtupleFormat);
        let reading = CheckedReading {
            engine: &self.engine,
            source: self.source(),
            dataset: &ntuple,
            check_text: false,
            part,
            ahead: 0,
            counted: crate::check::Bytes::File,
            format: &format,
        };
        let fields = reading.fields(report)?;
        for cluster in cuts.windows(2) {
            reading.columns(&fields, &(cluster[0]..cluster[1]), report, &mut |_, _, _| ())?;
        }
        Ok(Some(ntuple))
    }
}

fn report(checked: Checked) -> CheckReport {
    CheckReport {
        counts: vec![
            ("records", checked.records as u64),
            ("baskets", checked.baskets as u64),
            ("objects", checked.objects as u64),
            ("branches", checked.branches as u64),
        ],
        decompressed_bytes: checked.bytes,
        left_out: checked.left_out() as u64,
        findings: checked.findings,
    }
}

fn key(path: &str, key: &forthwith_root::Key) -> Key {
    Key {
        path: path.to_owned(),
        name: key.name.to_string(),
        cycle: key.cycle,
        class: key.class_name.to_string(),
        title: key.title.to_string(),
        stored_bytes: u64::from(key.nbytes.unsigned_abs()),
        object_bytes: u64::from(key.objlen),
        is_directory: key.is_directory(),
        is_table: Tree::is_tree(&key.class_name) || Ntuple::is_ntuple(&key.class_name),
        is_unsupported_table: Ntuple::is_experimental(&key.class_name),
    }
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
