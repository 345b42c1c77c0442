// SPDX-License-Identifier: MIT
#include "cli/runs/places.h"

#include "cli/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BODIES = 8192 }; // half a megabyte of poses

// A page of bodies; NULL after a sentence.
static Moreau__V1__Reply *fetch_page(Cli *cli, uint64_t world, uint64_t first, int *status) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = get.has_first = get.has_count = 1;
    get.world = world;
    get.first = first;
    get.count = PAGE_BODIES;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_GET;
    request.world_get = &get;
    Moreau__V1__Reply *reply;
    *status = cli_call(cli, &request, &reply);
    if (*status != EXIT_DONE) {
        *status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_WORLD_GET ||
               reply->world_get->n_pose != 7 * reply->world_get->n_ids) {
        *status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no poses");
    } else {
        return reply;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return NULL;
}

// Ids rise in both, and those that are gone are missing. *next is the first body that has not been
// looked for.
static void add_page(const Moreau__V1__WorldGetReply *page,
                     const Moreau__V1__WorldCreateReply *created, size_t *next, RunPlaces *places) {
    for (size_t i = 0; i < page->n_ids; i++) {
        while (*next < created->n_ids && created->ids[*next] != page->ids[i]) {
            ++*next;
        }
        if (*next < created->n_ids) {
            memcpy(&places->position[3 * *next], &page->pose[7 * i], 3 * sizeof(double));
        }
    }
}

int run_places_fetch(Cli *cli, const Moreau__V1__WorldCreateReply *created, RunPlaces *places) {
    *places = (RunPlaces){.position = memory_take(3 * created->n_ids + 1, sizeof(double)),
                          .count = created->n_ids};
    for (size_t i = 0; i < 3 * created->n_ids; i++) {
        places->position[i] = (double)NAN;
    }
    int status = EXIT_DONE;
    size_t next = 0;
    for (uint64_t first = 0, total = 1; first < total; first += PAGE_BODIES) {
        Moreau__V1__Reply *reply = fetch_page(cli, created->world, first, &status);
        if (reply == NULL) {
            run_places_free(places);
            return status;
        }
        add_page(reply->world_get, created, &next, places);
        places->step = reply->world_get->step;
        total = reply->world_get->total;
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return EXIT_DONE;
}

void run_places_free(RunPlaces *places) {
    free(places->position);
    *places = (RunPlaces){0};
}

bool run_places_farthest(const RunPlaces *places, const RunPlaces *from, double *drift,
                         size_t *body) {
    if (places->count == 0 || places->count != from->count || places->step != from->step) {
        return false;
    }
    double farthest = 0.0;
    *body = 0;
    for (size_t i = 0; i < places->count; i++) {
        double square = 0.0;
        for (size_t k = 3 * i; k < 3 * i + 3; k++) {
            double by = places->position[k] - from->position[k];
            square += by * by;
        }
        if (square > farthest) { // not of what is gone
            farthest = square;
            *body = i;
        }
    }
    *drift = sqrt(farthest);
    return true;
}
