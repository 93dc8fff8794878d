//! Files of one ntuple.

use super::{NtupleOptions, NtupleWriter};
use forthwith_columns::{Array, Form};
use forthwith_io::Sink;
use forthwith_plan::{Result, TableWriter, Written};
use forthwith_root::write::{FileSettings, FileWriter};

/// Writer of a file with one ntuple.
///
/// ```
/// use forthwith_columns::{Array, Column, DType, Form};
/// use forthwith_io::{Memory, MemorySink};
/// use forthwith_plan::{Dataset, TableWriter};
/// use forthwith_rntuple::{Ntuple, NtupleOptions, NtupleTable, Options};
/// use forthwith_root::{RootFile, write::FileSettings};
/// use std::sync::Arc;
///
/// let form = Form::Numpy { key: "x".into(), dtype: DType::Float32, shape: vec![] };
/// let array = Array { form: form.clone(), length: 3, columns: vec![("x-data".into(), Column::from_slice(&[1.5f32, 2.5, 3.5]))] };
/// let memory = MemorySink::new("example.root");
/// let columns = [("x".to_owned(), form)];
/// let (settings, options) = (FileSettings::default(), NtupleOptions::default());
/// let mut table = NtupleTable::new(Box::new(memory.clone()), settings, "ntuple", &columns, options)?;
/// table.write(&[array])?;
/// let written = Box::new(table).finish()?;
///
/// let bytes = memory.bytes().ok_or("nothing was written")?;
/// assert_eq!((written.entries, written.bytes), (3, bytes.len() as u64));
/// let file = RootFile::open(Arc::new(Memory::new("example.root", bytes)))?;
/// let ntuple = Ntuple::open(&file, &file.find("ntuple")?, Options::default())?;
/// assert_eq!(ntuple.describe(0)?.type_name, "float");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NtupleTable {
    file: FileWriter,
    ntuple: NtupleWriter,
}

impl NtupleTable {
    /// Creates a file with an ntuple of columns, at a path of the file.
    ///
    /// # Errors
    /// Returns the errors of [`NtupleWriter::new`], and an error if writing fails.
    pub fn new(
        sink: Box<dyn Sink>,
        settings: FileSettings,
        path: &str,
        columns: &[(String, Form)],
        options: NtupleOptions,
    ) -> Result<Self> {
        let mut file = FileWriter::create(sink, settings)?;
        let ntuple = NtupleWriter::new(&mut file, path, columns, options)?;
        Ok(Self { file, ntuple })
    }
}

impl TableWriter for NtupleTable {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        self.ntuple.extend(&mut self.file, columns)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { mut file, ntuple } = *self;
        let entries = ntuple.finish(&mut file)?;
        Ok(Written { entries, bytes: file.finish()? })
    }
}
