// SPDX-License-Identifier: MIT
#include "support/step_counts.h"

StepCount step_counts_differ(const World *world, const Stepper *one, const Stepper *other) {
    if (!one->has_last || !other->has_last) {
        return (StepCount){0};
    }
    // those of joints are of steps in which there were any
    const bool has_joints = world->joint_count > 0 && one->joints != NULL && other->joints != NULL;
    const StepJoints none = {0}, *a = has_joints ? one->joints : &none,
                     *b = has_joints ? other->joints : &none;
    const StepCount counts[] = {
        {"contacts", one->contact_count, other->contact_count},
        {"rows", one->row_count, other->row_count},
        {"blocks of rows", one->row_block_count, other->row_block_count},
        {"numbers", one->number_count, other->number_count},
        {"idle rows", one->idle_row_count, other->idle_row_count},
        {"acts", a->act_count, b->act_count},
        {"numbers kept", a->kept_count, b->kept_count},
        {"broken joints", a->broken_count, b->broken_count},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (counts[i].one != counts[i].other) {
            return counts[i];
        }
    }
    return (StepCount){0};
}
