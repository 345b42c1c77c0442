// SPDX-License-Identifier: MIT
// WorldStep and WorldHash: many worlds in one call (batch.h), one packed reply.
#include "api/batch.h"

#include <stdio.h>
#include <string.h>

static const uint64_t steps_max = 1000000000000u;

static Status check_step(const Moreau__V1__WorldStep *message, Error *error) {
    if (message->steps < 1 || message->steps > steps_max) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "steps",
                         "Ask for 1 to %llu steps, not %llu.", (unsigned long long)steps_max,
                         (unsigned long long)message->steps);
    }
    if (message->has_time_step && !(message->time_step > 0.0)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "time_step",
                         "The time step must be > 0 s, not %g.", message->time_step);
    }
    size_t wrenches = message->n_wrench_body;
    if (message->n_wrench != 6 * wrenches) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "wrench",
                         "%zu bodies in wrench_body take %zu numbers, not %zu.", wrenches,
                         6 * wrenches, message->n_wrench);
    }
    if (message->n_wrench_count == 0) {
        return wrenches == 0 || message->n_worlds == 1
                   ? STATUS_OK
                   : error_set(error, STATUS_INVALID_ARGUMENT, "wrench_count",
                               "With several worlds, say how many of the wrenches belong to each.");
    }
    uint64_t total = 0;
    for (size_t i = 0; i < message->n_wrench_count; i++) {
        total += message->wrench_count[i];
    }
    if (message->n_wrench_count != message->n_worlds || total != wrenches) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "wrench_count",
                         "One count per world (%zu worlds, %zu counts), together as many as "
                         "wrench_body (%zu, not %llu).",
                         message->n_worlds, message->n_wrench_count, wrenches,
                         (unsigned long long)total);
    }
    return STATUS_OK;
}

static void reply_step(Batch *batch, Lane *lane);

// Worlds without wrenches share one encoded input.
static Status encode_steps(const Moreau__V1__WorldStep *message, Batch *batch, Error *error) {
    Arena *arena = &batch->request->arena;
    InputBytes plain = {0};
    size_t first = 0;
    for (size_t i = 0; i < batch->count; i++) {
        size_t count = message->n_wrench_count > 0 ? message->wrench_count[i]
                       : i == 0                    ? message->n_wrench_body
                                                   : 0;
        Input input = {.kind = INPUT_STEP,
                       .step = {.steps = message->steps,
                                .time_step = message->has_time_step ? message->time_step : 0.0,
                                .wrench_count = count,
                                .wrench_body = message->wrench_body + first,
                                .wrench = message->wrench + 6 * first}};
        Status status = STATUS_OK;
        if (count > 0) {
            status = input_encode(&input, arena, &batch->item[i].input, error);
        } else {
            if (plain.count == 0) {
                status = input_encode(&input, arena, &plain, error);
            }
            batch->item[i].input = plain;
        }
        if (status != STATUS_OK) {
            return status;
        }
        first += count;
    }
    return STATUS_OK;
}

Status command_world_step_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldStep *message = request->message->world_step;
    Batch *batch;
    Status status = batch_prepare(request, message->n_worlds, message->worlds, &batch, error);
    if (status == STATUS_OK) {
        status = check_step(message, error);
    }
    if (status == STATUS_OK) {
        status = encode_steps(message, batch, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    batch->wants_pose = message->poses;
    batch->wants_velocity = message->velocities;
    batch->wants_hash = message->hashes;
    batch->reply = reply_step;
    batch_submit(batch);
    return STATUS_OK;
}

// ---- the reply

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// Pointers to a message's column: its length and its array.
typedef struct Column {
    size_t *count;
    double **values;
} Column;

// Columns one behind the other in one piece of memory; value(item, i) is what the i-th shows.
static bool fill_columns(Arena *arena, const Batch *batch, const Column *columns,
                         size_t column_count,
                         double (*value)(const BatchItem *item, size_t which)) {
    double *values = arena_take_array(arena, batch->count * column_count, sizeof(double));
    for (size_t i = 0; values != NULL && i < column_count; i++) {
        for (size_t k = 0; k < batch->count; k++) {
            values[k] = value(&batch->item[k], i);
        }
        *columns[i].values = values;
        *columns[i].count = batch->count;
        values += batch->count;
    }
    return values != NULL;
}

// entries of certificates: the eight of the map, then the penetration
static double last_entry(const BatchItem *item, size_t which) {
    const Certificate *certificate = &item->run.tally.last.certificate;
    return which < CERTIFICATE_ENTRY_COUNT ? certificate->entry[which] : certificate->penetration;
}

static double worst_entry(const BatchItem *item, size_t which) {
    return which < CERTIFICATE_ENTRY_COUNT ? item->run.tally.worst[which]
                                           : item->run.tally.penetration_worst;
}

static Moreau__V1__CertificateColumns *certificate_columns(Arena *arena, const Batch *batch,
                                                           double (*value)(const BatchItem *item,
                                                                           size_t which)) {
    Moreau__V1__CertificateColumns *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__certificate_columns__init(m);
    const Column columns[] = {
        {&m->n_e_mom, &m->e_mom},   {&m->n_e_pen, &m->e_pen}, {&m->n_e_comp, &m->e_comp},
        {&m->n_e_cone, &m->e_cone}, {&m->n_e_mdp, &m->e_mdp}, {&m->n_e_ds, &m->e_ds},
        {&m->n_e_own, &m->e_own},   {&m->n_e_row, &m->e_row}, {&m->n_penetration, &m->penetration},
    };
    return fill_columns(arena, batch, columns, COUNT_OF(columns), value) ? m : NULL;
}

static Moreau__V1__CertificateSteps *certificate_steps(Arena *arena, const Batch *batch) {
    Moreau__V1__CertificateSteps *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__certificate_steps__init(m);
    const struct {
        size_t *count;
        uint64_t **values;
    } columns[] = {
        {&m->n_e_mom, &m->e_mom},   {&m->n_e_pen, &m->e_pen}, {&m->n_e_comp, &m->e_comp},
        {&m->n_e_cone, &m->e_cone}, {&m->n_e_mdp, &m->e_mdp}, {&m->n_e_ds, &m->e_ds},
        {&m->n_e_own, &m->e_own},   {&m->n_e_row, &m->e_row}, {&m->n_penetration, &m->penetration},
    };
    uint64_t *values = arena_take_array(arena, batch->count * COUNT_OF(columns), sizeof(uint64_t));
    if (values == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        for (size_t k = 0; k < batch->count; k++) {
            const StepTally *tally = &batch->item[k].run.tally;
            values[k] =
                i < CERTIFICATE_ENTRY_COUNT ? tally->worst_step[i] : tally->penetration_step;
        }
        *columns[i].count = batch->count;
        *columns[i].values = values;
        values += batch->count;
    }
    return m;
}

static double energy_entry(const BatchItem *item, size_t which) {
    const StepEnergy *e = &item->run.tally.last.energy;
    const double entries[] = {e->before,  e->after,  e->contact,    e->row,
                              e->applied, e->scheme, e->unexplained};
    return entries[which];
}

static Moreau__V1__EnergyColumns *energy_columns(Arena *arena, const Batch *batch) {
    Moreau__V1__EnergyColumns *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__energy_columns__init(m);
    const Column columns[] = {
        {&m->n_before, &m->before},           {&m->n_after, &m->after},
        {&m->n_contact, &m->contact},         {&m->n_row, &m->row},
        {&m->n_applied, &m->applied},         {&m->n_scheme, &m->scheme},
        {&m->n_unexplained, &m->unexplained},
    };
    return fill_columns(arena, batch, columns, COUNT_OF(columns), energy_entry) ? m : NULL;
}

static bool fill_counts(Arena *arena, const Batch *batch, Moreau__V1__StepReports *m) {
    size_t n = batch->count;
    m->contacts = arena_take_array(arena, n, sizeof(uint32_t));
    m->rows = arena_take_array(arena, n, sizeof(uint32_t));
    m->iterations = arena_take_array(arena, n, sizeof(uint32_t));
    m->converged = arena_take_array(arena, n, sizeof(protobuf_c_boolean));
    m->unconverged_steps = arena_take_array(arena, n, sizeof(uint64_t));
    m->tolerance = arena_take_array(arena, n, sizeof(double));
    m->solver_time = arena_take_array(arena, n, sizeof(double));
    m->worst_body_a = arena_take_array(arena, n, sizeof(uint64_t));
    m->worst_body_b = arena_take_array(arena, n, sizeof(uint64_t));
    if (m->contacts == NULL || m->rows == NULL || m->iterations == NULL || m->converged == NULL ||
        m->unconverged_steps == NULL || m->tolerance == NULL || m->solver_time == NULL ||
        m->worst_body_a == NULL || m->worst_body_b == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const BatchItem *item = &batch->item[i];
        const StepReport *report = &item->run.tally.last;
        m->contacts[i] = report->contact_count;
        m->rows[i] = report->row_count;
        m->iterations[i] = report->iterations;
        m->converged[i] = item->run.tally.done > 0 && report->certificate.converged;
        m->unconverged_steps[i] = item->run.tally.unconverged;
        m->tolerance[i] = report->certificate.tolerance;
        m->solver_time[i] = (double)report->solver_ns * 1e-9;
        m->worst_body_a[i] = item->worst_body[0];
        m->worst_body_b[i] = item->worst_body[1];
    }
    m->n_contacts = m->n_rows = m->n_iterations = m->n_converged = m->n_unconverged_steps = n;
    m->n_tolerance = m->n_solver_time = m->n_worst_body_a = m->n_worst_body_b = n;
    return true;
}

static Moreau__V1__StepReports *step_reports(Arena *arena, const Batch *batch) {
    Moreau__V1__StepReports *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__step_reports__init(m);
    m->last = certificate_columns(arena, batch, last_entry);
    m->worst = certificate_columns(arena, batch, worst_entry);
    m->worst_step = certificate_steps(arena, batch);
    m->energy = energy_columns(arena, batch);
    if (m->last == NULL || m->worst == NULL || m->worst_step == NULL || m->energy == NULL ||
        !fill_counts(arena, batch, m)) {
        return NULL;
    }
    return m;
}

// One state column of all worlds, one behind the other; a single world's is not copied.
static bool join_states(Arena *arena, const Batch *batch, size_t stride, bool velocity,
                        size_t total, double **joined) {
    if (batch->count == 1) {
        *joined = velocity ? batch->item[0].velocity : batch->item[0].pose;
        return true;
    }
    double *values = arena_take_array(arena, total, stride * sizeof(double));
    *joined = values;
    for (size_t i = 0; values != NULL && i < batch->count; i++) {
        const BatchItem *item = &batch->item[i];
        size_t count = stride * item->body_count;
        if (count > 0) {
            memcpy(values, velocity ? item->velocity : item->pose, count * sizeof(double));
        }
        values += count;
    }
    return *joined != NULL;
}

static float *to_single(Arena *arena, const double *values, size_t count) {
    float *single = arena_take_array(arena, count, sizeof(float));
    for (size_t i = 0; single != NULL && i < count; i++) {
        single[i] = (float)values[i];
    }
    return single;
}

static bool fill_states(Arena *arena, const Batch *batch, bool single,
                        Moreau__V1__WorldStepReply *m) {
    size_t total = 0;
    m->body_count = arena_take_array(arena, batch->count, sizeof(uint64_t));
    if (m->body_count == NULL) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        m->body_count[i] = batch->item[i].body_count;
        total += batch->item[i].body_count;
    }
    m->n_body_count = batch->count;
    double *pose = NULL, *velocity = NULL;
    if ((batch->wants_pose && !join_states(arena, batch, 7, false, total, &pose)) ||
        (batch->wants_velocity && !join_states(arena, batch, 6, true, total, &velocity))) {
        return false;
    }
    size_t pose_count = batch->wants_pose ? 7 * total : 0,
           velocity_count = batch->wants_velocity ? 6 * total : 0;
    if (single) {
        m->pose_single = to_single(arena, pose, pose_count);
        m->velocity_single = to_single(arena, velocity, velocity_count);
        m->n_pose_single = pose_count;
        m->n_velocity_single = velocity_count;
        return m->pose_single != NULL && m->velocity_single != NULL;
    }
    m->pose = pose;
    m->velocity = velocity;
    m->n_pose = pose_count;
    m->n_velocity = velocity_count;
    return true;
}

static bool fill_progress(Arena *arena, const Batch *batch, Moreau__V1__WorldStepReply *m) {
    size_t n = batch->count;
    m->steps_done = arena_take_array(arena, n, sizeof(uint64_t));
    m->step = arena_take_array(arena, n, sizeof(uint64_t));
    m->time = arena_take_array(arena, n, sizeof(double));
    m->hash = arena_take_array(arena, n, sizeof(uint64_t));
    if (m->steps_done == NULL || m->step == NULL || m->time == NULL || m->hash == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        m->steps_done[i] = batch->item[i].run.tally.done;
        m->step[i] = batch->item[i].step;
        m->time[i] = batch->item[i].time;
        m->hash[i] = batch->item[i].hash;
    }
    m->n_steps_done = m->n_step = m->n_time = n;
    m->n_hash = batch->wants_hash ? n : 0;
    return true;
}

// A call refused as a whole before any step has no result. One that was stopped has: it says how
// much was done.
static bool has_result(const Batch *batch, Status status) {
    bool result =
        status == STATUS_OK || status == STATUS_DEADLINE_EXCEEDED || status == STATUS_CANCELLED;
    for (size_t i = 0; i < batch->count; i++) {
        result = result || batch->item[i].run.tally.done > 0;
    }
    return result;
}

static void reply_step(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    const Moreau__V1__WorldStep *order = request->message->world_step;
    Arena *arena = &request->arena;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__WorldStepReply message = MOREAU__V1__WORLD_STEP_REPLY__INIT;
    Error error = batch_status(batch);
    if (!has_result(batch, error.status)) {
        request_reply(request, lane, &reply, &error);
        return;
    }
    bool filled = fill_progress(arena, batch, &message);
    if (filled && (batch->wants_pose || batch->wants_velocity)) {
        filled = fill_states(arena, batch, order->single, &message);
    }
    if (filled && order->reports) {
        message.reports = step_reports(arena, batch);
        filled = message.reports != NULL;
    }
    if (filled) {
        message.failures = batch_failures(batch, &message.n_failures);
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_STEP;
        reply.world_step = &message;
    } else {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "The steps were taken, but the reply does not fit into memory: ask for fewer "
                  "worlds or columns.");
    }
    request_reply(request, lane, &reply, &error);
}

// ---- hash

static void reply_hash(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    Arena *arena = &request->arena;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__WorldHashReply message = MOREAU__V1__WORLD_HASH_REPLY__INIT;
    Error error = {0};
    message.hash = arena_take_array(arena, batch->count, sizeof(uint64_t));
    message.step = arena_take_array(arena, batch->count, sizeof(uint64_t));
    // a hash that is missing cannot be told from one that is there: one unknown world fails the
    // call
    for (size_t i = 0; i < batch->count && error.status == STATUS_OK; i++) {
        error = batch->item[i].error;
    }
    bool has_room = message.hash != NULL && message.step != NULL;
    if (!has_room) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "Memory ended: ask for fewer worlds.");
    }
    if (has_room && error.status == STATUS_OK) {
        for (size_t i = 0; i < batch->count; i++) {
            message.hash[i] = batch->item[i].hash;
            message.step[i] = batch->item[i].step;
        }
        message.n_hash = message.n_step = batch->count;
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_HASH;
        reply.world_hash = &message;
    }
    request_reply(request, lane, &reply, &error);
}

Status command_world_hash_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldHash *message = request->message->world_hash;
    Batch *batch;
    Status status = batch_prepare(request, message->n_worlds, message->worlds, &batch, error);
    if (status != STATUS_OK) {
        return status;
    }
    batch->wants_hash = true;
    batch->reply = reply_hash;
    batch_submit(batch);
    return STATUS_OK;
}
