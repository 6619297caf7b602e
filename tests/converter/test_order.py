"""Edits of the collections that a graph is made of take no longer where there are many others."""

from __future__ import annotations

from converter.order import Order, Readers


class Counted:
    """Counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return self is other

    def __hash__(self) -> int:
        Counted.compared += 1
        return 0 if self is None else id(self) >> 4


def test_an_order_is_kept_through_edits() -> None:
    order: Order[str] = Order()
    for one in "abcd":
        order.insert(one)
    order.insert("x", "c")
    order.remove("a")
    order.insert("y", "b")
    order.insert("z")
    assert list(order.all()) == ["y", "b", "x", "c", "d", "z"]


def test_who_goes_through_an_order_is_not_disturbed() -> None:
    order: Order[str] = Order()
    for one in "abc":
        order.insert(one)
    for one in order.all():
        order.insert(one.upper(), one)
        order.remove(one)
    assert list(order.all()) == ["A", "B", "C"]


def test_readers_stand_once_for_each_place() -> None:
    readers: Readers[str] = Readers()
    for reader, place in (("a", 0), ("b", 0), ("a", 1)):
        readers.add(reader, place)
    assert (list(readers), len(readers), readers[1]) == (["a", "b", "a"], 3, "b")
    readers.remove("a", 0)
    assert readers.places() == [("b", 0), ("a", 1)]


def compared_per_edit(size: int) -> float:
    order: Order[Counted] = Order()
    readers: Readers[Counted] = Readers()
    held = [Counted() for _ in range(size)]
    Counted.compared = 0
    for one in held:
        order.insert(one)
        readers.add(one, 0)
    for one in held[::-2]:
        order.remove(one)
        readers.remove(one, 0)
        order.insert(one, held[0])
        readers.add(one, 1)
    return Counted.compared / size


def test_edits_take_as_long_among_many() -> None:
    assert compared_per_edit(8000) < 1.3 * compared_per_edit(500)
