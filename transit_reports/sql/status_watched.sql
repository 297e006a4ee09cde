-- Which share of the period the service status was watched, in the category that was watched least.
with $asked,

categories as (
    select sum(covered_seconds) as covered_seconds
    from marts.status_coverage
    where service_date between $first and $last
    group by category
)

select coalesce(min(categories.covered_seconds), 0) / any_value(epoch(asked.to_at - asked.from_at)) as watched_share
from asked
left join categories on true
