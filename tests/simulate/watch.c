// SPDX-License-Identifier: MIT
#include "simulate/watch.h"

#include "simulate/link.h"
#include "simulate/model.h"
#include "simulate/schedule.h"

#include <inttypes.h>
#include <stdlib.h>

static const uint64_t patience_ns = 90000000000u;

// ---- a set of states, and a list of what was seen

typedef struct Seen {
    const Sight *sight;
    uint64_t subject, step;
    WatchState state;
} Seen;

static struct {
    uint64_t *slot; // 0: free
    size_t slots, used;
    Seen *seen;
    size_t seen_count, seen_capacity;
} all;

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15u)) + 0xd1342543de82ef95u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

WatchState watch_state(uint64_t step, uint64_t motion) {
    return mix(step, motion);
}

uint64_t watch_place(bool has_episode, uint64_t episode, uint64_t episode_step, bool is_over) {
    return has_episode ? 1 + (episode << 32 | episode_step << 1 | is_over) : 0;
}

// The slot where it is, or would be.
static size_t find(uint64_t key) {
    size_t i = (size_t)key & (all.slots - 1);
    while (all.slot[i] != 0 && all.slot[i] != key) {
        i = (i + 1) & (all.slots - 1);
    }
    return i;
}

static void grow(void) {
    enum { SLOTS_FIRST = 1 << 12 };
    uint64_t *old = all.slot;
    const size_t count = all.slots;
    all.slots = count == 0 ? SLOTS_FIRST : 4 * count;
    all.slot = calloc(all.slots, sizeof(*all.slot));
    if (all.slot == NULL) {
        fail("no memory");
    }
    for (size_t i = 0; i < count; i++) {
        if (old[i] != 0) {
            all.slot[find(old[i])] = old[i];
        }
    }
    free(old);
}

static uint64_t key_of(uint64_t subject, WatchState state) {
    return mix(subject, state) | 1;
}

void watch_note(uint64_t subject, WatchState state) {
    if (2 * all.used >= all.slots) {
        grow();
    }
    uint64_t *slot = &all.slot[find(key_of(subject, state))];
    all.used += *slot == 0;
    *slot = key_of(subject, state);
}

static bool has_been(uint64_t subject, WatchState state) {
    return all.slots > 0 && all.slot[find(key_of(subject, state))] != 0;
}

static void see(const Seen *seen) {
    if (all.seen_count == all.seen_capacity) {
        all.seen_capacity = 2 * all.seen_capacity + 256;
        all.seen = realloc(all.seen, all.seen_capacity * sizeof(*all.seen));
        if (all.seen == NULL) {
            fail("no memory");
        }
    }
    all.seen[all.seen_count++] = *seen;
}

// ---- what there is to watch

Sight *watch_find(Sights *sights, bool is_group, uint64_t id) {
    for (size_t i = 0; i < sights->count; i++) {
        Sight *sight = &sights->sight[i];
        if (sight->id == id && sight->is_group == is_group && !sight->is_gone) {
            return sight;
        }
    }
    return NULL;
}

Sight *watch_offer(Sights *sights, const Sight *sight) {
    if (sights->count == SIGHTS_MAX) {
        return NULL;
    }
    Sight *made = &sights->sight[sights->count++];
    *made = *sight;
    return made;
}

void watch_is_gone(Sight *sight) {
    if (sight != NULL && !sight->is_gone) {
        sight->is_gone = true;
        sight->gone_ns = schedule_now_ns();
    }
}

// Whether nothing that it may be shown is missing.
static bool has_seen_rest(const Watching *watching) {
    const Sight *sight = watching->sight;
    if (watching->frames == 0) {
        return false;
    }
    if (!watching->has_motion || watching->every > 1) {
        return sight->is_group || watching->step + watching->every > sight->rest_step;
    }
    return watching->state == sight->rest[watching->index];
}

bool watch_is_behind(const Watching *watching) {
    return watching->sight != NULL && watching->sight->is_resting && !has_seen_rest(watching);
}

static uint32_t count_behind(const Sight *sight) {
    uint32_t count = 0;
    for (const Watching *at = sight->first; at != NULL; at = at->next) {
        count += !has_seen_rest(at);
    }
    return count;
}

static _Noreturn void tell_behind(const Sight *sight) {
    const Watching *at = sight->first;
    while (has_seen_rest(at)) {
        at = at->next;
    }
    fail("who watches %s %" PRIu64 ".%" PRIu64 ", every %" PRIu64 ", %g per second, is not shown "
         "how it rests, at step %" PRIu64 ": %" PRIu64 " frames, up to step %" PRIu64,
         sight->is_group ? "group" : "world", sight->id, at->index, at->every,
         at->frames_per_second, sight->rest_step, at->frames, at->step);
}

void watch_rest(Sight *sight) {
    enum { LOOK_NS = 50000000 };
    const uint64_t until_ns = schedule_now_ns() + patience_ns;
    sight->is_resting = true;
    while (count_behind(sight) > 0) {
        if (schedule_now_ns() > until_ns) {
            tell_behind(sight);
        }
        schedule_sleep(LOOK_NS);
    }
}

// ---- a subscription

static Sight *pick(Sights *sights, size_t owner, Dice *dice) {
    const bool wants_group = dice_chance(dice, 60); // of which there are fewer
    for (int i = 0; i < 12 && sights->count > 0; i++) {
        // the newest ones are most often still there
        const uint64_t back = dice_magnitude(dice, 5) - 1;
        const uint64_t at = back < sights->count && dice_chance(dice, 60)
                                ? sights->count - 1 - back
                                : dice_roll(dice, sights->count);
        Sight *sight = &sights->sight[at];
        const bool is_wanted = i >= 8 || sight->is_group == wants_group;
        if (is_wanted && !sight->is_gone &&
            (owner == 0 || sight->owner == owner || sight->owner == 0)) {
            return sight;
        }
    }
    return NULL;
}

static double draw_rate(Dice *dice) {
    static const double rates[] = {0.0, 60.0, 5.0, 1000.0};
    return rates[dice_roll(dice, 4)];
}

void watch_draw(Watching *watching, Sights *sights, size_t owner, Dice *dice,
                Moreau__V1__Subscribe *message) {
    moreau__v1__subscribe__init(message);
    Sight *sight = pick(sights, owner, dice);
    *watching = (Watching){.sight = sight,
                           .every = dice_chance(dice, 60) ? 1 : dice_magnitude(dice, 5),
                           .frames_per_second = draw_rate(dice),
                           .has_motion = dice_chance(dice, 75),
                           .has_joints = dice_chance(dice, 40)};
    const bool is_group = sight != NULL ? sight->is_group : dice_chance(dice, 50);
    const uint64_t id = sight != NULL ? sight->id : 1000000000 + dice_roll(dice, 1000);
    watching->index = is_group ? dice_roll(dice, WATCHED_PLACES_MAX) : 0;
    message->has_group = message->has_index = is_group;
    message->has_world = !is_group;
    message->group = message->world = id;
    message->index = watching->index;
    message->has_every = message->has_frames_per_second = message->has_velocities = 1;
    message->every = watching->every;
    message->frames_per_second = watching->frames_per_second;
    message->velocities = watching->has_motion;
    message->has_scene = message->has_joints = message->has_contacts = message->has_reports = 1;
    message->scene = dice_chance(dice, 30);
    message->joints = watching->has_joints;
    message->contacts = dice_chance(dice, 40);
    message->reports = dice_chance(dice, 60);
    message->has_single = !watching->has_motion;
    message->single = 1;
}

void watch_begin(Watching *watching) {
    watching->asked_ns = schedule_now_ns();
    if (watching->sight != NULL) {
        watching->next = watching->sight->first;
        watching->sight->first = watching;
    }
}

static void blame(const Watching *watching, const char *what, uint64_t is, uint64_t than) {
    fail("a frame of %s %" PRIu64 ".%" PRIu64 ", every %" PRIu64 ", %s: %" PRIu64 ", %" PRIu64,
         watching->sight->is_group ? "group" : "world", watching->sight->id, watching->index,
         watching->every, what, is, than);
}

// As many as the clock allows: the first at once, and one may be made up for.
static void check_rate(const Watching *watching) {
    const double seconds = (double)(schedule_now_ns() - watching->asked_ns) * 1e-9;
    const double most = 2.0 + seconds * watching->frames_per_second;
    if (watching->frames_per_second > 0.0 && (double)watching->frames > most) {
        blame(watching, "comes too soon: frames, µs", watching->frames, (uint64_t)(seconds * 1e6));
    }
}

// Frames go forwards, and say what they have left out. Of the shared world nothing but its steps
// changes.
static void check_order(const Watching *watching, uint64_t step, uint64_t place, uint64_t skipped) {
    const Sight *sight = watching->sight;
    if (watching->frames == 0) {
        if (skipped != 0) {
            blame(watching, "is the first, and leaves out", skipped, 0);
        }
        return;
    }
    if (sight->is_group) {
        if (place < watching->place) {
            blame(watching, "goes back to an earlier episode or step", place, watching->place);
        }
        return;
    }
    if (sight->goes_back) {
        return;
    }
    const uint64_t ahead = step - watching->step;
    if (step < watching->step || (sight->owner == 0 && ahead < watching->every)) {
        blame(watching, "comes too early behind another: steps", step, watching->step);
    }
    if (skipped != (ahead < watching->every ? 0 : ahead / watching->every - 1)) {
        blame(watching, "leaves out another number than it says: frames, steps", skipped, ahead);
    }
}

void watch_frame(Watching *watching, const Moreau__V1__LiveFrame *frame) {
    const Moreau__V1__EpisodeFrames *frames = frame->frames;
    const Sight *sight = watching->sight;
    if (sight == NULL || frames == NULL || frames->n_step != 1 || frames->n_body_count != 1) {
        fail("a frame without a state, or of nothing");
    }
    const uint64_t bodies = frames->body_count[0];
    const size_t poses = frames->n_pose + frames->n_pose_single;
    if (poses != 7 * bodies ||
        (watching->has_motion &&
         (frames->n_pose != 7 * bodies || frames->n_velocity != 6 * bodies)) ||
        (frames->n_joint_count == 1) != watching->has_joints ||
        (frames->n_ids != bodies && (frames->n_ids != 0 || bodies != watching->bodies))) {
        blame(watching, "has other columns than bodies", poses, bodies);
    }
    const uint64_t step = frames->step[0];
    const uint64_t place = sight->is_group ? watch_place(frame->has_episode, frame->episode,
                                                         frame->episode_step, frame->episode_over)
                                           : 0;
    if (!watching->is_loose) {
        check_order(watching, step, place, frame->skipped);
    }
    watching->frames++;
    watching->skipped += frame->skipped;
    watching->bodies = bodies;
    watching->step = step;
    watching->place = place;
    if (watching->has_motion) {
        watching->state = watch_state(sight->is_group ? place : step,
                                      model_motion(frames->pose, frames->velocity, (size_t)bodies));
        see(&(Seen){sight, sight->subject + watching->index, step, watching->state});
    }
    if (!watching->is_loose) {
        check_rate(watching);
    }
}

void watch_end(Watching *watching, const Moreau__V1__Reply *reply) {
    Sight *sight = watching->sight;
    for (Watching **at = sight == NULL ? NULL : &sight->first; at != NULL && *at != NULL;
         at = &(*at)->next) {
        if (*at == watching) {
            *at = watching->next;
            break;
        }
    }
    if (reply == NULL || reply->subscribe == NULL || watching->is_loose) {
        return;
    }
    if (reply->subscribe->frames != watching->frames ||
        reply->subscribe->skipped != watching->skipped) {
        fail("%" PRIu64 " frames were sent and %" PRIu64 " left out, and %" PRIu64 " and %" PRIu64
             " came",
             reply->subscribe->frames, reply->subscribe->skipped, watching->frames,
             watching->skipped);
    }
}

// ---- the end

uint64_t watch_step_max(uint64_t subject) {
    uint64_t step = 0;
    for (size_t i = 0; i < all.seen_count; i++) {
        const Seen *seen = &all.seen[i];
        step = seen->subject == subject && seen->step > step ? seen->step : step;
    }
    return step;
}

void watch_judge(void) {
    for (size_t i = 0; i < all.seen_count; i++) {
        const Seen *seen = &all.seen[i];
        if (!seen->sight->is_unclear && !has_been(seen->subject, seen->state)) {
            fail("%s %" PRIu64 " was shown at step %" PRIu64 " in a state that it never had",
                 seen->sight->is_group ? "a world of group" : "world", seen->sight->id, seen->step);
        }
    }
}

uint64_t watch_count(void) {
    return all.seen_count;
}
