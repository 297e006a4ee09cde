{{ config(materialized='view') }}
-- One row per operator and month: punctuality of the whole network as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over('month_starts_date', "cast(date_trunc('month', service_date) as date)", []) }}
