"""How sure is a mean? Bootstrap intervals over repositories and questions.

The figure of a set is the mean over repositories of the mean over a repository's questions. A draw takes as many
repositories as there are, with replacement, and from each as many of its questions, with replacement; the interval is
the middle 95 % of the draws. The seed is fixed, so that the same material gives the same interval.
"""

import random
from statistics import fmean

DRAWS = 1000


def mean_of_means(groups):
    """The mean over repositories; `groups` holds a list of values a repository."""
    return fmean(fmean(values) for values in groups) if groups else 0.0


def bootstrap(groups, draws=DRAWS, seed=1):
    """(low, high) of the middle 95 % for `mean_of_means`."""
    if not groups:
        return (0.0, 0.0)
    chance = random.Random(seed)
    means = sorted(
        fmean(fmean(chance.choices(values, k=len(values))) for values in chance.choices(groups, k=len(groups)))
        for _ in range(draws)
    )
    return means[int(draws * 0.025)], means[min(int(draws * 0.975), draws - 1)]
