// SPDX-License-Identifier: MIT
#include "wire/step_codec.h"

#include "wire/wire.h"
#include "base/vec.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// ---- reading

static uint64_t *read_u64s(Arena *arena, WireCursor *part, size_t *count) {
    *count = wire_count_varints(part);
    uint64_t *values = arena_take_array(arena, *count, sizeof(*values));
    part->failed = part->failed || values == NULL;
    for (size_t i = 0; i < *count && !part->failed; i++) {
        values[i] = wire_read_varint(part);
    }
    return values;
}

static uint32_t *read_u32s(Arena *arena, WireCursor *part, size_t *count) {
    *count = wire_count_varints(part);
    uint32_t *values = arena_take_array(arena, *count, sizeof(*values));
    part->failed = part->failed || values == NULL;
    for (size_t i = 0; i < *count && !part->failed; i++) {
        uint64_t value = wire_read_varint(part);
        values[i] = (uint32_t)value;
        part->failed = part->failed || value > UINT32_MAX;
    }
    return values;
}

static double *read_doubles(Arena *arena, WireCursor *part, size_t *count) {
    size_t bytes = (size_t)(part->end - part->at);
    *count = bytes / sizeof(double);
    double *values = arena_take_array(arena, *count, sizeof(*values));
    if (values == NULL || bytes % sizeof(double) != 0) {
        part->failed = true;
        return NULL;
    }
    memcpy(values, part->at, bytes);
    part->at = part->end;
    part->failed = part->failed || !numbers_are_finite(values, *count);
    return values;
}

static double read_double(WireCursor *cursor) {
    double value = NAN;
    if ((size_t)(cursor->end - cursor->at) >= sizeof(value)) {
        memcpy(&value, cursor->at, sizeof(value));
        cursor->at += sizeof(value);
    }
    cursor->failed = cursor->failed || !isfinite(value);
    return value;
}

static protobuf_c_boolean read_flag(WireCursor *cursor) {
    uint64_t value = wire_read_varint(cursor);
    cursor->failed = cursor->failed || value > 1;
    return value == 1;
}

typedef struct StepRequest {
    Moreau__V1__Request request;
    Moreau__V1__WorldStep step;
    uint64_t world; // what step.worlds points to when there is one
} StepRequest;

static void read_worlds(Arena *arena, WireCursor *part, StepRequest *made) {
    Moreau__V1__WorldStep *step = &made->step;
    if (wire_count_varints(part) != 1) {
        step->worlds = read_u64s(arena, part, &step->n_worlds);
        return;
    }
    made->world = wire_read_varint(part);
    step->worlds = &made->world;
    step->n_worlds = 1;
}

// How a field of the call is read.
typedef enum FieldKind {
    FIELD_NONE,
    FIELD_WORLDS,
    FIELD_U32S,
    FIELD_U64S,
    FIELD_DOUBLES,
    FIELD_FLAG,
    FIELD_U64,
    FIELD_DOUBLE
} FieldKind;

// A field by its number: what it is, where its count or that it is there goes, and where it goes.
typedef struct Field {
    FieldKind kind;
    uint32_t given, offset;
} Field;

#define STEP(member) ((uint32_t)offsetof(Moreau__V1__WorldStep, member))
#define MANY(kind, member)                                                                         \
    { FIELD_##kind, STEP(n_##member), STEP(member) }
#define ONE(kind, member)                                                                          \
    { FIELD_##kind, STEP(has_##member), STEP(member) }

static const Field step_fields[] = {
    [1] = MANY(WORLDS, worlds),
    [2] = ONE(U64, steps),
    [3] = ONE(DOUBLE, time_step),
    [4] = MANY(U32S, wrench_count),
    [5] = MANY(U64S, wrench_body),
    [6] = MANY(DOUBLES, wrench),
    [7] = ONE(FLAG, poses),
    [8] = ONE(FLAG, velocities),
    [9] = ONE(FLAG, single),
    [10] = ONE(FLAG, reports),
    [11] = ONE(FLAG, hashes),
    [12] = MANY(U32S, joint_count),
    [13] = MANY(U32S, joint_axis_count),
    [14] = MANY(U64S, joints),
    [15] = MANY(DOUBLES, joint_target),
    [16] = MANY(DOUBLES, joint_target_velocity),
    [17] = MANY(DOUBLES, joint_effort),
    [18] = ONE(FLAG, joint_positions),
    [19] = ONE(FLAG, joint_velocities),
    [20] = ONE(FLAG, joint_wrenches),
    [21] = ONE(FLAG, broken_joints),
};

static uint64_t wire_type_of(FieldKind kind) {
    return kind == FIELD_DOUBLE                      ? WIRE_FIXED64
           : kind == FIELD_U64 || kind == FIELD_FLAG ? WIRE_VARINT
                                                     : WIRE_BYTES;
}

static void read_column(Arena *arena, WireCursor *cursor, const Field *field, StepRequest *made) {
    char *step = (char *)&made->step;
    size_t *count = (size_t *)(void *)(step + field->given);
    void *at = step + field->offset;
    WireCursor part = wire_read_part(cursor);
    if (cursor->failed) {
        return;
    }
    if (field->kind == FIELD_WORLDS) {
        read_worlds(arena, &part, made);
    } else if (field->kind == FIELD_U32S) {
        *(uint32_t **)at = read_u32s(arena, &part, count);
    } else if (field->kind == FIELD_U64S) {
        *(uint64_t **)at = read_u64s(arena, &part, count);
    } else {
        *(double **)at = read_doubles(arena, &part, count);
    }
    cursor->failed = part.failed || part.at != part.end;
}

static void read_field(Arena *arena, WireCursor *cursor, uint64_t key, StepRequest *made) {
    const Field *field = key >> 3 < COUNT_OF(step_fields) ? &step_fields[key >> 3] : step_fields;
    if (field->kind == FIELD_NONE || (key & 7) != wire_type_of(field->kind)) {
        cursor->failed = true;
        return;
    }
    if ((key & 7) == WIRE_BYTES) {
        read_column(arena, cursor, field, made);
        return;
    }
    char *step = (char *)&made->step;
    void *at = step + field->offset;
    *(protobuf_c_boolean *)(void *)(step + field->given) = 1;
    if (field->kind == FIELD_U64) {
        *(uint64_t *)at = wire_read_varint(cursor);
    } else if (field->kind == FIELD_DOUBLE) {
        *(double *)at = read_double(cursor);
    } else {
        *(protobuf_c_boolean *)at = read_flag(cursor);
    }
}

// The call, and that its fields rise.
static bool read_call(Arena *arena, WireCursor cursor, StepRequest *made) {
    made->step = (Moreau__V1__WorldStep)MOREAU__V1__WORLD_STEP__INIT;
    made->request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    made->request.world_step = &made->step;
    for (uint64_t last = 0; cursor.at < cursor.end && !cursor.failed;) {
        uint64_t key = wire_read_varint(&cursor);
        cursor.failed = cursor.failed || key <= last;
        last = key;
        if (!cursor.failed) {
            read_field(arena, &cursor, key, made);
        }
    }
    return !cursor.failed;
}

static bool read_request(Arena *arena, WireCursor cursor, StepRequest *made) {
    Moreau__V1__Request *request = &made->request;
    *request = (Moreau__V1__Request)MOREAU__V1__REQUEST__INIT;
    uint64_t key = wire_read_varint(&cursor);
    if (key == (1 << 3 | WIRE_VARINT)) {
        request->has_id = 1;
        request->id = wire_read_varint(&cursor);
        key = wire_read_varint(&cursor);
    }
    if (key == (2 << 3 | WIRE_VARINT)) {
        uint64_t deadline_ms = wire_read_varint(&cursor);
        request->has_deadline_ms = 1;
        request->deadline_ms = (uint32_t)deadline_ms;
        cursor.failed = cursor.failed || deadline_ms > UINT32_MAX;
        key = wire_read_varint(&cursor);
    }
    if (cursor.failed || key != (MOREAU__V1__REQUEST__CALL_WORLD_STEP << 3 | WIRE_BYTES)) {
        return false;
    }
    WireCursor call = wire_read_part(&cursor);
    return !cursor.failed && cursor.at == cursor.end && read_call(arena, call, made);
}

Moreau__V1__Request *step_codec_unpack(Arena *arena, const uint8_t *bytes, size_t count) {
    ArenaMark mark = arena_mark(arena);
    StepRequest *made = arena_take(arena, sizeof(*made));
    WireCursor cursor = {.at = bytes, .end = bytes + count};
    if (made == NULL || !read_request(arena, cursor, made)) {
        arena_reset_to(arena, mark);
        return NULL;
    }
    return &made->request;
}

// ---- writing

// One number of every world: where it stands in a StepResult.
typedef struct Column {
    uint32_t field;
    uint32_t offset;
} Column;

#define AT(member)    ((uint32_t)offsetof(StepResult, member))
#define LAST(member)  AT(run.tally.last.member)
#define TALLY(member) AT(run.tally.member)

static const Column last_columns[] = {
    {1, LAST(certificate.entry[CERTIFICATE_MOM])},
    {2, LAST(certificate.entry[CERTIFICATE_PEN])},
    {3, LAST(certificate.entry[CERTIFICATE_COMP])},
    {4, LAST(certificate.entry[CERTIFICATE_CONE])},
    {5, LAST(certificate.entry[CERTIFICATE_MDP])},
    {6, LAST(certificate.entry[CERTIFICATE_DS])},
    {7, LAST(certificate.entry[CERTIFICATE_OWN])},
    {8, LAST(certificate.entry[CERTIFICATE_ROW])},
    {9, LAST(certificate.penetration)},
};

static const Column worst_columns[] = {
    {1, TALLY(worst[CERTIFICATE_MOM])},  {2, TALLY(worst[CERTIFICATE_PEN])},
    {3, TALLY(worst[CERTIFICATE_COMP])}, {4, TALLY(worst[CERTIFICATE_CONE])},
    {5, TALLY(worst[CERTIFICATE_MDP])},  {6, TALLY(worst[CERTIFICATE_DS])},
    {7, TALLY(worst[CERTIFICATE_OWN])},  {8, TALLY(worst[CERTIFICATE_ROW])},
    {9, TALLY(penetration_worst)},
};

static const Column worst_step_columns[] = {
    {1, TALLY(worst_step[CERTIFICATE_MOM])},
    {2, TALLY(worst_step[CERTIFICATE_PEN])},
    {3, TALLY(worst_step[CERTIFICATE_COMP])},
    {4, TALLY(worst_step[CERTIFICATE_CONE])},
    {5, TALLY(worst_step[CERTIFICATE_MDP])},
    {6, TALLY(worst_step[CERTIFICATE_DS])},
    {7, TALLY(worst_step[CERTIFICATE_OWN])},
    {8, TALLY(worst_step[CERTIFICATE_ROW])},
    {9, TALLY(penetration_step)},
};

static const Column energy_columns[] = {
    {1, LAST(energy.before)},      {2, LAST(energy.after)},   {3, LAST(energy.contact)},
    {4, LAST(energy.row)},         {5, LAST(energy.applied)}, {6, LAST(energy.scheme)},
    {7, LAST(energy.unexplained)}, {8, LAST(energy.drive)},   {9, LAST(energy.swing)},
};

#define OPEN_COLUMNS(of)                                                                           \
    {1, TALLY(of.islands)}, {2, TALLY(of.islands_open)}, {3, TALLY(of.body)},                      \
        {4, TALLY(of.contacts)}, {5, TALLY(of.residual)}, {                                        \
        6, TALLY(of.reason)                                                                        \
    }

static const Column open_columns[] = {OPEN_COLUMNS(last.open)};
static const Column worst_open_columns[] = {OPEN_COLUMNS(worst_open)};

#define LAUNCH_COLUMNS(part)                                                                       \
    {1, TALLY(part.speed)}, {2, TALLY(part.height)}, {3, TALLY(part.body[0])}, {                   \
        4, TALLY(part.body[1])                                                                     \
    }

static const Column launch_columns[] = {LAUNCH_COLUMNS(last.launch)};
static const Column worst_launch_columns[] = {LAUNCH_COLUMNS(worst_launch)};

// What the heads of all parts take at most, and the numbers of one world beside those of its
// bodies: varints of 10 bytes, of 5 where they have 32 bits, and fixed ones of 8.
enum {
    HEADS_BYTES_MAX = 16 * WIRE_HEAD_BYTES_MAX,
    JOINT_HEADS_BYTES_MAX = 8 * WIRE_HEAD_BYTES_MAX,
    REPORT_HEADS_BYTES_MAX = 96 * WIRE_HEAD_BYTES_MAX
};
enum { OPEN_BYTES_MAX = 4 * 5 + 10 + 8, LAUNCH_BYTES_MAX = 2 * 8 + 2 * 10 };
enum {
    PROGRESS_BYTES_MAX = 4 * 10 + 2 * 8,
    JOINT_COUNTS_BYTES_MAX = 4 * 5, // of joints, axes, positions, what broke
    REPORT_BYTES_MAX = 5 * 5 + 1 + 13 * 10 + 30 * 8 + 2 * OPEN_BYTES_MAX + 10 +
                       2 * LAUNCH_BYTES_MAX + 10 + 5 + 10 + 10 + 5 + 10
};

// Most batches have one world, and a column of one number has a head of two bytes: its field is
// below 16, and no number takes more than 10 bytes.
static uint8_t *write_fixed_of_one(uint8_t *at, const StepResults *results, Column column) {
    at[0] = (uint8_t)(column.field << 3 | WIRE_BYTES);
    at[1] = 8;
    memcpy(at + 2, (const char *)results->result + column.offset, 8);
    return at + 2 + 8;
}

static uint8_t *write_varint_of_one(uint8_t *at, uint32_t field, uint64_t value) {
    at[0] = (uint8_t)(field << 3 | WIRE_BYTES);
    uint8_t *end = wire_varint(at + 2, value);
    at[1] = (uint8_t)(end - (at + 2));
    return end;
}

static uint8_t *write_fixed_of_many(uint8_t *at, const StepResults *results, Column column) {
    at = wire_head(at, column.field, 8 * results->count);
    const char *value = (const char *)results->result + column.offset;
    for (size_t i = 0; i < results->count; i++) {
        memcpy(at, value, 8);
        at += 8;
        value += sizeof(StepResult);
    }
    return at;
}

static uint8_t *write_u64s_of_many(uint8_t *at, const StepResults *results, Column column) {
    uint8_t *begin = wire_part_begin(at, column.field, results->count);
    const char *value = (const char *)results->result + column.offset;
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, *(const uint64_t *)(const void *)value);
        value += sizeof(StepResult);
    }
    return wire_part_end(begin, results->count, at);
}

static inline uint8_t *write_fixed(uint8_t *at, const StepResults *results, Column column) {
    return results->count == 1 ? write_fixed_of_one(at, results, column)
                               : write_fixed_of_many(at, results, column);
}

static inline uint8_t *write_u64s(uint8_t *at, const StepResults *results, Column column) {
    const char *value = (const char *)results->result + column.offset;
    return results->count == 1
               ? write_varint_of_one(at, column.field, *(const uint64_t *)(const void *)value)
               : write_u64s_of_many(at, results, column);
}

static uint8_t *write_u32s_of_many(uint8_t *at, const StepResults *results, Column column) {
    uint8_t *begin = wire_part_begin(at, column.field, results->count);
    const char *value = (const char *)results->result + column.offset;
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, *(const uint32_t *)(const void *)value);
        value += sizeof(StepResult);
    }
    return wire_part_end(begin, results->count, at);
}

static uint8_t *write_u32s(uint8_t *at, const StepResults *results, Column column) {
    const char *value = (const char *)results->result + column.offset;
    return results->count == 1
               ? write_varint_of_one(at, column.field, *(const uint32_t *)(const void *)value)
               : write_u32s_of_many(at, results, column);
}

static uint8_t *write_converged(uint8_t *at, const StepResults *results) {
    at = wire_head(at, 4, results->count);
    for (size_t i = 0; i < results->count; i++) {
        const StepTally *tally = &results->result[i].run.tally;
        *at++ = tally->done > 0 && tally->last.certificate.converged;
    }
    return at;
}

static uint8_t *write_solver_time(uint8_t *at, const StepResults *results) {
    at = wire_head(at, 7, 8 * results->count);
    for (size_t i = 0; i < results->count; i++) {
        double seconds = (double)results->result[i].run.tally.last.solver_ns * 1e-9;
        memcpy(at, &seconds, 8);
        at += 8;
    }
    return at;
}

// Columns of `value_bytes` per world.
static size_t columns_bytes(const StepResults *results, size_t count, size_t value_bytes) {
    size_t bytes = value_bytes * results->count;
    return count * (1 + wire_varint_bytes(bytes) + bytes);
}

static uint8_t *write_fixed_columns(uint8_t *at, const StepResults *results, uint32_t field,
                                    const Column *columns, size_t count) {
    size_t expected = columns_bytes(results, count, 8);
    uint8_t *begin = wire_part_begin(at, field, expected);
    at = begin;
    for (size_t i = 0; i < count; i++) {
        at = write_fixed(at, results, columns[i]);
    }
    return wire_part_end(begin, expected, at);
}

static uint8_t *write_u64_columns(uint8_t *at, const StepResults *results, uint32_t field,
                                  const Column *columns, size_t count) {
    size_t expected = columns_bytes(results, count, 1); // true of small numbers
    uint8_t *begin = wire_part_begin(at, field, expected);
    at = begin;
    for (size_t i = 0; i < count; i++) {
        at = write_u64s(at, results, columns[i]);
    }
    return wire_part_end(begin, expected, at);
}

// In the order of OPEN_COLUMNS.
static uint8_t *write_open_columns(uint8_t *at, const StepResults *results, uint32_t field,
                                   const Column *columns) {
    size_t expected = columns_bytes(results, 5, 1) + columns_bytes(results, 1, 8);
    uint8_t *begin = wire_part_begin(at, field, expected);
    at = begin;
    at = write_u32s(at, results, columns[0]);
    at = write_u32s(at, results, columns[1]);
    at = write_u64s(at, results, columns[2]);
    at = write_u32s(at, results, columns[3]);
    at = write_fixed(at, results, columns[4]);
    at = write_u32s(at, results, columns[5]);
    return wire_part_end(begin, expected, at);
}

// Most worlds are solved in every step, and need not say it again.
static bool is_any_open(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.worst_open_step > 0;
    }
    return is_any;
}

// In the order of LAUNCH_COLUMNS.
static uint8_t *write_launch_columns(uint8_t *at, const StepResults *results, uint32_t field,
                                     const Column *columns) {
    size_t expected = columns_bytes(results, 2, 1) + columns_bytes(results, 2, 8);
    uint8_t *begin = wire_part_begin(at, field, expected);
    at = begin;
    at = write_fixed(at, results, columns[0]);
    at = write_fixed(at, results, columns[1]);
    at = write_u64s(at, results, columns[2]);
    at = write_u64s(at, results, columns[3]);
    return wire_part_end(begin, expected, at);
}

// Only convex models launch.
static uint8_t *write_launch(uint8_t *at, const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.worst_launch_step > 0;
    }
    if (!is_any) {
        return at;
    }
    at = write_launch_columns(at, results, 25, launch_columns);
    at = write_launch_columns(at, results, 26, worst_launch_columns);
    size_t expected = results->count;
    uint8_t *begin = wire_part_begin(at, 27, expected);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, results->result[i].run.tally.worst_launch_step);
    }
    return wire_part_end(begin, expected, at);
}

// Few worlds gain energy.
static bool has_any_gained(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.gained > 0.0;
    }
    return is_any;
}

// Few joints break.
static bool is_any_broken(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.broken > 0;
    }
    return is_any;
}

// Few worlds have what can move nothing.
static bool is_any_idle(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.idle_steps > 0;
    }
    return is_any;
}

// Few worlds borrow.
static bool is_any_owing(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        const StepTally *tally = &results->result[i].run.tally;
        is_any = is_any || tally->borrowed_steps > 0 || tally->last.owed_steps > 0;
    }
    return is_any;
}

static uint8_t *write_open(uint8_t *at, const StepResults *results) {
    at = write_open_columns(at, results, 18, open_columns);
    at = write_open_columns(at, results, 19, worst_open_columns);
    // its field has a head of two bytes
    size_t expected = results->count;
    uint8_t *begin = wire_part_begin(at, 20, expected);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, results->result[i].run.tally.worst_open_step);
    }
    return wire_part_end(begin, expected, at);
}

// Few steps have targets that contradict each other.
static bool is_any_softened(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.softened_steps > 0;
    }
    return is_any;
}

// Its fields have heads of two bytes.
static uint8_t *write_softened(uint8_t *at, const StepResults *results) {
    uint8_t *begin = wire_part_begin(at, 17, results->count);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, results->result[i].run.tally.last.softened_count);
    }
    return wire_part_end(begin, results->count, at);
}

static uint8_t *write_softened_steps(uint8_t *at, const StepResults *results) {
    uint8_t *begin = wire_part_begin(at, 21, results->count);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, results->result[i].run.tally.softened_steps);
    }
    return wire_part_end(begin, results->count, at);
}

static size_t reports_bytes_expected(const StepResults *results) {
    enum { FIXED_COLUMNS = 30, VARINT_COLUMNS = 18 }; // of the four parts too
    const size_t world_bytes = 8 * (size_t)FIXED_COLUMNS + VARINT_COLUMNS;
    return world_bytes * results->count + 2 * (size_t)(FIXED_COLUMNS + VARINT_COLUMNS);
}

// Few worlds sleep: the others need not say that nobody does.
static uint8_t *write_asleep(uint8_t *at, const StepResults *results) {
    uint32_t any = 0;
    for (size_t i = 0; i < results->count; i++) {
        any |= results->result[i].run.tally.last.asleep_count;
    }
    if (any == 0) {
        return at;
    }
    uint8_t *begin = wire_part_begin(at, 16, results->count);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, results->result[i].run.tally.last.asleep_count);
    }
    return wire_part_end(begin, results->count, at);
}

uint8_t *step_codec_pack_reports(const StepResults *results, uint32_t field, uint8_t *at) {
    size_t expected = reports_bytes_expected(results);
    uint8_t *begin = wire_part_begin(at, field, expected);
    at = begin;
    at = write_u32s(at, results, (Column){1, LAST(contact_count)});
    at = write_u32s(at, results, (Column){2, LAST(row_count)});
    at = write_u32s(at, results, (Column){3, LAST(iterations)});
    at = write_converged(at, results);
    at = write_u64s(at, results, (Column){5, TALLY(unconverged)});
    at = write_fixed(at, results, (Column){6, LAST(certificate.tolerance)});
    at = write_solver_time(at, results);
    at = write_u64s(at, results, (Column){8, AT(worst_body[0])});
    at = write_u64s(at, results, (Column){9, AT(worst_body[1])});
    at = write_fixed_columns(at, results, 10, last_columns, COUNT_OF(last_columns));
    at = write_fixed_columns(at, results, 11, worst_columns, COUNT_OF(worst_columns));
    at = write_u64_columns(at, results, 12, worst_step_columns, COUNT_OF(worst_step_columns));
    at = write_fixed_columns(at, results, 13, energy_columns, COUNT_OF(energy_columns));
    at = write_u32s(at, results, (Column){14, LAST(recovery_count)});
    at = write_u64s(at, results, (Column){15, TALLY(recovery_steps)});
    at = write_asleep(at, results);
    bool has_softened = is_any_softened(results);
    at = has_softened ? write_softened(at, results) : at;
    if (is_any_open(results)) {
        at = write_open(at, results);
    }
    at = has_softened ? write_softened_steps(at, results) : at;
    at = write_launch(at, results);
    if (is_any_broken(results)) {
        at = write_u64s_of_many(at, results, (Column){28, TALLY(broken)});
    }
    if (has_any_gained(results)) {
        at = write_fixed_of_many(at, results, (Column){29, TALLY(gained)});
    }
    if (is_any_idle(results)) {
        at = write_u32s_of_many(at, results, (Column){30, LAST(idle_count)});
        at = write_u64s_of_many(at, results, (Column){31, TALLY(idle_steps)});
    }
    if (is_any_owing(results)) {
        at = write_u64s_of_many(at, results, (Column){32, TALLY(borrowed_steps)});
        at = write_u32s_of_many(at, results, (Column){33, LAST(owed_steps)});
    }
    return wire_part_end(begin, expected, at);
}

// ---- bodies

static size_t total_bodies(const StepResults *results) {
    size_t total = 0;
    for (size_t i = 0; i < results->count; i++) {
        total += results->result[i].body_count;
    }
    return total;
}

static uint8_t *write_states(uint8_t *at, const StepResults *results, bool velocity) {
    size_t stride = velocity ? 6 : 7, total = stride * total_bodies(results);
    if (total == 0) {
        return at;
    }
    at = wire_head(at, velocity ? 6 : 5, total * sizeof(double));
    for (size_t i = 0; i < results->count; i++) {
        const StepResult *result = &results->result[i];
        size_t bytes = stride * result->body_count * sizeof(double);
        if (bytes > 0) {
            memcpy(at, velocity ? result->velocity : result->pose, bytes);
            at += bytes;
        }
    }
    return at;
}

static uint8_t *write_states_single(uint8_t *at, const StepResults *results, bool velocity) {
    size_t stride = velocity ? 6 : 7, total = stride * total_bodies(results);
    if (total == 0) {
        return at;
    }
    at = wire_head(at, velocity ? 8 : 7, total * sizeof(float));
    for (size_t i = 0; i < results->count; i++) {
        const StepResult *result = &results->result[i];
        const double *values = velocity ? result->velocity : result->pose;
        for (size_t k = 0; k < stride * result->body_count; k++) {
            float value = (float)values[k];
            memcpy(at, &value, sizeof(value));
            at += sizeof(value);
        }
    }
    return at;
}

static uint8_t *write_bodies(uint8_t *at, const StepResults *results) {
    if (!step_results_show_bodies(results)) {
        return at;
    }
    uint8_t *(*write)(uint8_t *, const StepResults *, bool) =
        results->wants_single ? write_states_single : write_states;
    at = write_u32s(at, results, (Column){4, AT(body_count)});
    if (results->wants_pose) {
        at = write(at, results, false);
    }
    if (results->wants_velocity) {
        at = write(at, results, true);
    }
    return at;
}

// ---- joints

static size_t joint_numbers(const StepResult *result, bool velocity) {
    return velocity ? result->joint_axis_count : result->joint_position_count;
}

static uint8_t *write_joint_numbers(uint8_t *at, const StepResults *results, bool velocity) {
    const size_t item_bytes = results->wants_single ? sizeof(float) : sizeof(double);
    const uint32_t field = (velocity ? 17u : 16u) + (results->wants_single ? 2u : 0u);
    size_t total = 0;
    for (size_t i = 0; i < results->count; i++) {
        total += joint_numbers(&results->result[i], velocity);
    }
    if (total == 0) {
        return at;
    }
    at = wire_head(at, field, total * item_bytes);
    for (size_t i = 0; i < results->count; i++) {
        const StepResult *result = &results->result[i];
        const double *values = velocity ? result->joint_velocity : result->joint_position;
        const size_t count = joint_numbers(result, velocity);
        for (size_t k = 0; results->wants_single && k < count; k++) {
            const float value = (float)fmax(fmin(values[k], (double)FLT_MAX), -(double)FLT_MAX);
            memcpy(at + k * sizeof(value), &value, sizeof(value));
        }
        if (!results->wants_single && count > 0) {
            memcpy(at, values, count * sizeof(double));
        }
        at += count * item_bytes;
    }
    return at;
}

static uint8_t *write_joint_wrenches(uint8_t *at, const StepResults *results) {
    size_t total = 0;
    for (size_t i = 0; i < results->count; i++) {
        total += results->result[i].joint_count;
    }
    if (total == 0) {
        return at;
    }
    at = wire_head(at, 20, 6 * total * sizeof(double));
    for (size_t i = 0; i < results->count; i++) {
        const StepResult *result = &results->result[i];
        const size_t bytes = 6 * (size_t)result->joint_count * sizeof(double);
        if (result->joint_wrench == NULL) {
            memset(at, 0, bytes);
        } else {
            memcpy(at, result->joint_wrench, bytes);
        }
        at += bytes;
    }
    return at;
}

static uint8_t *write_broken(uint8_t *at, const StepResults *results) {
    uint8_t *begin = wire_part_begin(at, 21, results->count);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        at = wire_varint(at, results->result[i].run.tally.broken);
    }
    at = wire_part_end(begin, results->count, at);
    begin = wire_part_begin(at, 22, results->count);
    at = begin;
    for (size_t i = 0; i < results->count; i++) {
        const StepRun *run = &results->result[i].run;
        for (uint64_t k = 0; k < run->tally.broken; k++) {
            at = wire_varint(at, run->broken[k]);
        }
    }
    return wire_part_end(begin, results->count, at);
}

static uint8_t *write_joints(uint8_t *at, const StepResults *results) {
    if (step_results_show_joints(results)) {
        at = write_u32s(at, results, (Column){13, AT(joint_count)});
        at = write_u32s(at, results, (Column){14, AT(joint_axis_count)});
        at = write_u32s(at, results, (Column){15, AT(joint_position_count)});
    }
    if (results->wants_joint_position && !results->wants_single) {
        at = write_joint_numbers(at, results, false);
    }
    if (results->wants_joint_velocity && !results->wants_single) {
        at = write_joint_numbers(at, results, true);
    }
    if (results->wants_joint_position && results->wants_single) {
        at = write_joint_numbers(at, results, false);
    }
    if (results->wants_joint_velocity && results->wants_single) {
        at = write_joint_numbers(at, results, true);
    }
    if (results->wants_joint_wrench) {
        at = write_joint_wrenches(at, results);
    }
    return results->wants_broken && is_any_broken(results) ? write_broken(at, results) : at;
}

// ---- the whole

static size_t joints_bytes_bound(const StepResults *results, const StepSizes *sizes) {
    const size_t number_bytes = results->wants_single ? sizeof(float) : sizeof(double);
    if (!step_results_show_joints(results) && !results->wants_broken) {
        return 0;
    }
    size_t bytes = JOINT_HEADS_BYTES_MAX + JOINT_COUNTS_BYTES_MAX * results->count;
    bytes += results->wants_joint_position ? number_bytes * sizes->joint_positions : 0;
    bytes += results->wants_joint_velocity ? number_bytes * sizes->joint_axes : 0;
    bytes += results->wants_joint_wrench ? 6 * sizeof(double) * sizes->joints : 0;
    return bytes + (results->wants_broken ? WIRE_VARINT_BYTES_MAX * sizes->joints : 0);
}

size_t step_codec_bytes_bound(const StepResults *results, const StepSizes *sizes) {
    size_t numbers = (results->wants_pose ? 7u : 0u) + (results->wants_velocity ? 6u : 0u),
           number_bytes = results->wants_single ? sizeof(float) : sizeof(double);
    size_t world_bytes = PROGRESS_BYTES_MAX + (results->wants_reports ? REPORT_BYTES_MAX : 0),
           heads = HEADS_BYTES_MAX + (results->wants_reports ? REPORT_HEADS_BYTES_MAX : 0);
    return heads + world_bytes * results->count + numbers * number_bytes * sizes->bodies +
           joints_bytes_bound(results, sizes);
}

// Of worlds that have been stepped.
static StepSizes sizes_of(const StepResults *results) {
    StepSizes sizes = {0};
    for (size_t i = 0; i < results->count; i++) {
        const StepResult *result = &results->result[i];
        sizes.bodies += result->body_count;
        sizes.joints += result->joint_count + result->run.tally.broken;
        sizes.joint_axes += result->joint_axis_count;
        sizes.joint_positions += result->joint_position_count;
    }
    return sizes;
}

size_t step_codec_bytes_max(const StepResults *results, Moreau__V1__Status *const *failures,
                            size_t failure_count) {
    const StepSizes sizes = sizes_of(results);
    size_t bytes = step_codec_bytes_bound(results, &sizes);
    for (size_t i = 0; i < failure_count; i++) {
        bytes += WIRE_HEAD_BYTES_MAX + moreau__v1__status__get_packed_size(failures[i]);
    }
    return bytes;
}

// Few worlds have bounds: the others need not say that they have removed nothing.
static bool is_any_removed(const StepResults *results) {
    bool is_any = false;
    for (size_t i = 0; i < results->count; i++) {
        is_any = is_any || results->result[i].run.tally.removed > 0;
    }
    return is_any;
}

uint8_t *step_codec_pack(const StepResults *results, Moreau__V1__Status *const *failures,
                         size_t failure_count, uint8_t *at) {
    at = write_u64s(at, results, (Column){1, TALLY(done)});
    at = write_u64s(at, results, (Column){2, AT(step)});
    at = write_fixed(at, results, (Column){3, AT(time)});
    at = write_bodies(at, results);
    if (results->wants_reports) {
        at = step_codec_pack_reports(results, 9, at);
    }
    if (results->wants_hash) {
        at = write_fixed(at, results, (Column){10, AT(hash)});
    }
    for (size_t i = 0; i < failure_count; i++) {
        at = wire_head(at, 11, moreau__v1__status__get_packed_size(failures[i]));
        at += moreau__v1__status__pack(failures[i], at);
    }
    if (is_any_removed(results)) {
        at = write_u64s(at, results, (Column){12, TALLY(removed)});
    }
    return write_joints(at, results);
}
