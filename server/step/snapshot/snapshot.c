// SPDX-License-Identifier: MIT
#include "step/snapshot/snapshot.h"

#include "base/assert.h"
#include "step/snapshot/attached.h"
#include "step/snapshot/sections.h"

#include <string.h>

static const char magic[8] = {'M', 'O', 'R', 'E', 'A', 'U', 'S', 'N'};

// ---- writing

static void write_group(Sink *sink, const World *world, const SnapshotGroup *group, size_t parent);

static void write_record(Sink *sink, const World *world, const SnapshotGroup *group, size_t index) {
    for (size_t i = 0; i < group->field_count; i++) {
        field_write(sink, &group->fields[i], field_at(world, &group->fields[i], index));
    }
    if (group->inner != NULL) {
        write_group(sink, world, group->inner, index);
    }
}

static size_t count_records(const World *world, const SnapshotGroup *group, size_t parent) {
    return group->count == NULL ? 1 : group->count(world, parent);
}

static void write_group(Sink *sink, const World *world, const SnapshotGroup *group, size_t parent) {
    size_t count = count_records(world, group, parent);
    size_t first = group->first == NULL ? 0 : group->first(world, parent);
    if (group->is_counted) {
        sink_u64(sink, count);
    }
    if (group->is_packed && count > 0) {
        sink_bytes(sink, field_at(world, group->fields, first), count * group->fields->stride);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        write_record(sink, world, group, first + i);
    }
}

static size_t group_bytes(const World *world, const SnapshotGroup *group) {
    size_t head = group->is_counted ? sizeof(uint64_t) : 0;
    if (group->is_packed) {
        return head + count_records(world, group, 0) * group->fields->stride;
    }
    if (group_is_fixed(group)) {
        return head + count_records(world, group, 0) * group_record_bytes(group);
    }
    Sink counter = {0}; // texts have any length: they are walked once to count them
    write_group(&counter, world, group, 0);
    return counter.count;
}

static size_t body_bytes(const World *world, const SnapshotSection *section) {
    size_t bytes = 0;
    for (size_t i = 0; i < section->group_count; i++) {
        bytes += group_bytes(world, &section->groups[i]);
    }
    return bytes;
}

static void sink_section(Sink *sink, const World *world, const SnapshotSection *section) {
    if (!section_is_written(section, world)) {
        return;
    }
    size_t length = body_bytes(world, section);
    sink_u32(sink, section->kind);
    sink_u32(sink, section->version);
    sink_u64(sink, length);
    size_t start = sink->count;
    for (size_t i = 0; i < section->group_count; i++) {
        write_group(sink, world, &section->groups[i], 0);
    }
    ASSERT(sink->count == start + length);
    sink_pad(sink); // magic and section heads are multiples of 8, so this pads the body
}

static Status write_world(const World *world, bool is_whole, Arena *arena, uint8_t **bytes,
                          size_t *count, Error *error) {
    size_t total = SNAPSHOT_HEAD_BYTES + SNAPSHOT_CHECKSUM_BYTES +
                   (is_whole ? snapshot_attached_bytes(world) : 0);
    for (size_t i = 0; i < snapshot_section_count; i++) {
        if (section_is_written(&snapshot_sections[i], world)) {
            total += SNAPSHOT_SECTION_HEAD_BYTES +
                     (body_bytes(world, &snapshot_sections[i]) + 7) / 8 * 8;
        }
    }
    uint8_t *memory = arena_take(arena, total);
    if (memory == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "A snapshot of %zu bytes does not fit into memory.", total);
    }
    Sink sink = {.bytes = memory};
    sink_bytes(&sink, magic, sizeof(magic));
    sink_u32(&sink, DYNAMICS_VERSION);
    sink_u32(&sink, SNAPSHOT_FORMAT);
    for (size_t i = 0; i < snapshot_section_count; i++) {
        sink_section(&sink, world, &snapshot_sections[i]);
    }
    if (is_whole) {
        snapshot_attach(&sink, world);
    }
    sink_u64(&sink, hash_bytes(memory, sink.count, 0));
    ASSERT(sink.count == total);
    *bytes = memory;
    *count = total;
    return STATUS_OK;
}

Status snapshot_write_named(const World *world, Arena *arena, uint8_t **bytes, size_t *count,
                            Error *error) {
    return write_world(world, false, arena, bytes, count, error);
}

Status snapshot_write(const World *world, Arena *arena, uint8_t **bytes, size_t *count,
                      Error *error) {
    return write_world(world, true, arena, bytes, count, error);
}

static uint64_t hash_sections(const World *world, bool definition) {
    Hash hash;
    hash_init(&hash, DYNAMICS_VERSION);
    Sink sink = {.hash = &hash};
    for (size_t i = 0; i < snapshot_section_count; i++) {
        if (snapshot_sections[i].is_definition == definition) {
            sink_section(&sink, world, &snapshot_sections[i]);
        }
    }
    return hash_value(&hash);
}

uint64_t snapshot_hash(World *world) {
    if (!world->definition_is_hashed) {
        world->definition_hash = hash_sections(world, true);
        world->definition_is_hashed = true;
    }
    uint64_t parts[2] = {world->definition_hash, hash_sections(world, false)};
    Hash hash;
    hash_init(&hash, DYNAMICS_VERSION);
    Sink sink = {.hash = &hash};
    sink_u64(&sink, parts[0]);
    sink_u64(&sink, parts[1]);
    return hash_value(&hash);
}

// ---- reading

static Status damaged(Error *error, const char *what) {
    return error_set(error, STATUS_DATA_LOSS, "", "The snapshot is damaged: %s.", what);
}

static Status damaged_field(Error *error, const SnapshotGroup *group, size_t index,
                            const SnapshotField *field) {
    return error_set(error, STATUS_DATA_LOSS, "",
                     "The snapshot is damaged: %s of number %zu of its %s cannot be, or it ends "
                     "early.",
                     field->name, index, group->name);
}

// Where one record is read to before the world takes it: a world with room for one of everything.
typedef struct Stage {
    World world;
    Material material;
    Primitive primitive;
    WorldGeometry geometry;
    uint8_t kind;
    uint32_t shape;
    Id id;
    BodyMass mass;
    char *name;
    Joint joint;
    char name_text[FIELD_NAME_BYTES];
} Stage;

static void stage_init(Stage *stage) {
    *stage = (Stage){.name = stage->name_text, .joint = {.name = stage->name_text}};
    stage->world.joint = &stage->joint;
    stage->world.material = &stage->material;
    stage->world.primitive = &stage->primitive;
    stage->world.geometry = &stage->geometry;
    stage->world.kind = &stage->kind;
    stage->world.body_shape = &stage->shape;
    stage->world.body_id = &stage->id;
    stage->world.mass = &stage->mass;
    stage->world.body_name = &stage->name;
}

static Status read_group(Source *source, World *world, Stage *stage, const SnapshotGroup *group,
                         Error *error);

static Status read_record(Source *source, World *world, Stage *stage, const SnapshotGroup *group,
                          size_t index, Error *error) {
    const World *target = group->accept != NULL ? &stage->world : world;
    for (size_t i = 0; i < group->field_count; i++) {
        const SnapshotField *field = &group->fields[i];
        if (!field_read(source, field, field_at(target, field, target == world ? index : 0))) {
            return damaged_field(error, group, index, field);
        }
    }
    Status status = STATUS_OK;
    if (group->inner != NULL) {
        status = read_group(source, world, stage, group->inner, error);
    }
    if (status == STATUS_OK && group->accept != NULL) {
        status = group->accept(world, &stage->world, index, error);
    }
    return status;
}

static Status read_group(Source *source, World *world, Stage *stage, const SnapshotGroup *group,
                         Error *error) {
    size_t count = group->is_counted      ? source_count(source, group_record_bytes(group))
                   : group->count == NULL ? 1
                                          : group->count(world, 0);
    if (source->failed) {
        return damaged(error, "it ends early");
    }
    Status status = group->open == NULL ? STATUS_OK : group->open(world, count, error);
    // what has a way of its own into the world is counted from 0
    size_t first = group->first == NULL || group->accept != NULL ? 0 : group->first(world, 0);
    if (status == STATUS_OK && group->is_packed && count > 0) {
        source_copy(source, field_at(world, group->fields, first), count * group->fields->stride);
        return source->failed ? damaged(error, "it ends early") : STATUS_OK;
    }
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = read_record(source, world, stage, group, first + i, error);
    }
    return status;
}

// A setting's own section is there where it differs from what it is by default, and says nothing
// that cannot be set.
static Status settle_setting(const World *world, const SnapshotSection *section, Error *error) {
    ASSERT(section->is_of_setting);
    return section_is_written(section, world)
               ? settings_check(&world->settings, error)
               : damaged(error, "a setting that does not differ from its default");
}

static Status read_section(Source *source, World *world, Stage *stage,
                           const SnapshotSection *section, Error *error) {
    uint32_t kind = source_u32(source), version = source_u32(source);
    size_t length = source_count(source, 1);
    if (source->failed) {
        return damaged(error, "it ends early");
    }
    if (kind != section->kind || version != section->version) {
        return error_set(
            error, STATUS_FAILED_PRECONDITION, "",
            "The snapshot has section %u version %u where this server knows %u version %u.", kind,
            version, section->kind, section->version);
    }
    Source body = {.bytes = source->bytes + source->used, .count = length};
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < section->group_count; i++) {
        status = read_group(&body, world, stage, &section->groups[i], error);
    }
    if (status == STATUS_OK && section->settle != NULL) {
        status = section->settle(world, error);
    }
    if (status == STATUS_OK && section->is_of_setting) {
        status = settle_setting(world, section, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (body.used != length) {
        return damaged(error, "a section's length does not fit its content");
    }
    source_bytes(source, length);
    if (!source_pad(source)) {
        return damaged(error, "its padding is not zero, or it ends early");
    }
    return STATUS_OK;
}

Status snapshot_check(const uint8_t *bytes, size_t count, uint64_t checksum, Error *error) {
    ASSERT(bytes != NULL || count == 0);
    static const SnapshotHead head = {.magic = magic,
                                      .dynamics = DYNAMICS_VERSION,
                                      .format = SNAPSHOT_FORMAT,
                                      .noun = "snapshot",
                                      .none = "These bytes are no snapshot.",
                                      .renew = "take it anew",
                                      .version = ""};
    return snapshot_head_check(&head, bytes, count, checksum, error);
}

// What its other sections say may ask for one that is not there: then some of its numbers are none.
static Status check_missing(const World *world, uint64_t read, Error *error) {
    for (size_t i = 0; i < snapshot_section_count; i++) {
        const SnapshotSection *section = &snapshot_sections[i];
        if ((read >> i & 1) == 0 && section_is_written(section, world)) {
            return damaged(error, "a section is missing");
        }
    }
    return STATUS_OK;
}

static Status read_sections(Source *source, World *world, Error *error) {
    Stage stage;
    uint64_t read = 0; // a bit for each section
    stage_init(&stage);
    ASSERT(snapshot_section_count <= 64);
    for (size_t i = 0; i < snapshot_section_count; i++) {
        if (!section_is_next(&snapshot_sections[i], *source)) {
            continue;
        }
        read |= (uint64_t)1 << i;
        Status status = read_section(source, world, &stage, &snapshot_sections[i], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return source->used == source->count ? check_missing(world, read, error)
                                         : damaged(error, "bytes follow the last section");
}

static Status read_world(const uint8_t *bytes, size_t count, World *world, Error *error) {
    size_t covered = count > SNAPSHOT_CHECKSUM_BYTES ? count - SNAPSHOT_CHECKSUM_BYTES : 0;
    Status status = snapshot_check(bytes, count, hash_bytes(bytes, covered, 0), error);
    if (status != STATUS_OK) {
        return status;
    }
    Source source = {.bytes = bytes, .count = covered, .used = SNAPSHOT_HEAD_BYTES};
    Attached attached;
    status = snapshot_detach(&source, world->limits.shelf, &attached, error);
    status = STATUS_THEN(status, read_sections(&source, world, error));
    world_settle_friction(world);      // of all that stands in several sections
    snapshot_drop_attached(&attached); // what the world names, it holds
    return status;
}

Status snapshot_read(const uint8_t *bytes, size_t count, const WorldLimits *limits, World **world,
                     Error *error) {
    ASSERT(bytes != NULL || count == 0);
    ASSERT(world != NULL);
    World *fresh = world_create(limits);
    if (fresh == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while reading a snapshot.");
    }
    Status status = read_world(bytes, count, fresh, error);
    if (status != STATUS_OK) {
        world_destroy(fresh);
        return status;
    }
    *world = fresh;
    return STATUS_OK;
}
