{{ config(materialized='view') }}
-- One row per operator, month, line and direction: punctuality as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over('month_starts_date', first_date_of('month', 'service_date'), ['line_code', 'direction']) }}
