/* forthwith: files of columns for C and C++. Made of crates/capi/src by cbindgen; see docs/guide/from-c.md. */

#ifndef FORTHWITH_H
#define FORTHWITH_H

#include <stddef.h>
#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
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

#endif /* ARROW_C_STREAM_INTERFACE */

/*
 Result of a function that can fail. New values may be added.
 */
typedef enum forthwith_status {
  /*
   Success.
   */
  FORTHWITH_STATUS_OK = 0,
  /*
   An argument is null, not UTF-8, or out of range; an option or expression is invalid.
   */
  FORTHWITH_STATUS_INVALID = 1,
  /*
   The named file, object, table or column does not exist.
   */
  FORTHWITH_STATUS_NOT_FOUND = 2,
  /*
   The bytes of the file cannot be read.
   */
  FORTHWITH_STATUS_IO = 3,
  /*
   The bytes contradict the format.
   */
  FORTHWITH_STATUS_DAMAGED = 4,
  /*
   The data are valid, but this version cannot read them.
   */
  FORTHWITH_STATUS_UNSUPPORTED = 5,
  /*
   Memory cannot be allocated, or the data exceed a limit.
   */
  FORTHWITH_STATUS_MEMORY = 6,
  /*
   The callback stopped the loop.
   */
  FORTHWITH_STATUS_CANCELLED = 7,
  /*
   An internal error of forthwith.
   */
  FORTHWITH_STATUS_INTERNAL = 8,
} forthwith_status;

/*
 Layout of a column.
 */
typedef enum forthwith_kind {
  /*
   `size` numbers in each row.
   */
  FORTHWITH_KIND_NUMBERS = 0,
  /*
   Row `i` has the items from `offsets[i]` to before `offsets[i + 1]`, each of `size` numbers.
   */
  FORTHWITH_KIND_LISTS = 1,
  /*
   Row `i` has the bytes from `offsets[i]` to before `offsets[i + 1]`, which are UTF-8.
   */
  FORTHWITH_KIND_TEXT = 2,
  /*
   Row `i` has the bytes from `offsets[i]` to before `offsets[i + 1]`, which are arbitrary.
   */
  FORTHWITH_KIND_BYTES = 3,
} forthwith_kind;

/*
 Type of the numbers of a column.
 */
typedef enum forthwith_number {
  /*
   A byte, 0 or 1.
   */
  FORTHWITH_NUMBER_BOOL = 0,
  /*
   `int8_t`.
   */
  FORTHWITH_NUMBER_INT8 = 1,
  /*
   `int16_t`.
   */
  FORTHWITH_NUMBER_INT16 = 2,
  /*
   `int32_t`.
   */
  FORTHWITH_NUMBER_INT32 = 3,
  /*
   `int64_t`.
   */
  FORTHWITH_NUMBER_INT64 = 4,
  /*
   `uint8_t`.
   */
  FORTHWITH_NUMBER_UINT8 = 5,
  /*
   `uint16_t`.
   */
  FORTHWITH_NUMBER_UINT16 = 6,
  /*
   `uint32_t`.
   */
  FORTHWITH_NUMBER_UINT32 = 7,
  /*
   `uint64_t`.
   */
  FORTHWITH_NUMBER_UINT64 = 8,
  /*
   `float`.
   */
  FORTHWITH_NUMBER_FLOAT32 = 9,
  /*
   `double`.
   */
  FORTHWITH_NUMBER_FLOAT64 = 10,
} forthwith_number;

/*
 Columns of some entries. Several threads may use it at once.
 */
typedef struct forthwith_batch forthwith_batch;

/*
 Opened file. Several threads may use it at once.
 */
typedef struct forthwith_file forthwith_file;

/*
 List of names with their types: objects with their classes, or columns with their types.
 */
typedef struct forthwith_names forthwith_names;

/*
 Columns of a table, for all entries or the entries that pass a cut. Several threads may use it at once.
 */
typedef struct forthwith_selection forthwith_selection;

/*
 Iterator over the batches of a selection. Only one thread at a time may use it.
 */
typedef struct forthwith_steps_t forthwith_steps_t;

/*
 Table of a file, or the tables of many files as one. Several threads may use it at once.
 */
typedef struct forthwith_table_t forthwith_table_t;

/*
 A column of a batch, in memory that belongs to the batch.
 */
typedef struct forthwith_column {
  /*
   Layout of the column.
   */
  enum forthwith_kind kind;
  /*
   Type of the numbers in `data`.
   */
  enum forthwith_number number;
  /*
   Number of rows.
   */
  uint64_t rows;
  /*
   Number of numbers in each row, or in each item of a list.
   */
  uint64_t size;
  /*
   `rows + 1` offsets in ascending order; null for numbers.
   */
  const int64_t *offsets;
  /*
   Numbers, aligned for their type; not null even if `count` is 0.
   */
  const void *data;
  /*
   Number of numbers in `data`.
   */
  uint64_t count;
} forthwith_column;

/*
 Function that is called for each batch of `forthwith_for_each`, with the caller's `context`. The batch is
 valid during the call. A result other than 0 ends the loop. The function must not unwind (throw).
 */
typedef int32_t (*forthwith_callback)(const struct forthwith_batch *batch, void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the number of rows; 0 for null.

 Pointers:
 `batch` is null or a batch that is not freed.
 */
uint64_t forthwith_batch_rows(const struct forthwith_batch *batch);

/*
 Writes the range of entries that were read, from `*begin` to before `*end`; in a chain, counted over all
 files.

 Pointers:
 `batch` is a batch that is not freed; `begin` and `end` may be written to.
 */
enum forthwith_status forthwith_batch_range(const struct forthwith_batch *batch,
                                            uint64_t *begin,
                                            uint64_t *end);

/*
 Returns the entry of each row, valid until the batch is freed; null if the rows are all entries of the
 range.

 Pointers:
 `batch` is null or a batch that is not freed.
 */
const uint64_t *forthwith_batch_kept(const struct forthwith_batch *batch);

/*
 Describes a column, by its position in the selection, for loops without copies. Records, missing values
 and nested lists have the status `FORTHWITH_STATUS_UNSUPPORTED`: read them with `forthwith_batch_arrow`,
 or select simpler columns by expressions.

 Pointers:
 `batch` is a batch that is not freed; `out` may be written to. Its pointers are valid until the batch is
 freed.
 */
enum forthwith_status forthwith_batch_column(const struct forthwith_batch *batch,
                                             uintptr_t index,
                                             struct forthwith_column *out);

/*
 Exports all columns as a struct array over Arrow's C data interface. Numbers, offsets and bytes are
 shared, not copied.

 Pointers:
 `batch` is a batch that is not freed; it may be freed before the data. `array` and `schema` may be written
 to, and each is released by its `release`.
 */
enum forthwith_status forthwith_batch_arrow(const struct forthwith_batch *batch,
                                            struct ArrowArray *array,
                                            struct ArrowSchema *schema);

/*
 Frees a batch and the memory of its columns; null is ignored.

 Pointers:
 `batch` is null or a batch that is not freed.
 */
void forthwith_batch_free(struct forthwith_batch *batch);

/*
 Opens a file: a local path, a URL of HTTP, S3, Google Cloud Storage or Azure, or `-` for standard input.
 The format is determined from the first bytes. `options` is null or a JSON object with `threads` (a
 number), `store` (an object with options of the store of a URL), and options of the format, such as
 `{"check_text": false}`.

 Pointers:
 `uri` is a text that ends with NUL, `options` as well or null. `out` may be written to; the file is freed
 by `forthwith_file_free`.
 */
enum forthwith_status forthwith_open(const char *uri, const char *options, struct forthwith_file **out);

/*
 Returns the name of the file's format, valid until the file is freed; null for null.

 Pointers:
 `file` is null or a file that is not freed.
 */
const char *forthwith_file_format(const struct forthwith_file *file);

/*
 Lists the objects of a directory with their classes, in the order of the file. A null `directory` is the
 top level. Subdirectories are included if `recursive` is not 0.

 Pointers:
 `file` is a file that is not freed; `directory` is null or ends with NUL. `out` may be written to; the
 list is freed by `forthwith_names_free`.
 */
enum forthwith_status forthwith_file_keys(const struct forthwith_file *file,
                                          const char *directory,
                                          int32_t recursive,
                                          struct forthwith_names **out);

/*
 Lists the tables of all directories with their classes.

 Pointers:
 `file` is a file that is not freed. `out` may be written to; the list is freed by `forthwith_names_free`.
 */
enum forthwith_status forthwith_file_tables(const struct forthwith_file *file, struct forthwith_names **out);

/*
 Frees a file; null is ignored. Its tables remain valid.

 Pointers:
 `file` is null or a file that is not freed.
 */
void forthwith_file_free(struct forthwith_file *file);

/*
 Returns the number of names; 0 for null.

 Pointers:
 `names` is null or a list that is not freed.
 */
uintptr_t forthwith_names_count(const struct forthwith_names *names);

/*
 Returns a name, valid until the list is freed; null if `index` is out of range.

 Pointers:
 `names` is null or a list that is not freed.
 */
const char *forthwith_names_name(const struct forthwith_names *names, uintptr_t index);

/*
 Returns the class or type of a name, valid until the list is freed; null if `index` is out of range. The
 type of a column that cannot be read is empty.

 Pointers:
 `names` is null or a list that is not freed.
 */
const char *forthwith_names_type(const struct forthwith_names *names, uintptr_t index);

/*
 Frees a list of names; null is ignored.

 Pointers:
 `names` is null or a list that is not freed.
 */
void forthwith_names_free(struct forthwith_names *names);

/*
 Selects columns, by names or by expressions such as `Muon_pt * 2`, for the entries for which the
 expression `cut` is true. A null `columns` selects all columns; a null `cut` keeps all entries. Types are
 checked, but nothing is read.

 Pointers:
 `table` is a table that is not freed; `columns` is null or points to `count` texts that end with NUL;
 `cut` is null or such a text. `out` may be written to; the selection is freed by
 `forthwith_selection_free`.
 */
enum forthwith_status forthwith_select(const struct forthwith_table_t *table,
                                       const char *const *columns,
                                       uintptr_t count,
                                       const char *cut,
                                       struct forthwith_selection **out);

/*
 Exports the schema of a selection over Arrow's C data interface. Nothing is read.

 Pointers:
 `selection` is a selection that is not freed. `out` may be written to, and is released by its `release`.
 */
enum forthwith_status forthwith_selection_schema(const struct forthwith_selection *selection,
                                                 struct ArrowSchema *out);

/*
 Frees a selection; null is ignored. Its steps and streams remain valid.

 Pointers:
 `selection` is null or a selection that is not freed.
 */
void forthwith_selection_free(struct forthwith_selection *selection);

/*
 Returns the message of the last failure in the calling thread, with file, object, byte offset and expected
 value if known; empty if nothing failed. It is valid until the next failure in this thread.
 */
const char *forthwith_last_error(void);

/*
 Returns the version of the library, such as "0.1.0". It is a constant.
 */
const char *forthwith_version(void);

/*
 Prepares reading entries from `begin` to before `end` in steps, as `forthwith_selection_stream` does.

 Pointers:
 `selection` is a selection that is not freed; it may be freed before the steps. `out` may be written to;
 the steps are freed by `forthwith_steps_free`.
 */
enum forthwith_status forthwith_steps(const struct forthwith_selection *selection,
                                      uint64_t begin,
                                      uint64_t end,
                                      uint64_t step,
                                      struct forthwith_steps_t **out);

/*
 Reads the next batch. After the last one, and after an error, `*out` is null and the status is success.

 Pointers:
 `steps` are steps that are not freed, and that no other thread uses. `out` may be written to; the batch is
 freed by `forthwith_batch_free`, before or after the steps.
 */
enum forthwith_status forthwith_steps_next(struct forthwith_steps_t *steps, struct forthwith_batch **out);

/*
 Frees steps; null is ignored. Their batches remain valid.

 Pointers:
 `steps` is null or steps that are not freed.
 */
void forthwith_steps_free(struct forthwith_steps_t *steps);

/*
 Reads entries in steps as `forthwith_steps` does and calls `callback` for each batch, in the calling
 thread. If the callback returns another number than 0, the loop ends with `FORTHWITH_STATUS_CANCELLED`.

 Pointers:
 `selection` is a selection that is not freed. `callback` may be called with `context` and does not free
 the batch.
 */
enum forthwith_status forthwith_for_each(const struct forthwith_selection *selection,
                                         uint64_t begin,
                                         uint64_t end,
                                         uint64_t step,
                                         forthwith_callback callback,
                                         void *context);

/*
 Reads entries from `begin` to before `end` as a stream over Arrow's C stream interface. Each batch has
 `step` entries and is read when it is requested. An `end` of `UINT64_MAX` is the end of the table; a
 `step` of 0 means about 64 MiB. With a cut, a batch has fewer rows than entries. Errors are returned by
 the stream's `get_next` and `get_last_error`.

 Pointers:
 `selection` is a selection that is not freed; it may be freed before the stream. `out` may be written to,
 and is released by its `release`.
 */
enum forthwith_status forthwith_selection_stream(const struct forthwith_selection *selection,
                                                 uint64_t begin,
                                                 uint64_t end,
                                                 uint64_t step,
                                                 struct ArrowArrayStream *out);

/*
 Opens a table of a file by its path, such as `dir/events`. A null `path` is the only table of the file.

 Pointers:
 `file` is a file that is not freed; `path` is null or ends with NUL. `out` may be written to; the table is
 freed by `forthwith_table_free`.
 */
enum forthwith_status forthwith_table(const struct forthwith_file *file,
                                      const char *path,
                                      struct forthwith_table_t **out);

/*
 Makes one table of the tables of many files. Each name is `path:table`, where the path may be a pattern, a
 folder or a URL, and `:table` may be omitted if each file has one table. Files are opened when they are
 read. `options` are those of `forthwith_open`, and `missing` (`"raise"` or `"null"`) for columns that some
 files lack.

 Pointers:
 `names` points to `count` texts that end with NUL, `options` is such a text or null. `out` may be written
 to; the table is freed by `forthwith_table_free`.
 */
enum forthwith_status forthwith_chain(const char *const *names,
                                      uintptr_t count,
                                      const char *options,
                                      struct forthwith_table_t **out);

/*
 Writes the number of entries. In a chain, this opens all files that were not counted before.

 Pointers:
 `table` is a table that is not freed; `out` may be written to.
 */
enum forthwith_status forthwith_table_entries(const struct forthwith_table_t *table, uint64_t *out);

/*
 Lists the columns with their types, such as `var * float32`; for a chain, the common columns with the
 types of the first file.

 Pointers:
 `table` is a table that is not freed. `out` may be written to; the list is freed by
 `forthwith_names_free`.
 */
enum forthwith_status forthwith_table_columns(const struct forthwith_table_t *table,
                                              struct forthwith_names **out);

/*
 Frees a table; null is ignored. Its selections remain valid.

 Pointers:
 `table` is null or a table that is not freed.
 */
void forthwith_table_free(struct forthwith_table_t *table);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FORTHWITH_H */
