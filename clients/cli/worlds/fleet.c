// SPDX-License-Identifier: MIT
#include "cli/worlds/fleet.h"

#include "cli/base/memory.h"
#include "cli/text/terminal.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A machine that is gone answers nothing at all: it is waited for briefly, and not often.
enum { CONNECT_MS = 1000 };
static const double look_s = 0.1;      // between two questions
static const double silence_s = 3.0;   // a server that answers nothing for so long is lost
static const double again_s = 1.0;     // before one that refuses is asked for again …
static const double again_mute_s = 10; // … and one that lets us wait

// ---- one server

static void forget(Moreau__V1__Reply **reply) {
    if (*reply != NULL) {
        moreau__v1__reply__free_unpacked(*reply, NULL);
        *reply = NULL;
    }
}

// What libmoreau says of a connection names the address, which stands in front of it already.
static void note_loss(FleetServer *server, const char *message) {
    char begin[FLEET_ADDRESS_BYTES + 32];
    int count = snprintf(begin, sizeof(begin), "no connection to %s (", server->address);
    const char *end = strrchr(message, ')');
    if (strncmp(message, begin, (size_t)count) == 0 && end != NULL) {
        snprintf(server->lost, sizeof(server->lost), "%.*s", (int)(end - message) - count,
                 message + count);
    } else {
        snprintf(server->lost, sizeof(server->lost), "%s", message);
    }
}

// `message` may be the connection's own, which goes with it.
static void lose(FleetServer *server, const char *message, double pause_s) {
    const double now_s = terminal_now_s();
    if (server->lost[0] == '\0') {
        server->lost_s = now_s;
    }
    server->retry_s = now_s + pause_s;
    note_loss(server, message);
    moreau_disconnect(server->cli.client);
    server->cli.client = NULL;
    server->is_asked = server->is_compared = false;
    forget(&server->before);
    forget(&server->now);
}

static void join(FleetServer *server) {
    MoreauError error;
    const double begun_s = terminal_now_s();
    if (cli_try_connect(&server->cli, &error) != EXIT_DONE) {
        const bool is_mute = terminal_now_s() - begun_s > 0.5 * CONNECT_MS * 1e-3;
        lose(server, error.message, is_mute ? again_mute_s : again_s);
    } else {
        server->lost[0] = '\0';
    }
}

static void ask(FleetServer *server, const void *bytes, size_t count) {
    uint64_t id;
    if (moreau_submit(server->cli.client, bytes, count, &id) == MOREAU_OK) {
        server->is_asked = true;
        server->asked_s = terminal_now_s();
    } else {
        lose(server, moreau_error(server->cli.client)->message, again_s);
    }
}

static void keep_figures(FleetServer *server, Moreau__V1__Reply *reply) {
    const double now_s = terminal_now_s();
    const Moreau__V1__StatsReply *stats = reply->stats;
    if (server->before == NULL) {
        server->before = reply;
        server->before_s = now_s;
        return;
    }
    forget(&server->now);
    server->now = reply;
    server->now_s = now_s;
    server->is_compared = true;
    server->looks++;
    server->busy += stats->jobs < stats->lanes ? stats->jobs : stats->lanes;
}

// Takes its answer, if it has come; waits for none.
static void take(FleetServer *server) {
    MoreauReply *answer;
    if (moreau_receive(server->cli.client, 0, &answer) != MOREAU_OK) {
        if (!moreau_is_connected(server->cli.client)) {
            lose(server, moreau_error(server->cli.client)->message, again_s);
        } else if (terminal_now_s() - server->asked_s > silence_s) {
            lose(server, "it does not answer", again_mute_s);
        }
        return;
    }
    server->is_asked = false;
    Moreau__V1__Reply *reply = cli_unpack(answer);
    MoreauError error;
    moreau_reply_status(answer, &error);
    moreau_reply_free(answer);
    if (reply->result_case == MOREAU__V1__REPLY__RESULT_STATS) {
        keep_figures(server, reply);
        return;
    }
    lose(server, error.message[0] != '\0' ? error.message : "its answer holds no figures", again_s);
    forget(&reply);
}

// ---- all of them

static void wait_for_any(const Fleet *fleet, int wait_ms) {
    struct pollfd entry[FLEET_SERVERS_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->server[i].is_asked) {
            entry[count++] = (struct pollfd){.fd = moreau_poll_fd(fleet->server[i].cli.client),
                                             .events = POLLIN};
        }
    }
    poll(entry, count, wait_ms);
}

static bool take_all(Fleet *fleet) {
    bool is_waiting = false;
    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->server[i].is_asked) {
            take(&fleet->server[i]);
            is_waiting |= fleet->server[i].is_asked;
        }
    }
    return is_waiting;
}

static void ask_all(Fleet *fleet) {
    Moreau__V1__Stats stats = MOREAU__V1__STATS__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_STATS;
    request.stats = &stats;
    uint8_t bytes[64];
    const size_t count = moreau__v1__request__pack(&request, bytes);
    for (size_t i = 0; i < fleet->count; i++) {
        FleetServer *server = &fleet->server[i];
        if (server->cli.client == NULL && terminal_now_s() >= server->retry_s) {
            join(server);
        }
        if (server->cli.client != NULL && !server->is_asked) {
            ask(server, bytes, count);
        }
    }
}

void fleet_watch(Fleet *fleet, double until_s) {
    double now_s = terminal_now_s();
    while (now_s < until_s) {
        const double next_s = now_s + look_s < until_s ? now_s + look_s : until_s;
        ask_all(fleet);
        bool is_waiting = take_all(fleet);
        while ((now_s = terminal_now_s()) < next_s) {
            wait_for_any(fleet, 1 + (int)((next_s - now_s) * 1e3));
            is_waiting = is_waiting && take_all(fleet);
        }
    }
}

void fleet_begin(Fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        FleetServer *server = &fleet->server[i];
        if (server->now != NULL) {
            forget(&server->before);
            server->before = server->now;
            server->before_s = server->now_s;
            server->now = NULL;
        }
        server->is_compared = false;
        server->looks = server->busy = 0;
    }
}

// ---- who is in it

static void release(FleetServer *server) {
    moreau_disconnect(server->cli.client);
    forget(&server->before);
    forget(&server->now);
}

static FleetServer *find(Fleet *fleet, const char *address) {
    for (size_t i = 0; i < fleet->count; i++) {
        if (strcmp(fleet->server[i].address, address) == 0) {
            return &fleet->server[i];
        }
    }
    return NULL;
}

void fleet_renew(Fleet *fleet, const FleetFile *file) {
    FleetServer *servers = memory_take(file->count, sizeof(*servers));
    for (size_t i = 0; i < file->count; i++) {
        FleetServer *known = find(fleet, file->address[i]), *server = &servers[i];
        if (known != NULL) {
            *server = *known;
            known->address[0] = '\0'; // what it has is the new one's
        } else {
            memcpy(server->address, file->address[i], sizeof(server->address));
            server->cli = (Cli){.token_file = fleet->cli->token_file,
                                .tls_ca = fleet->cli->tls_ca,
                                .tls_fingerprint = fleet->cli->tls_fingerprint,
                                .tls_cert = fleet->cli->tls_cert,
                                .tls_key = fleet->cli->tls_key,
                                .program = fleet->cli->program,
                                .connect_timeout_ms = CONNECT_MS};
        }
        server->cli.server = server->address; // where it lies now
    }
    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->server[i].address[0] != '\0') {
            release(&fleet->server[i]);
        }
    }
    free(fleet->server);
    fleet->server = servers;
    fleet->count = file->count;
}

void fleet_free(Fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        release(&fleet->server[i]);
    }
    free(fleet->server);
    *fleet = (Fleet){0};
}

// ---- what is known

size_t fleet_lost_count(const Fleet *fleet) {
    size_t count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        count += fleet->server[i].lost[0] != '\0';
    }
    return count;
}

const Moreau__V1__StatsReply *fleet_stats(const FleetServer *server) {
    const Moreau__V1__Reply *reply = server->now != NULL ? server->now : server->before;
    return reply != NULL ? reply->stats : NULL;
}

uint64_t fleet_worlds(const Moreau__V1__StatsReply *stats) {
    return stats->world_count + stats->group_worlds;
}

FleetRates fleet_rates(const FleetServer *server) {
    if (!server->is_compared) {
        return (FleetRates){0};
    }
    const Moreau__V1__StatsReply *a = server->before->stats, *b = server->now->stats;
    const double seconds = server->now_s - server->before_s;
    const double steps = (double)(b->steps - a->steps);
    const double open = (double)(b->unconverged_steps - a->unconverged_steps);
    return (FleetRates){
        .is_known = true,
        .steps = seconds > 0.0 ? steps / seconds : 0.0,
        .lanes_busy = (double)server->busy / (double)server->looks,
        .doubt = steps > 0.0 ? open / steps : 0.0,
    };
}
