{{ config(materialized='view') }}
-- One row per operator and month: punctuality of the whole network as shares, with bounds and coverage.
-- Shares "of promised" count the passages of trips that did not run too.
{{ punctuality_over('month_starts_date', first_date_of('month', 'service_date'), []) }}
