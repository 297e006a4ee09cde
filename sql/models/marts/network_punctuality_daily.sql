{{ config(materialized='view') }}
-- One row per operator and service_date: punctuality of the whole network as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over('service_date', 'service_date', []) }}
