// SPDX-License-Identifier: MIT
// Watching a world while it runs. Of an event that lists no ids, they are those of the event
// before, which are kept here and lent to it.
#include "client.h"

#include <stdlib.h>
#include <string.h>

MoreauWatch moreau_watch_default(uint64_t world) {
    return (MoreauWatch){.world = world, .every = 1, .frames_per_second = 60.0, .poses = true};
}

// What a subscription carries along.
typedef struct Watching {
    MoreauFrameProc *proc;
    void *context;
    uint64_t *ids, *joints; // owned
    uint32_t *joint_axes;   // owned
    size_t id_count, joint_count;
    MoreauStatus status; // why it ends by itself
} Watching;

static bool copy(void **kept, const void *values, size_t count, size_t bytes) {
    void *made = realloc(*kept, count * bytes + 1);
    if (made == NULL) {
        return false;
    }
    *kept = made;
    if (count > 0) {
        memcpy(made, values, count * bytes);
    }
    return true;
}

// Keeps what is listed. False: memory ended.
static bool keep(Watching *watching, const Moreau__V1__EpisodeFrames *got) {
    if (got->n_ids > 0 || got->body_count[0] == 0) {
        watching->id_count = got->n_ids;
        if (!copy((void **)&watching->ids, got->ids, got->n_ids, sizeof(*got->ids))) {
            return false;
        }
    }
    if (got->n_joints > 0 && got->n_joints == got->n_joint_axes) {
        watching->joint_count = got->n_joints;
        return copy((void **)&watching->joints, got->joints, got->n_joints, sizeof(*got->joints)) &&
               copy((void **)&watching->joint_axes, got->joint_axes, got->n_joints,
                    sizeof(*got->joint_axes));
    }
    return true;
}

static bool show(Watching *watching, const MoreauReply *event) {
    MoreauFrames frames;
    MoreauFrame frame;
    if (!moreau_reply_frames(event, &frames) || !moreau_next_frame(&frames, &frame)) {
        watching->status = MOREAU_INTERNAL;
        return false;
    }
    return watching->proc(watching->context, &frame);
}

static bool take_event(void *context, const MoreauReply *event) {
    Watching *watching = context;
    Moreau__V1__EpisodeFrames *got =
        event->message->result_case == MOREAU__V1__REPLY__RESULT_LIVE_FRAME
            ? event->message->live_frame->frames
            : NULL;
    if (got == NULL || got->n_step != 1 || got->n_body_count != 1 || got->n_ids_count != 1) {
        watching->status = MOREAU_INTERNAL;
        return false;
    }
    if (!keep(watching, got)) {
        watching->status = MOREAU_RESOURCE_EXHAUSTED;
        return false;
    }
    Moreau__V1__EpisodeFrames own = *got; // the message's memory goes as it came
    uint64_t ids_count = watching->id_count, joints_count = watching->joint_count;
    got->n_ids = watching->id_count;
    got->ids = watching->ids;
    got->ids_count = &ids_count;
    if (got->n_joint_count == 1 && got->joint_count[0] > 0 && got->n_joints_count == 1) {
        got->n_joints = got->n_joint_axes = watching->joint_count;
        got->joints = watching->joints;
        got->joint_axes = watching->joint_axes;
        got->joints_count = &joints_count;
    }
    bool goes_on = show(watching, event);
    *got = own;
    return goes_on;
}

static MoreauStatus fail(MoreauClient *client, const Watching *watching) {
    return watching->status == MOREAU_INTERNAL
               ? client_fail(client, MOREAU_INTERNAL, NULL,
                             "the columns of the server's frames do not fit each other")
               : client_fail(client, watching->status, NULL, "memory ended while watching");
}

MoreauStatus moreau_world_watch(MoreauClient *client, const MoreauWatch *watch,
                                MoreauFrameProc *proc, void *context) {
    Moreau__V1__Subscribe subscribe = MOREAU__V1__SUBSCRIBE__INIT;
    subscribe.has_world = subscribe.has_every = subscribe.has_frames_per_second = 1;
    subscribe.world = watch->world;
    subscribe.every = watch->every;
    subscribe.frames_per_second = watch->frames_per_second;
    subscribe.has_scene = subscribe.has_reports = subscribe.has_poses = 1;
    subscribe.scene = subscribe.reports = 0;
    subscribe.poses = watch->poses;
    subscribe.has_velocities = subscribe.velocities = watch->velocities;
    subscribe.has_contacts = subscribe.contacts = watch->contacts;
    subscribe.has_joints = subscribe.joints = watch->joints;
    subscribe.has_single = subscribe.single = watch->single;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SUBSCRIBE;
    request.subscribe = &subscribe;
    Watching watching = {.proc = proc, .context = context, .status = MOREAU_OK};
    CallEvents events = {take_event, &watching};
    MoreauReply *reply;
    MoreauStatus status =
        call_events(client, &request, MOREAU__V1__REPLY__RESULT_SUBSCRIBE, events, &reply);
    moreau_reply_free(reply);
    free(watching.ids);
    free(watching.joints);
    free(watching.joint_axes);
    return watching.status == MOREAU_OK ? status : fail(client, &watching);
}
