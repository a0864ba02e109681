"""Clusters without K: rows arrive in batches, and the model finds how many kinds of rows there are.

    python examples/python/clusters_without_k.py
"""

import numpy as np

from bayestream import StreamingGMM


def batches(n_batches=40, size=500, seed=0):
    """Three clusters; from the middle on, a fourth one."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 7.0], [8.0, 8.0]])
    for at in range(n_batches):
        which = rng.integers(4 if at >= n_batches // 2 else 3, size=size)
        yield centres[which] + rng.normal(size=(size, 2)) * [1.0, 0.7]


model = StreamingGMM()
for at, batch in enumerate(batches()):
    model.partial_fit(batch)
    if (at + 1) % 10 == 0:
        print(f"after {model.n_seen_:,} rows: {model.n_clusters_} clusters of {model.n_components_} components")

print("\nid      weight  mean")
for name, weight, mean in zip(model.component_ids_, model.weights_, model.means_):
    print(f"{name:6}  {weight:.3f}   {mean.round(1)}")

far = np.array([[20.0, -5.0]])
print(f"\nlog-density of a usual row {model.score_samples([[6.0, 1.0]])[0]:.1f}, of a far one {model.score_samples(far)[0]:.1f}")
reason = model.reasons(far)[0][0]
print(f"the far one is far in {reason['column']}: {reason['observed']:.0f}, expected {reason['expected']:.1f}")

rows, which = model.sample(5, random_state=1)
print(f"five rows drawn from the model, and their components: {which.tolist()}")
