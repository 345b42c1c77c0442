// SPDX-License-Identifier: MIT
#include "options.h"

#include "base/assert.h"
#include "machine.h"
#include "net/listener.h"
#include "options_security.h"

#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uv.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

enum { WORKERS_MAX = 1024 };
enum { MEMORY_PERCENT = 75 }; // of the machine; the rest is for others and the page cache
enum { DAY_MS = 86400000 };
// of what an option means: beside its name, or on a narrower terminal below it
enum { HELP_INDENT = 31, HELP_INDENT_NARROW = 6, HELP_COLUMNS = 79, HELP_COLUMNS_MIN = 20 };

typedef enum OptionKind {
    OPTION_NUMBER,
    OPTION_BYTES, // a number that may end in K, M, G, T
    OPTION_TEXT,
    OPTION_LEVEL,
    OPTION_DURABILITY, // normal or full
    OPTION_SANDBOX,    // auto, required or off
    OPTION_MODE,       // permissions of a file, in octal
    OPTION_LISTEN,     // an address; may be given several times
    OPTION_ADDRESS,    // one address
    OPTION_HOST,       // a name; may be given several times
    OPTION_SWITCH,     // takes no value, but yes or no in the configuration file
    OPTION_HELP,       // takes no value
    OPTION_VERSION
} OptionKind;

typedef struct Option {
    const char *name;
    OptionKind kind;
    size_t offset; // of its field in Options
    uint64_t minimum, maximum, standard;
    const char *value_name; // in --help
    const char *unit;       // NULL: not one of the limits that Welcome lists
    const char *group;      // in --help
    const char *meaning;
} Option;

static const char group_serving[] = "Serving";
static const char group_episodes[] = "Episodes";
static const char group_limits[] = "Limits";
static const char group_time[] = "Time";
static const char group_other[] = "Other";

#define FIELD(name) offsetof(Options, name)

static const Option table[] = {
    {"listen", OPTION_LISTEN, FIELD(listen), 0, 0, 0, "ADDR", NULL, group_serving,
     "where to listen: host:port, [v6]:port (port 0: the system chooses), unix:PATH, or fd:N for "
     "a socket that was handed over; up to 16 times"},
    {"http", OPTION_ADDRESS, FIELD(http), 0, 0, 0, "ADDR", NULL, group_serving,
     "where the pages /livez, /readyz and /metrics are, and the WebSocket through which browsers "
     "watch worlds; an address as of --listen; default: nowhere"},
    {"http-host", OPTION_HOST, FIELD(http_host), 0, 0, 0, "NAME", NULL, group_serving,
     "a name by which --http may be asked beside its address and localhost; others are refused, as "
     "any web page can have its own name point here; up to 16 times"},
    {"viewer", OPTION_TEXT, FIELD(viewer), 0, 0, 0, "FILE", NULL, group_serving,
     "the page that --http shows at /, which watches worlds; default: the one that came with the "
     "server"},
    {"workers", OPTION_NUMBER, FIELD(workers), 0, WORKERS_MAX, 0, "N", NULL, group_serving,
     "threads that step worlds, and as many for steps of over 10 ms; those that are idle help with "
     "a large world's step, as long as no more than N are at work; 0: as many as there are cores"},
    {"token-file", OPTION_TEXT, FIELD(token_file), 0, 0, 0, "FILE", NULL, group_serving,
     "its first line is the token that clients must show, of at most 255 bytes; whoever has it may "
     "do everything to every world; needed to listen beyond this machine"},
    {"tokens", OPTION_TEXT, FIELD(tokens), 0, 0, 0, "FILE", NULL, group_serving,
     "instead of --token-file: the tokens of several people, each with rights of his own "
     "(moreau token new writes it, the manual says what they are); read again on SIGHUP"},
    {"tls-cert", OPTION_TEXT, FIELD(tls_cert), 0, 0, 0, "FILE", NULL, group_serving,
     "the server's certificate in PEM, with the chain behind it: then whatever is no Unix socket "
     "speaks TLS 1.3 and nothing else, and clients connect to tls://HOST:PORT; read again on "
     "SIGHUP, as are the two below"},
    {"tls-key", OPTION_TEXT, FIELD(tls_key), 0, 0, 0, "FILE", NULL, group_serving,
     "the private key of --tls-cert in PEM, without a passphrase"},
    {"tls-client-ca", OPTION_TEXT, FIELD(tls_client_ca), 0, 0, 0, "FILE", NULL, group_serving,
     "certificates in PEM of which one must have signed each client's; default: clients need none"},
    {"tls-self-signed", OPTION_TEXT, FIELD(tls_self_signed), 0, 0, 0, "DIR", NULL, group_serving,
     "make a certificate for this machine and its key in this folder, print its fingerprint, and "
     "exit"},
    {"insecure-plain", OPTION_SWITCH, FIELD(insecure_plain), 0, 0, 0, "", NULL, group_serving,
     "listen beyond this machine without TLS all the same, as inside a network that encrypts by "
     "itself: tokens and worlds then travel in the clear"},
    {"sandbox", OPTION_SANDBOX, FIELD(sandbox), 0, 0, 0, "HOW", NULL, group_serving,
     "auto: the process can touch the folders of the files that are named here, and no other, and "
     "start no program, as far as the kernel can see to it (Landlock, seccomp), which the log "
     "says; required: does not start where that is not all of it; off: can be debugged"},
    {"ready-fd", OPTION_NUMBER, FIELD(ready_fd), 0, 1048576, OPTIONS_NO_FD, "N", NULL,
     group_serving,
     "a descriptor to which the addresses are written, one per line (that of --http last), once "
     "the server listens"},
    {"parent-fd", OPTION_NUMBER, FIELD(parent_fd), 0, 1048576, OPTIONS_NO_FD, "N", NULL,
     group_serving,
     "a pipe's reading end: the server stops, as by SIGTERM, when nobody holds the writing end any "
     "more, as when the program that started it is gone; then its --log-file goes as well, and the "
     "folder of its Unix socket, if that is empty"},
    {"config", OPTION_TEXT, FIELD(config), 0, 0, 0, "FILE", NULL, group_serving,
     "an INI file with these names as keys, without the dashes; flags win over it"},
    {"log-level", OPTION_LEVEL, FIELD(log_level), 0, 0, REPORT_INFO, "LEVEL", NULL, group_serving,
     "error, warn, info or debug"},
    {"log-file", OPTION_TEXT, FIELD(log_file), 0, 0, 0, "FILE", NULL, group_serving,
     "where log lines go; reopened on SIGHUP; default: standard error"},
    {"audit-file", OPTION_TEXT, FIELD(audit_file), 0, 0, 0, "FILE", NULL, group_serving,
     "who did what: a line of JSON for each call that changes something, and never a token; a full "
     "one becomes FILE.1, and so on up to FILE.8; reopened on SIGHUP"},
    {"file-mode", OPTION_MODE, FIELD(file_mode), 0600, 0644, 0640, "MODE", NULL, group_serving,
     "permissions of the files that are made, in octal: of episodes, backups, and log lines; at "
     "most, as the umask takes away more; default: 0640"},

    {"db", OPTION_TEXT, FIELD(db), 0, 0, 0, "FILE", NULL, group_episodes,
     "the SQLite file that episodes are recorded in, made when it is not there; without it nothing "
     "can be recorded"},
    {"durability", OPTION_DURABILITY, FIELD(full_durability), 0, 0, 0, "HOW", NULL, group_episodes,
     "normal: a crash of the server loses nothing committed, power loss may lose the last seconds; "
     "full: neither does, and each transaction waits for the disk"},
    {"recover", OPTION_TEXT, FIELD(recover), 0, 0, 0, "FILE", NULL, group_episodes,
     "mend what a crash left in this file of episodes, say what was found, and exit"},
    {"check", OPTION_TEXT, FIELD(check), 0, 0, 0, "FILE", NULL, group_episodes,
     "say what is wrong with this file of episodes, change nothing, and exit; a server may have it "
     "open"},
    {"merge", OPTION_TEXT, FIELD(merge), 0, 0, 0, "FILE", NULL, group_episodes,
     "bring the episodes of the files that follow, --merge FILE OTHER…, into this one, which is "
     "made "
     "when it is not there, say what was brought, and exit"},
    {"seal-key", OPTION_TEXT, FIELD(seal_key), 0, 0, 0, "FILE", NULL, group_episodes,
     "sign what is recorded with this Ed25519 key in PEM: who has the file alone can then change "
     "nothing of it unnoticed (moreau verify --seal-pub); who has the key, or this server, can"},
    {"seal-new", OPTION_TEXT, FIELD(seal_new), 0, 0, 0, "DIR", NULL, group_episodes,
     "make a key for --seal-key and its public half in this folder, print the latter, and exit"},
    {"backup-dir", OPTION_TEXT, FIELD(backup_dir), 0, 0, 0, "DIR", NULL, group_episodes,
     "where backups go that clients ask for, under plain names; without it none are made"},
    {"keep-days", OPTION_NUMBER, FIELD(keep_days), 0, 36500, 0, "N", "days", group_episodes,
     "delete recordings so many days after they have ended, but for those with a pinned episode; "
     "0: never"},
    {"keep-bytes", OPTION_BYTES, FIELD(keep_bytes), 0, 1024 * TIB, 0, "BYTES", "bytes",
     group_episodes,
     "delete the oldest recordings while the file holds more, but for the newest and those with a "
     "pinned episode; 1 MiB at least, 0: any size"},
    {"keep-episodes", OPTION_NUMBER, FIELD(keep_episodes), 0, UINT64_C(1000000000000), 0, "N", "",
     group_episodes,
     "delete recordings of which no episode is among the newest N, nor pinned; 0: any number"},
    {"log-queue-bytes-max", OPTION_BYTES, FIELD(log_queue_bytes_max), MIB, TIB, 64 * MIB, "BYTES",
     "bytes", group_limits,
     "record waiting for the disk; then worlds that are recorded wait (lossy ones drop steps)"},
    {"frame-bytes-max", OPTION_BYTES, FIELD(frame_bytes_max), 8 * KIB, GIB, 16 * MIB, "BYTES",
     "bytes", group_limits, "longest frame, in either direction"},
    {"connections-max", OPTION_NUMBER, FIELD(connections_max), 1, 1000000, 1024, "N", "",
     group_limits, "connections open at once; more are closed at once"},
    {"requests-max", OPTION_NUMBER, FIELD(requests_max), 1, 65536, 64, "N", "", group_limits,
     "requests under way per connection; then it is not read until one is answered"},
    {"subscriptions-max", OPTION_NUMBER, FIELD(subscriptions_max), 1, 1000000, 1024, "N", "",
     group_limits, "subscriptions to running worlds at once; more are refused"},
    {"unsent-bytes-max", OPTION_BYTES, FIELD(unsent_bytes_max), KIB, TIB, 64 * MIB, "BYTES",
     "bytes", group_limits,
     "replies waiting to be sent per connection; then it is not read until they are fewer"},
    {"worlds-max", OPTION_NUMBER, FIELD(worlds_max), 1, 16777216, 65536, "N", "", group_limits,
     "worlds at once"},
    {"session-worlds-max", OPTION_NUMBER, FIELD(session_worlds_max), 1, 16777216, 65536, "N", "",
     group_limits, "worlds that one session may own"},
    {"bodies-max", OPTION_NUMBER, FIELD(bodies_max), 1, 100000000, 1000000, "N", "", group_limits,
     "bodies per world"},
    {"memory-bytes-max", OPTION_BYTES, FIELD(memory_bytes_max), 0, 1024 * TIB, 0, "BYTES", "bytes",
     group_limits, "memory for worlds; 0: 75 % of the machine's, or of its cgroup's"},
    {"kept-bytes-max", OPTION_BYTES, FIELD(kept_bytes_max), 0, TIB, 32 * MIB, "BYTES", "bytes",
     group_limits, "replies kept per session for a client that resumes it; the oldest go first"},

    {"audit-bytes-max", OPTION_BYTES, FIELD(audit_bytes_max), 4 * KIB, TIB, 64 * MIB, "BYTES",
     "bytes", group_limits, "of each file of --audit-file"},
    {"tls-rate-max", OPTION_NUMBER, FIELD(tls_rate_max), 0, 1000000, 100, "N", "per second",
     group_limits,
     "TLS handshakes of one machine, with ten seconds' worth at once; more wait; 0: any number"},
    {"http-connections-max", OPTION_NUMBER, FIELD(http_connections_max), 1, 1024, 64, "N", "",
     group_limits, "connections to the pages of --http; a new one takes the place of the idlest"},
    {"http-viewers-max", OPTION_NUMBER, FIELD(http_viewers_max), 1, 1024, 64, "N", "", group_limits,
     "browsers that watch worlds through --http; more are refused"},

    {"write-timeout-ms", OPTION_NUMBER, FIELD(write_timeout_ms), 1, DAY_MS, 30000, "MS", "ms",
     group_time, "a client that takes no bytes for so long is cut"},
    {"hello-timeout-ms", OPTION_NUMBER, FIELD(hello_timeout_ms), 1, DAY_MS, 10000, "MS", "ms",
     group_time, "a connection that has not said Hello after so long is closed"},
    {"work-timeout-ms", OPTION_NUMBER, FIELD(work_timeout_ms), 1, DAY_MS, 60000, "MS", "ms",
     group_time, "a single step, or a Solve, that takes longer is given up: it would hold a lane"},
    {"session-grace-ms", OPTION_NUMBER, FIELD(session_grace_ms), 0, DAY_MS, 30000, "MS", "ms",
     group_time,
     "how long a session waits for its client to come back before its worlds are destroyed"},
    {"drain-timeout-ms", OPTION_NUMBER, FIELD(drain_timeout_ms), 0, DAY_MS, 10000, "MS", "ms",
     group_time, "how long a stopping server lets requests under way finish"},

    {"help", OPTION_HELP, 0, 0, 0, 0, "", NULL, group_other, "print this and exit"},
    {"version", OPTION_VERSION, 0, 0, 0, 0, "", NULL, group_other, "print the version and exit"},
};

enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]) };

static const char default_listen[] = "127.0.0.1:7667";

static uint64_t *number_at(Options *options, const Option *option) {
    return (uint64_t *)(void *)((char *)options + option->offset);
}

static bool is_number(const Option *option) {
    return option->kind == OPTION_NUMBER || option->kind == OPTION_BYTES;
}

static void set_defaults(Options *options) {
    *options = (Options){.log_level = REPORT_INFO, .listen_count = 1};
    memcpy(options->listen[0], default_listen, sizeof(default_listen));
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (is_number(&table[i]) || table[i].kind == OPTION_MODE) {
            *number_at(options, &table[i]) = table[i].standard;
        }
    }
}

// ---- finding

static const Option *find_option(const char *name, size_t bytes) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(table[i].name) == bytes && memcmp(table[i].name, name, bytes) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

enum { NAME_BYTES_MAX = 32 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

// How many letters must be put in, taken out or changed to make one name of the other
// (Levenshtein's distance, row by row).
static size_t name_distance(const char *a, size_t a_bytes, const char *b) {
    size_t row[NAME_BYTES_MAX + 1];
    size_t b_bytes = strlen(b);
    ASSERT(b_bytes <= NAME_BYTES_MAX);
    for (size_t j = 0; j <= b_bytes; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_bytes];
}

static Status fail_unknown(const char *name, size_t bytes, const char *dashes, Error *error) {
    const Option *nearest = NULL;
    size_t distance = NAME_BYTES_MAX;
    for (size_t i = 0; i < OPTION_COUNT && bytes <= NAME_BYTES_MAX; i++) {
        size_t one = name_distance(name, bytes, table[i].name);
        if (one < distance) {
            distance = one;
            nearest = &table[i];
        }
    }
    // more than a third wrong is no slip of the finger
    if (nearest == NULL || distance > strlen(nearest->name) / 3 + 1) {
        return error_set(error, STATUS_INVALID_ARGUMENT, NULL,
                         "There is no option %s%.*s; --help lists them all.", dashes,
                         (int)least(bytes, 100), name);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, NULL,
                     "There is no option %s%.*s; did you mean %s%s?", dashes,
                     (int)least(bytes, 100), name, dashes, nearest->name);
}

// ---- values

// K, Ki and KiB are 1024, and so on; "" is 1; 0 when it is none of them.
static uint64_t suffix_factor(const char *suffix) {
    static const char letters[] = "KMGT";
    if (suffix[0] == '\0') {
        return 1;
    }
    char upper = (char)(suffix[0] >= 'a' && suffix[0] <= 'z' ? suffix[0] - 'a' + 'A' : suffix[0]);
    const char *letter = strchr(letters, upper);
    bool ends_well =
        suffix[1] == '\0' || strcmp(suffix + 1, "i") == 0 || strcmp(suffix + 1, "iB") == 0;
    return letter != NULL && ends_well ? UINT64_C(1) << (10 * (letter - letters + 1)) : 0;
}

// false: not a number of this kind, or beyond 64 bits
static bool parse_number(const char *text, OptionKind kind, uint64_t *number) {
    uint64_t value = 0;
    size_t count = strspn(text, "0123456789");
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = 10 * value + digit;
    }
    const char *suffix = text + count + (kind == OPTION_BYTES ? strspn(text + count, " ") : 0);
    uint64_t factor = kind == OPTION_BYTES ? suffix_factor(suffix) : (*suffix == '\0' ? 1 : 0);
    if (count == 0 || factor == 0 || value > UINT64_MAX / factor) {
        return false;
    }
    *number = value * factor;
    return true;
}

static Status set_number(Options *options, const Option *option, const char *text, Error *error) {
    uint64_t number = 0;
    if (!parse_number(text, option->kind, &number) || number < option->minimum ||
        number > option->maximum) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                         "%s takes a whole number%s from %llu to %llu, not '%.100s'.", option->name,
                         option->kind == OPTION_BYTES ? " of bytes (K, M, G, T allowed)" : "",
                         (unsigned long long)option->minimum, (unsigned long long)option->maximum,
                         text);
    }
    *number_at(options, option) = number;
    return STATUS_OK;
}

static Status set_text(Options *options, const Option *option, const char *text, Error *error) {
    size_t bytes = strlen(text);
    if (bytes == 0 || bytes >= OPTIONS_TEXT_BYTES) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                         "%s needs a path of 1 to %d bytes.", option->name, OPTIONS_TEXT_BYTES - 1);
    }
    memcpy((char *)options + option->offset, text, bytes + 1);
    return STATUS_OK;
}

static Status set_level(Options *options, const Option *option, const char *text, Error *error) {
    if (!report_level_parse(text, &options->log_level)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                         "%s is error, warn, info or debug, not '%.100s'.", option->name, text);
    }
    return STATUS_OK;
}

// The owner reads and writes; others may read, and no more.
static Status set_mode(Options *options, const Option *option, const char *text, Error *error) {
    char *end;
    const unsigned long mode = strtoul(text, &end, 8);
    if (text[0] < '0' || text[0] > '7' || *end != '\0' || (mode & ~0644ul) != 0 ||
        (mode & 0600ul) != 0600ul) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                         "%s is 0600, 0640, 0604 or 0644, in octal as of chmod, not '%.100s'.",
                         option->name, text);
    }
    *number_at(options, option) = mode;
    return STATUS_OK;
}

static Status set_durability(Options *options, const Option *option, const char *text,
                             Error *error) {
    options->full_durability = strcmp(text, "full") == 0;
    if (!options->full_durability && strcmp(text, "normal") != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                         "%s is normal or full, not '%.100s'.", option->name, text);
    }
    return STATUS_OK;
}

static Status set_sandbox(Options *options, const Option *option, const char *text, Error *error) {
    static const char *const names[] = {[OPTIONS_SANDBOX_AUTO] = "auto",
                                        [OPTIONS_SANDBOX_REQUIRED] = "required",
                                        [OPTIONS_SANDBOX_OFF] = "off"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            options->sandbox = (OptionsSandbox)i;
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                     "%s is auto, required or off, not '%.100s'.", option->name, text);
}

// Where values come from just now: the first address of an origin replaces those of the one
// before it.
typedef struct Origin {
    Options *options;
    bool has_listen, has_host;
    Error *error;
    Status status; // of the first failure
} Origin;

static Status add_listen(Origin *origin, const char *text) {
    Options *options = origin->options;
    bool is_loopback = false;
    Status status = listener_check(text, &is_loopback, origin->error);
    if (status != STATUS_OK) {
        return status;
    }
    options->listen_count = origin->has_listen ? options->listen_count : 0;
    origin->has_listen = true;
    if (options->listen_count == OPTIONS_LISTEN_MAX) {
        return error_set(origin->error, STATUS_INVALID_ARGUMENT, "listen",
                         "listen is given at most %d times.", OPTIONS_LISTEN_MAX);
    }
    snprintf(options->listen[options->listen_count++], OPTIONS_ADDRESS_BYTES, "%s", text);
    return STATUS_OK;
}

static Status add_host(Origin *origin, const char *text) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    Options *options = origin->options;
    const size_t bytes = strlen(text);
    if (bytes == 0 || bytes >= OPTIONS_ADDRESS_BYTES || strspn(text, letters) != bytes) {
        return error_set(origin->error, STATUS_INVALID_ARGUMENT, "http-host",
                         "http-host is a name without a port, of letters, digits, dots and dashes, "
                         "not '%.100s'.",
                         text);
    }
    options->http_host_count = origin->has_host ? options->http_host_count : 0;
    origin->has_host = true;
    if (options->http_host_count == OPTIONS_HOSTS_MAX) {
        return error_set(origin->error, STATUS_INVALID_ARGUMENT, "http-host",
                         "http-host is given at most %d times.", OPTIONS_HOSTS_MAX);
    }
    snprintf(options->http_host[options->http_host_count++], OPTIONS_ADDRESS_BYTES, "%s", text);
    return STATUS_OK;
}

static Status set_address(Origin *origin, const Option *option, const char *text) {
    bool is_loopback;
    Status status = listener_check(text, &is_loopback, origin->error);
    if (status == STATUS_OK) {
        snprintf((char *)origin->options + option->offset, OPTIONS_ADDRESS_BYTES, "%s", text);
    }
    return status;
}

static Status set_switch(Options *options, const Option *option, const char *text, Error *error) {
    const bool is_on = strcmp(text, "yes") == 0;
    if (!is_on && strcmp(text, "no") != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                         "%s is yes or no, not '%.100s'; as a flag it stands alone.", option->name,
                         text);
    }
    *((bool *)(void *)((char *)options + option->offset)) = is_on;
    return STATUS_OK;
}

static Status set_option(Origin *origin, const Option *option, const char *text) {
    switch (option->kind) {
    case OPTION_NUMBER:
    case OPTION_BYTES:
        return set_number(origin->options, option, text, origin->error);
    case OPTION_TEXT:
        return set_text(origin->options, option, text, origin->error);
    case OPTION_LEVEL:
        return set_level(origin->options, option, text, origin->error);
    case OPTION_DURABILITY:
        return set_durability(origin->options, option, text, origin->error);
    case OPTION_SANDBOX:
        return set_sandbox(origin->options, option, text, origin->error);
    case OPTION_MODE:
        return set_mode(origin->options, option, text, origin->error);
    case OPTION_LISTEN:
        return add_listen(origin, text);
    case OPTION_ADDRESS:
        return set_address(origin, option, text);
    case OPTION_HOST:
        return add_host(origin, text);
    case OPTION_SWITCH:
        return set_switch(origin->options, option, text, origin->error);
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
    return STATUS_OK;
}

// ---- the two sources

static Status fail_word(const char *word, Error *error) {
    const char *name = word + strspn(word, "-");
    bool is_meant = find_option(name, strcspn(name, "=")) != NULL;
    return error_set(error, STATUS_INVALID_ARGUMENT, NULL,
                     "'%.100s' is no option; options begin with two dashes%s%.100s%s.", word,
                     is_meant ? ": --" : "", is_meant ? name : "",
                     is_meant && strchr(name, '=') == NULL ? " VALUE" : "");
}

// What is no option is a file to be merged.
static Status add_file(Options *options, const char *path, Error *error) {
    if (options->merge[0] == '\0') {
        return fail_word(path, error);
    }
    if (options->merge_count == OPTIONS_MERGE_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "merge",
                         "At most %d files are merged at once: merge the rest afterwards, into the "
                         "same file.",
                         OPTIONS_MERGE_MAX);
    }
    options->merge_from[options->merge_count++] = path;
    return STATUS_OK;
}

static Status check_merge(const Options *options, Error *error) {
    return options->merge[0] == '\0' || options->merge_count > 0
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, "merge",
                           "Name the files whose episodes go into %.200s: --merge %.200s FILE….",
                           options->merge, options->merge);
}

// *asked: --help or --version, when one of them is there; then the rest is not looked at.
static Status apply_arguments(Options *options, int argc, char **argv, const Option **asked,
                              Error *error) {
    Origin origin = {.options = options, .error = error};
    options->merge_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (strncmp(argument, "--", 2) != 0) {
            if (add_file(options, argument, error) != STATUS_OK) {
                return error->status;
            }
            continue;
        }
        const char *name = argument + 2;
        size_t name_bytes = strcspn(name, "=");
        const Option *option = find_option(name, name_bytes);
        if (option == NULL) {
            return fail_unknown(name, name_bytes, "--", error);
        }
        if (option->kind == OPTION_HELP || option->kind == OPTION_VERSION) {
            *asked = option;
            return STATUS_OK;
        }
        const char *value = name[name_bytes] == '='         ? name + name_bytes + 1
                            : option->kind == OPTION_SWITCH ? "yes"
                                                            : argv[++i];
        if (value == NULL) {
            return error_set(error, STATUS_INVALID_ARGUMENT, option->name,
                             "--%s needs a value: --%s %s.", option->name, option->name,
                             option->value_name);
        }
        Status status = set_option(&origin, option, value);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// One line of the file, as libinih hands it up; 0 is its word for failure.
static int on_file_line(void *context, const char *section, const char *name, const char *value) {
    Origin *origin = context;
    if (origin->status != STATUS_OK) {
        return 0;
    }
    const Option *option = find_option(name, strlen(name));
    if (section[0] != '\0' && strcmp(section, "server") != 0) {
        origin->status = error_set(
            origin->error, STATUS_INVALID_ARGUMENT, NULL,
            "There is no section [%.100s]; options stand in [server] or before any section.",
            section);
    } else if (option == NULL) {
        origin->status = fail_unknown(name, strlen(name), "", origin->error);
    } else if (option->kind == OPTION_HELP || option->kind == OPTION_VERSION ||
               option->offset == FIELD(config) || option->offset == FIELD(recover) ||
               option->offset == FIELD(check) || option->offset == FIELD(merge) ||
               option->offset == FIELD(tls_self_signed) || option->offset == FIELD(seal_new)) {
        origin->status = error_set(origin->error, STATUS_INVALID_ARGUMENT, name,
                                   "%s is for the command line only.", name);
    } else {
        origin->status = set_option(origin, option, value);
    }
    return origin->status == STATUS_OK;
}

static Status apply_file(Options *options, const char *path, Error *error) {
    Error inner = {.message = "this is no line of the form name = value"};
    Origin origin = {.options = options, .error = &inner};
    int line = ini_parse(path, on_file_line, &origin);
    if (line < 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "config", "%.300s cannot be read.", path);
    }
    if (line > 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, inner.field, "%.120s:%d: %s", path, line,
                         inner.message);
    }
    return STATUS_OK;
}

// ---- what follows from the values together

// Puts numbers where 0 leaves the choice to the machine.
static void choose_rest(Options *options) {
    if (options->workers == 0) {
        unsigned cores = uv_available_parallelism();
        options->workers = cores < WORKERS_MAX ? cores : WORKERS_MAX;
    }
    if (options->memory_bytes_max == 0) {
        options->memory_bytes_max = machine_memory_bytes() / 100 * MEMORY_PERCENT;
    }
}

// A number of bytes that forgot its letter would delete nearly everything.
static Status check_keep(const Options *options, Error *error) {
    bool keeps = options->keep_days > 0 || options->keep_bytes > 0 || options->keep_episodes > 0 ||
                 options->backup_dir[0] != '\0';
    if (options->keep_bytes > 0 && options->keep_bytes < MIB) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "keep-bytes",
                         "keep-bytes is 0, for any size, or 1 MiB at least, not %llu bytes.",
                         (unsigned long long)options->keep_bytes);
    }
    if (keeps && options->db[0] == '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, "db",
                         "keep-days, keep-bytes, keep-episodes and backup-dir are about a "
                         "file of episodes: give it with --db FILE.");
    }
    return STATUS_OK;
}

// Looked at before the server opens anything itself that could have this number.
static Status check_parent(const Options *options, Error *error) {
    const uint64_t fd = options->parent_fd;
    struct stat info;
    if (fd == OPTIONS_NO_FD) {
        return STATUS_OK;
    }
    const int flags = fcntl((int)fd, F_GETFL);
    const char *is = flags < 0 || fstat((int)fd, &info) != 0              ? "is not open"
                     : !S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode) ? "is no pipe"
                     : (flags & O_ACCMODE) == O_WRONLY ? "is the writing end of a pipe"
                                                       : NULL;
    if (is == NULL) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, "parent-fd",
                     "The descriptor %llu %s: give the reading end of a pipe whose writing end "
                     "whoever started the server holds as long as it lives.",
                     (unsigned long long)fd, is);
}

// ---- help

typedef struct Help {
    FILE *out;
    size_t columns; // of a line
    size_t indent;  // of what an option means
    size_t column;  // of the next character
} Help;

static Help help_of(FILE *out) {
    const size_t columns = machine_terminal_columns(out);
    const size_t room = columns == 0                  ? HELP_COLUMNS
                        : columns <= HELP_COLUMNS_MIN ? HELP_COLUMNS_MIN
                                                      : columns - 1;
    const bool is_narrow = room < HELP_COLUMNS;
    return (Help){out, is_narrow ? room : HELP_COLUMNS,
                  is_narrow ? HELP_INDENT_NARROW : HELP_INDENT, 0};
}

static void begin_line(Help *help, size_t indent) {
    fprintf(help->out, "\n%*s", (int)indent, "");
    help->column = indent;
}

// Words behind what the line has, or behind `indent` spaces on a line of their own where that is
// full.
static void print_words(Help *help, size_t indent, const char *text) {
    while (*text != '\0') {
        const size_t count = strcspn(text, " ");
        if (help->column > indent && help->column + 1 + count > help->columns) {
            begin_line(help, indent);
        }
        const bool is_first = help->column == indent;
        fprintf(help->out, "%s%.*s", is_first ? "" : " ", (int)count, text);
        help->column += count + (is_first ? 0 : 1);
        text += count + strspn(text + count, " ");
    }
}

// A paragraph that begins at the left.
static void print_paragraph(Help *help, const char *text) {
    help->column = 0;
    print_words(help, 0, text);
    fprintf(help->out, "\n");
}

static const char *write_number(char text[32], uint64_t number, OptionKind kind) {
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    size_t unit = 0;
    while (kind == OPTION_BYTES && number > 0 && number % KIB == 0 && unit < 4) {
        number /= KIB;
        unit++;
    }
    snprintf(text, 32, "%llu%s", (unsigned long long)number, units[unit]);
    return text;
}

static void print_default(Help *help, const Option *option) {
    char text[3][32], words[128];
    if (is_number(option) && option->standard != OPTIONS_NO_FD) {
        snprintf(words, sizeof(words), "(default %s; %s to %s)",
                 write_number(text[0], option->standard, option->kind),
                 write_number(text[1], option->minimum, option->kind),
                 write_number(text[2], option->maximum, option->kind));
        begin_line(help, help->indent);
        print_words(help, help->indent, words);
    } else if (option->kind == OPTION_LISTEN) {
        snprintf(words, sizeof(words), "(default %s)", default_listen);
        begin_line(help, help->indent);
        print_words(help, help->indent, words);
    } else if (option->kind == OPTION_LEVEL) {
        print_words(help, help->indent, "(default info)");
    } else if (option->kind == OPTION_DURABILITY) {
        print_words(help, help->indent, "(default normal)");
    } else if (option->kind == OPTION_SANDBOX) {
        print_words(help, help->indent, "(default auto)");
    }
}

static void print_option(Help *help, const Option *option) {
    char flag[64];
    snprintf(flag, sizeof(flag), "--%s%s%s", option->name, option->value_name[0] == '\0' ? "" : " ",
             option->value_name);
    if (help->indent == HELP_INDENT) {
        fprintf(help->out, "  %-*s ", HELP_INDENT - 3, flag);
        help->column = help->indent;
    } else {
        fprintf(help->out, "  %s", flag);
        begin_line(help, help->indent);
    }
    print_words(help, help->indent, option->meaning);
    print_default(help, option);
    fprintf(help->out, "\n");
}

// An option and its value stay together.
static void print_example(Help *help, const char *options) {
    enum { INDENT = 6 };
    fprintf(help->out, "  moreau-server");
    help->column = strlen("  moreau-server");
    while (*options != '\0') {
        const size_t whole = strcspn(options + 1, " "), option = 1 + whole;
        const char *value = options + option;
        const bool has_value = value[0] == ' ' && strncmp(value, " --", 3) != 0;
        const size_t count = option + (has_value ? 1 + strcspn(value + 1, " ") : 0);
        if (help->column + count + strlen(" \\") > help->columns) {
            fprintf(help->out, " \\");
            begin_line(help, INDENT - 1);
        }
        fprintf(help->out, "%.*s", (int)count, options);
        help->column += count;
        options += count;
    }
    fprintf(help->out, "\n");
}

static void print_help(FILE *out) {
    Help help = help_of(out);
    static const char *const examples[] = {
        " --db episodes.db",
        " --seal-new /etc/moreau",
        " --listen unix:/run/moreau.sock --workers 4",
        " --tls-self-signed /etc/moreau",
        (" --listen 0.0.0.0:7667 --token-file /etc/moreau/token --tls-cert /etc/moreau/cert.pem "
         "--tls-key /etc/moreau/key.pem"),
        " --config /etc/moreau/moreau.ini --http 127.0.0.1:7668",
        " --recover episodes.db",
        " --merge all.db first.db second.db",
    };
    print_paragraph(&help, "moreau-server: simulates worlds of bodies in contact for its clients");
    fprintf(out, "\nUsage: moreau-server [--NAME VALUE]…\n");
    const char *group = "";
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(table[i].group, group) != 0) {
            group = table[i].group;
            fprintf(out, "\n%s:\n", group);
        }
        print_option(&help, &table[i]);
    }
    fprintf(out, "\n");
    print_paragraph(&help,
                    "Byte counts may end in K, M, G or T. SIGTERM stops the server after what is "
                    "under way. To reach a server on another machine without certificates, let it "
                    "listen on 127.0.0.1 and run beside the client:");
    fprintf(out, "\n  ssh -L 7667:127.0.0.1:7667 HOST\n\nExamples:\n");
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        print_example(&help, examples[i]);
    }
}

// ---- the door

static Status parse_all(Options *options, int argc, char **argv, const Option **asked,
                        Error *error) {
    set_defaults(options);
    Status status = apply_arguments(options, argc, argv, asked, error);
    if (status != STATUS_OK || *asked != NULL) {
        return status;
    }
    if (options->config[0] != '\0') {
        // the file is named by a flag, and flags win: so first the file, then the flags once more
        char path[OPTIONS_TEXT_BYTES];
        memcpy(path, options->config, sizeof(path));
        set_defaults(options);
        status = apply_file(options, path, error);
        status = STATUS_THEN(status, apply_arguments(options, argc, argv, asked, error));
    }
    status = STATUS_THEN(status, options_check_security(options, error));
    status = STATUS_THEN(status, check_keep(options, error));
    status = STATUS_THEN(status, check_merge(options, error));
    status = STATUS_THEN(status, check_parent(options, error));
    status =
        STATUS_THEN_IF(status, options->token_file[0] != '\0', options_read_token(options, error));
    if (status == STATUS_OK) {
        choose_rest(options);
    }
    return status;
}

OptionsResult options_parse(Options *options, int argc, char **argv, FILE *out, Error *error) {
    const Option *asked = NULL;
    if (parse_all(options, argc, argv, &asked, error) != STATUS_OK) {
        return OPTIONS_WRONG;
    }
    if (asked == NULL) {
        return OPTIONS_RUN;
    }
    if (asked->kind == OPTION_HELP) {
        print_help(out);
    } else {
        fprintf(out, "moreau-server %s\n", MOREAU_VERSION);
    }
    return OPTIONS_EXIT;
}

bool options_limit(const Options *options, size_t index, OptionsLimit *limit) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (table[i].unit != NULL && index-- == 0) {
            const uint64_t *value =
                (const uint64_t *)(const void *)((const char *)options + table[i].offset);
            *limit = (OptionsLimit){table[i].name, *value, table[i].unit, table[i].meaning};
            return true;
        }
    }
    return false;
}

const char *options_token(const Options *options) {
    return options->token;
}
