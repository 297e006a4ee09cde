{{ config(materialized='view') }}
-- One row per operator, month, line and direction: punctuality as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over(
    'month_starts_date', "cast(date_trunc('month', service_date) as date)", ['line_code', 'direction']
) }}
