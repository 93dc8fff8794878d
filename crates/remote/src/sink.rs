//! Writing of objects of stores.

use crate::{
    StoreOptions,
    options::refused,
    redact,
    runtime::{choose_cryptography, wait},
    store::{Object, Use},
};
use forthwith_io::{Error, ErrorKind, Result, Sink, unlisted};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    sync::Arc,
};

/// A sink that writes an object of a store. The bytes are written to an unnamed temporary file first, because
/// formats such as ROOT patch their header at the end; `finish` uploads the file, large ones in several parts
/// in parallel. The object appears, or is replaced, only when the upload is complete. A failed upload is
/// aborted; if the answer to its completion is lost, the error says that the object's state is unknown.
struct StoreSink {
    name: String,
    object: Arc<Object>,
    options: StoreOptions,
    file: File,
    length: u64,
    process: u32,
}

/// Creates a sink for an object of S3, Google Cloud Storage or Azure: `s3://bucket/out.root`.
///
/// # Errors
/// Returns an error if the scheme does not support writing, such as `https`, if the URL names no object, if
/// the store does not support an option, or if a temporary file cannot be created.
pub fn create(url: &str, options: &StoreOptions) -> Result<Box<dyn Sink>> {
    let name = redact(url);
    let failed = |kind| Error::new(kind, &name);
    let (scheme, path) = url.split_once("://").unwrap_or_default();
    if scheme.to_ascii_lowercase().starts_with("http") {
        return Err(failed(refused("files cannot be written to web servers".into())));
    }
    if path.split_once('/').is_none_or(|(_, path)| path.is_empty() || path.ends_with('/')) {
        return Err(failed(ErrorKind::NotAFile));
    }
    choose_cryptography();
    let object = Arc::new(Object::new(url, options, Use::Write).map_err(failed)?);
    let file = unlisted().map_err(|error| failed(error.into()))?;
    let (options, process) = (options.clone(), std::process::id());
    Ok(Box::new(StoreSink { name, object, options, file, length: 0, process }))
}

impl Write for StoreSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for StoreSink {
    fn uri(&self) -> &str {
        &self.name
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if at.checked_add(bytes.len() as u64).is_none_or(|end| end > self.length) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "bytes that were not written yet"));
        }
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let failed = |kind| Error::new(kind, &self.name);
        if self.process != std::process::id() {
            return Err(failed(ErrorKind::Forked { process: self.process }));
        }
        self.file.rewind().map_err(|error| failed(error.into()))?;
        let length = self.length;
        let file = self.file.try_clone().map_err(|error| failed(error.into()))?;
        let object = Arc::clone(&self.object);
        let sent = async move { object.put(file.take(length), length).await.map_err(|fault| fault.kind) };
        wait(&self.name, sent, || self.options.ended())
    }
}
