-- One row per operator, service_date, line, direction, service, departure, duplicate and position that was drawn for
-- the audit sample: with what probability, and how often its stop was asked while it was watched.
with requests as (
    select
        requests.operator,
        requests.key as stop_code,
        requests.planned_at,
        requests.sent_at,
        requests.received_at,
        requests.is_good and doubts.request_id is null as is_good,
        requests.purpose,
        {{ each_of("requests.draws_of_request") }} as draw
    from (
        select
            *,
            json_objects(draws) as draws_of_request
        from {{ ref('staging_requests') }}
        where draws is not null and {{ is_received_around() }}
    ) as requests
    {{ join_doubts("''", answers='requests') }}
),

draws as (
    select
        *,
        try_cast(get_json_object(draw, '$.service_date') as date) as service_date,
        get_json_object(draw, '$.line_code') as line_code,
        get_json_object(draw, '$.direction') as direction,
        get_json_object(draw, '$.service_code') as service_code,
        try_cast(get_json_object(draw, '$.departure_at') as timestamp) as departure_at,
        try_cast(get_json_object(draw, '$.duplicate_number') as bigint) as duplicate_number,
        try_cast(get_json_object(draw, '$.position') as bigint) as position,
        try_cast(get_json_object(draw, '$.inclusion_probability') as double) as inclusion_probability,
        try_cast(get_json_object(draw, '$.seed') as bigint) as seed,
        try_cast(get_json_object(draw, '$.first_due_at') as timestamp) as first_due_at,
        try_cast(get_json_object(draw, '$.due_at') as timestamp) as due_at
    from requests
)

select
    operator,
    service_date,
    line_code,
    direction,
    service_code,
    departure_at,
    duplicate_number,
    position,
    {{ value_at_least('stop_code', 'planned_at') }} as stop_code,
    -- a changed timetable changes it: the visit was drawn if its chance was below any of them
    max(inclusion_probability) as inclusion_probability,
    min(
        chance(
            concat_ws(
                '|', seed, operator, service_date, line_code, direction, service_code, departure_at, duplicate_number,
                position
            )
        )
    ) as chance,
    min(first_due_at) as first_due_at,
    -- as far as it was known in the end
    {{ value_at_greatest('due_at', 'planned_at') }} as due_at,
    max(case when is_good then received_at end) as last_answer_at,
    count(sent_at) as n_requests,
    count(case when sent_at is not null and purpose = 'audit' then 1 end) as n_audit_requests,
    count(case when is_good then 1 end) as n_answers
from draws
where
    {{ is_built() }}
    and line_code is not null
    and direction is not null
    and service_code is not null
    and departure_at is not null
    and duplicate_number is not null
    and position is not null
    and seed is not null
    and first_due_at is not null
    and due_at is not null
    and inclusion_probability > 0
    and inclusion_probability <= 1
group by operator, service_date, line_code, direction, service_code, departure_at, duplicate_number, position
