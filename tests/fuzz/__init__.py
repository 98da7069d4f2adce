"""Fuzzing: mutations of recorded requests, one target for each part that reads what strangers send.

    python -m tests.fuzz [TARGET ...] [--seconds N] [--seed N]      or: make fuzz ARGS="engine --seconds 300"

A target makes an input of a number and sees whether its answer is a documented one. The numbers of a run follow from its seed,
which is printed; an input that fails is kept in .fuzz/, with the command that repeats it.
"""
