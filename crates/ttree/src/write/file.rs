//! A file of one tree, written like the file of any other format.

use super::{TreeOptions, TreeWriter};
use forthwith_columns::{Array, Form};
use forthwith_io::Sink;
use forthwith_plan::{Result, TableWriter, Written};
use forthwith_root::write::{FileSettings, FileWriter};

/// Writer of a ROOT file with one tree.
pub struct TreeFile {
    file: FileWriter,
    tree: TreeWriter,
}

forthwith_io::impl_debug!(TreeFile, |it| "tree": it.tree);

impl TreeFile {
    /// Creates a file with a tree at a path.
    ///
    /// # Errors
    /// Returns the errors of [`FileWriter::create`] and [`TreeWriter::new`].
    pub fn create(
        sink: Box<dyn Sink>,
        path: &str,
        columns: &[(String, Form)],
        settings: FileSettings,
        options: TreeOptions,
    ) -> Result<Self> {
        let uri = sink.uri().to_owned();
        let mut file = FileWriter::create(sink, settings)?;
        let tree = TreeWriter::new(&mut file, path, columns, options).map_err(|e| e.in_file(&uri))?;
        Ok(Self { file, tree })
    }
}

impl TableWriter for TreeFile {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        let uri = self.file.uri().to_owned();
        self.tree.extend(&mut self.file, columns).map_err(|e| e.in_file(&uri))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { mut file, tree } = *self;
        let entries = tree.finish(&mut file)?;
        Ok(Written { entries, bytes: file.finish()? })
    }
}
