/* Calls and their answers: messages of docs/history-service.proto as JSON. */
#include "vedette_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define VERSION "1.0"

typedef struct {
    uint32_t index;
    char reason[32];
    char message[256];
} refusal;

struct vh_client {
    http *http;
    char reason[32];
    char error[1024];
    bool retry;
    uint64_t sequence, kept;
    refusal *refused;
    size_t refused_count, refused_room;
    /* The line of an answer that is being read, and the place in it. */
    buffer line, name, text, source;
    json at;
    uint64_t itemid;
    bool in_line, first_row, reading;
};

const char *vh_version(void) { return VERSION; }

vh_client *vh_open(const char *url, const char *token, const char *ca_file) {
    vh_client *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    client->http = vhi_http_open(url, token, ca_file);
    if (!client->http) {
        free(client);
        return NULL;
    }
    return client;
}

void vh_close(vh_client *client) {
    if (!client) return;
    vhi_http_close(client->http);
    free(client->refused);
    vhi_buffer_free(&client->line);
    vhi_buffer_free(&client->name);
    vhi_buffer_free(&client->text);
    vhi_buffer_free(&client->source);
    free(client);
}

void vh_set_timeout(vh_client *client, int timeout_ms) {
    vhi_http_set_timeout(client->http, timeout_ms);
}

const char *vh_error(const vh_client *client) { return client->error; }
const char *vh_reason(const vh_client *client) { return client->reason; }
uint64_t vh_kept(const vh_client *client) { return client->kept; }
size_t vh_refused(const vh_client *client) { return client->refused_count; }

uint32_t vh_refused_index(const vh_client *client, size_t n) {
    return n < client->refused_count ? client->refused[n].index : UINT32_MAX;
}

const char *vh_refused_reason(const vh_client *client, size_t n) {
    return n < client->refused_count ? client->refused[n].reason : "";
}

const char *vh_refused_message(const vh_client *client, size_t n) {
    return n < client->refused_count ? client->refused[n].message : "";
}

/* ---- failures ---- */

static void copy(char *to, size_t room, buffer *from) {
    snprintf(to, room, "%s", vhi_buffer_string(from));
}

static int say(vh_client *client, int result, const char *reason, const char *error) {
    snprintf(client->reason, sizeof client->reason, "%s", reason);
    snprintf(client->error, sizeof client->error, "%s", error);
    return result;
}

static int network(vh_client *client) {
    client->reading = false;
    return say(client, VH_NETWORK, "network", vhi_http_error(client->http));
}

/* Of an answer that could not be taken apart. */
static int strange(vh_client *client) {
    vhi_http_leave(client->http);
    client->reading = false;
    if (client->name.failed || client->text.failed || client->source.failed)
        return say(client, VH_MEMORY, "memory", "out of memory");
    return say(client, VH_NETWORK, "network", "the answer is not what the service says");
}

static int failed(const vh_client *client) { return client->retry ? VH_RETRY : VH_CALLER; }

/* A failure after its opening brace. */
static void read_failure(vh_client *client, char *reason, size_t reason_room, char *message,
                         size_t message_room) {
    bool first = true;
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        if (!strcmp(name, "retry")) {
            client->retry = vhi_json_bool(&client->at);
        } else if (!strcmp(name, "reason")) {
            vhi_json_string(&client->at, &client->text);
            copy(reason, reason_room, &client->text);
        } else if (!strcmp(name, "message")) {
            vhi_json_string(&client->at, &client->text);
            copy(message, message_room, &client->text);
        } else {
            vhi_json_skip(&client->at);
        }
    }
}

static void read_own_failure(vh_client *client) {
    if (!vhi_json_take(&client->at, '{')) {
        client->at.bad = true;
        return;
    }
    read_failure(client, client->reason, sizeof client->reason, client->error,
                 sizeof client->error);
    if (!client->reason[0]) snprintf(client->reason, sizeof client->reason, "internal");
}

/* ---- writing ---- */

static void read_refusal(vh_client *client) {
    if (client->refused_count == client->refused_room) {
        size_t room = client->refused_room ? client->refused_room * 2 : 16;
        refusal *refused = realloc(client->refused, room * sizeof *refused);
        if (!refused) {
            client->at.bad = true;
            return;
        }
        client->refused = refused;
        client->refused_room = room;
    }
    refusal *one = &client->refused[client->refused_count++];
    *one = (refusal){0};
    bool first = true;
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        if (!strcmp(name, "index"))
            one->index = (uint32_t)vhi_json_whole(&client->at);
        else if (!strcmp(name, "failure") && vhi_json_take(&client->at, '{'))
            read_failure(client, one->reason, sizeof one->reason, one->message,
                         sizeof one->message);
        else
            vhi_json_skip(&client->at);
    }
}

static int read_reply(vh_client *client, int status) {
    bool first = true, answered = false;
    client->at = (json){client->line.data, client->line.data + client->line.len, false};
    if (!vhi_json_take(&client->at, '{')) {
        /* What stands before the service refuses in plain words (a body that is too large). */
        if (status < 400) return strange(client);
        client->retry = status >= 500 || status == 408 || status == 429;
        snprintf(client->reason, sizeof client->reason, "http_%d", status);
        copy(client->error, sizeof client->error, &client->line);
        return failed(client);
    }
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        if (!strcmp(name, "kept")) {
            client->kept = vhi_json_whole(&client->at);
            answered = true;
        } else if (!strcmp(name, "failure")) {
            read_own_failure(client);
        } else if (!strcmp(name, "refused") && vhi_json_take(&client->at, '[')) {
            while (!client->at.bad && !vhi_json_take(&client->at, ']')) {
                if (client->refused_count) vhi_json_take(&client->at, ',');
                if (vhi_json_take(&client->at, '{')) read_refusal(client);
                else client->at.bad = true;
            }
        } else {
            vhi_json_skip(&client->at);
        }
    }
    if (client->at.bad) return strange(client);
    if (client->reason[0]) return failed(client);
    if (status != 200 || !answered) return strange(client);
    return client->refused_count ? VH_REFUSED : VH_OK;
}

static void reset(vh_client *client) {
    vhi_buffer_clear(&client->name);
    vhi_buffer_clear(&client->text);
    vhi_buffer_clear(&client->source);
    client->reason[0] = client->error[0] = 0;
    client->retry = client->reading = client->in_line = false;
    client->kept = 0;
    client->refused_count = 0;
}

int vh_write(vh_client *client, const vh_batch *batch, unsigned flags) {
    reset(client);
    buffer body = {0};
    vhi_buffer_format(&body, "{\"sequence\":\"%llu\",\"synced\":%s,\"resend\":%s,\"values\":[",
                  (unsigned long long)++client->sequence, flags & VH_SYNCED ? "true" : "false",
                  flags & VH_RESEND ? "true" : "false");
    vhi_buffer_add(&body, batch->text.data, batch->text.len);
    vhi_buffer_text(&body, "]}");
    int status = -1;
    bool memory = !body.failed;
    if (body.len > VH_BYTES_MAX) {
        /* The server would end the connection in the middle of it. */
        vhi_buffer_free(&body);
        return say(client, VH_CALLER, "invalid", "a message may have 16 MiB");
    }
    if (memory) status = vhi_http_post(client->http, "/api/history/write", &body);
    vhi_buffer_free(&body);
    if (!memory) return say(client, VH_MEMORY, "memory", "out of memory");
    if (status < 0 || vhi_http_line(client->http, &client->line) != 1) return network(client);
    buffer rest = {0};
    int more = vhi_http_line(client->http, &rest);
    vhi_buffer_free(&rest);
    return more < 0 ? network(client) : read_reply(client, status);
}

/* ---- reading ---- */

static int begin_read(vh_client *client, const char *path, const vh_items *items,
                      const char *rest) {
    reset(client);
    buffer body = {0};
    vhi_buffer_text(&body, "{\"items\":[");
    vhi_buffer_add(&body, items->text.data, items->text.len);
    vhi_buffer_text(&body, "]");
    vhi_buffer_text(&body, rest);
    vhi_buffer_text(&body, "}");
    int status = -1;
    bool memory = !body.failed && !items->text.failed;
    if (memory) status = vhi_http_post(client->http, path, &body);
    vhi_buffer_free(&body);
    if (!memory) return say(client, VH_MEMORY, "memory", "out of memory");
    if (status < 0) return network(client);
    client->reading = true;
    if (status == 200) return VH_OK;
    if (vhi_http_line(client->http, &client->line) != 1) return network(client);
    client->reading = false;
    int result = read_reply(client, status);
    vhi_http_leave(client->http);
    return result;
}

int vh_range(vh_client *client, const vh_items *items, uint32_t from, uint32_t till,
             uint64_t limit, int descending) {
    char rest[160];
    snprintf(rest, sizeof rest, ",\"from\":%u,\"till\":%u,\"limit\":\"%llu\",\"descending\":%s",
             from, till, (unsigned long long)limit, descending ? "true" : "false");
    return begin_read(client, "/api/history/range", items, rest);
}

int vh_newest(vh_client *client, const vh_items *items, uint32_t count) {
    char rest[40];
    snprintf(rest, sizeof rest, ",\"count\":%u", count);
    return begin_read(client, "/api/history/newest", items, rest);
}

int vh_trends(vh_client *client, const vh_items *items, uint32_t from, uint32_t till) {
    char rest[80];
    snprintf(rest, sizeof rest, ",\"from\":%u,\"till\":%u", from, till);
    return begin_read(client, "/api/history/trends", items, rest);
}

/* Goes to the next row: its opening brace is taken. */
static int next(vh_client *client) {
    if (!client->reading) return client->reason[0] ? failed(client) : VH_END;
    for (;;) {
        if (client->in_line) {
            if (vhi_json_take(&client->at, ']')) {
                client->in_line = false;
            } else {
                if (!client->first_row) vhi_json_take(&client->at, ',');
                client->first_row = false;
                return vhi_json_take(&client->at, '{') ? VH_OK : strange(client);
            }
        }
        int got = vhi_http_line(client->http, &client->line);
        if (got < 0) return network(client);
        if (got == 0) {
            client->reading = false;
            return VH_END;
        }
        client->at = (json){client->line.data, client->line.data + client->line.len, false};
        bool first = true;
        if (!vhi_json_take(&client->at, '{')) return strange(client);
        while (!client->in_line && vhi_json_member(&client->at, &first, &client->name)) {
            const char *name = vhi_buffer_string(&client->name);
            if (!strcmp(name, "failure")) {
                read_own_failure(client);
                client->reading = false;
                vhi_http_leave(client->http);
                return failed(client);
            }
            if (!strcmp(name, "itemid")) client->itemid = vhi_json_whole(&client->at);
            else if (vhi_json_take(&client->at, '[')) client->in_line = client->first_row = true;
            else vhi_json_skip(&client->at);
        }
        if (client->at.bad) return strange(client);
    }
}

static void read_log(vh_client *client, vh_row *row) {
    bool first = true;
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        if (!strcmp(name, "text")) vhi_json_string(&client->at, &client->text);
        else if (!strcmp(name, "source")) vhi_json_string(&client->at, &client->source);
        else if (!strcmp(name, "clock")) row->log_clock = (uint32_t)vhi_json_whole(&client->at);
        else if (!strcmp(name, "severity")) row->severity = (uint32_t)vhi_json_whole(&client->at);
        else if (!strcmp(name, "eventid")) row->eventid = (uint32_t)vhi_json_whole(&client->at);
        else vhi_json_skip(&client->at);
    }
}

int vh_next(vh_client *client, vh_row *row) {
    int result = next(client);
    if (result) return result;
    *row = (vh_row){.itemid = client->itemid, .source = ""};
    vhi_buffer_clear(&client->text);
    vhi_buffer_clear(&client->source);
    bool first = true;
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        if (!strcmp(name, "clock")) {
            row->clock = (uint32_t)vhi_json_whole(&client->at);
        } else if (!strcmp(name, "ns")) {
            row->ns = (uint32_t)vhi_json_whole(&client->at);
        } else if (!strcmp(name, "float")) {
            row->type = VH_FLOAT;
            row->number = vhi_json_float(&client->at);
        } else if (!strcmp(name, "unsigned")) {
            row->type = VH_UNSIGNED;
            row->whole = vhi_json_whole(&client->at);
        } else if (!strcmp(name, "text")) {
            row->type = VH_TEXT;
            vhi_json_string(&client->at, &client->text);
        } else if (!strcmp(name, "log") && vhi_json_take(&client->at, '{')) {
            row->type = VH_LOG;
            read_log(client, row);
        } else {
            vhi_json_skip(&client->at);
        }
    }
    if (client->at.bad) return strange(client);
    row->text = vhi_buffer_string(&client->text);
    row->text_bytes = client->text.len;
    row->source = vhi_buffer_string(&client->source);
    return VH_OK;
}

static void read_figures(vh_client *client, vh_hour *hour) {
    bool first = true;
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        int which = !strcmp(name, "min") ? 0 : !strcmp(name, "avg") ? 1 : 2;
        double *numbers[] = {&hour->min, &hour->avg, &hour->max};
        uint64_t *wholes[] = {&hour->whole_min, &hour->whole_avg, &hour->whole_max};
        if (hour->type == VH_FLOAT) *numbers[which] = vhi_json_float(&client->at);
        else *wholes[which] = vhi_json_whole(&client->at);
    }
}

int vh_next_hour(vh_client *client, vh_hour *hour) {
    int result = next(client);
    if (result) return result;
    *hour = (vh_hour){.itemid = client->itemid};
    bool first = true;
    while (vhi_json_member(&client->at, &first, &client->name)) {
        const char *name = vhi_buffer_string(&client->name);
        bool figures = !strcmp(name, "float") || !strcmp(name, "unsigned");
        if (!strcmp(name, "hour")) {
            hour->hour = (uint32_t)vhi_json_whole(&client->at);
        } else if (!strcmp(name, "count")) {
            hour->count = (uint32_t)vhi_json_whole(&client->at);
        } else if (figures) {
            hour->type = !strcmp(name, "float") ? VH_FLOAT : VH_UNSIGNED;
            if (vhi_json_take(&client->at, '{')) read_figures(client, hour);
            else vhi_json_skip(&client->at);
        } else {
            vhi_json_skip(&client->at);
        }
    }
    return client->at.bad ? strange(client) : VH_OK;
}
