// SPDX-License-Identifier: MIT
#include "metrics.h"

#include "run/groups/farm.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <uv.h>

// Everything that the rows show, gathered once.
typedef struct Figures {
    uint64_t steps, unconverged_steps, faulted_steps;
    OpinionFigures opinions;
    uint64_t worlds, faulted_worlds, bodies, contacts, memory_of_worlds, player_bytes;
    uint64_t lanes, jobs, waiting_worlds, background_jobs, put_aside;
    uint64_t requests_under_way, answered[STATUS_COUNT], kept_bytes;
    uint64_t subscriptions, live_frames, live_skipped;
    uint64_t connections, refused_connections, slow_clients, received_bytes, sent_bytes, handshakes,
        tls_failures;
    uint64_t http_connections, http_viewers;
    LogFigures log;
    uint64_t resident_bytes;
    HistogramTotal solver;
} Figures;

typedef struct Metric {
    const char *name, *type, *help;
    size_t offset; // of its number in Figures; for rows without `print`
    void (*print)(const struct Metric *metric, const Figures *figures, FILE *out); // Nullable
} Metric;

// ---- rows that are more than a number

static void print_version(const Metric *metric, const Figures *figures, FILE *out) {
    (void)figures;
    fprintf(out, "%s{version=\"%s\"} 1\n", metric->name, MOREAU_VERSION);
}

static void print_processor_time(const Metric *metric, const Figures *figures, FILE *out) {
    (void)figures;
    uv_rusage_t usage;
    if (uv_getrusage(&usage) == 0) {
        double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
        fprintf(out, "%s %.6f\n", metric->name, seconds);
    }
}

static void print_requests(const Metric *metric, const Figures *figures, FILE *out) {
    for (int i = 0; i < STATUS_COUNT; i++) {
        fprintf(out, "%s{status=\"%s\"} %" PRIu64 "\n", metric->name, status_name((Status)i),
                figures->answered[i]);
    }
}

static void print_log_lag(const Metric *metric, const Figures *figures, FILE *out) {
    fprintf(out, "%s %.9f\n", metric->name, (double)figures->log.lag_ns * 1e-9);
}

static void print_solver_times(const Metric *metric, const Figures *figures, FILE *out) {
    const HistogramTotal *times = &figures->solver;
    uint64_t below = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BOUND_COUNT; i++) {
        below += times->bucket[i];
        fprintf(out, "%s_bucket{le=\"%.9g\"} %" PRIu64 "\n", metric->name,
                (double)histogram_bound_ns(i) * 1e-9, below);
    }
    fprintf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", metric->name, times->count);
    fprintf(out, "%s_sum %.9f\n", metric->name, (double)times->sum_ns * 1e-9);
    fprintf(out, "%s_count %" PRIu64 "\n", metric->name, times->count);
}

// ---- the table

#define FIELD(name) offsetof(Figures, name)

static const Metric table[] = {
    {"moreau_build_info", "gauge", "The version that runs.", 0, print_version},
    {"moreau_steps_total", "counter", "Steps of worlds.", FIELD(steps), NULL},
    {"moreau_unconverged_steps_total", "counter", "Steps whose solver did not reach its tolerance.",
     FIELD(unconverged_steps), NULL},
    {"moreau_faulted_steps_total", "counter",
     "Steps that would not have been finite, and were not taken.", FIELD(faulted_steps), NULL},
    {"moreau_solver_seconds", "histogram",
     "Time of the solver in one step: of every long step, and of some of the short ones.", 0,
     print_solver_times},
    {"moreau_worlds", "gauge", "Worlds.", FIELD(worlds), NULL},
    {"moreau_faulted_worlds", "gauge", "Worlds that must be set before they step again.",
     FIELD(faulted_worlds), NULL},
    {"moreau_bodies", "gauge", "Bodies of all worlds.", FIELD(bodies), NULL},
    {"moreau_contacts", "gauge", "Contacts of all worlds in their last step.", FIELD(contacts),
     NULL},
    {"moreau_world_bytes", "gauge",
     "Memory of all worlds, snapshots, replays and verifications: what --memory-bytes-max limits.",
     FIELD(memory_of_worlds), NULL},
    {"moreau_player_bytes", "gauge",
     "The part of it that episodes being read, replayed or verified hold.", FIELD(player_bytes),
     NULL},
    {"moreau_lanes", "gauge", "Worker threads for short work; as many are for long.", FIELD(lanes),
     NULL},
    {"moreau_put_aside_total", "counter",
     "Steps and solves that took too long for a lane and were begun again on a long one.",
     FIELD(put_aside), NULL},
    {"moreau_jobs", "gauge", "Jobs handed to the lanes and not finished.", FIELD(jobs), NULL},
    {"moreau_background_jobs", "gauge",
     "The same for the background lanes: episodes being read or stepped again.",
     FIELD(background_jobs), NULL},
    {"moreau_waiting_worlds", "gauge", "Worlds that have work and wait for a lane.",
     FIELD(waiting_worlds), NULL},
    {"moreau_opinions_total", "counter", "Steps of groups that were solved again.",
     FIELD(opinions.given), NULL},
    {"moreau_opinions_open_total", "counter", "Those of them whose exact answer was not found.",
     FIELD(opinions.open), NULL},
    {"moreau_opinions_waiting", "gauge", "Steps of groups that are to be solved again.",
     FIELD(opinions.waiting), NULL},
    {"moreau_requests_under_way", "gauge", "Requests taken up and not finished.",
     FIELD(requests_under_way), NULL},
    {"moreau_requests_total", "counter", "Requests finished, by the status of their reply.", 0,
     print_requests},
    {"moreau_kept_bytes", "gauge",
     "Replies kept for clients that may come back, of all sessions; --kept-bytes-max limits each.",
     FIELD(kept_bytes), NULL},
    {"moreau_subscriptions", "gauge", "Subscriptions to running worlds.", FIELD(subscriptions),
     NULL},
    {"moreau_live_frames_total", "counter", "Frames sent to subscribers.", FIELD(live_frames),
     NULL},
    {"moreau_live_skipped_frames_total", "counter",
     "Frames that subscribers were not sent, as they, or their limits, were slower than the world.",
     FIELD(live_skipped), NULL},
    {"moreau_connections", "gauge", "Connections of clients.", FIELD(connections), NULL},
    {"moreau_refused_connections_total", "counter",
     "Connections closed at once: too many, or no descriptors left.", FIELD(refused_connections),
     NULL},
    {"moreau_tls_handshakes_total", "counter", "TLS connections whose hands were shaken.",
     FIELD(handshakes), NULL},
    {"moreau_tls_failures_total", "counter",
     "TLS connections that were none, or ended for what was sent in them.", FIELD(tls_failures),
     NULL},
    {"moreau_slow_clients_total", "counter", "Clients cut because they did not read their replies.",
     FIELD(slow_clients), NULL},
    {"moreau_received_bytes_total", "counter", "Bytes from clients.", FIELD(received_bytes), NULL},
    {"moreau_sent_bytes_total", "counter", "Bytes to clients.", FIELD(sent_bytes), NULL},
    {"moreau_http_connections", "gauge", "Connections to these pages.", FIELD(http_connections),
     NULL},
    {"moreau_http_viewers", "gauge", "Browsers that are connected to watch worlds.",
     FIELD(http_viewers), NULL},
    {"moreau_log_open_recordings", "gauge", "Episodes being recorded.", FIELD(log.open_recordings),
     NULL},
    {"moreau_log_failed_recordings_total", "counter",
     "Recordings that ended because they could not be written.", FIELD(log.failed_recordings),
     NULL},
    {"moreau_log_queue_bytes", "gauge", "Record that waits for the disk.", FIELD(log.queue_bytes),
     NULL},
    {"moreau_log_lag_seconds", "gauge", "Age of the oldest record that waits for the disk.", 0,
     print_log_lag},
    {"moreau_log_transactions_total", "counter", "Transactions of the log.",
     FIELD(log.transactions), NULL},
    {"moreau_log_rows_total", "counter", "Chunks written.", FIELD(log.rows), NULL},
    {"moreau_log_bytes_total", "counter", "Bytes of the chunks written.", FIELD(log.bytes), NULL},
    {"moreau_log_file_bytes", "gauge", "The file of episodes, with its write-ahead log.",
     FIELD(log.file_bytes), NULL},
    {"moreau_log_backups_total", "counter", "Backups made.", FIELD(log.backups), NULL},
    {"moreau_log_retention_looks_total", "counter",
     "How often the file was looked over for what --keep-days and the like delete.",
     FIELD(log.looks), NULL},
    {"moreau_log_retired_recordings_total", "counter",
     "Recordings that --keep-days, --keep-bytes or --keep-episodes deleted.",
     FIELD(log.retired_recordings), NULL},
    {"moreau_log_retired_episodes_total", "counter", "Episodes in them.",
     FIELD(log.retired_episodes), NULL},
    {"process_resident_memory_bytes", "gauge", "Memory of the process.", FIELD(resident_bytes),
     NULL},
    {"process_cpu_seconds_total", "counter", "Processor time of the process.", 0,
     print_processor_time},
};

static void gather_lanes(Pool *pool, Figures *figures) {
    figures->lanes = pool_lane_count(pool);
    figures->jobs = pool_job_count(pool);
    figures->waiting_worlds = pool_waiting_count(pool);
    const Lane *lane;
    for (uint32_t i = 0; (lane = pool_lane(pool, i)) != NULL; i++) {
        figures->steps += atomic_load_explicit(&lane->steps, memory_order_relaxed);
        histogram_collect(&lane->solver_times, &figures->solver);
    }
}

static void gather_worlds(const Host *host, const Farm *farm, Figures *figures) {
    HostFigures all = host_figures(host, SPACE_ALL);
    figures->worlds = host_count(host, SPACE_ALL);
    figures->faulted_worlds = host_faulted_count(host);
    figures->bodies = all.bodies;
    figures->contacts = all.contacts;
    figures->memory_of_worlds = host_bytes(host);
    figures->opinions = farm_opinions(farm);
}

static void gather_traffic(const MetricsParts *parts, Figures *figures) {
    ApiFigures api = api_figures(parts->api);
    NetStats net = net_stats(parts->net);
    figures->unconverged_steps = api.unconverged_steps;
    figures->faulted_steps = api.faulted_steps;
    figures->player_bytes = api.player_bytes;
    figures->kept_bytes = api.kept_bytes;
    figures->subscriptions = api.subscriptions;
    figures->live_frames = api.live_frames;
    figures->live_skipped = api.live_skipped;
    memcpy(figures->answered, api.answered, sizeof(figures->answered));
    figures->requests_under_way = api_request_count(parts->api);
    figures->connections = net.connection_count;
    figures->refused_connections = net.refused_count;
    figures->slow_clients = net.slow_count;
    figures->handshakes = net.handshake_count;
    figures->tls_failures = net.handshake_failed_count;
    figures->received_bytes = net.bytes_in;
    figures->sent_bytes = net.bytes_out;
    figures->http_connections = parts->http_connections;
    figures->http_viewers = parts->http_viewers;
}

static void print_metric(const Metric *metric, const Figures *figures, FILE *out) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
            metric->type);
    if (metric->print != NULL) {
        metric->print(metric, figures, out);
        return;
    }
    const void *number = (const char *)figures + metric->offset;
    fprintf(out, "%s %" PRIu64 "\n", metric->name, *(const uint64_t *)number);
}

// ---- of each token

static uint64_t bytes_of(const Use *use) {
    return atomic_load_explicit(&use->bytes, memory_order_relaxed);
}

static uint64_t worlds_of(const Use *use) {
    return use->worlds;
}

static uint64_t requests_of(const Use *use) {
    return atomic_load_explicit(&use->requests, memory_order_relaxed);
}

static uint64_t sessions_of(const Use *use) {
    return use->sessions;
}

static uint64_t refused_of(const Use *use) {
    return atomic_load_explicit(&use->refused, memory_order_relaxed);
}

static uint64_t log_bytes_of(const Use *use) {
    return atomic_load_explicit(&use->log_bytes, memory_order_relaxed);
}

static uint64_t episodes_of(const Use *use) {
    return atomic_load_explicit(&use->episodes, memory_order_relaxed);
}

// Of a pool, not of the token's own counts.
static void print_lanes(Access *access, const Pool *pool, FILE *out) {
    const Token *token;
    fprintf(out, "# HELP moreau_token_lanes Lanes that step and solve for it, where it has a "
                 "limit.\n# TYPE moreau_token_lanes gauge\n");
    for (size_t k = 0; (token = access_at(access, k)) != NULL; k++) {
        if (use_lanes(&token->use) > 0) {
            fprintf(out, "moreau_token_lanes{token=\"%s\",namespace=\"%s\"} %" PRIu32 "\n",
                    token->name, token->space, pool_lanes_of(pool, token->use.number));
        }
    }
}

static void print_tokens(Access *access, FILE *out) {
    static const struct {
        const char *name, *type, *help;
        uint64_t (*figure)(const Use *use);
    } rows[] = {
        {"moreau_token_worlds", "gauge", "Worlds of a token, those of groups too.", worlds_of},
        {"moreau_token_bytes", "gauge", "Memory of its worlds, groups and snapshots.", bytes_of},
        {"moreau_token_requests", "gauge", "Its requests under way.", requests_of},
        {"moreau_token_log_bytes", "gauge",
         "What its namespace has in the file, as last counted for its limit.", log_bytes_of},
        {"moreau_token_episodes", "gauge", "Episodes likewise.", episodes_of},
        {"moreau_token_sessions", "gauge", "Its sessions.", sessions_of},
        {"moreau_token_refused_total", "counter", "Times that one of its limits was in the way.",
         refused_of},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const Token *token;
        fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help, rows[i].name,
                rows[i].type);
        for (size_t k = 0; (token = access_at(access, k)) != NULL; k++) {
            fprintf(out, "%s{token=\"%s\",namespace=\"%s\"} %" PRIu64 "\n", rows[i].name,
                    token->name, token->space, rows[i].figure(&token->use));
        }
    }
}

void metrics_print(const MetricsParts *parts, FILE *out) {
    pool_settle(parts->pool); // what was answered counts as answered
    pool_settle(parts->background);
    Figures figures = {0};
    gather_lanes(parts->pool, &figures);
    figures.background_jobs = pool_job_count(parts->background);
    figures.put_aside = pool_put_aside_count(parts->pool) + pool_put_aside_count(parts->background);
    gather_worlds(parts->host, parts->farm, &figures);
    gather_traffic(parts, &figures);
    if (parts->log != NULL) {
        figures.log = log_figures(parts->log);
    }
    size_t resident_bytes = 0;
    uv_resident_set_memory(&resident_bytes); // 0 where the system does not say
    figures.resident_bytes = resident_bytes;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        print_metric(&table[i], &figures, out);
    }
    if (parts->access != NULL) {
        print_tokens(parts->access, out);
        print_lanes(parts->access, parts->pool, out);
    }
}
