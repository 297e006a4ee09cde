{{ config(materialized='view') }}
-- One row per operator, stop and month, of its dates that are over: the share of the passages at the stop that were on
-- time, with its 95 % interval.
with shares as (
    {{ stop_punctuality_over('period', 'month_period', ['stop_code'], among=over_dates()) }}
),

stops as (
    select
        operator,
        stop_code,
        coalesce(nullif(trim(stop_name), '') || ' (' || stop_code || ')', stop_code) as shown_stop
    from {{ ref('stops') }}
),

{{ on_time_headline(
    "'all lines at stop ' || coalesce(stops.shown_stop, shares.stop_code)",
    columns={'stop': 'coalesce(stops.shown_stop, shares.stop_code)'},
    joins='left join stops using (operator, stop_code)'
) }}
