"""Text classification in one pass: each message is judged before it is learnt, and never seen again.

    python examples/python/text_classification.py [FOLDER]

FOLDER holds the data set "SMS spam" as `sms-spam/sms-spam.ndjson.gz` (default: `../shared/data` beside the repository).
Without it the messages are made up.
"""

import gzip
import json
import pathlib
import sys

import numpy as np

from bayestream import StreamingLinearClassifier, TopicClassifier

HERE = pathlib.Path(__file__).resolve()
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[3] / "shared" / "data")


def made_up(n=3000, seed=0):
    """Messages that sell something, and others."""
    rng = np.random.default_rng(seed)
    words = {"ham": "home dinner later meet work sorry love tomorrow", "spam": "free prize win cash claim text urgent offer"}
    labels = rng.choice(["ham", "ham", "ham", "spam"], size=n)
    common = "you now call the and please".split()
    return [" ".join([*rng.choice(words[label].split(), 6), *rng.choice(common, 6)]) for label in labels], labels


path = folder / "sms-spam" / "sms-spam.ndjson.gz"
if path.is_file():
    print(f"SMS spam from {path.name}")
    with gzip.open(path, "rt") as file:
        lines = [json.loads(line) for line in file]
    texts, labels = [line["text"] for line in lines], np.array([line["label"] for line in lines])
else:
    print(f"SMS spam is not here ({path.name} is not in the folder): the messages are made up")
    texts, labels = made_up()

for model in (TopicClassifier(), StreamingLinearClassifier(kind="classify/pa")):
    right = n_judged = 0
    for first in range(0, len(texts), 100):
        batch, truth = texts[first : first + 100], labels[first : first + 100]
        if first > 0:
            right += (model.predict(batch) == truth).sum()
            n_judged += len(batch)
        model.partial_fit(batch, truth, classes=["ham", "spam"])
    print(f"{type(model).__name__} ({model.kind}): {right / n_judged:.1%} of {n_judged:,} messages right before they were learnt")

model = TopicClassifier().fit(texts, labels)
message = "you win a free prize, claim it now"
words = ", ".join(word for word, _ in model.speaking_words(message, "spam", 3))
print(f"{message!r} is {model.predict([message])[0]}, because of: {words}")
