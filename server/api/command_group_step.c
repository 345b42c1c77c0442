// SPDX-License-Identifier: MIT
// GroupReset and GroupStep: rows of many worlds in one call (group_call.h).
#include "api/group_call.h"

static GroupMask mask_of(bool is_given, ProtobufCBinaryData mask) {
    return (GroupMask){.is_given = is_given, .bytes = mask.data, .count = mask.len};
}

// A column of so many numbers per row.
static Status check_rows(const GroupRun *run, size_t length, size_t columns, const char *name,
                         const char *what, Error *error) {
    if (length == run->call.count * columns) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, name,
                     "%s has %zu numbers; %zu worlds with %zu %s columns take %zu.", name, length,
                     run->call.count, columns, what, run->call.count * columns);
}

Status command_group_reset_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupReset *message = request->message->group_reset;
    GroupRun *run;
    Status status = group_run_prepare(request, message->group,
                                      mask_of(message->has_mask, message->mask), &run, error);
    if (status != STATUS_OK) {
        return status;
    }
    GroupCall *call = &run->call;
    call->verb = GROUP_RESET;
    call->seed_count = message->n_seed;
    call->seed = message->seed;
    if (message->n_values > 0) {
        call->values = message->values;
        status = check_rows(run, message->n_values, call->group->noise.column_count, "values",
                            "noise", error);
    }
    return status == STATUS_OK ? group_run_submit(run, error) : status;
}

Status command_group_step_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupStep *message = request->message->group_step;
    GroupRun *run;
    Status status = group_run_prepare(request, message->group,
                                      mask_of(message->has_mask, message->mask), &run, error);
    if (status != STATUS_OK) {
        return status;
    }
    GroupCall *call = &run->call;
    const size_t columns = call->group->action.column_count;
    call->verb = GROUP_STEP;
    if (message->n_action > 0 && message->n_action_double > 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "action_double",
                         "Give actions as floats or as doubles, not both.");
    }
    if (message->n_action_double > 0) {
        call->action_double = message->action_double;
        status =
            check_rows(run, message->n_action_double, columns, "action_double", "action", error);
    } else {
        call->action = message->action;
        status = check_rows(run, message->n_action, columns, "action", "action", error);
    }
    return status == STATUS_OK ? group_run_submit(run, error) : status;
}
