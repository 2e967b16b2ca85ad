/* What calls carry: values to be written, items to be read. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "vedette_history.h"

/* What stands around the values of a message is shorter than this. */
enum { FRAME_BYTES = 256 };

vh_batch *vh_batch_new(void) { return calloc(1, sizeof(vh_batch)); }

void vh_batch_free(vh_batch *batch) {
    if (!batch) return;
    vhi_buffer_free(&batch->text);
    free(batch);
}

void vh_batch_clear(vh_batch *batch) {
    vhi_buffer_clear(&batch->text);
    batch->count = 0;
}

size_t vh_batch_count(const vh_batch *batch) { return batch->count; }
size_t vh_batch_bytes(const vh_batch *batch) { return batch->text.len; }

static void name_item(buffer *to, uint64_t itemid, const char *host, const char *key) {
    if (itemid) {
        vhi_buffer_format(to, "\"itemid\":\"%llu\"", (unsigned long long)itemid);
        return;
    }
    vhi_buffer_text(to, "\"host\":");
    vhi_buffer_json(to, host ? host : "", host ? strlen(host) : 0);
    vhi_buffer_text(to, ",\"key\":");
    vhi_buffer_json(to, key ? key : "", key ? strlen(key) : 0);
}

static int begin(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                 uint32_t clock, uint32_t ns) {
    if (batch->count >= VH_VALUES_MAX) return VH_FULL;
    vhi_buffer_text(&batch->text, batch->count ? ",{" : "{");
    name_item(&batch->text, itemid, host, key);
    vhi_buffer_format(&batch->text, ",\"clock\":%u,\"ns\":%u,", clock, ns);
    return VH_OK;
}

/* Counts what was added, or takes it back: what was there before can still be written. */
static int settle(vh_batch *batch, size_t before, size_t values) {
    int result = VH_OK;
    if (batch->text.failed) result = VH_MEMORY;
    else if (batch->text.len > VH_BYTES_MAX - FRAME_BYTES) result = before ? VH_FULL : VH_CALLER;
    if (result) {
        batch->text.failed = false;
        batch->text.len = before;
    } else {
        batch->count += values;
    }
    return result;
}

static int end(vh_batch *batch, size_t before) {
    vhi_buffer_text(&batch->text, "}");
    return settle(batch, before, 1);
}

int vhi_batch_join(vh_batch *batch, const vh_batch *more) {
    size_t before = batch->text.len;
    if (batch->count) vhi_buffer_text(&batch->text, ",");
    vhi_buffer_add(&batch->text, more->text.data, more->text.len);
    return settle(batch, before, more->count);
}

int vh_add_text(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                uint32_t clock, uint32_t ns, const char *text, size_t bytes) {
    size_t before = batch->text.len;
    if (begin(batch, itemid, host, key, clock, ns)) return VH_FULL;
    vhi_buffer_text(&batch->text, "\"text\":");
    vhi_buffer_json(&batch->text, text, bytes);
    return end(batch, before);
}

int vh_add_float(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                 uint32_t clock, uint32_t ns, double value) {
    size_t before = batch->text.len;
    if (begin(batch, itemid, host, key, clock, ns)) return VH_FULL;
    vhi_buffer_text(&batch->text, "\"float\":");
    vhi_buffer_float(&batch->text, value);
    return end(batch, before);
}

int vh_add_unsigned(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                    uint32_t clock, uint32_t ns, uint64_t value) {
    size_t before = batch->text.len;
    if (begin(batch, itemid, host, key, clock, ns)) return VH_FULL;
    vhi_buffer_format(&batch->text, "\"unsigned\":\"%llu\"", (unsigned long long)value);
    return end(batch, before);
}

int vh_add_log(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
               uint32_t clock, uint32_t ns, const char *text, size_t bytes, uint32_t log_clock,
               const char *source, uint32_t severity, uint32_t eventid) {
    size_t before = batch->text.len;
    if (begin(batch, itemid, host, key, clock, ns)) return VH_FULL;
    vhi_buffer_text(&batch->text, "\"log\":{\"text\":");
    vhi_buffer_json(&batch->text, text, bytes);
    vhi_buffer_format(&batch->text, ",\"clock\":%u,\"source\":", log_clock);
    vhi_buffer_json(&batch->text, source ? source : "", source ? strlen(source) : 0);
    vhi_buffer_format(&batch->text, ",\"severity\":%u,\"eventid\":%u}", severity, eventid);
    return end(batch, before);
}

vh_items *vh_items_new(void) { return calloc(1, sizeof(vh_items)); }

void vh_items_free(vh_items *items) {
    if (!items) return;
    vhi_buffer_free(&items->text);
    free(items);
}

int vh_items_add(vh_items *items, uint64_t itemid, const char *host, const char *key) {
    vhi_buffer_text(&items->text, items->count++ ? ",{" : "{");
    name_item(&items->text, itemid, host, key);
    vhi_buffer_text(&items->text, "}");
    return items->text.failed ? VH_MEMORY : VH_OK;
}
