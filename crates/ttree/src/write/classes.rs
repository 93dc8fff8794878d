//! Writes records as split objects, lists of records as split collections, and maps.

use super::branch::{Branch, COLLECTION, Element, Leaf, LeafKind, Step, Stored};
use super::mapping::Walk;
use super::names::{class_name, identifier};
use super::spelling::{cpp, numbers, product, vectors};
use forthwith_columns::Form;
use forthwith_plan::{Error, Result};
use forthwith_root::{Element as Member, ElementKind, Number, StreamerInfo, code, write::checksum};

/// Class of a branch: its description, and the Forms of its members.
struct Class<'f> {
    name: String,
    checksum: u32,
    members: Vec<(String, &'f Form)>,
}

/// Position of a class's members among the branches.
#[derive(Clone)]
struct Place {
    /// Prefix of class names.
    prefix: String,
    parent: usize,
    path: Vec<Step>,
    /// If the objects are in a collection, the branch that counts them, with its title, and the class of the
    /// objects.
    counter: Option<(usize, String, String)>,
}

impl Walk<'_> {
    /// Adds a record as a split object: `name.`, and a branch for each member.
    pub(super) fn object(&mut self, name: &str, form: &Form, path: &[Step]) -> Result<()> {
        let class = self.class(form, name)?;
        let name = format!("{name}.");
        let element = Element {
            checksum: class.checksum,
            version: CLASS_VERSION,
            id: -2,
            ..Element::whole(&class.name)
        };
        let leaf = Leaf::new(&name, &name, LeafKind::Element { id: -2, kind: -1, size: 0 });
        let top = self.push(Branch { leaf: Some(leaf), ..Branch::of_class(&name, element) });
        self.members(&class, &Place { prefix: name, parent: top, path: path.to_vec(), counter: None })
    }

    /// Adds a list of records as a split `std::vector`: a branch that counts, and one for each member.
    pub(super) fn collection(&mut self, name: &str, content: &Form, path: &[Step]) -> Result<()> {
        let class = self.class(content, name)?;
        let element = Element {
            clones: class.name.clone(),
            kind: COLLECTION,
            ..Element::whole(&vectors(&class.name, 1))
        };
        self.divided(name, element, path, None, &class)
    }

    /// Adds a list of pairs as a split `std::map`.
    pub(super) fn map(&mut self, name: &str, content: &Form, path: &[Step]) -> Result<()> {
        let Form::Record { contents, .. } = content.kept() else {
            return Err(Error::unsupported("a map of no pairs"));
        };
        let [key, value] = &contents[..] else { return Err(Error::unsupported("a map of no pairs")) };
        let (key_type, value_type) = (cpp(key)?, cpp(value)?);
        let blank = if value_type.ends_with('>') { " " } else { "" };
        let pair = format!("pair<{key_type},{value_type}{blank}>");
        let members = vec![("first".to_owned(), key), ("second".to_owned(), value)];
        let class = self.described(pair.clone(), members)?;
        let map = format!("map<{key_type},{value_type}{blank}>");
        let element = Element { clones: pair, kind: COLLECTION, ..Element::whole(&map) };
        self.divided(name, element, path, None, &class)
    }

    /// Adds a split collection, of the tree or as a member of a split object.
    fn divided(
        &mut self,
        name: &str,
        element: Element,
        path: &[Step],
        parent: Option<usize>,
        class: &Class<'_>,
    ) -> Result<()> {
        let title = format!("{name}_");
        let kind = LeafKind::Element { id: element.id, kind: element.streamer_type, size: 0 };
        let mut below = path.to_vec();
        below.push(Step::Items);
        let top = self.push(Branch {
            parent,
            class: Some(element),
            leaf: Some(Leaf { counts: true, ..Leaf::new(&title, &title, kind) }),
            source: self.source(&below, Stored::Counted),
            ..Branch::new(name, &title)
        });
        let counter = Some((top, title, class.name.clone()));
        self.members(class, &Place { prefix: format!("{name}."), parent: top, path: below, counter })
    }

    fn members(&mut self, class: &Class<'_>, place: &Place) -> Result<()> {
        for (id, (member, form)) in class.members.iter().enumerate() {
            let mut path = place.path.clone();
            path.push(Step::Field(id));
            self.member(class, id as i32, member, form, &Place { path, ..place.clone() })?;
        }
        Ok(())
    }

    fn member(&mut self, class: &Class<'_>, id: i32, member: &str, form: &Form, place: &Place) -> Result<()> {
        let name = format!("{}{member}", place.prefix);
        let streamer_type = type_code(form);
        let element = Element {
            parent: place.counter.as_ref().map_or_else(|| class.name.clone(), |counter| counter.2.clone()),
            checksum: class.checksum,
            version: CLASS_VERSION,
            id,
            kind: if place.counter.is_some() { 41 } else { 0 },
            streamer_type,
            count: place.counter.as_ref().map(|counter| counter.0),
            ..Element::whole(&class.name)
        };
        match form.kept() {
            Form::Record { .. } => {
                let inner = self.class(form, &format!("{}_{member}", class.name))?;
                if place.counter.is_some() {
                    // Members of members are siblings of the other branches.
                    return self.members(&inner, &Place { prefix: format!("{name}."), ..place.clone() });
                }
                let class = Some(Element { kind: 2, ..element });
                let top =
                    self.push(Branch { parent: Some(place.parent), class, ..Branch::new(&name, &name) });
                self.members(&inner, &Place { prefix: format!("{name}."), parent: top, ..place.clone() })
            }
            Form::List { content, .. } | Form::Regular { content, .. }
                if matches!(content.kept(), Form::Record { .. }) =>
            {
                if place.counter.is_some() {
                    let what = format!(
                        "member {member}: lists of records within records of lists, as classes of a tree"
                    );
                    return Err(Error::unsupported(what));
                }
                let inner = self.class(content, &format!("{}_{member}", class.name))?;
                let element = Element { kind: COLLECTION, clones: inner.name.clone(), ..element };
                self.divided(&name, element, &place.path, Some(place.parent), &inner)
            }
            form => {
                let (dtype, shape) = match numbers(form) {
                    Some((dtype, shape)) => (Some(dtype), shape),
                    None => (None, Vec::new()),
                };
                let dims: String = shape.iter().map(|size| format!("[{size}]")).collect();
                let title = match &place.counter {
                    Some((_, counter, _)) => format!("{member}[{counter}]"),
                    None => format!("{name}{dims}"),
                };
                let size = dtype.map_or(0, |dtype| dtype.size() as u32);
                let leaf = Leaf {
                    len: product(&shape)?,
                    counter: place.counter.as_ref().map(|counter| counter.0),
                    ..Leaf::new(&name, &title, LeafKind::Element { id, kind: streamer_type, size })
                };
                let stored = match (&place.counter, dtype, form) {
                    (Some(_), Some(_), _) => Stored::Items,
                    (Some(_), None, _) => Stored::FramedItems,
                    (None, Some(_), _) => Stored::Fixed,
                    (None, None, Form::String { .. }) => Stored::FramedText,
                    (None, None, _) => Stored::Framed,
                };
                let mut path = place.path.clone();
                if stored == Stored::Framed {
                    path.push(Step::Items);
                }
                self.push(Branch {
                    parent: Some(place.parent),
                    class: Some(element),
                    leaf: Some(leaf),
                    source: self.source(&path, stored),
                    ..Branch::new(&format!("{name}{dims}"), &title)
                });
                Ok(())
            }
        }
    }

    /// Returns the class of a record, and adds its description to the file.
    fn class<'f>(&mut self, form: &'f Form, otherwise: &str) -> Result<Class<'f>> {
        let Form::Record { fields, contents, name } = form.kept() else {
            return Err(Error::unsupported(format!("{} as a class", form.type_string())));
        };
        let name = class_name(name.as_deref().unwrap_or(otherwise));
        let field = |at: usize| fields.as_ref().and_then(|fields| fields.get(at)).cloned();
        let members = contents.iter().enumerate();
        let members =
            members.map(|(at, form)| (field(at).unwrap_or_else(|| format!("_{at}")), form)).collect();
        self.described(name, members)
    }

    fn described<'f>(&mut self, name: String, members: Vec<(String, &'f Form)>) -> Result<Class<'f>> {
        if members.is_empty() {
            return Err(Error::unsupported(format!("class {name} without members in a tree")));
        }
        let mut elements = Vec::with_capacity(members.len());
        for (member, form) in &members {
            if identifier(member) != *member {
                let what = format!("{member:?} as the name of a member of class {name}");
                return Err(Error::unsupported(what));
            }
            elements.push(element(&name, member, form)?);
        }
        let mut info = StreamerInfo { class: name.as_str().into(), version: 1, checksum: 0, elements };
        info.checksum = checksum(&info);
        let checksum = info.checksum;
        match self.into.classes.iter().find(|known| known.class == info.class) {
            Some(known) if known.checksum != checksum => {
                return Err(Error::invalid(format!("two classes {name:?} with other members")));
            }
            Some(_) => {}
            None => self.into.classes.push(info),
        }
        Ok(Class { name, checksum, members })
    }
}

/// Version in the streamer info of a class without a version of its own.
const CLASS_VERSION: i16 = 1;

/// Returns the type code in streamer elements for a Form.
fn type_code(form: &Form) -> i32 {
    match (form.kept(), numbers(form)) {
        (_, Some((dtype, shape))) => {
            Number::of(dtype).codes[0] + if shape.is_empty() { 0 } else { code::ARRAY }
        }
        (Form::Record { .. }, None) => code::ANY,
        _ => code::STL,
    }
}

/// Returns the streamer element of a class's member.
fn element(class: &str, member: &str, form: &Form) -> Result<Member> {
    let class_of =
        |name: &Option<String>| class_name(name.as_deref().unwrap_or(&format!("{class}_{member}")));
    let mut element = Member { name: member.into(), code: type_code(form), size: 24, ..Member::typed("") };
    if let Some((dtype, shape)) = numbers(form) {
        if shape.len() > 5 {
            return Err(Error::unsupported(format!("member {member} with {} dimensions", shape.len())));
        }
        element.type_name = Number::of(dtype).cpp().into();
        let length = product(&shape)?;
        element.size = (dtype.size() as i32).saturating_mul(length as i32);
        if !shape.is_empty() {
            element.array_length = length;
            element.dimensions = shape.iter().map(|size| *size as u32).collect();
        }
        return Ok(element);
    }
    match form.kept() {
        Form::String { .. } => {
            element.kind = ElementKind::StlString;
            element.code = code::STREAMER;
            element.size = 32;
            element.type_name = "string".into();
        }
        Form::Record { name, .. } => {
            element.kind = ElementKind::ObjectAny;
            element.type_name = class_of(name).into();
        }
        Form::List { content, .. } | Form::Regular { content, .. } => {
            let (item, content) = match (content.kept(), numbers(content)) {
                (Form::Record { name, .. }, _) => (class_of(name), code::OBJECT),
                (_, Some((dtype, shape))) if shape.is_empty() => (cpp(content)?, Number::of(dtype).codes[0]),
                _ => (cpp(content)?, code::OBJECT),
            };
            element.kind = ElementKind::Stl { container: 1, content };
            element.code = code::STREAMER;
            element.type_name = vectors(&item, 1).into();
        }
        other => {
            return Err(Error::unsupported(format!("member {member}: {} in a class", other.type_string())));
        }
    }
    Ok(element)
}
