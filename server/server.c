// SPDX-License-Identifier: MIT
#include "server.h"

#include "access/access.h"
#include "api/api.h"
#include "base/utf8.h"
#include "os/clock.h"
#include "os/secret.h"
#include "os/trail.h"
#include "http/http.h"
#include "long_work.h"
#include "metrics.h"
#include "net/listener.h"
#include "net/tls/rate.h"
#include "page_file.h"
#include "peers.h"
#include "run/groups/farm.h"
#include "run/worlds/host.h"
#include "run/groups/snapshot_store.h"
#include "run/lanes/lane.h"
#include "run/worlds/selftest.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

// Beside the memory budget, all lanes of both pools together take at most one part of it in so many
// while they step or solve (one alone may take it all), and frames that wait to be sent, or for
// their last byte, one in so many.
enum { SCRATCH_MEMORY_SHARE = 2, NET_MEMORY_SHARE = 4 };

enum {
    LIMIT_COUNT_MAX = 32,
    SIGNAL_COUNT = 3,
    DRAIN_LOOK_MS = 5,
    AUDIT_RETRY_MS = 500,
    BACKGROUND_NICENESS = 10
};

#define DAY_NS UINT64_C(86400000000000)

typedef enum ServerState { SERVER_STARTING, SERVER_READY, SERVER_DRAINING } ServerState;

typedef struct Server {
    const Options *options;
    ServerState state;
    uv_loop_t loop;
    Report report;
    Budget scratch; // of all lanes
    Pool *pool;
    Pool *background;
    GeometryShelf *shelf; // of all worlds; goes when they are gone
    Host *host;
    Farm *farm; // the host's
    SnapshotStore *snapshots;
    const SealKey *seal_key; // borrowed; NULL: nothing is signed
    Log *log;                // NULL: no --db
    Api *api;
    Net *net;
    bool speaks_tls;
    TlsIdentity *identity; // until the net has it
    Listener *listener[OPTIONS_LISTEN_MAX];
    char *db;   // owned; NULL: no file of episodes, or nobody knows where it is
    Http *http; // NULL: no pages
    const char *http_name[OPTIONS_HOSTS_MAX];
    char *page; // NULL: none is shown
    Access *access;
    bool http_speaks_tls;
    TlsRate http_rate;
    char http_address[OPTIONS_ADDRESS_BYTES + 32]; // HOST:PORT, behind https:// under TLS
    Listener *http_listener;                       // NULL: closed
    ApiLimit limit[LIMIT_COUNT_MAX];
    size_t limit_count;
    uv_signal_t signal[SIGNAL_COUNT];
    uv_pipe_t parent; // whose end is that of who started us
    bool has_parent, is_orphan;
    uv_timer_t drain_timer;
    Trail *audit;            // Nullable
    uv_prepare_t audit_due;  // before the loop sleeps
    uv_timer_t audit_retry;  // for what the disk did not take
    uint64_t drain_begun_ns; // 0: not draining
    bool has_cancelled;
} Server;

// ---- shutdown: whatever could still hand work to the lanes stops; then http and net, the pools,
// host, log and api go, each when the one before is gone

static void on_api_closed(void *context) {
    Server *server = context;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        uv_close((uv_handle_t *)&server->signal[i], NULL);
    }
    uv_close((uv_handle_t *)&server->drain_timer, NULL);
    uv_close((uv_handle_t *)&server->audit_due, NULL);
    uv_close((uv_handle_t *)&server->audit_retry, NULL);
    if (server->has_parent) {
        uv_close((uv_handle_t *)&server->parent, NULL);
    }
}

static void close_log(Server *server) {
    if (server->log != NULL) {
        log_close(server->log); // what was recorded is in one file from here on
        server->log = NULL;
    }
}

static void on_host_closed(void *context) {
    Server *server = context;
    close_log(server);
    api_close(server->api, on_api_closed, server);
}

static void on_background_closed(void *context) {
    Server *server = context;
    snapshot_store_destroy(server->snapshots);
    host_close(server->host, on_host_closed, server);
}

static void on_pool_closed(void *context) {
    Server *server = context;
    pool_close(server->background, on_background_closed, server);
}

static void on_net_closed(void *context) {
    Server *server = context;
    pool_close(server->pool, on_pool_closed, server);
}

// Nothing is under way any more, and from here on nothing begins.
static void close_rooms(Server *server) {
    api_stop(server->api);
    host_stop(server->host);
    listener_close(server->http_listener);
    if (server->http != NULL) {
        http_close(server->http);
    }
    net_close(server->net, on_net_closed, server);
}

static void close_listeners(Server *server) {
    for (size_t i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        if (server->listener[i] != NULL) {
            listener_close(server->listener[i]);
            server->listener[i] = NULL;
        }
    }
}

static void look_at_drain(uv_timer_t *timer) {
    Server *server = timer->data;
    uint64_t waited_ms = (clock_now_ns() - server->drain_begun_ns) / 1000000u;
    bool is_late = waited_ms >= server->options->drain_timeout_ms;
    uint64_t requests = api_request_count(server->api);
    if (is_late && !server->has_cancelled) {
        server->has_cancelled = true;
        report_line(&server->report, REPORT_WARN, "drain_timeout", "requests=%" PRIu64, requests);
        api_cancel_all(server->api);
    }
    if (requests == 0 && (is_late || net_unsent_bytes(server->net) == 0)) {
        uv_timer_stop(timer);
        close_rooms(server);
    }
}

static void drain(Server *server, const char *why) {
    if (server->drain_begun_ns != 0) {
        return;
    }
    server->state = SERVER_DRAINING; // /readyz fails before anything else does
    report_line(&server->report, REPORT_INFO, "draining", "signal=%s requests=%" PRIu64, why,
                api_request_count(server->api));
    server->drain_begun_ns = clock_now_ns();
    close_listeners(server);
    net_stop_reading(server->net);
    api_begin_drain(server->api);
    uv_timer_start(&server->drain_timer, look_at_drain, 0, DRAIN_LOOK_MS);
}

// ---- who we are under TLS

static void report_identity(const Server *server, const TlsIdentity *identity) {
    const Options *options = server->options;
    const TlsFacts *facts = tls_identity_facts(identity);
    report_line(&server->report, REPORT_INFO, "tls_certificate",
                "file=%s fingerprint=%s begins=%s ends=%s library=\"%s\"", options->tls_cert,
                facts->fingerprint, facts->begins, facts->ends, tls_version());
    if (facts->is_expired || facts->is_early) {
        report_line(&server->report, REPORT_WARN,
                    facts->is_expired ? "tls_certificate_expired" : "tls_certificate_early",
                    "file=%s why=\"by this machine's clock it does not hold now: clients that do "
                    "not go by its fingerprint refuse it\"",
                    options->tls_cert);
    }
    if (facts->key_mode_exposed != 0) {
        report_line(&server->report, REPORT_WARN, "tls_key_exposed",
                    "file=%s mode=%04o why=\"others than its owner may use it: chmod 600\"",
                    options->tls_key, facts->key_mode_exposed);
    }
}

static Status read_identity(const Server *server, TlsIdentity **identity, Error *error) {
    const Options *options = server->options;
    const TlsFiles files = {options->tls_cert, options->tls_key, options->tls_client_ca};
    *identity = NULL;
    const Status status = tls_identity_load(identity, &files, error);
    if (status == STATUS_OK) {
        report_identity(server, *identity);
    }
    return status;
}

// Who is connected keeps what he began with; what cannot be read changes nothing.
static void read_identity_again(Server *server) {
    TlsIdentity *identity;
    Error error = {0};
    if (!server->speaks_tls) {
        return;
    }
    if (read_identity(server, &identity, &error) == STATUS_OK) {
        net_set_identity(server->net, identity);
        if (server->http != NULL) {
            http_read_certificate(server->http);
        }
    } else {
        report_line(&server->report, REPORT_ERROR, "tls_reload",
                    "why=\"%s\" kept=\"the certificate from before\"", error.message);
    }
}

// ---- who is let in

static void report_access(const Server *server) {
    const Options *options = server->options;
    if (!access_has_names(server->access)) {
        return;
    }
    report_line(&server->report, REPORT_INFO, "tokens", "file=%s count=%zu", options->tokens,
                access_count(server->access));
    if (access_exposed_mode(server->access) != 0) {
        report_line(&server->report, REPORT_WARN, "tokens_exposed",
                    "file=%s mode=%04o why=\"others than its owner may read who has which rights: "
                    "chmod 600\"",
                    options->tokens, access_exposed_mode(server->access));
    }
}

// Whoever lost a right is told so in the middle of what he does by it.
static void read_tokens_again(Server *server) {
    Error error = {0};
    if (access_reload(server->access, &error) != STATUS_OK) {
        report_line(&server->report, REPORT_ERROR, "tokens_reload",
                    "why=\"%s\" kept=\"the tokens from before\"", error.message);
        return;
    }
    report_access(server);
    api_review(server->api);
}

static void on_signal(uv_signal_t *handle, int number) {
    Server *server = handle->data;
    if (number != SIGHUP) {
        drain(server, number == SIGTERM ? "SIGTERM" : "SIGINT");
        return;
    }
    Error error = {0};
    read_identity_again(server);
    read_tokens_again(server);
    if (server->audit != NULL && trail_reopen(server->audit, &error) != STATUS_OK) {
        report_line(&server->report, REPORT_ERROR, "audit_reopen", "why=\"%s\"", error.message);
    }
    if (report_reopen(&server->report, &error) != STATUS_OK) {
        report_line(&server->report, REPORT_ERROR, "log_reopen", "why=\"%s\"", error.message);
    } else {
        report_line(&server->report, REPORT_INFO, "log_reopened", "%s", "");
    }
}

// ---- start

// As many descriptors as the system lets us have: one per connection.
static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void collect_limits(Server *server) {
    OptionsLimit limit;
    for (size_t i = 0; i < LIMIT_COUNT_MAX && options_limit(server->options, i, &limit); i++) {
        server->limit[server->limit_count++] = (ApiLimit){
            .name = limit.name, .unit = limit.unit, .meaning = limit.meaning, .value = limit.value};
    }
}

static void report_sandbox(const Server *server, const Sandbox *sandbox) {
    const bool is_off = server->options->sandbox == OPTIONS_SANDBOX_OFF;
    char files[32] = "any";
    if (sandbox->files > 0) {
        snprintf(files, sizeof(files), "landlock-%d", sandbox->files);
    }
    report_line(&server->report, sandbox->why == NULL ? REPORT_INFO : REPORT_WARN, "sandbox",
                "files=%s calls=%s cores=%s%s%s%s", files, sandbox->calls ? "seccomp" : "any",
                sandbox->dumps ? "none" : "any", is_off || sandbox->why != NULL ? " why=\"" : "",
                is_off                 ? "--sandbox off"
                : sandbox->why != NULL ? sandbox->why
                                       : "",
                is_off || sandbox->why != NULL ? "\"" : "");
}

static void warn_of_token(const Server *server) {
    const Options *options = server->options;
    if (options->token_mode_exposed != 0) {
        report_line(&server->report, REPORT_WARN, "token_file_exposed",
                    "file=%s mode=%04o why=\"others than its owner may use it: chmod 600\"",
                    options->token_file, options->token_mode_exposed);
    }
}

// Before the first thread, so that its registers do not hold what is overwritten here.
static Status open_access(Server *server, Options *given, Error *error) {
    const Options *options = server->options;
    const char *path = options->tokens[0] == '\0' ? NULL : options->tokens;
    const Status status = access_create(&server->access, path, options_token(options), error);
    secret_wipe(given->token);
    if (status == STATUS_OK) {
        report_access(server);
    }
    return status;
}

// One that was there before keeps its permissions.
static void warn_of_audit(const Server *server) {
    struct stat info;
    const char *path = server->options->audit_file;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IRWXO) != 0) {
        report_line(&server->report, REPORT_WARN, "audit_exposed",
                    "file=%s mode=%04o why=\"anybody on this machine may read who did what: chmod "
                    "o=\"",
                    path, info.st_mode & 07777u);
    }
}

static Status open_audit(Server *server, Error *error) {
    const Options *options = server->options;
    if (options->audit_file[0] == '\0') {
        return STATUS_OK;
    }
    const Status status =
        trail_open(&server->audit, options->audit_file, options->audit_bytes_max, error);
    if (status == STATUS_OK) {
        warn_of_audit(server);
    }
    return status;
}

static bool computes_golden_bits(const Server *server) {
    bool is_golden = selftest_hash() == selftest_golden();
    if (!is_golden) {
        report_line(&server->report, REPORT_ERROR, "not_golden",
                    "build=\"%s\" why=\"this build computes other bits than others of its dynamics "
                    "version: it records and verifies nothing\"",
                    MOREAU_BUILD);
    }
    return is_golden;
}

static Status open_log(Server *server, Error *error) {
    const Options *options = server->options;
    if (options->db[0] == '\0') {
        return STATUS_OK;
    }
    LogDef log = {.path = options->db,
                  .full_durability = options->full_durability,
                  .queue_bytes_max = options->log_queue_bytes_max,
                  .backup_folder = options->backup_dir[0] == '\0' ? NULL : options->backup_dir,
                  .keep = {.age_ns = options->keep_days * DAY_NS,
                           .bytes = options->keep_bytes,
                           .episodes = options->keep_episodes},
                  .seal_key = server->seal_key,
                  .report = &server->report,
                  .server_version = MOREAU_VERSION,
                  .build = MOREAU_BUILD};
    const Status status = log_open(&server->log, &log, error);
    if (status == STATUS_OK) {
        server->db = realpath(options->db, NULL);
    }
    if (server->db != NULL) {
        utf8_mend(server->db); // it is told, and names of files are any bytes
    }
    return status;
}

// With its guests.
static Status make_host(Server *server, Error *error) {
    const Options *options = server->options;
    server->shelf = geometry_shelf_create();
    if (server->shelf == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    HostDef host = {.worlds_max = (uint32_t)options->worlds_max,
                    .session_worlds_max = (uint32_t)options->session_worlds_max,
                    .limits = {.body_count_max = (uint32_t)options->bodies_max,
                               .bytes_max = options->memory_bytes_max,
                               .shelf = server->shelf},
                    .pool = server->pool,
                    .loop = &server->loop,
                    .report = &server->report};
    Status status = host_create(&server->host, &host, error);
    if (status != STATUS_OK) {
        return status;
    }
    server->farm = farm_create(server->host, server->pool, server->background);
    server->snapshots = snapshot_store_create(server->host);
    if (server->farm == NULL || server->snapshots == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    return STATUS_OK;
}

static Status start_net(Server *server, Error *error) {
    const Options *options = server->options;
    NetDef net = {.tls = {.identity = server->identity,
                          .handshakes_per_s = options->tls_rate_max,
                          .run = long_work_run,
                          .context = server->pool},
                  .frame_bytes_max = options->frame_bytes_max,
                  .connections_max = (uint32_t)options->connections_max,
                  .requests_max = (uint32_t)options->requests_max,
                  .unsent_bytes_max = options->unsent_bytes_max,
                  .held_bytes_max = options->memory_bytes_max / NET_MEMORY_SHARE,
                  .write_timeout_ms = options->write_timeout_ms,
                  .hello_timeout_ms = options->hello_timeout_ms,
                  .handlers = peers_handlers(),
                  .context = server->api,
                  .report = &server->report};
    server->identity = NULL; // the net's
    const Status status = net_create(&server->net, &server->loop, &net, error);
    if (status == STATUS_OK) {
        api_set_peers(server->api, server->net);
    }
    return status;
}

static Status start_rooms(Server *server, Error *error) {
    const Options *options = server->options;
    server->scratch.max_bytes = options->memory_bytes_max / SCRATCH_MEMORY_SHARE;
    PoolDef pool = {.lane_count = (uint32_t)options->workers,
                    .scratch = &server->scratch,
                    .turn_ended = api_lane_turn_ended,
                    .left = api_lane_left};
    Status status = pool_create(&server->pool, &server->loop, &pool, error);
    if (status == STATUS_OK) {
        pool.niceness = BACKGROUND_NICENESS;
        status = pool_create(&server->background, &server->loop, &pool, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = make_host(server, error);
    if (status != STATUS_OK) {
        return status;
    }
    ApiDef api = {.loop = &server->loop,
                  .pool = server->pool,
                  .background = server->background,
                  .host = server->host,
                  .farm = server->farm,
                  .snapshots = server->snapshots,
                  .log = server->log,
                  .report = &server->report,
                  .peers = peers_calls(),
                  .access = server->access,
                  .audit = server->audit,
                  .version = MOREAU_VERSION,
                  .build = MOREAU_BUILD,
                  .is_golden = computes_golden_bits(server),
                  .session_grace_ms = options->session_grace_ms,
                  .work_timeout_ns = options->work_timeout_ms * 1000000u,
                  .frame_bytes_max = options->frame_bytes_max,
                  .memory_bytes_max = options->memory_bytes_max,
                  .lanes = (uint32_t)options->workers,
                  .requests_max = (uint32_t)options->requests_max,
                  .subscriptions_max = (uint32_t)options->subscriptions_max,
                  .kept_bytes_max = options->kept_bytes_max,
                  .limits = server->limit,
                  .limit_count = server->limit_count};
    status = api_create(&server->api, &api, error);
    if (status != STATUS_OK) {
        return status;
    }
    api_set_db(server->api, server->db);
    return start_net(server, error);
}

// ---- pages for operators

static bool is_ready(void *context) {
    const Server *server = context;
    return server->state == SERVER_READY;
}

static void print_metrics(void *context, FILE *out) {
    const Server *server = context;
    MetricsParts parts = {.pool = server->pool,
                          .background = server->background,
                          .host = server->host,
                          .farm = server->farm,
                          .api = server->api,
                          .net = server->net,
                          .log = server->log,
                          // their names are for whoever had to show a token with the right to them
                          .access =
                              server->options->http_is_exposed && access_has_names(server->access)
                                  ? server->access
                                  : NULL,
                          .http_connections = http_connection_count(server->http),
                          .http_viewers = http_viewer_count(server->http)};
    metrics_print(&parts, out);
}

// The library shakes hands on our loop.
static bool may_shake(Server *server, int fd) {
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof(address);
    getpeername(fd, (struct sockaddr *)&address, &bytes);
    return tls_rate_take(&server->http_rate, tls_rate_key(&address), clock_now_ns());
}

static void on_http_accepted(void *context, int fd, const char *peer) {
    Server *server = context;
    if (server->http_speaks_tls && !may_shake(server, fd)) {
        close(fd);
        return;
    }
    http_accept(server->http, fd, peer);
}

static bool may_measure(void *context, const char *token) {
    const Server *server = context;
    const Token *found = access_find(server->access, token, NULL);
    return found != NULL && found->rights & RIGHT_ADMIN;
}

static bool may_watch(void *context, const char *token) {
    const Server *server = context;
    const Token *found = access_find(server->access, token, NULL);
    return found != NULL && found->rights & (RIGHT_WATCH | RIGHT_ADMIN);
}

static void open_viewer(void *context, int fd, const char *peer) {
    Server *server = context;
    net_adopt(server->net, fd, peer, true);
}

static void on_http_refused(void *context, int fd, const char *peer) {
    (void)context, (void)peer; // who asks sees it; a line each would flood the log
    close(fd);
}

// The page that was named, or the one that came with this program. Without any the server serves.
static Status read_page(Server *server, Error *error) {
    const Options *options = server->options;
    char path[PAGE_FILE_PATH_BYTES];
    if (options->viewer[0] != '\0') {
        return page_file_read(options->viewer, &server->page, error);
    }
    if (page_file_find(path) && page_file_read(path, &server->page, error) != STATUS_OK) {
        report_line(&server->report, REPORT_WARN, "viewer", "message=\"%s\"", error->message);
    }
    return STATUS_OK;
}

static Status open_http(Server *server, Error *error) {
    const Options *options = server->options;
    if (options->http[0] == '\0') {
        return STATUS_OK;
    }
    if (read_page(server, error) != STATUS_OK) {
        return error->status;
    }
    for (size_t i = 0; i < options->http_host_count; i++) {
        server->http_name[i] = options->http_host[i];
    }
    const bool is_local = strncmp(options->http, "unix:", strlen("unix:")) == 0;
    server->http_speaks_tls = server->speaks_tls && !is_local;
    server->http_rate.per_s = options->tls_rate_max;
    HttpDef http = {
        .loop = &server->loop,
        .tls = {.certificate = server->http_speaks_tls ? options->tls_cert : NULL,
                .key = options->tls_key,
                .client_ca = options->tls_client_ca[0] == '\0' ? NULL : options->tls_client_ca},
        .name = server->http_name,
        .name_count = options->http_host_count,
        .takes_any_host = is_local,
        .guards_metrics = options->http_is_exposed && access_demands(server->access),
        .demands_token = access_demands(server->access),
        .may_measure = may_measure,
        .may_watch = may_watch,
        .page = server->page,
        .connections_max = (uint32_t)options->http_connections_max,
        .viewers_max = (uint32_t)options->http_viewers_max,
        .is_ready = is_ready,
        .print_metrics = print_metrics,
        .open_viewer = open_viewer,
        .context = server};
    Status status = http_create(&server->http, &http, error);
    if (status != STATUS_OK) {
        return status;
    }
    ListenerDef listener = {.loop = &server->loop,
                            .report = &server->report,
                            .accepted = on_http_accepted,
                            .refused = on_http_refused,
                            .context = server};
    status = listener_open_for(&listener, options->http, &server->http_listener, error);
    if (status == STATUS_OK) {
        snprintf(server->http_address, sizeof(server->http_address), "%s%s",
                 server->http_speaks_tls ? "https://" : "",
                 listener_address(server->http_listener));
        report_line(&server->report, REPORT_INFO, "http", "address=%s", server->http_address);
        api_set_http(server->api, server->http_address);
    }
    return status;
}

// ---- listening

// As a client would write it.
static void print_address(const Server *server, const Listener *listener,
                          char text[OPTIONS_ADDRESS_BYTES + 32]) {
    const char *address = listener_address(listener);
    const bool is_secure = server->speaks_tls && strncmp(address, "unix:", strlen("unix:")) != 0;
    snprintf(text, OPTIONS_ADDRESS_BYTES + 32, "%s%s", is_secure ? "tls://" : "", address);
}

static Status open_listeners(Server *server, Error *error) {
    for (size_t i = 0; i < server->options->listen_count; i++) {
        Status status =
            listener_open(server->net, server->options->listen[i], &server->listener[i], error);
        if (status != STATUS_OK) {
            return status;
        }
        char address[OPTIONS_ADDRESS_BYTES + 32];
        print_address(server, server->listener[i], address);
        report_line(&server->report, REPORT_INFO, "listening", "address=%s", address);
    }
    return STATUS_OK;
}

static void on_audit_retry(uv_timer_t *timer) {
    (void)timer; // the loop has turned, which is all
}

static void on_audit_due(uv_prepare_t *prepare) {
    Server *server = prepare->data;
    if (api_write_audit(server->api) && !uv_is_active((uv_handle_t *)&server->audit_retry)) {
        uv_timer_start(&server->audit_retry, on_audit_retry, AUDIT_RETRY_MS, 0);
        uv_unref((uv_handle_t *)&server->audit_retry);
    }
}

static void watch_audit(Server *server) {
    uv_prepare_init(&server->loop, &server->audit_due);
    uv_timer_init(&server->loop, &server->audit_retry);
    server->audit_due.data = server;
    if (server->audit != NULL) {
        uv_prepare_start(&server->audit_due, on_audit_due);
        uv_unref((uv_handle_t *)&server->audit_due);
    }
}

static void watch_signals(Server *server) {
    const int numbers[SIGNAL_COUNT] = {SIGTERM, SIGINT, SIGHUP};
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        uv_signal_init(&server->loop, &server->signal[i]);
        server->signal[i].data = server;
        uv_signal_start(&server->signal[i], on_signal, numbers[i]);
    }
    uv_timer_init(&server->loop, &server->drain_timer);
    server->drain_timer.data = server;
}

// ---- who started us

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room) {
    static char ignored[64]; // nothing that comes says anything
    (void)handle, (void)suggested;
    *room = uv_buf_init(ignored, sizeof(ignored));
}

static void on_parent(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes) {
    Server *server = stream->data;
    (void)bytes;
    if (count < 0) {
        uv_read_stop(stream);
        server->is_orphan = true;
        drain(server, "parent");
    }
}

static Status watch_parent(Server *server, Error *error) {
    const uint64_t fd = server->options->parent_fd;
    if (fd == OPTIONS_NO_FD) {
        return STATUS_OK;
    }
    uv_pipe_init(&server->loop, &server->parent, false);
    server->parent.data = server;
    server->has_parent = true;
    int failed = uv_pipe_open(&server->parent, (uv_file)fd);
    failed =
        failed == 0 ? uv_read_start((uv_stream_t *)&server->parent, give_room, on_parent) : failed;
    return failed == 0 ? STATUS_OK
                       : error_set(error, STATUS_INVALID_ARGUMENT, "parent-fd",
                                   "--parent-fd %" PRIu64 " is no pipe that can be read: %s.", fd,
                                   uv_strerror(failed));
}

// Nobody is left who would clear up. What is not empty is somebody's, and stays.
static void clear_up(const Options *options) {
    if (options->log_file[0] != '\0') {
        unlink(options->log_file);
    }
    for (size_t i = 0; i < options->listen_count; i++) {
        const char *path = options->listen[i] + strlen("unix:"), *slash = strrchr(path, '/');
        char folder[OPTIONS_ADDRESS_BYTES];
        if (strncmp(options->listen[i], "unix:", strlen("unix:")) == 0 && slash > path) {
            snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
            rmdir(folder);
        }
    }
}

static void write_address(int fd, const char *address) {
    char line[OPTIONS_ADDRESS_BYTES + 64];
    int length = snprintf(line, sizeof(line), "%s\n", address);
    ssize_t ignored = write(fd, line, (size_t)length); // a starter that is gone does not stop us
    (void)ignored;
}

// Tells whoever started us that clients may come, and where: one address per line.
static void announce(const Server *server) {
    if (server->options->ready_fd == OPTIONS_NO_FD) {
        return;
    }
    int fd = (int)server->options->ready_fd;
    for (size_t i = 0; i < server->options->listen_count; i++) {
        char address[OPTIONS_ADDRESS_BYTES + 32];
        print_address(server, server->listener[i], address);
        write_address(fd, address);
    }
    if (server->http_listener != NULL) {
        write_address(fd, server->http_address);
    }
    close(fd);
}

// A server that could not start ends by the same path as one that ran; what was not made is made
// empty first, or the process ends.
static Status start(Server *server, Options *options, Error *error) {
    warn_of_token(server);
    if (open_access(server, options, error) != STATUS_OK) {
        return error->status;
    }
    server->speaks_tls = server->options->tls_cert[0] != '\0';
    if (server->speaks_tls && read_identity(server, &server->identity, error) != STATUS_OK) {
        return error->status;
    }
    Status status = open_audit(server, error);
    status = STATUS_THEN(status, open_log(server, error));
    if (status != STATUS_OK) {
        return status;
    }
    status = start_rooms(server, error);
    if (status != STATUS_OK) {
        // memory or threads are missing at the start: nothing has happened yet that would need an
        // orderly end
        close_log(server);
        return status;
    }
    watch_signals(server);
    watch_audit(server);
    status = watch_parent(server, error);
    status = STATUS_THEN(status, open_http(server, error));
    status = STATUS_THEN(status, open_listeners(server, error));
    if (status != STATUS_OK) {
        close_listeners(server);
        close_rooms(server);
        uv_run(&server->loop, UV_RUN_DEFAULT);
    }
    return status;
}

Status server_run(Options *options, const Sandbox *sandbox, const SealKey *seal_key, Error *error) {
    Server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    server->options = options;
    server->seal_key = seal_key;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a limit on the size of files (ulimit -f) is a failed write
    raise_file_limit();
    collect_limits(server);
    uv_loop_init(&server->loop);
    Status status = report_open(&server->report, options->log_level, options->log_file, error);
    if (sandbox != NULL) {
        report_sandbox(server, sandbox);
    }
    status = STATUS_THEN(status, start(server, options, error));
    if (status == STATUS_OK) {
        report_line(&server->report, REPORT_INFO, "ready", "version=%s workers=%" PRIu64 " pid=%d",
                    MOREAU_VERSION, options->workers, (int)getpid());
        server->state = SERVER_READY;
        // once round before anybody is told: the thread sanitizer makes room for signals when a
        // thread first waits, and loses one that comes meanwhile
        uv_run(&server->loop, UV_RUN_NOWAIT);
        announce(server);
        uv_run(&server->loop, UV_RUN_DEFAULT);
        report_line(&server->report, REPORT_INFO, "stopped", "%s", "");
    }
    report_close(&server->report);
    if (server->is_orphan) {
        clear_up(options);
    }
    if (server->http != NULL) {
        http_destroy(server->http);
    }
    uv_loop_close(&server->loop);
    tls_identity_free(server->identity);
    access_destroy(server->access);
    trail_close(server->audit);
    free(server->page);
    free(server->db);
    geometry_shelf_destroy(server->shelf);
    free(server);
    return status;
}
