/* ceiling FILE [REPS]: what two threads can gain on this machine, whoever decodes.
 *
 *     cc -O2 -pthread -o ceiling ceiling.c && ./ceiling DATA/s1.avro
 *
 * As many bytes as the file has are touched in fresh huge pages (the system clears them), copied from the mapped file into fresh huge pages
 * (mapping and unmapping included), and copied from the mapped file into pages that are there: by one thread and by two, which take
 * pages of their own, in turn. The least and the median of the repetitions.
 *
 * Single figures can be off by a factor on a virtual machine whose host takes free memory back: whoever gets such a page waits for the host,
 * and the second thread gets them first, since the pages that were just freed are kept for the processor that freed them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TOUCH, COPY_FRESH, COPY_WARM, MODES };
static const char *const NAMES[MODES] = {"touch fresh pages", "copy to fresh pages", "copy to warm pages"};
static const size_t HUGE = 2 << 20;

static size_t size;
static char *to, *from;
static int mode;
static long next;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *work(void *unused) {
    for (;;) {
        size_t at = (size_t)__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) * HUGE;
        if (at >= size)
            return unused;
        if (mode == TOUCH)
            to[at] = 1;
        else
            memcpy(to + at, from + at, HUGE);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    int file = count > 1 ? open(words[1], O_RDONLY) : -1, reps = count > 2 ? atoi(words[2]) : 25;
    if (file < 0 || reps < 1 || reps > 1000)
        return fprintf(stderr, "ceiling FILE [REPS]\n"), 2;
    size = (size_t)lseek(file, 0, SEEK_END) / HUGE * HUGE;
    for (mode = 0; mode < MODES; mode++) {
        static double times[2][1000];
        for (int rep = 0; rep < reps; rep++)
            for (int threads = 1; threads <= 2; threads++) {
                char *all = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
                if (all == MAP_FAILED)
                    return perror("mmap"), 1;
                to = (char *)(((size_t)all + HUGE - 1) / HUGE * HUGE);
                madvise(to, size, MADV_HUGEPAGE);
                if (mode == COPY_WARM)
                    memset(to, 1, size);
                double begun = now();
                from = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
                if (from == MAP_FAILED)
                    return perror("mmap"), 1;
                next = 0;
                pthread_t other;
                if (threads == 2 && pthread_create(&other, NULL, work, NULL))
                    return perror("pthread_create"), 1;
                work(NULL);
                if (threads == 2)
                    pthread_join(other, NULL);
                munmap(from, size);
                times[threads - 1][rep] = now() - begun;
                munmap(all, size + HUGE);
            }
        for (int threads = 0; threads < 2; threads++)
            qsort(times[threads], reps, sizeof(double), by_size);
        const double *one = times[0], *two = times[1];
        printf("%-20s %4zu MB   one thread %7.2f ms (median %7.2f)   two %7.2f (%7.2f)   gain %.2f (%.2f)\n", NAMES[mode], size >> 20,
               one[0] * 1e3, one[reps / 2] * 1e3, two[0] * 1e3, two[reps / 2] * 1e3, one[0] / two[0], one[reps / 2] / two[reps / 2]);
    }
    return 0;
}
