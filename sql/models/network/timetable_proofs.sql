-- One row per operator, service_date, line and good answer about the timetable: whether it proves absent what it does
-- not list, and the last comparable date before of which a whole answer was known by then.
-- Complete answers do (answer_evidence). The first of them about a date is compared with the last one about the
-- comparable date, too: if it lists far less, only the next one counts. Dates of one type of day are comparable.
{%- set memory_days = 28 %}
with earlier as (
    select *
    from {{ ref('timetable_answers') }}
    where is_complete and {{ is_received_around('service_date', days_before=memory_days, days_after=0) }}
),

known_dates as (
    select
        operator,
        line_code,
        service_date,
        min(received_at) as known_from
    from earlier
    group by operator, line_code, service_date
),

answers as (
    select
        answers.operator,
        answers.service_date,
        answers.line_code,
        answers.request_id,
        max(known_dates.service_date) as comparable_date
    from {{ built('timetable_answers') }} as answers
    left join known_dates
        on
            answers.operator = known_dates.operator
            and answers.line_code = known_dates.line_code
            and known_dates.service_date < answers.service_date
            and known_dates.service_date >= answers.service_date - {{ memory_days }}
            and weekday_type(answers.service_date) = weekday_type(known_dates.service_date)
            and answers.received_at >= known_dates.known_from
    group by answers.operator, answers.service_date, answers.line_code, answers.request_id
),

compared as (
    select
        first_answers.operator,
        first_answers.request_id,
        earlier.n_listed as n_comparable,
        row_number() over (
            partition by first_answers.operator, first_answers.request_id
            order by earlier.received_at desc, earlier.request_id desc
        ) as nth
    from answers
    inner join {{ built('timetable_answers') }} as first_answers using (operator, service_date, line_code, request_id)
    inner join earlier
        on
            answers.operator = earlier.operator
            and answers.line_code = earlier.line_code
            and answers.comparable_date = earlier.service_date
            and first_answers.received_at >= earlier.received_at
    where first_answers.is_complete and first_answers.is_first
)

select
    listed.operator,
    listed.service_date,
    listed.line_code,
    listed.request_id,
    listed.received_at,
    answers.comparable_date,
    listed.is_complete and coalesce(listed.n_listed >= shrunk_share * compared.n_comparable, true)
        as proves_absence
from {{ built('timetable_answers') }} as listed
inner join answers using (operator, service_date, line_code, request_id)
cross join {{ ref('inference_parameters') }}
left join
    compared
    on listed.operator = compared.operator and listed.request_id = compared.request_id and compared.nth = 1
