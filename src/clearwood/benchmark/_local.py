"""Stand-ins for plans and intervals."""
from dataclasses import dataclass
import numpy as np
from scipy.stats import norm

@dataclass(frozen=True)
class Split:
    train: np.ndarray
    test: np.ndarray
    repeat: int
    fold: int

@dataclass(frozen=True)
class KFold:
    k: int = 5
    repeats: int = 1
    def splits(self, n_rows, *, y=None, groups=None, times=None, seed=0):
        out = []
        for r in range(self.repeats):
            order = np.random.default_rng([seed, r]).permutation(n_rows)
            parts = np.array_split(order, self.k)
            for f, test in enumerate(parts):
                train = np.sort(np.concatenate([p for i, p in enumerate(parts) if i != f]))
                out.append(Split(train, np.sort(test), r, f))
        return tuple(out)

@dataclass(frozen=True)
class PairSplit:
    train: np.ndarray
    test_j: np.ndarray
    test_k: np.ndarray
    j: int
    k: int

def pair_splits(splits):
    out = []
    for a in range(len(splits)):
        for b in range(a + 1, len(splits)):
            train = np.intersect1d(splits[a].train, splits[b].train)
            out.append(PairSplit(train, splits[a].test, splits[b].test, splits[a].fold, splits[b].fold))
    return tuple(out)

@dataclass(frozen=True)
class Interval:
    estimate: float
    se: float
    low: float
    high: float
    kind: str
    n: int
    inflation: float = 1.0
    bias: float = 0.0

def naive_interval(losses, weights=None, confidence=0.9, groups=None):
    losses = np.asarray(losses, float)
    m = np.average(losses, weights=weights)
    se = losses.std(ddof=1) / np.sqrt(len(losses))
    z = norm.ppf(0.5 + confidence / 2)
    return Interval(float(m), float(se), float(m - z * se), float(m + z * se), "naive", len(losses))

def nested_interval(outer, pairs, confidence=0.9, **_):
    K = len(outer[0])
    ab = []
    e_all = []
    e_in_all = []
    for folds, pair in zip(outer, pairs):
        for k in range(K):
            e_out = folds[k]
            e_in = np.concatenate([pair[(j, k)] for j in range(K) if j != k])
            ab.append((e_in.mean() - e_out.mean()) ** 2 - e_out.var(ddof=1) / len(e_out))
            e_in_all.append(e_in.mean())
        e_all.append(np.concatenate(folds))
    n = len(e_all[0])
    cv = np.mean([e.mean() for e in e_all])
    ncv = np.mean(e_in_all)
    naive = np.mean([e.std(ddof=1) for e in e_all]) / np.sqrt(n)
    mse = max(np.mean(ab), 0) * (K - 1) / K
    se = float(np.clip(np.sqrt(mse), naive, naive * np.sqrt(K)))
    bias = (1 + (K - 2) / K) * (ncv - cv)
    est = ncv - bias
    z = norm.ppf(0.5 + confidence / 2)
    return Interval(float(est), se, float(est - z * se), float(est + z * se), "nested", n, se / naive, float(bias))
