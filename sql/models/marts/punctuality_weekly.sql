{{ config(materialized='view') }}
-- One row per operator, week (from Monday), line and direction: punctuality as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over('week_starts_date', first_date_of('week', 'service_date'), ['line_code', 'direction']) }}
