// SPDX-License-Identifier: MIT
// The figures of a server as Prometheus reads them (text format 0.0.4), gathered from the rooms
// when somebody asks. One row of a table per metric: its name, its type, what it means, where it
// comes from. Loop thread.
#pragma once

#include "api/api.h"
#include "net/connection.h"
#include "run/worlds/host.h"
#include "run/lanes/lane.h"

#include <stdio.h>

typedef struct MetricsParts {
    Pool *pool, *background;
    const Host *host;
    const Farm *farm;
    const Api *api;
    const Net *net;
    const Log *log; // Nullable: no episodes are kept
    Access *access; // Nullable: whoever reads this may not know of tokens
    uint32_t http_connections, http_viewers;
} MetricsParts;

void metrics_print(const MetricsParts *parts, FILE *out);
