"""The commands of `pnnx-parity`: files with `arguments(parser)` and `main(args) -> status`."""
