{{ config(materialized='view') }}
-- One row per operator, period of the ruleset and ruleset: every ruleset side by side, with what it
-- demands, or the reason why it cannot judge.
{%- set first -%}
    {{ first_date_of_own_period('authorities.period', 'authorities.period_from_date', 'facts.service_date') }}
{%- endset %}
{{ rulesets_over('period_starts_date', first, []) }}
