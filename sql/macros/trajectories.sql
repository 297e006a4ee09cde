{# The columns that group the rows of each service date by keys. #}
{% macro of_days(keys) -%}
    {{ (["operator", "service_date"] + keys) | join(", ") }}
{%- endmacro %}

{# The delay that a guess (delay_guesses) amounts to, given the errors of its class (delay_errors). #}
{% macro expected_delay(guesses, errors) -%}
    ({{ guesses }}.usual_delay_seconds
    + {{ errors }}.slope * ({{ guesses }}.told_delay_seconds - {{ guesses }}.usual_delay_seconds)
    + {{ errors }}.bias_seconds)
{%- endmacro %}

{# How far a delay is from a guess, in standard errors. #}
{% macro standardised_error(guesses, errors, delay) -%}
    (({{ delay }} - {{ expected_delay(guesses, errors) }}) / {{ errors }}.error_seconds)
{%- endmacro %}

{# The share of a normal distribution up to a standardised value, by its logistic approximation (off by less than 0.01). #}
{% macro normal_share(value) -%}
    (1 / (1 + exp(-1.702 * {{ value }})))
{%- endmacro %}

{# The share of a distribution up to a standardised value, from its shares up to -6, -5.9 … 6 (error_shares). #}
{% macro share_up_to(shares, value) -%}
    {%- set tenths = "(10 * (least(greatest(" ~ value ~ ", -6), 5.999) + 6))" -%}
    {%- set below = element(shares, "cast(floor(" ~ tenths ~ ") as bigint) + 1") -%}
    {%- set above = element(shares, "cast(floor(" ~ tenths ~ ") as bigint) + 2") -%}
    ({{ below }} + ({{ tenths }} - floor({{ tenths }})) * ({{ above }} - {{ below }}))
{%- endmacro %}
