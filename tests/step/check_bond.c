// SPDX-License-Identifier: MIT
// Floors in whose bond two tiles together lie before the face of a third, as bricks do: what slides
// or rolls over them keeps the closed form of one plane, however the whole world is turned. And
// what is no floor is felt: steps, holes, and tiles that are missing.
#include "step/step.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

static const double h = 1.0 / 240.0;
static const double gravity = 9.81;
static const double thick = 0.2; // of every floor [m]

// ---- floors

// A rectangle of a floor whose top is z = 0.
typedef struct Tile {
    double x[2], y[2];
} Tile;

enum { TILES_MAX = 256 };

typedef struct Tiling {
    uint32_t count;
    Tile tile[TILES_MAX];
} Tiling;

// Where the floors lie; what moves over them stays inside for less than a second at 3 m/s.
static const Tile field = {{-1.0, 3.0}, {-1.5, 1.5}};

static void add_tile(Tiling *tiling, Tile tile) {
    ck_assert_uint_lt(tiling->count, TILES_MAX);
    tiling->tile[tiling->count++] = tile;
}

// A column of tiles of one length, the first of which begins at `from`.
static void add_column(Tiling *tiling, double x0, double x1, double from, double length) {
    for (double y = from; y < field.y[1]; y += length) {
        add_tile(tiling, (Tile){{x0, x1}, {y, y + length}});
    }
}

// Running bond: every other column is shifted by half a brick.
static void lay_bricks(Tiling *tiling, uint64_t *seed) {
    (void)seed;
    for (int i = 0; i < 8; i++) {
        double x = field.x[0] + 0.5 * i;
        add_column(tiling, x, x + 0.5, field.y[0] - (i % 2 == 0 ? 0.25 : 0.0), 0.5);
    }
}

// One tile beside two: T-joints.
static void lay_halves(Tiling *tiling, uint64_t *seed) {
    (void)seed;
    for (int i = 0; i < 8; i++) {
        double x = field.x[0] + 0.5 * i;
        add_column(tiling, x, x + 0.5, field.y[0], i % 2 == 0 ? 0.3 : 0.6);
    }
}

// Columns of random widths, of tiles of random lengths.
static void lay_columns(Tiling *tiling, uint64_t *seed) {
    for (double x = field.x[0]; x < field.x[1];) {
        double to = x + lab_random(seed, 0.2, 0.7);
        for (double y = field.y[0]; y < field.y[1];) {
            double end = y + lab_random(seed, 0.2, 0.7);
            add_tile(tiling, (Tile){{x, to}, {y, end}});
            y = end;
        }
        x = to;
    }
}

// The field cut in two at a random place, across its longer side, until the parts are small.
static void lay_cuts(Tiling *tiling, uint64_t *seed) {
    Tile waiting[TILES_MAX] = {field};
    uint32_t count = 1;
    while (count > 0) {
        Tile tile = waiting[--count];
        double wide = tile.x[1] - tile.x[0], long_ = tile.y[1] - tile.y[0];
        if (fmax(wide, long_) < 0.6) {
            add_tile(tiling, tile);
            continue;
        }
        double at = lab_random(seed, 0.35, 0.65);
        Tile part[2] = {tile, tile};
        if (wide > long_) {
            part[0].x[1] = part[1].x[0] = tile.x[0] + at * wide;
        } else {
            part[0].y[1] = part[1].y[0] = tile.y[0] + at * long_;
        }
        waiting[count++] = part[0];
        waiting[count++] = part[1];
    }
}

typedef void LayProc(Tiling *tiling, uint64_t *seed);
static LayProc *const lays[] = {lay_bricks, lay_halves, lay_columns, lay_cuts};
enum { LAYS = sizeof(lays) / sizeof(lays[0]) };

// ---- worlds

// A world that is built upright and lies turned: gravity, places and motions.
typedef struct Site {
    Lab lab;
    Quat turn;
    Id material;
} Site;

static const Quat generic = {0.51, -0.32, 0.67, 0.43};

static Site open_site(bool is_turned, double friction) {
    Site site = {.lab = lab_create(gravity, h),
                 .turn = is_turned ? quat_normalize(generic) : quat_identity()};
    WorldSettings settings = site.lab.world->settings;
    settings.margin = settings_default().margin;
    settings.gravity = quat_rotate(site.turn, vec3(0.0, 0.0, -gravity));
    world_set_settings(site.lab.world, &settings);
    lab_set(&site.lab, "tolerance", 1e-12);
    lab_set(&site.lab, "max_iterations", 10000);
    lab_set(&site.lab, "friction", 1.0); // Coulomb
    site.material = lab_material(&site.lab, friction, 0.0);
    return site;
}

static Pose turned_pose(const Site *site, Vec3 position, Quat orientation) {
    return (Pose){quat_rotate(site->turn, position), quat_mul(site->turn, orientation)};
}

static uint32_t add_body(Site *site, Id shape, BodyKind kind, Pose upright, const Vec3 velocity[2],
                         double mass) {
    double turned[6] = {0.0};
    for (int i = 0; velocity != NULL && i < 2; i++) {
        vec3_store(turned + 3 * i, quat_rotate(site->turn, velocity[i]));
    }
    return lab_body(&site->lab, shape, kind,
                    turned_pose(site, upright.position, upright.orientation), turned, mass, NULL);
}

static Vec3 upright_velocity(const Site *site, uint32_t body) {
    Quat q = site->turn;
    return quat_rotate((Quat){q.w, -q.x, -q.y, -q.z}, lab_velocity(&site->lab, body));
}

static Vec3 upright_position(const Site *site, uint32_t body) {
    Quat q = site->turn;
    return quat_rotate((Quat){q.w, -q.x, -q.y, -q.z}, lab_position(&site->lab, body));
}

static Pose tile_pose(const Tile *tile) {
    return pose_at(0.5 * (tile->x[0] + tile->x[1]), 0.5 * (tile->y[0] + tile->y[1]), -0.5 * thick);
}

static Vec3 tile_size(const Tile *tile) {
    return vec3(0.5 * (tile->x[1] - tile->x[0]), 0.5 * (tile->y[1] - tile->y[0]), 0.5 * thick);
}

// Every tile a body of its own; dynamic ones are heavy and lie on a slab.
static void add_bodies(Site *site, const Tiling *tiling, BodyKind kind) {
    if (kind == BODY_DYNAMIC) {
        Id slab = lab_shape(&site->lab, PRIMITIVE_BOX, vec3(6.0, 4.0, 0.1), site->material);
        add_body(site, slab, BODY_STATIC, pose_at(1.0, 0.0, -thick - 0.1), NULL, 0.0);
    }
    for (uint32_t i = 0; i < tiling->count; i++) {
        const Tile *tile = &tiling->tile[i];
        Id shape = lab_shape(&site->lab, PRIMITIVE_BOX, tile_size(tile), site->material);
        add_body(site, shape, kind, tile_pose(tile), NULL, kind == BODY_DYNAMIC ? 500.0 : 0.0);
    }
}

// One static body of many boxes.
static void add_compound(Site *site, const Tiling *tiling) {
    uint32_t kinds[TILES_MAX], count = tiling->count;
    double sizes[3 * TILES_MAX], poses[7 * TILES_MAX];
    uint64_t materials[TILES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        kinds[i] = PRIMITIVE_BOX;
        vec3_store(sizes + 3 * (size_t)i, tile_size(&tiling->tile[i]));
        pose_store(poses + 7 * (size_t)i, tile_pose(&tiling->tile[i]));
        materials[i] = site->material;
    }
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = count,
                            .primitives_of_shape = &count,
                            .kind = kinds,
                            .size = sizes,
                            .pose = poses,
                            .material = materials};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(site->lab.world, &columns, &id, &error) == STATUS_OK, "%s",
                  error.message);
    add_body(site, id, BODY_STATIC, pose_at(0.0, 0.0, 0.0), NULL, 0.0);
}

// ---- closed forms

static Quat yaw(double angle) {
    return (Quat){cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
}

typedef enum FloorKind { FLOOR_BODIES, FLOOR_COMPOUND, FLOOR_DYNAMIC } FloorKind;

// The floors: every bond fixed, in two ways, and bricks that are not.
typedef struct Floor {
    int lay;
    FloorKind kind;
} Floor;

static const Floor floors[] = {
    {0, FLOOR_BODIES},   {1, FLOOR_BODIES},   {2, FLOOR_BODIES},
    {3, FLOOR_BODIES},   {0, FLOOR_COMPOUND}, {1, FLOOR_COMPOUND},
    {2, FLOOR_COMPOUND}, {3, FLOOR_COMPOUND}, {0, FLOOR_DYNAMIC},
};
static Site lay_floor(Floor floor, bool is_turned, double friction) {
    Site site = open_site(is_turned, friction);
    static Tiling tiling;
    tiling.count = 0;
    uint64_t seed = 71 + (uint64_t)floor.lay;
    lays[floor.lay](&tiling, &seed);
    if (floor.kind == FLOOR_COMPOUND) {
        add_compound(&site, &tiling);
    } else {
        add_bodies(&site, &tiling, floor.kind == FLOOR_DYNAMIC ? BODY_DYNAMIC : BODY_STATIC);
    }
    // what a box or a capsule rests on, and more so hundreds of contacts that share the weight of
    // many tiles, takes long to agree; of V = g h in each of 216 steps this is 1e-8 m/s or less
    lab_set(&site.lab, "tolerance", floor.kind == FLOOR_DYNAMIC ? 1e-8 : 1e-9);
    return site;
}

static const double yaws[] = {0.0, 0.4};
enum {
    FLOORS = sizeof(floors) / sizeof(floors[0]),
    YAWS = sizeof(yaws) / sizeof(yaws[0]),
    CASES = FLOORS * 2 * YAWS, // upright and turned
};

typedef struct Case {
    Floor floor;
    bool is_turned;
    double yaw;
} Case;

// The hardest first, turned and askew, then what is neither.
static Case read_case(int i) {
    const int round = i / FLOORS;
    return (Case){.floor = floors[i % FLOORS],
                  .is_turned = round % 2 == 0,
                  .yaw = yaws[round == 0 || round == 3 ? 1 : 0]};
}

// All floors both ways, under the sanitizers the hardest.
static int case_count(void) {
    const int quarters = campaign_count(4);
    return quarters > 4 ? CASES : quarters == 4 ? 2 * FLOORS : FLOORS;
}

// Friction takes mu g h from the speed in every step, along the way that it came.
START_TEST(a_box_slides_over_a_bond_as_over_one_plane) {
    const Case c = read_case(_i);
    const double mu = 0.1;
    const Vec3 velocity[2] = {vec3(3.0, 0.3, 0.0), vec3(0.0, 0.0, 0.0)};
    Site site = lay_floor(c.floor, c.is_turned, mu);
    Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, vec3(0.2, 0.15, 0.1), site.material);
    uint32_t box = add_body(&site, shape, BODY_DYNAMIC, (Pose){vec3(0.0, 0.013, 0.1), yaw(c.yaw)},
                            velocity, 24.0);
    double speed = vec3_norm(velocity[0]);
    for (int i = 1; i <= 192; i++) {
        lab_step(&site.lab, 1);
        Vec3 wanted = vec3_scale(1.0 - i * mu * gravity * h / speed, velocity[0]);
        Vec3 got = upright_velocity(&site, box);
        ck_assert_msg(vec3_norm(vec3_sub(got, wanted)) <= 1e-5,
                      "step %d: %g %g %g, wanted %g %g at x %g", i, got.x, got.y, got.z, wanted.x,
                      wanted.y, upright_position(&site, box).x);
        ck_assert_double_eq_tol(upright_position(&site, box).z, 0.1, 1e-6);
    }
    lab_destroy(&site.lab);
}
END_TEST

// What rolls keeps its velocity.
static void assert_rolls(Site *site, uint32_t body, Vec3 velocity, double height) {
    for (int i = 1; i <= 216; i++) {
        lab_step(&site->lab, 1);
        Vec3 got = upright_velocity(site, body);
        ck_assert_msg(vec3_norm(vec3_sub(got, velocity)) <= 1e-5,
                      "step %d: %g %g %g, wanted %g %g at x %g", i, got.x, got.y, got.z, velocity.x,
                      velocity.y, upright_position(site, body).x);
        ck_assert_double_eq_tol(upright_position(site, body).z, height, 1e-6);
    }
}

START_TEST(a_capsule_rolls_over_a_bond_as_over_one_plane) {
    const Case c = read_case(_i);
    const double radius = 0.1, speed = 2.5;
    Site site = lay_floor(c.floor, c.is_turned, 0.4);
    Quat q = yaw(c.yaw);
    // its axis, z, lies along y; it rolls along x
    Quat lying = {sqrt(0.5), -sqrt(0.5), 0.0, 0.0};
    const Vec3 velocity[2] = {quat_rotate(q, vec3(speed, 0.0, 0.0)),
                              quat_rotate(q, vec3(0.0, speed / radius, 0.0))};
    Id shape = lab_shape(&site.lab, PRIMITIVE_CAPSULE, vec3(radius, 0.35, 0.0), site.material);
    uint32_t body = add_body(&site, shape, BODY_DYNAMIC,
                             (Pose){vec3(0.0, 0.013, radius), quat_mul(q, lying)}, velocity, 10.0);
    assert_rolls(&site, body, velocity[0], radius);
    lab_destroy(&site.lab);
}
END_TEST

START_TEST(a_ball_rolls_over_a_bond_as_over_one_plane) {
    const Case c = read_case(_i);
    const double radius = 0.1, speed = 2.5;
    Site site = lay_floor(c.floor, c.is_turned, 0.4);
    Quat q = yaw(c.yaw);
    const Vec3 velocity[2] = {quat_rotate(q, vec3(speed, 0.0, 0.0)),
                              quat_rotate(q, vec3(0.0, speed / radius, 0.0))};
    Id shape = lab_shape(&site.lab, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0), site.material);
    uint32_t body = add_body(&site, shape, BODY_DYNAMIC, pose_at(0.0, 0.0, radius), velocity, 10.0);
    assert_rolls(&site, body, velocity[0], radius);
    lab_destroy(&site.lab);
}
END_TEST

// ---- thrown over a bond

// Flat boxes, which slide and do not tip (check_seams.c), with all their spin about the vertical.
START_TEST(what_is_thrown_over_a_bond_moves_as_over_one_slab) {
    static const PrimitiveKind kinds[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX};
    const int lay = _i % LAYS;
    const PrimitiveKind kind = kinds[_i / LAYS];
    uint64_t seed = 61 + (uint64_t)_i;
    for (int scene = 0; scene < campaign_count(6); scene++) {
        double mu = lab_random(&seed, 0.0, 1.0), s = lab_random(&seed, 0.05, 0.3);
        Vec3 size = vec3(s, s * lab_random(&seed, 0.5, 1.0), s * lab_random(&seed, 0.15, 0.4));
        Pose pose = {vec3(lab_random(&seed, -0.5, 1.0), lab_random(&seed, -0.5, 0.5),
                          (kind == PRIMITIVE_BOX ? size.z : s) + lab_random(&seed, 0.0, 0.2)),
                     yaw(lab_random(&seed, -3.0, 3.0))};
        double spin = kind == PRIMITIVE_BOX ? 0.0 : 10.0;
        const Vec3 velocity[2] = {
            vec3(lab_random(&seed, -5.0, 5.0), lab_random(&seed, -5.0, 5.0),
                 lab_random(&seed, -3.0, 1.0)),
            vec3(spin, lab_random(&seed, -spin, spin), lab_random(&seed, -spin, spin))};
        Tiling tiling = {.count = 0}, slab = {.count = 1, .tile = {field}};
        lays[lay](&tiling, &seed);
        Site site[2];
        uint32_t body[2];
        for (int i = 0; i < 2; i++) {
            site[i] = open_site(scene % 2 != 0, mu);
            add_bodies(&site[i], i == 0 ? &slab : &tiling, BODY_STATIC);
            Id shape = lab_shape(&site[i].lab, kind, size, site[i].material);
            body[i] = add_body(&site[i], shape, BODY_DYNAMIC, pose, velocity, 1.0);
        }
        for (int step = 0; step < 120; step++) {
            Vec3 at = upright_position(&site[0], body[0]);
            if (at.x < field.x[0] + 0.4 || at.x > field.x[1] - 0.4 || fabs(at.y) > 1.1) {
                break; // both floors end
            }
            lab_step(&site[0].lab, 1);
            lab_step(&site[1].lab, 1);
            Vec3 over_slab = upright_velocity(&site[0], body[0]);
            double off = vec3_norm(vec3_sub(over_slab, upright_velocity(&site[1], body[1])));
            ck_assert_msg(off <= 1e-6 * (1.0 + vec3_norm(over_slab)),
                          "scene %d, step %d: %g m/s from that over one slab", scene, step, off);
        }
        lab_destroy(&site[0].lab);
        lab_destroy(&site[1].lab);
    }
}
END_TEST

// ---- lips

// Every tile at a height of its own: what is below a thousandth of the box is mounted.
START_TEST(lips_in_a_bond_are_mounted) {
    const double half = 0.1, speed = 3.0, lip = 9e-4 * half;
    Site site = open_site(true, 0.0);
    Tiling tiling = {.count = 0};
    uint64_t seed = 91 + (uint64_t)_i;
    lays[_i](&tiling, &seed);
    for (uint32_t i = 0; i < tiling.count; i++) {
        Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, tile_size(&tiling.tile[i]), site.material);
        Pose pose = tile_pose(&tiling.tile[i]);
        pose.position.z += lab_random(&seed, 0.0, lip);
        add_body(&site, shape, BODY_STATIC, pose, NULL, 0.0);
    }
    const Vec3 velocity[2] = {vec3(speed, 0.0, 0.0), vec3(0.0, 0.0, 0.0)};
    Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, vec3(half, half, half), site.material);
    uint32_t box =
        add_body(&site, shape, BODY_DYNAMIC, pose_at(-0.5, 0.05, half + lip), velocity, 1.0);
    double top = 0.0;
    for (int i = 0; i < 240; i++) {
        lab_step(&site.lab, 1);
        top = fmax(top, upright_position(&site, box).z - half);
    }
    // some ten lips up and down; each takes nothing but what turning about its edge costs
    ck_assert_double_eq_tol(upright_velocity(&site, box).x, speed, 0.02 * speed);
    // the overlap leaves within a step at lip/h at most, a throw of (lip/h)^2/2g more
    double throw = lip / h * lip / h / (2.0 * gravity);
    ck_assert_double_le(top, 1.1 * (lip + throw) + gravity * h * h);
    lab_destroy(&site.lab);
}
END_TEST

// ---- what is felt

// The brick of the running bond that lies ahead: its middle.
static const double ahead_x = 1.25, ahead_y = 0.0;

static Tile *find_ahead(Tiling *tiling) {
    for (uint32_t i = 0; i < tiling->count; i++) {
        Vec3 middle = tile_pose(&tiling->tile[i]).position;
        if (fabs(middle.x - ahead_x) < 1e-9 && fabs(middle.y - ahead_y) < 1e-9) {
            return &tiling->tile[i];
        }
    }
    ck_abort_msg("no brick lies ahead");
    return NULL;
}

static Site lay_bricks_but(bool is_turned, double friction, double raised) {
    Site site = open_site(is_turned, friction);
    Tiling tiling = {.count = 0};
    lay_bricks(&tiling, NULL);
    Tile *ahead = find_ahead(&tiling);
    if (raised > 0.0) {
        Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, tile_size(ahead), site.material);
        Pose pose = tile_pose(ahead);
        pose.position.z += raised;
        add_body(&site, shape, BODY_STATIC, pose, NULL, 0.0);
    }
    *ahead = tiling.tile[--tiling.count];
    add_bodies(&site, &tiling, BODY_STATIC);
    Id slab = lab_shape(&site.lab, PRIMITIVE_BOX, vec3(4.0, 4.0, 0.1), site.material);
    add_body(&site, slab, BODY_STATIC, pose_at(1.0, 0.0, -thick - 0.1), NULL, 0.0);
    return site;
}

// Bricks on both sides lie before its lower part and none before what stands out.
START_TEST(a_brick_that_stands_out_stops_the_box) {
    Site site = lay_bricks_but(_i != 0, 0.0, 0.02);
    const Vec3 velocity[2] = {vec3(3.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)};
    Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, vec3(0.1, 0.2, 0.1), site.material);
    uint32_t box = add_body(&site, shape, BODY_DYNAMIC, pose_at(0.5, 0.0, 0.1), velocity, 1.0);
    lab_step(&site.lab, 36); // its front would be at 1.05
    ck_assert_double_lt(upright_velocity(&site, box).x, 2.0);
    ck_assert_double_lt(upright_position(&site, box).x, 1.0);
    lab_destroy(&site.lab);
}
END_TEST

// A slow box that is smaller than the hole tips into it and comes to rest there.
START_TEST(a_box_falls_where_a_brick_is_missing) {
    Site site = lay_bricks_but(_i != 0, 0.3, 0.0);
    const Vec3 velocity[2] = {vec3(1.5, 0.0, 0.0), vec3(0.0, 0.0, 0.0)};
    Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.05), site.material);
    uint32_t box = add_body(&site, shape, BODY_DYNAMIC, pose_at(0.8, 0.0, 0.05), velocity, 1.0);
    lab_step(&site.lab, 480);
    Vec3 at = upright_position(&site, box);
    ck_assert_double_lt(at.z, -0.01);
    ck_assert(fabs(at.x - ahead_x) < 0.25 && fabs(at.y - ahead_y) < 0.25);
    lab_destroy(&site.lab);
}
END_TEST

// How far the lowest corner of a box is below the floor, and how far those below come along x.
static double depth_of(const Site *site, uint32_t box, Vec3 half, double *front) {
    Pose pose = {lab_position(&site->lab, box), lab_orientation(&site->lab, box)};
    Quat back = {site->turn.w, -site->turn.x, -site->turn.y, -site->turn.z};
    double deepest = 0.0;
    *front = -HUGE_VAL;
    for (int i = 0; i < 8; i++) {
        Vec3 corner = vec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                           (i & 4) != 0 ? half.z : -half.z);
        Vec3 p = quat_rotate(back, pose_apply(pose, corner));
        deepest = fmax(deepest, -p.z);
        *front = p.z < -0.005 ? fmax(*front, p.x) : *front;
    }
    return deepest;
}

// A box slides with one side on the bricks beside the hole and tips into it with the other one. The
// brick behind the hole lies before both: one clears it, on what it slides, and the other does not.
START_TEST(a_box_that_tips_over_a_rim_hits_what_is_behind_the_hole) {
    static const double speeds[] = {1.0, 3.0, 4.0, 4.5, 5.0, 5.5, 6.0};
    const Vec3 half = vec3(0.08, 0.1, 0.05);
    for (int turned = 0; turned < 2; turned++) {
        Site site = lay_bricks_but(turned != 0, 0.0, 0.0);
        const Vec3 velocity[2] = {vec3(speeds[_i], 0.0, 0.0), vec3(0.0, 0.0, 0.0)};
        Id shape = lab_shape(&site.lab, PRIMITIVE_BOX, half, site.material);
        uint32_t box =
            add_body(&site, shape, BODY_DYNAMIC, pose_at(1.1, 0.2, half.z), velocity, 1.0);
        double deepest = 0.0, front;
        // until it is thrown out of the hole, or long enough
        for (int i = 0; i < 200 && upright_position(&site, box).z < 0.1; i++) {
            lab_step(&site.lab, 1);
            deepest = fmax(deepest, depth_of(&site, box, half, &front));
            ck_assert_msg(front <= 1.5 + 1e-3, "step %d: %g m into the brick", i, front - 1.5);
        }
        ck_assert_double_gt(deepest, 0.01);
        lab_destroy(&site.lab);
    }
}
END_TEST

// The walls of the hole are sides of bricks, whose other halves bricks cover: what flies in the
// hole does not come into them, however it turns.
START_TEST(what_flies_in_a_hole_stays_out_of_its_walls) {
    static const PrimitiveKind kinds[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE};
    uint64_t seed = 81 + (uint64_t)_i;
    for (int shot = 0; shot < 60; shot++) {
        Site site = lay_bricks_but(shot % 2 != 0, lab_random(&seed, 0.0, 1.0), 0.0);
        lab_set(&site.lab, "tolerance", 1e-8);
        Vec3 size = vec3(lab_random(&seed, 0.03, 0.08), lab_random(&seed, 0.03, 0.08),
                         lab_random(&seed, 0.03, 0.08));
        double speed = pow(10.0, lab_random(&seed, 0.0, 2.0));
        double way = lab_random(&seed, -3.2, 3.2), spin = lab_random(&seed, -20.0, 20.0);
        const Vec3 velocity[2] = {
            vec3(speed * cos(way), speed * sin(way), -0.1 * speed),
            vec3(spin, lab_random(&seed, -20.0, 20.0), lab_random(&seed, -20.0, 20.0))};
        Quat turn =
            quat_normalize((Quat){1.0, lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0),
                                  lab_random(&seed, -1.0, 1.0)});
        Id shape = lab_shape(&site.lab, kinds[_i], size, site.material);
        uint32_t body = add_body(&site, shape, BODY_DYNAMIC,
                                 (Pose){vec3(ahead_x, ahead_y, -0.09), turn}, velocity, 1.0);
        for (int step = 0; step < 24; step++) {
            lab_step(&site.lab, 1);
            Vec3 at = upright_position(&site, body);
            ck_assert_msg(at.z > 0.0 || (fabs(at.x - ahead_x) < 0.25 &&
                                         fabs(at.y - ahead_y) < 0.25 && at.z > -thick),
                          "shot %d at %g m/s, step %d: at %g %g %g", shot, speed, step, at.x, at.y,
                          at.z);
        }
        lab_destroy(&site.lab);
    }
}
END_TEST

static TCase *case_felt(void) {
    TCase *tcase = tcase_create("felt");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_brick_that_stands_out_stops_the_box, 0, 2);
    tcase_add_loop_test(tcase, a_box_falls_where_a_brick_is_missing, 0, 2);
    tcase_add_loop_test(tcase, a_box_that_tips_over_a_rim_hits_what_is_behind_the_hole, 0, 7);
    tcase_add_loop_test(tcase, what_flies_in_a_hole_stays_out_of_its_walls, 0, 3);
    return tcase;
}

static TCase *case_closed_forms(void) {
    TCase *tcase = tcase_create("closed forms");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_box_slides_over_a_bond_as_over_one_plane, 0, case_count());
    tcase_add_loop_test(tcase, a_capsule_rolls_over_a_bond_as_over_one_plane, 0, case_count());
    tcase_add_loop_test(tcase, a_ball_rolls_over_a_bond_as_over_one_plane, 0, case_count());
    tcase_add_loop_test(tcase, what_is_thrown_over_a_bond_moves_as_over_one_slab, 0, 2 * LAYS);
    tcase_add_loop_test(tcase, lips_in_a_bond_are_mounted, 0, LAYS);
    return tcase;
}

SUITE_MAIN("step/bond", case_closed_forms, case_felt)
