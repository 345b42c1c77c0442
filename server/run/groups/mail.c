// SPDX-License-Identifier: MIT
#include "run/groups/mail.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

GroupMail *group_mail_create(Group *group, size_t bytes_max) {
    GroupMail *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    const size_t count = group->count;
    arena_init(&made->memory, bytes_max);
    made->action =
        arena_take_array(&made->memory, count * group->action.column_count, sizeof(double));
    made->is_free = arena_take_array(&made->memory, count, sizeof(*made->is_free));
    made->finished = arena_take_array(&made->memory, count, sizeof(*made->finished));
    made->call = (GroupCall){
        .group = group, .verb = GROUP_STEP, .count = count, .action_double = made->action};
    if (made->action == NULL || made->is_free == NULL || made->finished == NULL ||
        !group_call_take(&made->call, &made->memory)) {
        group_mail_destroy(made);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        atomic_init(&made->is_free[i], true);
    }
    return made;
}

void group_mail_destroy(GroupMail *mail) {
    if (mail != NULL) {
        arena_deinit(&mail->memory);
        free(mail);
    }
}

void group_mail_send(GroupMail *mail, uint32_t world, const float *action,
                     const double *action_double) {
    const size_t columns = mail->call.group->action.column_count;
    double *to = mail->action + world * columns;
    ASSERT(group_mail_is_free(mail, world));
    for (size_t i = 0; i < columns; i++) {
        to[i] = action_double != NULL ? action_double[i] : (double)action[i];
    }
    mail->call.row[world] = (GroupRow){0};
    atomic_store_explicit(&mail->is_free[world], false, memory_order_relaxed);
    mail->sent_count++;
}

void group_mail_finish(GroupMail *mail, uint32_t world) {
    const uint32_t count = (uint32_t)mail->call.count;
    ASSERT(mail->finished_count < count);
    mail->finished[(mail->first + mail->finished_count++) % count] = world;
}

void group_mail_take(GroupMail *mail, uint32_t count, uint32_t *worlds) {
    ASSERT(count <= mail->finished_count);
    for (uint32_t i = 0; i < count; i++) {
        worlds[i] = mail->finished[(mail->first + i) % (uint32_t)mail->call.count];
    }
    mail->first = (mail->first + count) % (uint32_t)mail->call.count;
    mail->finished_count -= count;
}
