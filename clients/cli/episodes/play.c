// SPDX-License-Identifier: MIT
#include "cli/episodes/play.h"

#include "cli/base/interrupt.h"

typedef struct Play {
    Cli *cli;
    MoreauFrameProc *proc;
    void *context;
    bool is_misfit; // frames came whose columns do not fit each other
    bool is_ended;  // by proc
} Play;

static bool take_frames(void *context, const MoreauReply *event) {
    Play *play = context;
    MoreauFrames frames;
    if (!moreau_reply_frames(event, &frames)) {
        play->is_misfit = true;
        return false;
    }
    MoreauFrame frame;
    while (!play->is_ended && !interrupt_wanted() && moreau_next_frame(&frames, &frame)) {
        play->is_ended = !play->proc(play->context, &frame);
    }
    return cli_flush(play->cli) && !play->is_ended;
}

int play_frames(Cli *cli, Moreau__V1__EpisodeReplay *message, MoreauFrameProc *proc,
                void *context) {
    Play play = {.cli = cli, .proc = proc, .context = context};
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_REPLAY;
    request.episode_replay = message;
    interrupt_catch();
    Moreau__V1__Reply *reply;
    int status = cli_call_events(cli, &request, take_frames, &play, &reply);
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    if (play.is_misfit) {
        return cli_fail(cli, EXIT_REFUSED,
                        "the columns of the server's frames do not fit each other");
    }
    if (cli->output_error != 0) { // cancelled, because nobody can read it
        return EXIT_REFUSED;
    }
    const bool is_over = play.is_ended || interrupt_wanted();
    if (status != EXIT_DONE && !(is_over && cli->error.status == MOREAU_CANCELLED)) {
        return cli_report_refusal(cli, NULL, "");
    }
    return EXIT_DONE;
}
