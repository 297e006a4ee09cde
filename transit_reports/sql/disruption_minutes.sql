-- Minutes that disruptions of a kind took of each line on the dates of the period, one kind at a time. Bounds, of
-- the hours in which the service status was watched.
with minutes as (
    select
        line_code,
        category,
        event,
        sum(low_seconds) / 60 as minutes_low,
        sum(high_seconds) / 60 as minutes_high
    from marts.disruption_minutes_by_part
    where service_date between $first and $last and line_code is not null and event != 'not watched'
    group by all
),

numbers as (
    select
        line_code,
        any_value(line_number) as line_number
    from core.latest_lines
    group by line_code
),

meanings as (
    select
        event,
        category,
        any_value(meaning) as meaning
    from core.event_meanings
    group by event, category
)

select
    coalesce(numbers.line_number, minutes.line_code) as line_number,
    coalesce(own.meaning, common.meaning, minutes.event) as event,
    sum(minutes.minutes_low) as minutes_low,
    sum(minutes.minutes_high) as minutes_high
from minutes
left join numbers using (line_code)
left join meanings as own on minutes.event = own.event and minutes.category = own.category
left join meanings as common on minutes.event = common.event and common.category is null
group by all
order by minutes_low desc, line_number, event
