-- One row per operator, service_date, line and horizon: how far live predictions were off.
-- Judged by evidenced visits. An error is positive when the bus came later than said.
-- Lines that are not clear are counted under a null line.
with visits as (
    select
        operator,
        service_date,
        trip_id,
        stop_code,
        visit_number,
        line_code,
        first_seen_at,
        passed_after,
        passed_at,
        ruleset_version
    from {{ ref('stop_visits') }}
    where arrival_quality = 'evidenced' and {{ is_built() }}
),

predictions as (
    -- a prediction speaks of the visit that was the next to pass when it was made
    select
        *,
        row_number() over (
            partition by operator, request_id, row_number order by passed_after, visit_number, service_date
        ) as nth
    from (
        select
            visits.*,
            passages.request_id,
            passages.row_number,
            {{ seconds_between('passages.observed_at', 'passages.predicted_at') }} as horizon_seconds,
            {{ seconds_between('passages.predicted_at', 'visits.passed_at') }} as error_seconds
        from visits
        inner join {{ ref('staging_passages') }} as passages
            on
                visits.operator = passages.operator
                and visits.trip_id = passages.trip_id
                and visits.stop_code = passages.stop_code
                and passages.observed_at between visits.first_seen_at and visits.passed_after
        where
            not coalesce(passages.is_theoretical, false)
            and not coalesce(passages.is_wrapped, false)
            and {{ is_received_around('passages.received_date') }}
    ) as listed
)

select
    predictions.operator,
    predictions.service_date,
    predictions.line_code,
    bands.horizon_from_seconds,
    bands.horizon_to_seconds,
    count(*) as n,
    count(case when predictions.error_seconds between bands.early_seconds and bands.late_seconds then 1 end)
        as n_within,
    count(case when predictions.error_seconds < bands.early_seconds then 1 end) as n_too_early,
    count(case when predictions.error_seconds > bands.late_seconds then 1 end) as n_too_late,
    cast(sum(round(predictions.error_seconds)) as bigint) as error_seconds_sum,
    cast(sum(round(abs(predictions.error_seconds))) as bigint) as absolute_error_seconds_sum,
    cast(sum(round(predictions.error_seconds) * round(predictions.error_seconds)) as bigint) as squared_error_sum,
    max(predictions.ruleset_version) as ruleset_version
from predictions
inner join {{ ref('prediction_bands') }} as bands
    on
        predictions.horizon_seconds >= bands.horizon_from_seconds
        and predictions.horizon_seconds < bands.horizon_to_seconds
where predictions.nth = 1
group by
    predictions.operator, predictions.service_date, predictions.line_code, bands.horizon_from_seconds,
    bands.horizon_to_seconds
