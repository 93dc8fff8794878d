//! Objects of several files made one, by ROOT's own rules.

use std::sync::Arc;

use forthwith_plan::{Error, ErrorKind, Result};

mod axis;
mod bins;
mod graph;
mod list;
mod numbers;
mod pending;
mod sparse;
mod statistics;

use super::Edits;
use crate::object::{Object, Objects};
use bins::Bins;
use graph::Graph;
use list::{List, Seen};
use sparse::Many;

/// What several objects of one class become: bins and statistics of histograms and profiles added up, points of
/// graphs one behind the other, the objects of collections one by one.
///
/// The first of them gives everything else: titles, colours, functions.
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
    Many(Box<Many>),
    /// The objects of a collection.
    List(List),
    /// The histograms of a stack, which has none if it never got one.
    Stack(Option<List>),
}

impl Sum {
    /// Whether objects of a class are added up.
    #[must_use]
    pub fn adds(class: &str) -> bool {
        Bins::adds(class) || Graph::adds(class) || Many::adds(class) || Self::appends(class)
    }

    /// Whether objects of the other files may come into the sum as they are.
    #[must_use]
    pub fn appends(class: &str) -> bool {
        List::adds(class) || class == STACK
    }

    /// Whether ROOT makes one of several objects of a class, by a rule that is not known here.
    #[must_use]
    pub fn is_unknown_to_us(class: &str) -> bool {
        let is_family = |name: &&str| {
            class.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('<'))
        };
        !Self::adds(class) && UNKNOWN.iter().any(is_family)
    }

    /// A sum of one object.
    ///
    /// # Errors
    /// A class that is not added up; an object of it that cannot be.
    pub fn of(object: Object<'_>) -> Result<Self> {
        Self::of_seen(object, &mut Seen::default())
    }

    fn of_seen(object: Object<'_>, seen: &mut Seen) -> Result<Self> {
        let object = object.readable()?;
        let class = object.class().to_owned();
        let rule = match &*class {
            STACK => Rule::Stack(object.object(HISTOGRAMS).map(|list| List::of(list, seen)).transpose()?),
            class if List::adds(class) => Rule::List(List::of(object, seen)?),
            class if Graph::adds(class) => Rule::Graph(Graph::of(object)?),
            class if Many::adds(class) => Rule::Many(Box::new(Many::of(object)?)),
            class if Bins::adds(class) => Rule::Bins(Bins::of(object)?),
            _ => return Err(Error::unsupported(format!("adding objects of class {class}"))),
        };
        Ok(Self { class, rule })
    }

    /// Adds the object of another record, which was [read to be edited](crate::Walker::read_to_edit).
    ///
    /// # Errors
    /// It is of another class, has other axes, or is a collection of other objects.
    pub fn add(&mut self, other: &Arc<Objects>) -> Result<()> {
        self.add_seen(other, other.top(), &mut Seen::default())
    }

    fn add_seen(&mut self, record: &Arc<Objects>, other: Object<'_>, seen: &mut Seen) -> Result<()> {
        let other = other.readable()?;
        if other.class() != self.class {
            let what = format!("adding a {} to a {}", other.class(), self.class);
            return Err(Error::new(ErrorKind::Invalid { what }));
        }
        match &mut self.rule {
            Rule::Bins(bins) => bins.add(Bins::of(other)?),
            Rule::Graph(graph) => graph.add(Graph::of(other)?),
            Rule::Many(many) => many.add(Many::of(other)?),
            Rule::List(list) => list.add(record, other, seen),
            Rule::Stack(list) => match (list, other.object(HISTOGRAMS)) {
                (Some(list), Some(other)) => list.add(record, other, seen),
                (_, None) => Ok(()),
                (None, Some(_)) => Err(Error::unsupported("adding a stack of histograms to one without any")),
            },
        }
    }

    /// Puts the sum in the place of what the first object had.
    ///
    /// # Errors
    /// The object has no such members, or no room for a number.
    pub fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        match &self.rule {
            Rule::Bins(bins) => bins.write(edits, first),
            Rule::Graph(graph) => graph.write(edits, first),
            Rule::Many(many) => many.write(edits, first),
            Rule::List(list) => list.write(edits, first),
            Rule::Stack(list) => match (list, first.object(HISTOGRAMS)) {
                (Some(list), Some(first)) => list.write(edits, first),
                _ => Ok(()),
            },
        }
    }
}

const STACK: &str = "THStack";
/// The member of a stack that is its list of histograms.
const HISTOGRAMS: &str = "fHists";
/// Classes of ROOT that have a rule of their own for several objects, with their templates.
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
