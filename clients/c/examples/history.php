<?php
// Writes a batch and reads it back with libvedette-history through PHP's FFI:
//   php history.php LIBRARY URL TOKEN HOST KEY
// LIBRARY is the path of libvedette-history.so.
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
const VH_FLOAT = 2;

$client = $vh->vh_open($url, $token, null);
if ($client === null) {
    fwrite(STDERR, "no such address: $url\n");
    exit(2);
}

$batch = $vh->vh_batch_new();
$now = time();
foreach ([0.5, 1.5, 2.5] as $n => $value) {
    $vh->vh_add_float($batch, 0, $host, $key, $now, $n, $value);
}
if ($vh->vh_write($client, $batch, 0) !== VH_OK) {
    fwrite(STDERR, $vh->vh_error($client) . "\n");
    exit(1);
}
echo "kept ", $vh->vh_kept($client), "\n";
$vh->vh_batch_free($batch);

$items = $vh->vh_items_new();
$vh->vh_items_add($items, 0, $host, $key);
$row = $vh->new("vh_row");
$vh->vh_range($client, $items, $now, $now, 0, 0);
while ($vh->vh_next($client, FFI::addr($row)) === VH_OK) {
    echo "read ", $row->type === VH_FLOAT ? $row->number : FFI::string($row->text), "\n";
}
$vh->vh_items_free($items);
$vh->vh_close($client);
