"""The side that lives in a cell's environment: imports once, then runs each trial in a child.

`python -m orchestrator.runner` says `Ready` once it is warm, then `Done` for each `Order` that it
reads. Nothing here imports ray: a cell's Python may be one that ray lacks.
"""
