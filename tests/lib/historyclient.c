/* Tests of libvedette-history against a running server: historyclient URL TOKEN HOST */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vedette_history.h"

#define CLOCK 1700000000u

static void check(int good, const char *what, const vh_client *client) {
    if (good) return;
    fprintf(stderr, "not so: %s (%s: %s)\n", what, client ? vh_reason(client) : "",
            client ? vh_error(client) : "");
    exit(1);
}
#define CHECK(client, good) check((good), #good, (client))

static vh_items *item(const char *host, const char *key) {
    vh_items *items = vh_items_new();
    CHECK(NULL, vh_items_add(items, 0, host, key) == VH_OK);
    return items;
}

static void types(vh_client *client, const char *host) {
    const char text[] = "\"quoted\" \\ \t \xc3\xa9 \xf0\x9f\x98\x80";
    vh_batch *batch = vh_batch_new();
    CHECK(NULL, !vh_add_unsigned(batch, 0, host, "app.users", CLOCK, 1, UINT64_MAX));
    CHECK(NULL, !vh_add_float(batch, 0, host, "app.load", CLOCK, 2, -0.1));
    CHECK(NULL, !vh_add_text(batch, 0, host, "app.state", CLOCK, 3, text, sizeof text - 1));
    CHECK(NULL, !vh_add_log(batch, 0, host, "app.log", CLOCK, 4, "line", 4, 9, "src", 2, 7));
    CHECK(NULL, !vh_add_text(batch, 0, host, "no.such", CLOCK, 5, "", 0));
    CHECK(NULL, vh_batch_count(batch) == 5);
    CHECK(client, vh_write(client, batch, VH_SYNCED) == VH_REFUSED);
    CHECK(client, vh_kept(client) == 4 && vh_refused(client) == 1);
    CHECK(client, vh_refused_index(client, 0) == 4);
    CHECK(client, !strcmp(vh_refused_reason(client, 0), "no_item"));
    CHECK(client, *vh_refused_message(client, 0) && !*vh_refused_message(client, 1));
    vh_batch_free(batch);

    vh_items *items = vh_items_new();
    const char *keys[] = {"app.users", "app.load", "app.state", "app.log"};
    for (int n = 0; n < 4; n++) vh_items_add(items, 0, host, keys[n]);
    CHECK(client, vh_newest(client, items, 3) == VH_OK);
    vh_row row;
    CHECK(client, vh_next(client, &row) == VH_OK && row.type == VH_UNSIGNED);
    CHECK(client, row.whole == UINT64_MAX && row.clock == CLOCK && row.ns == 1 && row.itemid);
    CHECK(client, vh_next(client, &row) == VH_OK && row.type == VH_FLOAT && row.number == -0.1);
    CHECK(client, vh_next(client, &row) == VH_OK && row.type == VH_TEXT);
    CHECK(client, row.text_bytes == sizeof text - 1 && !memcmp(row.text, text, sizeof text));
    CHECK(client, vh_next(client, &row) == VH_OK && row.type == VH_LOG);
    CHECK(client, !strcmp(row.text, "line") && !strcmp(row.source, "src"));
    CHECK(client, row.log_clock == 9 && row.severity == 2 && row.eventid == 7);
    CHECK(client, vh_next(client, &row) == VH_END && vh_next(client, &row) == VH_END);
    vh_items_free(items);
}

static void pages(vh_client *client, const char *host) {
    vh_batch *batch = vh_batch_new();
    for (unsigned n = 0; n < VH_VALUES_MAX; n++)
        CHECK(NULL, !vh_add_unsigned(batch, 0, host, "app.users", CLOCK + 10 + n, 0, n));
    CHECK(NULL, vh_add_unsigned(batch, 0, host, "app.users", CLOCK, 0, 1) == VH_FULL);
    CHECK(client, vh_write(client, batch, 0) == VH_OK && vh_kept(client) == VH_VALUES_MAX);
    CHECK(client, vh_write(client, batch, VH_RESEND) == VH_OK);
    vh_batch_clear(batch);
    CHECK(client, vh_write(client, batch, 0) == VH_OK && vh_kept(client) == 0);
    vh_batch_free(batch);
    vh_items *items = item(host, "app.users");
    CHECK(client, vh_range(client, items, CLOCK + 10, 0, 0, 0) == VH_OK);
    vh_row row;
    for (unsigned n = 0; n < VH_VALUES_MAX; n++)
        CHECK(client, !vh_next(client, &row) && row.whole == n && row.clock == CLOCK + 10 + n);
    CHECK(client, vh_next(client, &row) == VH_END);
    CHECK(client, vh_range(client, items, CLOCK + 10, 0, 2, 1) == VH_OK);
    CHECK(client, vh_next(client, &row) == VH_OK && row.whole == VH_VALUES_MAX - 1);
    /* An answer may be left halfway. */
    CHECK(client, vh_newest(client, items, 1) == VH_OK && vh_next(client, &row) == VH_OK);
    CHECK(client, vh_next(client, &row) == VH_END);
    vh_items_free(items);
}

static void failures(vh_client *client, const char *url, const char *host) {
    vh_row row;
    vh_items *items = item(host, "no.such");
    CHECK(client, vh_range(client, items, 0, 0, 0, 0) == VH_CALLER);
    CHECK(client, !strcmp(vh_reason(client), "no_item") && vh_next(client, &row) == VH_CALLER);
    vh_client *stranger = vh_open(url, "nobody", NULL);
    CHECK(stranger, vh_newest(stranger, items, 1) == VH_CALLER);
    CHECK(stranger, !strcmp(vh_reason(stranger), "not_signed_in"));
    vh_close(stranger);
    vh_client *nowhere = vh_open("http://127.0.0.1:1", "x", NULL);
    CHECK(nowhere, vh_newest(nowhere, items, 1) == VH_NETWORK && *vh_error(nowhere));
    vh_close(nowhere);
    vh_items_free(items);
    CHECK(NULL, !vh_open("ftp://x", "x", NULL) && !vh_open("nothing", "x", NULL));
    CHECK(NULL, !vh_open("http://", "x", NULL) && !vh_open("http://[::1", "x", NULL));
    CHECK(NULL, !vh_open("http://x", "a\r\nb", NULL));
}

static void hours(vh_client *client, const char *host) {
    vh_items *items = item(host, "app.load");
    vh_hour hour;
    unsigned values = 0;
    /* They are made after the values were kept. */
    for (int tries = 0; tries < 300 && values < 50001; tries++) {
        int result;
        values = 0;
        CHECK(client, vh_trends(client, items, 0, 0) == VH_OK);
        while ((result = vh_next_hour(client, &hour)) == VH_OK) {
            CHECK(client, hour.type == VH_FLOAT && hour.count && hour.min <= hour.max);
            values += hour.count;
        }
        CHECK(client, result == VH_END);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    CHECK(client, values == 50001);
    vh_items_free(items);
}

static void background(vh_client *client, const char *url, const char *token, const char *host) {
    vh_writer *writer = vh_writer_start(url, token, NULL, 30000);
    CHECK(NULL, writer != NULL);
    unsigned full = 0;
    for (unsigned n = 0; n < 50000;) {
        int result = vh_put_float(writer, 0, host, "app.load", CLOCK + 100 + n, 0, n);
        if (result == VH_OK) {
            n++;
        } else {
            CHECK(NULL, result == VH_FULL && vh_writer_flush(writer, 60000) == VH_OK);
            full++;
        }
    }
    CHECK(NULL, vh_put_text(writer, 0, host, "no.such", CLOCK, 0, "x", 1) == VH_OK);
    CHECK(NULL, vh_put_unsigned(writer, 0, host, "app.users", CLOCK + 5, 0, 5) == VH_OK);
    CHECK(NULL, !vh_put_log(writer, 0, host, "app.log", CLOCK + 5, 0, "more", 4, 10, NULL, 3, 8));
    CHECK(NULL, vh_writer_flush(writer, 60000) == VH_OK);
    CHECK(NULL, vh_writer_kept(writer) == 50002 && vh_writer_refused(writer) == 1);
    char why[200];
    CHECK(NULL, vh_writer_error(writer, why, sizeof why) > 0 && strstr(why, "no such item"));
    CHECK(NULL, vh_writer_stop(writer) == 0);
    printf("the queue was full %u times\n", full);
    vh_items *items = item(host, "app.load");
    CHECK(client, vh_range(client, items, CLOCK + 100, 0, 0, 0) == VH_OK);
    vh_row row;
    for (unsigned n = 0; n < 50000; n++)
        CHECK(client, vh_next(client, &row) == VH_OK && row.number == n);
    CHECK(client, vh_next(client, &row) == VH_END);
    vh_items_free(items);
    items = item(host, "app.log");
    CHECK(client, vh_newest(client, items, 1) == VH_OK && vh_next(client, &row) == VH_OK);
    CHECK(client, row.type == VH_LOG && row.clock == CLOCK + 5 && !strcmp(row.text, "more"));
    CHECK(client, row.log_clock == 10 && !*row.source && row.severity == 3 && row.eventid == 8);
    CHECK(client, vh_next(client, &row) == VH_END);
    vh_items_free(items);
    /* Nobody there: what was not written is counted. */
    writer = vh_writer_start("http://127.0.0.1:1", token, NULL, 0);
    CHECK(NULL, vh_put_unsigned(writer, 1, NULL, NULL, 0, 0, 1) == VH_OK);
    CHECK(NULL, vh_writer_flush(writer, 200) == VH_RETRY && vh_writer_stop(writer) == 1);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    const char *url = arguments[1], *token = arguments[2], *host = arguments[3];
    CHECK(NULL, *vh_version());
    vh_client *client = vh_open(url, token, NULL);
    CHECK(NULL, client != NULL);
    vh_set_timeout(client, 60000);
    types(client, host);
    pages(client, host);
    failures(client, url, host);
    background(client, url, token, host);
    hours(client, host);
    vh_close(client);
    puts("all well");
    return 0;
}
