/*
 * HTTP/1.1 over a socket: one POST at a time on a connection that stays open.
 *
 * Not libcurl: what is needed of HTTP is a request with a length, and an answer with a length or in
 * chunks, which is less than this file; so the library stands on the C library alone (and OpenSSL,
 * which the server stands on as well), and is built wherever cc is.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef VH_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#endif

enum { TIMEOUT_MS = 60000, READ_BYTES = 65536, HEADER_MAX = 65536, LINE_MAX_BYTES = 64 << 20 };

struct http {
    char *host, *port, *token, *ca_file;
    bool secure, bracketed;
    int timeout_ms;
    int socket;
    pid_t process; /* that made the connection */
#ifdef VH_TLS
    SSL_CTX *context;
    SSL *ssl;
#endif
    char in[READ_BYTES];
    size_t in_at, in_len;
    /* Of the answer's body: in chunks, bytes left (of the chunk), ended, the connection stays. */
    bool chunked, ended, stays, first_chunk;
    uint64_t left;
    char error[512];
};

static int fail(http *of, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(http *of, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(of->error, sizeof of->error, format, arguments);
    va_end(arguments);
    return -1;
}

static void disconnect(http *of) {
#ifdef VH_TLS
    if (of->ssl) SSL_free(of->ssl);
    of->ssl = NULL;
#endif
    if (of->socket >= 0) close(of->socket);
    of->socket = -1;
    of->in_at = of->in_len = 0;
    of->ended = true;
}

/* "http://host:port" with an address of IPv6 in brackets. */
static bool parse_url(http *of, const char *url) {
    const char *rest = strstr(url, "://");
    if (!rest) return false;
    of->secure = !strncasecmp(url, "https://", 8);
    if (!of->secure && strncasecmp(url, "http://", 7)) return false;
    rest += 3;
    size_t len = strcspn(rest, "/?#");
    const char *end = rest + len, *colon;
    if (*rest == '[') {
        const char *close = memchr(rest, ']', len);
        if (!close) return false;
        of->bracketed = true;
        of->host = strndup(rest + 1, (size_t)(close - rest - 1));
        colon = close + 1;
    } else {
        colon = memchr(rest, ':', len);
        if (!colon) colon = end;
        of->host = strndup(rest, (size_t)(colon - rest));
    }
    if (colon < end && *colon == ':') of->port = strndup(colon + 1, (size_t)(end - colon - 1));
    else of->port = strdup(of->secure ? "443" : "80");
    return of->host && of->port && *of->host && *of->port;
}

http *vhi_http_open(const char *url, const char *token, const char *ca_file) {
    http *of = calloc(1, sizeof *of);
    if (!of) return NULL;
    of->socket = -1;
    of->timeout_ms = TIMEOUT_MS;
    of->ended = true;
    of->token = strdup(token ? token : "");
    of->ca_file = ca_file ? strdup(ca_file) : NULL;
    /* A line's end in the token would begin another header. */
    if (!parse_url(of, url) || !of->token || strpbrk(of->token, "\r\n")) {
        vhi_http_close(of);
        return NULL;
    }
    return of;
}

void vhi_http_close(http *of) {
    if (!of) return;
    disconnect(of);
#ifdef VH_TLS
    if (of->context) SSL_CTX_free(of->context);
#endif
    free(of->host);
    free(of->port);
    free(of->token);
    free(of->ca_file);
    free(of);
}

static void apply_timeout(http *of) {
    struct timeval time = {.tv_sec = of->timeout_ms / 1000,
                           .tv_usec = of->timeout_ms % 1000 * 1000};
    setsockopt(of->socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(of->socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void vhi_http_set_timeout(http *of, int timeout_ms) {
    of->timeout_ms = timeout_ms > 0 ? timeout_ms : TIMEOUT_MS;
    if (of->socket >= 0) apply_timeout(of);
}

const char *vhi_http_error(const http *of) { return of->error; }

#ifdef VH_TLS
/* OpenSSL knows no MSG_NOSIGNAL: this thread takes no SIGPIPE meanwhile. */
typedef struct {
    sigset_t pipe, before;
    bool pending;
} pipe_guard;

static void guard_pipe(pipe_guard *of) {
    sigset_t pending;
    sigemptyset(&of->pipe);
    sigaddset(&of->pipe, SIGPIPE);
    sigpending(&pending);
    of->pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &of->pipe, &of->before);
}

static void unguard_pipe(const pipe_guard *of) {
    const struct timespec now = {0};
    int error = errno;
    /* One that came of it, not one that waited before. */
    if (!of->pending)
        while (sigtimedwait(&of->pipe, NULL, &now) < 0 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &of->before, NULL);
    errno = error;
}

/* Writes what is `out`, or reads into `in`, or connects; as send and recv, also with errno. */
static int tls(http *of, const char *out, char *in, int len) {
    pipe_guard guard;
    int done, why;
    guard_pipe(&guard);
    do {
        ERR_clear_error();
        errno = 0;
        done = out ? SSL_write(of->ssl, out, len)
               : in ? SSL_read(of->ssl, in, len)
                    : SSL_connect(of->ssl);
        int error = errno;
        why = SSL_get_error(of->ssl, done);
        errno = error;
    } while ((why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) && errno == EINTR);
    unguard_pipe(&guard);
    return done;
}

static int secure(http *of) {
    if (!of->context) {
        of->context = SSL_CTX_new(TLS_client_method());
        if (!of->context) return fail(of, "TLS cannot be used");
        SSL_CTX_set_verify(of->context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_default_verify_paths(of->context);
        if (of->ca_file && SSL_CTX_load_verify_locations(of->context, of->ca_file, NULL) != 1)
            return fail(of, "the certificates in %s cannot be used", of->ca_file);
    }
    of->ssl = SSL_new(of->context);
    if (!of->ssl) return fail(of, "TLS cannot be used");
    X509_VERIFY_PARAM *names = SSL_get0_param(of->ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(names, of->host) != 1) {
        X509_VERIFY_PARAM_set1_host(names, of->host, 0);
        SSL_set_tlsext_host_name(of->ssl, of->host);
    }
    SSL_set_fd(of->ssl, of->socket);
    if (tls(of, NULL, NULL, 0) != 1) {
        long verdict = SSL_get_verify_result(of->ssl);
        const char *why = verdict != X509_V_OK ? X509_verify_cert_error_string(verdict)
                                               : ERR_reason_error_string(ERR_peek_last_error());
        ERR_clear_error();
        return fail(of, "no TLS with %s:%s: %s", of->host, of->port, why ? why : "it hung up");
    }
    return 0;
}
#endif

static int dial(http *of) {
    if (of->socket >= 0) return 0;
    of->process = getpid();
#ifndef VH_TLS
    if (of->secure) return fail(of, "this library was built without TLS");
#endif
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int problem = getaddrinfo(of->host, of->port, &hints, &found);
    if (problem) return fail(of, "%s has no address: %s", of->host, gai_strerror(problem));
    int error = ENOENT;
    for (struct addrinfo *one = found; one && of->socket < 0; one = one->ai_next) {
        of->socket = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (of->socket < 0) {
            error = errno;
            continue;
        }
        /* The time to send is also that to connect. */
        apply_timeout(of);
        if (connect(of->socket, one->ai_addr, one->ai_addrlen) < 0) {
            error = errno;
            disconnect(of);
        }
    }
    freeaddrinfo(found);
    if (of->socket < 0)
        return fail(of, "cannot connect to %s:%s: %s", of->host, of->port, strerror(error));
    int on = 1;
    setsockopt(of->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef VH_TLS
    if (of->secure && secure(of) < 0) {
        disconnect(of);
        return -1;
    }
#endif
    return 0;
}

static ssize_t send_some(http *of, const char *data, size_t len) {
    ssize_t sent;
#ifdef VH_TLS
    if (of->ssl) return tls(of, data, NULL, len > 1 << 20 ? 1 << 20 : (int)len);
#endif
    do sent = send(of->socket, data, len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

static int send_all(http *of, const char *data, size_t len) {
    while (len) {
        ssize_t sent = send_some(of, data, len);
        if (sent <= 0)
            return fail(of, "%s:%s takes no more: %s", of->host, of->port,
                        errno ? strerror(errno) : "it ended the connection");
        data += sent;
        len -= (size_t)sent;
    }
    return 0;
}

static ssize_t receive(http *of) {
    ssize_t got;
#ifdef VH_TLS
    if (of->ssl) return tls(of, NULL, of->in, sizeof of->in);
#endif
    do got = recv(of->socket, of->in, sizeof of->in, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

/* More bytes into the empty buffer. */
static int fill(http *of) {
    /* What one of two processes takes the other never sees. */
    if (of->process != getpid()) return fail(of, "this answer is the process's before fork()");
    ssize_t got = receive(of);
    of->in_at = 0;
    of->in_len = got > 0 ? (size_t)got : 0;
    if (got > 0) return 0;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return fail(of, "%s:%s did not answer within %d ms", of->host, of->port, of->timeout_ms);
    return fail(of, "%s:%s ended the connection", of->host, of->port);
}

static int byte(http *of) {
    if (of->in_at == of->in_len && fill(of) < 0) return -1;
    return (unsigned char)of->in[of->in_at++];
}

/* A line of the head, without its end. */
static int head_line(http *of, buffer *line) {
    vhi_buffer_clear(line);
    for (;;) {
        int sign = byte(of);
        if (sign < 0) return -1;
        if (sign == '\n') return 0;
        char one = (char)sign;
        if (sign != '\r') vhi_buffer_add(line, &one, 1);
        if (line->len > HEADER_MAX || line->failed)
            return fail(of, "the answer's head is too long");
    }
}

static int head(http *of) {
    buffer line = {0};
    int status = -1;
    of->chunked = of->ended = false;
    of->stays = of->first_chunk = true;
    of->left = 0;
    if (head_line(of, &line) < 0) goto out;
    if (sscanf(vhi_buffer_string(&line), "HTTP/1.%*d %d", &status) != 1) {
        status = fail(of, "%s:%s does not speak HTTP", of->host, of->port);
        goto out;
    }
    for (;;) {
        if (head_line(of, &line) < 0) {
            status = -1;
            break;
        }
        const char *text = vhi_buffer_string(&line);
        if (!*text) break;
        const char *value = strchr(text, ':');
        if (!value) continue;
        size_t name = (size_t)(value - text);
        value += 1 + strspn(value + 1, " \t");
        if (name == 14 && !strncasecmp(text, "content-length", name))
            of->left = strtoull(value, NULL, 10);
        else if (name == 17 && !strncasecmp(text, "transfer-encoding", name))
            of->chunked = !strcasecmp(value, "chunked");
        else if (name == 10 && !strncasecmp(text, "connection", name))
            of->stays = strcasecmp(value, "close") != 0;
    }
    if (!of->chunked && !of->left) of->ended = true;
out:
    vhi_buffer_free(&line);
    return status;
}

void vhi_http_leave(http *of) {
    if (!of->ended || !of->stays) disconnect(of);
}

/* Whether the server has ended the idle connection, or it is a parent's. */
static bool is_stale(const http *of) {
    char one;
    if (of->process != getpid()) return true;
    ssize_t got = recv(of->socket, &one, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

int vhi_http_post(http *of, const char *path, const buffer *body) {
    vhi_http_leave(of);
    of->error[0] = 0;
    if (of->socket >= 0 && is_stale(of)) disconnect(of);
    if (dial(of) < 0) return -1;
    buffer request = {0};
    vhi_buffer_format(&request, "POST %s HTTP/1.1\r\nHost: ", path);
    if (of->bracketed) vhi_buffer_text(&request, "[");
    vhi_buffer_text(&request, of->host);
    if (of->bracketed) vhi_buffer_text(&request, "]");
    vhi_buffer_text(&request, ":");
    vhi_buffer_text(&request, of->port);
    vhi_buffer_text(&request, "\r\nContent-Type: application/json\r\nAuthorization: Bearer ");
    vhi_buffer_text(&request, of->token);
    vhi_buffer_format(&request, "\r\nContent-Length: %zu\r\n\r\n", body->len);
    vhi_buffer_add(&request, body->data, body->len);
    int status = -1;
    if (request.failed) fail(of, "out of memory");
    else if (send_all(of, request.data, request.len) == 0) status = head(of);
    vhi_buffer_free(&request);
    if (status < 0) disconnect(of);
    return status;
}

/* The next byte of the body; -1 = there are no more, -2 = broken. */
static int body_byte(http *of) {
    if (of->ended) return -1;
    if (of->chunked && of->left == 0) {
        buffer line = {0};
        /* A chunk's bytes end with a line's end. */
        int got = of->first_chunk ? 0 : head_line(of, &line);
        if (got == 0) got = head_line(of, &line);
        of->first_chunk = false;
        if (got == 0) of->left = strtoull(vhi_buffer_string(&line), NULL, 16);
        bool last = got == 0 && of->left == 0;
        if (last) got = head_line(of, &line);
        vhi_buffer_free(&line);
        if (got < 0) return -2;
        if (last) {
            of->ended = true;
            return -1;
        }
    }
    int sign = byte(of);
    if (sign < 0) return -2;
    if (--of->left == 0 && !of->chunked) of->ended = true;
    return sign;
}

int vhi_http_line(http *of, buffer *line) {
    vhi_buffer_clear(line);
    for (;;) {
        int sign = body_byte(of);
        if (sign == -1) return line->len > 0;
        if (sign == -2 || line->len > LINE_MAX_BYTES || line->failed) {
            if (line->failed) fail(of, "out of memory");
            disconnect(of);
            return -1;
        }
        if (sign == '\n') return 1;
        char one = (char)sign;
        vhi_buffer_add(line, &one, 1);
    }
}
