-- One row per operator, service_date, line, service_hour and horizon: how far live predictions were off, and how they
-- wavered from one listing to the next. Judged by evidenced visits only.
-- An error is positive when the bus came later than said.
-- Lines that are not clear are counted under a null line.
with visits as (
    -- numbered in the order they pass: what follows sorts millions of predictions, and sorting by text is slow
    select
        operator,
        service_date,
        listed_trip_id,
        stop_code,
        line_code,
        service_hour,
        first_seen_at,
        passed_after,
        passed_at,
        ruleset_version,
        row_number() over (
            order by passed_after, visit_number, service_date, operator, trip_id, stop_code
        ) as visit_id
    from {{ ref('stop_visits') }}
    where arrival_quality = 'evidenced' and {{ is_built() }}
),

predictions as (
    -- a prediction speaks of the visit that was the next to pass when it was made
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

moves as (
    select
        visit_id,
        observed_at,
        predicted_at,
        {{ seconds_between('lag(predicted_at) over visit', 'predicted_at') }} as moved_seconds
    from predictions
    where nth = 1
    window visit as (partition by visit_id order by observed_at, request_id, row_number)
),

steps as (
    select
        visits.operator,
        visits.service_date,
        visits.line_code,
        visits.service_hour,
        visits.ruleset_version,
        moves.moved_seconds,
        {{ seconds_between('moves.observed_at', 'moves.predicted_at') }} as horizon_seconds,
        {{ seconds_between('moves.predicted_at', 'visits.passed_at') }} as error_seconds
    from moves
    inner join visits on moves.visit_id = visits.visit_id
)

select
    steps.operator,
    steps.service_date,
    steps.line_code,
    steps.service_hour,
    bands.horizon_from_seconds,
    bands.horizon_to_seconds,
    count(*) as n,
    count(case when steps.error_seconds between bands.early_seconds and bands.late_seconds then 1 end) as n_within,
    count(case when steps.error_seconds < bands.early_seconds then 1 end) as n_too_early,
    count(case when steps.error_seconds > bands.late_seconds then 1 end) as n_too_late,
    cast(sum(round(steps.error_seconds)) as bigint) as error_seconds_sum,
    cast(sum(round(abs(steps.error_seconds))) as bigint) as absolute_error_seconds_sum,
    cast(sum(round(steps.error_seconds) * round(steps.error_seconds)) as bigint) as squared_error_sum,
    count(steps.moved_seconds) as n_revisions,
    cast(coalesce(sum(round(abs(steps.moved_seconds))), 0) as bigint) as absolute_revision_seconds_sum,
    count(case when steps.moved_seconds > rules.upward_jump_seconds then 1 end) as n_upward_jumps,
    max(steps.ruleset_version) as ruleset_version
from steps
inner join {{ ref('rulesets') }} as rules
    on steps.ruleset_version = rules.ruleset_version
inner join {{ ref('prediction_bands') }} as bands
    on
        steps.horizon_seconds >= bands.horizon_from_seconds
        and steps.horizon_seconds < bands.horizon_to_seconds
group by
    steps.operator, steps.service_date, steps.line_code, steps.service_hour, bands.horizon_from_seconds,
    bands.horizon_to_seconds
