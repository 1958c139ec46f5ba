"""ADBench's problems in PyTorch: whole tensors of float64, not compiled, as ADBench's own are."""
import sys
import warnings

from adapter import THETAS, THREADS, finger, main, np, skip

try:
    import torch
    from torch.func import jacfwd, jacrev, vmap
except ImportError:
    skip("torch is not installed")

warnings.simplefilter("ignore", FutureWarning)  # of what torch itself calls
torch.set_num_threads(THREADS)
torch.set_default_dtype(torch.float64)


def tensors(q):
    """The arrays of a problem as tensors."""
    for name, value in vars(q).items():
        if isinstance(value, np.ndarray):
            setattr(q, name, torch.from_numpy(np.ascontiguousarray(value)))


def gradient_of(objective, *inputs):
    def derivative():
        active = [x.clone().requires_grad_() for x in inputs]
        return torch.autograd.grad(objective(*active), active)

    return lambda: objective(*inputs), derivative


def gmm(q):
    tensors(q)
    diagonal = torch.arange(q.d)

    def objective(alphas, means, icf):
        logs, below = icf[:, : q.d], icf[:, q.d :]
        diagonals, sums = logs.exp(), logs.sum(1)
        triangles = torch.zeros(q.k, q.d, q.d)
        triangles[:, diagonal, diagonal] = diagonals
        triangles[:, q.rows, q.columns] = below
        # One product of matrices for all components: the quickest of the ways that were tried.
        placed = (q.x @ triangles.reshape(-1, q.d).T).reshape(q.n, q.k, q.d)
        z = placed - torch.einsum("kij,kj->ki", triangles, means)
        terms = alphas + sums - 0.5 * (z * z).sum(2)
        prior = 0.5 * q.gamma**2 * ((diagonals**2).sum() + (below**2).sum()) - q.m * sums.sum()
        return q.constant + terms.logsumexp(1).sum() - q.n * alphas.logsumexp(0) + prior

    return gradient_of(objective, q.alphas, q.means, q.icf)


def rotate(r, x):
    squares = (r * r).sum()
    none = squares == 0
    angle = torch.where(none, 1.0, squares).sqrt()
    v = r / angle
    turned = x * angle.cos() + torch.linalg.cross(v, x) * angle.sin() + v * (v * x).sum() * (1 - angle.cos())
    return torch.where(none, x + torch.linalg.cross(r, x), turned)


def reprojection(cam, point, weight, feat):
    y = rotate(cam[:3], point - cam[3:6])
    seen = y[:2] / y[2]
    rho = (seen * seen).sum()
    return weight * (cam[6] * (1 + cam[9] * rho + cam[10] * rho**2) * seen + cam[7:9] - feat)


def ba(q):
    tensors(q)
    errors, by = vmap(reprojection), vmap(jacrev(reprojection, argnums=(0, 1, 2)))

    def objective():
        return errors(q.cams[q.camera], q.points[q.point], q.weights, q.feats), 1 - q.weights**2

    def derivative():
        cam, point, weight = by(q.cams[q.camera], q.points[q.point], q.weights, q.feats)
        return torch.cat([cam, point, weight[:, :, None]], dim=2), -2 * q.weights

    return objective, derivative


def lstm(q):
    tensors(q)

    def layer(weights, biases, h, c, u):
        forget, out = torch.addcmul(biases[::2], u, weights[::2]).sigmoid()
        enter, change = torch.addcmul(biases[1::2], h, weights[1::2])
        c = c * forget + enter.sigmoid() * change.tanh()
        return out * c.tanh(), c

    def objective(params, extra):
        state = [(q.state[i, 0], q.state[i, 1]) for i in range(q.l)]
        weights = [(params[i, 0], params[i, 1]) for i in range(q.l)]
        inputs, outputs = (q.sequence[:-1] * extra[0]).unbind(), []
        for u in inputs:
            for i in range(q.l):
                state[i] = layer(*weights[i], *state[i], u)
                u = state[i][0]
            outputs.append(u)
        y = torch.stack(outputs) * extra[1] + extra[2]
        norms = (2 + y.exp().sum(1, keepdim=True)).log()
        return -(q.sequence[1:] * (y - norms)).sum() / (q.b * (q.c - 1))

    return gradient_of(objective, q.params, q.extra)


def turn(x, z):
    zero, one = torch.zeros_like(x), torch.ones_like(x)
    cx, sx, cz, sz = x.cos(), x.sin(), z.cos(), z.sin()
    rows = [cz, -sz * cx, sz * sx, zero, sz, cz * cx, -cz * sx, zero, zero, sx, cx, zero, zero, zero, zero, one]
    return torch.stack(rows).reshape(4, 4)


def global_turn(r):
    squares = (r * r).sum()
    none = squares.sqrt() < 1e-4
    angle = torch.where(none, 1.0, squares).sqrt()
    a = r / angle
    zero = torch.zeros_like(angle)
    cross = torch.stack([zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero]).reshape(3, 3)
    c, s = angle.cos(), angle.sin()
    return torch.where(none, torch.eye(3), c * torch.eye(3) + (1 - c) * torch.outer(a, a) + s * cross)


def hand(q):
    tensors(q)

    def skeleton(theta):
        frames = []
        for bone, parent in enumerate(q.parents):
            x, z = finger(bone)
            own = q.base[bone]
            if x is not None:
                own = own @ turn(theta[x], theta[z] if z is not None else torch.zeros_like(theta[x]))
            frames.append(own if parent < 0 else frames[parent] @ own)
        return torch.stack(frames) @ q.inverse

    def errors(theta, us):
        moves = skeleton(theta)[:, :3].reshape(len(q.parents), 12)
        posed = torch.einsum("vij,vj->vi", (q.weights @ moves).reshape(-1, 3, 4), q.rest)
        placed = posed @ global_turn(theta[:3]).T + theta[3:6]
        if not q.complicated:
            return q.points - placed[q.places]
        shares = torch.cat([us, 1 - us.sum(1, keepdim=True)], dim=1)
        return q.points - torch.einsum("nc,nci->ni", shares, placed[q.places])

    def derivative():
        by_theta = jacfwd(errors)(q.theta, q.us).reshape(-1, THETAS)
        if not q.complicated:
            return (by_theta,)
        moved = jacfwd(lambda shift: errors(q.theta, q.us + shift))(torch.zeros(2))
        return moved.reshape(-1, 2), by_theta

    return lambda: errors(q.theta, q.us), derivative


def plain(values):
    if isinstance(values, tuple):
        return tuple(plain(value) for value in values)
    return values.detach().numpy()


if __name__ == "__main__":
    version = f"PyTorch {torch.__version__}, Python {sys.version.split()[0]}, float64"
    main(version, {"GMM": gmm, "BA": ba, "LSTM": lstm, "HAND": hand}, plain)
