// SPDX-License-Identifier: MIT
// Options: every flag, the file, who wins, what is refused and in which words.
#include "options.h"

#include "support/suite.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 40 };

static Options options;
static Error error;
static char file_path[] = "/tmp/moreau-options-XXXXXX";

// Writes the file that a test needs; it goes with the test.
static void write_file(const char *text, size_t bytes) {
    int fd = mkstemp(file_path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, bytes), (long)bytes);
    close(fd);
}

static void remove_file(void) {
    unlink(file_path);
}

// Parses words separated by spaces; "@" is the path of the file.
static OptionsResult parse_to(const char *line, FILE *out) {
    static char words[2000];
    static char program[] = "moreau-server";
    char *argv[ARGUMENTS_MAX] = {program};
    int argc = 1;
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = strcmp(word, "@") == 0 ? file_path : word;
    }
    error = (Error){0};
    return options_parse(&options, argc, argv, out, &error);
}

static OptionsResult parse(const char *line) {
    return parse_to(line, stdout);
}

static uint64_t limit_named(const char *name) {
    OptionsLimit limit;
    for (size_t i = 0; options_limit(&options, i, &limit); i++) {
        if (strcmp(limit.name, name) == 0) {
            return limit.value;
        }
    }
    ck_abort_msg("no limit is called %s", name);
    return 0;
}

START_TEST(what_is_merged_are_files) {
    ck_assert_int_eq(parse("--merge all.db first.db second.db"), OPTIONS_RUN);
    ck_assert_str_eq(options.merge, "all.db");
    ck_assert_uint_eq(options.merge_count, 2);
    ck_assert_str_eq(options.merge_from[1], "second.db");
    ck_assert_int_eq(parse("--merge all.db"), OPTIONS_WRONG);
    ck_assert_ptr_nonnull(strstr(error.message, "--merge all.db FILE"));
    ck_assert_int_eq(parse("first.db"), OPTIONS_WRONG);
    ck_assert_ptr_nonnull(strstr(error.message, "no option"));
}
END_TEST

START_TEST(the_defaults_are_those_that_the_documents_promise) {
    ck_assert_int_eq(parse(""), OPTIONS_RUN);
    ck_assert_uint_eq(options.listen_count, 1);
    ck_assert_str_eq(options.listen[0], "127.0.0.1:7667");
    ck_assert_str_eq(options.http, ""); // nowhere
    ck_assert_uint_eq(options.http_connections_max, 64);
    ck_assert_uint_eq(options.ready_fd, OPTIONS_NO_FD);
    ck_assert_int_eq(options.log_level, REPORT_INFO);
    ck_assert_str_eq(options_token(&options), "");
    ck_assert_uint_eq(options.frame_bytes_max, 16u << 20);
    ck_assert_uint_eq(options.connections_max, 1024);
    ck_assert_uint_eq(options.requests_max, 64);
    ck_assert_uint_eq(options.unsent_bytes_max, 64u << 20);
    ck_assert_uint_eq(options.write_timeout_ms, 30000);
    ck_assert_uint_eq(options.hello_timeout_ms, 10000);
    ck_assert_uint_eq(options.worlds_max, 65536);
    ck_assert_uint_eq(options.session_worlds_max, 65536);
    ck_assert_uint_eq(options.bodies_max, 1000000);
    ck_assert_uint_eq(options.kept_bytes_max, 32u << 20);
    ck_assert_uint_eq(options.session_grace_ms, 30000);
    ck_assert_uint_eq(options.drain_timeout_ms, 10000);
    // what the machine decides is decided
    ck_assert_uint_ge(options.workers, 1);
    ck_assert_uint_ge(options.memory_bytes_max, 1u << 20);
}
END_TEST

static const struct {
    const char *line;
    const char *limit; // NULL: workers
    uint64_t value;
} numbers[] = {
    {"--workers 7", NULL, 7},
    {"--workers=1024", NULL, 1024},
    {"--workers 7 --workers 9", NULL, 9}, // the last word counts
    {"--frame-bytes-max 8192", "frame-bytes-max", 8192},
    {"--frame-bytes-max 8K", "frame-bytes-max", 8192},
    {"--frame-bytes-max 8k", "frame-bytes-max", 8192},
    {"--frame-bytes-max 8Ki", "frame-bytes-max", 8192},
    {"--frame-bytes-max=8KiB", "frame-bytes-max", 8192},
    {"--unsent-bytes-max 3M", "unsent-bytes-max", 3u << 20},
    {"--kept-bytes-max 5M", "kept-bytes-max", 5u << 20},
    {"--memory-bytes-max 5GiB", "memory-bytes-max", UINT64_C(5) << 30},
    {"--memory-bytes-max 1T", "memory-bytes-max", UINT64_C(1) << 40},
    {"--connections-max 10", "connections-max", 10},
    {"--http-connections-max 16", "http-connections-max", 16},
    {"--requests-max 11", "requests-max", 11},
    {"--write-timeout-ms 12", "write-timeout-ms", 12},
    {"--hello-timeout-ms 18", "hello-timeout-ms", 18},
    {"--worlds-max 13", "worlds-max", 13},
    {"--session-worlds-max 14", "session-worlds-max", 14},
    {"--bodies-max 15", "bodies-max", 15},
    {"--work-timeout-ms 14", "work-timeout-ms", 14},
    {"--session-grace-ms 0", "session-grace-ms", 0},
    {"--drain-timeout-ms 17", "drain-timeout-ms", 17},
};

START_TEST(a_number_arrives_where_it_belongs) {
    ck_assert_msg(parse(numbers[_i].line) == OPTIONS_RUN, "%s", error.message);
    uint64_t value = numbers[_i].limit == NULL ? options.workers : limit_named(numbers[_i].limit);
    ck_assert_uint_eq(value, numbers[_i].value);
}
END_TEST

START_TEST(texts_levels_and_addresses_arrive) {
    write_file("secret\n", 7);
    ck_assert_msg(parse("--listen 127.0.0.1:0 --listen unix:/tmp/x --listen=[::1]:5 --ready-fd 3 "
                        "--http 127.0.0.1:7668 "
                        "--token-file @ "
                        "--log-level debug --log-file /tmp/log") == OPTIONS_RUN,
                  "%s", error.message);
    ck_assert_uint_eq(options.listen_count, 3);
    ck_assert_str_eq(options.http, "127.0.0.1:7668");
    ck_assert(!options.http_is_exposed);
    ck_assert_str_eq(options.listen[0], "127.0.0.1:0");
    ck_assert_str_eq(options.listen[1], "unix:/tmp/x");
    ck_assert_str_eq(options.listen[2], "[::1]:5");
    ck_assert_uint_eq(options.ready_fd, 3);
    ck_assert_int_eq(options.log_level, REPORT_DEBUG);
    ck_assert_str_eq(options.log_file, "/tmp/log");
    ck_assert_str_eq(options_token(&options), "secret");
}
END_TEST

START_TEST(a_parent_is_the_reading_end_of_a_pipe) {
    static const char *const says[] = {NULL, "is the writing end of a pipe", "is no pipe",
                                       "is not open"};
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const int null = open("/dev/null", O_RDONLY), gone = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(gone, 0);
    close(gone);
    const int fd[] = {ends[0], ends[1], null, gone};
    for (size_t i = 0; i < 4; i++) {
        char line[40];
        snprintf(line, sizeof(line), "--parent-fd %d", fd[i]);
        ck_assert_int_eq(parse(line), i == 0 ? OPTIONS_RUN : OPTIONS_WRONG);
        ck_assert_msg(i == 0 || strstr(error.message, says[i]) != NULL, "%s", error.message);
    }
    close(ends[0]), close(ends[1]), close(null);
}
END_TEST

static const struct {
    const char *line;
    const char *says; // stands in the sentence
} wrongs[] = {
    {"--worker 3", "did you mean --workers?"},
    {"--conections-max 3", "did you mean --connections-max?"},
    {"--frame-byte-max=3", "did you mean --frame-bytes-max?"},
    {"--zzzzzzzz", "--help"},
    {"--a-name-that-is-much-longer-than-any-of-ours-could-ever-be", "--help"},
    {"--", "There is no option"},
    {"workers", "two dashes: --workers VALUE."},
    {"-workers=3", "two dashes: --workers=3."},
    {"--viewer page.html", "viewer is the page that --http shows: say where, as --http"},
    {"-h", "two dashes"},
    {"scene.json", "two dashes"},
    {"--workers", "--workers N"},
    {"--workers=", "from 0 to 1024"},
    {"--workers 1025", "from 0 to 1024"},
    {"--workers -1", "from 0 to 1024"},
    {"--workers 2x", "not '2x'"},
    {"--workers 2K", "not '2K'"},
    {"--workers 18446744073709551617", "from 0 to 1024"},
    {"--frame-bytes-max 16777216T", "frame-bytes-max"},
    {"--frame-bytes-max 16MB", "16MB"}, // 10^6 or 2^20? nobody knows
    {"--frame-bytes-max M", "'M'"},
    {"--frame-bytes-max 8191", "from 8192"},
    {"--frame-bytes-max 2G", "frame-bytes-max"},
    {"--requests-max 0", "from 1"},
    {"--log-level loud", "error, warn, info or debug"},
    {"--log-file=", "path"},
    {"--listen 127.0.0.1", "port"},
    {"--listen 127.0.0.1:99999", "ports end at 65535"},
    {"--http [::1]:65536", "ports end at 65535"},
    {"--listen 127.0.0.1:99999999999999999999", "ports end at 65535"},
    {"--listen 127.0.0.1:x", "has no port"},
    {"--listen example.org:1", "numeric"},
    {"--listen 0.0.0.0:7667", "--token-file"},
    {"--listen 127.0.0.1:1 --listen [::]:7667", "--token-file"},
    {"--token-file /nonexistent/token", "cannot be read"},
    {"--listen 0.0.0.0:1 --token-file @", "--tls-cert"},
    {"--listen 0.0.0.0:1 --token-file @", "--insecure-plain"},
    {"--insecure-plain=maybe", "yes or no"},
    {"--tls-cert /a", "go together"},
    {"--tls-client-ca /a", "--tls-cert"},
    {"--config /nonexistent/config", "cannot be read"},
};

START_TEST(what_is_wrong_is_said_in_a_sentence) {
    ck_assert_int_eq(parse(wrongs[_i].line), OPTIONS_WRONG);
    ck_assert_int_eq(error.status, STATUS_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, wrongs[_i].says) != NULL, "'%s' is not in: %s",
                  wrongs[_i].says, error.message);
    size_t bytes = strlen(error.message);
    ck_assert_msg(strchr(".?", error.message[bytes - 1]) != NULL, "no sentence: %s", error.message);
}
END_TEST

START_TEST(sixteen_addresses_are_the_most) {
    char line[1000] = "";
    for (int i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        strcat(line, "--listen 127.0.0.1:0 ");
    }
    ck_assert_int_eq(parse(line), OPTIONS_RUN);
    ck_assert_uint_eq(options.listen_count, OPTIONS_LISTEN_MAX);
    strcat(line, "--listen 127.0.0.1:0");
    ck_assert_int_eq(parse(line), OPTIONS_WRONG);
    ck_assert_ptr_nonnull(strstr(error.message, "16"));
}
END_TEST

START_TEST(flags_win_over_the_file_and_the_file_over_the_defaults) {
    static const char good[] =
        "; a comment\nworkers = 3\nrequests-max = 5\n\n[server]\nframe-bytes-max = 2 MiB\n"
        "listen = 127.0.0.1:1\nlisten = 127.0.0.1:2\nlog-level = warn\n";
    write_file(good, sizeof(good) - 1);
    ck_assert_msg(parse("--requests-max 6 --config @") == OPTIONS_RUN, "%s", error.message);
    ck_assert_uint_eq(options.workers, 3);
    ck_assert_uint_eq(options.requests_max, 6);
    ck_assert_uint_eq(options.frame_bytes_max, 2u << 20);
    ck_assert_uint_eq(options.connections_max, 1024);
    ck_assert_int_eq(options.log_level, REPORT_WARN);
    ck_assert_uint_eq(options.listen_count, 2);
    ck_assert_str_eq(options.listen[1], "127.0.0.1:2");
    // addresses on the command line replace those of the file
    ck_assert_int_eq(parse("--config @ --listen unix:/x"), OPTIONS_RUN);
    ck_assert_uint_eq(options.listen_count, 1);
    ck_assert_str_eq(options.listen[0], "unix:/x");
}
END_TEST

static const struct {
    const char *text;
    const char *says;
} files[] = {
    {"workers = 3\nworker = 4\n", ":2: There is no option worker; did you mean workers?"},
    {"[server]\n\nworkers = many\n", ":3: workers takes"},
    {"[client]\nworkers = 3\n", "[client]"},
    {"config = other.ini\n", "command line"},
    {"help = yes\n", "command line"},
    {"listen = 0.0.0.0:1\n", "--token-file"},
    {"nonsense\n", ":1: "},
    {"--workers = 3\n", "There is no option"},
};

START_TEST(what_is_wrong_in_the_file_is_said_with_its_line) {
    write_file(files[_i].text, strlen(files[_i].text));
    ck_assert_int_eq(parse("--config @"), OPTIONS_WRONG);
    ck_assert_msg(strstr(error.message, files[_i].says) != NULL, "'%s' is not in: %s",
                  files[_i].says, error.message);
}
END_TEST

START_TEST(a_token_opens_the_server_to_other_machines) {
    write_file(" \t our secret\t\r\nanother line\n", 29);
    ck_assert_msg(parse("--listen 0.0.0.0:1 --listen [::]:1 --token-file @ --insecure-plain") ==
                      OPTIONS_RUN,
                  "%s", error.message);
    ck_assert_str_eq(options_token(&options), "our secret");
}
END_TEST

// A text of the protocol has at most 255 bytes, and a longer token could be shown by nobody.
START_TEST(a_token_has_one_to_255_bytes) {
    static const struct {
        size_t bytes;
        OptionsResult result;
    } cases[] = {{0, OPTIONS_WRONG},   {1, OPTIONS_RUN},     {255, OPTIONS_RUN},
                 {256, OPTIONS_WRONG}, {300, OPTIONS_WRONG}, {9000, OPTIONS_WRONG}};
    static char text[10000];
    memset(text, 't', cases[_i].bytes);
    text[cases[_i].bytes] = '\n';
    write_file(text, cases[_i].bytes + 1);
    ck_assert_int_eq(parse("--token-file @"), cases[_i].result);
    if (cases[_i].result == OPTIONS_RUN) {
        ck_assert_uint_eq(strlen(options_token(&options)), cases[_i].bytes);
    }
    if (cases[_i].bytes == 300) {
        ck_assert_ptr_nonnull(strstr(error.message, "300 bytes"));
        ck_assert_ptr_nonnull(strstr(error.message, "at most 255"));
    }
}
END_TEST

static const struct {
    const char *text;
    const char *token; // NULL: refused
} token_files[] = {
    {"", NULL},
    {"\n", NULL},
    {"   \n", NULL},
    {"\nsecond line\n", NULL},
    {"bare", "bare"},
    {"line\n", "line"},
    {"dos\r\n", "dos"},
    {"  around \n\n", "around"},
    {"caf\xc3\xa9\n", "caf\xc3\xa9"},
    {"caf\xe9\n", NULL}, // which is no UTF-8
};

START_TEST(a_token_is_the_first_line_without_its_end) {
    write_file(token_files[_i].text, strlen(token_files[_i].text));
    const char *token = token_files[_i].token;
    ck_assert_int_eq(parse("--token-file @"), token == NULL ? OPTIONS_WRONG : OPTIONS_RUN);
    if (token != NULL) {
        ck_assert_str_eq(options_token(&options), token);
    }
}
END_TEST

START_TEST(a_token_file_that_others_may_use_is_noticed) {
    static const struct {
        mode_t mode;
        uint32_t exposed;
    } cases[] = {{0600, 0}, {0400, 0}, {0640, 0640}, {0644, 0644}, {0602, 0602}};
    write_file("secret\n", 7);
    ck_assert_int_eq(chmod(file_path, cases[_i].mode), 0);
    ck_assert_int_eq(parse("--token-file @"), OPTIONS_RUN);
    ck_assert_uint_eq(options.token_mode_exposed, cases[_i].exposed);
}
END_TEST

START_TEST(a_token_with_a_zero_byte_is_refused) {
    write_file("se\0cret", 7);
    ck_assert_int_eq(parse("--token-file @"), OPTIONS_WRONG);
    ck_assert_ptr_nonnull(strstr(error.message, "zero byte"));
}
END_TEST

static char *print_of(const char *line, OptionsResult expected) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    ck_assert_int_eq(parse_to(line, out), expected);
    fclose(out);
    return text;
}

// Lines that were broken are whole again; none was longer than a terminal.
static void unwrap(char *text) {
    size_t column = 0, to = 0;
    for (const char *at = text; *at != '\0'; at++) {
        column = *at == '\n' ? 0 : column + 1;
        ck_assert_uint_le(column, 80);
        text[to] = *at == '\n' ? ' ' : *at;
        to += *at == ' ' && to > 0 && text[to - 1] == ' ' ? 0 : 1;
    }
    text[to] = '\0';
}

START_TEST(help_names_every_limit_with_its_meaning_and_exits) {
    char *help = print_of("--workers 3 --help --nonsense", OPTIONS_EXIT);
    unwrap(help);
    ck_assert_int_eq(parse(""), OPTIONS_RUN);
    OptionsLimit limit;
    size_t count = 0;
    for (; options_limit(&options, count, &limit); count++) {
        char flag[64];
        snprintf(flag, sizeof(flag), "--%s ", limit.name);
        ck_assert_ptr_nonnull(strstr(help, flag));
        ck_assert_ptr_nonnull(strstr(help, limit.meaning));
        ck_assert_ptr_nonnull(limit.unit);
    }
    ck_assert_uint_ge(count, 11);
    ck_assert_ptr_nonnull(strstr(help, "(default 16 MiB; 8 KiB to 1 GiB)"));
    ck_assert_ptr_nonnull(strstr(help, "(default 127.0.0.1:7667)"));
    ck_assert_ptr_nonnull(strstr(help, "may do everything to every world"));
    ck_assert_ptr_nonnull(strstr(help, "ssh -L 7667:127.0.0.1:7667 HOST"));
    free(help);
}
END_TEST

START_TEST(version_is_one_line) {
    char *version = print_of("--version", OPTIONS_EXIT);
    ck_assert_int_eq(strncmp(version, "moreau-server ", 14), 0);
    ck_assert_ptr_eq(strchr(version, '\n'), version + strlen(version) - 1);
    free(version);
}
END_TEST

#define COUNT(items) ((int)(sizeof(items) / sizeof((items)[0])))

static TCase *case_values(void) {
    TCase *tcase = tcase_create("values");
    tcase_add_checked_fixture(tcase, NULL, remove_file);
    tcase_add_test(tcase, what_is_merged_are_files);
    tcase_add_test(tcase, the_defaults_are_those_that_the_documents_promise);
    tcase_add_loop_test(tcase, a_number_arrives_where_it_belongs, 0, COUNT(numbers));
    tcase_add_test(tcase, texts_levels_and_addresses_arrive);
    tcase_add_test(tcase, a_parent_is_the_reading_end_of_a_pipe);
    tcase_add_loop_test(tcase, what_is_wrong_is_said_in_a_sentence, 0, COUNT(wrongs));
    tcase_add_test(tcase, sixteen_addresses_are_the_most);
    return tcase;
}

static TCase *case_files(void) {
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, NULL, remove_file);
    tcase_add_test(tcase, flags_win_over_the_file_and_the_file_over_the_defaults);
    tcase_add_loop_test(tcase, what_is_wrong_in_the_file_is_said_with_its_line, 0, COUNT(files));
    tcase_add_test(tcase, a_token_opens_the_server_to_other_machines);
    tcase_add_loop_test(tcase, a_token_has_one_to_255_bytes, 0, 6);
    tcase_add_loop_test(tcase, a_token_is_the_first_line_without_its_end, 0, COUNT(token_files));
    tcase_add_loop_test(tcase, a_token_file_that_others_may_use_is_noticed, 0, 5);
    tcase_add_test(tcase, a_token_with_a_zero_byte_is_refused);
    return tcase;
}

static TCase *case_print(void) {
    TCase *tcase = tcase_create("print");
    tcase_add_test(tcase, help_names_every_limit_with_its_meaning_and_exits);
    tcase_add_test(tcase, version_is_one_line);
    return tcase;
}

SUITE_MAIN("system/options", case_values, case_files, case_print)
