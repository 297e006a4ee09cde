-- Minutes that disruptions of a kind took of each line on the dates of the period. Hard bounds.
select
    line_number,
    coalesce(meanings.meaning, minutes.event) as event,
    cast(sum(minutes.n_episodes) as bigint) as n_episodes,
    sum(minutes.low_minutes) as minutes_low,
    sum(minutes.high_minutes) as minutes_high
from marts.disruption_minutes as minutes
left join (select event, any_value(meaning) as meaning from core.event_meanings group by event) as meanings
    using (event)
where minutes.service_date between $first and $last and minutes.category != 'ASC'
group by all
order by minutes_low desc, line_number, event
