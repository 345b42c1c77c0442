// SPDX-License-Identifier: MIT
#include "cli/worlds/sample.h"

#include "cli/base/memory.h"
#include "cli/text/terminal.h"
#include "cli/worlds/page.h"

#include <stdio.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b) {
    const SampleWorld *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static int by_rate(const void *a, const void *b) {
    const SampleWorld *left = a, *right = b;
    int order = (left->steps_rate < right->steps_rate) - (left->steps_rate > right->steps_rate);
    return order != 0 ? order : by_id(a, b);
}

static void copy_name(char to[SAMPLE_NAME_BYTES], const char *from) {
    snprintf(to, SAMPLE_NAME_BYTES, "%s", from != NULL ? from : "");
}

static void add_page(Sample *sample, const Moreau__V1__WorldListReply *page) {
    for (size_t i = 0; i < page->n_worlds && sample->world_count < SAMPLE_WORLDS_MAX; i++) {
        const Moreau__V1__WorldInfo *info = page->worlds[i];
        SampleWorld *world = &sample->world[sample->world_count++];
        *world = (SampleWorld){.id = info->world,
                               .bodies = info->bodies,
                               .contacts = info->contacts,
                               .step = info->step,
                               .bytes = info->bytes,
                               .time = info->time,
                               .faulted = info->faulted};
        copy_name(world->name, info->name);
        copy_name(world->solver, info->solver);
    }
    sample->world_total = page->total;
}

static int take_worlds(Cli *cli, Sample *sample) {
    sample->world = memory_take(SAMPLE_WORLDS_MAX, sizeof(*sample->world));
    uint64_t first = 0;
    size_t page_rows;
    do {
        int status;
        Moreau__V1__Reply *reply = world_page_fetch(cli, first, &status);
        if (reply == NULL) {
            return status;
        }
        page_rows = reply->world_list->n_worlds;
        first += page_rows;
        add_page(sample, reply->world_list);
        moreau__v1__reply__free_unpacked(reply, NULL);
    } while (page_rows == WORLD_PAGE_ROWS && first < SAMPLE_WORLDS_MAX);
    qsort(sample->world, sample->world_count, sizeof(*sample->world), by_id);
    return EXIT_DONE;
}

static int take_groups(Cli *cli, Sample *sample) {
    int status;
    sample->group_reply = group_page_fetch(cli, 0, &status);
    if (sample->group_reply == NULL) {
        return status;
    }
    const Moreau__V1__GroupListReply *page = sample->group_reply->group_list;
    sample->group_count = page->n_groups;
    sample->group = memory_take(page->n_groups, sizeof(*sample->group));
    for (size_t i = 0; i < page->n_groups; i++) {
        sample->group[i] = (SampleGroup){.info = page->groups[i]};
    }
    return EXIT_DONE;
}

int sample_take(Cli *cli, Sample *sample) {
    *sample = (Sample){0};
    Moreau__V1__Stats stats = MOREAU__V1__STATS__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_STATS;
    request.stats = &stats;
    int status = cli_call(cli, &request, &sample->reply);
    if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, NULL, "");
    } else if (sample->reply->result_case != MOREAU__V1__REPLY__RESULT_STATS) {
        status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no figures");
    } else {
        sample->stats = sample->reply->stats;
        sample->taken_s = terminal_now_s();
        status = take_worlds(cli, sample);
    }
    if (status == EXIT_DONE) {
        status = take_groups(cli, sample);
    }
    if (status != EXIT_DONE) {
        sample_free(sample);
    }
    return status;
}

void sample_free(Sample *sample) {
    if (sample->reply != NULL) {
        moreau__v1__reply__free_unpacked(sample->reply, NULL);
    }
    if (sample->group_reply != NULL) {
        moreau__v1__reply__free_unpacked(sample->group_reply, NULL);
    }
    free(sample->group);
    free(sample->world);
    *sample = (Sample){0};
}

static double rate(uint64_t before, uint64_t now, double seconds) {
    // a counter that fell back belongs to a server that was started anew
    return now > before && seconds > 0.0 ? (double)(now - before) / seconds : 0.0;
}

static void compare_worlds(Sample *before, Sample *now, double seconds) {
    qsort(before->world, before->world_count, sizeof(*before->world), by_id);
    size_t k = 0;
    for (size_t i = 0; i < now->world_count; i++) {
        SampleWorld *world = &now->world[i];
        while (k < before->world_count && before->world[k].id < world->id) {
            k++;
        }
        if (k < before->world_count && before->world[k].id == world->id) {
            world->steps_rate = rate(before->world[k].step, world->step, seconds);
        }
    }
    qsort(now->world, now->world_count, sizeof(*now->world), by_rate);
}

static void compare_groups(const Sample *before, Sample *now, double seconds) {
    for (size_t i = 0; i < now->group_count; i++) {
        SampleGroup *group = &now->group[i];
        for (size_t k = 0; k < before->group_count; k++) {
            const Moreau__V1__GroupInfo *was = before->group[k].info;
            if (was->group == group->info->group) {
                group->steps_rate = rate(was->steps, group->info->steps, seconds);
                group->episodes_rate = rate(was->episodes, group->info->episodes, seconds);
            }
        }
    }
}

SampleRates sample_compare(Sample *before, Sample *now) {
    double seconds = now->taken_s - before->taken_s;
    const Moreau__V1__StatsReply *a = before->stats, *b = now->stats;
    compare_worlds(before, now, seconds);
    compare_groups(before, now, seconds);
    uint64_t timed = b->timed_steps > a->timed_steps ? b->timed_steps - a->timed_steps : 0;
    return (SampleRates){
        .steps = rate(a->steps, b->steps, seconds),
        .unconverged = rate(a->unconverged_steps, b->unconverged_steps, seconds),
        .faulted = rate(a->faulted_steps, b->faulted_steps, seconds),
        .requests = rate(a->requests, b->requests, seconds),
        .failed = rate(a->failed_requests, b->failed_requests, seconds),
        .bytes_in = rate(a->bytes_in, b->bytes_in, seconds),
        .bytes_out = rate(a->bytes_out, b->bytes_out, seconds),
        .solver_time = timed > 0 ? (b->solver_time - a->solver_time) / (double)timed : 0.0,
    };
}
