"""pnnx's files: the graph (`.pnnx.param`), its tensors (`.pnnx.bin`), its Python (`_pnnx.py`)."""
