//! Listing of folders of stores.

use crate::{
    StoreOptions, redact,
    runtime::{choose_cryptography, wait},
    store::{Object, Use},
};
use forthwith_io::{Error, ErrorKind, Result};

/// Objects and folders in a folder of a store, by their URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// URLs of the objects.
    pub files: Vec<String>,
    /// URLs of the folders in it, without a trailing slash.
    pub folders: Vec<String>,
}

/// Lists a folder of S3, Google Cloud Storage or Azure: `s3://bucket/run1`. A folder that does not exist is
/// listed as empty.
///
/// # Errors
/// Returns an error if the scheme has no listing, such as `https`, if the bucket cannot be read, or if the
/// store does not support an option.
pub fn folder(url: &str, options: &StoreOptions) -> Result<Folder> {
    let name = redact(url);
    let failed = |kind| Error::new(kind, &name);
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    if scheme.to_ascii_lowercase().starts_with("http") {
        return Err(failed(ErrorKind::NotListed));
    }
    let bucket = rest.split_once('/').map_or(rest, |(bucket, _)| bucket);
    choose_cryptography();
    let object = Object::new(url.trim_end_matches('/'), options, Use::Read).map_err(failed)?;
    let listed = async move { object.folder().await.map_err(|fault| fault.kind) };
    let (files, folders) = wait(&name, listed, || options.ended())?;
    let urls = |paths: Vec<String>| paths.iter().map(|path| format!("{scheme}://{bucket}/{path}")).collect();
    Ok(Folder { files: urls(files), folders: urls(folders) })
}
