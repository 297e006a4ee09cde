{{ config(materialized='view') }}
-- One row per operator, week (of Monday), line and direction: punctuality as shares, with bounds and coverage.
-- Shares "of promised" count the passages of trips that did not run too.
{{ punctuality_over('week_starts_date', first_date_of('week', 'service_date'), ['line_code', 'direction']) }}
