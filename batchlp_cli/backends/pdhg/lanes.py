"""A tile of lanes on its way: members enter, step together, are checked, restart or leave, and the next ones take their lanes.

Decisions are made for all lanes at once from the kernel's sums; only what enters or leaves is looked at one by one. A member's
arithmetic depends on nothing but itself: checks come every so many of its own iterations, whoever its mates are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from batchlp_cli.backends.pdhg import certificates, termination
from batchlp_cli.backends.pdhg.course import Course, Entry
from batchlp_cli.backends.pdhg.ending import find_ending
from batchlp_cli.backends.pdhg.kernels.base import (
    Measured,
    Moved,
    displacement_of,
    load_lane,
    make_tile,
    point_of,
    resized_tile,
    set_numbers,
    set_rates,
)
from batchlp_cli.backends.pdhg.mending import worth_mending
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.restart import fixed_point_error, wants_restart
from batchlp_cli.backends.pdhg.states import WIDTHS, LaneStates
from batchlp_cli.backends.pdhg.weight import first_weight, update_weights
from batchlp_cli.batch import Indices
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.solution import Status

STRAYED = 10.0
"""A lane that changes rules goes back to its start if its merit is this many times its best one."""


class Lanes:
    """One tile and the states of its lanes; `run` is the life of the tile."""

    def __init__(self, course: Course, precision: str, width: int) -> None:
        self._course, self._kernel, self._precision = course, course.kernel, precision
        self._dtype = np.dtype(precision)
        self._last = precision == "float64"  # no other precision comes after this one
        self._tile = make_tile(course.kernel, course.matrix, course.entries[precision], width, self._dtype)
        self._states = LaneStates.of(width)
        self.branches: list[Entry] = []

    @property
    def width(self) -> int:
        """Number of lanes W."""
        return self._states.width

    def rounds(self) -> Iterator[None]:
        """Runs until nobody waits and all lanes are idle, or the course is stopped; pauses after each check, and leaves in
        `branches`, for the caller to take, the members that are to go on as LPs of their own, too."""
        course = self._course
        watch = course.settings.watch
        while not course.stop.is_set():
            begun = time.perf_counter()
            self._widen()
            entered = self._fill()
            if entered.any():
                self._check(entered)
                if course.waits(self._precision):
                    continue  # lanes may be free again
            if not self._states.active.any():
                return
            self._narrow()
            self._kernel.advance(self._tile, course.check_every)
            active = self._states.active
            self._states.iterations[active] += course.check_every
            course.steps = max(course.steps, int(self._states.iterations.max()))
            self._states.k += course.check_every
            self._check(active & ~self._drop_cancelled())
            if watch is not None:
                watch.worked(begun, int(active.sum()), self.width)
            yield

    def _drop_cancelled(self) -> Mask:
        """Empties the lanes of members that were cancelled; returns those lanes."""
        cancelled = self._course.cancelled
        gone = np.array([e is not None and e.number in cancelled for e in self._states.entries], dtype=np.bool_)
        for lane in np.flatnonzero(gone):
            self._states.take(int(lane))
        return gone

    def _fill(self) -> Mask:
        """Gives idle lanes to waiting members; returns the lanes that were filled."""
        entered = np.zeros(self.width, dtype=np.bool_)
        for lane in np.flatnonzero(~self._states.active):
            while (entry := self._course.next_entry(self._precision)) is not None:
                if self._enter(int(lane), entry):
                    entered[lane] = True
                    break
        if entered.any():
            self._renumber()
        return entered

    def _enter(self, lane: int, entry: Entry) -> bool:
        """Starts a member in a lane; False where it is answered at once."""
        course, given = self._course, self._course.given_of(entry)
        if course.refuted(entry, given):
            return False
        lp = course.lp_of(entry)
        x, y = course.start(entry, lp)
        load_lane(self._kernel, self._tile, lane, x, y)
        matrix = course.matrix
        cost = np.zeros(lp.n) if entry.ray is not None else matrix.col_scale * lp.c
        omega = entry.omega or first_weight(cost, matrix.row_scale * lp.row_lower, matrix.row_scale * lp.row_upper)
        self._states.begin(lane, entry, given, course.reduction.restoration.shift(given), omega)
        return True

    def _renumber(self) -> None:
        """Gives the tile the costs and bounds of the members that it now has, and their step sizes."""
        course = self._course
        numbers = numbers_of(course.batch, self._states.codes)
        set_numbers(self._kernel, self._tile, numbers, scaled_numbers(numbers, course.matrix, self._dtype))
        set_rates(self._kernel, self._tile, self._states.weight.omega)

    def _narrow(self) -> None:
        """Moves the members to a narrower tile where nobody waits and that saves half the lanes or more."""
        lanes = np.flatnonzero(self._states.active)
        width = next((w for w in WIDTHS if w >= lanes.size), self.width)
        if 2 * width <= self.width and not self._course.waits(self._precision):
            self._resize(lanes, width)

    def _widen(self) -> None:
        """Moves the members to a tile as wide as tiles may be by now, where more wait than there are idle lanes."""
        lanes = np.flatnonzero(self._states.active)
        if self.width >= self._course.width or self._course.number_waiting(self._precision) <= self.width - lanes.size:
            return
        try:
            self._resize(lanes, self._course.width)
        except MemoryError:  # before anything has moved
            self._course.width = self.width

    def _resize(self, lanes: Indices, width: int) -> None:
        """Moves some lanes to the front of a tile of another width."""
        self._tile = resized_tile(self._kernel, self._tile, lanes.tolist(), width)
        self._states = self._states.moved(lanes, width)
        self._renumber()

    def _check(self, lanes: Mask) -> None:
        """Looks at some lanes: who leaves, and who of the others restarts."""
        moved = self._kernel.probe(self._tile)
        fpe = self._error(moved)
        self._states.restart.begin(lanes & (self._states.k == 0), fpe)
        self._states.checks[lanes] += 1
        errors = self._judge(lanes, moved)
        if self._course.polishes:
            self._polish(lanes & self._states.active, errors)
        if self._states.reloaded.any():
            self._states.restart.begin(self._states.reloaded, self._error(self._kernel.probe(self._tile)))
            self._states.reloaded[:] = False
            return
        staying = lanes & self._states.active
        with np.errstate(invalid="ignore"):
            restarts = staying & wants_restart(
                self._course.parameters.restart, self._states.restart, fpe, self._states.k, self._states.iterations
            )
        if restarts.any():
            self._start_anew(restarts, moved, errors)

    def _polish(self, lanes: Mask, errors: Vector) -> None:
        """Answers members that polishing or interior steps finish; lets others go on from there where it is much better."""
        merits = termination.merit(errors)
        for lane in np.flatnonzero(lanes):
            ending = find_ending(self._course, self._states, (self._kernel, self._tile, int(lane)))
            if ending is not None and ending.status is not None:
                self._answer(self._states.take(int(lane)), int(lane), ending.status, **ending.found)
            elif ending is not None and ending.merit < self._course.parameters.polish.gain * merits[lane]:
                load_lane(self._kernel, self._tile, int(lane), *ending.point)
                self._states.k[lane] = 0
                self._states.reloaded[lane] = True

    def _error(self, moved: Vector) -> Vector:
        with np.errstate(invalid="ignore", over="ignore"):
            return fixed_point_error(moved, self._states.weight.omega, self._course.matrix.eta)

    def _start_anew(self, lanes: Mask, moved: Vector, errors: Vector) -> None:
        """Restarts lanes from (xh, yh) with new weights, and takes their first fixed-point error."""
        primal, dual = np.sqrt(moved[Moved.PRIMAL_SQUARED]), np.sqrt(moved[Moved.DUAL_SQUARED])
        p = self._course.parameters.weight
        update_weights(p, self._states.weight, lanes, primal, dual, errors)
        changed = self._states.weight.change_rules(p, lanes, self._states.iterations, self._states.done.best_at)
        self._kernel.restart(self._tile, lanes)
        for lane in np.flatnonzero(changed & (termination.merit(errors) > STRAYED * self._states.done.best)):
            entry = self._states.entry(int(lane))  # back to where its member started
            load_lane(self._kernel, self._tile, int(lane), *self._course.start(entry, self._course.lp_of(entry)))
        set_rates(self._kernel, self._tile, self._states.weight.omega)
        self._states.k[lanes] = 0
        self._states.restart.begin(lanes, self._error(self._kernel.probe(self._tile)))

    def _judge(self, lanes: Mask, moved: Vector) -> Vector:
        """Answers members that are finished, proved, at a limit or without hope; returns the relative errors [3, W]."""
        course, p = self._course, self._course.parameters.termination
        measured = self._kernel.measure(self._tile)
        errors = termination.relative_errors(measured, self._states.done)
        if course.settings.watch is not None and course.settings.watch.tracing:
            shown = self._states.names(course.batch.names, lanes)
            course.settings.watch.checked(shown, self._states.total, self._states.k, errors, self._states.weight.omega)
        merits = termination.merit(errors)
        tol = p.margin * course.settings.tol * self._states.done.strictness
        finite: Mask = np.asarray(np.isfinite(measured).all(axis=0) & np.isfinite(moved).all(axis=0))
        finished = finite & (merits <= tol)
        feasible = finite & (errors[0] <= tol)
        costless = np.array([e is not None and e.ray is not None for e in self._states.entries], dtype=np.bool_)
        for lane in np.flatnonzero(lanes & (finished | (feasible & costless))):
            self._finish(int(lane))
        self._mend(lanes & self._states.active & finite & ~costless, errors, tol)
        self._prove(lanes & self._states.active & finite, measured, feasible)
        self._cut_off(lanes & self._states.active & finite & ~costless, measured)
        self._keep_bounds(lanes & self._states.active & finite & ~costless)
        steps = termination.patience(p, self._states.iterations, self._last)
        still = moved[Moved.DX_SQUARED] + moved[Moved.DY_SQUARED] == 0
        idle: Mask = np.asarray(termination.stalled(p, self._states.done, merits, self._states.iterations, steps) | still)
        self._give_up(lanes & self._states.active, errors, finite, idle)
        self._branch(lanes & self._states.active & finite)
        return errors

    def _cut_off(self, lanes: Mask, measured: Vector) -> None:
        """Answers members whose dual bound passes the cutoff, rounding and prices of infinite bounds included."""
        course = self._course
        if course.settings.cutoff is None:
            return
        value = measured[Measured.DUAL_VALUE] + self._states.done.shift + self._states.done.offset
        due = lanes & (self._states.iterations >= self._states.next_cutoff)
        for lane in np.flatnonzero(due & (value >= course.settings.cutoff)):
            entry = self._states.entry(int(lane))
            given = course.given_of(entry)
            x, y = self._point(int(lane))
            if course.prover.bound(given, y) >= course.settings.cutoff:
                message = "the dual bound passes the cutoff"
                self._answer(self._states.take(int(lane)), int(lane), Status.CUTOFF, x=x, y=y, message=message)
            else:
                self._states.next_cutoff[lane] = course.parameters.certificates.spacing * self._states.iterations[lane]

    def _keep_bounds(self, lanes: Mask) -> None:
        """Remembers the prices of members whose dual bound is the best so far, after 1, 2, 4, 8, ... checks: a bound is dear."""
        for lane in np.flatnonzero(lanes & self._states.check_is_power & (not self._course.settings.fallback)):
            self._course.keep_bound(self._states.entry(int(lane)), self._point(int(lane))[1])

    def _finish(self, lane: int) -> None:
        """Answers a member whose tolerances are met also as it was given; else lets it go on, held to more."""
        course, entry = self._course, self._states.entry(lane)
        given = course.given_of(entry)
        x, y = self._point(lane)
        if not course.accepts(entry, given, x, y):
            self._states.done.strictness[lane] *= course.parameters.termination.stricter
        elif entry.ray is not None:
            self._answer(self._states.take(lane), lane, Status.UNBOUNDED, x=x, ray=entry.ray)
        else:
            self._answer(self._states.take(lane), lane, Status.OPTIMAL, x=x, y=y)

    def _mend(self, lanes: Mask, errors: Vector, tol: Vector) -> None:
        """Answers members that only miss their rows, and by little, with a point nearby that meets them."""
        course, p = self._course, self._course.parameters.mending
        due = lanes & worth_mending(p, course.matrix.A.nnz, errors, tol)
        for lane in np.flatnonzero(due & (self._states.iterations >= self._states.next_mending)):
            entry = self._states.entry(int(lane))
            point = course.mended(entry, *point_of(self._kernel, self._tile, int(lane)))
            self._states.next_mending[lane] = p.spacing * self._states.iterations[lane]
            if point is not None:
                self._answer(self._states.take(int(lane)), int(lane), Status.OPTIMAL, x=point[0], y=point[1], message="mended")

    def _point(self, lane: int) -> tuple[Vector, Vector]:
        """Returns x, y of a lane as those of its member as given."""
        entry = self._states.entry(lane)
        return self._course.restored(entry, self._course.given_of(entry), *point_of(self._kernel, self._tile, lane))

    def _prove(self, lanes: Mask, measured: Vector, feasible: Mask) -> None:
        """Answers members that are proved infeasible or unbounded; a proved ray without a point waits for a lane once more."""
        p = self._course.parameters.certificates
        lanes = lanes & self._states.active & (self._states.iterations >= self._states.next_proof)
        by_price = lanes & certificates.farkas_of_prices(p, measured)
        # differences are looked at after 1, 2, 4, 8, 16, 32, ... checks
        due = lanes & self._states.check_is_power | (lanes & (self._states.checks % 16 == 0))
        by_move = improving = np.zeros(self.width, dtype=np.bool_)
        if due.any():
            directions = self._kernel.directions(self._tile)
            by_move = due & certificates.farkas_of_directions(p, directions)
            improving = due & certificates.improving(p, directions, self._states.done.cost_norm)
        for lane in np.flatnonzero(by_price | by_move | improving):
            self._prove_one(int(lane), bool(by_price[lane]), bool(by_move[lane]), bool(improving[lane]), bool(feasible[lane]))

    def _prove_one(self, lane: int, by_price: bool, by_move: bool, improving: bool, feasible: bool) -> None:
        prover, entry = self._course.prover, self._states.entry(lane)
        given, restoration = self._course.given_of(entry), self._course.reduction.restoration
        x, y = point_of(self._kernel, self._tile, lane)
        d, e = displacement_of(self._kernel, self._tile, lane)
        for wanted, candidate in ((by_price, y), (by_move, e)):
            ray = prover.farkas(given, restoration.prices(np.zeros(given.n), candidate)) if wanted else None
            if ray is not None:
                self._answer(self._states.take(lane), lane, Status.INFEASIBLE, ray=ray)
                return
        ray = prover.direction(given, restoration.direction(given, d)) if improving and entry.ray is None else None
        if ray is None:
            self._states.next_proof[lane] = self._course.parameters.certificates.spacing * self._states.iterations[lane]
        elif feasible:
            self._answer(self._states.take(lane), lane, Status.UNBOUNDED, x=restoration.point(given, x), ray=ray)
        else:
            self._hand_on(lane, self._course.waiting[self._precision], x=x, y=np.zeros(y.size), ray=ray)

    def _give_up(self, lanes: Mask, errors: Vector, finite: Mask, idle: Mask) -> None:
        """Answers members that are at a limit, stalled or no longer finite; what float32 cannot do goes on in float64."""
        course, now = self._course, time.perf_counter()
        exhausted = self._states.total + course.check_every > course.iteration_limit
        late = np.array([e is not None and now - e.entered > course.settings.time_limit for e in self._states.entries])
        for lane in np.flatnonzero(lanes & (~finite | idle | exhausted | late)):
            if not (late[lane] or exhausted[lane] or self._last):
                start = dict(zip("xy", point_of(self._kernel, self._tile, int(lane)), strict=True)) if finite[lane] else {}
                omega = float(self._states.weight.omega[lane]) if start else None
                self._hand_on(int(lane), course.waiting["float64"], omega=omega, **start)
                continue
            reached = self._states.done.best_at[lane] if finite[lane] else None
            status, why = termination.ending(bool(late[lane]), bool(exhausted[lane]), reached)
            words = f"{why}; {termination.describe(errors, int(lane))}"
            points = dict(zip("xy", self._point(int(lane)), strict=True)) if finite[lane] else {}
            self._answer(self._states.take(int(lane)), int(lane), status, message=words, **points)

    def _branch(self, lanes: Mask) -> None:
        """Lets members that take long go on as LPs of their own, too, from where they are."""
        for lane in np.flatnonzero(lanes & self._last):
            entry, total = self._states.entry(int(lane)), int(self._states.total[lane])
            if self._course.branches_off(entry, total):
                self.branches.append(self._course.branch(entry, *self._point(int(lane)), total))

    def _hand_on(self, lane: int, queue: deque[Entry], **start: Any) -> None:
        """Empties a lane whose member goes on in another lane, from the given x, y, omega, ray."""
        entry = self._states.take(lane)
        entry.iterations += int(self._states.iterations[lane])
        entry.omega = None
        for name, value in start.items():
            setattr(entry, name, value)
        queue.append(entry)

    def _answer(self, entry: Entry, lane: int, status: Status, **given: Any) -> None:
        self._course.answer(entry, status, int(self._states.iterations[lane]), **given)
