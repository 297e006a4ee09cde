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

{# Seconds from one instant to another, with their fraction. #}
{% macro seconds_between(first, second) -%}
    ({{ microseconds(second) }} - {{ microseconds(first) }}) / 1e6
{%- endmacro %}

{# An instant moved by a number of seconds, to the nearest microsecond; of two that are as near, to the even one. #}
{% macro add_seconds(instant, seconds) -%}
    {{ adapter.dispatch("add_seconds", "transit")(instant, seconds) }}
{%- endmacro %}
{% macro default__add_seconds(instant, seconds) -%}
    ({{ instant }} + {{ seconds }} * interval '1 second')
{%- endmacro %}
{% macro spark__add_seconds(instant, seconds) -%}
    timestamp_micros(unix_micros({{ instant }}) + cast(rint(cast({{ seconds }} as double) * 1e6) as bigint))
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

{# The keys of a JSON object kept as text, as a list. #}
{% macro json_keys_of(column) -%}
    {{ adapter.dispatch("json_keys_of", "transit")(column) }}
{%- endmacro %}
{% macro default__json_keys_of(column) -%}
    json_keys({{ column }})
{%- endmacro %}
{% macro spark__json_keys_of(column) -%}
    json_object_keys({{ column }})
{%- endmacro %}

{# The objects of a JSON list kept as text, as a list; a text that is no such list has none. #}
{% macro json_objects(column) -%}
    {{ adapter.dispatch("json_objects", "transit")(column) }}
{%- endmacro %}
{% macro default__json_objects(column) -%}
    try(cast(json({{ column }}) as json[]))
{%- endmacro %}
{% macro spark__json_objects(column) -%}
    from_json({{ column }}, 'array<string>')
{%- endmacro %}

{# A member of a JSON object, as text. #}
{% macro json_text(object, name) -%}
    {{ adapter.dispatch("json_text", "transit")(object, name) }}
{%- endmacro %}
{% macro default__json_text(object, name) -%}
    ({{ object }} ->> '$.{{ name }}')
{%- endmacro %}
{% macro spark__json_text(object, name) -%}
    get_json_object({{ object }}, '$.{{ name }}')
{%- endmacro %}

{# A text in which everything that has the form of a regular expression is replaced; `\1` in the replacement is what the
   first group matched. #}
{% macro replaced(text, form, replacement) -%}
    {{ adapter.dispatch("replaced", "transit")(text, form, replacement) }}
{%- endmacro %}
{% macro default__replaced(text, form, replacement) -%}
    regexp_replace({{ text }}, '{{ form }}', '{{ replacement }}', 'g')
{%- endmacro %}
{% macro spark__replaced(text, form, replacement) -%}
    regexp_replace({{ text }}, '{{ form }}', '{{ replacement.replace("\\", "$") }}')
{%- endmacro %}

{# Everything in a text that has the form of a regular expression, as a list. #}
{% macro all_matches(text, form) -%}
    {{ adapter.dispatch("all_matches", "transit")(text, form) }}
{%- endmacro %}
{% macro default__all_matches(text, form) -%}
    regexp_extract_all({{ text }}, '{{ form }}')
{%- endmacro %}
{% macro spark__all_matches(text, form) -%}
    regexp_extract_all({{ text }}, '{{ form }}', 0)
{%- endmacro %}

{# Letters and digits only, upper case: destinations come with missing spaces, dots and apostrophes. #}
{% macro plain_text(column) -%}
    {{ replaced("upper(" ~ strip_accents(column) ~ ")", "[^A-Z0-9]", "") }}
{%- endmacro %}

{# How alike two plain texts are: 1 if equal, 0.9 if one contains the other, 0.8 if nearly equal, else 0. #}
{% macro likeness(first, second) -%}
    case
        when {{ first }} = '' or {{ second }} = '' then 0.0
        when {{ first }} = {{ second }} then 1.0
        when contains({{ first }}, {{ second }}) or contains({{ second }}, {{ first }}) then 0.9
        when jaro_winkler_similarity({{ first }}, {{ second }}) >= 0.88 then 0.8
        else 0.0
    end
{%- endmacro %}

{# A line number or label in the form in which they are compared: `018` and `18`, `N1 ` and `n1` are one.
   The rule and its text are those of transit_etl/line_labels.py. #}
{% macro normal_label(label) -%}
    nullif({{ replaced("upper(trim(" ~ label ~ "))", "^0+([0-9A-Z])", "\\1") }}, '')
{%- endmacro %}

{# An instant as whole microseconds, for arithmetic that is the same in every run. #}
{% macro microseconds(instant) -%}
    {{ adapter.dispatch("microseconds", "transit")(instant) }}
{%- endmacro %}
{% macro default__microseconds(instant) -%}
    epoch_us({{ instant }})
{%- endmacro %}
{% macro spark__microseconds(instant) -%}
    unix_micros({{ instant }})
{%- endmacro %}

{# The n-th part of a text between separators, counted from 1. #}
{% macro part(column, separator, n) -%}
    split_part({{ column }}, '{{ separator }}', {{ n }})
{%- endmacro %}

{# A list as one text, sorted, so that upstream's order does not matter. #}
{% macro sorted_text(list) -%}
    {{ adapter.dispatch("sorted_text", "transit")(list) }}
{%- endmacro %}
{% macro default__sorted_text(list) -%}
    array_to_string(list_sort({{ list }}), ', ')
{%- endmacro %}
{% macro spark__sorted_text(list) -%}
    array_join(array_sort({{ list }}), ', ')
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

{# An instant cut to its minute. #}
{% macro whole_minute(instant) -%}
    date_trunc('minute', {{ instant }})
{%- endmacro %}

{# The first date of the week (Monday) or month a date lies in. #}
{% macro first_date_of(period, date) -%}
    cast(date_trunc('{{ period }}', {{ date }}) as date)
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

{# The type of day that a date is: `weekday`, `saturday` or `sunday`. #}
{% macro weekday_type(date) -%}
    {{ adapter.dispatch("weekday_type", "transit")(date) }}
{%- endmacro %}
{% macro default__weekday_type(date) -%}
    case isodow({{ date }}) when 6 then 'saturday' when 7 then 'sunday' else 'weekday' end
{%- endmacro %}
{% macro spark__weekday_type(date) -%}
    case extract(dayofweek_iso from {{ date }}) when 6 then 'saturday' when 7 then 'sunday' else 'weekday' end
{%- endmacro %}

{# A pseudo-random number in [0, 1) made of columns: the same columns give the same number, in every engine. It also
   decides which visits are in the audit sample: the rule and its text are those of
   transit_etl/collect/audit_draws.py. #}
{% macro chance(columns) -%}
    {{ adapter.dispatch("chance", "transit")(columns) }}
{%- endmacro %}
{% macro default__chance(columns) -%}
    (md5_number_upper(concat_ws('|', {{ columns }})) / 18446744073709551616.0)
{%- endmacro %}
{% macro spark__chance(columns) -%}
    {#- the first eight bytes, of which the last one counts most -#}
    {%- set digits = [] -%}
    {%- for first in range(15, 0, -2) -%}
        {%- do digits.append("substr(digest, " ~ first ~ ", 2)") -%}
    {%- endfor -%}
    (
        transform(
            array(md5(concat_ws('|', {{ columns }}))),
            digest -> cast(conv(concat({{ digits | join(", ") }}), 16, 10) as double) / 18446744073709551616e0
        )[0]
    )
{%- endmacro %}

{# A text in the form in which it is one part of a key: the separator of the parts is escaped. #}
{% macro key_part(column) -%}
    {{ adapter.dispatch("key_part", "transit")(column) }}
{%- endmacro %}
{% macro default__key_part(column) -%}
    case
        when contains({{ column }}, '|') or contains({{ column }}, '\')
            then replace(replace({{ column }}, '\', '\\'), '|', '\|')
        else {{ column }}
    end
{%- endmacro %}
{% macro spark__key_part(column) -%}
    case
        when contains({{ column }}, '|') or contains({{ column }}, r'\')
            then replace(replace({{ column }}, r'\', r'\\'), '|', r'\|')
        else {{ column }}
    end
{%- endmacro %}

{# What stands for a missing text as one part of a key: no text in that form (key_part) is equal to it. #}
{% macro missing_part() -%}
    {{ adapter.dispatch("missing_part", "transit")() }}
{%- endmacro %}
{% macro default__missing_part() -%}
    '\0'
{%- endmacro %}
{% macro spark__missing_part() -%}
    r'\0'
{%- endmacro %}

{# A key of 128 bits made of columns that are never null; the same in every build. #}
{% macro hashed_key(columns) -%}
    {{ adapter.dispatch("hashed_key", "transit")(columns) }}
{%- endmacro %}
{% macro default__hashed_key(columns) -%}
    cast(md5(concat_ws('|', {{ columns | join(", ") }})) as uuid)
{%- endmacro %}
{% macro spark__hashed_key(columns) -%}
    regexp_replace(
        md5(concat_ws('|', {{ columns | join(", ") }})), '^(.{8})(.{4})(.{4})(.{4})', '$1-$2-$3-$4-'
    )
{%- endmacro %}

{# The quantile of a group's values: a share of them lies below it. #}
{% macro quantile(column, share) -%}
    {{ adapter.dispatch("quantile", "transit")(column, share) }}
{%- endmacro %}
{% macro default__quantile(column, share) -%}
    quantile_cont({{ column }}, {{ share }})
{%- endmacro %}
{% macro spark__quantile(column, share) -%}
    percentile({{ column }}, {{ share }})
{%- endmacro %}

{# The numbers 1, 2 … n, one a row, as a relation with the column `number`. #}
{% macro numbers(n) -%}
    (select number from {{ whole_numbers(1, n) }} as counted(number))
{%- endmacro %}

{# Each element of a list as a row of its own; an empty or missing list gives one null. #}
{% macro each_of(list) -%}
    {{ adapter.dispatch("each_of", "transit")(list) }}
{%- endmacro %}
{% macro default__each_of(list) -%}
    unnest(case when {{ is_empty_list(list) }} then [null] else {{ list }} end)
{%- endmacro %}
{% macro spark__each_of(list) -%}
    explode_outer({{ list }})
{%- endmacro %}

{# The distinct values of a group as a sorted list. #}
{% macro list_of_distinct(column) -%}
    {{ adapter.dispatch("list_of_distinct", "transit")(column) }}
{%- endmacro %}
{% macro default__list_of_distinct(column) -%}
    list_sort(list(distinct {{ column }}))
{%- endmacro %}
{% macro spark__list_of_distinct(column) -%}
    array_sort(collect_set({{ column }}))
{%- endmacro %}

{# True if two lists have an element in common. #}
{% macro have_common(first, second) -%}
    {{ adapter.dispatch("have_common", "transit")(first, second) }}
{%- endmacro %}
{% macro default__have_common(first, second) -%}
    list_has_any({{ first }}, {{ second }})
{%- endmacro %}
{% macro spark__have_common(first, second) -%}
    arrays_overlap({{ first }}, {{ second }})
{%- endmacro %}

{# A list without the elements that are equal to a value. #}
{% macro list_without(list, value) -%}
    {{ adapter.dispatch("list_without", "transit")(list, value) }}
{%- endmacro %}
{% macro default__list_without(list, value) -%}
    list_filter({{ list }}, lambda element: element != {{ value }})
{%- endmacro %}
{% macro spark__list_without(list, value) -%}
    array_remove({{ list }}, {{ value }})
{%- endmacro %}

{# True if a list is null or has no elements; not null. #}
{% macro is_empty_list(list) -%}
    {{ adapter.dispatch("is_empty_list", "transit")(list) }}
{%- endmacro %}
{% macro default__is_empty_list(list) -%}
    coalesce(len({{ list }}), 0) = 0
{%- endmacro %}
{% macro spark__is_empty_list(list) -%}
    coalesce(size({{ list }}), 0) <= 0
{%- endmacro %}

{# The whole numbers from first to last, as a relation of one column. #}
{% macro whole_numbers(first, last) -%}
    range({{ first }}, {{ last }} + 1)
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

{# Of the pairs of a group, as a list of structs of `draw` and `pair`, the numbers of those chosen in each draw: in draw 0
   the most probable ones, in others those that may be right as well (transit_estimates/matching.py).

   trip, departure, pair: numbers of trip and departure, counted from 1, and of the pair.
   above_seconds, cost:   how much later than usual the bus then is, and what speaks against the pair otherwise.
   spread_seconds:        standard deviation of delays that other buses tell.
   unpaired_cost:         what a trip without a pair costs.
   n_draws, seed:         how many draws, and a text: with the same one the draws are the same. #}
{% macro drawn_pairs(trip, departure, above_seconds, cost, pair, spread_seconds, unpaired_cost, n_draws, seed) -%}
    drawn_pairs(
        {{ list_in_order(trip, pair) }}, {{ list_in_order(departure, pair) }},
        {%- for value in [above_seconds, cost] %}
            {{ list_in_order("cast(" ~ value ~ " as double)", pair) }},
        {%- endfor %}
        cast({{ spread_seconds }} as double), cast({{ unpaired_cost }} as double), cast({{ n_draws }} as bigint), {{ seed }}
    )
{%- endmacro %}

{# Of the links of a group from an element to a later one, best first, those are kept in which neither has another link
   on that side. As a list: of the elements 1, 2 … up to the last that has a link, the one that its chain begins with
   (transit_etl/warehouse/sql_functions.py).

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

{# Ends the statement with an error of this text. #}
{% macro raised_error(text) -%}
    {{ adapter.dispatch("raised_error", "transit")(text) }}
{%- endmacro %}
{% macro default__raised_error(text) -%}
    error({{ text }})
{%- endmacro %}
{% macro spark__raised_error(text) -%}
    raise_error({{ text }})
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

{# A list with an expression of each element of another. #}
{% macro list_of_each(list, element, expression) -%}
    {{ adapter.dispatch("list_of_each", "transit")(list, element, expression) }}
{%- endmacro %}
{% macro default__list_of_each(list, element, expression) -%}
    list_transform({{ list }}, lambda {{ element }}: {{ expression }})
{%- endmacro %}
{% macro spark__list_of_each(list, element, expression) -%}
    transform({{ list }}, {{ element }} -> {{ expression }})
{%- endmacro %}

{# A list of one value. #}
{% macro list_of_one(value) -%}
    {{ adapter.dispatch("list_of_one", "transit")(value) }}
{%- endmacro %}
{% macro default__list_of_one(value) -%}
    [{{ value }}]
{%- endmacro %}
{% macro spark__list_of_one(value) -%}
    array({{ value }})
{%- endmacro %}

{# The names in a list of lines of the service status, as a list: a text such as `Linee 12, 13 e 17/` is several line
   numbers, any other text is one name. #}
{% macro names_in(lines) -%}
    {%- set label = "(?:" ~ line_label_form() ~ "|[A-Z]{2,3}/?)" -%}
    {%- set labels = "(LINE[AE] +)?" ~ label ~ "( *([,;+&]| E | - ) *" ~ label ~ ")*" -%}
    {%- set names -%}
        case
            when {{ has_form("upper(trim(entry))", labels) }}
                then {{ all_matches(replaced("upper(entry)", "LINE[AE] ", ""), label) }}
            else {{ list_of_one("trim(entry)") }}
        end
    {%- endset -%}
    flatten({{ list_of_each(lines, "entry", names) }})
{%- endmacro %}

{# The names in a list of lines of the service status in the form in which they are compared. #}
{% macro line_keys(lines) -%}
    {%- set spaced = replaced(strip_accents("name"), " +", " ") -%}
    {{ list_of_each(names_in(lines), "name", normal_label(spaced)) }}
{%- endmacro %}

{# Of the different elements of two lists, the share that both have; of two empty lists all. #}
{% macro common_share(first, second) -%}
    {{ adapter.dispatch("common_share", "transit")(first, second) }}
{%- endmacro %}
{% macro default__common_share(first, second) -%}
    (
        (len(list_intersect({{ first }}, {{ second }})) + 1e-9)
        / (len(list_distinct(list_concat({{ first }}, {{ second }}))) + 1e-9)
    )
{%- endmacro %}
{% macro spark__common_share(first, second) -%}
    (
        (size(array_intersect({{ first }}, {{ second }})) + 1e-9)
        / (size(array_distinct(concat({{ first }}, {{ second }}))) + 1e-9)
    )
{%- endmacro %}

{# The words of a text as a list, in the form in which they are compared; a missing text has none. #}
{% macro message_words(text) -%}
    {{ all_matches(comparable_text("coalesce(" ~ text ~ ", '')"), "[a-z0-9]+") }}
{%- endmacro %}

{# A text in the form in which words are looked for in it: lower case, without accents. #}
{% macro comparable_text(column) -%}
    lower({{ strip_accents(column) }})
{%- endmacro %}

{# True if a text has another in it; not null. #}
{% macro has_text(text, part) -%}
    coalesce(contains({{ text }}, {{ part }}), false)
{%- endmacro %}

{# What is left out at the beginning of the name of a plant, as a regular expression. #}
{% macro plant_words() -%}
    {{- "^((ASCENSOR[EI]|ASC|FUNICOLARE|FUN|CREMAGLIERA|IMPIANTO|ELEVATORE)[^A-Z0-9]+" -}}
    {{- "|(ASC|FUN|CRE|IMP|ELE)[A-Z]*[.][^A-Z0-9]*)(DI |DEL |DELLA )?" -}}
{%- endmacro %}

{# The name of a lift or other plant in the form in which names are compared: letters and digits in upper case, without
   the word for what it is or an abbreviation of it: `Ascensore Castello`, `ASC. CASTELLO` and `castello` are one. #}
{% macro plant_key(name) -%}
    {{ replaced(
        replaced("trim(upper(" ~ strip_accents(name) ~ "))", plant_words(), ""), "[^A-Z0-9]", ""
    ) }}
{%- endmacro %}

{# The words of a text as a list: upper case without accents, no markup, no clock times; a number keeps its slashes. #}
{% macro words_of(text) -%}
    {%- set plain = replaced("upper(" ~ strip_accents(text) ~ ")", "<[^>]*>", " ") -%}
    {%- set plain = replaced(plain, "&([AEIOU])(GRAVE|ACUTE);", "\\1") -%}
    {%- set plain = replaced(plain, "[0-9]{1,2}[:.][0-9]{2}", " ") -%}
    {{ all_matches(plain, "[A-Z0-9]+(/[0-9]+)*/?") }}
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

{# True if a whole text has the form of a regular expression. #}
{% macro has_form(text, form) -%}
    {{ adapter.dispatch("has_form", "transit")(text, form) }}
{%- endmacro %}
{% macro default__has_form(text, form) -%}
    regexp_full_match({{ text }}, '{{ form }}')
{%- endmacro %}
{% macro spark__has_form(text, form) -%}
    {{ text }} rlike r'\A(?:{{ form }})\z'
{%- endmacro %}

{# A text with the letters that have accents replaced by those without. #}
{% macro strip_accents(text) -%}
    {{ adapter.dispatch("strip_accents", "transit")(text) }}
{%- endmacro %}
{% macro default__strip_accents(text) -%}
    strip_accents({{ text }})
{%- endmacro %}
{% macro spark__strip_accents(text) -%}
    {%- set accented = [
        "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭĮįİĴĵ",
        "ĶķĹĺĻļĽľŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽžƠơƯưǍǎǏǐǑǒǓǔǕǖǗǘǙǚǛǜǞǟǠǡǦǧǨǩǪǫǬǭǰǴǵǸǹǺǻ",
        "ȀȁȂȃȄȅȆȇȈȉȊȋȌȍȎȏȐȑȒȓȔȕȖȗȘșȚțȞȟȦȧȨȩȪȫȬȭȮȯȰȱȲȳḀḁḂḃḄḅḆḇḈḉḊḋḌḍḎḏḐḑḒḓḔḕḖḗḘḙḚḛḜḝḞḟḠḡḢḣḤḥḦḧḨḩḪḫḬḭḮḯḰḱḲḳḴḵḶḷ",
        "ḸḹḺḻḼḽḾḿṀṁṂṃṄṅṆṇṈṉṊṋṌṍṎṏṐṑṒṓṔṕṖṗṘṙṚṛṜṝṞṟṠṡṢṣṤṥṦṧṨṩṪṫṬṭṮṯṰṱṲṳṴṵṶṷṸṹṺṻṼṽṾṿẀẁẂẃẄẅẆẇẈẉẊẋẌẍẎẏẐẑẒẓẔẕẖẗẘẙẠạ",
        "ẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặẸẹẺẻẼẽẾếỀềỂểỄễỆệỈỉỊịỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợỤụỦủỨứỪừỬửỮữỰựỲỳỴỵỶỷỸỹ"
    ] | join -%}
    {%- set plain = [
        "AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyyAaAaAaCcCcCcCcDdEeEeEeEeEeGgGgGgGgHhIiIiIiIiIJj",
        "KkLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtUuUuUuUuUuUuWwYyYZzZzZzOoUuAaIiOoUuUuUuUuUuAaAaGgKkOoOojGgNnAa",
        "AaAaEeEeIiIiOoOoRrRrUuUuSsTtHhAaEeOoOoOoOoYyAaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLl",
        "LlLlLlMmMmMmNnNnNnNnOoOoOoOoPpPpRrRrRrRrSsSsSsSsSsTtTtTtTtUuUuUuUuUuVvVvWwWwWwWwWwXxXxYyZzZzZzhtwyAa",
        "AaAaAaAaAaAaAaAaAaAaAaEeEeEeEeEeEeEeEeIiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUuUuYyYyYyYy"
    ] | join -%}
    translate({{ text }}, '{{ accented }}', '{{ plain }}')
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

{# How many days a date is after another. #}
{% macro days_between(first, second) -%}
    {{ adapter.dispatch("days_between", "transit")(first, second) }}
{%- endmacro %}
{% macro default__days_between(first, second) -%}
    ({{ second }} - {{ first }})
{%- endmacro %}
{% macro spark__days_between(first, second) -%}
    datediff({{ second }}, {{ first }})
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

{# How Spark writes tables that are rebuilt by service date: partitioned by the date, each date's folder written anew.
   The three macros below take the place of those of dbt's adapter, which knows no strategy for dates without rows. #}
{% macro partition_cols(label, required=false) %}
    {%- if config.get("incremental_strategy") == "service_dates" and config.get("materialized") == "incremental" %}
    {{ label }} ({{ config.get("meta", {}).get("date_column", "service_date") }})
    {%- endif %}
{%- endmacro %}
{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) %}
    {%- do return(raw_strategy) -%}
{% endmacro %}
{% macro dbt_spark_get_incremental_sql(strategy, source, target, existing, unique_key, incremental_predicates) %}
    {%- set columns = adapter.get_columns_in_relation(target) | map(attribute="quoted") | join(", ") -%}
    {%- if strategy == "service_dates" -%}
        {%- set meta = config.get("meta", {}) -%}
        {%- set column, around = meta.get("date_column", "service_date"), meta.get("days_around", 0) -%}
        {%- set day = modules.datetime.date.fromisoformat(first_built()) - modules.datetime.timedelta(around) -%}
        {%- set last = modules.datetime.date.fromisoformat(last_built()) + modules.datetime.timedelta(around) -%}
        {%- set dates = [] -%}
        {%- for number in range((last - day).days + 1) -%}
            {%- set date = day + modules.datetime.timedelta(number) -%}
            {%- do dates.append("partition (" ~ column ~ " = date '" ~ date ~ "')") -%}
        {%- endfor -%}
        {%- call statement("dates without rows") -%}
            alter table {{ target }} drop if exists {{ dates | join(", ") }}
        {%- endcall -%}
        insert into {{ target }} ({{ columns }}) select {{ columns }} from {{ source }}
    {%- else -%}
        {#- what is read cannot be overwritten -#}
        {%- set whole = target.incorporate(path={"identifier": target.identifier ~ "__whole"}) -%}
        {%- call statement("whole") -%}
            create or replace temporary view {{ whole.identifier }} as
            select {{ columns }} from {{ target }} where not coalesce(valid_to >= {{ first_instant() }}, true)
            union all
            select {{ columns }} from {{ source }}
        {%- endcall -%}
        {%- call statement("drop") -%}
            drop table if exists {{ whole }}
        {%- endcall -%}
        {%- call statement("copy") -%}
            create table {{ whole }} using parquet as select * from {{ whole.identifier }}
        {%- endcall -%}
        {%- call statement("overwrite") -%}
            insert overwrite table {{ target }} select {{ columns }} from {{ whole }}
        {%- endcall -%}
        drop table {{ whole }}
    {%- endif -%}
{% endmacro %}

{# The rows of a seed: the adapter's own macro writes a missing value as the text `None` and does not mask quotes. #}
{% macro spark__load_csv_rows(model, agate_table) %}
    {%- set types = model["config"].get("column_types", {}) -%}
    {%- set rows = [] -%}
    {%- for row in agate_table.rows -%}
        {%- set values = [] -%}
        {%- for name in agate_table.column_names -%}
            {%- set type = types.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
            {%- set text = (row[name] | string).replace("\\", "\\\\").replace("'", "\\'") -%}
            {%- set value = "null" if row[name] is none else "'" ~ text ~ "'" -%}
            {%- do values.append("cast(" ~ value ~ " as " ~ type ~ ")") -%}
        {%- endfor -%}
        {%- do rows.append("(" ~ values | join(", ") ~ ")") -%}
    {%- endfor -%}
    {%- set sql = "insert into " ~ this ~ " values " ~ rows | join(", ") -%}
    {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
    {{ return(sql) }}
{% endmacro %}
