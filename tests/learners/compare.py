#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does one learn here what one learns with MuJoCo? Stable-Baselines3's PPO with the same numbers and seeds on
Gymnasium's own environments and on those of this server, and each policy judged on both.

    pip install 'moreau-sim[gym]' 'gymnasium[mujoco]' stable-baselines3
    compare.py learn FOLDER [--tasks Hopper Ant] [--seeds 3] [--steps N] [--at-once 2]   # a process and a file each run
    compare.py keep FOLDER learning.json                                                 # what they came to
    compare.py draw learning.json learning.svg

A run whose file is there is not run again."""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import time
from collections import deque
from typing import NamedTuple

import numpy as np

POINTS = 25  # of a curve: means of the episodes that ended in that part of the steps
JUDGED = 20  # episodes that what was learned is judged by
OPINION = 0.01  # share of the steps here that are solved again


class Task(NamedTuple):
    theirs: str
    ours: str
    steps: int
    seeds: int
    worlds: int
    numbers: dict


# the widespread ones: of the 37 implementation details for what numbers steer, of RL Zoo for CartPole
STEERED = {"n_steps": 128, "batch_size": 256, "n_epochs": 10, "learning_rate": 3e-4, "gamma": 0.99, "gae_lambda": 0.95}
CART = {"n_steps": 32, "batch_size": 256, "n_epochs": 20, "learning_rate": 1e-3, "gamma": 0.98, "gae_lambda": 0.8}
TASKS = {
    "CartPole": Task("CartPole-v1", "moreau_sim/CartPole-v0", 100_000, 5, 8, CART),
    "Hopper": Task("Hopper-v5", "moreau_sim/Hopper-v5", 300_000, 3, 16, STEERED),
    "HalfCheetah": Task("HalfCheetah-v5", "moreau_sim/HalfCheetah-v5", 300_000, 3, 16, STEERED),
    "Ant": Task("Ant-v5", "moreau_sim/Ant-v5", 300_000, 3, 16, STEERED),
}
SIDES = ("theirs", "ours")


# ---- one run


def make(task, side, count, **more):
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecMonitor

    import moreau_sim.gym  # noqa: F401  # its environments
    from moreau_sim.gym.sb3 import SB3Worlds

    if side == "theirs":
        return make_vec_env(task.theirs, count)
    return VecMonitor(SB3Worlds(task.ours, count, workers=1, **more))


def watched(worlds):
    """What a run tells as it goes: (steps so far, return) of each episode, and the second opinions."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Watch(BaseCallback):
        def __init__(self):
            super().__init__()
            self.ended, self.gaps, self.doubtful = [], [], 0

        def _on_step(self):
            infos = self.locals["infos"]
            self.ended += [(self.num_timesteps, info["episode"]["r"]) for info in infos if "episode" in info]
            told = getattr(worlds, "told", {})
            self.doubtful += int(np.sum(told.get("doubtful", 0)))
            if "opinion" in told:
                self.gaps += told["opinion"][told["_opinion"]].tolist()
            return True

    return Watch()


def judge(task, side, learner, scales):
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    worlds = VecNormalize(make(task, side, JUDGED), training=False, norm_reward=False)
    worlds.obs_rms = scales
    worlds.seed(1_000)
    returns, _ = evaluate_policy(learner, worlds, JUDGED, return_episode_rewards=True)
    worlds.close()
    return [round(float(one), 1) for one in returns]


def run(name, side, seed, steps):
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecNormalize

    torch.set_num_threads(1)
    task = TASKS[name]
    inner = make(task, side, task.worlds, **({"opinion": OPINION} if side == "ours" else {}))
    worlds = VecNormalize(inner, gamma=task.numbers["gamma"])
    learner = PPO("MlpPolicy", worlds, seed=seed, device="cpu", **task.numbers)
    watch = watched(getattr(inner, "venv", inner))
    begun, spent = time.monotonic(), time.process_time()
    learner.learn(steps, callback=watch)
    told = {"task": name, "side": side, "seed": seed, "steps": steps}
    told["seconds"], told["cpu"] = round(time.monotonic() - begun), round(time.process_time() - spent)
    parts = [[paid for at, paid in watch.ended if k < at * POINTS / steps <= k + 1] for k in range(POINTS)]
    told["curve"] = [round(float(np.mean(part)), 1) if part else None for part in parts]
    if side == "ours":
        opinions = inner.venv.env.unwrapped.opinions()
        gaps = np.asarray([*watch.gaps, *opinions.gap])
        told["opinion"] = {
            "steps": len(gaps),
            "median": float(f"{np.median(gaps):.2g}"),
            "largest": float(f"{gaps.max():.2g}"),
            "doubtful": watch.doubtful,
        }
    told["judged"] = {other: judge(task, other, learner, worlds.obs_rms) for other in SIDES}
    worlds.close()
    return told


# ---- all of them


def learn(folder, names, seeds, steps, at_once):
    folder.mkdir(parents=True, exist_ok=True)
    wanted = deque()
    for seed in range(max(seeds or TASKS[name].seeds for name in names)):  # all tasks get their first seeds first
        for name in names if seeds else (name for name in names if seed < TASKS[name].seeds):
            for side in SIDES:
                file = folder / f"{name}-{side}-{seed}.json"
                words = [__file__, "run", name, side, str(seed), str(steps or TASKS[name].steps), str(file)]
                if not file.exists():
                    wanted.append((file, [sys.executable, *words]))
    running, failed = {}, 0
    while wanted or running:
        while wanted and len(running) < at_once:
            file, words = wanted.popleft()
            running[file] = subprocess.Popen(words)
        time.sleep(0.5)
        for file, process in list(running.items()):
            if process.poll() is not None:
                failed += process.returncode != 0
                print(file.stem, "failed" if process.returncode else "done", flush=True)
                del running[file]
    return failed


def keep(folder, kept):
    runs = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    lines = ",\n".join(json.dumps(one) for one in runs)
    kept.write_text(f'{{"judged_episodes": {JUDGED}, "opinion": {OPINION}, "runs": [\n{lines}\n]}}\n')


# ---- the picture

WIDE, HIGH, GAP = 380, 230, 60  # of a panel, and around it
COLOURS = {"theirs": "#d55e00", "ours": "#0072b2"}
NAMES = {"theirs": "Gymnasium's own, by MuJoCo", "ours": "this server"}
STYLE = ".t{font-size:14px}.m{text-anchor:middle}.e{text-anchor:end}.g{stroke:#ddd}"


def tidy_step(span):
    """A round number of which four to nine are in a span."""
    power = 10.0 ** np.floor(np.log10(span / 4.0))
    return float(max(step for step in (power, 2 * power, 5 * power, 10 * power) if span / step >= 4.0 or step == power))


def panel(name, runs, left, top):
    """Of each side the mean of its seeds, and from the least to the largest of them."""
    steps = runs[0]["steps"]
    curves = {side: np.array([one["curve"] for one in runs if one["side"] == side], float) for side in SIDES}
    seen = np.concatenate([curve[~np.isnan(curve)] for curve in curves.values()])
    step = tidy_step(max(float(np.ptp(seen)), 1e-9))
    low, high = np.floor(seen.min() / step) * step, np.ceil(seen.max() / step) * step

    def place(at, value):
        return f"{left + WIDE * at / POINTS:.1f} {top + HIGH * (high - value) / (high - low):.1f}"

    lines = [f'<text class="t" x="{left}" y="{top - 12}">{name}</text>']
    for value in np.arange(low, high + step / 2, step):
        y = top + HIGH * (high - value) / (high - low)
        label = f'<text class="e" x="{left - 6}" y="{y + 4:.1f}">{value:,.0f}</text>'
        lines.append(f'<path class="g" d="M{left} {y:.1f}h{WIDE}"/>{label}')
    told = f"0 to {steps:,} steps, {min(map(len, curves.values()))} seeds"
    lines.append(f'<text class="m" x="{left + WIDE / 2}" y="{top + HIGH + 18}">{told}</text>')
    for side, curve in curves.items():
        at = [k for k in range(POINTS) if not np.isnan(curve[:, k]).all()]
        ends = [function(curve[:, at], axis=0) for function in (np.nanmax, np.nanmin, np.nanmean)]
        most, least, mean = ([place(k + 0.5, value) for k, value in zip(at, values)] for values in ends)
        lines.append(f'<path fill="{COLOURS[side]}" fill-opacity="0.18" d="M{"L".join([*most, *reversed(least)])}Z"/>')
        lines.append(f'<path fill="none" stroke="{COLOURS[side]}" stroke-width="2" d="M{"L".join(mean)}"/>')
    return lines


def draw(kept, picture):
    runs = json.loads(kept.read_text())["runs"]
    there = [name for name in TASKS if {one["side"] for one in runs if one["task"] == name} == set(SIDES)]
    lines = []
    for number, name in enumerate(there):
        left, top = GAP + number % 2 * (WIDE + GAP), GAP + number // 2 * (HIGH + GAP)
        lines += panel(name, [one for one in runs if one["task"] == name], left, top)
    for number, side in enumerate(SIDES):
        x = GAP + number * 240
        label = f'<text x="{x + 32}" y="24">{NAMES[side]}</text>'
        lines.append(f'<path stroke="{COLOURS[side]}" stroke-width="3" d="M{x} 20h24"/>{label}')
    size = f'width="{GAP + 2 * (WIDE + GAP)}" height="{GAP + (len(there) + 1) // 2 * (HIGH + GAP)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    body = "\n".join([head, f"<style>{STYLE}</style>", '<rect width="100%" height="100%" fill="#fff"/>', *lines])
    picture.write_text(f"{body}\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("learn")
    verb.add_argument("folder", type=pathlib.Path)
    verb.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    verb.add_argument("--seeds", type=int)
    verb.add_argument("--steps", type=int)
    verb.add_argument("--at-once", type=int, default=2)
    verb = verbs.add_parser("run")
    verb.add_argument("task", choices=TASKS)
    verb.add_argument("side", choices=SIDES)
    verb.add_argument("seed", type=int)
    verb.add_argument("steps", type=int)
    verb.add_argument("file", type=pathlib.Path)
    verb = verbs.add_parser("keep")
    verb.add_argument("folder", type=pathlib.Path)
    verb.add_argument("kept", type=pathlib.Path)
    verb = verbs.add_parser("draw")
    verb.add_argument("kept", type=pathlib.Path)
    verb.add_argument("picture", type=pathlib.Path)
    told = parser.parse_args()
    if told.verb == "learn":
        return learn(told.folder, told.tasks, told.seeds, told.steps, told.at_once)
    if told.verb == "keep":
        return keep(told.folder, told.kept)
    if told.verb == "draw":
        return draw(told.kept, told.picture)
    found = run(told.task, told.side, told.seed, told.steps)
    told.file.write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
