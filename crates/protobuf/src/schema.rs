//! Schemas from sets of descriptors or from text.

use buffa_descriptor::{
    DescriptorPool, FieldDescriptor, FieldKind, MessageDescriptor, MessageIndex, SingularKind,
};
use forthwith_plan::{Error, ErrorKind, NameListing, Result, similar_names};
use protox::{
    Compiler,
    file::{ChainFileResolver, File, FileResolver, GoogleFileResolver},
};
use std::{path::Path, sync::Arc};

/// Set of message types with full names.
#[derive(Clone, Debug)]
pub struct Schema {
    pool: Arc<DescriptorPool>,
}

/// File name of a schema that is given as text.
const TEXT: &str = "schema.proto";

impl Schema {
    /// Parses a schema given as an option: the text of a `.proto` file, a set of descriptors in hexadecimal
    /// digits, or the path of a file with either.
    ///
    /// # Errors
    /// Returns an error if the schema is neither, if the file cannot be read, or if a name in it is
    /// undefined.
    pub fn parse(text: &str) -> Result<Self> {
        if text.contains(['{', ';']) {
            return Self::of_text(text);
        }
        if let Some(bytes) = from_hex(text.trim()) {
            return Self::of_descriptors(&bytes);
        }
        Self::of_file(Path::new(text))
    }

    /// Decodes a serialised `google.protobuf.FileDescriptorSet`, as `protoc --descriptor_set_out
    /// --include_imports` writes it.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a set, or if a type that is used in it is missing.
    pub fn of_descriptors(bytes: &[u8]) -> Result<Self> {
        let pool = DescriptorPool::decode(bytes)
            .map_err(|why| Error::invalid(format!("schema: not a usable set of descriptors: {why}")))?;
        Ok(Self { pool: Arc::new(pool) })
    }

    /// Compiles the text of a `.proto` file, which can only import files of `google/protobuf`.
    ///
    /// # Errors
    /// Returns an error if the text does not compile.
    pub fn of_text(text: &str) -> Result<Self> {
        let mut files = ChainFileResolver::new();
        files.add(OneFile(text.to_owned()));
        files.add(GoogleFileResolver::new());
        Self::compiled(Compiler::with_file_resolver(files), Path::new(TEXT))
    }

    /// Reads a schema from a file: `.proto` text, whose imports are relative to its folder, or a set of
    /// descriptors.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and those of [`of_text`](Self::of_text) and
    /// [`of_descriptors`](Self::of_descriptors).
    pub fn of_file(path: &Path) -> Result<Self> {
        if path.extension().is_some_and(|ending| ending == "proto") {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let compiler = Compiler::new([folder.unwrap_or(Path::new("."))]).map_err(uncompiled)?;
            return Self::compiled(compiler, path);
        }
        let bytes = std::fs::read(path)
            .map_err(|why| Error::invalid(format!("schema: {}: {why}", path.display())))?;
        Self::of_descriptors(&bytes)
    }

    fn compiled(mut compiler: Compiler, path: &Path) -> Result<Self> {
        compiler.include_imports(true).open_file(path).map_err(uncompiled)?;
        Self::of_descriptors(&compiler.encode_file_descriptor_set())
    }

    /// Returns the message type `name`; if `None`, the only type that is not used by a field of another.
    pub(crate) fn message(&self, name: Option<&str>) -> Result<MessageIndex> {
        if let Some(name) = name {
            return self.pool.message_index(name.trim_start_matches('.')).ok_or_else(|| {
                let names = || self.names();
                ErrorKind::NotFound {
                    what: "message type",
                    name: name.into(),
                    near: similar_names(name, names()),
                    known: NameListing::of(names()),
                }
                .into()
            });
        }
        let mut outermost = self.outermost();
        match (outermost.pop(), outermost.pop()) {
            (Some(only), None) => Ok(only),
            (Some(second), Some(first)) => {
                let names = [first, second].map(|at| self.pool.message(at).full_name());
                let what = format!(
                    "the schema has several types of messages, such as {}: name one with message=",
                    names.join(" and ")
                );
                Err(Error::invalid(what))
            }
            _ => Err(Error::invalid(
                "the schema has no message type that no other has a field of: name one with message=",
            )),
        }
    }

    /// Returns the types that are not used by a field of any type, except those of `google.protobuf`.
    fn outermost(&self) -> Vec<MessageIndex> {
        let fields = self.pool.messages().iter().flat_map(MessageDescriptor::fields);
        let inner: Vec<MessageIndex> = fields.filter_map(|field| message_of(field.kind())).collect();
        let names = self.names().filter(|name| !name.starts_with("google.protobuf."));
        let indexes = names.filter_map(|name| self.pool.message_index(name));
        indexes.filter(|index| !inner.contains(index)).collect()
    }

    /// Returns the names of all types except map entries.
    fn names(&self) -> impl Iterator<Item = &str> {
        let is_entry = |message: &&MessageDescriptor| {
            message.options().is_some_and(|options| options.map_entry == Some(true))
        };
        self.pool
            .messages()
            .iter()
            .filter(move |message| !is_entry(message))
            .map(MessageDescriptor::full_name)
    }

    /// Returns the fields of a message with their names, followed by its extensions, named by their full
    /// names in brackets.
    pub(crate) fn fields(&self, message: MessageIndex) -> impl Iterator<Item = (String, &FieldDescriptor)> {
        let own = self.pool.message(message).fields().iter();
        let extensions = self.pool.extensions_of(message);
        own.map(|field| (field.name().to_owned(), field))
            .chain(extensions.map(|extension| (format!("[{}]", extension.full_name()), extension.field())))
    }

    pub(crate) fn pool(&self) -> &DescriptorPool {
        &self.pool
    }
}

/// Returns the message type of the values of a field, if they are messages.
pub(crate) const fn message_of(kind: FieldKind) -> Option<MessageIndex> {
    match kind {
        FieldKind::Singular(SingularKind::Message(index))
        | FieldKind::List(SingularKind::Message(index))
        | FieldKind::Map { value: SingularKind::Message(index), .. } => Some(index),
        _ => None,
    }
}

/// Resolver of a single file that is given as text.
struct OneFile(String);

impl FileResolver for OneFile {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        (path == Path::new(TEXT)).then(|| TEXT.to_owned())
    }

    fn open_file(&self, name: &str) -> std::result::Result<File, protox::Error> {
        match name {
            TEXT => File::from_source(name, &self.0),
            _ => Err(protox::Error::file_not_found(name)),
        }
    }
}

fn uncompiled(why: protox::Error) -> Error {
    Error::invalid(format!("schema: {why:?}"))
}

/// Decodes an even number of hexadecimal digits; `None` for any other text.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (digits, rest) = text.as_bytes().as_chunks::<2>();
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    digits.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}
