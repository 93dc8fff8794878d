//! The targets of pointers, and arrays whose class only the data name: the classes that the file describes.

use forthwith_program::{Layout, When};

use super::budget::MAX_DEEP_ARRAY_MEMBERS;
use super::{Classes, Unsupported, framed, native};
use crate::class as table;

impl Classes<'_> {
    /// A pointer to an object of a class, or of one derived from it.
    pub fn pointer(&mut self, class: &str) -> Result<Layout, Unsupported> {
        let names = self.derived(class)?;
        let (mut found, mut refused, bounded) = self.choose(names.len() > 1, |classes| {
            let (mut found, mut refused, mut bounded) = (Vec::new(), Vec::new(), false);
            for name in &names {
                // One that contains itself, or cannot be read, is an error where it is met.
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
        // An object of a class that the file does not describe is a fault, too.
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

    /// Something that may be of several classes. The items of arrays in it whose class only the data name may
    /// be of several, too, as deep within each other as that makes few members: what can be read without them
    /// never becomes too much.
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
            // Deeper members are worth less.
            let most = if self.choices_allowed > 1 { spare.min(MAX_DEEP_ARRAY_MEMBERS) } else { spare };
            self.budget.array_members_left = most;
            self.choices = 1;
            let made = make(self);
            self.choices = 0;
            if !self.arrays_spent {
                self.budget.array_members_left = spare - (most - self.budget.array_members_left);
                return made;
            }
            // Once more, and less deep. Where there are none within a choice, none can be too many.
            (self.arrays_spent, self.budget.members_left) = (false, budget);
            self.choices_allowed = self.choices_allowed.saturating_sub(1);
        }
    }

    /// A class and those derived from it, as far as the file describes them. Asked once of each: it goes
    /// through all classes of the file.
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
        // Each round finds the next generation.
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

    /// An array that names the class of its items: that the branch has, or any that the file describes.
    pub(super) fn clones(&mut self) -> Result<Layout, Unsupported> {
        let names = match self.items.as_str() {
            "" => {
                let mut derived = self.derived("TObject")?;
                derived.retain(|name| !is_of_root(name) && self.describes(name) && !self.is_within(name));
                // Of ROOT's own classes there are some in every file: one type is not made several for their
                // sake.
                let is_there = |name: &&str| self.file.streamers.knows(name) && !self.is_within(name);
                if derived.len() > 1 {
                    derived.extend(OWN_ITEMS.into_iter().filter(is_there).map(String::from));
                }
                if derived.is_empty() && self.describes("TNamed") {
                    // There is nothing else, unless the data name what files need not describe.
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
                    // What else the file describes for other objects is no class of these.
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
                    // Choices within choices would multiply: empty is read, and anything else is a fault
                    // where it is met.
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
                // One that cannot be read is a fault where it is met.
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

/// Classes that stand in files for the files' own sake.
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

/// Classes of ROOT's own that are never items of arrays in data.
fn is_of_root(class: &str) -> bool {
    let own = ["TObject", "TNamed", "TObjArray", "TClonesArray", "TList", "TRef", "TObjString", "TProcessID"];
    own.contains(&class) || ["TAtt", "TVirtual"].iter().any(|begin| class.starts_with(begin))
}

/// Classes of ROOT's own that arrays are made of, and that are described in files for other reasons, too.
pub const OWN_ITEMS: [&str; 2] = ["TNamed", "TObjString"];
/// The same of those that this crate knows without the file, as C++ ROOT does (in `TClonesArray::Streamer`).
pub const UNDESCRIBED_ITEMS: [&str; 2] = ["TF1", "TFormula"];
/// Classes that one pointer may lead to.
const MAX_CLASSES: usize = 64;
