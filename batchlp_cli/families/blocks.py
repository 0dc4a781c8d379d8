"""What recipes are made of: matrices out of blocks, index pairs, names, places, and batches out of tables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from batchlp_cli.batch import Changes, Field, Indices, LPBatch
from batchlp_cli.problem import LinearProgram, Vector

Block = tuple[Indices, Indices, Vector]
"""Rows, columns and values of some entries of a matrix."""

Part = tuple[Field, Indices, Vector]
"""A field, the places in it that change, [k], and their values, [B, k]."""


def pairs(p: int, q: int) -> tuple[Indices, Indices, Indices]:
    """Returns i, j and i * q + j of all pairs, each [p * q] int64."""
    pair = np.arange(p * q, dtype=np.int64)
    return pair // q, pair % q, pair


def block_matrix(shape: tuple[int, int], *blocks: Block) -> sp.csr_array:
    """Returns the matrix of a shape with the entries of all blocks; entries that share a place are added."""
    rows, cols, values = (np.concatenate([block[k] for block in blocks]) for k in range(3))
    return sp.csr_array((values, (rows, cols)), shape=shape)


def names(prefix: str, count: int) -> tuple[str, ...]:
    """Returns prefix_1, prefix_2, ..."""
    return tuple(f"{prefix}_{k}" for k in range(1, count + 1))


def pair_names(prefix: str, p: int, q: int) -> tuple[str, ...]:
    """Returns prefix_1_1, prefix_1_2, ... in the order of `pairs`."""
    return tuple(f"{prefix}_{i}_{j}" for i in range(1, p + 1) for j in range(1, q + 1))


def distances(rng: np.random.Generator, facilities: int, clients: int) -> Vector:
    """Returns distances between uniform places in the unit square: [F, C]."""
    one, other = rng.random((facilities, 2)), rng.random((clients, 2))
    away: Vector = np.sqrt(((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=-1))
    return away


def batch_of(base: LinearProgram, parts: list[Part]) -> LPBatch:
    """Returns the batch whose members differ from the base in these parts."""
    members = parts[0][2].shape[0]
    codes = np.concatenate([np.full(index.size, field, dtype=np.int8) for field, index, _ in parts])
    index = np.concatenate([index for _, index, _ in parts])
    values = np.concatenate([values for _, _, values in parts], axis=1)  # [B, k]
    member = np.repeat(np.arange(members, dtype=np.int64), index.size)
    changes = Changes(member, np.tile(codes, members), np.tile(index, members), values.ravel())
    return LPBatch(base, changes, member_names(base, members))


def member_names(base: LinearProgram, members: int) -> tuple[str, ...]:
    """Returns the base's name with a number, all as long as the last, so that the order of names is that of members."""
    return tuple(f"{base.name}_{k:0{len(str(members - 1))}d}" for k in range(members))
