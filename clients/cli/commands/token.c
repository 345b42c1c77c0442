// SPDX-License-Identifier: MIT
// moreau token: the file of the server's --tokens, written as a whole or not at all.
#include "cli/cli.h"

#include "access/token_file.h"
#include "base/hex.h"
#include "cli/base/memory.h"
#include "cli/files/save.h"
#include "cli/text/nearest.h"
#include "cli/text/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "moreau token: who may do what on a server that was started with --tokens FILE\n"
    "\n"
    "  moreau token new NAME --tokens FILE --rights R,...   a token for somebody\n"
    "  moreau token list --tokens FILE                      who has which rights\n"
    "  moreau token revoke NAME --tokens FILE               takes his away\n"
    "\n"
    "new prints the token, which is stored nowhere: FILE, which is made when it is not\n"
    "there, holds its SHA-256. A NAME uid:N stands for that user on the server's Unix\n"
    "sockets, without a token. Rights are watch (read), step (make, change and step\n"
    "worlds), record, delete (episodes) and admin (everything, everybody's). What\n"
    "belongs to another namespace does not exist for its holder.\n"
    "\n"
    "The server reads FILE again on SIGHUP: kill -HUP, or systemctl reload.\n"
    "\n"
    "Examples:\n"
    "  moreau token new alice --tokens tokens --rights watch,step --namespace lab > alice.token\n"
    "  moreau token new uid:1000 --tokens tokens --rights watch\n"
    "  moreau token revoke alice --tokens tokens\n";

enum { TOKEN_WORDS_MAX = 8 };

typedef struct TokenOptions {
    const char *tokens, *rights, *space;
    const char *limit[TOKEN_WORDS_MAX]; // in the order of token_file_word
} TokenOptions;

// What is in the file, and the lock on it.
typedef struct Ledger {
    const char *path;
    int lock;   // -1: there is no file yet
    char *text; // owned
    size_t bytes;
    TokenFile file;
} Ledger;

// ---- the file

static int fail_path(Cli *cli, const char *path, const char *why) {
    (void)cli_fail(cli, EXIT_USAGE, "cannot read %s: %s", path, why);
    return EXIT_USAGE; // said here, so that who looks at this file alone sees it is no success
}

// Another one that writes replaces the file, so that what was locked may be the old one.
static int lock_file(Cli *cli, Ledger *ledger) {
    for (;;) {
        struct stat held, there;
        ledger->lock = open(ledger->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (ledger->lock < 0) {
            return errno == ENOENT ? EXIT_DONE : fail_path(cli, ledger->path, strerror(errno));
        }
        if (flock(ledger->lock, LOCK_EX) != 0 || fstat(ledger->lock, &held) != 0) {
            return fail_path(cli, ledger->path, strerror(errno));
        }
        if (!S_ISREG(held.st_mode)) {
            return fail_path(cli, ledger->path, "it is no file");
        }
        if (stat(ledger->path, &there) == 0 && there.st_ino == held.st_ino &&
            there.st_dev == held.st_dev) {
            return EXIT_DONE;
        }
        close(ledger->lock);
    }
}

static int read_ledger(Cli *cli, Ledger *ledger) {
    Error error = {0};
    ledger->text = memory_take((size_t)TOKEN_FILE_BYTES_MAX + 1, 1);
    ssize_t count = 1;
    while (count > 0 && ledger->bytes <= TOKEN_FILE_BYTES_MAX) {
        count = read(ledger->lock, ledger->text + ledger->bytes,
                     (size_t)TOKEN_FILE_BYTES_MAX + 1 - ledger->bytes);
        ledger->bytes += count > 0 ? (size_t)count : 0;
    }
    if (count < 0) {
        return fail_path(cli, ledger->path, strerror(errno));
    }
    return token_file_parse(ledger->text, ledger->bytes, &ledger->file, &error) == STATUS_OK
               ? EXIT_DONE
               : cli_fail(cli, EXIT_REFUSED, "%s: %s", ledger->path, error.message);
}

static int open_ledger(Cli *cli, Ledger *ledger, const char *path, bool may_be_made) {
    *ledger = (Ledger){.path = path, .lock = -1};
    const int status = lock_file(cli, ledger);
    if (status != EXIT_DONE) {
        return status;
    }
    if (ledger->lock >= 0) {
        return read_ledger(cli, ledger);
    }
    if (!may_be_made) {
        return fail_path(cli, path, strerror(ENOENT));
    }
    static const char empty[] = TOKEN_FILE_HEAD "\n# end 0\n";
    ledger->text = memory_take(1, sizeof(empty));
    memcpy(ledger->text, empty, sizeof(empty));
    ledger->bytes = sizeof(empty) - 1;
    ledger->file.end = sizeof(TOKEN_FILE_HEAD);
    return EXIT_DONE;
}

static void close_ledger(Ledger *ledger) {
    token_file_free(&ledger->file);
    free(ledger->text);
    if (ledger->lock >= 0) {
        close(ledger->lock);
    }
}

// Everything but what stands in [begin, end), then `line`, then the end with so many.
static int save_ledger(Cli *cli, const Ledger *ledger, size_t begin, size_t end, const char *line,
                       size_t count) {
    const size_t room = ledger->bytes + TOKEN_LINE_BYTES + 64;
    char *text = memory_take(room, 1);
    size_t used = begin;
    memcpy(text, ledger->text, begin);
    memcpy(text + used, ledger->text + end, ledger->file.end - end);
    used += ledger->file.end - end;
    used += (size_t)snprintf(text + used, room - used, "%s# end %zu\n", line, count);
    TokenFile again;
    Error error = {0};
    int status = EXIT_REFUSED; // what the server would refuse is not written
    if (token_file_parse(text, used, &again, &error) == STATUS_OK) {
        token_file_free(&again);
        status = save_file(cli, ledger->path, text, used);
    } else {
        cli_fail(cli, status, "%s: %s", ledger->path, error.message);
    }
    free(text);
    return status;
}

// ---- new

enum { SECRET_BYTES = 32, SECRET_TEXT_BYTES = 2 * SECRET_BYTES + 1 };

static bool make_secret(char text[SECRET_TEXT_BYTES]) {
    uint8_t bytes[SECRET_BYTES];
    FILE *source = fopen("/dev/urandom", "re");
    const bool made = source != NULL && fread(bytes, sizeof(bytes), 1, source) == 1;
    if (source != NULL) {
        fclose(source);
    }
    if (made) {
        hex_text(bytes, SECRET_BYTES, text);
    }
    return made;
}

static int fill_limits(Cli *cli, const TokenOptions *options, TokenRow *row) {
    const TokenWord *word;
    row->limits = USE_LIMITS_NONE;
    for (size_t i = 0; (word = token_file_word(i)) != NULL; i++) {
        const char *text = options->limit[i];
        uint64_t *limit = (uint64_t *)(void *)((char *)&row->limits + word->offset);
        if (text != NULL && !token_file_read_limit(word, text, strlen(text), limit)) {
            return cli_fail(cli, EXIT_USAGE, "--%s takes a number of at least 1%s", word->name,
                            word->is_bytes ? ", which may end in K, M, G or T" : "");
        }
    }
    return EXIT_DONE;
}

static int fill_row(Cli *cli, const TokenOptions *options, const char *name, TokenRow *row) {
    *row = (TokenRow){0};
    row->is_uid = token_file_is_uid(name, &row->uid);
    if (!row->is_uid && !token_file_takes_name(name)) {
        return cli_fail(cli, EXIT_USAGE,
                        "a name has letters, digits and . _ - and at most %d of them, or is uid:N",
                        TOKEN_NAME_BYTES - 1);
    }
    if (options->rights == NULL ||
        !rights_parse(options->rights, strlen(options->rights), &row->rights)) {
        return cli_fail(cli, EXIT_USAGE,
                        "--rights takes some of watch, step, record, delete and admin, with commas "
                        "between them, or none");
    }
    const char *space = options->space != NULL ? options->space : TOKEN_SPACE_DEFAULT;
    if (!token_file_takes_name(space)) {
        return cli_fail(cli, EXIT_USAGE, "--namespace takes letters, digits and . _ -");
    }
    snprintf(row->name, sizeof(row->name), "%s", name);
    snprintf(row->space, sizeof(row->space), "%s", space);
    return fill_limits(cli, options, row);
}

static json_t *describe_row(const TokenRow *row) {
    json_t *rights = json_array();
    const char *name;
    uint32_t right;
    for (size_t i = 0; (name = rights_name(i, &right)) != NULL; i++) {
        if (row->rights & right) {
            json_array_append_new(rights, json_string(name));
        }
    }
    return json_pack("{s:s, s:o, s:s}", "name", row->name, "rights", rights, "namespace",
                     row->space);
}

static int add(Cli *cli, const TokenOptions *options, const char *name) {
    TokenRow row;
    Ledger ledger;
    char secret[SECRET_TEXT_BYTES] = "", line[TOKEN_LINE_BYTES];
    int status = fill_row(cli, options, name, &row);
    if (status != EXIT_DONE) {
        return status;
    }
    if (!row.is_uid && (!make_secret(secret) || !digest_of(secret, strlen(secret), row.digest))) {
        return cli_fail(cli, EXIT_REFUSED, "this machine gives no random numbers");
    }
    status = open_ledger(cli, &ledger, options->tokens, true);
    if (status == EXIT_DONE && token_file_find(&ledger.file, name) != NULL) {
        status = cli_fail(cli, EXIT_REFUSED,
                          "%s is in %s already: revoke it first, which ends what it does now", name,
                          options->tokens);
    }
    if (status == EXIT_DONE) {
        token_file_print(&row, line);
        status = save_ledger(cli, &ledger, ledger.file.end, ledger.file.end, line,
                             ledger.file.count + 1);
    }
    close_ledger(&ledger);
    if (status == EXIT_DONE && cli->json) {
        json_t *document = describe_row(&row);
        if (!row.is_uid) {
            json_object_set_new(document, "token", json_string(secret));
        }
        cli_print(cli, document);
    } else if (status == EXIT_DONE && !row.is_uid) {
        printf("%s\n", secret);
    }
    return status;
}

// ---- list, revoke

static int list(Cli *cli, const TokenOptions *options) {
    Ledger ledger;
    const int status = open_ledger(cli, &ledger, options->tokens, false);
    json_t *rows = json_array();
    for (size_t i = 0; status == EXIT_DONE && i < ledger.file.count; i++) {
        const TokenRow *row = &ledger.file.row[i];
        char rights[RIGHTS_TEXT_BYTES];
        rights_print(row->rights, rights);
        if (cli->json) {
            json_array_append_new(rows, describe_row(row));
        } else {
            printf("%-16s %-32s %s\n", row->name, rights, row->space);
        }
    }
    close_ledger(&ledger);
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, json_pack("{s:O}", "tokens", rows));
    }
    json_decref(rows);
    return status;
}

static int take_away(Cli *cli, const TokenOptions *options, const char *name) {
    Ledger ledger;
    int status = open_ledger(cli, &ledger, options->tokens, false);
    const TokenRow *row = status == EXIT_DONE ? token_file_find(&ledger.file, name) : NULL;
    if (status == EXIT_DONE && row == NULL) {
        status = cli_fail(cli, EXIT_REFUSED, "%s has no token of %s", options->tokens, name);
    }
    if (row != NULL) {
        status = save_ledger(cli, &ledger, row->begin, row->end, "", ledger.file.count - 1);
    }
    close_ledger(&ledger);
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, json_pack("{s:s}", "revoked", name));
    }
    return status;
}

// ---- the command

static int dispatch(Cli *cli, const OptionList *words, const TokenOptions *options) {
    static const char *const verbs[] = {"new", "list", "revoke"};
    const char *verb = words->item[0], *name = words->item[1];
    const bool is_list = strcmp(verb, "list") == 0, is_new = strcmp(verb, "new") == 0;
    if (!is_list && !is_new && strcmp(verb, "revoke") != 0) {
        Nearest nearest = {.typed = verb};
        char hint[NEAREST_HINT_BYTES];
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
            nearest_offer(&nearest, verbs[i]);
        }
        return cli_fail(cli, EXIT_USAGE, "moreau token knows new, list and revoke, not %s%s", verb,
                        nearest_hint(&nearest, hint));
    }
    if (words->count != (is_list ? 1u : 2u)) {
        return cli_fail(cli, EXIT_USAGE, "moreau token %s takes %s", verb,
                        is_list ? "no name" : "one name");
    }
    if (options->tokens == NULL) {
        return cli_fail(cli, EXIT_USAGE, "--tokens FILE is needed: the server's");
    }
    if (!is_new && (options->rights != NULL || options->space != NULL)) {
        return cli_fail(cli, EXIT_USAGE, "--rights and --namespace are for moreau token new");
    }
    return is_list  ? list(cli, options)
           : is_new ? add(cli, options, name)
                    : take_away(cli, options, name);
}

int command_token(Cli *cli, int argc, char **argv) {
    TokenOptions options = {0};
    const Option table[] = {
        {"--tokens", OPTION_TEXT, &options.tokens, "FILE", "the server's file of tokens"},
        {"--rights", OPTION_TEXT, &options.rights, "R,...",
         "what it allows: watch, step, record, delete, admin; or none"},
        {"--namespace", OPTION_TEXT, &options.space, "NAME",
         "of what it makes and sees; default: default"},
        {"--worlds", OPTION_TEXT, &options.limit[0], "N", "worlds at once, those of groups too"},
        {"--bytes", OPTION_TEXT, &options.limit[1], "BYTES",
         "memory of its worlds, groups and snapshots, as 8G"},
        {"--requests", OPTION_TEXT, &options.limit[2], "N", "requests under way at once"},
        {"--log", OPTION_TEXT, &options.limit[3], "BYTES",
         "recordings of its namespace, in bytes; one that reaches it ends"},
        {"--episodes", OPTION_TEXT, &options.limit[4], "N",
         "episodes of its namespace; a recording that goes beyond ends"},
        {"--lanes", OPTION_TEXT, &options.limit[5], "N",
         "lanes that work for it at once, up to 255; what is beyond waits"},
        {"--weight", OPTION_TEXT, &options.limit[6], "N",
         "turns on the lanes for each of another token's, up to 100; default 1"},
    };
    OptionList words = {0};
    const int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])},
                                 argc, argv, 1, 2, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    umask(0077); // a new file is its owner's alone
    return dispatch(cli, &words, &options);
}
