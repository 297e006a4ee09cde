{{ config(materialized='view') }}
-- One row per operator and service_date: punctuality of the whole network as shares, with bounds and coverage.
-- Shares "of promised" count the passages of trips that did not run too.
{{ punctuality_over('service_date', 'service_date', []) }}
