/* floor FILE [REPS]: what it takes to move the bytes of a branch on this machine, whoever decodes them.
 *
 *     cc -O2 -o floor floor.c && ./floor shapes.root
 *
 * Of each shape of `read.py`, with 100 000 entries: as many blocks as it has baskets, spread over FILE, are copied by memcpy to as much memory as
 * its columns take, which has its pages; what there is more of on one side is read, or written, too. The caches are filled with something else before each
 * repetition, as by the readers that take turns. Ways: `again`, from a map whose pages are there; `next`, from a new map; `populate`, the same with the pages
 * of each block asked for at once; `pread`, from scratch that each block is read into. Milliseconds of processor, the least and the median. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { AGAIN, NEXT, POPULATE, PREAD, WAYS };
static const char *const WAY[WAYS] = {"again", "next", "populate", "pread"};
static const struct {
    const char *name;
    size_t blocks, stored, written;
} SHAPES[] = {
    {"point", 15, 2801200, 2400000},  {"plain", 22, 5350313, 4846000},  {"rows", 24, 5895144, 6292700},
    {"words", 16, 3275349, 4423100},  {"table", 33, 9094479, 9626600},  {"points", 30, 7999094, 6796700},
    {"event", 175, 55585639, 57850000},
};
enum { MOST = 1000, FILL = 96 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * t.tv_sec + t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t sum(const char *from, size_t bytes) {
    uint64_t all = 0, word;
    for (size_t at = 0; at + 8 <= bytes; at += 8) {
        memcpy(&word, from + at, 8);
        all += word;
    }
    return all;
}

int main(int count, char **words) {
    int file = count > 1 ? open(words[1], O_RDONLY) : -1, reps = count > 2 ? atoi(words[2]) : 15;
    size_t size = file < 0 ? 0 : (size_t)lseek(file, 0, SEEK_END), page = (size_t)sysconf(_SC_PAGESIZE);
    if (size < (size_t)60 << 20 || reps < 1 || reps > MOST)
        return fprintf(stderr, "floor FILE [REPS]: a file of 60 MB at least\n"), 2;
    char *fill = malloc(FILL), *scratch = malloc(4 << 20), *kept = mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
    uint64_t all = 0;
    printf("shape");
    for (int way = 0; way < WAYS; way++)
        printf(" | %s", WAY[way]);
    printf("\n");
    for (size_t shape = 0; shape < sizeof SHAPES / sizeof *SHAPES; shape++) {
        size_t blocks = SHAPES[shape].blocks, from = SHAPES[shape].stored / blocks, into = SHAPES[shape].written / blocks;
        size_t both = from < into ? from : into;
        char *columns = malloc(blocks * into);
        memset(columns, 1, blocks * into);
        static double times[WAYS][MOST];
        for (int rep = 0; rep < reps; rep++)
            for (int way = 0; way < WAYS; way++) {
                memset(fill, rep, FILL);
                all += sum(fill, FILL);
                double begun = now();
                char *map = way == AGAIN ? kept : way == PREAD ? 0 : mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
                for (size_t block = 0; block < blocks; block++) {
                    size_t at = block * ((size - from) / blocks);
                    const char *bytes = map + at;
                    char *to = columns + block * into;
                    if (way == POPULATE)
                        madvise(map + at / page * page, from + at % page, MADV_POPULATE_READ);
                    if (way == PREAD) {
                        if (pread(file, scratch, from, (off_t)at) != (ssize_t)from)
                            return 1;
                        bytes = scratch;
                    }
                    memcpy(to, bytes, both);
                    all += sum(bytes + both, from - both);
                    memset(to + both, way, into - both);
                }
                times[way][rep] = now() - begun;
                if (way == NEXT || way == POPULATE)
                    munmap(map, size);
            }
        printf("%s", SHAPES[shape].name);
        for (int way = 0; way < WAYS; way++) {
            qsort(times[way], (size_t)reps, sizeof(double), by_size);
            printf(" | %.2f %.2f", times[way][0], times[way][reps / 2]);
        }
        printf("\n");
        free(columns);
    }
    return all == 1;
}
