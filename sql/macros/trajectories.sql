{# The columns that group the rows of each service date by keys. #}
{% macro of_days(keys) -%}
    {{ (["operator", "service_date"] + keys) | join(", ") }}
{%- endmacro %}

{# The count, sum and squared deviations of the values of a group, for variances_of_groups: whole numbers, so that sums
   over groups do not depend on their order. #}
{% macro sums_of_group(value) -%}
    count({{ value }}) as n_trips,
    sum({{ value }}) as above_sum,
    cast(round(sum({{ value }} * {{ value }}) - power(sum({{ value }}), 2) / count({{ value }})) as bigint) as square_sum
{%- endmacro %}

{# The variance among the trips of a group (trip_variance), and among groups beyond what that explains (group_variance), as
   a query with a row for each operator and service_date.

   groups: a relation with the columns of sums_of_group. #}
{% macro variances_of_groups(groups) -%}
    select
        * {{ exclude("trip_variance") }},
        coalesce(trip_variance, 0) as trip_variance,
        greatest(between_variance - coalesce(trip_variance, 0) * n_groups / n_trips, 0) as group_variance
    from (
        select
            operator,
            service_date,
            cast(sum(square_sum) as double) / nullif(sum(n_trips) - count(*), 0) as trip_variance,
            sum(cast(round(power(above_sum, 2) / n_trips) as bigint)) / cast(sum(n_trips) as double) as between_variance,
            count(*) as n_groups,
            sum(n_trips) as n_trips
        from {{ groups }}
        group by operator, service_date
    ) as sums
{%- endmacro %}

{# The mean of a group as far as groups differ by more than chance does (variances_of_groups); 0 where nothing is known. #}
{% macro mean_of_group(above_sum, n_trips, group_variance, trip_variance) -%}
    coalesce({{ above_sum }} * {{ group_variance }} / nullif({{ n_trips }} * {{ group_variance }} + {{ trip_variance }}, 0), 0)
{%- endmacro %}

{# The variance of the error of mean_of_group. #}
{% macro error_variance_of_group(n_trips, group_variance, trip_variance) -%}
    coalesce(
        {{ group_variance }} * {{ trip_variance }} / nullif({{ n_trips }} * {{ group_variance }} + {{ trip_variance }}, 0), 0
    )
{%- endmacro %}

{# For each level the groups of a relation of values (sums_of_group) as LEVEL, their variances as LEVEL_variances, and the
   values as LEVEL_trips: that of each row at the level (level_seconds), and what is left of it above the mean of its group
   (above_seconds), which is the value of the next level. Common table expressions, each with a comma before it.

   levels: the columns of the groups by level, from the first level on; beside them groups are of a service date.
   values: a relation with the values of the first level, whole numbers, as above_seconds. #}
{% macro values_above_groups(levels, values) -%}
    {%- for level, keys in levels.items() %}
    {%- set before = values if loop.first else loop.previtem[0] ~ "_trips" %},

    {{ level }} as (
        select
            {{ of_days(keys) }},
            {{ sums_of_group("above_seconds") }}
        from {{ before }}
        group by {{ of_days(keys) }}
    ),

    {{ level }}_variances as (
        {{ variances_of_groups(level) }}
    ),

    {{ level }}_trips as (
        select
            trips.* {{ exclude("above_seconds" ~ (", level_seconds" if not loop.first else "")) }},
            trips.above_seconds as level_seconds,
            cast(round(trips.above_seconds - {{ mean_of_level(level) }}) as bigint) as above_seconds
        from {{ before }} as trips
        inner join {{ level }} using ({{ of_days(keys) }})
        inner join {{ level }}_variances using (operator, service_date)
    )
    {%- endfor %}
{%- endmacro %}

{# The mean of a group of a level (values_above_groups), in a query that joins the level and its variances. #}
{% macro mean_of_level(level) -%}
    {{ mean_of_group(
        level ~ ".above_sum", level ~ ".n_trips", level ~ "_variances.group_variance", level ~ "_variances.trip_variance"
    ) }}
{%- endmacro %}

{# The mean of a class of few values: a number of values of its wider class, `weight`, count along.

   value_sum, n: the sum of the class's own values and their number, null where it has none.
   wider:        the mean of the wider class. #}
{% macro leaning_mean(value_sum, n, wider, weight) -%}
    (coalesce({{ value_sum }}, 0) + {{ weight }} * {{ wider }}) / (coalesce({{ n }}, 0) + {{ weight }})
{%- endmacro %}

{# The windows `before` and `after` of nearest_known: the rows of a group before each row, and those after it. #}
{% macro windows_around(group, order) -%}
    before as (partition by {{ group }} order by {{ order }} rows between unbounded preceding and 1 preceding),
    after as (partition by {{ group }} order by {{ order }} rows between 1 following and unbounded following)
{%- endmacro %}

{# The nearest rows before and after each, of those where a condition holds, in the windows `before` and `after`: each value
   as NAME_before and NAME_after, null where there is none.

   values: expressions by name. #}
{% macro nearest_known(values, known) -%}
    {%- for name, value in values.items() -%}
        {{ last_known("case when " ~ known ~ " then " ~ value ~ " end") }} over before as {{ name }}_before,
        {{ first_known("case when " ~ known ~ " then " ~ value ~ " end") }} over after as {{ name }}_after
        {{- ",
        " if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{# True for a due call (due_calls) of which it is known whether it was on time: its bus was seen, certainly ran as the
   departure, and its scheduled time is known.

   prefix: what stands before the names of columns: the name of a relation and a dot. #}
{% macro is_observed_call(prefix="") -%}
    coalesce({{ prefix }}arrival_quality in ('evidenced', 'bounded'), false)
    and {{ prefix }}is_timed and not {{ prefix }}is_guessed
{%- endmacro %}

{# What the nearest passages before and after tell (nearest_passages), the nearer one more; 0 where there are none. #}
{% macro told_by_neighbours(value) -%}
    coalesce(
        ({{ value }}_before * gap_after_seconds + {{ value }}_after * gap_before_seconds)
        / nullif(cast(gap_before_seconds + gap_after_seconds as double), 0),
        {{ value }}_before,
        {{ value }}_after,
        0
    )
{%- endmacro %}

{# The class by which the shape of errors is told (error_shares): that of the gap; at first stops, where buses that are
   ahead of their time wait, that of the delay, counted from 0. #}
{% macro shape_class(side, gap_class, delay_class) -%}
    case when {{ side }} in ('first_stop', 'none_at_first_stop') then {{ delay_class }} + 4 else {{ gap_class }} end
{%- endmacro %}

{# The share of a normal distribution up to a standardised value, by its logistic approximation (off by less than 0.01). #}
{% macro normal_share(value) -%}
    (1 / (1 + exp(-1.702 * {{ value }})))
{%- endmacro %}

{# The mean of a normal distribution within bounds, of which each may be null; where hardly anything of the distribution
   lies within them, the nearest bound. #}
{% macro truncated_mean(mean, error, low, high) -%}
    {%- set low_value = "((" ~ low ~ " - " ~ mean ~ ") / " ~ error ~ ")" -%}
    {%- set high_value = "((" ~ high ~ " - " ~ mean ~ ") / " ~ error ~ ")" -%}
    {%- set share = "(coalesce(" ~ normal_share(high_value) ~ ", 1) - coalesce(" ~ normal_share(low_value) ~ ", 0))" -%}
    least(greatest(
        {{ mean }}
        + case
            when {{ share }} > 0.01
                then
                    {{ error }} * 0.39894
                    * (coalesce(exp(-power({{ low_value }}, 2) / 2), 0) - coalesce(exp(-power({{ high_value }}, 2) / 2), 0))
                    / {{ share }}
            else 0
        end,
        {{ low }}
    ), {{ high }})
{%- endmacro %}

{# The share of a distribution up to a standardised value, from its shares up to -6, -5.9 … 6 (error_shares). #}
{% macro share_up_to(shares, value) -%}
    {%- set tenths = "(10 * (least(greatest(" ~ value ~ ", -6), 5.999) + 6))" -%}
    {%- set below = element(shares, "cast(floor(" ~ tenths ~ ") as bigint) + 1") -%}
    {%- set above = element(shares, "cast(floor(" ~ tenths ~ ") as bigint) + 2") -%}
    ({{ below }} + ({{ tenths }} - floor({{ tenths }})) * ({{ above }} - {{ below }}))
{%- endmacro %}

{# Of drawn visits (audit_errors), each weighted by the inverse of its inclusion probability: how many there are, which
   share was on time, which was expected, and the difference with its standard error; null for one alone. #}
{% macro audit_figures() -%}
    {%- set weight = "cast(weight as decimal(38, 0))" -%}
    {%- set off = "cast(round(1000000 * (is_on_time - on_time_probability)) as decimal(38, 0))" -%}
    {%- set weights = "cast(sum(weight) as double)" -%}
    {%- set error = "cast(sum(" ~ weight ~ " * " ~ off ~ ") as double) / 1e6 / " ~ weights -%}
    count(*) as n_audited,
    cast(sum(weight * is_on_time) as double) / {{ weights }} as observed_share,
    cast(sum(weight * on_time_probability) as double) / {{ weights }} as expected_share,
    {{ error }} as error,
    case
        when count(*) > 1
            then
                sqrt(greatest(
                    cast(sum({{ weight }} * weight * {{ off }} * {{ off }}) as double) / 1e12
                    - 2 * {{ error }} * cast(sum({{ weight }} * weight * {{ off }}) as double) / 1e6
                    + power({{ error }}, 2) * cast(sum({{ weight }} * weight) as double),
                    0
                ) * count(*) / (count(*) - 1)) / {{ weights }}
    end as standard_error
{%- endmacro %}

{# The class of schedule errors (scheduled_calls) that a gap in seconds belongs to: powers of two of half a minute. #}
{% macro schedule_gap_class(seconds) -%}
    least(cast(floor(ln(greatest({{ seconds }}, 30) / 30.0) / ln(2)) as bigint), 7)
{%- endmacro %}
