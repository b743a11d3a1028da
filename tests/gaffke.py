"""Gaffke's bound for the mean of a bounded difference, the oracle of the gate (N. Gaffke, 2005).

It is the Bayesian bootstrap with one added query that loses everything: queries have independent weights with the
standard exponential distribution, and the p-value is the probability that their weighted loss is the margin or more.
"""

import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq


def probability_of_loss(coefficients, counts):
    """P(sum of a G <= 0), with G Gamma distributed of shape `counts`, by J. P. Imhof's integral (1961)."""
    a, k = np.asarray(coefficients, float), np.asarray(counts, float)

    def integrand(u):
        angle, length = (k * np.arctan(a * u)).sum(), (k * np.log1p((a * u) ** 2)).sum() / 2
        return math.sin(angle) * math.exp(-length) / u

    scale = 1 / math.sqrt((k * a**2).sum())
    parts = [quad(integrand, i * scale, (i + 1) * scale, epsabs=1e-12, limit=200)[0] for i in range(12)]
    return 0.5 - (sum(parts) + quad(integrand, 12 * scale, math.inf, epsabs=1e-10, limit=2000)[0]) / math.pi


def pvalue(total, size, count, margin, loss, unit=None):
    """P-value of the hypothesis that the mean is -margin or less; `count` units have the same total and size."""
    total, size, count = (np.asarray(x, float) for x in (total, size, count))
    unit = (count * size**2).sum() / (count * size).sum() if unit is None else unit
    a, k = np.append(total + margin * size, -(loss - margin) * unit), np.append(count, 1)
    a, k = a[a != 0], k[a != 0]
    if (a > 0).all() or (a < 0).all():
        return float((a < 0).all())
    return probability_of_loss(a, k)


def low(total, size, count, loss, alpha, unit=None):
    """Lower bound of the mean: the mean loss whose p-value is alpha."""
    mean = np.dot(count, total) / np.dot(count, size)
    if mean <= -loss:
        return -loss
    return brentq(lambda c: pvalue(total, size, count, -c, loss, unit) - alpha, -loss * (1 - 1e-9), mean, xtol=1e-10)
