"""ADBench's problems in JAX: whole arrays, compiled by `jit`, in float64."""
import os
import sys

from adapter import THETAS, finger, main, np, skip

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    skip("jax is not installed")

jax.config.update("jax_enable_x64", True)


def calls(objective, derivative, *arguments):
    objective, derivative = jax.jit(objective), jax.jit(derivative)
    arguments = [jax.tree.map(jnp.asarray, argument) for argument in arguments]
    return (lambda: jax.block_until_ready(objective(*arguments)), lambda: jax.block_until_ready(derivative(*arguments)))


def gmm(q):
    diagonal = np.arange(q.d)

    def objective(alphas, means, icf):
        logs, below = icf[:, : q.d], icf[:, q.d :]
        diagonals, sums = jnp.exp(logs), logs.sum(1)
        triangles = jnp.zeros((q.k, q.d, q.d)).at[:, diagonal, diagonal].set(diagonals)
        triangles = triangles.at[:, q.rows, q.columns].set(below)
        # One product of matrices for all components: the quickest of the ways that were tried.
        placed = (q.x @ triangles.reshape(-1, q.d).T).reshape(q.n, q.k, q.d)
        z = placed - jnp.einsum("kij,kj->ki", triangles, means)
        terms = alphas + sums - 0.5 * (z * z).sum(2)
        prior = 0.5 * q.gamma**2 * ((diagonals**2).sum() + (below**2).sum()) - q.m * sums.sum()
        lse = jax.scipy.special.logsumexp
        return q.constant + lse(terms, axis=1).sum() - q.n * lse(alphas) + prior

    return calls(objective, jax.grad(objective, argnums=(0, 1, 2)), q.alphas, q.means, q.icf)


def rotate(r, x):
    squares = r @ r
    none = squares == 0
    angle = jnp.sqrt(jnp.where(none, 1.0, squares))
    v = r / angle
    turned = x * jnp.cos(angle) + jnp.cross(v, x) * jnp.sin(angle) + v * (v @ x) * (1 - jnp.cos(angle))
    return jnp.where(none, x + jnp.cross(r, x), turned)


def reprojection(cam, point, weight, feat):
    y = rotate(cam[:3], point - cam[3:6])
    seen = y[:2] / y[2]
    rho = seen @ seen
    return weight * (cam[6] * (1 + cam[9] * rho + cam[10] * rho**2) * seen + cam[7:9] - feat)


def ba(q):
    def objective(cams, points, weights):
        return jax.vmap(reprojection)(cams[q.camera], points[q.point], weights, q.feats), 1 - weights**2

    def derivative(cams, points, weights):
        by = jax.vmap(jax.jacrev(reprojection, argnums=(0, 1, 2)))
        cam, point, weight = by(cams[q.camera], points[q.point], weights, q.feats)
        return jnp.concatenate([cam, point, weight[:, :, None]], axis=2), -2 * weights

    return calls(objective, derivative, q.cams, q.points, q.weights)


def lstm(q):
    def layer(params, state, u):
        (weights, biases), (h, c) = params, state
        sigmoid = jax.nn.sigmoid
        forget, out = sigmoid(u * weights[0] + biases[0]), sigmoid(u * weights[2] + biases[2])
        c = c * forget + sigmoid(h * weights[1] + biases[1]) * jnp.tanh(h * weights[3] + biases[3])
        return out * jnp.tanh(c), c

    def objective(params, extra):
        def step(state, bits):
            now, following = bits
            u, states = now * extra[0], []
            for i in range(q.l):
                u, c = layer(params[i], state[i], u)
                states.append(jnp.stack([u, c]))
            y = u * extra[1] + extra[2]
            return jnp.stack(states), following @ (y - jnp.log(2 + jnp.exp(y).sum()))

        _, terms = jax.lax.scan(step, jnp.asarray(q.state), (q.sequence[:-1], q.sequence[1:]))
        return -terms.sum() / (q.b * (q.c - 1))

    return calls(objective, jax.grad(objective, argnums=(0, 1)), q.params, q.extra)


def turn(x, z):
    cx, sx, cz, sz = jnp.cos(x), jnp.sin(x), jnp.cos(z), jnp.sin(z)
    rows = [cz, -sz * cx, sz * sx, 0, sz, cz * cx, -cz * sx, 0, 0, sx, cx, 0, 0, 0, 0, 1]
    return jnp.stack([jnp.asarray(entry, dtype=float) for entry in rows]).reshape(4, 4)


def global_turn(r):
    squares = r @ r
    none = jnp.sqrt(squares) < 1e-4
    angle = jnp.sqrt(jnp.where(none, 1.0, squares))
    a = r / angle
    cross = jnp.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.where(none, jnp.eye(3), c * jnp.eye(3) + (1 - c) * jnp.outer(a, a) + s * cross)


def hand(q):
    def skeleton(theta):
        frames = []
        for bone, parent in enumerate(q.parents):
            x, z = finger(bone)
            own = q.base[bone]
            if x is not None:
                own = own @ turn(theta[x], theta[z] if z is not None else 0.0)
            frames.append(own if parent < 0 else frames[parent] @ own)
        return jnp.stack(frames) @ q.inverse

    def errors(theta, us):
        moves = skeleton(theta)[:, :3].reshape(len(q.parents), 12)
        posed = jnp.einsum("vij,vj->vi", (q.weights @ moves).reshape(-1, 3, 4), q.rest)
        placed = posed @ global_turn(theta[:3]).T + theta[3:6]
        if not q.complicated:
            return q.points - placed[q.places]
        shares = jnp.concatenate([us, 1 - us.sum(1, keepdims=True)], axis=1)
        return q.points - jnp.einsum("nc,nci->ni", shares, placed[q.places])

    def derivative(theta, us):
        by_theta = jax.jacfwd(errors)(theta, us).reshape(-1, THETAS)
        if not q.complicated:
            return (by_theta,)
        moved = jax.jacfwd(lambda shift: errors(theta, us + shift))(jnp.zeros(2))
        return moved.reshape(-1, 2), by_theta

    return calls(errors, derivative, q.theta, q.us)


def plain(values):
    return jax.tree.map(np.asarray, values)


if __name__ == "__main__":
    version = f"JAX {jax.__version__}, Python {sys.version.split()[0]}, jit, float64"
    main(version, {"GMM": gmm, "BA": ba, "LSTM": lstm, "HAND": hand}, plain)
