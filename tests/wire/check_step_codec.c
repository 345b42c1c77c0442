// SPDX-License-Identifier: MIT
// WorldStep and its reply by hand, beside protobuf-c: what is written is to the byte what it would
// write, what is read is what it would read, and what is not read is left to it.
#include "wire/codec.h"
#include "wire/step_codec.h"
#include "support/campaign.h"
#include "support/suite.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33 ^ *state << 20;
}

// Of all lengths alike, so that varints have all of theirs.
static uint64_t random_u64(uint64_t *state) {
    return next_random(state) >> next_random(state) % 64;
}

static double random_double(uint64_t *state) {
    return (double)next_random(state) * 1e-9;
}

// ---- writing

enum { BODIES_MAX = 200, JOINTS_MAX = 20, AXES_MAX = 120, POSITIONS_MAX = 140, BROKEN_MAX = 20 };

typedef struct Made {
    StepResults results;
    double state[7 * BODIES_MAX];
    uint64_t broken[BROKEN_MAX];
} Made;

static void fill_joints(uint64_t *state, Made *made, StepResult *result) {
    result->joint_count = (uint32_t)(next_random(state) % JOINTS_MAX);
    result->joint_axis_count = (uint32_t)(next_random(state) % AXES_MAX);
    result->joint_position_count = (uint32_t)(next_random(state) % POSITIONS_MAX);
    result->joint_position = result->joint_velocity = made->state;
    result->joint_wrench = next_random(state) & 1 ? made->state : NULL;
    result->run.tally.broken =
        next_random(state) % 8 == 0 ? next_random(state) % (BROKEN_MAX + 1) : 0;
    result->run.broken = made->broken;
}

static StepOpen random_open(uint64_t *state) {
    StepOpen open;
    open.islands = (uint32_t)random_u64(state);
    open.islands_open = (uint32_t)random_u64(state);
    open.body = random_u64(state);
    open.contacts = (uint32_t)random_u64(state);
    open.reason = (uint32_t)(next_random(state) % END_REASON_COUNT);
    open.residual = random_double(state);
    return open;
}

static StepLaunch random_launch(uint64_t *state) {
    StepLaunch launch;
    launch.speed = random_double(state);
    launch.height = random_double(state);
    launch.body[0] = random_u64(state);
    launch.body[1] = random_u64(state);
    return launch;
}

static void fill_result(uint64_t *state, Made *made, StepResult *result) {
    StepTally *tally = &result->run.tally;
    StepReport *last = &tally->last;
    result->step = random_u64(state);
    result->hash = next_random(state);
    result->time = random_double(state);
    result->worst_body[0] = random_u64(state);
    result->worst_body[1] = random_u64(state);
    result->body_count = (uint32_t)(next_random(state) % BODIES_MAX);
    result->pose = made->state;
    result->velocity = made->state;
    tally->done = random_u64(state) * (next_random(state) & 1);
    tally->unconverged = random_u64(state);
    tally->penetration_worst = random_double(state);
    tally->penetration_step = random_u64(state);
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        tally->worst[i] = random_double(state);
        tally->worst_step[i] = random_u64(state);
        last->certificate.entry[i] = random_double(state);
    }
    last->contact_count = (uint32_t)random_u64(state);
    last->row_count = (uint32_t)random_u64(state);
    last->iterations = (uint32_t)random_u64(state);
    last->solver_ns = random_u64(state);
    last->recovery_count = (uint32_t)random_u64(state);
    last->softened_count = (uint32_t)random_u64(state);
    tally->softened_steps = random_u64(state) * (next_random(state) & 1);
    last->idle_count = (uint32_t)random_u64(state);
    tally->idle_steps = random_u64(state) * (next_random(state) & 1);
    last->asleep_count = (uint32_t)random_u64(state) * (next_random(state) & 1);
    tally->gained = fabs(random_double(state)) * (double)(next_random(state) & 1);
    tally->recovery_steps = random_u64(state);
    tally->removed = random_u64(state) * (next_random(state) & 1);
    fill_joints(state, made, result);
    if (next_random(state) & 1) {
        last->open = random_open(state);
        tally->worst_open = random_open(state);
        tally->worst_open_step = random_u64(state) + 1;
    }
    if (next_random(state) & 1) {
        last->launch = random_launch(state);
        tally->worst_launch = random_launch(state);
        tally->worst_launch_step = random_u64(state) + 1;
    }
    last->certificate.penetration = random_double(state);
    last->certificate.tolerance = random_double(state);
    last->certificate.converged = next_random(state) & 1;
    double *energies = &last->energy.before;
    for (size_t i = 0; i < sizeof(last->energy) / sizeof(double); i++) {
        energies[i] = random_double(state);
    }
}

static Made *make_batch(uint64_t seed, size_t count) {
    Made *made = calloc(1, sizeof(*made));
    uint64_t state = seed, flags = next_random(&state);
    made->results = (StepResults){.count = count,
                                  .result = calloc(count, sizeof(StepResult)),
                                  .wants_hash = flags & 1,
                                  .wants_pose = flags & 2,
                                  .wants_velocity = flags & 4,
                                  .wants_single = flags & 8,
                                  .wants_reports = flags & 16,
                                  .wants_joint_position = flags & 32,
                                  .wants_joint_velocity = flags & 64,
                                  .wants_joint_wrench = flags & 128,
                                  .wants_broken = flags & 256};
    for (size_t i = 0; i < COUNT_OF(made->state); i++) {
        made->state[i] = random_double(&state);
    }
    for (size_t i = 0; i < BROKEN_MAX; i++) {
        made->broken[i] = random_u64(&state);
    }
    for (size_t i = 0; i < count; i++) {
        fill_result(&state, made, &made->results.result[i]);
    }
    return made;
}

static void free_batch(Made *made) {
    free(made->results.result);
    free(made);
}

// The numbers of one column, in order, beside where they stand in the results.
#define EXPECT_COLUMN(made, count_member, values, expression)                                      \
    do {                                                                                           \
        bool all_equal = (count_member) == (made)->results.count;                                  \
        for (size_t k = 0; all_equal && k < (made)->results.count; k++) {                          \
            const StepResult *result = &(made)->results.result[k];                                 \
            all_equal = (values)[k] == (expression);                                               \
        }                                                                                          \
        ck_assert_msg(all_equal, "%s", #values);                                                   \
    } while (0)

static void expect_certificates(const Made *made, const Moreau__V1__StepReports *m) {
    EXPECT_COLUMN(made, m->last->n_e_mom, m->last->e_mom,
                  result->run.tally.last.certificate.entry[CERTIFICATE_MOM]);
    EXPECT_COLUMN(made, m->last->n_e_pen, m->last->e_pen,
                  result->run.tally.last.certificate.entry[CERTIFICATE_PEN]);
    EXPECT_COLUMN(made, m->last->n_e_comp, m->last->e_comp,
                  result->run.tally.last.certificate.entry[CERTIFICATE_COMP]);
    EXPECT_COLUMN(made, m->last->n_e_cone, m->last->e_cone,
                  result->run.tally.last.certificate.entry[CERTIFICATE_CONE]);
    EXPECT_COLUMN(made, m->last->n_e_mdp, m->last->e_mdp,
                  result->run.tally.last.certificate.entry[CERTIFICATE_MDP]);
    EXPECT_COLUMN(made, m->last->n_e_ds, m->last->e_ds,
                  result->run.tally.last.certificate.entry[CERTIFICATE_DS]);
    EXPECT_COLUMN(made, m->last->n_e_own, m->last->e_own,
                  result->run.tally.last.certificate.entry[CERTIFICATE_OWN]);
    EXPECT_COLUMN(made, m->last->n_e_row, m->last->e_row,
                  result->run.tally.last.certificate.entry[CERTIFICATE_ROW]);
    EXPECT_COLUMN(made, m->last->n_penetration, m->last->penetration,
                  result->run.tally.last.certificate.penetration);
    EXPECT_COLUMN(made, m->worst->n_e_mom, m->worst->e_mom, result->run.tally.worst[0]);
    EXPECT_COLUMN(made, m->worst->n_e_row, m->worst->e_row,
                  result->run.tally.worst[CERTIFICATE_ROW]);
    EXPECT_COLUMN(made, m->worst->n_penetration, m->worst->penetration,
                  result->run.tally.penetration_worst);
    EXPECT_COLUMN(made, m->worst_step->n_e_mom, m->worst_step->e_mom,
                  result->run.tally.worst_step[0]);
    EXPECT_COLUMN(made, m->worst_step->n_e_row, m->worst_step->e_row,
                  result->run.tally.worst_step[CERTIFICATE_ROW]);
    EXPECT_COLUMN(made, m->worst_step->n_penetration, m->worst_step->penetration,
                  result->run.tally.penetration_step);
}

static void expect_launch(const Made *made, const Moreau__V1__StepReports *m) {
    bool is_any = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any = is_any || made->results.result[i].run.tally.worst_launch_step > 0;
    }
    ck_assert_int_eq(m->launch != NULL, is_any);
    ck_assert_int_eq(m->worst_launch != NULL, is_any);
    if (!is_any) {
        ck_assert_uint_eq(m->n_worst_launch_step, 0);
        return;
    }
    EXPECT_COLUMN(made, m->launch->n_speed, m->launch->speed, result->run.tally.last.launch.speed);
    EXPECT_COLUMN(made, m->launch->n_gliding, m->launch->gliding,
                  result->run.tally.last.launch.height);
    EXPECT_COLUMN(made, m->worst_launch->n_body_a, m->worst_launch->body_a,
                  result->run.tally.worst_launch.body[0]);
    EXPECT_COLUMN(made, m->worst_launch->n_body_b, m->worst_launch->body_b,
                  result->run.tally.worst_launch.body[1]);
    EXPECT_COLUMN(made, m->n_worst_launch_step, m->worst_launch_step,
                  result->run.tally.worst_launch_step);
}

static void expect_open(const Made *made, const Moreau__V1__StepReports *m) {
    bool is_any = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any = is_any || made->results.result[i].run.tally.worst_open_step > 0;
    }
    ck_assert_int_eq(m->open != NULL, is_any);
    ck_assert_int_eq(m->worst_open != NULL, is_any);
    if (!is_any) {
        ck_assert_uint_eq(m->n_worst_open_step, 0);
        return;
    }
    EXPECT_COLUMN(made, m->open->n_islands, m->open->islands, result->run.tally.last.open.islands);
    EXPECT_COLUMN(made, m->open->n_islands_open, m->open->islands_open,
                  result->run.tally.last.open.islands_open);
    EXPECT_COLUMN(made, m->open->n_body, m->open->body, result->run.tally.last.open.body);
    EXPECT_COLUMN(made, m->worst_open->n_contacts, m->worst_open->contacts,
                  result->run.tally.worst_open.contacts);
    EXPECT_COLUMN(made, m->worst_open->n_residual, m->worst_open->residual,
                  result->run.tally.worst_open.residual);
    EXPECT_COLUMN(made, m->worst_open->n_reason, m->worst_open->reason,
                  (Moreau__V1__Certificate__Reason)result->run.tally.worst_open.reason);
    EXPECT_COLUMN(made, m->n_worst_open_step, m->worst_open_step,
                  result->run.tally.worst_open_step);
}

static void expect_idle(const Made *made, const Moreau__V1__StepReports *m) {
    bool is_any = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any |= made->results.result[i].run.tally.idle_steps > 0;
    }
    if (is_any) {
        EXPECT_COLUMN(made, m->n_idle, m->idle, result->run.tally.last.idle_count);
        EXPECT_COLUMN(made, m->n_idle_steps, m->idle_steps, result->run.tally.idle_steps);
    } else {
        ck_assert_uint_eq(m->n_idle, 0);
        ck_assert_uint_eq(m->n_idle_steps, 0);
    }
}

static void expect_reports(const Made *made, const Moreau__V1__StepReports *m) {
    expect_open(made, m);
    expect_launch(made, m);
    expect_certificates(made, m);
    EXPECT_COLUMN(made, m->n_contacts, m->contacts, result->run.tally.last.contact_count);
    EXPECT_COLUMN(made, m->n_rows, m->rows, result->run.tally.last.row_count);
    EXPECT_COLUMN(made, m->n_iterations, m->iterations, result->run.tally.last.iterations);
    EXPECT_COLUMN(made, m->n_converged, m->converged,
                  (result->run.tally.done > 0 && result->run.tally.last.certificate.converged));
    EXPECT_COLUMN(made, m->n_unconverged_steps, m->unconverged_steps,
                  result->run.tally.unconverged);
    EXPECT_COLUMN(made, m->n_tolerance, m->tolerance, result->run.tally.last.certificate.tolerance);
    EXPECT_COLUMN(made, m->n_solver_time, m->solver_time,
                  (double)result->run.tally.last.solver_ns * 1e-9);
    EXPECT_COLUMN(made, m->n_recovery_contacts, m->recovery_contacts,
                  result->run.tally.last.recovery_count);
    EXPECT_COLUMN(made, m->n_recovery_steps, m->recovery_steps, result->run.tally.recovery_steps);
    bool is_any_asleep = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any_asleep |= made->results.result[i].run.tally.last.asleep_count > 0;
    }
    if (is_any_asleep) {
        EXPECT_COLUMN(made, m->n_asleep, m->asleep, result->run.tally.last.asleep_count);
    } else {
        ck_assert_uint_eq(m->n_asleep, 0);
    }
    bool is_any_softened = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any_softened |= made->results.result[i].run.tally.softened_steps > 0;
    }
    if (is_any_softened) {
        EXPECT_COLUMN(made, m->n_softened, m->softened, result->run.tally.last.softened_count);
        EXPECT_COLUMN(made, m->n_softened_steps, m->softened_steps,
                      result->run.tally.softened_steps);
    } else {
        ck_assert_uint_eq(m->n_softened, 0);
        ck_assert_uint_eq(m->n_softened_steps, 0);
    }
    expect_idle(made, m);
    EXPECT_COLUMN(made, m->n_worst_body_a, m->worst_body_a, result->worst_body[0]);
    EXPECT_COLUMN(made, m->n_worst_body_b, m->worst_body_b, result->worst_body[1]);
    EXPECT_COLUMN(made, m->energy->n_before, m->energy->before,
                  result->run.tally.last.energy.before);
    EXPECT_COLUMN(made, m->energy->n_after, m->energy->after, result->run.tally.last.energy.after);
    EXPECT_COLUMN(made, m->energy->n_contact, m->energy->contact,
                  result->run.tally.last.energy.contact);
    EXPECT_COLUMN(made, m->energy->n_row, m->energy->row, result->run.tally.last.energy.row);
    EXPECT_COLUMN(made, m->energy->n_applied, m->energy->applied,
                  result->run.tally.last.energy.applied);
    EXPECT_COLUMN(made, m->energy->n_scheme, m->energy->scheme,
                  result->run.tally.last.energy.scheme);
    EXPECT_COLUMN(made, m->energy->n_unexplained, m->energy->unexplained,
                  result->run.tally.last.energy.unexplained);
    EXPECT_COLUMN(made, m->energy->n_drive, m->energy->drive, result->run.tally.last.energy.drive);
    EXPECT_COLUMN(made, m->energy->n_swing, m->energy->swing, result->run.tally.last.energy.swing);
    bool has_gained = false;
    for (size_t i = 0; i < made->results.count; i++) {
        has_gained |= made->results.result[i].run.tally.gained > 0.0;
    }
    if (has_gained) {
        EXPECT_COLUMN(made, m->n_gained, m->gained, result->run.tally.gained);
    } else {
        ck_assert_uint_eq(m->n_gained, 0);
    }
}

// One state column: `stride` numbers of every body of every world, each world's from the first on.
static void expect_states(const Made *made, bool wanted, bool single, size_t stride,
                          size_t counts[2], const double *values, const float *singles) {
    size_t at = 0;
    bool all_equal = true;
    for (size_t i = 0; wanted && i < made->results.count; i++) {
        for (size_t k = 0; k < stride * made->results.result[i].body_count; k++, at++) {
            all_equal = all_equal && (single ? singles[at] == (float)made->state[k]
                                             : values[at] == made->state[k]);
        }
    }
    ck_assert(all_equal);
    ck_assert_uint_eq(counts[0], single ? 0 : at);
    ck_assert_uint_eq(counts[1], single ? at : 0);
}

static void expect_bodies(const Made *made, const Moreau__V1__WorldStepReply *m) {
    const StepResults *results = &made->results;
    if (!results->wants_pose && !results->wants_velocity) {
        ck_assert_uint_eq(m->n_body_count, 0);
    } else {
        EXPECT_COLUMN(made, m->n_body_count, m->body_count, result->body_count);
    }
    expect_states(made, results->wants_pose, results->wants_single, 7,
                  (size_t[]){m->n_pose, m->n_pose_single}, m->pose, m->pose_single);
    expect_states(made, results->wants_velocity, results->wants_single, 6,
                  (size_t[]){m->n_velocity, m->n_velocity_single}, m->velocity, m->velocity_single);
}

static bool is_any_broken(const Made *made) {
    bool is_any = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any = is_any || made->results.result[i].run.tally.broken > 0;
    }
    return is_any;
}

static void expect_broken(const Made *made, const Moreau__V1__WorldStepReply *m) {
    if (m->reports != NULL && is_any_broken(made)) {
        EXPECT_COLUMN(made, m->reports->n_broken_joints, m->reports->broken_joints,
                      result->run.tally.broken);
    } else if (m->reports != NULL) {
        ck_assert_uint_eq(m->reports->n_broken_joints, 0);
    }
    size_t at = 0;
    bool is_told = made->results.wants_broken && is_any_broken(made);
    ck_assert_uint_eq(m->n_broken_count, is_told ? made->results.count : 0);
    for (size_t i = 0; is_told && i < made->results.count; i++) {
        ck_assert_uint_eq(m->broken_count[i], made->results.result[i].run.tally.broken);
        for (uint32_t k = 0; k < m->broken_count[i]; k++) {
            ck_assert_uint_eq(m->broken[at++], made->broken[k]);
        }
    }
    ck_assert_uint_eq(m->n_broken, at);
}

// One column of joints' numbers, each world's from the first on.
static void expect_joint_numbers(const Made *made, bool wanted, bool velocity, size_t counts[2],
                                 const double *values, const float *singles) {
    const bool single = made->results.wants_single;
    size_t at = 0;
    bool all_equal = true;
    for (size_t i = 0; wanted && i < made->results.count; i++) {
        const StepResult *result = &made->results.result[i];
        const size_t count = velocity ? result->joint_axis_count : result->joint_position_count;
        for (size_t k = 0; k < count; k++, at++) {
            all_equal = all_equal && (single ? singles[at] == (float)made->state[k]
                                             : values[at] == made->state[k]);
        }
    }
    ck_assert(all_equal);
    ck_assert_uint_eq(counts[0], single ? 0 : at);
    ck_assert_uint_eq(counts[1], single ? at : 0);
}

static void expect_joints(const Made *made, const Moreau__V1__WorldStepReply *m) {
    const StepResults *results = &made->results;
    if (step_results_show_joints(results)) {
        EXPECT_COLUMN(made, m->n_joint_count, m->joint_count, result->joint_count);
        EXPECT_COLUMN(made, m->n_joint_axis_count, m->joint_axis_count, result->joint_axis_count);
        EXPECT_COLUMN(made, m->n_joint_position_count, m->joint_position_count,
                      result->joint_position_count);
    } else {
        ck_assert_uint_eq(m->n_joint_count + m->n_joint_axis_count + m->n_joint_position_count, 0);
    }
    expect_joint_numbers(made, results->wants_joint_position, false,
                         (size_t[]){m->n_joint_position, m->n_joint_position_single},
                         m->joint_position, m->joint_position_single);
    expect_joint_numbers(made, results->wants_joint_velocity, true,
                         (size_t[]){m->n_joint_velocity, m->n_joint_velocity_single},
                         m->joint_velocity, m->joint_velocity_single);
    size_t at = 0;
    bool all_equal = true;
    for (size_t i = 0; results->wants_joint_wrench && i < results->count; i++) {
        const StepResult *result = &results->result[i];
        for (size_t k = 0; k < 6 * (size_t)result->joint_count; k++, at++) {
            all_equal = all_equal && m->joint_wrench[at] ==
                                         (result->joint_wrench == NULL ? 0.0 : made->state[k]);
        }
    }
    ck_assert(all_equal);
    ck_assert_uint_eq(m->n_joint_wrench, at);
    expect_broken(made, m);
}

static void expect_message(const Made *made, const Moreau__V1__WorldStepReply *m) {
    EXPECT_COLUMN(made, m->n_steps_done, m->steps_done, result->run.tally.done);
    EXPECT_COLUMN(made, m->n_step, m->step, result->step);
    EXPECT_COLUMN(made, m->n_time, m->time, result->time);
    expect_bodies(made, m);
    expect_joints(made, m);
    ck_assert(made->results.wants_reports == (m->reports != NULL));
    if (m->reports != NULL) {
        expect_reports(made, m->reports);
    }
    if (made->results.wants_hash) {
        EXPECT_COLUMN(made, m->n_hash, m->hash, result->hash);
    } else {
        ck_assert_uint_eq(m->n_hash, 0);
    }
    bool is_any_removed = false;
    for (size_t i = 0; i < made->results.count; i++) {
        is_any_removed = is_any_removed || made->results.result[i].run.tally.removed > 0;
    }
    if (is_any_removed) {
        EXPECT_COLUMN(made, m->n_removed, m->removed, result->run.tally.removed);
    } else {
        ck_assert_uint_eq(m->n_removed, 0);
    }
}

// around where lengths change from one byte to two, and from two to three
static const size_t batch_counts[] = {1, 2, 3, 12, 13, 15, 16, 17, 127, 128, 129, 300, 2047, 2048};

START_TEST(a_reply_is_what_protobuf_would_write) {
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    Moreau__V1__Status *failures[] = {&status, &status};
    status.message = (char *)"No world has the id 7.";
    for (uint64_t seed = 0; seed < 64; seed++) {
        size_t failure_count = seed % 3;
        Made *made = make_batch(seed, batch_counts[_i]);
        size_t bytes_max = step_codec_bytes_max(&made->results, failures, failure_count);
        uint8_t *written = malloc(bytes_max), *packed = malloc(bytes_max);
        size_t count =
            (size_t)(step_codec_pack(&made->results, failures, failure_count, written) - written);
        ck_assert_uint_le(count, bytes_max);
        Moreau__V1__WorldStepReply *m = moreau__v1__world_step_reply__unpack(NULL, count, written);
        ck_assert_ptr_nonnull(m);
        expect_message(made, m);
        ck_assert_uint_eq(m->n_failures, failure_count);
        ck_assert_uint_eq(moreau__v1__world_step_reply__get_packed_size(m), count);
        moreau__v1__world_step_reply__pack(m, packed);
        ck_assert_mem_eq(packed, written, count);
        moreau__v1__world_step_reply__free_unpacked(m, NULL);
        free(written);
        free(packed);
        free_batch(made);
    }
}
END_TEST

// ---- reading

enum { WORLDS_MAX = 40, WRENCHES_MAX = 30, REQUEST_BYTES_MAX = 4096 };

// A legal step; which of its fields are there is drawn too.
static size_t make_request(uint64_t *state, uint8_t bytes[REQUEST_BYTES_MAX]) {
    uint64_t worlds[WORLDS_MAX], bodies[WRENCHES_MAX];
    uint32_t counts[WORLDS_MAX];
    uint32_t axes[WORLDS_MAX];
    double wrench[6 * WRENCHES_MAX];
    uint64_t has = next_random(state), joint_has = next_random(state);
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.has_id = has & 1;
    request.has_deadline_ms = has >> 1 & 1;
    step.has_steps = has >> 2 & 1;
    step.has_time_step = has >> 3 & 1;
    step.has_poses = has >> 4 & 1;
    step.has_velocities = has >> 5 & 1;
    step.has_single = has >> 6 & 1;
    step.has_reports = has >> 7 & 1;
    step.has_hashes = has >> 8 & 1;
    step.has_joint_positions = joint_has & 1;
    step.has_joint_velocities = joint_has >> 1 & 1;
    step.has_joint_wrenches = joint_has >> 2 & 1;
    step.has_broken_joints = joint_has >> 3 & 1;
    step.joint_positions = joint_has >> 4 & 1;
    step.joint_velocities = joint_has >> 5 & 1;
    step.joint_wrenches = joint_has >> 6 & 1;
    step.broken_joints = joint_has >> 7 & 1;
    request.id = random_u64(state);
    request.deadline_ms = (uint32_t)random_u64(state);
    step.steps = random_u64(state);
    step.time_step = random_double(state);
    step.poses = has >> 9 & 1;
    step.velocities = has >> 10 & 1;
    step.single = has >> 11 & 1;
    step.reports = has >> 12 & 1;
    step.hashes = has >> 13 & 1;
    step.n_worlds = has >> 14 & 1 ? 1 + next_random(state) % (WORLDS_MAX - 1) : 1;
    step.n_wrench_count = has >> 15 & 1 ? step.n_worlds : 0;
    step.n_wrench_body = has >> 16 & 1 ? next_random(state) % WRENCHES_MAX : 0;
    step.n_wrench = 6 * step.n_wrench_body;
    step.n_joint_count = joint_has >> 8 & 1 ? step.n_worlds : 0;
    step.n_joint_axis_count = joint_has >> 9 & 1 ? step.n_worlds : 0;
    step.n_joints = joint_has >> 10 & 1 ? next_random(state) % WRENCHES_MAX : 0;
    step.n_joint_target = joint_has >> 11 & 1 ? next_random(state) % WRENCHES_MAX : 0;
    step.n_joint_target_velocity = joint_has >> 12 & 1 ? next_random(state) % WRENCHES_MAX : 0;
    step.n_joint_effort = joint_has >> 13 & 1 ? next_random(state) % WRENCHES_MAX : 0;
    for (size_t i = 0; i < WORLDS_MAX; i++) {
        worlds[i] = random_u64(state);
        axes[i] = (uint32_t)random_u64(state);
        counts[i] = (uint32_t)random_u64(state);
    }
    for (size_t i = 0; i < WRENCHES_MAX; i++) {
        bodies[i] = random_u64(state);
    }
    for (size_t i = 0; i < COUNT_OF(wrench); i++) {
        wrench[i] = random_double(state);
    }
    step.worlds = worlds;
    step.wrench_count = counts;
    step.wrench_body = bodies;
    step.wrench = wrench;
    step.joint_count = counts;
    step.joint_axis_count = axes;
    step.joints = bodies;
    step.joint_target = wrench;
    step.joint_target_velocity = wrench + WRENCHES_MAX;
    step.joint_effort = wrench + 2 * (size_t)WRENCHES_MAX;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    request.world_step = &step;
    ck_assert_uint_le(moreau__v1__request__get_packed_size(&request), REQUEST_BYTES_MAX);
    return moreau__v1__request__pack(&request, bytes);
}

static bool same_message(const Moreau__V1__Request *a, const Moreau__V1__Request *b) {
    uint8_t bytes[2][2 * REQUEST_BYTES_MAX];
    size_t count = moreau__v1__request__get_packed_size(a);
    ck_assert_uint_le(count, sizeof(bytes[0]));
    if (moreau__v1__request__get_packed_size(b) != count) {
        return false;
    }
    moreau__v1__request__pack(a, bytes[0]);
    moreau__v1__request__pack(b, bytes[1]);
    return memcmp(bytes[0], bytes[1], count) == 0;
}

// What is read by hand, protobuf-c reads too, to the same, and it passes the checks. True: it was
// read by hand.
static bool expect_agreement(const uint8_t *bytes, size_t count) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    const Moreau__V1__Request *mine = step_codec_unpack(&arena, bytes, count);
    if (mine != NULL) {
        bool exhausted;
        const ProtobufCMessage *theirs =
            codec_unpack(&moreau__v1__request__descriptor, &arena, bytes, count, &exhausted);
        ck_assert_ptr_nonnull(theirs);
        ck_assert_uint_eq(theirs->n_unknown_fields, 0);
        ck_assert(same_message(mine, (const Moreau__V1__Request *)(const void *)theirs));
        Error error;
        ck_assert_int_eq(codec_check(theirs, &error), STATUS_OK);
    }
    arena_deinit(&arena);
    return mine != NULL;
}

START_TEST(a_step_is_read_as_protobuf_reads_it) {
    uint64_t state = 1;
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        uint8_t bytes[REQUEST_BYTES_MAX];
        size_t count = make_request(&state, bytes);
        ck_assert(expect_agreement(bytes, count));
    }
}
END_TEST

START_TEST(a_damaged_step_is_left_to_protobuf_or_read_alike) {
    uint64_t state = 2;
    int read = 0;
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        uint8_t bytes[REQUEST_BYTES_MAX];
        size_t count = make_request(&state, bytes);
        for (uint64_t k = next_random(&state) % 3; k < 3; k++) {
            bytes[next_random(&state) % (count < 64 ? count : 64)] ^=
                (uint8_t)(1 << next_random(&state) % 8);
        }
        read += expect_agreement(bytes, next_random(&state) % 8 == 0 ? count / 2 : count);
    }
    ck_assert_int_gt(read, campaign_count(1000)); // damage that only changes a number is read
}
END_TEST

typedef struct Odd {
    const char *what;
    size_t count;
    const char *bytes;
} Odd;

static const Odd odd[] = {
    {"nothing", 0, ""},
    {"an id alone", 2, "\x08\x01"},
    {"another call", 5, "\x08\x01\x5a\x00\x00"},
    {"a step, then another field", 9, "\xc2\x02\x03\x0a\x01\x05\x08\x01\x00"},
    {"a field twice", 10, "\xc2\x02\x07\x0a\x01\x05\x10\x02\x10\x03"},
    {"fields in another order", 9, "\xc2\x02\x06\x10\x02\x0a\x01\x05"},
    {"a list that is not packed", 5, "\xc2\x02\x02\x08\x05"},
    {"an unknown field", 6, "\xc2\x02\x03\xe0\x01\x05"},
    {"a list longer than the call", 6, "\xc2\x02\x03\x0a\x02\x05"},
    {"a list that ends inside a number", 6, "\xc2\x02\x03\x0a\x01\x85"},
    {"a call longer than the frame", 5, "\xc2\x02\x04\x0a\x01"},
    {"a flag of two", 5, "\xc2\x02\x02\x38\x02"},
    {"a number of eleven bytes", 15,
     "\xc2\x02\x0c\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
    {"a number of 65 bits", 14, "\xc2\x02\x0b\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"},
    {"half a time step", 8, "\xc2\x02\x05\x19\x00\x00\x00\x00"},
    {"an infinite time step", 12, "\xc2\x02\x09\x19\x00\x00\x00\x00\x00\x00\xf0\x7f"},
    {"a wrench that is no number", 13, "\xc2\x02\x0a\x32\x08\x00\x00\x00\x00\x00\x00\xf8\x7f"},
    {"a piece of a wrench", 8, "\xc2\x02\x05\x32\x03\x00\x00\x00"},
    {"a piece of a target", 8, "\xc2\x02\x05\x7a\x03\x00\x00\x00"},
    {"an effort that is no number", 14, "\xc2\x02\x0b\x8a\x01\x08\x00\x00\x00\x00\x00\x00\xf8\x7f"},
};

START_TEST(what_is_not_as_encoders_write_it_is_left_to_protobuf) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    ck_assert_msg(step_codec_unpack(&arena, (const uint8_t *)odd[_i].bytes, odd[_i].count) == NULL,
                  "%s was read", odd[_i].what);
    ck_assert_uint_eq(arena.used_bytes, 0);
    arena_deinit(&arena);
}
END_TEST

START_TEST(memory_that_ends_is_left_to_protobuf_to_report) {
    uint64_t state = 3;
    uint8_t bytes[REQUEST_BYTES_MAX];
    size_t count = make_request(&state, bytes);
    bool was_read = false;
    for (size_t limit = 0; limit <= 16384; limit += 64) {
        Arena arena;
        arena_init(&arena, limit);
        bool is_read = step_codec_unpack(&arena, bytes, count) != NULL;
        ck_assert(is_read || !was_read);
        was_read = is_read;
        arena_deinit(&arena);
    }
    ck_assert(was_read);
}
END_TEST

static TCase *case_writing(void) {
    TCase *tcase = tcase_create("writing");
    tcase_add_loop_test(tcase, a_reply_is_what_protobuf_would_write, 0, COUNT_OF(batch_counts));
    return tcase;
}

static TCase *case_reading(void) {
    TCase *tcase = tcase_create("reading");
    tcase_add_test(tcase, a_step_is_read_as_protobuf_reads_it);
    tcase_add_test(tcase, a_damaged_step_is_left_to_protobuf_or_read_alike);
    tcase_add_loop_test(tcase, what_is_not_as_encoders_write_it_is_left_to_protobuf, 0,
                        COUNT_OF(odd));
    tcase_add_test(tcase, memory_that_ends_is_left_to_protobuf_to_report);
    return tcase;
}

SUITE_MAIN("api/step_codec", case_writing, case_reading)
