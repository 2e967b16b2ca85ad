/* Bytes that grow, and JSON: as much of it as the service speaks. */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, DEPTH_MAX = 64 };

static bool reserve(buffer *to, size_t more) {
    if (to->failed || more > SIZE_MAX / 4 || to->len > SIZE_MAX / 4) {
        to->failed = true;
        return false;
    }
    size_t wanted = to->len + more + 1;
    if (wanted > to->room) {
        size_t room = to->room ? to->room : FIRST_ROOM;
        while (room < wanted) room *= 2;
        char *data = realloc(to->data, room);
        if (!data) {
            to->failed = true;
            return false;
        }
        to->data = data;
        to->room = room;
    }
    return true;
}

void vhi_buffer_add(buffer *to, const char *data, size_t len) {
    if (!reserve(to, len)) return;
    if (len) memcpy(to->data + to->len, data, len);
    to->len += len;
    to->data[to->len] = 0;
}

void vhi_buffer_text(buffer *to, const char *text) { vhi_buffer_add(to, text, strlen(text)); }

void vhi_buffer_format(buffer *to, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (len < 0) to->failed = true;
    else vhi_buffer_add(to, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
}

void vhi_buffer_clear(buffer *to) {
    to->len = 0;
    to->failed = false;
    if (to->data) to->data[0] = 0;
}

void vhi_buffer_free(buffer *of) {
    free(of->data);
    *of = (buffer){0};
}

const char *vhi_buffer_string(buffer *of) { return of->data ? of->data : ""; }

/* Bytes of the character that begins here; 0 = what is here is no UTF-8. */
static size_t utf8_bytes(const unsigned char *at, size_t left) {
    unsigned char first = at[0];
    if (first < 0x80) return 1;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < len) return 0;
    /* Neither longer than need be, nor halves of UTF-16, nor beyond U+10FFFF. */
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t n = 2; n < len; n++)
        if ((at[n] & 0xc0) != 0x80) return 0;
    return len;
}

void vhi_buffer_json(buffer *to, const char *text, size_t len) {
    vhi_buffer_add(to, "\"", 1);
    size_t plain = 0, n = 0;
    while (n < len) {
        unsigned char sign = (unsigned char)text[n];
        size_t bytes = utf8_bytes((const unsigned char *)text + n, len - n);
        if (bytes && sign >= 0x20 && sign != '"' && sign != '\\') {
            n += bytes;
            continue;
        }
        vhi_buffer_add(to, text + plain, n - plain);
        if (!bytes) vhi_buffer_text(to, "\xef\xbf\xbd");
        else if (sign < 0x20) vhi_buffer_format(to, "\\u%04x", sign);
        else vhi_buffer_format(to, "\\%c", sign);
        plain = ++n;
    }
    vhi_buffer_add(to, text + plain, len - plain);
    vhi_buffer_add(to, "\"", 1);
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Numbers have a point in JSON, whatever they have where the program runs. This thread only;
 * gives what to go back to, or 0 when memory is short. */
static locale_t enter_c_locale(void) {
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

void vhi_buffer_float(buffer *to, double value) {
    if (isnan(value)) {
        vhi_buffer_text(to, "\"NaN\"");
    } else if (isinf(value)) {
        vhi_buffer_text(to, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    } else {
        locale_t before = enter_c_locale();
        if (before) vhi_buffer_format(to, "%.17g", value);
        else to->failed = true;
        uselocale(before);
    }
}

static void blank(json *of) {
    while (of->at < of->end && strchr(" \t\r\n", *of->at)) of->at++;
}

bool vhi_json_take(json *of, char sign) {
    blank(of);
    if (of->bad || of->at >= of->end || *of->at != sign) return false;
    of->at++;
    return true;
}

static void need(json *of, char sign) {
    if (!vhi_json_take(of, sign)) of->bad = true;
}

bool vhi_json_member(json *of, bool *first, buffer *name) {
    if (of->bad || vhi_json_take(of, '}')) return false;
    if (!*first) need(of, ',');
    *first = false;
    vhi_json_string(of, name);
    need(of, ':');
    return !of->bad;
}

static void utf8(buffer *to, uint32_t sign) {
    char bytes[4];
    size_t len = 1;
    if (sign < 0x80) {
        bytes[0] = (char)sign;
    } else if (sign < 0x800) {
        bytes[0] = (char)(0xc0 | sign >> 6);
        bytes[1] = (char)(0x80 | (sign & 0x3f));
        len = 2;
    } else if (sign < 0x10000) {
        bytes[0] = (char)(0xe0 | sign >> 12);
        bytes[1] = (char)(0x80 | (sign >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (sign & 0x3f));
        len = 3;
    } else {
        bytes[0] = (char)(0xf0 | sign >> 18);
        bytes[1] = (char)(0x80 | (sign >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (sign >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (sign & 0x3f));
        len = 4;
    }
    vhi_buffer_add(to, bytes, len);
}

static uint32_t hex4(json *of) {
    uint32_t number = 0;
    for (int n = 0; n < 4; n++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *found = of->at < of->end && *of->at ? strchr(digits, *of->at) : NULL;
        if (!found) {
            of->bad = true;
            return 0;
        }
        number = number << 4 | (uint32_t)((found - digits) & 15);
        of->at++;
    }
    return number;
}

static void escape(json *of, buffer *to) {
    char sign = of->at < of->end ? *of->at++ : 0;
    const char *names = "\"\\/bfnrt", *signs = "\"\\/\b\f\n\r\t";
    const char *found = sign ? strchr(names, sign) : NULL;
    if (found) {
        vhi_buffer_add(to, signs + (found - names), 1);
        return;
    }
    if (sign != 'u') {
        of->bad = true;
        return;
    }
    uint32_t code = hex4(of);
    if (code >= 0xd800 && code < 0xdc00 && of->end - of->at > 2 && of->at[0] == '\\'
        && of->at[1] == 'u') {
        of->at += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + ((hex4(of) - 0xdc00) & 0x3ff);
    }
    utf8(to, code);
}

void vhi_json_string(json *of, buffer *to) {
    vhi_buffer_clear(to);
    vhi_buffer_add(to, "", 0);
    need(of, '"');
    while (!of->bad) {
        const char *plain = of->at;
        while (of->at < of->end && *of->at != '"' && *of->at != '\\') of->at++;
        vhi_buffer_add(to, plain, (size_t)(of->at - plain));
        if (of->at >= of->end) of->bad = true;
        else if (*of->at++ == '"') break;
        else escape(of, to);
    }
    /* Half of a text is none. */
    if (to->failed) of->bad = true;
}

/* A number's signs, without the quotes around them. */
static void scalar(json *of, char *text, size_t room) {
    bool quoted = vhi_json_take(of, '"');
    size_t len = 0;
    while (of->at < of->end && len + 1 < room && !strchr("\",]} \t\r\n", *of->at))
        text[len++] = *of->at++;
    text[len] = 0;
    if (quoted) need(of, '"');
    if (!len) of->bad = true;
}

uint64_t vhi_json_whole(json *of) {
    char text[32], *end;
    scalar(of, text, sizeof text);
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (*end || errno || text[0] == '-') of->bad = true;
    return number;
}

double vhi_json_float(json *of) {
    char text[512], *end;
    scalar(of, text, sizeof text);
    if (!strcmp(text, "NaN")) return NAN;
    if (!strcmp(text, "Infinity")) return INFINITY;
    if (!strcmp(text, "-Infinity")) return -INFINITY;
    locale_t before = enter_c_locale();
    double number = strtod(text, &end);
    uselocale(before);
    if (*end || !before) of->bad = true;
    return number;
}

bool vhi_json_bool(json *of) {
    char text[8];
    scalar(of, text, sizeof text);
    if (strcmp(text, "true") && strcmp(text, "false")) of->bad = true;
    return text[0] == 't';
}

void vhi_json_skip(json *of) {
    int depth = 0;
    do {
        blank(of);
        if (of->at >= of->end || depth > DEPTH_MAX) {
            of->bad = true;
            return;
        }
        char sign = *of->at;
        if (sign == '"') {
            buffer text = {0};
            vhi_json_string(of, &text);
            vhi_buffer_free(&text);
        } else {
            of->at++;
            if (sign == '{' || sign == '[') depth++;
            else if (sign == '}' || sign == ']') depth--;
            else if (!strchr(",:", sign))
                while (of->at < of->end && !strchr(",:]}\" \t\r\n", *of->at)) of->at++;
        }
    } while (depth > 0 && !of->bad);
}
