"""What adapters of ADBench's problems in Python have alike: the command line of ADBench's runner, reading, timing and writing.

usage: ADAPTER --version | TYPE NAME INPUT OUT_PREFIX MINIMUM NRUNS_F NRUNS_J TIME_LIMIT [-rep]

--version prints what is installed, or why nothing can be run, with exit status 77.
"""
import math
import os
import sys
import time
from types import SimpleNamespace

THETAS, CAMERA = 26, 11


def skip(why):
    print(why)
    sys.exit(77)


try:
    import numpy as np
except ImportError:
    skip("numpy is not installed")

THREADS = int(os.environ.get("FSMC_ADBENCH_THREADS", "1"))


def numbers(file):
    with open(file) as f:
        return np.array(f.read().replace(":", " ").split(), dtype=float)


def take(flat, *shapes):
    """Arrays of these shapes, one after the other."""
    at, out = 0, []
    for shape in shapes:
        size = math.prod(shape)
        out.append(flat[at : at + size].reshape(shape))
        at += size
    return out


def read_gmm(file, replicate):
    flat = numbers(file)
    d, k, n = (int(x) for x in flat[:3])
    alphas, means, icf, x, prior = take(flat[3:], (k,), (k, d), (k, d * (d + 1) // 2), (1 if replicate else n, d), (2,))
    if replicate:
        x = np.repeat(x, n, axis=0)
    # The places of what is below the diagonal, column after column.
    lower = [(i, j) for j in range(d) for i in range(j + 1, d)]
    rows, columns = (np.array([place[axis] for place in lower], dtype=int) for axis in (0, 1))
    nu = d + prior[1] + 1
    gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * (nu - j)) for j in range(d))
    constant = (-0.5 * n * d * math.log(2 * math.pi)
                - k * (nu * d * (math.log(prior[0]) - 0.5 * math.log(2)) - gamma))
    return SimpleNamespace(d=d, k=k, n=n, alphas=alphas, means=means, icf=icf, x=x, gamma=prior[0], m=prior[1],
                           rows=rows, columns=columns, constant=constant)


def read_ba(file):
    flat = numbers(file)
    n, m, p = (int(x) for x in flat[:3])
    cam, point, weight, feat = take(flat[3:], (CAMERA,), (3,), (1,), (2,))
    index = np.arange(p)
    return SimpleNamespace(n=n, m=m, p=p, cams=np.tile(cam, (n, 1)), points=np.tile(point, (m, 1)),
                           weights=np.repeat(weight, p), feats=np.tile(feat, (p, 1)), camera=index % n, point=index % m)


def read_lstm(file):
    flat = numbers(file)
    l, c, b = (int(x) for x in flat[:3])
    params, extra, state, sequence = take(flat[3:], (l, 2, 4, b), (3, b), (l, 2, b), (c, b))
    return SimpleNamespace(l=l, c=c, b=b, params=params, extra=extra, state=state, sequence=sequence)


def read_lines(file):
    with open(file) as f:
        return [line.strip().split(":") for line in f if line.strip()]


def read_hand(file, complicated):
    folder = os.path.join(os.path.dirname(file), "model")
    bones = read_lines(os.path.join(folder, "bones.txt"))
    vertices = read_lines(os.path.join(folder, "vertices.txt"))
    triangles = np.array(read_lines(os.path.join(folder, "triangles.txt")), dtype=int)
    parents = [int(bone[1]) for bone in bones]
    base, inverse = (np.array([bone[k : k + 16] for bone in bones], dtype=float).reshape(-1, 4, 4) for k in (2, 18))
    flat = numbers(file)
    n = int(flat[0])
    points = flat[2 : 2 + 4 * n].reshape(n, 4)
    us, theta = take(flat[2 + 4 * n :], (n if complicated else 0, 2), (THETAS,))
    wanted = points[:, 0].astype(int)
    used, places = np.unique(triangles[wanted] if complicated else wanted, return_inverse=True)
    weights = np.zeros((len(used), len(bones)))
    for row, v in enumerate(used):
        pairs = vertices[v][9:]
        for bone, weight in zip(pairs[::2], pairs[1::2]):
            weights[row, int(bone)] += float(weight)
    rest = np.array([vertices[v][:3] + ["1"] for v in used], dtype=float)
    return SimpleNamespace(n=n, parents=parents, base=base, inverse=inverse, rest=rest, weights=weights, theta=theta,
                           us=us, places=places.reshape(n, 3) if complicated else places.reshape(n),
                           points=points[:, 1:], complicated=complicated)


def finger(bone):
    """The places of a bone's angles about x and z in theta, or None."""
    first, place = 6 + 4 * ((bone - 1) // 4), (bone - 1) % 4
    if not 0 < bone <= 20 or place == 0:
        return None, None
    return (first, first + 1) if place == 1 else (first + place, None)


# ---- timing, as ADBench does it


def clock():
    cpu = os.environ.get("FSMC_ADBENCH_CLOCK") == "cpu" and THREADS == 1
    return time.process_time if cpu else time.perf_counter


def time_calls(call, minimum, samples, limit):
    now, repeats = clock(), 1

    def run():
        start = now()
        for _ in range(repeats):
            call()
        return now() - start

    took = run()
    while took <= minimum:
        repeats *= 2
        took = run()
    least = total = took
    for _ in range(samples - 1):
        if total >= limit:
            break
        took = run()
        least, total = min(least, took), total + took
    return least / repeats


# ---- writing


def write_lines(file, values):
    with open(file, "w") as f:
        f.write("".join(f"{x:.17e}\n" for x in np.ravel(values).tolist()))


def write_ba(prefix, name, q, value, derivative):
    errors, weights = value
    with open(f"{prefix}F_{name}.txt", "w") as f:
        for title, values in (("Reprojection error:", errors), ("Zach weight error:", weights)):
            f.write(title + "\n" + "".join(f"{x:.17e}\n" for x in np.ravel(values).tolist()))
    blocks, by_weight = (np.asarray(part) for part in derivative)  # [p][2][15] and [p]
    index = np.arange(q.p)
    columns = np.concatenate([CAMERA * q.camera[:, None] + np.arange(CAMERA),
                              CAMERA * q.n + 3 * q.point[:, None] + np.arange(3),
                              (CAMERA * q.n + 3 * q.m + index)[:, None]], axis=1)
    starts = np.concatenate([15 * np.arange(2 * q.p), 30 * q.p + np.arange(q.p + 1)])
    columns = np.concatenate([np.repeat(columns, 2, axis=0).ravel(), CAMERA * q.n + 3 * q.m + index])
    with open(f"{prefix}J_{name}.txt", "w") as f:
        f.write(f"{3 * q.p} {CAMERA * q.n + 3 * q.m + q.p}\n{len(starts)}\n")
        f.write(" ".join(map(str, starts.tolist())) + f" \n{len(columns)}\n")
        f.write(" ".join(map(str, columns.tolist())) + " \n")
        f.write("".join(f"{x:.17e} " for x in np.concatenate([blocks.ravel(), by_weight]).tolist()))


def write_hand(prefix, name, value, derivative):
    write_lines(f"{prefix}F_{name}.txt", value)
    rows = np.concatenate([np.asarray(part).reshape(value.size, -1) for part in derivative], axis=1)
    with open(f"{prefix}J_{name}.txt", "w") as f:
        f.write("".join("\t".join(f"{x:.17e}" for x in row) + "\n" for row in rows.tolist()))


def write(prefix, name, kind, q, value, derivative):
    most = int(os.environ.get("FSMC_ADBENCH_ENTRIES", "10000000"))
    if kind == "BA":
        if 31 * q.p <= most:
            write_ba(prefix, name, q, value, derivative)
    elif kind.startswith("HAND"):
        if value.size * 28 <= most:
            write_hand(prefix, name, np.asarray(value), derivative)
    else:
        write_lines(f"{prefix}F_{name}.txt", [float(value)])
        write_lines(f"{prefix}J_{name}.txt", np.concatenate([np.ravel(np.asarray(part)) for part in derivative]))


def main(version, problems, plain):
    """`problems` has for each type a function that makes two calls, objective and derivative, which return when the values are
    there; `plain` makes arrays of numpy of what they return."""
    if sys.argv[1:] == ["--version"]:
        print(version)
        return
    kind, name, file, prefix, minimum, samples, more, limit = sys.argv[1:9]
    read = {"GMM": lambda: read_gmm(file, "-rep" in sys.argv[9:]), "BA": lambda: read_ba(file),
            "LSTM": lambda: read_lstm(file)}
    q = read.get(kind, lambda: read_hand(file, kind == "HAND-COMPLICATED"))()
    objective, derivative = problems[kind.split("-")[0]](q)
    value, by = plain(objective()), plain(derivative())  # compiles, too
    times = [time_calls(call, float(minimum), int(count), float(limit))
             for call, count in ((objective, samples), (derivative, more))]
    prefix += os.path.splitext(os.path.basename(file))[0] + "_"
    write(prefix, name, kind, q, value, by)
    with open(f"{prefix}times_{name}.txt", "w") as f:
        f.write("".join(f"{x:.6e}\n" for x in times))
