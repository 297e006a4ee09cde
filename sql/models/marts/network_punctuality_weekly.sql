{{ config(materialized='view') }}
-- One row per operator and week (from Monday): punctuality of the whole network as shares, with bounds and coverage.
-- The shares "of promised" also count the passages of departures that did not run.
{{ punctuality_over('week_starts_date', first_date_of('week', 'service_date'), []) }}
