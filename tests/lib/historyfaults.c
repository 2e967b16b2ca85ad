/* libvedette-history where something goes wrong: historyfaults CASE URL [CA_FILE] */
#define _GNU_SOURCE
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vedette_history.h"

#define CLOCK 1700000000u
#define NOWHERE "http://127.0.0.1:1"
#define CHECK(good) check((good), #good)

static const char *url, *ca_file;
static vh_client *client;
static vh_items *items;
static vh_batch *batch;
static vh_row row;

static void check(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "not so: %s (%s: %s)\n", what, vh_reason(client), vh_error(client));
    exit(1);
}

static bool memory_is_short;
void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_realloc(void *old, size_t bytes) {
    return memory_is_short && bytes > 1 << 20 ? NULL : __real_realloc(old, bytes);
}

/* Values without a clock have that of the call, and keep it. */
static void moment(void) {
    vh_writer *writer = vh_writer_start(url, "x", NULL, 0);
    CHECK(!vh_put_log(writer, 1, NULL, NULL, 0, 0, "line", 4, 9, "src", 2, 7));
    CHECK(!vh_writer_flush(writer, 60000) && vh_writer_kept(writer) == 1);
    CHECK(!vh_writer_stop(writer));
}

static void comma(void) {
    CHECK(setlocale(LC_NUMERIC, "") && !strcmp(localeconv()->decimal_point, ","));
    CHECK(!vh_add_float(batch, 1, NULL, NULL, CLOCK, 0, 0.5));
    CHECK(!vh_write(client, batch, 0) && vh_kept(client) == 1);
    CHECK(!vh_newest(client, items, 1) && !vh_next(client, &row) && row.number == 0.5);
    CHECK(!strcmp(localeconv()->decimal_point, ","));
}

/* What is unfit costs no other value. */
static void unfit(void) {
    const size_t large = 17 << 20;
    char *text = malloc(large);
    memset(text, 'x', large);
    vh_writer *writer = vh_writer_start(url, "x", NULL, 0);
    const char broken[] = "\xff\xc3\xa9\xc3\xed\xa0\x80\xf0\x9f\x98\x80\xf0\x9f";
    CHECK(!vh_put_text(writer, 1, NULL, NULL, CLOCK, 0, broken, sizeof broken - 1));
    CHECK(vh_put_text(writer, 1, NULL, NULL, CLOCK, 0, text, large) == VH_CALLER);
    for (uint32_t n = 1; n < 4; n++)
        CHECK(!vh_put_text(writer, 1, NULL, NULL, CLOCK, n, text, 3 << 20));
    CHECK(!vh_put_text(writer, 1, NULL, NULL, CLOCK, 4, text, 15 << 20));
    CHECK(!vh_writer_flush(writer, 60000) && vh_writer_kept(writer) == 5);
    CHECK(!vh_writer_refused(writer) && !vh_writer_stop(writer));
    CHECK(vh_add_text(batch, 1, NULL, NULL, CLOCK, 0, text, large) == VH_CALLER);
    CHECK(!vh_add_text(batch, 1, NULL, NULL, CLOCK, 0, text, 9 << 20));
    CHECK(vh_add_text(batch, 1, NULL, NULL, CLOCK, 0, text, 9 << 20) == VH_FULL);
    CHECK(vh_batch_count(batch) == 1 && !vh_write(client, batch, 0));
    free(text);
}

/* The server has ended the connection when a line comes. */
static void idle(void) {
    CHECK(!vh_write(client, batch, 0));
    CHECK(getchar() == '\n');
    CHECK(!vh_write(client, batch, 0));
}

/* The server goes away in the middle of a message. */
static void torn(void) {
    const size_t large = 15 << 20;
    char *text = calloc(1, large);
    memset(text, 'x', large);
    CHECK(!vh_add_text(batch, 1, NULL, NULL, CLOCK, 0, text, large));
    CHECK(vh_write(client, batch, 0) == VH_NETWORK);
    free(text);
}

static void tick(int signal) { (void)signal; }

/* Each wait is interrupted. */
static void signals(void) {
    struct sigaction action = {.sa_handler = tick};
    struct itimerval often = {{0, 20000}, {0, 20000}};
    CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &often, NULL));
    CHECK(!vh_range(client, items, 0, 0, 0, 0));
    int result, rows = 0;
    while (!(result = vh_next(client, &row))) rows++;
    CHECK(result == VH_END && rows == 4);
}

static void impatient(void) {
    vh_writer *writer = vh_writer_start(NOWHERE, "x", NULL, 0);
    CHECK(!vh_put_unsigned(writer, 1, NULL, NULL, CLOCK, 0, 7));
    CHECK(vh_writer_flush(writer, -999) == VH_RETRY && vh_writer_flush(writer, 0) == VH_RETRY);
    CHECK(vh_writer_stop(writer) == 1);
}

static void memory(void) {
    CHECK(!vh_range(client, items, 0, 0, 0, 0) && !vh_next(client, &row));
    CHECK(row.type == VH_TEXT && row.text_bytes == 5);
    memory_is_short = true;
    CHECK(vh_next(client, &row) == VH_MEMORY && !strcmp(vh_reason(client), "memory"));
    memory_is_short = false;
    CHECK(!vh_write(client, batch, 0));
}

static void cut(void) {
    CHECK(!vh_range(client, items, 0, 0, 0, 0));
    CHECK(!vh_next(client, &row) && vh_next(client, &row) == VH_NETWORK);
}

static void forked(void) {
    char why[100];
    vh_writer *writer = vh_writer_start(NOWHERE, "x", NULL, 0);
    CHECK(!vh_put_unsigned(writer, 1, NULL, NULL, CLOCK, 0, 7) && !vh_write(client, batch, 0));
    pid_t child = fork();
    if (!child) {
        alarm(120);
        CHECK(vh_put_unsigned(writer, 1, NULL, NULL, CLOCK, 0, 7) == VH_FORKED);
        CHECK(vh_writer_flush(writer, 60000) == VH_FORKED);
        CHECK(vh_writer_error(writer, why, sizeof why) && strstr(why, "fork"));
        CHECK(vh_writer_stop(writer) == 0 && !vh_write(client, batch, 0));
        _exit(0);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    CHECK(!vh_write(client, batch, 0));
    CHECK(vh_writer_stop(writer) == 1);
}

/* The writer keeps values while access is refused, and ends after its patience. */
static void no_access(void) {
    vh_writer *writer = vh_writer_start(url, "x", ca_file, 0);
    char why[200];
    CHECK(writer);
    vh_writer_patience(writer, 300);
    for (unsigned n = 0; n < 3; n++) CHECK(!vh_put_unsigned(writer, 1, NULL, NULL, CLOCK, n, n));
    CHECK(vh_writer_flush(writer, 60000) == VH_CALLER);
    CHECK(vh_put_unsigned(writer, 1, NULL, NULL, CLOCK, 9, 9) == VH_CALLER);
    CHECK(vh_writer_error(writer, why, sizeof why) && strstr(why, "no: not_signed_in"));
    CHECK(vh_writer_refused(writer) == 0 && vh_writer_kept(writer) == 0);
    CHECK(vh_writer_stop(writer) == 3);
}

static const struct {
    const char *name;
    void (*run)(void);
} CASES[] = {
    {"moment", moment}, {"comma", comma},         {"unfit", unfit},   {"idle", idle},
    {"torn", torn},     {"signals", signals},     {"later", moment},  {"cut", cut},
    {"memory", memory}, {"impatient", impatient}, {"forked", forked},
    {"no access", no_access},
};

int main(int count, char **arguments) {
    if (count < 3) return 2;
    url = arguments[2];
    ca_file = count > 3 ? arguments[3] : NULL;
    alarm(240);
    client = vh_open(url, "x", ca_file);
    items = vh_items_new();
    batch = vh_batch_new();
    CHECK(client && items && batch && !vh_items_add(items, 1, NULL, NULL));
    bool known = false;
    for (size_t n = 0; n < sizeof CASES / sizeof *CASES; n++) {
        if (strcmp(CASES[n].name, arguments[1])) continue;
        CASES[n].run();
        known = true;
    }
    vh_batch_free(batch);
    vh_items_free(items);
    vh_close(client);
    if (known) puts("all well");
    return known ? 0 : 2;
}
