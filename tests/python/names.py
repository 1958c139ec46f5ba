# Entries and parameters named like Python's own names, or the module's.
import inspect

from common import show
import clashing

for name in sorted(clashing.__all__):
    print(name, inspect.signature(getattr(clashing, name)) if name != "FsmError" else "is the exception")
show(clashing.lambda_, 3, 1)
show(clashing.lambda_, class_prime=1, def_=3)
show(clashing.sum_prime, [1, 2], 3)
show(clashing.list, [1, 2], 3)
show(clashing.tuple, [1, 2], 3)
show(clashing.len, 3)
show(clashing.vars, 1, 2, 3)
show(clashing.FsmError_, [1])
show(clashing.range, (2, [1, 2]), 5, 3)
show(clashing.hasattr, [1], [2])
show(clashing.None_, 1)
show(clashing.tuple, "a", 3)
