// SPDX-License-Identifier: MIT
// The table of what a snapshot is made of, walked over a world that has some of everything: each
// field is seen by the hash and named when it differs, so a new row is tested by being there.
#include "step/snapshot/fields.h"

#include "step/snapshot/snapshot.h"
#include "step/snapshot/compare.h"
#include "step/snapshot/sections.h"
#include "support/heap.h"
#include "support/hull_build.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Visit {
    Lab lab;
    uint64_t hash;
    uint8_t *bytes; // of the world as it is
    size_t count;
    size_t fields; // seen
} Visit;

static uint64_t hash_anew(World *world) {
    world->definition_is_hashed = false;
    return snapshot_hash(world);
}

// The world was changed, in one field: the hash and the comparison see it, and name it so.
static void expect_seen(Visit *visit, const char *quantity) {
    ArenaMark mark = arena_mark(&visit->lab.scratch);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    SnapshotDifference difference;
    ck_assert_msg(hash_anew(visit->lab.world) != visit->hash, "%s", quantity);
    ck_assert_int_eq(snapshot_write(visit->lab.world, &visit->lab.scratch, &bytes, &count, &error),
                     STATUS_OK);
    ck_assert(snapshot_compare(visit->bytes, visit->count, bytes, count, &difference));
    ck_assert_str_eq(difference.quantity, quantity);
    arena_reset_to(&visit->lab.scratch, mark);
    visit->fields++;
}

static void visit_number(Visit *visit, const SnapshotField *field, uint8_t *at, uint32_t index) {
    char quantity[64];
    if (field->part != NULL) {
        snprintf(quantity, sizeof(quantity), "%s.%s", field->name, field->part[index]);
    } else {
        snprintf(quantity, sizeof(quantity), field->count > 1 ? "%s[%u]" : "%s", field->name,
                 index);
    }
    size_t bytes = field->type == FIELD_BYTE || field->type == FIELD_FLAG
                       ? 1
                       : field_bytes(field) / field->count;
    at[index * bytes] ^= 1; // lowest bit: the smallest difference there is
    expect_seen(visit, quantity);
    at[index * bytes] ^= 1;
}

static void visit_field(Visit *visit, const SnapshotField *field, size_t index) {
    uint8_t *at = field_at(visit->lab.world, field, index);
    char *name = NULL, other[] = "another";
    switch (field->type) {
    case FIELD_SOLVER: // there may be only one
        break;
    case FIELD_TEXT:
        at[0] ^= 'a' ^ 'b';
        at[1] = at[0] == ('a' ^ 'b') ? 0 : at[1]; // of a text that was empty
        expect_seen(visit, field->name);
        at[0] ^= 'a' ^ 'b';
        break;
    case FIELD_NAME:
        memcpy(&name, at, sizeof(name));
        memcpy(at, &(char *){other}, sizeof(name));
        expect_seen(visit, field->name);
        memcpy(at, &name, sizeof(name));
        break;
    default:
        for (uint32_t i = 0; i < field->count; i++) {
            visit_number(visit, field, at, i);
        }
    }
}

static void visit_group(Visit *visit, const SnapshotGroup *group, size_t parent) {
    const World *world = visit->lab.world;
    size_t count = group->count == NULL ? 1 : group->count(world, parent);
    size_t first = group->first == NULL ? 0 : group->first(world, parent);
    ck_assert_msg(count > 0, "the world has no %s", group->name);
    for (size_t i = first; i < first + count; i++) {
        for (size_t k = 0; k < group->field_count; k++) {
            visit_field(visit, &group->fields[k], i);
        }
        if (group->inner != NULL) {
            visit_group(visit, group->inner, i);
        }
    }
}

// The first two dynamic bodies as if they lay on each other and slept.
static void put_to_sleep(World *world) {
    ck_assert(sleep_open(world));
    ck_assert(sleep_reserve(world, 1));
    uint32_t first = 0;
    while (world->kind[first] != BODY_DYNAMIC || world->kind[first + 1] != BODY_DYNAMIC) {
        first++;
    }
    for (uint32_t body = first; body < first + 2; body++) {
        world->sleep->island[body] = first;
        world->sleep->rest[body] = world->settings.sleep_time;
        memset(world->velocity + 6 * (size_t)body, 0, 6 * sizeof(double));
    }
    for (uint32_t body = first + 2; body < world->body_count; body++) {
        world->sleep->rest[body] = 0.25; // so that there is something to say of all
    }
    world->sleep->asleep_count = 2;
    world->sleep->memory_count = 1;
    world->sleep->memory[0] = (ContactMemory){.a = first, .b = first + 1, .impulse = {0, 0, 1}};
}

// A hinge and a ball of rows, one of which bore something, and a tendon of the hinge.
static void join(World *world) {
    const uint32_t kinds[3] = {JOINT_HINGE, JOINT_BALL, JOINT_TENDON}, rows[3] = {1, 1, 1},
                   coupled_count[3] = {0, 0, 1};
    const uint64_t hinge = 1;
    const uint64_t bodies[3] = {world->body_id[world->body_count - 1],
                                world->body_id[world->body_count - 2], 0};
    const char *const joint_names[3] = {"hip", NULL, NULL};
    const double lags[5] = {0.1, 0.2, 0.3, 0.4, 0.5}, delays[5] = {1.0, 2.0, 3.0, 4.0, 5.0};
    const JointColumns columns = {.count = 3,
                                  .axis_count = 5,
                                  .position_count = 6,
                                  .coupling_count = 1,
                                  .coupled_count = coupled_count,
                                  .coupled = &hinge,
                                  .kind = kinds,
                                  .body_b = bodies,
                                  .as_rows = rows,
                                  .lag_time = lags,
                                  .delay_steps = delays,
                                  .name = joint_names};
    Id ids[3];
    ck_assert_int_eq(world_add_joints(world, &columns, ids, NULL), STATUS_OK);
    world->joint_memory = calloc(1, sizeof(JointMemory));
    ck_assert_ptr_nonnull(world->joint_memory);
    world->joint_memory[0] = (JointMemory){.joint = 1, .part = 2, .impulse = 3.0};
    world->joint_memory_count = world->joint_memory_capacity = 1;
}

START_TEST(every_field_is_hashed_and_named) {
    Visit visit = {.lab = heap_create(1, 8)};
    lab_step(&visit.lab, 60);
    World *world = visit.lab.world;
    world->body_name[2] = strdup("second");
    world->settings.has_bounds = true;
    world->settings.joint_projection = true;
    world->settings.effort = WORLD_FAST;
    world->settings.bounds_lower = vec3(-9.0, -9.0, -9.0);
    world->settings.bounds_upper = vec3(9.0, 9.0, 9.0);
    world->settings.sleep_speed = 0.1;
    const Hull *box = hull_of_box(vec3(0.1, 0.2, 0.3));
    const HullForm form = hull_form(box);
    lab_hull(&visit.lab, &form, 0);
    hull_free(box);
    join(world);
    world->material[1].priority = 2.0;
    world->settings.friction_rule = FRICTION_MAXIMUM;
    world->settings.fluid_density = 1.2;
    world->settings.fluid_viscosity = 2e-5;
    world->settings.substeps = 4;
    const PairUpdate pair = {1, &(const uint64_t){0}, &(const uint64_t){1}, &(const double){0.25}};
    ck_assert_int_eq(world_reserve_pairs(world, 1, NULL), STATUS_OK);
    world_update_pairs(world, &pair);
    put_to_sleep(world);
    world->solver_failures = 3;
    world->solver_wait = 2;
    ck_assert_uint_gt(world->material_count, 1);
    world->material[1].hertz_exponent = 1.5;
    for (size_t i = 0; i < world->primitive_count; i++) {
        world->primitive[i].foundation = (Foundation){6, {2, 3}, 1e7, 0.5, 1.0};
        world->primitive[i].group = 6;
        for (uint32_t k = 0; k + 1 < MESH_PATCHES_MAX; k++) {
            world->primitive[i].patch_material[k] = 2;
        }
    }
    world->body_id_next += 2; // as if others had been there, and were removed
    world->shape_id_next += 2;
    world->geometry_id_next += 2;
    visit.hash = hash_anew(world);
    Error error = {0};
    ck_assert_int_eq(snapshot_write(world, &visit.lab.scratch, &visit.bytes, &visit.count, &error),
                     STATUS_OK);
    for (size_t i = 0; i < snapshot_section_count; i++) {
        for (size_t k = 0; k < snapshot_sections[i].group_count; k++) {
            visit_group(&visit, &snapshot_sections[i].groups[k], 0);
        }
    }
    ck_assert_uint_eq(hash_anew(world), visit.hash); // all was put back
    ck_assert_uint_gt(visit.fields, 8 * 26);         // bodies alone have so many numbers
    lab_destroy(&visit.lab);
}
END_TEST

// What a snapshot holds, and what replies call it: where a row is gone or has another name, this is
// another format, with other state hashes.
static const char names[] =
    "settings: gravity.x.y.z time_step margin restitution_threshold recovery_speed integrator"
    " rotation contact_plane solver parameter\n"
    "materials: material.name material.friction material.restitution material.stiffness"
    " material.dissipation_time material.damping\n"
    "geometries: geometry.sha256\n"
    "shapes:\n"
    "primitives: primitive.kind primitive.material primitive.size.x.y.z"
    " primitive.position.x.y.z primitive.orientation.w.x.y.z primitive.density\n"
    "shapes:\n"
    "primitives: primitive.kind primitive.material primitive.size.x.y.z"
    " primitive.position.x.y.z primitive.orientation.w.x.y.z primitive.density"
    " primitive.geometry\n"
    "bodies: kind shape id mass center_of_mass.x.y.z inertia.xx.yy.zz.xy.xz.yz\n"
    "names: name\n"
    "time: step time time_rest faulted\n"
    "poses: position.x.y.z orientation.w.x.y.z\n"
    "velocities: velocity.vx.vy.vz.wx.wy.wz\n"
    "impulses: impulse.body_a impulse.body_b impulse.part_a impulse.part_b impulse.feature "
    "impulse.x.y.z\n"
    "bounds: bounds.lower.x.y.z bounds.upper.x.y.z\n"
    "ids: next_id\n"
    "sleep: sleep_speed sleep_time\n"
    "rests: rest\n"
    "islands: island\n"
    "sleeping impulses: asleep.body_a asleep.body_b asleep.part_a asleep.part_b asleep.feature "
    "asleep.impulse.x.y.z\n"
    "failures: solver_failures solver_wait\n"
    "exponents: material.hertz_exponent\n"
    "priorities: material.priority\n"
    "pairs of materials: pair.material_a pair.material_b pair.friction\n"
    "foundations: foundation.face foundation.cells foundation.modulus foundation.depth"
    " foundation.damping\n"
    "couplings: coupling.tendon coupling.joint coupling.axis coupling.coefficient\n"
    "joint ids: next_joint_id\n"
    "joints: joint.id joint.kind joint.axes joint.as_rows joint.collides joint.body joint.partner"
    " joint.frame joint.ratio joint.length joint.break_force joint.break_torque\n"
    "joint axes: joint.low joint.high joint.stiffness joint.rest joint.damping joint.friction"
    " joint.armature joint.drive_stiffness joint.drive_damping joint.effort_max\n"
    "joint names: joint.name\n"
    "actuators: joint.stall_effort joint.no_load_speed joint.lag_time joint.delay_steps\n"
    "commands under way: joint_under_way.target.target velocity.effort\n"
    "joint positions: joint_position\n"
    "joint velocities: joint_velocity joint_target joint_target_velocity joint_effort\n"
    "joint impulses: joint_impulse.joint joint_impulse.part joint_impulse\n"
    "collision groups: primitive.group primitive.mask\n"
    "patches: primitive.patch_material\n"
    "shape ids: shape.id\n"
    "next shape: next_shape_id\n"
    "geometry ids: geometry.id\n"
    "next geometry: next_geometry_id\n"
    "joint_projection: joint_projection\n"
    "effort: effort\n"
    "friction_rule: friction_rule\n"
    "fluid_density: fluid_density\n"
    "fluid_viscosity: fluid_viscosity\n"
    "substeps: substeps\n";

// Sections come in this order, and are told apart by their numbers. Two may have the same where one
// stands between them that is always there.
START_TEST(no_section_is_taken_for_another) {
    for (size_t i = 0; i < snapshot_section_count; i++) {
        const SnapshotSection *a = &snapshot_sections[i];
        bool is_parted = false;
        for (size_t k = i + 1; k < snapshot_section_count && !is_parted; k++) {
            const SnapshotSection *b = &snapshot_sections[k];
            is_parted = b->is_there == NULL && !b->is_of_setting;
            ck_assert_msg(is_parted || a->kind != b->kind || a->version != b->version,
                          "section %u is there twice", a->kind);
        }
    }
}
END_TEST

static void add_names(const SnapshotGroup *group, char *text, size_t bytes) {
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, bytes - used, "%s:", group->name);
    for (size_t i = 0; i < group->field_count; i++) {
        const SnapshotField *field = &group->fields[i];
        used += (size_t)snprintf(text + used, bytes - used, " %s", field->name);
        for (uint32_t k = 0; field->part != NULL && k < field->count; k++) {
            used += (size_t)snprintf(text + used, bytes - used, ".%s", field->part[k]);
        }
    }
    snprintf(text + used, bytes - used, "\n");
    ck_assert_uint_lt(used + 1, bytes);
    if (group->inner != NULL) {
        add_names(group->inner, text, bytes);
    }
}

START_TEST(a_snapshot_holds_these_numbers_by_these_names) {
    char text[4096] = "";
    for (size_t i = 0; i < snapshot_section_count; i++) {
        for (size_t k = 0; k < snapshot_sections[i].group_count; k++) {
            add_names(&snapshot_sections[i].groups[k], text, sizeof(text));
        }
    }
    ck_assert_str_eq(text, names);
}
END_TEST

static const SnapshotField *find_field(const char *name) {
    const SnapshotField *found = NULL;
    for (size_t i = 0; i < snapshot_section_count; i++) {
        for (size_t k = 0; k < snapshot_sections[i].group_count; k++) {
            const SnapshotGroup *group = &snapshot_sections[i].groups[k];
            for (size_t f = 0; f < group->field_count; f++) {
                found = strcmp(group->fields[f].name, name) == 0 ? &group->fields[f] : found;
            }
        }
    }
    return found;
}

// Numbers of the world itself, each where its name says: two of one kind that change places are
// read back as they were, by this server, and are others in every snapshot that there is.
START_TEST(a_name_means_what_it_says) {
    World *world = world_create(&(WorldLimits){.body_count_max = 1, .bytes_max = 1 << 20});
    ck_assert_ptr_nonnull(world);
    const struct {
        const char *name;
        const void *at;
    } numbers[] = {{"time_step", &world->settings.time_step},
                   {"margin", &world->settings.margin},
                   {"restitution_threshold", &world->settings.restitution_threshold},
                   {"recovery_speed", &world->settings.recovery_speed},
                   {"integrator", &world->settings.integrator},
                   {"rotation", &world->settings.rotation},
                   {"contact_plane", &world->settings.contact_plane},
                   {"step", &world->step},
                   {"time", &world->time},
                   {"faulted", &world->faulted},
                   {"bounds.lower", &world->settings.bounds_lower},
                   {"bounds.upper", &world->settings.bounds_upper},
                   {"sleep_speed", &world->settings.sleep_speed},
                   {"sleep_time", &world->settings.sleep_time},
                   {"solver_failures", &world->solver_failures},
                   {"solver_wait", &world->solver_wait},
                   {"joint_projection", &world->settings.joint_projection},
                   {"effort", &world->settings.effort},
                   {"friction_rule", &world->settings.friction_rule},
                   {"fluid_density", &world->settings.fluid_density},
                   {"fluid_viscosity", &world->settings.fluid_viscosity},
                   {"substeps", &world->settings.substeps},
                   {"next_id", &world->body_id_next},
                   {"next_joint_id", &world->joint_id_next},
                   {"next_shape_id", &world->shape_id_next}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const SnapshotField *found = find_field(numbers[i].name);
        ck_assert_msg(found != NULL && field_at(world, found, 0) == numbers[i].at, "%s",
                      numbers[i].name);
    }
    world_destroy(world);
}
END_TEST

// Records that go all at once must lie in memory as field by field they would be written.
static void check_packed(const SnapshotGroup *group) {
    size_t end = 0;
    for (size_t i = 0; i < group->field_count; i++) {
        const SnapshotField *field = &group->fields[i];
        ck_assert_msg(!group->is_packed ||
                          (field->offset == end && field->array == group->fields[0].array &&
                           field->array != NO_ARRAY && field_is_plain(field)),
                      "%s is not packed", field->name);
        end += field_bytes(field);
    }
    ck_assert(!group->is_packed || end == group->fields[0].stride);
    if (group->inner != NULL) {
        check_packed(group->inner);
    }
}

START_TEST(packed_records_have_no_gaps) {
    for (size_t i = 0; i < snapshot_section_count; i++) {
        for (size_t k = 0; k < snapshot_sections[i].group_count; k++) {
            check_packed(&snapshot_sections[i].groups[k]);
        }
    }
}
END_TEST

static TCase *case_fields(void) {
    TCase *tcase = tcase_create("fields");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, every_field_is_hashed_and_named);
    tcase_add_test(tcase, no_section_is_taken_for_another);
    tcase_add_test(tcase, a_snapshot_holds_these_numbers_by_these_names);
    tcase_add_test(tcase, a_name_means_what_it_says);
    tcase_add_test(tcase, packed_records_have_no_gaps);
    return tcase;
}

SUITE_MAIN("step/snapshot_fields", case_fields)
