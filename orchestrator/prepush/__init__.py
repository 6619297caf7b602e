"""Before a push: run the cases that the pushed commits affect, and block the push if one breaks.

git's hook → refs.py        which commits are pushed, and onto what
             diff.py        which lines they change
             units.py       which rules of the converter that reaches
             affected.py    which cases went through these (by `index.py`), or stand there
             choose.py      which trials of them, in which cells, fit into the budget
             tested.py      runs them with the pushed files, in a worktree of its own
"""
