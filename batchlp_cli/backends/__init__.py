"""Backends: each solves a batch and answers with claims, which the referee then judges."""
