"""The worker pool: nothing is lost, the guilty task alone is blamed, and nothing outlives the pool."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Iterator
from pathlib import Path

import pytest

from batchlp_cli import processes, worker
from batchlp_cli.errors import WorkerCrash
from batchlp_cli.processes import Ending, Outcome, Task, WorkerPool

FACTORY = "worker_tasks:obedient"
ROOT = Path(__file__).parent.parent


def run_all(tasks: list[Task], jobs: int = 2, **options: object) -> dict[Hashable, Outcome]:
    """Runs tasks and returns outcomes by key; fails where a key comes twice."""
    pool = WorkerPool(FACTORY, jobs, **options)  # type: ignore[arg-type]
    try:
        outcomes = run(pool, tasks)
    finally:
        pool.close()
    return outcomes


def run(pool: WorkerPool, tasks: list[Task]) -> dict[Hashable, Outcome]:
    """Runs tasks on a pool that stays open."""
    waiting = iter(tasks)
    outcomes: dict[Hashable, Outcome] = {}
    for outcome in pool.run(lambda slot, fresh: next(waiting, None)):
        assert outcome.key not in outcomes
        outcomes[outcome.key] = outcome
    return outcomes


def is_alive(pid: int) -> bool:
    """Tells whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_dead(pids: list[int], seconds: float = 10.0) -> bool:
    """Waits for processes to end; False where one is still alive after that time."""
    end = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_every_task_gives_its_own_result() -> None:
    """Each of many small tasks comes back once, with the value that belongs to its key."""
    outcomes = run_all([Task(i, ("double", i)) for i in range(500)])
    assert {key: outcome.value for key, outcome in outcomes.items()} == {i: 2 * i for i in range(500)}


def test_large_payloads_and_results_do_not_block() -> None:
    """Messages far larger than a pipe's buffer pass in both directions, also when sent ahead."""
    outcomes = run_all([Task(i, ("double", "ab" * (1 << 20))) for i in range(6)], jobs=1)
    assert [len(str(outcomes[i].value)) for i in range(6)] == [4 << 20] * 6


def test_an_exception_is_the_outcome_of_its_task() -> None:
    """A handler that raises gives RAISED with the exception's text, and its worker goes on."""
    outcomes = run_all([Task("bad", ("raise", "no luck")), Task("good", ("echo", 1))], jobs=1)
    assert outcomes["bad"].ending is Ending.RAISED
    assert outcomes["bad"].message == "ValueError: no luck"
    assert outcomes["good"].value == 1


def test_a_result_that_cannot_be_pickled_is_raised() -> None:
    """A value that does not travel is an outcome, not the end of the worker."""
    outcomes = run_all([Task("bad", ("unpicklable", 0)), Task("good", ("echo", 1))], jobs=1)
    assert (outcomes["bad"].ending, outcomes["good"].value) == (Ending.RAISED, 1)


@pytest.mark.parametrize(
    ("verb", "argument", "message"), [("kill", signal.SIGSEGV, "killed by SIGSEGV"), ("exit", 3, "exit code 3")]
)
def test_a_crash_is_blamed_on_the_task_in_work_only(verb: str, argument: int, message: str) -> None:
    """Of all tasks only the crashing one is CRASHED, with the cause; those queued behind it are done by others."""
    tasks = [Task(i, ("echo", i)) for i in range(20)]
    tasks.insert(10, Task("crash", (verb, int(argument))))
    outcomes = run_all(tasks)
    assert (outcomes["crash"].ending, outcomes["crash"].message) == (Ending.CRASHED, message)
    assert sorted(int(str(o.value)) for key, o in outcomes.items() if key != "crash") == list(range(20))


def test_a_worker_killed_from_outside_loses_no_task() -> None:
    """SIGKILL in mid-task gives one CRASHED outcome for that task; everything else is done."""
    pool = WorkerPool(FACTORY, 2)
    pids = [run(pool, [Task(0, ("pid", 0))])[0].value]
    waiting = iter([Task("long", ("sleep", 30)), *[Task(i, ("echo", i)) for i in range(50)]])
    outcomes = []
    for outcome in pool.run(lambda slot, fresh: next(waiting, None)):
        outcomes.append(outcome)
        if len(outcomes) == 40:
            os.kill(int(str(pids[0])), signal.SIGKILL)
    pool.close()
    assert [o.key for o in outcomes if o.ending is Ending.CRASHED] == ["long"]
    assert sorted(int(str(o.value)) for o in outcomes if o.ending is Ending.DONE) == list(range(50))


def test_a_hang_ends_at_its_deadline_while_others_go_on() -> None:
    """The hanging task is TIMED_OUT near its deadline, and tasks with the same deadline behind it are done."""
    start = time.monotonic()
    tasks = [Task("hang", ("sleep", 60), deadline=0.5), *[Task(i, ("sleep", 0.01), deadline=0.5) for i in range(100)]]
    outcomes = run_all(tasks)
    assert time.monotonic() - start < 10
    assert (outcomes["hang"].ending, outcomes["hang"].message) == (Ending.TIMED_OUT, "exceeded 0.5 s")
    assert all(outcomes[i].ending is Ending.DONE for i in range(100))


def test_a_slow_reader_of_outcomes_is_no_timeout() -> None:
    """A task that ended in time is DONE however late its outcome is fetched."""
    pool = WorkerPool(FACTORY, 2)
    waiting = iter([Task(i, ("sleep", 0.05), deadline=0.4) for i in range(4)])
    endings = []
    for outcome in pool.run(lambda slot, fresh: next(waiting, None)):
        endings.append(outcome.ending)
        time.sleep(0.6)
    pool.close()
    assert endings == [Ending.DONE] * 4


def test_close_from_another_thread_ends_the_run() -> None:
    """close() makes a run() that waits for long tasks return at once, and kills the workers."""
    pool = WorkerPool(FACTORY, 2)
    pid = int(str(run(pool, [Task(0, ("pid", 0))])[0].value))
    ended = threading.Event()

    def work() -> None:
        run(pool, [Task(i, ("sleep", 60)) for i in range(4)])
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    pool.close()
    pool.close()
    assert ended.wait(10)
    thread.join()
    assert wait_until_dead([pid])
    assert run(pool, [Task(0, ("echo", 0))]) == {}


def test_workers_stay_for_the_next_run_and_only_as_many_as_needed() -> None:
    """One task at a time starts one worker, and the next run finds it with what it has served before."""
    pool = WorkerPool(FACTORY, 4)
    first, second = (run(pool, [Task(0, ("served", i))])[0].value for i in range(2))
    pool.close()
    assert first[0] == second[0]  # type: ignore[index]
    assert second[1] == [0, 1]  # type: ignore[index]


def test_fresh_tells_what_a_process_has_had() -> None:
    """The source sees fresh for the first task of each process, and payload_for is asked again when a task moves on."""
    pool = WorkerPool(FACTORY, 1)
    asked: list[bool] = []

    def payload(slot: int, fresh: bool) -> object:
        asked.append(fresh)
        return ("echo", fresh)

    seen: list[bool] = []
    waiting = iter([Task(0, ("echo", 0)), Task(1, ("kill", 9)), Task(2, payload_for=payload)])

    def source(slot: int, fresh: bool) -> Task | None:
        seen.append(fresh)
        return next(waiting, None)

    outcomes = {o.key: o for o in pool.run(source)}
    pool.close()
    assert seen[:2] == [True, False]
    assert outcomes[2].value is True
    assert asked[-1] is True


def test_a_run_left_early_leaves_no_outcome_behind() -> None:
    """When the caller stops iterating, the next run gets outcomes of its own tasks only."""
    pool = WorkerPool(FACTORY, 2)
    waiting = iter([Task(i, ("sleep", 0.02)) for i in range(10)])
    stream = pool.run(lambda slot, fresh: next(waiting, None))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert list(run(pool, [Task("new", ("echo", 7))])) == ["new"]
    pool.close()


def test_too_much_memory_is_an_outcome() -> None:
    """An allocation above the limit raises MemoryError in the task; a modest one passes."""
    tasks = [Task("big", ("allocate", 2 << 30)), Task("small", ("allocate", 1 << 20))]
    outcomes = run_all(tasks, memory_limit_bytes=256 << 20)
    assert (outcomes["big"].ending, outcomes["big"].message) == (Ending.RAISED, "MemoryError")
    assert outcomes["small"].value == 1 << 20


def test_a_factory_that_fails_is_a_worker_crash() -> None:
    """Where no worker can be made, the reason is raised instead of an endless restart."""
    pool = WorkerPool("worker_tasks:broken", 2)
    with pytest.raises(WorkerCrash, match="ImportError: no such library"):
        run(pool, [Task(0, ("echo", 0))])
    pool.close()


def test_workers_do_not_hear_ctrl_c_or_sigterm() -> None:
    """SIGINT and SIGTERM are blocked in workers, and left alone in the parent."""
    outcomes = run_all([Task(0, ("blocked", 0))])
    assert {int(signal.SIGINT), int(signal.SIGTERM)} <= set(outcomes[0].value)  # type: ignore[call-overload]
    assert not {signal.SIGINT, signal.SIGTERM} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_captured_output_has_both_streams_and_a_bound() -> None:
    """The text holds what went to both descriptors in order, and no more than 64 KiB."""
    text = str(run_all([Task(0, ("captured", 1 << 20))])[0].value)
    assert text.startswith("one two three xxx")
    assert len(text) == 1 << 16


PROGRAM = """
import sys, time
sys.path[:0] = [{root!r}, {tests!r}]
from batchlp_cli.processes import Task, WorkerPool
pool = WorkerPool("worker_tasks:obedient", 1)
tasks = iter([Task(0, ("print", "x")), Task(1, ("pid", 0)), Task(2, ("sleep", {last}))])
for outcome in pool.run(lambda slot, fresh: next(tasks, None)):
    print(outcome.key, outcome.value, flush=True)
"""


def start_program(tmp_path: Path, last: float) -> subprocess.Popen[str]:
    """Starts a script without a `__main__` guard that runs three tasks and never closes its pool."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(root=str(ROOT), tests=str(ROOT / "tests"), last=last))
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)


def test_stdout_is_the_parents_alone(tmp_path: Path) -> None:
    """What workers print never reaches stdout, a script needs no guard, and a forgotten pool does not keep the program."""
    program = start_program(tmp_path, last=0)
    output, _ = program.communicate(timeout=30)
    lines = output.splitlines()
    assert program.returncode == 0
    assert [line.split()[0] for line in lines] == ["0", "1", "2"]
    assert not any("says" in line for line in lines)


def test_workers_die_with_their_parent(tmp_path: Path) -> None:
    """After kill -9 of the program its worker ends too, though it is in the middle of a task."""
    program = start_program(tmp_path, last=60)
    assert program.stdout is not None
    program.stdout.readline()
    pid = int(program.stdout.readline().split()[1])
    assert is_alive(pid)
    program.kill()
    program.wait()
    program.stdout.close()
    assert wait_until_dead([pid])


def test_run_that_waits_for_more_is_woken() -> None:
    """With more() a run stays open without work, asks its source again after wake(), and ends once more() says no."""
    pool = WorkerPool(FACTORY, 1)
    waiting: list[Task] = []
    pending = True

    def bring() -> None:
        nonlocal pending
        waiting.append(Task("late", ("echo", 3)))
        pending = False
        pool.wake()

    threading.Timer(0.3, bring).start()
    outcomes = list(pool.run(lambda slot, fresh: waiting.pop() if waiting else None, lambda: pending))
    pool.close()
    assert [(o.key, o.value) for o in outcomes] == [("late", 3)]


def test_paused_run_gives_no_task_until_it_goes_on() -> None:
    """While a run is paused, nothing is asked of the source; then it goes on by itself, without wake(), and to the end."""
    pool = WorkerPool(FACTORY, 2)
    waiting = iter([Task(k, ("echo", k)) for k in range(12)])
    until = [0.0]

    def is_paused() -> bool:
        return time.monotonic() < until[0]

    def source(slot: int, fresh: bool) -> Task | None:
        assert not is_paused()
        return next(waiting, None)

    done = []
    for outcome in pool.run(source, paused=is_paused):
        done.append(outcome.key)
        if len(done) == 3:
            until[0] = time.monotonic() + 0.5
    pool.close()
    assert sorted(done, key=str) == sorted(range(12), key=str)


def endings_with(pool: WorkerPool, tasks: Iterator[Task], timer: threading.Timer) -> dict[Hashable, Ending]:
    """Returns how tasks end that nobody may wait out; the timer starts when the one called warm is done."""
    started = time.monotonic()
    endings = {}
    for outcome in pool.run(lambda slot, fresh: next(tasks, None)):
        if outcome.key == "warm":
            timer.start()
        endings[outcome.key] = outcome.ending
    pool.close()
    assert time.monotonic() - started < 20
    return endings


def test_cancelled_task_ends_at_once_and_alone() -> None:
    """A cancelled task that would take a minute ends within seconds; what waited behind it and later tasks are done."""
    pool = WorkerPool(FACTORY, 1)
    tasks = iter([Task("warm", ("echo", 0)), Task("long", ("sleep", 60)), Task("next", ("echo", 1))])
    endings = endings_with(pool, tasks, threading.Timer(1.0, pool.cancel, ["long"]))
    assert endings == {"warm": Ending.DONE, "long": Ending.CANCELLED, "next": Ending.DONE}


def test_task_given_ahead_is_cancelled_with_the_worker_it_waited_for() -> None:
    """A cancelled task that no worker has begun doesn't come back to life when the worker before it is ended."""
    pool = WorkerPool(FACTORY, 1)
    tasks = iter(
        [Task("warm", ("echo", 0)), Task("long", ("sleep", 60)), Task("ahead", ("sleep", 60)), Task("last", ("echo", 1))]
    )

    def cancel() -> None:
        pool.cancel("ahead")
        time.sleep(0.5)
        pool.cancel("long")

    endings = endings_with(pool, tasks, threading.Timer(1.0, cancel))
    assert endings == {"warm": Ending.DONE, "long": Ending.CANCELLED, "ahead": Ending.CANCELLED, "last": Ending.DONE}


def test_cancelling_what_is_done_changes_nothing() -> None:
    """A key that is cancelled after its task has ended doesn't touch a later task of the same key."""
    pool = WorkerPool(FACTORY, 1)
    tasks = iter([Task("a", ("echo", 1)), Task("b", ("echo", 2)), Task("a", ("echo", 3))])
    values: list[object] = []
    for outcome in pool.run(lambda slot, fresh: next(tasks, None)):
        if len(values) == 1:
            pool.cancel("gone")
        values.append((outcome.ending, outcome.value))
    pool.close()
    assert values == [(Ending.DONE, 1), (Ending.DONE, 2), (Ending.DONE, 3)]


def test_tasks_begun_ahead_of_the_run_are_done_once_and_first() -> None:
    """Each worker is at a task before the run asks its source for more, also where that task is too large for a pipe."""
    pool = WorkerPool(FACTORY, 2)
    begun = [Task("small", ("served", "small")), Task("large", ("echo", b"x" * (1 << 20))), Task("none", ("echo", 0))]
    waiting = iter([Task(i, ("served", i)) for i in range(10)])
    try:
        pool.begin(begun)
        outcomes = {o.key: o for o in pool.run(lambda slot, fresh: next(waiting, None))}
    finally:
        pool.close()
    assert set(outcomes) == {"small", "large", *range(10)}, "there are two workers, so two tasks are begun"
    assert all(o.ending is Ending.DONE for o in outcomes.values())
    value = outcomes["small"].value
    assert isinstance(value, tuple)
    assert value[1] == ["small"]


def test_a_begun_task_has_its_whole_deadline_and_is_blamed_like_any_other() -> None:
    """The deadline counts from when the worker is there, however late the run looks; a crash costs the begun task alone."""
    pool = WorkerPool(FACTORY, 2)
    waiting = iter([Task(i, ("echo", i)) for i in range(5)])
    try:
        pool.begin([Task("late", ("sleep", 0.2), deadline=5.0), Task("deadly", ("kill", int(signal.SIGKILL)))])
        time.sleep(0.5)
        outcomes = {o.key: o for o in pool.run(lambda slot, fresh: next(waiting, None))}
    finally:
        pool.close()
    assert outcomes["late"].ending is Ending.DONE
    assert outcomes["deadly"].ending is Ending.CRASHED
    assert [outcomes[i].value for i in range(5)] == list(range(5))


def test_a_begun_task_survives_a_worker_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given to the next worker, as if it had not been begun."""
    pool = WorkerPool(FACTORY, 1)
    starts = []

    def start(*arguments: object) -> object:
        starts.append(arguments)
        if len(starts) == 1:
            raise OSError("out of processes")
        return original(*arguments)  # type: ignore[arg-type]

    original = worker.start_worker
    monkeypatch.setattr(processes, "start_worker", start)
    try:
        pool.begin([Task("first", ("echo", 1))])
        outcomes = run(pool, [Task("second", ("echo", 2))])
    finally:
        pool.close()
    assert {key: o.value for key, o in outcomes.items()} == {"first": 1, "second": 2}
    assert len(starts) == 2


def test_begun_tasks_end_with_the_pool() -> None:
    """A pool that is closed before its run leaves no worker behind."""
    pool = WorkerPool(FACTORY, 2)
    pool.begin([Task(k, ("sleep", 60)) for k in range(2)])
    pids = [slot.process.pid for slot in pool._slots if slot.process is not None]
    pool.close()
    assert len(pids) == 2
    assert wait_until_dead([pid for pid in pids if pid is not None])
