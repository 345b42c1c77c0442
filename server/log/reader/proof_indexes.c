// SPDX-License-Identifier: MIT
// Whether the indexes lead to the rows of the episode and of its recording: what is as it was
// sealed, and is not found by those who ask for it, is no proof of their answers.
#include "log/reader/proof_parts.h"

#include <inttypes.h>

Status proof_check_indexes(ProofWork *work, Error *error) {
    for (size_t i = 0; i < INDEX_COUNT; i++) {
        const IndexScope scope = index_scope(i);
        if (scope == INDEX_OF_CHUNK || scope == INDEX_OF_ALL) {
            continue; // chunks were read along theirs, labels compared
        }
        if (scope != INDEX_OF_EPISODE && work->is_seen) {
            continue;
        }
        const int64_t row = scope == INDEX_OF_EPISODE ? work->row.episode : work->row.recording;
        IndexBite bite = {0};
        Error why;
        const Status status =
            indexes_look(&work->reader->indexes, work->reader->db, i, row - 1, row, 1, &bite, &why);
        if (status != STATUS_OK && status != STATUS_DATA_LOSS) {
            *error = why;
            return status;
        }
        if (status == STATUS_DATA_LOSS || (bite.last == row && bite.missing > 0)) {
            proof_tell(work, 0, NULL, "index",
                       "Index %s does not lead to the rows that are there: lists and questions "
                       "that go along it miss some. A running server builds it anew.",
                       index_name(i));
        }
    }
    return STATUS_OK;
}
