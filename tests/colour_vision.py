"""How colours look to people who lack a kind of cones, and on a grey printer; how far two colours are apart.

Dichromats: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A Physiologically-based Model for Simulation of Color Vision
Deficiency, IEEE Transactions on Visualization and Computer Graphics 15 (2009) 1291-1298, matrices for severity 1.0, on linear
RGB. sRGB and its linear form: IEC 61966-2-1. Distances: CIE 1976 L*a*b*, white D65 (CIE 15:2004); about 2.3 is just noticeable.
"""

from __future__ import annotations

import numpy as np

from batchlp_cli.problem import Vector

RGB_TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])

SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
    "grey": np.tile(RGB_TO_XYZ[1], (3, 1)),
}
"""What each kind of sight makes of linear RGB: [3, 3] each. Grey keeps the luminance."""


def linear(colours: Vector) -> Vector:
    """Returns sRGB from 0 to 1, [..., 3], as linear RGB."""
    rgb: Vector = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return rgb


def seen(colours: Vector, kind: str) -> Vector:
    """Returns as linear RGB, [..., 3], what somebody sees of sRGB colours from 0 to 1, [..., 3]."""
    rgb: Vector = np.clip(linear(colours) @ SEEN[kind].T, 0.0, 1.0)
    return rgb


def lab(rgb: Vector) -> Vector:
    """Returns linear RGB, [..., 3], as L*a*b*."""
    ratio = rgb @ RGB_TO_XYZ.T / RGB_TO_XYZ.sum(axis=1)
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def parse(colour: str) -> Vector:
    """Returns #rrggbb as sRGB from 0 to 1: [3]."""
    return np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])


def apart(one: str, other: str, kind: str) -> float:
    """Returns the distance of two colours #rrggbb as somebody sees them."""
    return float(np.linalg.norm(np.subtract(*lab(seen(np.stack([parse(one), parse(other)]), kind)))))
