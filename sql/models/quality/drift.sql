{{ config(materialized='view') }}
-- One row per operator, dataset, kind and name of a key or code that nothing describes, with the time it was listed.
select
    operator,
    dataset,
    kind,
    name,
    min(first_seen_at) as first_seen_at,
    max(last_seen_at) as last_seen_at,
    cast(sum(n) as bigint) as n,
    min(example) as example
from {{ ref('drift_days') }}
group by operator, dataset, kind, name
