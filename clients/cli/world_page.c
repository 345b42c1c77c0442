// SPDX-License-Identifier: MIT
#include "cli/world_page.h"

Moreau__V1__Reply *world_page_fetch(Cli *cli, uint64_t first, int *status) {
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    list.has_first = 1;
    list.first = first;
    list.has_count = 1;
    list.count = WORLD_PAGE_ROWS;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_LIST;
    request.world_list = &list;
    Moreau__V1__Reply *reply;
    *status = cli_call(cli, &request, &reply);
    if (*status != EXIT_DONE) {
        *status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_WORLD_LIST) {
        *status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no list of worlds");
    } else {
        return reply;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return NULL;
}
