{{ config(materialized='view') }}
-- One row per operator and service_date that is over: the share of the network's passages that were on time, with its
-- 95 % interval.
with shares as (
    {{ punctuality_over('service_date', 'service_date', [], among=over_dates()) }}
),

{{ on_time_headline(
    "'all lines of ' || shares.operator", period='cast(shares.service_date as string)', is_named=true
) }}
