{{ config(materialized='view') }}
-- One row per operator, service_date, line and horizon bucket: errors of live predictions, and their changes from one
-- listing to the next, for observed visits. An error is positive where the bus came later than predicted.
select
    operator,
    service_date,
    line_code,
    horizon_from_seconds,
    horizon_to_seconds,
    cast(sum(n) as bigint) as n,
    cast(sum(n_within) as bigint) as n_within,
    cast(sum(n_surely_within) as bigint) as n_surely_within,
    cast(sum(n_possibly_within) as bigint) as n_possibly_within,
    cast(sum(n_too_early) as bigint) as n_too_early,
    cast(sum(n_too_late) as bigint) as n_too_late,
    cast(sum(error_seconds_sum) as bigint) as error_seconds_sum,
    cast(sum(error_low_seconds_sum) as bigint) as error_low_seconds_sum,
    cast(sum(error_high_seconds_sum) as bigint) as error_high_seconds_sum,
    cast(sum(absolute_error_seconds_sum) as bigint) as absolute_error_seconds_sum,
    cast(sum(absolute_error_low_seconds_sum) as bigint) as absolute_error_low_seconds_sum,
    cast(sum(absolute_error_high_seconds_sum) as bigint) as absolute_error_high_seconds_sum,
    cast(sum(squared_error_sum) as bigint) as squared_error_sum,
    cast(sum(n_revisions) as bigint) as n_revisions,
    cast(sum(absolute_revision_seconds_sum) as bigint) as absolute_revision_seconds_sum,
    cast(sum(n_upward_jumps) as bigint) as n_upward_jumps,
    max(ruleset_version) as ruleset_version
from {{ ref('prediction_accuracy_by_hour') }}
group by operator, service_date, line_code, horizon_from_seconds, horizon_to_seconds
