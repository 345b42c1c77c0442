// SPDX-License-Identifier: MIT
#include "run/worlds/record_columns.h"

#include "base/assert.h"

static Status out_of_memory(size_t count, const char *what, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while copying the columns of %zu %s.", count, what);
}

Status joint_columns(const World *world, Arena *arena, FrameJoints *joints, Error *error) {
    const size_t count = world->joint_count;
    uint64_t *numbers = arena_take_array(arena, count, 2 * sizeof(uint64_t));
    if (numbers == NULL) {
        return out_of_memory(count, "joints", error);
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = world->joint[i].id;
        numbers[count + i] = world->joint[i].axes;
    }
    *joints = (FrameJoints){.count = count,
                            .position_count = world->joint_position_count,
                            .axis_count = world->joint_axis_count,
                            .ids = numbers,
                            .axes = numbers + count};
    return STATUS_OK;
}

Status frame_columns(const World *world, uint64_t step, Arena *arena, StateFrame *frame,
                     Error *error) {
    ASSERT(arena != NULL);
    *frame = (StateFrame){.step = step,
                          .world_step = world->step,
                          .time = world->time.value,
                          .pose = world->pose,
                          .velocity = world->velocity,
                          .joint_position = world->joint_position,
                          .joint_velocity = world->joint_velocity,
                          .joint_target = world->joint_target,
                          .joint_target_velocity = world->joint_target_velocity,
                          .joint_effort = world->joint_effort};
    if (!world->has_center) {
        return STATUS_OK;
    }
    frame->pose = arena_take_array(arena, world->body_count, 7 * sizeof(double));
    if (frame->pose == NULL) {
        return out_of_memory(world->body_count, "bodies", error);
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        world_body_pose(world, i, frame->pose + 7 * (size_t)i);
    }
    return STATUS_OK;
}

static bool take_columns(size_t count, Arena *arena, ContactList *list) {
    list->body_a = arena_take_array(arena, count, sizeof(uint64_t));
    list->body_b = arena_take_array(arena, count, sizeof(uint64_t));
    list->feature = arena_take_array(arena, count, sizeof(uint64_t));
    list->part_a = arena_take_array(arena, count, sizeof(uint32_t));
    list->part_b = arena_take_array(arena, count, sizeof(uint32_t));
    list->point = arena_take_array(arena, count, 3 * sizeof(double));
    list->frame = arena_take_array(arena, count, 9 * sizeof(double));
    list->gap = arena_take_array(arena, count, sizeof(double));
    list->velocity = arena_take_array(arena, count, 3 * sizeof(double));
    list->friction = arena_take_array(arena, count, sizeof(double));
    return list->body_a != NULL && list->body_b != NULL && list->feature != NULL &&
           list->part_a != NULL && list->part_b != NULL && list->point != NULL &&
           list->frame != NULL && list->gap != NULL && list->velocity != NULL &&
           list->friction != NULL;
}

Status contacts_list(const World *world, const Stepper *stepper, uint64_t step, size_t first,
                     size_t count, Arena *arena, ContactList *list, Error *error) {
    ASSERT(stepper->has_last);
    ASSERT(first <= stepper->contact_count);
    ASSERT(count <= stepper->contact_count - first);
    *list = (ContactList){.step = step, .count = count};
    if (!take_columns(count, arena, list)) {
        return out_of_memory(count, "contacts", error);
    }
    list->impulse = count == 0 ? NULL : stepper->impulse + 3 * first;
    for (size_t i = 0; i < count; i++) {
        size_t at = first + i;
        const StepContact *contact = &stepper->contact[at];
        const ProblemContact *dynamics = &stepper->problem_contact[at];
        list->body_a[i] = stepper_body_id(stepper, world, contact->a);
        list->body_b[i] = stepper_body_id(stepper, world, contact->b);
        list->part_a[i] = contact->part_a;
        list->part_b[i] = contact->part_b;
        list->feature[i] = contact->feature;
        vec3_store(list->point + 3 * i, contact->point);
        vec3_store(list->frame + 9 * i, dynamics->normal);
        vec3_store(list->frame + 9 * i + 3, dynamics->tangent[0]);
        vec3_store(list->frame + 9 * i + 6, dynamics->tangent[1]);
        list->gap[i] = dynamics->gap;
        list->friction[i] = dynamics->mu;
        problem_contact_velocity(&stepper->problem, (uint32_t)at, stepper->v,
                                 list->velocity + 3 * i);
    }
    return STATUS_OK;
}
