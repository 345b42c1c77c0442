// SPDX-License-Identifier: MIT
// moreau verify: an episode stepped again, and compared.
#include "cli/cli.h"

#include "access/seal_key.h"
#include "base/hex.h"
#include "cli/episodes/episode_text.h"
#include "cli/base/interrupt.h"
#include "cli/text/number.h"
#include "cli/text/fold.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <stdio.h>

static const char usage[] =
    "moreau verify: step an episode again, compare every hash, frame and key-frame\n"
    "\n"
    "  moreau verify EPISODE [options]\n"
    "\n"
    "Verified is what it is against the file itself: whoever has that could have\n"
    "written other names, times and inputs, and made all else right. With --seal-pub\n"
    "it is also asked who signed the recording (moreau-server --seal-key). That\n"
    "protects against who has the file: not against who has the key or the server\n"
    "that recorded, nor against whole recordings that are left out; and a server\n"
    "that is not yours may answer anything.\n"
    "\n"
    "Exit status 4: there is a difference, or a part of the file is damaged; or,\n"
    "with --seal-pub, that key has not signed the recording to its end.\n"
    "\n"
    "Examples:\n"
    "  moreau verify demo\n"
    "  moreau verify 3e9f0a8d --from 1000 --to 2000 --json\n"
    "  moreau verify demo --seal-pub seal.pub\n";

static const CliField typed[] = {{"episode", "EPISODE"},
                                 {"first", "--from"},
                                 {"last", "--to"},
                                 {"lanes", "--lanes"},
                                 {"seal_public_key", "--seal-pub"},
                                 {NULL, NULL}};

#define NOT_GIVEN UINT64_MAX

typedef struct Verifying {
    Progress progress;
    double step_time; // [s] of a step, on average
    uint64_t steps_done, steps_total;
} Verifying;

static bool show_progress(void *context, const MoreauReply *event) {
    Verifying *verifying = context;
    Moreau__V1__Reply *message = cli_unpack(event);
    if (message->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS) {
        verifying->steps_done = message->episode_progress->steps_done;
        verifying->steps_total = message->episode_progress->steps_total;
        progress_show(&verifying->progress, verifying->steps_done, verifying->steps_total,
                      (double)verifying->steps_done * verifying->step_time);
    }
    moreau__v1__reply__free_unpacked(message, NULL);
    return true;
}

static void print_difference(const Moreau__V1__EpisodeDifference *difference) {
    const char *kind = difference->chunk_kind != NULL ? difference->chunk_kind : "unknown";
    if (difference->has_chunk) {
        fold_printf("  step %" PRIu64 ", chunk %" PRIu64 " (%s): ", difference->step,
                    difference->chunk, kind);
    } else {
        fold_printf("  step %" PRIu64 " (%s): ", difference->step, kind);
    }
    const char *message = difference->message != NULL ? difference->message : "";
    if (difference->damaged) {
        fold_printf("damaged: %s\n", message);
    } else if (difference->quantity != NULL && difference->quantity[0] != '\0') {
        if (difference->body != 0) {
            fold_printf("body %" PRIu64 ", ", difference->body);
        }
        char text[2][NUMBER_BYTES];
        fold_printf("%s: expected %s, found %s\n", difference->quantity,
                    number_write(difference->expected, text[0]),
                    number_write(difference->found, text[1]));
    } else if (difference->expected_hash != difference->found_hash) {
        fold_printf("state hash: expected %016" PRIx64 ", found %016" PRIx64 "\n",
                    difference->expected_hash, difference->found_hash);
    } else {
        fold_printf("%s\n", message);
    }
}

static bool is_signed(const Moreau__V1__EpisodeSigned *is) {
    return is != NULL && is->by == MOREAU__V1__EPISODE_SIGNED__BY__WHOLLY;
}

// Who vouches for it.
static void print_signed(const Moreau__V1__EpisodeSigned *is) {
    char key[SEAL_PUBLIC_TEXT_BYTES] = "nobody";
    if (is->has_key && is->key.len == SEAL_PUBLIC_BYTES) {
        hex_text(is->key.data, SEAL_PUBLIC_BYTES, key);
    }
    fold_printf("  %s", terminal_style(stdout, is_signed(is) ? STYLE_GOOD : STYLE_BAD));
    switch (is->by) {
    case MOREAU__V1__EPISODE_SIGNED__BY__WHOLLY:
        fold_printf("signed%s from its beginning to its end, step %" PRIu64 ", by %s\n",
                    terminal_style(stdout, STYLE_PLAIN), is->step, key);
        break;
    case MOREAU__V1__EPISODE_SIGNED__BY__PARTLY:
        fold_printf("signed up to step %" PRIu64 "%s by %s: nobody vouches for what is behind it, "
                    "or for how it ended\n",
                    is->step, terminal_style(stdout, STYLE_PLAIN), key);
        break;
    case MOREAU__V1__EPISODE_SIGNED__BY__FOUND:
        fold_printf("signed up to step %" PRIu64 "%s by %s; what is behind it was found so when "
                    "the server started again, and who had the file until then could change it\n",
                    is->step, terminal_style(stdout, STYLE_PLAIN), key);
        break;
    case MOREAU__V1__EPISODE_SIGNED__BY__ANOTHER:
        fold_printf("signed by another%s (%s)\n", terminal_style(stdout, STYLE_PLAIN), key);
        break;
    default:
        fold_printf("unsigned%s: whoever has the file could have written it\n",
                    terminal_style(stdout, STYLE_PLAIN));
    }
}

static void print_result(const Moreau__V1__EpisodeInfo *episode,
                         const Moreau__V1__EpisodeVerifyReply *result) {
    char id[EPISODE_SHORT_BYTES];
    char text[3][32];
    episode_short(episode, id);
    format_count(result->steps, text[0]);
    double rate = result->seconds > 0.0 ? (double)result->steps / result->seconds : 0.0;
    fold_printf("%s%s%s: %s step%s of episode %s %s, %s (%s steps/s)\n",
                terminal_style(stdout, result->verified ? STYLE_GOOD : STYLE_BAD),
                result->verified ? "verified" : "NOT verified", terminal_style(stdout, STYLE_PLAIN),
                text[0], plural(result->steps), id, episode_name(episode),
                format_seconds(result->seconds, text[1]), format_count((uint64_t)rate, text[2]));
    if (result->dropped_steps > 0) {
        fold_printf("  %s step%s never recorded: the recording is lossy\n",
                    format_count(result->dropped_steps, text[0]),
                    result->dropped_steps == 1 ? " was" : "s were");
    }
    if (result->unconverged_steps > 0) {
        // what was noted then was compared where everything is as it was, and only there
        fold_printf("  %s step%s did not reach the tolerance%s\n",
                    format_count(result->unconverged_steps, text[0]),
                    plural(result->unconverged_steps),
                    result->verified && result->steps == episode->steps ? ", then as now" : "");
    }
    if (!result->sealed) {
        fold_printf("  %s, so that nobody can tell what came behind step %" PRIu64 "\n",
                    episode->state == MOREAU__V1__EPISODE__STATE__RECORDING
                        ? "it is still being recorded"
                        : "nobody ended the recording",
                    result->proven_step);
    }
    if (result->signed_ != NULL) {
        print_signed(result->signed_);
    } else if (result->verified) {
        fold_printf("  against what the file itself says; who signed it, --seal-pub FILE asks\n");
    }
    for (size_t i = 0; i < result->n_differences; i++) {
        print_difference(result->differences[i]);
    }
    if (!result->verified) {
        const bool is_known = result->n_differences > 0 && result->differences[0]->has_step;
        episode_print_look(episode, is_known ? result->differences[0]->step : UINT64_MAX);
    }
}

// What came of it, `reply` Nullable, is shown and judged.
static int conclude(Cli *cli, const Verifying *verifying, bool asks_signed,
                    const Moreau__V1__EpisodeInfo *episode, int status,
                    const Moreau__V1__Reply *reply) {
    if (status != EXIT_DONE && cli->error.status == MOREAU_CANCELLED) {
        char text[2][32];
        return cli_fail(cli, EXIT_REFUSED, "stopped after %s of %s step%s: this verifies nothing",
                        format_count(verifying->steps_done, text[0]),
                        format_count(verifying->steps_total, text[1]),
                        plural(verifying->steps_total));
    }
    if (status != EXIT_DONE) {
        return cli_report_refusal(cli, NULL, "");
    }
    if (reply->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY) {
        return cli_fail(cli, EXIT_REFUSED, "the server's answer holds no verification");
    }
    const Moreau__V1__EpisodeVerifyReply *result = reply->episode_verify;
    if (cli->json) {
        cli_print(cli, json_write_ours(&result->base));
    } else {
        print_result(episode, result);
    }
    return result->verified && (!asks_signed || is_signed(result->signed_)) ? EXIT_DONE
                                                                            : EXIT_DIFFERENT;
}

static int verify_episode(Cli *cli, Moreau__V1__EpisodeVerify *verify,
                          const Moreau__V1__EpisodeInfo *episode) {
    verify->episode = episode->episode; // a name may be another's by now
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_VERIFY;
    request.episode_verify = verify;
    double steps = episode->steps > 0 ? (double)episode->steps : 1.0;
    Verifying verifying = {.step_time = episode_simulated(episode) / steps,
                           .steps_total = episode->steps};
    interrupt_catch();
    progress_start(&verifying.progress);
    Moreau__V1__Reply *reply;
    int status = cli_call_events(cli, &request, show_progress, &verifying, &reply);
    progress_stop(&verifying.progress);
    status = conclude(cli, &verifying, verify->has_seal_public_key, episode, status, reply);
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

int command_verify(Cli *cli, int argc, char **argv) {
    uint64_t from = NOT_GIVEN;
    uint64_t to = NOT_GIVEN;
    uint64_t lanes = 0;
    const char *seal_pub = NULL;
    uint8_t key[SEAL_PUBLIC_BYTES];
    const Option table[] = {
        {"--from", OPTION_INDEX, &from, "STEP", "of the episode; default 0"},
        {"--to", OPTION_INDEX, &to, "STEP", "default: the last"},
        {"--lanes", OPTION_COUNT, &lanes, "N", "workers of the server; default: all"},
        {"--seal-pub", OPTION_TEXT, &seal_pub, "FILE",
         "whose signatures: seal.pub, or 64 hex digits"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (lanes > UINT32_MAX) {
        return cli_fail(cli, EXIT_USAGE, "--lanes takes at most %u", UINT32_MAX);
    }
    Error error = {0};
    if (seal_pub != NULL && seal_public_read(seal_pub, key, &error) != STATUS_OK) {
        return cli_fail(cli, EXIT_USAGE, "%s", error.message);
    }
    cli->fields = typed;
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.has_first = from != NOT_GIVEN;
    verify.first = from;
    verify.has_last = to != NOT_GIVEN;
    verify.last = to;
    verify.has_lanes = lanes > 0;
    verify.lanes = (uint32_t)lanes;
    verify.has_seal_public_key = seal_pub != NULL;
    verify.seal_public_key = (ProtobufCBinaryData){sizeof(key), key};
    Moreau__V1__Reply *reply;
    if ((status = cli_connect(cli)) != EXIT_DONE ||
        (status = episode_describe(cli, words.item[0], 0, &reply)) != EXIT_DONE) {
        return status;
    }
    status = verify_episode(cli, &verify, reply->episode_describe->episode);
    moreau__v1__reply__free_unpacked(reply, NULL);
    return status;
}
