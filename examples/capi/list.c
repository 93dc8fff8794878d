/* The tables of a file, their columns, and the rows of an Arrow stream: list FILE */
#include <stdio.h>

#include "forthwith.h"

static int failed(void) {
    fprintf(stderr, "%s\n", forthwith_last_error());
    return 1;
}

/* Reads all columns of a table as a stream and counts its batches and rows. */
static int count_rows(const forthwith_table_t *table) {
    forthwith_selection *selection;
    struct ArrowArrayStream stream;
    long long batches = 0, rows = 0;
    if (forthwith_select(table, NULL, 0, NULL, &selection)) return failed();
    forthwith_status status = forthwith_selection_stream(selection, 0, UINT64_MAX, 1000, &stream);
    forthwith_selection_free(selection);
    if (status) return failed();
    for (;;) {
        struct ArrowArray batch;
        if (stream.get_next(&stream, &batch)) {
            const char *message = stream.get_last_error(&stream);
            fprintf(stderr, "%s\n", message ? message : "unknown error");
            stream.release(&stream);
            return 1;
        }
        if (!batch.release) break;
        batches += 1;
        rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    printf("%lld rows in %lld batches\n", rows, batches);
    return 0;
}

static int list_table(const forthwith_file *file, const char *path) {
    forthwith_table_t *table;
    forthwith_names *columns;
    if (forthwith_table(file, path, &table)) return failed();
    int result = 1;
    if (forthwith_table_columns(table, &columns)) {
        failed();
    } else {
        for (size_t i = 0; i < forthwith_names_count(columns); i++) {
            printf("  %s: %s\n", forthwith_names_name(columns, i), forthwith_names_type(columns, i));
        }
        forthwith_names_free(columns);
        result = count_rows(table);
    }
    forthwith_table_free(table);
    return result;
}

int main(int count, char **arguments) {
    forthwith_file *file;
    forthwith_names *tables;
    int result = 0;
    if (count != 2) {
        fprintf(stderr, "usage: list FILE\n");
        return 2;
    }
    if (forthwith_open(arguments[1], "{\"threads\": 2}", &file)) return failed();
    if (forthwith_file_tables(file, &tables)) {
        forthwith_file_free(file);
        return failed();
    }
    for (size_t i = 0; i < forthwith_names_count(tables); i++) {
        const char *path = forthwith_names_name(tables, i);
        printf("%s (%s)\n", path, forthwith_names_type(tables, i));
        result |= list_table(file, path);
    }
    forthwith_names_free(tables);
    forthwith_file_free(file);
    return result;
}
