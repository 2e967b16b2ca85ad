/*
 * Client of Vedette's history service: other programs write and read history.
 *
 * Plain C11, for every program that can call C. It speaks the HTTP/JSON form of the service (see
 * docs/history-service.md) over sockets of its own; TLS is OpenSSL's.
 *
 * A vh_client is one connection: use it from one thread at a time. A vh_writer has a thread of its
 * own, and may be used by any number of threads. After fork() a child makes clients' connections
 * again (an answer that is being read stays the parent's) and needs writers of its own: VH_FORKED.
 *
 * Texts are UTF-8 with their length in bytes; what is no UTF-8 is written as U+FFFD. Neither the
 * locale of the program nor its SIGPIPE matters.
 */
#ifndef VEDETTE_HISTORY_H
#define VEDETTE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* The library shows nothing but what is declared here. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* What became of a call. vh_error() has the words for people. */
enum vh_result {
    VH_OK = 0,
    VH_REFUSED = 1, /* kept, but single values were refused: vh_refused() and its like */
    VH_CALLER = 2,  /* your program or its configuration is at fault; the same would fail again */
    VH_RETRY = 3,   /* the server cannot do it now: send the same again, with VH_RESEND */
    VH_NETWORK = 4, /* no answer, so nobody knows what was kept: send again, with VH_RESEND */
    VH_MEMORY = 5,  /* out of memory */
    VH_FULL = 6,    /* the batch, or the writer's queue, has no room */
    VH_END = 7,     /* there are no more rows */
    VH_FORKED = 8   /* the writer is the parent's: start one in this process */
};

enum vh_flag {
    VH_SYNCED = 1, /* acknowledge only what also survives a power cut */
    VH_RESEND = 2  /* this may be kept already: do not keep it twice */
};

enum vh_type { VH_TEXT = 1, VH_FLOAT = 2, VH_UNSIGNED = 3, VH_LOG = 4 };

/* Values that one write may carry. */
#define VH_VALUES_MAX 10000
/* Bytes that a message may have. */
#define VH_BYTES_MAX (16u << 20)

typedef struct vh_client vh_client;
typedef struct vh_batch vh_batch;
typedef struct vh_items vh_items;
typedef struct vh_writer vh_writer;

/* A value that was read. Texts end with a zero byte and live until the next call of vh_next. */
typedef struct vh_row {
    uint64_t itemid;
    uint32_t clock; /* seconds since 1970 */
    uint32_t ns;
    int type; /* enum vh_type: which of the following counts */
    double number;
    uint64_t whole;
    const char *text; /* VH_TEXT and VH_LOG */
    size_t text_bytes;
    const char *source; /* VH_LOG, as the rest */
    uint32_t log_clock;
    uint32_t severity;
    uint32_t eventid;
} vh_row;

/* An hour that was read. */
typedef struct vh_hour {
    uint64_t itemid;
    uint32_t hour; /* its start, seconds since 1970 */
    uint32_t count;
    int type; /* VH_FLOAT or VH_UNSIGNED */
    double min, avg, max;
    uint64_t whole_min, whole_avg, whole_max;
} vh_hour;

/* The version of the library, as "1.0". */
const char *vh_version(void);

/*
 * A client of the server at url, "http://HOST:PORT" or "https://HOST:PORT", with an API token.
 * ca_file: certificates (PEM) to believe besides the system's, or NULL. Connects with the first
 * call; a lost connection is created again with the next. NULL: out of memory, or no such url.
 */
vh_client *vh_open(const char *url, const char *token, const char *ca_file);
void vh_close(vh_client *client);
/* So long each step of a call may take; default 60,000. */
void vh_set_timeout(vh_client *client, int timeout_ms);
/* Why the last call failed, and the name of the reason as in the protocol; "" if it did not. */
const char *vh_error(const vh_client *client);
const char *vh_reason(const vh_client *client);

/*
 * Values to be written together. The item: itemid, or 0 with host and key. clock 0 = on arrival,
 * which is another moment when the batch is sent again. Adding gives VH_FULL when the batch has
 * VH_VALUES_MAX values or would not fit a message: write it first; VH_CALLER when the value alone
 * does not fit one. The batch stays as it was.
 *
 * A log line: log_clock is the time that is written in it (0 = unknown), source may be NULL;
 * severity and eventid as in the log it comes from.
 */
vh_batch *vh_batch_new(void);
void vh_batch_free(vh_batch *batch);
void vh_batch_clear(vh_batch *batch);
size_t vh_batch_count(const vh_batch *batch);
/* Bytes of its message, nearly. */
size_t vh_batch_bytes(const vh_batch *batch);
int vh_add_text(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                uint32_t clock, uint32_t ns, const char *text, size_t bytes);
int vh_add_float(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                 uint32_t clock, uint32_t ns, double value);
int vh_add_unsigned(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                    uint32_t clock, uint32_t ns, uint64_t value);
int vh_add_log(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
               uint32_t clock, uint32_t ns, const char *text, size_t bytes, uint32_t log_clock,
               const char *source, uint32_t severity, uint32_t eventid);

/* Writes a batch and waits for the acknowledgement. flags: of enum vh_flag. */
int vh_write(vh_client *client, const vh_batch *batch, unsigned flags);
/* Of the last vh_write: values kept, values refused, and which and why (n from 0). */
uint64_t vh_kept(const vh_client *client);
size_t vh_refused(const vh_client *client);
uint32_t vh_refused_index(const vh_client *client, size_t n);
const char *vh_refused_reason(const vh_client *client, size_t n);
const char *vh_refused_message(const vh_client *client, size_t n);

/* Items to be read. */
vh_items *vh_items_new(void);
void vh_items_free(vh_items *items);
int vh_items_add(vh_items *items, uint64_t itemid, const char *host, const char *key);

/*
 * Reads: begin one, then call vh_next (vh_next_hour after vh_trends) until it is not VH_OK. VH_END:
 * that was all. Rows arrive while they are read; what is not taken is not read from history.
 * till 0 = without end; limit (per item) 0 = all; count 0 = one.
 */
int vh_range(vh_client *client, const vh_items *items, uint32_t from, uint32_t till,
             uint64_t limit, int descending);
int vh_newest(vh_client *client, const vh_items *items, uint32_t count);
int vh_trends(vh_client *client, const vh_items *items, uint32_t from, uint32_t till);
int vh_next(vh_client *client, vh_row *row);
int vh_next_hour(vh_client *client, vh_hour *hour);

/*
 * Writes in the background: batches of what is put, one after the other, each until it is
 * acknowledged. After VH_RETRY and VH_NETWORK the same batch is sent again, with VH_RESEND, for as
 * long as the writer runs. queue_max: values that wait at most (0 = 100,000). clock 0 = the moment
 * of the call, ns is then not looked at.
 */
vh_writer *vh_writer_start(const char *url, const char *token, const char *ca_file,
                           size_t queue_max);
/* VH_FULL: the queue has no room; put it again later, or call vh_writer_flush before. VH_CALLER:
 * the value does not fit a message. */
int vh_put_text(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
                uint32_t clock, uint32_t ns, const char *text, size_t bytes);
int vh_put_float(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
                 uint32_t clock, uint32_t ns, double value);
int vh_put_unsigned(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
                    uint32_t clock, uint32_t ns, uint64_t value);
int vh_put_log(vh_writer *writer, uint64_t itemid, const char *host, const char *key,
               uint32_t clock, uint32_t ns, const char *text, size_t bytes, uint32_t log_clock,
               const char *source, uint32_t severity, uint32_t eventid);
/* While access is refused (a token that expired, a proxy that knows no such page) values wait, and
 * vh_writer_error says why. After so many milliseconds of that (15 minutes at first) the writer ends:
 * vh_put_* and vh_writer_flush then return VH_CALLER, and vh_writer_stop the number of values left. */
void vh_writer_patience(vh_writer *writer, int ms);
/* Waits until all that was put is kept or refused; VH_RETRY when that takes longer. A time of 0 or
 * less does not wait. VH_CALLER: the writer has ended. */
int vh_writer_flush(vh_writer *writer, int timeout_ms);
/* Values acknowledged and values refused so far. */
uint64_t vh_writer_kept(vh_writer *writer);
uint64_t vh_writer_refused(vh_writer *writer);
/* The last refusal or failure into text (with a zero byte); returns its length. */
size_t vh_writer_error(vh_writer *writer, char *text, size_t bytes);
/* Ends it after the batch in hand; returns how many values were neither kept nor refused. After
 * fork() the child's call ends nothing: the values are the parent's, which writes them. */
size_t vh_writer_stop(vh_writer *writer);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
