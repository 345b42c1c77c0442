// SPDX-License-Identifier: MIT
#include "replay/player_parts.h"

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

bool player_compare_frame(const World *world, const uint64_t *ids, size_t id_count,
                          const StateFrame *expected, const StateFrame *found,
                          PlayerDifference *difference) {
    static const char *const pose_names[7] = {"position.x",    "position.y",    "position.z",
                                              "orientation.w", "orientation.x", "orientation.y",
                                              "orientation.z"};
    static const char *const velocity_names[6] = {"velocity.vx", "velocity.vy", "velocity.vz",
                                                  "velocity.wx", "velocity.wy", "velocity.wz"};
    size_t bodies = world->body_count;
    if (!compare_ids(ids, id_count, world->body_id, bodies, difference)) {
        return false;
    }
    if (expected->world_step != found->world_step) {
        name(difference, 0, "step", (double)expected->world_step, (double)found->world_step);
        return false;
    }
    if (first_difference(&expected->time, &found->time, 1) == 0) {
        name(difference, 0, "time", expected->time, found->time);
        return false;
    }
    size_t at = first_difference(expected->pose, found->pose, 7 * bodies);
    if (at < 7 * bodies) {
        name(difference, world->body_id[at / 7], pose_names[at % 7], expected->pose[at],
             found->pose[at]);
        return false;
    }
    at = first_difference(expected->velocity, found->velocity, 6 * bodies);
    if (at < 6 * bodies) {
        name(difference, world->body_id[at / 6], velocity_names[at % 6], expected->velocity[at],
             found->velocity[at]);
        return false;
    }
    return true;
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
