// SPDX-License-Identifier: MIT
#include "api/calls/compare_reply.h"

// Of a sample: five whole numbers, as long as they get, and four doubles; of a run, all the rest
// that is told, its texts included.
enum { SAMPLE_BYTES_MAX = 5 * 10 + 4 * 8, RUN_BYTES_MAX = 2048 };

uint64_t compare_reply_sample_count_max(size_t bytes, size_t runs) {
    const size_t all = bytes / runs;
    return all > RUN_BYTES_MAX ? (all - RUN_BYTES_MAX) / SAMPLE_BYTES_MAX : 0;
}

// ---- the certificate

static Moreau__V1__CertificateColumns *write_entries(const double entry[TOTALS_ENTRIES],
                                                     Arena *arena) {
    Moreau__V1__CertificateColumns *m = arena_take(arena, sizeof(*m));
    double *own = arena_take_array(arena, TOTALS_ENTRIES, sizeof(*own));
    if (m == NULL || own == NULL) {
        return NULL;
    }
    moreau__v1__certificate_columns__init(m);
    memcpy(own, entry, TOTALS_ENTRIES * sizeof(*own));
#define X(upper, lower)                                                                            \
    m->n_##lower = 1;                                                                              \
    m->lower = own + CERTIFICATE_##upper;
    CERTIFICATE_MAP(X)
#undef X
    m->n_penetration = 1;
    m->penetration = own + CERTIFICATE_ENTRY_COUNT;
    return m;
}

static Moreau__V1__CertificateSteps *write_steps(const uint64_t step[TOTALS_ENTRIES],
                                                 uint64_t first, Arena *arena) {
    Moreau__V1__CertificateSteps *m = arena_take(arena, sizeof(*m));
    uint64_t *own = arena_take_array(arena, TOTALS_ENTRIES, sizeof(*own));
    if (m == NULL || own == NULL) {
        return NULL;
    }
    moreau__v1__certificate_steps__init(m);
    for (int i = 0; i < TOTALS_ENTRIES; i++) {
        own[i] = step[i] == 0 ? 0 : first + step[i];
    }
#define X(upper, lower)                                                                            \
    m->n_##lower = 1;                                                                              \
    m->lower = own + CERTIFICATE_##upper;
    CERTIFICATE_MAP(X)
#undef X
    m->n_penetration = 1;
    m->penetration = own + CERTIFICATE_ENTRY_COUNT;
    return m;
}

static Moreau__V1__LaunchColumns *write_launch(const StepLaunch *launch, Arena *arena) {
    Moreau__V1__LaunchColumns *m = arena_take(arena, sizeof(*m));
    double *number = arena_take_array(arena, 2, sizeof(*number));
    uint64_t *body = arena_take_array(arena, 2, sizeof(*body));
    if (m == NULL || number == NULL || body == NULL) {
        return NULL;
    }
    moreau__v1__launch_columns__init(m);
    number[0] = launch->speed;
    number[1] = launch->height;
    body[0] = launch->body[0];
    body[1] = launch->body[1];
    m->n_speed = m->n_gliding = m->n_body_a = m->n_body_b = 1;
    m->speed = number;
    m->gliding = number + 1;
    m->body_a = body;
    m->body_b = body + 1;
    return m;
}

// ---- a run

#define SET(m, field, value)                                                                       \
    do {                                                                                           \
        (m)->has_##field = 1;                                                                      \
        (m)->field = (value);                                                                      \
    } while (0)

static bool write_totals(const CompareRun *run, uint64_t first, Arena *arena,
                         Moreau__V1__EpisodeRun *m) {
    const Totals *totals = run->totals;
    const double steps = totals->steps > 0 ? (double)totals->steps : 1.0;
    SET(m, steps, totals->steps);
    SET(m, simulated, totals->simulated);
    SET(m, unconverged_steps, totals->unconverged);
    SET(m, contacts_max, totals->contacts_max);
    SET(m, contacts_mean, (double)totals->contacts / steps);
    SET(m, iterations_mean, (double)totals->iterations / steps);
    SET(m, solver_time, (double)totals->solver_ns * 1e-9);
    SET(m, solver_time_max, (double)totals->solver_ns_max * 1e-9);
    SET(m, solver_time_mean, (double)totals->solver_ns * 1e-9 / steps);
    SET(m, energy, totals->energy);
    SET(m, removed, totals->removed);
    SET(m, broken, totals->broken);
    if (run->end.is_there) {
        SET(m, terminated_step, run->end.step);
    }
    m->worst = write_entries(totals->worst, arena);
    m->mean = write_entries(totals->mean, arena);
    m->worst_step = write_steps(totals->worst_step, first, arena);
    if (totals->launch_step > 0) {
        m->launch = write_launch(&totals->launch, arena);
        SET(m, launch_step, first + totals->launch_step);
    }
    return m->worst != NULL && m->mean != NULL && m->worst_step != NULL &&
           (totals->launch_step == 0 || m->launch != NULL);
}

static void write_apart(const CompareRun *run, Moreau__V1__EpisodeRun *m) {
    SET(m, overridden, run->overridden);
    SET(m, compared, run->compared);
    SET(m, distance, run->worst.distance);
    SET(m, distance_body, run->worst.distance_body);
    SET(m, distance_step, run->distance_step);
    SET(m, angle, run->worst.angle);
    SET(m, angle_body, run->worst.angle_body);
    SET(m, angle_step, run->angle_step);
    m->has_apart_step = run->apart.is_there;
    m->apart_step = run->apart.step;
    m->has_differs_step = run->bits.is_there;
    m->differs_step = run->bits.step;
    m->has_hash_step = run->hash.is_there;
    m->hash_step = run->hash.step;
    m->has_bodies_step = run->bodies.is_there;
    m->bodies_step = run->bodies.step;
    if (run->ended->status != STATUS_OK) {
        m->ended = (char *)run->ended->message;
        SET(m, ended_step, run->ended_step);
    }
}

// `count` numbers of a column, which it then has.
#define COLUMN(m, field, count)                                                                    \
    ((m)->n_##field = (count), (m)->field = arena_take_array(arena, (count), sizeof(*(m)->field)), \
     (m)->field != NULL)

static bool write_samples(const CompareRun *run, Arena *arena, Moreau__V1__EpisodeRun *m) {
    const size_t count = run->sample_count;
    if (!COLUMN(m, sample_step, count) || !COLUMN(m, sample_own_step, count) ||
        !COLUMN(m, sample_time, count) || !COLUMN(m, sample_energy, count) ||
        !COLUMN(m, sample_contacts, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const CompareSample *sample = &run->sample[i];
        m->sample_step[i] = sample->step;
        m->sample_own_step[i] = sample->own_step;
        m->sample_time[i] = sample->time;
        m->sample_energy[i] = sample->energy;
        m->sample_contacts[i] = sample->contacts;
    }
    return true;
}

static bool write_distances(const CompareRun *run, Arena *arena, Moreau__V1__EpisodeRun *m) {
    const size_t count = run->sample_count;
    if (!COLUMN(m, sample_distance, count) || !COLUMN(m, sample_distance_body, count) ||
        !COLUMN(m, sample_angle, count) || !COLUMN(m, sample_angle_body, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const Distance *apart = &run->sample[i].apart;
        m->sample_distance[i] = apart->distance;
        m->sample_distance_body[i] = apart->distance_body;
        m->sample_angle[i] = apart->angle;
        m->sample_angle_body[i] = apart->angle_body;
    }
    return true;
}

Moreau__V1__EpisodeRun *compare_reply_run(const CompareRun *run, uint64_t first, bool is_variant,
                                          Arena *arena) {
    Moreau__V1__EpisodeRun *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__episode_run__init(m);
    m->solver = (char *)solver_get(run->solver)->name;
    SET(m, time_step, run->time_step);
    bool is_whole = write_totals(run, first, arena, m) && write_samples(run, arena, m);
    if (is_variant) {
        write_apart(run, m);
        is_whole = is_whole && write_distances(run, arena, m);
    }
    return is_whole ? m : NULL;
}
