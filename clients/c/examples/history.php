<?php
// Writes a batch and reads it back with libvedette-history through PHP's FFI:
//   php history.php LIBRARY URL TOKEN HOST KEY
// LIBRARY is the path of libvedette-history.so.
//
// PHP has no whole numbers above 2^63-1: a uint64_t beyond that is a negative int, of which
// sprintf("%u") makes the right text.
[, $library, $url, $token, $host, $key] = $argv;

$vh = FFI::cdef(<<<'C'
    typedef struct vh_client vh_client;
    typedef struct vh_batch vh_batch;
    typedef struct vh_items vh_items;
    typedef struct vh_row {
        uint64_t itemid;
        uint32_t clock;
        uint32_t ns;
        int type;
        double number;
        uint64_t whole;
        const char *text;
        size_t text_bytes;
        const char *source;
        uint32_t log_clock;
        uint32_t severity;
        uint32_t eventid;
    } vh_row;
    vh_client *vh_open(const char *url, const char *token, const char *ca_file);
    void vh_close(vh_client *client);
    const char *vh_error(const vh_client *client);
    const char *vh_refused_message(const vh_client *client, size_t n);
    vh_batch *vh_batch_new(void);
    void vh_batch_free(vh_batch *batch);
    int vh_add_float(vh_batch *batch, uint64_t itemid, const char *host, const char *key,
                     uint32_t clock, uint32_t ns, double value);
    int vh_write(vh_client *client, const vh_batch *batch, unsigned flags);
    uint64_t vh_kept(const vh_client *client);
    vh_items *vh_items_new(void);
    void vh_items_free(vh_items *items);
    int vh_items_add(vh_items *items, uint64_t itemid, const char *host, const char *key);
    int vh_range(vh_client *client, const vh_items *items, uint32_t from, uint32_t till,
                 uint64_t limit, int descending);
    int vh_next(vh_client *client, vh_row *row);
    C, $library);

const VH_OK = 0;
const VH_REFUSED = 1;
const VH_END = 7;
const VH_FLOAT = 2;
const VH_UNSIGNED = 3;

// Ends with the reason unless the call came to what is wanted.
function need(int $result, int $wanted, callable $why): void
{
    if ($result !== $wanted) {
        fwrite(STDERR, $why($result) . "\n");
        exit(1);
    }
}

$client = $vh->vh_open($url, $token, null);
if ($client === null) {
    fwrite(STDERR, "no such address: $url\n");
    exit(2);
}

$why = fn (int $result): string => $result === VH_REFUSED
    ? $vh->vh_refused_message($client, 0)
    : $vh->vh_error($client) . " ($result)";

$batch = $vh->vh_batch_new();
$now = time();
foreach ([0.5, 1.5, 2.5] as $n => $value) {
    need($vh->vh_add_float($batch, 0, $host, $key, $now, $n, $value), VH_OK, $why);
}
need($vh->vh_write($client, $batch, 0), VH_OK, $why);
echo "kept ", $vh->vh_kept($client), "\n";
$vh->vh_batch_free($batch);

$items = $vh->vh_items_new();
need($vh->vh_items_add($items, 0, $host, $key), VH_OK, $why);
$row = $vh->new("vh_row");
need($vh->vh_range($client, $items, $now, $now, 0, 0), VH_OK, $why);
while (($result = $vh->vh_next($client, FFI::addr($row))) === VH_OK) {
    echo "read ", match ($row->type) {
        VH_FLOAT => $row->number,
        VH_UNSIGNED => sprintf("%u", $row->whole),
        default => FFI::string($row->text, $row->text_bytes),
    }, "\n";
}
// An answer that broke off is no whole one.
need($result, VH_END, $why);
$vh->vh_items_free($items);
$vh->vh_close($client);
