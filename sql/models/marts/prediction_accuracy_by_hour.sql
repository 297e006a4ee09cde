-- One row per operator, service_date, line, service_hour and horizon bucket: errors of live predictions, and their
-- changes from one listing to the next. An error is positive where the bus came later than predicted. Visits of unknown
-- line are counted under a null line.
-- Only predictions of evidenced passages are judged, by what the polls prove and never by the last prediction, which
-- would judge itself. When other buses passed is itself estimated, by their last prediction or at other stops: how many
-- predictions are of these is counted beside.
{%- set bucket_hour = "operator, service_date, line_code, service_hour, horizon_from_seconds, horizon_to_seconds" %}
with visits as (
    -- numbered in the order of passing: the next steps sort millions of predictions, which is slow by text
    select
        *,
        arrival_quality = 'evidenced' as is_judged,
        add_seconds(passed_after, seconds_between(passed_after, passed_before) / 2) as judged_at,
        row_number() over (
            order by passed_after nulls last, visit_number, service_date, operator, trip_id, stop_code
        ) as visit_id
    from {{ built('stop_visits') }}
    where passed_after is not null
),

predictions as (
    -- a prediction is of the trip's next visit to the stop on its service date
    select
        visits.visit_id,
        passages.request_id,
        passages.row_number,
        passages.observed_at,
        passages.predicted_at,
        row_number() over (
            partition by visits.operator, passages.request_id, passages.row_number order by visits.visit_id
        ) as nth
    from visits
    inner join {{ ref('staging_passages') }} as passages
        on
            visits.operator = passages.operator
            and visits.service_date = passages.service_date
            and visits.listed_trip_id = passages.trip_id
            and visits.stop_code = passages.stop_code
            and passages.observed_at between visits.first_seen_at and visits.passed_after
    where
        not coalesce(passages.is_theoretical, false)
        and not coalesce(passages.is_wrapped, false)
        and {{ is_received_around('passages.received_date') }}
),

revisions as (
    select
        visit_id,
        observed_at,
        predicted_at,
        seconds_between(lag(predicted_at) over visit, predicted_at) as revision_seconds
    from predictions
    where nth = 1
    window visit as (partition by visit_id order by observed_at, request_id, row_number)
),

judged as (
    select
        visits.*,
        revisions.revision_seconds,
        seconds_between(revisions.observed_at, revisions.predicted_at) as horizon_seconds,
        round(seconds_between(revisions.predicted_at, visits.judged_at)) as error_seconds,
        round(seconds_between(revisions.predicted_at, visits.passed_after)) as low_seconds,
        round(seconds_between(revisions.predicted_at, visits.passed_before)) as high_seconds
    from revisions
    inner join visits using (visit_id)
),

verdicts as (
    select
        judged.*,
        bands.horizon_from_seconds,
        bands.horizon_to_seconds,
        judged.error_seconds < bands.early_seconds as is_too_early,
        judged.error_seconds > bands.late_seconds as is_too_late,
        judged.error_seconds between bands.early_seconds and bands.late_seconds as is_within,
        judged.low_seconds >= bands.early_seconds and judged.high_seconds <= bands.late_seconds as is_surely_within,
        judged.high_seconds >= bands.early_seconds and judged.low_seconds <= bands.late_seconds as is_possibly_within,
        parameters.upward_jump_seconds
    from judged
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ ref('prediction_bands') }} as bands
        on
            judged.horizon_seconds >= bands.horizon_from_seconds
            and judged.horizon_seconds < bands.horizon_to_seconds
),

trip_hours as (
    select
        {{ bucket_hour }},
        trip_key,
        max(ruleset_version) as ruleset_version,
        count(case when is_judged then 1 end) as n,
        count(case when not is_judged then 1 end) as n_not_judged,
        {%- for verdict in ["within", "surely_within", "possibly_within", "too_early", "too_late"] %}
            count(case when is_judged and is_{{ verdict }} then 1 end) as n_{{ verdict }},
        {%- endfor %}
        {%- for name, value in {
            "error_seconds_sum": "error_seconds",
            "error_low_seconds_sum": "low_seconds",
            "error_high_seconds_sum": "high_seconds",
            "absolute_error_seconds_sum": "abs(error_seconds)",
            "absolute_error_low_seconds_sum": "greatest(low_seconds, -high_seconds, 0)",
            "absolute_error_high_seconds_sum": "greatest(-low_seconds, high_seconds)",
            "squared_error_sum": "error_seconds * error_seconds"
        }.items() %}
            coalesce(sum(case when is_judged then {{ value }} end), 0) as {{ name }},
        {%- endfor %}
        count(revision_seconds) as n_revisions,
        coalesce(sum(round(abs(revision_seconds))), 0) as absolute_revision_seconds_sum,
        count(case when revision_seconds > upward_jump_seconds then 1 end) as n_upward_jumps
    from verdicts
    group by {{ bucket_hour }}, trip_key
),

trip_sums as (
    -- the predictions of one trip err alike: of the whole date, so that the hours of a trip add up
    select
        *,
        sum(n) over trip as trip_n,
        sum(n_within) over trip as trip_n_within
    from trip_hours
    window trip as (partition by operator, service_date, line_code, horizon_from_seconds, trip_key)
)

select
    {{ bucket_hour }},
    {%- for count in prediction_counts() %}
        cast(sum({{ count }}) as bigint) as {{ count }},
    {%- endfor %}
    cast(sum(n * trip_n) as bigint) as n_squared_sum,
    cast(sum(n_within * trip_n_within) as bigint) as n_within_squared_sum,
    cast(sum(n * trip_n_within) as bigint) as n_times_within_sum,
    max(ruleset_version) as ruleset_version
from trip_sums
group by {{ bucket_hour }}
