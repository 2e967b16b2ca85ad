/* What the files of the library share. All names begin with vhi_: a static library hides none. */
#ifndef VEDETTE_HISTORY_INTERNAL_H
#define VEDETTE_HISTORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow; once memory was short, failed stays true and nothing more is added. */
typedef struct {
    char *data;
    size_t len, room;
    bool failed;
} buffer;

void vhi_buffer_add(buffer *to, const char *data, size_t len);
void vhi_buffer_text(buffer *to, const char *text);
void vhi_buffer_format(buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vhi_buffer_clear(buffer *to);
void vhi_buffer_free(buffer *of);
/* The bytes as a text. */
const char *vhi_buffer_string(buffer *of);
/* A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD. */
void vhi_buffer_json(buffer *to, const char *text, size_t len);
/* A JSON number, or the name of one that JSON does not have. */
void vhi_buffer_float(buffer *to, double value);

/* Values and items as JSON. */
struct vh_batch {
    buffer text; /* the values, with commas between */
    size_t count;
};

/* Adds the values of another batch; VH_MEMORY and VH_FULL: as it was. */
int vhi_batch_join(struct vh_batch *batch, const struct vh_batch *more);

struct vh_items {
    buffer text;
    size_t count;
};

/* A place in a JSON text. Once the text broke a rule, bad stays true. */
typedef struct {
    const char *at, *end;
    bool bad;
} json;

/* Steps over the sign if it is next. */
bool vhi_json_take(json *of, char sign);
/* The next member's name of an object whose brace was taken; false = the object ended. */
bool vhi_json_member(json *of, bool *first, buffer *name);
/* Bad also when memory is short. */
void vhi_json_string(json *of, buffer *to);
/* Numbers may stand in quotes. */
uint64_t vhi_json_whole(json *of);
double vhi_json_float(json *of);
bool vhi_json_bool(json *of);
void vhi_json_skip(json *of);

/* A connection of HTTP/1.1. */
typedef struct http http;

http *vhi_http_open(const char *url, const char *token, const char *ca_file);
void vhi_http_close(http *of);
void vhi_http_set_timeout(http *of, int timeout_ms);
/* Sends a POST with this body; returns the status of the answer, or -1 (see vhi_http_error). */
int vhi_http_post(http *of, const char *path, const buffer *body);
/* The next line of the answer's body without its end: 1; 0 = there are no more, -1 = broken. */
int vhi_http_line(http *of, buffer *line);
/* Leaves the answer as it is; the next call reconnects if something of it is left. */
void vhi_http_leave(http *of);
const char *vhi_http_error(const http *of);

#endif
