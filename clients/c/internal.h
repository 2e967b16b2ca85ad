/* What the files of the library share. */
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

void buffer_add(buffer *to, const char *data, size_t len);
void buffer_text(buffer *to, const char *text);
void buffer_format(buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_clear(buffer *to);
void buffer_free(buffer *of);
/* The bytes as a text. */
const char *buffer_string(buffer *of);
/* A JSON string with its quotes. */
void buffer_json(buffer *to, const char *text, size_t len);

/* Values and items as JSON. */
struct vh_batch {
    buffer text; /* the values, with commas between */
    size_t count;
};

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
bool json_take(json *of, char sign);
/* The next member's name of an object whose brace was taken; false = the object ended. */
bool json_member(json *of, bool *first, buffer *name);
void json_string(json *of, buffer *to);
/* Numbers may stand in quotes. */
uint64_t json_whole(json *of);
double json_float(json *of);
bool json_bool(json *of);
void json_skip(json *of);

/* A connection of HTTP/1.1. */
typedef struct http http;

http *http_open(const char *url, const char *token, const char *ca_file);
void http_close(http *of);
void http_set_timeout(http *of, int timeout_ms);
/* Sends a POST with this body; returns the status of the answer, or -1 (see http_error). */
int http_post(http *of, const char *path, const buffer *body);
/* The next line of the answer's body without its end: 1; 0 = there are no more, -1 = broken. */
int http_line(http *of, buffer *line);
/* Leaves the answer as it is; the next call connects anew if something of it is left. */
void http_leave(http *of);
const char *http_error(const http *of);

#endif
