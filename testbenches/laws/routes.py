"""The links that a message takes through a fabric, by the text of docs: the shorter way, dimension by dimension in a
torus, to the receiver's node first between nodes. Where two ways are equally short there is no route to tell."""
import functools


class Fabric:
    """Routes of a run's topology. A route is a list of (from, to), or None where only its length is known."""

    def __init__(self, topology, gpus):
        self.topology, self.gpus, self.kind = topology, gpus, kind_of(topology)

    def route(self, source, target):
        return getattr(self, "_" + self.kind.replace("-", "_"))(source, target)

    def _fully_connected(self, source, target):
        return [(source, target)]

    def _switch(self, source, target):
        return [(source, "switch0"), ("switch0", target)]

    def _ring(self, source, target):
        return ring_route(source, target, self.gpus, lambda place: place)

    def _torus(self, source, target):
        dimensions = self.topology["dimensions"]
        place, end, route = place_of(source, dimensions), place_of(target, dimensions), []
        for axis, size in enumerate(dimensions):
            def number(position, axis=axis, place=tuple(place)):
                return number_of([*place[:axis], position, *place[axis + 1:]], dimensions)
            route += ring_route(place[axis], end[axis], size, number)
            place[axis] = end[axis]
        return route

    def _nodes(self, source, target):
        size = self.topology["gpus_per_node"]
        inside = Fabric(self.topology.get("inside", {"topology": "ring"})["topology"], size)
        between = Fabric(self.topology["between"]["topology"], self.gpus // size)
        node, rank = divmod(source, size)
        end, end_rank = divmod(target, size)

        def within(node, first, last):
            return [] if first == last else renamed(inside.route(first, last), lambda place: node * size + place)

        if node == end:
            return within(node, rank, end_rank)
        port = 0 if self.topology.get("ports") == "node" else rank
        across = renamed(between.route(node, end), lambda place: place * size + port)
        return within(node, rank, port) + across + within(end, port, end_rank)


TIE = ("?", "?")  # a link of a way that is one of two


def kind_of(topology):
    return topology if isinstance(topology, str) else topology["kind"]


def renamed(route, name):
    return [link if link == TIE else (name(link[0]), name(link[1])) for link in route]


def ring_route(source, target, size, number):
    forward = (target - source) % size
    backward = size - forward
    if forward == 0:
        return []
    if forward == backward and size > 2:
        return [TIE] * forward
    steps, step = (forward, 1) if forward <= backward else (backward, -1)
    places = [(source + step * i) % size for i in range(steps + 1)]
    return [(number(one), number(other)) for one, other in zip(places, places[1:])]


def place_of(number, dimensions):
    place = []
    for size in dimensions:
        number, position = divmod(number, size)
        place.append(position)
    return place


def number_of(place, dimensions):
    return functools.reduce(lambda number, axis: number * dimensions[axis] + place[axis],
                            reversed(range(len(dimensions))), 0)


def link_bytes(fabric, messages):
    """Bytes by link, and the bytes of all links together. The former is None where a message's route is not known."""
    links, together, is_known = {}, 0, True
    for (source, target), size in messages.items():
        for link in fabric.route(source, target):
            together += size
            is_known = is_known and link != TIE
            links[link] = links.get(link, 0) + size
    return (links if is_known else None), together
