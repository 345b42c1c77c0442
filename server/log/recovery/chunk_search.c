// SPDX-License-Identifier: MIT
#include "log/recovery/chunk_search.h"

#include "log/format/chunk.h"
#include "log/format/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = SCHEMA_PAGE_BYTES, LINK_BYTES = 4 };
enum { WAL_HEADER_BYTES = 32, WAL_FRAME_HEADER_BYTES = 24 };
enum { PREFIX_MAX = 256 };          // a record's header and its columns in front of the bytes
enum { CHUNK_BYTES_MAX = 1 << 30 }; // as SQLite's rows
enum { TRIES_MAX = 1 << 16 };       // chains that are followed for one chunk

static const uint8_t magic[8] = {'M', 'O', 'R', 'E', 'A', 'U', 'C', 'K'};

typedef struct ChunkSearch {
    int fd;
    size_t page_count; // of the file, a torn one at its end among them
    uint8_t *chunk;    // being put together
    size_t chunk_capacity;
    uint8_t page[PAGE]; // that is looked through
    uint8_t link[PAGE]; // of a chain
    ChunkSearchFound *found;
    void *context;
} ChunkSearch;

// Zeros behind the end of the file.
static bool read_at(const ChunkSearch *search, off_t at, uint8_t *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(search->fd, bytes + done, count - done, at + (off_t)done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    memset(bytes + done, 0, count - done);
    return done > 0;
}

// ---- where the bytes of a row go on

// How much of a payload of so many bytes stands in the cell itself.
static size_t local_bytes(size_t payload) {
    const size_t usable = PAGE, max = usable - 35, min = (usable - 12) * 32 / 255 - 23;
    if (payload <= max) {
        return payload;
    }
    size_t kept = min + (payload - min) % (usable - LINK_BYTES);
    return kept <= max ? kept : min;
}

static uint32_t read_link(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

// Follows a chain. `broken`: the link after so many pages is not believed, and the next page taken
// instead; SIZE_MAX: all are.
static bool follow(ChunkSearch *search, uint32_t page, size_t done, size_t count, size_t broken) {
    for (size_t hop = 0; done < count; hop++) {
        if (page == 0 || page > search->page_count || hop > search->page_count ||
            !read_at(search, (off_t)(page - 1) * PAGE, search->link, PAGE)) {
            return false;
        }
        size_t part = count - done < PAGE - LINK_BYTES ? count - done : PAGE - LINK_BYTES;
        memcpy(search->chunk + done, search->link + LINK_BYTES, part);
        done += part;
        page = hop + 1 == broken ? page + 1 : read_link(search->link);
    }
    return true;
}

static bool is_whole(const ChunkSearch *search, size_t count) {
    Chunk chunk;
    return chunk_open(search->chunk, count, NULL, &chunk, NULL) == STATUS_OK;
}

// The chain from `page` on, or one with a single link mended.
static bool try_chain(ChunkSearch *search, uint32_t page, size_t local, size_t count) {
    if (follow(search, page, local, count, SIZE_MAX) && is_whole(search, count)) {
        return true;
    }
    size_t hops = (count - local) / (PAGE - LINK_BYTES);
    for (size_t broken = 1; broken <= hops && broken < TRIES_MAX; broken++) {
        if (follow(search, page, local, count, broken) && is_whole(search, count)) {
            return true;
        }
    }
    return false;
}

// ---- one chunk

static bool reserve(ChunkSearch *search, size_t count) {
    if (count <= search->chunk_capacity) {
        return true;
    }
    uint8_t *larger = realloc(search->chunk, count);
    if (larger == NULL) {
        return false;
    }
    search->chunk = larger;
    search->chunk_capacity = count;
    return true;
}

// The chunk that begins at `at` of the page, of which `count` bytes are to be found. How long the
// row is in front of it decides how much stands here: every length is tried that could be.
static bool gather(ChunkSearch *search, size_t at, size_t count, uint32_t page_number) {
    size_t here = PAGE - at;
    if (count <= here) {
        memcpy(search->chunk, search->page + at, count);
        if (is_whole(search, count)) {
            return true;
        }
    }
    for (size_t prefix = 0; prefix < PREFIX_MAX; prefix++) {
        size_t local = local_bytes(prefix + count);
        if (local < prefix + CHUNK_HEADER_BYTES || local == prefix + count) {
            continue;
        }
        size_t kept = local - prefix;
        if (kept + LINK_BYTES > here) {
            continue;
        }
        uint32_t link = read_link(search->page + at + kept);
        memcpy(search->chunk, search->page + at, kept);
        if (link != 0 && link <= search->page_count && try_chain(search, link, kept, count)) {
            return true;
        }
        memcpy(search->chunk, search->page + at, kept);
        if (page_number != 0 && try_chain(search, page_number + 1, kept, count)) {
            return true; // the first link itself was broken
        }
    }
    return false;
}

static Status look_at(ChunkSearch *search, size_t at, uint32_t page_number, Error *error) {
    Chunk head;
    if (chunk_read_head(search->page + at, PAGE - at, &head, NULL) != STATUS_OK ||
        head.body_bytes > CHUNK_BYTES_MAX) {
        return STATUS_OK;
    }
    size_t count = CHUNK_HEADER_BYTES + head.body_bytes;
    if (count > search->page_count * (size_t)PAGE) {
        return STATUS_OK;
    }
    if (!reserve(search, count)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    return gather(search, at, count, page_number)
               ? search->found(search->chunk, count, search->context, error)
               : STATUS_OK;
}

// ---- pages

static Status look_through(ChunkSearch *search, uint32_t page_number, Error *error) {
    Status status = STATUS_OK;
    for (size_t at = 0; at + CHUNK_HEADER_BYTES <= PAGE && status == STATUS_OK; at++) {
        const uint8_t *next = memchr(search->page + at, magic[0], PAGE - at);
        if (next == NULL) {
            break;
        }
        at = (size_t)(next - search->page);
        if (at + CHUNK_HEADER_BYTES <= PAGE && memcmp(next, magic, sizeof(magic)) == 0) {
            status = look_at(search, at, page_number, error);
        }
    }
    return status;
}

static Status open_file(ChunkSearch *search, const char *path, off_t *bytes, Error *error) {
    struct stat info;
    search->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (search->fd < 0 || fstat(search->fd, &info) != 0) {
        return error_set(error, STATUS_UNAVAILABLE, NULL, "%.250s cannot be read: %s.", path,
                         strerror(errno));
    }
    *bytes = info.st_size;
    return STATUS_OK;
}

static Status search_file(ChunkSearch *search, const char *path, Error *error) {
    off_t bytes = 0;
    Status status = open_file(search, path, &bytes, error);
    if (status == STATUS_OK) {
        search->page_count = ((size_t)bytes + PAGE - 1) / PAGE;
    }
    for (size_t i = 0; status == STATUS_OK && i < search->page_count; i++) {
        if (read_at(search, (off_t)i * PAGE, search->page, PAGE)) {
            status = look_through(search, (uint32_t)i + 1, error);
        }
    }
    return status;
}

// Pages that are in the write-ahead log alone: only chunks that fit on one page, as where the
// others go on only SQLite knows.
static Status search_log(ChunkSearch *search, const char *path, Error *error) {
    char name[4096];
    off_t bytes = 0;
    int length = snprintf(name, sizeof(name), "%s-wal", path);
    if (length < 0 || (size_t)length >= sizeof(name) || access(name, R_OK) != 0) {
        return STATUS_OK;
    }
    close(search->fd);
    Status status = open_file(search, name, &bytes, error);
    const off_t frame = WAL_FRAME_HEADER_BYTES + PAGE;
    for (off_t at = WAL_HEADER_BYTES; status == STATUS_OK && at + frame <= bytes; at += frame) {
        if (read_at(search, at + WAL_FRAME_HEADER_BYTES, search->page, PAGE)) {
            status = look_through(search, 0, error);
        }
    }
    return status;
}

Status chunk_search(const char *path, ChunkSearchFound *found, void *context, Error *error) {
    ChunkSearch *search = calloc(1, sizeof(*search));
    if (search == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    search->fd = -1;
    search->found = found;
    search->context = context;
    Status status = search_file(search, path, error);
    status = STATUS_THEN(status, search_log(search, path, error));
    if (search->fd >= 0) {
        close(search->fd);
    }
    free(search->chunk);
    free(search);
    return status;
}
