// SPDX-License-Identifier: MIT
#include "cli/worlds/page.h"

static Moreau__V1__Reply *fetch(Cli *cli, Moreau__V1__Request *request,
                                Moreau__V1__Reply__ResultCase wanted, const char *what,
                                int *status) {
    Moreau__V1__Reply *reply;
    *status = cli_call(cli, request, &reply);
    if (*status != EXIT_DONE) {
        *status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != wanted) {
        *status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no list of %s", what);
    } else {
        return reply;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return NULL;
}

Moreau__V1__Reply *world_page_fetch(Cli *cli, uint64_t first, int *status) {
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    list.has_first = list.has_count = 1;
    list.first = first;
    list.count = WORLD_PAGE_ROWS;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_LIST;
    request.world_list = &list;
    return fetch(cli, &request, MOREAU__V1__REPLY__RESULT_WORLD_LIST, "worlds", status);
}

Moreau__V1__Reply *group_page_fetch(Cli *cli, uint64_t first, int *status) {
    Moreau__V1__GroupList list = MOREAU__V1__GROUP_LIST__INIT;
    list.has_first = list.has_count = 1;
    list.first = first;
    list.count = GROUP_PAGE_ROWS;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_GROUP_LIST;
    request.group_list = &list;
    return fetch(cli, &request, MOREAU__V1__REPLY__RESULT_GROUP_LIST, "groups", status);
}
