"""Topics appearing in news: messages stream by, nobody says how many topics there are, and a new one is noticed.

    python examples/python/topics_in_news.py
"""

import numpy as np

from bayestream import StreamingTopics

THEMES = {
    "garden": "soil seed plant flower tomato prune rose weed compost shovel",
    "football": "goal match team player referee league penalty striker corner coach",
    "music": "guitar concert drums piano album singer melody rhythm chorus stage",
    "money": "bank loan interest budget price tax market stock invoice profit",
    "eclipse": "moon eclipse telescope corona shadow totality sky astronomer sun orbit",
}
COMMON = "today said people morning always never".split()


def messages(n=6000, seed=0):
    """Messages on four themes; from the middle on, on a fifth."""
    rng = np.random.default_rng(seed)
    words = [words.split() for words in THEMES.values()]
    for at in range(n):
        own = words[rng.integers(5 if at >= n // 2 else 4)]
        yield " ".join([*rng.choice(own, 20), *rng.choice(COMMON, 5)])


stream = list(messages())
model = StreamingTopics()
for first in range(0, len(stream), 1000):
    model.partial_fit(stream[first : first + 1000])
    print(f"after {model.n_seen_:,} messages: {model.n_components_} topics")

print("\nid     weight  trend  since  words")
for topic in model.topics(n_words=6):
    print(f"{topic['id']:6} {topic['weight']:.3f}  {topic['trend']:5.2f}  {topic['born']:5}  {' '.join(topic['words'])}")

texts = ["moon, shadow, corona: totality through a telescope", "the striker, a penalty, a goal: what a match for the league"]
for text, row in zip(texts, model.transform(texts)):
    print(f"{text!r}: mostly topic {model.component_ids_[row.argmax()]} ({row.max():.0%})")
print(f"perplexity of a word: {model.perplexity(stream[-500:]):.1f}")
