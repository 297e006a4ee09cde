{# Everything that differs between databases. The defaults are DuckDB's; another database gets macros of its own. #}

{# The lake's rows of a dataset, with the day of receipt from their path; in a variant as of a moment, those received by
   then. #}
{% macro lake(dataset) -%}
    {%- set received = {
        "requests": "coalesce(received_at, planned_at)", "validation_results": "last_received_at"
    }.get(dataset, "received_at") -%}
    {%- if var("as_of") -%}
        (
            select * from {{ lake_files(dataset) }}
            where {{ received }} <= cast('{{ var("as_of") }}' as timestamp)
        ) as received
    {%- else -%}
        {{ lake_files(dataset) }}
    {%- endif -%}
{%- endmacro %}

{# All files of a dataset of the lake as one relation; a column that older files lack is null there. #}
{% macro lake_files(dataset) -%}
    {{ adapter.dispatch("lake_files", "transit")(dataset) }}
{%- endmacro %}
{% macro default__lake_files(dataset) -%}
    read_parquet(
        '{{ data_folder() | replace("'", "''") }}/lake/operator=*/dataset={{ dataset }}/date=*/*.parquet',
        hive_partitioning = true, hive_types_autocast = false, union_by_name = true
    )
{%- endmacro %}
{% macro spark__lake_files(dataset) -%}
    {%- set lake = data_folder() | replace("`", "``") ~ "/lake" -%}
    parquet.`{{ lake }}/operator=*/dataset={{ dataset }}/date=*`
    with (basePath = '{{ lake | replace("'", "''") }}', mergeSchema = 'true')
{%- endmacro %}

{# A floating-point number rounded to so many decimals, halves away from zero. #}
{% macro rounded(number, decimals) -%}
    {{ adapter.dispatch("rounded", "transit")(number, decimals) }}
{%- endmacro %}
{% macro default__rounded(number, decimals) -%}
    round({{ number }}, {{ decimals }})
{%- endmacro %}
{# Spark would round the shortest decimal number that is read as this one. #}
{% macro spark__rounded(number, decimals) -%}
    (round(({{ number }}) * 1e{{ decimals }}) / 1e{{ decimals }})
{%- endmacro %}

{# A floating-point number as a decimal of so many digits, so many of them after the point. #}
{% macro as_decimal(number, digits, decimals) -%}
    cast({{ rounded(number, decimals) }} as decimal({{ digits }}, {{ decimals }}))
{%- endmacro %}

{# The n-th smallest value of a group, n up to 8; null if there are fewer. #}
{% macro nth_smallest(column, n) -%}
    {{ adapter.dispatch("nth_smallest", "transit")(column, n) }}
{%- endmacro %}
{% macro default__nth_smallest(column, n) -%}
    (min({{ column }}, 8))[{{ n }}]
{%- endmacro %}
{% macro spark__nth_smallest(column, n) -%}
    get(array_sort(collect_list({{ column }})), {{ n }} - 1)
{%- endmacro %}

{# The value a group has in its row with the least key. #}
{% macro value_at_least(column, key) -%}
    {{ adapter.dispatch("value_at_least", "transit")(column, key) }}
{%- endmacro %}
{% macro default__value_at_least(column, key) -%}
    arg_min({{ column }}, {{ key }})
{%- endmacro %}
{% macro spark__value_at_least(column, key) -%}
    min_by({{ column }}, case when {{ column }} is not null then {{ key }} end)
{%- endmacro %}

{# The value a group has in its row with the greatest key. #}
{% macro value_at_greatest(column, key) -%}
    {{ adapter.dispatch("value_at_greatest", "transit")(column, key) }}
{%- endmacro %}
{% macro default__value_at_greatest(column, key) -%}
    arg_max({{ column }}, {{ key }})
{%- endmacro %}
{% macro spark__value_at_greatest(column, key) -%}
    max_by({{ column }}, case when {{ column }} is not null then {{ key }} end)
{%- endmacro %}

{# The first date of the period that a date lies in, of rows that say which period that is and a date on which one
   begins: the months of quarters and years, and the weeks of four, are counted from it. #}
{% macro first_date_of_own_period(period, begins, date) -%}
    {{ adapter.dispatch("first_date_of_own_period", "transit")(period, begins, date) }}
{%- endmacro %}
{% macro default__first_date_of_own_period(period, begins, date) -%}
    {%- set months = "datediff('month', " ~ begins ~ ", " ~ date ~ ")" -%}
    cast(case {{ period }}
        when 'day' then {{ date }}
        when 'week' then date_trunc('week', {{ date }})
        when 'four_weeks' then {{ begins }} + cast(28 * floor(({{ date }} - {{ begins }}) / 28.0) as integer)
        when 'month' then date_trunc('month', {{ date }})
        when 'quarter' then {{ begins }} + to_months(cast(3 * floor({{ months }} / 3.0) as integer))
        when 'year' then {{ begins }} + to_months(cast(12 * floor({{ months }} / 12.0) as integer))
    end as date)
{%- endmacro %}
{% macro spark__first_date_of_own_period(period, begins, date) -%}
    {%- set years = "(year(" ~ date ~ ") - year(" ~ begins ~ "))" -%}
    {%- set months = "(12 * " ~ years ~ " + month(" ~ date ~ ") - month(" ~ begins ~ "))" -%}
    {%- set days = "datediff(" ~ date ~ ", " ~ begins ~ ")" -%}
    cast(case {{ period }}
        when 'day' then {{ date }}
        when 'week' then date_trunc('week', {{ date }})
        when 'four_weeks' then date_add({{ begins }}, cast(28 * floor({{ days }} / 28e0) as integer))
        when 'month' then date_trunc('month', {{ date }})
        when 'quarter' then add_months({{ begins }}, cast(3 * floor({{ months }} / 3e0) as integer))
        when 'year' then add_months({{ begins }}, cast(12 * floor({{ months }} / 12e0) as integer))
    end as date)
{%- endmacro %}

{# The numbers 1, 2 … n, one a row, as a relation with the column `number`. #}
{% macro numbers(n) -%}
    (select number from range(1, {{ n }} + 1) as counted(number))
{%- endmacro %}

{# Each element of a list as a row of its own; an empty or missing list gives one null. #}
{% macro each_of(list) -%}
    {{ adapter.dispatch("each_of", "transit")(list) }}
{%- endmacro %}
{% macro default__each_of(list) -%}
    unnest(case when coalesce(cardinality({{ list }}), 0) = 0 then [null] else {{ list }} end)
{%- endmacro %}
{% macro spark__each_of(list) -%}
    explode_outer({{ list }})
{%- endmacro %}

{# The values of a group as a list, in order of a key. #}
{% macro list_in_order(value, key) -%}
    {{ adapter.dispatch("list_in_order", "transit")(value, key) }}
{%- endmacro %}
{% macro default__list_in_order(value, key) -%}
    list({{ value }} order by {{ key }})
{%- endmacro %}
{% macro spark__list_in_order(value, key) -%}
    transform(
        array_sort(collect_list(struct({{ key }} as key, {{ value }} as value))), pair -> pair.value
    )
{%- endmacro %}

{# The n-th value of a list, counted from 1. #}
{% macro element(list, n) -%}
    {{ adapter.dispatch("element", "transit")(list, n) }}
{%- endmacro %}
{% macro default__element(list, n) -%}
    {{ list }}[{{ n }}]
{%- endmacro %}
{% macro spark__element(list, n) -%}
    get({{ list }}, cast({{ n }} as integer) - 1)
{%- endmacro %}

{# Of the pairs of a group, as a list, the numbers of those in which each trip and each departure stands once at most so
   that the sum of costs is least (the assignment problem; transit_estimates/matching.py).

   trip, departure, cost, pair: numbers of trip and departure, counted from 1, cost of the pair, and its number, from 1.
   unpaired_cost:               what a trip without a pair costs. #}
{% macro least_cost_pairs(trip, departure, cost, pair, unpaired_cost) -%}
    least_cost_pairs(
        {{ list_in_order(trip, pair) }}, {{ list_in_order(departure, pair) }},
        {{ list_in_order("cast(" ~ cost ~ " as double)", pair) }}, cast({{ unpaired_cost }} as double)
    )
{%- endmacro %}

{# Of the pairs of a group, as a list of structs, how probable each is: `pair`, its number; `is_chosen`, whether it is one of
   the most probable pairs, of which each trip and departure has one; `probability`; and `common_seconds`, the error of the
   delay that the departures of the group have in common (transit_estimates/matching.py).

   trip, departure, pair: numbers of trip and departure, counted from 1, and of the pair.
   delay, later_seconds:  the delay of the bus, as the logarithm of its proportion to the usual one, and how much later
                          than usual it is.
   cost:                  what speaks against the pair otherwise.
   known_delays, known_weights, n_known: such delays of other buses and how much each counts, as lists in order of delay,
                          and how many are of the group.
   unpaired_cost:         what a trip without a pair costs. #}
{% macro pair_probabilities(
    trip, departure, delay, later_seconds, cost, pair, known_delays, known_weights, n_known, unpaired_cost
) -%}
    pair_probabilities(
        {{ list_in_order(trip, pair) }}, {{ list_in_order(departure, pair) }},
        {%- for value in [delay, later_seconds, cost] %}
            {{ list_in_order("cast(" ~ value ~ " as double)", pair) }},
        {%- endfor %}
        {{ known_delays }}, {{ known_weights }}, cast({{ n_known }} as bigint), cast({{ unpaired_cost }} as double)
    )
{%- endmacro %}

{# Of the links of a group from an element to a later one, best first, those are kept in which neither has another link
   on that side. As a list: of the elements 1, 2 … up to the last that has a link, the one that its chain begins with
   (transit_etl/sql_functions.py).

   earlier, later: the numbers of the two elements.
   rank:           the number of the link: 1 is the best. #}
{% macro chain_starts(earlier, later, rank) -%}
    chain_starts({{ list_in_order(earlier, rank) }}, {{ list_in_order(later, rank) }})
{%- endmacro %}

{# A number as text with 0, 1 or 2 decimals; fewer than 0 are none. #}
{% macro decimal_text(value, decimals) -%}
    {{ adapter.dispatch("decimal_text", "transit")(value, decimals) }}
{%- endmacro %}
{% macro default__decimal_text(value, decimals) -%}
    printf('%.' || greatest({{ decimals }}, 0) || 'f', {{ value }})
{%- endmacro %}
{% macro spark__decimal_text(value, decimals) -%}
    case
        when {{ value }} is not null
            then format_string('%.' || greatest({{ decimals }}, 0) || 'f', cast({{ value }} as double))
    end
{%- endmacro %}

{# A whole number as text, with a comma before every three digits. #}
{% macro count_text(number) -%}
    {{ adapter.dispatch("count_text", "transit")(number) }}
{%- endmacro %}
{% macro default__count_text(number) -%}
    format('{:,}', cast({{ number }} as bigint))
{%- endmacro %}
{% macro spark__count_text(number) -%}
    format_number(cast({{ number }} as bigint), 0)
{%- endmacro %}

{# The texts of a list as one text. #}
{% macro joined_text(list, separator) -%}
    {{ adapter.dispatch("joined_text", "transit")(list, separator) }}
{%- endmacro %}
{% macro default__joined_text(list, separator) -%}
    array_to_string({{ list }}, '{{ separator }}')
{%- endmacro %}
{% macro spark__joined_text(list, separator) -%}
    array_join({{ list }}, '{{ separator }}')
{%- endmacro %}

{# An instant as text in UTC, to the minute. #}
{% macro minute_text(instant) -%}
    {{ adapter.dispatch("minute_text", "transit")(instant) }}
{%- endmacro %}
{% macro default__minute_text(instant) -%}
    strftime({{ instant }}, '%Y-%m-%dT%H:%MZ')
{%- endmacro %}
{% macro spark__minute_text(instant) -%}
    date_format({{ instant }}, 'yyyy-MM-dd') || 'T' || date_format({{ instant }}, 'HH:mm') || 'Z'
{%- endmacro %}

{# Sum numbers as decimals: unlike a sum of floating-point numbers, it does not depend on the order of the rows, so that
   the same data give the same figure. The sum is no decimal of 38 digits, which few programs read as a number. #}
{% macro exact_sum(value, decimals=3) -%}
    cast(sum(cast({{ value }} as decimal(38, {{ decimals }}))) as double)
{%- endmacro %}

{# The elements of the list of each row of a relation, one a row, with the columns of `keys`, numbered from 1 on.

   list: an expression of the relation's columns. #}
{% macro numbered_elements(relation, keys, list, element, position) -%}
    {{ adapter.dispatch("numbered_elements", "transit")(relation, keys, list, element, position) }}
{%- endmacro %}
{% macro default__numbered_elements(relation, keys, list, element, position) -%}
    select
        {{ keys | join(", ") }},
        unnest(elements) as {{ element }},
        unnest(range(1, len(elements) + 1)) as {{ position }}
    from (select {{ keys | join(", ") }}, {{ list }} as elements from {{ relation }}) as lists
{%- endmacro %}
{% macro spark__numbered_elements(relation, keys, list, element, position) -%}
    select
        {{ keys | join(", ") }},
        {{ element }},
        before + 1 as {{ position }}
    from (select {{ keys | join(", ") }}, {{ list }} as elements from {{ relation }}) as lists
    lateral view posexplode(elements) numbered as before, {{ element }}
{%- endmacro %}

{# How many whole times a number is in another. #}
{% macro quotient(number, divisor) -%}
    cast(floor({{ number }} / {{ divisor }}) as bigint)
{%- endmacro %}

{# The last known value of a window, and the first: what stands before `over`. #}
{% macro last_known(value) -%}
    {{ adapter.dispatch("last_known", "transit")(value) }}
{%- endmacro %}
{% macro default__last_known(value) -%}
    last_value({{ value }} ignore nulls)
{%- endmacro %}
{% macro spark__last_known(value) -%}
    last_value({{ value }}, true)
{%- endmacro %}
{% macro first_known(value) -%}
    {{ adapter.dispatch("first_known", "transit")(value) }}
{%- endmacro %}
{% macro default__first_known(value) -%}
    first_value({{ value }} ignore nulls)
{%- endmacro %}
{% macro spark__first_known(value) -%}
    first_value({{ value }}, true)
{%- endmacro %}

{# The median of instants: of a group, or of a window, given as what follows the function. #}
{% macro median_instant(value, window="") -%}
    {{ adapter.dispatch("median_instant", "transit")(value, window) }}
{%- endmacro %}
{% macro default__median_instant(value, window) -%}
    median({{ value }}){{ " " ~ window if window }}
{%- endmacro %}
{% macro spark__median_instant(value, window) -%}
    timestamp_micros(cast(ceil(median(unix_micros({{ value }})){{ " " ~ window if window }}) as bigint))
{%- endmacro %}

{# How a model is materialized that only other models read, each for the dates being built: inlined, or, in an engine
   that would compute it anew at each place where it is read, as a table. #}
{% macro inlined() -%}
    {{- return(adapter.dispatch("inlined", "transit")()) -}}
{%- endmacro %}
{% macro default__inlined() -%}
    {{- return("ephemeral") -}}
{%- endmacro %}
{% macro spark__inlined() -%}
    {{- return("table") -}}
{%- endmacro %}

{# How many different values a window has. #}
{% macro n_distinct_over(value, window) -%}
    {{ adapter.dispatch("n_distinct_over", "transit")(value, window) }}
{%- endmacro %}
{% macro default__n_distinct_over(value, window) -%}
    count(distinct {{ value }}) over ({{ window }})
{%- endmacro %}
{% macro spark__n_distinct_over(value, window) -%}
    cast(size(collect_set({{ value }}) over ({{ window }})) as bigint)
{%- endmacro %}

{# All columns of a relation but some: what follows a `*`.

   arguments: the names of the columns, between commas. #}
{% macro exclude() -%}
    {{ adapter.dispatch("exclude", "transit")(varargs | join(", ")) }}
{%- endmacro %}
{% macro default__exclude(columns) -%}
    exclude ({{ columns }})
{%- endmacro %}
{% macro spark__exclude(columns) -%}
    except ({{ columns }})
{%- endmacro %}
