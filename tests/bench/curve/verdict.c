// SPDX-License-Identifier: MIT
#include "bench/curve/verdict.h"

#include <math.h>
#include <stdio.h>

// The least `sought` of our points whose other coordinate is at most `most`.
static double least(const CurveScene *scene, double most, bool is_time_sought) {
    double found = INFINITY;
    for (size_t i = 0; i < scene->count; i++) {
        const CurveLine *line = &scene->line[i];
        for (size_t k = 0; k < line->count && !line->is_peer; k++) {
            const CurvePoint *point = &line->point[k];
            double given = is_time_sought ? point->ds : point->ns;
            double sought = is_time_sought ? point->ns : point->ds;
            found = given <= most ? fmin(found, sought) : found;
        }
    }
    return found;
}

double verdict_residual(const CurveScene *scene, double ns) {
    return least(scene, ns, false);
}

double verdict_ns(const CurveScene *scene, double ds) {
    return least(scene, fmax(ds, VERDICT_MET), true);
}

Verdict verdict_of(const CurveScene *scene, const CurveLine *peer) {
    Verdict verdict = {.ahead_of = 0};
    for (size_t i = 0; i < peer->count; i++) {
        const CurvePoint *point = &peer->point[i];
        if (point->ds == 0.0) {
            continue; // a bound that says nothing
        }
        verdict.ahead_of++;
        verdict.ahead += verdict_residual(scene, point->ns) < fmax(point->ds, VERDICT_MET);
        const double ratio = verdict_ns(scene, point->ds) / point->ns;
        if (ratio > verdict.ratio_max) {
            verdict.ratio_max = ratio;
            verdict.point = point;
        }
    }
    return verdict;
}

// What ours comes to where nobody stands beside it.
static void write_alone(const CurveScene *scene, char *text) {
    double ten = verdict_ns(scene, 1e-3), six = verdict_ns(scene, 1e-6);
    int used = snprintf(text, VERDICT_BYTES, "no peer; ");
    used += isinf(ten) ? snprintf(text + used, (size_t)(VERDICT_BYTES - used), "1e-3 never")
                       : snprintf(text + used, (size_t)(VERDICT_BYTES - used), "1e-3 in %.3g ms",
                                  ten * 1e-6);
    if (isinf(six)) {
        snprintf(text + used, (size_t)(VERDICT_BYTES - used), ", 1e-6 never");
    } else {
        snprintf(text + used, (size_t)(VERDICT_BYTES - used), ", 1e-6 in %.3g ms", six * 1e-6);
    }
}

void verdict_write(const CurveScene *scene, char text[VERDICT_BYTES]) {
    Verdict all = {.ahead = 0};
    const CurveLine *worst = NULL;
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->line[i].is_peer) {
            Verdict one = verdict_of(scene, &scene->line[i]);
            all.ahead += one.ahead;
            all.ahead_of += one.ahead_of;
            if (one.ratio_max > all.ratio_max) {
                all.ratio_max = one.ratio_max;
                all.point = one.point;
                worst = &scene->line[i];
            }
        }
    }
    if (all.ahead_of == 0) {
        write_alone(scene, text);
        return;
    }
    bool is_met = all.ahead == all.ahead_of && all.ratio_max <= VERDICT_RATIO_AIM;
    int used = snprintf(text, VERDICT_BYTES, "%s: ahead at %zu of %zu; ", is_met ? "met" : "missed",
                        all.ahead, all.ahead_of);
    used += isinf(all.ratio_max) ? snprintf(text + used, (size_t)(VERDICT_BYTES - used), "never as")
                                 : snprintf(text + used, (size_t)(VERDICT_BYTES - used),
                                            "at most %.2fx the time of", all.ratio_max);
    snprintf(text + used, (size_t)(VERDICT_BYTES - used), " %s, %s", worst->name, all.point->name);
}
