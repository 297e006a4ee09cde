"""Decides which listed news items have their full text fetched: the new, the changed, and the rest by age."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

# A text is fetched again after twice the time that it has been known for, within these limits: 1, 3, 9 and 27
# hours after the first answer with it, then every 20 hours.
_SHORTEST_WAIT, _LONGEST_WAIT = timedelta(hours=1), timedelta(hours=20)
_GROWTH = 2
_TOLERANCE = timedelta(minutes=15)  # an answer comes a little after the start of its run
# A minute of the allowance without a token. In hourly runs, 1,000 items are each fetched within 17 hours.
MOST_REFETCHED = 60


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A version of a news item in the list; texts are unescaped, runs of white space are one space."""

    news_id: str
    title: str
    published: str


@dataclass(frozen=True, slots=True)
class FetchedItem:
    """The last good answer to the full text of an item; instants are UTC.

    item: what the list said of it when it was asked for, None if the item was not in a list before.
    fetched_at: when the answer was received.
    text_since: when the first of the answers in a row with this text was received.
    """

    item: NewsItem | None
    fetched_at: datetime
    text_since: datetime

    def is_due(self, now: datetime) -> bool:
        """Tell whether the text has to be fetched again, though the list says the same as before."""
        wait = _GROWTH * (self.fetched_at - self.text_since)
        return now - self.fetched_at >= min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT) - _TOLERANCE


def news_item(news_id: str, title: str | None, published: str | None) -> NewsItem:
    """Return a listed item in the form in which versions are compared."""
    return NewsItem(news_id, _plain(title), _plain(published))


def items_to_fetch(
    listed: Iterable[NewsItem], fetched: Mapping[str, FetchedItem], now: datetime
) -> list[str]:
    """Return the identifiers of the listed items to fetch.

    First those without a fetched text or with another title or date than when it was fetched, in the order of
    the list; then those that are due again, the oldest answer first, MOST_REFETCHED of them at most.
    """
    items: dict[str, NewsItem] = {}
    for item in listed:
        items.setdefault(item.news_id, item)
    known = {
        news_id: fetched[news_id]
        for news_id, item in items.items()
        if news_id in fetched and fetched[news_id].item == item
    }
    due = sorted(
        (news_id for news_id in known if known[news_id].is_due(now)), key=lambda i: known[i].fetched_at
    )
    return [news_id for news_id in items if news_id not in known] + due[:MOST_REFETCHED]


def _plain(text: str | None) -> str:
    return " ".join(html.unescape(text or "").split())
