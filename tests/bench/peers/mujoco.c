// SPDX-License-Identifier: MIT
// MuJoCo: conjugate gradients on elliptic cones, sparse Jacobians, and contacts as stiff as its
// manual allows at this step (a time constant of two steps).
#include "bench/peers/peer.h"

#include <mujoco/mujoco.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_CONTACT = 3 };
enum { TRIAL_STEPS = 10 }; // until all that rests on something touches it

struct PeerEngine {
    mjModel *model;
    mjData *data;
    double *still; // poses of all bodies at the start
    size_t body_count;
    int *body; // MuJoCo's; 0, its world: static
};

// ---- the scene as MJCF

static void write_geom(FILE *file, const PeerBody *body, const PeerScene *scene) {
    static const char *const types[] = {"sphere", "box", "plane", "capsule"};
    const double *size = body->size;
    fprintf(file, "<geom type='%s' size='%.17g %.17g %.17g' friction='%.17g 0 0'",
            types[body->kind], size[0], size[1], body->kind == PEER_PLANE ? 1.0 : size[2],
            scene->friction);
    if (body->mass > 0.0) {
        fprintf(file, " mass='%.17g'/>\n", body->mass);
        return;
    }
    const double *at = body->pose;
    fprintf(file, " pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'/>\n", at[0], at[1],
            at[2], at[3], at[4], at[5], at[6]);
}

static void write_scene(FILE *file, const PeerScene *scene, const PeerBody *body,
                        size_t contacts_max) {
    fprintf(
        file,
        "<mujoco><size njmax='%zu' nconmax='%zu'/>"
        "<option timestep='%.17g' gravity='%.17g %.17g %.17g' solver='CG' cone='elliptic' "
        "jacobian='sparse'/><default><geom condim='3' solref='%.17g 1'/></default><worldbody>\n",
        ROWS_PER_CONTACT * contacts_max, contacts_max, scene->time_step, scene->gravity[0],
        scene->gravity[1], scene->gravity[2], 2.0 * scene->time_step);
    for (size_t i = 0; i < scene->body_count; i++) {
        const double *at = body[i].pose;
        if (body[i].mass > 0.0) {
            fprintf(file,
                    "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/>",
                    at[0], at[1], at[2], at[3], at[4], at[5], at[6]);
        }
        write_geom(file, &body[i], scene);
        if (body[i].mass > 0.0) {
            fputs("</body>\n", file);
        }
    }
    fputs("</worldbody></mujoco>\n", file);
}

static mjModel *load(const char *text, size_t bytes) {
    static const char name[] = "scene.xml";
    static mjVFS files;
    char error[1024] = "";
    mj_defaultVFS(&files);
    if (mj_makeEmptyFileVFS(&files, name, (int)bytes) != 0) {
        peer_fail("memory ended");
    }
    memcpy(files.filedata[0], text, bytes);
    mjModel *model = mj_loadXML(name, &files, error, sizeof(error));
    mj_deleteVFS(&files);
    if (model == NULL) {
        peer_fail(error);
    }
    return model;
}

static void set_velocities(const PeerEngine *engine, const PeerBody *body) {
    const mjModel *model = engine->model;
    for (size_t i = 0; i < engine->body_count; i++) {
        if (engine->body[i] == 0) {
            continue;
        }
        mjtNum *v = engine->data->qvel + model->body_dofadr[engine->body[i]];
        mjtNum back[4]; // angular velocities of free joints are in body axes
        mju_copy3(v, body[i].velocity);
        mju_negQuat(back, body[i].pose + 3);
        mju_rotVecQuat(v + 3, body[i].velocity + 3, back);
    }
}

// ---- room

// Contacts that this version has room for beside so many degrees of freedom: the sizes in bytes of
// its buffers are ints, and they hold a dense matrix of contact rows by contact rows and two of
// contact rows by degrees of freedom, each entry a number and its column.
static size_t count_contacts_max(size_t body_count) {
    const double entry = sizeof(mjtNum) + sizeof(int), freedoms = 6.0 * (double)body_count;
    const double room = 0.95 * INT_MAX / entry;                // the rest is for everything else
    double rows = sqrt(freedoms * freedoms + room) - freedoms; // rows^2 + 2 rows freedoms = room
    double wanted = 36.0 * (double)body_count + 64.0;          // 12 contacts of a body
    return (size_t)(fmin(rows, wanted) / ROWS_PER_CONTACT);
}

// NULL, or what the engine has complained of.
static const char *find_warning(const PeerEngine *engine) {
    for (int i = 0; i < mjNWARNING; i++) {
        if (engine->data->warning[i].number > 0) {
            return mju_warningText(i, engine->data->warning[i].lastinfo);
        }
    }
    return NULL;
}

// Warnings are looked for after every step; MuJoCo would also write them to a file.
static void ignore(const char *warning) {
    (void)warning;
}

static PeerEngine *create(const PeerScene *scene, const PeerBody *body, size_t contacts_max) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    PeerEngine *engine = calloc(1, sizeof(*engine));
    double *still = calloc(scene->body_count, 7 * sizeof(*still));
    int *of_body = calloc(scene->body_count, sizeof(*of_body));
    if (file == NULL || engine == NULL || still == NULL || of_body == NULL) {
        peer_fail("memory ended");
    }
    write_scene(file, scene, body, contacts_max);
    fclose(file);
    int next = 1; // after the world; in the order of the file
    for (size_t i = 0; i < scene->body_count; i++) {
        memcpy(still + 7 * i, body[i].pose, sizeof(body[i].pose));
        of_body[i] = body[i].mass > 0.0 ? next++ : 0;
    }
    mjModel *model = load(text, bytes);
    free(text);
    *engine = (PeerEngine){model, mj_makeData(model), still, scene->body_count, of_body};
    return engine;
}

static void destroy(PeerEngine *engine) {
    mj_deleteData(engine->data);
    mj_deleteModel(engine->model);
    free(engine->still);
    free(engine->body);
    free(engine);
}

PeerEngine *peer_create(const PeerScene *scene, const PeerBody *body, const PeerJoint *joint,
                        uint32_t work, PeerGreeting *greeting) {
    mju_user_error = peer_fail;
    mju_user_warning = ignore;
    snprintf(greeting->name, sizeof(greeting->name), "MuJoCo %s", mj_versionString());
    if (joint != NULL) {
        snprintf(greeting->refusal, sizeof(greeting->refusal), "%s", PEER_NO_JOINTS);
        return NULL;
    }
    size_t contacts_max = count_contacts_max(scene->body_count);
    if (contacts_max < scene->body_count) { // at rest every body touches more than one other
        snprintf(greeting->refusal, sizeof(greeting->refusal), "it has room for %zu contacts only",
                 contacts_max);
        return NULL;
    }
    PeerEngine *engine = create(scene, body, contacts_max);
    for (int i = 0; i < TRIAL_STEPS && find_warning(engine) == NULL; i++) {
        mj_step(engine->model, engine->data);
    }
    const char *warning = find_warning(engine);
    if (warning != NULL) {
        snprintf(greeting->refusal, sizeof(greeting->refusal), "%s", warning);
        destroy(engine);
        return NULL;
    }
    mj_resetData(engine->model, engine->data);
    set_velocities(engine, body);
    if (work > 0) {
        engine->model->opt.iterations = (int)work;
        engine->model->opt.tolerance = 0.0; // all of them
    }
    return engine;
}

void peer_step(PeerEngine *engine) {
    mj_step(engine->model, engine->data);
    const char *warning = find_warning(engine);
    if (warning != NULL) {
        peer_fail(warning);
    }
}

uint32_t peer_contact_count(const PeerEngine *engine) {
    return (uint32_t)engine->data->ncon;
}

void peer_poses(const PeerEngine *engine, double *pose) {
    for (size_t i = 0; i < engine->body_count; i++, pose += 7) {
        if (engine->body[i] == 0) {
            memcpy(pose, engine->still + 7 * i, 7 * sizeof(*pose));
        } else {
            const mjModel *model = engine->model;
            int joint = model->body_jntadr[engine->body[i]];
            memcpy(pose, engine->data->qpos + model->jnt_qposadr[joint], 7 * sizeof(*pose));
        }
    }
}

void peer_velocities(const PeerEngine *engine, double *velocity) {
    for (size_t i = 0; i < engine->body_count; i++, velocity += 6) {
        memset(velocity, 0, 6 * sizeof(*velocity));
        if (engine->body[i] != 0) {
            const mjModel *model = engine->model;
            int body = engine->body[i], joint = model->body_jntadr[body];
            const mjtNum *v = engine->data->qvel + model->body_dofadr[body];
            mju_copy3(velocity, v);
            mju_rotVecQuat(velocity + 3, v + 3, engine->data->qpos + model->jnt_qposadr[joint] + 3);
        }
    }
}
