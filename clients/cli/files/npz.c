// SPDX-License-Identifier: MIT
// ZIP as of APPNOTE 6.3, method "stored", always with its 64-bit fields; NPY as of version 1.0.
#include "cli/files/npz.h"

#include "cli/base/interrupt.h"
#include "cli/base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL_MARK = 0x04034b50,
    CENTRAL_MARK = 0x02014b50,
    END_MARK = 0x06054b50,
    END64_MARK = 0x06064b50,
    LOCATOR_MARK = 0x07064b50,
    VERSION = 45,    // from which on there are 64-bit sizes
    DATE = 0x21,     // 1980-01-01: the same numbers make the same file
    EXTRA_ID = 1,    // of the 64-bit sizes
    CRC_OFFSET = 14, // in a local header
};
#define ELSEWHERE UINT32_MAX // it stands in a 64-bit field

// ---- numbers, little-endian

typedef struct Record {
    uint8_t bytes[128];
    size_t count;
} Record;

static void put(Record *record, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        record->bytes[record->count++] = (uint8_t)(value >> 8 * i);
    }
}

static void write_record(Npz *npz, const Record *record) {
    save_write(npz->save, record->bytes, record->count);
    npz->at += record->count;
}

// The checksum of ZIP, Ethernet and PNG, bit-reversed polynomial 0xedb88320.
static void make_crc_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) {
            value = value >> 1 ^ (value & 1 ? 0xedb88320U : 0);
        }
        table[i] = value;
    }
}

static uint32_t crc_go_on(const uint32_t table[256], uint32_t crc, const uint8_t *data,
                          size_t bytes) {
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++) {
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
    }
    return ~crc;
}

// ---- the archive

void npz_begin(Npz *npz, SaveStream *save) {
    *npz = (Npz){.save = save};
    make_crc_table(npz->crc_table);
}

// What local header and directory say in the same words, from the version on.
static void put_facts(Record *record, const NpzEntry *entry, size_t extra_bytes) {
    enum { UTF8_NAMES = 1 << 11 };
    put(record, VERSION, 2);
    put(record, UTF8_NAMES, 2);
    put(record, 0, 2); // stored
    put(record, 0, 2);
    put(record, DATE, 2);
    put(record, entry->crc, 4);
    put(record, ELSEWHERE, 4);
    put(record, ELSEWHERE, 4);
    put(record, strlen(entry->name), 2);
    put(record, extra_bytes, 2);
}

static void begin_entry(Npz *npz, const char *name, uint64_t bytes) {
    enum { EXTRA_BYTES = 20 };
    NpzEntry *entry = &npz->entry[npz->count];
    snprintf(entry->name, sizeof(entry->name), "%s.npy", name);
    entry->offset = npz->at;
    entry->bytes = npz->left = bytes;
    Record record = {0};
    put(&record, LOCAL_MARK, 4);
    put_facts(&record, entry, EXTRA_BYTES);
    write_record(npz, &record);
    npz->at += strlen(entry->name);
    save_write(npz->save, entry->name, strlen(entry->name));
    record.count = 0;
    put(&record, EXTRA_ID, 2);
    put(&record, EXTRA_BYTES - 4, 2);
    put(&record, bytes, 8);
    put(&record, bytes, 8);
    write_record(npz, &record);
}

void npz_write(Npz *npz, const void *data, size_t bytes) {
    NpzEntry *entry = &npz->entry[npz->count];
    if (interrupt_wanted() && npz->save->error == 0) {
        npz->save->error = EINTR; // nobody waits for the rest
    }
    entry->crc = crc_go_on(npz->crc_table, entry->crc, data, bytes);
    save_write(npz->save, data, bytes);
    npz->at += bytes;
    npz->left -= bytes;
}

void npz_array_end(Npz *npz) {
    const NpzEntry *entry = &npz->entry[npz->count++];
    Record record = {0};
    put(&record, entry->crc, 4);
    save_patch(npz->save, entry->offset + CRC_OFFSET, record.bytes, record.count);
}

static void write_directory(Npz *npz) {
    enum { EXTRA_BYTES = 28 };
    for (size_t i = 0; i < npz->count; i++) {
        const NpzEntry *entry = &npz->entry[i];
        Record record = {0};
        put(&record, CENTRAL_MARK, 4);
        put(&record, VERSION, 2);
        put_facts(&record, entry, EXTRA_BYTES);
        put(&record, 0, 2 + 2 + 2); // no comment, disk 0, nothing is known of its inside
        put(&record, 0, 4);         // attributes
        put(&record, ELSEWHERE, 4);
        write_record(npz, &record);
        save_write(npz->save, entry->name, strlen(entry->name));
        npz->at += strlen(entry->name);
        record.count = 0;
        put(&record, EXTRA_ID, 2);
        put(&record, EXTRA_BYTES - 4, 2);
        put(&record, entry->bytes, 8);
        put(&record, entry->bytes, 8);
        put(&record, entry->offset, 8);
        write_record(npz, &record);
    }
}

void npz_end(Npz *npz) {
    enum { END64_REST_BYTES = 44 };
    const uint64_t first = npz->at;
    write_directory(npz);
    const uint64_t last = npz->at;
    Record record = {0};
    put(&record, END64_MARK, 4);
    put(&record, END64_REST_BYTES, 8);
    put(&record, VERSION, 2);
    put(&record, VERSION, 2);
    put(&record, 0, 4 + 4); // disks
    put(&record, npz->count, 8);
    put(&record, npz->count, 8);
    put(&record, last - first, 8);
    put(&record, first, 8);
    put(&record, LOCATOR_MARK, 4);
    put(&record, 0, 4);
    put(&record, last, 8);
    put(&record, 1, 4); // disk there is
    put(&record, END_MARK, 4);
    put(&record, 0, 2 + 2); // disks
    put(&record, npz->count, 2);
    put(&record, npz->count, 2);
    put(&record, ELSEWHERE, 4);
    put(&record, ELSEWHERE, 4);
    put(&record, 0, 2); // no comment
    write_record(npz, &record);
}

// ---- arrays

enum { HEAD_ALIGN = 64, HEAD_BYTES_MAX = 256 };

// "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 7), }", filled up with spaces.
static size_t write_head(char head[HEAD_BYTES_MAX], const char *type, size_t dimensions,
                         const uint64_t *shape) {
    static const char magic[] = "\x93NUMPY\x01";
    enum { BEFORE_BYTES = 10 };
    const char *order = type[0] == 'b'                              ? "|"
                        : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<"
                                                                    : ">";
    char *text = head + BEFORE_BYTES;
    const size_t room = HEAD_BYTES_MAX - BEFORE_BYTES;
    size_t used = (size_t)snprintf(text, room,
                                   "{'descr': '%s%s', 'fortran_order': False, "
                                   "'shape': (",
                                   order, type);
    for (size_t i = 0; i < dimensions; i++) {
        used += (size_t)snprintf(text + used, room - used, "%" PRIu64 ",", shape[i]);
    }
    used += (size_t)snprintf(text + used, room - used, "), }");
    const size_t bytes = (BEFORE_BYTES + used + 1 + HEAD_ALIGN - 1) / HEAD_ALIGN * HEAD_ALIGN;
    memset(text + used, ' ', bytes - BEFORE_BYTES - used);
    head[bytes - 1] = '\n';
    memcpy(head, magic, sizeof(magic)); // its end is the minor version, 0
    head[8] = (char)(bytes - BEFORE_BYTES);
    head[9] = 0;
    return bytes;
}

void npz_array_begin(Npz *npz, const char *name, const char *type, size_t item_bytes,
                     size_t dimensions, const uint64_t *shape) {
    char head[HEAD_BYTES_MAX];
    uint64_t bytes = item_bytes;
    for (size_t i = 0; i < dimensions; i++) {
        bytes *= shape[i];
    }
    const size_t head_bytes = write_head(head, type, dimensions, shape);
    begin_entry(npz, name, head_bytes + bytes);
    npz_write(npz, head, head_bytes);
}

void npz_array(Npz *npz, const char *name, const char *type, size_t item_bytes, size_t dimensions,
               const uint64_t *shape, const void *data) {
    npz_array_begin(npz, name, type, item_bytes, dimensions, shape);
    npz_write(npz, data, (size_t)npz->left);
    npz_array_end(npz);
}

// ---- texts

// The character that a text goes on with, or 0 at its end; what is no UTF-8 is U+FFFD byte by byte.
static uint32_t take_character(const char **text) {
    const uint8_t *at = (const uint8_t *)*text;
    const size_t more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc0 ? 1 : 0;
    uint32_t character = more == 0 ? *at : *at & (0x3fU >> more);
    bool is_sound = more > 0 || *at < 0x80;
    for (size_t i = 1; i <= more && is_sound; i++) {
        is_sound = (at[i] & 0xc0) == 0x80;
        character = character << 6 | (at[i] & 0x3fU);
    }
    *text += *at == 0 ? 0 : is_sound ? more + 1 : 1;
    return is_sound && character <= 0x10ffff ? character : 0xfffd;
}

static size_t count_characters(const char *text) {
    size_t count = 0;
    while (take_character(&text) != 0) {
        count++;
    }
    return count;
}

static void write_texts(Npz *npz, const char *name, size_t dimensions, const char *const *texts,
                        size_t count) {
    size_t width = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t characters = count_characters(texts[i]);
        width = characters > width ? characters : width;
    }
    char type[24];
    const uint64_t shape[] = {count};
    snprintf(type, sizeof(type), "U%zu", width);
    npz_array_begin(npz, name, type, width * sizeof(uint32_t), dimensions, shape);
    uint32_t *row = memory_take(width, sizeof(*row));
    for (size_t i = 0; i < count; i++) {
        const char *text = texts[i];
        for (size_t k = 0; k < width; k++) {
            row[k] = take_character(&text); // 0 behind its end
        }
        npz_write(npz, row, width * sizeof(*row));
    }
    free(row);
    npz_array_end(npz);
}

void npz_texts(Npz *npz, const char *name, const char *const *texts, size_t count) {
    write_texts(npz, name, 1, texts, count);
}

void npz_text(Npz *npz, const char *name, const char *text) {
    write_texts(npz, name, 0, &text, 1);
}
