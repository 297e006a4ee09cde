{{ config(materialized=inlined()) }}
-- One row per due call: the delay that is known of it, and how much later buses are this far along their way than at
-- its beginning.
with calls as (
    select
        departure_key,
        operator,
        service_date,
        line_code,
        direction,
        position,
        {{ quotient("scheduled_seconds", 3600) }} as hour,
        -- the first stop, then ten minutes each
        case when is_first_stop then -1 else least(cast(floor(running_seconds / 600) as bigint), 6) end as stage,
        is_last_stop and not is_first_stop as is_last,
        case when arrival_quality = 'evidenced' and is_timed then delay_seconds end as delay_seconds,
        case when is_told then delay_seconds end as told_delay_seconds
    from {{ built('due_calls') }}
),

trip_stages as (
    select
        departure_key,
        operator,
        service_date,
        stage,
        avg(case when not is_last then delay_seconds end) as stage_seconds,
        avg(case when is_last then delay_seconds end) as last_seconds
    from calls
    where delay_seconds is not null
    group by departure_key, operator, service_date, stage
),

trip_steps as (
    -- by how much a bus is later than it was in the stage before, and at its last stop than shortly before it. Buses
    -- are compared with themselves: those of long lines are not as late as others.
    select
        *,
        case
            when lag(stage) over trip = stage - 1 then stage_seconds - lag(stage_seconds) over trip
        end as step_seconds,
        last_seconds - coalesce(stage_seconds, lag(stage_seconds) over trip) as last_step_seconds
    from trip_stages
    window trip as (partition by departure_key order by stage)
),

steps as (
    select
        operator,
        service_date,
        stage,
        {{ sums_of_group("step_seconds") }}
    from (
        select
            operator,
            service_date,
            stage,
            cast(round(step_seconds) as bigint) as step_seconds
        from trip_steps
        union all
        select
            operator,
            service_date,
            null as stage,
            cast(round(last_step_seconds) as bigint) as step_seconds
        from trip_steps
    ) as trip_steps
    where step_seconds is not null
    group by operator, service_date, stage
),

steps_variances as (
    {{ variances_of_groups("steps") }}
),

learned_steps as (
    select
        steps.*,
        cast(round(
            {{ mean_of_group(
                "steps.above_sum", "steps.n_trips", "variances.group_variance", "variances.trip_variance"
            ) }}
        ) as bigint) as step_seconds
    from steps
    inner join steps_variances as variances using (operator, service_date)
),

all_stages as (
    select distinct
        operator,
        service_date,
        stage
    from calls
),

ways as (
    -- by how much buses are later in a stage than at the first stop
    select
        all_stages.operator,
        all_stages.service_date,
        all_stages.stage,
        sum(steps.step_seconds) as way_seconds
    from all_stages
    inner join learned_steps as steps
        on
            all_stages.operator = steps.operator
            and all_stages.service_date = steps.service_date
            and all_stages.stage >= steps.stage
    group by all_stages.operator, all_stages.service_date, all_stages.stage
)

select
    calls.*,
    coalesce(ways.way_seconds, 0) + case when calls.is_last then coalesce(steps.step_seconds, 0) else 0 end
        as later_seconds
from calls
left join ways using (operator, service_date, stage)
left join learned_steps as steps
    on calls.operator = steps.operator and calls.service_date = steps.service_date and steps.stage is null
