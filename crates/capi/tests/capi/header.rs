//! The header is made of the sources.

use std::{fs, path::Path};

const ARROW: &str = r"#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */";

/// The names of types in C.
const TYPES: [(&str, &str); 13] = [
    ("BatchCallback", "forthwith_callback"),
    ("BatchHandle", "forthwith_batch"),
    ("Column", "forthwith_column"),
    ("ColumnKind", "forthwith_kind"),
    ("FileHandle", "forthwith_file"),
    ("NameList", "forthwith_names"),
    ("NumberType", "forthwith_number"),
    ("SelectionHandle", "forthwith_selection"),
    ("Status", "forthwith_status"),
    // Functions have the names without an ending.
    ("StepsHandle", "forthwith_steps_t"),
    ("TableHandle", "forthwith_table_t"),
    ("FFI_ArrowArray", "struct ArrowArray"),
    ("FFI_ArrowSchema", "struct ArrowSchema"),
];

fn config() -> cbindgen::Config {
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        include_guard: Some("FORTHWITH_H".into()),
        header: Some(
            "/* forthwith: files of columns for C and C++. Made of crates/capi/src by cbindgen; see docs/guide/from-c.md. */"
                .into(),
        ),
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
        after_includes: Some(format!("\n{ARROW}")),
        cpp_compat: true,
        documentation_style: cbindgen::DocumentationStyle::C,
        line_length: 110,
        ..cbindgen::Config::default()
    };
    config.enumeration.rename_variants = cbindgen::RenameRule::QualifiedScreamingSnakeCase;
    config.export.rename = TYPES.map(|(rust, c)| (rust.into(), c.into())).into();
    config.export.rename.insert("FFI_ArrowArrayStream".into(), "struct ArrowArrayStream".into());
    config
}

fn fresh(root: &Path) -> String {
    let mut sources: Vec<_> =
        fs::read_dir(root.join("src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Its modules would be read with it, and all of them twice.
    sources.retain(|source| !source.ends_with("lib.rs"));
    sources.sort();
    let builder = cbindgen::Builder::new().with_config(config());
    let bindings = sources.iter().fold(builder, cbindgen::Builder::with_src).generate().unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    // The promises to the compiler of Rust are the sentences on ownership of C.
    String::from_utf8(text).unwrap().replace(" # Safety\n", " Pointers:\n")
}

#[test]
fn the_header_is_made_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = root.join("include/forthwith.h");
    let fresh = fresh(root);
    if std::env::var_os("FORTHWITH_UPDATE").is_some() {
        fs::write(&place, &fresh).unwrap();
    }
    let kept = fs::read_to_string(&place).unwrap_or_default();
    let declarations = fresh.matches("forthwith_open(const").count();
    assert_eq!(declarations, 1, "declarations of forthwith_open");
    assert!(kept == fresh, "the header differs from the sources: FORTHWITH_UPDATE=1 writes it anew");
}
