//! Requests of keys, which open a pane or change one.

use crate::{
    act::ChildrenOf,
    answers::Answer,
    cells::{self, Entries},
    grid::Grid,
    host::Host,
    human,
    jobs::{Job, Ticket},
    pane::Pane,
    plot::Plot,
    row_filter::check_cut,
    start::Start,
    tree_node::{ChildNodes, NodeId},
};
use forthwith::{File, Key, Table, io::Version};
use std::sync::{Arc, atomic::AtomicBool};

/// Maximum number of characters of a value in a pane of its own.
const VALUE: usize = 100_000;

type Make = Box<dyn FnOnce(&AtomicBool) -> Result<Reply, String> + Send>;

/// Read that a key requests.
pub(crate) struct Request {
    /// Subject for messages, safe to show.
    pub(crate) subject: String,
    /// Node whose children are read, if any.
    pub(crate) node: Option<NodeId>,
    make: Make,
}

/// Request that was not answered yet.
pub(crate) struct Pending {
    pub(crate) ticket: Ticket,
    pub(crate) subject: String,
    pub(crate) node: Option<NodeId>,
}

/// Result of a request.
pub(crate) enum Reply {
    /// Pane to open above the others.
    Pane(Pane),
    /// Children of a node of the tree.
    Children {
        node: NodeId,
        children: ChildNodes,
        /// Whether to show the values of the table afterwards.
        enters: bool,
    },
    /// File that was opened again.
    Reopened(Reopened),
    /// Validated cut for the topmost pane.
    Cut(String),
}

/// File that was opened again, and its first pane.
pub(crate) struct Reopened {
    pub(crate) file: File,
    pub(crate) start: Start,
    pub(crate) pane: Pane,
    pub(crate) version: Option<Version>,
    pub(crate) size: Option<u64>,
}

impl Request {
    fn new(
        subject: String,
        make: impl FnOnce(&AtomicBool) -> Result<Reply, String> + Send + 'static,
    ) -> Self {
        Self { subject, node: None, make: Box::new(make) }
    }

    fn pane(
        subject: String,
        make: impl FnOnce(&AtomicBool) -> Result<Pane, String> + Send + 'static,
    ) -> Self {
        Self::new(subject, move |stop| Ok(Reply::Pane(make(stop)?)))
    }

    /// Requests the values of a table, of some columns or of all.
    pub(crate) fn values(table: Table, columns: Option<Vec<u32>>) -> Self {
        let subject = human::clean(table.path());
        Self::pane(subject, move |_| {
            let grid = Grid::new(table, columns).map_err(|error| error.to_string())?;
            Ok(Pane::Grid(Box::new(grid)))
        })
    }

    /// Requests a histogram of one column or two.
    pub(crate) fn plot(table: Table, columns: Vec<u32>, cut: Option<String>) -> Self {
        let subject = human::clean(table.path());
        Self::pane(subject, move |_| {
            let plot = Plot::new(table, &columns, cut).map_err(|error| error.to_string())?;
            Ok(Pane::Plot(Box::new(plot)))
        })
    }

    /// Requests an object other than a table.
    pub(crate) fn object(host: &Arc<dyn Host>, file: &File, key: &Key, width: usize) -> Self {
        let (host, file, key) = (Arc::clone(host), file.clone(), key.clone());
        let title = human::clean(&key.path);
        Self::pane(title.clone(), move |_| Ok(Pane::text(&title, &host.object(&file, &key, width)?)))
    }

    /// Requests the program of a column, or its plan in lines of the given width.
    pub(crate) fn explanation(
        host: &Arc<dyn Host>,
        table: Table,
        field: u32,
        program: bool,
        width: usize,
    ) -> Self {
        let host = Arc::clone(host);
        let title = path_of(&table, field);
        Self::pane(title.clone(), move |_| {
            let text = if program { host.program(&table, field)? } else { host.plan(&table, field, width)? };
            Ok(Pane::text(&title, &text))
        })
    }

    /// Requests a value of a table, in lines of the given width.
    pub(crate) fn value(table: Table, field: u32, entry: u64, width: usize) -> Self {
        let title = format!("{}, row {}", path_of(&table, field), human::count(entry));
        Self::pane(title.clone(), move |stop| {
            let read = cells::read(&table, &[field], &Entries::Range(entry..entry + 1), stop);
            let (form, text) = match read.map_err(|error| error.to_string())?.first() {
                Some(array) => (array.form.type_string(), cells::texts(array, VALUE)?.concat()),
                None => (String::new(), String::new()),
            };
            let characters: Vec<char> = text.chars().collect();
            let lines: Vec<String> = characters.chunks(width).map(|line| line.iter().collect()).collect();
            Ok(Pane::text(&title, &format!("{form}\n\n{}", lines.join("\n"))))
        })
    }

    /// Requests the children of a node; with `enters`, the values of its table are shown afterwards.
    pub(crate) fn children(host: &Arc<dyn Host>, file: &File, of: ChildrenOf) -> Self {
        let ChildrenOf { node, depth, content, label, enters } = of;
        let (host, file) = (Arc::clone(host), file.clone());
        let make = move |_: &AtomicBool| {
            let children = ChildNodes::read(host.as_ref(), &file, &content, depth);
            Ok(Reply::Children { node, children, enters })
        };
        Self { subject: label, node: Some(node), make: Box::new(make) }
    }

    /// Requests that the file is opened again.
    pub(crate) fn reopening(host: &Arc<dyn Host>, start: &Start, subject: String) -> Self {
        let (host, start) = (Arc::clone(host), start.clone());
        Self::new(subject, move |_| {
            let file = host.reopen()?;
            let start = match start {
                Start::Tree(path) => Start::Tree(path),
                Start::Table(table, columns) => {
                    let table = host.table(&file, table.path()).map_err(|error| error.to_string())?;
                    Start::Table(table, columns)
                }
            };
            let pane = Pane::first(host.as_ref(), &file, &start).map_err(|error| error.to_string())?;
            let (version, size) = state(&file);
            Ok(Reply::Reopened(Reopened { file, start, pane, version, size }))
        })
    }

    /// Requests the validation of a cut.
    pub(crate) fn cut(table: Table, cut: String) -> Self {
        Self::new(human::clean(&cut), move |_| {
            check_cut(&table, &cut).map_err(|error| error.to_string())?;
            Ok(Reply::Cut(cut))
        })
    }

    /// Returns the job that computes the answer.
    pub(crate) fn job(self) -> impl Job + 'static {
        RequestJob(Some(self.make))
    }
}

struct RequestJob(Option<Make>);

impl Job for RequestJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        let reply = self.0.take().map_or_else(|| Err("answered already".to_owned()), |make| make(stop));
        (reply.map_or_else(Answer::Failed, |reply| Answer::Reply(Box::new(reply))), false)
    }
}

/// Job that checks whether the file has changed.
pub(crate) struct StateJob(pub(crate) File);

impl Job for StateJob {
    fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
        let (version, size) = state(&self.0);
        (Answer::State(version, size), false)
    }
}

/// Returns the version of a file and its size in bytes, as far as they are available.
pub(crate) fn state(file: &File) -> (Option<Version>, Option<u64>) {
    (file.source().version().ok().flatten(), file.source().size().ok())
}

/// Returns the path of a column, safe to show.
fn path_of(table: &Table, field: u32) -> String {
    let field = table.fields().ok().and_then(|fields| fields.get(field as usize));
    field.map_or_else(String::new, |field| human::clean(&field.path))
}
