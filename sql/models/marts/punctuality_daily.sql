{{ config(materialized='view') }}
-- One row per operator, service_date, line and direction: punctuality as shares, with bounds and coverage.
-- Shares "of promised" count the passages of trips that did not run too.
{{ punctuality_over('service_date', 'service_date', ['line_code', 'direction']) }}
