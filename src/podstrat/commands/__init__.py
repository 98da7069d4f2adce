"""One module a sub-command: `arguments(parser)` and `run(args) -> int`. A command imports its room when it is run."""
