//! Maps Forms to branches.
//!
//! A column is followed from the root of its Form to each of its values. Each value other than a record gets
//! a branch, which contains the lists on the way. So a list of records is written as one branch for each
//! field, with one counter for all of them.

use super::{
    ColumnOptions, Floats, Jagged, Records, Strings, TreeOptions,
    branch::{Branch, Element, Leaf, LeafKind, Source, Step, Stored},
    floats::packed,
    spelling::{cpp, is_map, is_whole, numbers, product, vectors},
    without_nulls::plain_form,
};
use forthwith_columns::{DType, Encoding, Form, LogicalType};
use forthwith_plan::{Error, Result};
use forthwith_root::StreamerInfo;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    iter,
};

/// Branches of a tree, each after its parent and its counter.
#[derive(Debug, Default)]
pub(super) struct Branches {
    pub(super) branches: Vec<Branch>,
    /// Classes that the file has to describe.
    pub(super) classes: Vec<StreamerInfo>,
    /// Form in which each column is written.
    pub(super) forms: Vec<Form>,
    /// Columns that are counters of others, with the counter's branch. They are compared with the lists, and
    /// not written again.
    pub(super) counters: Vec<(usize, usize)>,
    /// Lists that share the counter of another column, with its branch. The lists of both are compared.
    pub(super) sharing: Vec<(Source, usize)>,
    /// Keys of maps, which must be distinct.
    pub(super) keys: Vec<Source>,
    /// Lists, with the numbers that have to be their lengths.
    pub(super) counted: Vec<Counted>,
    /// Strings in branches with several leaves, with the branch and the leaf.
    pub(super) texts: Vec<(Source, usize, usize)>,
}

/// Lists whose lengths are a column or a member of one.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) lists: Source,
    pub(super) numbers: Source,
    /// Branch with the numbers, and the index of its leaf.
    pub(super) branch: usize,
    pub(super) leaf: usize,
}

impl Branches {
    /// Returns the branches of columns. `others` has the leaf names of other branches in the tree, with the
    /// names of these branches.
    pub(super) fn of(
        columns: &[(String, Form)],
        options: &TreeOptions,
        others: &HashMap<String, String>,
    ) -> Result<Self> {
        let unknown =
            options.columns.iter().find(|(name, _)| !columns.iter().any(|(column, _)| column == name));
        if let Some((name, _)) = unknown {
            let what = format!("options for a column {name:?}, which does not exist");
            return Err(Error::invalid(what));
        }
        let named: HashSet<&str> =
            columns.iter().filter_map(|(name, _)| options.column(name).counter.as_deref()).collect();
        let mut this = Self::default();
        let mut counters = HashMap::new();
        let mut waiting = Vec::new();
        for (column, (name, form)) in columns.iter().enumerate() {
            let form = plain_form(form).map_err(|e| e.in_object(name))?;
            let is_integer = is_whole(&form) && !matches!(&form, Form::Numpy { dtype: DType::Bool, .. });
            this.forms.push(form);
            if is_integer && (named.contains(name.as_str()) || would_count(name, columns, options)) {
                waiting.push((column, name));
            } else {
                this.add(column, name, options, &mut counters)?;
            }
        }
        for (column, name) in waiting {
            match counters.get(name) {
                Some(branch) => this.counters.push((column, *branch)),
                None if named.contains(name.as_str()) => {
                    let what = format!("the counter {name:?} for columns that are not lists with a counter");
                    return Err(Error::invalid(what));
                }
                None => this.add(column, name, options, &mut counters)?,
            }
        }
        this.check_names(options.slashes)?;
        this.number_leaves(others)?;
        for branch in &mut this.branches {
            let Some(times) = times_in(branch, columns) else { continue };
            match (branch.parent, times.time_title()) {
                // The title of a member is its name.
                (Some(_), _) => branch.title = format!("{} {}", branch.title, times.title_note()),
                (None, Some(title)) => branch.title = title,
                (None, None) => {}
            }
        }
        for (name, title) in &options.titles {
            let mut named = this.branches.iter_mut().filter(|branch| branch.name == *name).peekable();
            if named.peek().is_none() {
                let what = format!("a title for a branch {name:?}, which does not exist");
                return Err(Error::invalid(what));
            }
            named.for_each(|branch| match times_in(branch, columns) {
                Some(times) => branch.title = format!("{title} {}", times.title_note()),
                None => branch.title.clone_from(title),
            });
        }
        Ok(this)
    }

    /// Adds the branches of a column.
    fn add(
        &mut self,
        column: usize,
        name: &str,
        options: &TreeOptions,
        counters: &mut HashMap<String, usize>,
    ) -> Result<()> {
        let own = options.column(name);
        let form = self.forms[column].clone();
        let begin = self.branches.len();
        let mut walk = Walk { into: self, counters, column, options: own };
        walk.value(name, &form, &mut Vec::new(), None).map_err(|e| e.in_object(name))?;
        for branch in &mut self.branches[begin..] {
            branch.compression = own.compression;
            branch.basket_bytes = own.basket_bytes;
        }
        Ok(())
    }

    fn check_names(&self, slashes: bool) -> Result<()> {
        let mut seen = HashSet::new();
        let divided: HashSet<_> = self.branches.iter().filter_map(|branch| branch.parent).collect();
        for (at, branch) in self.branches.iter().enumerate() {
            let name = branch.name.as_str();
            // The names of members of classes were checked, and have their dimensions after them.
            let is_odd = |c: char| c.is_control() || matches!(c, '[' | ']') || (c == '/' && !slashes);
            if branch.parent.is_none() && (name.is_empty() || name.contains(is_odd)) {
                let what = format!(
                    "a branch of the name {name:?}: a name has no brackets, control characters or, unless they are \
                     asked for, slashes"
                );
                return Err(Error::unsupported(what));
            }
            if name.contains('/') && divided.contains(&at) {
                let what = format!(
                    "a branch of the name {name:?}: C++ ROOT ends when it copies objects with a slash in it"
                );
                return Err(Error::unsupported(what));
            }
            if branch.parent.is_none() && !seen.insert(name) {
                let what =
                    format!("two branches of the name {name:?}: a column or an option has to be renamed");
                return Err(Error::invalid(what));
            }
        }
        Ok(())
    }

    /// Renames leaves whose names are taken by adding a number, as those of `a/b` and `a_b`: C++ ROOT finds
    /// leaves by name. Only leaves of branches with a slash are renamed, since ROOT reads an array by the
    /// name of its branch if that is the name of the leaf.
    fn number_leaves(&mut self, others: &HashMap<String, String>) -> Result<()> {
        let is_renamed = |branch: &Branch| {
            let is_element = |leaf: &Leaf| matches!(leaf.kind, LeafKind::Element { .. });
            branch.name.contains('/') && branch.leaf.as_ref().is_some_and(|leaf| !is_element(leaf))
        };
        let renamed: Vec<usize> =
            (0..self.branches.len()).filter(|at| is_renamed(&self.branches[*at])).collect();
        if renamed.is_empty() && others.is_empty() {
            return Ok(());
        }
        for Branch { name, .. } in &self.branches {
            if let Some(of) = others.get(name).filter(|of| *of != name && of.contains('/')) {
                let what = format!(
                    "a branch of the name {name:?}, which is that of the leaf of the branch {of:?}: C++ ROOT finds \
                     leaves by their names"
                );
                return Err(Error::invalid(what));
            }
        }
        let mut taken: HashSet<String> = self.branches.iter().map(|branch| branch.name.clone()).collect();
        taken.extend(others.iter().flat_map(|(leaf, branch)| [leaf.clone(), branch.clone()]));
        for at in renamed {
            let Some(leaf) = &self.branches[at].leaf else { continue };
            let plain = leaf.name.clone();
            let numbered = (1..).map(|number| format!("{plain}_{number}"));
            let Some(name) = iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name))
            else {
                continue;
            };
            if name != plain {
                self.rename_leaf(at, &name);
            }
            taken.insert(name);
        }
        Ok(())
    }

    /// Renames a leaf, also in the titles of its branch and of leaves that it counts.
    fn rename_leaf(&mut self, at: usize, name: &str) {
        let Some(leaf) = &self.branches[at].leaf else { return };
        let before = leaf.name.clone();
        for (number, branch) in self.branches.iter_mut().enumerate() {
            let Some(leaf) = &mut branch.leaf else { continue };
            let (old, new) = match leaf.counter {
                _ if number == at => (before.clone(), name.to_owned()),
                Some(counter) if counter == at => {
                    (format!("{}[{before}]", leaf.name), format!("{}[{name}]", leaf.name))
                }
                _ => continue,
            };
            if number == at {
                name.clone_into(&mut leaf.name);
            }
            for title in [&mut leaf.title, &mut branch.title] {
                if let Some(rest) = title.strip_prefix(&old) {
                    *title = format!("{new}{rest}");
                }
            }
        }
    }

    /// Returns the name of the leaf of a column with one branch.
    pub(super) fn leaf_name<'a>(&'a self, column: &'a str) -> &'a str {
        let branch = self.branches.iter().find(|branch| branch.parent.is_none() && branch.name == column);
        branch.and_then(|branch| branch.leaf.as_ref()).map_or(column, |leaf| &leaf.name)
    }
}

/// Returns the name of a branch's leaf, which replaces slashes: in titles, a slash precedes the type.
fn leaf_name(name: &str) -> Cow<'_, str> {
    if name.contains('/') { name.replace('/', "_").into() } else { name.into() }
}

/// Returns the logical type of a branch's entries if they are times, which are stored as integers.
fn times_in(branch: &Branch, columns: &[(String, Form)]) -> Option<LogicalType> {
    let is_counter = branch.leaf.as_ref().is_none_or(|leaf| leaf.counts);
    let source = branch.source.as_ref().filter(|_| !is_counter)?;
    let mut form = &columns.get(source.column)?.1;
    let mut path = source.path.iter().peekable();
    while let Some(step) = path.peek() {
        form = match (form, step) {
            (Form::Option { content, .. } | Form::Logical { content, .. }, _) => content,
            (Form::List { content, .. } | Form::Regular { content, .. }, Step::Items) => {
                path.next();
                content
            }
            (Form::Record { contents, .. }, Step::Field(at)) => {
                path.next();
                contents.get(*at)?
            }
            _ => return None,
        };
    }
    form.times()
}

/// Returns whether numbers named `name` may be the counter of another column, whose counter would have that
/// name.
fn would_count(name: &str, columns: &[(String, Form)], options: &TreeOptions) -> bool {
    let is_counted = |(column, form): &(String, Form)| {
        let own = options.column(column);
        let is_list = matches!(plain_form(form), Ok(Form::List { .. }));
        is_list && own.jagged == Jagged::Counter && own.counter.is_none() && counter_name(column) == name
    };
    columns.iter().any(is_counted)
}

/// Returns the default name of the counter of lists.
fn counter_name(lists: &str) -> String {
    format!("n{}", lists.replace('.', "_"))
}

/// Traversal of a column that adds its branches.
pub(super) struct Walk<'a> {
    pub(super) into: &'a mut Branches,
    /// Branches of counters, by name.
    counters: &'a mut HashMap<String, usize>,
    column: usize,
    options: &'a ColumnOptions,
}

/// Lists that contain a value.
#[derive(Clone)]
struct Lists {
    /// Name of the outermost list, and the path to it.
    name: String,
    path: Vec<Step>,
    /// Number of nested lists.
    depth: usize,
}

/// Maximum depth of Forms.
const DEEPEST: usize = 32;

impl Walk<'_> {
    fn value(&mut self, name: &str, form: &Form, path: &mut Vec<Step>, lists: Option<Lists>) -> Result<()> {
        if path.len() > DEEPEST {
            return Err(Error::unsupported(format!(
                "more than {DEEPEST} levels of lists and records in a tree"
            )));
        }
        match form {
            Form::Logical { content, .. } => self.value(name, content, path, lists),
            Form::Record { .. } if lists.is_none() && self.options.records == Records::Class => {
                self.object(name, form, path)
            }
            Form::Record { fields, contents, .. } => {
                let mark = if lists.is_some() { '_' } else { '.' };
                if contents.is_empty() {
                    return Err(Error::unsupported("a record without fields in a tree"));
                }
                for (at, content) in contents.iter().enumerate() {
                    let field = fields.as_ref().and_then(|fields| fields.get(at));
                    let field = field.map_or_else(|| at.to_string(), Clone::clone);
                    path.push(Step::Field(at));
                    self.value(&format!("{name}{mark}{field}"), content, path, lists.clone())?;
                    path.pop();
                }
                Ok(())
            }
            Form::List { content, .. } if lists.is_none() && is_map(content) => self.map(name, content, path),
            Form::List { content, .. } | Form::Regular { content, .. }
                if lists.is_none() && self.options.records == Records::Class && has_records(content) =>
            {
                if !matches!(content.kept(), Form::Record { .. }) {
                    return Err(Error::unsupported(format!("{} as classes in a tree", form.type_string())));
                }
                self.collection(name, content, path)
            }
            Form::List { content, .. } | Form::Regular { content, .. }
                if numbers(form).is_none() && (lists.is_none() || has_records(content)) =>
            {
                let lists = match lists {
                    Some(lists) => Lists { depth: lists.depth + 1, ..lists },
                    None => {
                        let mut path = path.clone();
                        path.push(Step::Items);
                        Lists { name: name.into(), path, depth: 1 }
                    }
                };
                path.push(Step::Items);
                self.value(name, content, path, Some(lists))?;
                path.pop();
                Ok(())
            }
            form => match lists {
                None => self.single(name, form, path),
                Some(lists) => self.listed(name, form, path, &lists),
            },
        }
    }

    /// Adds the branch of a value that is not in a list.
    fn single(&mut self, name: &str, form: &Form, path: &[Step]) -> Result<()> {
        if numbers(form).is_some() {
            return self.numbers(name, form, None, path);
        }
        let branch = match form {
            Form::String { .. } if self.options.strings == Strings::Characters => Branch {
                leaf: Some(Leaf::new(&leaf_name(name), &leaf_name(name), LeafKind::Characters)),
                source: self.source(path, Stored::Text { ends_at_nul: true }),
                ..Branch::new(name, &format!("{}/C", leaf_name(name)))
            },
            Form::String { .. } => {
                let source = self.source(path, Stored::Text { ends_at_nul: false });
                Branch { source, ..Branch::of_class(name, Element::text()) }
            }
            other => return Err(Error::unsupported(format!("{} in a tree", other.type_string()))),
        };
        self.push(branch);
        Ok(())
    }

    /// Adds the branch of numbers, which are not in lists or are items with a counter.
    fn numbers(&mut self, name: &str, form: &Form, counter: Option<usize>, path: &[Step]) -> Result<()> {
        let Some((dtype, shape)) = numbers(form) else { return Ok(()) };
        let counted = counter.map(|counter| format!("[{}]", leaf_name(&self.into.branches[counter].name)));
        let dims: String = counted.into_iter().chain(shape.iter().map(|size| format!("[{size}]"))).collect();
        let (kind, wire, range) = self.number(dtype)?;
        let leaf = leaf_name(name);
        let (bare, title) = (format!("{leaf}{dims}"), format!("{leaf}{dims}/{}{range}", kind.facts().letter));
        // ROOT expects the range after the type.
        let of_leaf = if range.is_empty() { &bare } else { &title };
        let leaf = Leaf { len: product(&shape)?, counter, ..Leaf::new(&leaf, of_leaf, kind) };
        let stored = if counter.is_some() { Stored::Items } else { Stored::Fixed };
        let source = self.source(path, stored).map(|source| Source { wire, ..source });
        self.push(Branch { leaf: Some(leaf), source, ..Branch::new(name, &title) });
        Ok(())
    }

    /// Adds the branch of a value in lists.
    fn listed(&mut self, name: &str, form: &Form, path: &[Step], lists: &Lists) -> Result<()> {
        if let (Some(_), 1, Jagged::Counter) = (numbers(form), lists.depth, self.options.jagged) {
            let counter = self.counter(lists)?;
            return self.numbers(name, form, Some(counter), path);
        }
        let class = vectors(&cpp(form)?, lists.depth);
        let source = self.source(path, Stored::Framed);
        self.push(Branch { source, ..Branch::of_class(name, Element::whole(&class)) });
        Ok(())
    }

    /// Returns the branch that counts the items of lists, which it adds when it is first needed.
    fn counter(&mut self, lists: &Lists) -> Result<usize> {
        let name = match &self.options.counter {
            Some(name) => name.clone(),
            None => counter_name(&lists.name),
        };
        let source =
            Source { column: self.column, path: lists.path.clone(), stored: Stored::Counts, wire: None };
        if let Some(known) = self.counters.get(&name) {
            let first = self.into.branches[*known].source.as_ref();
            if first.is_none_or(|first| (first.column, &first.path) != (source.column, &source.path)) {
                if self.options.counter.is_none() {
                    let what = format!(
                        "two columns with a counter named {name:?}: the option `counter` gives one of them another name"
                    );
                    return Err(Error::invalid(what));
                }
                self.into.sharing.push((source, *known));
            }
            return Ok(*known);
        }
        let leaf = leaf_name(&name);
        let title = format!("{leaf}/I");
        let leaf = Leaf { counts: true, ..Leaf::new(&leaf, &leaf, LeafKind::Number(DType::Int32)) };
        let branch = Branch { leaf: Some(leaf), source: Some(source), ..Branch::new(&name, &title) };
        let number = self.push(branch);
        self.counters.insert(name, number);
        Ok(number)
    }

    /// Returns the class of a leaf of numbers, their encoding, and its spelling in the title.
    fn number(&self, dtype: DType) -> Result<(LeafKind, Option<Encoding>, String)> {
        Ok(match packed(self.options.floats, dtype)? {
            None => (LeafKind::Number(dtype), None, String::new()),
            Some((wire, title)) => {
                let is_half = matches!(self.options.floats, Floats::Float16(_));
                let kind = if is_half { LeafKind::Float16 } else { LeafKind::Double32 };
                (kind, Some(wire), title)
            }
        })
    }

    /// Returns the source of a branch's values, at the end of a path.
    pub(super) fn source(&self, path: &[Step], stored: Stored) -> Option<Source> {
        Some(Source { column: self.column, path: path.to_vec(), stored, wire: None })
    }

    pub(super) fn push(&mut self, branch: Branch) -> usize {
        self.into.branches.push(branch);
        self.into.branches.len() - 1
    }
}

fn has_records(form: &Form) -> bool {
    form.nodes().any(|node| matches!(node, Form::Record { .. }))
}
