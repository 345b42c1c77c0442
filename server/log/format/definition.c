// SPDX-License-Identifier: MIT
#include "log/format/definition.h"

#include "base/assert.h"

#include <inttypes.h>
#include <string.h>

const char *recording_state_name(RecordingState state) {
    static const char *const names[RECORDING_STATE_COUNT] = {"recording", "complete",
                                                             "world_destroyed", "interrupted"};
    return state < RECORDING_STATE_COUNT ? names[state] : "unknown";
}

const char *recording_content_name(RecordingContent content) {
    static const char *const names[] = {"inputs", "frames", "contacts"};
    return content <= CONTENT_CONTACTS ? names[content] : "unknown";
}

const char *highlight_kind_name(HighlightKind kind) {
    static const char *const names[HIGHLIGHT_KIND_COUNT] = {"unknown",     "unconverged", "impact",
                                                            "energy_gain", "launch",      "broken"};
    return kind < HIGHLIGHT_KIND_COUNT ? names[kind] : names[0];
}

static Status refuse(const Chunk *chunk, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL, "its %zu bytes are no %s", chunk->body_bytes,
                     chunk_kind_name(chunk->kind));
}

static Source source_of(const Chunk *chunk) {
    return (Source){.bytes = chunk->body, .count = chunk->body_bytes};
}

// The whole body was read, and it was what it should be.
static Status finish(Source *source, const Chunk *chunk, Error *error) {
    bool is_whole = source_pad(source) && !source->failed && source->used == source->count;
    return is_whole ? STATUS_OK : refuse(chunk, error);
}

// NULL, and a failed source, when memory ends or the bytes do.
static const char *take_text(Source *source, Arena *arena) {
    size_t count = source_count(source, 1);
    const uint8_t *bytes = source_bytes(source, count);
    char *text = bytes == NULL ? NULL : arena_take(arena, count + 1);
    if (text == NULL) {
        source->failed = true;
        return "";
    }
    memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}

// ---- definition

size_t definition_write(const RecordingDef *def, uint8_t *bytes) {
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, (uint64_t)def->content);
    sink_u64(&sink, def->stride);
    sink_u64(&sink, def->keyframe_steps);
    sink_u64(&sink, def->lossy);
    sink_u64(&sink, def->world_count);
    sink_u64(&sink, def->world_range);
    sink_u64(&sink, def->dynamics_version);
    sink_u64(&sink, def->world_step);
    sink_double(&sink, def->world_time);
    sink_double(&sink, def->time_step);
    sink_u64(&sink, def->body_count);
    sink_u64(&sink, def->begun_ns);
    sink_u64(&sink, def->has_seed);
    sink_u64(&sink, def->seed);
    sink_u64(&sink, def->has_parent);
    sink_bytes(&sink, def->parent, UID_BYTES);
    sink_u64(&sink, def->parent_step);
    const char *const texts[] = {def->name,       def->solver,         def->client,
                                 def->world_name, def->server_version, def->build};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        sink_text(&sink, texts[i]);
    }
    sink_u64(&sink, def->label_count);
    for (size_t i = 0; i < def->label_count; i++) {
        sink_text(&sink, def->label[i]);
    }
    sink_pad(&sink);
    if (recording_is_group(def->world_count, def->world_range)) {
        sink_u64(&sink, def->group_bytes);
        sink_bytes(&sink, def->group, def->group_bytes);
        sink_pad(&sink);
    }
    if (definition_version(def) >= CHUNK_FORMAT_EVENTS) {
        sink_u64(&sink, def->has_events);
    }
    return sink.count;
}

static void read_definition(Source *source, uint32_t version, Arena *arena, RecordingDef *def) {
    def->content = (RecordingContent)source_u64(source);
    def->stride = source_u64(source);
    def->keyframe_steps = source_u64(source);
    def->lossy = source_u64(source) != 0;
    def->world_count = (uint32_t)source_u64(source);
    def->world_range = (uint32_t)source_u64(source);
    def->dynamics_version = source_u64(source);
    def->world_step = source_u64(source);
    def->world_time = source_double(source);
    def->time_step = source_double(source);
    def->body_count = source_u64(source);
    def->begun_ns = source_u64(source);
    def->has_seed = source_u64(source) != 0;
    def->seed = source_u64(source);
    def->has_parent = source_u64(source) != 0;
    source_copy(source, def->parent, UID_BYTES);
    def->parent_step = source_u64(source);
    const char **const texts[] = {&def->name,       &def->solver,         &def->client,
                                  &def->world_name, &def->server_version, &def->build};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i] = take_text(source, arena);
    }
    def->label_count = source_count(source, 8);
    const char **labels = arena_take_array(arena, def->label_count, sizeof(*labels));
    source->failed = source->failed || labels == NULL;
    for (size_t i = 0; !source->failed && i < def->label_count; i++) {
        labels[i] = take_text(source, arena);
    }
    def->label = labels;
    if (source_pad(source) && recording_is_group(def->world_count, def->world_range)) {
        def->group_bytes = source_count(source, 1);
        def->group = source_bytes(source, def->group_bytes);
    }
    if (version >= CHUNK_FORMAT_EVENTS && source_pad(source)) {
        def->has_events = source_u64(source) != 0;
    }
}

Status definition_read(const Chunk *chunk, Arena *arena, RecordingDef *def, Error *error) {
    Source source = source_of(chunk);
    RecordingDef found = {0};
    memcpy(found.uid, chunk->uid, UID_BYTES);
    read_definition(&source, chunk_version(chunk), arena, &found);
    Status status = finish(&source, chunk, error);
    bool makes_sense = found.content <= CONTENT_CONTACTS && found.stride > 0 &&
                       found.world_count > 0 && found.world_range > 0;
    status = STATUS_THEN_IF(status, !makes_sense, refuse(chunk, error));
    if (status == STATUS_OK) {
        *def = found;
    }
    return status;
}

// ---- seal

// Of how many kinds of chunks a seal of that version says how many there are.
static size_t kinds_of(uint32_t version) {
    return version >= CHUNK_FORMAT_SIGNATURES   ? CHUNK_SIGNATURE + 1
           : version >= CHUNK_FORMAT_GEOMETRIES ? CHUNK_GEOMETRY + 1
           : version >= CHUNK_FORMAT_EVENTS     ? CHUNK_EVENTS + 1
                                                : CHUNK_EVENTS;
}

size_t seal_write(const RecordingSeal *seal, uint8_t *bytes) {
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, (uint64_t)seal->state);
    sink_u64(&sink, seal->last_step);
    sink_double(&sink, seal->time);
    sink_u64(&sink, seal->dropped_steps);
    sink_u64(&sink, seal->ended_ns);
    sink_u64(&sink, seal->is_found);
    sink_u64(&sink, seal->episode_count);
    sink_figures(&sink, &seal->figures);
    sink_u64s(&sink, seal->chunk_count,
              bytes == NULL ? CHUNK_KIND_COUNT : kinds_of(seal_version(seal)));
    sink_u64(&sink, seal->chain_count);
    for (size_t i = 0; i < seal->chain_count; i++) {
        const ChainEnd *chain = &seal->chain[i];
        sink_u32(&sink, chain->first_world);
        sink_u32(&sink, chain->world_count);
        sink_u64(&sink, chain->chunk_count);
        sink_u64(&sink, chain->checksum);
    }
    sink_text(&sink, seal->why);
    sink_pad(&sink);
    if (bytes == NULL || seal->figures.has_gain) {
        sink_gain(&sink, &seal->figures);
    }
    return sink.count;
}

Status seal_read(const Chunk *chunk, Arena *arena, RecordingSeal *seal, Error *error) {
    enum { CHAIN_BYTES = 24 };
    Source source = source_of(chunk);
    RecordingSeal found = {.state = (RecordingState)source_u64(&source)};
    found.last_step = source_u64(&source);
    found.time = source_double(&source);
    found.dropped_steps = source_u64(&source);
    found.ended_ns = source_u64(&source);
    found.is_found = source_u64(&source) != 0;
    found.episode_count = source_u64(&source);
    source_figures(&source, &found.figures);
    source_u64s(&source, found.chunk_count, kinds_of(chunk_version(chunk)));
    found.chain_count = source_count(&source, CHAIN_BYTES);
    found.chain = arena_take_array(arena, found.chain_count, sizeof(*found.chain));
    source.failed = source.failed || found.chain == NULL;
    for (size_t i = 0; !source.failed && i < found.chain_count; i++) {
        ChainEnd *chain = &found.chain[i];
        chain->first_world = source_u32(&source);
        chain->world_count = source_u32(&source);
        chain->chunk_count = source_u64(&source);
        chain->checksum = source_u64(&source);
    }
    found.why = take_text(&source, arena);
    // since version 10 it says so by being there: those that counted kinds were of worlds alone
    if (chunk_version(chunk) >= CHUNK_FORMAT_GAINS && source_pad(&source) &&
        (chunk_version(chunk) < CHUNK_FORMAT_GEOMETRIES || source.used < source.count)) {
        source_gain(&source, &found.figures);
    }
    Status status = finish(&source, chunk, error);
    status = STATUS_THEN_IF(status, found.state >= RECORDING_STATE_COUNT, refuse(chunk, error));
    if (status == STATUS_OK) {
        *seal = found;
    }
    return status;
}

// ---- episodes

// Columns of 8 bytes: of all, and those of gains and of opinions.
enum {
    EPISODE_COLUMNS = 22,
    GAIN_COLUMNS = 3,
    OPINION_COLUMNS = 5,
    EPISODE_COLUMNS_MAX = EPISODE_COLUMNS + GAIN_COLUMNS + OPINION_COLUMNS
};

static bool has_gains(uint32_t version) {
    return version >= CHUNK_FORMAT_GAINS;
}

static bool has_opinions(uint32_t version) {
    return version >= CHUNK_FORMAT_OPINIONS && version != CHUNK_FORMAT_GAINS;
}

static size_t columns_of(uint32_t version) {
    const size_t gains = has_gains(version) ? GAIN_COLUMNS : 0;
    return EPISODE_COLUMNS + gains + (has_opinions(version) ? (size_t)OPINION_COLUMNS : 0);
}

// Which of the numbers of an episode its k-th column is.
static size_t word_of(uint32_t version, size_t k) {
    return k < EPISODE_COLUMNS || has_gains(version) ? k : k + GAIN_COLUMNS;
}

static size_t record_bytes(uint32_t version) {
    return 8 * columns_of(version) + UID_BYTES;
}

// In the order of the columns.
static void to_words(const EpisodeRecord *record, uint64_t words[EPISODE_COLUMNS_MAX]) {
    Sink sink = {.bytes = (uint8_t *)words};
    sink_u64(&sink, record->world);
    sink_u64(&sink, record->first_step);
    sink_u64(&sink, record->last_step);
    sink_u64(&sink, (uint64_t)record->state);
    sink_u64(&sink, record->has_seed);
    sink_u64(&sink, record->seed);
    sink_u64(&sink, record->has_return);
    sink_double(&sink, record->return_sum);
    sink_double(&sink, record->time);
    sink_u64(&sink, record->begun_ns);
    sink_u64(&sink, record->ended_ns);
    sink_figures(&sink, &record->figures);
    sink_u64(&sink, record->parent_step);
    sink_u64(&sink, record->length);
    sink_u64(&sink, record->turn);
    sink_gain(&sink, &record->figures);
    sink_u64(&sink, record->doubtful_steps);
    sink_u64(&sink, record->has_return_doubtful);
    sink_double(&sink, record->return_doubtful);
    sink_u64(&sink, record->opinions);
    sink_double(&sink, record->opinion_gap_max);
    ASSERT(sink.count == EPISODE_COLUMNS_MAX * sizeof(uint64_t));
}

size_t episodes_write(uint64_t first_number, const EpisodeRecord *records, size_t count,
                      uint32_t version, uint8_t *bytes) {
    const size_t columns = columns_of(version);
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, first_number);
    sink_u64(&sink, count);
    if (bytes != NULL) {
        for (size_t i = 0; i < count; i++) {
            uint64_t words[EPISODE_COLUMNS_MAX];
            to_words(&records[i], words);
            for (size_t k = 0; k < columns; k++) {
                memcpy(bytes + EPISODES_HEAD_BYTES + 8 * (k * count + i),
                       &words[word_of(version, k)], 8);
            }
            memcpy(bytes + EPISODES_HEAD_BYTES + 8 * columns * count + UID_BYTES * i,
                   records[i].parent, UID_BYTES);
        }
    }
    return EPISODES_HEAD_BYTES + record_bytes(version) * count;
}

Status episodes_open(const Chunk *chunk, EpisodesChunk *episodes, Error *error) {
    const uint32_t version = chunk_version(chunk);
    Source source = source_of(chunk);
    uint64_t first_number = source_u64(&source);
    size_t count = source_count(&source, record_bytes(version));
    const uint8_t *columns = source_bytes(&source, count * record_bytes(version));
    if (columns == NULL || source.used != source.count ||
        first_number + count > (uint64_t)UINT32_MAX + 1) {
        return refuse(chunk, error);
    }
    *episodes = (EpisodesChunk){
        .first_number = first_number, .count = count, .version = version, .columns = columns};
    return STATUS_OK;
}

static void take_opinion(Source *source, EpisodeRecord *record) {
    record->doubtful_steps = source_u64(source);
    record->has_return_doubtful = source_u64(source) != 0;
    record->return_doubtful = source_double(source);
    record->opinions = source_u64(source);
    record->opinion_gap_max = source_double(source);
}

void episodes_get(const EpisodesChunk *episodes, size_t index, EpisodeRecord *record) {
    ASSERT(index < episodes->count);
    const size_t columns = columns_of(episodes->version);
    uint64_t words[EPISODE_COLUMNS_MAX] = {0};
    for (size_t k = 0; k < columns; k++) {
        memcpy(&words[word_of(episodes->version, k)],
               episodes->columns + 8 * (k * episodes->count + index), 8);
    }
    Source source = {.bytes = (const uint8_t *)words, .count = sizeof(words)};
    record->world = (uint32_t)source_u64(&source);
    record->first_step = source_u64(&source);
    record->last_step = source_u64(&source);
    record->state = (RecordingState)source_u64(&source);
    record->has_seed = source_u64(&source) != 0;
    record->seed = source_u64(&source);
    record->has_return = source_u64(&source) != 0;
    record->return_sum = source_double(&source);
    record->time = source_double(&source);
    record->begun_ns = source_u64(&source);
    record->ended_ns = source_u64(&source);
    source_figures(&source, &record->figures);
    record->parent_step = source_u64(&source);
    record->length = source_u64(&source);
    record->turn = source_u64(&source);
    source_gain(&source, &record->figures);
    record->figures.has_gain = has_gains(episodes->version);
    record->has_opinion = has_opinions(episodes->version);
    take_opinion(&source, record);
    memcpy(record->parent, episodes->columns + 8 * columns * episodes->count + UID_BYTES * index,
           UID_BYTES);
}

// ---- highlights

static bool is_known(const Highlight *highlight, uint32_t version) {
    return version >= (highlight->kind == HIGHLIGHT_BROKEN   ? CHUNK_FORMAT_JOINTS
                       : highlight->kind == HIGHLIGHT_LAUNCH ? CHUNK_FORMAT_LAUNCHES
                                                             : CHUNK_FORMAT_OLDEST);
}

size_t highlights_write(const Highlight *highlights, size_t count, uint32_t version,
                        uint8_t *bytes) {
    Sink sink = {.bytes = bytes};
    uint64_t known = 0;
    for (size_t i = 0; i < count; i++) {
        known += is_known(&highlights[i], version);
    }
    sink_u64(&sink, known);
    for (size_t i = 0; i < count; i++) {
        if (!is_known(&highlights[i], version)) {
            continue;
        }
        sink_u64(&sink, (uint64_t)highlights[i].kind);
        sink_u64(&sink, highlights[i].first_step);
        sink_u64(&sink, highlights[i].last_step);
        sink_u64(&sink, highlights[i].step);
        sink_double(&sink, highlights[i].value);
        sink_u64(&sink, highlights[i].reason);
        sink_u64(&sink, highlights[i].body);
        sink_u64(&sink, highlights[i].contacts);
        if (version >= CHUNK_FORMAT_LAUNCHES) {
            sink_u64(&sink, highlights[i].other);
            sink_double(&sink, highlights[i].height);
        }
        if (version >= CHUNK_FORMAT_JOINTS) {
            sink_u64(&sink, highlights[i].joint);
        }
    }
    return sink.count;
}

// of one of them in the chunk
static size_t highlight_bytes(const Chunk *chunk) {
    enum { WITHOUT_REASONS = 40, WITHOUT_LAUNCHES = 64 };
    uint32_t version = chunk_version(chunk);
    return version < CHUNK_FORMAT_REASONS    ? WITHOUT_REASONS
           : version < CHUNK_FORMAT_LAUNCHES ? WITHOUT_LAUNCHES
           : version < CHUNK_FORMAT_JOINTS   ? HIGHLIGHT_BYTES
                                             : HIGHLIGHT_BYTES_WITH_JOINT;
}

Status highlights_open(const Chunk *chunk, size_t *count, Error *error) {
    Source source = source_of(chunk);
    size_t each = highlight_bytes(chunk);
    *count = source_count(&source, each);
    bool is_whole = !source.failed && source.used + *count * each == source.count;
    return is_whole ? STATUS_OK : refuse(chunk, error);
}

Highlight highlights_get(const Chunk *chunk, size_t index) {
    Source source = source_of(chunk);
    source.used = 8 + index * highlight_bytes(chunk);
    Highlight highlight = {.kind = (HighlightKind)source_u64(&source)};
    highlight.first_step = source_u64(&source);
    highlight.last_step = source_u64(&source);
    highlight.step = source_u64(&source);
    highlight.value = source_double(&source);
    if (chunk_version(chunk) >= CHUNK_FORMAT_REASONS) {
        highlight.reason = source_u64(&source);
        highlight.body = source_u64(&source);
        highlight.contacts = source_u64(&source);
    }
    if (chunk_version(chunk) >= CHUNK_FORMAT_LAUNCHES) {
        highlight.other = source_u64(&source);
        highlight.height = source_double(&source);
    }
    if (chunk_version(chunk) >= CHUNK_FORMAT_JOINTS) {
        highlight.joint = source_u64(&source);
    }
    return highlight;
}
