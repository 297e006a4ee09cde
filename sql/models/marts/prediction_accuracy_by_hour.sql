-- One row per operator, service_date, line, service_hour and horizon bucket: errors of live predictions, and their
-- changes from one listing to the next, for observed visits. An error is positive where the bus came later than
-- predicted. Visits of unknown line are counted under a null line.
-- An error is judged by what the polls prove of the passage, never by its last prediction, which would judge itself.
with visits as (
    -- numbered in the order of passing: the next steps sort millions of predictions, which is slow by text
    select
        operator,
        service_date,
        listed_trip_id,
        stop_code,
        line_code,
        service_hour,
        first_seen_at,
        passed_after,
        passed_before,
        -- passed_at of an evidenced visit is its last prediction, within its bounds; that of a bounded one mostly
        -- follows from other stops of the trip
        case
            when arrival_quality = 'evidenced'
                then {{ add_seconds('passed_after', seconds_between('passed_after', 'passed_before') ~ ' / 2') }}
            else passed_at
        end as judged_at,
        ruleset_version,
        row_number() over (
            order by passed_after, visit_number, service_date, operator, trip_id, stop_code
        ) as visit_id
    from {{ built('stop_visits') }}
    where arrival_quality in ('evidenced', 'bounded')
),

predictions as (
    -- a prediction is of the trip's next visit to the stop
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
        {{ seconds_between('lag(predicted_at) over visit', 'predicted_at') }} as revision_seconds
    from predictions
    where nth = 1
    window visit as (partition by visit_id order by observed_at, request_id, row_number)
),

judged as (
    select
        visits.operator,
        visits.service_date,
        visits.line_code,
        visits.service_hour,
        visits.ruleset_version,
        revisions.revision_seconds,
        {{ seconds_between('revisions.observed_at', 'revisions.predicted_at') }} as horizon_seconds,
        round({{ seconds_between('revisions.predicted_at', 'visits.judged_at') }}) as error_seconds,
        round({{ seconds_between('revisions.predicted_at', 'visits.passed_after') }}) as low_seconds,
        round({{ seconds_between('revisions.predicted_at', 'visits.passed_before') }}) as high_seconds
    from revisions
    inner join visits using (visit_id)
)

select
    judged.operator,
    judged.service_date,
    judged.line_code,
    judged.service_hour,
    bands.horizon_from_seconds,
    bands.horizon_to_seconds,
    count(*) as n,
    count(case when judged.error_seconds between bands.early_seconds and bands.late_seconds then 1 end) as n_within,
    count(
        case when judged.low_seconds >= bands.early_seconds and judged.high_seconds <= bands.late_seconds then 1 end
    ) as n_surely_within,
    count(
        case when judged.high_seconds >= bands.early_seconds and judged.low_seconds <= bands.late_seconds then 1 end
    ) as n_possibly_within,
    count(case when judged.error_seconds < bands.early_seconds then 1 end) as n_too_early,
    count(case when judged.error_seconds > bands.late_seconds then 1 end) as n_too_late,
    cast(sum(judged.error_seconds) as bigint) as error_seconds_sum,
    cast(sum(judged.low_seconds) as bigint) as error_low_seconds_sum,
    cast(sum(judged.high_seconds) as bigint) as error_high_seconds_sum,
    cast(sum(abs(judged.error_seconds)) as bigint) as absolute_error_seconds_sum,
    cast(sum(greatest(judged.low_seconds, -judged.high_seconds, 0)) as bigint) as absolute_error_low_seconds_sum,
    cast(sum(greatest(-judged.low_seconds, judged.high_seconds)) as bigint) as absolute_error_high_seconds_sum,
    cast(sum(judged.error_seconds * judged.error_seconds) as bigint) as squared_error_sum,
    count(judged.revision_seconds) as n_revisions,
    cast(coalesce(sum(round(abs(judged.revision_seconds))), 0) as bigint) as absolute_revision_seconds_sum,
    count(case when judged.revision_seconds > parameters.upward_jump_seconds then 1 end) as n_upward_jumps,
    max(judged.ruleset_version) as ruleset_version
from judged
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ ref('prediction_bands') }} as bands
    on
        judged.horizon_seconds >= bands.horizon_from_seconds
        and judged.horizon_seconds < bands.horizon_to_seconds
group by
    judged.operator, judged.service_date, judged.line_code, judged.service_hour, bands.horizon_from_seconds,
    bands.horizon_to_seconds
