"""HiGHS sessions and PDHG lanes on one machine, each with the members that it is measured to solve faster."""
