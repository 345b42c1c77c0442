#!/bin/sh
# deploy/slurm/moreau.sbatch under Debian's Slurm: a job of two nodes, of which one is lost, goes on with the other; and
# one that loses the node of its learner begins anew. Both: every bit as on a server of its own.
#   tests/slurm.sh FOLDER SERVER
# Wants root: both nodes are this machine, in namespaces of their own, so that a node can be killed as a whole.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
if [ "${3:-}" != inside ]; then
    "$source/deploy/packages" slurm
    mkdir -p "$1"
    exec unshare --net --mount --uts --pid --fork --kill-child --mount-proc "$0" "$(cd "$1" && pwd)" "$(realpath "$2")" inside
fi
folder=$1
export MOREAU_SERVER_BIN=$2 PYTHONPATH=$source/clients/python/src PYTHONDONTWRITEBYTECODE=1 MOREAU_PYTHON=/usr/bin/python3
rm -rf "$folder/run"
mkdir -p "$folder/run"
cd "$folder/run"

# Slurm takes no address of the loopback for a node's
hostname head
ip link set lo up
ip link add farm0 type veth peer name farm1
ip addr add 10.213.0.1/24 dev farm0
ip link set farm0 up
ip link set farm1 up
printf '127.0.0.1 localhost\n10.213.0.1 head node1 node2\n' > hosts
mount --bind hosts /etc/hosts

cat > slurm.conf <<END
ClusterName=farm
SlurmctldHost=head(10.213.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmctldLogFile=$folder/run/slurmctld.log
StateSaveLocation=$folder/run/state
SlurmdPidFile=$folder/run/%n.pid
SlurmdLogFile=$folder/run/%n.log
SlurmdSpoolDir=$folder/run/spool.%n
SlurmdParameters=config_overrides
SlurmdTimeout=8
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/linear
NodeName=node[1-2] NodeHostname=head NodeAddr=10.213.0.1 Port=[17001-17002] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/run/slurm.conf
head -c 1024 /dev/urandom > munge.key
chmod 400 munge.key

# a node is a namespace of processes: with its first one all die at once
start_node() { # NAME
    mkdir -p "spool.$1"
    unshare --pid --fork --kill-child --mount-proc slurmd -D -N "$1" 2> "$1.stderr" &
    eval "$1=$!"
}

await() { # SECONDS WHAT…: so long without anything of the learner's, which a busy machine may make slow
    patience=$1
    shift
    left=$patience
    seen=""
    until "$@"; do
        left=$((left - 1))
        now=$(cat at 2> at.stderr || true)
        [ "$now" = "$seen" ] || left=$patience
        seen=$now
        if [ "$left" -lt 0 ]; then
            echo "slurm: still not: $*" >&2
            sinfo -N -l >&2 || true
            scontrol show job >&2 || true
            tail -n 5 ./*.log ./slurm-*.out >&2 || true
            exit 1
        fi
        sleep 1
    done
}

both_idle() { [ "$(sinfo -h -N -o %T | grep -c '^idle$')" -eq 2 ]; }
has_begun() { [ -s at ] && [ "$(cut -d ' ' -f 1 at)" -ge 20 ]; }
is_done() { [ -s same ]; }
begin_now() { scontrol update "JobId=$1" StartTime=now 2> now.stderr || true; has_begun; }
submit() { sbatch --parsable --nodes=2 --cpus-per-task=1 "$source/deploy/slurm/moreau.sbatch" "$source/tests/engines/learner.py" "$PWD" 1500; }

munged --foreground --force --socket="$PWD/munge.socket" --key-file="$PWD/munge.key" --pid-file="$PWD/munge.pid" --log-file="$PWD/munge.log" \
    --seed-file="$PWD/munge.seed" > munge.stdout 2>&1 &
await 10 test -S munge.socket
mkdir state
slurmctld -D > slurmctld.stdout 2>&1 &
start_node node1
start_node node2
await 60 both_idle

job=$(submit)
await 60 has_begun
kill -9 "$node2"
await 120 is_done
grep -q '^lost: ' same
grep -q '^restored: ' same
[ "$(sinfo -h -n node2 -o %T | tr -d '*')" = down ] || { echo "slurm: node2 was not lost" >&2; exit 1; }
[ ! -e "moreau-$job.0/token" ]
echo "slurm: a job that loses a node goes on with the other"

rm at same
start_node node2
await 60 both_idle
job=$(submit)
await 60 has_begun
kill -9 "$node1"
rm at
sleep 1
start_node node1
await 180 begin_now "$job"
await 120 is_done
grep -q "moreau-$job.1" same
! grep -q '^lost: ' same
echo "slurm: a job that loses its learner begins anew"
