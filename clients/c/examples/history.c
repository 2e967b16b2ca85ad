/* Writes a value and reads it back: history URL TOKEN HOST KEY VALUE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vedette_history.h>

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: history URL TOKEN HOST KEY VALUE\n");
        return 2;
    }
    const char *host = arguments[3], *key = arguments[4], *text = arguments[5];
    vh_client *client = vh_open(arguments[1], arguments[2], getenv("VEDETTE_CA_FILE"));
    if (!client) return 2;

    vh_batch *batch = vh_batch_new();
    vh_add_text(batch, 0, host, key, 0, 0, text, strlen(text));
    int result = vh_write(client, batch, VH_SYNCED);
    printf("kept %llu, refused %zu%s%s\n", (unsigned long long)vh_kept(client),
           vh_refused(client), result ? ": " : "",
           result == VH_REFUSED ? vh_refused_message(client, 0) : vh_error(client));
    vh_batch_free(batch);

    vh_items *items = vh_items_new();
    vh_items_add(items, 0, host, key);
    vh_row row;
    if (!result) result = vh_newest(client, items, 1);
    while (!result && !(result = vh_next(client, &row))) {
        if (row.type == VH_FLOAT) printf("read %g\n", row.number);
        else if (row.type == VH_UNSIGNED) printf("read %llu\n", (unsigned long long)row.whole);
        else printf("read %s\n", row.text);
    }
    if (result != VH_END) fprintf(stderr, "%s: %s\n", vh_reason(client), vh_error(client));
    vh_items_free(items);
    vh_close(client);
    return result == VH_END ? 0 : 1;
}
