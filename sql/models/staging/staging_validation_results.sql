-- One row per expectation and batch.
select
    operator,
    {{ adapter.quote("window") }},
    suite as dataset,
    last_received_at,
    expectation,
    {{ adapter.quote("column") }},
    rule,
    scope,
    reason,
    is_success,
    n_rows,
    n_unexpected,
    observed,
    try_cast(date as date) as received_date
from {{ lake('validation_results') }}
