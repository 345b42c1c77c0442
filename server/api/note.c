// SPDX-License-Identifier: MIT
// What is kept of a request that is over: a count, and for failures a line of the log.
#include "api/request.h"

#include "api/audit.h"

#include "os/clock.h"

#include <inttypes.h>

static const uint64_t second_ns = 1000000000u;

// A client that does everything wrong must not fill the disk.
static bool may_note(Api *api) {
    uint64_t now_ns = clock_now_ns();
    if (now_ns - api->noted_ns >= second_ns) {
        if (api->unnoted_count > 0) {
            report_line(api->def.report, REPORT_WARN, "requests_unlogged", "count=%" PRIu64,
                        api->unnoted_count);
        }
        api->noted_ns = now_ns;
        api->noted_count = 0;
        api->unnoted_count = 0;
    }
    if (api->noted_count < NOTED_PER_SECOND_MAX) {
        api->noted_count++;
        return true;
    }
    api->unnoted_count++;
    return false;
}

// The call itself is OK, so nothing else tells the operator.
void request_note_fault(const Request *request, uint64_t world, const StepFault *fault) {
    Api *api = request->api;
    if (api->def.report->level < REPORT_WARN || !may_note(api)) {
        return;
    }
    report_line(api->def.report, REPORT_WARN, "world_faulted",
                "world=%" PRIu64 " step=%" PRIu64 " body=%" PRIu64
                " quantity=\"%s\" session=%" PRIu64 " request=%" PRIu64,
                world, fault->step, fault->body, fault->quantity,
                request->session == NULL ? 0 : request->session->number, request->id);
}

void request_note(const Request *request) {
    Api *api = request->api;
    api->answered[request->status]++;
    audit_note(api, request);
    bool failed = request->status != STATUS_OK;
    ReportLevel level = failed ? REPORT_INFO : REPORT_DEBUG;
    if (level > api->def.report->level || (failed && !may_note(api))) {
        return;
    }
    report_line(api->def.report, level, "request",
                "connection=%" PRIu64 " session=%" PRIu64 " request=%" PRIu64
                " call=%s status=%s duration_us=%" PRIu64,
                request->peer.calls->number(request->peer.handle),
                request->session == NULL ? 0 : request->session->number, request->id,
                request->command == NULL ? "none" : request->command->name,
                status_name(request->status), request->server_ns / 1000);
}
