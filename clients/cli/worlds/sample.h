// SPDX-License-Identifier: MIT
// What `moreau top` sees at one moment, and the rates between two of them.
#pragma once

#include "cli/cli.h"

enum { SAMPLE_NAME_BYTES = 32, SAMPLE_WORLDS_MAX = 10000 }; // of so many worlds all are compared

typedef struct SampleWorld {
    uint64_t id;
    char name[SAMPLE_NAME_BYTES], solver[SAMPLE_NAME_BYTES]; // cut to fit
    uint64_t bodies, contacts, step, bytes;
    double time; // simulated [s]
    bool faulted;
    double steps_rate; // [1/s] since the sample before; 0: the world was not in it
} SampleWorld;

typedef struct SampleGroup {
    const Moreau__V1__GroupInfo *info; // in the sample's reply
    double steps_rate, episodes_rate;  // [1/s] since the sample before; 0: the group was not in it
} SampleGroup;

typedef struct Sample {
    double taken_s;           // terminal_now_s
    Moreau__V1__Reply *reply; // owned; holds `stats`
    const Moreau__V1__StatsReply *stats;
    Moreau__V1__Reply *group_reply; // owned; holds the first groups
    SampleGroup *group;             // owned
    size_t group_count;
    SampleWorld *world; // owned; by steps_rate once compared, until then by id
    size_t world_count;
    uint64_t world_total; // on the server
} Sample;

// Rates of the whole server [1/s] between two samples.
typedef struct SampleRates {
    double steps, unconverged, faulted, requests, failed, bytes_in, bytes_out;
    double solver_time; // mean of the timed steps between the two [s]; 0: there were none
} SampleRates;

// Asks the server. EXIT_DONE, or, after a sentence, what to return; then the sample is empty.
int sample_take(Cli *cli, Sample *sample);
void sample_free(Sample *sample);

// Fills in the rates of worlds and groups, and brings the busiest worlds to the front. `before` is
// in the order of ids or was compared itself; it is put into the order of ids.
SampleRates sample_compare(Sample *before, Sample *now);
