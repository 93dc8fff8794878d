//! `TTree`: a table of branches, each a column or a record of columns, whose entries are stored in baskets.

mod damaged_baskets;
mod field_names;
mod index;
mod inspect;
mod item_classes_in_data;
mod planner;
mod unsaved;

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::Arc,
};

use forthwith_plan::{
    Dataset, Decoder, Description, Error, ErrorKind, Field, FriendName, Kernel, Plan, Reading, Result,
    TableIndex,
};

use forthwith_columns::DType;
use forthwith_io::Source;
use forthwith_platform::{ProcessLock, ProcessOnce};
use forthwith_root::class::Layouts;
use forthwith_root::unroll::{Budget, Classes, Noted, OWN_ITEMS, UNDESCRIBED_ITEMS};
use forthwith_root::{
    Element, ElementKind, EntryValue, Found, Objects, RootFile, StreamerInfo, Streamers, Walker,
    builtin_divided, registrations, setting_name,
};

use crate::{
    TreeFormat, TreeInfo,
    baskets::{self, BasketRef},
    columns::{self, Column},
    metadata::{Branch, MemberOf, Metadata},
};
pub use damaged_baskets::DamagedBasket;
use field_names::NameIndex;
pub(crate) use inspect::Inspected;
use planner::{Planner, with_times};
use unsaved::Unsaved;

/// A tree, as its own record describes it. Opening a tree parses the record with the names of its branches;
/// the type of a branch is resolved when it is needed.
///
/// ```no_run
/// use forthwith_plan::Dataset;
/// use forthwith_root::RootFile;
/// use forthwith_ttree::Tree;
///
/// let file = RootFile::open(forthwith_io::open("events.root")?)?;
/// let tree = Tree::open(&file, "Events")?;
/// let branch = tree.find("nMuon")?;
/// println!("{} entries of {}", tree.entries()?, tree.describe(branch)?.type_name);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tree {
    pub(crate) uri: String,
    object: String,
    source: Arc<dyn Source>,
    file_size: u64,
    streamers: Arc<Streamers>,
    /// Classes that the file describes.
    pub(crate) layouts: Arc<Layouts>,
    pub(crate) metadata: Metadata,
    index: ProcessOnce<NameIndex>,
    /// Branch of each leaf, by the leaf's offset in the record.
    owners: ProcessOnce<HashMap<usize, u32>>,
    /// Reader of objects in entries.
    walker: ProcessOnce<Arc<Walker>>,
    known: ProcessLock<Known>,
    /// Baskets that were written after the tree was saved.
    unsaved: Option<Unsaved>,
}

/// Cache of resolved branches, as resolving a class with many members takes long.
#[derive(Default)]
struct Known {
    /// Number of [`registrations`] when the columns were resolved.
    with: u64,
    columns: HashMap<u32, Arc<Column>>,
}

/// Maximum number of cached branches.
const KNOWN_MOST: usize = 1024;

/// Settings for resolving the classes of a branch.
struct Look<'a> {
    /// Whether columns that need the values of another branch are included.
    counted: bool,
    /// Classes that arrays in the data name as those of their items.
    seen: &'a [String],
    /// Limit on the unrolling of classes.
    budget: Budget,
    /// Classes noted while resolving.
    noted: &'a Noted,
}

impl Tree {
    /// Opens the tree at a path such as `dir/tree` or `tree;2`.
    ///
    /// # Errors
    /// Returns an error if there is no object at the path, if it is not a tree, or if its record is damaged.
    pub fn open(file: &RootFile, path: &str) -> Result<Self> {
        Self::open_found(file, &file.find(path)?)
    }

    /// Opens a tree that [`RootFile::find`] returned.
    ///
    /// # Errors
    /// Returns an error if it is not a tree, or if its record is damaged.
    pub fn open_found(file: &RootFile, found: &Found) -> Result<Self> {
        Self::parse(file, found).map_err(|error| error.in_file(file.uri()).in_object(&found.path))
    }

    /// Returns whether objects of this class are trees.
    #[must_use]
    pub fn is_tree(class: &str) -> bool {
        matches!(class, "TTree" | "TNtuple" | "TNtupleD")
    }

    fn parse(file: &RootFile, found: &Found) -> Result<Self> {
        let key = &found.key;
        if !Self::is_tree(&key.class_name) {
            return Err(Error::not_a("a tree", key.class_name.to_string()));
        }
        let payload = file.payload(key)?;
        let objects = file.walker()?.read(payload, u32::from(key.keylen), &key.class_name)?;
        let mut tree = Self::of(file, &found.path, objects)?;
        tree.find_unsaved(file, key)?;
        Ok(tree)
    }

    /// Returns the tree whose record is `objects`.
    pub(crate) fn of(file: &RootFile, path: &str, objects: Objects) -> Result<Self> {
        let metadata = Metadata::of(objects)?;
        Ok(Self {
            uri: file.uri().into(),
            object: path.into(),
            source: Arc::clone(file.source()),
            file_size: file.source().size()?,
            streamers: file.streamers()?,
            layouts: file.layouts()?,
            metadata,
            index: ProcessOnce::new(),
            owners: ProcessOnce::new(),
            walker: ProcessOnce::new(),
            known: ProcessLock::default(),
            unsaved: None,
        })
    }

    /// Returns the metadata of the tree.
    #[must_use]
    pub fn info(&self) -> &TreeInfo {
        &self.metadata.info
    }

    /// Returns the branches by path, in their order if several have the same path.
    pub(crate) fn paths(&self) -> Result<HashMap<&str, VecDeque<u32>>> {
        let mut paths: HashMap<&str, VecDeque<u32>> = HashMap::new();
        for (number, field) in (0..).zip(self.fields()?) {
            paths.entry(&field.path).or_default().push_back(number);
        }
        Ok(paths)
    }

    /// Returns whether the tree was flushed, so that it has clusters.
    pub(crate) fn is_flushed(&self) -> bool {
        self.metadata.objects.top().int("fFlushedBytes").unwrap_or(0) > 0
    }

    /// Returns the expressions and values of the tree's index, if it has one.
    pub(crate) fn index_values(&self) -> Option<crate::copy::IndexValues> {
        crate::copy::values_of(self.metadata.objects.top().object("fTreeIndex")?)
    }

    fn locate(&self, error: impl Into<Error>) -> Error {
        error.into().in_file(&self.uri).in_object(&self.object)
    }

    fn locate_branch(&self, error: Error, field: u32) -> Error {
        let path = self.metadata.fields.get(field as usize).map_or("?", |field| &field.path);
        error.in_file(&self.uri).in_object(&format!("{}/{path}", self.object))
    }

    pub(crate) fn branch(&self, field: u32) -> Result<Branch<'_>> {
        let mut branch =
            self.metadata.branch(field).ok_or_else(|| Error::no_field(field, self.metadata.fields.len()))?;
        branch.unsaved = self.unsaved.as_ref().map(|unsaved| unsaved.of(field));
        Ok(branch)
    }

    /// Returns the baskets of a branch. If they are in another file, that is not opened.
    pub(crate) fn baskets(&self, branch: &Branch<'_>) -> Result<Vec<BasketRef>> {
        let size = if branch.file_name.is_empty() { self.file_size } else { u64::MAX };
        let mut baskets = baskets::of(branch, self.metadata.objects.payload(), size)?;
        if let Some((_, unsaved)) = branch.unsaved
            && let Some(first) = unsaved.first()
        {
            // A basket whose first entries are in the tree's own record was completed later.
            baskets.retain(|basket| basket.number < first.number);
            baskets.extend_from_slice(unsaved);
        }
        Ok(baskets)
    }

    /// Returns the column of a branch, with the layout of its entries.
    pub(crate) fn layout(&self, field: u32) -> Result<Arc<Column>> {
        self.column(field, &self.branch(field)?)
    }

    /// Returns the branch with the number of values behind the pointers of a branch, or `None` if its member
    /// has no counter.
    pub(crate) fn counter_of_member(&self, branch: &Branch<'_>) -> Result<Option<u32>> {
        let Some(member) = &branch.member else { return Ok(None) };
        let checksum = Some(member.checksum).filter(|&checksum| checksum != 0);
        let info = self.streamers.describe(&member.class, member.version, checksum)?;
        let name = columns::member_name(&branch.field.name);
        let element =
            info.iter().flat_map(|info| &info.elements).find(|e| columns::same_member(&e.name, name));
        let counter = element.and_then(forthwith_root::Element::counter);
        Ok(counter.and_then(|counter| self.metadata.counts_of(branch, &counter.name)))
    }

    /// Returns the column of a branch, from the cache if possible.
    fn column(&self, field: u32, branch: &Branch<'_>) -> Result<Arc<Column>> {
        let now = registrations();
        {
            let known = self.known.lock();
            if let Some(column) = known.columns.get(&field).filter(|_| known.with == now) {
                return Ok(Arc::clone(column));
            }
        }
        let column = Arc::new(self.column_with(branch, true)?);
        let mut known = self.known.lock();
        if known.with != now || known.columns.len() >= KNOWN_MOST {
            known.columns.clear();
            known.with = now;
        }
        known.columns.insert(field, Arc::clone(&column));
        Ok(column)
    }

    /// Resolves the column of a branch. Without `counted`, columns that need the values of another branch are
    /// not supported.
    fn column_with(&self, branch: &Branch<'_>, counted: bool) -> Result<Column> {
        let mut noted = Noted::default();
        let column = self.column_by(branch, counted, &[], &mut noted)?;
        let several = std::mem::take(noted.item_classes.get_mut());
        if !several.is_empty() {
            // The file describes several classes for arrays, most of which other objects use. The data name
            // those of this branch.
            let wanted: Vec<&str> = several.iter().map(String::as_str).collect();
            let seen = self.named_in_data(branch, &wanted, true);
            if !seen.is_empty() {
                let narrower = self.column_by(branch, counted, &seen, &mut noted)?;
                return Ok(if narrower.reading.is_ok() { narrower } else { column });
            }
        }
        if !noted.one_item_class.get() || column.reading.is_err() {
            return Ok(column);
        }
        // The file describes one class for arrays. The data tell which of ROOT's own classes, which are in
        // every file, are used, too.
        let mut wanted = OWN_ITEMS.to_vec();
        wanted.extend(UNDESCRIBED_ITEMS.into_iter().filter(|class| !self.streamers.knows(class)));
        let seen = self.named_in_data(branch, &wanted, false);
        if seen.is_empty() {
            return Ok(column);
        }
        let wider = self.column_by(branch, counted, &seen, &mut noted)?;
        Ok(if wider.reading.is_ok() { wider } else { column })
    }

    /// Resolves the column of a branch, with as many of its classes as a column supports.
    fn column_by(
        &self,
        branch: &Branch<'_>,
        counted: bool,
        seen: &[String],
        noted: &mut Noted,
    ) -> Result<Column> {
        let column = |budget, noted: &Noted| self.column_of(branch, &Look { counted, seen, budget, noted });
        Budget::widest(noted, column, |column| column.reading.is_ok())
    }

    fn column_of(&self, branch: &Branch<'_>, look: &Look<'_>) -> Result<Column> {
        let counted = look.counted;
        if branch.class == "TBranch" {
            return Ok(columns::of_leaves(branch, &branch.leaves()?));
        }
        if branch.class == "TBranchSTL" {
            return Ok(columns::of_pointers_by_class(branch));
        }
        let Some(member) = branch.member.as_ref().filter(|_| branch.class == "TBranchElement") else {
            let Some(member) = branch.member.as_ref().filter(|_| !branch.field.has_children) else {
                let class = branch.member.as_ref().map_or(branch.class, |member| &*member.class);
                return Ok(Column::unsupported(class));
            };
            return Ok(columns::of_named_object(branch, &member.class, &mut self.classes(member, look)));
        };
        match member.kind {
            3 | 4 => return Ok(columns::of_counts()),
            -1 | 0 | 31 | 41 if branch.field.has_children => return Ok(Column::unsupported(&*member.class)),
            -1 | 0 if member.id < 0 => {
                return Ok(columns::of_object(branch, member, &mut self.classes(member, look)));
            }
            0 | 1 | 2 | 31 | 41 => {}
            kind => return Ok(Column::unsupported(format!("a branch of kind {kind}"))),
        }
        // A file that was not closed describes no classes, not even those that ROOT defines.
        let Some(info) = self.info_of(member)? else {
            let leaves = branch.leaves()?;
            return Ok(columns::of_undescribed(branch, member, leaves.first()));
        };
        let Some(element) = element_of(&info, branch, member) else {
            return Ok(Column::unsupported(format!(
                "a member of {} that it does not describe",
                member.class
            )));
        };
        if branch.field.has_children {
            let base = if member.kind == 1 { &element.name } else { &element.type_name };
            return Ok(Column::unsupported(&**base));
        }
        let mut classes = self.classes(member, look);
        let items = matches!(member.kind, 31 | 41);
        // The branch with the number of items of the member.
        let counter = match &element.kind {
            ElementKind::Base { .. } if items && counted => self.metadata.items_of(branch),
            ElementKind::BasicPointer(counter) | ElementKind::Loop(counter) if counted => {
                self.metadata.counts_of(branch, &counter.name)
            }
            _ => None,
        };
        let of_items = items && !element.is_base();
        let counts = counter.map(|field| self.numbers_of(field, of_items)).transpose()?.flatten();
        let given = counts.map(|(_, numbers)| numbers);
        let mut column = columns::of_member(branch, &info, element, items, given, &mut classes);
        // If entries have bounds, a list needs no counter.
        let needs =
            |reading: &Reading| matches!(&reading.decoder, Decoder::Program(program) if program.counts);
        column.counts = counts.map(|(field, _)| field).filter(|_| column.reading.as_ref().is_ok_and(needs));
        Ok(column)
    }

    /// Returns the streamer info of the class whose member a branch has.
    fn info_of(&self, member: &MemberOf) -> Result<Option<Arc<StreamerInfo>>> {
        let checksum = Some(member.checksum).filter(|&checksum| checksum != 0);
        let described = self.streamers.describe(&member.class, member.version, checksum)?;
        Ok(described.or_else(|| builtin_divided(&member.class, member.version)))
    }

    /// Returns how the entries of a branch are read as objects, or `None` if they cannot have pointers to
    /// objects.
    ///
    /// # Errors
    /// Returns the reason if the entries cannot be read as objects.
    pub(crate) fn entry_value(&self, branch: &Branch<'_>) -> std::result::Result<Option<EntryValue>, String> {
        let Some(member) = &branch.member else { return Ok(None) };
        let file = &*self.layouts;
        let value = match member.kind {
            _ if branch.class != "TBranchElement" => EntryValue::of_named_object(&member.class),
            // Counts of items.
            3 | 4 => return Ok(None),
            -1 | 0 if member.id < 0 => {
                let divided = (member.kind == 0 && member.class != "TClonesArray")
                    .then_some((member.version, member.checksum));
                EntryValue::of_object(&member.class, divided, file)
            }
            kind => {
                // Only branches of numbers are read without streamer info.
                let info = self.info_of(member).map_err(|error| error.to_string())?;
                let Some(info) = info else { return Ok(None) };
                let element = element_of(&info, branch, member);
                let value =
                    element.and_then(|element| EntryValue::of_member(element, matches!(kind, 31 | 41), file));
                value
                    .ok_or_else(|| format!("a member of class {} that cannot be read apart", member.class))?
            }
        };
        Ok(value.may_point().then_some(value))
    }

    /// Returns a branch with its type if it has one number for each entry, or with `items` for each item, and
    /// `None` otherwise.
    fn numbers_of(&self, field: u32, items: bool) -> Result<Option<(u32, DType)>> {
        let counts = self.column_with(&self.branch(field)?, false)?;
        let wire = match counts.reading.map(|reading| reading.decoder) {
            Ok(Decoder::Kernel(Kernel::Flat { wire, per_entry: 1 })) if !items => wire,
            Ok(Decoder::Kernel(Kernel::Jagged { wire, per_item: 1, header: 0 })) if items => wire,
            _ => return Ok(None),
        };
        Ok(Some((field, wire.dtype())))
    }

    fn classes<'a>(&'a self, member: &MemberOf, look: &Look<'a>) -> Classes<'a> {
        Classes::new(&self.layouts, look.budget).with_items(&member.items).seeing(look.seen, look.noted)
    }

    /// Returns the branch of each leaf, by the leaf's offset.
    fn owners(&self) -> HashMap<usize, u32> {
        let mut owners = HashMap::new();
        for (place, field) in self.metadata.leaf_places() {
            owners.entry(place).or_insert(field);
        }
        owners
    }

    /// Returns the branch that counts the items of another, whose entry offsets were left out.
    fn counter(&self, column: &Column) -> Result<u32> {
        let unknown = || Error::unsupported("entry offsets that were left out, without a branch that counts");
        let owners = self.owners.get_or_make(|| self.owners());
        let owner = column.counter.and_then(|leaf| owners.get(&leaf).copied()).ok_or_else(unknown)?;
        let counts = self.column(owner, &self.branch(owner)?)?;
        match &counts.reading {
            Ok(reading) if matches!(reading.decoder, Decoder::Kernel(Kernel::Flat { per_entry: 1, .. })) => {
                Ok(owner)
            }
            _ => Err(unknown()),
        }
    }
}

/// Returns the streamer element of a branch's member.
fn element_of<'i>(info: &'i StreamerInfo, branch: &Branch<'_>, member: &MemberOf) -> Option<&'i Element> {
    let name = columns::member_name(&branch.field.name);
    let by_id = usize::try_from(member.id).ok().and_then(|id| info.elements.get(id));
    // The index may be from an older version of the class, so the name must match.
    let same = |element: &&Element| columns::same_member(&element.name, name);
    by_id
        .filter(same)
        .or_else(|| {
            let mut named = info.elements.iter().filter(same);
            named.next().filter(|_| named.next().is_none())
        })
        // A base class may have the name of the whole object.
        .or_else(|| by_id.filter(|element| element.is_base() && member.code == 0))
}

impl Dataset for Tree {
    fn format(&self) -> &'static str {
        TreeFormat::ID
    }

    fn object(&self) -> &str {
        &self.object
    }

    fn entries(&self) -> Result<u64> {
        Ok(self.metadata.info.entries)
    }

    fn entry_range(&self, field: u32, _: u64) -> Result<Range<u64>> {
        let branch = self.branch(field).map_err(|error| self.locate(error))?;
        Ok(branch.first_entry..branch.end())
    }

    fn aliases(&self) -> Result<Vec<(String, String)>> {
        Ok(self.metadata.info.aliases.clone())
    }

    fn friends(&self) -> Result<Vec<FriendName>> {
        Ok(self.metadata.info.friends.clone())
    }

    fn index(&self) -> Result<Option<TableIndex>> {
        let found = index::of(self.metadata.objects.top(), self.metadata.info.entries);
        found.map_err(|error| self.locate(error))
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.metadata.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        self.describe_first(field, u64::MAX)
    }

    fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        let describe = || {
            let branch = self.branch(field)?;
            let column = self.column(field, &branch)?;
            let blocks = match branch.field.has_data {
                true if entries == 0 => 0,
                true => self.baskets(&branch)?.len() as u64,
                false => branch.write_basket,
            };
            Ok(Description {
                type_name: column.type_name.clone(),
                reading: column.reading.clone().map(|reading| with_times(&branch, reading)),
                entries: branch.entry_count(),
                blocks,
                stored_bytes: branch.zip_bytes,
                payload_bytes: branch.total_bytes,
            })
        };
        describe().map_err(|error: Error| self.locate_branch(error, field))
    }

    fn codecs(&self, field: u32) -> Result<Vec<String>> {
        let branch = self.branch(field).map_err(|error| self.locate_branch(error, field))?;
        let setting = branch.object.int("fCompress").and_then(|setting| i32::try_from(setting).ok());
        Ok(setting.filter(|_| branch.field.has_data).map(setting_name).into_iter().collect())
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        if entries.start > entries.end {
            let what = format!("entries {} to {} end before they begin", entries.start, entries.end);
            return Err(self.locate(ErrorKind::Invalid { what }));
        }
        let mut planner = Planner {
            tree: self,
            entries: entries.clone(),
            groups: Vec::new(),
            tasks: Vec::new(),
            others: Vec::new(),
        };
        let mut counters = Vec::new();
        for &field in fields {
            let counter = planner.add(field).map_err(|error| self.locate_branch(error, field))?;
            counters.push((field, counter));
        }
        // Counters are after the requested columns, in groups of their own even if they are requested, too: a
        // block without entry offsets needs the counts of all its entries, requested or not.
        let mut added: Vec<(u32, u32)> = Vec::new();
        for &(field, counter) in &counters {
            let Some(counter) = counter else { continue };
            if added.iter().any(|&(known, _)| known == counter) {
                continue;
            }
            let needing = |group: u32| counters.get(group as usize).is_some_and(|&(_, c)| c == Some(counter));
            let blocks = planner.tasks.iter().filter(|task| needing(task.group));
            let from = blocks.clone().map(|task| task.entries.start).min().unwrap_or(entries.start);
            let to = blocks.map(|task| task.entries.end).max().unwrap_or(entries.start);
            let group = planner.groups.len() as u32;
            planner.entries = from..to;
            planner.add(counter).map_err(|error| self.locate_branch(error, field))?;
            added.push((counter, group));
        }
        for (number, &(_, counter)) in counters.iter().enumerate() {
            let group = added.iter().find(|&&(known, _)| Some(known) == counter);
            if let Some(&(_, group)) = group {
                planner.need(number as u32, group);
            }
        }
        Ok(Plan {
            format: TreeFormat::ID.into(),
            uri: self.uri.clone(),
            object: self.object.clone(),
            others: planner.others,
            groups: planner.groups,
            delivered: fields.len() as u32,
            tasks: planner.tasks,
            entries,
            ..Plan::default()
        })
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        let mut found = vec![entries.start, entries.end];
        for &field in fields {
            let baskets = self.branch(field).and_then(|branch| self.baskets(&branch));
            for basket in baskets.map_err(|error| self.locate_branch(error, field))? {
                found.extend(
                    [basket.entries.start, basket.entries.end].iter().filter(|&at| entries.contains(at)),
                );
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

forthwith_io::impl_debug!(Tree, |it| "object": it.object, "entries": it.metadata.info.entries, "branches": it.metadata.fields.len());
