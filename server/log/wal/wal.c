// SPDX-License-Identifier: MIT
#include "log/wal/wal.h"

#include "base/assert.h"
#include "log/format/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 32, FRAME_HEADER_BYTES = 24, SALT_BYTES = 8, SUMMED_BYTES = 8 };
enum { MAGIC = 0x377f0682, FORMAT = 3007000 }; // its last bit: words are big-endian
enum { ROUNDS_MAX = 1 << 20 };                 // of 64 MiB and more each
enum { PAGE_BYTES_MIN = 512, PAGE_BYTES_MAX = 65536 };
enum { AT_MAGIC = 0, AT_FORMAT = 4, AT_PAGE_BYTES = 8, AT_HEADER_SALT = 16, AT_HEADER_SUMS = 24 };
enum { AT_PAGE = 0, AT_COMMIT = 4, AT_SALT = 8, AT_SUMS = 16 };

typedef struct Sums {
    uint32_t first, second;
} Sums;

typedef struct Walk {
    int fd;
    bool is_big_endian;
    size_t page_bytes, frame_bytes;
    uint64_t frame_count;
    uint8_t header[HEADER_BYTES];
    Sums sums;                        // of the frame before
    uint8_t *frame;                   // the one that is looked at
    uint8_t *next;                    // the one behind it, …
    bool has_next;                    // … if it is of the same round
    uint8_t *earlier;                 // the one before, when frames are written again
    uint32_t page_before, page_after; // of the frames beside it in its transaction
    uint32_t page_max;                // the file cannot have more
} Walk;

// ---- words and sums

static uint32_t read_u32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

static void write_u32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

static uint32_t read_word(const Walk *walk, const uint8_t *bytes) {
    const uint32_t word = read_u32(bytes);
    return walk->is_big_endian ? word : __builtin_bswap32(word);
}

static Sums read_sums(const uint8_t *bytes) {
    return (Sums){.first = read_u32(bytes), .second = read_u32(bytes + 4)};
}

static void write_sums(uint8_t *bytes, Sums sums) {
    write_u32(bytes, sums.first);
    write_u32(bytes + 4, sums.second);
}

static bool are_same(Sums a, Sums b) {
    return a.first == b.first && a.second == b.second;
}

static Sums sums_of(const Walk *walk, const uint8_t *bytes, size_t count, Sums sums) {
    for (size_t i = 0; i < count; i += 8) {
        sums.first += read_word(walk, bytes + i) + sums.second;
        sums.second += read_word(walk, bytes + i + 4) + sums.first;
    }
    return sums;
}

static Sums frame_sums(const Walk *walk, const uint8_t *frame, Sums before) {
    const Sums sums = sums_of(walk, frame, SUMMED_BYTES, before);
    return sums_of(walk, frame + FRAME_HEADER_BYTES, walk->page_bytes, sums);
}

// ---- the file

static Status fail(const char *database, Error *error) {
    return error_set(error, STATUS_UNAVAILABLE, "db", "%.240s-wal cannot be read or written: %s.",
                     database, strerror(errno));
}

static bool read_all(int fd, uint8_t *bytes, size_t count, uint64_t at) {
    size_t done = 0;
    while (done < count) {
        const ssize_t got = pread(fd, bytes + done, count - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? ENODATA : errno;
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const uint8_t *bytes, size_t count, uint64_t at) {
    size_t done = 0;
    while (done < count) {
        const ssize_t put = pwrite(fd, bytes + done, count - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

static uint64_t place_of(const Walk *walk, uint64_t index) {
    return HEADER_BYTES + index * walk->frame_bytes;
}

static bool read_frame(Walk *walk, uint64_t index) {
    return read_all(walk->fd, walk->frame, walk->frame_bytes, place_of(walk, index));
}

static void leave(Walk *walk) {
    if (walk->fd >= 0) {
        close(walk->fd);
    }
    free(walk->frame);
    free(walk->next);
    free(walk->earlier);
}

// With a header and a frame of this size at least, or fd < 0.
static Status enter(Walk *walk, const char *database, int flags, Error *error) {
    *walk = (Walk){.fd = -1};
    char *path = wal_path(database);
    if (path == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    walk->fd = open(path, flags | O_CLOEXEC);
    free(path);
    if (walk->fd < 0) {
        return errno == ENOENT ? STATUS_OK : fail(database, error);
    }
    struct stat info;
    if (fstat(walk->fd, &info) != 0) {
        return fail(database, error);
    }
    if (info.st_size < HEADER_BYTES) {
        close(walk->fd);
        walk->fd = -1;
        return STATUS_OK;
    }
    return read_all(walk->fd, walk->header, HEADER_BYTES, 0) ? STATUS_OK : fail(database, error);
}

static Status measure(Walk *walk, const char *database, size_t page_bytes, Error *error) {
    struct stat info;
    if (fstat(walk->fd, &info) != 0) {
        return fail(database, error);
    }
    walk->page_bytes = page_bytes;
    walk->frame_bytes = FRAME_HEADER_BYTES + page_bytes;
    walk->frame_count = ((uint64_t)info.st_size - HEADER_BYTES) / walk->frame_bytes;
    const bool has_size = stat(database, &info) == 0;
    const uint64_t pages =
        walk->frame_count + (has_size ? (uint64_t)info.st_size / page_bytes : 0) + 1;
    walk->page_max = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
    walk->frame = malloc(walk->frame_bytes);
    walk->next = malloc(walk->frame_bytes);
    walk->earlier = malloc(walk->frame_bytes);
    return walk->frame != NULL && walk->next != NULL && walk->earlier != NULL
               ? STATUS_OK
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
}

// ---- the header

static bool is_header_sound(Walk *walk) {
    const uint8_t *header = walk->header;
    const uint32_t magic = read_u32(header + AT_MAGIC);
    const uint32_t page_bytes = read_u32(header + AT_PAGE_BYTES);
    walk->is_big_endian = (magic & 1) != 0;
    walk->sums = read_sums(header + AT_HEADER_SUMS);
    return (magic & ~1u) == MAGIC && read_u32(header + AT_FORMAT) == FORMAT &&
           page_bytes >= PAGE_BYTES_MIN && page_bytes <= PAGE_BYTES_MAX &&
           (page_bytes & (page_bytes - 1)) == 0 &&
           are_same(sums_of(walk, header, AT_HEADER_SUMS, (Sums){0}), walk->sums);
}

// ---- one frame

static bool has_salt(const Walk *walk, const uint8_t *frame) {
    return memcmp(frame + AT_SALT, walk->header + AT_HEADER_SALT, SALT_BYTES) == 0;
}

static bool follows(const Walk *walk, const uint8_t *frame, Sums before) {
    return has_salt(walk, frame) && read_u32(frame + AT_PAGE) != 0 &&
           are_same(frame_sums(walk, frame, before), read_sums(frame + AT_SUMS));
}

static bool ends_transaction(const uint8_t *frame) {
    return read_u32(frame + AT_COMMIT) != 0;
}

// The only bit in which the two differ. SIZE_MAX: none, or several.
static size_t differing_bit(const uint8_t *a, const uint8_t *b, size_t count) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const unsigned differs = (unsigned)(a[i] ^ b[i]);
        if (differs == 0) {
            continue;
        }
        if (found != SIZE_MAX || (differs & (differs - 1)) != 0) {
            return SIZE_MAX;
        }
        found = 8 * i + (unsigned)__builtin_ctz(differs);
    }
    return found;
}

// The bit of the word that, turned, adds `wanted` to the sums, a word's own share being `share`: a
// 1 that turns adds -2^b of it, a 0 adds 2^b. 32: none.
static unsigned bit_of_word(uint32_t word, Sums share, Sums wanted) {
    for (unsigned bit = 0; bit < 32; bit++) {
        const uint32_t change = (word >> bit & 1) != 0 ? 0u - (1u << bit) : 1u << bit;
        if (share.first * change == wanted.first && share.second * change == wanted.second) {
            return bit;
        }
    }
    return 32;
}

// The byte and bit of a word as it lies in the file.
static WalFlip place_bit(const Walk *walk, size_t at, unsigned bit) {
    const unsigned byte = walk->is_big_endian ? 3 - bit / 8 : bit / 8;
    return (WalFlip){.at = at + byte, .mask = (uint8_t)(1u << bit % 8)};
}

// Which bits of a frame could have flipped.
typedef struct Suspects {
    WalFlip first;                // of those in the page
    size_t in_page;               // how many
    WalFlip number, commit, sums; // mask 0: none
} Suspects;

static void note_suspect(Suspects *suspects, size_t at, WalFlip flip) {
    if (at == AT_PAGE) {
        suspects->number = flip;
    } else if (at == AT_COMMIT) {
        suspects->commit = flip;
    } else {
        suspects->first = suspects->in_page++ == 0 ? flip : suspects->first;
    }
}

// The sums go over pairs of words (x, y): first += x + second; second += y + first. So a word's
// share in the last sums is, of a last pair, (1, 1) of x and (0, 1) of y, and one pair earlier
// what that becomes: (a, b) -> (a + b, a + 2b).
static void find_summed_bits(const Walk *walk, Sums wanted, Suspects *suspects) {
    Sums share[2] = {{1, 1}, {0, 1}};
    for (size_t left = SUMMED_BYTES + walk->page_bytes; left > 0; left -= 8) {
        const size_t pair = left - 8;
        const size_t at = pair < SUMMED_BYTES ? pair : pair - SUMMED_BYTES + FRAME_HEADER_BYTES;
        for (size_t i = 0; i < 2; i++) {
            const uint32_t word = read_word(walk, walk->frame + at + 4 * i);
            const unsigned bit = bit_of_word(word, share[i], wanted);
            if (bit < 32) {
                note_suspect(suspects, at + 4 * i, place_bit(walk, at + 4 * i, bit));
            }
            share[i] = (Sums){.first = share[i].first + share[i].second,
                              .second = share[i].first + 2 * share[i].second};
        }
    }
}

static uint32_t turned(const Walk *walk, size_t at, const WalFlip *flip) {
    uint8_t word[4];
    memcpy(word, walk->frame + at, sizeof(word));
    word[flip->at - at] ^= flip->mask;
    return read_u32(word);
}

// A transaction's pages come in order, as long as SQLite's cache holds them.
static bool is_in_order(const Walk *walk, uint32_t page) {
    return page > walk->page_before && page < walk->page_after;
}

// A page number that none can be, or out of order, while the other is not, decides; two that could
// both be leave the suspicion. What ends a transaction holds all of its pages.
static bool judge_header(const Walk *walk, Suspects *suspects) {
    const uint32_t page = read_u32(walk->frame + AT_PAGE), size = read_u32(walk->frame + AT_COMMIT);
    bool is_wrong = page == 0 || page > walk->page_max || !is_in_order(walk, page);
    if (suspects->number.mask != 0) {
        const uint32_t other = turned(walk, AT_PAGE, &suspects->number);
        const bool may_be = other != 0 && other <= walk->page_max && is_in_order(walk, other);
        if (may_be && is_wrong) {
            *suspects = (Suspects){.number = suspects->number};
            return true;
        }
        suspects->number.mask = may_be ? suspects->number.mask : 0;
    }
    is_wrong = size > walk->page_max || (size != 0 && size < page);
    if (suspects->commit.mask != 0) {
        const uint32_t other = turned(walk, AT_COMMIT, &suspects->commit);
        const bool may_be = other == 0 || (other >= page && other <= walk->page_max);
        if (may_be && is_wrong) {
            *suspects = (Suspects){.commit = suspects->commit};
            return true;
        }
        suspects->commit.mask = may_be ? suspects->commit.mask : 0;
    }
    return page != 0;
}

// The frame behind it says which sums it followed.
static void judge_sums(const Walk *walk, Sums actual, Suspects *suspects) {
    uint8_t bytes[8];
    write_sums(bytes, actual);
    const size_t bit = differing_bit(walk->frame + AT_SUMS, bytes, sizeof(bytes));
    if (bit == SIZE_MAX ||
        (walk->has_next && follows(walk, walk->next, read_sums(walk->frame + AT_SUMS)))) {
        return;
    }
    suspects->sums = (WalFlip){.at = AT_SUMS + bit / 8, .mask = (uint8_t)(1u << bit % 8)};
    if (walk->has_next && follows(walk, walk->next, actual)) {
        *suspects = (Suspects){.sums = suspects->sums};
    }
}

// The one bit of the frame that, turned, makes it follow; from the frame's beginning. Of several in
// its page any, and *is_any: all of them make it follow, and which it was nothing says.
// `judged` knows of a flip that cannot be told.
static bool find_flip(const Walk *walk, WalFlip *flip, bool *is_any, WalJudged *judged) {
    const Sums actual = frame_sums(walk, walk->frame, walk->sums);
    const Sums stored = read_sums(walk->frame + AT_SUMS);
    *is_any = false;
    if (are_same(actual, stored)) { // they are not of the salts
        const size_t bit =
            differing_bit(walk->frame + AT_SALT, walk->header + AT_HEADER_SALT, SALT_BYTES);
        *flip = (WalFlip){.at = AT_SALT + bit / 8, .mask = (uint8_t)(1u << bit % 8)};
        return bit != SIZE_MAX;
    }
    Suspects suspects = {0};
    find_summed_bits(walk, (Sums){stored.first - actual.first, stored.second - actual.second},
                     &suspects);
    judge_sums(walk, actual, &suspects);
    if (!has_salt(walk, walk->frame) || !judge_header(walk, &suspects)) {
        return false;
    }
    const int others =
        (suspects.number.mask != 0) + (suspects.commit.mask != 0) + (suspects.sums.mask != 0);
    *flip = suspects.in_page > 0        ? suspects.first
            : suspects.number.mask != 0 ? suspects.number
            : suspects.commit.mask != 0 ? suspects.commit
                                        : suspects.sums;
    *is_any = suspects.in_page > 1;
    // no torn frame has sums that a single bit explains
    judged->lost_count = others > 0 && ends_transaction(walk->frame);
    judged->is_flipped = others + (suspects.in_page > 0) > 1;
    return others + (suspects.in_page > 0) == 1;
}

// ---- all frames

// Pages of which one of several bits has flipped: it does not matter where a later frame has the
// page again.
typedef struct Doubt {
    uint32_t page;
    uint64_t frame, commits; // from 1; ends of transactions from there on
    size_t flip;
} Doubt;

typedef struct Doubts {
    Doubt list[WAL_FLIPS_MAX];
    size_t count;
} Doubts;

static bool take_frame(Walk *walk, uint64_t index, WalJudged *judged, Doubts *doubts) {
    WalFlip flip;
    bool is_any = false;
    if (follows(walk, walk->frame, walk->sums)) {
        return true;
    }
    walk->has_next = index + 1 < walk->frame_count &&
                     read_all(walk->fd, walk->next, walk->frame_bytes, place_of(walk, index + 1)) &&
                     has_salt(walk, walk->next);
    const bool is_last = !walk->has_next || ends_transaction(walk->frame);
    walk->page_after = is_last ? UINT32_MAX : read_u32(walk->next + AT_PAGE);
    if (judged->flip_count == WAL_FLIPS_MAX || !find_flip(walk, &flip, &is_any, judged)) {
        return false;
    }
    walk->frame[flip.at] ^= flip.mask;
    flip.at += place_of(walk, index);
    if (is_any) {
        doubts->list[doubts->count++] = (Doubt){.page = read_u32(walk->frame + AT_PAGE),
                                                .frame = index + 1,
                                                .flip = judged->flip_count};
    }
    judged->flip[judged->flip_count++] = flip;
    judged->lost_count = 0;
    return follows(walk, walk->frame, walk->sums);
}

static void settle_doubts(const Walk *walk, uint64_t index, Doubts *doubts) {
    size_t kept = 0;
    for (size_t i = 0; i < doubts->count; i++) {
        Doubt doubt = doubts->list[i];
        doubt.commits += ends_transaction(walk->frame);
        if (doubt.frame == index + 1 || doubt.page != read_u32(walk->frame + AT_PAGE)) {
            doubts->list[kept++] = doubt;
        }
    }
    doubts->count = kept;
}

// What is left of them is damage: nothing says which bit it was. The first is told.
static void keep_doubts(const Doubts *doubts, WalJudged *judged) {
    for (size_t i = doubts->count; i-- > 0;) {
        const Doubt *doubt = &doubts->list[i];
        if (doubt->commits > 0) {
            judged->is_flipped = true;
            judged->bad_frame = doubt->frame;
            judged->lost_count = doubt->commits;
            judged->lost_end = judged->sound_count;
        }
        if (doubt->flip < judged->flip_count) {
            judged->flip_count--;
            memmove(&judged->flip[doubt->flip], &judged->flip[doubt->flip + 1],
                    (judged->flip_count - doubt->flip) * sizeof(judged->flip[0]));
        }
    }
}

// Up to the first frame that does not follow, whatever is done.
static Status follow_chain(Walk *walk, const char *database, WalJudged *judged, Doubts *doubts,
                           Error *error) {
    size_t flips = 0; // that stand before the end of a transaction
    uint64_t index = 0;
    for (; index < walk->frame_count; index++) {
        if (!read_frame(walk, index)) {
            return fail(database, error);
        }
        if (!take_frame(walk, index, judged, doubts)) {
            break;
        }
        settle_doubts(walk, index, doubts);
        walk->sums = read_sums(walk->frame + AT_SUMS);
        walk->page_before = ends_transaction(walk->frame) ? 0 : read_u32(walk->frame + AT_PAGE);
        if (ends_transaction(walk->frame)) {
            judged->sound_count = index + 1;
            flips = judged->flip_count;
        }
    }
    judged->flip_count = flips;
    judged->bad_frame = index + 1;
    judged->lost_end = judged->lost_count > 0 ? index + 1 : 0;
    return STATUS_OK;
}

// A frame of the write-ahead log is in the database as well. A page that is not there is not.
static bool is_in_database(const Walk *walk, int database, uint8_t *page) {
    const uint64_t number = read_u32(walk->frame + AT_PAGE);
    return read_all(database, page, walk->page_bytes, (number - 1) * walk->page_bytes) &&
           memcmp(page, walk->frame + FRAME_HEADER_BYTES, walk->page_bytes) == 0;
}

// Of what was committed behind a frame that does not follow: whether a checkpoint had taken of it
// into the database. That goes from the first page to the last. One page alone that is not the
// first may have become again what it was before the log, as an empty table does; and one that
// comes to the same in several frames says nothing at all.
typedef struct TakenIn {
    uint64_t first_page;
    uint64_t page; // of some frame that is there; 0: none
    bool has_first, has_two;
} TakenIn;

// Whether another frame brings the page of the present one, which is `walk->earlier`, to the same.
static bool comes_again(const Walk *walk, uint64_t index) {
    ASSERT(walk->frame != NULL && walk->next != NULL);
    const uint32_t number = read_u32(walk->frame + AT_PAGE);
    bool comes = false;
    for (uint64_t i = 0; i < walk->frame_count && !comes; i++) {
        uint8_t head[FRAME_HEADER_BYTES];
        comes = i != index && read_all(walk->fd, head, sizeof(head), place_of(walk, i)) &&
                read_u32(head + AT_PAGE) == number && has_salt(walk, head) &&
                read_all(walk->fd, walk->next, walk->frame_bytes, place_of(walk, i)) &&
                memcmp(walk->next + FRAME_HEADER_BYTES, walk->earlier, walk->page_bytes) == 0;
    }
    return comes;
}

static void note_frame(const Walk *walk, uint64_t index, int database, TakenIn *taken) {
    const uint64_t page = read_u32(walk->frame + AT_PAGE);
    const bool is_in =
        database >= 0 && is_in_database(walk, database, walk->earlier) && !comes_again(walk, index);
    if (taken->first_page == 0 || page < taken->first_page) {
        taken->first_page = page;
        taken->has_first = is_in;
    } else if (page == taken->first_page) {
        taken->has_first = taken->has_first || is_in;
    }
    taken->has_two = taken->has_two || (is_in && taken->page != 0 && taken->page != page);
    taken->page = is_in ? page : taken->page;
}

static bool is_proven(const TakenIn *taken) {
    return taken->has_first || taken->has_two;
}

// Behind a frame that does not follow, one that follows from what its predecessor says of itself
// was written once; one that ends a transaction, as its last, was committed.
static Status look_behind(Walk *walk, const char *database, WalJudged *judged, Error *error) {
    const int pages = open(database, O_RDONLY | O_CLOEXEC);
    Status status = STATUS_OK;
    TakenIn taken = {0};
    for (uint64_t i = judged->bad_frame; i < walk->frame_count && status == STATUS_OK; i++) {
        const Sums before = read_sums(walk->frame + AT_SUMS);
        if (!read_frame(walk, i)) {
            status = fail(database, error);
        } else if (follows(walk, walk->frame, before)) {
            const bool ends = ends_transaction(walk->frame);
            judged->lost_count += ends;
            judged->lost_end = ends ? i + 1 : judged->lost_end;
            if (!judged->is_taken_in) { // each question reads pages, and some the whole log
                note_frame(walk, i, pages, &taken);
                judged->is_taken_in = ends && is_proven(&taken);
            }
        }
    }
    if (pages >= 0) {
        close(pages);
    }
    return status;
}

// The bit of the header that, turned, makes it sound, and the first frame follow.
static bool mend_header(Walk *walk, WalJudged *judged) {
    for (unsigned bit = 0; bit < 8 * HEADER_BYTES; bit++) {
        const WalFlip flip = {.at = bit / 8, .mask = (uint8_t)(1u << bit % 8)};
        walk->header[flip.at] ^= flip.mask;
        if (is_header_sound(walk) && follows(walk, walk->frame, walk->sums)) {
            judged->flip[judged->flip_count++] = flip;
            return true;
        }
        walk->header[flip.at] ^= flip.mask;
    }
    return false;
}

// In the frame's place is nothing, or a frame of an earlier round: each counts the first salt on.
static bool is_of_before(const Walk *walk) {
    static const uint8_t nothing[FRAME_HEADER_BYTES];
    const uint32_t rounds =
        read_u32(walk->header + AT_HEADER_SALT) - read_u32(walk->frame + AT_SALT);
    return memcmp(walk->frame, nothing, sizeof(nothing)) == 0 ||
           (rounds > 0 && rounds <= ROUNDS_MAX);
}

static Status judge_chain(Walk *walk, const char *database, WalJudged *judged, Error *error) {
    Doubts doubts = {0};
    Status status = follow_chain(walk, database, judged, &doubts, error);
    if (status == STATUS_OK && judged->bad_frame <= walk->frame_count) {
        judged->is_hole = is_of_before(walk);
        status = look_behind(walk, database, judged, error);
    }
    keep_doubts(&doubts, judged);
    return status;
}

static void place_mark(const Walk *walk, const WalPlace *mark, WalJudged *judged) {
    memcpy(judged->synced.salt, walk->header + AT_HEADER_SALT, SALT_BYTES);
    const bool is_of_now = memcmp(mark->salt, judged->synced.salt, SALT_BYTES) == 0;
    judged->synced.frames = is_of_now ? mark->frames : 0;
}

// Of each page the last of the frames up to `end`, as it stands, is in the database: without the
// log it is what it is with it.
static bool are_all_taken_in(Walk *walk, const char *database, uint64_t end) {
    const int pages = open(database, O_RDONLY | O_CLOEXEC);
    uint8_t *is_seen = calloc((size_t)walk->page_max / 8 + 1, 1);
    bool are_in = pages >= 0 && is_seen != NULL;
    for (uint64_t i = end; are_in && i-- > 0;) {
        are_in = read_frame(walk, i);
        const uint32_t page = read_u32(walk->frame + AT_PAGE);
        if (are_in && page > 0 && page <= walk->page_max && (is_seen[page / 8] >> page % 8 & 1)) {
            continue;
        }
        are_in = are_in && page > 0 && page <= walk->page_max &&
                 is_in_database(walk, pages, walk->earlier);
        if (are_in) {
            is_seen[page / 8] |= (uint8_t)(1u << page % 8);
        }
    }
    free(is_seen);
    if (pages >= 0) {
        close(pages);
    }
    return are_in;
}

static Status look_for_salt(Walk *walk, const char *database, const uint8_t salt[SALT_BYTES],
                            WalJudged *judged, Error *error) {
    memcpy(walk->header + AT_HEADER_SALT, salt, SALT_BYTES);
    return read_frame(walk, 0) ? look_behind(walk, database, judged, error) : fail(database, error);
}

// What the header does not say any more, the mark is asked for, and the first frame. A disk that
// fails while the log begins from the front again leaves such a header as well: then all of it is
// in the database.
static Status judge_headless(Walk *walk, const char *database, const WalPlace *mark,
                             WalJudged *judged, Error *error) {
    uint8_t salt[SALT_BYTES];
    memcpy(salt, walk->frame + AT_SALT, SALT_BYTES);
    Status status = STATUS_OK;
    walk->is_big_endian = false;
    judged->bad_frame = 1;
    if (mark->frames > 0) {
        status = look_for_salt(walk, database, mark->salt, judged, error);
    }
    status = STATUS_THEN_IF(status, judged->lost_count == 0,
                            look_for_salt(walk, database, salt, judged, error));
    place_mark(walk, mark, judged);
    judged->bad_frame = 0;
    if (status == STATUS_OK && are_all_taken_in(walk, database, judged->lost_end)) {
        judged->lost_count = 0;
        judged->lost_end = 0;
    }
    return status;
}

static Status judge_frames(Walk *walk, const char *database, WalJudged *judged, Error *error) {
    WalPlace mark;
    const bool has_header = is_header_sound(walk);
    const size_t page_bytes =
        has_header ? read_u32(walk->header + AT_PAGE_BYTES) : SCHEMA_PAGE_BYTES;
    Status status = measure(walk, database, page_bytes, error);
    judged->page_bytes = walk->page_bytes;
    judged->frame_count = walk->frame_count;
    judged->has_mark = wal_mark_read(database, &mark);
    if (status != STATUS_OK || walk->frame_count == 0) {
        return status;
    }
    if (!read_frame(walk, 0)) {
        return fail(database, error);
    }
    if (!has_header && !mend_header(walk, judged)) {
        return judge_headless(walk, database, &mark, judged, error);
    }
    place_mark(walk, &mark, judged);
    return judge_chain(walk, database, judged, error);
}

Status wal_judge(const char *database, WalJudged *judged, Error *error) {
    Walk walk;
    *judged = (WalJudged){0};
    Status status = enter(&walk, database, O_RDONLY, error);
    status = STATUS_THEN_IF(status, walk.fd >= 0, judge_frames(&walk, database, judged, error));
    leave(&walk);
    return status;
}

// ---- writing

Status wal_mend(const char *database, const WalJudged *judged, Error *error) {
    Walk walk;
    Status status = enter(&walk, database, O_RDWR, error);
    for (size_t i = 0; status == STATUS_OK && i < judged->flip_count; i++) {
        uint8_t byte;
        const WalFlip *flip = &judged->flip[i];
        bool is_done = read_all(walk.fd, &byte, 1, flip->at);
        byte ^= flip->mask;
        is_done = is_done && write_all(walk.fd, &byte, 1, flip->at);
        status = is_done ? STATUS_OK : fail(database, error);
    }
    status = STATUS_THEN_IF(status, walk.fd >= 0 && fsync(walk.fd) != 0, fail(database, error));
    leave(&walk);
    return status;
}

static Status change_end(const char *database, const WalJudged *judged, bool cuts, Error *error) {
    Walk walk;
    Status status = enter(&walk, database, O_RDWR, error);
    if (status == STATUS_OK && walk.fd >= 0) {
        walk.frame_bytes = FRAME_HEADER_BYTES + judged->page_bytes;
        const uint64_t end = judged->sound_count > 0 ? place_of(&walk, judged->sound_count) : 0;
        const bool is_done = !cuts || ftruncate(walk.fd, (off_t)end) == 0;
        status = is_done && fsync(walk.fd) == 0 ? STATUS_OK : fail(database, error);
    }
    leave(&walk);
    return status;
}

Status wal_cut(const char *database, const WalJudged *judged, Error *error) {
    return change_end(database, judged, true, error);
}

Status wal_sync(const char *database, const WalJudged *judged, WalPlace *place, Error *error) {
    *place = (WalPlace){0};
    if (judged->frame_count == 0) {
        return STATUS_OK;
    }
    *place = judged->synced;
    place->frames = judged->sound_count;
    return change_end(database, judged, false, error);
}

// Salts and sums as if the frame had been written now. One that names no page becomes the one
// beside it once more.
static bool reseal_frame(Walk *walk, uint64_t index, uint32_t pages) {
    const uint32_t page = read_u32(walk->frame + AT_PAGE);
    if (page == 0 || page > pages) {
        if (index > 0) {
            memcpy(walk->frame, walk->earlier, walk->frame_bytes);
        } else if (!read_frame(walk, 1)) {
            return false;
        }
        write_u32(walk->frame + AT_COMMIT, 0);
    }
    memcpy(walk->frame + AT_SALT, walk->header + AT_HEADER_SALT, SALT_BYTES);
    walk->sums = frame_sums(walk, walk->frame, walk->sums);
    write_sums(walk->frame + AT_SUMS, walk->sums);
    return write_all(walk->fd, walk->frame, walk->frame_bytes, place_of(walk, index));
}

static Status reseal_header(Walk *walk, const char *database, Error *error) {
    uint8_t *header = walk->header;
    if (!read_frame(walk, 0)) {
        return fail(database, error);
    }
    write_u32(header + AT_MAGIC, MAGIC);
    write_u32(header + AT_FORMAT, FORMAT);
    write_u32(header + AT_PAGE_BYTES, (uint32_t)walk->page_bytes);
    memcpy(header + AT_HEADER_SALT, walk->frame + AT_SALT, SALT_BYTES);
    walk->is_big_endian = false;
    walk->sums = sums_of(walk, header, AT_HEADER_SUMS, (Sums){0});
    write_sums(header + AT_HEADER_SUMS, walk->sums);
    return write_all(walk->fd, header, HEADER_BYTES, 0) ? STATUS_OK : fail(database, error);
}

static Status reseal(Walk *walk, const char *database, const WalJudged *judged, Error *error) {
    Status status = measure(walk, database, judged->page_bytes, error);
    status = STATUS_THEN_IF(status, !is_header_sound(walk), reseal_header(walk, database, error));
    status = STATUS_THEN_IF(status, !read_frame(walk, judged->lost_end - 1), fail(database, error));
    const uint32_t pages = status == STATUS_OK ? read_u32(walk->frame + AT_COMMIT) : 0;
    for (uint64_t i = 0; status == STATUS_OK && i < judged->lost_end; i++) {
        uint8_t *earlier = walk->earlier;
        walk->earlier = walk->frame;
        walk->frame = earlier;
        const bool is_done = read_frame(walk, i) && reseal_frame(walk, i, pages);
        status = is_done ? STATUS_OK : fail(database, error);
    }
    return status == STATUS_OK && fsync(walk->fd) != 0 ? fail(database, error) : status;
}

Status wal_reseal(const char *database, const WalJudged *judged, Error *error) {
    Walk walk;
    Status status = enter(&walk, database, O_RDWR, error);
    status = STATUS_THEN_IF(status, walk.fd >= 0 && judged->lost_end > 0,
                            reseal(&walk, database, judged, error));
    leave(&walk);
    return status;
}
