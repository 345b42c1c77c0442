// SPDX-License-Identifier: MIT
#include "support/wire_live.h"

#include "support/suite.h"

const Moreau__V1__LiveFrame *wire_live_next(WireClient *of) {
    const Moreau__V1__Reply *reply = wire_receive(of);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
    ck_assert(reply->event);
    ck_assert_ptr_nonnull(reply->live_frame);
    ck_assert_uint_eq(reply->live_frame->frames->n_step, 1);
    return reply->live_frame;
}

const Moreau__V1__Reply *wire_live_end(WireClient *of, Moreau__V1__Status__Code code,
                                       const char *field) {
    const Moreau__V1__Reply *reply = wire_receive(of);
    while (reply != NULL && reply->event) {
        reply = wire_receive(of);
    }
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, code, field);
    return reply;
}
