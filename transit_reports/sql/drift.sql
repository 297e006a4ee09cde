-- What the interface answered that it is not known to answer.
select
    dataset,
    kind,
    name,
    first_seen_at,
    last_seen_at,
    n
from quality.drift
order by last_seen_at desc, dataset, kind, name
