//! Possible classes of the targets of pointers, and of items whose class only the data name.

use forthwith_program::{Layout, When};

use super::budget::MAX_DEEP_ARRAY_MEMBERS;
use super::{Classes, Unsupported, framed, native};
use crate::class as table;

impl Classes<'_> {
    /// Returns the layout of a pointer to an object of a class or of a class derived from it.
    pub fn pointer(&mut self, class: &str) -> Result<Layout, Unsupported> {
        let names = self.derived(class)?;
        let (mut found, mut refused, bounded) = self.choose(names.len() > 1, |classes| {
            let (mut found, mut refused, mut bounded) = (Vec::new(), Vec::new(), false);
            for name in &names {
                // A class that contains itself, or is unsupported, is an error for the entries that have such
                // objects.
                classes.cut_short = false;
                let schema = match classes.is_own(name) && names.len() == 1 {
                    true => classes.own(name),
                    false => classes.beyond(|classes| classes.object(name)),
                };
                bounded |= schema.is_err() && std::mem::take(&mut classes.cut_short);
                match schema {
                    Ok(schema) => found.push((name.clone(), schema)),
                    Err(why) => refused.push((name.clone(), why)),
                }
            }
            (found, refused, bounded)
        });
        // Undescribed classes are errors for the entries that have them, too; they need no alternative.
        if found.iter().any(|(_, schema)| !matches!(schema, Layout::Unknown(_))) {
            found.retain(|(_, schema)| !matches!(schema, Layout::Unknown(_)));
        }
        if let (true, Some((_, why))) = (self.recursion_spent, refused.last()) {
            return Err(why.clone());
        }
        if found.is_empty()
            && !bounded
            && !self.is_within(class)
            && let Some((_, why)) = refused.pop()
        {
            return Err(why);
        }
        let refused = refused.into_iter().map(|(name, why)| {
            let what = Layout::Refused(format!("{name} ({why})"));
            (name, what)
        });
        found.extend(refused);
        Ok(Layout::Pointer(found))
    }

    /// Calls `make` for a value that may be of several classes. Arrays in it whose class only the data name
    /// may be of several classes, too, but nested only so deeply that the result has few members, so that
    /// they never prevent the other members from being read.
    pub(super) fn choose<T>(&mut self, several: bool, mut make: impl FnMut(&mut Self) -> T) -> T {
        if !several {
            return make(self);
        }
        if self.choices > 0 {
            self.choices += 1;
            let made = make(self);
            self.choices -= 1;
            return made;
        }
        let (spare, budget) = (self.budget.array_members_left, self.budget.members_left);
        self.choices_allowed = self.budget.nested_choices;
        loop {
            // Nested choices get fewer members.
            let most = if self.choices_allowed > 1 { spare.min(MAX_DEEP_ARRAY_MEMBERS) } else { spare };
            self.budget.array_members_left = most;
            self.choices = 1;
            let made = make(self);
            self.choices = 0;
            if !self.arrays_spent {
                self.budget.array_members_left = spare - (most - self.budget.array_members_left);
                return made;
            }
            // Try again with less nesting. Without nested choices, the members cannot be exceeded.
            (self.arrays_spent, self.budget.members_left) = (false, budget);
            self.choices_allowed = self.choices_allowed.saturating_sub(1);
        }
    }

    /// Returns a class and the classes derived from it that the file describes. The result is cached, since
    /// it takes a pass over all classes of the file.
    pub(super) fn derived(&mut self, class: &str) -> Result<Vec<String>, Unsupported> {
        if let Some(known) = self.families.get(class) {
            return Ok(known.clone());
        }
        let found = self.family(class)?;
        self.families.insert(class.into(), found.clone());
        Ok(found)
    }

    fn family(&self, class: &str) -> Result<Vec<String>, Unsupported> {
        let mut found = vec![class.to_owned()];
        let mut names: Vec<&str> = self.file.streamers.classes().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        // Each pass finds the next generation.
        loop {
            let before = found.len();
            for name in &names {
                if found.iter().any(|known| known == name) || is_of_files(name) {
                    continue;
                }
                let infos = self.file.streamers.versions(name).map_err(|error| error.to_string())?;
                let bases = infos.iter().flat_map(|info| &info.elements).filter(|element| element.is_base());
                if bases.into_iter().any(|base| found.iter().any(|known| **known == *base.name)) {
                    found.push((*name).to_owned());
                }
            }
            if found.len() > MAX_CLASSES {
                return Err(format!("{class}*, which may be of more than {MAX_CLASSES} classes"));
            }
            if found.len() == before {
                break;
            }
        }
        if found.len() > 1 && native::schema(class, table::native(class)).is_none() && !names.contains(&class)
        {
            found.remove(0);
        }
        Ok(found)
    }

    /// Returns the layout of a `TClonesArray`. Its items have the [class that was set](Self::with_items), or
    /// any class that the file describes.
    pub(super) fn clones(&mut self) -> Result<Layout, Unsupported> {
        let names = match self.items.as_str() {
            "" => {
                let mut derived = self.derived("TObject")?;
                derived.retain(|name| !is_of_root(name) && self.describes(name) && !self.is_within(name));
                // Most files describe some of ROOT's own classes for other reasons. They alone do not make a
                // choice of a single class.
                let is_there = |name: &&str| self.file.streamers.knows(name) && !self.is_within(name);
                if derived.len() > 1 {
                    derived.extend(OWN_ITEMS.into_iter().filter(is_there).map(String::from));
                }
                if derived.is_empty() && self.describes("TNamed") {
                    // No other class is described. The data may name a class that files need not describe.
                    let named = match self.seen {
                        [only] if UNDESCRIBED_ITEMS.contains(&&**only) => only,
                        _ => "TNamed",
                    };
                    derived.push(named.into());
                }
                if derived.len() > 1 {
                    if let Some(noted) = self.noted {
                        noted.item_classes.borrow_mut().extend(derived.iter().cloned());
                    }
                    // The other classes are described for other objects.
                    if derived.iter().any(|name| self.seen.contains(name)) {
                        derived.retain(|name| self.seen.contains(name));
                    }
                } else if derived.len() == 1 {
                    if let Some(noted) = self.noted {
                        noted.one_item_class.set(true);
                    }
                    let is_other =
                        |name: &&str| self.describes(name) && !self.is_within(name) && **name != *derived[0];
                    if self.choices <= self.choices_allowed {
                        let others: Vec<_> =
                            self.seen.iter().filter(|name| is_other(&name.as_str())).cloned().collect();
                        derived.extend(others);
                    }
                }
                if derived.len() > 1 && self.choices > self.choices_allowed {
                    // Nested choices would multiply: only empty arrays are read; others are errors for their
                    // entries.
                    derived.clear();
                }
                derived
            }
            known => vec![known.to_owned()],
        };
        let within = usize::from(self.choices > 0 && names.len() > 1);
        self.named_arrays += within;
        let found = self.choose(names.len() > 1, |classes| {
            classes.beyond(|classes| names.iter().map(|class| classes.versions(class)).collect::<Vec<_>>())
        });
        self.named_arrays -= within;
        let (mut alternatives, mut classes) = (Vec::new(), Vec::new());
        for (class, arms) in names.iter().zip(found) {
            let arms = match arms {
                Ok(arms) => arms,
                // A class that is unsupported is an error for the entries that have such objects.
                Err(_) if names.len() > 1 && !self.recursion_spent => continue,
                Err(why) => return Err(why),
            };
            let to = alternatives.len() as u32;
            for (when, schema) in arms {
                if let When::Version(version) | When::Class(version, _) = when {
                    let item = framed(vec![(when, schema)]);
                    if alternatives.len() as u32 == to {
                        alternatives.push(item.clone());
                    }
                    classes.push((format!("{class};{version}"), to, item));
                }
            }
        }
        if alternatives.is_empty() {
            alternatives.push(Layout::Unknown("that a TClonesArray names".into()));
        }
        Ok(Layout::OneClass { alternatives, classes })
    }
}

/// Whether a class is part of the structure of files, so that it is not the target of pointers in data.
fn is_of_files(class: &str) -> bool {
    [
        "TTree",
        "TBranch",
        "TLeaf",
        "TBasket",
        "TNtuple",
        "TStreamer",
        "TDirectory",
        "TFile",
        "TKey",
        "TRefTable",
    ]
    .iter()
    .any(|own| class.starts_with(own))
        || matches!(class, "TList" | "THashList" | "TObjArray" | "TCollection" | "TSeqCollection")
}

/// Whether a class of ROOT's own is never the class of items in data.
fn is_of_root(class: &str) -> bool {
    let own = ["TObject", "TNamed", "TObjArray", "TClonesArray", "TList", "TRef", "TObjString", "TProcessID"];
    own.contains(&class) || ["TAtt", "TVirtual"].iter().any(|begin| class.starts_with(begin))
}

/// Classes of ROOT's own that may be items of arrays, but that files also describe for other reasons.
pub const OWN_ITEMS: [&str; 2] = ["TNamed", "TObjString"];
/// Classes that may be items of arrays without a description in the file, as in C++ ROOT's
/// `TClonesArray::Streamer`.
pub const UNDESCRIBED_ITEMS: [&str; 2] = ["TF1", "TFormula"];
/// Maximum number of possible classes of a pointer's target.
const MAX_CLASSES: usize = 64;
