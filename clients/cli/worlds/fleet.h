// SPDX-License-Identifier: MIT
// The servers of a fleet as `moreau top --fleet` sees them: what each is asked, who is lost, and
// what was done between two looks. All are asked at once, so a silent one keeps nobody waiting.
#pragma once

#include "cli/cli.h"
#include "cli/worlds/fleet_file.h"

typedef struct FleetServer {
    char address[FLEET_ADDRESS_BYTES];
    Cli cli;          // its own connection; cli.client is NULL while it is lost
    char lost[256];   // why, in words; "": it is there
    double lost_s;    // terminal_now_s when that began
    double retry_s;   // when it is asked for again
    bool is_asked;    // and has not answered
    double asked_s;   // since when
    bool is_compared; // `before` and `now` are of one connection
    double before_s, now_s;
    Moreau__V1__Reply *before, *now; // owned, Nullable: Stats
    uint64_t looks, busy;            // since `before`: answers, and lanes that were busy in them
} FleetServer;

typedef struct Fleet {
    const Cli *cli;
    FleetServer *server; // owned, in the order of the file
    size_t count;
} Fleet;

// What a server did between two looks.
typedef struct FleetRates {
    bool is_known;     // false: lost, or seen for the first time; all else is 0
    double steps;      // [1/s]
    double lanes_busy; // mean
    double doubt;      // of the steps, the share that did not converge
} FleetRates;

// Those that the file names now stay or join, all others are let go.
void fleet_renew(Fleet *fleet, const FleetFile *file);
void fleet_free(Fleet *fleet);

// Asks all for their figures, takes what has come, and asks for those that are lost, until
// `until_s` (terminal_now_s).
void fleet_watch(Fleet *fleet, double until_s);

// From here on rates are counted anew.
void fleet_begin(Fleet *fleet);

size_t fleet_lost_count(const Fleet *fleet);
const Moreau__V1__StatsReply *fleet_stats(const FleetServer *server); // NULL: none has come
FleetRates fleet_rates(const FleetServer *server);
uint64_t fleet_worlds(const Moreau__V1__StatsReply *stats); // those of groups, too
