//! Collections: their objects one by one.

use std::collections::HashSet;
use std::sync::Arc;

use forthwith_plan::{Error, ErrorKind, Result};

use super::Sum;
use crate::object::{Object, Objects};
use crate::write::{Buffer, Edits};

/// The objects of a collection, and those that come behind them.
#[derive(Debug)]
pub(super) struct List {
    items: Vec<Item>,
    /// Objects of other collections for which there is no rule: the record of each, and where it begins there.
    more: Vec<(Arc<Objects>, usize)>,
}

#[derive(Debug)]
enum Item {
    Sum(Sum),
    /// An object that stays as it is, of this class.
    Kept(String),
}

/// The objects of a record that were met, by their numbers: one that is in several places has to be kept once.
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<u32>);

impl Seen {
    /// The objects of a collection, each of which is met for the first time.
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
    /// Whether objects of a class are collections with an order.
    pub(super) fn adds(class: &str) -> bool {
        matches!(class, "TList" | "THashList" | "TObjArray")
    }

    pub(super) fn of(list: Object<'_>, seen: &mut Seen) -> Result<Self> {
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

    /// Adds each object to that in its place; those that are not added up come behind.
    pub(super) fn add(&mut self, record: &Arc<Objects>, other: Object<'_>, seen: &mut Seen) -> Result<()> {
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
                return Err(Error::new(ErrorKind::Invalid { what }));
            }
            match own {
                Item::Sum(sum) => sum.add_seen(record, item, seen)?,
                Item::Kept(_) => {
                    let Some((_, Some(begin))) = pointers.get(number) else {
                        let what = format!("copying object {number} of a {}", other.class());
                        return Err(Error::unsupported(what));
                    };
                    // What can fail fails here.
                    Edits::new(record)?.write_object(&mut Buffer::default(), *begin)?;
                    self.more.push((Arc::clone(record), *begin));
                }
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
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
                // It was written once already, when it was added.
                let _ = Edits::new(&record).and_then(|edits| edits.write_object(buffer, begin));
                if has_options {
                    buffer.string("");
                }
            });
        }
        Ok(())
    }
}
