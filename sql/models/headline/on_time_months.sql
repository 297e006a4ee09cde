{{ config(materialized='view') }}
-- One row per operator and month, of its dates that are over: the share of the network's passages that were on time,
-- with its 95 % interval.
with shares as (
    {{ punctuality_over('period', 'month_period', [], among=over_dates()) }}
),

{{ on_time_headline("'all lines of ' || shares.operator", is_named=true) }}
