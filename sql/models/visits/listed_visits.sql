-- One row per operator, service_date, listed id, stop and visit: how the answers of the stop listed it, live and as a
-- timetable row.
-- The id may be a trip's, a vehicle's or a number that is used again; visit_trips finds the trips. The schedule and the
-- line are not known yet.
{%- set late_seconds = "seconds_between(theoretical.predicted_at, live.predicted_at)" %}
with visits as (
    select
        *,
        row_number() over (partition by series_number, is_theoretical order by predicted_at) as nth_of_series,
        count(*) over (partition by series_number, is_theoretical) as n_of_series
    from {{ ref('unlinked_visits') }}
),

live_visits as (
    select * from visits
    where not is_theoretical
),

theoretical_visits as (
    select * from visits
    where is_theoretical
),

link_pairs as (
    select
        live.series_number,
        live.group_number,
        live.predicted_at as live_at,
        theoretical.series_number as theoretical_series_number,
        theoretical.group_number as theoretical_group_number,
        theoretical.predicted_at as theoretical_at,
        abs({{ late_seconds }}) as off_seconds
    from live_visits as live
    cross join {{ ref('inference_parameters') }} as parameters
    inner join theoretical_visits as theoretical using (series_number)
    where
        {{ late_seconds }} between -parameters.earliest_bus_seconds and parameters.link_late_seconds
        and case
            -- a trip that comes to the stop again comes in the order of its timetable rows
            when
                live.half_loop_seconds is not null and live.n_of_series > 1
                and live.n_of_series = theoretical.n_of_series
                then live.nth_of_series = theoretical.nth_of_series
            else coalesce(abs({{ late_seconds }}) <= live.half_loop_seconds, true)
        end
),

links as (
    -- a live visit and a timetable row of the same id and stop belong together when each is the other's nearest
    select *
    from {{ nearest_pairs("link_pairs") }} as nearest
),

replacement_pairs as (
    select
        live.series_number,
        live.group_number,
        live.first_predicted_at as live_at,
        parameters.match_ambiguity_seconds,
        anonymous.series_number as theoretical_series_number,
        anonymous.group_number as theoretical_group_number,
        anonymous.predicted_at as theoretical_at,
        anonymous.last_seen_at as replaced_seen_at,
        abs(seconds_between(anonymous.predicted_at, live.first_predicted_at)) as off_seconds
    from live_visits as live
    cross join {{ ref('inference_parameters') }} as parameters
    inner join theoretical_visits as anonymous using (operator, stop_code, plain_label)
    where
        live.listed_id not like '@%'
        and anonymous.listed_id like '@%'
        and coalesce(live.destination, '') = coalesce(anonymous.destination, '')
        and live.first_poll_number = anonymous.poll_number + 1
        -- a row that was no longer in the future was removed for that reason
        and anonymous.predicted_at > live.first_seen_at
        and seconds_between(anonymous.predicted_at, live.first_predicted_at)
        between -parameters.link_early_seconds and parameters.link_late_seconds
),

replacements as (
    -- an anonymous row that was replaced by a live bus from one answer to the next: where each is by far the other's
    -- nearest, the bus may run as the departure the row announced
    select *
    from {{ nearest_pairs("replacement_pairs") }} as nearest
    where coalesce(nearer_by_seconds >= match_ambiguity_seconds, true)
),

linked as (
    select
        {%- for column in ["operator", "listed_id", "stop_code", "line_label", "is_slash_variant", "destination"] %}
            coalesce(live.{{ column }}, theoretical.{{ column }}) as {{ column }},
        {%- endfor %}
        -- a bus that is early or late at the end of a service day keeps the date of its timetable row
        coalesce(theoretical.service_date, live.service_date) as service_date,
        coalesce(theoretical.service_hour, live.service_hour) as service_hour,
        coalesce(theoretical.predicted_at, live.predicted_at) as expected_at,
        theoretical.predicted_at as theoretical_at,
        case when theoretical.group_number is null then replacements.theoretical_at end as replaced_at,
        case when theoretical.group_number is null then replacements.replaced_seen_at end as replaced_seen_at,
        live.predicted_at as last_predicted_at,
        live.passed_after,
        live.lead_seconds,
        live.still_listed_at,
        coalesce(theoretical.poll_number > live.last_ahead_number, false) as is_reverted,
        least(live.first_seen_at, theoretical.first_seen_at) as first_seen_at,
        greatest(live.last_seen_at, theoretical.last_seen_at) as last_seen_at,
        live.first_seen_at as first_live_at,
        theoretical.last_seen_at as last_theoretical_at,
        coalesce(live.n_polls, 0) as n_polls,
        coalesce(live.n_full_polls, 0) as n_full_polls,
        coalesce(theoretical.n_polls, 0) as n_theoretical_polls
    from live_visits as live
    left join links using (series_number, group_number)
    full outer join theoretical_visits as theoretical
        on
            links.series_number = theoretical.series_number
            and links.theoretical_group_number = theoretical.group_number
    left join replacements
        on live.series_number = replacements.series_number and live.group_number = replacements.group_number
),

numbered as (
    select
        *,
        row_number() over (
            partition by operator, service_date, listed_id, stop_code
            order by expected_at, last_predicted_at nulls last, destination nulls last
        ) as visit_number
    from linked
    where {{ is_built() }}
)

select
    key_of(concat_ws('|', operator, service_date, key_part(listed_id), stop_code, visit_number))
        as listed_visit_key,
    *
from numbered
