// SPDX-License-Identifier: MIT
// Inputs are what recordings are made of: every kind survives the way into bytes and back, damaged
// bytes are refused.
#include "run/worlds/input.h"

#include "support/suite.h"

#include <string.h>

static const double pose[14] = {1, 2, 3, 1, 0, 0, 0, 4, 5, 6, 0.5, 0.5, 0.5, 0.5};
static const double velocity[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint32_t kinds[3] = {0, 2, 1};
static const uint32_t joint_kinds[2] = {JOINT_HINGE, JOINT_BALL};
static const uint64_t ids[3] = {7, (uint64_t)3 << 32 | 9, 1};
static const double sizes[9] = {0.1, 0, 0, 1, 2, 3, 0.5, 0.5, 0.5};
static const char *const names[2] = {"first", NULL};

static Input make_set(void) {
    SettingsChange change = {.given = CHANGE_TIME_STEP | CHANGE_PARAMETERS | CHANGE_INTEGRATOR |
                                      CHANGE_ROTATION | CHANGE_RECOVERY_SPEED | CHANGE_BOUNDS |
                                      CHANGE_SLEEP_SPEED | CHANGE_SLEEP_TIME,
                             .value.sleep_speed = 0.03,
                             .value.sleep_time = 0.7,
                             .value.time_step = 0.25,
                             .value.integrator = INTEGRATOR_MIDPOINT,
                             .value.rotation = ROTATION_EXPLICIT,
                             .value.recovery_speed = 2.5,
                             .value.has_bounds = true,
                             .value.bounds_lower = {-1.0, -2.0, -3.0},
                             .value.bounds_upper = {4.0, 5.0, 6.0},
                             .parameter_given = 5};
    change.value.parameter[0] = 1e-9;
    change.value.parameter[2] = 1.0;
    return (Input){.kind = INPUT_SET,
                   .set = {.settings = change, .update = {.count = 2, .id = ids, .pose = pose}}};
}

// Those that only the newer version can say: exponents and foundations.
static Input make_newer(int index) {
    static const uint32_t faces[3] = {0, 6, 1}, cells[6] = {0, 0, 2, 3, 4, 5};
    static const double moduli[3] = {0.0, 1e7, 2e7};
    static Material materials[2];
    if (index == 7) {
        materials[0] = materials[1] = material_default();
        materials[1].hertz_exponent = 1.5;
        return (Input){.kind = INPUT_MATERIALS, .materials = {.count = 2, .material = materials}};
    }
    return (Input){.kind = INPUT_SHAPES,
                   .shapes = {.shape_count = 3,
                              .primitive_count = 3,
                              .kind = kinds,
                              .size = sizes,
                              .foundation_face = faces,
                              .foundation_cells = cells,
                              .foundation_modulus = moduli,
                              .foundation_depth = moduli}};
}

// Masses, materials and what joints are like, without any state.
static Input make_numbers(void) {
    Input input = {
        .kind = INPUT_SET,
        .set = {.update = {.count = 2, .id = ids, .mass = pose},
                .joints = {.count = 1, .id = ids, .axis_count = 3},
                .materials = {.count = 2, .id = ids, .stiffness = velocity},
                .shapes = {.count = 1, .id = ids, .primitive_count = 2, .material = ids}}};
    input.set.joints.number[JOINT_DRIVE_DAMPING] = pose;
    return input;
}

// The same with actuators; and joints that have some.
static Input make_actuators(bool is_set) {
    Input input = make_numbers();
    if (is_set) {
        input.set.joints.number[JOINT_DELAY_STEPS] = velocity;
        return input;
    }
    return (Input){.kind = INPUT_JOINTS,
                   .joints = {.count = 2,
                              .axis_count = 4,
                              .position_count = 5,
                              .kind = joint_kinds,
                              .body_b = ids,
                              .stall_effort = velocity,
                              .lag_time = pose,
                              .name = names}};
}

// Priorities, and pairs of materials, with actuators and without.
static Input make_pairs(int index) {
    static Material materials[2];
    Input input = index == 16 ? make_actuators(true) : (Input){.kind = INPUT_SET};
    if (index == 15) {
        materials[0] = materials[1] = material_default();
        materials[1].priority = -3.0;
        return (Input){.kind = INPUT_MATERIALS, .materials = {.count = 2, .material = materials}};
    }
    input.set.pairs = (PairUpdate){.count = 2, .a = ids, .b = ids, .friction = pose};
    return input;
}

static Input remove_geometries(size_t joints, size_t shapes) {
    return (Input){.kind = INPUT_REMOVE,
                   .remove = {.joint_count = joints,
                              .joint = joints > 0 ? ids : NULL,
                              .shape_count = shapes,
                              .shape = shapes > 0 ? ids : NULL,
                              .geometry_count = 2,
                              .geometry = ids}};
}

static Input make_older(int index) {
    static Material materials[2];
    switch (index) {
    case 0:
        return make_set();
    case 1:
        materials[0] = materials[1] = material_default();
        memcpy(materials[0].name, "wood", 5);
        return (Input){.kind = INPUT_MATERIALS, .materials = {.count = 2, .material = materials}};
    case 7:
    case 8:
        return make_newer(index);
    case 2:
        return (Input){.kind = INPUT_SHAPES,
                       .shapes = {.shape_count = 3,
                                  .primitive_count = 3,
                                  .kind = kinds,
                                  .size = sizes,
                                  .material = ids,
                                  .mask = kinds}};
    case 3:
        return (Input){.kind = INPUT_BODIES,
                       .bodies = {.count = 2,
                                  .pose = pose,
                                  .velocity = velocity,
                                  .kind = kinds,
                                  .shape = ids,
                                  .name = names}};
    case 5:
        return (Input){.kind = INPUT_JOINTS,
                       .joints = {.count = 2,
                                  .axis_count = 4,
                                  .position_count = 5,
                                  .kind = joint_kinds,
                                  .body_b = ids,
                                  .frame_b = pose,
                                  .low = velocity,
                                  .position = pose,
                                  .name = names}};
    case 6:
        return (Input){.kind = INPUT_SET,
                       .set = {.joints = {.count = 2,
                                          .id = ids,
                                          .axis_count = 4,
                                          .position_count = 5,
                                          .position = pose,
                                          .target = velocity}}};
    case 4:
        return (Input){
            .kind = INPUT_RESTORE,
            .restore = {.snapshot = (const uint8_t *)"thirteen byte", .snapshot_bytes = 13}};
    case 9:
        return (Input){.kind = INPUT_REMOVE,
                       .remove = {.body_count = 2, .body = ids, .shape_count = 3, .shape = ids}};
    case 10:
        return make_numbers();
    case 11:
        return remove_geometries(0, 3);
    case 12:
        return remove_geometries(3, 0);
    case 13:
    case 14:
        return make_actuators(index == 14);
    default:
        return (Input){
            .kind = INPUT_STEP,
            .step = {.steps = 12, .wrench_count = 2, .wrench_body = ids, .wrench = velocity}};
    }
}

// With actuators, or without.
static Input make_tendon(bool has_actuators) {
    static const uint32_t tendon_kinds[2] = {JOINT_HINGE, JOINT_TENDON}, counts[2] = {0, 3};
    return (Input){.kind = INPUT_JOINTS,
                   .joints = {.count = 2,
                              .axis_count = 2,
                              .position_count = 2,
                              .coupling_count = 3,
                              .kind = tendon_kinds,
                              .body_b = ids,
                              .coupled_count = counts,
                              .coupled = ids,
                              .coefficients = pose,
                              .lag_time = has_actuators ? velocity : NULL,
                              .name = names}};
}

static Input make_input(int index) {
    return index == 18 || index == 19   ? make_tendon(index == 19)
           : index >= 15 && index <= 17 ? make_pairs(index)
                                        : make_older(index);
}

enum { INPUT_COUNT = 21 };

static InputBytes encode(const Input *input, Arena *arena) {
    Sink sink = {.bytes = arena_take(arena, input_bytes(input))};
    ck_assert_ptr_nonnull(sink.bytes);
    input_encode(input, &sink);
    ck_assert_uint_eq(sink.count, input_bytes(input));
    return (InputBytes){.bytes = sink.bytes, .count = sink.count};
}

START_TEST(every_kind_comes_back_as_the_same_bytes) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    Input input = make_input(_i), decoded;
    InputBytes bytes = encode(&input, &arena), again;
    Error error = {0};
    ck_assert_uint_eq(bytes.count % 8, 0);
    ck_assert_uint_eq(input_length(bytes.bytes, bytes.count), bytes.count);
    ck_assert_uint_eq(input_length(bytes.bytes, bytes.count - 1), 0);
    ck_assert_int_eq(input_decode(bytes, &arena, &decoded, &error), STATUS_OK);
    ck_assert_int_eq(decoded.kind, input.kind);
    again = encode(&decoded, &arena);
    ck_assert_uint_eq(again.count, bytes.count);
    ck_assert_mem_eq(again.bytes, bytes.bytes, bytes.count);
    arena_deinit(&arena);
}
END_TEST

// What has nothing of the newer version is of the older, byte for byte, and so is what was written.
START_TEST(the_version_is_the_least_that_says_it) {
    static const uint32_t versions[INPUT_COUNT] = {2, 2, 3, 2, 2, 2, 2, 3, 3, 2, 4,
                                                   4, 4, 5, 5, 6, 6, 6, 6, 6, 2};
    Arena arena;
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < INPUT_COUNT; i++) {
        Input input = make_input(i), decoded;
        InputBytes bytes = encode(&input, &arena);
        uint32_t version;
        memcpy(&version, bytes.bytes + sizeof(uint32_t), sizeof(version));
        ck_assert_uint_eq(version, versions[i]);
        Error error = {0};
        ck_assert_int_eq(input_decode(bytes, &arena, &decoded, &error), STATUS_OK);
        if (i == 1) {
            ck_assert_double_eq(decoded.materials.material[1].hertz_exponent, 1.0);
        }
        if (i == 7) {
            ck_assert_double_eq(decoded.materials.material[1].hertz_exponent, 1.5);
        }
        if (i == 10) {
            ck_assert_ptr_null(decoded.set.joints.number[JOINT_LOW]);
            ck_assert_mem_eq(decoded.set.joints.number[JOINT_DRIVE_DAMPING], pose,
                             3 * sizeof(double));
            ck_assert_ptr_null(decoded.set.update.inertia);
            ck_assert_mem_eq(decoded.set.materials.stiffness, velocity, 2 * sizeof(double));
            ck_assert_mem_eq(decoded.set.shapes.material, ids, 2 * sizeof(uint64_t));
        }
        if (i == 13) {
            ck_assert_mem_eq(decoded.joints.stall_effort, velocity, 4 * sizeof(double));
            ck_assert_mem_eq(decoded.joints.lag_time, pose, 4 * sizeof(double));
            ck_assert_ptr_null(decoded.joints.delay_steps);
        }
        if (i == 18 || i == 19) {
            ck_assert_uint_eq(decoded.joints.coupling_count, 3);
            ck_assert_uint_eq(decoded.joints.coupled_count[1], 3);
            ck_assert_mem_eq(decoded.joints.coupled, ids, 3 * sizeof(uint64_t));
            ck_assert_mem_eq(decoded.joints.coefficients, pose, 3 * sizeof(double));
            ck_assert_ptr_null(decoded.joints.coupled_axes);
            ck_assert((decoded.joints.lag_time != NULL) == (i == 19));
        }
        if (i == 14) {
            ck_assert_mem_eq(decoded.set.joints.number[JOINT_DELAY_STEPS], velocity,
                             3 * sizeof(double));
            ck_assert_ptr_null(decoded.set.joints.number[JOINT_LAG_TIME]);
        }
        if (i == 8) {
            ck_assert_uint_eq(decoded.shapes.foundation_cells[5], 5);
            ck_assert_double_eq(decoded.shapes.foundation_depth[1], 1e7);
            ck_assert_ptr_null(decoded.shapes.foundation_damping);
        }
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(settings_come_back_as_they_were_given) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    Input input = make_input(0), decoded;
    Error error = {0};
    ck_assert_int_eq(input_decode(encode(&input, &arena), &arena, &decoded, &error), STATUS_OK);
    const SettingsChange *settings = &decoded.set.settings;
    ck_assert_uint_eq(settings->given, input.set.settings.given);
    ck_assert_double_eq(settings->value.time_step, 0.25);
    ck_assert_uint_eq(settings->value.integrator, INTEGRATOR_MIDPOINT);
    ck_assert_uint_eq(settings->value.rotation, ROTATION_EXPLICIT);
    ck_assert_double_eq(settings->value.recovery_speed, 2.5);
    ck_assert_double_eq(settings->value.sleep_speed, 0.03);
    ck_assert_double_eq(settings->value.sleep_time, 0.7);
    ck_assert(settings->value.has_bounds);
    ck_assert_double_eq(settings->value.bounds_lower.y, -2.0);
    ck_assert_double_eq(settings->value.bounds_upper.z, 6.0);
    ck_assert_double_eq(settings->value.parameter[0], 1e-9);
    arena_deinit(&arena);
}
END_TEST

START_TEST(columns_come_back_as_they_were_given) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    Input input = make_input(3), decoded;
    InputBytes bytes = encode(&input, &arena);
    Error error = {0};
    ck_assert_int_eq(input_decode(bytes, &arena, &decoded, &error), STATUS_OK);
    ck_assert_uint_eq(decoded.bodies.count, 2);
    ck_assert_mem_eq(decoded.bodies.pose, pose, sizeof(pose));
    ck_assert_mem_eq(decoded.bodies.velocity, velocity, sizeof(velocity));
    ck_assert_ptr_null(decoded.bodies.mass); // absent stays absent
    ck_assert_str_eq(decoded.bodies.name[0], "first");
    ck_assert_ptr_null(decoded.bodies.name[1]);
    arena_deinit(&arena);
}
END_TEST

START_TEST(bytes_cut_or_flipped_never_crash_the_reader) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    Input input = make_input(_i), decoded;
    InputBytes bytes = encode(&input, &arena);
    Error error = {0};
    uint8_t copy[4096];
    ck_assert_uint_lt(bytes.count, sizeof(copy));
    for (size_t cut = 0; cut < bytes.count; cut++) {
        // the last bytes may be padding, which a reader need not see
        if (input_decode((InputBytes){bytes.bytes, cut}, &arena, &decoded, &error) == STATUS_OK) {
            ck_assert_uint_gt(cut + 8, bytes.count);
        }
    }
    for (size_t i = 0; i < bytes.count; i++) {
        memcpy(copy, bytes.bytes, bytes.count);
        copy[i] ^= 0x81;
        input_decode((InputBytes){copy, bytes.count}, &arena, &decoded,
                     &error); // may be another valid input
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(an_arena_that_ends_is_a_clean_error) {
    Input input = make_input(_i), decoded;
    Error error = {0};
    Arena large;
    arena_init(&large, 1 << 20);
    InputBytes bytes = encode(&input, &large);
    for (size_t limit = 0; limit < 4096; limit += 64) {
        Arena tight;
        arena_init(&tight, limit);
        Status status = input_decode(bytes, &tight, &decoded, &error);
        ck_assert(status == STATUS_OK || status == STATUS_DATA_LOSS);
        arena_deinit(&tight);
    }
    arena_deinit(&large);
}
END_TEST

// Equal orders in a row become one entry of the log: what tells them apart must tell all of it.
START_TEST(an_order_is_known_again_whatever_its_number_of_steps) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    Input input = make_input(INPUT_COUNT - 1);
    InputBytes bytes = encode(&input, &arena);
    StepOrder order = input.step;
    order.steps = 99;
    ck_assert(input_is_order(bytes, &order));
    double other[12];
    memcpy(other, velocity, sizeof(other));
    other[11] = -other[11];
    const StepOrder others[] = {
        {.wrench_count = 2, .wrench_body = ids, .wrench = velocity, .time_step = 0.25},
        {.wrench_count = 2, .wrench_body = ids, .wrench = velocity, .time_step = -0.0},
        {.wrench_count = 1, .wrench_body = ids, .wrench = velocity},
        {.wrench_count = 2, .wrench_body = ids + 1, .wrench = velocity},
        {.wrench_count = 2, .wrench_body = ids, .wrench = other},
        {0}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert(!input_is_order(bytes, &others[i]));
    }
    for (size_t cut = 0; cut < bytes.count; cut++) {
        ck_assert(!input_is_order((InputBytes){bytes.bytes, cut}, &order));
    }
    for (int i = 0; i < INPUT_COUNT - 1; i++) {
        Input change = make_input(i);
        ck_assert(!input_is_order(encode(&change, &arena), &order));
    }
    arena_deinit(&arena);
}
END_TEST

static TCase *case_input(void) {
    TCase *tcase = tcase_create("input");
    tcase_add_loop_test(tcase, every_kind_comes_back_as_the_same_bytes, 0, INPUT_COUNT);
    tcase_add_test(tcase, the_version_is_the_least_that_says_it);
    tcase_add_test(tcase, settings_come_back_as_they_were_given);
    tcase_add_test(tcase, columns_come_back_as_they_were_given);
    tcase_add_loop_test(tcase, bytes_cut_or_flipped_never_crash_the_reader, 0, INPUT_COUNT);
    tcase_add_test(tcase, an_order_is_known_again_whatever_its_number_of_steps);
    tcase_add_loop_test(tcase, an_arena_that_ends_is_a_clean_error, 0, INPUT_COUNT);
    return tcase;
}

SUITE_MAIN("run/input", case_input)
