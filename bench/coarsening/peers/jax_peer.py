"""The objectives of bench/coarsening in JAX: jit of grad, float64, one thread. Used like adolc.cpp; prints the same."""

import json
import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)


def remaining(r, x, y, steps):
    # A while loop has no reverse in JAX: all steps are made, those after the end without effect.
    def step(state, _):
        w, flat = state
        d = jnp.sum(2 * x * (y - x * w)) / x.size
        now_flat = flat | (d < 0.001)
        return (jnp.where(now_flat, w, w + r * d), now_flat), None

    (w, _), _ = lax.scan(step, (jnp.zeros(()), False), None, length=steps)
    return jnp.sqrt(jnp.sum((y - x * w) ** 2)) / x.size


def duration(drops, width, depth):
    y = jnp.concatenate([jnp.zeros(1), drops, jnp.full(1, depth)])
    dx = width / (drops.size + 1)
    way = jnp.sqrt(dx * dx + (y[1:] - y[:-1]) ** 2)
    # The square root has no derivative at the first point, which is fixed.
    speed = jnp.concatenate([jnp.zeros(1), jnp.sqrt(2 * 9.81 * y[1:])])
    return jnp.sum(2 * way / (speed[:-1] + speed[1:]))


def loss(pushes, start):
    x, v, angle, spin = start[0], start[1], start[2], start[3]
    total = 0.0
    for t in range(pushes.size):
        s, c = jnp.sin(angle), jnp.cos(angle)
        r = 9 * pushes[t] + 0.045 * spin**2 * s
        q = (9.8 * s - r * c) / (0.65 - 0.4 * c**2)
        p = r - 0.045 * q * c
        x, v, angle, spin = x + 0.02 * v, v + 0.02 * p, angle + 0.02 * spin, spin + 0.02 * q
        total += (0.5 - jnp.maximum(0.0, (2.4 - abs(x)) * (0.21 - abs(angle)))) ** 2
    return total


def log_posterior(beta, x, y):
    scores = x @ beta
    z = jnp.where(scores < -80, 0.0, scores)
    softplus = jnp.where(scores < -80, -scores, jnp.log(1 + jnp.exp(-z)))
    return jnp.sum((y - 1) * scores) - jnp.sum(softplus) - jnp.dot(beta, beta) / 2000


def energy(positions, ends, rest, stiffness):
    way = positions[ends[:, 1]] - positions[ends[:, 0]]
    return jnp.sum(0.5 * stiffness * (jnp.sqrt(jnp.sum(way**2, axis=1)) - rest) ** 2)


STANDING = np.array([[0.05, 1.65], [0, 1.4], [0, 0.9], [0.15, 0.45], [0.2, 0], [-0.05, 0.45], [-0.2, 0], [-0.2, 0.95], [0.25, 0.95]])
BONES = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [2, 5], [5, 6], [1, 7], [1, 8]])
MUSCLES = np.array([[0, 2], [1, 3], [1, 5], [2, 4], [2, 6], [2, 7], [2, 8]])
LEGS = np.array([[2, 3, 4], [2, 5, 6]])
DT = 0.005


def norms(v):
    squares = jnp.sum(v**2, axis=1)
    return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)


def capped(most, v):
    length = norms(v)
    above = length > most
    return jnp.where(above, most / jnp.where(above, length, 1.0), 1.0)[:, None] * v


def pulls(p, v, rods, rest, stiffness, damping):
    way, speed = p[rods[:, 1]] - p[rods[:, 0]], v[rods[:, 1]] - v[rods[:, 0]]
    now = jnp.sqrt(jnp.sum(way**2, axis=1))
    return ((stiffness * (now - rest) + damping * jnp.sum(way * speed, axis=1) / now) / now)[:, None] * way


def rest_lengths(rods):
    return np.sqrt(np.sum((STANDING[rods[:, 1]] - STANDING[rods[:, 0]]) ** 2, axis=1))


def ends_matrix(rods):
    m = np.zeros((9, len(rods)))
    for k, (a, b) in enumerate(rods):
        m[a, k], m[b, k] = 1, -1
    return m


def knee_forces(p):
    thigh, shin = p[LEGS[:, 1]] - p[LEGS[:, 0]], p[LEGS[:, 2]] - p[LEGS[:, 1]]
    bend = thigh[:, 0] * shin[:, 1] - thigh[:, 1] * shin[:, 0]
    push = jnp.where(bend > 0, 4000 * bend, 0.0)
    where = np.zeros((9, 2))
    for k, (hip, knee, foot) in enumerate(LEGS):
        where[knee, k], where[hip, k], where[foot, k] = 1, -0.5, -0.5
    return where @ push


def ground_forces(p, v):
    depth = -p[:, 1]
    lift = jnp.maximum(0.0, 8000 * depth - 60 * v[:, 1])
    grip = 0.9 * lift
    along = jnp.clip(-120 * v[:, 0], -grip, grip)
    return jnp.where((depth > 0)[:, None], jnp.stack([along, lift], axis=1), 0.0)


def move(p, v, extensions, mass):
    bones = pulls(p, v, BONES, rest_lengths(BONES), 6000.0, 20.0)
    rest = rest_lengths(MUSCLES) * (0.8 + 0.4 * jnp.clip(extensions, 0.0, 1.0))
    muscles = capped(400.0, pulls(p, v, MUSCLES, rest, 1200.0, 15.0))
    force = ends_matrix(BONES) @ bones + ends_matrix(MUSCLES) @ muscles + ground_forces(p, v) - 0.2 * norms(v)[:, None] * v
    force += jnp.stack([knee_forces(p), -9.81 * mass], axis=1)
    faster = capped(15.0, v + (DT / mass)[:, None] * force)
    return p + DT * faster, faster


def cost(schedule, mass):
    def middle(p):
        return jnp.dot(mass, p[:, 0]) / jnp.sum(mass)

    def step(state, extensions):
        p, v, low = state
        p, v = move(p, v, extensions, mass)
        return (p, v, low + jnp.where(p[0, 1] < 1.4, (1.4 - p[0, 1]) ** 2, 0.0)), None

    start = jnp.array(STANDING)
    (p, _, low), _ = lax.scan(step, (start, jnp.zeros((9, 2)), jnp.zeros(())), schedule)
    return middle(start) - middle(p) + 2.5 * low + 0.001 * jnp.sum((schedule[1:] - schedule[:-1]) ** 2)


def measure(objective, x, *rest):
    gradient = jax.jit(jax.grad(objective))
    x, rest = jnp.asarray(x), [jnp.asarray(e) for e in rest]

    def batch(calls):
        start = time.perf_counter_ns()
        for _ in range(calls):
            g = gradient(x, *rest)
        g.block_until_ready()
        return time.perf_counter_ns() - start, g

    batch(1)
    calls = 1
    while batch(calls)[0] < 0.2e9 / 15:
        calls *= 2
    print("%.1f" % min(batch(calls)[0] / calls for _ in range(15)))
    print(json.dumps(np.asarray(batch(1)[1]).tolist()))


def main(program, *args):
    def array(k):
        return np.load(args[k])

    def number(k):
        return float(args[k])

    if program == "bgd_hyperopt":
        steps = int(args[1])
        measure(lambda r, x, y: remaining(r, x, y, steps), number(0), array(2), array(3))
    elif program == "brachistochrone":
        measure(lambda drops: duration(drops, number(0), number(1)), array(2))
    elif program == "cartpole":
        measure(loss, array(1), array(0))
    elif program == "hmc":
        measure(log_posterior, array(0), array(1), array(2))
    elif program == "hookean_spring":
        stiffness = number(0)
        measure(lambda p, ends, rest: energy(p, ends, rest, stiffness), array(1), array(2), array(3))
    else:
        measure(cost, array(0), array(1))


main(*sys.argv[1:])
