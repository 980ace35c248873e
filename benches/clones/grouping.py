"""Four ways to make clusters of scored pairs, to compare what each of them joins.

Pairs are given as {(first, second): score} with numbers, smaller first. All four give the same answer for the same pairs.
"""

import collections

from score import closure_of


def single(edges, _neighbours):
    """All that is connected (union-find)."""
    return closure_of(edges)


def mutual(edges, neighbours):
    """All that is connected by pairs of which each is among the other's nearest."""
    adjacent = adjacency(edges)
    nearest = {one: set(sorted(other, key=lambda at: (-other[at], at))[:neighbours]) for one, other in adjacent.items()}
    return closure_of([(first, second) for first, second in edges if second in nearest[first] and first in nearest[second]])


def complete(edges, _neighbours):
    """Greedily from the best pair: two clusters are joined only if all their members are pairs."""
    adjacent = adjacency(edges)
    cluster_of = {one: {one} for one in adjacent}
    for first, second in sorted(edges, key=lambda edge: (-edges[edge], edge)):
        left, right = cluster_of[first], cluster_of[second]
        if left is not right and all(other in adjacent[one] for one in left for other in right):
            left |= right
            cluster_of.update((one, left) for one in right)
    return [list(cluster) for cluster in {id(cluster): cluster for cluster in cluster_of.values()}.values()]


def medoid(edges, _neighbours):
    """Stars: the one with the most similarity left, with all that is a pair with it."""
    adjacent, left, clusters = adjacency(edges), set(), []
    left.update(adjacent)
    while left:
        weight = lambda one: (sum(score for other, score in adjacent[one].items() if other in left), -one)
        centre = max(left, key=weight)
        members = [other for other in adjacent[centre] if other in left]
        if not members:
            break
        clusters.append([centre, *members])
        left -= set(clusters[-1])
    return clusters


GROUPINGS = {"single": single, "complete": complete, "medoid": medoid, "mutual": mutual}


def adjacency(edges):
    adjacent = collections.defaultdict(dict)
    for (first, second), score in edges.items():
        adjacent[first][second] = adjacent[second][first] = score
    return adjacent
