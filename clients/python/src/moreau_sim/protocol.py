# SPDX-License-Identifier: MIT
# Made from proto/moreau.proto by clients/python/generate.py: change these.
"""Every message of the protocol, as proto/moreau.proto has it, with its comments. A field that is None is
absent. Columns that are sent may be any sequence of numbers; those that come are arrays of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as _new
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._wire import Field, Kind, Message


@dataclass(slots=True, kw_only=True)
class Request(Message):
    """What a client sends."""

    id: int | None = None
    """chosen by the client, returned in the reply; unique among its requests in flight, and in a session that
    is resumable higher than every one before"""
    deadline_ms: int | None = None
    """[ms] from receipt; work stops between two steps once it has passed, Solve with what it has; default:
    none"""
    hello: Hello | None = None
    ping: Ping | None = None
    stats: Stats | None = None
    describe: Describe | None = None
    cancel: Cancel | None = None
    world_create: WorldCreate | None = None
    world_destroy: WorldDestroy | None = None
    world_list: WorldList | None = None
    world_add_materials: WorldAddMaterials | None = None
    world_add_shapes: WorldAddShapes | None = None
    world_add_bodies: WorldAddBodies | None = None
    world_add_joints: WorldAddJoints | None = None
    world_remove: WorldRemove | None = None
    world_get: WorldGet | None = None
    world_set: WorldSet | None = None
    world_step: WorldStep | None = None
    world_contacts: WorldContacts | None = None
    world_hash: WorldHash | None = None
    world_scene: WorldScene | None = None
    world_add_geometries: WorldAddGeometries | None = None
    world_ray_cast: WorldRayCast | None = None
    snapshot_take: SnapshotTake | None = None
    snapshot_read: SnapshotRead | None = None
    snapshot_upload: SnapshotUpload | None = None
    snapshot_restore: SnapshotRestore | None = None
    snapshot_clone: SnapshotClone | None = None
    snapshot_drop: SnapshotDrop | None = None
    group_create: GroupCreate | None = None
    group_reset: GroupReset | None = None
    group_step: GroupStep | None = None
    group_send: GroupSend | None = None
    group_receive: GroupReceive | None = None
    group_destroy: GroupDestroy | None = None
    group_list: GroupList | None = None
    group_opinions: GroupOpinions | None = None
    group_read: GroupRead | None = None
    group_save: GroupSave | None = None
    episode_start: EpisodeStart | None = None
    episode_stop: EpisodeStop | None = None
    episode_list: EpisodeList | None = None
    episode_describe: EpisodeDescribe | None = None
    episode_read: EpisodeRead | None = None
    episode_replay: EpisodeReplay | None = None
    episode_verify: EpisodeVerify | None = None
    episode_delete: EpisodeDelete | None = None
    episode_fork: EpisodeFork | None = None
    episode_compare: EpisodeCompare | None = None
    episode_touches: EpisodeTouches | None = None
    episode_pin: EpisodePin | None = None
    episode_backup: EpisodeBackup | None = None
    subscribe: Subscribe | None = None
    solve: Solve | None = None
    problem: Problem | None = None


@dataclass(slots=True, kw_only=True)
class Reply(Message):
    """What a server sends. `status` is always there; the result is there when the call was carried out,
    wholly or (a step stopped by its deadline, a batch in which a world failed) in part."""

    id: int | None = None
    """of the request; 0 when the frame could not be read that far"""
    status: Status | None = None
    server_ns: int | None = None
    """[ns] from receipt of the request to the start of encoding the reply"""
    event: bool | None = None
    """true: more replies to this request follow; default false"""
    welcome: Welcome | None = None
    pong: Pong | None = None
    stats: StatsReply | None = None
    describe: DescribeReply | None = None
    cancel: CancelReply | None = None
    world_create: WorldCreateReply | None = None
    world_destroy: WorldDestroyReply | None = None
    world_list: WorldListReply | None = None
    world_add: WorldAddReply | None = None
    """of AddMaterials, AddGeometries, AddShapes, AddBodies and AddJoints"""
    world_remove: WorldRemoveReply | None = None
    world_get: WorldGetReply | None = None
    world_set: WorldSetReply | None = None
    world_step: WorldStepReply | None = None
    world_contacts: WorldContactsReply | None = None
    world_hash: WorldHashReply | None = None
    world_scene: WorldSceneReply | None = None
    world_ray_cast: WorldRayCastReply | None = None
    snapshot_take: SnapshotTakeReply | None = None
    snapshot_read: SnapshotReadReply | None = None
    snapshot_upload: SnapshotUploadReply | None = None
    snapshot_restore: SnapshotRestoreReply | None = None
    snapshot_clone: SnapshotCloneReply | None = None
    snapshot_drop: SnapshotDropReply | None = None
    group_create: GroupCreateReply | None = None
    group_step: GroupStepReply | None = None
    """of GroupReset, GroupStep, GroupReceive and GroupRead"""
    group_send: GroupSendReply | None = None
    group_destroy: GroupDestroyReply | None = None
    group_list: GroupListReply | None = None
    group_opinions: GroupOpinionsReply | None = None
    group_save: GroupSaveReply | None = None
    episode_start: EpisodeStartReply | None = None
    episode_stop: EpisodeStopReply | None = None
    episode_list: EpisodeListReply | None = None
    episode_describe: EpisodeDescribeReply | None = None
    episode_read: EpisodeReadReply | None = None
    episode_replay: EpisodeReplayReply | None = None
    episode_verify: EpisodeVerifyReply | None = None
    episode_delete: EpisodeDeleteReply | None = None
    episode_fork: EpisodeForkReply | None = None
    episode_compare: EpisodeCompareReply | None = None
    episode_touches: EpisodeTouchesReply | None = None
    episode_pin: EpisodePinReply | None = None
    episode_backup: EpisodeBackupReply | None = None
    episode_frames: EpisodeFrames | None = None
    """event of EpisodeReplay"""
    episode_progress: EpisodeProgress | None = None
    """event of EpisodeVerify"""
    compare_progress: EpisodeProgress | None = None
    """event of EpisodeCompare: steps of the recording, which each variant takes too"""
    backup_progress: BackupProgress | None = None
    """event of EpisodeBackup"""
    touches_progress: EpisodeProgress | None = None
    """event of EpisodeTouches with `simulate`: steps of the episode"""
    subscribe: SubscribeReply | None = None
    live_frame: LiveFrame | None = None
    """event of Subscribe"""
    solve: SolveReply | None = None
    problem: ProblemReply | None = None


@dataclass(slots=True, kw_only=True)
class Status(Message):
    class Code(IntEnum):
        """The canonical gRPC codes, with the same numbers."""

        OK = 0
        """the call was carried out; worlds that failed in it are rows of `failures`"""
        CANCELLED = 1
        """by Cancel, or because the client is gone"""
        UNKNOWN = 2
        """never sent by this server"""
        INVALID_ARGUMENT = 3
        """a field is missing, malformed or out of range, whatever the state of the server"""
        DEADLINE_EXCEEDED = 4
        """`deadline_ms` passed; the result says how much was done"""
        NOT_FOUND = 5
        """an id that names nothing"""
        ALREADY_EXISTS = 6
        """a name, or the id of a request, that is taken"""
        PERMISSION_DENIED = 7
        """not allowed, whoever asks"""
        RESOURCE_EXHAUSTED = 8
        """a limit was reached; the message names it"""
        FAILED_PRECONDITION = 9
        """the state does not allow it: before Hello, a faulted world, another protocol major"""
        ABORTED = 10
        """given up half-way; nothing changed"""
        OUT_OF_RANGE = 11
        """steps that an episode does not have (EpisodeReplay, EpisodeVerify, EpisodeCompare)"""
        UNIMPLEMENTED = 12
        """a call this server does not know"""
        INTERNAL = 13
        """a bug of the server; please report it"""
        UNAVAILABLE = 14
        """the server is shutting down"""
        DATA_LOSS = 15
        """stored data is damaged, or the reply to a repeated request is not kept any more"""
        UNAUTHENTICATED = 16
        """the token is missing or wrong"""

    code: Status.Code | None = None
    message: str | None = None
    """a sentence a person can act on"""
    field: str | None = None
    """path of the offending field inside the call, as bodies[3].shapes[0].sphere.radius"""
    world: int | None = None
    """the world concerned, if one is"""
    step: int | None = None
    """the step concerned, if one is"""
    recoverable: bool | None = None
    """true: the same request may succeed later; the connection stays usable either way"""


@dataclass(slots=True, kw_only=True)
class Hello(Message):
    """First request of every connection."""

    protocol_major: int | None = None
    """required in effect: 1; any other is refused, and the connection closed"""
    protocol_minor: int | None = None
    """any; default 0"""
    client: str | None = None
    """name of the program, for logs and episodes; default "" """
    token: str | None = None
    """where the server demands one: its token (option --token-file), which may do everything to every world,
    or one of those in its file (option --tokens), each with rights of its own. On a Unix socket whoever shows
    none is the user that he comes as. Without TLS it travels in the clear"""
    resume: str | None = None
    """Welcome.session of a lost connection, to take its worlds over within the grace time"""
    resumable: bool | None = None
    """true: this client comes back after a lost connection and repeats what is unanswered, so its requests go
    on without it and their replies are kept; default false: they stop between two steps"""


@dataclass(slots=True, kw_only=True)
class Welcome(Message):
    server_version: str | None = None
    dynamics_version: int | None = None
    """rises whenever the same inputs may give other bits"""
    protocol_major: int | None = None
    protocol_minor: int | None = None
    session: str | None = None
    """to be shown in Hello.resume"""
    limits: list[Limit] = _new(default_factory=list)
    """of these three: what they mean is left to Describe where a frame would not hold it"""
    calls: list[CallInfo] = _new(default_factory=list)
    solvers: list[SolverInfo] = _new(default_factory=list)
    last_id: int | None = None
    """highest id of the requests received in this session; 0: none"""
    build: str | None = None
    """compiler and machine, as "gcc 12.2.0, x86_64, RelWithDebInfo" """
    golden: bool | None = None
    """false: this build computes other bits than others of its dynamics version (a compiler that fuses or
    reorders), so it records and verifies nothing"""
    http: str | None = None
    """HOST:PORT where --http listens, as the server knows it, behind https:// where it speaks TLS; absent:
    nowhere"""
    lanes: int | None = None
    """that step worlds at the same time (option --workers)"""
    instance: int | None = None
    """random, of this start of the server: the same by two addresses is one server; another than before, it
    was restarted"""
    db: str | None = None
    """the file of episodes, on the server's machine; absent: it has none"""
    token: str | None = None
    """whose token was shown, by the name in the server's file; absent: it has none"""
    rights: list[str] = _new(default_factory=list)
    """that it has now: watch, step, record, delete, admin, which stands for all"""
    namespace: str | None = None
    """of what it makes; what is another's does not exist for it, but for admin"""


@dataclass(slots=True, kw_only=True)
class Limit(Message):
    """A limit of this server. Every one has an option of the same name."""

    name: str | None = None
    value: int | None = None
    unit: str | None = None
    meaning: str | None = None


@dataclass(slots=True, kw_only=True)
class CallInfo(Message):
    name: str | None = None
    """METHOD of `moreau call`, as WorldStep"""
    field: int | None = None
    """its number in Request"""
    mutates: bool | None = None
    """changes a world"""
    meaning: str | None = None
    rights: list[str] = _new(default_factory=list)
    """that its token must have, all of them; PERMISSION_DENIED else. None: anybody's"""


@dataclass(slots=True, kw_only=True)
class SolverInfo(Message):
    name: str | None = None
    meaning: str | None = None
    parameters: list[ParameterInfo] = _new(default_factory=list)


@dataclass(slots=True, kw_only=True)
class ParameterInfo(Message):
    name: str | None = None
    """field of the solver's parameter message"""
    unit: str | None = None
    """"1" for a pure number"""
    minimum: float | None = None
    """inclusive; this and the next three: absent: 0"""
    maximum: float | None = None
    """inclusive"""
    default_value: float | None = None
    """in a world"""
    solve_default: float | None = None
    """in the call Solve, where time matters less"""
    choices: list[str] = _new(default_factory=list)
    """not empty: value k means choices[k]"""
    meaning: str | None = None


@dataclass(slots=True, kw_only=True)
class Ping(Message):
    payload: int | None = None
    """returned as it came"""


@dataclass(slots=True, kw_only=True)
class Pong(Message):
    payload: int | None = None


@dataclass(slots=True, kw_only=True)
class Stats(Message):
    worlds: bool | None = None
    """also one row per world; default false"""


@dataclass(slots=True, kw_only=True)
class StatsReply(Message):
    uptime_s: float | None = None
    lanes: int | None = None
    """worker threads for short work (option --workers); as many are for long"""
    lane_steps: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """world steps done since the start by each lane, then by each long lane"""
    connections: int | None = None
    world_count: int | None = None
    requests: int | None = None
    """since the start"""
    steps: int | None = None
    """world steps since the start"""
    unconverged_steps: int | None = None
    faulted_worlds: int | None = None
    slow_clients: int | None = None
    """cut since the start: they did not read their replies"""
    bytes_in: int | None = None
    bytes_out: int | None = None
    world_bytes: int | None = None
    """memory of all worlds, groups, snapshots, replays, verifications and batches"""
    worlds: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """with Stats.worlds: id …"""
    bytes_of_world: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """… and memory of each"""
    bodies: int | None = None
    """of all worlds, as WorldInfo counts them"""
    contacts: int | None = None
    requests_under_way: int | None = None
    failed_requests: int | None = None
    """answered with a status other than OK"""
    faulted_steps: int | None = None
    """steps that would not have been finite, and were not taken"""
    jobs: int | None = None
    """handed to the lanes and not finished"""
    waiting_worlds: int | None = None
    """have work and wait for a lane"""
    timed_steps: int | None = None
    """steps whose solver was timed: all long ones, some of the short"""
    solver_time: float | None = None
    """[s] of those together"""
    put_aside: int | None = None
    """steps and solves too long for a lane, begun again on a long lane"""
    kept_bytes: int | None = None
    """replies kept for clients that may come back, of all sessions"""
    player_bytes: int | None = None
    """of world_bytes: episodes being read, replayed or verified"""
    groups: int | None = None
    group_worlds: int | None = None
    """of all groups; they are not among `world_count`"""
    opinions: int | None = None
    """steps of groups that were solved again (GroupOpinion) …"""
    opinions_open: int | None = None
    """… of which the exact answer was not found"""
    opinions_waiting: int | None = None
    """to be solved again, of groups that are there"""
    log_bytes: int | None = None
    """of the file of episodes, with its write-ahead log"""
    recordings: int | None = None
    """under way: of worlds, and of groups"""
    tokens: list[TokenUse] = _new(default_factory=list)
    """of a server with --tokens: one's own; for admin all"""


@dataclass(slots=True, kw_only=True)
class TokenUse(Message):
    """What a token has of what it may have (the server's file of tokens): a limit that is absent is none."""

    name: str | None = None
    namespace: str | None = None
    sessions: int | None = None
    worlds: int | None = None
    """those of groups too"""
    worlds_max: int | None = None
    bytes: int | None = None
    """of worlds, groups and snapshots"""
    bytes_max: int | None = None
    requests: int | None = None
    """under way"""
    requests_max: int | None = None
    log_bytes: int | None = None
    """of its namespace, in the file, as counted when it last began a recording or deleted an episode under
    such a limit, and what it has recorded since"""
    log_bytes_max: int | None = None
    episodes: int | None = None
    episodes_max: int | None = None
    lanes: int | None = None
    """that step and solve for it now, where lanes_max is there"""
    lanes_max: int | None = None
    """beyond it calls wait, and none is refused"""
    refused: int | None = None
    """since the server's start: as one of these limits was in the way"""


@dataclass(slots=True, kw_only=True)
class Describe(Message):
    """What the server is able to: rows of one list, first all limits, then calls, solvers and fields."""

    first: int | None = None
    """row; default 0"""
    count: int | None = None
    """default: all the rest, or as much as a frame holds"""


@dataclass(slots=True, kw_only=True)
class DescribeReply(Message):
    limits: list[Limit] = _new(default_factory=list)
    calls: list[CallInfo] = _new(default_factory=list)
    solvers: list[SolverInfo] = _new(default_factory=list)
    fields: list[FieldInfo] = _new(default_factory=list)
    total: int | None = None
    """rows of all four: those that did not come are asked for with `first`"""


@dataclass(slots=True, kw_only=True)
class FieldInfo(Message):
    """A checked number of the protocol: what the server refuses outside of."""

    path: str | None = None
    """message and field, as WorldSettings.time_step"""
    unit: str | None = None
    minimum: float | None = None
    """absent: 0"""
    maximum: float | None = None
    exclusive: bool | None = None
    """the minimum itself is refused; absent: false"""
    meaning: str | None = None


@dataclass(slots=True, kw_only=True)
class Cancel(Message):
    request: int | None = None
    """id of a request of this connection; it stops between two steps"""


@dataclass(slots=True, kw_only=True)
class CancelReply(Message):
    found: bool | None = None
    """false: it was answered already, or never sent"""


@dataclass(slots=True, kw_only=True)
class WorldSettings(Message):
    """Numbers that belong to a world as a whole. In WorldSet, what is absent stays as it is."""

    class ContactPlane(IntEnum):
        APPROACH = 0
        """Of the free motion of the step: where the bodies first touch along it, or, where they miss each
        other, a plane that the motion does not cross. What misses is not touched, and what something else
        pushes is still held. The impulse acts where the bodies meet, so two bodies keep their angular
        momentum about that place, not about where they were when the step began."""
        START = 1
        """Of where the bodies are at the start of the step, as the papers have it: fast bodies that pass each
        other may touch."""

    gravity: ArrayLike | None = None
    """3 [m/s^2], each within +-1e6; default 0 0 -9.81"""
    time_step: float | None = None
    """[s] 1e-9 … 10; default 1/240"""
    margin: float | None = None
    """[m] 0 … 10: contacts enter this much before the reach demands; default 0.001"""
    restitution_threshold: float | None = None
    """[m/s] 0 … 1e6: slower impacts do not bounce; default 0.05"""
    solver: str | None = None
    """by name; default mdp"""
    parameters: SolverParameters | None = None
    """of that solver; switching the solver sets its defaults first"""
    integrator: Integrator.Kind | None = None
    """default SYMPLECTIC"""
    rotation: Rotation.Kind | None = None
    """default MIDPOINT"""
    recovery_speed: float | None = None
    """[m/s] 0 … 1e9: overlaps leave no faster; 1e9: as fast as the solver has it; default 1, at which what
    comes out of an overlap rises 5 cm at most on earth, and overlaps below 21 mm (at 240 Hz and
    overlap_correction 0.2) leave as they would anyway"""
    contact_plane: WorldSettings.ContactPlane | None = None
    """where a contact's plane is taken from; default APPROACH"""
    bounds: Bounds | None = None
    """outside of which dynamic bodies are removed; default none. In WorldSet: absent leaves them as they are,
    an empty message takes them away"""
    sleep_speed: float | None = None
    """[m/s] 0 … 1e6: what is slower for sleep_time falls asleep, as below; default 0: nothing does. 0.05
    suits bodies of centimetres to metres on earth"""
    joint_projection: bool | None = None
    """joints of rows are brought together after every step, to 1e-10 m and rad, by the least motion of their
    bodies, whose velocities stay; without, what a step leaves, some h^2, is taken back by the next ones;
    default false"""
    sleep_time: float | None = None
    """[s] 0 … 1e6; default 0.5; no effect where sleep_speed is 0"""
    effort: Effort.Kind | None = None
    """what a step may cost; default BALANCED"""
    friction_rule: FrictionRule.Kind | None = None
    """what two materials' frictions make of a pair's; default GEOMETRIC"""
    fluid_density: float | None = None
    """[kg/m^3] 0 … 1e6: of a fluid that stands still and fills the world; default 0. It holds every dynamic
    body back as the box of its mass and inertia, with edges b and principal axes i, j, k: -density/2 b_j b_k
    |v_i| v_i along each, v of the centre of mass, and -density/64 b_i (b_j^4 + b_k^4) |w_i| w_i about it.
    Bodies weigh in it what they weigh"""
    fluid_viscosity: float | None = None
    """[Pa s] 0 … 1e9, likewise: -3 pi d viscosity v and -pi d^3 viscosity w, d the mean of the edges; default
    0"""
    substeps: int | None = None
    """1 … 16: what is in the way is found once in a step, then the law is applied so many times, each for its
    share of time_step and from where the time before has come to; default 1. More leave places and overlaps
    nearer to the truth where bodies land or move fast, at more work than as many more sweeps: each is solved
    as a step of its own is, with all of the solver's parameters. What is told of a step is of all of them:
    impulses are added up, certificates are the worst, over the velocity scale of the whole step; contacts,
    and the problem, are those of the last"""


@dataclass(slots=True, kw_only=True)
class Effort(Message):
    """What a step may cost, in sweeps of its own problem: over every contact and row once. Of solver mdp with
    method auto; other methods and solvers are bounded by their own parameters. Every island has its share,
    and leaves when it meets the tolerance; what it leaves goes to the island that is furthest from it."""

    class Kind(IntEnum):
        EXACT = 0
        """to the end: sweeps, then Newton's method within the parameter `budget`. A step may take a hundred
        times as long as one that is balanced, and is certified wherever that can be had. What Solve takes,
        and the second opinion"""
        BALANCED = 1
        """100 sweeps with momentum, or what takes as long. An island of at most 128 contacts and rows is
        solved as under EXACT, for all of them within some ten milliseconds a step; what that takes beyond 100
        sweeps the world owes, in steps of so many. While it owes 32 or more such islands have no more than
        100 sweeps, or, where others leave over what that needs, Newton's method. A larger island that rests,
        none of its contacts moving faster than 4 g h, may borrow 30 factorisations of Newton's method where
        nothing is owed; where it was in vain, two, four or eight times as many steps are. A step pays one
        back, and never are more than 64 owed (StepReports.owed_steps). Never a larger residual than FAST from
        the same state"""
        FAST = 2
        """the first 8 of these sweeps: for learning, and for worlds too large for more"""



@dataclass(slots=True, kw_only=True)
class Bounds(Message):
    """A box in world axes. A dynamic body whose centre of mass is outside of it when a step ends is removed
    as the last part of that step (one on a face stays), also one that was put there from outside; static and
    kinematic bodies stay wherever they are. What is removed is gone from every call, its id is never given
    again and is refused by those that name it, and wrenches on it end. The step's own report and contacts
    still tell of it, and its energy stands in `after` of that step and no longer in `before` of the next. A
    recording needs no word of it: stepping it again removes the same bodies in the same steps. A tree of
    joints leaves as one, when the centre of mass of its root does: of the body that hangs on the world or on
    no joint of coordinates. Joints that hold a body that leaves go with it, of rows too, and gears and
    tendons that couple one of them."""

    lower: ArrayLike | None = None
    """3 [m], each within +-1e9: a face at 1e9 is as good as none"""
    upper: ArrayLike | None = None
    """3 [m], each above its lower one; lower and upper come together"""


@dataclass(slots=True, kw_only=True)
class Integrator(Message):
    """How velocities become positions: v0 and v1 are a body's velocities before and after the step, h its
    length. Gravity and wrenches are held constant for a step, in world axes, so v1 = v0 + h F/m under all of
    them where nothing touches; contacts change v1 further. What moves the positions turns the orientations as
    well: q <- normalise(q (1, h w/2)), w in the body's axes. The force of a spring of a joint, of stiffness
    k, stretch q and rate v0, is -k (q + h (o v0 + c (v1 - v0))), dampers and drives are taken at v1 and its
    place (midpoint: halfway, or where a step would bring them beyond their target, as late as brings them
    there; explicit: at the begin): SYMPLECTIC o = 0 and c = 1/4 up to w h = 0.3: the energy swings by w h/2
    of itself within a period and stays. From there to w h = 1 both rise smoothly to 1: what a step does not
    resolve is damped and comes to rest, however stiff. w^2 = k m, m what a unit impulse along the axis
    changes its rate by: of coordinates with all of the tree free to give way, of rows with the two bodies and
    what the joint locks MIDPOINT o = 1/2, c = 1/4: keeps the energy IMPLICIT o = c = 1: loses some w h of it
    in a radian EXPLICIT o = c = 0: gains as much"""

    class Kind(IntEnum):
        SYMPLECTIC = 0
        """by v1. First order, energy of free flight off by m g^2 h^2/2 a step; what the contact solvers
        promise about gaps holds exactly"""
        EXPLICIT = 1
        """by v0. First order, gains energy; contacts act a step late: for comparisons"""
        IMPLICIT = 2
        """by v1, with forces that depend on the state taken at the end of the step; those of free bodies do
        not, and the bits are those of SYMPLECTIC"""
        MIDPOINT = 3
        """by (v0 + v1)/2. Second order; free flight and rotation exact in energy and momentum, with rotation
        = MIDPOINT. A body that comes to a stop at a contact moves on by half its old velocity: impacts sink
        in and bounce, and keep the angular momentum to first order only. For flight, sticking and rolling"""
        RK4 = 4
        """Fourth order where nothing touches. Trees by the four stages of Runge and Kutta on their
        coordinates, three turns by Munthe-Kaas; free bodies by three steps of the midpoint rule (Yoshida),
        which keep energy and angular momentum, with rotation = MIDPOINT (of trees the stages take the
        gyroscopic torque as it is). What a contact, a limit or another row pushes, of any impulse, moves by
        v1 in that step, as under SYMPLECTIC. So do trees that the stages do not resolve: of which springs,
        dampers and drives, w^2 h^2 and h times what slows a rate added up, come to more than 1, a link turns
        by more than half a radian in a step, or the stages do not agree; what is too stiff for the step stays
        implicit. Springs of rows are those of SYMPLECTIC. A base that turns, which is moved, is followed to
        second order"""
        VERLET = 5
        """Second order and symplectic where nothing touches: energies swing for ever by what they swing by at
        first. Trees by the variational integrator of Störmer and Verlet on their coordinates, three turns by
        Cayley's rotation; dampers are taken at the velocity in between, and stay stable; free bodies as under
        MIDPOINT, with rotation = MIDPOINT. All else as under RK4"""



@dataclass(slots=True, kw_only=True)
class Rotation(Message):
    """How the gyroscopic torque of a body that is not round changes its spin."""

    class Kind(IntEnum):
        MIDPOINT = 0
        """taken at the mean spin of the step (Euler's equations by the implicit midpoint rule): energy and
        the magnitude of the angular momentum stay as they are, whatever the integrator. Its direction stays
        under integrator MIDPOINT, and sways under the others by about half the angle of a step (0.024 rad for
        a brick at 10 rad/s and 240 Hz). Beyond some 2 rad per step a body may keep its spin for the step
        instead"""
        EXPLICIT = 1
        """taken at the spin before the step, as in the papers: gains energy: within 10 s up to 2.8 times what
        a brick of 1:2:4 at 10 rad/s had, at 240 Hz"""
        IMPLICIT = 2
        """taken at the spin after the step (implicit Euler): loses energy"""



@dataclass(slots=True, kw_only=True)
class SolverParameters(Message):
    """Parameters of the contact solvers, each in a message of its own. Ranges, defaults and meanings:
    Describe."""

    mdp: MdpParameters | None = None
    lcp: LcpParameters | None = None
    ccp: CcpParameters | None = None
    sap: SapParameters | None = None
    compliant: CompliantParameters | None = None


@dataclass(slots=True, kw_only=True)
class MdpParameters(Message):
    """Maximum dissipation principle, Gauss-Seidel over contacts (Preclik, Eibl, Ruede)."""

    class Friction(IntEnum):
        MAXIMUM_DISSIPATION = 0
        """the paper's: slip lies in the plane of maximum compression; a cube slides at 0.98 of its friction
        angle"""
        COULOMB = 1
        """exact: slip lies in the contact's plane, friction opposes it"""

    class Method(IntEnum):
        GAUSS_SEIDEL = 0
        """sweeps, one contact after the other; many are needed where much rests on much"""
        NEWTON = 1
        """the contacts of an island together, by factorisations of a sparse system, to any tolerance where it
        succeeds"""
        AUTO = 2
        """no more than 30 sweeps (240 where only balls touch), then the islands that have not come as under
        NEWTON, from where they are, the small ones first, with `budget` for all of them; what that is too
        small for goes on with sweeps; no state beside the impulses that a step starts from"""

    tolerance: float | None = None
    """e_own at which a step counts as converged; 1e-15 … 1; default 1e-6"""
    max_iterations: int | None = None
    """sweeps; 1 … 10,000,000; default 200 in a world, 100,000 in Solve. NEWTON: factorisations for one
    island, of which it makes no more than 6,000; AUTO: sweeps of an island that its budget is too small for;
    a report's iterations are sweeps and factorisations together"""
    friction: MdpParameters.Friction | None = None
    """default COULOMB"""
    overlap_correction: float | None = None
    """share of an overlap that a step removes; 0 … 1; default 0.2; no effect in Solve"""
    warm_start: bool | None = None
    """start from the previous step's impulses; default true"""
    method: MdpParameters.Method | None = None
    """default AUTO"""
    acceleration: bool | None = None
    """sweeps in coloured order, with momentum from one to the next and leaps; false: the paper's own, contact
    after contact in the order of the problem, and nothing between two sweeps; default true"""
    partitions: int | None = None
    """with acceleration false: parts that an island is cut into, no more than it has bodies, for the paper's
    blend: Gauss-Seidel inside a part, Jacobi between parts. Bodies in breadth-first order over the contacts,
    in runs of one length; a contact is of the first part that it touches; 1 … 1,000,000; default 1:
    Gauss-Seidel alone"""
    relaxation: float | None = None
    """with acceleration false: the share of a sweep's change that an island of several parts takes; 0.01 … 1;
    default 0.75"""
    budget: float | None = None
    """AUTO: multiplications, about, that one step may spend on factorisations and what goes with them, for
    all islands together; an island is only begun where 20 factorisations of it fit; 1e9 take some 0.4 s; 0 …
    1e15; default 1e9 in a world, 5e9 in Solve; 0: none, sweeps alone. After four steps on end that spent it
    in vain one has a thirty-second of it, after the next two, then four, … 64; other settings start anew.
    Sweeps under any METHOD, and NEWTON, end with BUDGET_ENDED after so many operations, too, but not before
    5e9"""


@dataclass(slots=True, kw_only=True)
class LcpParameters(Message):
    """Polyhedral friction cone and gaps that are met at the end of the step, Lemke's algorithm island by
    island (Stewart, Trinkle). Exact up to rounding; the time of an island grows with the third power of its
    contacts."""

    tolerance: float | None = None
    """e_own at which a step counts as converged; 1e-15 … 1; default 1e-6"""
    max_iterations: int | None = None
    """pivots for one complementarity problem; 1 … 10,000,000; default 100,000"""
    directions: int | None = None
    """edges of the friction cone, the first along the contact's first tangent, which is the world's choice
    (frame of WorldContactsReply): friction between two edges depends on where they are, and spins with it, by
    first order in 1 / directions; even, 4 … 128; default 8"""
    passes: int | None = None
    """how often a step takes its contacts anew where the bodies come to; 1 … 1000; 1: planes as they are at
    the start; default 20 in a world; no effect in Solve, which has no geometry"""
    max_rows: int | None = None
    """rows of one complementarity problem: directions + 2 per contact with friction that an island's step
    needs, 1 without; 1 per row of a joint, 2 where it has two bounds; more are RESOURCE_EXHAUSTED; 1 …
    20,000; default 2,000"""
    warm_start: bool | None = None
    """try the basis of the previous step first, which is taken where it solves this one; default true"""
    budget: float | None = None
    """operations of a step or Solve, about, most of them on entries of tableaux: 5e9 take some 2 s. Small
    islands are solved first, and each island has a share kept for it; one that has spent what it may ends
    with its best so far, BUDGET_ENDED; 0 … 1e15; default 5e9"""


@dataclass(slots=True, kw_only=True)
class CcpParameters(Message):
    """Contacts with friction and rows as one cone complementarity problem, the optimality conditions of a
    convex program (Negrut, Serban, Tasora). Velocities are unique whatever is redundant; a contact that
    slides glides at mu h times its speed above the ground, and is thrown there where it began lower."""

    class Method(IntEnum):
        INTERIOR_POINT = 0
        """few factorisations of a sparse system, the last digits by Newton's method; to any tolerance"""
        GAUSS_SEIDEL = 1
        """sweeps in which each contact is solved exactly"""
        APGD = 2
        """projected gradients with momentum; nothing is factored"""
        BARZILAI_BORWEIN = 3
        """projected gradients with spectral steps; nothing is factored"""

    class Coulomb(IntEnum):
        RELAXED = 0
        """the paper's convex problem"""
        EXACT = 1
        """Coulomb's law, by one convex problem after the other, each lowered by what slid in the one before,
        and by Newton's method where that does not come: nothing glides and nothing is thrown"""

    tolerance: float | None = None
    """e_own at which a step counts as converged; 1e-15 … 1; default 1e-6"""
    max_iterations: int | None = None
    """factorisations for one island, or sweeps, or projected gradients; 1 … 10,000,000; default 100 in a
    world, 10,000 in Solve"""
    compliance: float | None = None
    """alpha [m/N] of contacts: alpha / h^2 on the diagonal of the program; 0 … 1e6; default 0: rigid"""
    warm_start: bool | None = None
    """start from the previous step's impulses, where they leave less than none would; default true"""
    method: CcpParameters.Method | None = None
    """default INTERIOR_POINT"""
    coulomb: CcpParameters.Coulomb | None = None
    """default RELAXED"""
    budget: float | None = None
    """operations of a step or Solve, about, as LcpParameters.budget; 0 … 1e15; default 5e9"""


@dataclass(slots=True, kw_only=True)
class SapParameters(Message):
    """Compliant contact with stiffness and dissipation time, and regularised friction: one convex problem for
    each island, by Newton's method (Castro, Permenter, Han). Velocities are unique whatever is redundant."""

    class Friction(IntEnum):
        CONVEX = 0
        """the paper's: a contact that slides glides at mu (h + dissipation time) times its speed above the
        ground, and is thrown there where it began lower"""
        LAGGED = 1
        """bounded by mu times the normal impulse that the same contact had in the step before, 0 where it is
        new: nothing glides; friction comes, and goes, a step late. In Solve the impulse is that of
        warm_contacts"""

    class Method(IntEnum):
        AUTO = 0
        """Newton's method in impulses; where that does not come, and it may not, as under NEWTON"""
        NEWTON = 1
        """the paper's: in velocities, with an exact line search, which always comes"""

    tolerance: float | None = None
    """the momentum balance, and e_own, at which a step counts as converged; 1e-15 … 1; default 1e-6"""
    max_iterations: int | None = None
    """Newton steps of one island; 1 … 10,000,000; default 100 in a world, 1,000 in Solve"""
    friction: SapParameters.Friction | None = None
    """default CONVEX"""
    beta: float | None = None
    """contacts stiffer than a step can tell are made to swing once in beta steps: R_n is at least beta^2 w /
    (4 pi^2); 0 … 100; default 1"""
    sigma: float | None = None
    """friction that sticks creeps by R_t = sigma w times its impulse; 1e-10 … 1; default 1e-3"""
    row_beta: float | None = None
    """beta of joints, limits and motors; 0 … 100; default 0.1"""
    stiffness_default: float | None = None
    """[N/m] of contacts that bring none; 0 … 1e18; default 0: as stiff as beta lets them be"""
    warm_start: bool | None = None
    """start from the previous step's impulses, where they are better than none; default true"""
    method: SapParameters.Method | None = None
    """the way to the same answer; default AUTO"""
    budget: float | None = None
    """operations of a step or Solve, about, as LcpParameters.budget; 0 … 1e15; default 5e9"""


@dataclass(slots=True, kw_only=True)
class CompliantParameters(Message):
    """Springs and dampers, one for each contact and joint, integrated implicitly, with Coulomb friction
    (Drumwright). However stiff they are, the velocities keep their digits. Stiffness and damping are those of
    the materials; in Solve, contact_stiffness and contact_damping, and those of rows. A row without a gap
    (motor, dry friction: a velocity row) is a damper alone, R = 1 / (h B): its stiffness does not enter."""

    class Activation(IntEnum):
        PREDICTIVE = 0
        """whatever is within reach may push: what is there at the end of the step decides"""
        CONTACT = 1
        """what does not overlap as the step begins does not push in it, as in the paper: blunts and throws
        where steps are large"""

    class Gdot(IntEnum):
        OFF = 0
        """no such terms"""
        ON = 1
        """the paper's terms of a Jacobian that changes, literally, of normals and rows (and of tangents,
        where friction is PRINTED), so that it can be studied: a pendulum gains energy at 0.03 s. In Solve
        they are contact_gdot and row_gdot"""

    class Friction(IntEnum):
        COULOMB = 0
        """Coulomb's law"""
        PRINTED = 1
        """the paper's friction program, literally, so that it can be studied. It is not Coulomb's law, nor
        the law of springs: normal forces grow to gain friction, and what slides is lifted and hops. The
        certificate claims the program, and shows how far from Coulomb it is. Rows that are bounded from both
        sides are friction of that bound"""

    tolerance: float | None = None
    """e_own at which a step counts as converged; 1e-15 … 1; default 1e-6"""
    max_iterations: int | None = None
    """Newton steps of one island, those of staggered sweeps among them; 1 … 10,000,000; default 500 in a
    world, 2,000 in Solve"""
    tangential_damping: float | None = None
    """[N s/m] B_t: friction that holds creeps at its force over this; 1e-6 … 1e18; default 1e8"""
    stiffness_default: float | None = None
    """[N/m] of contacts, and joints, that bring none; 0 … 1e18; default 1e9 in a world; in Solve 0: none, and
    a problem that lacks one is INVALID_ARGUMENT, naming it"""
    activation: CompliantParameters.Activation | None = None
    """default PREDICTIVE"""
    warm_start: bool | None = None
    """start from the previous step's impulses, where they are better than none; default true"""
    gdot: CompliantParameters.Gdot | None = None
    """default OFF"""
    friction: CompliantParameters.Friction | None = None
    """default COULOMB"""
    zeta: float | None = None
    """what squares of normal forces weigh in the printed program, beside those of friction; 0 … 1e30; default
    0: 1 / time_step, as printed"""
    budget: float | None = None
    """operations of a step or Solve, about, as LcpParameters.budget; 0 … 1e15; default 5e9"""


@dataclass(slots=True, kw_only=True)
class Body(Message):
    """Messages without fields, here and below, only give their enums a scope, so that `STATIC` and `SPHERE`
    do not stand alone in languages where enum values share a name space."""

    class Kind(IntEnum):
        DYNAMIC = 0
        """moves by forces; what a body is that says nothing"""
        KINEMATIC = 1
        """moves by its own velocity, and pushes"""
        STATIC = 2
        """never moves"""



@dataclass(slots=True, kw_only=True)
class Primitive(Message):
    """Two primitives of two bodies collide when each is in a group that the other collides with, whichever is
    asked first: (group_a & mask_b) != 0 and (group_b & mask_a) != 0 `group` has a bit for each of the 32
    groups that a primitive is in (default 1: the first), `mask` one for each that it collides with (default
    all). So everything collides with everything, unless it is told otherwise; group 0, or mask 0, touches
    nothing. What does not collide neither makes contacts nor covers faces; its mass counts all the same."""

    class Kind(IntEnum):
        SPHERE = 0
        """size: radius, 0, 0"""
        BOX = 1
        """size: half extents along x, y, z"""
        PLANE = 2
        """half-space below z = 0 of its local frame; size 0 0 0; static bodies only"""
        CAPSULE = 3
        """what is within a radius of a segment along local z, which the origin halves; size: radius, half the
        segment, 0"""
        CYLINDER = 4
        """what is within a radius of that segment, between the planes across its ends; size: radius, half the
        height, 0"""
        HULL = 5
        """a convex polyhedron: it wears a geometry, in that one's axes; size 0 0 0"""
        MESH = 6
        """triangles: likewise; static and kinematic bodies only"""
        HEIGHT_FIELD = 7
        """ground: likewise"""



@dataclass(slots=True, kw_only=True)
class Joint(Message):
    """What of the motion of one body, b, against another, a, is left free: a set of axes of a frame in a.
    Each joint has a frame in either body, and pose of b's frame = pose of a's frame . moves . turns Turns
    about one axis have one position number, the angle; about two, two angles, the first about an axis of a's
    frame, the second about one of b's; about three, four: a unit quaternion, w x y z. Velocity numbers are
    one per axis: rates of the moves in a's frame, rates of the angles, or, of three turns, the angular
    velocity of b against a in b's frame. Numbers of one joint stand in the order of Joint.Axis, joint after
    joint. A joint of rows that carries more than its `break_force` or `break_torque` in a step, in what it
    locks, has done so in that step, and is gone when it ends, as if WorldRemove had taken it: its id is never
    given again. Reports count such joints (StepReports.broken_joints), WorldStep lists them (broken_joints),
    and a recording has them as highlights; stepping it again breaks them in the same steps. A joint is held
    by coordinates, which is the default: bodies and joints make trees, whose state is what the joints leave
    free, and nothing can come apart. Then a is the parent and b the child, which is dynamic and the child of
    no other. Or by rows (`as_rows`): by impulses between any two bodies, which closes loops, may be redundant
    and may break. Two bodies of a joint do not touch each other, unless it says `collides`."""

    class Kind(IntEnum):
        HINGE = 0
        """turns about z; what a SceneJoint is that says nothing"""
        SLIDER = 1
        """moves along z"""
        BALL = 2
        """turns about all"""
        UNIVERSAL = 3
        """turns about x of a's frame, then y of b's"""
        FIXED = 4
        """leaves nothing free"""
        FREE = 5
        """leaves everything free"""
        GENERIC = 6
        """leaves the axes free that it names"""
        DISTANCE = 7
        """keeps the origins of the two frames `length` apart; always of rows"""
        GEAR = 8
        """couples the positions of two joints with one axis each: that of b = ratio times that of a; always
        of rows"""
        TENDON = 9
        """couples any number of axes of joints by their sum: its length, the one number that it leaves free,
        is the sum of coefficient times position of each. What holds, drives and wastes along an axis does so
        along that length, and so at each of those axes with its coefficient; where `low` and `high` are one
        number the length is held there, by one row. Always of rows"""

    class Axis(IntEnum):
        MOVE_X = 0
        """moves along x; then along y, along z, and turns about them"""
        MOVE_Y = 1
        MOVE_Z = 2
        TURN_X = 3
        TURN_Y = 4
        TURN_Z = 5



@dataclass(slots=True, kw_only=True)
class Material(Message):
    """What a thing feels like. For a pair: friction by the world's friction_rule, restitution the larger,
    stiffness k_a k_b/(k_a + k_b), dissipation time (k_b tau_a + k_a tau_b)/(k_a + k_b), damping b_a b_b/(b_a
    + b_b); where one has the higher priority, its numbers alone. A pair that has a friction of its own
    (Scene.material_pairs, WorldSet.pair_a) has that in any case. Rigid solvers ignore stiffness, dissipation
    time, damping and Hertz exponent."""

    name: str | None = None
    """unique in its world"""
    friction: float | None = None
    """[1] mu >= 0, at most 1e6; default 0.5"""
    restitution: float | None = None
    """[1] 0 … 1; default 0"""
    stiffness: float | None = None
    """[N/m] > 0, at most 1e18; absent: infinite (the compliant solvers take their near-rigid value)"""
    dissipation_time: float | None = None
    """[s] 0 … 1e6; default 0"""
    damping: float | None = None
    """[N s/m] 0 … 1e18; default 0"""
    hertz_exponent: float | None = None
    """[1] p of a force stiffness d^p + damping d(d^p)/dt at an overlap d, under solver compliant, which takes
    its tangent in each step; other solvers take it for 1. 1, 1.5 (Hertz), 2, 2.5 or 3, units of stiffness and
    damping per m^p; default 1. Of a pair the larger, of those whose stiffness is not infinite"""
    priority: float | None = None
    """whole, -1e6 … 1e6; default 0, as of the built-in material. Of two that touch the numbers of the one
    with the higher count, and the other's do not. It stays what it is"""


@dataclass(slots=True, kw_only=True)
class FrictionRule(Message):
    """What a pair's friction is, from those of its two materials, a and b."""

    class Kind(IntEnum):
        GEOMETRIC = 0
        """sqrt(a b)"""
        MAXIMUM = 1
        MINIMUM = 2
        PRODUCT = 3
        """a b, at most 1e6"""



@dataclass(slots=True, kw_only=True)
class Foundation(Message):
    """Springs and dampers on one face of a box, one in the middle of each cell of a grid: where the face
    meets a plane, or a box of a static body, they are the contacts, in the place of the box's corners. Under
    solver compliant each has stiffness modulus area / (depth cells) and its damping, under sap the
    dissipation time damping / stiffness; rigid solvers see its points."""

    class Face(IntEnum):
        NONE = 0
        """no face has one"""
        POSITIVE_X = 1
        NEGATIVE_X = 2
        POSITIVE_Y = 3
        NEGATIVE_Y = 4
        POSITIVE_Z = 5
        NEGATIVE_Z = 6

    face: Foundation.Face | None = None
    """of the box, in its own axes"""
    cells: ArrayLike | None = None
    """2: along the axes that follow the face's (y z, z x, x y); each > 0, at most 16,384 together"""
    modulus: float | None = None
    """[Pa] > 0, at most 1e18"""
    depth: float | None = None
    """[m] > 0, at most 1e6"""
    damping: float | None = None
    """[N s/m] of each cell, 0 … 1e18; default 0"""


@dataclass(slots=True, kw_only=True)
class Scene(Message):
    """A world written by hand, one thing after the other, with names. As JSON it is a scene file."""

    name: str | None = None
    about: str | None = None
    """a sentence for people; not used"""
    settings: WorldSettings | None = None
    materials: Sequence[Material] | None = None
    bodies: Sequence[SceneBody] | None = None
    joints: Sequence[SceneJoint] | None = None
    geometries: Sequence[SceneGeometry] | None = None
    material_pairs: Sequence[MaterialPair] | None = None


@dataclass(slots=True, kw_only=True)
class MaterialPair(Message):
    """Two materials whose contacts have a friction of their own, whatever rules and priorities make of
    theirs. A world has at most 4,096."""

    a: str | None = None
    """names of materials of the scene; absent: the built-in one"""
    b: str | None = None
    """may be the same"""
    friction: float | None = None
    """[1] 0 … 1e6; required in effect"""


@dataclass(slots=True, kw_only=True)
class SceneGeometry(Message):
    """What shapes refer to by its name."""

    name: str | None = None
    """unique among them; required in effect"""
    hull: Hull | None = None
    """one of these"""
    mesh: Mesh | None = None
    height_field: HeightField | None = None


@dataclass(slots=True, kw_only=True)
class SceneBody(Message):
    name: str | None = None
    """unique in its scene; may be absent"""
    kind: Body.Kind | None = None
    position: ArrayLike | None = None
    """3 [m] of the body's origin; default 0 0 0"""
    orientation: ArrayLike | None = None
    """4: quaternion w x y z, normalised on receipt; default 1 0 0 0"""
    linear_velocity: ArrayLike | None = None
    """3 [m/s] of the centre of mass; default 0 0 0"""
    angular_velocity: ArrayLike | None = None
    """3 [rad/s], world axes; default 0 0 0"""
    mass: float | None = None
    """as of WorldAddBodies"""
    inertia: ArrayLike | None = None
    """6 [kg m^2]: xx yy zz xy xz yz about the centre of mass, body axes; default: from the shapes"""
    center_of_mass: ArrayLike | None = None
    """3 [m] in body axes; default: from the shapes, or 0 0 0 where inertia is given"""
    shapes: Sequence[ScenePrimitive] | None = None
    """none: a body that touches nothing (then mass and inertia are needed)"""


@dataclass(slots=True, kw_only=True)
class ScenePrimitive(Message):
    sphere: SceneSphere | None = None
    box: SceneBox | None = None
    plane: ScenePlane | None = None
    capsule: SceneCapsule | None = None
    cylinder: SceneCylinder | None = None
    hull: SceneHull | None = None
    mesh: SceneMesh | None = None
    """on static and kinematic bodies"""
    height_field: SceneHeightField | None = None
    """likewise"""
    position: ArrayLike | None = None
    """3 [m] in the body; default 0 0 0"""
    orientation: ArrayLike | None = None
    """4: quaternion w x y z; default 1 0 0 0"""
    material: str | None = None
    """name of one of the scene's; default: the built-in material"""
    density: float | None = None
    """[kg/m^3] > 0; default 1000"""
    foundation: Foundation | None = None
    """of a box; default: none"""
    group: int | None = None
    """32 bits: the collision groups that it is in, see Primitive"""
    mask: int | None = None
    """32 bits: the groups that it collides with"""
    patch_materials: Sequence[str] | None = None
    """of a mesh or height field: names of materials, of its patches 1, 2 … 7; "", or none: `material`"""


@dataclass(slots=True, kw_only=True)
class SceneSphere(Message):
    radius: float | None = None
    """[m] > 0; required in effect"""


@dataclass(slots=True, kw_only=True)
class SceneBox(Message):
    half_extents: ArrayLike | None = None
    """3 [m] > 0; required in effect"""


@dataclass(slots=True, kw_only=True)
class SceneCapsule(Message):
    """What is within `radius` of a segment along local z from -half_length to half_length: a cylinder with
    half a ball at either end."""

    radius: float | None = None
    """[m] > 0; required in effect"""
    half_length: float | None = None
    """[m] > 0: of the segment; the whole is 2 (half_length + radius) long; required in effect"""


@dataclass(slots=True, kw_only=True)
class SceneCylinder(Message):
    """What is within `radius` of the segment along local z from -half_length to half_length, between the
    planes across its ends."""

    radius: float | None = None
    """[m] > 0; required in effect"""
    half_length: float | None = None
    """[m] > 0: half of the height; required in effect"""


@dataclass(slots=True, kw_only=True)
class SceneHull(Message):
    """One of the scene's geometries, or one of its own."""

    geometry: str | None = None
    """name of one; then nothing else"""
    points: ArrayLike | None = None
    """as of Hull"""
    faces: Sequence[HullFace] | None = None
    vertices_max: int | None = None


@dataclass(slots=True, kw_only=True)
class SceneMesh(Message):
    """A surface of triangles: one of the scene's geometries by its name, or its own, as Mesh has it."""

    geometry: str | None = None
    points: ArrayLike | None = None
    triangles: ArrayLike | None = None
    two_sided: bool | None = None
    patches: ArrayLike | None = None


@dataclass(slots=True, kw_only=True)
class SceneHeightField(Message):
    """Ground: one of the scene's geometries by its name, or its own, as HeightField has it."""

    geometry: str | None = None
    columns: int | None = None
    rows: int | None = None
    spacing: ArrayLike | None = None
    heights: ArrayLike | None = None
    patches: ArrayLike | None = None


@dataclass(slots=True, kw_only=True)
class ScenePlane(Message):
    normal: ArrayLike | None = None
    """3, any length > 0, out of the solid; default 0 0 1"""
    offset: float | None = None
    """[m] of the plane from the body's origin along the normal; default 0"""


@dataclass(slots=True, kw_only=True)
class SceneJoint(Message):
    """A joint between two bodies of the scene as they stand there: `anchor` and `axis` say where its frames
    are, or `frame_a` and `frame_b` do, from the bodies' origins. Lists of an axis have a number for each axis
    that the joint leaves free, or one for all of them."""

    name: str | None = None
    """unique in its scene; may be absent"""
    kind: Joint.Kind | None = None
    body_a: str | None = None
    """name of a body, or #2 for the third of the scene; default: the world"""
    body_b: str | None = None
    """likewise; required in effect but of gears and tendons"""
    anchor: ArrayLike | None = None
    """3 [m] of the frames' origin, in the world; default: b's origin"""
    anchor_b: ArrayLike | None = None
    """3 [m] of DISTANCE: of b's frame, where `anchor` is of a's; default: b's origin"""
    axis: ArrayLike | None = None
    """3, of any length above 0, in the world: z of the frames; default 0 0 1"""
    axis_x: ArrayLike | None = None
    """3: x of the frames, made perpendicular to `axis`; default: some perpendicular"""
    frame_a: ArrayLike | None = None
    """7: a pose, from the origin of a, in its axes; instead of anchor and axes, with frame_b"""
    frame_b: ArrayLike | None = None
    """7"""
    axes: ArrayLike | None = None
    """of GENERIC: those left free"""
    as_rows: bool | None = None
    """default false: coordinates"""
    collides: bool | None = None
    """default false: the two bodies do not touch each other"""
    joint_a: str | None = None
    """of GEAR: names of joints before it"""
    joint_b: str | None = None
    ratio: float | None = None
    """[1] of GEAR, -1e6 … 1e6; default 1"""
    length: float | None = None
    """[m] of DISTANCE, > 0; default: as the two frames lie"""
    break_force: float | None = None
    """[N] > 0, of rows: beyond it the joint is gone; default: never"""
    break_torque: float | None = None
    """[N m] likewise"""
    low: ArrayLike | None = None
    """limit [m], [rad], -1e9 … 1e9; default, or -1e18: none"""
    high: ArrayLike | None = None
    """limit; default, or 1e18: none"""
    stiffness: ArrayLike | None = None
    """of a spring [N/m], [N m/rad], 0 … 1e18; default 0. How it is integrated: at Integrator"""
    rest: ArrayLike | None = None
    """where it is slack [m], [rad]; default 0"""
    damping: ArrayLike | None = None
    """[N s/m], [N m s/rad], 0 … 1e18; default 0"""
    friction: ArrayLike | None = None
    """dry [N], [N m], 0 … 1e18; default 0"""
    armature: ArrayLike | None = None
    """inertia of the axis itself [kg], [kg m^2], 0 … 1e18, of coordinates; default 0"""
    drive_stiffness: ArrayLike | None = None
    """of a drive towards its targets [N/m], [N m/rad], 0 … 1e18; default 0"""
    drive_damping: ArrayLike | None = None
    """[N s/m], [N m s/rad], 0 … 1e18; default 0"""
    effort_max: ArrayLike | None = None
    """what the drive is able to [N], [N m], 0 … 1e18; default, or 1e18: unbounded"""
    position: ArrayLike | None = None
    """of coordinates, per position: the bodies are put there; default: as they stand. Of rows it is measured,
    angles in the turn that this is nearest to; default 0"""
    velocity: ArrayLike | None = None
    """of coordinates; default: as the bodies move"""
    target: ArrayLike | None = None
    """of the drive [m], [rad]; default 0"""
    target_velocity: ArrayLike | None = None
    """default 0"""
    effort: ArrayLike | None = None
    """fed forward [N], [N m]; default 0"""
    stall_effort: ArrayLike | None = None
    """of coordinates: what a motor is able to at standstill [N], [N m], 0 … 1e18; default, or 0: none. Then
    what the drive and the effort ask for together comes from the motor, by at most E, the lesser of this and
    `effort_max`, and at the rate v, of the end of the step, in either direction by at most stall_effort (1 -
    v/no_load_speed): nothing at and beyond no_load_speed. Against the way it moves it brakes with all of E"""
    no_load_speed: ArrayLike | None = None
    """[m/s], [rad/s], 1e-9 … 1e9, with stall_effort; default, or 0: the motor is able to E at all speeds"""
    lag_time: ArrayLike | None = None
    """[s] 0 … 1e6: drives and effort follow their commands (target, target_velocity, effort) by y' = (command
    - y)/lag_time, in a step of h by y += (1 - exp(-h/lag_time)) (command - y), and y, after that, acts in the
    step; default 0: at once. As the joint comes, y is as if it had had its commands for ever"""
    delay_steps: ArrayLike | None = None
    """[1] whole, 0 … 1000: commands act, or begin to be followed, so many steps of the world later; default
    0. As the joint comes, those before are the same. What is under way is state: of snapshots, hashes,
    recordings and groups, but not of scenes (WorldScene), whose joints begin anew"""
    coupled: Sequence[str] | None = None
    """of TENDON: names of joints before it, at least one, no gears and no tendons"""
    coupled_axes: ArrayLike | None = None
    """of each of them which axis, counted from 0 among those that it leaves free, none of three turns;
    default 0"""
    coefficients: ArrayLike | None = None
    """of each what a unit of it lengthens the tendon by [1], [m/rad], -1e6 … 1e6; default 1"""


@dataclass(slots=True, kw_only=True)
class World(Message):
    class Lifetime(IntEnum):
        SESSION = 0
        """destroyed when its client has been gone for the grace time (30 s)"""
        SERVER = 1
        """stays until WorldDestroy, or until `idle_timeout_s`"""



@dataclass(slots=True, kw_only=True)
class WorldCreate(Message):
    """Creates a world: from a scene, or empty with the given settings."""

    name: str | None = None
    """unique among the server's worlds; default: the scene's name with a number, or world-N"""
    lifetime: World.Lifetime | None = None
    idle_timeout_s: float | None = None
    """[s] 1 … 1e9: destroyed when no call has named it for so long; default: never"""
    settings: WorldSettings | None = None
    """wins over the scene's"""
    scene: Scene | None = None


@dataclass(slots=True, kw_only=True)
class WorldCreateReply(Message):
    world: int | None = None
    name: str | None = None
    bodies: int | None = None
    ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of the scene's bodies, in its order"""


@dataclass(slots=True, kw_only=True)
class WorldDestroy(Message):
    world: int | None = None


@dataclass(slots=True, kw_only=True)
class WorldDestroyReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class WorldList(Message):
    first: int | None = None
    """skip so many; default 0"""
    count: int | None = None
    """at most so many rows, and never more than 65,536"""


@dataclass(slots=True, kw_only=True)
class WorldListReply(Message):
    total: int | None = None
    worlds: list[WorldInfo] = _new(default_factory=list)


@dataclass(slots=True, kw_only=True)
class WorldInfo(Message):
    world: int | None = None
    name: str | None = None
    lifetime: World.Lifetime | None = None
    client: str | None = None
    """who made it"""
    bodies: int | None = None
    """this and the rest: as of the last finished call, or slice of a long one"""
    contacts: int | None = None
    step: int | None = None
    time: float | None = None
    """[s]"""
    faulted: bool | None = None
    solver: str | None = None
    bytes: int | None = None
    recording: bool | None = None
    """an episode of it is being recorded"""
    token: str | None = None
    """whose it is, by the name of the token; absent: the server has none of names"""


@dataclass(slots=True, kw_only=True)
class WorldAddMaterials(Message):
    world: int | None = None
    materials: Sequence[Material] | None = None
    """a handful per world, so one by one; a world has at most 4,096"""


@dataclass(slots=True, kw_only=True)
class WorldAddShapes(Message):
    """Adds shapes. A shape is one or several primitives at local poses; bodies share shapes."""

    world: int | None = None
    primitive_count: ArrayLike | None = None
    """per shape, 1 … 4096; its length is the number of shapes; default: one each"""
    kind: ArrayLike | None = None
    """per primitive; its length is the number of primitives"""
    size: ArrayLike | None = None
    """3 per primitive: see Primitive.Kind [m]"""
    pose: ArrayLike | None = None
    """7 per primitive, in the body; default: identity"""
    material: ArrayLike | None = None
    """per primitive: id; default, or 0: the built-in material"""
    density: ArrayLike | None = None
    """per primitive [kg/m^3] > 0; default 1000"""
    foundation_face: ArrayLike | None = None
    """per primitive: NONE, or the face of a box; those below are read where it has one"""
    foundation_cells: ArrayLike | None = None
    """2 per primitive"""
    foundation_modulus: ArrayLike | None = None
    """per primitive [Pa]"""
    foundation_depth: ArrayLike | None = None
    """per primitive [m]"""
    foundation_damping: ArrayLike | None = None
    """per primitive [N s/m]; default 0"""
    group: ArrayLike | None = None
    """per primitive, 32 bits: see Primitive; default 1"""
    mask: ArrayLike | None = None
    """per primitive, 32 bits: see Primitive; default 4294967295, all"""
    geometry: ArrayLike | None = None
    """per primitive: id of what it wears; default, or 0: nothing"""
    patch_material: ArrayLike | None = None
    """7 per primitive, of meshes and height fields: ids of the materials of patches 1 … 7 (see Mesh);
    default, or 0: that of the primitive, which is patch 0's too"""


@dataclass(slots=True, kw_only=True)
class WorldAddGeometries(Message):
    """Adds geometries, which primitives wear, as many as like. All or none are added; the reply's ids count
    from 1: first those of the hulls, then of the meshes, then of the height fields. The same geometry is held
    once, however many worlds have it, and called by the SHA-256 of its bytes in snapshots."""

    world: int | None = None
    hulls: Sequence[Hull] | None = None
    """at least one of any kind"""
    meshes: Sequence[Mesh] | None = None
    height_fields: Sequence[HeightField] | None = None


@dataclass(slots=True, kw_only=True)
class Mesh(Message):
    """A surface of triangles in a frame of its own, for static and kinematic bodies to wear: ground, walls,
    machines. It needs not be closed. Points at the same place are one; triangles that lie in one plane are
    one face, and nobody feels the edges between them. A triangle pushes to the side from which its corners go
    counter-clockwise, and whoever has its middle behind it passes; in a mesh with two sides, to the side on
    which that middle is."""

    points: ArrayLike | None = None
    """3 each [m], within 1e6: 3 to 1,048,576 points"""
    triangles: ArrayLike | None = None
    """3 corners each, points counted from 0: 1 to 2,097,152 triangles"""
    two_sided: bool | None = None
    """default false: then no edge is of more than two triangles, nor of two that look to opposite sides"""
    patches: ArrayLike | None = None
    """per triangle 0 … 7: which patch it is of. Patches feel like materials of their own, which those who
    wear the mesh say; a point on the border of several is of the lowest. Which triangle is of which patch
    stays, and which material a shape's patches wear; what that feels like is changed by its numbers
    (WorldSet.materials). Default: all are of patch 0"""


@dataclass(slots=True, kw_only=True)
class HeightField(Message):
    """Ground over a grid in x and y, whose middle is the origin, in a frame of its own, solid below: to below
    its lowest point by the diagonal of the box around it. A cell is two triangles with the diagonal from its
    lowest corner in common."""

    columns: int | None = None
    """heights along x, at least 2"""
    rows: int | None = None
    """along y, at least 2; columns x rows is at most 1,048,576"""
    spacing: ArrayLike | None = None
    """2 [m]: between heights along x, along y"""
    heights: ArrayLike | None = None
    """[m], within 1e6: row after row, in each along x"""
    patches: ArrayLike | None = None
    """per cell, row after row, in each along x: its patch, as of Mesh"""


@dataclass(slots=True, kw_only=True)
class Hull(Message):
    """A convex polyhedron in a frame of its own, whose origin may be anywhere. Mass, centre and inertia are
    exact. With faces it is in its built form, and judged: closed, flat faces, convex. Without, it is built
    around its points by Qhull, and kept in its built form: that alone is recorded, and a scene of the world
    has it."""

    points: ArrayLike | None = None
    """3 each [m], within 1e6: 4 to 256 points, each a corner; without faces up to 10,000, of which some may
    be inside"""
    faces: Sequence[HullFace] | None = None
    """all of them, those in one plane as one; none: they are found"""
    vertices_max: int | None = None
    """4 … 256, without faces: so many corners at most, those farthest out; default 0: all, which may be no
    more than 256"""


@dataclass(slots=True, kw_only=True)
class HullFace(Message):
    points: ArrayLike | None = None
    """which points are its corners, counted from 0: at least three, counter-clockwise seen from outside"""


@dataclass(slots=True, kw_only=True)
class WorldAddBodies(Message):
    """Adds bodies as columns; all or none are added."""

    world: int | None = None
    pose: ArrayLike | None = None
    """7 per body; its length gives the number of bodies; at least one"""
    velocity: ArrayLike | None = None
    """6 per body; default 0"""
    kind: ArrayLike | None = None
    """per body; default DYNAMIC"""
    shape: ArrayLike | None = None
    """per body: shape id, or 0 for none; default none"""
    mass: ArrayLike | None = None
    """per body [kg] > 0, at most 1e18; default: from the shapes' densities, which then make no more either"""
    inertia: ArrayLike | None = None
    """6 per body: xx yy zz xy xz yz [kg m^2], each within +-1e30; default: from the shapes, then no more
    either"""
    center_of_mass: ArrayLike | None = None
    """3 per body [m]; default: from the shapes, or 0 where inertia is given"""


@dataclass(slots=True, kw_only=True)
class WorldAddJoints(Message):
    """Adds joints as columns; all or none are added. Columns "per axis" have a number for each axis that the
    joints leave free, joint after joint; "per position" likewise, with four numbers for three turns.
    FAILED_PRECONDITION, as of WorldSet: steps have brought bodies so far away, or made them so fast (beyond
    4e9 m, m/s or rad/s), that a joint would take a pose or a velocity beyond 3.4e38, the largest float."""

    world: int | None = None
    kind: ArrayLike | None = None
    """per joint; its length gives the number of joints; at least one"""
    body_a: ArrayLike | None = None
    """per joint: id, 0: the world; default 0. 0 of a gear, a tendon"""
    body_b: ArrayLike | None = None
    """per joint: id; 0 of a gear, a tendon"""
    axes: ArrayLike | None = None
    """per joint, of GENERIC: a sum of 2^Joint.Axis; else 0; default 0"""
    frame_a: ArrayLike | None = None
    """7 per joint: a pose, from the body's origin, in its axes; default: there"""
    frame_b: ArrayLike | None = None
    """7 per joint"""
    as_rows: ArrayLike | None = None
    """per joint; default false: coordinates"""
    collides: ArrayLike | None = None
    """per joint; default false: the two bodies do not touch each other"""
    joint_a: ArrayLike | None = None
    """per joint, of GEAR: id, also of one before it in this call; else 0; default 0"""
    joint_b: ArrayLike | None = None
    ratio: ArrayLike | None = None
    """per joint [1], of GEAR, -1e6 … 1e6; default 1"""
    length: ArrayLike | None = None
    """per joint [m], of DISTANCE, > 0; default 1"""
    break_force: ArrayLike | None = None
    """per joint [N] > 0, of rows: beyond it the joint is gone; default, or 1e18: never"""
    break_torque: ArrayLike | None = None
    """per joint [N m] likewise"""
    names: Sequence[str] | None = None
    """per joint; "" for none; default none. Joints of one world may share a name: ids tell them apart, a
    group's channel takes the first of them, and in the world's scene (WorldScene), where names are unique,
    the others get new ones"""
    low: ArrayLike | None = None
    """per axis, as in SceneJoint"""
    high: ArrayLike | None = None
    stiffness: ArrayLike | None = None
    rest: ArrayLike | None = None
    damping: ArrayLike | None = None
    friction: ArrayLike | None = None
    armature: ArrayLike | None = None
    drive_stiffness: ArrayLike | None = None
    drive_damping: ArrayLike | None = None
    effort_max: ArrayLike | None = None
    position: ArrayLike | None = None
    """per position; default: as the bodies stand; of rows as in SceneJoint"""
    velocity: ArrayLike | None = None
    """of rows it is measured; default: as the bodies move"""
    target: ArrayLike | None = None
    target_velocity: ArrayLike | None = None
    effort: ArrayLike | None = None
    stall_effort: ArrayLike | None = None
    no_load_speed: ArrayLike | None = None
    lag_time: ArrayLike | None = None
    delay_steps: ArrayLike | None = None
    coupled_count: ArrayLike | None = None
    """per joint, of TENDON: how many axes it couples; else 0; default 0. The three columns below have so many
    of each"""
    coupled: ArrayLike | None = None
    """ids, also of joints before it in this call"""
    coupled_axes: ArrayLike | None = None
    """as in SceneJoint; default 0"""
    coefficients: ArrayLike | None = None
    """as in SceneJoint; default 1"""


@dataclass(slots=True, kw_only=True)
class WorldAddReply(Message):
    ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """in the order given"""


@dataclass(slots=True, kw_only=True)
class WorldRemove(Message):
    """Removes things from a world, all or nothing. The bodies that stay keep their order, their state and the
    impulses between them; what rested on one that goes wakes. Ids are never given again. Where bodies go, a
    fault is cleared. NOT_FOUND: an id that names nothing; INVALID_ARGUMENT: one that stands twice, or none at
    all; FAILED_PRECONDITION: a shape that a body has which stays, a body that a joint holds, a geometry that
    a shape wears which stays."""

    world: int | None = None
    bodies: ArrayLike | None = None
    """ids"""
    joints: ArrayLike | None = None
    """ids; gears and tendons that couple one of them go with it. A body that a joint holds stays, unless that
    goes too"""
    shapes: ArrayLike | None = None
    """ids; of shapes that no body has, or only such as go with them"""
    geometries: ArrayLike | None = None
    """ids; of geometries that no shape wears, or only such as go with them. Their memory goes with the last
    world that has them"""


@dataclass(slots=True, kw_only=True)
class WorldRemoveReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class WorldGet(Message):
    """Reads a world: settings always, bodies by range."""

    world: int | None = None
    first: int | None = None
    """first body, counted from 0 in the order of creation; default 0"""
    count: int | None = None
    """how many; default: all the rest"""
    bodies: bool | None = None
    """return pose and velocity columns; default true"""
    definition: bool | None = None
    """also kind, shape, mass, inertia, centre of mass; default false"""
    single: bool | None = None
    """poses and velocities as floats; default false"""
    joints: bool | None = None
    """return all joints' numbers, and with `definition` what they are; default false"""
    joint_wrenches: bool | None = None
    """with `joints`: also what they carried in the last step; default false"""


@dataclass(slots=True, kw_only=True)
class WorldGetReply(Message):
    world: int | None = None
    settings: WorldSettings | None = None
    step: int | None = None
    """steps since creation"""
    time: float | None = None
    """[s] simulated"""
    total: int | None = None
    """bodies in the world"""
    faulted: bool | None = None
    ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    pose: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    pose_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    velocity_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    kind: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    shape: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    mass: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """0 for kinematic and static bodies"""
    inertia: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    center_of_mass: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    names: list[str] = _new(default_factory=list)
    """with `definition`, where the scene gave any: one per body"""
    removed: int | None = None
    """bodies that have left the bounds, or were removed, since creation"""
    asleep: NDArray[np.bool_] = _new(default_factory=lambda: np.empty(0, np.bool_))
    """of bodies, where WorldSettings.sleep_speed is above 0"""
    joints: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """ids"""
    joint_axes: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """per joint: the axes that it leaves free, a sum of 2^Joint.Axis; of a tendon as of a slider"""
    joint_position: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """per position; of rows as measured, angles without jumps at half a turn"""
    joint_velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """per axis, as the rest"""
    joint_target: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_target_velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_effort: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_definition: WorldAddJoints | None = None
    """with `definition`: what would make them, but for `world`, in a world that has the bodies"""
    joint_wrench: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """With `joint_wrenches`, 6 per joint [N, N m]: force and torque that a did to b through the joint in the
    last step, in the mean over the step, at the origin of b's frame, in world axes. All of it: what holds the
    locked axes, and along the free ones springs, dampers, drives, efforts, limits and dry friction. b does
    the opposite to a. Of joints of coordinates by inverse dynamics over their tree, with contacts, wrenches
    and the impulses of rows counted: exact at rest, else of first order in h. Of rows by their impulses; of
    gears and tendons 0, as what they do is part of the joints that they couple; of sleepers 0, which are not
    part of a step. FAILED_PRECONDITION, naming the field, where the last thing that happened to the world was
    not a step: snapshots do not keep it."""
    joints_removed: int | None = None
    """with `joints`: joints that broke, or were removed, since creation"""


@dataclass(slots=True, kw_only=True)
class WorldScene(Message):
    """A world as a scene: what it is now, for people, other worlds and version control. WorldCreate makes of
    it a world with the same settings, materials, bodies, shapes, joints and targets, which moves on as this
    one would from here, to the bit, if this one forgot what a scene does not say: the impulses that a step
    starts from, who sleeps and for how long others were at rest, the solver's patience
    (MdpParameters.budget), a fault; steps and time (both begin at 0) and ids (they count from 1); which
    bodies share a shape, and shapes that no body has; the last bit of a coordinate, seldom: of a body whose
    centre of mass is not its origin, and of quaternions, which are normalised on receipt. Names stay; things
    that must be named and are not, or whose name is taken, get one. A world whose scene is longer than a
    frame is RESOURCE_EXHAUSTED: a snapshot (SnapshotTake, SnapshotRead) has all of a world of any size."""

    world: int | None = None


@dataclass(slots=True, kw_only=True)
class WorldSceneReply(Message):
    scene: Scene | None = None
    """named as the world"""


@dataclass(slots=True, kw_only=True)
class WorldSet(Message):
    """Changes a world: settings, state and masses of bodies, state and numbers of joints, materials. All or
    nothing: each column is empty (unchanged) or for all that its list names. Clears a fault when bodies, or
    positions or velocities of joints, are set. A body that hangs by a joint of coordinates is put elsewhere
    by that joint's numbers. Whom a change concerns wakes (all, where materials or settings change); the
    impulses that the next step starts from stay, but for those of bodies that were moved. A world goes on as
    one that was made with these numbers, to the bit."""

    world: int | None = None
    settings: WorldSettings | None = None
    """only what is present changes"""
    ids: ArrayLike | None = None
    """bodies to change; none twice, nor in any list of these"""
    pose: ArrayLike | None = None
    """7 per id"""
    velocity: ArrayLike | None = None
    """6 per id"""
    joints: ArrayLike | None = None
    """joints to change"""
    joint_position: ArrayLike | None = None
    """per position, of coordinates: the bodies are put there"""
    joint_velocity: ArrayLike | None = None
    """per axis, of coordinates"""
    joint_target: ArrayLike | None = None
    """per axis, as the rest; they hold until they are changed"""
    joint_target_velocity: ArrayLike | None = None
    joint_effort: ArrayLike | None = None
    mass: ArrayLike | None = None
    """per id [kg] > 0, of dynamic bodies; where `inertia` is empty each inertia is scaled with it"""
    inertia: ArrayLike | None = None
    """6 per id, of dynamic bodies: xx yy zz xy xz yz [kg m^2], about the centre of mass, which stays, in body
    axes"""
    materials: ArrayLike | None = None
    """materials to change: ids; not 0, the built-in one"""
    material_friction: ArrayLike | None = None
    """per material [1], as in Material, as the rest"""
    material_restitution: ArrayLike | None = None
    """[1]"""
    material_stiffness: ArrayLike | None = None
    """[N/m] > 0; 0: infinite"""
    material_dissipation_time: ArrayLike | None = None
    """[s]"""
    material_damping: ArrayLike | None = None
    """[N s/m]"""
    material_hertz_exponent: ArrayLike | None = None
    """[1]"""
    shapes: ArrayLike | None = None
    """shapes to change, of all the bodies that have them"""
    shape_material: ArrayLike | None = None
    """per primitive of those shapes, shape after shape: id; 0: the built-in material"""
    joint_low: ArrayLike | None = None
    """[m], [rad]; -1e18: none"""
    joint_high: ArrayLike | None = None
    """[m], [rad]; 1e18: none"""
    joint_stiffness: ArrayLike | None = None
    """[N/m], [N m/rad]"""
    joint_rest: ArrayLike | None = None
    """[m], [rad]"""
    joint_damping: ArrayLike | None = None
    """[N s/m], [N m s/rad]"""
    joint_friction: ArrayLike | None = None
    """[N], [N m]"""
    joint_armature: ArrayLike | None = None
    """[kg], [kg m^2], of coordinates; of rows 0"""
    joint_drive_stiffness: ArrayLike | None = None
    """[N/m], [N m/rad]"""
    joint_drive_damping: ArrayLike | None = None
    """[N s/m], [N m s/rad]"""
    joint_effort_max: ArrayLike | None = None
    """[N], [N m]; 1e18: unbounded"""
    joint_stall_effort: ArrayLike | None = None
    """[N], [N m], of coordinates; 0: no motor"""
    joint_no_load_speed: ArrayLike | None = None
    """[m/s], [rad/s]; 0: none"""
    joint_lag_time: ArrayLike | None = None
    """[s]; as it changes, and the next, what is under way stays: of a shorter delay the youngest commands, of
    a longer one the oldest again before the others"""
    joint_delay_steps: ArrayLike | None = None
    """[1] whole"""
    pair_a: ArrayLike | None = None
    """pairs of materials, by ids, 0 the built-in one, that have a friction of their own from here on, or
    another one; of one that is named twice the last counts. See MaterialPair"""
    pair_b: ArrayLike | None = None
    pair_friction: ArrayLike | None = None
    """per pair [1]"""


@dataclass(slots=True, kw_only=True)
class WorldSetReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class WorldStep(Message):
    """Steps one world or many. Worlds run in parallel; one that fails is listed in `failures`, the others
    finish. It keeps the steps that it has done (`steps_done`: 0 of a world that could not begin, as it is
    unknown or faulted) and the state before its failing step. What is wrong with the call (a time step or a
    wrench out of range, a world listed twice, a reply that could be longer than a frame) is its status, and
    no world is stepped. A step that would end in a number that is not finite (of state or report), or in
    state that no float holds (beyond 3.4e38, so that `single` can always be asked for), has not happened:
    FAILED_PRECONDITION names step, body and quantity, and the world is faulted until WorldSet sets bodies, or
    WorldRemove removes some."""

    worlds: ArrayLike | None = None
    """at least one; none twice"""
    steps: int | None = None
    """1 … 10^12"""
    time_step: float | None = None
    """[s] 1e-9 … 10, for these steps only; default: the world's"""
    wrench_count: ArrayLike | None = None
    """per world: how many of the wrenches below are its; default: all are the one world's"""
    wrench_body: ArrayLike | None = None
    """per wrench: body id; those of one body add up"""
    wrench: ArrayLike | None = None
    """6 per wrench: force [N] at the centre of mass, torque [N m], world axes; held for all steps"""
    poses: bool | None = None
    """return poses of all bodies; default false"""
    velocities: bool | None = None
    """default false"""
    single: bool | None = None
    """poses and velocities as floats; default false"""
    reports: bool | None = None
    """certificates"""
    hashes: bool | None = None
    """state hash after the last step; default false"""
    joint_count: ArrayLike | None = None
    """per world: how many of the joints below are its; default: all are the one world's"""
    joint_axis_count: ArrayLike | None = None
    """per world: how many free axes those have together; default: one each"""
    joints: ArrayLike | None = None
    """ids"""
    joint_target: ArrayLike | None = None
    """per axis [m], [rad]; empty: unchanged, as the next two"""
    joint_target_velocity: ArrayLike | None = None
    joint_effort: ArrayLike | None = None
    """[N], [N m]"""
    joint_positions: bool | None = None
    """default false"""
    joint_velocities: bool | None = None
    """default false"""
    joint_wrenches: bool | None = None
    """of the last step, as WorldGetReply.joint_wrench; default false"""
    broken_joints: bool | None = None
    """return the ids of joints that broke in this call; default false"""


@dataclass(slots=True, kw_only=True)
class WorldStepReply(Message):
    """One entry per world in each column, in the order of the request."""

    steps_done: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call"""
    step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """since creation"""
    time: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[s] simulated"""
    body_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """with poses or velocities: how many bodies each world adds below"""
    pose: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    pose_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    velocity_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    reports: StepReports | None = None
    hash: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    failures: list[Status] = _new(default_factory=list)
    """worlds that failed, each naming its world and the last step that it has done; when the texts of all do
    not fit into a frame, the last ones have only the code"""
    removed: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """bodies that left the bounds (WorldSettings.bounds) in this call; absent: none of any world. Which ones,
    the ids of WorldGet tell: they rise, and those that are gone are missing"""
    joint_count: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """how many joints each world adds below, …"""
    joint_axis_count: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """… how many free axes these have together …"""
    joint_position_count: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """… and how many position numbers. Those of a world that broke none do not change"""
    joint_position: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """per axis"""
    joint_position_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    """with `single`; beyond 3.4e38: that"""
    joint_velocity_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    joint_wrench: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """6 per joint, also with `single`; zeros of a world that did no step"""
    broken_count: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """how many each world adds below"""
    broken: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """ids, in the order in which they broke"""


@dataclass(slots=True, kw_only=True)
class StepReports(Message):
    """How good steps were: one entry per world in each column. `worst` holds the largest of each number over
    the steps of the call, `worst_step` the step (since creation) where it stood."""

    contacts: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """of the last step, as all below"""
    rows: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    iterations: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    converged: NDArray[np.bool_] = _new(default_factory=lambda: np.empty(0, np.bool_))
    unconverged_steps: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call"""
    tolerance: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    solver_time: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[s] of the last step"""
    worst_body_a: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """the contact with the largest own residual; 0: none, or static"""
    worst_body_b: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    last: CertificateColumns | None = None
    worst: CertificateColumns | None = None
    worst_step: CertificateSteps | None = None
    energy: EnergyColumns | None = None
    """of the last step"""
    recovery_contacts: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """whose overlap would leave faster than recovery_speed, and does not"""
    recovery_steps: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call: steps that had such contacts"""
    asleep: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """bodies that sleep after the last step (WorldSettings.sleep_speed); absent: none of any world"""
    open: OpenColumns | None = None
    """of the last step"""
    worst_open: OpenColumns | None = None
    """of the step that left the largest residual"""
    worst_open_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """which step that was, since the world's creation; 0: all were solved"""
    softened: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """contacts and rows of the last step whose targets were softened"""
    softened_steps: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call: steps that had such"""
    launch: LaunchColumns | None = None
    """of the last step"""
    worst_launch: LaunchColumns | None = None
    """of the step that launched fastest"""
    worst_launch_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """which step that was, since the world's creation; 0: none launched anything"""
    broken_joints: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call: joints that broke, and are gone; absent: none of any world"""
    gained: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[J] of this call: energy that scheme and rows gained, less EnergyColumns.swing, in the sum of its steps
    or in one of them, where that is more than 1 % of the scale S of the world, which is of every step its
    kinetic and spring energy before and after + sum m |g| (h |v| + |g| h^2) + the work of drives, movers and
    wrenches, and of a call the largest of those; 0: none did. Absent: none of any world."""
    idle: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """of the last step"""
    idle_steps: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call: steps that had such"""
    borrowed_steps: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of this call: steps that took more than their share"""
    owed_steps: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """after the last step: how many will not borrow again"""


@dataclass(slots=True, kw_only=True)
class LaunchColumns(Message):
    """What a convex friction cone does beside friction: a contact that slides and pushes gets a normal
    velocity of mu times its slip, until it glides so far above the ground that its law asks for no more.
    Zeros: of models whose friction is Coulomb's, and where nothing slides."""

    speed: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m/s] the largest of them, of all contacts"""
    gliding: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m] how far above touching the highest such contact is after the step"""
    body_a: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of the contact with the largest speed; 0: none"""
    body_b: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))


@dataclass(slots=True, kw_only=True)
class OpenColumns(Message):
    """Islands that did not converge, as in Certificate; of the one with the largest residual, what it is.
    Zeros: all did."""

    islands: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """that there are; bodies that move and touch nothing are one each"""
    islands_open: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """that did not converge"""
    body: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """a body of that island, at its worst contact"""
    contacts: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """of that island"""
    residual: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """its e_own"""
    reason: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """why the work on it ended"""


@dataclass(slots=True, kw_only=True)
class CertificateColumns(Message):
    """The certificate, entry by entry; what each means: docs of the solvers, `Certificate` below."""

    e_mom: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_pen: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_comp: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_cone: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_mdp: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_ds: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_own: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    e_row: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    penetration: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m] deepest overlap at the start of the step"""


@dataclass(slots=True, kw_only=True)
class CertificateSteps(Message):
    e_mom: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_pen: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_comp: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_cone: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_mdp: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_ds: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_own: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    e_row: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    penetration: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))


@dataclass(slots=True, kw_only=True)
class EnergyColumns(Message):
    """Energy book of a step [J]: after - before = contact + row + applied + drive + scheme + unexplained."""

    before: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """kinetic + gravity + springs of joints, but those of sleepers"""
    after: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    contact: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """work of the contact impulses; above zero only with restitution, recovery, relaxed cones"""
    row: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """of joints: what holds, limits and dry friction"""
    applied: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """wrenches, and dampers of joints"""
    scheme: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """the integrator's own, known, first-order error, less what bodies lose that fall asleep"""
    unexplained: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """rounding: at most 1e-12 of S (StepReports.gained)"""
    drive: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """drives, efforts, and kinematic bodies by being moved; contact and row are without what these do"""
    swing: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """of scheme: what comes back within a period, of springs and of weights"""


@dataclass(slots=True, kw_only=True)
class WorldContacts(Message):
    """Contacts of a world's last step, by range: those that were solved, which those between sleepers are
    not. FAILED_PRECONDITION where there is none: since bodies were made or moved, or since a step was stopped
    half-way or failed."""

    world: int | None = None
    first: int | None = None
    """default 0"""
    count: int | None = None
    """default: all the rest"""


@dataclass(slots=True, kw_only=True)
class WorldContactsReply(Message):
    total: int | None = None
    body_a: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    body_b: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    feature: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """which edge, corner or face touches: with body and part the same from step to step while the same ones
    do; a number without further meaning"""
    point: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """3 [m], midway between the two surfaces"""
    frame: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """9: normal from a to b, tangent 1, tangent 2, world axes"""
    gap: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m] negative: overlap, at the start of the step"""
    impulse: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """3 [N s] on b along normal, tangent 1, tangent 2; the opposite on a"""
    velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """3 [m/s] of b against a after the step, same axes"""
    friction: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    residual: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """how far the contact is from what the solver's model asks of it, over the scale V of its island
    (Certificate.e_own is the largest)"""
    target_velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m/s] the solver asked for a normal velocity of at least this much: what a gap allows, a bounce or an
    overlap demands"""
    part_a: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """which primitives of the bodies' shapes touch, counted from 0"""
    part_b: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))


@dataclass(slots=True, kw_only=True)
class WorldHash(Message):
    """State hashes of worlds. Worlds that fail, as unknown ones, are listed in `failures` as those of
    WorldStep are."""

    worlds: ArrayLike | None = None
    """at least one; none twice"""


@dataclass(slots=True, kw_only=True)
class WorldHashReply(Message):
    """One entry per world in each column, in the order of the request; 0 of a world that failed."""

    hash: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    failures: list[Status] = _new(default_factory=list)
    """worlds that failed, each naming its world"""


@dataclass(slots=True, kw_only=True)
class WorldRayCast(Message):
    """What rays meet first, in worlds as their bodies stand between steps. A ray goes from its origin by its
    way, and ends there. It meets surfaces from outside: a primitive that it begins in it does not see, so
    that a sensor may sit inside of the body that carries it. It meets what is in one of the groups of its
    mask, and which has one of the ray's groups in its own mask, as two primitives do (see Primitive). Nothing
    of a world changes, not a bit of its hash. Worlds that fail, as unknown ones, are listed in `failures` as
    those of WorldStep are."""

    worlds: ArrayLike | None = None
    """at least one; none twice"""
    count: ArrayLike | None = None
    """rays of each world, in the order of the worlds; default: each world has as many, and there are that
    many times as many rays as worlds"""
    origin: ArrayLike | None = None
    """3 per ray, world after world [m]; each within +-1e9"""
    way: ArrayLike | None = None
    """3 per ray [m], not all zero; each within +-1e9"""
    group: ArrayLike | None = None
    """32 bits each, none zero: per ray, or one for all; default 4294967295, all"""
    mask: ArrayLike | None = None


@dataclass(slots=True, kw_only=True)
class WorldRayCastReply(Message):
    """A row per ray in each column, in the order of the request."""

    body: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """id; 0: the ray meets nothing, or its world failed"""
    primitive: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """its place in the body's shape"""
    fraction: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """of the ray's way, 0 … 1; 1 of a ray that meets nothing"""
    point: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """3 [m]; the ray's end where it meets nothing"""
    normal: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """3, unit, out of the surface; 0 0 0 where it meets nothing"""
    failures: list[Status] = _new(default_factory=list)
    """worlds that failed, each naming its world"""


@dataclass(slots=True, kw_only=True)
class SnapshotTake(Message):
    """Takes a snapshot of a world as it is now."""

    world: int | None = None


@dataclass(slots=True, kw_only=True)
class SnapshotTakeReply(Message):
    snapshot: int | None = None
    bytes: int | None = None
    hash: int | None = None
    """state hash of the world"""
    step: int | None = None
    """since the world's creation"""


@dataclass(slots=True, kw_only=True)
class SnapshotRead(Message):
    """Reads a part of a snapshot's bytes, to keep them."""

    snapshot: int | None = None
    first: int | None = None
    """first byte; default 0"""
    count: int | None = None
    """default: all the rest, or as much as a frame holds"""


@dataclass(slots=True, kw_only=True)
class SnapshotReadReply(Message):
    data: bytes | None = None
    total: int | None = None
    """bytes of the whole snapshot"""


@dataclass(slots=True, kw_only=True)
class SnapshotUpload(Message):
    """Brings a snapshot back, in parts: the first without `snapshot`, the others with the id that the first
    returned, in order."""

    snapshot: int | None = None
    """absent: a new one"""
    total: int | None = None
    """with the first part: bytes of the whole, 1 … the memory budget"""
    first: int | None = None
    """where this part begins: how many bytes were uploaded before; default 0"""
    data: bytes | None = None


@dataclass(slots=True, kw_only=True)
class SnapshotUploadReply(Message):
    snapshot: int | None = None
    received: int | None = None
    """bytes so far"""
    complete: bool | None = None
    """all are there, fit their checksum (else DATA_LOSS, and the upload is dropped) and are of this dynamics
    version; what they say is judged when it is used"""


@dataclass(slots=True, kw_only=True)
class SnapshotRestore(Message):
    """Makes a world what a snapshot says: bodies, settings, step count, everything but its name and lifetime.
    Recorded like any other input."""

    world: int | None = None
    snapshot: int | None = None


@dataclass(slots=True, kw_only=True)
class SnapshotRestoreReply(Message):
    hash: int | None = None
    step: int | None = None


@dataclass(slots=True, kw_only=True)
class SnapshotClone(Message):
    """Makes new worlds from a snapshot, or from a world as it is now."""

    snapshot: int | None = None
    """one of the two"""
    world: int | None = None
    count: int | None = None
    """1 … 65,536"""
    name: str | None = None
    """of the one clone; of several: with -1, -2 … behind it; default: world-N"""
    lifetime: World.Lifetime | None = None
    idle_timeout_s: float | None = None
    """as WorldCreate"""


@dataclass(slots=True, kw_only=True)
class SnapshotCloneReply(Message):
    worlds: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))


@dataclass(slots=True, kw_only=True)
class SnapshotDrop(Message):
    snapshot: int | None = None


@dataclass(slots=True, kw_only=True)
class SnapshotDropReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class Group(Message):
    """A group is `count` worlds that begin alike: clones of a template, stepped together by a learner. What
    goes in and out of a world in one step is compiled once, from *channels*, into rows of numbers: an action
    row of A numbers, an observation row of O, an extra row of E (what rewards need). Numbers of rows are
    floats, or doubles where GroupCreate.double_precision asks for them. Rewards are the client's to compute.
    Episodes. World i of a group (counted from 0) plays episodes k = 0, 1, 2 … . Each begins as the template
    stands, with what GroupNoise adds: drawn from the stream of (seed, first_world + i, k), which NumPy draws
    as well: numpy.random.Generator(numpy.random.Philox(key=[seed, first_world + i], counter=[0, 0, k,
    0])).random(n) One uniform number u is taken for each UNIFORM column, in the order of the columns: low +
    (high - low) u; two, u and v, for each GAUSSIAN one: mean + deviation sqrt(-2 ln(1 - u)) cos(2 pi v). An
    episode ends *terminated*, when a number of `bounds` has left its range or the world has lost a body or a
    joint, or *truncated*, after step_limit steps, or when a step of it failed. What follows is the group's
    Autoreset. Worlds of a group are seen through it alone: WorldList does not show them, and no other call
    takes them. They count as worlds, for every limit (worlds-max, session-worlds-max, the memory budget),
    from GroupCreate to GroupDestroy. A call names the worlds that it means by `mask`: bit i % 8 of byte i /
    8, counted from the lowest, is world i; (count + 7) / 8 bytes, those beyond the last world zero; absent:
    all. Rows, of the request and of the reply, are those of the named worlds in rising order. What is wrong
    with a call (an unknown group, a mask or a column of another length, a mask that names none) is an error,
    and nothing was done. What is wrong with a world (an action that is not finite, a step that failed) is a
    row of `failures`, and the others go on: also when all fail the status is OK. Calls on one group are
    carried out in the order they were sent."""

    class Autoreset(IntEnum):
        NEXT_STEP = 0
        """the default: the step after the last begins the next episode, whatever its action, and returns its
        first observation"""
        SAME_STEP = 1
        """the last step begins the next episode, too, and returns its first observation; the last one is in
        final_observation"""
        DISABLED = 2
        """a step of a world whose episode is over fails, FAILED_PRECONDITION, until GroupReset"""



@dataclass(slots=True, kw_only=True)
class GroupChannel(Message):
    """What goes into a world, or is read of it: one to seven numbers, as columns of a row, in the order of
    the axes. Names are those of the template. What is read is scale x + offset of the world's x, as it is
    after the step; an action `a` acts as scale min(max(a, low), high) + offset."""

    class Kind(IntEnum):
        JOINT_EFFORT = 0
        """action: fed forward [N], [N m], per free axis; read: likewise, as it is set"""
        JOINT_TARGET = 1
        """action: of the drive [m], [rad], per free axis; read: likewise"""
        JOINT_TARGET_VELOCITY = 2
        """action: of the drive [m/s], [rad/s], per free axis; read: likewise"""
        JOINT_POSITION = 3
        """read: [m], [rad], per position number (three turns have four: a quaternion w x y z); noise: per
        free axis, of three turns a rotation vector in the axes of b's frame"""
        JOINT_VELOCITY = 4
        """read, noise: [m/s], [rad/s], per free axis"""
        BODY_FORCE = 5
        """action: 3 [N] at the centre of mass, world axes, held for all substeps"""
        BODY_TORQUE = 6
        """action: 3 [N m] likewise"""
        BODY_POSITION = 7
        """read: 3 [m] of the body's origin; noise: added to it (of bodies that no joint places)"""
        BODY_ROTATION = 8
        """read: 4: unit quaternion w x y z, body to world, w >= 0; noise: 3 [rad]: a rotation vector in world
        axes"""
        BODY_VELOCITY = 9
        """read, noise: 3 [m/s] of the centre of mass, world axes; action: sets it, of a kinematic body"""
        BODY_SPIN = 10
        """read, noise: 3 [rad/s], world axes; action: sets it, of a kinematic body"""
        BODY_LOCAL_VELOCITY = 11
        """read: 3 [m/s]: BODY_VELOCITY in the body's axes"""
        BODY_LOCAL_SPIN = 12
        """read: 3 [rad/s]: BODY_SPIN in the body's axes"""
        CONTACT_FORCE = 13
        """read: 6: force [N] of all contacts on the body in the last substep that was not given up, and their
        torque [N m] about its centre of mass, world axes; zero after a reset"""
        ACTION = 14
        """read: the action row that was applied last, each number within low … high; zero after a reset"""
        TIME = 15
        """read: 1 [s] simulated since the episode began"""
        RAYS = 16
        """read: of each ray the fraction of its way at which it meets something, 0 … 1; 1: nothing. As
        WorldRayCast, and the body that carries the rays is not seen"""
        ACCELEROMETER = 17
        """read: 3 [m/s^2]: what an accelerometer at `mount` measures, in its axes: acceleration less gravity,
        in the mean over the last substep that was not given up, at the middle of it; at rest g upwards,
        falling 0, after a reset 0"""
        GYROSCOPE = 18
        """read: 3 [rad/s]: BODY_SPIN in the axes of `mount`"""
        JOINT_TORQUE = 19
        """read: [N], [N m], per free axis: all that acts along it in the last substep: drives, efforts,
        springs, dampers, limits and friction together, less what armature takes; as JOINT_WRENCH"""
        JOINT_WRENCH = 20
        """read: 6: force [N] and torque [N m] that a did to b through the joint in the last substep, at the
        origin of b's frame and in its axes, as WorldGetReply.joint_wrench has them; zero after a reset"""
        CONTACT = 21
        """read: 1: whether a contact has pressed on the body in the last substep, 1 or 0; after a reset 0"""
        BODY_GEOMETRY = 22
        """of a body whose shape has one primitive that wears a geometry. read: 1: the id of that geometry;
        noise: 1: added to its id, and rounded down: UNIFORM in [0, 3) on geometry 5 gives 5, 6 or 7. So
        worlds of a group stand on terrains of one list, another in each episode (scenes' geometries have the
        ids 1, 2, …, as they stand there; all must be of one kind). Bodies of one shape change together, and
        masses stay as they are"""

    kind: GroupChannel.Kind | None = None
    joint: str | None = None
    """of the kinds JOINT_…: its name (of several joints of one name, the first), or #2 for the second of the
    template"""
    body: str | None = None
    """of the others but ACTION and TIME: likewise"""
    joint_id: int | None = None
    """instead of names: ids, where the template is a world"""
    body_id: int | None = None
    relative_to: str | None = None
    """of BODY_POSITION, _ROTATION, _VELOCITY and _SPIN as read: another body, in whose axes and against whose
    motion it is read (the velocity of the centre of mass as seen from there); default: the world. Of CONTACT
    and CONTACT_FORCE: contacts with that body alone; default: with any"""
    relative_to_id: int | None = None
    axes: int | None = None
    """bits: which of the numbers, the first is bit 0; default: all that there are"""
    scale: float | None = None
    """-1e18 … 1e18"""
    offset: float | None = None
    """-1e18 … 1e18"""
    low: float | None = None
    """-3.4028234663852886e38 … 3.4028234663852886e38, the largest floats, which are the defaults and stand
    for "unbounded". Of actions: the range that they are clipped to. Of what is read: what the reply of
    GroupCreate says of it, and no more (default of JOINT_POSITION: the joint's limits). Of `bounds`: the
    range that the number must not leave."""
    high: float | None = None
    ray_way: ArrayLike | None = None
    """of RAYS: 3 per ray [m], where it goes to from its origin, in the body's axes; not all zero"""
    ray_origin: ArrayLike | None = None
    """3 per ray [m] from the body's origin, in its axes; or 3 for all; default 0 0 0"""
    ray_heading: bool | None = None
    """axes that turn with the body about the world's z alone, x where the body's x goes seen from above: of
    scans of the ground around; default false: the body's own"""
    ray_mask: int | None = None
    """32 bits: the groups that are seen, see Primitive; not 0"""
    mount: ArrayLike | None = None
    """of ACCELEROMETER and GYROSCOPE: 7: where it sits, a pose in the body's axes, from its origin [m];
    default: there"""
    noise_deviation: float | None = None
    """of each row"""
    bias_deviation: float | None = None
    """of the bias as the episode begins"""
    bias_walk: float | None = None
    """per sqrt(s): of what the bias changes by"""
    delay: int | None = None
    """steps of the group, 0 … 1,000"""
    delay_max: int | None = None
    """up to which it is drawn as each episode begins; default, and 0: the delay"""


@dataclass(slots=True, kw_only=True)
class GroupNoise(Message):
    """What a reset adds to the template's numbers: of the channel (one of the kinds that say "noise") for
    each column a number, drawn anew."""

    class Distribution(IntEnum):
        UNIFORM = 0
        """in [low, high)"""
        GAUSSIAN = 1
        """of the given mean and standard deviation"""

    channel: GroupChannel | None = None
    """scale and offset apply to what is drawn; low and high do not count"""
    distribution: GroupNoise.Distribution | None = None
    low: float | None = None
    """-1e9 … 1e9"""
    high: float | None = None
    """low … 1e9"""
    mean: float | None = None
    """-1e9 … 1e9"""
    deviation: float | None = None
    """0 … 1e9"""


@dataclass(slots=True, kw_only=True)
class GroupParameter(Message):
    """A number that differs from world to world: of each world, instead of the template's, in all of its
    episodes."""

    class Kind(IntEnum):
        BODY_MASS = 0
        """1 [kg] > 0; the inertia goes with it"""
        BODY_POSE = 1
        """7: pose; as a reset puts it, before noise (of bodies that no joint places)"""
        JOINT_POSITION = 2
        """per position number, of joints of coordinates; likewise"""
        MATERIAL_FRICTION = 3
        """1, as in Material, as the next"""
        MATERIAL_RESTITUTION = 4
        GRAVITY = 5
        """3 [m/s^2]"""
        JOINT_LOW = 6
        """per free axis, as in SceneJoint, as the rest; -1e18: none"""
        JOINT_HIGH = 7
        """1e18: none"""
        JOINT_STIFFNESS = 8
        JOINT_REST = 9
        JOINT_DAMPING = 10
        JOINT_FRICTION = 11
        JOINT_ARMATURE = 12
        JOINT_DRIVE_STIFFNESS = 13
        JOINT_DRIVE_DAMPING = 14
        JOINT_EFFORT_MAX = 15
        """1e18: unbounded"""
        JOINT_STALL_EFFORT = 16
        """0: no motor"""
        JOINT_NO_LOAD_SPEED = 17
        """0: none"""
        JOINT_LAG_TIME = 18
        JOINT_DELAY_STEPS = 19
        """whole"""
        BODY_GEOMETRY = 64
        """1: id of the geometry that the body wears, of those of the template; as a reset puts it on, before
        noise (see GroupChannel.BODY_GEOMETRY)"""
        BODY_INERTIA = 65
        """6 [kg m^2]: xx yy zz xy xz yz about the centre of mass, which stays, in body axes; behind a
        BODY_MASS of the same body, which scales what was there"""
        BODY_CENTER_OF_MASS = 66
        """3 [m] in body axes; the body's origin, its shapes and the frames of its joints stay, and its
        inertia is about the centre wherever that lies"""

    kind: GroupParameter.Kind | None = None
    body: str | None = None
    """of the kinds BODY_…: its name, or #2 for the second of the template"""
    joint: str | None = None
    """of the kinds JOINT_…: likewise"""
    material: str | None = None
    """of the kinds MATERIAL_…: likewise; not the built-in one"""
    body_id: int | None = None
    """instead of names: ids, where the template is a world"""
    joint_id: int | None = None
    material_id: int | None = None
    values: ArrayLike | None = None
    """so many numbers per world, world after world"""


@dataclass(slots=True, kw_only=True)
class GroupPush(Message):
    """Pushes at random moments: in each step of the group, and each world, one may begin that is held for
    some steps, with a direction and a size of its own; those that are under way at the same time add up. Step
    t of an episode, counted from 0, draws for the n-th of GroupCreate.pushes, counted from 0, uniform numbers
    u from numpy.random.Philox(key=[seed, first_world + i], counter=[0, t, episode, 4 + n]) It begins where
    the first is below `probability`. Then, of a force that is not always 0 and then of such a torque, one for
    the size, low + (high - low) u, and those of the direction: of three axes two, its z = 2 u - 1 and its
    angle 2 pi u about z; of two axes one, the angle 2 pi u from the first to the second; of one axis one,
    below 0.5 backwards. So they follow from the seed: a group that goes on in the middle of an episode,
    wherever, goes on with what is under way, and a recording needs no more of them than this."""

    body: str | None = None
    """a dynamic one: its name, or #2 for the second of the template"""
    body_id: int | None = None
    """instead of a name: an id, where the template is a world"""
    probability: float | None = None
    """0 … 1: that one begins, in each step of the group"""
    steps: int | None = None
    """of the group, 1 … 1,000, that it is held for"""
    axes: int | None = None
    """of the world, a sum of 1, 2 and 4 for x, y and z: along which directions lie, all as likely"""
    impulse: bool | None = None
    """sizes are what all of its steps give together, [N s] and [N m s], instead of [N] and [N m]"""
    force_low: float | None = None
    """0 … 1e12, at the centre of mass"""
    force_high: float | None = None
    """force_low … 1e12; this or torque_high is above 0"""
    torque_low: float | None = None
    """0 … 1e12, with a direction of its own"""
    torque_high: float | None = None
    """torque_low … 1e12"""


@dataclass(slots=True, kw_only=True)
class GroupRecord(Message):
    """Records a group, from its first episode to its end, as one recording: all that its worlds are made of,
    every call, and hashes of every world's state: at the beginning of each episode, behind every 16th step of
    it, and at its end. Each finished episode of each world is an episode of its own (EpisodeList.recording),
    which EpisodeVerify and EpisodeReplay step again without the others. One that a reset or the end of the
    group cut short is there up to its last hash, as WORLD_DESTROYED. Of a group that goes on from a recording
    an episode that was going on there has that recording's id as parent, and as parent_step how many of its
    steps are there: those from then on are counted, as step 1 and so on."""

    name: str | None = None
    """of the episodes; default: the group's"""
    labels: Sequence[str] | None = None
    """at most 64"""
    returns: bool | None = None
    """the client sends the return of each episode (GroupStep.return_sum); until then, or until four more of
    each world have ended, it is not listed; default false"""
    keyframe_steps: int | None = None
    """calls between two key-frames of each range of worlds; 1 … 1,000,000: showing a step, or going on from
    one (GroupCreate.recording), costs at most so many of each world"""


@dataclass(slots=True, kw_only=True)
class GroupOpinion(Message):
    """A second opinion on what the worlds do: policies learn to exploit what a solver got wrong. It changes
    no bit of any world. Certificates. A step of the group is *doubtful* when a substep of it did not
    converge, or its e_ds (distance from exact Coulomb friction, as in Certificate) was above `doubt`.
    GroupStepReply.doubtful says so of each row; of a group that is recorded, each episode has the number of
    its doubtful steps, and, where the client sends it (return_doubtful), what of its return was earned in
    them: EpisodeList.rank. Opinions. A share of the steps is solved again, with exact Coulomb friction (mdp,
    friction COULOMB), by lanes that have nothing better to do. The t-th step of an episode, from 0, is chosen
    where u < share, and floor(u / share * substeps) is the substep of it that is judged: stream =
    numpy.random.Philox(key=[seed, first_world + i], counter=[0, 0, k, 1]) u =
    numpy.random.Generator(stream).random(t + 1)[t] The gap is the largest difference of velocities at a
    contact or row between both answers, over V: |J (v - v')| / V, with V the velocity scale of its island, as
    in the certificate. Both are of the problem that the world's solver was handed, and of a soft model each
    contact is asked for the velocity that its own spring and damper give: softness is no gap; a cone that
    launches, regularised friction that creeps, and what was not solved, are. 0 where nothing touches. The
    opinions on a call on the group (GroupReset, GroupStep, GroupSend) come with the reply of the call `lag`
    calls later, in the order of the worlds, and never sooner: so replies repeat exactly, whatever the load.
    That call waits for them where they are late, as a call does where more than 64 MiB of problems are kept:
    no chosen step is left out. GroupReceive brings what is due by then; GroupOpinions waits for all."""

    share: float | None = None
    """of the steps, 0 … 1; 0: none is solved again, and certificates are judged all the same"""
    tolerance: float | None = None
    """of the exact answers, as MdpParameters.tolerance; 1e-14 … 1e-2"""
    doubt: float | None = None
    """0 … 1e6"""
    lag: int | None = None
    """1 … 1,024 calls"""


@dataclass(slots=True, kw_only=True)
class GroupOpinionColumns(Message):
    """One entry per opinion in each column."""

    world: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    episode: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """k …"""
    seed: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """… of this seed"""
    step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of the group in it, counted from 1"""
    substep: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """of it, from 0"""
    gap: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """1.7976931348623157e308: not finite"""
    e_ds: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """of the step's own certificate"""
    residual: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """e_own of the exact answer: above `tolerance` it was not found, and the gap is from the best that was"""


@dataclass(slots=True, kw_only=True)
class GroupCreate(Message):
    """Makes a group. Its worlds stand as the template does, and have not begun an episode: GroupReset begins
    one, or, with autoreset, the first GroupStep; or they go on from where those of a recorded group were."""

    name: str | None = None
    """default: the scene's or the world's name; need not be unique"""
    lifetime: World.Lifetime | None = None
    """as of worlds"""
    scene: Scene | None = None
    """the template: one of the two"""
    world: int | None = None
    """a world as it is now, with all that its future depends on"""
    count: int | None = None
    """worlds, 1 … 65,536"""
    seed: int | None = None
    first_world: int | None = None
    """world i draws from the stream of first_world + i: so one world of a group can be repeated alone"""
    action: Sequence[GroupChannel] | None = None
    """at least one column"""
    observation: Sequence[GroupChannel] | None = None
    """at least one column"""
    extra: Sequence[GroupChannel] | None = None
    bounds: Sequence[GroupChannel] | None = None
    """leaving one terminates; judged in doubles after each step of the group"""
    noise: Sequence[GroupNoise] | None = None
    substeps: int | None = None
    """steps of the world per step of the group, 1 … 1e6; the action holds for all of them"""
    time_step: float | None = None
    """[s] 1e-9 … 10 of a substep; default: the template's"""
    step_limit: int | None = None
    """an episode is truncated after so many steps of the group; 0: never"""
    autoreset: Group.Autoreset | None = None
    double_precision: bool | None = None
    """rows of doubles"""
    parameters: Sequence[GroupParameter] | None = None
    record: GroupRecord | None = None
    """default: it is not recorded. The server needs the option --db"""
    opinion: GroupOpinion | None = None
    """default: none, and no certificate is judged"""
    recording: str | None = None
    """Instead of a template: a recorded group, that goes on from where it was, on this server or another
    start of it: an id that GroupCreateReply.recording gave, or that of one of its episodes, an unmistakable
    beginning of one (at least 4 digits), or a name that only one recording has. What it is, its worlds, seeds
    and layouts, comes from the recording, so that beside these three only name, lifetime and record may be
    given. It stands as it did behind the call `step`: each world in the middle of its episode; GroupRead
    tells what it sees. What is done from then on gives the same bits as it would have there."""
    step: int | None = None
    """behind so many calls of the group (GroupReset, GroupStep, GroupSend; in the order they came); default:
    the last that all ranges of its worlds have: nothing that was stored of it is lost"""
    idle_timeout_s: float | None = None
    """[s] 1 … 1e9: destroyed when no call has named it for so long; default: never"""
    saved: int | None = None
    """Instead of a template or a recording: a group that was saved (GroupSave), here or on another server of
    the same dynamics version, whose bytes SnapshotUpload has brought; the id of that snapshot, which stays.
    Only name, lifetime, record and idle_timeout_s may be given beside it. It stands as the other one did when
    it was saved, each world in the middle of its episode (GroupRead tells what it sees), and goes on with the
    same bits; second opinions come with the same call as there. Recorded, its recording's parent is that of
    the saved group, if it had one."""
    pushes: Sequence[GroupPush] | None = None
    """at most 64"""


@dataclass(slots=True, kw_only=True)
class GroupResumed(Message):
    """What a group goes on from, and what is lost of what was stored. Nobody knows what came behind that: of
    a server that was killed the last second."""

    recording: str | None = None
    """id of the recording's first episode; absent: it was saved, and not recorded"""
    step: int | None = None
    """it stands behind so many calls (of one that was saved: of the group)"""
    calls_lost: int | None = None
    """that came behind it and of which something is stored, of all worlds or some"""
    episodes_lost: int | None = None
    """records of finished episodes behind it; they stay in the recording"""
    episodes_untold: int | None = None
    """that had finished by then, but whose records were not stored, or deleted"""
    damage: list[str] = _new(default_factory=list)
    """what of the recording is damaged or missing, and was gone around; at most 16 sentences"""
    over: bytes | None = None
    """worlds of which no episode goes on: bit r % 8 of byte r / 8 is world r"""
    double_precision: bool | None = None
    """as the recorded group was made, as what follows"""
    autoreset: Group.Autoreset | None = None
    substeps: int | None = None
    step_limit: int | None = None
    doubtful: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of a group that was saved, with an opinion: of each world's episode that goes on, how many of its steps
    so far are doubtful"""
    seed: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of each world: the seed of its episodes, and which of them, counted from 0, goes on, or begins next;
    absent where a frame has no room for them"""
    episode: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    first_world: int | None = None


@dataclass(slots=True, kw_only=True)
class GroupCreateReply(Message):
    group: int | None = None
    name: str | None = None
    count: int | None = None
    action: GroupColumns | None = None
    observation: GroupColumns | None = None
    extra: GroupColumns | None = None
    noise: GroupColumns | None = None
    """of GroupReset.values; low and high of uniform ones"""
    template_hash: int | None = None
    """state hash of the template"""
    bytes: int | None = None
    """of memory, of all worlds"""
    time_step: float | None = None
    """[s] of a substep"""
    recording: str | None = None
    """of one that is recorded: id of its first episode; all of them begin with the same 24 digits"""
    resumed: GroupResumed | None = None
    """of one that goes on"""


@dataclass(slots=True, kw_only=True)
class GroupColumns(Message):
    """One entry per column."""

    name: list[str] = _new(default_factory=list)
    """as slider.position, torso.rotation.w, ball.position.x-table, effort of an unnamed joint: #3.effort"""
    low: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    high: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))


@dataclass(slots=True, kw_only=True)
class GroupReset(Message):
    """Begins episodes: the next one of each named world, or, with a seed, episode 0 of that seed. What was
    going on there ends untold, also of a world that fails, as its numbers are none that a world can have: no
    episode goes on there until another begins."""

    group: int | None = None
    mask: bytes | None = None
    seed: ArrayLike | None = None
    """none: the episodes are counted on; one: of all named worlds; or one for each"""
    values: ArrayLike | None = None
    """a number per noise column, world after world: added instead of what would be drawn"""
    return_world: ArrayLike | None = None
    """as in GroupStep"""
    return_sum: ArrayLike | None = None
    return_doubtful: ArrayLike | None = None
    """as in GroupStep"""


@dataclass(slots=True, kw_only=True)
class GroupStep(Message):
    """Steps worlds: actions are applied, `substeps` steps taken, rows read."""

    group: int | None = None
    mask: bytes | None = None
    action: ArrayLike | None = None
    """A per named world, of either precision of the group; NaN and infinity are allowed here: such a row is
    refused (INVALID_ARGUMENT), its world keeps its state, the others step"""
    action_double: ArrayLike | None = None
    """instead of `action`"""
    return_world: ArrayLike | None = None
    """of a group recorded with returns (of any other: FAILED_PRECONDITION), what the client has counted of
    finished episodes: the world of each …"""
    return_sum: ArrayLike | None = None
    """… and the return of the oldest episode of that world that replies have told of and that has none yet"""
    return_doubtful: ArrayLike | None = None
    """of a group with an opinion: what of each return_sum was earned in doubtful steps; none, or one for each"""


@dataclass(slots=True, kw_only=True)
class GroupStepReply(Message):
    """Rows of the named worlds, or, of GroupReceive, of those in `worlds`. The reply of GroupReset has the
    first three columns and failures."""

    observation: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    """O per row; of a world that failed: as it stands"""
    extra: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    """E per row"""
    worlds: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """of GroupReceive"""
    observation_double: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """instead of the floats, of a group of double precision"""
    extra_double: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    terminated: bytes | None = None
    """bit r % 8 of byte r / 8 is row r; absent: none"""
    truncated: bytes | None = None
    """likewise; a world may be both"""
    final_world: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """Episodes that ended in this call, one entry each, with the last observation and extra, whatever the
    autoreset."""
    final_episode: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """k"""
    final_seed: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    final_length: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """steps of the group"""
    final_observation: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    """O per entry"""
    final_extra: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    """E per entry"""
    final_observation_double: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    final_extra_double: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    unconverged: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """per row: substeps whose solver did not reach its tolerance; absent: none anywhere"""
    failures: list[Status] = _new(default_factory=list)
    """Worlds that failed; `world` is the number in the group. A refused action, a call that is stopped
    (deadline, Cancel) before the world's turn, and a world that is over leave it as it was. Stopped in its
    first substep, it stands where it was, with its action in force, and its episode goes on. After a step
    that failed, or was stopped behind some substep, it stands before the one that was not done, and its
    episode is over: truncated, or already both."""
    doubtful: bytes | None = None
    """bits, as `terminated`"""
    opinions: GroupOpinionColumns | None = None
    """on the steps of an earlier call; absent: none"""
    recording_ended: str | None = None
    """as in GroupInfo, in every reply from then on that has room for it"""
    gained: bytes | None = None
    """bits, as `terminated`: rows whose substeps gained energy, as StepReports.gained says"""


@dataclass(slots=True, kw_only=True)
class GroupRead(Message):
    """The rows of worlds as they stand, without stepping them: the reply of GroupStep with its first two
    columns."""

    group: int | None = None
    mask: bytes | None = None


@dataclass(slots=True, kw_only=True)
class GroupSend(Message):
    """GroupStep in two parts: Send answers at once, and the worlds step meanwhile; Receive answers with those
    that finished first. A world that was sent takes no other call until it was received. Each world's
    sequence of rows repeats exactly; the order between worlds does not. While a Receive waits, GroupStep,
    GroupReset, GroupSend and GroupRead of its group that come after it wait for it, and other calls on the
    group wait behind those; so calls may be sent without waiting for replies."""

    group: int | None = None
    mask: bytes | None = None
    action: ArrayLike | None = None
    action_double: ArrayLike | None = None
    return_world: ArrayLike | None = None
    """as in GroupStep"""
    return_sum: ArrayLike | None = None
    return_doubtful: ArrayLike | None = None
    """as in GroupStep"""


@dataclass(slots=True, kw_only=True)
class GroupSendReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class GroupReceive(Message):
    group: int | None = None
    count: int | None = None
    """the first so many that finish, once there are as many; at most as many as were sent and that no other
    Receive waits for, which is the default; none: FAILED_PRECONDITION. A deadline counts for GroupSend;
    Cancel ends the wait"""


@dataclass(slots=True, kw_only=True)
class GroupDestroy(Message):
    """The group is gone for every call that follows; those under way are finished. Of one that is recorded it
    is answered when all of the recording is on the disk, synced."""

    group: int | None = None
    return_world: ArrayLike | None = None
    """as in GroupStep"""
    return_sum: ArrayLike | None = None
    return_doubtful: ArrayLike | None = None
    """as in GroupStep"""


@dataclass(slots=True, kw_only=True)
class GroupDestroyReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class GroupOpinions(Message):
    """Waits until the steps of all calls before it that are to be solved again have been, and tells what no
    reply has told yet. Cancel ends the wait."""

    group: int | None = None
    count: int | None = None
    """at most so many, and never more than a frame holds, the oldest first; default: as many"""


@dataclass(slots=True, kw_only=True)
class GroupOpinionsReply(Message):
    opinions: GroupOpinionColumns | None = None
    left: int | None = None
    """not told yet"""
    lost: int | None = None
    """of all so far: steps that could not be kept, or solved, as memory ended"""


@dataclass(slots=True, kw_only=True)
class GroupSave(Message):
    """Saves a group between the calls before it and those behind it, to be gone on with on this server or
    another (GroupCreate.saved): what it is, the state of all its worlds, the second opinions that no reply
    has told yet, with the call they are due at. Waits until the steps of all calls before it that are to be
    solved again have been; Cancel ends the wait. FAILED_PRECONDITION while a world that was sent (GroupSend)
    has not been received. It changes nothing. What was recorded stays, and is in the file, committed, when
    the reply comes, but for episodes that wait for their returns: those still to be told go to this group
    (GroupStep, GroupDestroy.return_sum)."""

    group: int | None = None


@dataclass(slots=True, kw_only=True)
class GroupSaveReply(Message):
    snapshot: int | None = None
    """to be read with SnapshotRead; it counts for the memory budget until SnapshotDrop"""
    bytes: int | None = None
    calls: int | None = None
    """of the group so far, those before it was saved among them: GroupReset, Step and Send"""


@dataclass(slots=True, kw_only=True)
class GroupList(Message):
    first: int | None = None
    """default 0"""
    count: int | None = None
    """at most 1,000, which is the default"""


@dataclass(slots=True, kw_only=True)
class GroupListReply(Message):
    groups: list[GroupInfo] = _new(default_factory=list)
    total: int | None = None


@dataclass(slots=True, kw_only=True)
class GroupInfo(Message):
    group: int | None = None
    name: str | None = None
    lifetime: World.Lifetime | None = None
    client: str | None = None
    """name of the program that made it"""
    count: int | None = None
    """worlds"""
    bodies: int | None = None
    """of the template"""
    steps: int | None = None
    """steps of its worlds, all together"""
    episodes: int | None = None
    """finished by all its worlds"""
    bytes: int | None = None
    """of memory"""
    recording: str | None = None
    """as in the reply of GroupCreate; absent: it is not recorded"""
    recording_ended: str | None = None
    """why its recording ended before it, as when the disk was full: what comes is not recorded; absent: it
    has not"""


@dataclass(slots=True, kw_only=True)
class Episode(Message):
    class Content(IntEnum):
        INPUTS = 0
        """start, inputs, hashes, key-frames: all that is needed to step it again"""
        FRAMES = 1
        """and poses and velocities at every stride-th step"""
        CONTACTS = 2
        """and contacts at every stride-th step"""

    class State(IntEnum):
        RECORDING = 0
        """it goes on"""
        COMPLETE = 1
        WORLD_DESTROYED = 2
        """complete up to then"""
        INTERRUPTED = 3
        """the server was killed or the disk was full: whole up to its last step"""

    class Rank(IntEnum):
        """In which order a list is."""

        NEWEST = 0
        """the newest first"""
        DOUBTFUL = 1
        """by the share of the return that was earned in doubtful steps (EpisodeInfo.doubtful_share), the
        largest first; only episodes of which the client said it"""



@dataclass(slots=True, kw_only=True)
class EpisodeStart(Message):
    """Records a world from now on. Answered when the episode is on the disk."""

    world: int | None = None
    name: str | None = None
    """default: the world's, with a number"""
    labels: Sequence[str] | None = None
    """at most 64"""
    content: Episode.Content | None = None
    stride: int | None = None
    """steps between frames; 1 … 1,000,000"""
    keyframe_steps: int | None = None
    """steps between key-frames; 1 … 1,000,000: seeking costs at most so many steps"""
    lossy: bool | None = None
    """true: when the disk cannot keep up, steps go unrecorded (and are counted) instead of waiting"""
    seed: int | None = None
    """kept with the episode; not used"""
    events: bool | None = None
    """also which bodies touch, from when to when, and how hard at most (EpisodeTouches); not with `lossy`"""


@dataclass(slots=True, kw_only=True)
class EpisodeStartReply(Message):
    episode: str | None = None
    name: str | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeStop(Message):
    """Ends a recording. Answered when all of it is on the disk, synced. It has its place among the calls on
    its world, also by the episode's id; what names the episode otherwise is looked up in the file first, and
    takes its place then."""

    world: int | None = None
    """one of the two"""
    episode: str | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeStopReply(Message):
    episode: EpisodeInfo | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeInfo(Message):
    episode: str | None = None
    name: str | None = None
    labels: list[str] = _new(default_factory=list)
    state: Episode.State | None = None
    content: Episode.Content | None = None
    stride: int | None = None
    lossy: bool | None = None
    seed: int | None = None
    client: str | None = None
    world_name: str | None = None
    solver: str | None = None
    """at its start"""
    steps: int | None = None
    """of one being recorded: committed so far; of a group's: steps of the group"""
    world_step: int | None = None
    """the world's own count at step 0"""
    time_step: float | None = None
    """[s] at its start"""
    bodies: int | None = None
    """at its start"""
    begun: float | None = None
    """[s] since 1970"""
    ended: float | None = None
    """[s] since 1970; absent: not yet"""
    unconverged_steps: int | None = None
    dropped_steps: int | None = None
    """of a lossy recording"""
    worst_own: float | None = None
    """largest e_own of its steps; absent of a group's, as 21, 31, 32 and 34: nobody keeps them"""
    worst_penetration: float | None = None
    """[m]"""
    dynamics_version: int | None = None
    server_version: str | None = None
    bytes: int | None = None
    """on the disk"""
    chunks: int | None = None
    keyframes: int | None = None
    why: str | None = None
    """of an interruption"""
    simulated: float | None = None
    """[s] of its steps together, also where the time step changed"""
    keyframe_steps: int | None = None
    """steps between key-frames"""
    build: str | None = None
    """compiler and machine of the server that recorded it"""
    contacts_max: int | None = None
    """most contacts of a step"""
    hardest_impact: float | None = None
    """[m/s] largest approach speed of a contact that pushed"""
    hardest_impact_step: int | None = None
    """absent while it is being recorded, and of one that was interrupted"""
    energy_gain: float | None = None
    """[J] largest of one step that no wrench, damper, drive or mover explains, less what swings; 0: none"""
    energy_gain_step: int | None = None
    """as hardest_impact_step"""
    parent: str | None = None
    """the episode that its world was forked from, or that it is a variant of (EpisodeCompare) …"""
    parent_step: int | None = None
    """… behind this step of it"""
    world_index: int | None = None
    """in a group; 0 of a world"""
    return_sum: float | None = None
    """what a training client counted"""
    pinned: bool | None = None
    """EpisodePin: retention keeps it, and EpisodeDelete refuses it"""
    damage: str | None = None
    """in a list alone: why its row cannot be read; then nothing else is there"""
    gained: float | None = None
    """[J] energy that scheme and rows gained, in the sum of its steps or in one of them, as
    StepReports.gained says of a call; 0: none. Of a group's, of its substeps; of one that began in another
    recording (`parent`), of those here. Absent: not known, as of what was recorded before version 9 of the
    log's format."""
    events: bool | None = None
    """which bodies touch was recorded: EpisodeTouches has it"""
    turn: int | None = None
    """of a group: which of its seed's and world's episodes it is, from 0"""
    doubtful_steps: int | None = None
    """steps of the group with bad certificates"""
    return_doubtful: float | None = None
    """what of return_sum was earned in them; absent: the client did not say"""
    doubtful_share: float | None = None
    """return_doubtful as a share: d / (|d| + |return_sum - d|), -1 … 1; 0 where both are 0"""
    opinions: int | None = None
    """steps that were solved again"""
    opinion_gap_max: float | None = None
    """the largest gap of those whose exact answer was found"""


@dataclass(slots=True, kw_only=True)
class EpisodeHighlight(Message):
    """A stretch of steps that somebody will want to look at."""

    class Kind(IntEnum):
        UNKNOWN = 0
        """never sent, and nowhere found"""
        UNCONVERGED = 1
        """the solver did not reach its tolerance; value: the largest e_own"""
        IMPACT = 2
        """the hardest impact of some steps; value: approach speed [m/s]"""
        ENERGY_GAIN = 3
        """energy that no applied force explains, more than a millionth of what there was; value: [J]"""
        LAUNCH = 4
        """the fastest launch of some steps, as convex friction does (LaunchColumns); value: [m/s]; from
        version 4 of the log's format on"""
        BROKEN = 5
        """joints broke; value: how many in the worst step; from version 5 of the log's format on"""

    kind: EpisodeHighlight.Kind | None = None
    first_step: int | None = None
    """of the episode"""
    last_step: int | None = None
    worst_step: int | None = None
    value: float | None = None
    """of the worst step"""
    reason: Certificate.Reason | None = None
    """why the work on the island that was left furthest from being solved ended, in each of these steps"""
    body: int | None = None
    """id of a body of that island, the same in each of them"""
    contacts: int | None = None
    """of that island, in the worst step"""
    other_body: int | None = None
    """the other one"""
    height: float | None = None
    """[m] how far above touching the highest contact that slides is after the worst step"""
    joint: int | None = None
    """of BROKEN: id of the first that broke in the worst step"""


@dataclass(slots=True, kw_only=True)
class EpisodeBody(Message):
    """One body of a touch, by one of the two."""

    id: int | None = None
    name: str | None = None
    """the body's own, whole; 1 … 255 bytes"""


@dataclass(slots=True, kw_only=True)
class EpisodeTouch(Message):
    """Touches of two bodies. Whatever is given counts, all of it of the same touch."""

    body: EpisodeBody | None = None
    """default: any"""
    other_body: EpisodeBody | None = None
    """the body that it touches; default: any"""
    after: int | None = None
    """[step] begun behind this step of the episode"""
    before: int | None = None
    """[step] begun in front of this step"""
    impulse_above: float | None = None
    """[N s] the hardest push of a step was more than this; >= 0"""
    speed_above: float | None = None
    """[m/s] the bodies approached each other faster than this when they met; >= 0"""


@dataclass(slots=True, kw_only=True)
class EpisodeList(Message):
    """Which episodes there are."""

    name: str | None = None
    """part of the name, in any case of letters"""
    label: str | None = None
    """one of its labels"""
    solver: str | None = None
    client: str | None = None
    state: Episode.State | None = None
    since: float | None = None
    """[s] since 1970: begun at this time or later"""
    until: float | None = None
    """[s] begun before"""
    first: int | None = None
    """skip so many; default 0"""
    count: int | None = None
    """at most so many, and never more than 65,536, or than a frame holds: go on behind those that came"""
    recording: str | None = None
    """those of this recording: the id of any of them, 32 digits"""
    touches: Sequence[EpisodeTouch] | None = None
    """each of these was among its touches; at most 8. Of episodes recorded without `events` nobody knows:
    they are counted in `unknown`"""
    highlights: ArrayLike | None = None
    """it has some of each of these kinds; at most 8"""
    rank: Episode.Rank | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeListReply(Message):
    total: int | None = None
    episodes: list[EpisodeInfo] = _new(default_factory=list)
    unknown: int | None = None
    """with `touches`: how many meet all else, and were recorded without `events`"""


@dataclass(slots=True, kw_only=True)
class EpisodeDescribe(Message):
    episode: str | None = None
    names: bool | None = None
    """also the names that bodies have; default false"""
    highlights: int | None = None
    """also so many of each kind of highlights, the worst first; 0 … 10,000; default 0"""


@dataclass(slots=True, kw_only=True)
class EpisodeDescribeReply(Message):
    episode: EpisodeInfo | None = None
    ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """with `names`: each body that has one at the episode's start …"""
    names: list[str] = _new(default_factory=list)
    """… and its name"""
    highlights: list[EpisodeHighlight] = _new(default_factory=list)
    """kind by kind"""
    highlight_total: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """with `highlights`: how many there are of each kind, from UNCONVERGED on"""
    static_ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """with `names`: the bodies that are STATIC at the episode's start, and so never move"""
    signature: EpisodeSignature | None = None
    """the last of its recording's; absent: it has none that can be read"""


@dataclass(slots=True, kw_only=True)
class EpisodeSignature(Message):
    """What a signature in a recording says of itself (a server's --seal-key). Nobody has compared it with the
    bytes that it is of, nor its key with anybody's: whoever has the file can write another. EpisodeVerify
    with `seal_public_key` does."""

    class How(IntEnum):
        HOW_UNSPECIFIED = 0
        """is not sent"""
        LIVE = 1
        """the server recorded what is before it"""
        LAST = 2
        """likewise, and so the recording ended"""
        FOUND = 3
        """the server found what is before it in the file, when it started again after a crash"""

    key: bytes | None = None
    """whose, 32 bytes: the public half, an Ed25519 key"""
    how: EpisodeSignature.How | None = None
    step: int | None = None
    """up to it; of a group's the calls on the range of worlds that had most"""
    chunk: int | None = None
    """it is of so many chunks: those that the recording has (of a group, of all its worlds)"""


@dataclass(slots=True, kw_only=True)
class EpisodeTouches(Message):
    """Which bodies touched in an episode that is recorded with `events`, in order by where they began, then
    by the bodies. Two bodies *push* in a step whose contacts between them have normal impulses that, added up
    and divided by the reduced mass of the two, are more than 1e-4 |g| h (and more than 1e-9 m/s). A touch
    begins in a step in which they push. It goes on where they push, where one of their contacts has a gap of
    at most 1e-4 |g| h^2, as the step began, and where both sleep, or one does and the other is not dynamic.
    It ends, with the last such step, where two steps in a row have none of it, or a body is gone. Bodies that
    touch as the recording begins begin in its first step. Of an episode that is being recorded the last
    second may not be told yet. Of an episode without events nobody has noted it: FAILED_PRECONDITION, unless
    `simulate` has all of it stepped again, each time it is asked for. That gives the same touches as a
    recording with events would have had, needs what EpisodeVerify needs, and sends events with
    `touches_progress`; where the recording is not what its steps give, or has lost some, it is DATA_LOSS,
    naming the step. An episode of a group never has events: of it the touches are those of all steps of its
    world, told in steps of the group; what a call did that was stopped within its substeps, and so ended the
    episode, is told of its last step. One whose beginning is in another recording begins with those who touch
    there."""

    episode: str | None = None
    where: EpisodeTouch | None = None
    """default: all"""
    first: int | None = None
    """skip so many; default 0"""
    count: int | None = None
    """at most so many, and never more than 65,536"""
    simulate: bool | None = None
    """where none were recorded, as above"""


@dataclass(slots=True, kw_only=True)
class EpisodeTouchesReply(Message):
    """Columns, one entry per touch."""

    total: int | None = None
    """touches that are meant"""
    body: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """id, the smaller of the two"""
    other_body: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """id"""
    first_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of the episode"""
    last_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """the last in which they touched; of one that never ended the episode's last"""
    ended: NDArray[np.bool_] = _new(default_factory=lambda: np.empty(0, np.bool_))
    """false: they still touched where the recording ends"""
    approach_speed: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m/s] how fast they came together, along the normal, before the first step; >= 0"""
    first_impulse: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[N s] along the normals, of the first step"""
    hardest_impulse: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[N s] the largest of a step"""
    hardest_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """the first step that had it"""
    ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of each of these bodies that has a name …"""
    names: list[str] = _new(default_factory=list)
    """… and its name"""
    simulated: bool | None = None
    """none were recorded: these are of steps that were taken again"""


@dataclass(slots=True, kw_only=True)
class EpisodeRead(Message):
    """States and contacts of an episode, by range: the stored ones where there are some, others by stepping
    from the key-frame before."""

    episode: str | None = None
    first: int | None = None
    """step; default 0"""
    count: int | None = None
    """how many frames; default: all the rest"""
    stride: int | None = None
    """steps from frame to frame"""
    poses: bool | None = None
    velocities: bool | None = None
    contacts: bool | None = None
    """default false"""
    single: bool | None = None
    """poses and velocities as floats; default false; refused where no float holds one of them"""
    again: bool | None = None
    """step again even where states are stored; default false"""
    joints: bool | None = None
    """numbers of all joints; default false"""
    reports: bool | None = None
    """certificates and energies of the frames' steps, which are stepped again for them; default false"""


@dataclass(slots=True, kw_only=True)
class EpisodeReadReply(Message):
    frames: EpisodeFrames | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeFrames(Message):
    """Frames one behind the other. Columns as in WorldStepReply and WorldContactsReply."""

    step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of the episode"""
    world_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """the world's own count"""
    time: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[s] the world's own"""
    body_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """how many bodies each frame adds below"""
    ids: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """of the bodies of each frame that lists them: the first, and those where they changed"""
    pose: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    pose_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    velocity_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    contact_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """with contacts: how many each frame adds below"""
    contacts: WorldContactsReply | None = None
    stored: NDArray[np.bool_] = _new(default_factory=lambda: np.empty(0, np.bool_))
    """per frame: read from the disk; else stepped again"""
    ids_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """per frame: how many ids it lists above, all of its bodies' or 0: those of the frame before"""
    joint_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """how many joints each frame has"""
    joints_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """per frame: how many it lists in the next two, all of its joints' or 0: those of the frame before"""
    joints: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """ids"""
    joint_axes: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    joint_axis_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """how many numbers each frame adds to each column but positions, …"""
    joint_position_count: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """… and to those"""
    joint_position: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_position_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    joint_velocity_single: NDArray[np.float32] = _new(default_factory=lambda: np.empty(0, np.float32))
    joint_target: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_target_velocity: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    joint_effort: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    reports: StepReports | None = None
    """With `reports`; one entry per frame in each column, of the step that led to it, of a group of its last
    substep: contacts, rows, iterations, converged, tolerance, worst_body_a and worst_body_b, last, energy,
    recovery_contacts, asleep. The others are of calls, and absent, as is solver_time."""
    has_report: NDArray[np.bool_] = _new(default_factory=lambda: np.empty(0, np.bool_))
    """per frame; false: no step led to it, as to the first, and its entries are 0"""


@dataclass(slots=True, kw_only=True)
class EpisodeReplay(Message):
    """Streams an episode: events with `episode_frames`, then the reply. Cancel ends it. A client that reads
    slowly gets every frame, later."""

    episode: str | None = None
    first: int | None = None
    """step; default 0"""
    last: int | None = None
    """default: the last"""
    stride: int | None = None
    """steps from frame to frame"""
    speed: float | None = None
    """times real time, by the world's clock; 0: as fast as it is read; 0 … 1e6"""
    poses: bool | None = None
    velocities: bool | None = None
    contacts: bool | None = None
    single: bool | None = None
    again: bool | None = None
    """as in EpisodeRead"""
    joints: bool | None = None
    backward: bool | None = None
    """From `last` down to `first`, in the same strides: last, last - stride, … . What is not stored is
    stepped from the key-frame before, a block of frames at a time, which costs at most about two steps for
    each; default false"""
    reports: bool | None = None
    """as in EpisodeRead"""


@dataclass(slots=True, kw_only=True)
class EpisodeReplayReply(Message):
    frames: int | None = None
    """sent"""
    last_step: int | None = None
    """of the last frame that was sent"""


@dataclass(slots=True, kw_only=True)
class EpisodeVerify(Message):
    """Steps an episode again and compares every hash, frame, key-frame and figure; counts its chunks, follows
    them one by one and compares all that the file's rows say of it with what was sealed when it was recorded;
    frames and contacts that are gone are missed. Sends events with `episode_progress`. A difference is no
    error of the call: the reply says `verified = false`. FAILED_PRECONDITION when the episode is of another
    dynamics version."""

    episode: str | None = None
    first: int | None = None
    """step; default 0"""
    last: int | None = None
    """default: the last"""
    lanes: int | None = None
    """at most so many at once; default: all"""
    seal_public_key: bytes | None = None
    """An Ed25519 key, 32 bytes, of a server's --seal-key: the reply's `signed` says what it has signed.
    INVALID_ARGUMENT when it is none"""


@dataclass(slots=True, kw_only=True)
class EpisodeSigned(Message):
    """Whose signatures a recording carries, and up to where. They protect against who has the file: not
    against who has the key, or the server that records with it, nor against a whole recording that is left
    out. A server that is not yours may answer anything: verify with one of your own."""

    class By(IntEnum):
        BY_UNSPECIFIED = 0
        """is not sent: `by` is always one of the others"""
        NOBODY = 1
        """there is no signature that is one"""
        ANOTHER = 2
        """`key` has signed something, and the key that was asked for has not"""
        PARTLY = 3
        """by the key that was asked for, up to `step`; nobody vouches for what is behind it, or for the end"""
        FOUND = 4
        """likewise; and what is behind `step` is what the server found in the file when it started again"""
        WHOLLY = 5
        """by the key that was asked for, from the beginning to how it ended"""

    by: EpisodeSigned.By | None = None
    step: int | None = None
    """of the episode: up to it everything is signed"""
    key: bytes | None = None
    """of whom, 32 bytes; absent with NOBODY"""


@dataclass(slots=True, kw_only=True)
class EpisodeProgress(Message):
    steps_done: int | None = None
    steps_total: int | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeVerifyReply(Message):
    verified: bool | None = None
    """every step, every stored byte and every row is what it should be; see `sealed`"""
    steps: int | None = None
    """compared"""
    dropped_steps: int | None = None
    """that a lossy recording does not have"""
    unconverged_steps: int | None = None
    """as found by stepping again"""
    seconds: float | None = None
    differences: list[EpisodeDifference] = _new(default_factory=list)
    """the first by step; at most 100"""
    sealed: bool | None = None
    """whoever recorded it closed it: nothing is missing at its end. false: it is being recorded, or was
    interrupted, and what came behind `proven_step` nobody can tell"""
    proven_step: int | None = None
    """up to here there are chunks"""
    signed: EpisodeSigned | None = None
    """with `seal_public_key`. `verified` is without it: against what the file itself says, which who has it
    can change"""


@dataclass(slots=True, kw_only=True)
class EpisodeDifference(Message):
    step: int | None = None
    chunk: int | None = None
    """row id in the file; absent where something is missing"""
    chunk_kind: str | None = None
    """"inputs", "key-frame", "frames", "contacts", "gap", "definition", "seal", "episodes", "scene",
    "highlights", "events", "geometries", "signature" """
    damaged: bool | None = None
    """the stored bytes are broken or gone; else they are sound and differ from what the steps give"""
    expected_hash: int | None = None
    found_hash: int | None = None
    body: int | None = None
    """first body that differs, where a frame or key-frame tells"""
    quantity: str | None = None
    """as position.x; or the column of a row that is not what was sealed, as recording.stride"""
    expected: float | None = None
    found: float | None = None
    message: str | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeDelete(Message):
    """Removes an episode from the file, and its recording with the last one. FAILED_PRECONDITION while it is
    being recorded, or pinned."""

    episode: str | None = None


@dataclass(slots=True, kw_only=True)
class EpisodeDeleteReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class EpisodeFork(Message):
    """Makes a live world that is what an episode's world was right behind a step, to go on from there
    otherwise. Episodes recorded of the new world name their parent and that step (EpisodeInfo.parent), until
    SnapshotRestore makes something else of it. Needs what EpisodeReplay needs: what was not stored is stepped
    again, and a recording that does not step to its own hashes is DATA_LOSS, naming the step."""

    episode: str | None = None
    step: int | None = None
    """of the episode; default: its last"""
    name: str | None = None
    """of the world, unique among the server's; default: world-N"""
    lifetime: World.Lifetime | None = None
    idle_timeout_s: float | None = None
    """as WorldCreate"""


@dataclass(slots=True, kw_only=True)
class EpisodeForkReply(Message):
    world: int | None = None
    name: str | None = None
    parent: str | None = None
    """the episode"""
    step: int | None = None
    """of the episode"""
    world_step: int | None = None
    """the world's own count"""
    bodies: int | None = None
    hash: int | None = None
    """of the state: what was recorded behind that step"""


@dataclass(slots=True, kw_only=True)
class EpisodeCompare(Message):
    """Takes the inputs of an episode again, from a step on, as they were and beside that under other
    settings, and tells how far the worlds come apart and how well each was solved. The recording's own run
    must step to its own hashes (else DATA_LOSS, naming the step), and every variant begins with its state at
    `first`, warm start included. Sends events with `compare_progress`. Nothing of a reply but its times
    depends on the number of lanes. FAILED_PRECONDITION when the episode is of another dynamics version. Every
    input comes at the time at which it was recorded. What a variant's settings give rules throughout: where
    the recording sets the same (a solver or its parameters: both), that part of the input is left out, and
    the rest of it is done. Bodies that have left a variant's bounds are passed over by wrenches; any other
    input that a variant cannot take ends it (EpisodeRun.ended) and none of the others, as does a step that
    fails. With another time_step a variant has a clock of its own, which begins with the recording's. 1000 of
    the recording's steps at most, and 1000 of the variant's, lie between two times at which steps of both
    end, else INVALID_ARGUMENT. A step's wrenches are those recorded for the time that it covers: where they
    change inside of it, their mean, so that what they add in momentum is the same. Whatever else changes a
    world (WorldSet, and with it the targets and efforts of drives, bodies that are added, …) must come where
    a step of the variant ends; where it does not, the variant ends there. Worlds are compared at the times at
    which steps of both end. An episode of a group is compared as one of a world: it begins with the template,
    the world's own parameters and what was drawn as they were recorded, and its inputs are its actions, as
    they were clipped. Steps are those of the group (GroupCreate.substeps of the world's each, `substeps` of
    the reply), behind which worlds are compared. A variant takes the recorded actions of all of them, whether
    or not the group's rules (bounds, bodies or joints that are lost) would have ended its episode before:
    EpisodeRun.terminated_step says where. With a time step of its own it needs one of which steps end where
    the group's do, if an action drives joints or kinematic bodies. An episode that a variant becomes is one
    of a single world, in which an action is what a client of that world would have sent: a WorldSet of the
    driven joints' efforts, targets and target velocities and of kinematic bodies' velocities, and then, for
    each substep, a WorldStep with the wrenches. Where worlds sleep (sleep_speed above 0) and an action drives
    joints, the hash may be another one although all bodies move alike: WorldSet rouses both bodies of such a
    joint, a group the one that it drives."""

    episode: str | None = None
    first: int | None = None
    """step; default 0"""
    last: int | None = None
    """default: the last"""
    stride: int | None = None
    """steps of the recording from sample to sample, and of frames that are recorded; 1 … 1,000,000"""
    variants: Sequence[EpisodeVariant] | None = None
    """1 … 16"""
    threshold: float | None = None
    """[m] 0 … 1e6: worlds are apart where a body is farther than this from where it was"""
    record: bool | None = None
    """each variant becomes an episode, which knows its parent and step; default false"""
    labels: Sequence[str] | None = None
    """of those episodes; at most 64"""
    content: Episode.Content | None = None
    """of those episodes"""


@dataclass(slots=True, kw_only=True)
class EpisodeVariant(Message):
    settings: WorldSettings | None = None
    """what is absent is as recorded; {} steps what was recorded, to the bit"""
    name: str | None = None
    """of the episode that it becomes; default: the recording's with the variant's number, from 1"""


@dataclass(slots=True, kw_only=True)
class EpisodeCompareReply(Message):
    first: int | None = None
    """steps compared"""
    last: int | None = None
    seconds: float | None = None
    """that it took"""
    runs: list[EpisodeRun] = _new(default_factory=list)
    """the recording's own, then the variants in their order"""
    substeps: int | None = None
    """steps of the world in one of the episode: 1, or of a group what GroupCreate.substeps said"""


@dataclass(slots=True, kw_only=True)
class EpisodeRun(Message):
    """One run of an episode's inputs. Steps are the run's own, counted from `first` on (of a group from
    `first` times `substeps` on), unless they are said to be the recording's: the same where the time steps
    are, and `substeps` is 1."""

    solver: str | None = None
    """when it began, as the next"""
    time_step: float | None = None
    """[s]"""
    steps: int | None = None
    """taken"""
    simulated: float | None = None
    """[s] of these"""
    ended: str | None = None
    """why it did not get to its end; absent: it did"""
    ended_step: int | None = None
    """the recording's, behind which it ended"""
    overridden: int | None = None
    """inputs of which a part was left out, as the variant's settings rule"""
    unconverged_steps: int | None = None
    worst: CertificateColumns | None = None
    """of all steps; one number each, as below"""
    worst_step: CertificateSteps | None = None
    """0: no step was taken"""
    mean: CertificateColumns | None = None
    contacts_max: int | None = None
    contacts_mean: float | None = None
    iterations_mean: float | None = None
    solver_time: float | None = None
    """[s] of all steps"""
    solver_time_max: float | None = None
    """[s] of one"""
    launch: LaunchColumns | None = None
    """of the step that launched fastest; absent: none did"""
    launch_step: int | None = None
    removed: int | None = None
    """bodies that left the bounds"""
    broken: int | None = None
    """joints that broke"""
    solver_time_mean: float | None = None
    """[s] of a step"""
    energy: float | None = None
    """[J] after the last step taken: kinetic + gravity"""
    terminated_step: int | None = None
    """the recording's: first, of those at which this run was compared, behind which its group's rules end an
    episode by termination (bounds, lost bodies or joints), and it went on all the same; absent: at none, or
    of no group"""
    compared: int | None = None
    """how many times these were, that of `first` included"""
    distance: float | None = None
    """[m] the largest of any body's centre of mass …"""
    distance_body: int | None = None
    """… of which; 0: none was apart"""
    distance_step: int | None = None
    """… behind which step of the recording, as all steps below"""
    angle: float | None = None
    """[rad] the largest turn between orientations, 0 … pi"""
    angle_body: int | None = None
    angle_step: int | None = None
    apart_step: int | None = None
    """first at which a body is farther than `threshold`; absent: none"""
    differs_step: int | None = None
    """first at which any bit of a pose or velocity is another"""
    hash_step: int | None = None
    """first at which the state's hash is another: at once where any setting is"""
    bodies_step: int | None = None
    """first at which there are other bodies"""
    sample_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """the recording's"""
    sample_own_step: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    """the run's"""
    sample_time: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[s] since `first`"""
    sample_energy: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[J] kinetic + gravity (EnergyColumns); of `first`: before the first step"""
    sample_contacts: NDArray[np.uint32] = _new(default_factory=lambda: np.empty(0, np.uint32))
    """of the step behind which it stands"""
    sample_distance: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m] the largest of any body"""
    sample_distance_body: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    sample_angle: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[rad]"""
    sample_angle_body: NDArray[np.uint64] = _new(default_factory=lambda: np.empty(0, np.uint64))
    episode: str | None = None
    """With `record`:"""
    name: str | None = None


@dataclass(slots=True, kw_only=True)
class EpisodePin(Message):
    """Pins an episode, or lets it go again, also while it is being recorded. Retention deletes no recording
    with a pinned episode in it, whatever the options --keep-days, --keep-bytes and --keep-episodes say, and
    EpisodeDelete refuses a pinned one. Answered when it is on the disk."""

    episode: str | None = None
    pinned: bool | None = None
    """false: not any more"""


@dataclass(slots=True, kw_only=True)
class EpisodePinReply(Message):
    pass


@dataclass(slots=True, kw_only=True)
class EpisodeBackup(Message):
    """Makes a sound copy of the server's file of episodes, while it serves and records: one SQLite file, in
    the folder of the option --backup-dir, that a server, or anything that reads SQLite, opens by itself.
    Whatever was committed before the call is in it; what is being recorded at its end is `interrupted` there.
    Sends events with `backup_progress`. The copy gets its name when it is whole and on the disk: a call that
    fails or is cancelled leaves nothing. ALREADY_EXISTS: there is such a file. FAILED_PRECONDITION: no
    --backup-dir, or a backup is being made already. RESOURCE_EXHAUSTED: the disk has not the room for it and
    for what the log itself needs."""

    name: str | None = None
    """of the file: 1 … 200 bytes, no slash, no dot in front, not what SQLite calls its own (-wal, -journal,
    -shm)"""
    overwrite: bool | None = None
    """an ordinary file of that name that no server has open is replaced"""


@dataclass(slots=True, kw_only=True)
class BackupProgress(Message):
    bytes_done: int | None = None
    """copied; pages that change meanwhile go over by themselves"""
    bytes_total: int | None = None
    """may change while the file does"""


@dataclass(slots=True, kw_only=True)
class EpisodeBackupReply(Message):
    name: str | None = None
    bytes: int | None = None
    seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class Subscribe(Message):
    """Watches a world while it runs, also in the middle of a long WorldStep: events with `live_frame`, the
    first at once, then whenever it has stepped or was changed. Changes nothing, and waits for no call. The
    latest state wins: a client that is slow to read misses those between, and is told how many; one that does
    not read at all holds up nobody (and is cut after --write-timeout-ms). What is there when the world rests
    is always shown in the end. Ends with CANCELLED (Cancel), NOT_FOUND (the world is gone),
    RESOURCE_EXHAUSTED (what it asks for does not fit into a frame) or with its connection. A subscription is
    a request under way; --subscriptions-max limits those of the server, and a connection may have one fewer
    than its --requests-max, so that Cancel is read: more are RESOURCE_EXHAUSTED. Of a world of a group, a
    frame is what a call left behind: the world after a GroupStep's row of it, or after a GroupReset. It does
    not keep its group from going by an idle timeout, and ends with NOT_FOUND, which says why, as soon as the
    group is destroyed or goes with its session."""

    world: int | None = None
    """this, or group and index"""
    group: int | None = None
    index: int | None = None
    """of the world in its group, 0 … count - 1; default 0"""
    every: int | None = None
    """steps (of a group: of that world, as the group counts them): at least so many from one frame to the
    next, 1 … 10^12"""
    frames_per_second: float | None = None
    """[1/s] at most so many, by the clock of the server, 0 … 1e6; 0: as many as both sides manage"""
    scene: bool | None = None
    """what the bodies are: in the first frame, and whenever any were added"""
    poses: bool | None = None
    velocities: bool | None = None
    joints: bool | None = None
    """which joints there are, and their numbers"""
    contacts: bool | None = None
    reports: bool | None = None
    """certificates"""
    single: bool | None = None
    """poses, velocities and joints as floats"""


@dataclass(slots=True, kw_only=True)
class LiveFrame(Message):
    """What the world was at one moment, between two steps."""

    frames: EpisodeFrames | None = None
    """one frame, whose `step` is the world's own; it lists ids, of bodies and joints, where these are others
    than in the frame before (`ids_count`, `joints_count`). Contacts are those of its step: none where the
    world was changed since"""
    reports: StepReports | None = None
    """of its step, and of the call that took it, so far; absent where a change came later, or nobody watched
    then"""
    scene: Scene | None = None
    """the world, its bodies in the order of `ids`; not what rests in impulses and sleep (WorldScene)"""
    skipped: int | None = None
    """frames that `every` would have brought and that were left out, since the one before"""
    faulted: bool | None = None
    """it must be set, or its next episode begin, before it steps again; default false"""
    episode: int | None = None
    """k, of the episode that goes on, or was the last; absent: none has begun. Behind a jump, the world's was
    reset"""
    episode_step: int | None = None
    """steps of the group that were taken in it"""
    episode_over: bool | None = None
    """it has ended, and the next one has not begun; default false"""
    failure: Status | None = None
    """why the last row that failed did so; absent: none has failed since the frame before"""


@dataclass(slots=True, kw_only=True)
class SubscribeReply(Message):
    frames: int | None = None
    """sent"""
    skipped: int | None = None


@dataclass(slots=True, kw_only=True)
class ContactProblem(Message):
    """One contact problem without a world, as columns. The same as a file, with every rule: tests/problems
    and server/solve/README.md."""

    class ContactGiven(IntEnum):
        """Which of a contact's optional numbers are given (bits of ContactProblem.contact_given)."""

        CONTACT_NONE = 0
        """none of them"""
        CONTACT_STIFFNESS = 1
        """without: infinite"""
        CONTACT_BIAS = 2
        """without: gap/time_step and restitution decide"""
        CONTACT_FORCE = 4
        """without: -stiffness gap"""

    class RowGiven(IntEnum):
        """The same for a row (bits of ContactProblem.row_given)."""

        ROW_NONE = 0
        """none of them"""
        ROW_LOW = 1
        """without: unbounded below"""
        ROW_HIGH = 2
        """without: unbounded above"""
        ROW_GAP = 4
        """a position row; without: a velocity row"""
        ROW_STIFFNESS = 8
        """without: infinite"""
        ROW_COMPLIANCE = 16
        """R of its own"""
        ROW_BIAS = 32
        """without: 0, or gap/time_step"""

    time_step: float | None = None
    """[s] 1e-9 … 10"""
    gravity: float | None = None
    """[m/s^2] size; only sets the certificate's scale; default 0"""
    tree_width: ArrayLike | None = None
    """velocities of each tree, 1 … 1024"""
    mass: ArrayLike | None = None
    """width^2 per tree that is neither a body nor made of links, row by row, symmetric positive definite"""
    v_free: ArrayLike | None = None
    """width per tree: velocity at the end of the step without contacts"""
    tree_is_body: ArrayLike | None = None
    """per tree: a rigid body, of 6 velocities: linear of its centre of mass, angular, world axes; default
    false"""
    body_mass: ArrayLike | None = None
    """[kg] > 0, per body"""
    body_inertia: ArrayLike | None = None
    """6 [kg m^2] per body: xx, yy, zz, xy, xz, yz about its centre of mass, world axes; positive definite (no
    triangle inequality: drives may be in it). The inverse is made of it as a step makes it"""
    tree_link_count: ArrayLike | None = None
    """per tree: how many links it is made of, whose mass is never written down; default 0: none"""
    contact_mu: ArrayLike | None = None
    """per contact, >= 0; its length is the number of contacts"""
    contact_gap: ArrayLike | None = None
    """[m]; default 0"""
    contact_restitution: ArrayLike | None = None
    """0 … 1; default 0"""
    contact_approach: ArrayLike | None = None
    """[m/s] <= 0: normal velocity before the impact; default 0"""
    contact_stiffness: ArrayLike | None = None
    """[N/m] >= 0"""
    contact_dissipation_time: ArrayLike | None = None
    """[s] >= 0; default 0"""
    contact_damping: ArrayLike | None = None
    """[N s/m] >= 0; default 0"""
    contact_bias: ArrayLike | None = None
    """[m/s]"""
    contact_force: ArrayLike | None = None
    """[N]"""
    contact_motion: ArrayLike | None = None
    """3 [m/s] along normal, tangents: conveyors; default 0"""
    contact_gdot: ArrayLike | None = None
    """3 [m/s^2]; default 0"""
    contact_given: ArrayLike | None = None
    """ContactGiven bits; default 0"""
    contact_block_count: ArrayLike | None = None
    """per contact: 1 or 2; 0: it touches a body (of tree_is_body), and has a frame and two sides instead"""
    contact_block_tree: ArrayLike | None = None
    """per block: tree index, of no body"""
    contact_jacobian: ArrayLike | None = None
    """per block, and per side on a tree that is no body, 3 x width, rows normal, tangent 1, tangent 2; sign
    included"""
    contact_frame: ArrayLike | None = None
    """9 per contact with sides: normal from a to b, tangent 1, tangent 2, world axes; orthonormal and
    right-handed to 1e-6"""
    side_tree: ArrayLike | None = None
    """2 per contact with sides, a then b: tree index; 4294967295: the ground"""
    side_arm: ArrayLike | None = None
    """3 [m] per side on a body: from its centre of mass to the contact point, world axes"""
    row_low: ArrayLike | None = None
    """[N s] per row"""
    row_high: ArrayLike | None = None
    """[N s]"""
    row_gap: ArrayLike | None = None
    """[m] or [rad]"""
    row_bias: ArrayLike | None = None
    """[m/s]"""
    row_group: ArrayLike | None = None
    """rows of one joint share one; default 0"""
    row_stiffness: ArrayLike | None = None
    row_dissipation_time: ArrayLike | None = None
    row_damping: ArrayLike | None = None
    row_compliance: ArrayLike | None = None
    """R [1/kg]"""
    row_gdot: ArrayLike | None = None
    """[m/s^2]"""
    row_given: ArrayLike | None = None
    """RowGiven bits, one per row: its length is the number of rows"""
    row_block_count: ArrayLike | None = None
    """per row: 1 or more"""
    row_block_tree: ArrayLike | None = None
    row_jacobian: ArrayLike | None = None
    """per block: width"""
    warm_contacts: ArrayLike | None = None
    """3 per contact: start impulses; default 0"""
    warm_rows: ArrayLike | None = None
    """per row; default 0"""
    link_parent: ArrayLike | None = None
    """per link: which of its tree's, before it; 4294967295: the ground. Its length is the number of links"""
    link_velocities: ArrayLike | None = None
    """per link: 0 … 6 of its tree's velocities, which follow those of the links before"""
    link_mass: ArrayLike | None = None
    """[kg] per link, >= 0"""
    link_inertia: ArrayLike | None = None
    """6 [kg m^2] per link: xx, yy, zz, xy, xz, yz about its centre of mass; positive semidefinite"""
    link_center: ArrayLike | None = None
    """3 [m] per link: its centre of mass, from a point common to the links of its tree"""
    link_motion: ArrayLike | None = None
    """6 per velocity of a link: what 1 of it makes of the centre of mass's velocity, and of the angular one"""
    link_added: ArrayLike | None = None
    """velocities^2 per link, row by row, symmetric: added to the mass (armature, implicit springs and
    drives); default 0"""


@dataclass(slots=True, kw_only=True)
class Solve(Message):
    """Solves one contact problem. Nothing is stored. What ends it is the solver's `budget`, which is counted:
    the same on every machine. One that takes longer than the request's deadline is answered with the best
    that it has by then: its certificate is not converged, and its reason is TIME_LIMIT; so is, as a last
    resort, one that takes longer than the server lets a solve take (--work-timeout-ms), and its reason is
    WORK_TIMEOUT."""

    problem: ContactProblem | None = None
    solver: str | None = None
    """default mdp"""
    parameters: SolverParameters | None = None
    """of that solver"""
    history: bool | None = None
    """also return the residual after each iteration, at the cost of measuring it; default false"""
    effort: Effort.Kind | None = None
    """what it may cost; default EXACT"""


@dataclass(slots=True, kw_only=True)
class SolveReply(Message):
    v: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """velocities of all trees"""
    contacts: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """3 per contact [N s]"""
    rows: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[N s]"""
    certificate: Certificate | None = None
    history: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """e_own after every `history_stride`th iteration, of lcp what Lemke's algorithm still covers of the
    largest violation; 1.7976931348623157e308: not finite"""
    history_stride: int | None = None
    """a power of two: at most 16,384 numbers are kept, so of many iterations every second, every fourth, ..."""
    contact_bias: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m/s] per contact: a rigid u_n = J v + motion + contact_bias, as ContactProblem.contact_bias"""
    row_bias: NDArray[np.float64] = _new(default_factory=lambda: np.empty(0, np.float64))
    """[m/s] or [rad/s] per row: y = G v + row_bias (+ R r)"""


@dataclass(slots=True, kw_only=True)
class Certificate(Message):
    """How good one solve was (server/solve/README.md, "The certificate"): each number is 0 for a perfect
    answer."""

    class Reason(IntEnum):
        """Why the work on an island ended."""

        CONVERGED = 0
        """it was solved, to its tolerance"""
        ITERATIONS_ENDED = 1
        """max_iterations, or passes"""
        BUDGET_ENDED = 2
        """the budget of operations was spent, or is too small for this island; the answer is the best so far"""
        STALLED = 3
        """the method knows no way on"""
        DIVERGED = 4
        """its impulses ran away; the answer is the best before that"""
        TIME_LIMIT = 5
        """Solve met its deadline; the answer is the best so far"""
        NOT_FINITE = 6
        WORK_TIMEOUT = 7
        """Solve met the server's time limit, --work-timeout-ms; the answer is the best so far"""

    e_mom: float | None = None
    """momentum balance"""
    e_pen: float | None = None
    """approach beyond the target velocity, over V"""
    e_comp: float | None = None
    """impulse where there is no contact, over V"""
    e_cone: float | None = None
    """impulse outside its friction cone"""
    e_mdp: float | None = None
    """friction not opposing slip, over V"""
    e_ds: float | None = None
    """distance from exact Coulomb friction, over V"""
    e_own: float | None = None
    """residual of the model that the solver claims, over V"""
    e_row: float | None = None
    """joints, limits, motors, over V"""
    pen_velocity: float | None = None
    """[m/s] e_pen without the division, largest over islands; the same for the next five"""
    comp_velocity: float | None = None
    mdp_velocity: float | None = None
    ds_velocity: float | None = None
    own_velocity: float | None = None
    row_velocity: float | None = None
    scale: float | None = None
    """V [m/s], the largest over islands"""
    tolerance: float | None = None
    penetration: float | None = None
    """[m] deepest overlap"""
    iterations: int | None = None
    converged: bool | None = None
    """e_mom <= 1e-10 and e_own <= tolerance and, but for sap with LAGGED friction, e_cone <= 1e-12"""
    time: float | None = None
    """[s] spent in the solver"""
    worst_contact: int | None = None
    """index of the contact with the largest own residual; -1: none"""
    rung: Rung.Kind | None = None
    """of lcp: what its hardest island needed"""
    passes: int | None = None
    """of the island with the most: of lcp, linearisations of the contacts; of ccp with EXACT friction, convex
    problems"""
    islands: int | None = None
    """trees joined by contacts and rows; each is solved, and measured, alone"""
    islands_open: int | None = None
    """that did not converge"""
    worst_open: OpenIsland | None = None
    """the one of them with the largest residual; absent: all converged"""
    reason: Certificate.Reason | None = None
    """why the work on that one ended"""
    softened: int | None = None
    """of ccp: contacts and rows whose targets contradict others, and which got less; absent: none"""
    cost_gap: float | None = None
    """[J] of sap: how far the cost that it makes least may be above the least, at most"""
    launch: float | None = None
    """[m/s] normal velocity that convex friction added, at most (LaunchColumns); absent: of a model without"""
    gliding: float | None = None
    """[m] how far above touching the highest such contact is after the step"""
    launch_contact: int | None = None
    """index of the contact with the largest launch"""
    idle: int | None = None
    """contacts and rows whose Jacobians are zeros, which can move nothing and were left out; absent: none"""


@dataclass(slots=True, kw_only=True)
class OpenIsland(Message):
    """An island that did not converge."""

    tree: int | None = None
    """its first"""
    contact: int | None = None
    """its worst, by own residual; -1: it has none"""
    contacts: int | None = None
    """that it has"""
    residual: float | None = None
    """e_own"""


@dataclass(slots=True, kw_only=True)
class Rung(Message):
    """What it took to solve a linear complementarity problem. Answers that are not solved are the best that
    was found; the certificate says how far off they are."""

    class Kind(IntEnum):
        NONE = 0
        """there was nothing to solve"""
        BASIS = 1
        """the basis of the solve before solves it"""
        LEMKE = 2
        """Lemke's algorithm"""
        COVER = 3
        """… with another covering vector"""
        TIES = 4
        """… with wider ties"""
        DIAGONAL = 5
        """… with a multiple of the identity added to the matrix, and taken out again by proximal points"""
        UNSOLVED_RAY = 6
        """Lemke's algorithm ended in a ray: there may be no solution"""
        UNSOLVED_PIVOTS = 7
        """max_iterations pivots were not enough, or they go round"""
        UNSOLVED_RESIDUAL = 8
        """what was found does not pass the check"""



@dataclass(slots=True, kw_only=True)
class Problem(Message):
    """The problem of a world's last step, its bodies as bodies, each contact with the bias that its solver
    used, and the impulses that it started from: Solve of all that is in the reply gives the impulses of that
    step bit for bit. FAILED_PRECONDITION as in WorldContacts."""

    world: int | None = None


@dataclass(slots=True, kw_only=True)
class ProblemReply(Message):
    problem: ContactProblem | None = None
    solver: str | None = None
    parameters: SolverParameters | None = None


Request.FIELDS = (
    Field(1, "id", Kind.UINT64, False, None),
    Field(2, "deadline_ms", Kind.UINT32, False, None),
    Field(10, "hello", Kind.MESSAGE, False, Hello),
    Field(11, "ping", Kind.MESSAGE, False, Ping),
    Field(12, "stats", Kind.MESSAGE, False, Stats),
    Field(13, "describe", Kind.MESSAGE, False, Describe),
    Field(14, "cancel", Kind.MESSAGE, False, Cancel),
    Field(30, "world_create", Kind.MESSAGE, False, WorldCreate),
    Field(31, "world_destroy", Kind.MESSAGE, False, WorldDestroy),
    Field(32, "world_list", Kind.MESSAGE, False, WorldList),
    Field(33, "world_add_materials", Kind.MESSAGE, False, WorldAddMaterials),
    Field(34, "world_add_shapes", Kind.MESSAGE, False, WorldAddShapes),
    Field(35, "world_add_bodies", Kind.MESSAGE, False, WorldAddBodies),
    Field(36, "world_add_joints", Kind.MESSAGE, False, WorldAddJoints),
    Field(37, "world_remove", Kind.MESSAGE, False, WorldRemove),
    Field(38, "world_get", Kind.MESSAGE, False, WorldGet),
    Field(39, "world_set", Kind.MESSAGE, False, WorldSet),
    Field(40, "world_step", Kind.MESSAGE, False, WorldStep),
    Field(41, "world_contacts", Kind.MESSAGE, False, WorldContacts),
    Field(42, "world_hash", Kind.MESSAGE, False, WorldHash),
    Field(43, "world_scene", Kind.MESSAGE, False, WorldScene),
    Field(44, "world_add_geometries", Kind.MESSAGE, False, WorldAddGeometries),
    Field(45, "world_ray_cast", Kind.MESSAGE, False, WorldRayCast),
    Field(70, "snapshot_take", Kind.MESSAGE, False, SnapshotTake),
    Field(71, "snapshot_read", Kind.MESSAGE, False, SnapshotRead),
    Field(72, "snapshot_upload", Kind.MESSAGE, False, SnapshotUpload),
    Field(73, "snapshot_restore", Kind.MESSAGE, False, SnapshotRestore),
    Field(74, "snapshot_clone", Kind.MESSAGE, False, SnapshotClone),
    Field(75, "snapshot_drop", Kind.MESSAGE, False, SnapshotDrop),
    Field(90, "group_create", Kind.MESSAGE, False, GroupCreate),
    Field(91, "group_reset", Kind.MESSAGE, False, GroupReset),
    Field(92, "group_step", Kind.MESSAGE, False, GroupStep),
    Field(93, "group_send", Kind.MESSAGE, False, GroupSend),
    Field(94, "group_receive", Kind.MESSAGE, False, GroupReceive),
    Field(95, "group_destroy", Kind.MESSAGE, False, GroupDestroy),
    Field(96, "group_list", Kind.MESSAGE, False, GroupList),
    Field(97, "group_opinions", Kind.MESSAGE, False, GroupOpinions),
    Field(98, "group_read", Kind.MESSAGE, False, GroupRead),
    Field(99, "group_save", Kind.MESSAGE, False, GroupSave),
    Field(120, "episode_start", Kind.MESSAGE, False, EpisodeStart),
    Field(121, "episode_stop", Kind.MESSAGE, False, EpisodeStop),
    Field(122, "episode_list", Kind.MESSAGE, False, EpisodeList),
    Field(123, "episode_describe", Kind.MESSAGE, False, EpisodeDescribe),
    Field(124, "episode_read", Kind.MESSAGE, False, EpisodeRead),
    Field(125, "episode_replay", Kind.MESSAGE, False, EpisodeReplay),
    Field(126, "episode_verify", Kind.MESSAGE, False, EpisodeVerify),
    Field(127, "episode_delete", Kind.MESSAGE, False, EpisodeDelete),
    Field(128, "episode_fork", Kind.MESSAGE, False, EpisodeFork),
    Field(129, "episode_compare", Kind.MESSAGE, False, EpisodeCompare),
    Field(130, "episode_touches", Kind.MESSAGE, False, EpisodeTouches),
    Field(131, "episode_pin", Kind.MESSAGE, False, EpisodePin),
    Field(132, "episode_backup", Kind.MESSAGE, False, EpisodeBackup),
    Field(160, "subscribe", Kind.MESSAGE, False, Subscribe),
    Field(180, "solve", Kind.MESSAGE, False, Solve),
    Field(181, "problem", Kind.MESSAGE, False, Problem),
)
Reply.FIELDS = (
    Field(1, "id", Kind.UINT64, False, None),
    Field(2, "status", Kind.MESSAGE, False, Status),
    Field(3, "server_ns", Kind.UINT64, False, None),
    Field(4, "event", Kind.BOOL, False, None),
    Field(10, "welcome", Kind.MESSAGE, False, Welcome),
    Field(11, "pong", Kind.MESSAGE, False, Pong),
    Field(12, "stats", Kind.MESSAGE, False, StatsReply),
    Field(13, "describe", Kind.MESSAGE, False, DescribeReply),
    Field(14, "cancel", Kind.MESSAGE, False, CancelReply),
    Field(30, "world_create", Kind.MESSAGE, False, WorldCreateReply),
    Field(31, "world_destroy", Kind.MESSAGE, False, WorldDestroyReply),
    Field(32, "world_list", Kind.MESSAGE, False, WorldListReply),
    Field(33, "world_add", Kind.MESSAGE, False, WorldAddReply),
    Field(37, "world_remove", Kind.MESSAGE, False, WorldRemoveReply),
    Field(38, "world_get", Kind.MESSAGE, False, WorldGetReply),
    Field(39, "world_set", Kind.MESSAGE, False, WorldSetReply),
    Field(40, "world_step", Kind.MESSAGE, False, WorldStepReply),
    Field(41, "world_contacts", Kind.MESSAGE, False, WorldContactsReply),
    Field(42, "world_hash", Kind.MESSAGE, False, WorldHashReply),
    Field(43, "world_scene", Kind.MESSAGE, False, WorldSceneReply),
    Field(45, "world_ray_cast", Kind.MESSAGE, False, WorldRayCastReply),
    Field(70, "snapshot_take", Kind.MESSAGE, False, SnapshotTakeReply),
    Field(71, "snapshot_read", Kind.MESSAGE, False, SnapshotReadReply),
    Field(72, "snapshot_upload", Kind.MESSAGE, False, SnapshotUploadReply),
    Field(73, "snapshot_restore", Kind.MESSAGE, False, SnapshotRestoreReply),
    Field(74, "snapshot_clone", Kind.MESSAGE, False, SnapshotCloneReply),
    Field(75, "snapshot_drop", Kind.MESSAGE, False, SnapshotDropReply),
    Field(90, "group_create", Kind.MESSAGE, False, GroupCreateReply),
    Field(92, "group_step", Kind.MESSAGE, False, GroupStepReply),
    Field(93, "group_send", Kind.MESSAGE, False, GroupSendReply),
    Field(95, "group_destroy", Kind.MESSAGE, False, GroupDestroyReply),
    Field(96, "group_list", Kind.MESSAGE, False, GroupListReply),
    Field(97, "group_opinions", Kind.MESSAGE, False, GroupOpinionsReply),
    Field(99, "group_save", Kind.MESSAGE, False, GroupSaveReply),
    Field(120, "episode_start", Kind.MESSAGE, False, EpisodeStartReply),
    Field(121, "episode_stop", Kind.MESSAGE, False, EpisodeStopReply),
    Field(122, "episode_list", Kind.MESSAGE, False, EpisodeListReply),
    Field(123, "episode_describe", Kind.MESSAGE, False, EpisodeDescribeReply),
    Field(124, "episode_read", Kind.MESSAGE, False, EpisodeReadReply),
    Field(125, "episode_replay", Kind.MESSAGE, False, EpisodeReplayReply),
    Field(126, "episode_verify", Kind.MESSAGE, False, EpisodeVerifyReply),
    Field(127, "episode_delete", Kind.MESSAGE, False, EpisodeDeleteReply),
    Field(128, "episode_fork", Kind.MESSAGE, False, EpisodeForkReply),
    Field(129, "episode_compare", Kind.MESSAGE, False, EpisodeCompareReply),
    Field(130, "episode_touches", Kind.MESSAGE, False, EpisodeTouchesReply),
    Field(131, "episode_pin", Kind.MESSAGE, False, EpisodePinReply),
    Field(132, "episode_backup", Kind.MESSAGE, False, EpisodeBackupReply),
    Field(140, "episode_frames", Kind.MESSAGE, False, EpisodeFrames),
    Field(141, "episode_progress", Kind.MESSAGE, False, EpisodeProgress),
    Field(142, "compare_progress", Kind.MESSAGE, False, EpisodeProgress),
    Field(143, "backup_progress", Kind.MESSAGE, False, BackupProgress),
    Field(144, "touches_progress", Kind.MESSAGE, False, EpisodeProgress),
    Field(160, "subscribe", Kind.MESSAGE, False, SubscribeReply),
    Field(170, "live_frame", Kind.MESSAGE, False, LiveFrame),
    Field(180, "solve", Kind.MESSAGE, False, SolveReply),
    Field(181, "problem", Kind.MESSAGE, False, ProblemReply),
)
Status.FIELDS = (
    Field(1, "code", Kind.ENUM, False, Status.Code),
    Field(2, "message", Kind.STRING, False, None),
    Field(3, "field", Kind.STRING, False, None),
    Field(4, "world", Kind.UINT64, False, None),
    Field(5, "step", Kind.UINT64, False, None),
    Field(6, "recoverable", Kind.BOOL, False, None),
)
Hello.FIELDS = (
    Field(1, "protocol_major", Kind.UINT32, False, None),
    Field(2, "protocol_minor", Kind.UINT32, False, None),
    Field(3, "client", Kind.STRING, False, None),
    Field(4, "token", Kind.STRING, False, None),
    Field(5, "resume", Kind.STRING, False, None),
    Field(6, "resumable", Kind.BOOL, False, None),
)
Welcome.FIELDS = (
    Field(1, "server_version", Kind.STRING, False, None),
    Field(2, "dynamics_version", Kind.UINT64, False, None),
    Field(3, "protocol_major", Kind.UINT32, False, None),
    Field(4, "protocol_minor", Kind.UINT32, False, None),
    Field(5, "session", Kind.STRING, False, None),
    Field(6, "limits", Kind.MESSAGE, True, Limit),
    Field(7, "calls", Kind.MESSAGE, True, CallInfo),
    Field(8, "solvers", Kind.MESSAGE, True, SolverInfo),
    Field(9, "last_id", Kind.UINT64, False, None),
    Field(10, "build", Kind.STRING, False, None),
    Field(11, "golden", Kind.BOOL, False, None),
    Field(12, "http", Kind.STRING, False, None),
    Field(13, "lanes", Kind.UINT32, False, None),
    Field(14, "instance", Kind.UINT64, False, None),
    Field(15, "db", Kind.STRING, False, None),
    Field(16, "token", Kind.STRING, False, None),
    Field(17, "rights", Kind.STRING, True, None),
    Field(18, "namespace", Kind.STRING, False, None),
)
Limit.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "value", Kind.UINT64, False, None),
    Field(3, "unit", Kind.STRING, False, None),
    Field(4, "meaning", Kind.STRING, False, None),
)
CallInfo.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "field", Kind.UINT32, False, None),
    Field(3, "mutates", Kind.BOOL, False, None),
    Field(4, "meaning", Kind.STRING, False, None),
    Field(5, "rights", Kind.STRING, True, None),
)
SolverInfo.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "meaning", Kind.STRING, False, None),
    Field(3, "parameters", Kind.MESSAGE, True, ParameterInfo),
)
ParameterInfo.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "unit", Kind.STRING, False, None),
    Field(3, "minimum", Kind.DOUBLE, False, None),
    Field(4, "maximum", Kind.DOUBLE, False, None),
    Field(5, "default_value", Kind.DOUBLE, False, None),
    Field(6, "solve_default", Kind.DOUBLE, False, None),
    Field(7, "choices", Kind.STRING, True, None),
    Field(8, "meaning", Kind.STRING, False, None),
)
Ping.FIELDS = (
    Field(1, "payload", Kind.UINT64, False, None),
)
Pong.FIELDS = (
    Field(1, "payload", Kind.UINT64, False, None),
)
Stats.FIELDS = (
    Field(1, "worlds", Kind.BOOL, False, None),
)
StatsReply.FIELDS = (
    Field(1, "uptime_s", Kind.DOUBLE, False, None),
    Field(2, "lanes", Kind.UINT32, False, None),
    Field(3, "lane_steps", Kind.UINT64, True, None),
    Field(4, "connections", Kind.UINT64, False, None),
    Field(5, "world_count", Kind.UINT64, False, None),
    Field(6, "requests", Kind.UINT64, False, None),
    Field(7, "steps", Kind.UINT64, False, None),
    Field(8, "unconverged_steps", Kind.UINT64, False, None),
    Field(9, "faulted_worlds", Kind.UINT64, False, None),
    Field(10, "slow_clients", Kind.UINT64, False, None),
    Field(11, "bytes_in", Kind.UINT64, False, None),
    Field(12, "bytes_out", Kind.UINT64, False, None),
    Field(13, "world_bytes", Kind.UINT64, False, None),
    Field(14, "worlds", Kind.UINT64, True, None),
    Field(15, "bytes_of_world", Kind.UINT64, True, None),
    Field(16, "bodies", Kind.UINT64, False, None),
    Field(17, "contacts", Kind.UINT64, False, None),
    Field(18, "requests_under_way", Kind.UINT64, False, None),
    Field(19, "failed_requests", Kind.UINT64, False, None),
    Field(20, "faulted_steps", Kind.UINT64, False, None),
    Field(21, "jobs", Kind.UINT64, False, None),
    Field(22, "waiting_worlds", Kind.UINT64, False, None),
    Field(23, "timed_steps", Kind.UINT64, False, None),
    Field(24, "solver_time", Kind.DOUBLE, False, None),
    Field(25, "put_aside", Kind.UINT64, False, None),
    Field(26, "kept_bytes", Kind.UINT64, False, None),
    Field(27, "player_bytes", Kind.UINT64, False, None),
    Field(28, "groups", Kind.UINT64, False, None),
    Field(29, "group_worlds", Kind.UINT64, False, None),
    Field(41, "opinions", Kind.UINT64, False, None),
    Field(42, "opinions_open", Kind.UINT64, False, None),
    Field(43, "opinions_waiting", Kind.UINT64, False, None),
    Field(44, "log_bytes", Kind.UINT64, False, None),
    Field(45, "recordings", Kind.UINT64, False, None),
    Field(46, "tokens", Kind.MESSAGE, True, TokenUse),
)
TokenUse.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "namespace", Kind.STRING, False, None),
    Field(3, "sessions", Kind.UINT64, False, None),
    Field(4, "worlds", Kind.UINT64, False, None),
    Field(5, "worlds_max", Kind.UINT64, False, None),
    Field(6, "bytes", Kind.UINT64, False, None),
    Field(7, "bytes_max", Kind.UINT64, False, None),
    Field(8, "requests", Kind.UINT64, False, None),
    Field(9, "requests_max", Kind.UINT64, False, None),
    Field(11, "log_bytes", Kind.UINT64, False, None),
    Field(12, "log_bytes_max", Kind.UINT64, False, None),
    Field(13, "episodes", Kind.UINT64, False, None),
    Field(14, "episodes_max", Kind.UINT64, False, None),
    Field(15, "lanes", Kind.UINT64, False, None),
    Field(16, "lanes_max", Kind.UINT64, False, None),
    Field(10, "refused", Kind.UINT64, False, None),
)
Describe.FIELDS = (
    Field(1, "first", Kind.UINT64, False, None),
    Field(2, "count", Kind.UINT64, False, None),
)
DescribeReply.FIELDS = (
    Field(1, "limits", Kind.MESSAGE, True, Limit),
    Field(2, "calls", Kind.MESSAGE, True, CallInfo),
    Field(3, "solvers", Kind.MESSAGE, True, SolverInfo),
    Field(4, "fields", Kind.MESSAGE, True, FieldInfo),
    Field(5, "total", Kind.UINT64, False, None),
)
FieldInfo.FIELDS = (
    Field(1, "path", Kind.STRING, False, None),
    Field(2, "unit", Kind.STRING, False, None),
    Field(3, "minimum", Kind.DOUBLE, False, None),
    Field(4, "maximum", Kind.DOUBLE, False, None),
    Field(5, "exclusive", Kind.BOOL, False, None),
    Field(6, "meaning", Kind.STRING, False, None),
)
Cancel.FIELDS = (
    Field(1, "request", Kind.UINT64, False, None),
)
CancelReply.FIELDS = (
    Field(1, "found", Kind.BOOL, False, None),
)
WorldSettings.FIELDS = (
    Field(1, "gravity", Kind.DOUBLE, True, None),
    Field(2, "time_step", Kind.DOUBLE, False, None),
    Field(3, "margin", Kind.DOUBLE, False, None),
    Field(4, "restitution_threshold", Kind.DOUBLE, False, None),
    Field(5, "solver", Kind.STRING, False, None),
    Field(6, "parameters", Kind.MESSAGE, False, SolverParameters),
    Field(10, "integrator", Kind.ENUM, False, Integrator.Kind),
    Field(11, "rotation", Kind.ENUM, False, Rotation.Kind),
    Field(12, "recovery_speed", Kind.DOUBLE, False, None),
    Field(13, "contact_plane", Kind.ENUM, False, WorldSettings.ContactPlane),
    Field(14, "bounds", Kind.MESSAGE, False, Bounds),
    Field(15, "sleep_speed", Kind.DOUBLE, False, None),
    Field(17, "joint_projection", Kind.BOOL, False, None),
    Field(16, "sleep_time", Kind.DOUBLE, False, None),
    Field(18, "effort", Kind.ENUM, False, Effort.Kind),
    Field(19, "friction_rule", Kind.ENUM, False, FrictionRule.Kind),
    Field(20, "fluid_density", Kind.DOUBLE, False, None),
    Field(21, "fluid_viscosity", Kind.DOUBLE, False, None),
    Field(22, "substeps", Kind.UINT32, False, None),
)
Bounds.FIELDS = (
    Field(1, "lower", Kind.DOUBLE, True, None),
    Field(2, "upper", Kind.DOUBLE, True, None),
)
SolverParameters.FIELDS = (
    Field(3, "mdp", Kind.MESSAGE, False, MdpParameters),
    Field(4, "lcp", Kind.MESSAGE, False, LcpParameters),
    Field(5, "ccp", Kind.MESSAGE, False, CcpParameters),
    Field(6, "sap", Kind.MESSAGE, False, SapParameters),
    Field(7, "compliant", Kind.MESSAGE, False, CompliantParameters),
)
MdpParameters.FIELDS = (
    Field(1, "tolerance", Kind.DOUBLE, False, None),
    Field(2, "max_iterations", Kind.UINT32, False, None),
    Field(3, "friction", Kind.ENUM, False, MdpParameters.Friction),
    Field(4, "overlap_correction", Kind.DOUBLE, False, None),
    Field(5, "warm_start", Kind.BOOL, False, None),
    Field(6, "method", Kind.ENUM, False, MdpParameters.Method),
    Field(8, "acceleration", Kind.BOOL, False, None),
    Field(9, "partitions", Kind.UINT32, False, None),
    Field(10, "relaxation", Kind.DOUBLE, False, None),
    Field(12, "budget", Kind.DOUBLE, False, None),
)
LcpParameters.FIELDS = (
    Field(1, "tolerance", Kind.DOUBLE, False, None),
    Field(2, "max_iterations", Kind.UINT32, False, None),
    Field(3, "directions", Kind.UINT32, False, None),
    Field(4, "passes", Kind.UINT32, False, None),
    Field(5, "max_rows", Kind.UINT32, False, None),
    Field(6, "warm_start", Kind.BOOL, False, None),
    Field(7, "budget", Kind.DOUBLE, False, None),
)
CcpParameters.FIELDS = (
    Field(1, "tolerance", Kind.DOUBLE, False, None),
    Field(2, "max_iterations", Kind.UINT32, False, None),
    Field(3, "compliance", Kind.DOUBLE, False, None),
    Field(4, "warm_start", Kind.BOOL, False, None),
    Field(5, "method", Kind.ENUM, False, CcpParameters.Method),
    Field(6, "coulomb", Kind.ENUM, False, CcpParameters.Coulomb),
    Field(7, "budget", Kind.DOUBLE, False, None),
)
SapParameters.FIELDS = (
    Field(1, "tolerance", Kind.DOUBLE, False, None),
    Field(2, "max_iterations", Kind.UINT32, False, None),
    Field(3, "friction", Kind.ENUM, False, SapParameters.Friction),
    Field(4, "beta", Kind.DOUBLE, False, None),
    Field(5, "sigma", Kind.DOUBLE, False, None),
    Field(6, "row_beta", Kind.DOUBLE, False, None),
    Field(7, "stiffness_default", Kind.DOUBLE, False, None),
    Field(8, "warm_start", Kind.BOOL, False, None),
    Field(9, "method", Kind.ENUM, False, SapParameters.Method),
    Field(10, "budget", Kind.DOUBLE, False, None),
)
CompliantParameters.FIELDS = (
    Field(1, "tolerance", Kind.DOUBLE, False, None),
    Field(2, "max_iterations", Kind.UINT32, False, None),
    Field(3, "tangential_damping", Kind.DOUBLE, False, None),
    Field(4, "stiffness_default", Kind.DOUBLE, False, None),
    Field(5, "activation", Kind.ENUM, False, CompliantParameters.Activation),
    Field(6, "warm_start", Kind.BOOL, False, None),
    Field(7, "gdot", Kind.ENUM, False, CompliantParameters.Gdot),
    Field(8, "friction", Kind.ENUM, False, CompliantParameters.Friction),
    Field(9, "zeta", Kind.DOUBLE, False, None),
    Field(10, "budget", Kind.DOUBLE, False, None),
)
Material.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "friction", Kind.DOUBLE, False, None),
    Field(3, "restitution", Kind.DOUBLE, False, None),
    Field(4, "stiffness", Kind.DOUBLE, False, None),
    Field(5, "dissipation_time", Kind.DOUBLE, False, None),
    Field(6, "damping", Kind.DOUBLE, False, None),
    Field(7, "hertz_exponent", Kind.DOUBLE, False, None),
    Field(8, "priority", Kind.DOUBLE, False, None),
)
Foundation.FIELDS = (
    Field(1, "face", Kind.ENUM, False, Foundation.Face),
    Field(2, "cells", Kind.UINT32, True, None),
    Field(3, "modulus", Kind.DOUBLE, False, None),
    Field(4, "depth", Kind.DOUBLE, False, None),
    Field(5, "damping", Kind.DOUBLE, False, None),
)
Scene.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "about", Kind.STRING, False, None),
    Field(3, "settings", Kind.MESSAGE, False, WorldSettings),
    Field(4, "materials", Kind.MESSAGE, True, Material),
    Field(5, "bodies", Kind.MESSAGE, True, SceneBody),
    Field(6, "joints", Kind.MESSAGE, True, SceneJoint),
    Field(7, "geometries", Kind.MESSAGE, True, SceneGeometry),
    Field(8, "material_pairs", Kind.MESSAGE, True, MaterialPair),
)
MaterialPair.FIELDS = (
    Field(1, "a", Kind.STRING, False, None),
    Field(2, "b", Kind.STRING, False, None),
    Field(3, "friction", Kind.DOUBLE, False, None),
)
SceneGeometry.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "hull", Kind.MESSAGE, False, Hull),
    Field(3, "mesh", Kind.MESSAGE, False, Mesh),
    Field(4, "height_field", Kind.MESSAGE, False, HeightField),
)
SceneBody.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "kind", Kind.ENUM, False, Body.Kind),
    Field(3, "position", Kind.DOUBLE, True, None),
    Field(4, "orientation", Kind.DOUBLE, True, None),
    Field(5, "linear_velocity", Kind.DOUBLE, True, None),
    Field(6, "angular_velocity", Kind.DOUBLE, True, None),
    Field(7, "mass", Kind.DOUBLE, False, None),
    Field(8, "inertia", Kind.DOUBLE, True, None),
    Field(9, "center_of_mass", Kind.DOUBLE, True, None),
    Field(10, "shapes", Kind.MESSAGE, True, ScenePrimitive),
)
ScenePrimitive.FIELDS = (
    Field(1, "sphere", Kind.MESSAGE, False, SceneSphere),
    Field(2, "box", Kind.MESSAGE, False, SceneBox),
    Field(3, "plane", Kind.MESSAGE, False, ScenePlane),
    Field(4, "capsule", Kind.MESSAGE, False, SceneCapsule),
    Field(5, "cylinder", Kind.MESSAGE, False, SceneCylinder),
    Field(6, "hull", Kind.MESSAGE, False, SceneHull),
    Field(7, "mesh", Kind.MESSAGE, False, SceneMesh),
    Field(8, "height_field", Kind.MESSAGE, False, SceneHeightField),
    Field(10, "position", Kind.DOUBLE, True, None),
    Field(11, "orientation", Kind.DOUBLE, True, None),
    Field(12, "material", Kind.STRING, False, None),
    Field(13, "density", Kind.DOUBLE, False, None),
    Field(14, "foundation", Kind.MESSAGE, False, Foundation),
    Field(15, "group", Kind.UINT32, False, None),
    Field(16, "mask", Kind.UINT32, False, None),
    Field(17, "patch_materials", Kind.STRING, True, None),
)
SceneSphere.FIELDS = (
    Field(1, "radius", Kind.DOUBLE, False, None),
)
SceneBox.FIELDS = (
    Field(1, "half_extents", Kind.DOUBLE, True, None),
)
SceneCapsule.FIELDS = (
    Field(1, "radius", Kind.DOUBLE, False, None),
    Field(2, "half_length", Kind.DOUBLE, False, None),
)
SceneCylinder.FIELDS = (
    Field(1, "radius", Kind.DOUBLE, False, None),
    Field(2, "half_length", Kind.DOUBLE, False, None),
)
SceneHull.FIELDS = (
    Field(1, "geometry", Kind.STRING, False, None),
    Field(2, "points", Kind.DOUBLE, True, None),
    Field(3, "faces", Kind.MESSAGE, True, HullFace),
    Field(4, "vertices_max", Kind.UINT32, False, None),
)
SceneMesh.FIELDS = (
    Field(1, "geometry", Kind.STRING, False, None),
    Field(2, "points", Kind.DOUBLE, True, None),
    Field(3, "triangles", Kind.UINT32, True, None),
    Field(4, "two_sided", Kind.BOOL, False, None),
    Field(5, "patches", Kind.UINT32, True, None),
)
SceneHeightField.FIELDS = (
    Field(1, "geometry", Kind.STRING, False, None),
    Field(2, "columns", Kind.UINT32, False, None),
    Field(3, "rows", Kind.UINT32, False, None),
    Field(4, "spacing", Kind.DOUBLE, True, None),
    Field(5, "heights", Kind.DOUBLE, True, None),
    Field(6, "patches", Kind.UINT32, True, None),
)
ScenePlane.FIELDS = (
    Field(1, "normal", Kind.DOUBLE, True, None),
    Field(2, "offset", Kind.DOUBLE, False, None),
)
SceneJoint.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "kind", Kind.ENUM, False, Joint.Kind),
    Field(3, "body_a", Kind.STRING, False, None),
    Field(4, "body_b", Kind.STRING, False, None),
    Field(5, "anchor", Kind.DOUBLE, True, None),
    Field(6, "anchor_b", Kind.DOUBLE, True, None),
    Field(7, "axis", Kind.DOUBLE, True, None),
    Field(8, "axis_x", Kind.DOUBLE, True, None),
    Field(9, "frame_a", Kind.DOUBLE, True, None),
    Field(10, "frame_b", Kind.DOUBLE, True, None),
    Field(11, "axes", Kind.ENUM, True, Joint.Axis),
    Field(12, "as_rows", Kind.BOOL, False, None),
    Field(13, "collides", Kind.BOOL, False, None),
    Field(14, "joint_a", Kind.STRING, False, None),
    Field(15, "joint_b", Kind.STRING, False, None),
    Field(16, "ratio", Kind.DOUBLE, False, None),
    Field(17, "length", Kind.DOUBLE, False, None),
    Field(18, "break_force", Kind.DOUBLE, False, None),
    Field(19, "break_torque", Kind.DOUBLE, False, None),
    Field(20, "low", Kind.DOUBLE, True, None),
    Field(21, "high", Kind.DOUBLE, True, None),
    Field(22, "stiffness", Kind.DOUBLE, True, None),
    Field(23, "rest", Kind.DOUBLE, True, None),
    Field(24, "damping", Kind.DOUBLE, True, None),
    Field(25, "friction", Kind.DOUBLE, True, None),
    Field(26, "armature", Kind.DOUBLE, True, None),
    Field(27, "drive_stiffness", Kind.DOUBLE, True, None),
    Field(28, "drive_damping", Kind.DOUBLE, True, None),
    Field(29, "effort_max", Kind.DOUBLE, True, None),
    Field(30, "position", Kind.DOUBLE, True, None),
    Field(31, "velocity", Kind.DOUBLE, True, None),
    Field(32, "target", Kind.DOUBLE, True, None),
    Field(33, "target_velocity", Kind.DOUBLE, True, None),
    Field(34, "effort", Kind.DOUBLE, True, None),
    Field(35, "stall_effort", Kind.DOUBLE, True, None),
    Field(36, "no_load_speed", Kind.DOUBLE, True, None),
    Field(37, "lag_time", Kind.DOUBLE, True, None),
    Field(38, "delay_steps", Kind.DOUBLE, True, None),
    Field(40, "coupled", Kind.STRING, True, None),
    Field(41, "coupled_axes", Kind.UINT32, True, None),
    Field(42, "coefficients", Kind.DOUBLE, True, None),
)
WorldCreate.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "lifetime", Kind.ENUM, False, World.Lifetime),
    Field(3, "idle_timeout_s", Kind.DOUBLE, False, None),
    Field(4, "settings", Kind.MESSAGE, False, WorldSettings),
    Field(5, "scene", Kind.MESSAGE, False, Scene),
)
WorldCreateReply.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "bodies", Kind.UINT64, False, None),
    Field(4, "ids", Kind.UINT64, True, None),
)
WorldDestroy.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
)
WorldList.FIELDS = (
    Field(1, "first", Kind.UINT64, False, None),
    Field(2, "count", Kind.UINT64, False, None),
)
WorldListReply.FIELDS = (
    Field(1, "total", Kind.UINT64, False, None),
    Field(2, "worlds", Kind.MESSAGE, True, WorldInfo),
)
WorldInfo.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "lifetime", Kind.ENUM, False, World.Lifetime),
    Field(4, "client", Kind.STRING, False, None),
    Field(5, "bodies", Kind.UINT64, False, None),
    Field(6, "contacts", Kind.UINT64, False, None),
    Field(7, "step", Kind.UINT64, False, None),
    Field(8, "time", Kind.DOUBLE, False, None),
    Field(9, "faulted", Kind.BOOL, False, None),
    Field(10, "solver", Kind.STRING, False, None),
    Field(11, "bytes", Kind.UINT64, False, None),
    Field(12, "recording", Kind.BOOL, False, None),
    Field(13, "token", Kind.STRING, False, None),
)
WorldAddMaterials.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "materials", Kind.MESSAGE, True, Material),
)
WorldAddShapes.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "primitive_count", Kind.UINT32, True, None),
    Field(3, "kind", Kind.ENUM, True, Primitive.Kind),
    Field(4, "size", Kind.DOUBLE, True, None),
    Field(5, "pose", Kind.DOUBLE, True, None),
    Field(6, "material", Kind.UINT64, True, None),
    Field(7, "density", Kind.DOUBLE, True, None),
    Field(8, "foundation_face", Kind.ENUM, True, Foundation.Face),
    Field(9, "foundation_cells", Kind.UINT32, True, None),
    Field(10, "foundation_modulus", Kind.DOUBLE, True, None),
    Field(11, "foundation_depth", Kind.DOUBLE, True, None),
    Field(12, "foundation_damping", Kind.DOUBLE, True, None),
    Field(13, "group", Kind.UINT32, True, None),
    Field(14, "mask", Kind.UINT32, True, None),
    Field(15, "geometry", Kind.UINT64, True, None),
    Field(16, "patch_material", Kind.UINT64, True, None),
)
WorldAddGeometries.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "hulls", Kind.MESSAGE, True, Hull),
    Field(3, "meshes", Kind.MESSAGE, True, Mesh),
    Field(4, "height_fields", Kind.MESSAGE, True, HeightField),
)
Mesh.FIELDS = (
    Field(1, "points", Kind.DOUBLE, True, None),
    Field(2, "triangles", Kind.UINT32, True, None),
    Field(3, "two_sided", Kind.BOOL, False, None),
    Field(4, "patches", Kind.UINT32, True, None),
)
HeightField.FIELDS = (
    Field(1, "columns", Kind.UINT32, False, None),
    Field(2, "rows", Kind.UINT32, False, None),
    Field(3, "spacing", Kind.DOUBLE, True, None),
    Field(4, "heights", Kind.DOUBLE, True, None),
    Field(5, "patches", Kind.UINT32, True, None),
)
Hull.FIELDS = (
    Field(1, "points", Kind.DOUBLE, True, None),
    Field(2, "faces", Kind.MESSAGE, True, HullFace),
    Field(3, "vertices_max", Kind.UINT32, False, None),
)
HullFace.FIELDS = (
    Field(1, "points", Kind.UINT32, True, None),
)
WorldAddBodies.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "pose", Kind.DOUBLE, True, None),
    Field(3, "velocity", Kind.DOUBLE, True, None),
    Field(4, "kind", Kind.ENUM, True, Body.Kind),
    Field(5, "shape", Kind.UINT64, True, None),
    Field(6, "mass", Kind.DOUBLE, True, None),
    Field(7, "inertia", Kind.DOUBLE, True, None),
    Field(8, "center_of_mass", Kind.DOUBLE, True, None),
)
WorldAddJoints.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "kind", Kind.ENUM, True, Joint.Kind),
    Field(3, "body_a", Kind.UINT64, True, None),
    Field(4, "body_b", Kind.UINT64, True, None),
    Field(5, "axes", Kind.UINT32, True, None),
    Field(6, "frame_a", Kind.DOUBLE, True, None),
    Field(7, "frame_b", Kind.DOUBLE, True, None),
    Field(8, "as_rows", Kind.BOOL, True, None),
    Field(9, "collides", Kind.BOOL, True, None),
    Field(10, "joint_a", Kind.UINT64, True, None),
    Field(11, "joint_b", Kind.UINT64, True, None),
    Field(12, "ratio", Kind.DOUBLE, True, None),
    Field(13, "length", Kind.DOUBLE, True, None),
    Field(14, "break_force", Kind.DOUBLE, True, None),
    Field(15, "break_torque", Kind.DOUBLE, True, None),
    Field(16, "names", Kind.STRING, True, None),
    Field(20, "low", Kind.DOUBLE, True, None),
    Field(21, "high", Kind.DOUBLE, True, None),
    Field(22, "stiffness", Kind.DOUBLE, True, None),
    Field(23, "rest", Kind.DOUBLE, True, None),
    Field(24, "damping", Kind.DOUBLE, True, None),
    Field(25, "friction", Kind.DOUBLE, True, None),
    Field(26, "armature", Kind.DOUBLE, True, None),
    Field(27, "drive_stiffness", Kind.DOUBLE, True, None),
    Field(28, "drive_damping", Kind.DOUBLE, True, None),
    Field(29, "effort_max", Kind.DOUBLE, True, None),
    Field(30, "position", Kind.DOUBLE, True, None),
    Field(31, "velocity", Kind.DOUBLE, True, None),
    Field(32, "target", Kind.DOUBLE, True, None),
    Field(33, "target_velocity", Kind.DOUBLE, True, None),
    Field(34, "effort", Kind.DOUBLE, True, None),
    Field(35, "stall_effort", Kind.DOUBLE, True, None),
    Field(36, "no_load_speed", Kind.DOUBLE, True, None),
    Field(37, "lag_time", Kind.DOUBLE, True, None),
    Field(38, "delay_steps", Kind.DOUBLE, True, None),
    Field(39, "coupled_count", Kind.UINT32, True, None),
    Field(40, "coupled", Kind.UINT64, True, None),
    Field(41, "coupled_axes", Kind.UINT32, True, None),
    Field(42, "coefficients", Kind.DOUBLE, True, None),
)
WorldAddReply.FIELDS = (
    Field(1, "ids", Kind.UINT64, True, None),
)
WorldRemove.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "bodies", Kind.UINT64, True, None),
    Field(3, "joints", Kind.UINT64, True, None),
    Field(4, "shapes", Kind.UINT64, True, None),
    Field(5, "geometries", Kind.UINT64, True, None),
)
WorldGet.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "count", Kind.UINT64, False, None),
    Field(4, "bodies", Kind.BOOL, False, None),
    Field(5, "definition", Kind.BOOL, False, None),
    Field(6, "single", Kind.BOOL, False, None),
    Field(7, "joints", Kind.BOOL, False, None),
    Field(10, "joint_wrenches", Kind.BOOL, False, None),
)
WorldGetReply.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "settings", Kind.MESSAGE, False, WorldSettings),
    Field(3, "step", Kind.UINT64, False, None),
    Field(4, "time", Kind.DOUBLE, False, None),
    Field(5, "total", Kind.UINT64, False, None),
    Field(6, "faulted", Kind.BOOL, False, None),
    Field(7, "ids", Kind.UINT64, True, None),
    Field(8, "pose", Kind.DOUBLE, True, None),
    Field(9, "velocity", Kind.DOUBLE, True, None),
    Field(10, "pose_single", Kind.FLOAT, True, None),
    Field(11, "velocity_single", Kind.FLOAT, True, None),
    Field(12, "kind", Kind.ENUM, True, Body.Kind),
    Field(13, "shape", Kind.UINT64, True, None),
    Field(14, "mass", Kind.DOUBLE, True, None),
    Field(15, "inertia", Kind.DOUBLE, True, None),
    Field(16, "center_of_mass", Kind.DOUBLE, True, None),
    Field(17, "names", Kind.STRING, True, None),
    Field(18, "removed", Kind.UINT64, False, None),
    Field(19, "asleep", Kind.BOOL, True, None),
    Field(20, "joints", Kind.UINT64, True, None),
    Field(21, "joint_axes", Kind.UINT32, True, None),
    Field(22, "joint_position", Kind.DOUBLE, True, None),
    Field(23, "joint_velocity", Kind.DOUBLE, True, None),
    Field(24, "joint_target", Kind.DOUBLE, True, None),
    Field(25, "joint_target_velocity", Kind.DOUBLE, True, None),
    Field(26, "joint_effort", Kind.DOUBLE, True, None),
    Field(28, "joint_definition", Kind.MESSAGE, False, WorldAddJoints),
    Field(30, "joint_wrench", Kind.DOUBLE, True, None),
    Field(31, "joints_removed", Kind.UINT64, False, None),
)
WorldScene.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
)
WorldSceneReply.FIELDS = (
    Field(1, "scene", Kind.MESSAGE, False, Scene),
)
WorldSet.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "settings", Kind.MESSAGE, False, WorldSettings),
    Field(3, "ids", Kind.UINT64, True, None),
    Field(4, "pose", Kind.DOUBLE, True, None),
    Field(5, "velocity", Kind.DOUBLE, True, None),
    Field(6, "joints", Kind.UINT64, True, None),
    Field(7, "joint_position", Kind.DOUBLE, True, None),
    Field(8, "joint_velocity", Kind.DOUBLE, True, None),
    Field(9, "joint_target", Kind.DOUBLE, True, None),
    Field(10, "joint_target_velocity", Kind.DOUBLE, True, None),
    Field(11, "joint_effort", Kind.DOUBLE, True, None),
    Field(12, "mass", Kind.DOUBLE, True, None),
    Field(13, "inertia", Kind.DOUBLE, True, None),
    Field(14, "materials", Kind.UINT64, True, None),
    Field(15, "material_friction", Kind.DOUBLE, True, None),
    Field(16, "material_restitution", Kind.DOUBLE, True, None),
    Field(17, "material_stiffness", Kind.DOUBLE, True, None),
    Field(18, "material_dissipation_time", Kind.DOUBLE, True, None),
    Field(19, "material_damping", Kind.DOUBLE, True, None),
    Field(20, "material_hertz_exponent", Kind.DOUBLE, True, None),
    Field(21, "shapes", Kind.UINT64, True, None),
    Field(22, "shape_material", Kind.UINT64, True, None),
    Field(23, "joint_low", Kind.DOUBLE, True, None),
    Field(24, "joint_high", Kind.DOUBLE, True, None),
    Field(25, "joint_stiffness", Kind.DOUBLE, True, None),
    Field(26, "joint_rest", Kind.DOUBLE, True, None),
    Field(27, "joint_damping", Kind.DOUBLE, True, None),
    Field(28, "joint_friction", Kind.DOUBLE, True, None),
    Field(29, "joint_armature", Kind.DOUBLE, True, None),
    Field(30, "joint_drive_stiffness", Kind.DOUBLE, True, None),
    Field(31, "joint_drive_damping", Kind.DOUBLE, True, None),
    Field(32, "joint_effort_max", Kind.DOUBLE, True, None),
    Field(33, "joint_stall_effort", Kind.DOUBLE, True, None),
    Field(34, "joint_no_load_speed", Kind.DOUBLE, True, None),
    Field(35, "joint_lag_time", Kind.DOUBLE, True, None),
    Field(36, "joint_delay_steps", Kind.DOUBLE, True, None),
    Field(37, "pair_a", Kind.UINT64, True, None),
    Field(38, "pair_b", Kind.UINT64, True, None),
    Field(39, "pair_friction", Kind.DOUBLE, True, None),
)
WorldStep.FIELDS = (
    Field(1, "worlds", Kind.UINT64, True, None),
    Field(2, "steps", Kind.UINT64, False, None),
    Field(3, "time_step", Kind.DOUBLE, False, None),
    Field(4, "wrench_count", Kind.UINT32, True, None),
    Field(5, "wrench_body", Kind.UINT64, True, None),
    Field(6, "wrench", Kind.DOUBLE, True, None),
    Field(7, "poses", Kind.BOOL, False, None),
    Field(8, "velocities", Kind.BOOL, False, None),
    Field(9, "single", Kind.BOOL, False, None),
    Field(10, "reports", Kind.BOOL, False, None),
    Field(11, "hashes", Kind.BOOL, False, None),
    Field(12, "joint_count", Kind.UINT32, True, None),
    Field(13, "joint_axis_count", Kind.UINT32, True, None),
    Field(14, "joints", Kind.UINT64, True, None),
    Field(15, "joint_target", Kind.DOUBLE, True, None),
    Field(16, "joint_target_velocity", Kind.DOUBLE, True, None),
    Field(17, "joint_effort", Kind.DOUBLE, True, None),
    Field(18, "joint_positions", Kind.BOOL, False, None),
    Field(19, "joint_velocities", Kind.BOOL, False, None),
    Field(20, "joint_wrenches", Kind.BOOL, False, None),
    Field(21, "broken_joints", Kind.BOOL, False, None),
)
WorldStepReply.FIELDS = (
    Field(1, "steps_done", Kind.UINT64, True, None),
    Field(2, "step", Kind.UINT64, True, None),
    Field(3, "time", Kind.DOUBLE, True, None),
    Field(4, "body_count", Kind.UINT64, True, None),
    Field(5, "pose", Kind.DOUBLE, True, None),
    Field(6, "velocity", Kind.DOUBLE, True, None),
    Field(7, "pose_single", Kind.FLOAT, True, None),
    Field(8, "velocity_single", Kind.FLOAT, True, None),
    Field(9, "reports", Kind.MESSAGE, False, StepReports),
    Field(10, "hash", Kind.FIXED64, True, None),
    Field(11, "failures", Kind.MESSAGE, True, Status),
    Field(12, "removed", Kind.UINT64, True, None),
    Field(13, "joint_count", Kind.UINT32, True, None),
    Field(14, "joint_axis_count", Kind.UINT32, True, None),
    Field(15, "joint_position_count", Kind.UINT32, True, None),
    Field(16, "joint_position", Kind.DOUBLE, True, None),
    Field(17, "joint_velocity", Kind.DOUBLE, True, None),
    Field(18, "joint_position_single", Kind.FLOAT, True, None),
    Field(19, "joint_velocity_single", Kind.FLOAT, True, None),
    Field(20, "joint_wrench", Kind.DOUBLE, True, None),
    Field(21, "broken_count", Kind.UINT32, True, None),
    Field(22, "broken", Kind.UINT64, True, None),
)
StepReports.FIELDS = (
    Field(1, "contacts", Kind.UINT32, True, None),
    Field(2, "rows", Kind.UINT32, True, None),
    Field(3, "iterations", Kind.UINT32, True, None),
    Field(4, "converged", Kind.BOOL, True, None),
    Field(5, "unconverged_steps", Kind.UINT64, True, None),
    Field(6, "tolerance", Kind.DOUBLE, True, None),
    Field(7, "solver_time", Kind.DOUBLE, True, None),
    Field(8, "worst_body_a", Kind.UINT64, True, None),
    Field(9, "worst_body_b", Kind.UINT64, True, None),
    Field(10, "last", Kind.MESSAGE, False, CertificateColumns),
    Field(11, "worst", Kind.MESSAGE, False, CertificateColumns),
    Field(12, "worst_step", Kind.MESSAGE, False, CertificateSteps),
    Field(13, "energy", Kind.MESSAGE, False, EnergyColumns),
    Field(14, "recovery_contacts", Kind.UINT32, True, None),
    Field(15, "recovery_steps", Kind.UINT64, True, None),
    Field(16, "asleep", Kind.UINT32, True, None),
    Field(18, "open", Kind.MESSAGE, False, OpenColumns),
    Field(19, "worst_open", Kind.MESSAGE, False, OpenColumns),
    Field(20, "worst_open_step", Kind.UINT64, True, None),
    Field(17, "softened", Kind.UINT32, True, None),
    Field(21, "softened_steps", Kind.UINT64, True, None),
    Field(25, "launch", Kind.MESSAGE, False, LaunchColumns),
    Field(26, "worst_launch", Kind.MESSAGE, False, LaunchColumns),
    Field(27, "worst_launch_step", Kind.UINT64, True, None),
    Field(28, "broken_joints", Kind.UINT64, True, None),
    Field(29, "gained", Kind.DOUBLE, True, None),
    Field(30, "idle", Kind.UINT32, True, None),
    Field(31, "idle_steps", Kind.UINT64, True, None),
    Field(32, "borrowed_steps", Kind.UINT64, True, None),
    Field(33, "owed_steps", Kind.UINT32, True, None),
)
LaunchColumns.FIELDS = (
    Field(1, "speed", Kind.DOUBLE, True, None),
    Field(2, "gliding", Kind.DOUBLE, True, None),
    Field(3, "body_a", Kind.UINT64, True, None),
    Field(4, "body_b", Kind.UINT64, True, None),
)
OpenColumns.FIELDS = (
    Field(1, "islands", Kind.UINT32, True, None),
    Field(2, "islands_open", Kind.UINT32, True, None),
    Field(3, "body", Kind.UINT64, True, None),
    Field(4, "contacts", Kind.UINT32, True, None),
    Field(5, "residual", Kind.DOUBLE, True, None),
    Field(6, "reason", Kind.ENUM, True, Certificate.Reason),
)
CertificateColumns.FIELDS = (
    Field(1, "e_mom", Kind.DOUBLE, True, None),
    Field(2, "e_pen", Kind.DOUBLE, True, None),
    Field(3, "e_comp", Kind.DOUBLE, True, None),
    Field(4, "e_cone", Kind.DOUBLE, True, None),
    Field(5, "e_mdp", Kind.DOUBLE, True, None),
    Field(6, "e_ds", Kind.DOUBLE, True, None),
    Field(7, "e_own", Kind.DOUBLE, True, None),
    Field(8, "e_row", Kind.DOUBLE, True, None),
    Field(9, "penetration", Kind.DOUBLE, True, None),
)
CertificateSteps.FIELDS = (
    Field(1, "e_mom", Kind.UINT64, True, None),
    Field(2, "e_pen", Kind.UINT64, True, None),
    Field(3, "e_comp", Kind.UINT64, True, None),
    Field(4, "e_cone", Kind.UINT64, True, None),
    Field(5, "e_mdp", Kind.UINT64, True, None),
    Field(6, "e_ds", Kind.UINT64, True, None),
    Field(7, "e_own", Kind.UINT64, True, None),
    Field(8, "e_row", Kind.UINT64, True, None),
    Field(9, "penetration", Kind.UINT64, True, None),
)
EnergyColumns.FIELDS = (
    Field(1, "before", Kind.DOUBLE, True, None),
    Field(2, "after", Kind.DOUBLE, True, None),
    Field(3, "contact", Kind.DOUBLE, True, None),
    Field(4, "row", Kind.DOUBLE, True, None),
    Field(5, "applied", Kind.DOUBLE, True, None),
    Field(6, "scheme", Kind.DOUBLE, True, None),
    Field(7, "unexplained", Kind.DOUBLE, True, None),
    Field(8, "drive", Kind.DOUBLE, True, None),
    Field(9, "swing", Kind.DOUBLE, True, None),
)
WorldContacts.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "count", Kind.UINT64, False, None),
)
WorldContactsReply.FIELDS = (
    Field(1, "total", Kind.UINT64, False, None),
    Field(2, "body_a", Kind.UINT64, True, None),
    Field(3, "body_b", Kind.UINT64, True, None),
    Field(4, "feature", Kind.UINT64, True, None),
    Field(5, "point", Kind.DOUBLE, True, None),
    Field(6, "frame", Kind.DOUBLE, True, None),
    Field(7, "gap", Kind.DOUBLE, True, None),
    Field(8, "impulse", Kind.DOUBLE, True, None),
    Field(9, "velocity", Kind.DOUBLE, True, None),
    Field(10, "friction", Kind.DOUBLE, True, None),
    Field(11, "residual", Kind.DOUBLE, True, None),
    Field(12, "target_velocity", Kind.DOUBLE, True, None),
    Field(13, "part_a", Kind.UINT32, True, None),
    Field(14, "part_b", Kind.UINT32, True, None),
)
WorldHash.FIELDS = (
    Field(1, "worlds", Kind.UINT64, True, None),
)
WorldHashReply.FIELDS = (
    Field(1, "hash", Kind.FIXED64, True, None),
    Field(2, "step", Kind.UINT64, True, None),
    Field(3, "failures", Kind.MESSAGE, True, Status),
)
WorldRayCast.FIELDS = (
    Field(1, "worlds", Kind.UINT64, True, None),
    Field(2, "count", Kind.UINT32, True, None),
    Field(3, "origin", Kind.DOUBLE, True, None),
    Field(4, "way", Kind.DOUBLE, True, None),
    Field(5, "group", Kind.UINT32, True, None),
    Field(6, "mask", Kind.UINT32, True, None),
)
WorldRayCastReply.FIELDS = (
    Field(1, "body", Kind.UINT64, True, None),
    Field(2, "primitive", Kind.UINT32, True, None),
    Field(3, "fraction", Kind.DOUBLE, True, None),
    Field(4, "point", Kind.DOUBLE, True, None),
    Field(5, "normal", Kind.DOUBLE, True, None),
    Field(6, "failures", Kind.MESSAGE, True, Status),
)
SnapshotTake.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
)
SnapshotTakeReply.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
    Field(2, "bytes", Kind.UINT64, False, None),
    Field(3, "hash", Kind.FIXED64, False, None),
    Field(4, "step", Kind.UINT64, False, None),
)
SnapshotRead.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "count", Kind.UINT64, False, None),
)
SnapshotReadReply.FIELDS = (
    Field(1, "data", Kind.BYTES, False, None),
    Field(2, "total", Kind.UINT64, False, None),
)
SnapshotUpload.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
    Field(2, "total", Kind.UINT64, False, None),
    Field(3, "first", Kind.UINT64, False, None),
    Field(4, "data", Kind.BYTES, False, None),
)
SnapshotUploadReply.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
    Field(2, "received", Kind.UINT64, False, None),
    Field(3, "complete", Kind.BOOL, False, None),
)
SnapshotRestore.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "snapshot", Kind.UINT64, False, None),
)
SnapshotRestoreReply.FIELDS = (
    Field(1, "hash", Kind.FIXED64, False, None),
    Field(2, "step", Kind.UINT64, False, None),
)
SnapshotClone.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
    Field(2, "world", Kind.UINT64, False, None),
    Field(3, "count", Kind.UINT64, False, None),
    Field(4, "name", Kind.STRING, False, None),
    Field(5, "lifetime", Kind.ENUM, False, World.Lifetime),
    Field(6, "idle_timeout_s", Kind.DOUBLE, False, None),
)
SnapshotCloneReply.FIELDS = (
    Field(1, "worlds", Kind.UINT64, True, None),
)
SnapshotDrop.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
)
GroupChannel.FIELDS = (
    Field(1, "kind", Kind.ENUM, False, GroupChannel.Kind),
    Field(2, "joint", Kind.STRING, False, None),
    Field(3, "body", Kind.STRING, False, None),
    Field(4, "joint_id", Kind.UINT64, False, None),
    Field(5, "body_id", Kind.UINT64, False, None),
    Field(6, "relative_to", Kind.STRING, False, None),
    Field(7, "relative_to_id", Kind.UINT64, False, None),
    Field(8, "axes", Kind.UINT32, False, None),
    Field(9, "scale", Kind.DOUBLE, False, None),
    Field(10, "offset", Kind.DOUBLE, False, None),
    Field(11, "low", Kind.DOUBLE, False, None),
    Field(12, "high", Kind.DOUBLE, False, None),
    Field(13, "ray_way", Kind.DOUBLE, True, None),
    Field(14, "ray_origin", Kind.DOUBLE, True, None),
    Field(15, "ray_heading", Kind.BOOL, False, None),
    Field(16, "ray_mask", Kind.UINT32, False, None),
    Field(17, "mount", Kind.DOUBLE, True, None),
    Field(18, "noise_deviation", Kind.DOUBLE, False, None),
    Field(19, "bias_deviation", Kind.DOUBLE, False, None),
    Field(20, "bias_walk", Kind.DOUBLE, False, None),
    Field(21, "delay", Kind.UINT32, False, None),
    Field(22, "delay_max", Kind.UINT32, False, None),
)
GroupNoise.FIELDS = (
    Field(1, "channel", Kind.MESSAGE, False, GroupChannel),
    Field(2, "distribution", Kind.ENUM, False, GroupNoise.Distribution),
    Field(3, "low", Kind.DOUBLE, False, None),
    Field(4, "high", Kind.DOUBLE, False, None),
    Field(5, "mean", Kind.DOUBLE, False, None),
    Field(6, "deviation", Kind.DOUBLE, False, None),
)
GroupParameter.FIELDS = (
    Field(1, "kind", Kind.ENUM, False, GroupParameter.Kind),
    Field(2, "body", Kind.STRING, False, None),
    Field(3, "joint", Kind.STRING, False, None),
    Field(4, "material", Kind.STRING, False, None),
    Field(5, "body_id", Kind.UINT64, False, None),
    Field(6, "joint_id", Kind.UINT64, False, None),
    Field(7, "material_id", Kind.UINT64, False, None),
    Field(8, "values", Kind.DOUBLE, True, None),
)
GroupPush.FIELDS = (
    Field(1, "body", Kind.STRING, False, None),
    Field(2, "body_id", Kind.UINT64, False, None),
    Field(3, "probability", Kind.DOUBLE, False, None),
    Field(4, "steps", Kind.UINT32, False, None),
    Field(5, "axes", Kind.UINT32, False, None),
    Field(6, "impulse", Kind.BOOL, False, None),
    Field(7, "force_low", Kind.DOUBLE, False, None),
    Field(8, "force_high", Kind.DOUBLE, False, None),
    Field(9, "torque_low", Kind.DOUBLE, False, None),
    Field(10, "torque_high", Kind.DOUBLE, False, None),
)
GroupRecord.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "labels", Kind.STRING, True, None),
    Field(3, "returns", Kind.BOOL, False, None),
    Field(40, "keyframe_steps", Kind.UINT64, False, None),
)
GroupOpinion.FIELDS = (
    Field(1, "share", Kind.DOUBLE, False, None),
    Field(2, "tolerance", Kind.DOUBLE, False, None),
    Field(3, "doubt", Kind.DOUBLE, False, None),
    Field(4, "lag", Kind.UINT32, False, None),
)
GroupOpinionColumns.FIELDS = (
    Field(1, "world", Kind.UINT32, True, None),
    Field(2, "episode", Kind.UINT64, True, None),
    Field(3, "seed", Kind.UINT64, True, None),
    Field(4, "step", Kind.UINT64, True, None),
    Field(5, "substep", Kind.UINT32, True, None),
    Field(6, "gap", Kind.DOUBLE, True, None),
    Field(7, "e_ds", Kind.DOUBLE, True, None),
    Field(8, "residual", Kind.DOUBLE, True, None),
)
GroupCreate.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "lifetime", Kind.ENUM, False, World.Lifetime),
    Field(3, "scene", Kind.MESSAGE, False, Scene),
    Field(4, "world", Kind.UINT64, False, None),
    Field(5, "count", Kind.UINT64, False, None),
    Field(6, "seed", Kind.UINT64, False, None),
    Field(7, "first_world", Kind.UINT64, False, None),
    Field(8, "action", Kind.MESSAGE, True, GroupChannel),
    Field(9, "observation", Kind.MESSAGE, True, GroupChannel),
    Field(10, "extra", Kind.MESSAGE, True, GroupChannel),
    Field(11, "bounds", Kind.MESSAGE, True, GroupChannel),
    Field(12, "noise", Kind.MESSAGE, True, GroupNoise),
    Field(13, "substeps", Kind.UINT32, False, None),
    Field(14, "time_step", Kind.DOUBLE, False, None),
    Field(15, "step_limit", Kind.UINT64, False, None),
    Field(16, "autoreset", Kind.ENUM, False, Group.Autoreset),
    Field(17, "double_precision", Kind.BOOL, False, None),
    Field(18, "parameters", Kind.MESSAGE, True, GroupParameter),
    Field(31, "record", Kind.MESSAGE, False, GroupRecord),
    Field(41, "opinion", Kind.MESSAGE, False, GroupOpinion),
    Field(40, "recording", Kind.STRING, False, None),
    Field(42, "step", Kind.UINT64, False, None),
    Field(43, "idle_timeout_s", Kind.DOUBLE, False, None),
    Field(44, "saved", Kind.UINT64, False, None),
    Field(45, "pushes", Kind.MESSAGE, True, GroupPush),
)
GroupResumed.FIELDS = (
    Field(1, "recording", Kind.STRING, False, None),
    Field(2, "step", Kind.UINT64, False, None),
    Field(3, "calls_lost", Kind.UINT64, False, None),
    Field(4, "episodes_lost", Kind.UINT64, False, None),
    Field(5, "episodes_untold", Kind.UINT64, False, None),
    Field(6, "damage", Kind.STRING, True, None),
    Field(7, "over", Kind.BYTES, False, None),
    Field(8, "double_precision", Kind.BOOL, False, None),
    Field(9, "autoreset", Kind.ENUM, False, Group.Autoreset),
    Field(10, "substeps", Kind.UINT32, False, None),
    Field(11, "step_limit", Kind.UINT64, False, None),
    Field(12, "doubtful", Kind.UINT64, True, None),
    Field(13, "seed", Kind.UINT64, True, None),
    Field(14, "episode", Kind.UINT64, True, None),
    Field(15, "first_world", Kind.UINT64, False, None),
)
GroupCreateReply.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "count", Kind.UINT64, False, None),
    Field(4, "action", Kind.MESSAGE, False, GroupColumns),
    Field(5, "observation", Kind.MESSAGE, False, GroupColumns),
    Field(6, "extra", Kind.MESSAGE, False, GroupColumns),
    Field(7, "noise", Kind.MESSAGE, False, GroupColumns),
    Field(8, "template_hash", Kind.FIXED64, False, None),
    Field(9, "bytes", Kind.UINT64, False, None),
    Field(10, "time_step", Kind.DOUBLE, False, None),
    Field(31, "recording", Kind.STRING, False, None),
    Field(40, "resumed", Kind.MESSAGE, False, GroupResumed),
)
GroupColumns.FIELDS = (
    Field(1, "name", Kind.STRING, True, None),
    Field(2, "low", Kind.DOUBLE, True, None),
    Field(3, "high", Kind.DOUBLE, True, None),
)
GroupReset.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "mask", Kind.BYTES, False, None),
    Field(3, "seed", Kind.UINT64, True, None),
    Field(4, "values", Kind.DOUBLE, True, None),
    Field(31, "return_world", Kind.UINT32, True, None),
    Field(32, "return_sum", Kind.DOUBLE, True, None),
    Field(33, "return_doubtful", Kind.DOUBLE, True, None),
)
GroupStep.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "mask", Kind.BYTES, False, None),
    Field(3, "action", Kind.FLOAT, True, None),
    Field(4, "action_double", Kind.DOUBLE, True, None),
    Field(31, "return_world", Kind.UINT32, True, None),
    Field(32, "return_sum", Kind.DOUBLE, True, None),
    Field(33, "return_doubtful", Kind.DOUBLE, True, None),
)
GroupStepReply.FIELDS = (
    Field(1, "observation", Kind.FLOAT, True, None),
    Field(2, "extra", Kind.FLOAT, True, None),
    Field(3, "worlds", Kind.UINT32, True, None),
    Field(4, "observation_double", Kind.DOUBLE, True, None),
    Field(5, "extra_double", Kind.DOUBLE, True, None),
    Field(6, "terminated", Kind.BYTES, False, None),
    Field(7, "truncated", Kind.BYTES, False, None),
    Field(8, "final_world", Kind.UINT32, True, None),
    Field(9, "final_episode", Kind.UINT64, True, None),
    Field(10, "final_seed", Kind.UINT64, True, None),
    Field(11, "final_length", Kind.UINT64, True, None),
    Field(12, "final_observation", Kind.FLOAT, True, None),
    Field(13, "final_extra", Kind.FLOAT, True, None),
    Field(14, "final_observation_double", Kind.DOUBLE, True, None),
    Field(15, "final_extra_double", Kind.DOUBLE, True, None),
    Field(16, "unconverged", Kind.UINT32, True, None),
    Field(17, "failures", Kind.MESSAGE, True, Status),
    Field(41, "doubtful", Kind.BYTES, False, None),
    Field(42, "opinions", Kind.MESSAGE, False, GroupOpinionColumns),
    Field(43, "recording_ended", Kind.STRING, False, None),
    Field(44, "gained", Kind.BYTES, False, None),
)
GroupRead.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "mask", Kind.BYTES, False, None),
)
GroupSend.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "mask", Kind.BYTES, False, None),
    Field(3, "action", Kind.FLOAT, True, None),
    Field(4, "action_double", Kind.DOUBLE, True, None),
    Field(31, "return_world", Kind.UINT32, True, None),
    Field(32, "return_sum", Kind.DOUBLE, True, None),
    Field(33, "return_doubtful", Kind.DOUBLE, True, None),
)
GroupReceive.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "count", Kind.UINT64, False, None),
)
GroupDestroy.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(31, "return_world", Kind.UINT32, True, None),
    Field(32, "return_sum", Kind.DOUBLE, True, None),
    Field(33, "return_doubtful", Kind.DOUBLE, True, None),
)
GroupOpinions.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "count", Kind.UINT64, False, None),
)
GroupOpinionsReply.FIELDS = (
    Field(1, "opinions", Kind.MESSAGE, False, GroupOpinionColumns),
    Field(2, "left", Kind.UINT64, False, None),
    Field(3, "lost", Kind.UINT64, False, None),
)
GroupSave.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
)
GroupSaveReply.FIELDS = (
    Field(1, "snapshot", Kind.UINT64, False, None),
    Field(2, "bytes", Kind.UINT64, False, None),
    Field(3, "calls", Kind.UINT64, False, None),
)
GroupList.FIELDS = (
    Field(1, "first", Kind.UINT64, False, None),
    Field(2, "count", Kind.UINT64, False, None),
)
GroupListReply.FIELDS = (
    Field(1, "groups", Kind.MESSAGE, True, GroupInfo),
    Field(2, "total", Kind.UINT64, False, None),
)
GroupInfo.FIELDS = (
    Field(1, "group", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "lifetime", Kind.ENUM, False, World.Lifetime),
    Field(4, "client", Kind.STRING, False, None),
    Field(5, "count", Kind.UINT64, False, None),
    Field(6, "bodies", Kind.UINT64, False, None),
    Field(7, "steps", Kind.UINT64, False, None),
    Field(8, "episodes", Kind.UINT64, False, None),
    Field(9, "bytes", Kind.UINT64, False, None),
    Field(31, "recording", Kind.STRING, False, None),
    Field(32, "recording_ended", Kind.STRING, False, None),
)
EpisodeStart.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "labels", Kind.STRING, True, None),
    Field(4, "content", Kind.ENUM, False, Episode.Content),
    Field(5, "stride", Kind.UINT64, False, None),
    Field(6, "keyframe_steps", Kind.UINT64, False, None),
    Field(7, "lossy", Kind.BOOL, False, None),
    Field(8, "seed", Kind.UINT64, False, None),
    Field(9, "events", Kind.BOOL, False, None),
)
EpisodeStartReply.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "name", Kind.STRING, False, None),
)
EpisodeStop.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "episode", Kind.STRING, False, None),
)
EpisodeStopReply.FIELDS = (
    Field(1, "episode", Kind.MESSAGE, False, EpisodeInfo),
)
EpisodeInfo.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "labels", Kind.STRING, True, None),
    Field(4, "state", Kind.ENUM, False, Episode.State),
    Field(5, "content", Kind.ENUM, False, Episode.Content),
    Field(6, "stride", Kind.UINT64, False, None),
    Field(7, "lossy", Kind.BOOL, False, None),
    Field(8, "seed", Kind.UINT64, False, None),
    Field(9, "client", Kind.STRING, False, None),
    Field(10, "world_name", Kind.STRING, False, None),
    Field(11, "solver", Kind.STRING, False, None),
    Field(12, "steps", Kind.UINT64, False, None),
    Field(13, "world_step", Kind.UINT64, False, None),
    Field(14, "time_step", Kind.DOUBLE, False, None),
    Field(15, "bodies", Kind.UINT64, False, None),
    Field(16, "begun", Kind.DOUBLE, False, None),
    Field(17, "ended", Kind.DOUBLE, False, None),
    Field(18, "unconverged_steps", Kind.UINT64, False, None),
    Field(19, "dropped_steps", Kind.UINT64, False, None),
    Field(20, "worst_own", Kind.DOUBLE, False, None),
    Field(21, "worst_penetration", Kind.DOUBLE, False, None),
    Field(22, "dynamics_version", Kind.UINT64, False, None),
    Field(23, "server_version", Kind.STRING, False, None),
    Field(24, "bytes", Kind.UINT64, False, None),
    Field(25, "chunks", Kind.UINT64, False, None),
    Field(26, "keyframes", Kind.UINT64, False, None),
    Field(27, "why", Kind.STRING, False, None),
    Field(28, "simulated", Kind.DOUBLE, False, None),
    Field(29, "keyframe_steps", Kind.UINT64, False, None),
    Field(30, "build", Kind.STRING, False, None),
    Field(31, "contacts_max", Kind.UINT64, False, None),
    Field(32, "hardest_impact", Kind.DOUBLE, False, None),
    Field(33, "hardest_impact_step", Kind.UINT64, False, None),
    Field(34, "energy_gain", Kind.DOUBLE, False, None),
    Field(35, "energy_gain_step", Kind.UINT64, False, None),
    Field(36, "parent", Kind.STRING, False, None),
    Field(37, "parent_step", Kind.UINT64, False, None),
    Field(38, "world_index", Kind.UINT64, False, None),
    Field(39, "return_sum", Kind.DOUBLE, False, None),
    Field(40, "pinned", Kind.BOOL, False, None),
    Field(41, "damage", Kind.STRING, False, None),
    Field(42, "gained", Kind.DOUBLE, False, None),
    Field(50, "events", Kind.BOOL, False, None),
    Field(51, "turn", Kind.UINT64, False, None),
    Field(61, "doubtful_steps", Kind.UINT64, False, None),
    Field(62, "return_doubtful", Kind.DOUBLE, False, None),
    Field(63, "doubtful_share", Kind.DOUBLE, False, None),
    Field(64, "opinions", Kind.UINT64, False, None),
    Field(65, "opinion_gap_max", Kind.DOUBLE, False, None),
)
EpisodeHighlight.FIELDS = (
    Field(1, "kind", Kind.ENUM, False, EpisodeHighlight.Kind),
    Field(2, "first_step", Kind.UINT64, False, None),
    Field(3, "last_step", Kind.UINT64, False, None),
    Field(4, "worst_step", Kind.UINT64, False, None),
    Field(5, "value", Kind.DOUBLE, False, None),
    Field(6, "reason", Kind.ENUM, False, Certificate.Reason),
    Field(7, "body", Kind.UINT64, False, None),
    Field(8, "contacts", Kind.UINT64, False, None),
    Field(9, "other_body", Kind.UINT64, False, None),
    Field(10, "height", Kind.DOUBLE, False, None),
    Field(11, "joint", Kind.UINT64, False, None),
)
EpisodeBody.FIELDS = (
    Field(1, "id", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
)
EpisodeTouch.FIELDS = (
    Field(1, "body", Kind.MESSAGE, False, EpisodeBody),
    Field(2, "other_body", Kind.MESSAGE, False, EpisodeBody),
    Field(3, "after", Kind.UINT64, False, None),
    Field(4, "before", Kind.UINT64, False, None),
    Field(5, "impulse_above", Kind.DOUBLE, False, None),
    Field(6, "speed_above", Kind.DOUBLE, False, None),
)
EpisodeList.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "label", Kind.STRING, False, None),
    Field(3, "solver", Kind.STRING, False, None),
    Field(4, "client", Kind.STRING, False, None),
    Field(5, "state", Kind.ENUM, False, Episode.State),
    Field(6, "since", Kind.DOUBLE, False, None),
    Field(7, "until", Kind.DOUBLE, False, None),
    Field(8, "first", Kind.UINT64, False, None),
    Field(9, "count", Kind.UINT64, False, None),
    Field(10, "recording", Kind.STRING, False, None),
    Field(11, "touches", Kind.MESSAGE, True, EpisodeTouch),
    Field(12, "highlights", Kind.ENUM, True, EpisodeHighlight.Kind),
    Field(21, "rank", Kind.ENUM, False, Episode.Rank),
)
EpisodeListReply.FIELDS = (
    Field(1, "total", Kind.UINT64, False, None),
    Field(2, "episodes", Kind.MESSAGE, True, EpisodeInfo),
    Field(3, "unknown", Kind.UINT64, False, None),
)
EpisodeDescribe.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "names", Kind.BOOL, False, None),
    Field(3, "highlights", Kind.UINT64, False, None),
)
EpisodeDescribeReply.FIELDS = (
    Field(1, "episode", Kind.MESSAGE, False, EpisodeInfo),
    Field(2, "ids", Kind.UINT64, True, None),
    Field(3, "names", Kind.STRING, True, None),
    Field(4, "highlights", Kind.MESSAGE, True, EpisodeHighlight),
    Field(5, "highlight_total", Kind.UINT64, True, None),
    Field(6, "static_ids", Kind.UINT64, True, None),
    Field(7, "signature", Kind.MESSAGE, False, EpisodeSignature),
)
EpisodeSignature.FIELDS = (
    Field(1, "key", Kind.BYTES, False, None),
    Field(2, "how", Kind.ENUM, False, EpisodeSignature.How),
    Field(3, "step", Kind.UINT64, False, None),
    Field(4, "chunk", Kind.UINT64, False, None),
)
EpisodeTouches.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "where", Kind.MESSAGE, False, EpisodeTouch),
    Field(3, "first", Kind.UINT64, False, None),
    Field(4, "count", Kind.UINT64, False, None),
    Field(5, "simulate", Kind.BOOL, False, None),
)
EpisodeTouchesReply.FIELDS = (
    Field(1, "total", Kind.UINT64, False, None),
    Field(2, "body", Kind.UINT64, True, None),
    Field(3, "other_body", Kind.UINT64, True, None),
    Field(4, "first_step", Kind.UINT64, True, None),
    Field(5, "last_step", Kind.UINT64, True, None),
    Field(6, "ended", Kind.BOOL, True, None),
    Field(7, "approach_speed", Kind.DOUBLE, True, None),
    Field(8, "first_impulse", Kind.DOUBLE, True, None),
    Field(9, "hardest_impulse", Kind.DOUBLE, True, None),
    Field(10, "hardest_step", Kind.UINT64, True, None),
    Field(11, "ids", Kind.UINT64, True, None),
    Field(12, "names", Kind.STRING, True, None),
    Field(13, "simulated", Kind.BOOL, False, None),
)
EpisodeRead.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "count", Kind.UINT64, False, None),
    Field(4, "stride", Kind.UINT64, False, None),
    Field(5, "poses", Kind.BOOL, False, None),
    Field(6, "velocities", Kind.BOOL, False, None),
    Field(7, "contacts", Kind.BOOL, False, None),
    Field(8, "single", Kind.BOOL, False, None),
    Field(9, "again", Kind.BOOL, False, None),
    Field(10, "joints", Kind.BOOL, False, None),
    Field(11, "reports", Kind.BOOL, False, None),
)
EpisodeReadReply.FIELDS = (
    Field(1, "frames", Kind.MESSAGE, False, EpisodeFrames),
)
EpisodeFrames.FIELDS = (
    Field(1, "step", Kind.UINT64, True, None),
    Field(2, "world_step", Kind.UINT64, True, None),
    Field(3, "time", Kind.DOUBLE, True, None),
    Field(4, "body_count", Kind.UINT64, True, None),
    Field(5, "ids", Kind.UINT64, True, None),
    Field(6, "pose", Kind.DOUBLE, True, None),
    Field(7, "velocity", Kind.DOUBLE, True, None),
    Field(8, "pose_single", Kind.FLOAT, True, None),
    Field(9, "velocity_single", Kind.FLOAT, True, None),
    Field(10, "contact_count", Kind.UINT64, True, None),
    Field(11, "contacts", Kind.MESSAGE, False, WorldContactsReply),
    Field(12, "stored", Kind.BOOL, True, None),
    Field(13, "ids_count", Kind.UINT64, True, None),
    Field(14, "joint_count", Kind.UINT64, True, None),
    Field(15, "joints_count", Kind.UINT64, True, None),
    Field(16, "joints", Kind.UINT64, True, None),
    Field(17, "joint_axes", Kind.UINT32, True, None),
    Field(18, "joint_axis_count", Kind.UINT64, True, None),
    Field(19, "joint_position_count", Kind.UINT64, True, None),
    Field(20, "joint_position", Kind.DOUBLE, True, None),
    Field(21, "joint_velocity", Kind.DOUBLE, True, None),
    Field(22, "joint_position_single", Kind.FLOAT, True, None),
    Field(23, "joint_velocity_single", Kind.FLOAT, True, None),
    Field(24, "joint_target", Kind.DOUBLE, True, None),
    Field(25, "joint_target_velocity", Kind.DOUBLE, True, None),
    Field(26, "joint_effort", Kind.DOUBLE, True, None),
    Field(27, "reports", Kind.MESSAGE, False, StepReports),
    Field(28, "has_report", Kind.BOOL, True, None),
)
EpisodeReplay.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "last", Kind.UINT64, False, None),
    Field(4, "stride", Kind.UINT64, False, None),
    Field(5, "speed", Kind.DOUBLE, False, None),
    Field(6, "poses", Kind.BOOL, False, None),
    Field(7, "velocities", Kind.BOOL, False, None),
    Field(8, "contacts", Kind.BOOL, False, None),
    Field(9, "single", Kind.BOOL, False, None),
    Field(10, "again", Kind.BOOL, False, None),
    Field(11, "joints", Kind.BOOL, False, None),
    Field(12, "backward", Kind.BOOL, False, None),
    Field(13, "reports", Kind.BOOL, False, None),
)
EpisodeReplayReply.FIELDS = (
    Field(1, "frames", Kind.UINT64, False, None),
    Field(2, "last_step", Kind.UINT64, False, None),
)
EpisodeVerify.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "last", Kind.UINT64, False, None),
    Field(4, "lanes", Kind.UINT32, False, None),
    Field(5, "seal_public_key", Kind.BYTES, False, None),
)
EpisodeSigned.FIELDS = (
    Field(1, "by", Kind.ENUM, False, EpisodeSigned.By),
    Field(2, "step", Kind.UINT64, False, None),
    Field(3, "key", Kind.BYTES, False, None),
)
EpisodeProgress.FIELDS = (
    Field(1, "steps_done", Kind.UINT64, False, None),
    Field(2, "steps_total", Kind.UINT64, False, None),
)
EpisodeVerifyReply.FIELDS = (
    Field(1, "verified", Kind.BOOL, False, None),
    Field(2, "steps", Kind.UINT64, False, None),
    Field(3, "dropped_steps", Kind.UINT64, False, None),
    Field(4, "unconverged_steps", Kind.UINT64, False, None),
    Field(5, "seconds", Kind.DOUBLE, False, None),
    Field(6, "differences", Kind.MESSAGE, True, EpisodeDifference),
    Field(7, "sealed", Kind.BOOL, False, None),
    Field(8, "proven_step", Kind.UINT64, False, None),
    Field(9, "signed", Kind.MESSAGE, False, EpisodeSigned),
)
EpisodeDifference.FIELDS = (
    Field(1, "step", Kind.UINT64, False, None),
    Field(2, "chunk", Kind.UINT64, False, None),
    Field(3, "chunk_kind", Kind.STRING, False, None),
    Field(4, "damaged", Kind.BOOL, False, None),
    Field(5, "expected_hash", Kind.FIXED64, False, None),
    Field(6, "found_hash", Kind.FIXED64, False, None),
    Field(7, "body", Kind.UINT64, False, None),
    Field(8, "quantity", Kind.STRING, False, None),
    Field(9, "expected", Kind.DOUBLE, False, None),
    Field(10, "found", Kind.DOUBLE, False, None),
    Field(11, "message", Kind.STRING, False, None),
)
EpisodeDelete.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
)
EpisodeFork.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "step", Kind.UINT64, False, None),
    Field(3, "name", Kind.STRING, False, None),
    Field(4, "lifetime", Kind.ENUM, False, World.Lifetime),
    Field(5, "idle_timeout_s", Kind.DOUBLE, False, None),
)
EpisodeForkReply.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(2, "name", Kind.STRING, False, None),
    Field(3, "parent", Kind.STRING, False, None),
    Field(4, "step", Kind.UINT64, False, None),
    Field(5, "world_step", Kind.UINT64, False, None),
    Field(6, "bodies", Kind.UINT64, False, None),
    Field(7, "hash", Kind.FIXED64, False, None),
)
EpisodeCompare.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "first", Kind.UINT64, False, None),
    Field(3, "last", Kind.UINT64, False, None),
    Field(4, "stride", Kind.UINT64, False, None),
    Field(5, "variants", Kind.MESSAGE, True, EpisodeVariant),
    Field(6, "threshold", Kind.DOUBLE, False, None),
    Field(7, "record", Kind.BOOL, False, None),
    Field(8, "labels", Kind.STRING, True, None),
    Field(9, "content", Kind.ENUM, False, Episode.Content),
)
EpisodeVariant.FIELDS = (
    Field(1, "settings", Kind.MESSAGE, False, WorldSettings),
    Field(2, "name", Kind.STRING, False, None),
)
EpisodeCompareReply.FIELDS = (
    Field(1, "first", Kind.UINT64, False, None),
    Field(2, "last", Kind.UINT64, False, None),
    Field(3, "seconds", Kind.DOUBLE, False, None),
    Field(4, "runs", Kind.MESSAGE, True, EpisodeRun),
    Field(5, "substeps", Kind.UINT64, False, None),
)
EpisodeRun.FIELDS = (
    Field(1, "solver", Kind.STRING, False, None),
    Field(2, "time_step", Kind.DOUBLE, False, None),
    Field(3, "steps", Kind.UINT64, False, None),
    Field(4, "simulated", Kind.DOUBLE, False, None),
    Field(5, "ended", Kind.STRING, False, None),
    Field(6, "ended_step", Kind.UINT64, False, None),
    Field(7, "overridden", Kind.UINT64, False, None),
    Field(8, "unconverged_steps", Kind.UINT64, False, None),
    Field(9, "worst", Kind.MESSAGE, False, CertificateColumns),
    Field(10, "worst_step", Kind.MESSAGE, False, CertificateSteps),
    Field(11, "mean", Kind.MESSAGE, False, CertificateColumns),
    Field(12, "contacts_max", Kind.UINT64, False, None),
    Field(13, "contacts_mean", Kind.DOUBLE, False, None),
    Field(14, "iterations_mean", Kind.DOUBLE, False, None),
    Field(15, "solver_time", Kind.DOUBLE, False, None),
    Field(16, "solver_time_max", Kind.DOUBLE, False, None),
    Field(17, "launch", Kind.MESSAGE, False, LaunchColumns),
    Field(18, "launch_step", Kind.UINT64, False, None),
    Field(19, "removed", Kind.UINT64, False, None),
    Field(20, "broken", Kind.UINT64, False, None),
    Field(21, "solver_time_mean", Kind.DOUBLE, False, None),
    Field(22, "energy", Kind.DOUBLE, False, None),
    Field(23, "terminated_step", Kind.UINT64, False, None),
    Field(30, "compared", Kind.UINT64, False, None),
    Field(31, "distance", Kind.DOUBLE, False, None),
    Field(32, "distance_body", Kind.UINT64, False, None),
    Field(33, "distance_step", Kind.UINT64, False, None),
    Field(34, "angle", Kind.DOUBLE, False, None),
    Field(35, "angle_body", Kind.UINT64, False, None),
    Field(36, "angle_step", Kind.UINT64, False, None),
    Field(37, "apart_step", Kind.UINT64, False, None),
    Field(38, "differs_step", Kind.UINT64, False, None),
    Field(39, "hash_step", Kind.UINT64, False, None),
    Field(40, "bodies_step", Kind.UINT64, False, None),
    Field(50, "sample_step", Kind.UINT64, True, None),
    Field(51, "sample_own_step", Kind.UINT64, True, None),
    Field(52, "sample_time", Kind.DOUBLE, True, None),
    Field(53, "sample_energy", Kind.DOUBLE, True, None),
    Field(54, "sample_contacts", Kind.UINT32, True, None),
    Field(55, "sample_distance", Kind.DOUBLE, True, None),
    Field(56, "sample_distance_body", Kind.UINT64, True, None),
    Field(57, "sample_angle", Kind.DOUBLE, True, None),
    Field(58, "sample_angle_body", Kind.UINT64, True, None),
    Field(70, "episode", Kind.STRING, False, None),
    Field(71, "name", Kind.STRING, False, None),
)
EpisodePin.FIELDS = (
    Field(1, "episode", Kind.STRING, False, None),
    Field(2, "pinned", Kind.BOOL, False, None),
)
EpisodeBackup.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "overwrite", Kind.BOOL, False, None),
)
BackupProgress.FIELDS = (
    Field(1, "bytes_done", Kind.UINT64, False, None),
    Field(2, "bytes_total", Kind.UINT64, False, None),
)
EpisodeBackupReply.FIELDS = (
    Field(1, "name", Kind.STRING, False, None),
    Field(2, "bytes", Kind.UINT64, False, None),
    Field(3, "seconds", Kind.DOUBLE, False, None),
)
Subscribe.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
    Field(11, "group", Kind.UINT64, False, None),
    Field(12, "index", Kind.UINT64, False, None),
    Field(2, "every", Kind.UINT64, False, None),
    Field(3, "frames_per_second", Kind.DOUBLE, False, None),
    Field(4, "scene", Kind.BOOL, False, None),
    Field(5, "poses", Kind.BOOL, False, None),
    Field(6, "velocities", Kind.BOOL, False, None),
    Field(7, "joints", Kind.BOOL, False, None),
    Field(8, "contacts", Kind.BOOL, False, None),
    Field(9, "reports", Kind.BOOL, False, None),
    Field(10, "single", Kind.BOOL, False, None),
)
LiveFrame.FIELDS = (
    Field(1, "frames", Kind.MESSAGE, False, EpisodeFrames),
    Field(2, "reports", Kind.MESSAGE, False, StepReports),
    Field(3, "scene", Kind.MESSAGE, False, Scene),
    Field(4, "skipped", Kind.UINT64, False, None),
    Field(5, "faulted", Kind.BOOL, False, None),
    Field(6, "episode", Kind.UINT64, False, None),
    Field(7, "episode_step", Kind.UINT64, False, None),
    Field(8, "episode_over", Kind.BOOL, False, None),
    Field(9, "failure", Kind.MESSAGE, False, Status),
)
SubscribeReply.FIELDS = (
    Field(1, "frames", Kind.UINT64, False, None),
    Field(2, "skipped", Kind.UINT64, False, None),
)
ContactProblem.FIELDS = (
    Field(1, "time_step", Kind.DOUBLE, False, None),
    Field(2, "gravity", Kind.DOUBLE, False, None),
    Field(3, "tree_width", Kind.UINT32, True, None),
    Field(4, "mass", Kind.DOUBLE, True, None),
    Field(5, "v_free", Kind.DOUBLE, True, None),
    Field(6, "tree_is_body", Kind.BOOL, True, None),
    Field(7, "body_mass", Kind.DOUBLE, True, None),
    Field(8, "body_inertia", Kind.DOUBLE, True, None),
    Field(9, "tree_link_count", Kind.UINT32, True, None),
    Field(10, "contact_mu", Kind.DOUBLE, True, None),
    Field(11, "contact_gap", Kind.DOUBLE, True, None),
    Field(12, "contact_restitution", Kind.DOUBLE, True, None),
    Field(13, "contact_approach", Kind.DOUBLE, True, None),
    Field(14, "contact_stiffness", Kind.DOUBLE, True, None),
    Field(15, "contact_dissipation_time", Kind.DOUBLE, True, None),
    Field(16, "contact_damping", Kind.DOUBLE, True, None),
    Field(17, "contact_bias", Kind.DOUBLE, True, None),
    Field(18, "contact_force", Kind.DOUBLE, True, None),
    Field(19, "contact_motion", Kind.DOUBLE, True, None),
    Field(20, "contact_gdot", Kind.DOUBLE, True, None),
    Field(21, "contact_given", Kind.UINT32, True, None),
    Field(22, "contact_block_count", Kind.UINT32, True, None),
    Field(23, "contact_block_tree", Kind.UINT32, True, None),
    Field(24, "contact_jacobian", Kind.DOUBLE, True, None),
    Field(25, "contact_frame", Kind.DOUBLE, True, None),
    Field(26, "side_tree", Kind.UINT32, True, None),
    Field(27, "side_arm", Kind.DOUBLE, True, None),
    Field(30, "row_low", Kind.DOUBLE, True, None),
    Field(31, "row_high", Kind.DOUBLE, True, None),
    Field(32, "row_gap", Kind.DOUBLE, True, None),
    Field(33, "row_bias", Kind.DOUBLE, True, None),
    Field(34, "row_group", Kind.UINT32, True, None),
    Field(35, "row_stiffness", Kind.DOUBLE, True, None),
    Field(36, "row_dissipation_time", Kind.DOUBLE, True, None),
    Field(37, "row_damping", Kind.DOUBLE, True, None),
    Field(38, "row_compliance", Kind.DOUBLE, True, None),
    Field(39, "row_gdot", Kind.DOUBLE, True, None),
    Field(40, "row_given", Kind.UINT32, True, None),
    Field(41, "row_block_count", Kind.UINT32, True, None),
    Field(42, "row_block_tree", Kind.UINT32, True, None),
    Field(43, "row_jacobian", Kind.DOUBLE, True, None),
    Field(50, "warm_contacts", Kind.DOUBLE, True, None),
    Field(51, "warm_rows", Kind.DOUBLE, True, None),
    Field(60, "link_parent", Kind.UINT32, True, None),
    Field(61, "link_velocities", Kind.UINT32, True, None),
    Field(62, "link_mass", Kind.DOUBLE, True, None),
    Field(63, "link_inertia", Kind.DOUBLE, True, None),
    Field(64, "link_center", Kind.DOUBLE, True, None),
    Field(65, "link_motion", Kind.DOUBLE, True, None),
    Field(66, "link_added", Kind.DOUBLE, True, None),
)
Solve.FIELDS = (
    Field(1, "problem", Kind.MESSAGE, False, ContactProblem),
    Field(2, "solver", Kind.STRING, False, None),
    Field(3, "parameters", Kind.MESSAGE, False, SolverParameters),
    Field(4, "history", Kind.BOOL, False, None),
    Field(5, "effort", Kind.ENUM, False, Effort.Kind),
)
SolveReply.FIELDS = (
    Field(1, "v", Kind.DOUBLE, True, None),
    Field(2, "contacts", Kind.DOUBLE, True, None),
    Field(3, "rows", Kind.DOUBLE, True, None),
    Field(4, "certificate", Kind.MESSAGE, False, Certificate),
    Field(5, "history", Kind.DOUBLE, True, None),
    Field(6, "history_stride", Kind.UINT64, False, None),
    Field(7, "contact_bias", Kind.DOUBLE, True, None),
    Field(8, "row_bias", Kind.DOUBLE, True, None),
)
Certificate.FIELDS = (
    Field(1, "e_mom", Kind.DOUBLE, False, None),
    Field(2, "e_pen", Kind.DOUBLE, False, None),
    Field(3, "e_comp", Kind.DOUBLE, False, None),
    Field(4, "e_cone", Kind.DOUBLE, False, None),
    Field(5, "e_mdp", Kind.DOUBLE, False, None),
    Field(6, "e_ds", Kind.DOUBLE, False, None),
    Field(7, "e_own", Kind.DOUBLE, False, None),
    Field(8, "e_row", Kind.DOUBLE, False, None),
    Field(9, "pen_velocity", Kind.DOUBLE, False, None),
    Field(10, "comp_velocity", Kind.DOUBLE, False, None),
    Field(11, "mdp_velocity", Kind.DOUBLE, False, None),
    Field(12, "ds_velocity", Kind.DOUBLE, False, None),
    Field(13, "own_velocity", Kind.DOUBLE, False, None),
    Field(14, "row_velocity", Kind.DOUBLE, False, None),
    Field(15, "scale", Kind.DOUBLE, False, None),
    Field(16, "tolerance", Kind.DOUBLE, False, None),
    Field(17, "penetration", Kind.DOUBLE, False, None),
    Field(18, "iterations", Kind.UINT32, False, None),
    Field(19, "converged", Kind.BOOL, False, None),
    Field(20, "time", Kind.DOUBLE, False, None),
    Field(21, "worst_contact", Kind.INT64, False, None),
    Field(30, "rung", Kind.ENUM, False, Rung.Kind),
    Field(31, "passes", Kind.UINT32, False, None),
    Field(32, "islands", Kind.UINT32, False, None),
    Field(33, "islands_open", Kind.UINT32, False, None),
    Field(34, "worst_open", Kind.MESSAGE, False, OpenIsland),
    Field(35, "reason", Kind.ENUM, False, Certificate.Reason),
    Field(36, "softened", Kind.UINT32, False, None),
    Field(38, "cost_gap", Kind.DOUBLE, False, None),
    Field(40, "launch", Kind.DOUBLE, False, None),
    Field(41, "gliding", Kind.DOUBLE, False, None),
    Field(42, "launch_contact", Kind.INT64, False, None),
    Field(43, "idle", Kind.UINT32, False, None),
)
OpenIsland.FIELDS = (
    Field(1, "tree", Kind.UINT32, False, None),
    Field(2, "contact", Kind.INT64, False, None),
    Field(3, "contacts", Kind.UINT32, False, None),
    Field(4, "residual", Kind.DOUBLE, False, None),
)
Problem.FIELDS = (
    Field(1, "world", Kind.UINT64, False, None),
)
ProblemReply.FIELDS = (
    Field(1, "problem", Kind.MESSAGE, False, ContactProblem),
    Field(2, "solver", Kind.STRING, False, None),
    Field(3, "parameters", Kind.MESSAGE, False, SolverParameters),
)
