{{ config(materialized='view') }}
-- One row per operator, service_date, line and direction: punctuality as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over('service_date', 'service_date', ['line_code', 'direction']) }}
