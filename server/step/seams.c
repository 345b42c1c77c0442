// SPDX-License-Identifier: MIT
// Which faces of a contact are no surface, because a neighbour lies before them (collide/seam.h).
// The neighbours of a face are the other primitives of its own body and of the bodies that the
// moving one of the two may meet; what holds the other part off is their own contact with it, as
// this step makes it.
#include "step/stages.h"

#include "base/assert.h"

#include "collide/seam.h"
#include "step/near.h"

#include <string.h>

// how far from a point of a contact a cover is looked for, in steps: the place before it, and what
// lies next to that
#define COVER_STEPS 8.0

bool seams_list_partners(StepState *state) {
    ASSERT(state->candidate_count == 0 || state->candidate != NULL);
    uint32_t count = state->world->body_count;
    size_t pairs = state->candidate_count;
    uint32_t *first = arena_take_array(state->scratch, (size_t)count + 1, sizeof(uint32_t));
    uint32_t *partner = arena_take_array(state->scratch, 2 * pairs, sizeof(uint32_t));
    bool *near = arena_take_array(state->scratch, pairs, sizeof(bool));
    if (first == NULL || partner == NULL || near == NULL) {
        return false;
    }
    // counted, summed to the end of each, then filled from behind
    memset(first, 0, ((size_t)count + 1) * sizeof(uint32_t));
    // what candidates there are depends on the steps before; who may come together does not, and
    // who does not holds nothing off
    NearBody from = {.body = UINT32_MAX};
    for (size_t i = 0; i < pairs; i++) {
        if (state->candidate[i].a != from.body) {
            near_load(state, state->candidate[i].a, &from);
        }
        near[i] = !near_is_far(state, &from, state->candidate[i].b);
        first[state->candidate[i].a] += near[i];
        first[state->candidate[i].b] += near[i];
    }
    for (uint32_t body = 1; body <= count; body++) {
        first[body] += first[body - 1];
    }
    for (size_t i = pairs; i-- > 0;) {
        if (near[i]) {
            partner[--first[state->candidate[i].a]] = state->candidate[i].b;
            partner[--first[state->candidate[i].b]] = state->candidate[i].a;
        }
    }
    state->partner_first = first;
    state->partner = partner;
    state->near = near;
    state->has_surfaces = false;
    for (size_t i = 0; i < state->world->shape_count; i++) {
        state->has_surfaces = state->has_surfaces || state->world->shape[i].is_surface;
    }
    return true;
}

// A part with faces that may be hidden, and the other one of its contact.
typedef struct Seam {
    const StepState *state;
    const StepPart *owner, *other;
    SeamPoints points; // on the owner
    double step;
    Vec3 at;         // the first point, in the world
    double spread;   // of the points from it [m]
    BroadBox around; // all places before them that a cover can be at
    uint32_t face_count;
    SeamFace face[SEAM_FACES_MAX];
    uint32_t faces;                             // in question: 1 << its place in `face`
    Vec3 before[SEAM_FACES_MAX][MANIFOLD_ROOM]; // the places before the points, in the world
    uint32_t clear[SEAM_FACES_MAX];             // points known to clear the face, 1 << point
    bool has_places;                            // those of `before` are set
} Seam;

// The plane in which a cover holds the other part off, in the owner's axes.
typedef struct Hold {
    bool is_sought, is_found;
    Vec3 normal, place;
} Hold;

static Hold find_hold(const Seam *seam, const StepPart *cover) {
    const World *world = seam->state->world;
    Hold hold = {.is_sought = true};
    if (world->kind[seam->other->body] != BODY_DYNAMIC &&
        world->kind[cover->body] != BODY_DYNAMIC) {
        return hold; // these two hold nothing off
    }
    Manifold held;
    double time = contacts_meet(seam->state, cover, seam->other, &held);
    if (held.count == 0) {
        return hold;
    }
    // a place of the plane on the cover, and the normal, carried back to where the cover is now
    const ManifoldPoint *point = &held.point[0];
    for (uint32_t i = 1; i < held.count; i++) {
        point = held.point[i].gap < point->gap ? &held.point[i] : point;
    }
    Vec3 place = vec3_add_scaled(point->position, -0.5 * point->gap, held.normal);
    Pose then = approach_pose(&cover->mover, time);
    Mat3 from = quat_to_mat3(then.orientation), to = quat_to_mat3(cover->mover.pose->orientation);
    Vec3 normal = mat3_mul_vec(to, mat3_tmul_vec(from, held.normal));
    Vec3 local = mat3_tmul_vec(from, vec3_sub(place, then.position));
    place = vec3_add(cover->mover.pose->position, mat3_mul_vec(to, local));

    // and both in the owner's axes
    Mat3 axes = quat_to_mat3(seam->owner->mover.pose->orientation);
    hold.is_found = true;
    hold.normal = mat3_tmul_vec(axes, normal);
    hold.place = mat3_tmul_vec(axes, vec3_sub(place, seam->owner->mover.pose->position));
    return hold;
}

// Which of the points the face does not rise at above that plane.
static uint32_t find_clear(const Seam *seam, const Hold *hold, uint32_t face, uint32_t points) {
    ASSERT(face < seam->face_count);
    uint32_t clear = 0;
    for (uint32_t i = 0; hold->is_found && points >> i != 0; i++) {
        if ((points >> i & 1u) != 0 &&
            seam_rise(seam->owner->mover.primitive, &seam->face[face], seam->points.point[i],
                      hold->normal, hold->place, seam->step) <= seam->step) {
            clear |= 1u << i;
        }
    }
    return clear;
}

Quat stage_facing(Vec3 normal) {
    return quat_normalize(normal.z >= 0.0 ? (Quat){1.0 + normal.z, -normal.y, normal.x, 0.0}
                                          : (Quat){-normal.y, 1.0 - normal.z, 0.0, normal.x});
}

// What falls freely has sunk by as much as it may come, before a surface held it; what began in the
// ground, by as much as it is large and has its middle outside.
static double find_depth(const Seam *seam) {
    const StepState *state = seam->state;
    return seam->step + state->margin + state->reach[seam->owner->body] +
           state->reach[seam->other->body] + primitive_length(seam->other->mover.primitive);
}

// A surface holds the other part off by the plane of each triangle at a place, on the side where
// the part is.
static uint32_t clear_by_surface(const Seam *seam, const StepPart *cover, uint32_t face,
                                 uint32_t i) {
    ASSERT(face < seam->face_count && i < seam->points.count);
    static const Primitive plane = {.kind = PRIMITIVE_PLANE};
    const Pose *pose = cover->mover.pose;
    const Mat3 axes = quat_to_mat3(pose->orientation);
    const Mesh *mesh = cover->mover.primitive->geometry->mesh;
    const Primitive *other = seam->other->mover.primitive;
    const Vec3 middle = primitive_center(other, *seam->other->mover.pose);
    const Vec3 place = mat3_tmul_vec(axes, vec3_sub(seam->before[face][i], pose->position));
    SeamSearch search; // most of it is of what is not yet found
    seam_search_begin(&search, mesh, place, seam->step, find_depth(seam));
    uint32_t at, clear = 0;
    while (clear == 0 && seam_search_next(&search, &at)) {
        Pose on = {pose_apply(*pose, mesh_corner(mesh, at, 0)), quat_identity()};
        Vec3 normal = mat3_mul_vec(axes, mesh_normal(mesh, at));
        if (vec3_dot(normal, vec3_sub(middle, on.position)) < 0.0) {
            if (!mesh->is_two_sided) {
                continue;
            }
            normal = vec3_neg(normal);
        }
        on.orientation = stage_facing(normal);
        StepPart base = *cover;
        base.mover.primitive = &plane;
        base.mover.pose = &on;
        const Hold hold = find_hold(seam, &base);
        clear = find_clear(seam, &hold, face, 1u << i);
    }
    return clear;
}

// Of most contacts it is nowhere near: one look around all places in question tells.
static bool is_near_surface(const Seam *seam, const StepPart *cover) {
    ASSERT(seam->faces != 0 && seam->has_places);
    const Pose *pose = cover->mover.pose;
    const Mat3 axes = quat_to_mat3(pose->orientation);
    Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_neg(low);
    for (uint32_t face = 0; seam->faces >> face != 0; face++) {
        for (uint32_t i = 0; (seam->faces >> face & 1u) != 0 && i < seam->points.count; i++) {
            const Vec3 place = mat3_tmul_vec(axes, vec3_sub(seam->before[face][i], pose->position));
            low = vec3_min(low, place);
            high = vec3_max(high, place);
        }
    }
    return seam_search_finds(cover->mover.primitive->geometry->mesh, low, high, find_depth(seam));
}

static uint32_t hide_by_surface(Seam *seam, const StepPart *cover) {
    ASSERT(seam->points.count > 0 && seam->points.count <= MANIFOLD_ROOM);
    uint32_t hidden = 0;
    if (!is_near_surface(seam, cover)) {
        return 0;
    }
    for (uint32_t face = 0; seam->faces >> face != 0; face++) {
        for (uint32_t i = 0; (seam->faces >> face & 1u) != 0 && i < seam->points.count; i++) {
            if ((seam->clear[face] >> i & 1u) == 0) {
                seam->clear[face] |= clear_by_surface(seam, cover, face, i);
            }
        }
        const bool is_hidden =
            (seam->faces >> face & 1u) != 0 && seam->clear[face] + 1u == 1u << seam->points.count;
        hidden |= is_hidden ? 1u << face : 0u;
    }
    seam->faces &= ~hidden;
    return hidden;
}

// Marks the points that the cover lies before and clears, and takes the faces that all points clear
// out of the question. Returns those.
static uint32_t hide_by(Seam *seam, const StepPart *cover) {
    uint32_t hidden = 0;
    Hold hold = {.is_sought = false};
    for (uint32_t face = 0; seam->faces >> face != 0; face++) {
        if ((seam->faces >> face & 1u) == 0) {
            continue;
        }
        uint32_t covered = seam_covers(cover->mover.primitive, cover->mover.pose,
                                       seam->before[face], seam->points.count, seam->step) &
                           ~seam->clear[face];
        if (covered == 0) {
            continue;
        }
        hold = hold.is_sought ? hold : find_hold(seam, cover);
        seam->clear[face] |= find_clear(seam, &hold, face, covered);
        hidden |= seam->clear[face] + 1u == 1u << seam->points.count ? 1u << face : 0u;
    }
    seam->faces &= ~hidden;
    return hidden;
}

// Where covers may be looked for, of all faces in question.
static void set_around(Seam *seam) {
    ASSERT(seam->points.count > 0);
    const Pose *owner = seam->owner->mover.pose;
    const Mat3 axes = quat_to_mat3(owner->orientation);
    Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_neg(low);
    for (uint32_t i = 0; i < seam->points.count; i++) {
        const Vec3 at = vec3_add(owner->position, mat3_mul_vec(axes, seam->points.point[i]));
        low = vec3(fmin(low.x, at.x), fmin(low.y, at.y), fmin(low.z, at.z));
        high = vec3(fmax(high.x, at.x), fmax(high.y, at.y), fmax(high.z, at.z));
    }
    const double far = COVER_STEPS * seam->step;
    const Vec3 grown = vec3(far, far, far);
    seam->around = (BroadBox){vec3_sub(low, grown), vec3_add(high, grown)};
    seam->has_places = false;
}

// Where the covers of the faces in question are looked for, once somebody may be there.
static void set_places(Seam *seam) {
    if (seam->has_places) {
        return;
    }
    seam->has_places = true;
    const Pose *owner = seam->owner->mover.pose;
    const SeamPoints *points = &seam->points;
    seam->at = pose_apply(*owner, points->point[0]);
    double square = 0.0;
    for (uint32_t i = 1; i < points->count; i++) {
        Vec3 way = vec3_sub(points->point[i], points->point[0]);
        square = fmax(square, vec3_dot(way, way));
    }
    seam->spread = sqrt(square);
    for (uint32_t face = 0; seam->faces >> face != 0; face++) {
        seam->clear[face] = 0;
        for (uint32_t i = 0; (seam->faces >> face & 1u) != 0 && i < points->count; i++) {
            seam->before[face][i] =
                pose_apply(*owner, seam_before(points, i, seam->face[face].normal, seam->step));
        }
    }
}

// By the parts of a body that may lie before the owner's faces. Most partners are nowhere near
// them; what a surface covers goes on below it.
static uint32_t hide_by_body(Seam *seam, uint32_t body) {
    ASSERT(body < seam->state->world->body_count);
    const StepState *state = seam->state;
    const Shape *shape = world_body_shape(state->world, body);
    if (shape == NULL ||
        (!shape->is_surface && !stage_boxes_overlap(&seam->around, &state->box[body]))) {
        return 0;
    }
    set_places(seam);
    Vec3 away = vec3_sub(seam->at, state->ball[body].center);
    double near = state->ball[body].radius + seam->spread + COVER_STEPS * seam->step;
    if (vec3_dot(away, away) > near * near) {
        return 0;
    }
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < shape->primitive_count && seam->faces != 0; i++) {
        bool is_owner = body == seam->owner->body && i == seam->owner->index;
        bool is_other = body == seam->other->body && i == seam->other->index;
        StepPart cover = stage_part(state, body, i);
        // what the other part does not collide with holds nothing off
        if (!is_owner && !is_other &&
            primitives_collide(cover.mover.primitive, seam->other->mover.primitive)) {
            hidden |= primitive_is_surface(cover.mover.primitive->kind)
                          ? hide_by_surface(seam, &cover)
                          : hide_by(seam, &cover);
        }
    }
    return hidden;
}

// Whose partners may hide faces of the owner: they hold that one off.
static uint32_t find_moving(const StepState *state, const StepPart *owner, const StepPart *other) {
    return state->world->kind[other->body] == BODY_DYNAMIC ? other->body : owner->body;
}

enum { COMPANY_MAX = 16 }; // of more than so many bodies near a contact all partners are asked

// Who, if anybody, is before faces of a contact: bodies near its points, or all partners.
typedef struct SeamCompany {
    uint32_t count;
    const uint32_t *body;
    double far;                     // how far from a point, and half its gap, a cover may be [m]
    uint32_t near[COMPANY_MAX + 1]; // the last is one too many
} SeamCompany;

// All who can be at a place that is on the moving one.
static void take_partners(const StepState *state, uint32_t moving, SeamCompany *company) {
    ASSERT(state->partner_first != NULL && moving < state->world->body_count);
    company->body = state->partner + state->partner_first[moving];
    company->count = state->partner_first[moving + 1] - state->partner_first[moving];
}

// All places at which a cover of one of some points can be. The points are as of a
// time, and what lies before them as of now.
static BroadBox box_around(const ManifoldPoint *point, uint32_t count, double far) {
    Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_neg(low);
    for (uint32_t i = 0; i < count; i++) {
        const double grown = far + 0.5 * fabs(point[i].gap); // to either surface
        const Vec3 at = point[i].position, by = vec3(grown, grown, grown);
        low = vec3_min(low, vec3_sub(at, by));
        high = vec3_max(high, vec3_add(at, by));
    }
    return (BroadBox){low, high};
}

static uint32_t overlap(const BroadBox *a, const BroadBox *b) {
    return (uint32_t)(a->lower.x <= b->upper.x) & (uint32_t)(b->lower.x <= a->upper.x) &
           (uint32_t)(a->lower.y <= b->upper.y) & (uint32_t)(b->lower.y <= a->upper.y) &
           (uint32_t)(a->lower.z <= b->upper.z) & (uint32_t)(b->lower.z <= a->upper.z);
}

static bool has_surface(const StepState *state, uint32_t body) {
    return state->has_surfaces && state->world->shape[state->world->body_shape[body]].is_surface;
}

// Leaves those whose boxes are near some points of the contact, if these are few. Nobody is a
// partner of himself, so one of the two that touch is left out.
static void leave_near(const StepState *state, uint32_t left_out, const ManifoldPoint *point,
                       uint32_t point_count, SeamCompany *company) {
    ASSERT(point_count > 0 && point_count <= MANIFOLD_ROOM);
    const BroadBox around = box_around(point, point_count, company->far);
    uint32_t count = 0;
    for (uint32_t i = 0; i < company->count && count <= COMPANY_MAX; i++) {
        const uint32_t body = company->body[i];
        // without a branch, as no two bodies agree on it
        company->near[count] = body;
        count += (overlap(&around, &state->box[body]) | (has_surface(state, body) ? 1u : 0u)) &
                 (uint32_t)(body != left_out);
    }
    if (count <= COMPANY_MAX) {
        company->body = company->near;
        company->count = count;
    }
}

// Whether the parts of a body, but for one (UINT32_MAX: none), are at a place, or next to it by a
// slack. A surface may be at all.
static bool covers(const StepState *state, uint32_t body, uint32_t but, Vec3 place, double slack) {
    const Shape *shape = &state->world->shape[state->world->body_shape[body]];
    const Primitive *primitive = &state->world->primitive[shape->primitive_first];
    const Pose *placed = &state->placed[state->placed_first[body]];
    bool is_there = shape->is_surface;
    for (uint32_t i = 0; i < shape->primitive_count && !is_there; i++) {
        is_there = i != but && seam_covers(&primitive[i], &placed[i], &place, 1, slack) != 0;
    }
    return is_there;
}

// A place to be asked about: how far next to it, and how far in the axes of the world that is.
typedef struct SeamPlace {
    Vec3 at;
    double slack, grown;
    bool is_by_boxes; // who is not there by his box is not asked
} SeamPlace;

// A hull with a thin edge is next to what lies far beyond that edge, as far as its faces go on.
static bool may_be_thin(const StepState *state, uint32_t body) {
    const Shape *shape = &state->world->shape[state->world->body_shape[body]];
    return shape->primitive_count > 1 ||
           state->world->primitive[shape->primitive_first].kind == PRIMITIVE_HULL;
}

// Whether somebody beside the two is at a place. Of most the box tells that they are not.
static bool is_company_at(const StepState *state, const StepPart *owner, const StepPart *other,
                          const SeamCompany *company, const SeamPlace *place) {
    const Vec3 grown = vec3(place->grown, place->grown, place->grown);
    const BroadBox around = {vec3_sub(place->at, grown), vec3_add(place->at, grown)};
    bool is_there = false;
    for (uint32_t k = 0; k < company->count && !is_there; k++) {
        const uint32_t body = company->body[k];
        const bool may_be = overlap(&around, &state->box[body]) != 0 || has_surface(state, body) ||
                            (!place->is_by_boxes && may_be_thin(state, body));
        is_there = may_be && body != owner->body && body != other->body &&
                   covers(state, body, UINT32_MAX, place->at, place->slack);
    }
    return is_there;
}

// Who is near a contact of the two.
static void find_company(const StepState *state, const StepPart *owner, const StepPart *other,
                         double time, double step, const Manifold *manifold, SeamCompany *company) {
    const uint32_t moving = find_moving(state, owner, other);
    *company = (SeamCompany){
        .far = COVER_STEPS * step + (time > 0.0 ? state->reach[owner->body] : 0.0),
    };
    take_partners(state, moving, company);
    leave_near(state, moving == owner->body ? other->body : owner->body, manifold->point,
               manifold->count, company);
}

// True where some point of a contact has nobody near, as of most contacts: a face is hidden at all
// of them or at none, so no face of the owner is, unless by what else the owner is made of.
static bool is_alone(const StepState *state, const StepPart *owner, const StepPart *other,
                     const Manifold *manifold, const SeamCompany *company) {
    ASSERT(manifold->count > 0 && manifold->count <= MANIFOLD_ROOM);
    for (uint32_t i = 0; i < manifold->count; i++) {
        const ManifoldPoint *point = &manifold->point[i];
        const double far = company->far + 0.5 * fabs(point->gap); // to either surface
        const SeamPlace place = {point->position, far, far, .is_by_boxes = i == 0};
        if (!is_company_at(state, owner, other, company, &place)) {
            return true;
        }
    }
    return false;
}

// What a contact is to leave out: the faces of a box, or all of it.
static uint32_t as_hidden(const Seam *seam, uint32_t faces) {
    ASSERT(faces >> seam->face_count == 0);
    uint32_t hidden = 0;
    for (uint32_t face = 0; faces >> face != 0; face++) {
        if ((faces >> face & 1u) != 0) {
            hidden |= seam->owner->mover.primitive->kind == PRIMITIVE_BOX
                          ? 1u << seam->face[face].number
                          : SEAM_HIDES_ALL;
        }
    }
    return hidden;
}

// By those bodies near that are, or are not, dynamic.
static uint32_t hide_by_company(Seam *seam, const SeamCompany *near, bool dynamic, bool fixed) {
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < near->count && seam->faces != 0; i++) {
        const uint32_t body = near->body[i];
        const bool is_dynamic = seam->state->world->kind[body] == BODY_DYNAMIC;
        if (body != seam->owner->body && body != seam->other->body &&
            (is_dynamic ? dynamic : fixed)) {
            hidden |= hide_by_body(seam, body);
        }
    }
    return hidden;
}

// How far a corner that goes on by a slack goes in the axes of the world at most, in slacks.
#define CORNER_SLACKS 2.0

// Whether each place before a face has somebody there.
static bool is_covered(const Seam *seam, const SeamCompany *near, const Mat3 *axes, Vec3 normal) {
    const StepPart *owner = seam->owner;
    bool is_covered = true;
    for (uint32_t i = 0; i < seam->points.count && is_covered; i++) {
        const Vec3 before = seam_before(&seam->points, i, normal, seam->step);
        const Vec3 at = vec3_add(owner->mover.pose->position, mat3_mul_vec(*axes, before));
        const SeamPlace place = {at, seam->step, CORNER_SLACKS * seam->step, false};
        is_covered = is_company_at(seam->state, owner, seam->other, near, &place) ||
                     covers(seam->state, owner->body, owner->index, at, seam->step);
    }
    return is_covered;
}

// Leaves in question the faces that have somebody before each point: of most there is nobody.
static void leave_covered(Seam *seam, const SeamCompany *near) {
    ASSERT(seam->points.count > 0 && seam->points.count <= MANIFOLD_ROOM);
    const Mat3 axes = quat_to_mat3(seam->owner->mover.pose->orientation);
    for (uint32_t face = 0; face < seam->face_count; face++) {
        if (!is_covered(seam, near, &axes, seam->face[face].normal)) {
            seam->faces &= ~(1u << face);
        }
    }
}

// Which of the faces in question neighbours hide. Nullable: near; it is all partners.
static bool find_hidden(Seam *seam, const SeamCompany *near, uint32_t *hidden,
                        bool *asks_partners) {
    const StepState *state = seam->state;
    const Primitive *owner = seam->owner->mover.primitive;
    seam->faces = (1u << seam->face_count) - 1u;
    if (seam->faces == 0) {
        return true;
    }
    *asks_partners = true;
    if (state->partner_first == NULL) {
        return false;
    }
    const uint32_t moving = find_moving(state, seam->owner, seam->other);
    SeamCompany company;
    if (near == NULL) {
        take_partners(state, moving, &company);
        near = &company;
    } else {
        leave_covered(seam, near);
        if (seam->faces == 0) {
            return true;
        }
    }
    set_around(seam);
    if (world_body_shape(state->world, seam->owner->body)->primitive_count > 1) {
        *hidden |= as_hidden(seam, hide_by_body(seam, seam->owner->body));
    }
    // Partners are all who can be at a place that is on the moving one. Beyond an owner that moves,
    // where it goes on behind faces that are hidden already, its partners are some of them: which,
    // is a matter of how the world's axes lie to it.
    if (moving == seam->owner->body && owner->kind == PRIMITIVE_BOX &&
        !seam_is_on(owner, &seam->points, seam->step)) {
        return true;
    }
    // first what is one ground with the owner, so that it is known whether that alone hides a face
    const bool is_ground = state->world->kind[seam->owner->body] != BODY_DYNAMIC;
    *hidden |= is_ground ? as_hidden(seam, hide_by_company(seam, near, false, true)) : 0;
    const uint32_t loose = as_hidden(seam, hide_by_company(seam, near, true, !is_ground));
    *hidden |= loose != 0 ? loose | SEAM_IS_LOOSE : 0;
    return true;
}

static void set_seam(Seam *seam, const StepState *state, const StepPart part[2], int side,
                     double time, double step, const Manifold *manifold) {
    ASSERT((side == 0 || side == 1) && time >= 0.0);
    const Mover *mover = &part[side].mover;
    const Pose pose = time > 0.0 ? approach_pose(mover, time) : *mover->pose;
    seam->state = state;
    seam->owner = &part[side];
    seam->other = &part[1 - side];
    seam->points = seam_points(manifold, &pose, side);
    seam->step = step;
    seam->face_count = 0;
    memset(seam->face, 0, sizeof(seam->face)); // whoever fills it fills the first few
}

bool seams_find(const StepState *state, const StepPart part[2], double time,
                const Manifold *manifold, uint32_t hidden[2], bool *asks_partners) {
    const double step = seam_step(part[0].mover.primitive, part[1].mover.primitive);
    // beside what is hidden already there may be nothing left
    for (int side = 0; side < 2 && manifold->count > 0; side++) {
        const Primitive *primitive = part[side].mover.primitive;
        if (!primitive_rows[primitive->kind].has_seams) {
            continue;
        }
        const StepPart *owner = &part[side], *other = &part[1 - side];
        SeamCompany company;
        const bool is_known = state->partner_first != NULL;
        if (is_known) {
            find_company(state, owner, other, time, step, manifold, &company);
        }
        if (is_known && world_body_shape(state->world, owner->body)->primitive_count == 1 &&
            is_alone(state, owner, other, manifold, &company)) {
            *asks_partners = true; // of this step's, and, as they do, of the next one's
            continue;
        }
        Seam seam; // most of it is of no face in question
        set_seam(&seam, state, part, side, time, step, manifold);
        seam.face_count = seam_faces(primitive, &seam.points, seam.step, seam.face);
        if (!find_hidden(&seam, is_known ? &company : NULL, &hidden[side], asks_partners)) {
            return false;
        }
    }
    return true;
}

bool seams_find_surface(const StepState *state, const StepPart part[2], const SeamContact *contact,
                        const Manifold *manifold, bool *is_hidden, bool *asks_partners) {
    ASSERT(contact->of == 1 || contact->of == -1);
    const Mesh *mesh = part[contact->side].mover.primitive->geometry->mesh;
    uint32_t hidden = 0;
    bool is_known = true;
    Seam seam;
    const double step = seam_step(part[0].mover.primitive, part[1].mover.primitive);
    set_seam(&seam, state, part, contact->side, contact->time, step, manifold);
    const double depth = find_depth(&seam);
    for (uint32_t i = 0; i < contact->count && is_known && hidden == 0; i++) {
        const uint32_t triangle = contact->triangle[i];
        if (contact->is_face &&
            !seam_surface_is_rim(mesh, triangle, contact->of, &seam.points, depth)) {
            continue;
        }
        seam.face_count =
            seam_surface_faces(mesh, triangle, contact->of, &seam.points, seam.step, seam.face);
        is_known = find_hidden(&seam, NULL, &hidden, asks_partners);
    }
    *is_hidden = hidden != 0;
    return is_known;
}
