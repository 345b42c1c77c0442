// SPDX-License-Identifier: MIT
// GroupReset, GroupStep and GroupRead: rows of many worlds in one call (group_call.h).
#include "api/calls/group_call.h"

// What is left of a call whose worlds and numbers are known.
static Status carry_out(GroupRun *run, GroupReturns returns, Error *error) {
    Status status = group_run_take_returns(run, returns, error);
    status = STATUS_THEN(status, group_run_reserve(run, true, error));
    if (status == STATUS_OK) {
        group_run_start(run);
    }
    return status;
}

Status command_group_reset_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupReset *message = request->message->group_reset;
    GroupRun *run;
    Status status = group_run_prepare(request, message->group,
                                      group_mask(message->has_mask, message->mask), &run, error);
    if (status != STATUS_OK) {
        return status;
    }
    GroupCall *call = &run->call;
    call->verb = GROUP_RESET;
    call->seed_count = message->n_seed;
    call->seed = message->seed;
    if (message->n_values > 0) {
        call->values = message->values;
        status = group_run_check_column(run, message->n_values, call->group->noise.column_count,
                                        "values", error);
    }
    return STATUS_THEN(status, carry_out(run, GROUP_RETURNS(message), error));
}

Status command_group_step_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupStep *message = request->message->group_step;
    GroupRun *run;
    Status status = group_run_prepare(request, message->group,
                                      group_mask(message->has_mask, message->mask), &run, error);
    if (status != STATUS_OK) {
        return status;
    }
    run->call.verb = GROUP_STEP;
    status = group_run_take_actions(run, message->n_action, message->action,
                                    message->n_action_double, message->action_double, error);
    return STATUS_THEN(status, carry_out(run, GROUP_RETURNS(message), error));
}

Status command_group_read_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupRead *message = request->message->group_read;
    GroupRun *run;
    Status status = group_run_prepare(request, message->group,
                                      group_mask(message->has_mask, message->mask), &run, error);
    if (status != STATUS_OK) {
        return status;
    }
    run->call.verb = GROUP_READ;
    return carry_out(run, (GroupReturns){0}, error);
}
