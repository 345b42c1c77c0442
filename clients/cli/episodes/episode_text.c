// SPDX-License-Identifier: MIT
#include "cli/episodes/episode_text.h"

#include "cli/protocol/certificate.h"
#include "cli/text/fold.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

static const char *text_or(const char *text, const char *otherwise) {
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

void episode_short(const Moreau__V1__EpisodeInfo *episode, char text[EPISODE_SHORT_BYTES]) {
    snprintf(text, EPISODE_SHORT_BYTES, "%s", text_or(episode->episode, "?"));
}

const char *episode_name(const Moreau__V1__EpisodeInfo *episode) {
    return text_or(episode->name, "(nameless)");
}

// The name of an enum's value as people write it: "world destroyed".
static const char *plain_name(const ProtobufCEnumDescriptor *descriptor, int number,
                              char text[32]) {
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(descriptor, number);
    if (value == NULL) {
        return "unknown";
    }
    size_t i = 0;
    for (; value->name[i] != '\0' && i < 31; i++) {
        text[i] = value->name[i] == '_' ? ' ' : (char)tolower((unsigned char)value->name[i]);
    }
    text[i] = '\0';
    return text;
}

static TerminalStyle state_style(Moreau__V1__Episode__State state) {
    return state == MOREAU__V1__EPISODE__STATE__INTERRUPTED ? STYLE_BAD
           : state == MOREAU__V1__EPISODE__STATE__RECORDING ? STYLE_GOOD
                                                            : STYLE_PLAIN;
}

static const char *state_name(const Moreau__V1__EpisodeInfo *episode, char text[32]) {
    return plain_name(&moreau__v1__episode__state__descriptor, (int)episode->state, text);
}

double episode_simulated(const Moreau__V1__EpisodeInfo *episode) {
    return episode->has_simulated ? episode->simulated
                                  : (double)episode->steps * episode->time_step;
}

// ---- a table

static Table fit_table(void) {
    static const TableColumn columns[] = {
        {"episode", NULL, EPISODE_SHORT_BYTES - 1, 0, TABLE_LEFT},
        {"name", NULL, 14, 0, TABLE_GROWS},
        {"begun", NULL, 12, 6, TABLE_LEFT},
        {"steps", NULL, 8, 2, TABLE_RIGHT},
        {"time", NULL, 7, 3, TABLE_RIGHT},
        {"solver", NULL, 6, 4, TABLE_LEFT},
        {"unconv.", NULL, 7, 1, TABLE_RIGHT},
        {"size", NULL, 8, 5, TABLE_RIGHT},
    };
    enum { STATE_COLUMNS = 2 + 8 }; // "complete", which most are
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, STATE_COLUMNS);
}

void episode_print_head(void) {
    Table table = fit_table();
    table_print_head(&table, "  state, labels");
}

// Of a group's: its first digits are those of all episodes of the recording.
static void print_place(const Moreau__V1__EpisodeInfo *episode) {
    fold_printf(", world %" PRIu64 " turn %" PRIu64, episode->world_index, episode->turn);
    if (episode->has_return_sum) {
        fold_printf(" return %.6g", episode->return_sum);
    }
    if (episode->has_doubtful_share) {
        fold_printf(", %.3g %% of it in doubtful steps", 100.0 * episode->doubtful_share);
    }
    fold_printf(", %s", text_or(episode->episode, "?"));
}

void episode_print_row(const Moreau__V1__EpisodeInfo *episode) {
    char id[EPISODE_SHORT_BYTES];
    char text[2][32];
    const bool is_open = episode->unconverged_steps > 0;
    Table table = fit_table();
    episode_short(episode, id);
    table_cell(&table, 0, STYLE_PLAIN, id);
    table_cell(&table, 1, STYLE_PLAIN, episode_name(episode));
    table_cell(&table, 2, STYLE_PLAIN, format_when(episode->begun, false, text[0]));
    table_printf(&table, 3, STYLE_PLAIN, "%" PRIu64, episode->steps);
    table_printf(&table, 4, STYLE_PLAIN, "%.4g", episode_simulated(episode));
    table_cell(&table, 5, STYLE_PLAIN, text_or(episode->solver, "?"));
    if (is_open) {
        table_printf(&table, 6, STYLE_BAD, "%" PRIu64, episode->unconverged_steps);
    } else {
        table_cell(&table, 6, STYLE_PLAIN, "-");
    }
    table_cell(&table, 7, STYLE_PLAIN, format_bytes(episode->bytes, text[0]));
    fold_printf("  %s%s%s", terminal_style(stdout, state_style(episode->state)),
                state_name(episode, text[1]), terminal_style(stdout, STYLE_PLAIN));
    if (episode->gained > 0.0) {
        fold_printf(", %sgained %.3g J%s", terminal_style(stdout, STYLE_BAD), episode->gained,
                    terminal_style(stdout, STYLE_PLAIN));
    }
    if (episode->pinned) {
        fold_printf(", pinned");
    }
    for (size_t i = 0; i < episode->n_labels; i++) {
        fold_printf("%s%s", i == 0 ? ", " : " ", episode->labels[i]);
    }
    if (episode->has_turn) {
        print_place(episode);
    }
    fold_printf("\n");
}

// ---- one episode

static void print_gained(const Moreau__V1__EpisodeInfo *episode) {
    if (episode->gained > 0.0) {
        fold_printf("  gained       %s%.3g J%s that nothing gave\n",
                    terminal_style(stdout, STYLE_BAD), episode->gained,
                    terminal_style(stdout, STYLE_PLAIN));
    } else if (!episode->has_gained) {
        fold_printf("  gained       not known: an older server recorded it\n");
    }
    if (episode->energy_gain > 0.0) {
        fold_printf("  gain         %.3g J at most in one step that no force explains\n",
                    episode->energy_gain);
    }
}

static void print_steps(const Moreau__V1__EpisodeInfo *episode) {
    char text[2][32];
    fold_printf("  steps        %s of %.6g s: %.6g s simulated\n",
                format_count(episode->steps, text[0]), episode->time_step,
                episode_simulated(episode));
    if (episode->unconverged_steps > 0) {
        fold_printf("  converged    %s%s of %s step%s did not%s reach the tolerance\n",
                    terminal_style(stdout, STYLE_BAD),
                    format_count(episode->unconverged_steps, text[0]),
                    format_count(episode->steps, text[1]), plural(episode->steps),
                    terminal_style(stdout, STYLE_PLAIN));
    } else {
        fold_printf("  converged    %sall steps%s\n", terminal_style(stdout, STYLE_GOOD),
                    terminal_style(stdout, STYLE_PLAIN));
    }
    if (episode->has_worst_own) {
        fold_printf("  worst        e_own %.2g, overlap %.3g mm\n", episode->worst_own,
                    1e3 * episode->worst_penetration);
    }
    if (episode->hardest_impact > 0.0) {
        fold_printf("  hardest      impact %.3g m/s", episode->hardest_impact);
        if (episode->has_hardest_impact_step) {
            fold_printf(" in step %" PRIu64, episode->hardest_impact_step);
        }
        fold_printf("\n");
    }
    print_gained(episode);
    if (episode->dropped_steps > 0) {
        fold_printf("  dropped      %s%s step%s%s: the disk could not keep up, and it is lossy\n",
                    terminal_style(stdout, STYLE_BAD),
                    format_count(episode->dropped_steps, text[0]), plural(episode->dropped_steps),
                    terminal_style(stdout, STYLE_PLAIN));
    }
}

// Of a group that was made with an opinion.
static void print_opinion(const Moreau__V1__EpisodeInfo *episode) {
    char text[2][32];
    fold_printf("  doubtful     %s of %s step%s", format_count(episode->doubtful_steps, text[0]),
                format_count(episode->steps, text[1]), plural(episode->steps));
    if (episode->has_return_doubtful) {
        fold_printf(", and %.3g %% of the return (%.6g of %.6g)", 100.0 * episode->doubtful_share,
                    episode->return_doubtful, episode->return_sum);
    }
    fold_printf("\n  solved again %s step%s", format_count(episode->opinions, text[0]),
                plural(episode->opinions));
    if (episode->opinions > 0) {
        fold_printf(", at most %.3g of V from exact Coulomb friction", episode->opinion_gap_max);
    }
    fold_printf("\n");
}

static void print_size(const Moreau__V1__EpisodeInfo *episode) {
    char text[4][32];
    fold_printf("  content      %s", plain_name(&moreau__v1__episode__content__descriptor,
                                                (int)episode->content, text[0]));
    if (episode->content != MOREAU__V1__EPISODE__CONTENT__INPUTS) {
        fold_printf(", every %s%s",
                    episode->stride > 1 ? format_count(episode->stride, text[1]) : "",
                    episode->stride > 1 ? " steps" : "step");
    }
    fold_printf("%s\n  size         %s in %s chunk%s, %s of them %s",
                episode->lossy ? ", lossy" : "", format_bytes(episode->bytes, text[1]),
                format_count(episode->chunks, text[2]), plural(episode->chunks),
                format_count(episode->keyframes, text[3]),
                episode->keyframes == 1 ? "a key-frame" : "key-frames");
    if (episode->steps > 0) {
        fold_printf("; %s per step", format_bytes(episode->bytes / episode->steps, text[0]));
    }
    fold_printf("\n");
}

void episode_print(const Moreau__V1__EpisodeInfo *episode) {
    char text[2][32];
    fold_printf("%s%s%s\n", terminal_style(stdout, STYLE_BOLD), episode_name(episode),
                terminal_style(stdout, STYLE_PLAIN));
    fold_printf("  episode      %s\n", text_or(episode->episode, "?"));
    fold_printf("  state        %s%s%s", terminal_style(stdout, state_style(episode->state)),
                state_name(episode, text[0]), terminal_style(stdout, STYLE_PLAIN));
    fold_printf("%s%s\n", episode->why != NULL && episode->why[0] != '\0' ? ": " : "",
                text_or(episode->why, ""));
    fold_printf("  begun        %s", format_when(episode->begun, true, text[0]));
    if (episode->has_ended) {
        fold_printf(", lasted %s", format_seconds(episode->ended - episode->begun, text[1]));
    }
    fold_printf("\n  world        %s: %s %s, from its step %" PRIu64 " on\n",
                text_or(episode->world_name, "(nameless)"), format_count(episode->bodies, text[0]),
                episode->bodies == 1 ? "body" : "bodies", episode->world_step);
    fold_printf("  solver       %s\n", text_or(episode->solver, "?"));
    print_steps(episode);
    if (episode->has_doubtful_steps) {
        print_opinion(episode);
    }
    print_size(episode);
    if (episode->n_labels > 0) {
        fold_printf("  labels      ");
        for (size_t i = 0; i < episode->n_labels; i++) {
            fold_printf(" %s", episode->labels[i]);
        }
        fold_printf("\n");
    }
    if (episode->pinned) {
        fold_printf("  pinned       retention keeps it\n");
    }
    if (episode->has_seed) {
        fold_printf("  seed         %" PRIu64 "\n", episode->seed);
    }
    if (episode->parent != NULL) {
        fold_printf("  forked from  %s, behind step %" PRIu64 "\n", episode->parent,
                    episode->parent_step);
    }
    fold_printf("  made by      %s, on server %s with dynamics %" PRIu64 "\n",
                text_or(episode->client, "(nameless)"), text_or(episode->server_version, "?"),
                episode->dynamics_version);
}

static void print_highlight(const Moreau__V1__EpisodeHighlight *highlight) {
    char steps[64];
    if (highlight->first_step == highlight->last_step) {
        snprintf(steps, sizeof(steps), "step %" PRIu64, highlight->first_step);
    } else {
        snprintf(steps, sizeof(steps), "steps %" PRIu64 " to %" PRIu64, highlight->first_step,
                 highlight->last_step);
    }
    fold_printf("    %-24s e_own %.2g", steps, highlight->value);
    if (highlight->first_step != highlight->last_step) {
        fold_printf(" in step %" PRIu64, highlight->worst_step);
    }
    if (highlight->has_reason) {
        fold_printf(", %s; %" PRIu64 " contacts around body %" PRIu64,
                    certificate_reason_meaning((int)highlight->reason), highlight->contacts,
                    highlight->body);
    }
    fold_printf("\n");
}

void episode_print_open(const Moreau__V1__EpisodeDescribeReply *reply) {
    uint64_t total = reply->n_highlight_total > 0 ? reply->highlight_total[0] : 0, shown = 0;
    for (size_t i = 0; i < reply->n_highlights; i++) {
        const Moreau__V1__EpisodeHighlight *highlight = reply->highlights[i];
        if (highlight->kind != MOREAU__V1__EPISODE_HIGHLIGHT__KIND__UNCONVERGED) {
            continue;
        }
        if (shown++ == 0) {
            fold_printf("  left open, the worst first\n");
        }
        print_highlight(highlight);
    }
    if (total > shown) {
        fold_printf("    and %" PRIu64 " more: --json has them\n", total - shown);
    }
}

void episode_print_launch(const Moreau__V1__EpisodeDescribeReply *reply) {
    for (size_t i = 0; i < reply->n_highlights; i++) {
        const Moreau__V1__EpisodeHighlight *launch = reply->highlights[i];
        if (launch->kind == MOREAU__V1__EPISODE_HIGHLIGHT__KIND__LAUNCH) { // the fastest is first
            fold_printf(
                "  launch       by up to %.2g m/s, and gliding %.2g m high, in step %" PRIu64 "\n"
                "  of           body %" PRIu64 " against %" PRIu64 "\n",
                launch->value, launch->height, launch->worst_step, launch->body,
                launch->other_body);
            return;
        }
    }
}

void episode_print_broken(const Moreau__V1__EpisodeDescribeReply *reply) {
    const size_t broken = MOREAU__V1__EPISODE_HIGHLIGHT__KIND__BROKEN;
    for (size_t i = 0; i < reply->n_highlights; i++) {
        const Moreau__V1__EpisodeHighlight *one = reply->highlights[i];
        if (one->kind == MOREAU__V1__EPISODE_HIGHLIGHT__KIND__BROKEN) { // the worst is first
            const uint64_t total =
                reply->n_highlight_total >= broken ? reply->highlight_total[broken - 1] : 1;
            fold_printf("  broken       %.0f joint%s in step %" PRIu64 ", the first joint %" PRIu64,
                        one->value, one->value == 1.0 ? "" : "s", one->worst_step, one->joint);
            if (total > 1) {
                fold_printf(", and more in %" PRIu64 " other stretch%s", total - 1,
                            total == 2 ? "" : "es");
            }
            fold_printf("\n");
            return;
        }
    }
}

// The episode that an answer tells of; NULL: it tells of none.
static const Moreau__V1__EpisodeInfo *told_of(const Moreau__V1__Reply *reply) {
    if (reply->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE) {
        return reply->episode_describe->episode;
    }
    return reply->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_STOP
               ? reply->episode_stop->episode
               : NULL;
}

int episode_ask(Cli *cli, Moreau__V1__Request *request, Moreau__V1__Reply **reply) {
    int status = cli_call(cli, request, reply);
    if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, NULL, "");
    } else if (told_of(*reply) == NULL) {
        status = cli_fail(cli, EXIT_REFUSED, "the server's answer says nothing of the episode");
    } else {
        return EXIT_DONE;
    }
    if (*reply != NULL) {
        moreau__v1__reply__free_unpacked(*reply, NULL);
        *reply = NULL;
    }
    return status;
}

int episode_describe(Cli *cli, const char *name, uint64_t highlights, Moreau__V1__Reply **reply) {
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = (char *)name;
    describe.has_highlights = 1;
    describe.highlights = highlights;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE;
    request.episode_describe = &describe;
    return episode_ask(cli, &request, reply);
}

void episode_print_look(const Moreau__V1__EpisodeInfo *episode, uint64_t step) {
    char id[EPISODE_SHORT_BYTES];
    episode_short(episode, id);
    if (step == UINT64_MAX) {
        fold_printf("to look at it: moreau view %s\n", id);
    } else {
        fold_printf("to look at it: moreau view %s --step %" PRIu64 "\n", id, step);
    }
}
