/* Writing in the background: one thread, one batch in hand, one that is being filled. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "vedette_history.h"

enum { QUEUE_MAX = 100000, BATCH_BYTES = 4 << 20, PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 10000, PATIENCE_MS = 900000 };

/* Batches that wait, oldest first. */
typedef struct waiting {
    vh_batch *batch;
    struct waiting *next;
} waiting;

struct vh_writer {
    pid_t process; /* that the thread is in */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    vh_client *client;
    waiting *oldest, *newest;
    size_t values; /* that wait or are in hand */
    size_t queue_max;
    uint64_t kept, refused;
    int patience_ms;
    bool stop;
    bool ended; /* by itself: access was refused for too long */
    char error[1024];
};

/* After fork() a child has neither the thread nor, for certain, the lock. */
static bool lost_by_fork(const vh_writer *writer) { return writer->process != getpid(); }

static struct timespec after(int ms) {
    struct timespec at;
    if (ms < 0) ms = 0;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static bool passed(struct timespec at) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec != at.tv_sec ? now.tv_sec > at.tv_sec : now.tv_nsec >= at.tv_nsec;
}

/* Whether the fault is the token or something in front of the service, such as a proxy, and not
 * the values. A body that is too large will not get smaller. */
static bool is_access_problem(const char *reason) {
    return !strcmp(reason, "not_signed_in") || !strcmp(reason, "denied")
        || (!strncmp(reason, "http_", 5) && strcmp(reason, "http_413"));
}

/* Writes a batch until it is acknowledged or refused; false = told to stop before. Locked. */
static bool write_one(vh_writer *writer, vh_batch *batch) {
    unsigned flags = 0;
    int pause = PAUSE_FIRST_MS;
    bool no_access = false;
    struct timespec give_up = {0};
    for (;;) {
        pthread_mutex_unlock(&writer->lock);
        int result = vh_write(writer->client, batch, flags);
        pthread_mutex_lock(&writer->lock);
        if (result == VH_OK || result == VH_REFUSED) {
            size_t refused = vh_refused(writer->client);
            writer->kept += vh_kept(writer->client);
            writer->refused += refused;
            if (refused)
                snprintf(writer->error, sizeof writer->error, "%s",
                         vh_refused_message(writer->client, refused - 1));
            return true;
        }
        snprintf(writer->error, sizeof writer->error, "%s", vh_error(writer->client));
        bool refused_access = is_access_problem(vh_reason(writer->client));
        if (refused_access && !no_access) give_up = after(writer->patience_ms);
        no_access = refused_access;
        if (no_access && passed(give_up)) {
            writer->ended = true;
            return false;
        }
        if (result == VH_CALLER && !no_access) {
            writer->refused += vh_batch_count(batch);
            return true;
        }
        /* Whatever came of it: what is kept already is not kept twice. */
        flags = VH_RESEND;
        struct timespec until = after(pause);
        while (!writer->stop && !pthread_cond_timedwait(&writer->changed, &writer->lock, &until)) {
        }
        if (writer->stop) return false;
        pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
    }
}

static void *run(void *argument) {
    vh_writer *writer = argument;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (!writer->stop && !writer->oldest)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (writer->stop) break;
        waiting *first = writer->oldest;
        writer->oldest = first->next;
        if (!writer->oldest) writer->newest = NULL;
        bool done = write_one(writer, first->batch);
        if (done) writer->values -= vh_batch_count(first->batch);
        vh_batch_free(first->batch);
        free(first);
        pthread_cond_broadcast(&writer->changed);
        if (!done) break;
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

vh_writer *vh_writer_start(const char *url, const char *token, const char *ca_file,
                           size_t queue_max) {
    vh_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->process = getpid();
    writer->queue_max = queue_max ? queue_max : QUEUE_MAX;
    writer->patience_ms = PATIENCE_MS;
    writer->client = vh_open(url, token, ca_file);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!writer->client || pthread_create(&writer->thread, NULL, run, writer)) {
        vh_close(writer->client);
        pthread_cond_destroy(&writer->changed);
        pthread_mutex_destroy(&writer->lock);
        free(writer);
        return NULL;
    }
    return writer;
}

/* The batch that takes so many bytes more; NULL = out of memory. Locked. */
static vh_batch *filling(vh_writer *writer, size_t bytes) {
    const vh_batch *last = writer->newest ? writer->newest->batch : NULL;
    if (last && vh_batch_count(last) < VH_VALUES_MAX
        && vh_batch_bytes(last) + bytes < BATCH_BYTES)
        return writer->newest->batch;
    waiting *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    one->batch = vh_batch_new();
    if (!one->batch) {
        free(one);
        return NULL;
    }
    if (writer->newest) writer->newest->next = one;
    else writer->oldest = one;
    writer->newest = one;
    return one->batch;
}

/* A value sent again has the same moment: the server knows by it what is kept already. */
static void stamp(uint32_t *clock, uint32_t *ns) {
    if (*clock) return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *clock = (uint32_t)now.tv_sec;
    *ns = (uint32_t)now.tv_nsec;
}

/* Takes the one value over, which became `result` outside of the lock. */
static int put(vh_writer *writer, vh_batch *one, int result) {
    if (!result && lost_by_fork(writer)) result = VH_FORKED;
    if (!result) {
        pthread_mutex_lock(&writer->lock);
        vh_batch *batch = NULL;
        if (writer->ended) result = VH_CALLER;
        else if (writer->values >= writer->queue_max) result = VH_FULL;
        else if (!(batch = filling(writer, vh_batch_bytes(one)))) result = VH_MEMORY;
        else result = vhi_batch_join(batch, one);
        if (!result) writer->values++;
        pthread_cond_broadcast(&writer->changed);
        pthread_mutex_unlock(&writer->lock);
    }
    vhi_buffer_free(&one->text);
    return result;
}

int vh_put_text(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
                uint32_t clock, uint32_t ns, const char *text, size_t bytes) {
    vh_batch one = {0};
    stamp(&clock, &ns);
    return put(writer, &one, vh_add_text(&one, itemid, host, key, clock, ns, text, bytes));
}

int vh_put_float(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
                 uint32_t clock, uint32_t ns, double value) {
    vh_batch one = {0};
    stamp(&clock, &ns);
    return put(writer, &one, vh_add_float(&one, itemid, host, key, clock, ns, value));
}

int vh_put_unsigned(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
                    uint32_t clock, uint32_t ns, uint64_t value) {
    vh_batch one = {0};
    stamp(&clock, &ns);
    return put(writer, &one, vh_add_unsigned(&one, itemid, host, key, clock, ns, value));
}

int vh_put_log(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
               uint32_t clock, uint32_t ns, const char *text, size_t bytes, uint32_t log_clock,
               const char *source, uint32_t severity, uint32_t eventid) {
    vh_batch one = {0};
    stamp(&clock, &ns);
    return put(writer, &one, vh_add_log(&one, itemid, host, key, clock, ns, text, bytes, log_clock,
                                        source, severity, eventid));
}

int vh_writer_flush(vh_writer *writer, int timeout_ms) {
    if (lost_by_fork(writer)) return VH_FORKED;
    struct timespec until = after(timeout_ms);
    pthread_mutex_lock(&writer->lock);
    while (writer->values && !writer->ended
           && !pthread_cond_timedwait(&writer->changed, &writer->lock, &until)) {
    }
    int result = !writer->values ? VH_OK : writer->ended ? VH_CALLER : VH_RETRY;
    pthread_mutex_unlock(&writer->lock);
    return result;
}

void vh_writer_patience(vh_writer *writer, int ms) {
    if (lost_by_fork(writer)) return;
    pthread_mutex_lock(&writer->lock);
    writer->patience_ms = ms;
    pthread_mutex_unlock(&writer->lock);
}

static uint64_t look(vh_writer *writer, const uint64_t *number) {
    if (lost_by_fork(writer)) return *number;
    pthread_mutex_lock(&writer->lock);
    uint64_t now = *number;
    pthread_mutex_unlock(&writer->lock);
    return now;
}

uint64_t vh_writer_kept(vh_writer *writer) { return look(writer, &writer->kept); }
uint64_t vh_writer_refused(vh_writer *writer) { return look(writer, &writer->refused); }

size_t vh_writer_error(vh_writer *writer, char *text, size_t bytes) {
    int len;
    if (lost_by_fork(writer)) {
        len = snprintf(text, bytes, "this writer ended with fork(): start one in each process");
    } else {
        pthread_mutex_lock(&writer->lock);
        len = snprintf(text, bytes, "%s", writer->error);
        pthread_mutex_unlock(&writer->lock);
    }
    return len > 0 ? (size_t)len : 0;
}

size_t vh_writer_stop(vh_writer *writer) {
    /* What it holds is the parent's, and may be in the middle of a change. */
    if (!writer || lost_by_fork(writer)) return 0;
    pthread_mutex_lock(&writer->lock);
    writer->stop = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    size_t left = writer->values;
    while (writer->oldest) {
        waiting *one = writer->oldest;
        writer->oldest = one->next;
        vh_batch_free(one->batch);
        free(one);
    }
    vh_close(writer->client);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
    return left;
}
