{{ config(materialized='view') }}
-- One row per operator, service_date and ruleset: every ruleset side by side, with what it
-- demands, or the reason why it cannot judge.
{{ rulesets_over('service_date', 'facts.service_date', []) }}
