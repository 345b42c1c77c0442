// SPDX-License-Identifier: MIT
#include "replay/player/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void name(PlayerDifference *difference, uint64_t body, const char *quantity, double expected,
                 double found) {
    difference->body = body;
    snprintf(difference->quantity, sizeof(difference->quantity), "%s", quantity);
    difference->expected = expected;
    difference->value = found;
}

// Equal numbers may differ in bits (zeros), and equal bits may be no equal numbers (NaN).
static uint64_t bits(double number) {
    uint64_t all;
    memcpy(&all, &number, sizeof(all));
    return all;
}

// The first of `count` numbers that is not the same to the last bit; `count`: none.
static size_t first_difference(const double *expected, const double *found, size_t count) {
    size_t i = 0;
    while (i < count && bits(expected[i]) == bits(found[i])) {
        i++;
    }
    return i;
}

static bool compare_ids(const uint64_t *expected, size_t expected_count, const uint64_t *found,
                        size_t found_count, PlayerDifference *difference) {
    if (expected_count != found_count) {
        name(difference, 0, "bodies", (double)expected_count, (double)found_count);
        return false;
    }
    for (size_t i = 0; i < found_count; i++) {
        if (expected[i] != found[i]) {
            name(difference, found[i], "id", (double)expected[i], (double)found[i]);
            return false;
        }
    }
    return true;
}

static bool compare_bodies(const PlayerFrame *of, const StateFrame *expected,
                           const StateFrame *found, PlayerDifference *difference) {
    static const char *const pose_names[7] = {"position.x",    "position.y",    "position.z",
                                              "orientation.w", "orientation.x", "orientation.y",
                                              "orientation.z"};
    static const char *const velocity_names[6] = {"velocity.vx", "velocity.vy", "velocity.vz",
                                                  "velocity.wx", "velocity.wy", "velocity.wz"};
    const size_t bodies = of->body_count;
    size_t at = first_difference(expected->pose, found->pose, 7 * bodies);
    if (at < 7 * bodies) {
        name(difference, of->ids[at / 7], pose_names[at % 7], expected->pose[at], found->pose[at]);
        return false;
    }
    at = first_difference(expected->velocity, found->velocity, 6 * bodies);
    if (at < 6 * bodies) {
        name(difference, of->ids[at / 6], velocity_names[at % 6], expected->velocity[at],
             found->velocity[at]);
        return false;
    }
    return true;
}

static bool compare_joint_ids(const FrameJoints *expected, const FrameJoints *found,
                              PlayerDifference *difference) {
    if (expected->count != found->count) {
        name(difference, 0, "joints", (double)expected->count, (double)found->count);
        return false;
    }
    for (size_t i = 0; i < found->count; i++) {
        if (expected->ids[i] != found->ids[i]) {
            name(difference, 0, "joint id", (double)expected->ids[i], (double)found->ids[i]);
            return false;
        }
        if (expected->axes[i] != found->axes[i]) {
            name(difference, 0, "joint axes", (double)expected->axes[i], (double)found->axes[i]);
            return false;
        }
    }
    return expected->position_count == found->position_count &&
           expected->axis_count == found->axis_count;
}

// Whose number of a column of joints this is.
static uint64_t joint_of(const FrameJoints *joints, bool is_position, size_t at) {
    size_t i = 0;
    for (size_t end = 0; i < joints->count; i++) {
        const uint64_t axes = joints->axes[i];
        for (int bit = 0; bit < 6; bit++) {
            end += axes >> bit & 1;
        }
        end += is_position && (axes & 56) == 56; // three turns have four numbers
        if (at < end) {
            break;
        }
    }
    return i < joints->count ? joints->ids[i] : 0;
}

static bool compare_joints(const FrameJoints *joints, const StateFrame *expected,
                           const StateFrame *found, PlayerDifference *difference) {
    const struct {
        const char *name;
        size_t count;
        const double *expected, *found;
    } columns[] = {
        {"position", joints->position_count, expected->joint_position, found->joint_position},
        {"velocity", joints->axis_count, expected->joint_velocity, found->joint_velocity},
        {"target", joints->axis_count, expected->joint_target, found->joint_target},
        {"target velocity", joints->axis_count, expected->joint_target_velocity,
         found->joint_target_velocity},
        {"effort", joints->axis_count, expected->joint_effort, found->joint_effort},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        const size_t count = columns[i].count,
                     at = first_difference(columns[i].expected, columns[i].found, count);
        if (at < count) {
            char quantity[32];
            snprintf(quantity, sizeof(quantity), "joint %" PRIu64 " %s",
                     joint_of(joints, i == 0, at), columns[i].name);
            name(difference, 0, quantity, columns[i].expected[at], columns[i].found[at]);
            return false;
        }
    }
    return true;
}

bool player_compare_frame(const PlayerFrame *expected, const PlayerFrame *found,
                          PlayerDifference *difference) {
    const StateFrame *was = expected->frame, *is = found->frame;
    if (!compare_ids(expected->ids, expected->body_count, found->ids, found->body_count,
                     difference)) {
        return false;
    }
    if (was->world_step != is->world_step) {
        name(difference, 0, "step", (double)was->world_step, (double)is->world_step);
        return false;
    }
    if (first_difference(&was->time, &is->time, 1) == 0) {
        name(difference, 0, "time", was->time, is->time);
        return false;
    }
    return compare_bodies(found, was, is, difference) &&
           (expected->joints == NULL ||
            (compare_joint_ids(expected->joints, found->joints, difference) &&
             compare_joints(found->joints, was, is, difference)));
}

// ---- contacts

static bool compare_integers(const ContactList *list, const char *quantity,
                             const uint64_t *expected, const uint64_t *found,
                             PlayerDifference *difference) {
    for (size_t i = 0; i < list->count; i++) {
        if (expected[i] != found[i]) {
            name(difference, list->body_a[i], quantity, (double)expected[i], (double)found[i]);
            return false;
        }
    }
    return true;
}

static bool compare_numbers(const ContactList *list, const char *quantity, size_t width,
                            const double *expected, const double *found,
                            PlayerDifference *difference) {
    size_t at = first_difference(expected, found, width * list->count);
    if (at == width * list->count) {
        return true;
    }
    char indexed[32];
    snprintf(indexed, sizeof(indexed), width > 1 ? "%s[%u]" : "%s", quantity,
             (unsigned)(at % width));
    name(difference, list->body_a[at / width], indexed, expected[at], found[at]);
    return false;
}

bool player_compare_contacts(const ContactList *expected, const ContactList *found,
                             PlayerDifference *difference) {
    if (expected->count != found->count) {
        name(difference, 0, "contacts", (double)expected->count, (double)found->count);
        return false;
    }
    for (size_t i = 0; i < found->count; i++) {
        if (expected->part_a[i] != found->part_a[i] || expected->part_b[i] != found->part_b[i]) {
            const bool is_a = expected->part_a[i] != found->part_a[i];
            name(difference, found->body_a[i], is_a ? "contact.part_a" : "contact.part_b",
                 is_a ? expected->part_a[i] : expected->part_b[i],
                 is_a ? found->part_a[i] : found->part_b[i]);
            return false;
        }
    }
    const struct {
        const char *name;
        const uint64_t *expected, *found;
    } integers[] = {{"contact.body_a", expected->body_a, found->body_a},
                    {"contact.body_b", expected->body_b, found->body_b},
                    {"contact.feature", expected->feature, found->feature}};
    for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
        if (!compare_integers(found, integers[i].name, integers[i].expected, integers[i].found,
                              difference)) {
            return false;
        }
    }
    const struct {
        const char *name;
        size_t width;
        const double *expected, *found;
    } numbers[] = {{"contact.point", 3, expected->point, found->point},
                   {"contact.frame", 9, expected->frame, found->frame},
                   {"contact.gap", 1, expected->gap, found->gap},
                   {"contact.impulse", 3, expected->impulse, found->impulse},
                   {"contact.velocity", 3, expected->velocity, found->velocity},
                   {"contact.friction", 1, expected->friction, found->friction}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!compare_numbers(found, numbers[i].name, numbers[i].width, numbers[i].expected,
                             numbers[i].found, difference)) {
            return false;
        }
    }
    return true;
}
