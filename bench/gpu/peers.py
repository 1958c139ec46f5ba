#!/usr/bin/env python3
"""peers.py [--cpu] [--small] [WORD]...: the cases of cases.h by PyTorch and JAX, timed as run.cu does.

Double precision for gmm, single (without TF32) for kmeans and lstm. Without a GPU, or a package, what is missing is said;
--cpu runs on the processor, and --small only the small cases, which shows that they work. Prints milliseconds."""

import statistics
import sys
import time

CASES = [  # as in cases.h
    ("gmm", (7, 3, 4), True), ("gmm", (300, 8, 5), True), ("kmeans", (3, 70, 5), True), ("kmeans", (6, 30, 4), True),
    ("lstm", (5, 4, 3, 6), True), ("lstm", (1, 7, 5, 8), True),
    ("gmm", (1000, 64, 200), False), ("gmm", (1000, 128, 200), False), ("gmm", (10000, 32, 200), False),
    ("gmm", (10000, 64, 25), False), ("gmm", (10000, 128, 25), False), ("gmm", (10000, 128, 200), False),
    ("kmeans", (1024, 10000, 256), False), ("kmeans", (5, 494019, 35), False),
    ("lstm", (1024, 20, 300, 192), False), ("lstm", (1024, 300, 80, 256), False),
]


def arguments(np, program, size):
    """Arguments of about the same distribution as in cases.h; times do not depend on more."""
    rng = np.random.default_rng(1)

    def array(dtype, scale, *shape):
        return rng.uniform(-scale, scale, shape).astype(dtype)

    if program == "gmm":
        n, d, k = size
        return (array("f8", 1, k), array("f8", 1, k, d), array("f8", 0.5, k, d * (d + 1) // 2), array("f8", 2, n, d))
    if program == "kmeans":
        k, n, d = size
        points = array("f4", 1, n, d)
        return (points, points[: k * (n // k) : n // k] + array("f4", 0.01, k, d))
    batch, n, d, h = size
    s = h**-0.5
    return (array("f4", s, 4 * h, d), array("f4", s, 4 * h, h), array("f4", s, 4 * h), array("f4", 1, n, batch, d))


def lower_indices(np, d):
    """For packed[:, d:] as columns below the diagonal: rows and columns."""
    columns = np.concatenate([np.full(d - 1 - j, j) for j in range(d)]) if d > 1 else np.zeros(0, int)
    rows = np.concatenate([np.arange(j + 1, d) for j in range(d)]) if d > 1 else np.zeros(0, int)
    return rows, columns


def milliseconds(run):
    """The median of at most 30 calls, or two seconds of them, after three."""
    for _ in range(3):
        run()
    times = []
    while len(times) < 3 or (len(times) < 30 and sum(times) < 2):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


# ---- JAX


def jax_program(np, program):
    import jax
    import jax.numpy as jnp

    def gmm(alphas, means, icf, x):
        d = x.shape[1]
        rows, columns = lower_indices(np, d)
        q = jnp.zeros((icf.shape[0], d, d), x.dtype).at[:, rows, columns].set(icf[:, d:])
        q = q + jnp.exp(icf[:, :d])[:, :, None] * jnp.eye(d, dtype=x.dtype)
        # Q (x - mean), as two products
        z = jnp.einsum("kij,nj->nki", q, x) - jnp.einsum("kij,kj->ki", q, means)
        inner = alphas + icf[:, :d].sum(1) - 0.5 * (z * z).sum(2)
        wishart = 0.5 * ((q * q).sum())
        return jax.nn.logsumexp(inner, axis=1).sum() - x.shape[0] * jax.nn.logsumexp(alphas) + wishart

    def cost(centres, points):
        square = (points * points).sum(1)[:, None] - 2 * points @ centres.T + (centres * centres).sum(1)
        return square.min(1).sum()

    def kmeans(points, centres):
        step = jax.grad(cost)
        g, h = jax.jvp(lambda c: step(c, points), (centres,), (jnp.ones_like(centres),))
        return g / h

    def loss(wx, wh, bias, xs):
        h = wh.shape[1]

        def step(state, x):
            y, c = state
            z = x @ wx.T + y @ wh.T + bias
            i, f, o = (jax.nn.sigmoid(z[:, k * h : (k + 1) * h]) for k in range(3))
            c = f * c + i * jnp.tanh(z[:, 3 * h :])
            y = o * jnp.tanh(c)
            return (y, c), 0.5 * (y * y).sum()

        zeros = jnp.zeros((xs.shape[1], h), xs.dtype)
        return jax.lax.scan(step, (zeros, zeros), xs)[1].sum()

    return jax.jit({"gmm": jax.grad(gmm, (0, 1, 2)), "kmeans": kmeans, "lstm": jax.grad(loss, (0, 1, 2))}[program])


def by_jax(np, program, values, cpu):
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    device = jax.devices("cpu" if cpu else "gpu")[0]
    values = [jax.device_put(v, device) for v in values]
    function = jax_program(np, program)
    return milliseconds(lambda: jax.block_until_ready(function(*values)))


# ---- PyTorch


def torch_program(np, program, values, cudnn):
    import torch

    if program == "gmm":
        alphas, means, icf, x = values
        d = x.shape[1]
        rows, columns = (torch.as_tensor(i, device=x.device) for i in lower_indices(np, d))

        def gmm(alphas, means, icf):
            q = torch.diag_embed(torch.exp(icf[:, :d]))
            q = q.index_put((torch.arange(len(icf), device=x.device)[:, None], rows, columns), icf[:, d:])
            z = torch.einsum("kij,nj->nki", q, x) - torch.einsum("kij,kj->ki", q, means)
            inner = alphas + icf[:, :d].sum(1) - 0.5 * (z * z).sum(2)
            return torch.logsumexp(inner, 1).sum() - len(x) * torch.logsumexp(alphas, 0) + 0.5 * (q * q).sum()

        return lambda: torch.autograd.grad(gmm(alphas, means, icf), (alphas, means, icf))
    if program == "kmeans":
        points, centres = values

        def kmeans():
            square = (points * points).sum(1)[:, None] - 2 * points @ centres.T + (centres * centres).sum(1)
            g = torch.autograd.grad(square.min(1).values.sum(), centres, create_graph=True)[0]
            return g / torch.autograd.grad(g.sum(), centres)[0]

        return kmeans
    wx, wh, bias, xs = values
    h = wh.shape[1]
    if cudnn:
        layer = torch.nn.LSTM(xs.shape[2], h).to(xs.device)  # two biases; gates in another order
        return lambda: torch.autograd.grad(0.5 * layer(xs)[0].square().sum(), tuple(layer.parameters()))

    def lstm():
        y = c = torch.zeros(xs.shape[1], h, device=xs.device)
        total = 0
        for x in xs:
            z = x @ wx.T + y @ wh.T + bias
            i, f, o = (torch.sigmoid(z[:, k * h : (k + 1) * h]) for k in range(3))
            c = f * c + i * torch.tanh(z[:, 3 * h :])
            y = o * torch.tanh(c)
            total = total + 0.5 * (y * y).sum()
        return torch.autograd.grad(total, (wx, wh, bias))

    return lstm


def by_torch(np, program, values, cpu, cudnn=False):
    import torch

    if not cpu and not torch.cuda.is_available():
        raise RuntimeError("there is no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    device = "cpu" if cpu else "cuda"
    leaves = {"gmm": (0, 1, 2), "kmeans": (1,), "lstm": (0, 1, 2)}[program]
    tensors = [torch.tensor(v, device=device, requires_grad=i in leaves) for i, v in enumerate(values)]
    function = torch_program(np, program, tensors, cudnn)

    def run():
        function()
        if not cpu:
            torch.cuda.synchronize()

    return milliseconds(run)


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    cpu, small = "--cpu" in sys.argv, "--small" in sys.argv
    try:
        import numpy as np
    except ImportError:
        print("skipped: numpy is not installed")
        return 77
    peers = {
        "JAX": lambda *a: by_jax(np, *a, cpu),
        "PyTorch": lambda *a: by_torch(np, *a, cpu),
        "cuDNN": lambda *a: by_torch(np, *a, cpu, True),
    }
    print(f"{'case':28}" + "".join(f"{p:>12}" for p in peers))
    missing = {}
    for program, size, is_small in CASES:
        name = program + " " + "x".join(map(str, size))
        if is_small != small or (words and not any(w in name for w in words)):
            continue
        values = arguments(np, program, size)
        line = f"{name:28}"
        for peer, run in peers.items():
            ms = None
            if peer not in missing and (peer != "cuDNN" or program == "lstm"):
                try:
                    ms = run(program, values)
                except (ImportError, RuntimeError) as e:
                    missing[peer] = str(e).splitlines()[0]
            line += f"{ms:12.3f}" if ms is not None else f"{'-':>12}"
        print(line, flush=True)
    for peer, why in missing.items():
        print(f"skipped: {peer}: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
