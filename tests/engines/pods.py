#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays the pods of deploy/kubernetes through, with the commands, probes and times that the manifests have: each is a
namespace of processes, mounts and network, with an address of its own, and what is ready is what the service's name
stands for. A fleet finds them by it, and steps on while one is deleted (preStop, drain, another pod with its volume)
and the server of one is killed (it is started again): every bit as on a server of its own.

    unshare --net --mount --pid --fork --kill-child --mount-proc tests/engines/pods.py MANIFEST SERVER FOLDER

Wants root, for the namespaces alone: the servers run as whom the manifest says.
"""

from __future__ import annotations

import base64
import os
import pathlib
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import yaml
from cart import CART, COUNT, LAYOUT, actions, same

import moreau_sim

NETWORK = "10.244.0"
PATIENCE_S = 120.0


def run(line: str) -> None:
    subprocess.run(shlex.split(line), check=True)


class Probe:
    """As kubelet asks: every periodSeconds, with timeoutSeconds; so many failures in a row are one."""

    def __init__(self, probe: dict, ports: dict[str, int]) -> None:
        self.path, self.port = probe["httpGet"]["path"], ports[probe["httpGet"]["port"]]
        self.period_s, self.timeout_s = probe.get("periodSeconds", 10), probe.get("timeoutSeconds", 1)
        self.failures_max = probe.get("failureThreshold", 3)
        self.failures, self.due = 0, 0.0

    def ask(self, address: str) -> bool | None:
        """None: not yet, or not often enough to say."""
        if time.monotonic() < self.due:
            return None
        self.due = time.monotonic() + self.period_s
        try:
            with urllib.request.urlopen(f"http://{address}:{self.port}{self.path}", timeout=self.timeout_s):
                self.failures = 0
                return True
        except (OSError, urllib.error.HTTPError):
            self.failures += 1
            return False if self.failures >= self.failures_max else None


class Pod:
    """One of a StatefulSet: name and volume stay, the address is another one for each."""

    def __init__(self, cluster: Cluster, name: str, address: str) -> None:
        self.cluster, self.name, self.address = cluster, name, address
        self.space = address.replace(".", "-")
        self.is_started = self.is_ready = self.is_leaving = False
        self.starts = 0
        self.log: list[str] = []
        run(f"ip netns add {self.space}")
        run(f"ip link add e{address.rsplit('.', 1)[1]} master pods type veth peer name eth0 netns {self.space}")
        run(f"ip link set e{address.rsplit('.', 1)[1]} up")
        for line in ("link set lo up", f"addr add {address}/24 dev eth0", "link set eth0 up"):
            run(f"ip -n {self.space} {line}")
        self._start()

    def _start(self) -> None:
        """The container."""
        container, user = self.cluster.container, self.cluster.template["securityContext"]
        self.probes = {name: Probe(container[name], self.cluster.ports) for name in ("startupProbe", "readinessProbe", "livenessProbe")}
        self.is_started = self.is_ready = False
        self.starts += 1
        mounts = ["mount -t tmpfs none /var/lib", "mount -t tmpfs none /run", "touch /run/moreau-server", f"mount --bind {shlex.quote(self.cluster.server)} /run/moreau-server"]
        for mount in container["volumeMounts"]:
            source, path = self.cluster.volume(mount["name"], self.name), mount["mountPath"]
            mounts += [f"mkdir -p {path}", f"mount --bind {shlex.quote(str(source))} {path}"]
            mounts += [f"mount -o remount,bind,ro {path}"] if mount.get("readOnly") else []
        if container["securityContext"]["readOnlyRootFilesystem"]:
            mounts += [f"mount -o remount,bind,ro {path}" for path in ("/run", "/var/lib", "/")]
        rights = ["setpriv", f"--reuid={user['runAsUser']}", f"--regid={user['runAsGroup']}", "--clear-groups"]
        rights += ["--bounding-set=-all", "--inh-caps=-all"] if container["securityContext"]["capabilities"]["drop"] == ["ALL"] else []
        rights += [] if container["securityContext"]["allowPrivilegeEscalation"] else ["--no-new-privs"]
        command = shlex.join([*rights, "/run/moreau-server", *container["args"]])
        spaces = f"ip netns exec {self.space} unshare --mount --pid --fork --kill-child --mount-proc sh -c"
        out = open(self.cluster.folder / f"{self.name}.{self.space}.{self.starts}.log", "w")
        self.process = subprocess.Popen([*spaces.split(), f"set -e; {'; '.join(mounts)}; exec {command}"], stdout=out, stderr=out)
        out.close()

    def signal(self, number: int) -> None:
        """To the container's first process."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            for pid in children.read().split():
                os.kill(int(pid), number)

    def tend(self) -> None:
        """What kubelet does now and then."""
        if self.process.poll() is not None and not self.is_leaving:
            self.log.append(f"ended with {self.process.returncode}, started again")
            self._start()
        if not self.is_started:
            answer = self.probes["startupProbe"].ask(self.address)
            self.is_started = answer is True
            if answer is False:
                raise AssertionError(f"{self.name} did not start: {self.probes['startupProbe'].failures} probes failed")
            return
        ready = self.probes["readinessProbe"].ask(self.address)
        self.is_ready = self.is_ready if ready is None else ready
        if self.probes["livenessProbe"].ask(self.address) is False and not self.is_leaving:
            raise AssertionError(f"{self.name} is alive no more")

    def delete(self) -> None:
        """preStop, SIGTERM, and SIGKILL where the grace is over."""
        ends = time.monotonic() + self.cluster.template["terminationGracePeriodSeconds"]
        self.is_leaving = True  # from here on the name does not stand for it
        self.cluster.publish()
        (kind, what), = self.cluster.container["lifecycle"]["preStop"].items()
        assert kind == "sleep", "the image has no program that preStop could run"
        until = time.monotonic() + what["seconds"]
        while time.monotonic() < until:
            assert self.process.poll() is None, "it went before it was told to"
            time.sleep(0.05)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(ends - time.monotonic())
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait()
            raise AssertionError(f"{self.name} had not ended when its grace was over") from None
        assert self.process.returncode == 0, f"{self.name} ended with {self.process.returncode}"
        run(f"ip netns delete {self.space}")


class Cluster:
    """Kubelet, the StatefulSet's controller and the name service, as far as this goes."""

    def __init__(self, manifest: str, server: str, folder: pathlib.Path) -> None:
        kinds = {one["kind"]: one for one in yaml.safe_load_all(pathlib.Path(manifest).read_text())}
        self.folder, self.server = folder, server
        self.set, self.service = kinds["StatefulSet"]["spec"], kinds["Service"]
        self.template = self.set["template"]["spec"]
        (self.container,) = self.template["containers"]
        self.ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        assert self.service["spec"]["clusterIP"] == "None" and self.service["metadata"]["name"] == self.set["serviceName"]
        assert self.set["podManagementPolicy"] == "Parallel" and self.template["securityContext"]["runAsNonRoot"]
        self.name = kinds["StatefulSet"]["metadata"]["name"]
        self.token = base64.b64encode(secrets.token_bytes(24)).decode()
        self.hosts = folder / "hosts"
        self.published = ["127.0.0.1 localhost"]
        self.hosts.write_text("127.0.0.1 localhost\n")
        run(f"mount --bind {self.hosts} /etc/hosts")
        run("mount -t tmpfs none /run")
        run("ip link set lo up")
        run("ip link add pods type bridge")
        run(f"ip addr add {NETWORK}.1/24 dev pods")
        run("ip link set pods up")
        self.given = 1
        self.lock = threading.Lock()
        self.failure: BaseException | None = None
        self.pods = [self._pod(f"{self.name}-{index}") for index in range(self.set["replicas"])]
        threading.Thread(target=self._tend, daemon=True).start()

    def _pod(self, name: str) -> Pod:
        self.given += 1
        return Pod(self, name, f"{NETWORK}.{self.given}")

    def volume(self, name: str, pod: str) -> pathlib.Path:
        """A claim is the pod's own, and stays with its name; a secret is everybody's. fsGroup may use both."""
        group = self.template["securityContext"]["fsGroup"]
        of_set = {claim["metadata"]["name"] for claim in self.set["volumeClaimTemplates"]}
        path = self.folder / (f"{name}-{pod}" if name in of_set else name)
        path.mkdir(exist_ok=True)
        os.chown(path, 0, group)
        path.chmod(0o2770)
        if name not in of_set:
            (secret,) = [one["secret"] for one in self.template["volumes"] if one["name"] == name]
            (path / "token").write_text(self.token + "\n")
            os.chown(path / "token", 0, group)
            (path / "token").chmod(secret["defaultMode"])
        return path

    def _tend(self) -> None:
        try:
            while True:
                with self.lock:
                    for pod in self.pods:
                        pod.tend()
                    self.publish()
                time.sleep(0.05)
        except BaseException as failure:
            self.failure = failure

    def ready(self) -> list[str]:
        return [pod.address for pod in self.pods if pod.is_ready and not pod.is_leaving]

    def publish(self) -> None:
        """All that are ready."""
        lines = ["127.0.0.1 localhost", *(f"{address} {self.set['serviceName']}" for address in self.ready())]
        if lines != self.published:
            self.hosts.write_text("\n".join(lines) + "\n")
            self.published = lines

    def replace(self, index: int) -> None:
        """A pod is deleted, and the controller makes another one of the same name."""
        pod = self.pods[index]
        pod.delete()
        new = self._pod(pod.name)
        with self.lock:
            self.pods[index] = new

    def await_ready(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while self.hosts.read_text().count("\n") < 1 + len(self.pods):
            self.check()
            assert time.monotonic() < until, f"{len(self.ready())} of {len(self.pods)} are ready"
            time.sleep(0.05)

    def check(self) -> None:
        if self.failure is not None:
            raise self.failure


class Learner:
    """Steps a fleet and a group, which must say the same."""

    def __init__(self, cluster: Cluster, fleet: moreau_sim.Fleet, group: moreau_sim.Group) -> None:
        self.cluster, self.fleet, self.group, self.call = cluster, fleet, group, 0
        same(fleet.reset(seed=3), group.reset(seed=3))

    def step(self) -> None:
        self.cluster.check()
        same(self.fleet.step(actions(self.call)), self.group.step(actions(self.call)))
        self.call += 1

    def until(self, is_so) -> None:
        until = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < until, [event.text for event in self.fleet.events][-8:]
            self.step()
            time.sleep(0.02)

    def until_joined(self, count: int) -> None:
        """Who is new is taken in, when the name stands for it."""

        def is_joined() -> bool:
            self.fleet.refresh()
            return len(self.fleet.servers.hosts) == count and min(host.worlds for host in self.fleet.servers.hosts) > 0

        self.until(is_joined)


def main(manifest: str, server: str, place: str) -> None:
    folder = pathlib.Path(place)
    cluster = Cluster(manifest, server, folder)
    count = cluster.set["replicas"]
    cluster.await_ready()
    where = f"dns:{cluster.set['serviceName']}:{cluster.ports['protocol']}"
    alone = moreau_sim.launch(server, workers=1)
    with (
        alone,
        alone.client() as client,
        moreau_sim.Fleet(where, CART, count=COUNT, shares=6, token=cluster.token, record="pods", lost_after_s=3.0, **LAYOUT) as fleet,
        moreau_sim.Group.create(client, CART, count=COUNT, **LAYOUT) as group,
    ):
        assert len(fleet.servers.hosts) == count
        learner = Learner(cluster, fleet, group)
        for _ in range(20):
            learner.step()

        print("one is deleted, and the learner has not been told", flush=True)
        first = cluster.pods[1]
        leaving = threading.Thread(target=cluster.replace, args=(1,))
        leaving.start()
        learner.until(lambda: not leaving.is_alive())
        assert cluster.pods[1] is not first and cluster.pods[1].address != first.address
        assert [event.kind for event in fleet.events].count("lost") == 1
        learner.until_joined(count)

        print("one is drained by its fleet, and then deleted", flush=True)
        second = cluster.pods[2]
        fleet.drain(f"{second.address}:{cluster.ports['protocol']}")
        leaving = threading.Thread(target=cluster.replace, args=(2,))
        leaving.start()
        learner.until(lambda: not leaving.is_alive())
        assert [event.kind for event in fleet.events].count("lost") == 1
        learner.until_joined(count)

        print("the server of one is killed", flush=True)
        third = cluster.pods[0]
        third.signal(signal.SIGKILL)
        learner.until(lambda: [event.kind for event in fleet.events].count("lost") == 2)
        learner.until(lambda: third.starts == 2 and third.is_ready)
        learner.until_joined(count)
        for _ in range(10):
            learner.step()
    for index in range(count):  # all go, each in its grace, and with 0
        cluster.pods[index].delete()
    cluster.check()
    # their volumes hold sound files, also of who was killed
    files = [str(found) for found in sorted(folder.glob("episodes-*/episodes.db"))]
    assert len(files) == count
    subprocess.run([server, "--merge", str(folder / "all.db"), *files], check=True)
    print("pods: 4 passed, 0 failed")


main(*sys.argv[1:])
