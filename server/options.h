// SPDX-License-Identifier: MIT
// What the server can be told at its start. One row of a table per option makes its flag, its key
// in the configuration file, its default, its range, its line of --help and, for a limit, its entry
// in Welcome.
//
// Flags are written --name VALUE or --name=VALUE. The configuration file is INI with the same names
// without the leading dashes, in no section or in [server]; flags win over the file, the file over
// the defaults. Byte counts may end in K, M, G or T (KiB, MiB …).
//
// After options_parse the values are the ones in force: where 0 means "as the machine allows", the
// number is already in its place.
#pragma once

#include "os/report.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { OPTIONS_LISTEN_MAX = 16 };
enum { OPTIONS_HOSTS_MAX = 16 };
enum { OPTIONS_MERGE_MAX = 256 };
enum { OPTIONS_ADDRESS_BYTES = 128 };
enum { OPTIONS_TEXT_BYTES = 512 };
enum { OPTIONS_TOKEN_BYTES_MAX = 255 }; // as any text of the protocol: Hello brings it

#define OPTIONS_NO_FD UINT64_MAX

typedef enum OptionsSandbox {
    OPTIONS_SANDBOX_AUTO, // what the kernel has of it
    OPTIONS_SANDBOX_REQUIRED,
    OPTIONS_SANDBOX_OFF
} OptionsSandbox;

typedef struct Options {
    char listen[OPTIONS_LISTEN_MAX][OPTIONS_ADDRESS_BYTES];
    size_t listen_count;
    char http[OPTIONS_ADDRESS_BYTES]; // where the pages for operators are; "": nowhere
    bool http_is_exposed;             // beyond this machine: then its metrics demand the token
    char http_host[OPTIONS_HOSTS_MAX][OPTIONS_ADDRESS_BYTES]; // names by which the pages are asked
    size_t http_host_count;
    uint64_t http_connections_max;
    uint64_t http_viewers_max;
    uint64_t ready_fd;  // OPTIONS_NO_FD: none
    uint64_t parent_fd; // likewise
    uint64_t workers;
    char token_file[OPTIONS_TEXT_BYTES]; // "": none, and everybody may connect
    char token[OPTIONS_TOKEN_BYTES_MAX + 1];
    char tokens[OPTIONS_TEXT_BYTES];   // "": none; instead of the token file
    uint32_t token_mode_exposed;       // permissions of the token file; 0: its owner's alone
    char tls_cert[OPTIONS_TEXT_BYTES]; // "": what goes over the wire is plain
    char tls_key[OPTIONS_TEXT_BYTES];
    char tls_client_ca[OPTIONS_TEXT_BYTES];   // "": clients need no certificate
    char tls_self_signed[OPTIONS_TEXT_BYTES]; // "": serve; else make a certificate here and exit
    uint64_t tls_rate_max;
    bool insecure_plain;
    OptionsSandbox sandbox;
    char viewer[OPTIONS_TEXT_BYTES]; // the page at /; "": none
    char config[OPTIONS_TEXT_BYTES];
    ReportLevel log_level;
    char log_file[OPTIONS_TEXT_BYTES];   // "": standard error
    char audit_file[OPTIONS_TEXT_BYTES]; // "": who did what is not noted
    uint64_t audit_bytes_max;
    uint64_t file_mode;                // permissions of the files that are made
    char db[OPTIONS_TEXT_BYTES];       // the file of episodes; "": nothing can be recorded
    char recover[OPTIONS_TEXT_BYTES];  // "": serve; else mend this file and exit
    char check[OPTIONS_TEXT_BYTES];    // "": serve; else say what is wrong with this file and exit
    char merge[OPTIONS_TEXT_BYTES];    // "": serve; else bring these into this file and exit
    char seal_key[OPTIONS_TEXT_BYTES]; // "": what is recorded is not signed
    char seal_new[OPTIONS_TEXT_BYTES]; // "": serve; else make such a key here and exit
    const char *merge_from[OPTIONS_MERGE_MAX]; // borrowed of the arguments
    size_t merge_count;
    bool full_durability;
    char backup_dir[OPTIONS_TEXT_BYTES];           // "": no backups
    uint64_t keep_days, keep_bytes, keep_episodes; // 0: all
    uint64_t log_queue_bytes_max;
    uint64_t frame_bytes_max;
    uint64_t connections_max;
    uint64_t requests_max;
    uint64_t subscriptions_max;
    uint64_t unsent_bytes_max;
    uint64_t write_timeout_ms;
    uint64_t hello_timeout_ms;
    uint64_t worlds_max;
    uint64_t session_worlds_max;
    uint64_t bodies_max;
    uint64_t memory_bytes_max;
    uint64_t kept_bytes_max;
    uint64_t work_timeout_ms;
    uint64_t session_grace_ms;
    uint64_t drain_timeout_ms;
} Options;

typedef enum OptionsResult {
    OPTIONS_RUN,  // start the server
    OPTIONS_EXIT, // --help or --version was printed: done
    OPTIONS_WRONG // the error says what, in a sentence
} OptionsResult;

// A limit of the server as clients see it. Texts live forever.
typedef struct OptionsLimit {
    const char *name; // the option's
    uint64_t value;
    const char *unit; // "" for a plain count
    const char *meaning;
} OptionsLimit;

// argv[0] is the program. --help and --version go to `out`. `options` is undefined unless the
// result is OPTIONS_RUN.
OptionsResult options_parse(Options *options, int argc, char **argv, FILE *out, Error *error);

// The index-th limit, from 0; false past the last.
bool options_limit(const Options *options, size_t index, OptionsLimit *limit);

// The token that clients must show, "" when none is needed. Borrowed from `options`.
const char *options_token(const Options *options);
