// SPDX-License-Identifier: MIT
#include "replay/show/stepped_frame.h"

#include "run/worlds/record_columns.h"

static Status add_report(Player *player, Arena *arena, EpisodeFrame *frame, Error *error) {
    StepReport *report = arena_take(arena, sizeof(*report));
    if (report == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "The memory budget (option --memory-bytes-max) does not hold a report.");
    }
    *report = *player_report(player);
    frame->report = report;
    return STATUS_OK;
}

Status stepped_frame(Player *player, FrameWants wants, Arena *arena, EpisodeFrame *frame,
                     Error *error) {
    const World *world = player_world(player);
    const Stepper *stepper = player_stepper(player);
    const uint64_t step = player_step(player);
    *frame = (EpisodeFrame){.body_count = world->body_count, .ids = world->body_id};
    Status status = frame_columns(world, step, arena, &frame->frame, error);
    status = STATUS_THEN(status, joint_columns(world, arena, &frame->joints, error));
    status = STATUS_THEN_IF(status, wants.contacts && stepper->has_last,
                            contacts_list(world, stepper, step, 0, stepper->contact_count, arena,
                                          &frame->contacts, error));
    return STATUS_THEN_IF(status, wants.reports && stepper->has_last,
                          add_report(player, arena, frame, error));
}
