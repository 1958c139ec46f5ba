# Errors of the program and of the arguments: class, code, text; the next call works after each.
import builtins

from common import show
import model

show(model.element, [1, 2], 2)
show(model.element, [1, 2], -1)
show(model.ratio, 1, 0)
show(model.positive, -1)
show(model.grid, -2, 0.5)
show(model.grid, 2**60, 0.5)
show(model.grid, 2**63 - 1, 0.5)
show(model.take, 0, [1])
show(model.take, 3, [1])
show(model.pair, [[1, 2], [3, 4]], [[1, 1, 1]], [5, 6, 7])
show(model.pair, [[1, 2], [3, 4]], [[1, 1]], [5, 6])
show(model.fit, 1, 0, [0, 1, 2], [1, 3])
show(model.nested, (1.5, (2, [1, 2])), ([1], [3, 4]))
show(model.scalars, 1, 2, 3)
show(model.twice, [1], colour=1)
for name in sorted(vars(model)):
    error = getattr(model, name)
    if isinstance(error, type) and issubclass(error, model.FsmError):
        bases = [c.__name__ for c in error.__mro__[1:] if getattr(builtins, c.__name__, None) is c]
        print(name, error.code, *bases[:-3])
show(model.element, [1, 2], 1)
