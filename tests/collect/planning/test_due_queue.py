from transit_etl.collect.planning.due_queue import DueQueue


def test_due_items_come_earliest_first_and_once() -> None:
    queue: DueQueue[str] = DueQueue()
    for item, at in (("late", 30.0), ("soon", 10.0), ("next", 20.0)):
        queue.put(item, at)

    assert ["soon", "next"] == list(queue.pop_due(20.0))
    assert ["late"] == list(queue.pop_due(100.0))


def test_an_item_put_again_is_due_at_the_new_instant_only() -> None:
    queue: DueQueue[str] = DueQueue()
    queue.put("a", 10.0)
    queue.put("a", 50.0)
    queue.put_at_latest("a", 60.0)

    assert [] == list(queue.pop_due(40.0))
    assert ["a"] == list(queue.pop_due(50.0))


def test_an_item_put_for_an_earlier_instant_at_the_latest_is_due_then() -> None:
    queue: DueQueue[str] = DueQueue()
    queue.put("a", 50.0)
    queue.put_at_latest("a", 10.0)

    assert ["a"] == list(queue.pop_due(10.0))


def test_a_removed_item_is_not_due() -> None:
    queue: DueQueue[str] = DueQueue()
    queue.put("a", 10.0)
    queue.remove("a")

    assert queue.first_due() is None
