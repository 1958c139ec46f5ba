# The same values as `fsmc run`.
import json
import subprocess

from common import plain
import model

calls = {
    "scalars": [1.5, 0.1, 3, True],
    "twice": [[0.1, 2, -3e300]],
    "single": [[0.1, 2]],
    "transposed": [[[1, 2, 3], [4, 5, 6]]],
    "pair": [[[1, 2], [3, 4]], [[0.1, 1]], [5, 6, 7]],
    "halves": [[1, 2, 3, 4, 5]],
    "fit": [1.1, 0.3, [0, 1, 2], [1, 3, 4]],
    "slow": [20],
}


def same(x, y):
    if isinstance(x, list):
        return len(x) == len(y) and all(map(same, x, y))
    return x == y or abs(x - y) <= 1e-14 * abs(x)


def as_json(value):
    return [as_json(part) for part in value] if isinstance(value, (tuple, list)) else value


for name, arguments in calls.items():
    run = subprocess.run(["fsmc", "run", "model.fsm", name], input=json.dumps(arguments).encode(), capture_output=True)
    expected, got = json.loads(run.stdout), as_json(plain(getattr(model, name)(*arguments)))
    print(name, "agrees" if same(expected, got) else "expected %s, got %s" % (expected, got))
