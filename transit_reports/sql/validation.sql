-- Expectations that batches received in the period did not meet.
select
    dataset,
    rule,
    reason,
    count(*) as n_batches,
    cast(sum(n_unexpected) as bigint) as n_unexpected,
    cast(sum(n_rows) as bigint) as n_rows
from quality.validation_results
where service_date(last_received_at) between $first and $last and not is_success
group by all
order by n_unexpected desc, dataset, rule
