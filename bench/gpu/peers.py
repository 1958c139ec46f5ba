#!/usr/bin/env python3
"""peers.py [--cpu] RUN EXPECTED TIMES: the cases of TIMES, which run.cu wrote, by PyTorch and JAX, beside its times.

RUN is the program that wrote them: it gives the arguments. Results are compared with those of the file EXPECTED. Double precision
except for kmeans and lstm, which are in single, without TF32. Without a GPU, or a package, what is missing is said; --cpu runs on
the processor. Prints milliseconds, and by how much the best of the peers is slower."""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# ---- what a peer's programs are written in: `xp` is jax.numpy or torch


class Jax:
    def __init__(self, cpu):
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        self.jax, self.xp = jax, jax.numpy
        self.device = jax.devices("cpu" if cpu else "gpu")[0]
        self.erfc, self.softmax, self.sigmoid = jax.scipy.special.erfc, jax.nn.softmax, jax.nn.sigmoid
        self.logsumexp, self.minimum = jax.nn.logsumexp, jax.numpy.min

    def array(self, x):
        return self.jax.device_put(x, self.device)

    def numpy(self, x):
        return x

    def compiled(self, f, args):
        f = self.jax.jit(f)
        return lambda: self.jax.block_until_ready(f(*args))

    def grad(self, f, leaves):
        return self.jax.grad(f, leaves)

    def newton(self, f, at):  # the gradient by the Hessian's sums of rows
        g, h = self.jax.jvp(self.jax.grad(f), (at,), (self.xp.ones_like(at),))
        return g / h

    def jacobian(self, f, at):
        return self.jax.jacfwd(f)(at)

    def jacobians(self, f, *args):  # of each row, by the first argument
        return self.jax.vmap(self.jax.jacrev(f))(*args)

    def fold(self, step, state, n, *xs):
        def body(state, i_and_x):
            return step(state, *i_and_x), None

        return self.jax.lax.scan(body, state, (self.xp.arange(n), *xs))[0]

    def put(self, x, index, values):
        return x.at[index].set(values)

    def sums_at(self, n, at, x):
        return self.xp.zeros((n, *x.shape[1:]), x.dtype).at[at].add(x)


class Torch:
    def __init__(self, cpu):
        import torch

        if not cpu and not torch.cuda.is_available():
            raise RuntimeError("there is no GPU")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        self.xp, self.device, self.cpu = torch, "cpu" if cpu else "cuda", cpu
        self.erfc, self.softmax, self.sigmoid = torch.erfc, torch.softmax, torch.sigmoid
        self.logsumexp, self.minimum = torch.logsumexp, torch.amin

    def array(self, x):
        return self.xp.as_tensor(x, device=self.device)

    def numpy(self, x):
        return x.detach().cpu().numpy()

    def compiled(self, f, args):
        def run():
            results = f(*args)
            if not self.cpu:
                self.xp.cuda.synchronize()
            return results

        return run

    def grad(self, f, leaves):
        def run(*args):
            args = [a.detach().requires_grad_(i in leaves) for i, a in enumerate(args)]
            return self.xp.autograd.grad(f(*args), [args[i] for i in leaves])

        return run

    def newton(self, f, at):
        at = at.detach().requires_grad_()
        g = self.xp.autograd.grad(f(at), at, create_graph=True)[0]
        return g / self.xp.autograd.grad(g.sum(), at)[0]

    def jacobian(self, f, at):
        return self.xp.func.jacfwd(f)(at)

    def jacobians(self, f, *args):
        return self.xp.func.vmap(self.xp.func.jacrev(f))(*args)

    def fold(self, step, state, n, *xs):
        for i in range(n):
            state = step(state, i, *(x[i] for x in xs))
        return state

    def put(self, x, index, values):
        return x.index_put(index, values)

    def sums_at(self, n, at, x):
        return self.xp.zeros((n, *x.shape[1:]), dtype=x.dtype, device=x.device).index_add(0, at, x)


class Cudnn(Torch):
    """Of PyTorch, the layer that is made for LSTMs: it has two biases, and its gates are in another order."""

    def lstm(self, size, wx, wh, bias, xs):
        layer = self.xp.nn.LSTM(size[2], size[3]).to(self.device)
        return lambda: self.xp.autograd.grad(0.5 * layer(xs.reshape(size[1], size[0], size[2]))[0].square().sum(), tuple(layer.parameters()))


# ---- programs: each gives a function and its arguments

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


@program
def gmm(np, lib, size, alphas, means, icf, x):
    (n, d, k), xp = size[:3], lib.xp
    below = np.concatenate([np.full(d - 1 - j, j) for j in range(d)]).astype(int)
    rows, columns = (lib.array(i) for i in (np.concatenate([np.arange(j + 1, d) for j in range(d)]).astype(int), below))
    components, diagonal = (lib.array(np.arange(m)) for m in (k, d))

    def value(alphas, means, icf, x):
        means, icf, x = means.reshape(k, d), icf.reshape(k, -1), x.reshape(n, d)
        q = lib.put(xp.zeros_like(x[:1, :1] * icf[:, :1, None] * x[:1, None, :] * x[0][:, None]), (components[:, None], rows, columns), icf[:, d:])
        q = lib.put(q, (components[:, None], diagonal, diagonal), xp.exp(icf[:, :d]))
        # Q (x - mean), as two products
        z = xp.einsum("kij,nj->nki", q, x) - xp.einsum("kij,kj->ki", q, means)
        inner = alphas + icf[:, :d].sum(1) - 0.5 * (z * z).sum(2)
        # the prior, for gamma = 1 and m = 0
        return lib.logsumexp(inner, 1).sum() - n * lib.logsumexp(alphas, 0) + 0.5 * (q * q).sum()

    return lib.grad(value, (0, 1, 2)), (alphas, means, icf, x)


@program
def kmeans(np, lib, size, points, centres):
    k, n, d = size[:3]

    def newton(points, centres):
        points = points.reshape(n, d)

        def cost(centres):
            square = (points * points).sum(1)[:, None] - 2 * points @ centres.T + (centres * centres).sum(1)
            return lib.minimum(square, 1).sum()

        return (lib.newton(cost, centres.reshape(k, d)),)

    return newton, (points, centres)


@program
def lstm(np, lib, size, wx, wh, bias, xs):
    batch, n, d, h = size
    xp = lib.xp
    if hasattr(lib, "lstm"):
        return lib.lstm(size, wx, wh, bias, xs), ()

    def loss(wx, wh, bias, xs):
        wx, wh, xs = wx.reshape(4 * h, d), wh.reshape(4 * h, h), xs.reshape(n, batch, d)

        def step(state, _, x):
            y, c, total = state
            z = x @ wx.T + y @ wh.T + bias
            i, f, o = (lib.sigmoid(z[:, k * h : (k + 1) * h]) for k in range(3))
            c = f * c + i * xp.tanh(z[:, 3 * h :])
            y = o * xp.tanh(c)
            return y, c, total + 0.5 * (y * y).sum()

        zeros = xp.zeros_like(xs[0, :, :1] * wh[:1])
        return lib.fold(step, (zeros, zeros, zeros.sum()), n, xs)[2]

    return lib.grad(loss, (0, 1, 2)), (wx, wh, bias, xs)


@program
def ba(np, lib, size, cameras, points, weights, seen, features):
    n, m, p = size[:3]
    xp = lib.xp

    def cross(a, b):
        return xp.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

    def residual(parameters, feature):
        camera, x, weight = parameters[:11], parameters[11:14] - parameters[3:6], parameters[14]
        angle = xp.sqrt((camera[:3] * camera[:3]).sum())
        v = camera[:3] / angle
        y = x * xp.cos(angle) + cross(v, x) * xp.sin(angle) + v * (v * x).sum() * (1 - xp.cos(angle))
        at = y[:2] / y[2]
        rho = (at * at).sum()
        distortion = 1 + camera[9] * rho + camera[10] * rho * rho
        return (camera[6] * distortion * at + camera[7:9] - feature) * weight

    def jacobian(cameras, points, weights, seen, features):
        seen = seen.reshape(p, 2)
        parameters = xp.concatenate([cameras.reshape(n, 11)[seen[:, 0]], points.reshape(m, 3)[seen[:, 1]], weights[:, None]], 1)
        blocks = lib.jacobians(residual, parameters, features.reshape(p, 2))
        return None, None, xp.concatenate([blocks.reshape(-1), -2 * weights])  # the values alone

    return jacobian, (cameras, points, weights, seen, features)


def hand_vertices(xp, size, parents, theta, base, inverse, rest, bones, weights, needed):
    """Where the bones bring the vertices `needed` to; all vertices where that is fewer, as the program has it."""
    b, v = size[:2]

    def matrix(rows, like):
        return xp.stack([xp.stack([like * 0 + x for x in row]) for row in rows])

    def after(x, y):  # the last row is 0 0 0 1
        z = x[..., :, :3] @ y[..., :3, :]
        return xp.concatenate([z[..., :3], z[..., 3:] + x[..., :, 3:]], -1)

    base, inverse, rest = base.reshape(b, 4, 4)[:, :3], inverse.reshape(b, 4, 4)[:, :3], rest.reshape(v, 3)
    r = theta[:3]
    angle = xp.sqrt((r * r).sum())
    a, c, s = r / angle, xp.cos(angle), xp.sin(angle)
    turn = matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], c) * s + (1 - c) * a[:, None] * a
    turn = turn + c * matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]], c)
    frames, root = [], xp.concatenate([turn, 0 * turn[:, :1]], 1)
    for bone in range(b):
        place = (bone - 1) % 4
        moves = 0 < bone <= 20 and place > 0
        x = (theta[bone + 4] if place == 1 else theta[bone + 5]) if moves else 0 * c
        z = theta[bone + 5] if moves and place == 1 else 0 * c
        cx, sx, cz, sz = xp.cos(x), xp.sin(x), xp.cos(z), xp.sin(z)
        own = after(base[bone], matrix([[cz, -sz * cx, sz * sx, 0], [sz, cz * cx, -cz * sx, 0], [0, sx, cx, 0]], c))
        frames.append(after(root if parents[bone] < 0 else frames[parents[bone]], own))
    all_moves = after(xp.stack(frames), inverse)
    few = v < len(needed)
    at = rest if few else rest[needed]
    by, share = bones.reshape(v, 4), weights.reshape(v, 4)
    by, share = (by, share) if few else (by[needed], share[needed])
    moved = xp.einsum("vkij,vj->vki", all_moves[by][..., :3], at) + all_moves[by][..., 3]
    placed = (share[:, :, None] * moved).sum(1) + theta[3:6]
    return placed[needed] if few else placed


@program
def hand(np, lib, size, theta, parents, base, inverse, rest, starts, bones, weights, corr, points):
    n, xp = size[2], lib.xp
    parents = [int(i) for i in lib.numpy(parents)]

    def jacobian(theta, base, inverse, rest, bones, weights, corr, points):
        def simple(theta):
            return points.reshape(n, 3) - hand_vertices(xp, size, parents, theta, base, inverse, rest, bones, weights, corr)

        columns = xp.moveaxis(lib.jacobian(simple, theta), 2, 0)
        return columns[:3], columns[3:6], columns[6:]  # by the rotation, the translation and the fingers' angles

    return jacobian, (theta, base, inverse, rest, bones, weights, corr, points)


@program
def hand_complicated(np, lib, size, theta, us, parents, base, inverse, rest, starts, bones, weights, triangles, corr, points):
    n, xp = size[2], lib.xp
    parents = [int(i) for i in lib.numpy(parents)]

    def jacobian(theta, us, base, inverse, rest, bones, weights, triangles, corr, points):
        us, corners = us.reshape(n, 2), triangles.reshape(-1, 3)[corr].reshape(3 * n)

        def complicated(theta, shift):  # one direction moves all u0, and one all u1
            at = hand_vertices(xp, size, parents, theta, base, inverse, rest, bones, weights, corners).reshape(n, 3, 3)
            u = us + shift
            shares = xp.concatenate([u, 1 - u.sum(1)[:, None]], 1)
            return points.reshape(n, 3) - (shares[:, :, None] * at).sum(1)

        still = 0 * us[0]
        of_us = xp.moveaxis(lib.jacobian(lambda shift: complicated(theta, shift), still), 2, 0)
        columns = xp.moveaxis(lib.jacobian(lambda theta: complicated(theta, still), theta), 2, 0)
        return of_us, columns[:3], columns[3:6], columns[6:]

    return jacobian, (theta, us, base, inverse, rest, bones, weights, triangles, corr, points)


def pairs(np, lib, starts, materials):
    """The look-ups and places in the materials' lists of all that is looked up."""
    starts, materials = np.asarray(lib.numpy(starts)), np.asarray(lib.numpy(materials))
    counts = (starts[1:] - starts[:-1])[materials]
    lookup = np.repeat(np.arange(len(materials)), counts)
    place = np.arange(len(lookup)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts[materials], counts)
    return lib.array(lookup), lib.array(place)


@program
def xs(np, lib, size, grids, sections, starts, amounts, nuclides, energies, materials):
    (u, g), xp = size[:2], lib.xp
    lookup, place = pairs(np, lib, starts, materials)

    def total(sections, amounts, grids, nuclides, energies):
        grids, sections, e, at = grids.reshape(u, g), sections.reshape(u, g, 5), energies[lookup], nuclides[place]
        low, high = 0 * at, 0 * at + g - 1
        for _ in range(math.ceil(math.log2(g))):
            middle = (low + high) // 2
            below, more = grids[at, middle] <= e, high - low > 1
            low, high = xp.where(more & below, middle, low), xp.where(more & ~below, middle, high)
        share = ((e - grids[at, low]) / (grids[at, low + 1] - grids[at, low]))[:, None]
        micro = sections[at, low] + share * (sections[at, low + 1] - sections[at, low])
        return (amounts[place] * micro.sum(1)).sum()

    return lib.grad(total, (0, 1)), (sections, amounts, grids, nuclides, energies)


@program
def rs(np, lib, size, *args):
    (u, w, p), xp = size[:3], lib.xp
    data, (momenta, counts, radii, starts, nuclides, energies, materials) = args[:12], args[12:]
    lookup, place = pairs(np, lib, starts, materials)

    def times(a, b, c, d):
        return a * c - b * d, a * d + b * c

    def total(*args):
        px, py, tx, ty, ax, ay, fx, fy = (x.reshape(u, w, p) for x in args[:8])
        wt, wa, wf = (x.reshape(u, w) for x in args[8:11])
        amounts, momenta, counts, radii, nuclides, energies = args[11:]
        momenta, radii, e, at = momenta.reshape(u, w, p), radii.reshape(u, 4), energies[lookup], nuclides[place]
        root = xp.sqrt(e)
        window = lib.minimum(xp.stack([(e * counts[at]).astype(counts.dtype) if hasattr(e, "astype") else (e * counts[at]).to(counts.dtype), counts[at] - 1]), 0)
        x = radii[at] * root[:, None]
        shift = xp.stack([0 * x[:, 0], xp.arctan(x[:, 1]), xp.arctan(3 * x[:, 2] / (3 - x[:, 2] ** 2)),
                          xp.arctan(x[:, 3] * (15 - x[:, 3] ** 2) / (15 - 6 * x[:, 3] ** 2))], 1)
        angle = 2 * (x - shift)
        here = momenta[at, window]
        turns = [xp.take_along_dim(t, here, 1) if hasattr(xp, "take_along_dim") else xp.take_along_axis(t, here, 1) for t in (xp.cos(angle), -xp.sin(angle))]
        a, b = px[at, window] - root[:, None], py[at, window]
        scale = 1 / (e[:, None] * (a * a + b * b))
        psi = (b * scale, a * scale)
        whole = times(*times(tx[at, window], ty[at, window], *psi), *turns)[0]
        poles = 5 * whole - 2 * times(ax[at, window], ay[at, window], *psi)[0] + 3 * times(fx[at, window], fy[at, window], *psi)[0]
        micro = e * (5 * wt[at, window] - 2 * wa[at, window] + 3 * wf[at, window]) + poles.sum(1)
        return (amounts[place] * micro).sum()

    return lib.grad(total, tuple(range(12))), (*data, momenta, counts, radii, nuclides, energies)


# ---- the kernels of bench/kernels: a function of the library, the sizes and the arguments; by which of these it is differentiated

KERNELS = {}


def kernel(*leaves):
    def add(f):
        KERNELS["kernels/" + f.__name__] = (f, leaves)
        return f

    return add


def kernel_program(np, lib, name, size, args):
    f, leaves = KERNELS[name]
    leaves = leaves or tuple(range(f.__code__.co_argcount - 2))

    def value(*args):
        inputs = args[: f.__code__.co_argcount - 2]
        result = f(lib, size, *inputs)
        return (result.reshape(-1) * args[-1]).sum() if len(args) > len(inputs) else result

    return lib.grad(value, leaves), args


@kernel()
def axpy(lib, s, x, y):
    return 2.5 * x + y


@kernel()
def horner(lib, s, x):
    return ((((0.5 * x + 0.25) * x - 0.125) * x + 2) * x - 3) * x + 1


@kernel()
def gauss(lib, s, x):
    return lib.xp.exp(-x * x)


@kernel()
def tanhs(lib, s, x):
    return lib.xp.tanh(x)


@kernel()
def piecewise(lib, s, x):
    return lib.xp.where(x > 0.5, x - 0.25, lib.xp.where(x < -0.5, -x - 0.25, x * x))


@kernel()
def blackscholes(lib, s, x, k, t):
    def cdf(x):
        return 0.5 * lib.erfc(-x * 0.70710678118654752)

    sd = 0.3 * lib.xp.sqrt(t)
    d = (lib.xp.log(x / k) + (0.02 + 0.5 * 0.3 * 0.3) * t) / sd
    return x * cdf(d) - k * lib.xp.exp(-0.02 * t) * cdf(d - sd)


@kernel()
def sinofcos(lib, s, x):
    return lib.xp.sin(lib.xp.cos(x[0])) * s[0]


@kernel()
def powers(lib, s, x):
    return lib.fold(lambda p, _: p * x[0], 0 * x[0] + 1, s[0])


@kernel()
def dotp(lib, s, x, y):
    return (x * y).sum()


@kernel()
def norm2(lib, s, x):
    return lib.xp.sqrt((x * x).sum())


@kernel()
def abssum(lib, s, x):
    return abs(x).sum()


@kernel()
def varianceOf(lib, s, x):
    return ((x - x.mean()) ** 2).mean()


@kernel()
def lse(lib, s, x):
    return lib.logsumexp(x, 0)


@kernel()
def smax(lib, s, x):
    return lib.softmax(x, 0)


@kernel()
def entropy(lib, s, x):
    return -(x * lib.xp.log(x)).sum()


@kernel()
def cosine(lib, s, x, y):
    return (x * y).sum() / lib.xp.sqrt((x * x).sum() * (y * y).sum())


@kernel()
def normalise(lib, s, x):
    return x / lib.xp.sqrt((x * x).sum())


@kernel()
def layernorm(lib, s, x):
    return (x - x.mean()) / lib.xp.sqrt(((x - x.mean()) ** 2).mean() + 1e-5)


@kernel()
def cumsum(lib, s, x):
    return lib.xp.cumsum(x, 0)


@kernel()
def recurrence(lib, s, a, b):
    return lib.fold(lambda state, _, a, b: a * state + b, 0 * a[0], s[0], a, b)


@kernel(1)
def histogram(lib, s, at, x):
    return lib.sums_at(s[1], at, x)


@kernel()
def rosenbrock(lib, s, x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@kernel()
def stencil1(lib, s, x):
    return 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]


@kernel()
def stencil2(lib, s, x):
    x = x.reshape(s[0], s[1])
    return 0.2 * (x[:-2, 1:-1] + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:] + x[2:, 1:-1])


@kernel()
def variation(lib, s, x):
    x = x.reshape(s[0], s[1])
    return lib.xp.sqrt((x[1:, :-1] - x[:-1, :-1]) ** 2 + (x[:-1, 1:] - x[:-1, :-1]) ** 2 + 1e-3).sum()


@kernel()
def conv1(lib, s, x, w):
    rest = s[0] - s[1] + 1
    return sum(w[j] * x[j : j + rest] for j in range(s[1]))


@kernel()
def conv2(lib, s, x, w):
    n, m, k = s[:3]
    x, w = x.reshape(n, m), w.reshape(k, k)
    return sum(w[a, b] * x[a : a + n - k + 1, b : b + m - k + 1] for a in range(k) for b in range(k))


@kernel()
def heat(lib, s, x):
    def step(x, _):
        return lib.xp.concatenate([x[:1], x[1:-1] + 0.2 * (x[:-2] - 2 * x[1:-1] + x[2:]), x[-1:]])

    return lib.fold(step, x, s[1])


@kernel()
def matvec(lib, s, a, x):
    return a.reshape(s[0], s[1]) @ x


@kernel()
def matmul(lib, s, a, b):
    return a.reshape(s[0], s[1]) @ b.reshape(s[1], s[2])


@kernel()
def vecmat(lib, s, a, x):
    return x @ a.reshape(s[0], s[1])


@kernel()
def bilinear(lib, s, x, a, y):
    return (x * (a.reshape(s[0], s[1]) @ y)).sum()


@kernel()
def gram(lib, s, a):
    a = a.reshape(s[0], s[1])
    return a.T @ a


@kernel()
def batched(lib, s, a, b):
    return a.reshape(-1, 4, 4) @ b.reshape(-1, 4, 4)


@kernel()
def distances(lib, s, x, y):
    return ((x.reshape(s[0], 1, s[1]) - y.reshape(1, s[2], s[1])) ** 2).sum(2)


@kernel(1, 2)
def sparse(lib, s, column, a, x):
    return (a * x[column]).reshape(s[0], s[1]).sum(1)


@kernel()
def spdsolve(lib, s, a, b):
    xp, low = lib.xp, lib.xp.tril(a.reshape(s[0], s[0]))
    return xp.linalg.solve(low + low.T - xp.diag(xp.diag(low)) + xp.diag(0 * b + s[0]), b)


@kernel()
def nbody(lib, s, p, m):
    p = p.reshape(-1, 3)
    near = ((p[:, None] - p[None]) ** 2).sum(2) + 1e-2
    return -0.5 * ((m[:, None] * m / lib.xp.sqrt(near)).sum() - (m * m).sum() / math.sqrt(1e-2))


@kernel()
def projection(lib, s, p, r, t, c):
    q = p.reshape(-1, 3) @ r.reshape(3, 3).T + t
    u = q[:, :2] / q[:, 2:]
    rho = (u * u).sum(1)[:, None]
    return c[0] * (1 + rho * (c[1] + rho * c[2])) * u


@kernel()
def rays(lib, s, p, c):
    xp, p = lib.xp, p.reshape(-1, 2)
    square = c[0] ** 2 + c[1] ** 2 + (c[2] + 5) ** 2
    w = 0.1 * p
    b = (w @ c[:2] + c[2] + 5) / xp.sqrt((w * w).sum(1) + 1)
    return b - xp.sqrt(b * b - square + 1)


@kernel()
def rk4(lib, s, p):
    def predation(x, y):
        return p[0] * x - p[1] * x * y, p[3] * x * y - p[2] * y

    def along(s, h, d):
        return s[0] + h * d[0], s[1] + h * d[1]

    def step(s, _):
        k1 = predation(*s)
        k2 = predation(*along(s, 0.005, k1))
        k3 = predation(*along(s, 0.005, k2))
        k4 = predation(*along(s, 0.01, k3))
        return along(along(along(along(s, 0.01 / 6, k1), 0.01 / 3, k2), 0.01 / 3, k3), 0.01 / 6, k4)

    x, y = lib.fold(step, (0 * p[0] + 1, 0 * p[0] + 1), s[0])
    return x + y


@kernel(0, 1)
def logistic(lib, s, w, b, x, y):
    xp, z = lib.xp, x.reshape(s[1], s[0]) @ w + b
    return (xp.where(z > 0, z, 0 * z) - y * z + xp.log1p(xp.exp(-abs(z)))).mean()


@kernel(2, 3, 4, 5)
def perceptron(lib, s, x, label, v, a, w, b):
    hidden = v.reshape(s[1], s[0]) @ x + a
    z = w.reshape(s[2], s[1]) @ lib.xp.where(hidden > 0, hidden, 0 * hidden) + b
    return lib.logsumexp(z, 0) - z[label[0]]


@kernel()
def kmeans(lib, s, p, c):
    p, c = p.reshape(s[0], s[1]), c.reshape(s[2], s[1])
    return lib.minimum((p * p).sum(1)[:, None] - 2 * p @ c.T + (c * c).sum(1), 1).sum()


@kernel()
def lstm(lib, s, w, u, b, x, h, c):
    n, m = s[:2]
    z = w.reshape(4, n, m) @ x + u.reshape(4, n, n) @ h + b.reshape(4, n)
    c = lib.sigmoid(z[1]) * c + lib.sigmoid(z[0]) * lib.xp.tanh(z[3])
    return ((lib.sigmoid(z[2]) * lib.xp.tanh(c)) ** 2).sum()


@kernel()
def attention(lib, s, q, key, v):
    q, key, v = q.reshape(s[0], s[1]), key.reshape(s[2], s[1]), v.reshape(s[2], s[1])
    return lib.softmax(q @ key.T / math.sqrt(s[1]), 1) @ v


# ---- measurement


def milliseconds(run):
    """The median of at most 30 calls, or two seconds of them, after three; of one call, where that takes long."""
    for _ in range(3):
        start = time.perf_counter()
        run()
        if time.perf_counter() - start > 20:
            break
    times = []
    while len(times) < 3 or (len(times) < 30 and sum(times) < 2):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
        if times[-1] > 5:
            break
    return 1e3 * statistics.median(times)


def read_expected(path):
    """By name: for each result its largest magnitude, and samples."""
    results = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, *numbers = line.split("\t")
        results.setdefault(name, []).append([float.fromhex(x) for x in numbers])
    return results


def difference(np, lib, results, expected):
    worst = 0.0
    for x, (most, *samples) in zip(results, expected):
        if x is None:
            continue
        flat = np.asarray(lib.numpy(x)).reshape(-1)
        step = max(1, len(flat) // 1024) if len(flat) > 1024 else 1
        worst = max(worst, float(np.max(np.abs(flat[::step] - samples))) / (most or 1))
    return worst


def arguments(np, run, name):
    types = {"d": "f8", "f": "f4", "l": "i8", "i": "i4"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([run, "-", "--write", folder, name], check=True)
        files = sorted(pathlib.Path(folder).iterdir(), key=lambda f: int(f.stem))
        return [np.fromfile(f, types[f.suffix[1:]]) for f in files]


def measure(np, lib, name, values, expected):
    """Milliseconds, and whether the results are those that are expected."""
    program, sizes = name.split(" ")
    size = [int(n) for n in sizes.split("x")]
    args = [lib.array(v.astype("i8") if v.dtype == "i4" else v) for v in values]
    function, args = kernel_program(np, lib, program, size, args) if program in KERNELS else PROGRAMS[program](np, lib, size, *args)
    run = lib.compiled(function, args)
    right = isinstance(lib, Cudnn) or difference(np, lib, run(), expected) < (1e-4 if values[0].dtype == "f4" else 1e-8)
    return milliseconds(run), right


def main():
    cpu, (run, expected, times) = "--cpu" in sys.argv, [a for a in sys.argv[1:] if a != "--cpu"]
    try:
        import numpy as np
    except ImportError:
        print("skipped: numpy is not installed")
        return 77
    peers, notes, ratios, wrong = {}, [], [], False
    for name, peer in (("JAX", Jax), ("PyTorch", Torch), ("cuDNN", Cudnn)):
        try:
            peers[name] = peer(cpu)
        except (ImportError, RuntimeError) as e:
            notes.append(f"skipped: {name}: {str(e).splitlines()[0]}")
    expected = read_expected(expected)
    print(f"{'case':32}{'fsmc':>12}" + "".join(f"{p:>12}" for p in peers) + f"{'best / fsmc':>12}")
    for case in json.loads(pathlib.Path(times).read_text())["cases"]:
        name, line, best = case["name"], f"{case['name']:32}{case['ms']:12.3f}", []
        values = arguments(np, run, name)
        for peer, lib in peers.items():
            ms = None
            if peer != "cuDNN" or name.startswith("lstm"):
                try:
                    ms, right = measure(np, lib, name, values, expected[name])
                    best.append(ms)
                    if not right:
                        notes.append(f"WRONG: {name} by {peer}")
                        wrong = True
                except RuntimeError as e:  # out of memory
                    notes.append(f"{name} by {peer}: {str(e).splitlines()[0]}")
            line += f"{ms:12.3f}" if ms is not None else f"{'-':>12}"
        if best:
            ratios.append(min(best) / case["ms"])
            line += f"{ratios[-1]:12.2f}"
        print(line, flush=True)
    if ratios:
        print(f"geometric mean of the best peer's time by fsmc's: {statistics.geometric_mean(ratios):.2f}")
    for note in notes:
        print(note)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
