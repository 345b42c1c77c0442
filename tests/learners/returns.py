#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long each learner of clients/python/examples takes until its latest hundred episodes earn what was asked, seed by
seed, one after the other:

    returns.py [--seeds 5] [LEARNER ...]      # RLlib wants ray[rllib], and its environment to itself; the others torch

Printed is a row of Markdown for each learner: steps, seconds of the clock and of all processors, least, middle and most
of the seeds."""

from __future__ import annotations

import argparse
import gc
import importlib
import resource
import statistics
import time
from typing import NamedTuple

PENDULUM, CART = "moreau_sim/InvertedPendulum-v5", "moreau_sim/CartPole-v0"


class Asked(NamedTuple):
    id: str
    goal: float  # of 1,000 an episode of the pendulum can earn, and of 500 one of the cart
    steps: int  # at most
    worlds: int


LEARNERS = {  # by the example's name
    "ppo": Asked(PENDULUM, 900.0, 500_000, 32),
    "clean_ppo": Asked(PENDULUM, 900.0, 500_000, 32),
    "clean_sac": Asked(PENDULUM, 900.0, 100_000, 16),
    "torchrl_ppo": Asked(PENDULUM, 900.0, 500_000, 32),
    "skrl_ppo": Asked(PENDULUM, 900.0, 500_000, 32),
    "rsl_ppo": Asked(PENDULUM, 900.0, 500_000, 32),
    "ray_rllib": Asked(CART, 475.0, 500_000, 16),
}


def rounds(name, seed):
    """(steps so far, mean return of the latest hundred episodes), again and again."""
    asked = LEARNERS[name]
    module = importlib.import_module(name)
    if name != "ray_rllib":
        yield from module.learn(asked.id, asked.steps, asked.worlds, seed)
        return
    learner = module.algorithm(1, asked.worlds, seed)
    for number, mean in enumerate(module.learn(learner), 1):
        yield number * module.STEPS, mean
        if number * module.STEPS >= asked.steps:
            break
    learner.stop()


def stable_baselines(seed):
    """The steps to the goal. It calls back, and is told to go on or to end."""
    from stable_baselines3.common.callbacks import ConvertCallback

    asked = LEARNERS["ppo"]

    def goes_on(told, _):
        latest = told["self"].ep_info_buffer
        return len(latest) < 100 or sum(one["r"] for one in latest) / len(latest) < asked.goal

    learner = importlib.import_module("ppo").learner_of(asked.id, asked.worlds, seed, 1e-3)
    learner.learn(asked.steps, ConvertCallback(goes_on))
    learner.get_env().close()
    return learner.num_timesteps if learner.num_timesteps < asked.steps else None


def learners_steps(name, seed):
    if name == "ppo":
        return stable_baselines(seed)
    return next((done for done, mean in rounds(name, seed) if mean >= LEARNERS[name].goal), None)


def used():
    """Seconds of processors of this process, and of its children that have ended, such as a server."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def reach(name, seed):
    """(steps, seconds, seconds of processors) until the goal; None where it was not reached."""
    begun, spent = time.monotonic(), used()
    steps = learners_steps(name, seed)
    gc.collect()  # worlds that were left in the middle, and their server
    return steps and (steps, time.monotonic() - begun, used() - spent)


def told(found):
    """least, middle and most."""
    return " · ".join(f"{value:,.0f}" for value in (min(found), statistics.median(found), max(found)))


def row(name, reached, seeds):
    asked, there = LEARNERS[name], [one for one in reached if one]
    columns = zip(*there) if there else ((), (), ())
    steps, seconds, processors = (told(column) if there else "" for column in columns)
    where = f"{asked.id.split('/')[1]}, {asked.goal:,.0f}"
    return f"| `{name}.py` | {where} | {len(there)} of {seeds} | {steps} | {seconds} | {processors} |"


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("learners", nargs="*", metavar="LEARNER", help=", ".join(LEARNERS))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    names = arguments.learners or [name for name in LEARNERS if name != "ray_rllib"]
    if unknown := [name for name in names if name not in LEARNERS]:
        parser.error(f"no learner {unknown[0]!r}: there are {', '.join(LEARNERS)}")
    print("| | asked | seeds that came to it | steps | seconds | of processors |\n| --- | --- | --- | --- | --- | --- |")
    for name in names:
        print(row(name, [reach(name, seed) for seed in range(arguments.seeds)], arguments.seeds), flush=True)


if __name__ == "__main__":
    main()
