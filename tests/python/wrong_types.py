# Arguments of wrong types, ranks and shapes.
from common import show
import model

for value in ["1", None, True, [1], 1j, 10**400, object]:
    show(model.scalars, value, 1, 1, True)
for value in [1.0, "1", True, 2**63, -(2**63) - 1, None]:
    show(model.scalars, 1, 1, value, True)
for value in [0, "", None, [True]]:
    show(model.scalars, 1, 1, 1, value)
for value in [1.0, None, "ab", [[1]], [1, "a"], [1, None], [1, [2]], [True], {1: 2}, {1, 2}]:
    show(model.twice, value)
for value in [[1.5], [2**63], [True]]:
    show(model.ints, value)
show(model.flags, [1])
for value in [[1, 2], [[1, 2], [3]], [[1, 2], 3], [[[1]]], [["a"]], ["ab"]]:
    show(model.total, value)
for value in [1, (1,), (1, 2, 3), (1, (2, 3)), (1, (2.5, [])), "ab"]:
    show(model.nested, value, ([], []))
show(model.cube, [[[1, 2]]])
show(model.twice, [1])
