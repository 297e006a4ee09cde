{{ config(schema='core', meta={'other_dates_of': ['service_days']}) }}
-- One row per operator, service_date, line, direction, departure, repeat and promise: from when to when answers about
-- the timetable promised the departure, before it was due, and what became of it.
-- What was promised at a moment: promised_from <= moment and coalesce(promised_to > moment, true).
{%- set line_date = ["operator", "service_date", "line_code", "direction"] %}
{%- set departure = "operator, service_date, line_code, direction, departure_at, repeat_number" %}
with validities as (
    select
        *,
        case when valid_from = lag(valid_to) over departure then 0 else 1 end as is_apart,
        case when valid_from = lag(valid_to) over departure then lag(leg) over departure end as leg_before
    from {{ built('timetable_departures') }}
    window departure as (partition by {{ departure }} order by valid_from)
),

numbered as (
    -- an edit of the sign or the service goes on with the promise
    select
        *,
        sum(is_apart) over (
            partition by {{ departure }} order by valid_from rows between unbounded preceding and current row
        ) as promise_number
    from validities
),

promises as (
    select
        {{ departure }},
        promise_number,
        min(valid_from) as promised_from,
        case when count(valid_to) = count(*) then max(valid_to) end as promised_to,
        max(last_listed_at) as last_promised_at,
        {{ value_at_least('previous_proof_at', 'valid_from') }} as absent_at,
        {{ value_at_greatest('departure_key', 'valid_from') }} as departure_key,
        {{ value_at_greatest('leg', 'valid_from') }} as leg
    from numbered
    group by {{ departure }}, promise_number
),

in_force as (
    select
        numbered.*,
        scheduled.outcome
    from numbered
    inner join {{ built('scheduled_departures') }} as scheduled using (departure_key)
    where numbered.is_in_force
),

beginnings as (
    select
        {{ departure }},
        min(valid_from) as first_listed_at,
        {{ value_at_least('previous_proof_at', 'valid_from') }} as absent_at
    from numbered
    group by {{ departure }}
),

withdrawn as (
    -- the last promise of each departure that is not in force, with the name that its leg has now
    select
        promises.* {{ exclude("leg") }},
        coalesce(renamed.leg_after, promises.leg) as leg
    from {{ first_rows('promises', departure.split(", "), 'promise_number desc') }} as promises
    left join in_force using ({{ departure }})
    left join {{ renamed_legs('numbered', 'in_force', line_date) }} as renamed
        on
            promises.operator = renamed.operator
            and promises.service_date = renamed.service_date
            and promises.line_code = renamed.line_code
            and promises.direction = renamed.direction
            and promises.leg = renamed.leg_before
    where in_force.departure_key is null and promises.promised_to <= promises.departure_at
),

-- A departure moved to one that no answer listed while it was promised. Of two that may have moved there, it is the one
-- that was promised longer before: the other one was a step on the way.
{{ moved_departures(
    'withdrawn',
    '(select in_force.*, first_listed_at from in_force inner join beginnings using (' ~ departure ~ ')'
    ~ ' where beginnings.absent_at is not null)',
    line_date + ['leg'],
    'added.first_listed_at > removed.last_promised_at',
    '-seconds_between(removed.promised_from, removed.departure_at) / 100000000'
) }},

zeros as (
    -- the instant from which the seconds of a service day count
    select
        operator,
        service_date,
        min(zero_at) as zero_at
    from (
        select
            operator,
            service_date,
            zero_at
        from {{ ref('service_days') }}
        where {{ is_received_around('service_date', days_after=0) }}
        union all
        select
            operator,
            service_date,
            add_seconds(departure_at, -service_seconds) as zero_at
        from {{ ref('timetable_departures') }}
        where {{ is_received_around('service_date', days_after=0) }}
    ) as days
    group by operator, service_date
),

evenings as (
    -- 18:00 of the day before, whatever the clock does in the night
    select
        days.operator,
        days.service_date,
        coalesce(
            add_seconds(days_before.zero_at, 64800), add_seconds(days.zero_at, -21600)
        ) as promise_at
    from zeros as days
    left join zeros as days_before
        on days.operator = days_before.operator and days.service_date = days_before.service_date + 1
),

first_proofs as (
    select
        operator,
        service_date,
        line_code,
        min(received_at) as known_from
    from {{ built('timetable_proofs') }}
    where proves_absence
    group by operator, service_date, line_code
),

fates as (
    select
        promises.* {{ exclude("departure_key") }},
        coalesce(in_force.departure_key, promises.departure_key) as departure_key,
        evenings.promise_at,
        case
            when first_proofs.known_from <= evenings.promise_at
                then
                    promises.promised_from <= evenings.promise_at
                    and coalesce(promises.promised_to > evenings.promise_at, true)
        end as is_promised_day_before,
        case
            when first_proofs.known_from <= evenings.promise_at
                then
                    not coalesce(
                        promises.absent_at < evenings.promise_at and evenings.promise_at < promises.promised_from
                        or promises.last_promised_at < evenings.promise_at
                        and evenings.promise_at < promises.promised_to,
                        false
                    )
        end as is_promise_certain,
        case
            when moves.added_id is not null then 'moved'
            when in_force.departure_key is null then 'withdrawn'
            when promises.departure_at > last_answers.last_received_at or last_answers.last_received_at is null
                then null
            when in_force.outcome in ('run', 'not_run') then in_force.outcome
            else 'not_observable'
        end as fate,
        moves.added_id as moved_to_key,
        moves.added_at as moved_to_at,
        moves.moved_seconds
    from promises
    inner join evenings using (operator, service_date)
    left join in_force using ({{ departure }})
    left join withdrawn using ({{ departure }})
    left join moves on promises.service_date = moves.service_date and withdrawn.departure_key = moves.removed_id
    left join first_proofs using (operator, service_date, line_code)
    left join {{ last_answers() }} as last_answers using (operator)
    where promises.promised_from <= promises.departure_at
)

select
    {{ departure }},
    promised_from,
    last_promised_at,
    promised_to,
    leg,
    promise_at,
    is_promised_day_before,
    is_promise_certain,
    case when is_promised_day_before is null then 'no answer by then' end as null_reason,
    fate,
    departure_key,
    moved_to_key,
    moved_to_at,
    moved_seconds,
    case
        when fate in ('withdrawn', 'moved')
            then cast(floor(seconds_between(promised_to, departure_at)) as bigint)
    end as notice_low_seconds,
    case
        when fate in ('withdrawn', 'moved')
            then cast(ceil(seconds_between(last_promised_at, departure_at)) as bigint)
    end as notice_high_seconds
from fates
