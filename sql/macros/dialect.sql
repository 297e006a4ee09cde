{# Everything that differs between databases. The defaults are DuckDB's; another database gets macros of its own. #}

{# The lake's rows of a dataset, with the day of receipt from their path; in a variant as of a moment, those received by
   then.

   added: names of text columns that files of older versions lack; their rows have null there. #}
{% macro lake(dataset, added=[]) -%}
    {{ adapter.dispatch("lake", "transit")(dataset, added) }}
{%- endmacro %}
{% macro default__lake(dataset, added) -%}
    {%- set received = {
        "requests": "coalesce(received_at, planned_at)", "validation_results": "last_received_at"
    }.get(dataset, "received_at") -%}
    {%- if var("as_of") %}(select * from {% endif -%}
    {%- if added %}(select * from {% endif -%}
    read_parquet(
        '{{ data_folder() | replace("'", "''") }}/lake/operator=*/dataset={{ dataset }}/date=*/*.parquet',
        hive_partitioning = true, hive_types_autocast = false, union_by_name = true
    )
    {%- if added %}
    union all by name
    select {% for name in added %}cast(null as varchar) as {{ name }}{{ ", " if not loop.last }}{% endfor %} where false
    ) as files
    {%- endif %}
    {%- if var("as_of") %} where {{ received }} <= cast('{{ var("as_of") }}' as timestamp)) as received{% endif -%}
{%- endmacro %}

{# Seconds from one instant to another, with their fraction. #}
{% macro seconds_between(first, second) -%}
    {{ adapter.dispatch("seconds_between", "transit")(first, second) }}
{%- endmacro %}
{% macro default__seconds_between(first, second) -%}
    (epoch_us({{ second }}) - epoch_us({{ first }})) / 1000000.0
{%- endmacro %}

{# An instant moved by a number of seconds. #}
{% macro add_seconds(instant, seconds) -%}
    ({{ instant }} + {{ seconds }} * interval '1 second')
{%- endmacro %}

{# The keys of a JSON object kept as text, as a list. #}
{% macro json_keys_of(column) -%}
    {{ adapter.dispatch("json_keys_of", "transit")(column) }}
{%- endmacro %}
{% macro default__json_keys_of(column) -%}
    json_keys({{ column }})
{%- endmacro %}

{# The objects of a JSON list kept as text, as a list; a text that is no such list has none. #}
{% macro json_objects(column) -%}
    {{ adapter.dispatch("json_objects", "transit")(column) }}
{%- endmacro %}
{% macro default__json_objects(column) -%}
    try(cast(json({{ column }}) as json[]))
{%- endmacro %}

{# A member of a JSON object, as text. #}
{% macro json_text(object, name) -%}
    {{ adapter.dispatch("json_text", "transit")(object, name) }}
{%- endmacro %}
{% macro default__json_text(object, name) -%}
    ({{ object }} ->> '$.{{ name }}')
{%- endmacro %}

{# The number from 0 to 1 that decides whether a visit is drawn for the audit sample, made of the seed and of what
   identifies the visit. The rule and its text are those of transit_etl/collect/audit_draws.py. #}
{% macro audit_chance(columns) -%}
    {{ adapter.dispatch("audit_chance", "transit")(columns) }}
{%- endmacro %}
{% macro default__audit_chance(columns) -%}
    (md5_number_upper(concat_ws('|', {{ columns | join(", ") }})) / 18446744073709551616.0)
{%- endmacro %}

{# Letters and digits only, upper case: destinations come with missing spaces, dots and apostrophes. #}
{% macro plain_text(column) -%}
    {{ adapter.dispatch("plain_text", "transit")(column) }}
{%- endmacro %}
{% macro default__plain_text(column) -%}
    regexp_replace(upper(strip_accents({{ column }})), '[^A-Z0-9]', '', 'g')
{%- endmacro %}

{# How alike two plain texts are: 1 if equal, 0.9 if one contains the other, 0.8 if nearly equal, else 0. #}
{% macro likeness(first, second) -%}
    {{ adapter.dispatch("likeness", "transit")(first, second) }}
{%- endmacro %}
{% macro default__likeness(first, second) -%}
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
    {{ adapter.dispatch("normal_label", "transit")(label) }}
{%- endmacro %}
{% macro default__normal_label(label) -%}
    nullif(regexp_replace(upper(trim({{ label }})), '^0+([0-9A-Z])', '\1'), '')
{%- endmacro %}

{# An instant as whole microseconds, for arithmetic that is the same in every run. #}
{% macro microseconds(instant) -%}
    {{ adapter.dispatch("microseconds", "transit")(instant) }}
{%- endmacro %}
{% macro default__microseconds(instant) -%}
    epoch_us({{ instant }})
{%- endmacro %}

{# The n-th part of a text between separators, counted from 1. #}
{% macro part(column, separator, n) -%}
    {{ adapter.dispatch("part", "transit")(column, separator, n) }}
{%- endmacro %}
{% macro default__part(column, separator, n) -%}
    split_part({{ column }}, '{{ separator }}', {{ n }})
{%- endmacro %}

{# A list as one text, sorted, so that upstream's order does not matter. #}
{% macro sorted_text(list) -%}
    {{ adapter.dispatch("sorted_text", "transit")(list) }}
{%- endmacro %}
{% macro default__sorted_text(list) -%}
    array_to_string(list_sort({{ list }}), ', ')
{%- endmacro %}

{# The n-th smallest value of a group, n up to 8; null if there are fewer. #}
{% macro nth_smallest(column, n) -%}
    {{ adapter.dispatch("nth_smallest", "transit")(column, n) }}
{%- endmacro %}
{% macro default__nth_smallest(column, n) -%}
    (min({{ column }}, 8))[{{ n }}]
{%- endmacro %}

{# The value a group has in its row with the least key. #}
{% macro value_at_least(column, key) -%}
    {{ adapter.dispatch("value_at_least", "transit")(column, key) }}
{%- endmacro %}
{% macro default__value_at_least(column, key) -%}
    arg_min({{ column }}, {{ key }})
{%- endmacro %}

{# The value a group has in its row with the greatest key. #}
{% macro value_at_greatest(column, key) -%}
    {{ adapter.dispatch("value_at_greatest", "transit")(column, key) }}
{%- endmacro %}
{% macro default__value_at_greatest(column, key) -%}
    arg_max({{ column }}, {{ key }})
{%- endmacro %}

{# An instant cut to its minute. #}
{% macro whole_minute(instant) -%}
    {{ adapter.dispatch("whole_minute", "transit")(instant) }}
{%- endmacro %}
{% macro default__whole_minute(instant) -%}
    date_trunc('minute', {{ instant }})
{%- endmacro %}

{# The first date of the week (Monday) or month a date lies in. #}
{% macro first_date_of(period, date) -%}
    {{ adapter.dispatch("first_date_of", "transit")(period, date) }}
{%- endmacro %}
{% macro default__first_date_of(period, date) -%}
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

{# The type of day that a date is: `weekday`, `saturday` or `sunday`. #}
{% macro weekday_type(date) -%}
    {{ adapter.dispatch("weekday_type", "transit")(date) }}
{%- endmacro %}
{% macro default__weekday_type(date) -%}
    case isodow({{ date }}) when 6 then 'saturday' when 7 then 'sunday' else 'weekday' end
{%- endmacro %}

{# A pseudo-random number in [0, 1) made of columns: the same columns give the same number. #}
{% macro chance(columns) -%}
    {{ adapter.dispatch("chance", "transit")(columns) }}
{%- endmacro %}
{% macro default__chance(columns) -%}
    (hash({{ columns }}) % 1000000007) / 1000000007.0
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

{# A key of 128 bits made of columns that are never null; the same in every build. #}
{% macro hashed_key(columns) -%}
    {{ adapter.dispatch("hashed_key", "transit")(columns) }}
{%- endmacro %}
{% macro default__hashed_key(columns) -%}
    cast(md5(concat_ws('|', {{ columns | join(", ") }})) as uuid)
{%- endmacro %}

{# The quantile of a group's values: a share of them lies below it. #}
{% macro quantile(column, share) -%}
    {{ adapter.dispatch("quantile", "transit")(column, share) }}
{%- endmacro %}
{% macro default__quantile(column, share) -%}
    quantile_cont({{ column }}, {{ share }})
{%- endmacro %}

{# The numbers 1, 2 … n, one a row, as a relation with the column `number`. #}
{% macro numbers(n) -%}
    {{ adapter.dispatch("numbers", "transit")(n) }}
{%- endmacro %}
{% macro default__numbers(n) -%}
    (select number from range(1, {{ n + 1 }}) as counted(number))
{%- endmacro %}

{# Each element of a list as a row of its own; an empty or missing list gives one null. #}
{% macro each_of(list) -%}
    {{ adapter.dispatch("each_of", "transit")(list) }}
{%- endmacro %}
{% macro default__each_of(list) -%}
    unnest(case when {{ is_empty_list(list) }} then [null] else {{ list }} end)
{%- endmacro %}

{# The distinct values of a group as a sorted list. #}
{% macro list_of_distinct(column) -%}
    {{ adapter.dispatch("list_of_distinct", "transit")(column) }}
{%- endmacro %}
{% macro default__list_of_distinct(column) -%}
    list_sort(list(distinct {{ column }}))
{%- endmacro %}

{# True if two lists have an element in common. #}
{% macro have_common(first, second) -%}
    {{ adapter.dispatch("have_common", "transit")(first, second) }}
{%- endmacro %}
{% macro default__have_common(first, second) -%}
    list_has_any({{ first }}, {{ second }})
{%- endmacro %}

{# True if a list is null or has no elements; not null. #}
{% macro is_empty_list(list) -%}
    {{ adapter.dispatch("is_empty_list", "transit")(list) }}
{%- endmacro %}
{% macro default__is_empty_list(list) -%}
    coalesce(len({{ list }}), 0) = 0
{%- endmacro %}

{# The whole numbers from first to last, as a relation of one column. #}
{% macro whole_numbers(first, last) -%}
    {{ adapter.dispatch("whole_numbers", "transit")(first, last) }}
{%- endmacro %}
{% macro default__whole_numbers(first, last) -%}
    range({{ first }}, {{ last }} + 1)
{%- endmacro %}

{# The values of a group as a list, in order of a key. #}
{% macro list_in_order(value, key) -%}
    {{ adapter.dispatch("list_in_order", "transit")(value, key) }}
{%- endmacro %}
{% macro default__list_in_order(value, key) -%}
    list({{ value }} order by {{ key }})
{%- endmacro %}

{# The n-th value of a list, counted from 1. #}
{% macro element(list, n) -%}
    {{ adapter.dispatch("element", "transit")(list, n) }}
{%- endmacro %}
{% macro default__element(list, n) -%}
    {{ list }}[{{ n }}]
{%- endmacro %}

{# Of the pairs of a group, as a list, the numbers of those in which each trip and each departure stands once at most so
   that the sum of costs is least (the assignment problem; transit_etl/warehouse/assignment.py).

   trip, departure, cost, pair: numbers of trip and departure, counted from 1, cost of the pair, and its number, from 1.
   unpaired_cost:               what a trip without a pair costs. #}
{% macro least_cost_pairs(trip, departure, cost, pair, unpaired_cost) -%}
    {{ adapter.dispatch("least_cost_pairs", "transit")(trip, departure, cost, pair, unpaired_cost) }}
{%- endmacro %}
{% macro default__least_cost_pairs(trip, departure, cost, pair, unpaired_cost) -%}
    least_cost_pairs(
        list({{ trip }} order by {{ pair }}), list({{ departure }} order by {{ pair }}),
        list(cast({{ cost }} as double) order by {{ pair }}), cast({{ unpaired_cost }} as double)
    )
{%- endmacro %}

{# A number as text with 0, 1 or 2 decimals; fewer than 0 are none. #}
{% macro decimal_text(value, decimals) -%}
    {{ adapter.dispatch("decimal_text", "transit")(value, decimals) }}
{%- endmacro %}
{% macro default__decimal_text(value, decimals) -%}
    printf('%.' || greatest({{ decimals }}, 0) || 'f', {{ value }})
{%- endmacro %}

{# A whole number as text, with a comma before every three digits. #}
{% macro count_text(number) -%}
    {{ adapter.dispatch("count_text", "transit")(number) }}
{%- endmacro %}
{% macro default__count_text(number) -%}
    format('{:,}', cast({{ number }} as bigint))
{%- endmacro %}

{# The texts of a list as one text. #}
{% macro joined_text(list, separator) -%}
    {{ adapter.dispatch("joined_text", "transit")(list, separator) }}
{%- endmacro %}
{% macro default__joined_text(list, separator) -%}
    array_to_string({{ list }}, '{{ separator }}')
{%- endmacro %}

{# An instant as text in UTC, to the minute. #}
{% macro minute_text(instant) -%}
    {{ adapter.dispatch("minute_text", "transit")(instant) }}
{%- endmacro %}
{% macro default__minute_text(instant) -%}
    strftime({{ instant }}, '%Y-%m-%dT%H:%MZ')
{%- endmacro %}

{# Sum numbers as decimals of three places: unlike a sum of floating-point numbers, it does not depend on the order of
   the rows, so that the same data give the same figure. #}
{% macro exact_sum(value) -%}
    cast(sum(cast({{ value }} as decimal(38, 3))) as double)
{%- endmacro %}

{# The names in a list of lines of the service status, as a list: a text such as `Linee 12, 13 e 17/` is several line
   numbers, any other text is one name. #}
{% macro names_in(lines) -%}
    {{ adapter.dispatch("names_in", "transit")(lines) }}
{%- endmacro %}
{% macro default__names_in(lines) -%}
    {%- set label = "(?:" ~ line_label_form() ~ "|[A-Z]{2,3}/?)" -%}
    flatten(list_transform({{ lines }}, lambda entry: case
        when regexp_full_match(
            upper(trim(entry)), '(LINE[AE] +)?{{ label }}( *([,;+&]| E | - ) *{{ label }})*'
        ) then regexp_extract_all(regexp_replace(upper(entry), 'LINE[AE] ', ''), '{{ label }}')
        else [trim(entry)]
    end))
{%- endmacro %}

{# The names in a list of lines of the service status in the form in which they are compared. #}
{% macro line_keys(lines) -%}
    {{ adapter.dispatch("line_keys", "transit")(lines) }}
{%- endmacro %}
{% macro default__line_keys(lines) -%}
    list_transform({{ names_in(lines) }}, lambda name: {{ normal_label("regexp_replace(strip_accents(name), ' +', ' ', 'g')") }})
{%- endmacro %}

{# Of the different words of two texts, the share that both have, from 0 to 1; upper and lower case and accents do not
   count. Two missing texts are alike, one missing text is not like another. #}
{% macro common_word_share(first, second) -%}
    {{ adapter.dispatch("common_word_share", "transit")(first, second) }}
{%- endmacro %}
{% macro default__common_word_share(first, second) -%}
    {%- set words = [] -%}
    {%- for text in [first, second] -%}
        {%- do words.append("regexp_extract_all(lower(strip_accents(coalesce(" ~ text ~ ", ''))), '[a-z0-9]+')") -%}
    {%- endfor -%}
    (
        (len(list_intersect({{ words[0] }}, {{ words[1] }})) + 1e-9)
        / (len(list_distinct(list_concat({{ words[0] }}, {{ words[1] }}))) + 1e-9)
    )
{%- endmacro %}

{# A text in the form in which words are looked for in it: lower case, without accents. #}
{% macro comparable_text(column) -%}
    {{ adapter.dispatch("comparable_text", "transit")(column) }}
{%- endmacro %}
{% macro default__comparable_text(column) -%}
    lower(strip_accents({{ column }}))
{%- endmacro %}

{# True if a text has another in it; not null. #}
{% macro has_text(text, part) -%}
    coalesce(contains({{ text }}, {{ part }}), false)
{%- endmacro %}

{# The name of a lift or other plant in the form in which names are compared: letters and digits in upper case, without
   the word for what it is or an abbreviation of it: `Ascensore Castello`, `ASC. CASTELLO` and `castello` are one. #}
{% macro plant_key(name) -%}
    {{ adapter.dispatch("plant_key", "transit")(name) }}
{%- endmacro %}
{% macro default__plant_key(name) -%}
    regexp_replace(
        regexp_replace(
            trim(upper(strip_accents({{ name }}))), '^((ASCENSOR[EI]|ASC|FUNICOLARE|FUN|CREMAGLIERA|IMPIANTO|ELEVATORE)[^A-Z0-9]+|(ASC|FUN|CRE|IMP|ELE)[A-Z]*[.][^A-Z0-9]*)(DI |DEL |DELLA )?', ''
        ),
        '[^A-Z0-9]', '', 'g'
    )
{%- endmacro %}

{# The words of a text as a list: upper case without accents, no markup, no clock times; a number keeps its slashes. #}
{% macro words_of(text) -%}
    {{ adapter.dispatch("words_of", "transit")(text) }}
{%- endmacro %}
{% macro default__words_of(text) -%}
    {%- set plain = "regexp_replace(upper(strip_accents(" ~ text ~ ")), '<[^>]*>', ' ', 'g')" -%}
    {%- set plain = "regexp_replace(" ~ plain ~ ", '&([AEIOU])(GRAVE|ACUTE);', '\\1', 'g')" -%}
    {%- set plain = "regexp_replace(" ~ plain ~ ", '[0-9]{1,2}[:.][0-9]{2}', ' ', 'g')" -%}
    regexp_extract_all({{ plain }}, '[A-Z0-9]+(/[0-9]+)*/?')
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

{# True if a whole text has the form of a regular expression. #}
{% macro has_form(text, form) -%}
    {{ adapter.dispatch("has_form", "transit")(text, form) }}
{%- endmacro %}
{% macro default__has_form(text, form) -%}
    regexp_full_match({{ text }}, '{{ form }}')
{%- endmacro %}
