//! Merging of histograms and graphs, and of nested collections of these.

use std::collections::HashSet;
use std::sync::Arc;

use forthwith_plan::{Error, Result};

use super::bins::Bins;
use super::graph::Graph;
use super::sparse::NdHistogram;
use crate::object::{Object, Objects};
use crate::write::{Buffer, Edits};

/// The merge of several objects of one class. Bins and statistics of histograms and profiles are added,
/// points of graphs are concatenated, and collections are merged object by object.
///
/// Titles, colours and functions are those of the first object.
#[derive(Debug)]
pub struct Sum {
    class: String,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    Bins(Bins),
    Graph(Graph),
    /// A histogram of any number of dimensions.
    Nd(Box<NdHistogram>),
    /// The objects of a collection or of a `THStack`; `None` for a stack without a list.
    List(Option<List>),
}

impl Sum {
    /// Whether objects of a class can be merged.
    #[must_use]
    pub fn adds(class: &str) -> bool {
        Bins::adds(class) || Graph::adds(class) || NdHistogram::adds(class) || Self::appends(class)
    }

    /// Whether a class is a collection, to which objects of further files may be appended.
    #[must_use]
    pub fn appends(class: &str) -> bool {
        List::adds(class) || class == STACK
    }

    /// Whether ROOT merges objects of a class by a rule that is not implemented here.
    #[must_use]
    pub fn is_unknown_to_us(class: &str) -> bool {
        let is_family = |name: &&str| {
            class.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('<'))
        };
        !Self::adds(class) && UNKNOWN.iter().any(is_family)
    }

    /// Creates a merge that consists of one object.
    ///
    /// # Errors
    /// Returns an error if objects of the class, or this object, cannot be merged.
    pub fn of(object: Object<'_>) -> Result<Self> {
        Self::of_seen(object, &mut Seen::default())
    }

    fn of_seen(object: Object<'_>, seen: &mut Seen) -> Result<Self> {
        let object = object.readable()?;
        let class = object.class().to_owned();
        let rule = match &*class {
            class if Self::appends(class) => {
                Rule::List(listed(object).map(|list| List::of(list, seen)).transpose()?)
            }
            class if Graph::adds(class) => Rule::Graph(Graph::of(object)?),
            class if NdHistogram::adds(class) => Rule::Nd(Box::new(NdHistogram::of(object)?)),
            class if Bins::adds(class) => Rule::Bins(Bins::of(object)?),
            _ => return Err(Error::unsupported(format!("adding objects of class {class}"))),
        };
        Ok(Self { class, rule })
    }

    /// Merges the top object of another record, which was [read to be edited](crate::Walker::read_to_edit).
    ///
    /// # Errors
    /// Returns an error if the object has another class or other axes, or is a collection of other objects.
    pub fn add(&mut self, other: &Arc<Objects>) -> Result<()> {
        self.add_seen(other, other.top(), &mut Seen::default())
    }

    fn add_seen(&mut self, record: &Arc<Objects>, other: Object<'_>, seen: &mut Seen) -> Result<()> {
        let other = other.readable()?;
        if other.class() != self.class {
            return Err(Error::invalid(format!("adding a {} to a {}", other.class(), self.class)));
        }
        match &mut self.rule {
            Rule::Bins(bins) => bins.add(Bins::of(other)?),
            Rule::Graph(graph) => graph.add(Graph::of(other)?),
            Rule::Nd(histogram) => histogram.add(NdHistogram::of(other)?),
            Rule::List(list) => match (list, listed(other)) {
                (Some(list), Some(other)) => list.add(record, other, seen),
                (_, None) => Ok(()),
                (None, Some(_)) => Err(Error::unsupported("adding a stack of histograms to one without any")),
            },
        }
    }

    /// Replaces the members of the first object by those of the merge.
    ///
    /// # Errors
    /// Returns an error if the object lacks a member, or a number is out of range for its width.
    pub fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        match &self.rule {
            Rule::Bins(bins) => bins.write(edits, first),
            Rule::Graph(graph) => graph.write(edits, first),
            Rule::Nd(histogram) => histogram.write(edits, first),
            Rule::List(list) => match (list, listed(first)) {
                (Some(list), Some(first)) => list.write(edits, first),
                _ => Ok(()),
            },
        }
    }
}

/// Returns the list of a collection; for a stack, it is a member.
fn listed(object: Object<'_>) -> Option<Object<'_>> {
    if object.class() == STACK { object.object("fHists") } else { Some(object) }
}

const STACK: &str = "THStack";
/// Classes, or families of templates, for which ROOT has a `Merge` that is not implemented here.
const UNKNOWN: [&str; 22] = [
    "TTree",
    "TNtuple",
    "TNtupleD",
    "TChain",
    "ROOT::RNTuple",
    "THn",
    "THnSparse",
    "TGraphMultiErrors",
    "TGraphPolar",
    "TGraphQQ",
    "TCutG",
    "TH1K",
    "TH2Poly",
    "TProfile2Poly",
    "THashTable",
    "TClonesArray",
    "TSortedList",
    "TRefArray",
    "TSelectorList",
    "TFileCollection",
    "TKDTreeBinning",
    "TNDArrayT",
];

/// The objects of a collection, and those to append to it.
#[derive(Debug)]
struct List {
    items: Vec<Item>,
    /// Objects without a merge rule from other collections: the record of each, and its position there.
    more: Vec<(Arc<Objects>, usize)>,
}

#[derive(Debug)]
enum Item {
    Sum(Sum),
    /// An object of this class, which is kept unchanged.
    Kept(String),
}

/// Numbers of the visited objects of a record, to refuse an object that is in collections twice.
#[derive(Debug, Default)]
struct Seen(HashSet<u32>);

impl Seen {
    /// Returns the objects of a collection. Fails if one is null or was visited before.
    fn items<'o>(&mut self, list: Object<'o>) -> Result<Vec<Object<'o>>> {
        let class = list.class();
        let item = |item: Option<Object<'o>>| match item {
            None => Err(Error::unsupported(format!("adding a {class} with an empty place"))),
            Some(item) if !self.0.insert(item.number()) => Err(Error::unsupported(format!(
                "adding a {class} with an object that is in it more than once"
            ))),
            Some(item) => Ok(item),
        };
        list.readable()?.items().map(item).collect()
    }
}

impl List {
    /// Whether a class is an ordered collection.
    fn adds(class: &str) -> bool {
        matches!(class, "TList" | "THashList" | "TObjArray")
    }

    fn of(list: Object<'_>, seen: &mut Seen) -> Result<Self> {
        if !Self::adds(list.class()) {
            return Err(Error::unsupported(format!("adding objects of class {}", list.class())));
        }
        seen.0.insert(list.number());
        let found = seen.items(list)?;
        let item = |item: Object<'_>| match item.class() {
            class if Sum::adds(class) => Ok(Item::Sum(Sum::of_seen(item, seen)?)),
            class if Sum::is_unknown_to_us(class) => {
                Err(Error::unsupported(format!("adding objects of class {class}")))
            }
            class => Ok(Item::Kept(class.to_owned())),
        };
        Ok(Self { items: found.into_iter().map(item).collect::<Result<_>>()?, more: Vec::new() })
    }

    /// Merges objects pairwise by position, and appends those without a merge rule.
    fn add(&mut self, record: &Arc<Objects>, other: Object<'_>, seen: &mut Seen) -> Result<()> {
        seen.0.insert(other.number());
        let items = seen.items(other)?;
        if items.len() > self.items.len() {
            let what = format!(
                "adding a {} of {} objects to one of {}, in which there are none for the last of them",
                other.class(),
                items.len(),
                self.items.len()
            );
            return Err(Error::unsupported(what));
        }
        let pointers = other.pointers().collect::<Vec<_>>();
        for (number, (own, item)) in self.items.iter_mut().zip(items).enumerate() {
            let class = match own {
                Item::Sum(sum) => &sum.class,
                Item::Kept(class) => &*class,
            };
            if class != item.class() {
                let what = format!("adding a {} to a {class}, object {number} of collections", item.class());
                return Err(Error::invalid(what));
            }
            match own {
                Item::Sum(sum) => sum.add_seen(record, item, seen)?,
                Item::Kept(_) => {
                    let Some((_, Some(begin))) = pointers.get(number) else {
                        let what = format!("copying object {number} of a {}", other.class());
                        return Err(Error::unsupported(what));
                    };
                    // A trial, so that errors are found before anything is written.
                    Edits::new(record)?.write_object(&mut Buffer::default(), *begin)?;
                    self.more.push((Arc::clone(record), *begin));
                }
            }
        }
        Ok(())
    }

    fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        for (own, item) in self.items.iter().zip(first.items().flatten()) {
            if let Item::Sum(sum) = own {
                sum.write(edits, item)?;
            }
        }
        if self.more.is_empty() {
            return Ok(());
        }
        let all = self.items.len();
        edits.recount(first, all, all + self.more.len())?;
        for (record, begin) in &self.more {
            let (record, begin) = (Arc::clone(record), *begin);
            let has_options = first.class() != "TObjArray";
            edits.append(first, move |buffer| {
                // The trial in `add` succeeded.
                let _ = Edits::new(&record).and_then(|edits| edits.write_object(buffer, begin));
                if has_options {
                    buffer.string("");
                }
            });
        }
        Ok(())
    }
}
