"""PDHG in lanes: thousands of members of one batch advance together, each with its own step sizes, restarts and verdict."""
