from transit_etl.collect.planning.due_queue import DueQueue


def test_what_is_due_comes_earliest_first_and_once() -> None:
    agenda: DueQueue[str] = DueQueue()
    for item, at in (("late", 30.0), ("soon", 10.0), ("next", 20.0)):
        agenda.put(item, at)

    assert ["soon", "next"] == list(agenda.take(20.0))
    assert ["late"] == list(agenda.take(100.0))


def test_an_item_put_again_is_due_at_the_new_instant_only() -> None:
    agenda: DueQueue[str] = DueQueue()
    agenda.put("a", 10.0)
    agenda.put("a", 50.0)
    agenda.put_by("a", 60.0)

    assert [] == list(agenda.take(40.0))
    assert ["a"] == list(agenda.take(50.0))


def test_what_is_removed_is_due_no_more() -> None:
    agenda: DueQueue[str] = DueQueue()
    agenda.put("a", 10.0)
    agenda.remove("a")

    assert agenda.earliest() is None
