{{ config(materialized=inlined()) }}
-- One row per bus that may have passed a stop without being observed as a bus of a certain line and direction: the
-- earliest and the latest time it may have passed.
-- Buses whose passage was not observed, and those the stop never listed, are assumed to be as early or late as a bus
-- that counts as on time. An observed bus of unknown line may be of any line (line_code is null); one at a stop outside
-- its direction's stop list may be of either direction (direction is null).
with buses as (
    select
        operator,
        service_date,
        stop_code,
        line_code,
        case when position is not null then direction end as direction,
        coalesce(passed_at, scheduled_at) as expected_at,
        case when arrival_quality in ('evidenced', 'bounded') then 0 else 1 end as is_unobserved
    from {{ built('stop_visits') }}
    where line_code is null or position is null or arrival_quality not in ('evidenced', 'bounded')
    union all
    select
        operator,
        service_date,
        stop_code,
        line_code,
        direction,
        scheduled_at as expected_at,
        1 as is_unobserved
    from {{ built('unlisted_departures') }}
    where outcome != 'not_run'
)

select
    buses.operator,
    buses.service_date,
    buses.stop_code,
    buses.line_code,
    buses.direction,
    add_seconds(buses.expected_at, buses.is_unobserved * rules.early_seconds) as earliest_at,
    add_seconds(buses.expected_at, buses.is_unobserved * rules.late_seconds) as latest_at
from buses
{{ join_rules('buses.service_date') }}
